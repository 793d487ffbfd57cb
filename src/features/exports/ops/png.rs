//! Exports emails as PNG.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::files::export;
use crate::features::exports::views::{EmailExport, ExportEmails};
use crate::features::exports::{Format, READER, Target};
use crate::vocab::codes::Code;

pub struct Png;

impl Operation for Png {
    const SPEC: Spec = Spec::get("exports.png", "/v1/export/png/{conversationId}", needs(READER))
        .summary("Export emails as PNG")
        .about(
            "Creates one PNG image for each finished email in the conversation; with emailId, only for that email. Each \
             image shows the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel.",
        )
        .fails(&[Code::NotFound, Code::NotExportable]);
    type Input = ExportEmails;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(EmailExport::sample(Format::Png)))
    }
}

impl Async for Png {
    async fn run(context: Context, input: ExportEmails) -> Result<Self::Output, Failure> {
        export(&context, &Self::SPEC, input, Target::Format(Format::Png)).await.map(Done)
    }
}
