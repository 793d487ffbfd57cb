//! Lets the owner and admins revoke an API key.

use serde_json::Value;

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts::key_management::{self, KeyRef, KeyView};
use crate::vocab::codes::Code;

pub struct KeyRevoke;

impl Operation for KeyRevoke {
    const SPEC: Spec = Spec::delete("accounts.key_revoke", "/v1/account/keys/{id}", manager())
        .summary("Revoke an API key")
        .about("The next request with this key fails.")
        .fails(&[Code::NotFound]);
    type Input = KeyRef;
    type Output = Done<KeyView>;

    fn example() -> (Value, Self::Output) {
        let (input, view) = KeyRef::sample();
        (input, Done(view))
    }
}

impl Async for KeyRevoke {
    async fn run(context: Context, input: KeyRef) -> Result<Self::Output, Failure> {
        let account = Some(context.caller.account());
        Ok(Done(key_management::revoke(&context, Self::SPEC.id, account, input).await?))
    }
}
