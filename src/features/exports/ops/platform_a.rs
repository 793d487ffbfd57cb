//! Export emails to platform A.

use serde_json::{Value, json};

use super::not_connected;
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, needs};
use crate::features::exports::views::{ExportView, Wanted};
use crate::features::exports::{Format, READER};
use crate::vocab::codes::Code;

/// `exports.platform_a`
pub struct PlatformA;

impl Operation for PlatformA {
    const SPEC: Spec = Spec::get("exports.platform_a", "/v1/export/platform_a/{conversationId}", needs(READER))
        .summary("Export emails to platform A")
        .about("Answers 409 with data.connectUrl until an account of the platform is connected.")
        .fails(&[Code::NotFound, Code::ProviderNotConnected]);
    type Input = Wanted;
    type Output = Done<ExportView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "conversationId": "66f1a2b3d4e5f60718293a4d" }), Done(ExportView::sample(Format::Html)))
    }
}

impl Outward for PlatformA {
    async fn run(context: Context, input: Wanted) -> Result<Self::Output, Failure> {
        Err(not_connected(&context, input, "platform_a").await)
    }
}
