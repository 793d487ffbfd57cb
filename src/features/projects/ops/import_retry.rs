//! Imports a project's sites again.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::ProjectRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::{ProjectStatus, importing, not_found, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct ImportRetry;

/// The state of an import that was started again or is still running.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportRetryResult {
    pub project_id: ProjectId,
    pub status: ProjectStatus,
    /// A message that tells the user what happens next.
    pub message: String,
}

impl Operation for ImportRetry {
    const SPEC: Spec = Spec::post(
        "projects.import_retry",
        "/v1/projects/import/{projectId}/retry",
        needs(Permission::ProjectWrite),
    ).client("projects.imports.retry")
    .summary("Import a project's sites again")
    .about(
        "Use this operation after a failed import or after a site has changed. Values that users set are kept. Other changed values and \
         products wait until a user accepts them: see `projects.import_changes`. Logos, images and the knowledge base are updated \
         directly. An import that is running continues.",
    )
    .rate(RouteGroup::Imports)
    .replay(Replay::Keyed)
    .fails(&[Code::NotFound]);
    type Input = ProjectRef;
    type Output = Done<ImportRetryResult>;

    fn example() -> (Value, Self::Output) {
        let id = ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters");
        (
            json!({ "projectId": id }),
            Done(ImportRetryResult { project_id: id, status: ProjectStatus::Pending, message: BEGINS.into() }),
        )
    }
}

const BEGINS: &str = "The sites will be imported again. Check the import status for progress.";
const RUNS: &str = "An import is still running, so no new import was started.";

impl Command for ImportRetry {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ProjectRef) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let mut project = store::find(tx, account, input.project_id)?.ok_or_else(not_found)?;
        let runs = matches!(project.status, ProjectStatus::Pending | ProjectStatus::Processing);
        if !runs {
            project = importing::reopen(tx, account, project)?;
        }
        let message = if runs { RUNS } else { BEGINS };
        Ok(Done(ImportRetryResult { project_id: project.id, status: project.status, message: message.into() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn retrying_a_running_import_changes_nothing() {
        let app = TestApp::new();
        let answer = app.post(&format!("/v1/projects/import/{}/retry", app.project), json!({})).data();
        assert_eq!((&answer["status"], &answer["message"]), (&json!("pending"), &json!(RUNS)));
    }
}
