//! Creates a scheduled import.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::text::Name;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::jobs::files::DELIMITER_PATTERN;
use crate::features::contacts::jobs::{ColumnMap, OnConflict};
use crate::features::projects;
use crate::features::scheduled_imports::model::{FileVersion, ScheduledImport, Source};
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::features::scheduled_imports::{input, store};
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ProjectId, ScheduledImportId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::ConsentMode;
use crate::vocab::rates::RouteGroup;

pub struct Create;

/// A number of hours between two runs.
pub type Hours = Bounded<1, { limits::SCHEDULED_IMPORT_HOURS_MAX }>;

/// The scheduled import to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewScheduledImport {
    /// The project that the contacts are added to.
    pub project_id: ProjectId,
    pub name: Name<{ limits::SCHEDULED_IMPORT_NAME_CHARACTERS_MAX }>,
    /// The URL of a CSV file with a header row, on a public server, without a user name or password.
    pub url: String,
    /// The number of hours between two runs: 24 for a run each day, which is the default.
    pub every_hours: Option<Hours>,
    /// Maps fields to headers; guessed from common headers if absent.
    pub column_map: Option<ColumnMap>,
    /// What to do with contacts that already exist.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// The separator between cells; detected if absent. `\t` is a tab.
    #[schemars(extend("pattern" = DELIMITER_PATTERN))]
    pub delimiter: Option<String>,
    /// Names of tags to add to every contact in the file.
    #[serde(default)]
    pub tags: Vec<TagName>,
    /// The status for contacts whose row has no status. Set `subscribed` only if all contacts in the file agreed to marketing email. If
    /// absent, `consentMode` decides.
    pub status: Option<Status>,
    /// Which contacts without a status are imported, if `status` is absent.
    #[serde(default)]
    pub consent_mode: ConsentMode,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("scheduled_imports.create", "/v1/scheduled-imports", needs(Permission::AudienceWrite))
        .summary("Create a scheduled import")
        .about(
            "The first run starts immediately. Each run fetches the file, unless the server has no newer version, and imports its contacts \
             like POST /v1/contacts/imports. A contact who unsubscribed or bounced is not resubscribed. After several failed runs in a row, \
             the scheduled import is paused.",
        )
        .rate(RouteGroup::Imports)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewScheduledImport;
    type Output = Created<ScheduledImportView>;

    fn example() -> (Value, Self::Output) {
        let made = ScheduledImportView { last_run: None, ..ScheduledImportView::sample() };
        let input = json!({
            "projectId": made.project_id, "name": made.name, "url": made.url, "everyHours": 24, "columnMap": { "email": "E-mail" },
            "tags": made.tags, "consentMode": made.consent_mode,
        });
        (input, Created(made))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, given: NewScheduledImport) -> Result<Self::Output, Failure> {
        let account = caller.account();
        projects::require(tx, account, given.project_id)?;
        if store::all(tx, account)?.len() >= limits::SCHEDULED_IMPORTS_MAX {
            let detail =
                format!("An account can have at most {} scheduled imports. Delete one first.", limits::SCHEDULED_IMPORTS_MAX);
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let row = ScheduledImport {
            id: ScheduledImportId::make(tx.now(), tx.random()),
            account,
            project: given.project_id,
            name: given.name.to_string(),
            every_hours: given.every_hours.map_or(24, |hours| hours.get() as u32),
            source: Source {
                url: input::url(&given.url)?,
                columns: given.column_map,
                delimiter: input::separator(given.delimiter.as_deref())?,
                on_conflict: given.on_conflict,
                tags: input::tags(&given.tags)?,
                status: given.status,
                consent_mode: given.consent_mode,
            },
            pause: None,
            due_at: tx.now(),
            running: None,
            known: FileVersion::default(),
            last_run: None,
            failures: 0,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        store::save(tx, None, &row);
        Ok(Created(scheduled_import_view(&row)))
    }
}
