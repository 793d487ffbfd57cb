//! Returns the changes that a repeated import found.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::ProjectRef;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::projects::importing::changes::{ChangeState, ImportChange, ImportChanges};
use crate::features::projects::store::imports;
use crate::features::projects::{READERS, require};
use crate::vocab::codes::Code;

pub struct ImportChangesGet;

/// The changes that the last import found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportChangesView {
    /// The changes. Changes to the brand come first, then changes to products.
    pub changes: Vec<ImportChangeView>,
    /// The number of changes that wait for a decision.
    pub pending: usize,
    /// When the import found the changes; absent if there are no changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_at: Option<WireTime>,
}

/// A change that an import found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportChangeView {
    /// The ID of the change: a field such as `palette.primary`, or `product.` followed by the product's ID.
    pub id: String,
    /// A description of the change, worded for users.
    pub label: String,
    /// The current value, worded for users; absent if there is none.
    pub before: Option<String>,
    /// The value on the website; absent if there is none.
    pub now: Option<String>,
    /// `pending`: the current value is used until a user decides. `kept`: a user set the current value, so it stays.
    pub state: ChangeState,
}

impl ImportChangesView {
    pub fn sample() -> Self {
        let change = ImportChangeView {
            id: "tagline".into(),
            label: "Tagline".into(),
            before: Some("Good tea".into()),
            now: Some("Good tea since 1990".into()),
            state: ChangeState::Pending,
        };
        Self { changes: vec![change], pending: 1, found_at: Some(WireTime::sample()) }
    }
}

impl From<Option<ImportChanges>> for ImportChangesView {
    fn from(found: Option<ImportChanges>) -> Self {
        let found_at = found.as_ref().map(|found| WireTime(found.found_at));
        let view = |change: ImportChange| {
            let (before, now) = change.values();
            ImportChangeView { id: change.id(), label: change.label(), before, now, state: change.state() }
        };
        let changes: Vec<ImportChangeView> = found.map(|found| found.changes).unwrap_or_default().into_iter().map(view).collect();
        let pending = changes.iter().filter(|change| change.state == ChangeState::Pending).count();
        Self { changes, pending, found_at }
    }
}

impl Operation for ImportChangesGet {
    const SPEC: Spec = Spec::get("projects.import_changes", "/v1/projects/import/{projectId}/changes", needs_one(READERS))
        .client("projects.imports.changes")
        .summary("List the changes found by a repeated import")
        .about("Values with state `pending` are not used until they are accepted.")
        .fails(&[Code::NotFound]);
    type Input = ProjectRef;
    type Output = Done<ImportChangesView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(ImportChangesView::sample()))
    }
}

impl Query for ImportChangesGet {
    fn run(view: &View<'_>, input: ProjectRef) -> Result<Self::Output, Failure> {
        require(view.tx, view.caller.account(), input.project_id)?;
        Ok(Done(imports::changes(view.tx, input.project_id)?.into()))
    }
}
