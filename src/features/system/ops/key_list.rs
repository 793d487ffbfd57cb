//! Lists the API keys of the installation (`assets/docs/authentication.md`).

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, operator};
use crate::features::accounts::key_management::{self, Keys};

pub struct KeyList;

impl Operation for KeyList {
    const SPEC: Spec = Spec::get("system.key_list", "/admin/keys", operator()).summary("List the API keys");
    type Input = NoInput;
    type Output = Done<Keys>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Keys::sample()))
    }
}

impl Async for KeyList {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(Done(key_management::list(&context.engine, None).await?))
    }
}
