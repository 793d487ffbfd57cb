//! Returns whether the process is running and responds.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, public};

pub struct Live;

/// Confirms that the process responds.
#[derive(Serialize, JsonSchema)]
pub struct LiveView {
    /// The status, which is always `live`.
    pub status: &'static str,
}

impl Operation for Live {
    const SPEC: Spec = Spec::get("system.live", "/health/live", public()).summary("Check that the process responds").about(
        "Use this check in supervisors and proxies: a service that is not ready still serves reads and unsubscribe links. Requests \
         do not count against a request budget.",
    );
    type Input = NoInput;
    type Output = Done<LiveView>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(LiveView { status: "live" }))
    }
}

impl Query for Live {
    fn run(_: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(Done(LiveView { status: "live" }))
    }
}
