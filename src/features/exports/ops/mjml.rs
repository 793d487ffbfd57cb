//! Exports emails as MJML.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::files::export;
use crate::features::exports::views::{EmailExport, ExportEmails};
use crate::features::exports::{Format, READER, Target};
use crate::vocab::codes::Code;

pub struct Mjml;

impl Operation for Mjml {
    const SPEC: Spec = Spec::get("exports.mjml", "/v1/export/mjml/{conversationId}", needs(READER))
        .summary("Export emails as MJML")
        .about(
            "Creates one MJML file for each finished email in the conversation; with emailId, only for that email. \
             Fails if one of these emails was imported as HTML, because imported emails have no MJML.",
        )
        .fails(&[Code::NotFound, Code::NotExportable]);
    type Input = ExportEmails;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(EmailExport::sample(Format::Mjml)))
    }
}

impl Async for Mjml {
    async fn run(context: Context, input: ExportEmails) -> Result<Self::Output, Failure> {
        export(&context, &Self::SPEC, input, Target::Format(Format::Mjml)).await.map(Done)
    }
}
