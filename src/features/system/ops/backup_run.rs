//! Starts a snapshot or a restore drill of the continuous backup now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts;
use crate::features::system::continuous::{self, ContinuousBackupView};
use crate::vocab::codes::Code;

pub struct BackupRun;

/// A task of the continuous backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackupTask {
    /// A new snapshot.
    Snapshot,
    /// A restore of the backup into a temporary folder. The restored data is checked and then removed.
    Drill,
}

/// Which task of the continuous backup to start.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRunRequest {
    pub task: BackupTask,
}

impl Operation for BackupRun {
    const SPEC: Spec = Spec::post("system.backup_run", "/v1/system/backup/run", manager())
        .summary("Start a snapshot or a restore drill")
        .about(
            "Returns immediately; GET /v1/system/status shows the result. Requires the setting backup.url. Only the installation's own \
             account, which is the first account, may use this operation.",
        )
        .fails(&[Code::WrongState]);
    type Input = BackupRunRequest;
    type Output = Done<ContinuousBackupView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "task": "drill" }), Done(ContinuousBackupView::sample()))
    }
}

impl Async for BackupRun {
    async fn run(context: Context, input: BackupRunRequest) -> Result<Self::Output, Failure> {
        let engine = &context.engine;
        accounts::require_installations(&engine.control.read(), context.caller.account())?;
        let (Some(backup), Some(view)) = (&engine.backup, continuous::view(engine)?) else {
            let detail = "There is no continuous backup. Set backup.url in the settings, then restart the service.";
            return Err(Failure::because(Code::WrongState, detail));
        };
        match input.task {
            BackupTask::Snapshot => backup.want_snapshot(),
            BackupTask::Drill => backup.want_drill(),
        }
        Ok(Done(view))
    }
}
