//! Returns the status of the installation to its operators.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Engine, Failure, NoInput, Operation, Query, Spec, View, manager};
use crate::engine::recent_log::{self, Line};
use crate::engine::store::cluster::Member;
use crate::engine::store::commit_log::StoreName;
use crate::engine::store::space;
use crate::engine::tasks::status::WorkerState;
use crate::features::accounts;
use crate::features::system::continuous::{self, ContinuousBackupView};
use crate::features::system::store::{self, LastBackup};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;

pub struct Status;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusView {
    /// The version of the program.
    pub version: &'static str,
    pub started_at: WireTime,
    pub uptime_seconds: i64,
    /// The data files.
    pub stores: Vec<StoreView>,
    /// The disk of the data folder.
    pub disk: DiskView,
    /// Why sending is on hold after a restore or on a copy; GET /v1/system/hold shows what is waiting. Absent if sending is not on hold.
    pub hold: Option<HoldStatus>,
    /// The lengths of the queues, by environment.
    pub queues: Vec<QueueView>,
    /// The background jobs of this process.
    pub workers: Vec<WorkerView>,
    /// The newest completed backup, whose folder may no longer exist; absent if no backup has been made.
    pub last_backup: Option<LastBackupView>,
    /// The continuous backup; absent if the setting backup.url is empty, and on a node that does not lead its cluster.
    pub continuous_backup: Option<ContinuousBackupView>,
    /// This node's role in a cluster; absent on a single machine.
    pub cluster: Option<ClusterStatus>,
    /// The last lines of the log, newest first. The lines are lost when the process ends.
    pub log: Vec<LogLine>,
}

/// The hold on sending.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HoldStatus {
    pub since: WireTime,
    /// The reason for the hold.
    pub reason: String,
}

/// A data file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoreView {
    /// The name of the store: `control`, `test` or `live`.
    pub name: String,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// The disk of the data folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiskView {
    /// The free space on the disk; absent if the operating system does not report it.
    pub free_bytes: Option<u64>,
    /// The minimum free space (setting data.free_mib_min). Below it, the service is read-only.
    pub free_bytes_min: u64,
    /// The space reserved for storing unsubscribes and messages in flight when the disk is full.
    pub reserve_bytes: u64,
    /// Whether the service is read-only. If so, reads, sign-ins, unsubscribe links and redirects work, most other writes are refused, and
    /// sending waits.
    pub read_only: bool,
}

/// A queue in one environment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueueView {
    pub name: &'static str,
    pub environment: Environment,
    /// The number of entries that are waiting in the queue.
    pub waiting: u64,
}

/// A background job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerView {
    pub name: String,
    /// The number of steps that have ended since the process started.
    pub steps: u64,
    /// The number of failed steps. A failed step is retried.
    pub failures: u64,
    /// How many times the job panicked or ended unexpectedly and was restarted.
    pub restarts: u64,
    /// When the job's current step started; absent if no step is running.
    pub busy_since: Option<WireTime>,
    pub last_step_at: Option<WireTime>,
    pub last_failure_at: Option<WireTime>,
    /// The reason for the most recent failure of a step.
    pub last_failure: Option<String>,
}

/// The newest completed backup.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LastBackupView {
    pub at: WireTime,
    /// The folder of the backup.
    pub folder: String,
    /// The number of rows in all files of the backup.
    pub rows: u64,
}

/// A node's role in a cluster.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The name of the node that answered.
    pub node: String,
    /// The name of the leader; absent while there is no leader.
    pub leader: Option<String>,
    /// An upper bound for the age of the answering node's data, in milliseconds.
    pub lag_ms: i64,
    /// For each log, the newest commit that the answering node has.
    pub logs: Vec<LogPosition>,
}

/// The newest commit of a log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogPosition {
    /// The name of the log: `control`, `test` or `live`.
    pub name: &'static str,
    /// The number of the commit.
    pub position: u64,
}

/// A line of the log.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogLine {
    pub at: WireTime,
    /// The level of the line: `error`, `warn`, `info`, `debug` or `trace`.
    pub level: &'static str,
    pub text: String,
}

impl Operation for Status {
    const SPEC: Spec = Spec::get("system.status", "/v1/system/status", manager())
        .summary("Get the status of the installation")
        .about("Only the installation's own account, which is the first account, may use this operation.")
        .blocking();
    type Input = NoInput;
    type Output = Done<StatusView>;

    fn example() -> (Value, Self::Output) {
        let at = WireTime::sample();
        let worker = WorkerView {
            name: "search index live".into(),
            steps: 17_280,
            failures: 0,
            restarts: 0,
            busy_since: None,
            last_step_at: Some(at),
            last_failure_at: None,
            last_failure: None,
        };
        let view = StatusView {
            version: env!("CARGO_PKG_VERSION"),
            started_at: at,
            uptime_seconds: 86_400,
            stores: vec![StoreView { name: "live".into(), bytes: 52_428_800 }],
            disk: DiskView {
                free_bytes: Some(42_949_672_960),
                free_bytes_min: 268_435_456,
                reserve_bytes: 33_554_432,
                read_only: false,
            },
            hold: None,
            queues: vec![QueueView { name: "Webhook deliveries", environment: Environment::Live, waiting: 3 }],
            workers: vec![worker],
            last_backup: Some(LastBackupView { at, folder: "/var/backups/mailmill/monday".into(), rows: 1_000 }),
            continuous_backup: Some(ContinuousBackupView::sample()),
            cluster: Some(ClusterStatus {
                node: "node-1".into(),
                leader: Some("node-1".into()),
                lag_ms: 0,
                logs: vec![LogPosition { name: "live", position: 81_204 }],
            }),
            log: vec![LogLine { at, level: "warn", text: "a step failed and will be retried worker=sweep".into() }],
        };
        (json!({}), Done(view))
    }
}

impl Query for Status {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        if !accounts::is_installations(view.tx, view.caller.account())? {
            return Err(Failure::because(
                Code::InsufficientPermissions,
                "Only the account that owns this installation can use this operation; sign in to that account.",
            ));
        }
        collect(&view.caller.engine).map(Done)
    }
}

fn collect(engine: &Engine) -> Result<StatusView, Failure> {
    let [test, live] = engine.environments();
    let files = [engine.control.file(), test.store.file(), live.store.file()];
    let mut queues = Vec::new();
    for data in [live, test] {
        let named = store::queues(&data.store.read())?.into_iter();
        queues.extend(named.map(|(name, waiting)| QueueView { name, environment: data.environment, waiting }));
    }
    Ok(StatusView {
        version: env!("CARGO_PKG_VERSION"),
        started_at: WireTime(engine.started_at),
        uptime_seconds: engine.uptime_seconds(),
        stores: files.into_iter().map(file_view).collect(),
        disk: disk_view(engine.control.space().status()),
        hold: engine.hold.current().map(|hold| HoldStatus { since: WireTime(hold.since), reason: hold.cause.to_string() }),
        queues,
        workers: engine.workers.snapshot().into_iter().map(worker_view).collect(),
        last_backup: store::last_backup(&engine.control.read())?.map(backup_view),
        continuous_backup: continuous::view(engine)?,
        cluster: engine.cluster.as_deref().map(cluster_view),
        log: recent_log::newest().into_iter().map(line_view).collect(),
    })
}

fn file_view(file: &Path) -> StoreView {
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    StoreView { name, bytes: fs::metadata(file).map(|found| found.len()).unwrap_or_default() }
}

fn disk_view(disk: space::DiskStatus) -> DiskView {
    DiskView { free_bytes: disk.free, free_bytes_min: disk.free_min, reserve_bytes: disk.reserve, read_only: disk.is_low }
}

fn worker_view((name, state): (String, WorkerState)) -> WorkerView {
    let (last_failure_at, last_failure) = state.last_failure.unzip();
    WorkerView {
        name,
        steps: state.steps,
        failures: state.failures,
        restarts: state.restarts,
        busy_since: state.busy_since.map(WireTime),
        last_step_at: state.ended_at.map(WireTime),
        last_failure_at: last_failure_at.map(WireTime),
        last_failure,
    }
}

fn backup_view(LastBackup { at, folder, rows }: LastBackup) -> LastBackupView {
    LastBackupView { at: WireTime(at), folder, rows }
}

fn cluster_view(member: &Member) -> ClusterStatus {
    let leader = match member.leads() {
        true => Some(member.node().to_owned()),
        false => member.leader().filter(|_| member.has_leader()).map(|holder| holder.node),
    };
    let logs = StoreName::ALL.iter().zip(member.positions());
    let logs = logs.map(|(store, position)| LogPosition { name: store.word(), position }).collect();
    ClusterStatus { node: member.node().to_owned(), leader, lag_ms: member.lag_ms(), logs }
}

fn line_view(Line { at, level, text }: Line) -> LogLine {
    LogLine { at: WireTime(at), level, text }
}
