//! Returns whether sending is on hold, and the waiting work.

use serde_json::{Value, json};

use super::{look, own_account};
use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::installation::held_work::SendingHold;

/// `installation.hold`
pub struct Hold;

impl Operation for Hold {
    const SPEC: Spec = Spec::get("installation.hold", "/v1/system/hold", manager())
        .summary("Get the sending hold")
        .about(
            "After a restore, or on a copy of a data folder, campaigns in progress, retries, schedules and webhook deliveries wait until \
             sending is resumed: the folder that the data was saved from may have sent them since. New sends and newly launched campaigns \
             go out as usual. Only the installation's own account, which is the first one, may call this.",
        );
    type Input = NoInput;
    type Output = Done<SendingHold>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(SendingHold::sample()))
    }
}

impl Async for Hold {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let account = own_account(&context)?;
        look(&context, Some(account)).await.map(Done)
    }
}
