//! Three nodes and a real PostgreSQL, with faults while clients write: every acknowledged write is on every node afterward, no idempotency
//! key took effect twice, and all nodes have the same rows.
//!
//! By default, each kind of fault happens once. `MAILMILL_CLUSTER_FAULTS=300` runs that many random faults; `MAILMILL_CLUSTER_SEED` chooses
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mailmill::engine::store::backup::{Digests, digests};
use mailmill::engine::store::commit_log::StoreName;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::support::client::Call;
use super::support::postgres::Postgres;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server, missing, operation};

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const WRITERS: usize = 4;
const LEASE_SECONDS: u64 = 2;
/// The time between two faults, in which clients write.
const CALM: Duration = Duration::from_millis(1_500);
/// A request without a response after this time has an unknown outcome; a stopped process never answers.
const REQUEST_TIME: Duration = Duration::from_secs(8);
/// The time in which a cluster must recover from any single fault.
const RECOVERY_TIME: Duration = Duration::from_secs(60);

/// A cluster of three nodes.
struct Cluster {
    postgres: Postgres,
    url: String,
    nodes: Vec<Server>,
    /// The addresses of the nodes that run, for the clients.
    addresses: Arc<Mutex<Vec<SocketAddr>>>,
    key: String,
    _master_key: tempfile::TempDir,
}

impl Cluster {
    /// Starts a cluster with a new installation; `None`, with a note, if PostgreSQL is not installed.
    async fn start(count: usize) -> Option<Self> {
        let Some(postgres) = Postgres::start() else {
            missing("there is no PostgreSQL (Debian: postgresql)");
            return None;
        };
        let url = postgres.database();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = folder.path().join("master.key");
        let settings = |name: &str, copy: Option<&Path>| {
            let copy = copy.map(|copy| format!("master_key = '{}'\n", copy.display())).unwrap_or_default();
            format!(
                "{BOUNDLESS}\n[server]\npublic_url = 'http://mail.example.com'\n[cluster]\ndatabase = '{url}'\nnode = '{name}'\n\
                 address = '127.0.0.1:0'\nsecret = '{SECRET}'\nlease_seconds = {LEASE_SECONDS}\n{copy}"
            )
        };
        let first = Server::stopped(&settings("node-1", None));
        let init = first.run(&["cluster", "init"]);
        assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
        let out = String::from_utf8_lossy(&init.stdout).into_owned();
        let key = out.split_whitespace().find(|word| word.starts_with("sk_test_")).expect("a test key").to_owned();
        std::fs::copy(first.data().join("master.key"), &copy).expect("the key can be copied");
        first.set(&settings("node-1", Some(&copy)));
        let others = (2..=count).map(|number| Server::stopped(&settings(&format!("node-{number}"), Some(&copy))));
        let nodes: Vec<Server> = std::iter::once(first).chain(others).collect();
        let mut cluster = Self { postgres, url, nodes, addresses: Arc::default(), key, _master_key: folder };
        for index in 0..count {
            cluster.serve(index);
        }
        cluster.leader().await;
        Some(cluster)
    }

    fn serve(&mut self, index: usize) {
        self.nodes[index].serve();
        self.publish();
    }

    /// Tells the clients which nodes run.
    fn publish(&mut self) {
        let running = self.nodes.iter_mut().filter_map(|node| node.is_running().then(|| node.address()));
        *self.addresses.lock().expect("not poisoned") = running.collect();
    }

    fn client(&self, index: usize) -> Client {
        Client::new(self.nodes[index].address(), Some(self.key.clone()))
    }

    /// Waits until a node leads; returns its index.
    async fn leader(&mut self) -> usize {
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            for index in 0..self.nodes.len() {
                if self.nodes[index].is_running() && leads(&self.client(index)).await {
                    return index;
                }
            }
            let logs: Vec<String> = self.nodes.iter().map(Server::log).collect();
            assert!(Instant::now() < deadline, "no node leads:\n{}", logs.join("\n---\n"));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Stops all nodes, brings their folders to the end of the logs, and returns the digests of all rows per node.
    fn digests(&mut self) -> Vec<Vec<Digests>> {
        let mut all = Vec::new();
        for node in &mut self.nodes {
            if node.is_running() {
                node.signal("TERM");
                assert!(node.wait().success(), "{}", node.log());
            }
        }
        for node in &self.nodes {
            let joined = node.run(&["cluster", "join"]);
            assert!(joined.status.success(), "{}", String::from_utf8_lossy(&joined.stderr));
            let of = |store: StoreName| {
                digests(&node.data().join(format!("{}.redb", store.word())), store.database_kind()).expect("the file is whole")
            };
            all.push(StoreName::ALL.map(of).to_vec());
        }
        all
    }
}

async fn leads(client: &Client) -> bool {
    let ready = Call::new(operation("system.ready"), json!({ "role": "leader" }));
    let reply = tokio::time::timeout(REQUEST_TIME, client.try_send(ready)).await;
    reply.is_ok_and(|reply| reply.is_ok_and(|reply| reply.status == 200))
}

/// What clients know about their writes.
#[derive(Default)]
struct Written {
    /// The ID of each contact whose creation was acknowledged, by its email address.
    contacts: BTreeMap<String, String>,
    /// The numbers of the acknowledged events of each writer, and of those without an answer.
    events: BTreeMap<usize, BTreeSet<u64>>,
    unknown: BTreeMap<usize, BTreeSet<u64>>,
    /// The longest time without an acknowledged write.
    longest_gap: Duration,
    attempts: u64,
    retries: u64,
}

/// Writes to one node after the other until `is_over`. A write without an answer is repeated with its idempotency key, at any node.
async fn write(
    addresses: Arc<Mutex<Vec<SocketAddr>>>,
    key: String,
    project: String,
    writer: usize,
    is_over: Arc<AtomicBool>,
) -> Written {
    let mut written = Written::default();
    let (mut acknowledged_at, mut turn) = (Instant::now(), writer);
    for number in 0_u64.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let email = format!("w{writer}-n{number}@example.com");
        let call = match number % 2 {
            0 => Call::new(operation("contacts.create"), json!({ "projectId": project, "email": email })),
            _ => Call::new(
                operation("events.record"),
                json!({ "projectId": project, "name": "tick", "identifiers": { "email": format!("w{writer}@example.com") },
                        "properties": { "number": number } }),
            ),
        };
        let call = call.header("idempotency-key", format!("w{writer}-{number}"));
        let acknowledged = loop {
            let address = {
                let addresses = addresses.lock().expect("not poisoned");
                (!addresses.is_empty()).then(|| addresses[turn % addresses.len()])
            };
            turn += 1;
            written.attempts += 1;
            let sent = match address {
                Some(address) => {
                    let client = Client::new(address, Some(key.clone()));
                    tokio::time::timeout(REQUEST_TIME, client.try_send(call.clone())).await.ok().and_then(Result::ok)
                }
                None => None,
            };
            match sent {
                Some(reply) if reply.status < 300 && !reply.bytes.is_empty() => break Some(reply),
                Some(reply) => assert!(
                    reply.status == 503 || reply.status == 409 || reply.bytes.is_empty(),
                    "{} {}",
                    reply.status,
                    String::from_utf8_lossy(&reply.bytes)
                ),
                None => {}
            }
            if is_over.load(Ordering::SeqCst) {
                break None;
            }
            written.retries += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        match acknowledged {
            Some(reply) if number % 2 == 0 => {
                let id = reply.json()["data"]["id"].as_str().expect("an id").to_owned();
                written.contacts.insert(email, id);
            }
            Some(_) => drop(written.events.entry(writer).or_default().insert(number)),
            None if number % 2 == 1 => drop(written.unknown.entry(writer).or_default().insert(number)),
            None => {}
        }
        written.longest_gap = written.longest_gap.max(acknowledged_at.elapsed());
        acknowledged_at = Instant::now();
    }
    written
}

/// Checks on one node that every acknowledged write exists, and that none has taken effect twice.
async fn check(client: &Client, project: &str, written: &Written) {
    for (email, id) in &written.contacts {
        let contact = client.data("contacts.get", json!({ "projectId": project, "id": id })).await;
        assert_eq!(contact["email"].as_str(), Some(email.as_str()));
    }
    for (writer, numbers) in &written.events {
        let filter = json!({ "projectId": project, "search": format!("w{writer}@example.com"), "refresh": true });
        let found = client.data("contacts.list", filter).await;
        let own = format!("w{writer}@example.com");
        let contact = found["contacts"].as_array().expect("a list").iter().find(|contact| contact["email"] == own.as_str());
        let id = contact.expect("the contact of the events exists")["id"].clone();
        let (mut stored, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut input = json!({ "projectId": project, "id": id, "limit": 100 });
            if !cursor.is_null() {
                input["cursor"] = cursor.clone();
            }
            let page = client.data("events.list", input).await;
            let events = page["events"].as_array().expect("a list");
            stored.extend(events.iter().map(|event| event["properties"]["number"].as_u64().expect("a number")));
            cursor = page["nextCursor"].clone();
            if page["hasMore"] != true {
                break;
            }
        }
        let distinct: BTreeSet<u64> = stored.iter().copied().collect();
        assert_eq!(distinct.len(), stored.len(), "an idempotency key of writer {writer} took effect twice");
        let lost: Vec<&u64> = numbers.difference(&distinct).collect();
        assert!(lost.is_empty(), "acknowledged events of writer {writer} are missing: {lost:?}");
        let unknown = written.unknown.get(writer).cloned().unwrap_or_default();
        let extra: Vec<&u64> = distinct.difference(numbers).filter(|number| !unknown.contains(number)).collect();
        assert!(extra.is_empty(), "events of writer {writer} that were never sent: {extra:?}");
    }
}

/// Checks the log itself: epochs only grow, and positions have no gaps.
fn check_log(cluster: &Cluster) {
    let shrinking = "SELECT count(*) FROM (SELECT epoch, lag(epoch) OVER w AS before, seq, lag(seq) OVER w AS previous FROM mailmill_log \
                     WINDOW w AS (PARTITION BY log ORDER BY seq)) AS pairs WHERE epoch < before OR seq <> previous + 1";
    assert_eq!(cluster.postgres.query(&cluster.url, shrinking), "0", "epochs go back, or commits are missing");
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    KillLeader,
    StopLeader,
    CutDatabase,
    RemoveFollower,
    RemoveLeader,
    Drain,
}

const FAULTS: [Fault; 6] =
    [Fault::KillLeader, Fault::StopLeader, Fault::CutDatabase, Fault::RemoveFollower, Fault::RemoveLeader, Fault::Drain];

/// Lets one fault happen and repairs what an operator would repair. Returns the time without a leader.
async fn strike(cluster: &mut Cluster, fault: Fault) -> Duration {
    let leader = cluster.leader().await;
    let follower = (leader + 1) % cluster.nodes.len();
    let started = Instant::now();
    match fault {
        Fault::KillLeader => {
            cluster.nodes[leader].kill();
            cluster.publish();
            cluster.leader().await;
            let took = started.elapsed();
            cluster.serve(leader);
            return took;
        }
        Fault::StopLeader => {
            cluster.nodes[leader].signal("STOP");
            tokio::time::sleep(Duration::from_secs(LEASE_SECONDS) + Duration::from_millis(500)).await;
            cluster.nodes[leader].signal("CONT");
        }
        Fault::CutDatabase => {
            cluster.postgres.stop();
            tokio::time::sleep(Duration::from_millis(500)).await;
            cluster.postgres.resume();
        }
        Fault::RemoveFollower | Fault::RemoveLeader => {
            let index = if matches!(fault, Fault::RemoveLeader) { leader } else { follower };
            cluster.nodes[index].kill();
            cluster.publish();
            std::fs::remove_dir_all(cluster.nodes[index].data()).expect("the folder can be removed");
            cluster.serve(index);
        }
        Fault::Drain => {
            let drained = cluster.nodes[leader].run(&["cluster", "drain"]);
            assert!(drained.status.success(), "{}", String::from_utf8_lossy(&drained.stderr));
            let now = cluster.leader().await;
            assert_ne!(now, leader, "another node leads");
            let took = started.elapsed();
            let undone = cluster.nodes[leader].run(&["cluster", "drain", "--undo"]);
            assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
            return took;
        }
    }
    cluster.leader().await;
    started.elapsed()
}

#[expect(clippy::disallowed_methods, reason = "knobs of this test, which are not settings")]
fn knob(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_fault_loses_or_repeats_an_acknowledged_write() {
    let Some(mut cluster) = Cluster::start(3).await else { return };
    let leader = cluster.leader().await;
    let project = cluster.client(leader).project("cluster").await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        cluster.client(leader).contact(&project, &format!("w{writer}@example.com")).await;
        writers.spawn(write(cluster.addresses.clone(), cluster.key.clone(), project.clone(), writer, is_over.clone()));
    }
    let faults: Vec<Fault> = match knob("MAILMILL_CLUSTER_FAULTS") {
        None => FAULTS.to_vec(),
        Some(count) => {
            let mut state = knob("MAILMILL_CLUSTER_SEED").unwrap_or(1);
            let random = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                FAULTS[(state >> 33) as usize % FAULTS.len()]
            };
            (0..count).map(random).collect()
        }
    };
    let mut times: BTreeMap<String, Vec<Duration>> = BTreeMap::new();
    for fault in faults {
        tokio::time::sleep(CALM).await;
        let took = strike(&mut cluster, fault).await;
        times.entry(format!("{fault:?}")).or_default().push(took);
    }
    tokio::time::sleep(CALM).await;
    is_over.store(true, Ordering::SeqCst);
    let mut written = Written::default();
    for one in writers.join_all().await {
        written.contacts.extend(one.contacts);
        written.events.extend(one.events);
        written.unknown.extend(one.unknown);
        written.longest_gap = written.longest_gap.max(one.longest_gap);
        written.attempts += one.attempts;
        written.retries += one.retries;
    }
    let events: usize = written.events.values().map(BTreeSet::len).sum();
    println!(
        "{} contacts, {events} events, {} attempts, {} retries, longest gap {:?}",
        written.contacts.len(),
        written.attempts,
        written.retries,
        written.longest_gap
    );
    for (fault, times) in &times {
        println!("{fault}: {} times, at most {:?} until a node leads", times.len(), times.iter().max().expect("one"));
    }
    assert!(written.contacts.len() > 50 && events > 50, "the load was too small to prove anything");
    for index in 0..cluster.nodes.len() {
        check(&cluster.client(index), &project, &written).await;
    }
    check_log(&cluster);
    let all = cluster.digests();
    for (index, digests) in all.iter().enumerate() {
        assert_eq!(digests, &all[0], "the rows of node-{} differ from those of node-1", index + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_answer_reads_and_forward_everything_else() {
    let Some(mut cluster) = Cluster::start(2).await else { return };
    let leader = cluster.leader().await;
    let follower = 1 - leader;
    let (at_leader, at_follower) = (cluster.client(leader), cluster.client(follower));
    let project = at_follower.project("followers").await;
    for number in 0..20 {
        let input = json!({ "projectId": project, "email": format!("n{number}@example.com") });
        let created = at_follower.call("contacts.create", input).await;
        assert_eq!(created.status, 201, "{}", String::from_utf8_lossy(&created.bytes));
        let position = created.header("x-mailmill-position").expect("a write names its position").to_owned();
        let id = created.json()["data"]["id"].clone();
        let read = Call::new(operation("contacts.get"), json!({ "projectId": project, "id": id }));
        let read = at_follower.send(read.header("x-mailmill-position", position)).await;
        assert_eq!(read.status, 200, "a client reads its own write: {}", String::from_utf8_lossy(&read.bytes));
        assert_eq!(
            read.header("x-mailmill-node"),
            Some(format!("node-{}", follower + 1).as_str()),
            "the follower answers itself"
        );
        assert!(read.number("x-mailmill-lag-ms") < 5_000);
    }
    // A key that was created a moment ago works on every node, and so do commands of the operator.
    let key = cluster.nodes[follower].key("test", "all");
    assert_eq!(at_follower.with_key(Some(&key)).call("tags.list", json!({ "projectId": project })).await.status, 200);
    let refused = at_follower
        .with_key(Some("sk_test_0000000000000000000000000000"))
        .call("tags.list", json!({ "projectId": project }))
        .await;
    assert_eq!(refused.status, 401);
    // A command about the machine runs on the node that it names.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let to = folder.path().join("backup");
    let made = cluster.nodes[follower].run(&["backup", "--to", to.to_str().expect("text")]);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    let data = cluster.nodes[follower].data().display().to_string();
    assert!(made.status.success() && said.contains(&data), "the follower backs up its own data: {said}");
    // Load balancers find the leader, and nodes that can answer reads.
    for (client, role, status) in
        [(&at_leader, "leader", 200), (&at_follower, "leader", 503), (&at_leader, "any", 200), (&at_follower, "any", 200)]
    {
        let ready = client.call("system.ready", json!({ "role": role })).await;
        let said = String::from_utf8_lossy(&ready.bytes).into_owned();
        assert_eq!(ready.status, status, "{role}: {said}");
        assert_eq!(said.contains("this node does not lead the cluster"), status == 503, "{role}: {said}");
    }
    // Without a leader, reads work and writes are refused for a moment.
    cluster.nodes[leader].kill();
    let read = at_follower.call("contacts.list", json!({ "projectId": project })).await;
    assert_eq!((read.status, read.json()["data"]["total"].as_u64()), (200, Some(20)));
    let refused = at_follower.call("contacts.create", json!({ "projectId": project, "email": "late@example.com" })).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let pixel = at_follower.call("tracking.open", json!({ "token": "none.gif" })).await;
    assert_eq!((pixel.status, pixel.header("content-type")), (404, Some("image/gif")), "links in messages need no leader");
    assert_eq!(cluster.leader().await, follower);
    assert_eq!(at_follower.contact(&project, "late@example.com").await.len(), 24);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_becomes_a_cluster_and_a_cluster_becomes_a_folder() {
    let Some(postgres) = Postgres::start() else { return missing("there is no PostgreSQL (Debian: postgresql)") };
    let mut server = Server::start(BOUNDLESS);
    let key = server.key("test", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("folders").await;
    let mut ids = vec![client.contact(&project, "folder@example.com").await];
    server.signal("TERM");
    assert!(server.wait().success());
    let settings = format!(
        "{BOUNDLESS}\n[server]\npublic_url = 'http://mail.example.com'\n[cluster]\ndatabase = '{}'\nnode = 'one'\naddress = '127.0.0.1:0'\n\
         secret = '{SECRET}'\nlease_seconds = {LEASE_SECONDS}\n",
        postgres.database()
    );
    server.set(&settings);
    let refused = server.run(&["cluster", "init"]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("cluster import"));
    let imported = server.run(&["cluster", "import"]);
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    server.set(BOUNDLESS);
    let alone = server.serve_again();
    assert!(!alone.status.success() && String::from_utf8_lossy(&alone.stderr).contains("node of a cluster"), "{alone:?}");
    server.set(&settings);
    server.serve();
    let client = Client::new(server.address(), Some(key.clone()));
    let deadline = Instant::now() + RECOVERY_TIME;
    while !leads(&client).await {
        assert!(Instant::now() < deadline, "{}", server.log());
    }
    ids.push(client.contact(&project, "cluster@example.com").await);
    let status = server.run(&["cluster", "status"]);
    let status = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(status.contains("leader        one at 127.0.0.1:") && status.contains("live"), "{status}");
    let out = tempfile::tempdir().expect("a temporary folder");
    let to = out.path().join("alone");
    let exported = server.run(&["cluster", "export", "--to", to.to_str().expect("text")]);
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    server.signal("TERM");
    assert!(server.wait().success());
    let doctor = String::from_utf8_lossy(&server.run(&["doctor"]).stdout).into_owned();
    assert!(doctor.contains("this node is stopped") && !doctor.contains("Fix the problem with the data first"), "{doctor}");
    let drained = String::from_utf8_lossy(&server.run(&["cluster", "drain"]).stderr).into_owned();
    assert!(drained.contains("A stopped node does not lead"), "{drained}");
    let left = server.run(&["cluster", "leave"]);
    assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
    assert!(!server.data().join("live.redb").exists() && server.data().join("master.key").exists());
    // The exported folder is a single machine again, with all contacts.
    std::fs::remove_dir_all(server.data()).expect("the folder can be removed");
    std::fs::rename(&to, server.data()).expect("the folder can be moved");
    server.set(BOUNDLESS);
    server.serve();
    let client = Client::new(server.address(), Some(key));
    for id in ids {
        client.data("contacts.get", json!({ "projectId": project, "id": id })).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_initialization_without_permissions_leaves_the_folder_empty() {
    let Some(postgres) = Postgres::start() else { return missing("there is no PostgreSQL (Debian: postgresql)") };
    let url = postgres.database();
    postgres.query(&url, "CREATE ROLE weak LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    let settings = |url: &str| {
        format!(
            "{BOUNDLESS}\n[server]\npublic_url = 'http://mail.example.com'\n[cluster]\ndatabase = '{url}'\nnode = 'one'\n\
             address = '127.0.0.1:0'\nsecret = '{SECRET}'\n"
        )
    };
    let server = Server::stopped(&settings(&url.replace("mailmill@", "weak@")));
    let failed = server.run(&["cluster", "init"]);
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(!failed.status.success() && said.contains("permission denied"), "{said}");
    assert!(!server.data().join("control.redb").exists(), "nothing was created");
    server.set(&settings(&url));
    let done = server.run(&["cluster", "init"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(String::from_utf8_lossy(&done.stdout).contains("sk_test_"), "the test key is shown");
}
