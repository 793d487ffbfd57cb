//! Lists the API keys of the account. Only the owner and admins can list them.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::accounts::key_management::{self, Keys};

pub struct KeyList;

impl Operation for KeyList {
    const SPEC: Spec = Spec::get("accounts.key_list", "/v1/account/keys", manager())
        .summary("List the API keys")
        .about("Lists API keys, newest first. Revoked keys stay in the list for 90 days.");
    type Input = NoInput;
    type Output = Done<Keys>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Keys::sample()))
    }
}

impl Async for KeyList {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(Done(key_management::list(&context.engine, Some(context.caller.account())).await?))
    }
}
