//! Whether the process runs and responds.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, public};

/// `system.live`
pub struct Live;

/// The process responds.
#[derive(Serialize, JsonSchema)]
pub struct LiveView {
    /// Always `live`.
    pub status: &'static str,
}

impl Operation for Live {
    const SPEC: Spec = Spec::get("system.live", "/health/live", public()).summary("Check that the process responds").about(
        "For supervisors and proxies: a service that is not ready still serves reads and unsubscribe \
            links. Does not count against a request budget.",
    );
    type Input = NoInput;
    type Output = Done<LiveView>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(LiveView { status: "live" }))
    }
}

impl Async for Live {
    async fn run(_: Context, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(Done(LiveView { status: "live" }))
    }
}
