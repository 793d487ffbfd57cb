//! Campaigns in a cluster whose leaders fail, with a relay that records each message before it replies: no recipient is lost, none gets two
//! messages, and at most two recipients per connection and failover are unknown.
//!
//! `MAILMILL_CLUSTER_CAMPAIGN_FAULTS` sets the number of faults.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::faults::{Fault, strike};
use super::knob;
use super::nodes::{Cluster, LEASE_SECONDS, RECOVERY_TIME, check_log, database};
use crate::campaigns::is_complete;
use crate::delivery::{CONNECTIONS, Report, audience, email, relay, statuses, taken};
use crate::support::mail_sink::MailSink;
use crate::support::{Client, Reply};

const RECIPIENTS: usize = 3_000;
const LOOK: Duration = Duration::from_millis(50);
/// The time from the start of a campaign until a fault: enough for the first messages, and not for all.
const FAULT_AFTER: Duration = Duration::from_millis(300);
/// The time in which a campaign must be complete after a fault.
const CAMPAIGN_TIME: Duration = Duration::from_secs(300);

/// The faults that end the lead of a node while it sends.
const FAULTS: [Fault; 5] = [Fault::KillLeader, Fault::StopLeader, Fault::CutLeader, Fault::DelayLeader, Fault::Drain];

/// Settings of nodes whose relay is the sink.
pub fn with_relay(sink: &MailSink) -> String {
    let address = sink.address;
    format!("[mail]\nrelay = [\"smtp://{address}\"]\nconnections = {CONNECTIONS}\nrequire_verified_domain = false\n")
}

/// A client of the node that leads at the time of each call.
struct AnyLeader<'c> {
    cluster: &'c mut Cluster,
    key: String,
}

impl AnyLeader<'_> {
    async fn client(&mut self) -> Client {
        let leader = self.cluster.leader().await;
        Client::new(self.cluster.nodes[leader].address(), Some(self.key.clone()))
    }

    /// Repeats a read until there is an answer.
    async fn read(&mut self, id: &str, input: &Value) -> Value {
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            let client = self.client().await;
            let reply: Reply = client.call(id, input.clone()).await;
            if reply.status == 200 {
                return reply.json()["data"].take();
            }
            assert!(reply.status == 503 && Instant::now() < deadline, "{}", String::from_utf8_lossy(&reply.bytes));
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Starts a campaign, and waits until it has sent some of its messages. Returns its ID.
async fn start(any: &mut AnyLeader<'_>, (project, conversation): (&str, &str), name: &str) -> String {
    let client = any.client().await;
    let wanted = json!({
        "projectId": project, "name": name, "conversationId": conversation, "subject": name, "from": "news@example.com",
        "fromName": "News", "recipientType": "audience",
    });
    let campaign = client.data("campaigns.create", wanted).await["id"].as_str().expect("an id").to_owned();
    client.data("campaigns.send", json!({ "id": campaign })).await;
    tokio::time::sleep(FAULT_AFTER).await;
    campaign
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn campaigns_lose_no_one_and_repeat_no_one_when_leaders_fail() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let sink = relay();
    let mut cluster = Cluster::start(&postgres, &url, (3, LEASE_SECONDS), &with_relay(&sink)).await;
    let leader = cluster.leader().await;
    let key = cluster.nodes[leader].key("live", "all");
    let client = Client::new(cluster.nodes[leader].address(), Some(key.clone()));
    let project = audience(&client, RECIPIENTS).await;
    let conversation = email(&client, &project).await;
    let count = knob("MAILMILL_CLUSTER_CAMPAIGN_FAULTS").unwrap_or(FAULTS.len() as u64);
    let mut report = Report::default();
    let started = Instant::now();
    for round in 0..count {
        let fault = FAULTS[round as usize % FAULTS.len()];
        let name = format!("Campaign {round} of the cluster");
        let mut any = AnyLeader { cluster: &mut cluster, key: key.clone() };
        let before = sink.messages().len();
        let campaign = start(&mut any, (project.as_str(), conversation.as_str()), &name).await;
        strike(any.cluster, &postgres, fault).await;
        report.kills += 1;
        let deadline = Instant::now() + CAMPAIGN_TIME;
        while !is_complete(&any.read("campaigns.get", &json!({ "id": campaign })).await) {
            assert!(Instant::now() < deadline, "the campaign does not end after {fault:?}");
            tokio::time::sleep(LOOK).await;
        }
        let client = any.client().await;
        let states = statuses(&client, &campaign).await;
        assert_eq!(states.len(), RECIPIENTS, "every recipient has a row after {fault:?}");
        let taken = taken(&sink, before);
        report.add(&states, &taken);
        println!("{fault:?}: {} messages for {} recipients", taken.values().sum::<usize>(), states.len());
    }
    report.seconds = started.elapsed().as_secs_f64();
    report.print();
    report.hold(CONNECTIONS);
    check_log(&postgres, &url);
    cluster.assert_equal();
}
