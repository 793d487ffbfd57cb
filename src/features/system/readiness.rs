//! The readiness of the running service, without paths, secrets or error messages.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::base::machine;
use crate::engine::api::{Engine, EnvironmentData};
use crate::engine::store::Store;
use crate::engine::store::damage::RESTORE;
use crate::engine::tasks::status::WorkerState;
use crate::features::contacts::indexing;
use crate::features::system::continuous;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// Whether the service is ready, and the result of each check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessReport {
    /// The overall status: `ready`, or `not_ready` if a check is not `ok`.
    pub status: &'static str,
    /// The version of the program.
    pub version: &'static str,
    pub uptime_seconds: i64,
    pub checks: ReadinessChecks,
}

/// The result of each check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadinessChecks {
    pub store: StoreCheck,
    pub search_index: IndexCheck,
    pub key: KeyCheck,
    pub disk: DiskCheck,
    /// The continuous backup; absent if none is configured, and on a node that does not lead its cluster. A backup that is too old does
    /// not make the service unready.
    pub backup: Option<BackupCheck>,
    /// The node's role in a cluster; absent on a single machine.
    pub cluster: Option<ClusterCheck>,
    pub descriptors: DescriptorsCheck,
    pub dispatchers: DispatchersCheck,
    pub workers: WorkersCheck,
}

/// The check of the data files.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoreCheck {
    /// False if a disk failure has stopped one of the data files from accepting writes, or if a data file is damaged.
    pub ok: bool,
    /// The data files that have been found damaged since the service started.
    pub damaged: Vec<DamagedFile>,
}

/// A damaged data file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DamagedFile {
    /// The name of the file in the data folder.
    pub file: String,
    /// What was found in the file.
    pub found: String,
    /// The command that restores a backup into a new folder.
    pub restore: &'static str,
}

/// The check of the search index of contacts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexCheck {
    /// False while the index cannot apply changes, a step takes too long, or too many changes are waiting.
    pub ok: bool,
    /// The number of changes in the live environment that the index has not applied yet. A number above 0 is normal while contacts change.
    pub lag_live: u64,
    /// The number of changes in the test environment that the index has not applied yet.
    pub lag_test: u64,
}

/// The check of the master key.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KeyCheck {
    /// False if the file master.key is missing or contains a different key. The service continues with the key that it has loaded, but
    /// would not start again.
    pub ok: bool,
}

/// The check of the disk of the data folder.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskCheck {
    /// False while the service is read-only because too little space is free.
    pub ok: bool,
    pub read_only: bool,
    /// The free space on the disk; absent if the operating system does not report it.
    pub free_mib: Option<u64>,
    /// The minimum free space (setting data.free_mib_min). Below it, the service is read-only.
    pub free_mib_min: u64,
    /// The space that is held in reserve, so that unsubscribes and messages in flight can be stored when the disk is full. It never exceeds
    /// the setting data.reserve_mib.
    pub reserve_mib: u64,
}

/// The check of the continuous backup.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupCheck {
    /// False if the backup is older than the setting backup.warn_after_minutes allows, or if there is no complete backup yet.
    pub ok: bool,
    /// The seconds since the target last had every commit; absent until the first snapshot is complete.
    pub age_seconds: Option<i64>,
}

/// The check of a cluster node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterCheck {
    /// False if the data of this node is too old although the cluster has a leader. Without a leader, for example because the cluster's
    /// database is unreachable, all nodes still answer reads.
    pub ok: bool,
    /// Whether this node is the leader.
    pub leads: bool,
    /// Whether the cluster has a leader. Without a leader, it accepts no writes.
    pub has_leader: bool,
    /// An upper bound for the age of this node's data, in milliseconds.
    pub lag_ms: i64,
}

/// The check of the process's file descriptors.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DescriptorsCheck {
    /// False if almost no descriptors are left.
    pub ok: bool,
    /// The number of open descriptors; absent if the operating system does not report it, for example because none are left.
    pub open: Option<u64>,
    pub limit: u64,
}

/// The check of the dispatchers, which send mail, deliver to webhooks and receive inbound mail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchersCheck {
    /// False while a dispatcher is waiting to be restarted, and for a minute after a dispatcher failed. Also false if there is no
    /// dispatcher, except on a node that does not lead its cluster.
    pub ok: bool,
    /// The number of running dispatchers.
    pub running: u64,
    /// How many times a dispatcher was restarted.
    pub restarts: u64,
    /// Whether campaigns, retries, schedules and webhook deliveries are on hold because the data folder was restored or copied.
    pub on_hold: bool,
}

/// The check of the background jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WorkersCheck {
    /// False while a job keeps failing, or a step takes too long.
    pub ok: bool,
    /// The names of the jobs that keep failing.
    pub failing: Vec<String>,
    /// The names of the jobs whose current step takes too long.
    pub stuck: Vec<String>,
    /// The number of steps that failed in all jobs since the service started.
    pub failures: u64,
    /// How many times a job panicked or ended unexpectedly and was restarted.
    pub restarts: u64,
}

impl ReadinessReport {
    /// Returns the current readiness of the service.
    pub fn of(engine: &Engine) -> Self {
        let now = engine.clock.now();
        let states = engine.workers.snapshot();
        let (dispatchers, workers): (Vec<_>, Vec<_>) = states.into_iter().partition(|(_, state)| state.is_lasting);
        let damaged = damaged_files(engine);
        let stores_ok = damaged.is_empty() && engine.stores().iter().all(|store| store.failure().borrow().is_none());
        let named = |is_bad: &dyn Fn(&WorkerState) -> bool| -> Vec<String> {
            workers.iter().filter(|(_, state)| is_bad(state)).map(|(name, _)| name.clone()).collect()
        };
        let is_busy_for = |state: &WorkerState, ms: i64| state.busy_since.is_some_and(|since| now.ms_since(since) > ms);
        let failing = named(&is_failing);
        let stuck = named(&|state: &WorkerState| !state.has_long_steps && is_busy_for(state, limits::WORKER_STEP_MS_MAX));
        let is_index_bad = |state: &WorkerState| state.failures_in_a_row > 0 || is_busy_for(state, limits::INDEX_STEP_MS_MAX);
        let (lag_live, lag_test) = (lag(engine.data(Environment::Live)), lag(engine.data(Environment::Test)));
        let follows = engine.cluster.as_ref().is_some_and(|member| !member.leads());
        let disk = engine.control.space().status();
        let (open, limit) = (machine::open_descriptors(), machine::descriptor_limit());
        let failed_lately = |state: &WorkerState| {
            state.last_failure.as_ref().is_some_and(|(at, _)| now.ms_since(*at) < limits::DISPATCHER_FAILING_MS)
        };
        let sum = |states: &[(String, WorkerState)], of: fn(&WorkerState) -> u64| states.iter().map(|(_, state)| of(state)).sum();
        let checks = ReadinessChecks {
            store: StoreCheck { ok: stores_ok, damaged },
            search_index: IndexCheck {
                ok: lag_live.max(lag_test) <= limits::INDEX_LAG_MAX
                    && !workers.iter().any(|(name, state)| name.starts_with(indexing::WORKER) && is_index_bad(state)),
                lag_live,
                lag_test,
            },
            key: KeyCheck { ok: engine.check_key().is_ok() },
            disk: DiskCheck {
                ok: !disk.is_low,
                read_only: disk.is_low,
                free_mib: disk.free.map(|free| free >> 20),
                free_mib_min: disk.free_min >> 20,
                reserve_mib: disk.reserve >> 20,
            },
            backup: continuous::active(engine).map(|backup| {
                let age_seconds = continuous::age_seconds(engine, &backup.status());
                BackupCheck { ok: age_seconds.is_some_and(|age| age <= continuous::warn_after_seconds(engine)), age_seconds }
            }),
            cluster: engine.cluster.as_ref().map(|member| {
                let (leads, lag_ms) = (member.leads(), member.lag_ms());
                let has_leader = member.has_leader();
                ClusterCheck { ok: is_recent(has_leader, lag_ms), leads, has_leader, lag_ms }
            }),
            descriptors: DescriptorsCheck {
                ok: open.is_some_and(|open| open + limits::DESCRIPTORS_FREE_MIN <= limit),
                open,
                limit,
            },
            dispatchers: DispatchersCheck {
                // In a cluster, only the leader runs dispatchers, so a follower passes this check without any dispatchers.
                ok: (follows || !dispatchers.is_empty())
                    && dispatchers.iter().all(|(_, state)| !state.is_stopped && !failed_lately(state)),
                running: dispatchers.iter().filter(|(_, state)| !state.is_stopped).count() as u64,
                restarts: sum(&dispatchers, |state| state.restarts),
                on_hold: engine.hold.current().is_some(),
            },
            workers: WorkersCheck {
                ok: failing.is_empty() && stuck.is_empty(),
                failing,
                stuck,
                failures: sum(&workers, |state| state.failures),
                restarts: sum(&workers, |state| state.restarts),
            },
        };
        let status = if checks.failed().is_empty() { "ready" } else { "not_ready" };
        Self { status, version: env!("CARGO_PKG_VERSION"), uptime_seconds: engine.uptime_seconds(), checks }
    }
}

impl ReadinessChecks {
    /// Returns the names of the failed checks.
    pub fn failed(&self) -> Vec<&'static str> {
        let checks = [
            ("store", self.store.ok),
            ("searchIndex", self.search_index.ok),
            ("key", self.key.ok),
            ("disk", self.disk.ok),
            ("cluster", self.cluster.as_ref().is_none_or(|cluster| cluster.ok)),
            ("descriptors", self.descriptors.ok),
            ("dispatchers", self.dispatchers.ok),
            ("workers", self.workers.ok),
        ];
        checks.into_iter().filter(|(_, ok)| !ok).map(|(name, _)| name).collect()
    }
}

fn damaged_files(engine: &Engine) -> Vec<DamagedFile> {
    let name = |store: &Store| store.file().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let damaged = |store: &Arc<Store>| Some(DamagedFile { file: name(store), found: store.damage()?, restore: RESTORE });
    engine.stores().into_iter().filter_map(damaged).collect()
}

/// Returns whether a cluster node can answer reads: its data is recent, or the cluster has no leader, so no node has more recent data.
fn is_recent(has_leader: bool, lag_ms: i64) -> bool {
    !has_leader || lag_ms <= limits::CLUSTER_LAG_MS_MAX
}

/// Returns whether a job keeps failing. A single failure is ignored, because its cause may be temporary and the step is retried soon.
fn is_failing(state: &WorkerState) -> bool {
    state.failures_in_a_row >= limits::WORKER_FAILURES_BAD
}

fn lag(data: &EnvironmentData) -> u64 {
    data.store.feed_position().saturating_sub(data.search.position())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::WriteTx;
    use crate::engine::store::feed::Change;
    use crate::testing::TestApp;

    // Regression: setting the clock back by ten minutes reset the uptime. The demo, whose clock starts four days in the past, reported an
    // uptime of several days.
    #[test]
    fn a_change_of_the_clock_does_not_change_the_uptime() {
        let app = TestApp::new();
        app.clock.advance_ms(60_000);
        for off_by in [-600_000, 86_400_000] {
            app.clock.set_off_by_ms(off_by);
            assert_eq!(ReadinessReport::of(app.engine()).uptime_seconds, 60);
        }
    }

    #[test]
    fn a_step_that_does_not_end_is_reported() {
        let app = TestApp::new();
        let enter = |name: &str| app.engine().workers.enter(name.to_owned(), app.engine().clock.clone());
        let (index, sweep, drills) = (enter("search index live"), enter("sweep live"), enter("restore drills"));
        drills.allow_long_steps();
        let found = || {
            let ReadinessChecks { search_index, workers, .. } = ReadinessReport::of(app.engine()).checks;
            (search_index.ok, workers.ok, workers.stuck.join(", "))
        };
        let counts = || {
            let WorkersCheck { failures, restarts, .. } = ReadinessReport::of(app.engine()).checks.workers;
            (failures, restarts)
        };
        for status in [&index, &sweep, &drills] {
            status.begin();
        }
        app.clock.advance_ms(limits::INDEX_STEP_MS_MAX);
        assert_eq!(found(), (true, true, String::new()));
        app.clock.advance_ms(1);
        assert_eq!(found(), (false, true, String::new()));
        app.clock.advance_ms(limits::WORKER_STEP_MS_MAX);
        assert_eq!(found(), (false, false, "search index live, sweep live".to_owned()));
        for status in [&index, &sweep, &drills] {
            status.end(None);
        }
        assert_eq!((found(), counts()), ((true, true, String::new()), (0, 0)));
        sweep.restart();
        sweep.end(Some("on purpose"));
        assert_eq!(counts(), (1, 1));
    }

    #[test]
    fn an_index_that_is_far_behind_is_reported() {
        let app = TestApp::new();
        let data = app.data();
        let feed = |changes: u64| {
            let write = move |tx: &mut WriteTx<'_>| {
                let change = Change { scope: [1; 12], first: 0, last: 0, fresh: false };
                (0..changes).for_each(|_| tx.feed(&change));
                Ok::<_, ()>(())
            };
            assert_eq!(data.store.write_blocking(write), Ok(Ok(())));
            ReadinessReport::of(app.engine()).checks.search_index.ok
        };
        assert!(feed(limits::INDEX_LAG_MAX - lag(data)));
        assert!(!feed(1));
    }

    #[test]
    fn a_dispatcher_that_waits_for_its_restart_does_not_run() {
        let app = TestApp::new();
        let status = app.engine().workers.enter_lasting("sending live".to_owned(), app.engine().clock.clone());
        let found = || {
            let DispatchersCheck { ok, running, restarts, .. } = ReadinessReport::of(app.engine()).checks.dispatchers;
            (ok, running, restarts)
        };
        assert_eq!(found(), (true, 1, 0));
        status.end(Some("on purpose"));
        status.stop();
        app.clock.advance_ms(limits::DISPATCHER_FAILING_MS);
        assert_eq!(found(), (false, 0, 0), "however long ago it failed");
        status.restart();
        assert_eq!(found(), (true, 1, 1));
    }

    #[test]
    fn a_node_stays_ready_for_reads_while_no_node_leads() {
        let late = limits::CLUSTER_LAG_MS_MAX + 1;
        assert!(is_recent(true, 20) && !is_recent(true, late));
        assert!(is_recent(false, late));
    }
}
