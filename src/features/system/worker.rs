//! The workers that run the continuous backup and take the snapshots of a cluster.

use std::sync::Arc;

use super::continuous;
use crate::engine::api::{Engine, Failure};
use crate::engine::runner::Step;
use crate::engine::store::cluster;
use crate::engine::tasks::Tasks;

/// Ships the commits of all stores to the backup target until the service shuts down.
pub async fn back_up(tasks: Tasks, engine: Arc<Engine>) -> Result<(), Failure> {
    let mut shutdown = tasks.shutdown();
    let Some(backup) = engine.backup.clone() else {
        shutdown.draining().await;
        return Ok(());
    };
    let [test, live] = engine.environments().map(|data| data.store.clone());
    backup.run(&[engine.control.clone(), test, live], shutdown).await;
    Ok(())
}

/// Emails the owner and admins when a problem with the backup starts, and when it ends.
pub async fn watch_backup(engine: Arc<Engine>) -> Result<Step, Failure> {
    continuous::watch(&engine).await.map(|()| Step::Done)
}

/// Takes a snapshot of each store whose log has grown enough. The other nodes of the cluster use the snapshots.
pub async fn take_cluster_snapshots(engine: Arc<Engine>) -> Result<Step, Failure> {
    let Some(member) = &engine.cluster else { return Ok(Step::Done) };
    let [test, live] = engine.environments().map(|data| &data.store);
    let taken = cluster::tend_snapshots(&member.shared().database, [&engine.control, test, live]).await;
    taken.map(|_| Step::Done).map_err(Failure::internal)
}

/// Runs a restore drill if one is due or was requested.
pub async fn drill(engine: Arc<Engine>) -> Result<Step, Failure> {
    continuous::drill_if_due(&engine).await.map(|()| Step::Done)
}
