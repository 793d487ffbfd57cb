//! The condition of the running service, as numbers: no paths, no secrets, no error messages.

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::machine;
use crate::engine::api::{Engine, EnvironmentData};
use crate::engine::jobs::status::WorkerState;
use crate::features::contacts::indexing;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// Whether the service is ready, and the state of each part.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// `ready`, or `not_ready` if a check is not `ok`.
    pub status: &'static str,
    /// The program's version.
    pub version: &'static str,
    pub uptime_seconds: i64,
    pub checks: Checks,
}

/// The checks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checks {
    pub store: StoreCheck,
    pub search_index: IndexCheck,
    pub key: KeyCheck,
    pub disk: DiskCheck,
    pub descriptors: DescriptorsCheck,
    pub dispatchers: DispatchersCheck,
    pub workers: WorkersCheck,
}

/// The data files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoreCheck {
    /// False once a disk failure keeps one of them from accepting writes.
    pub ok: bool,
}

/// The search index of contacts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexCheck {
    /// False while the index cannot apply changes.
    pub ok: bool,
    /// Changes that are not applied yet. A number above 0 is normal while contacts change.
    pub lag_live: u64,
    /// The same for test data.
    pub lag_test: u64,
}

/// The master key.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyCheck {
    /// False if the file master.key is missing or holds another key: the service continues with the key it has loaded, and could not start
    /// again.
    pub ok: bool,
}

/// The disk of the data folder.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskCheck {
    /// False while the service is read-only for lack of space.
    pub ok: bool,
    pub read_only: bool,
    /// Free space; absent if the system does not report it.
    pub free_mib: Option<u64>,
    /// Below this, the service is read-only: the setting data.free_mib_min.
    pub free_mib_min: u64,
    /// Space reserved for unsubscribes and messages in flight on a full disk: the setting data.reserve_mib, minus what was used.
    pub reserve_mib: u64,
}

/// File descriptors of the process.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DescriptorsCheck {
    /// False when almost none are left.
    pub ok: bool,
    /// The number of open descriptors; absent if the system does not report it, for example when none are left.
    pub open: Option<u64>,
    pub limit: u64,
}

/// The dispatchers of mail and webhooks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchersCheck {
    /// False for a minute after one failed and was restarted.
    pub ok: bool,
    /// The number of dispatchers.
    pub running: u64,
    /// How often one of them was restarted.
    pub restarts: u64,
    /// Whether campaigns, retries, schedules and webhook deliveries wait because the data folder was restored or copied.
    pub on_hold: bool,
}

/// The background jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkersCheck {
    /// False while one of them keeps failing.
    pub ok: bool,
    /// The jobs that fail.
    pub failing: Vec<String>,
    /// Failed steps of all jobs since the start.
    pub failures: u64,
    /// How often one of them panicked and was restarted.
    pub restarts: u64,
}

impl Condition {
    /// Returns the current condition of the service.
    pub fn of(engine: &Engine) -> Self {
        let now = engine.clock.now();
        let states = engine.workers.snapshot();
        let (dispatchers, workers): (Vec<_>, Vec<_>) = states.into_iter().partition(|(_, state)| state.is_lasting);
        let stores = engine.environments().map(|data| data.store.failure());
        let stores_ok = stores.iter().chain([&engine.control.failure()]).all(|failure| failure.borrow().is_none());
        let failing: Vec<String> = workers.iter().filter(|(_, state)| is_failing(state)).map(|(name, _)| name.clone()).collect();
        let disk = engine.control.space().status();
        let (open, limit) = (machine::open_descriptors(), machine::descriptor_limit());
        let failed_lately = |state: &WorkerState| {
            state.last_failure.as_ref().is_some_and(|(at, _)| now.ms_since(*at) < limits::DISPATCHER_DOUBT_MS)
        };
        let sum = |states: &[(String, WorkerState)], of: fn(&WorkerState) -> u64| states.iter().map(|(_, state)| of(state)).sum();
        let checks = Checks {
            store: StoreCheck { ok: stores_ok },
            search_index: IndexCheck {
                ok: !workers.iter().any(|(name, state)| name.starts_with(indexing::WORKER) && state.failures_in_a_row > 0),
                lag_live: lag(engine.data(Environment::Live)),
                lag_test: lag(engine.data(Environment::Test)),
            },
            key: KeyCheck { ok: engine.check_key().is_ok() },
            disk: DiskCheck {
                ok: !disk.is_low,
                read_only: disk.is_low,
                free_mib: disk.free.map(|free| free >> 20),
                free_mib_min: disk.free_min >> 20,
                reserve_mib: disk.reserve >> 20,
            },
            descriptors: DescriptorsCheck {
                ok: open.is_some_and(|open| open + limits::DESCRIPTORS_FREE_MIN <= limit),
                open,
                limit,
            },
            dispatchers: DispatchersCheck {
                ok: !dispatchers.is_empty() && !dispatchers.iter().any(|(_, state)| failed_lately(state)),
                running: dispatchers.len() as u64,
                restarts: sum(&dispatchers, |state| state.restarts),
                on_hold: engine.hold.current().is_some(),
            },
            workers: WorkersCheck {
                ok: failing.is_empty(),
                failing,
                failures: sum(&workers, |state| state.failures),
                restarts: sum(&workers, |state| state.restarts),
            },
        };
        let status = if checks.failed().is_empty() { "ready" } else { "not_ready" };
        let uptime_seconds = now.ms_since(engine.started_at).max(0) / 1000;
        Self { status, version: env!("CARGO_PKG_VERSION"), uptime_seconds, checks }
    }
}

impl Checks {
    /// Returns the names of the failed checks.
    pub fn failed(&self) -> Vec<&'static str> {
        let checks = [
            ("store", self.store.ok),
            ("searchIndex", self.search_index.ok),
            ("key", self.key.ok),
            ("disk", self.disk.ok),
            ("descriptors", self.descriptors.ok),
            ("dispatchers", self.dispatchers.ok),
            ("workers", self.workers.ok),
        ];
        checks.into_iter().filter(|(_, ok)| !ok).map(|(name, _)| name).collect()
    }
}

/// A single failure may be accidental, and its step is retried soon.
fn is_failing(state: &WorkerState) -> bool {
    state.failures_in_a_row >= limits::WORKER_FAILURES_DOUBTED
}

fn lag(data: &EnvironmentData) -> u64 {
    data.store.feed_position().saturating_sub(data.search.position())
}
