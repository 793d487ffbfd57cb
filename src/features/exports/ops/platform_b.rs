//! Exports emails for Mailchimp.

use serde_json::{Value, json};

use super::{ABOUT, ExportForPlatform, export_for};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::views::EmailExport;
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::providers::Provider;

pub struct PlatformB;

impl Operation for PlatformB {
    const SPEC: Spec = Spec::get("exports.platform_b", "/v1/export/platform_b/{conversationId}", needs(READER))
        .also_at(&["/v1/export/mailchimp/{conversationId}"])
        .summary("Export emails for Mailchimp")
        .about(ABOUT)
        .fails(&[Code::NotFound, Code::NotExportable, Code::ProviderNotConnected]);
    type Input = ExportForPlatform;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        let export = EmailExport { export_type: Provider::Mailchimp.word(), ..EmailExport::sample(Format::Html) };
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "as": "file" }), Done(export))
    }
}

impl Async for PlatformB {
    async fn run(context: Context, input: ExportForPlatform) -> Result<Self::Output, Failure> {
        export_for(&context, &Self::SPEC, Provider::Mailchimp, input).await.map(Done)
    }
}
