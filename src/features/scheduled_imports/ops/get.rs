//! Returns a scheduled import.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::scheduled_imports::require;
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::ScheduledImportId;
use crate::vocab::permissions::Permission;

pub struct Get;

/// Identifies a scheduled import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduledImportRef {
    /// The ID of the scheduled import.
    pub id: ScheduledImportId,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("scheduled_imports.get", "/v1/scheduled-imports/{id}", needs(Permission::AudienceRead))
        .summary("Get a scheduled import")
        .about("Returns the schedule and the result of the last run.")
        .fails(&[Code::NotFound]);
    type Input = ScheduledImportRef;
    type Output = Done<ScheduledImportView>;

    fn example() -> (Value, Self::Output) {
        let shown = ScheduledImportView::sample();
        (json!({ "id": shown.id }), Done(shown))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: ScheduledImportRef) -> Result<Self::Output, Failure> {
        Ok(Done(scheduled_import_view(&require(view.tx, view.caller.account(), input.id)?)))
    }
}
