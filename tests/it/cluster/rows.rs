//! Clients that write and read the same rows, and record a history of each row.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::history::{Action, Histories, Number, Operation};
use super::nodes::{Addresses, Cluster, send};
use crate::support::client::Call;
use crate::support::operation;

const CLIENTS: usize = 4;
/// The pause between two operations of a client, so that a history stays short enough for the check.
const PAUSE: Duration = Duration::from_millis(10);
const RETRY: Duration = Duration::from_millis(50);

/// The clients of some rows.
pub struct Rows {
    project: String,
    /// The contacts that are the rows, oldest first. Clients use the newest one.
    ids: Arc<Mutex<Vec<String>>>,
    clients: JoinSet<Histories>,
}

/// What a client needs.
#[derive(Clone)]
struct Session {
    number: usize,
    addresses: Addresses,
    key: String,
    project: String,
    ids: Arc<Mutex<Vec<String>>>,
    started: Instant,
    is_over: Arc<AtomicBool>,
}

impl Rows {
    /// Starts clients that work on the rows of a project until `is_over`.
    pub fn start(cluster: &Cluster, project: &str, is_over: &Arc<AtomicBool>) -> Self {
        let ids = Arc::new(Mutex::new(Vec::new()));
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let session = Session {
                number,
                addresses: cluster.addresses.clone(),
                key: cluster.key.clone(),
                project: project.to_owned(),
                ids: ids.clone(),
                started: Instant::now(),
                is_over: is_over.clone(),
            };
            clients.spawn(session.run());
        }
        Self { project: project.to_owned(), ids, clients }
    }

    /// Creates a new row, which the clients use from now on.
    pub async fn next(&self, cluster: &Cluster) {
        let number = self.ids.lock().expect("not poisoned").len();
        let id = cluster.contact(&self.project, &format!("row{number}@example.com")).await;
        self.ids.lock().expect("not poisoned").push(id);
    }

    /// Returns the histories of all rows, after `is_over` was set.
    pub async fn end(self) -> Histories {
        let mut all = Histories::default();
        for own in self.clients.join_all().await {
            all.extend(own);
        }
        all
    }
}

impl Session {
    async fn run(self) -> Histories {
        let mut histories = Histories::default();
        for number in 1_usize.. {
            if self.is_over.load(Ordering::SeqCst) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            let newest = self.ids.lock().expect("not poisoned").iter().cloned().enumerate().next_back();
            let Some((row, id)) = newest else { continue };
            let done = match (number + self.number) % 2 {
                0 => Some(self.write(number, &id).await),
                _ => self.read(number, &id).await,
            };
            done.into_iter().for_each(|operation| histories.add(row, operation));
        }
        histories
    }

    /// Writes a new value. A write without an answer is repeated with its idempotency key, at any node.
    async fn write(&self, number: usize, id: &str) -> Operation {
        let value = (number * CLIENTS + self.number) as Number;
        let input = json!({ "projectId": self.project, "id": id, "firstName": format!("v{value}") });
        let call = Call::new(operation("contacts.update"), input);
        let call = call.header("idempotency-key", format!("row-{}-{number}", self.number));
        let called = self.started.elapsed();
        for attempt in 0.. {
            let reply = send(&self.addresses, &self.key, number + attempt, &call).await;
            match reply {
                Some(reply) if reply.status == 200 => {
                    return Operation { action: Action::Write(value), called, returned: Some(self.started.elapsed()) };
                }
                Some(reply) => {
                    let said = String::from_utf8_lossy(&reply.bytes);
                    assert!(matches!(reply.status, 409 | 503), "{} {said}", reply.status);
                }
                None => {}
            }
            if self.is_over.load(Ordering::SeqCst) {
                break;
            }
            tokio::time::sleep(RETRY).await;
        }
        Operation { action: Action::Write(value), called, returned: None }
    }

    /// Reads the value. Returns `None` if there is no answer, or if a follower answers, because its data may be older.
    async fn read(&self, number: usize, id: &str) -> Option<Operation> {
        let call = Call::new(operation("contacts.get"), json!({ "projectId": self.project, "id": id }));
        let called = self.started.elapsed();
        let reply = send(&self.addresses, &self.key, number + self.number, &call).await?;
        if reply.status == 503 || reply.header("x-mailmill-node").is_some() {
            return None;
        }
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.bytes));
        let value = value_of(&reply.json()["data"]);
        Some(Operation { action: Action::Read(value), called, returned: Some(self.started.elapsed()) })
    }
}

/// Returns the value of a row: the number in the first name of the contact, or 0 without a first name.
pub fn value_of(contact: &Value) -> Number {
    match contact["firstName"].as_str() {
        Some(name) => name.strip_prefix('v').and_then(|number| number.parse().ok()).expect("a client wrote this value"),
        None => 0,
    }
}
