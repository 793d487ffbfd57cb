//! Export emails to platform C.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{UNCONNECTED, not_connected};
use crate::base::objects::AnyJson;
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, needs};
use crate::features::exports::views::{ExportView, Wanted};
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, ProjectId};

/// `exports.platform_c`
pub struct PlatformC;

/// What to export, and how.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Request {
    pub conversation_id: ConversationId,
    /// Only if it belongs to this project.
    pub project_id: Option<ProjectId>,
    /// What the platform is to be told.
    #[schemars(with = "BTreeMap<String, AnyJson>")]
    #[serde(default)]
    pub custom_options: Map<String, Value>,
}

impl Operation for PlatformC {
    const SPEC: Spec = Spec::post("exports.platform_c", "/v1/export/platform_c", needs(READER))
        .summary("Export emails to platform C")
        .about(UNCONNECTED)
        .fails(&[Code::NotFound, Code::ProviderNotConnected]);
    type Input = Request;
    type Output = Done<ExportView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "customOptions": {} }), Done(ExportView::sample(Format::Html)))
    }
}

impl Outward for PlatformC {
    async fn run(context: Context, input: Request) -> Result<Self::Output, Failure> {
        let wanted = Wanted { conversation_id: input.conversation_id, email_id: None, project_id: input.project_id };
        Err(not_connected(&context, wanted, "platform_c").await)
    }
}
