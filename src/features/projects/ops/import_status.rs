//! Returns the progress of a project's import.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::ProjectRef;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::projects::importing::{self, ImportMetrics, Stage};
use crate::features::projects::{Project, ProjectStatus, READERS, corrected, not_found, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct ImportStatus;

/// The state of an import.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportView {
    pub project_id: ProjectId,
    /// The status of the project. Poll until the status is `active` or `error`.
    pub status: ProjectStatus,
    pub name: String,
    pub description: Option<String>,
    pub domain: String,
    /// Why the import failed, and what to do; absent if it did not fail.
    pub error: Option<String>,
    pub progress: ImportProgressOfProject,
    /// The results of the import so far.
    pub import_metrics: ImportMetrics,
}

/// The progress of the import.
#[derive(Serialize, JsonSchema)]
pub struct ImportProgressOfProject {
    /// The current stage of the import.
    #[schemars(extend("enum" = ["initializing", "fetching", "reading", "measuring", "completed", "failed"]))]
    pub stage: &'static str,
    #[schemars(range(max = 100))]
    pub percentage: u8,
}

impl Operation for ImportStatus {
    const SPEC: Spec = Spec::get("projects.import_status", "/v1/projects/import/{projectId}/status", needs_one(READERS))
        .client("projects.imports.get")
        .summary("Get the state of an import")
        .fails(&[Code::NotFound]);
    type Input = ProjectRef;
    type Output = Done<ImportView>;

    fn example() -> (Value, Self::Output) {
        let view = ImportView {
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters"),
            status: ProjectStatus::Processing,
            name: "Acme".into(),
            description: None,
            domain: "acme.example".into(),
            error: None,
            progress: ImportProgressOfProject { stage: Stage::Fetching.word(), percentage: 35 },
            import_metrics: ImportMetrics { pages_read: 6, stylesheets_read: 2, bytes_read: 182_400, ..ImportMetrics::default() },
        };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(view))
    }
}

impl Query for ImportStatus {
    fn run(view: &View<'_>, input: ProjectRef) -> Result<Self::Output, Failure> {
        let project = store::find(view.tx, view.caller.account(), input.project_id)?.ok_or_else(not_found)?;
        let import = importing::find(view.tx, project.id)?;
        let progress = import.as_ref().map_or((Stage::Waiting, 0), |import| (import.stage, import.percentage));
        let Project { id, name, status, domain, error, .. } = project;
        Ok(Done(ImportView {
            project_id: id,
            status,
            name,
            description: corrected(view.tx, id)?.description,
            domain,
            error,
            progress: ImportProgressOfProject { stage: progress.0.word(), percentage: progress.1 },
            import_metrics: import.map(|import| import.metrics).unwrap_or_default(),
        }))
    }
}
