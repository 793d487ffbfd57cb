//! Returns whether a conversation's emails can be exported, and in which formats.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::emails;
use crate::features::exports::views::ExportEmails;
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::ids::ConversationId;

pub struct Status;

/// Whether a conversation's emails can be exported, and in which formats.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportStatusView {
    pub conversation_id: ConversationId,
    pub can_export: bool,
    pub available_formats: Vec<&'static str>,
    /// Why the emails cannot be exported, or not in every format; empty if every format is available.
    pub reason: String,
}

impl Operation for Status {
    const SPEC: Spec = Spec::get("exports.status", "/v1/export/status/{conversationId}", needs(READER))
        .summary("Get the export status")
        .fails(&[Code::NotFound]);
    type Input = ExportEmails;
    type Output = Done<ExportStatusView>;

    fn example() -> (Value, Self::Output) {
        let conversation_id = ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid");
        let available_formats = Format::ALL.map(Format::word).to_vec();
        let view = ExportStatusView { conversation_id, can_export: true, available_formats, reason: String::new() };
        (json!({ "conversationId": conversation_id }), Done(view))
    }
}

impl Query for Status {
    fn run(view: &View<'_>, input: ExportEmails) -> Result<Self::Output, Failure> {
        let finished = emails::finished(view.tx, view.caller.account(), input.conversation_id, input.email_id, input.project_id)?;
        let has_mjml = finished.iter().all(|email| email.mjml.is_some());
        let formats = Format::ALL.into_iter().filter(|format| *format != Format::Mjml || has_mjml);
        let (available_formats, reason) = match finished.is_empty() {
            true => (Vec::new(), "No email in this conversation is finished."),
            false if has_mjml => (formats.map(Format::word).collect(), ""),
            false => (formats.map(Format::word).collect(), "Emails imported as HTML have no MJML."),
        };
        let can_export = !available_formats.is_empty();
        Ok(Done(ExportStatusView {
            conversation_id: input.conversation_id,
            can_export,
            available_formats,
            reason: reason.into(),
        }))
    }
}
