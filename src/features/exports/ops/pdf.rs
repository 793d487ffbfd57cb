//! Exports emails as PDF.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::files::export;
use crate::features::exports::views::{EmailExport, ExportEmails};
use crate::features::exports::{Format, READER, Target};
use crate::vocab::codes::Code;

pub struct Pdf;

impl Operation for Pdf {
    const SPEC: Spec = Spec::get("exports.pdf", "/v1/export/pdf/{conversationId}", needs(READER))
        .summary("Export emails as PDF")
        .about(
            "Creates one PDF file for each finished email in the conversation; with emailId, only for that email. \
             Each file has searchable text and working links.",
        )
        .fails(&[Code::NotFound, Code::NotExportable]);
    type Input = ExportEmails;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(EmailExport::sample(Format::Pdf)))
    }
}

impl Async for Pdf {
    async fn run(context: Context, input: ExportEmails) -> Result<Self::Output, Failure> {
        export(&context, &Self::SPEC, input, Target::Format(Format::Pdf)).await.map(Done)
    }
}
