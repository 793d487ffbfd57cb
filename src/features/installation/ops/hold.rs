//! Whether sending is on hold, and what waits.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{look, own_account};
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, manager};
use crate::features::installation::waiting::HoldView;

/// `installation.hold`
pub struct Hold;

/// Nothing to choose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WhichHold")]
pub struct Nothing {}

impl Operation for Hold {
    const SPEC: Spec = Spec::get("installation.hold", "/v1/system/hold", manager())
        .summary("Read whether sending is on hold")
        .about(
            "After a restore, or on a copy of a data folder, campaigns in progress, retries, schedules and webhook deliveries wait until \
             sending is resumed: the folder that the data was saved from may have sent them since. New sends and newly launched campaigns \
             go out as usual. Only the installation's own account, which is the first one, may call this.",
        );
    type Input = Nothing;
    type Output = Done<HoldView>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(HoldView::sample()))
    }
}

impl Outward for Hold {
    async fn run(context: Context, _: Nothing) -> Result<Self::Output, Failure> {
        let account = own_account(&context)?;
        look(&context, Some(account)).await.map(Done)
    }
}
