//! Starts clusters of nodes of the shipped program, with a proxy in front of each node and on its connections to the database.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mailmill::engine::store::backup::{Digests, digests};
use mailmill::engine::store::commit_log::StoreName;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::proxy::Proxy;
use crate::support::client::Call;
use crate::support::postgres::Postgres;
use crate::support::server::{BOUNDLESS, PROGRAM};
use crate::support::{Client, Faults, Reply, Server, free_address, missing, operation};

pub const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// The lease of a cluster whose leader must stay the leader: a process may get no CPU for several seconds.
pub const LEASE_SECONDS: u64 = 10;
/// The lease of a cluster whose clients repeat every request.
pub const SHORT_LEASE_SECONDS: u64 = 2;
/// A request without a response after this time has an unknown outcome; a stopped process never answers.
const REQUEST_TIME: Duration = Duration::from_secs(8);
/// The time in which a cluster must recover from any single fault.
pub const RECOVERY_TIME: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

/// The addresses of the nodes that run.
pub type Addresses = Arc<Mutex<Vec<SocketAddr>>>;

/// A cluster with a new installation.
pub struct Cluster {
    pub nodes: Vec<Server>,
    pub lease: Duration,
    /// The networks of the nodes, in the same order.
    pub networks: Vec<Networks>,
    /// The faults of the nodes' machines, in the same order; `None` if faults cannot be simulated.
    pub faults: Vec<Option<Faults>>,
    pub addresses: Addresses,
    pub key: String,
    _master_key: tempfile::TempDir,
}

/// The proxies of a node: for its connections to the database, and for those of the other nodes to it.
pub struct Networks {
    pub database: Proxy,
    pub node: Proxy,
}

/// Returns the server of a cluster's database; `None`, with a note, if PostgreSQL is not installed.
pub fn database() -> Option<Postgres> {
    let server = Postgres::start();
    if server.is_none() {
        missing("there is no PostgreSQL (Debian: postgresql)");
    }
    server
}

/// Returns the settings of the node with this number.
fn settings(number: usize, (url, address): &(String, String), more: &str, lease_seconds: u64) -> String {
    format!(
        "{BOUNDLESS}\n{more}\n[server]\npublic_url = 'http://mail.example.com'\n[cluster]\ndatabase = '{url}'\nnode = 'node-{number}'\n\
         {address}\nsecret = '{SECRET}'\nlease_seconds = {lease_seconds}\n"
    )
}

/// Returns a number that this process has not used yet.
fn next_number() -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

impl Cluster {
    /// Starts a cluster of `count` nodes with proxies, with this lease and with `more` settings.
    pub async fn start(postgres: &Postgres, url: &str, (count, lease_seconds): (usize, u64), more: &str) -> Self {
        let mut networks = Vec::new();
        let mut nodes = Vec::new();
        for _ in 0..count {
            let (database, own) = (Proxy::start(postgres.address()), free_address());
            let node = Proxy::start(own);
            nodes.push((
                url.replace(&postgres.address().to_string(), &database.address().to_string()),
                format!("address = '{}'\nlisten = '{own}'", node.address()),
            ));
            networks.push(Networks { database, node });
        }
        let mut cluster = Self::prepare(&nodes, (more, lease_seconds), Path::new(PROGRAM));
        cluster.networks = networks;
        cluster.faults = cluster.nodes.iter_mut().map(Server::faults).collect();
        cluster.serve_all().await;
        cluster
    }

    /// Starts a cluster of `count` nodes of this program, without proxies, with this lease and with `more` settings.
    pub async fn start_plain(url: &str, (count, lease_seconds): (usize, u64), program: &Path, more: &str) -> Self {
        let node = (url.to_owned(), "address = '127.0.0.1:0'".to_owned());
        let mut cluster = Self::prepare(&vec![node; count], (more, lease_seconds), program);
        cluster.serve_all().await;
        cluster
    }

    /// Creates the installation and the settings of the nodes, each with its URL of the database and its lines about addresses.
    fn prepare(nodes: &[(String, String)], (more, lease_seconds): (&str, u64), program: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let copy = folder.path().join("master.key");
        let of = |index: usize| settings(index + 1, &nodes[index], more, lease_seconds);
        let with_key = |index: usize| format!("{}master_key = '{}'\n", of(index), copy.display());
        let stopped = |settings: &str| {
            let mut server = Server::stopped(settings);
            server.set_program(program.to_path_buf());
            server
        };
        let first = stopped(&of(0));
        let init = first.run(&["cluster", "init"]);
        assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
        let out = String::from_utf8_lossy(&init.stdout).into_owned();
        let key = out.split_whitespace().find(|word| word.starts_with("sk_test_")).expect("a test key").to_owned();
        std::fs::copy(first.data().join("master.key"), &copy).expect("the key can be copied");
        first.set(&with_key(0));
        let others = (1..nodes.len()).map(|index| stopped(&with_key(index)));
        let nodes = std::iter::once(first).chain(others).collect();
        Self {
            nodes,
            lease: Duration::from_secs(lease_seconds),
            networks: Vec::new(),
            faults: Vec::new(),
            addresses: Addresses::default(),
            key,
            _master_key: folder,
        }
    }

    /// Starts all nodes, and waits until one leads and all know that.
    pub async fn serve_all(&mut self) {
        for index in 0..self.nodes.len() {
            self.serve(index);
        }
        self.leader().await;
        let deadline = Instant::now() + RECOVERY_TIME;
        for index in 0..self.nodes.len() {
            let ready = Call::new(operation("system.ready"), json!({}));
            let knows = |reply: Reply| reply.json()["data"]["checks"]["cluster"]["hasLeader"] == true;
            while !ask(&self.client(index), ready.clone()).await.is_some_and(knows) {
                assert!(Instant::now() < deadline, "node-{} knows no leader:\n{}", index + 1, self.nodes[index].log());
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    pub fn serve(&mut self, index: usize) {
        self.nodes[index].serve();
        self.publish();
    }

    /// Tells the clients which nodes run.
    pub fn publish(&mut self) {
        let running = self.nodes.iter_mut().filter_map(|node| node.is_running().then(|| node.address()));
        *self.addresses.lock().expect("not poisoned") = running.collect();
    }

    /// Tells the clients which nodes to use: all that run except this one, as a load balancer does before an upgrade of the node.
    pub fn publish_without(&mut self, index: usize) {
        self.publish();
        let address = self.nodes[index].address();
        self.addresses.lock().expect("not poisoned").retain(|other| *other != address);
    }

    pub fn client(&self, index: usize) -> Client {
        Client::new(self.nodes[index].address(), Some(self.key.clone()))
    }

    /// Sends a write to one node after the other until it succeeds, as clients do while the lead moves.
    pub async fn write(&self, id: &str, input: Value) -> Reply {
        let call = Call::new(operation(id), input).header("idempotency-key", format!("write-{}", next_number()));
        let deadline = Instant::now() + RECOVERY_TIME;
        for turn in 0.. {
            match send(&self.addresses, &self.key, turn, &call).await {
                Some(reply) if reply.status < 300 => return reply,
                reply => assert!(Instant::now() < deadline, "{id}: {reply:?}"),
            }
            tokio::time::sleep(LOOK).await;
        }
        unreachable!("the deadline ends the loop")
    }

    /// Creates a project like [`Cluster::write`]; returns its ID.
    pub async fn project(&self, name: &str) -> String {
        let imported = self.write("projects.import", json!({ "name": name, "urls": ["http://127.0.0.1/"] })).await;
        imported.json()["data"]["projectId"].as_str().expect("a project has an id").to_owned()
    }

    /// Creates a contact like [`Cluster::write`]; returns its ID.
    pub async fn contact(&self, project: &str, email: &str) -> String {
        let created = self.write("contacts.create", json!({ "projectId": project, "email": email })).await;
        created.json()["data"]["id"].as_str().expect("a contact has an id").to_owned()
    }

    /// Waits until every node has all writes so far. Creates a contact in the project, because the response names a position.
    pub async fn catch_up(&self, project: &str) {
        let email = format!("last{}@example.com", next_number());
        let created = self.write("contacts.create", json!({ "projectId": project, "email": email })).await;
        let position = created.header("x-mailmill-position").expect("a write names its position");
        let read = Call::new(operation("contacts.list"), json!({ "projectId": project, "limit": 1 }));
        let read = read.header("x-mailmill-position", position);
        let deadline = Instant::now() + RECOVERY_TIME;
        for index in 0..self.nodes.len() {
            let client = self.client(index);
            // A node that is behind forwards the read, and the response of the leader does not name a node.
            while !leads(&client).await
                && ask(&client, read.clone()).await.is_none_or(|reply| reply.header("x-mailmill-node").is_none())
            {
                assert!(Instant::now() < deadline, "node-{} is behind:\n{}", index + 1, self.nodes[index].log());
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// Waits until a node leads; returns its index.
    pub async fn leader(&mut self) -> usize {
        self.leader_other_than(usize::MAX).await
    }

    /// Waits until a node leads other than this one; returns its index.
    pub async fn leader_other_than(&mut self, former: usize) -> usize {
        let deadline = Instant::now() + RECOVERY_TIME;
        loop {
            for index in (0..self.nodes.len()).filter(|index| *index != former) {
                if self.nodes[index].is_running() && leads(&self.client(index)).await {
                    return index;
                }
            }
            let logs: Vec<String> = self.nodes.iter().map(Server::log).collect();
            assert!(Instant::now() < deadline, "no node leads:\n{}", logs.join("\n---\n"));
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends a node as its supervisor does.
    pub fn end(&mut self, index: usize) {
        self.nodes[index].signal("TERM");
        assert!(self.nodes[index].wait().success(), "{}", self.nodes[index].log());
    }

    /// Stops all nodes, brings their folders to the end of the logs, and returns the digests of all rows per node.
    pub fn digests(&mut self) -> Vec<Vec<Digests>> {
        let mut all = Vec::new();
        for index in 0..self.nodes.len() {
            if self.nodes[index].is_running() {
                self.end(index);
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

    /// Checks that all nodes have the same rows. Stops the nodes.
    pub fn assert_equal(&mut self) {
        let all = self.digests();
        for (index, digests) in all.iter().enumerate() {
            assert_eq!(digests, &all[0], "the rows of node-{} differ from those of node-1", index + 1);
        }
    }
}

pub async fn leads(client: &Client) -> bool {
    let ready = Call::new(operation("system.ready"), json!({ "role": "leader" }));
    ask(client, ready).await.is_some_and(|reply| reply.status == 200)
}

/// Sends a request. Returns `None` if there is no complete response.
async fn ask(client: &Client, call: Call) -> Option<Reply> {
    let sent = tokio::time::timeout(REQUEST_TIME, client.try_send(call)).await;
    sent.ok().and_then(Result::ok).filter(|reply| !reply.bytes.is_empty())
}

/// Sends a request to the node whose turn it is. Returns `None` if there is no complete response.
pub async fn send(addresses: &Addresses, key: &str, turn: usize, call: &Call) -> Option<Reply> {
    let address = {
        let addresses = addresses.lock().expect("not poisoned");
        (!addresses.is_empty()).then(|| addresses[turn % addresses.len()])
    };
    ask(&Client::new(address?, Some(key.to_owned())), call.clone()).await
}

/// Checks the log itself: epochs only grow, and positions have no gaps.
pub fn check_log(postgres: &Postgres, url: &str) {
    let shrinking = "SELECT count(*) FROM (SELECT epoch, lag(epoch) OVER w AS before, seq, lag(seq) OVER w AS previous FROM mailmill_log \
                     WINDOW w AS (PARTITION BY log ORDER BY seq)) AS pairs WHERE epoch < before OR seq <> previous + 1";
    assert_eq!(postgres.query(url, shrinking), "0", "epochs go back, or commits are missing");
}
