//! Creates a scheduled import.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::text::{NOT_BLANK, Name};
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::connections::{self, ConnectionChoice, SourceRef};
use crate::features::contacts::jobs::files::DELIMITER_PATTERN;
use crate::features::contacts::jobs::{ColumnMap, FieldMap, OnConflict};
use crate::features::customer_events::EventName;
use crate::features::hooks;
use crate::features::projects;
use crate::features::scheduled_imports::model::{
    ContactRows, EventRows, FileSource, Known, PlatformSource, ScheduledImport, Source, Target,
};
use crate::features::scheduled_imports::views::{ScheduledImportView, scheduled_import_view};
use crate::features::scheduled_imports::{input, store};
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ConnectionId, ProjectId, ScheduledImportId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, ConsentMode, Provider};
use crate::vocab::rates::RouteGroup;

pub struct Create;

/// The number of hours between two runs.
pub type Hours = Bounded<1, { limits::SCHEDULED_IMPORT_HOURS_MAX }>;

/// What each row in a file becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportTarget {
    /// Each row adds or updates a contact.
    #[default]
    Contacts,
    /// Each row is a customer event.
    Events,
}

/// The scheduled import to create. Set `url` to import a file, or `provider` and `sources` to import contacts from a platform.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = by_source)]
pub struct NewScheduledImport {
    /// The ID of the project to which the contacts or events are added.
    pub project_id: ProjectId,
    pub name: Name<{ limits::SCHEDULED_IMPORT_NAME_CHARACTERS_MAX }>,
    /// The number of hours between two runs. The default is 24, which means one run each day.
    pub every_hours: Option<Hours>,
    /// The URL of a CSV file with a header row. The server must be public, and the URL must not contain a user name or password.
    pub url: Option<String>,
    /// What each row in the file becomes.
    #[serde(default)]
    pub target: ImportTarget,
    /// The separator between cells of the file. If absent, it is detected. `\t` is a tab.
    #[schemars(extend("pattern" = DELIMITER_PATTERN))]
    pub delimiter: Option<String>,
    /// For imports of contacts from a file: the column header for each contact field. If absent, common headers are recognized.
    pub column_map: Option<ColumnMap>,
    /// For imports of contacts from a file: what happens to contacts that already exist. The default is `upsert`.
    pub on_conflict: Option<OnConflict>,
    /// For imports of contacts from a file: the names of the tags to add to every contact.
    pub tags: Option<Vec<TagName>>,
    /// For imports of contacts from a file: the status for contacts whose row has no status. Set `subscribed` only if all contacts in the
    /// file agreed to marketing email. If absent, `consentMode` decides.
    pub status: Option<Status>,
    /// Whether to import contacts who have neither subscribed nor unsubscribed, if `status` is absent. The default, `subscribed-only`,
    /// leaves them out.
    pub consent_mode: Option<ConsentMode>,
    /// For imports of events from a file: the column header for each event field. Without a mapping, the headers must be the field names:
    /// `name`, `occurredAt`, `dedupeKey`, the fields that identify the contact, such as `email`, and `properties.NAME` and `profile.FIELD`.
    pub mapping: Option<BTreeMap<String, String>>,
    /// For imports of events from a file: the name that every event receives. If absent, the name comes from a column.
    pub event_name: Option<EventName>,
    /// The platform from which contacts are imported.
    pub provider: Option<Provider>,
    /// For imports of contacts from a platform: the ID of the connection to use. Required if the brand can use several connections to the
    /// provider.
    pub connection_id: Option<ConnectionId>,
    /// For imports of contacts from a platform: the sources, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them.
    #[schemars(length(min = 1, max = limits::PROVIDER_IMPORT_SOURCES_MAX))]
    pub sources: Option<Vec<SourceRef>>,
    /// For imports of contacts from a platform: the contact field for each platform field, as in POST /v1/contacts/imports/provider.
    pub field_map: Option<FieldMap>,
}

/// Describes in the schema which fields apply to each kind of source.
fn by_source(schema: &mut Schema) {
    let source = |required: &[&str], mut fields: Value, others: &[&str]| {
        for name in others {
            fields[*name] = json!({ "type": "null" });
        }
        json!({ "required": required, "properties": fields })
    };
    let url = json!({ "type": "string", "pattern": r"^[\x00-\x20]*[Hh][Tt][Tt][Pp][Ss]?:[\s\S]*$" });
    let headers = json!({
        "type": ["object", "null"], "maxProperties": limits::SCHEDULED_IMPORT_FIELDS_MAX,
        "propertyNames": { "pattern": hooks::event_fields_pattern() }, "additionalProperties": { "pattern": NOT_BLANK },
    });
    let alternatives = [
        source(
            &["url"],
            json!({ "url": url, "target": { "const": "contacts" } }),
            &["mapping", "eventName", "provider", "connectionId", "sources", "fieldMap"],
        ),
        source(
            &["url", "target"],
            json!({ "url": url, "target": { "const": "events" }, "mapping": headers }),
            &["columnMap", "onConflict", "tags", "status", "consentMode", "provider", "connectionId", "sources", "fieldMap"],
        ),
        source(
            &["provider", "sources"],
            json!({ "provider": { "type": "string" }, "sources": { "type": "array" }, "target": { "const": "contacts" } }),
            &["url", "delimiter", "columnMap", "onConflict", "tags", "status", "mapping", "eventName"],
        ),
    ];
    schema.insert("anyOf".to_owned(), alternatives.into_iter().collect());
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("scheduled_imports.create", "/v1/scheduled-imports", needs(Permission::AudienceWrite))
        .summary("Create a scheduled import")
        .about(
            "The first run starts immediately. With `url`, each run fetches the file, unless the server has no newer version, and imports \
             its rows: contacts like POST /v1/contacts/imports, or events like POST /v1/events/batch. A row without a dedupeKey gets a key \
             computed from the row, so that a row is stored once even if later files contain it again. With `provider`, the first run \
             imports all contacts from the sources like POST /v1/contacts/imports/provider; each later run imports only contacts that have \
             joined or changed since then. A contact who unsubscribes on the platform is unsubscribed; a contact who unsubscribed or \
             bounced is not resubscribed. After several failed runs in a row, the scheduled import is paused.",
        )
        .rate(RouteGroup::Imports)
        .replay(Replay::Keyed)
        .fails(&[
            Code::NotFound,
            Code::LimitReached,
            Code::IntegrationAccountRequired,
            Code::ProviderNotConnected,
            Code::ProviderReconnectRequired,
        ]);
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
        let name = given.name.to_string();
        let every_hours = given.every_hours.map_or(24, |hours| hours.get() as u32);
        let row = ScheduledImport {
            id: ScheduledImportId::make(tx.now(), tx.random()),
            account,
            project: given.project_id,
            name,
            every_hours,
            source: source(tx, caller, given)?,
            pause: None,
            due_at: tx.now(),
            running: None,
            known: Known::default(),
            last_run: None,
            failures: 0,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        store::save(tx, None, &row);
        Ok(Created(scheduled_import_view(&row)))
    }
}

/// Checks the source of a new scheduled import. For a platform, also creates a tag and a segment for the imported contacts.
fn source(tx: &mut WriteTx<'_>, caller: &Caller, given: NewScheduledImport) -> Result<Source, Failure> {
    let fields = [
        ("delimiter", given.delimiter.is_some()),
        ("columnMap", given.column_map.is_some()),
        ("onConflict", given.on_conflict.is_some()),
        ("tags", given.tags.is_some()),
        ("status", given.status.is_some()),
        ("consentMode", given.consent_mode.is_some()),
        ("mapping", given.mapping.is_some()),
        ("eventName", given.event_name.is_some()),
        ("connectionId", given.connection_id.is_some()),
        ("sources", given.sources.is_some()),
        ("fieldMap", given.field_map.is_some()),
    ];
    let consent_mode = given.consent_mode.unwrap_or_default();
    let source = match (given.url, given.provider) {
        (Some(_), Some(_)) => return Err(Failure::field("provider", "set either `url` or `provider`, not both")),
        (None, None) => return Err(Failure::field("url", "set `url` to the URL of a CSV file, or set `provider` and `sources`")),
        (Some(url), None) => {
            let target = match given.target {
                ImportTarget::Contacts => Target::Contacts(ContactRows {
                    columns: given.column_map,
                    on_conflict: given.on_conflict.unwrap_or_default(),
                    tags: input::tags(&given.tags.unwrap_or_default())?,
                    status: given.status,
                    consent_mode,
                }),
                ImportTarget::Events => Target::Events(EventRows {
                    mapping: input::mapping(given.mapping.unwrap_or_default())?,
                    event_name: given.event_name.map(|name| name.to_string()),
                }),
            };
            Source::File(FileSource { url: input::url(&url)?, delimiter: input::separator(given.delimiter.as_deref())?, target })
        }
        (None, Some(_)) if given.target == ImportTarget::Events => {
            return Err(Failure::field("target", "events cannot be imported from a platform; set `target` to `contacts`"));
        }
        (None, Some(provider)) => {
            let (account, project) = (caller.account(), given.project_id);
            let sources = connections::checked_sources(given.sources.unwrap_or_default())?;
            let fields = connections::checked_fields(given.field_map.unwrap_or_default())?;
            let page = connections::connect_url(&caller.engine, caller.environment(), provider);
            let (connection, purpose) = (given.connection_id, ConnectionUse::Imports);
            let choice = ConnectionChoice { account, provider, project, connection, purpose };
            let used = connections::choose(tx, choice, &page)?;
            let tag = connections::label(tx, project, &used)?.tag.name;
            Source::Platform(PlatformSource { provider, connection: used.id, sources, consent_mode, fields, tag })
        }
    };
    input::check_fields(&source, &fields)?;
    Ok(source)
}
