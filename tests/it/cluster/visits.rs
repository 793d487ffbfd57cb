//! Clicks on links in messages while no node leads, or while the leader cannot store them: each click is answered immediately, and is
//! counted when a node leads that can store it.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::nodes::{Cluster, LEASE_SECONDS, RECOVERY_TIME, database};
use super::proxy::Network;
use crate::support::client::Call;
use crate::support::{Client, operation};
use crate::tracking::{BROWSER, Message};

const LOOK: Duration = Duration::from_millis(100);

/// Clicks on the link in the message, at one node.
async fn click(cluster: &Cluster, index: usize, message: &Message) {
    let click = Call::new(operation("tracking.click"), json!({ "token": message.token("/t/c/") })).header("user-agent", BROWSER);
    let clicked = Client::new(cluster.nodes[index].address(), None).try_send(click).await.expect("the node answers");
    assert_eq!(clicked.status, 302, "{}", String::from_utf8_lossy(&clicked.bytes));
}

/// Waits until the click on the link in the message is counted.
async fn counted(client: &Client, message: &Message) {
    let deadline = Instant::now() + RECOVERY_TIME;
    loop {
        let input = json!({ "id": message.contact, "projectId": message.project });
        let sends = client.data("tracking.personal_data", input).await["sends"].clone();
        if sends[0]["clicks"] == 1 {
            return;
        }
        assert!(Instant::now() < deadline, "the click is not counted: {sends}");
        tokio::time::sleep(LOOK).await;
    }
}

/// One of the two nodes that get a click leads next, and the other one reports its click to the new leader.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clicks_without_a_leader_are_counted_by_the_next_one() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start(&postgres, &url, (3, LEASE_SECONDS), "").await;
    let leader = cluster.leader().await;
    let messages = [Message::to_ada(cluster.client(leader)).await, Message::to_ada(cluster.client(leader)).await];
    cluster.catch_up(&messages[1].project).await;
    cluster.nodes[leader].kill();
    let others = (0..3).filter(|index| *index != leader);
    for (index, message) in others.zip(&messages) {
        click(&cluster, index, message).await;
    }
    let next = cluster.leader().await;
    let client = cluster.client(next);
    for message in &messages {
        counted(&client, message).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clicks_that_a_leader_could_not_store_are_counted_by_the_next_one() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start(&postgres, &url, (3, LEASE_SECONDS), "").await;
    let leader = cluster.leader().await;
    let messages = [Message::to_ada(cluster.client(leader)).await, Message::to_ada(cluster.client(leader)).await];
    cluster.catch_up(&messages[1].project).await;
    cluster.networks[leader].database.set(Network::Cut);
    // The worker that stores clicks waits for the database with the first click. Whether this click is stored stays unknown.
    click(&cluster, leader, &messages[0]).await;
    tokio::time::sleep(LOOK * 3).await;
    click(&cluster, leader, &messages[1]).await;
    let next = cluster.leader_other_than(leader).await;
    cluster.networks[leader].database.set(Network::Fine);
    counted(&cluster.client(next), &messages[1]).await;
}
