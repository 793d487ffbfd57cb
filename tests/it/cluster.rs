//! Several nodes and a real PostgreSQL, with faults while clients write: every acknowledged write is on every node afterward, no
//! idempotency key took effect twice, the histories of rows are linearizable, and all nodes have the same rows.
//!
//! By default, each kind of fault happens once. `MAILMILL_CLUSTER_FAULTS` sets the number of random faults, `MAILMILL_CLUSTER_SEED` chooses
//! them, and `MAILMILL_CLUSTER_CALM_MS` sets the time between them. This takes more than an hour:
//!
//!     MAILMILL_CLUSTER_FAULTS=300 MAILMILL_CLUSTER_CALM_MS=10000 cargo test --release --test it cluster::no_fault -- --nocapture

mod backups;
mod campaigns;
mod faults;
mod guide;
mod history;
mod nodes;
mod planted;
mod proxy;
mod returned_mail;
mod rows;
mod speed;
mod standby;
mod upgrades;
mod visits;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::faults::{faults, strike};
use self::nodes::{
    Addresses, Cluster, LEASE_SECONDS, RECOVERY_TIME, SECRET, SHORT_LEASE_SECONDS, check_log, database, leads, send,
};
use self::proxy::Network;
use self::rows::Rows;
use super::support::client::Call;
use super::support::server::{BOUNDLESS, PROGRAM};
use super::support::{Client, Reply, Server, operation};

const WRITERS: usize = 4;
/// The time between two faults, in which clients write.
const CALM: Duration = Duration::from_millis(1_500);
/// The time in which a node leads again after 99 of 100 faults, in runs with many faults.
const FAILOVER_TIME: Duration = Duration::from_secs(10);
/// The number of faults from which a run has a 99th percentile.
const MANY: usize = 100;

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
    /// How often a writer read its own write, at a node whose turn came next.
    own_reads: u64,
}

impl Written {
    /// Combines what the writers know.
    fn of(writers: Vec<Self>) -> Self {
        let mut all = Self::default();
        for one in writers {
            all.contacts.extend(one.contacts);
            all.events.extend(one.events);
            all.unknown.extend(one.unknown);
            all.longest_gap = all.longest_gap.max(one.longest_gap);
            all.attempts += one.attempts;
            all.retries += one.retries;
            all.own_reads += one.own_reads;
        }
        all
    }

    fn print(&self) {
        let events: usize = self.events.values().map(BTreeSet::len).sum();
        println!(
            "{} contacts, {events} events, {} reads of own writes, {} attempts, {} retries, longest gap {:?}",
            self.contacts.len(),
            self.own_reads,
            self.attempts,
            self.retries,
            self.longest_gap
        );
    }
}

/// Writes to one node after the other until `is_over`. A write without an answer is repeated with its idempotency key, at any node.
async fn write(addresses: Addresses, key: String, project: String, writer: usize, is_over: Arc<AtomicBool>) -> Written {
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
            turn += 1;
            written.attempts += 1;
            match send(&addresses, &key, turn, &call).await {
                Some(reply) if reply.status < 300 => break Some(reply),
                Some(reply) => {
                    let said = String::from_utf8_lossy(&reply.bytes);
                    assert!(matches!(reply.status, 409 | 503), "{} {said}", reply.status);
                }
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
                written.own_reads += u64::from(read_own(&addresses, &key, turn, &reply, (project.as_str(), id.as_str())).await);
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

/// Reads a contact that was just created, at any node, with the position of the write. Returns whether there was an answer.
async fn read_own(addresses: &Addresses, key: &str, turn: usize, created: &Reply, (project, id): (&str, &str)) -> bool {
    let position = created.header("x-mailmill-position").expect("a write names its position");
    let read = Call::new(operation("contacts.get"), json!({ "projectId": project, "id": id }));
    let read = send(addresses, key, turn + 1, &read.header("x-mailmill-position", position)).await;
    match read {
        Some(reply) if reply.status != 503 => {
            assert_eq!(reply.status, 200, "a client reads its own write: {}", String::from_utf8_lossy(&reply.bytes));
            true
        }
        _ => false,
    }
}

/// Checks on one node that every acknowledged write exists, and that none has taken effect twice. `owners` are the contacts of the writers'
/// events.
async fn check(client: &Client, project: &str, owners: &[String], written: &Written) {
    for (email, id) in &written.contacts {
        let contact = client.data("contacts.get", json!({ "projectId": project, "id": id })).await;
        assert_eq!(contact["email"].as_str(), Some(email.as_str()));
    }
    for (writer, numbers) in &written.events {
        let (mut stored, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut input = json!({ "projectId": project, "id": owners[*writer], "limit": 100 });
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

#[expect(clippy::disallowed_methods, reason = "knobs of this test, which are not settings")]
fn knob(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The times from a fault until a node leads, by kind of fault.
#[derive(Default)]
struct Times(BTreeMap<String, Vec<Duration>>);

impl Times {
    fn print(&self) {
        println!("fault | times | until a node leads: median | at most");
        for (fault, times) in &self.0 {
            let mut times = times.clone();
            times.sort_unstable();
            println!("{fault} | {} | {:?} | {:?}", times.len(), times[times.len() / 2], times[times.len() - 1]);
        }
    }

    /// Checks that 99 of 100 faults end in time, if there were many.
    fn hold(&self) {
        let mut all: Vec<Duration> = self.0.values().flatten().copied().collect();
        all.sort_unstable();
        if all.len() >= MANY {
            let late = all[all.len() * 99 / 100];
            println!("99 of 100 faults: at most {late:?} until a node leads");
            assert!(late < FAILOVER_TIME, "{late:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_fault_loses_or_repeats_an_acknowledged_write() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start(&postgres, &url, (3, SHORT_LEASE_SECONDS), "").await;
    let project = cluster.project("cluster").await;
    let is_over = Arc::new(AtomicBool::new(false));
    let (mut writers, mut owners) = (JoinSet::new(), Vec::new());
    for writer in 0..WRITERS {
        owners.push(cluster.contact(&project, &format!("w{writer}@example.com")).await);
        writers.spawn(write(cluster.addresses.clone(), cluster.key.clone(), project.clone(), writer, is_over.clone()));
    }
    let rows = Rows::start(&cluster, &project, &is_over);
    let mut times = Times::default();
    let wanted = faults(knob("MAILMILL_CLUSTER_FAULTS"), knob("MAILMILL_CLUSTER_SEED").unwrap_or(1));
    let calm = knob("MAILMILL_CLUSTER_CALM_MS").map_or(CALM, Duration::from_millis);
    let started = Instant::now();
    for fault in &wanted {
        rows.next(&cluster).await;
        tokio::time::sleep(calm).await;
        let took = strike(&mut cluster, &postgres, *fault).await;
        times.0.entry(format!("{fault:?}")).or_default().push(took);
    }
    tokio::time::sleep(CALM).await;
    is_over.store(true, Ordering::SeqCst);
    let written = Written::of(writers.join_all().await);
    let histories = rows.end().await;
    println!("{} faults in {:?}", wanted.len(), started.elapsed());
    times.print();
    written.print();
    let (rows, reads, writes) = histories.counts();
    println!("{rows} rows with {writes} writes and {reads} reads of the leader");
    assert!(written.contacts.len() > 50 && written.own_reads > 50 && reads > 50, "the load was too small to prove anything");
    assert_eq!(histories.violations(), Vec::<usize>::new(), "the histories of these rows are not linearizable");
    cluster.catch_up(&project).await;
    for index in 0..cluster.nodes.len() {
        check(&cluster.client(index), &project, &owners, &written).await;
    }
    check_log(&postgres, &url);
    cluster.assert_equal();
    times.hold();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_disk_is_almost_full_moves_the_lead_to_another_node() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start_plain(&url, (2, LEASE_SECONDS), Path::new(PROGRAM), "").await;
    let leader = cluster.leader().await;
    let project = cluster.client(leader).project("disk").await;
    let full = 1 - leader;
    // No disk here has as much free space as this setting requires.
    let file = cluster.nodes[full].data().with_file_name("settings.toml");
    let settings = std::fs::read_to_string(file).expect("the settings are there");
    cluster.end(full);
    cluster.nodes[full].set(&format!("{settings}[data]\nfree_mib_min = 1048576\n"));
    cluster.serve(full);
    let drain = |command: &[&str]| {
        let done = cluster.nodes[leader].run(command);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    drain(&["cluster", "drain"]);
    let deadline = Instant::now() + RECOVERY_TIME;
    while !cluster.nodes[full].log().contains("the disk of this node is almost full") {
        assert!(Instant::now() < deadline, "{}", cluster.nodes[full].log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drain(&["cluster", "drain", "--undo"]);
    assert_eq!(cluster.leader_other_than(full).await, leader);
    tokio::time::sleep(3 * cluster.lease).await;
    assert!(leads(&cluster.client(leader)).await, "the lead stays on the node with free space");
    cluster.client(full).contact(&project, "disk@example.com").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_the_name_of_the_leader_warns_about_it() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start_plain(&url, (2, LEASE_SECONDS), Path::new(PROGRAM), "").await;
    let leader = cluster.leader().await;
    let twin = 1 - leader;
    let file = cluster.nodes[twin].data().with_file_name("settings.toml");
    let settings = std::fs::read_to_string(file).expect("the settings are there");
    cluster.end(twin);
    cluster.nodes[twin].set(&settings.replace(&format!("node-{}", twin + 1), &format!("node-{}", leader + 1)));
    cluster.serve(twin);
    let deadline = Instant::now() + RECOVERY_TIME;
    while !cluster.nodes[twin].log().contains("the leader has the name of this node") {
        assert!(Instant::now() < deadline, "{}", cluster.nodes[twin].log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_answer_reads_and_forward_everything_else() {
    let Some(postgres) = database() else { return };
    let url = postgres.database();
    let mut cluster = Cluster::start(&postgres, &url, (2, LEASE_SECONDS), "").await;
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
        let read = read.header("x-mailmill-position", position);
        // A follower that was busy for a moment forwards a read, and then answers the next one itself.
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            let read = at_follower.send(read.clone()).await;
            assert_eq!(read.status, 200, "a client reads its own write: {}", String::from_utf8_lossy(&read.bytes));
            let is_own = read.header("x-mailmill-node") == Some(format!("node-{}", follower + 1).as_str());
            if is_own && read.number("x-mailmill-lag-ms") < 5_000 {
                break;
            }
            assert!(Instant::now() < deadline, "the follower does not answer itself: {:?}", read.headers);
        }
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
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            let ready = client.call("system.ready", json!({ "role": role })).await;
            let said = String::from_utf8_lossy(&ready.bytes).into_owned();
            if ready.status == status && said.contains("this node does not lead the cluster") == (status == 503) {
                break;
            }
            assert!(Instant::now() < deadline, "{role}: {} {said}", ready.status);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    // Without a leader, reads work and writes are refused. The follower cannot take the lease until it can reach the database.
    cluster.networks[follower].database.set(Network::Held);
    cluster.nodes[leader].kill();
    let read = at_follower.call("contacts.list", json!({ "projectId": project })).await;
    assert_eq!((read.status, read.json()["data"]["total"].as_u64()), (200, Some(20)));
    let refused = at_follower.call("contacts.create", json!({ "projectId": project, "email": "late@example.com" })).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let pixel = at_follower.call("tracking.open", json!({ "token": "none.gif" })).await;
    assert_eq!((pixel.status, pixel.header("content-type")), (404, Some("image/gif")), "links in messages need no leader");
    cluster.networks[follower].database.set(Network::Fine);
    assert_eq!(cluster.leader().await, follower);
    assert_eq!(at_follower.contact(&project, "late@example.com").await.len(), 24);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_becomes_a_cluster_and_a_cluster_becomes_a_folder() {
    let Some(postgres) = database() else { return };
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
        tokio::time::sleep(Duration::from_millis(50)).await;
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
    assert!(
        doctor.contains("this node is not running") && !doctor.contains("Follow the instructions in the message above"),
        "{doctor}"
    );
    let drained = String::from_utf8_lossy(&server.run(&["cluster", "drain"]).stderr).into_owned();
    assert!(drained.contains("this node does not lead the cluster"), "{drained}");
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
    let Some(postgres) = database() else { return };
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
