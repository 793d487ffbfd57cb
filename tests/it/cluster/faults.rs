//! The faults that the tests of a cluster cause, and what an operator does afterward.

use std::time::Duration;

use tokio::time::Instant;

use super::nodes::Cluster;
use super::proxy::Network;
use crate::support::faults::{Fault as DiskFault, Kind};
use crate::support::postgres::Postgres;

/// The time for which the network, a clock or a disk is faulty.
const FAULTY: Duration = Duration::from_millis(1_500);
/// A clock that is this wrong would change the order of nearly everything, if the order depended on it.
const CLOCK_OFFSET_MS: i64 = -3 * 60 * 60 * 1_000;

#[derive(Clone, Copy, Debug)]
pub enum Fault {
    KillLeader,
    /// The leader's process is stopped until its lease has ended, and then continues.
    StopLeader,
    StopDatabase,
    /// The connections of the leader to the database are closed, and new ones fail.
    CutLeader,
    /// The packets between the leader and the database arrive only after another node leads.
    DelayLeader,
    /// The other nodes cannot connect to the leader.
    IsolateLeader,
    /// All packets between nodes, and between nodes and the database, arrive late.
    SlowNetwork,
    RemoveFollower,
    RemoveLeader,
    FillDisk,
    ShiftClock,
    Drain,
}

pub const FAULTS: [Fault; 12] = [
    Fault::KillLeader,
    Fault::StopLeader,
    Fault::StopDatabase,
    Fault::CutLeader,
    Fault::DelayLeader,
    Fault::IsolateLeader,
    Fault::SlowNetwork,
    Fault::RemoveFollower,
    Fault::RemoveLeader,
    Fault::FillDisk,
    Fault::ShiftClock,
    Fault::Drain,
];

/// The faults of one run.
pub fn faults(count: Option<u64>, seed: u64) -> Vec<Fault> {
    let Some(count) = count else { return FAULTS.to_vec() };
    let mut state = seed;
    let random = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        FAULTS[(state >> 33) as usize % FAULTS.len()]
    };
    (0..count).map(random).collect()
}

/// Lets one fault happen and repairs what an operator would repair. Returns the time from the fault until a node leads.
pub async fn strike(cluster: &mut Cluster, postgres: &Postgres, fault: Fault) -> Duration {
    let leader = cluster.leader().await;
    let follower = (leader + 1) % cluster.nodes.len();
    let started = Instant::now();
    match fault {
        Fault::KillLeader => {
            kill(cluster, leader);
            cluster.leader().await;
            let took = started.elapsed();
            cluster.serve(leader);
            return took;
        }
        Fault::StopLeader => {
            cluster.nodes[leader].signal("STOP");
            tokio::time::sleep(cluster.lease + Duration::from_millis(500)).await;
            cluster.nodes[leader].signal("CONT");
        }
        Fault::StopDatabase => {
            postgres.stop();
            tokio::time::sleep(Duration::from_millis(500)).await;
            postgres.resume();
        }
        Fault::CutLeader | Fault::DelayLeader => {
            let state = if matches!(fault, Fault::CutLeader) { Network::Cut } else { Network::Held };
            cluster.networks[leader].database.set(state);
            cluster.leader_other_than(leader).await;
            let took = started.elapsed();
            cluster.networks[leader].database.set(Network::Fine);
            return took;
        }
        Fault::IsolateLeader => {
            cluster.networks[leader].node.set(Network::Cut);
            tokio::time::sleep(FAULTY).await;
            cluster.networks[leader].node.set(Network::Fine);
        }
        Fault::SlowNetwork => {
            set_all(cluster, Network::Slow);
            tokio::time::sleep(FAULTY).await;
            set_all(cluster, Network::Fine);
        }
        Fault::RemoveFollower | Fault::RemoveLeader => {
            let index = if matches!(fault, Fault::RemoveLeader) { leader } else { follower };
            kill(cluster, index);
            std::fs::remove_dir_all(cluster.nodes[index].data()).expect("the folder can be removed");
            cluster.leader().await;
            let took = started.elapsed();
            cluster.serve(index);
            return took;
        }
        Fault::FillDisk => fill_disk(cluster, leader).await,
        Fault::ShiftClock => {
            let Some(faults) = &cluster.faults[leader] else { return Duration::ZERO };
            faults.clock_off_by_ms(CLOCK_OFFSET_MS);
            tokio::time::sleep(FAULTY).await;
            faults.clock_off_by_ms(0);
        }
        Fault::Drain => return drain(cluster, leader).await,
    }
    cluster.leader().await;
    started.elapsed()
}

fn kill(cluster: &mut Cluster, index: usize) {
    cluster.nodes[index].kill();
    cluster.publish();
}

fn set_all(cluster: &Cluster, network: Network) {
    for networks in &cluster.networks {
        networks.database.set(network);
        networks.node.set(network);
    }
}

/// Lets every write to the leader's disk fail for a while. If the node ends, starts it again.
async fn fill_disk(cluster: &mut Cluster, leader: usize) {
    let Some(faults) = &cluster.faults[leader] else { return };
    faults.arm(Kind::Write, DiskFault::Full, 1, u64::MAX);
    tokio::time::sleep(FAULTY).await;
    faults.disarm();
    tokio::time::sleep(FAULTY).await;
    if cluster.nodes[leader].ended().is_some() {
        cluster.publish();
        cluster.leader().await;
        cluster.serve(leader);
    }
}

/// Moves the lead to another node, and lets the former leader lead again later.
pub async fn drain(cluster: &mut Cluster, leader: usize) -> Duration {
    let started = Instant::now();
    let drained = cluster.nodes[leader].run(&["cluster", "drain"]);
    assert!(drained.status.success(), "{}", String::from_utf8_lossy(&drained.stderr));
    cluster.leader_other_than(leader).await;
    let took = started.elapsed();
    let undone = cluster.nodes[leader].run(&["cluster", "drain", "--undo"]);
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    took
}
