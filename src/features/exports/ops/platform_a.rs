//! Exports emails for Klaviyo.

use serde_json::{Value, json};

use super::{ABOUT, ExportForPlatform, export_for};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::exports::views::EmailExport;
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;
use crate::vocab::providers::Provider;

pub struct PlatformA;

impl Operation for PlatformA {
    const SPEC: Spec = Spec::get("exports.platform_a", "/v1/export/platform_a/{conversationId}", needs(READER))
        .also_at(&["/v1/export/klaviyo/{conversationId}"])
        .summary("Export emails for Klaviyo")
        .about(ABOUT)
        .fails(&[Code::NotFound, Code::NotExportable, Code::ProviderNotConnected]);
    type Input = ExportForPlatform;
    type Output = Done<EmailExport>;

    fn example() -> (Value, Self::Output) {
        let export = EmailExport { export_type: Provider::Klaviyo.word(), ..EmailExport::sample(Format::Html) };
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d", "as": "file" }), Done(export))
    }
}

impl Async for PlatformA {
    async fn run(context: Context, input: ExportForPlatform) -> Result<Self::Output, Failure> {
        export_for(&context, &Self::SPEC, Provider::Klaviyo, input).await.map(Done)
    }
}
