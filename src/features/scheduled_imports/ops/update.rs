//! Changes a scheduled import.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::Hours;
use crate::base::patch::Patch;
use crate::base::text::Name;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::connections::{self, ConnectionChoice, SourceRef};
use crate::features::contacts::jobs::{ColumnMap, FieldMap, OnConflict};
use crate::features::customer_events::EventName;
use crate::features::scheduled_imports::model::{FileSource, Pause, ScheduledImport, Source, Target};
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::features::scheduled_imports::{input, require, store};
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ConnectionId, ScheduledImportId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, ConsentMode};

pub struct Update;

/// The changes to a scheduled import. An omitted field stays unchanged; `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduledImportPatch {
    /// The ID of the scheduled import.
    pub id: ScheduledImportId,
    pub name: Option<Name<{ limits::SCHEDULED_IMPORT_NAME_CHARACTERS_MAX }>>,
    /// The number of hours between two runs.
    pub every_hours: Option<Hours>,
    /// The URL of a CSV file with a header row.
    pub url: Option<String>,
    /// The separator between cells of the file. `\t` is a tab.
    #[serde(default)]
    pub delimiter: Patch<String>,
    /// For imports of contacts from a file: the column header for each contact field. Replaces the whole mapping.
    #[serde(default)]
    pub column_map: Patch<ColumnMap>,
    /// For imports of contacts from a file: what happens to contacts that already exist.
    pub on_conflict: Option<OnConflict>,
    /// For imports of contacts from a file: the names of the tags to add to every contact. The list replaces the previous list.
    pub tags: Option<Vec<TagName>>,
    /// For imports of contacts from a file: the status for contacts whose row has no status.
    #[serde(default)]
    pub status: Patch<Status>,
    /// Whether to import contacts who have neither subscribed nor unsubscribed, if `status` is absent.
    pub consent_mode: Option<ConsentMode>,
    /// For imports of events from a file: the column header for each event field. Replaces the whole mapping.
    #[serde(default)]
    pub mapping: Patch<BTreeMap<String, String>>,
    /// For imports of events from a file: the name that every event receives.
    #[serde(default)]
    pub event_name: Patch<EventName>,
    /// For imports of contacts from a platform: the ID of the connection to use, which must be to the same platform.
    pub connection_id: Option<ConnectionId>,
    /// For imports of contacts from a platform: the sources. The list replaces the previous list.
    #[schemars(length(min = 1, max = limits::PROVIDER_IMPORT_SOURCES_MAX))]
    pub sources: Option<Vec<SourceRef>>,
    /// For imports of contacts from a platform: the contact field for each platform field. Replaces the whole mapping.
    pub field_map: Option<FieldMap>,
    /// False pauses the scheduled import; true ends a pause and starts a run.
    pub active: Option<bool>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("scheduled_imports.update", "/v1/scheduled-imports/{id}", needs(Permission::AudienceWrite))
        .summary("Change a scheduled import")
        .about(
            "After a change of the source or its mapping, the next run imports everything. This run starts immediately, unless you paused \
             the scheduled import. A running import continues with its original settings.",
        )
        .fails(&[Code::NotFound, Code::IntegrationAccountRequired, Code::ProviderNotConnected, Code::ProviderReconnectRequired]);
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
        if let Some(name) = &patch.name {
            after.name = name.to_string();
        }
        let (active, every_hours) = (patch.active, patch.every_hours.as_ref().map(|hours| hours.get() as u32));
        after.source = changed(tx, caller, &before, patch)?;
        if let Some(hours) = every_hours.filter(|hours| *hours != before.every_hours) {
            after.set_interval(hours, now);
        }
        if after.source != before.source {
            after.forget_known();
            if after.pause != Some(Pause::ByUser) {
                after.start_now(now);
            }
        }
        match active {
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

/// Returns the source after applying the changes in a patch.
fn changed(
    tx: &mut WriteTx<'_>,
    caller: &Caller,
    before: &ScheduledImport,
    patch: ScheduledImportPatch,
) -> Result<Source, Failure> {
    let fields = [
        ("url", patch.url.is_some()),
        ("delimiter", patch.delimiter.is_given()),
        ("columnMap", patch.column_map.is_given()),
        ("onConflict", patch.on_conflict.is_some()),
        ("tags", patch.tags.is_some()),
        ("status", patch.status.is_given()),
        ("consentMode", patch.consent_mode.is_some()),
        ("mapping", patch.mapping.is_given()),
        ("eventName", patch.event_name.is_given()),
        ("connectionId", patch.connection_id.is_some()),
        ("sources", patch.sources.is_some()),
        ("fieldMap", patch.field_map.is_some()),
    ];
    input::check_fields(&before.source, &fields)?;
    let mut source = before.source.clone();
    match &mut source {
        Source::File(FileSource { url, delimiter, target }) => {
            if let Some(text) = &patch.url {
                *url = input::url(text)?;
            }
            match &patch.delimiter {
                Patch::Absent => {}
                Patch::Null => *delimiter = None,
                Patch::Value(text) => *delimiter = input::separator(Some(text))?,
            }
            change_rows(target, patch)?;
        }
        Source::Platform(platform) => {
            if let Some(sources) = patch.sources {
                platform.sources = connections::checked_sources(sources)?;
            }
            if let Some(map) = patch.field_map {
                platform.fields = connections::checked_fields(map)?;
            }
            if let Some(id) = patch.connection_id {
                let (provider, account) = (platform.provider, caller.account());
                let page = connections::connect_url(&caller.engine, caller.environment(), provider);
                let (project, purpose) = (before.project, ConnectionUse::Imports);
                let choice = ConnectionChoice { account, provider, project, connection: Some(id), purpose };
                platform.connection = connections::choose(tx, choice, &page)?.id;
            }
            platform.consent_mode = patch.consent_mode.unwrap_or(platform.consent_mode);
        }
    }
    Ok(source)
}

/// Applies the patch to the settings for a file's rows.
fn change_rows(target: &mut Target, patch: ScheduledImportPatch) -> Result<(), Failure> {
    match target {
        Target::Contacts(rows) => {
            if let Some(tags) = &patch.tags {
                rows.tags = input::tags(tags)?;
            }
            patch.column_map.apply(&mut rows.columns);
            patch.status.apply(&mut rows.status);
            rows.on_conflict = patch.on_conflict.unwrap_or(rows.on_conflict);
            rows.consent_mode = patch.consent_mode.unwrap_or(rows.consent_mode);
        }
        Target::Events(rows) => {
            match patch.mapping {
                Patch::Absent => {}
                Patch::Null => rows.mapping.clear(),
                Patch::Value(mapping) => rows.mapping = input::mapping(mapping)?,
            }
            match patch.event_name {
                Patch::Absent => {}
                Patch::Null => rows.event_name = None,
                Patch::Value(name) => rows.event_name = Some(name.to_string()),
            }
        }
    }
    Ok(())
}
