//! An upgrade of all nodes, one after the other, while clients write and read: no client sees an error, if it tries once more.
//!
//! `MAILMILL_CLUSTER_FROM` is the path of the program of the previous version. Without it, both versions are the same program, so the test
//! shows only that restarts and the handover disturb no client:
//!
//!     MAILMILL_CLUSTER_FROM=/path/to/previous/mailmill cargo test --test it cluster::upgrades -- --nocapture

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::faults::drain;
use super::nodes::{Addresses, Cluster, LEASE_SECONDS, check_log, database, send};
use crate::support::client::Call;
use crate::support::operation;
use crate::support::server::PROGRAM;

const CLIENTS: usize = 6;
const NODES: usize = 3;
/// The time between two steps, in which clients work.
const CALM: Duration = Duration::from_secs(1);
/// The time from a load balancer's decision not to use a node any longer to the end of the node.
const DRAIN_TIME: Duration = Duration::from_millis(200);
/// The maximum time of a handover. The `Retry-After` header of responses without a leader relies on it.
const HANDOVER_TIME: Duration = Duration::from_secs(1);

/// What a client did.
#[derive(Default)]
struct Done {
    calls: u64,
    /// The calls that failed once, and then succeeded.
    repeated: u64,
    /// The calls that failed twice.
    errors: Vec<String>,
    slowest: Duration,
    created: Vec<String>,
}

/// Writes and reads until `is_over`. Repeats a request once, at another node, as the response says.
async fn work(addresses: Addresses, key: String, project: String, client: usize, is_over: Arc<AtomicBool>) -> Done {
    let mut done = Done::default();
    for number in 0_usize.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let call = match number % 2 {
            0 => {
                let input = json!({ "projectId": project, "email": format!("c{client}-n{number}@example.com") });
                Call::new(operation("contacts.create"), input).header("idempotency-key", format!("c{client}-n{number}"))
            }
            _ => Call::new(operation("contacts.list"), json!({ "projectId": project, "limit": 1 })),
        };
        let (called, mut failures) = (Instant::now(), Vec::new());
        for attempt in 0..2 {
            let reply = send(&addresses, &key, client + number + attempt, &call).await;
            match reply {
                Some(reply) if reply.status < 300 => {
                    if number % 2 == 0 {
                        done.created.push(reply.json()["data"]["id"].as_str().expect("an id").to_owned());
                    }
                    break;
                }
                Some(reply) => {
                    failures.push(format!("{}: {}", reply.status, reply.error()));
                    let pause = reply.header("retry-after").and_then(|seconds| seconds.parse().ok()).unwrap_or(0);
                    tokio::time::sleep(Duration::from_secs(pause)).await;
                }
                None => failures.push(format!("no response, after {:?}", called.elapsed())),
            }
        }
        done.calls += 1;
        done.repeated += u64::from(failures.len() == 1);
        done.slowest = done.slowest.max(called.elapsed());
        if failures.len() == 2 {
            done.errors.push(failures.join(", then "));
        }
    }
    done
}

/// Returns the program of the previous version, if the caller of the test names it.
fn previous() -> PathBuf {
    std::env::var_os("MAILMILL_CLUSTER_FROM").map_or_else(|| PROGRAM.into(), PathBuf::from)
}

/// Restarts a node with this program, as an operator and a load balancer do.
async fn upgrade(cluster: &mut Cluster, index: usize, program: &str) {
    cluster.publish_without(index);
    tokio::time::sleep(DRAIN_TIME).await;
    cluster.end(index);
    cluster.nodes[index].set_program(program.into());
    cluster.serve(index);
    tokio::time::sleep(CALM).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_client_that_tries_once_more_sees_an_error_during_an_upgrade() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start_plain(&url, (NODES, LEASE_SECONDS), &previous(), "").await;
    let leader = cluster.leader().await;
    let project = cluster.client(leader).project("upgrade").await;
    cluster.catch_up(&project).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(work(cluster.addresses.clone(), cluster.key.clone(), project.clone(), client, is_over.clone()));
    }
    tokio::time::sleep(CALM).await;
    // Followers first, then the leader, after another node has taken its role.
    for index in (0..NODES).filter(|index| *index != leader) {
        upgrade(&mut cluster, index, PROGRAM).await;
    }
    let handover = drain(&mut cluster, leader).await;
    upgrade(&mut cluster, leader, PROGRAM).await;
    is_over.store(true, Ordering::SeqCst);
    let done = clients.join_all().await;
    let created: Vec<&String> = done.iter().flat_map(|client| &client.created).collect();
    let (calls, repeated) = done.iter().fold((0, 0), |sum, client| (sum.0 + client.calls, sum.1 + client.repeated));
    let slowest = done.iter().map(|client| client.slowest).max().unwrap_or_default();
    let errors: Vec<&String> = done.iter().flat_map(|client| &client.errors).collect();
    println!(
        "{calls} calls, {repeated} tried twice, {} errors; the slowest took {slowest:?}, the handover {handover:?}",
        errors.len()
    );
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(created.len() > 50, "the load was too small to prove anything");
    let now = cluster.leader().await;
    let client = cluster.client(now);
    for id in created {
        client.data("contacts.get", json!({ "projectId": project, "id": id })).await;
    }
    check_log(&postgres, &url);
    cluster.assert_equal();
    // The command that asks for the handover is a process of its own, which takes most of this time on a busy machine.
    assert!(handover < 3 * HANDOVER_TIME, "{handover:?}");
}
