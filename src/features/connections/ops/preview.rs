//! Shows what an import from a connected account would change, without changing contacts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::connections::choice::{ConnectionChoice, FAILURES, choose, client, connect_url, failure, renewed};
use crate::features::connections::error::PlatformError;
use crate::features::connections::fields::{self, Mapping, PlatformField};
use crate::features::connections::model::Connection;
use crate::features::connections::preview::{First, first};
use crate::features::connections::sources::{self, SourceRef};
use crate::features::contacts::jobs::preview::{self, Dropped};
use crate::features::contacts::jobs::{FieldMap, ProviderSource, RowNote};
use crate::features::projects;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ConnectionId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, ConsentMode, Provider};

pub struct Preview;

/// The import to preview.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewImport {
    pub provider: Provider,
    /// The project to which the contacts would be added.
    pub project_id: ProjectId,
    /// The sources, as `GET /v1/contacts/imports/providers/{provider}/sources` lists them.
    #[schemars(length(min = 1, max = limits::PROVIDER_IMPORT_SOURCES_MAX))]
    pub sources: Vec<SourceRef>,
    /// Which contacts without recorded consent would be imported.
    #[serde(default)]
    pub consent_mode: ConsentMode,
    /// The connection to use. Required if the brand can use several connections to the provider.
    pub connection_id: Option<ConnectionId>,
    /// Maps the platform's fields to contact fields, as in the import.
    #[serde(default)]
    pub field_map: FieldMap,
}

/// What an import would change.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportPreview {
    /// The number of contacts that were read for the preview.
    pub read: u64,
    /// Whether the preview covers all contacts. The preview reads at most 2,000 contacts.
    pub is_complete: bool,
    /// The number of contacts that would be added.
    pub created: u64,
    /// The number of existing contacts that would change, not counting the import's tags.
    pub updated: u64,
    /// The number of existing contacts that would not change.
    pub skipped: u64,
    /// The number of contacts that would be rejected; `problems` contains the reasons.
    pub failed: u64,
    /// The number of contacts that `consentMode` would leave out.
    pub excluded: u64,
    /// The number of contacts who would be unsubscribed, or added as unsubscribed.
    pub unsubscribed: u64,
    /// The fields of the contacts that were read, with the platform's names; at most 200.
    pub fields: Vec<PreviewField>,
    /// At most 20 of the contacts that were read, starting with those that would change.
    pub contacts: Vec<PreviewContact>,
    /// The first 20 problems.
    pub problems: Vec<PreviewProblem>,
}

/// A field on the platform.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewField {
    pub name: String,
    /// The contact field; absent if the field is not imported.
    pub to: Option<String>,
    /// The first value, shortened.
    pub sample: String,
}

/// A contact that was read for the preview, and what the import would change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewContact {
    pub email: String,
    #[schemars(extend("enum" = ["created", "updated", "unchanged"]))]
    pub result: &'static str,
    /// The status after the import.
    pub status: Status,
    /// The fields that would change. For a new contact, the fields that would be set.
    pub changes: Vec<String>,
}

/// Why a contact would be rejected, or why a value would be left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PreviewProblem {
    pub email: Option<String>,
    pub field: String,
    pub error: String,
}

impl Operation for Preview {
    const SPEC: Spec = Spec::post(
        "connections.preview",
        "/v1/contacts/imports/provider/preview",
        needs(Permission::AudienceWrite),
    )
    .client("connections.preview_import")
    .summary("Preview an import from a platform")
    .about(
        "Reads up to 2,000 contacts from the sources, and returns their fields and what the import would change. No contact is changed. \
         The tags that the import adds are not counted as changes.",
    )
    .fails(&FAILURES);
    type Input = PreviewImport;
    type Output = Done<ImportPreview>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "provider": "platform_a", "projectId": "66f1a2b3d4e5f60718293a4b",
            "sources": [{ "id": "Y6nRLr", "type": "list", "name": "Newsletter" }], "fieldMap": { "title": null },
        });
        (input, Done(ImportPreview::sample()))
    }
}

impl ImportPreview {
    pub fn sample() -> Self {
        Self {
            read: 2_000,
            is_complete: false,
            created: 1_400,
            updated: 60,
            skipped: 500,
            failed: 1,
            excluded: 39,
            unsubscribed: 12,
            fields: vec![
                PreviewField { name: "first_name".into(), to: Some("firstName".into()), sample: "Ada".into() },
                PreviewField { name: "title".into(), to: None, sample: "Engineer".into() },
            ],
            contacts: vec![PreviewContact {
                email: "ada@example.com".into(),
                result: "created",
                status: Status::Subscribed,
                changes: vec!["firstName".into(), "customFields.plan".into()],
            }],
            problems: vec![PreviewProblem {
                email: Some("grace.example.com".into()),
                field: "email".into(),
                error: "The email address has no @; enter an address like name@example.com.".into(),
            }],
        }
    }
}

impl Async for Preview {
    async fn run(context: Context, input: PreviewImport) -> Result<Self::Output, Failure> {
        let PreviewImport { provider, project_id: project, sources, consent_mode, connection_id: connection, field_map } = input;
        let account = context.caller.account();
        let (engine, environment) = (&context.engine, context.caller.environment());
        let (sources, map) = (sources::checked(sources)?, fields::checked(field_map)?);
        let page = connect_url(engine, environment, provider);
        let reading = move |tx: &ReadTx| {
            projects::require(tx, account, project)?;
            choose(tx, ConnectionChoice { account, provider, project, connection, purpose: ConnectionUse::Imports }, &page)
        };
        let mut used = context.read(reading).await?;
        let mut read = read_first(&context, &mut used, &sources, map.clone()).await;
        if let Err(error) = &mut read
            && renewed(engine, environment, &mut used, error).await
        {
            read = read_first(&context, &mut used, &sources, map).await;
        }
        let (First { contacts, is_complete }, seen) = match read {
            Ok(read) => read,
            Err(error) => return Err(failure(&context, &used, error).await),
        };
        let read = contacts.len() as u64;
        let write = move |tx: &mut WriteTx<'_>| preview::preview(tx, (account, project), contacts, consent_mode);
        let preview = match context.data().store.write(write).await? {
            Err(Dropped::Done(preview)) => preview,
            Err(Dropped::Failed(error)) => return Err(error.into()),
            Ok(()) => return Err(Failure::internal("the changes of a preview were not rolled back; report this bug")),
        };
        let counts = preview.counts;
        let contacts = preview.rows.into_iter().map(|row| PreviewContact {
            result: match (row.is_new, row.changes.is_empty()) {
                (true, _) => "created",
                (false, false) => "updated",
                (false, true) => "unchanged",
            },
            email: row.email,
            status: row.status,
            changes: row.changes,
        });
        let problem = |note: RowNote| PreviewProblem { email: note.email, field: note.field, error: note.error };
        Ok(Done(ImportPreview {
            read,
            is_complete,
            created: counts.created,
            updated: counts.updated,
            skipped: counts.skipped,
            failed: counts.failed,
            excluded: preview.excluded,
            unsubscribed: preview.unsubscribed,
            fields: seen.into_iter().map(|(name, field)| PreviewField { name, to: field.to, sample: field.sample }).collect(),
            contacts: contacts.collect(),
            problems: preview.notes.into_iter().map(problem).collect(),
        }))
    }
}

/// Reads the first contacts, and the fields that they have.
async fn read_first(
    context: &Context,
    used: &mut Connection,
    sources: &[ProviderSource],
    map: FieldMap,
) -> Result<(First, BTreeMap<String, PlatformField>), PlatformError> {
    let client = client(&context.engine, context.caller.environment(), used).await?.mapped(Mapping::recording(map));
    let first = first(&client, sources).await?;
    Ok((first, client.mapping.into_seen()))
}
