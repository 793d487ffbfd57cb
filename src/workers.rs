//! TABLE: every background worker: what it does, what wakes it, how often it looks in any case.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::access::{audit, replays};
use crate::engine::api::{Engine, World};
use crate::engine::jobs::workers::{Step, Stepping, Worker};
use crate::engine::outbox;
use crate::engine::store::{self, WriteTx, blobs};
use crate::features::{accounts, contacts};
use crate::vocab::{limits, tables};

/// Every worker.
pub const WORKERS: &[Worker] = &[
    Worker {
        name: "search index",
        wakes: &[tables::FEED],
        period: Duration::from_secs(30),
        step: Step::World(|_, world| contacts::indexing::step(world).map_err(|error| error.to_string())),
    },
    Worker {
        name: "jobs on contacts",
        wakes: &[tables::CONTACT_JOBS],
        period: Duration::from_secs(30),
        step: Step::World(|_, world| contacts::jobs::step(world).map_err(|error| error.to_string())),
    },
    Worker {
        name: "sweep of jobs on contacts",
        wakes: &[],
        period: Duration::from_secs(600),
        step: Step::World(|_, world| contacts::jobs::sweep(world).map_err(|error| error.to_string())),
    },
    Worker { name: "sweep", wakes: &[], period: Duration::from_secs(60), step: Step::World(sweep) },
    Worker { name: "key usage", wakes: &[], period: Duration::from_secs(10), step: Step::Whole(flush_usage) },
    Worker { name: "sweep of accounts", wakes: &[], period: Duration::from_secs(60), step: Step::Whole(sweep_control) },
];

fn flush_usage(engine: Arc<Engine>) -> Stepping {
    Box::pin(async move { accounts::flush_usage(&engine).await.map(|()| false).map_err(|failure| format!("{failure:?}")) })
}

fn sweep_control(engine: Arc<Engine>) -> Stepping {
    let command = |tx: &mut WriteTx<'_>| -> store::Result<bool> {
        let more = accounts::sweep(tx, limits::SWEEP_ROWS)?;
        Ok(audit::sweep(tx, limits::SWEEP_ROWS)? || more)
    };
    Box::pin(async move { engine.control.write(command).await.and_then(|result| result).map_err(|error| error.to_string()) })
}

/// Forget what is over: replay records, blobs, old acts, old events. One bounded transaction of each.
fn sweep(_: &Arc<Engine>, world: &Arc<World>) -> Result<bool, String> {
    let command = |tx: &mut WriteTx<'_>| -> store::Result<bool> {
        let mut more = replays::sweep(tx, limits::SWEEP_ROWS)?;
        more |= audit::sweep(tx, limits::SWEEP_ROWS)?;
        more |= outbox::sweep(tx, limits::SWEEP_ROWS)?;
        more |= blobs::sweep(tx)?;
        Ok(more)
    };
    world.store.write_blocking(command).and_then(|result| result).map_err(|error| error.to_string())
}
