//! The operator's version: shows the waiting work, and resumes sending once confirmed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{look, resume};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::installation::held_work::SendingHold;

/// `installation.release`
pub struct Release;

/// Whether to resume.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseHold {
    /// False: only show the waiting work.
    pub confirm: bool,
}

impl Operation for Release {
    const SPEC: Spec = Spec::post("installation.release", "/admin/resume", operator())
        .summary("Show the held work, or resume sending")
        .about("The response states what may arrive twice.");
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
