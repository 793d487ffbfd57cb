//! An append of an earlier leader that arrives late. With the check of its epoch, the append is refused. Without it, which is the bug
//! planted here, a client gets the acknowledgment of a write that the next leader does not have, and the check of histories finds it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::history::{Action, Histories, Number, Operation};
use super::nodes::{Cluster, LEASE_SECONDS, RECOVERY_TIME, check_log, database};
use super::proxy::Network;
use super::rows::value_of;
use crate::support::client::Call;
use crate::support::operation;

/// The maximum number of rounds with the bug. In such a round, a worker's append can take the place of the client's append.
const PLANTED_ROUNDS_MAX: usize = 10;
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
    /// Returns the input of the operation that writes a value.
    fn input(&self, value: Number) -> Value {
        json!({ "projectId": self.project, "id": self.id, "firstName": format!("v{value}") })
    }

    fn read(&self) -> Call {
        Call::new(operation("contacts.get"), json!({ "projectId": self.project, "id": self.id }))
    }

    fn note(&mut self, action: Action, called: Duration, is_acknowledged: bool) {
        let returned = is_acknowledged.then(|| self.started.elapsed());
        self.history.add(0, Operation { action, called, returned });
    }

    /// Writes a value, which must succeed.
    async fn write_now(&mut self, cluster: &Cluster, value: Number) {
        let called = self.started.elapsed();
        cluster.write("contacts.update", self.input(value)).await;
        self.note(Action::Write(value), called, true);
    }
}

/// Lets the append of `value` arrive at the database after another node leads, and reads the row at that node.
async fn write_late(cluster: &mut Cluster, row: &mut Row, value: Number, is_planted: bool) {
    let leader = cluster.leader().await;
    for (index, networks) in cluster.networks.iter().enumerate() {
        // The next leader's own first append would take the position of the late one.
        networks.database.set(if index == leader { Network::HeldFromNextAppend } else { Network::AppendsHeld });
    }
    let late = &cluster.networks[leader].database;
    late.set_unchecked(is_planted);
    let call = Call::new(operation("contacts.update"), row.input(value));
    let (client, called) = (cluster.client(leader), row.started.elapsed());
    let mut writing = JoinSet::new();
    writing.spawn(async move { tokio::time::timeout(2 * RECOVERY_TIME, client.try_send(call)).await });
    tokio::time::timeout(RECOVERY_TIME, late.has_held_an_append()).await.expect("the leader appends");
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

/// Runs a round with or without the bug on a new row, and returns whether the history of the row is linearizable.
async fn is_linearizable(cluster: &mut Cluster, project: &str, round: usize, is_planted: bool) -> bool {
    let value = 2 * round as Number;
    let id = cluster.contact(project, &format!("planted{round}@example.com")).await;
    let mut row = Row { project: project.to_owned(), id, started: Instant::now(), history: Histories::default() };
    row.write_now(cluster, value + 1).await;
    tokio::time::sleep(QUIET).await;
    write_late(cluster, &mut row, value + 2, is_planted).await;
    row.history.violations().is_empty()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_append_without_the_check_of_its_epoch_is_found_and_one_with_it_is_refused() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start(&postgres, &url, (3, LEASE_SECONDS), "").await;
    let project = cluster.project("planted").await;
    tokio::time::sleep(QUIET).await;
    assert!(is_linearizable(&mut cluster, &project, 0, false).await, "every append was checked");
    let mut found = None;
    for round in 1..=PLANTED_ROUNDS_MAX {
        if !is_linearizable(&mut cluster, &project, round, true).await {
            found = Some(round);
            break;
        }
    }
    let unchecked: u64 = cluster.networks.iter().map(|networks| networks.database.unchecked()).sum();
    println!("{unchecked} appends without the check; the history of round {found:?} shows this");
    assert!(found.is_some(), "no history shows that {unchecked} appends were not checked");
    assert!(is_linearizable(&mut cluster, &project, PLANTED_ROUNDS_MAX + 1, false).await, "every append was checked");
    cluster.leader().await;
    check_log(&postgres, &url);
    cluster.assert_equal();
}
