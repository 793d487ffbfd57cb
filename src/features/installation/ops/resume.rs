//! Resume sending after a restore or on a copy.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{own_account, resume};
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, manager};
use crate::features::installation::waiting::HoldView;

/// `installation.resume`
pub struct Resume;

/// Nothing to choose: cancel what should not go out before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ResumeSending")]
pub struct Nothing {}

impl Operation for Resume {
    const SPEC: Spec = Spec::post("installation.resume", "/v1/system/hold/resume", manager())
        .summary("Resume sending")
        .about(
            "Ends the hold: everything that waits goes out. The answer states what waited, and so what may arrive twice. A repeat, or a \
             call while sending is not on hold, changes nothing. Only the installation's own account, which is the first one, may call this.",
        );
    type Input = Nothing;
    type Output = Done<HoldView>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(HoldView { on_hold: false, ..HoldView::sample() }))
    }
}

impl Outward for Resume {
    async fn run(context: Context, _: Nothing) -> Result<Self::Output, Failure> {
        let account = own_account(&context)?;
        resume(&context, Some(account), &Self::SPEC).await.map(Done)
    }
}
