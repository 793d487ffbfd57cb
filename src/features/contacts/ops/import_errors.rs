//! Lists the notes on individual rows of an import.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Listed, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::contacts::batch::RowNote;
use crate::features::contacts::jobs::{self, Task};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct ImportErrors;

/// The import, and the page of notes to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListImportErrors {
    /// The ID of the import, as returned when the import was started.
    pub id: JobId,
    /// The import's project. Optional; if given, the import must belong to it.
    #[serde(rename = "projectId")]
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of errors to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

/// A note on one row of the imported file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportError {
    /// The number of the row in the file, where the headers are row 1. In an import from a platform: the number of the contact, counted in
    /// the order in which the contacts are read.
    pub row: u32,
    /// The email in the row, if there is one.
    pub email: Option<String>,
    /// The invalid field.
    pub field: String,
    /// What is wrong with the row and what was expected, or why the contact's status was not changed.
    pub error: String,
}

impl From<RowNote> for ImportError {
    fn from(note: RowNote) -> Self {
        Self { row: note.row, email: note.email, field: note.field, error: note.error }
    }
}

impl Listed for ImportError {
    const PLURAL: &'static str = "errors";
    const ARRAY_WHEN_PAGED: bool = true;
}

impl Operation for ImportErrors {
    const SPEC: Spec = Spec::get("contacts.import_errors", "/v1/contacts/imports/{id}/errors", needs(Permission::AudienceRead)).client("contacts.imports.errors")
        .summary("List the row errors of an import")
        .about(
            "Lists errors in the order of the rows. Only the first thousand are kept; the import's counts show how many rows failed.",
        )
        .fails(&[Code::NotFound]);
    type Input = ListImportErrors;
    type Output = Page<ImportError>;

    fn example() -> (Value, Self::Output) {
        let error = ImportError {
            row: 17,
            email: Some("grace.example.com".into()),
            field: "email".into(),
            error: "The email address has no @; enter an address like name@example.com.".into(),
        };
        let window = Window { limit: 20, offset: 0, paged: false };
        (json!({ "id": "66f1a2b3d4e5f60718293a4c" }), Page { items: vec![error], total: 1, window })
    }
}

impl Query for ImportErrors {
    fn run(view: &View<'_>, input: ListImportErrors) -> Result<Self::Output, Failure> {
        let window = Window::new(input.limit, input.offset, input.page);
        let job = jobs::of_account(view.tx, view.caller.account(), input.id, input.project_id)?;
        let (Task::Import(_) | Task::Provider(_)) = &job.task else { return Err(jobs::wrong_kind(job.id)) };
        let notes = jobs::notes(view.tx, job.id, window.offset, window.limit)?;
        Ok(Page { items: notes.into_iter().map(ImportError::from).collect(), total: job.note_count.into(), window })
    }
}
