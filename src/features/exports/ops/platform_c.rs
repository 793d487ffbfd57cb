//! Exports emails for HubSpot.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ABOUT, FAILURES, export_for};
use crate::base::strict_objects::AnyJson;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::features::connections::templates::TemplateKind;
use crate::features::exports::accounts::AccountExport;
use crate::features::exports::views::{Destination, EmailExport, ExportEmails, ImageHosting};
use crate::features::exports::{Format, READER};
use crate::vocab::ids::{ConnectionId, ConversationId, EmailId, ProjectId};
use crate::vocab::providers::Provider;

pub struct PlatformC;

/// The emails to export for HubSpot, and what to create there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportToPlatformC {
    pub conversation_id: ConversationId,
    /// The only email to export. If absent, all finished emails of the conversation are exported.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
    /// `file` creates files to download instead of exporting into a connected account.
    #[serde(rename = "as")]
    pub destination: Option<Destination>,
    /// What to create. If `type` is `template` (the default), the export creates a coded template; if it is `email`, a draft of a marketing
    /// email. For an email, these fields are passed on in the request to HubSpot: `activeDomain`, `businessUnitId`, `campaign`,
    /// `folderIdV2`, `from`, `language` and `subscriptionDetails`. `customInstructions` is accepted and has no effect.
    #[schemars(schema_with = "options_schema")]
    #[serde(default)]
    pub custom_options: Map<String, Value>,
    /// The connection to use. Required if the brand can use several HubSpot connections.
    pub connection_id: Option<ConnectionId>,
    #[serde(default)]
    pub images: ImageHosting,
}

/// The fields that are passed on to HubSpot in the request for a marketing email.
const PASSED_ON: [&str; 7] =
    ["activeDomain", "businessUnitId", "campaign", "folderIdV2", "from", "language", "subscriptionDetails"];

/// Returns the schema of the options. The allowed fields depend on `type`.
fn options_schema(generator: &mut SchemaGenerator) -> Schema {
    let any = generator.subschema_for::<AnyJson>();
    let options = |kind: &str, names: &[&str]| {
        let mut properties: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), any.clone().into())).collect();
        properties.insert("type".into(), json!({ "const": kind }));
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    };
    let mut email = options("email", &[&PASSED_ON[..], &["customInstructions"]].concat());
    email["required"] = json!(["type"]);
    json_schema!({ "type": "object", "anyOf": [options("template", &["customInstructions"]), email] })
}

/// Returns the kind of object to create and the fields to pass on to HubSpot. Returns an error if there are other fields.
fn read_options(mut options: Map<String, Value>) -> Result<(TemplateKind, Map<String, Value>), Failure> {
    options.remove("customInstructions");
    let kind = match options.remove("type").as_ref().map(|kind| kind.as_str().unwrap_or_default()) {
        None | Some("template") => TemplateKind::HubSpotTemplate,
        Some("email") => TemplateKind::HubSpotEmail,
        Some(_) => return Err(Failure::field("customOptions.type", "must be `template` or `email`")),
    };
    let is_known = |name: &str| kind == TemplateKind::HubSpotEmail && PASSED_ON.contains(&name);
    match options.keys().find(|name| !is_known(name)) {
        None => Ok((kind, options)),
        Some(name) if PASSED_ON.contains(&name.as_str()) => {
            let field = format!("customOptions.{name}");
            Err(Failure::field(
                &field,
                "is allowed only for an email draft; set `customOptions.type` to `email`, or remove this field",
            ))
        }
        Some(name) => {
            let expected = format!("is unknown; use type, customInstructions or, for an email draft, {}", PASSED_ON.join(", "));
            Err(Failure::field(&format!("customOptions.{name}"), expected))
        }
    }
}

impl Operation for PlatformC {
    const SPEC: Spec = Spec::post("exports.platform_c", "/v1/export/platform_c", needs(READER))
        .client("exports.hubspot")
        .also_at(&["/v1/export/hubspot"])
        .summary("Export emails for HubSpot")
        .about(ABOUT)
        .replay(Replay::Keyed)
        .fails(&FAILURES);
    type Input = ExportToPlatformC;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        let export = EmailExport { export_type: Provider::HubSpot.word(), ..EmailExport::sample(Format::Html) };
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "as": "file", "customOptions": {} }), Done(export))
    }
}

impl Async for PlatformC {
    async fn run(context: Context, input: ExportToPlatformC) -> Result<Self::Output, Failure> {
        let ExportToPlatformC { conversation_id, email_id, project_id, destination, custom_options, connection_id, images } =
            input;
        let (kind, options) = read_options(custom_options)?;
        let wanted = ExportEmails { conversation_id, email_id, project_id };
        let to = AccountExport { kind, connection: connection_id, images, options };
        export_for(&context, &Self::SPEC, (wanted, destination), to).await.map(Done)
    }
}
