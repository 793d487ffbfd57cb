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

use std::marker::PhantomData;

use serde_json::{Value, json};

use super::views::{EmailExport, ExportEmails};
use super::{Format, READER};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::emails;
use crate::vocab::codes::Code;

/// The platforms that the API reserves export operations for.
const PLATFORMS: [&str; 3] = ["platform_a", "platform_b", "platform_c"];

/// The description of every export to a platform.
const UNCONNECTED: &str = "This version cannot connect to platform accounts, so the response is always 409. Download the email from the \
                           dashboard page in data.connectUrl, and upload the file to the platform.";

/// A platform for which the API reserves an export operation.
pub trait Slot: Send + Sync + 'static {
    const NAME: &'static str;
    const SPEC: Spec;
}

/// Returns the specification of a [`Slot`]'s operation.
const fn slot(id: &'static str, path: &'static str, summary: &'static str) -> Spec {
    Spec::get(id, path, needs(READER)).summary(summary).about(UNCONNECTED).fails(&[Code::NotFound, Code::ProviderNotConnected])
}

/// The export to a platform.
pub struct Platform<S>(PhantomData<S>);

impl<S: Slot> Operation for Platform<S> {
    const SPEC: Spec = S::SPEC;
    type Input = ExportEmails;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(EmailExport::sample(Format::Html)))
    }
}

impl<S: Slot> Async for Platform<S> {
    async fn run(context: Context, input: ExportEmails) -> Result<Self::Output, Failure> {
        Err(not_connected(&context, input, S::NAME).await)
    }
}

/// Returns the failure of an export to a platform: either the conversation does not exist, or no account is connected.
async fn not_connected(context: &Context, wanted: ExportEmails, platform: &'static str) -> Failure {
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
        "This version cannot connect to {platform}. Download the email as HTML, MJML, PDF or image from {url}, or its HTML with GET \
         /v1/export/html/{conversation_id}, and upload the file to {platform}."
    );
    Failure::because(Code::ProviderNotConnected, detail).with(json!({ "connectUrl": url }))
}
