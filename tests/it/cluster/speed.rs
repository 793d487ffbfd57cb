//! The speed of a cluster, and of a single machine with a continuous backup, compared with a single machine: the same work on each, one
//! after the other, in several rounds.
//!
//! By default, the amount of work is small, and the test only shows that everything works. For figures, use the release program on a quiet
//! machine. `MAILMILL_SPEED_ROUNDS` sets the number of rounds; with it, the amount of work is 20 times as large, and the targets apply.
//! `MAILMILL_SPEED_CONTACTS` sets the number of contacts that a new node loads:
//!
//!     MAILMILL_SPEED_ROUNDS=7 MAILMILL_SPEED_CONTACTS=1000000 cargo test --release --test it cluster::speed -- --nocapture

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use mailmill::engine::store::commit_log;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::campaigns::with_relay;
use super::nodes::{Cluster, LEASE_SECONDS, database};
use super::{CALM, knob};
use crate::campaigns::is_complete;
use crate::delivery::{audience, campaign, email, until};
use crate::support::client::Call;
use crate::support::mail_sink::MailSink;
use crate::support::postgres::Postgres;
use crate::support::server::{BOUNDLESS, PROGRAM};
use crate::support::{Client, Server, operation};
use crate::users::{OWNER, set_up, signed_in};

const CLIENTS: usize = 64;
const READERS: usize = 16;
/// The time in which a new node must load 1,000,000 contacts.
const NEW_NODE_TIME: Duration = Duration::from_secs(60);
const NEW_NODE_CONTACTS: u64 = 1_000_000;
/// The largest size of the log of a cluster, relative to the changed keys and values.
const LOG_BYTES_MAX: f64 = 1.2;
/// The header of a packed record in the log: its format and its length.
const HEADER_BYTES: usize = 5;

/// The amount of work in one measurement.
#[derive(Clone, Copy)]
struct Amount {
    contacts: usize,
    rows: usize,
    recipients: usize,
    reads: usize,
}

impl Amount {
    const SMALL: Self = Self { contacts: 256, rows: 500, recipients: 200, reads: 640 };

    fn times(self, factor: usize) -> Self {
        let Self { contacts, rows, recipients, reads } = self;
        Self { contacts: contacts * factor, rows: rows * factor, recipients: recipients * factor, reads: reads * factor }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Contacts,
    Import,
    Campaign,
    Reads,
    /// Reads at all nodes of the cluster.
    ReadsEverywhere,
}

impl Work {
    const ALL: [Self; 5] = [Self::Contacts, Self::Import, Self::Campaign, Self::Reads, Self::ReadsEverywhere];

    fn words(self) -> &'static str {
        match self {
            Self::Contacts => "POST contacts with 64 clients",
            Self::Import => "CSV import",
            Self::Campaign => "campaign",
            Self::Reads => "reads at the leader",
            Self::ReadsEverywhere => "reads at all nodes",
        }
    }

    /// Returns the minimum speed with a backup, and that of a cluster, relative to a single machine. Reads at all nodes need a machine per
    /// node, so they have no target here.
    fn targets(self) -> (f64, f64) {
        match self {
            Self::Contacts => (0.97, 0.5),
            Self::Import => (0.97, 0.6),
            Self::Campaign => (0.97, 0.7),
            Self::Reads => (0.97, 0.97),
            Self::ReadsEverywhere => (0.0, 0.0),
        }
    }
}

/// An installation that does the work.
struct Subject {
    /// A client of the single machine, or of each node, the leader first.
    clients: Vec<Client>,
    project: String,
    contact: String,
    /// The project of the campaigns, and their email.
    audience: (String, String),
}

impl Subject {
    async fn new(clients: Vec<Client>, amount: Amount) -> Self {
        let leader = &clients[0];
        let project = leader.project("speed").await;
        let contact = leader.contact(&project, "reads@example.com").await;
        let mailing = audience(leader, amount.recipients).await;
        let content = email(leader, &mailing).await;
        tokio::time::sleep(CALM).await;
        Self { clients, project, contact, audience: (mailing, content) }
    }

    /// Does the work; returns its time. `mark` is different for each measurement.
    async fn measure(&self, work: Work, amount: Amount, mark: &str) -> Duration {
        let started = Instant::now();
        match work {
            Work::Contacts => self.create(amount.contacts, mark).await,
            Work::Import => self.import(amount.rows, mark).await,
            Work::Campaign => {
                let sent = campaign(&self.clients[0], &self.audience.0, &self.audience.1, mark).await;
                let get = json!({ "id": sent });
                until(async || is_complete(&self.clients[0].data("campaigns.get", get.clone()).await)).await;
            }
            Work::Reads => self.read(&self.clients[..1], amount.reads).await,
            Work::ReadsEverywhere => self.read(&self.clients, amount.reads).await,
        }
        started.elapsed()
    }

    async fn create(&self, count: usize, mark: &str) {
        let mut writers = JoinSet::new();
        for writer in 0..CLIENTS {
            let (client, project, mark) = (self.clients[0].clone(), self.project.clone(), mark.to_owned());
            writers.spawn(async move {
                for number in 0..count / CLIENTS {
                    client.contact(&project, &format!("{mark}-w{writer}-n{number}@example.com")).await;
                }
            });
        }
        writers.join_all().await;
    }

    async fn import(&self, rows: usize, mark: &str) {
        let mut file = "email,first name\n".to_owned();
        for row in 0..rows {
            writeln!(file, "{mark}-i{row}@example.com,Name{row}").expect("writing to memory cannot fail");
        }
        let part = |name: &str| format!("--part\r\nContent-Disposition: form-data; name=\"{name}\"");
        let (project, upload) = (part("projectId"), part("file"));
        let form = format!("{project}\r\n\r\n{}\r\n{upload}; filename=\"f.csv\"\r\n\r\n{file}\r\n--part--\r\n", self.project);
        let call =
            Call::new(operation("contacts.import"), json!({})).body("multipart/form-data; boundary=part", form.into_bytes());
        let reply = self.clients[0].send(call).await;
        assert_eq!(reply.status, 201, "{}", reply.error());
        let id = json!({ "id": reply.json()["data"]["id"] });
        until(async || self.clients[0].data("contacts.import_status", id.clone()).await["completed_at"].is_string()).await;
    }

    async fn read(&self, clients: &[Client], count: usize) {
        let mut readers = JoinSet::new();
        for reader in 0..READERS {
            let (client, input) =
                (clients[reader % clients.len()].clone(), json!({ "projectId": self.project, "id": self.contact }));
            readers.spawn(async move {
                for _ in 0..count / READERS {
                    client.data("contacts.get", input.clone()).await;
                }
            });
        }
        readers.join_all().await;
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Measures all kinds of work in turn, and prints a table. The order of the subjects differs in each round.
async fn compare(subjects: &[Subject; 3], rounds: u64, amount: Amount, must_hold: bool) {
    println!("work | single machine | with backup | cluster (speed relative to the single machine, median of {rounds} rounds)");
    for work in Work::ALL {
        let (mut alone, mut backed_up, mut clustered) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..rounds {
            let mut times = [0.0; 3];
            for turn in 0..subjects.len() {
                let subject = (turn + round as usize) % subjects.len();
                let took = subjects[subject].measure(work, amount, &format!("{}-{round}", work as u8)).await;
                times[subject] = took.as_secs_f64();
            }
            alone.push(times[0]);
            backed_up.push(times[0] / times[1]);
            clustered.push(times[0] / times[2]);
        }
        let (backed_up, clustered) = (median(backed_up), median(clustered));
        println!("{} | {:.3} s | {backed_up:.2} | {clustered:.2}", work.words(), median(alone));
        let (backup_min, cluster_min) = work.targets();
        assert!(
            !must_hold || (backed_up >= backup_min && clustered >= cluster_min),
            "the targets are {backup_min} and {cluster_min}"
        );
    }
}

/// Returns the size of the log of a cluster, relative to the changed keys and values.
fn log_bytes(postgres: &Postgres, url: &str) -> f64 {
    let (mut stored, mut changed) = (0, 0);
    for record in postgres.query(url, "SELECT encode(batch, 'hex') FROM mailmill_log").lines() {
        let record = data_encoding::HEXLOWER.decode(record.as_bytes()).expect("hexadecimal text");
        let (header, packed) = record.split_at(HEADER_BYTES);
        let length = u32::from_le_bytes(header[1..].try_into().expect("four bytes")) as usize;
        let encoded = zstd::bulk::decompress(packed, length).expect("the record is intact");
        stored += record.len() as u64;
        changed += commit_log::decode(&mut encoded.as_slice()).expect("the record is intact").changed_bytes();
    }
    stored as f64 / changed as f64
}

/// Prints how many bytes the continuous backup has shipped for each changed byte.
async fn print_shipped_bytes(server: &Server) {
    let status = signed_in(server, OWNER, "live").await.data("system.status", json!({})).await["continuousBackup"].clone();
    let bytes = |name: &str| status[name].as_f64().expect("a number");
    println!(
        "backup: {:.2} bytes shipped for each changed byte ({} of {}), {} waiting",
        bytes("shippedBytes") / bytes("changedBytes"),
        bytes("shippedBytes"),
        bytes("changedBytes"),
        bytes("waitingBytes")
    );
    assert!(bytes("changedBytes") > 0.0, "{status}");
}

/// Removes the folder of a follower, and returns the time until the node is ready again.
async fn rebuild(cluster: &mut Cluster) -> Duration {
    let follower = (cluster.leader().await + 1) % cluster.nodes.len();
    cluster.nodes[follower].kill();
    std::fs::remove_dir_all(cluster.nodes[follower].data()).expect("the folder can be removed");
    let started = Instant::now();
    cluster.serve(follower);
    started.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_and_a_backup_cost_little_speed() {
    let Some(postgres) = database() else { return };
    let (url, rounds) = (postgres.database(), knob("MAILMILL_SPEED_ROUNDS"));
    let amount = Amount::SMALL.times(if rounds.is_some() { 20 } else { 1 });
    let sinks = [MailSink::usual(), MailSink::usual(), MailSink::usual()];
    let [alone, backed_up, clustered] = sinks.each_ref().map(with_relay);
    let target = tempfile::tempdir().expect("a temporary folder");
    let backup = format!("[backup]\nurl = \"{}\"\ndrill_days = 0\n", target.path().join("target").display());
    let alone = Server::start(&format!("{BOUNDLESS}{alone}"));
    let backed_up = Server::start(&format!("{BOUNDLESS}{backed_up}{backup}"));
    set_up(&backed_up);
    let mut cluster = Cluster::start_plain(&url, (3, LEASE_SECONDS), Path::new(PROGRAM), &clustered).await;
    let leader = cluster.leader().await;
    let key = cluster.nodes[leader].key("live", "all");
    let order = (0..cluster.nodes.len()).map(|turn| (leader + turn) % cluster.nodes.len());
    let nodes = order.map(|index| Client::new(cluster.nodes[index].address(), Some(key.clone()))).collect();
    let subjects = [
        Subject::new(vec![alone.client("live", "all")], amount).await,
        Subject::new(vec![backed_up.client("live", "all")], amount).await,
        Subject::new(nodes, amount).await,
    ];
    compare(&subjects, rounds.unwrap_or(1), amount, rounds.is_some()).await;
    print_shipped_bytes(&backed_up).await;
    let ratio = log_bytes(&postgres, &url);
    println!("cluster: {ratio:.2} bytes in the log for each changed byte; target {LOG_BYTES_MAX}");
    assert!(ratio <= LOG_BYTES_MAX, "{ratio}");
    let contacts = knob("MAILMILL_SPEED_CONTACTS").unwrap_or(0);
    if contacts > 0 {
        subjects[2].import(contacts as usize, "new-node").await;
        // The leader takes a snapshot when the log has grown enough.
        tokio::time::sleep(NEW_NODE_TIME).await;
    }
    let took = rebuild(&mut cluster).await;
    println!("cluster: a new node with {contacts} contacts is ready after {took:?}");
    assert!(contacts < NEW_NODE_CONTACTS || took < NEW_NODE_TIME, "{took:?}");
}
