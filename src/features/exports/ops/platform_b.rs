//! Export emails to platform B.

use serde_json::{Value, json};

use super::not_connected;
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, needs};
use crate::features::exports::views::{ExportView, Wanted};
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;

/// `exports.platform_b`
pub struct PlatformB;

impl Operation for PlatformB {
    const SPEC: Spec = Spec::get("exports.platform_b", "/v1/export/platform_b/{conversationId}", needs(READER))
        .summary("Export emails to platform B")
        .about("Answers 409 with data.connectUrl until an account of the platform is connected.")
        .fails(&[Code::NotFound, Code::ProviderNotConnected]);
    type Input = Wanted;
    type Output = Done<ExportView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(ExportView::sample(Format::Html)))
    }
}

impl Outward for PlatformB {
    async fn run(context: Context, input: Wanted) -> Result<Self::Output, Failure> {
        Err(not_connected(&context, input, "platform_b").await)
    }
}
