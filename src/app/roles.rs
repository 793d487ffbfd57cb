//! The role of this node in its cluster: the leader runs the workers and accepts commands; a follower keeps its caches current.
//!
//! The role changes in the running process. The stores switch between following and accepting commands by themselves, so this module
//! changes only the caches and the workers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use tokio::runtime::Handle;

use crate::engine::api::Engine;
use crate::engine::hold;
use crate::engine::runner;
use crate::engine::store::cluster::{Member, Role};
use crate::engine::tasks::{Stage, Tasks};
use crate::features::{accounts, tracking};
use crate::vocab::limits;
use crate::vocab::tables::{self, TableId};
use crate::workers::WORKERS;

/// The tables whose rows are cached.
const CACHED: [TableId; 6] =
    [tables::META, tables::ACCOUNTS, tables::USERS, tables::KEYS, tables::SESSIONS, tables::OAUTH_GRANTS];
/// The pause after a change to cached rows, so that many changes are loaded together.
const CACHE_PAUSE: Duration = Duration::from_millis(20);
/// The pause between two checks of the disk while this node leads.
const DISK_PAUSE: Duration = Duration::from_secs(1);

/// Starts the workers when this node becomes the leader, ends them when its leadership ends, and otherwise keeps the caches current, until
/// the task is aborted. `grace` is the time allowed for messages in flight when the node hands over its leadership.
pub async fn follow(engine: Arc<Engine>, member: Arc<Member>, grace: Duration) {
    let mut role = member.role();
    let mut drain = member.drain_requests();
    let mut leading: Option<Leading> = None;
    loop {
        let changes = CACHED.map(|table| Box::pin(engine.control.changed(table).notified()));
        // Read the drain request before the role, so that a node that became the leader before the request hands over its leadership.
        let must_end = *drain.borrow_and_update();
        let now = role.borrow_and_update().clone();
        if let Some(former) = leading.take_if(|lead| lead.is_over(&now)) {
            former.tasks.raise(Stage::Cut);
            former.end(&engine, limits::CLUSTER_WORKER_END_TIME).await;
            if let Some(backup) = &engine.backup {
                backup.abandon();
            }
        }
        if leading.is_none() {
            load(&engine);
            // While a resignation is still in progress, the role can name a term that has already ended. In this case, `activate` returns
            // false.
            if let Role::Leader { epoch } = now
                && member.activate(epoch)
            {
                let workers = engine.workers.count();
                let own = Tasks::new(Handle::current());
                runner::start(&own, &engine, WORKERS);
                tracing::info!(epoch, node = member.node(), "this node leads the cluster");
                leading = Some(Leading { epoch, tasks: own, workers });
            }
        }
        if must_end {
            if let Some(former) = leading.take() {
                hand_over(&engine, &member, former, grace).await;
            }
            member.drained();
        }
        let is_following = leading.is_none();
        tokio::select! {
            changed = role.changed() => if changed.is_err() { return },
            changed = drain.changed() => if changed.is_err() { return },
            _ = select_all(changes), if is_following => tokio::time::sleep(CACHE_PAUSE).await,
        }
    }
}

/// The workers that run while this node leads the cluster.
struct Leading {
    epoch: i64,
    tasks: Tasks,
    /// The number of workers that run in either role. Their entries in the engine's `workers` come first.
    workers: usize,
}

impl Leading {
    /// Returns whether this term as the leader has ended. The epochs are compared because, by the time the role is read, the node may lead
    /// again in a newer epoch.
    fn is_over(&self, role: &Role) -> bool {
        *role != Role::Leader { epoch: self.epoch }
    }

    async fn end(self, engine: &Engine, grace: Duration) {
        let joined = self.tasks.join(grace).await;
        if !joined.cut.is_empty() {
            tracing::warn!(workers = ?joined.cut, "workers were aborted at the end of the node's lead");
        }
        engine.workers.truncate(self.workers);
    }
}

/// Hands over this node's leadership: ends its workers while requests are still served, saves the usage counts and the visits that are
/// still in memory, releases the lease, and finishes the backup.
async fn hand_over(engine: &Arc<Engine>, member: &Member, former: Leading, grace: Duration) {
    former.tasks.raise(Stage::Draining);
    former.end(engine, grace).await;
    member.deactivate();
    // On a full disk, a write waits for space. The time limits ensure that the lease is released anyway.
    let counted = tokio::time::timeout(limits::CLUSTER_RESIGN_TIME, accounts::flush_usage(engine)).await;
    let noted = tokio::time::timeout(limits::CLUSTER_RESIGN_TIME, tracking::flush(engine)).await;
    let resigned = tokio::time::timeout(limits::CLUSTER_RESIGN_TIME, member.resign()).await;
    if let Some(backup) = &engine.backup {
        backup.finish().await;
    }
    tracing::info!(
        node = member.node(),
        counted = matches!(counted, Ok(Ok(_))),
        noted = matches!(noted, Ok(Ok(_))),
        released = resigned.is_ok(),
        "this node has given up the lead of the cluster"
    );
}

/// Moves leadership to another node when the disk of this node is almost full, because a leader with a full disk refuses writes. Runs until
/// the task is aborted.
pub async fn leave_full_disk(engine: Arc<Engine>, member: Arc<Member>) {
    loop {
        tokio::time::sleep(DISK_PAUSE).await;
        if !member.leads() || !engine.control.space().is_low() {
            continue;
        }
        tracing::warn!(node = member.node(), "the disk of this node is almost full, so another node should lead the cluster");
        member.step_down().await;
        // If no other node takes the lease, this node leads again. The pause is long because each attempt to step down interrupts writes.
        tokio::time::sleep(limits::CLUSTER_FULL_DISK_PAUSE).await;
    }
}

/// Loads the newest committed state into the caches that requests check.
fn load(engine: &Engine) {
    let loaded = accounts::load_caches(engine).and_then(|()| hold::read(&engine.control.read()));
    match loaded {
        Ok(on_hold) => engine.hold.set(on_hold),
        Err(error) => tracing::error!(%error, "the keys and users cannot be loaded"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // If the end of the earlier term were missed, its workers would continue, and the node would keep the lease without serving as the
    // leader.
    #[tokio::test]
    async fn a_lead_is_over_even_if_the_node_already_leads_again() {
        let lead = Leading { epoch: 3, tasks: Tasks::new(Handle::current()), workers: 0 };
        assert!(!lead.is_over(&Role::Leader { epoch: 3 }));
        assert!(lead.is_over(&Role::Follower { leader: None }));
        assert!(lead.is_over(&Role::Leader { epoch: 4 }));
    }
}
