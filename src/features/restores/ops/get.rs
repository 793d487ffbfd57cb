//! Returns the installation's newest restore.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::accounts;
use crate::features::restores::requests;
use crate::features::restores::views::{RestoreStatus, RestoreView};

pub struct Get;

impl Operation for Get {
    const SPEC: Spec = Spec::get("restores.get", "/v1/system/restores", manager())
        .summary("Get the newest restore of a brand")
        .about("Only the installation's own account, which is the first account, may use this operation.");
    type Input = NoInput;
    type Output = Done<RestoreStatus>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(RestoreStatus { restore: Some(RestoreView::completed_sample()) }))
    }
}

impl Async for Get {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        accounts::require_installations(&context.engine.control.read(), account)?;
        let reading = tokio::task::spawn_blocking(move || requests::shown(&context, Some(account)));
        Ok(Done(RestoreStatus { restore: reading.await.map_err(Failure::internal)?? }))
    }
}
