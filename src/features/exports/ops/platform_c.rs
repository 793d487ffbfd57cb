//! The reserved operation for exports to platform C. It always fails, because this version cannot connect to platform accounts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{UNCONNECTED, not_connected};
use crate::base::strict_objects::AnyJson;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::views::{EmailExport, ExportEmails};
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, ProjectId};

pub struct PlatformC;

/// The email to export, with options for the platform.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportToPlatformC {
    pub conversation_id: ConversationId,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
    /// Options to pass to the platform.
    #[schemars(with = "BTreeMap<String, AnyJson>")]
    #[serde(default)]
    #[allow(dead_code, reason = "the API accepts it")]
    pub custom_options: Map<String, Value>,
}

impl Operation for PlatformC {
    const SPEC: Spec = Spec::post("exports.platform_c", "/v1/export/platform_c", needs(READER))
        .summary("Export emails to platform C")
        .about(UNCONNECTED)
        .fails(&[Code::NotFound, Code::ProviderNotConnected]);
    type Input = ExportToPlatformC;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "customOptions": {} }), Done(EmailExport::sample(Format::Html)))
    }
}

impl Async for PlatformC {
    async fn run(context: Context, input: ExportToPlatformC) -> Result<Self::Output, Failure> {
        let wanted = ExportEmails { conversation_id: input.conversation_id, email_id: None, project_id: input.project_id };
        Err(not_connected(&context, wanted, "platform_c").await)
    }
}
