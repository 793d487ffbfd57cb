//! Returns whether sending is on hold, and the waiting work.

use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, manager};
use crate::features::accounts;
use crate::features::installation::held_work::{self, SendingHold};

pub struct Hold;

impl Operation for Hold {
    const SPEC: Spec = Spec::get("installation.hold", "/v1/system/hold", manager())
        .summary("Get the sending hold")
        .about(
            "After a restore, or on a copy of a data folder, campaigns in progress, retries, schedules, webhook deliveries, imports from \
             other services and email generations wait until sending is resumed, because the original installation may already have \
             continued this work. New sends, newly launched campaigns and new generations run as usual. Only the installation's own \
             account, which is the first account, may use this operation.",
        )
        .blocking();
    type Input = NoInput;
    type Output = Done<SendingHold>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(SendingHold::sample()))
    }
}

impl Query for Hold {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        accounts::require_installations(view.tx, account)?;
        Ok(Done(held_work::view(&view.caller.engine, Some(account))?))
    }
}
