//! Shows the waiting work to the operator and resumes sending after the operator confirms.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{hold_view, resume};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::installation::held_work::SendingHold;

pub struct Release;

/// Whether to resume sending.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseHold {
    /// Whether to resume sending. If false, only the waiting work is shown.
    pub confirm: bool,
}

impl Operation for Release {
    const SPEC: Spec = Spec::post("installation.release", "/admin/resume", operator())
        .summary("Show the held work, or resume sending")
        .about("The response describes which messages may be sent twice.");
    type Input = ReleaseHold;
    type Output = Done<SendingHold>;

    fn example() -> (Value, Self::Output) {
        (json!({ "confirm": false }), Done(SendingHold::sample()))
    }
}

impl Async for Release {
    async fn run(context: Context, input: ReleaseHold) -> Result<Self::Output, Failure> {
        match input.confirm {
            true => resume(&context, None, &Self::SPEC).await.map(Done),
            false => hold_view(&context, None).await.map(Done),
        }
    }
}
