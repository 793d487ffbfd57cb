//! Clicks on links in messages while no node leads: each is answered at once, and counted once a node leads.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::nodes::{Cluster, LEASE_SECONDS, RECOVERY_TIME, database};
use crate::support::client::Call;
use crate::support::{Client, operation};
use crate::tracking::{BROWSER, Message};

const LOOK: Duration = Duration::from_millis(100);

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
        let click =
            Call::new(operation("tracking.click"), json!({ "token": message.token("/t/c/") })).header("user-agent", BROWSER);
        let clicked = Client::new(cluster.nodes[index].address(), None).try_send(click).await.expect("the follower answers");
        assert_eq!(clicked.status, 302, "{}", String::from_utf8_lossy(&clicked.bytes));
    }
    let next = cluster.leader().await;
    let client = cluster.client(next);
    for message in &messages {
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            let input = json!({ "id": message.contact, "projectId": message.project });
            let sends = client.data("tracking.personal_data", input).await["sends"].clone();
            if sends[0]["clicks"] == 1 {
                break;
            }
            assert!(Instant::now() < deadline, "the click is not counted: {sends}");
            tokio::time::sleep(LOOK).await;
        }
    }
}
