//! Exports emails as HTML.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::files::export;
use crate::features::exports::views::{EmailExport, ExportEmails};
use crate::features::exports::{Format, READER, Target};
use crate::vocab::codes::Code;

pub struct Html;

impl Operation for Html {
    const SPEC: Spec = Spec::get("exports.html", "/v1/export/html/{conversationId}", needs(READER))
        .summary("Export emails as HTML")
        .about(
            "Creates one HTML file for each finished email in the conversation; with emailId, only for that email. \
             Merge fields are not filled in.",
        )
        .fails(&[Code::NotFound, Code::NotExportable]);
    type Input = ExportEmails;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(EmailExport::sample(Format::Html)))
    }
}

impl Async for Html {
    async fn run(context: Context, input: ExportEmails) -> Result<Self::Output, Failure> {
        export(&context, &Self::SPEC, input, Target::Format(Format::Html)).await.map(Done)
    }
}
