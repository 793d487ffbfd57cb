//! Imports contacts from a connected account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::connections::choice::{ConnectionChoice, choose, connect_url};
use crate::features::connections::fields;
use crate::features::connections::importing::{self, ImportPlan, Label};
use crate::features::connections::sources::{self, SourceRef};
use crate::features::contacts::jobs::FieldMap;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConnectionId, JobId, ProjectId, SegmentId, TagId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, ConsentMode, Provider};
use crate::vocab::rates::RouteGroup;

pub struct Import;

/// The contacts to import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportFromProvider {
    pub provider: Provider,
    /// The project to which the contacts are added.
    pub project_id: ProjectId,
    /// The sources to import, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them.
    #[schemars(length(min = 1, max = limits::PROVIDER_IMPORT_SOURCES_MAX))]
    pub sources: Vec<SourceRef>,
    /// Which contacts without recorded consent are imported. Unsubscribed and suppressed contacts are always imported, with that status.
    #[serde(default)]
    pub consent_mode: ConsentMode,
    /// The connection to use. Required if the brand can use several connections to the provider.
    pub connection_id: Option<ConnectionId>,
    /// The platform's fields to map, each with its contact field: a profile field, `customFields.NAME`, or null to leave the field out. All
    /// other fields are imported with the default mapping. The import preview lists the fields.
    #[serde(default)]
    pub field_map: FieldMap,
}

/// The import that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProviderImportStarted {
    /// Always `contact_import`.
    pub object: &'static str,
    /// The ID of the import. `GET /v1/contacts/imports/{id}` returns its progress.
    pub id: JobId,
    /// Always `pending`.
    pub status: &'static str,
    /// The tag that every imported contact gets.
    pub tag: NamedTag,
    /// The segment of the contacts with this tag.
    pub segment: NamedSegment,
}

/// The tag that an import adds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NamedTag {
    pub id: TagId,
    pub name: String,
}

/// The segment of an import's contacts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NamedSegment {
    pub id: SegmentId,
    pub name: String,
}

impl Operation for Import {
    const SPEC: Spec = Spec::post("connections.import", "/v1/contacts/imports/provider", needs(Permission::AudienceWrite)).client("connections.import_contacts")
        .summary("Import contacts from a platform")
        .about(
            "Returns once the import is stored; GET /v1/contacts/imports/{id} returns the progress. The import reads each source page by \
             page, continues after a restart, and is paused while the platform is rate limiting the account or the connection must be \
             reconnected. An existing status changes only if that does not override the contact's own choice. Emits subscriber.unsubscribed for each \
             contact that becomes unsubscribed, and subscriber.bulk_imported once, when all contacts have been processed.",
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
    type Input = ImportFromProvider;
    type Output = Created<ProviderImportStarted>;

    fn example() -> (Value, Self::Output) {
        let name = "Klaviyo import 2026-01-01";
        let started = ProviderImportStarted {
            object: "contact_import",
            id: JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the ID has 24 hexadecimal characters"),
            status: "pending",
            tag: NamedTag {
                id: TagId::parse("66f1a2b3d4e5f60718293a61").expect("the ID has 24 hexadecimal characters"),
                name: name.into(),
            },
            segment: NamedSegment {
                id: SegmentId::parse("66f1a2b3d4e5f60718293a62").expect("the ID has 24 hexadecimal characters"),
                name: name.into(),
            },
        };
        let input = json!({
            "provider": "platform_a", "projectId": "66f1a2b3d4e5f60718293a4b",
            "sources": [{ "id": "Y6nRLr", "type": "list", "name": "Newsletter" }], "consentMode": "subscribed-only",
        });
        (input, Created(started))
    }
}

impl Command for Import {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ImportFromProvider) -> Result<Self::Output, Failure> {
        let (account, project, provider) = (caller.account(), input.project_id, input.provider);
        projects::require(tx, account, project)?;
        let page = connect_url(&caller.engine, caller.environment(), provider);
        let (connection, purpose) = (input.connection_id, ConnectionUse::Imports);
        let used = choose(tx, ConnectionChoice { account, provider, project, connection, purpose }, &page)?;
        let (sources, fields) = (sources::checked(input.sources)?, fields::checked(input.field_map)?);
        let Label { tag, segment } = importing::label(tx, project, &used)?;
        let (consent_mode, tag_name) = (input.consent_mode, tag.name.clone());
        let plan = ImportPlan { project, sources, consent_mode, fields, since: None, tag: tag_name };
        let job = importing::start(tx, &used, plan)?;
        Ok(Created(ProviderImportStarted {
            object: "contact_import",
            id: job.id,
            status: "pending",
            segment: NamedSegment { id: segment, name: tag.name.clone() },
            tag: NamedTag { id: tag.id, name: tag.name },
        }))
    }
}
