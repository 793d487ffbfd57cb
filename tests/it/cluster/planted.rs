//! An append of an earlier leader that arrives late. With the check of its epoch, the append is refused. Without it, which is the bug
//! planted here, a client gets the acknowledgment of a write that the next leader does not have, and the check of histories finds it.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::history::{Action, Histories, Operation};
use super::nodes::{Cluster, check_log, database};
use super::proxy::Network;
use super::rows::value_of;
use crate::support::client::Call;
use crate::support::{Client, operation};

/// The rounds without and with the bug. In a round with the bug, a worker's append can take the place of the client's append.
const ROUNDS: [bool; 6] = [false, true, true, true, true, false];
/// The time after which the append of the earlier leader has its answer, and the workers of the next leader have none yet.
const ANSWER_TIME: Duration = Duration::from_secs(15);
/// The time after which the workers have nothing to do, so that the next append is that of the client.
const QUIET: Duration = Duration::from_secs(2);

/// A row, and the history of the operations on it.
struct Row {
    project: String,
    id: String,
    started: Instant,
    history: Histories,
}

impl Row {
    /// Returns the request that writes a value.
    fn write(&self, value: u64) -> Call {
        let input = json!({ "projectId": self.project, "id": self.id, "firstName": format!("v{value}") });
        Call::new(operation("contacts.update"), input).header("idempotency-key", format!("planted-{value}"))
    }

    fn read(&self) -> Call {
        Call::new(operation("contacts.get"), json!({ "projectId": self.project, "id": self.id }))
    }

    fn note(&mut self, action: Action, called: Duration, is_acknowledged: bool) {
        let returned = is_acknowledged.then(|| self.started.elapsed());
        self.history.add(0, Operation { action, called, returned });
    }

    /// Writes a value at the leader, which must succeed.
    async fn write_now(&mut self, leader: &Client, value: u64) {
        let called = self.started.elapsed();
        let reply = leader.send(self.write(value)).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.bytes));
        self.note(Action::Write(value), called, true);
    }
}

/// Lets the append of `value` arrive at the database after another node leads, and reads the row at that node.
async fn write_late(cluster: &mut Cluster, row: &mut Row, value: u64, is_planted: bool) {
    let leader = cluster.leader().await;
    for (index, networks) in cluster.networks.iter().enumerate() {
        // The next leader's own first append would take the position of the late one.
        networks.database.set(if index == leader { Network::HeldFromNextAppend } else { Network::AppendsHeld });
    }
    let late = &cluster.networks[leader].database;
    late.set_unchecked(is_planted);
    let (client, call, called) = (cluster.client(leader), row.write(value), row.started.elapsed());
    let mut writing = JoinSet::new();
    writing.spawn(async move { tokio::time::timeout(ANSWER_TIME, client.try_send(call)).await });
    tokio::time::timeout(ANSWER_TIME, late.has_held_an_append()).await.expect("the leader appends");
    let next = cluster.leader_other_than(leader).await;
    cluster.networks[leader].database.set(Network::Fine);
    let written = writing.join_all().await.pop().expect("there is one write");
    let is_acknowledged = written.is_ok_and(|reply| reply.is_ok_and(|reply| reply.status == 200));
    row.note(Action::Write(value), called, is_acknowledged);
    let called = row.started.elapsed();
    let read = cluster.client(next).send(row.read()).await;
    assert!(read.status == 200 && read.header("x-mailmill-node").is_none(), "the next leader answers the read itself");
    row.note(Action::Read(value_of(&read.json()["data"])), called, true);
    cluster.networks[leader].database.set_unchecked(false);
    for networks in &cluster.networks {
        networks.database.set(Network::Fine);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_without_the_check_of_its_epoch_is_found_and_one_with_it_is_refused() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start(&postgres, &url, 3, "").await;
    let leader = cluster.leader().await;
    let client = cluster.client(leader);
    let project = client.project("planted").await;
    tokio::time::sleep(QUIET).await;
    let (mut value, mut found) = (0, 0);
    for (round, is_planted) in ROUNDS.into_iter().enumerate() {
        let leader = cluster.leader().await;
        let id = cluster.client(leader).contact(&project, &format!("planted{round}@example.com")).await;
        let mut row = Row { project: project.clone(), id, started: Instant::now(), history: Histories::default() };
        row.write_now(&cluster.client(leader), value + 1).await;
        tokio::time::sleep(QUIET).await;
        write_late(&mut cluster, &mut row, value + 2, is_planted).await;
        value += 2;
        let violations = row.history.violations().len();
        assert!(is_planted || violations == 0, "round {round} is not linearizable, although every append was checked");
        found += violations;
    }
    let unchecked: u64 = cluster.networks.iter().map(|networks| networks.database.unchecked()).sum();
    println!("{unchecked} appends without the check; the histories show {found} violations");
    assert!(found > 0, "no history shows that {unchecked} appends were not checked");
    cluster.leader().await;
    check_log(&postgres, &url);
    cluster.assert_equal();
}
