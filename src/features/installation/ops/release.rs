//! The same for the operator: show what waits, and resume sending once that was confirmed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{look, resume};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::installation::held_work::SendingHold;

/// `installation.release`
pub struct Release;

/// Whether it was decided.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseHold {
    /// False: only show what waits.
    pub confirm: bool,
}

impl Operation for Release {
    const SPEC: Spec = Spec::post("installation.release", "/admin/resume", operator())
        .summary("Show what waits for the end of the hold, or resume sending")
        .about("The answer states what may arrive twice.");
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
            false => look(&context, None).await.map(Done),
        }
    }
}
