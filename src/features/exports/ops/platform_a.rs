//! Exports emails for Klaviyo.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ABOUT, FAILURES, export_for};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::connections::templates::TemplateKind;
use crate::features::exports::accounts::AccountExport;
use crate::features::exports::views::{Destination, EmailExport, ExportEmails, ImageHosting};
use crate::features::exports::{Format, READER};
use crate::vocab::ids::{ConnectionId, ConversationId, EmailId, ProjectId};
use crate::vocab::providers::Provider;

pub struct PlatformA;

/// The emails to export for Klaviyo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportToPlatformA {
    pub conversation_id: ConversationId,
    /// The only email to export. If absent, all finished emails of the conversation are exported.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
    /// `file` creates files to download instead of exporting into a connected account.
    #[serde(rename = "as")]
    pub destination: Option<Destination>,
    #[serde(default)]
    pub klaviyo_type: KlaviyoType,
    /// The connection to use. Required if the brand can use several Klaviyo connections.
    pub connection_id: Option<ConnectionId>,
    #[serde(default)]
    pub images: ImageHosting,
}

/// The type of a Klaviyo template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KlaviyoType {
    /// A template of the HTML editor.
    #[default]
    Html,
    /// A template for the HTML editor, with a region that can be changed in the drag-and-drop editor.
    Hybrid,
    /// The same as `html`.
    Code,
}

impl Operation for PlatformA {
    const SPEC: Spec = Spec::get("exports.platform_a", "/v1/export/platform_a/{conversationId}", needs(READER))
        .client("exports.klaviyo")
        .also_at(&["/v1/export/klaviyo/{conversationId}"])
        .summary("Export emails for Klaviyo")
        .about(ABOUT)
        .fails(&FAILURES);
    type Input = ExportToPlatformA;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        let export = EmailExport { export_type: Provider::Klaviyo.word(), ..EmailExport::sample(Format::Html) };
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "as": "file" }), Done(export))
    }
}

impl Async for PlatformA {
    async fn run(context: Context, input: ExportToPlatformA) -> Result<Self::Output, Failure> {
        let ExportToPlatformA { conversation_id, email_id, project_id, destination, klaviyo_type, connection_id, images } = input;
        let kind = match klaviyo_type {
            KlaviyoType::Html | KlaviyoType::Code => TemplateKind::KlaviyoCode,
            KlaviyoType::Hybrid => TemplateKind::KlaviyoHybrid,
        };
        let wanted = ExportEmails { conversation_id, email_id, project_id };
        let to = AccountExport { kind, connection: connection_id, images, options: serde_json::Map::new() };
        export_for(&context, &Self::SPEC, (wanted, destination), to).await.map(Done)
    }
}
