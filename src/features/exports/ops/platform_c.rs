//! Exports emails for HubSpot.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{ABOUT, ExportForPlatform, export_for};
use crate::base::strict_objects::AnyJson;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::views::{Destination, EmailExport};
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::providers::Provider;

pub struct PlatformC;

/// The emails to export, with options for the platform.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportToPlatformC {
    pub conversation_id: ConversationId,
    /// The only email in the conversation to export; all of the conversation's emails if absent.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
    /// `file` creates files to download.
    #[serde(rename = "as")]
    pub destination: Option<Destination>,
    /// Options to pass to the platform. They do not affect files.
    #[schemars(with = "BTreeMap<String, AnyJson>")]
    #[serde(default)]
    #[allow(dead_code, reason = "the API accepts it")]
    pub custom_options: Map<String, Value>,
}

impl Operation for PlatformC {
    const SPEC: Spec = Spec::post("exports.platform_c", "/v1/export/platform_c", needs(READER))
        .also_at(&["/v1/export/hubspot"])
        .summary("Export emails for HubSpot")
        .about(ABOUT)
        .fails(&[Code::NotFound, Code::NotExportable, Code::ProviderNotConnected]);
    type Input = ExportToPlatformC;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        let export = EmailExport { export_type: Provider::HubSpot.word(), ..EmailExport::sample(Format::Html) };
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "as": "file", "customOptions": {} }), Done(export))
    }
}

impl Async for PlatformC {
    async fn run(context: Context, input: ExportToPlatformC) -> Result<Self::Output, Failure> {
        let ExportToPlatformC { conversation_id, email_id, project_id, destination, .. } = input;
        let wanted = ExportForPlatform { conversation_id, email_id, project_id, destination };
        export_for(&context, &Self::SPEC, Provider::HubSpot, wanted).await.map(Done)
    }
}
