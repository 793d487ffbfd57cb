//! Returned mail that a follower receives.

use serde_json::json;

use super::nodes::{Cluster, LEASE_SECONDS, database};
use crate::bounces::{BOUNCES, Returned};
use crate::delivery::{audience, email, until};
use crate::support::Client;
use crate::support::mail_sink::MailSink;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_that_a_follower_accepts_takes_effect() {
    let Some(postgres) = database() else { return };
    let (url, sink) = (postgres.database(), MailSink::usual());
    let more = format!("{}bounce_domain = \"{BOUNCES}\"\ninbound = \"127.0.0.1:0\"\n", super::campaigns::with_relay(&sink));
    let mut cluster = Cluster::start(&postgres, &url, (2, LEASE_SECONDS), &more).await;
    let leader = cluster.leader().await;
    let client = Client::new(cluster.nodes[leader].address(), Some(cluster.nodes[leader].key("live", "all")));
    let project = audience(&client, 1).await;
    let conversation = email(&client, &project).await;
    let campaign = json!({
        "projectId": project, "name": "News", "conversationId": conversation, "subject": "News", "from": "news@example.com",
        "fromName": "News", "recipientType": "audience",
    });
    let campaign = client.data("campaigns.create", campaign).await["id"].clone();
    client.data("campaigns.send", json!({ "id": campaign })).await;
    until(async || !sink.messages().is_empty()).await;
    let message = String::from_utf8_lossy(&sink.messages()[0].body).into_owned();
    let token = message.split_once("mailto:u+").and_then(|(_, rest)| rest.split_once('@')).expect("an address").0;
    // The address accepts the message only after the leader has stored its effect.
    Returned::leaving(token).talk(cluster.nodes[1 - leader].inbound(), "EHLO");
    let contacts = client.data("contacts.list", json!({ "projectId": project })).await["contacts"].clone();
    assert_eq!(contacts[0]["status"], "unsubscribed", "{contacts}");
}
