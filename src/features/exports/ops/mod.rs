//! The operations on exports, one file each.

pub mod formats;
pub mod html;
pub mod mjml;
pub mod pdf;
pub mod platform_a;
pub mod platform_b;
pub mod platform_c;
pub mod png;
pub mod status;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::Target;
use super::files::export;
use super::views::{Destination, EmailExport, ExportEmails};
use crate::engine::api::{Context, Failure, Spec};
use crate::features::emails;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};
use crate::vocab::providers::Provider;

/// The description of every export to a platform.
const ABOUT: &str = "With as=file, creates one HTML file for each finished email in the conversation, with merge fields and unsubscribe \
                     links in the platform's syntax, to upload to the platform. Fields without a counterpart are removed and listed in \
                     untranslated. This version cannot create templates in an account: without as=file, the response is 409.";

/// The emails to export for a platform.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportForPlatform {
    pub conversation_id: ConversationId,
    /// The only email in the conversation to export; all of the conversation's emails if absent.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
    /// `file` creates files to download.
    #[serde(rename = "as")]
    pub destination: Option<Destination>,
}

/// Exports a conversation's finished emails for a platform.
async fn export_for(
    context: &Context,
    spec: &'static Spec,
    provider: Provider,
    input: ExportForPlatform,
) -> Result<EmailExport, Failure> {
    let ExportForPlatform { conversation_id, email_id, project_id, destination } = input;
    let wanted = ExportEmails { conversation_id, email_id, project_id };
    match destination {
        Some(Destination::File) => export(context, spec, wanted, Target::Platform(provider)).await,
        None => Err(not_connected(context, wanted, provider).await),
    }
}

/// Returns the failure of an export without a destination: the conversation does not exist, or templates cannot be created.
async fn not_connected(context: &Context, wanted: ExportEmails, provider: Provider) -> Failure {
    let account = context.caller.account();
    let ExportEmails { conversation_id, email_id, project_id } = wanted;
    let found = context.read(move |tx| emails::finished(tx, account, conversation_id, email_id, project_id)).await;
    let first = match found {
        Ok(emails) => emails.first().map(|email| email.id),
        Err(failure) => return failure,
    };
    let pages = format!("{}/{}/emails", context.engine.base_url(), context.caller.environment());
    // Without a finished email, the link leads to the list of emails.
    let url = first.map_or(pages.clone(), |email| format!("{pages}/{email}/exports"));
    let detail = format!(
        "This version cannot create templates in a {provider} account. Download the file for {provider} at {url}, or export it with \
         as=file. Then upload the file to {provider}."
    );
    Failure::because(Code::ProviderNotConnected, detail).with(json!({ "connectUrl": url }))
}
