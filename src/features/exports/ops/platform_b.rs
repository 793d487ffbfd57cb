//! Exports emails for Mailchimp.

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

pub struct PlatformB;

/// The emails to export for Mailchimp.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportToPlatformB {
    pub conversation_id: ConversationId,
    /// The only email to export. If absent, all finished emails of the conversation are exported.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
    /// `file` creates files to download instead of exporting into a connected account.
    #[serde(rename = "as")]
    pub destination: Option<Destination>,
    #[serde(default)]
    pub mailchimp_type: MailchimpType,
    /// The connection to use. Required if the brand can use several Mailchimp connections.
    pub connection_id: Option<ConnectionId>,
    #[serde(default)]
    pub images: ImageHosting,
}

/// What an export creates in Mailchimp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MailchimpType {
    /// A template with editable regions.
    #[default]
    Template,
    /// A campaign draft without an audience.
    Campaign,
}

impl Operation for PlatformB {
    const SPEC: Spec = Spec::get("exports.platform_b", "/v1/export/platform_b/{conversationId}", needs(READER))
        .client("exports.mailchimp")
        .also_at(&["/v1/export/mailchimp/{conversationId}"])
        .summary("Export emails for Mailchimp")
        .about(ABOUT)
        .fails(&FAILURES);
    type Input = ExportToPlatformB;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        let export = EmailExport { export_type: Provider::Mailchimp.word(), ..EmailExport::sample(Format::Html) };
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "as": "file" }), Done(export))
    }
}

impl Async for PlatformB {
    async fn run(context: Context, input: ExportToPlatformB) -> Result<Self::Output, Failure> {
        let ExportToPlatformB { conversation_id, email_id, project_id, destination, mailchimp_type, connection_id, images } =
            input;
        let kind = match mailchimp_type {
            MailchimpType::Template => TemplateKind::MailchimpTemplate,
            MailchimpType::Campaign => TemplateKind::MailchimpCampaign,
        };
        let wanted = ExportEmails { conversation_id, email_id, project_id };
        let to = AccountExport { kind, connection: connection_id, images, options: serde_json::Map::new() };
        export_for(&context, &Self::SPEC, (wanted, destination), to).await.map(Done)
    }
}
