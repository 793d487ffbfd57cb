//! The loss of the database's primary server, after which an operator promotes its standby. The nodes find the new primary server, because
//! their setting `cluster.database` names both servers.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::nodes::{Cluster, RECOVERY_TIME, SHORT_LEASE_SECONDS, check_log, database, send};
use crate::support::client::Call;
use crate::support::operation;
use crate::support::postgres::{Postgres, database_of};
use crate::support::server::PROGRAM;

const NAME: &str = "standby";
const CONTACTS: usize = 30;
const LOOK: Duration = Duration::from_millis(50);

/// A cluster on a primary server with a standby.
struct Run {
    primary: Postgres,
    standby: Postgres,
    url: String,
    cluster: Cluster,
    project: String,
    /// The IDs of the contacts whose creation was acknowledged.
    created: Vec<String>,
}

impl Run {
    async fn start(is_synchronous: bool) -> Option<Self> {
        let primary = database()?;
        let own = primary.database();
        let standby = primary.standby(NAME);
        if is_synchronous {
            primary.wait_for_commits_of(NAME);
        }
        let (one, two) = (primary.address(), standby.address());
        let url =
            format!("postgres://mailmill@{one},{two}/{}?sslmode=disable&target_session_attrs=read-write", database_of(&own));
        let cluster = Cluster::start_plain(&url, (2, SHORT_LEASE_SECONDS), Path::new(PROGRAM), "").await;
        let project = cluster.project("standby").await;
        Some(Self { primary, standby, url, cluster, project, created: Vec::new() })
    }

    /// Creates contacts. A request without an answer is repeated until all nodes have ended; returns whether all were acknowledged.
    async fn write(&mut self, count: usize) -> bool {
        for _ in 0..count {
            let number = self.created.len();
            let input = json!({ "projectId": self.project, "email": format!("n{number}@example.com") });
            let call = Call::new(operation("contacts.create"), input).header("idempotency-key", format!("n{number}"));
            let (deadline, mut turn) = (Instant::now() + RECOVERY_TIME, number);
            let id = loop {
                turn += 1;
                self.cluster.publish();
                if self.cluster.addresses.lock().expect("not poisoned").is_empty() {
                    return false;
                }
                match send(&self.cluster.addresses, &self.cluster.key, turn, &call).await {
                    Some(reply) if reply.status < 300 => break reply.json()["data"]["id"].as_str().expect("an id").to_owned(),
                    Some(reply) => {
                        let said = String::from_utf8_lossy(&reply.bytes);
                        assert!(matches!(reply.status, 409 | 500 | 503), "{} {said}", reply.status);
                    }
                    None => {}
                }
                assert!(Instant::now() < deadline, "no node accepts writes");
                tokio::time::sleep(LOOK).await;
            };
            self.created.push(id);
        }
        true
    }

    /// Returns the number of acknowledged contacts that a node does not have.
    async fn lost(&self, index: usize) -> usize {
        self.cluster.catch_up(&self.project).await;
        let client = self.cluster.client(index);
        let mut lost = 0;
        for id in &self.created {
            let reply = client.call("contacts.get", json!({ "projectId": self.project, "id": id })).await;
            lost += usize::from(reply.status != 200);
        }
        lost
    }

    /// Returns the epoch of the lease and the number of commits in the standby.
    fn state(&self) -> String {
        let state = "SELECT (SELECT max(epoch) FROM mailmill_lease), (SELECT count(*) FROM mailmill_log)";
        self.standby.query(&self.url, state)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_promoted_synchronous_standby_has_every_acknowledged_write() {
    let Some(mut run) = Run::start(true).await else { return };
    assert!(run.write(CONTACTS).await);
    run.primary.stop();
    let stopped = Instant::now();
    run.standby.promote();
    assert!(run.write(CONTACTS).await, "the nodes continue with the promoted standby");
    println!("the first {CONTACTS} writes after the loss of the primary server took {:?}", stopped.elapsed());
    let leader = run.cluster.leader().await;
    assert_eq!((run.lost(leader).await, run.created.len()), (0, 2 * CONTACTS));
    check_log(&run.standby, &run.url);
    run.cluster.assert_equal();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_node_continues_silently_after_an_asynchronous_standby_without_the_last_commits_was_promoted() {
    let Some(mut run) = Run::start(false).await else { return };
    assert!(run.write(CONTACTS).await);
    // The standby receives these contacts and then no more changes, and the primary server accepts more of them.
    let count = run.primary.query(&run.url, "SELECT count(*) FROM mailmill_log");
    let deadline = Instant::now() + RECOVERY_TIME;
    while run.standby.query(&run.url, &format!("SELECT count(*) >= {count} FROM mailmill_log")) != "t" {
        assert!(Instant::now() < deadline, "the standby does not have {count} commits");
        tokio::time::sleep(LOOK).await;
    }
    run.standby.stop();
    assert!(run.write(CONTACTS).await);
    run.cluster.catch_up(&run.project).await;
    run.primary.stop();
    // The lease ends, so no node appends before it has checked the promoted standby.
    tokio::time::sleep(run.cluster.lease).await;
    run.standby.resume();
    run.standby.promote();
    let promoted = run.state();
    assert!(!run.write(1).await, "a node has accepted a write without the lost commits");
    for node in &run.cluster.nodes {
        assert!(node.log().contains("the database has lost commits: the log of the test store ends at"), "{}", node.log());
    }
    tokio::time::sleep(2 * run.cluster.lease).await;
    assert_eq!(run.state(), promoted, "no node has taken the lease or appended a commit");
    // A start of a node does not accept the loss either.
    for node in &mut run.cluster.nodes {
        assert!(node.ended().is_some_and(|status| !status.success()), "the node has failed");
        let refused = node.run(&["cluster", "join"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("the database has lost commits"), "{said}");
    }
    // The operator accepts the loss, as the message and the guide say.
    for index in 0..run.cluster.nodes.len() {
        std::fs::remove_dir_all(run.cluster.nodes[index].data()).expect("the folder can be removed");
    }
    let status = run.cluster.nodes[0].run(&["cluster", "status"]);
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains("lost commits  reported by node-"), "{status}");
    let accepted = run.cluster.nodes[0].run(&["cluster", "accept-loss"]);
    assert!(accepted.status.success(), "{accepted:?}");
    run.cluster.serve_all().await;
    let leader = run.cluster.leader().await;
    let lost = run.lost(leader).await;
    println!("{lost} of {} acknowledged writes were lost with the primary server, and every node reported it", run.created.len());
    assert!(lost > 0 && lost <= CONTACTS, "{lost}");
    run.cluster.assert_equal();
}
