//! Starts a run of a scheduled import now.

use serde_json::{Value, json};

use super::get::ScheduledImportRef;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::features::scheduled_imports::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Run;

impl Operation for Run {
    const SPEC: Spec = Spec::post("scheduled_imports.run", "/v1/scheduled-imports/{id}/run", needs(Permission::AudienceWrite))
        .summary("Run a scheduled import now")
        .about("Ends a pause. Returns before the run starts. While a run is in progress, no other run starts.")
        .rate(RouteGroup::Imports)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = ScheduledImportRef;
    type Output = Done<ScheduledImportView>;

    fn example() -> (Value, Self::Output) {
        let shown = ScheduledImportView::sample();
        (json!({ "id": shown.id }), Done(shown))
    }
}

impl Command for Run {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ScheduledImportRef) -> Result<Self::Output, Failure> {
        let before = require(tx, caller.account(), input.id)?;
        let mut after = before.clone();
        after.start_now(tx.now());
        store::save(tx, Some(&before), &after);
        Ok(Done(scheduled_import_view(&after)))
    }
}
