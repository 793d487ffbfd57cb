//! Changes a scheduled import.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::Hours;
use crate::base::patch::Patch;
use crate::base::text::Name;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::jobs::{ColumnMap, OnConflict};
use crate::features::scheduled_imports::model::Pause;
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::features::scheduled_imports::{input, require, store};
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::ScheduledImportId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::ConsentMode;

pub struct Update;

/// The changes to a scheduled import. An omitted field stays unchanged; `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduledImportPatch {
    /// The ID of the scheduled import.
    pub id: ScheduledImportId,
    pub name: Option<Name<{ limits::SCHEDULED_IMPORT_NAME_CHARACTERS_MAX }>>,
    /// The URL of a CSV file with a header row.
    pub url: Option<String>,
    /// The number of hours between two runs.
    pub every_hours: Option<Hours>,
    /// Maps fields to headers. Replaces the whole mapping.
    #[serde(default)]
    pub column_map: Patch<ColumnMap>,
    /// What to do with contacts that already exist.
    pub on_conflict: Option<OnConflict>,
    /// The separator between cells. `\t` is a tab.
    #[serde(default)]
    pub delimiter: Patch<String>,
    /// Names of tags to add to every contact in the file. They replace all previous tags.
    pub tags: Option<Vec<TagName>>,
    /// The status for contacts whose row has no status.
    #[serde(default)]
    pub status: Patch<Status>,
    /// Which contacts without a status are imported, if `status` is absent.
    pub consent_mode: Option<ConsentMode>,
    /// False pauses the scheduled import; true ends a pause and starts a run.
    pub active: Option<bool>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("scheduled_imports.update", "/v1/scheduled-imports/{id}", needs(Permission::AudienceWrite))
        .summary("Change a scheduled import")
        .about("A change of the file or its mapping starts a run. An import that is running continues with the settings with which it started.")
        .fails(&[Code::NotFound]);
    type Input = ScheduledImportPatch;
    type Output = Done<ScheduledImportView>;

    fn example() -> (Value, Self::Output) {
        let shown = ScheduledImportView { every_hours: 6, ..ScheduledImportView::sample() };
        (json!({ "id": shown.id, "everyHours": 6 }), Done(shown))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, patch: ScheduledImportPatch) -> Result<Self::Output, Failure> {
        let before = require(tx, caller.account(), patch.id)?;
        let (mut after, now) = (before.clone(), tx.now());
        if let Some(name) = patch.name {
            after.name = name.to_string();
        }
        let source = &mut after.source;
        if let Some(text) = &patch.url {
            source.url = input::url(text)?;
        }
        match patch.delimiter {
            Patch::Absent => {}
            Patch::Null => source.delimiter = None,
            Patch::Value(text) => source.delimiter = input::separator(Some(&text))?,
        }
        if let Some(tags) = &patch.tags {
            source.tags = input::tags(tags)?;
        }
        patch.column_map.apply(&mut source.columns);
        patch.status.apply(&mut source.status);
        source.on_conflict = patch.on_conflict.unwrap_or(source.on_conflict);
        source.consent_mode = patch.consent_mode.unwrap_or(source.consent_mode);
        if let Some(hours) = patch.every_hours.map(|hours| hours.get() as u32).filter(|hours| *hours != before.every_hours) {
            after.set_interval(hours, now);
        }
        if after.source != before.source {
            after.forget_version();
            if after.pause != Some(Pause::ByUser) {
                after.start_now(now);
            }
        }
        match patch.active {
            Some(false) => after.pause = Some(Pause::ByUser),
            Some(true) if after.pause.is_some() => after.start_now(now),
            Some(true) | None => {}
        }
        if after != before {
            after.updated_at = now;
            store::save(tx, Some(&before), &after);
        }
        Ok(Done(scheduled_import_view(&after)))
    }
}
