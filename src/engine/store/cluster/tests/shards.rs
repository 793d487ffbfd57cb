//! Simulates shards: each group of accounts has its own log with its own lease, so that several nodes can write at the same time. Prints
//! the tables of `assets/docs/growth.md`:
//!
//!     cargo test --lib cluster::tests::shards -- --nocapture

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write;

use crate::engine::store::testing::Dice;

/// The number of shards, which is fixed. It is several times the largest number of nodes, so that the shards of a lost node can be
/// distributed.
const SHARDS: usize = 512;
/// The mean number of contacts per account.
const CONTACTS_PER_ACCOUNT: u64 = 5_000;
const ACCOUNTS_MAX: u64 = 200_000;
/// The number of nodes that have a copy of each shard: the leader and two followers.
const COPIES: u64 = 3;
/// The duration of a lease. The leader renews the lease when a third of this time has passed, and other nodes read it every 200 ms.
const LEASE_MS: u64 = 3_000;
const POLL_MS: u64 = 200;
/// The maximum time that a node waits before it takes a free lease. The wait is proportional to the node's load, so that the node with the
/// least load is first.
const LOAD_PAUSE_MS: u64 = 300;
/// The time that a new leader needs to read the end of the log and to fill its caches.
const START_MS: u64 = 150;
/// The number of losses in each simulation. Each loss removes one node while all other nodes run.
const LOSSES: usize = 200;

/// The size of a contact's rows in the data files, and of a message's records in the log. Measured with a cluster of one node: 40,000
/// contacts, and a campaign to 5,000 of them.
const FILE_BYTES_PER_CONTACT: u64 = 500;
const LOG_BYTES_PER_MESSAGE: u64 = 60;
/// Assumptions: the size of a message's rows in the data files, including its opens and clicks; the number of messages per contact and
/// week; and the number of days for which these rows are kept.
const FILE_BYTES_PER_MESSAGE: u64 = 200;
const MESSAGES_PER_CONTACT_AND_WEEK: u64 = 2;
const DAYS_KEPT: u64 = 365;
/// The number of messages that one writer sends per second. The simulation uses half of this number, because most campaigns start at the
/// same hours of the day.
const MESSAGES_PER_SECOND: u64 = 500;
/// The number of log bytes that one database server accepts per second.
const DATABASE_BYTES_PER_SECOND: u64 = 20_000_000;
/// Assumed prices per month, without a currency: a node with 4 cores, a database server with its standby, and 100 GB of disk.
const NODE_PRICE: u64 = 100;
const DATABASE_PRICE: u64 = 600;
const DISK_PRICE: u64 = 10;
const DISK_BYTES: u64 = 100_000_000_000;

/// Returns the number of contacts of each account, largest first. The share of the account with rank n is proportional to 1/n.
fn accounts(contacts: u64) -> Vec<u64> {
    let count = (contacts / CONTACTS_PER_ACCOUNT).clamp(1, ACCOUNTS_MAX);
    let sum: f64 = (1..=count).map(|rank| 1.0 / rank as f64).sum();
    (1..=count).map(|rank| (contacts as f64 / (sum * rank as f64)) as u64).collect()
}

/// Places each account, largest first, in the shard with the fewest contacts. Returns the number of contacts of each shard.
fn shards(accounts: &[u64]) -> Vec<u64> {
    let mut shards: BinaryHeap<Reverse<u64>> = vec![Reverse(0); SHARDS].into();
    for account in accounts {
        let Reverse(least) = shards.pop().expect("there are shards");
        shards.push(Reverse(least + account));
    }
    shards.into_iter().map(|Reverse(contacts)| contacts).collect()
}

/// A cluster whose nodes lead shards.
struct Nodes {
    shards: Vec<u64>,
    /// The node that leads each shard.
    leaders: Vec<usize>,
    /// The number of contacts in the shards that each node leads.
    loads: Vec<u64>,
}

impl Nodes {
    /// Assigns each shard to the node with the least load, largest shard first.
    fn new(mut shards: Vec<u64>, count: usize) -> Self {
        shards.sort_unstable_by(|one, other| other.cmp(one));
        let mut nodes = Self { leaders: vec![usize::MAX; shards.len()], shards, loads: vec![0; count] };
        for shard in 0..nodes.shards.len() {
            nodes.take(shard, usize::MAX);
        }
        nodes
    }

    /// Assigns a shard to the node with the least load. Returns the previous load of this node.
    fn take(&mut self, shard: usize, lost: usize) -> u64 {
        let running = (0..self.loads.len()).filter(|node| *node != lost);
        let taker = running.min_by_key(|node| self.loads[*node]).expect("another node");
        let before = self.loads[taker];
        self.leaders[shard] = taker;
        self.loads[taker] += self.shards[shard];
        before
    }

    /// Returns the load of the busiest node, relative to the mean load of the running nodes.
    fn imbalance(&self, lost: usize) -> f64 {
        let running = (0..self.loads.len()).filter(|node| *node != lost).count();
        let sum: u64 = self.loads.iter().sum();
        *self.loads.iter().max().expect("there are nodes") as f64 * running as f64 / sum as f64
    }

    /// Removes a node, and assigns its shards to the others. Returns the time in milliseconds until each of these shards has a leader.
    fn lose(&mut self, lost: usize, dice: &mut Dice) -> Vec<u64> {
        let since_renewal = dice.below(LEASE_MS / 3);
        let mut times = Vec::new();
        self.loads[lost] = 0;
        for shard in 0..self.shards.len() {
            if self.leaders[shard] == lost {
                let before = self.take(shard, lost);
                let busiest = self.loads.iter().max().copied().unwrap_or(0).max(1);
                let pause = LOAD_PAUSE_MS * before / busiest;
                times.push(LEASE_MS - since_renewal + dice.below(POLL_MS) + pause + START_MS);
            }
        }
        times
    }
}

/// The result of a simulation.
struct SimulationResult {
    largest_account: f64,
    imbalance: f64,
    imbalance_after_loss: f64,
    failover_median_ms: u64,
    failover_late_ms: u64,
    moved_bytes: u64,
}

fn bytes(contacts: u64) -> u64 {
    contacts * (FILE_BYTES_PER_CONTACT + FILE_BYTES_PER_MESSAGE * MESSAGES_PER_CONTACT_AND_WEEK * DAYS_KEPT / 7)
}

fn simulate(contacts: u64, count: usize, seed: u64) -> SimulationResult {
    let accounts = accounts(contacts);
    let (mut dice, placed) = (Dice::new(seed), shards(&accounts));
    let healthy = Nodes::new(placed.clone(), count).imbalance(usize::MAX);
    let (mut times, mut worst) = (Vec::new(), 0.0_f64);
    for _ in 0..LOSSES {
        let mut nodes = Nodes::new(placed.clone(), count);
        let lost = dice.below(count as u64) as usize;
        times.extend(nodes.lose(lost, &mut dice));
        worst = worst.max(nodes.imbalance(lost));
    }
    times.sort_unstable();
    SimulationResult {
        largest_account: accounts[0] as f64 / contacts as f64,
        imbalance: healthy,
        imbalance_after_loss: worst,
        failover_median_ms: times[times.len() / 2],
        failover_late_ms: times[times.len() * 99 / 100],
        moved_bytes: bytes(contacts) * COPIES.min(count as u64) / count as u64,
    }
}

/// The number of nodes and database servers that a number of contacts requires, and their price per month.
struct Cost {
    messages_per_day: u64,
    nodes: u64,
    databases: u64,
    node_bytes: u64,
    price: u64,
}

fn cost(contacts: u64) -> Cost {
    let messages_per_day = contacts * MESSAGES_PER_CONTACT_AND_WEEK / 7;
    let nodes = messages_per_day.div_ceil(MESSAGES_PER_SECOND / 2 * 86_400).max(COPIES);
    // Assumes that all campaigns of a day are sent within a quarter of the day.
    let databases = (messages_per_day * LOG_BYTES_PER_MESSAGE).div_ceil(DATABASE_BYTES_PER_SECOND * 86_400 / 4).max(1);
    let node_bytes = bytes(contacts) * COPIES / nodes;
    let price = nodes * (NODE_PRICE + node_bytes.div_ceil(DISK_BYTES) * DISK_PRICE) + databases * DATABASE_PRICE;
    Cost { messages_per_day, nodes, databases, node_bytes, price }
}

#[test]
fn a_simulation_of_shards_keeps_nodes_balanced_until_one_account_is_larger_than_a_node() {
    let mut table =
        "contacts | nodes | largest account | busiest node / mean | after a loss | failover | 99 of 100 | moved\n".to_owned();
    for (contacts, count) in
        [(10_000_000, 2), (10_000_000, 4), (100_000_000, 8), (100_000_000, 16), (1_000_000_000, 32), (1_000_000_000, 64)]
    {
        let found = simulate(contacts, count, 7);
        writeln!(
            table,
            "{contacts} | {count} | {:.1} % | {:.2} | {:.2} | {} ms | {} ms | {} GB",
            found.largest_account * 100.0,
            found.imbalance,
            found.imbalance_after_loss,
            found.failover_median_ms,
            found.failover_late_ms,
            found.moved_bytes / 1_000_000_000
        )
        .expect("writing to memory cannot fail");
        // The node that leads the shard of the largest account has at least this load, relative to the mean, and no other node can take
        // over a part of the shard.
        let bound = (found.largest_account * count as f64).max(1.0);
        assert!(found.imbalance <= bound * 1.1, "{table}");
        assert!(found.failover_late_ms < 10_000, "{table}");
    }
    println!("{table}");
}

#[test]
fn the_cost_of_shards_grows_with_the_messages_and_not_faster() {
    let mut table = "contacts | messages per day | nodes | database servers | disk per node | price per month\n".to_owned();
    let sizes = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    for contacts in sizes {
        let Cost { messages_per_day, nodes, databases, node_bytes, price } = cost(contacts);
        let gigabytes = node_bytes / 1_000_000_000;
        writeln!(table, "{contacts} | {messages_per_day} | {nodes} | {databases} | {gigabytes} GB | {price}")
            .expect("writing to memory cannot fail");
    }
    println!("{table}");
    let per_million = sizes.map(|contacts| cost(contacts).price * 1_000_000 / contacts);
    assert!(per_million.is_sorted_by(|smaller, larger| smaller >= larger), "{per_million:?}\n{table}");
}
