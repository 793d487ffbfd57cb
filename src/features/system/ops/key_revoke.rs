//! Lets the operator revoke an API key. The next request with this key fails.

use serde_json::Value;

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::accounts::key_management::{self, KeyRef, KeyView};
use crate::vocab::codes::Code;

pub struct KeyRevoke;

impl Operation for KeyRevoke {
    const SPEC: Spec =
        Spec::delete("system.key_revoke", "/admin/keys/{id}", operator()).summary("Revoke an API key").fails(&[Code::NotFound]);
    type Input = KeyRef;
    type Output = Done<KeyView>;

    fn example() -> (Value, Self::Output) {
        let (input, view) = KeyRef::sample();
        (input, Done(view))
    }
}

impl Async for KeyRevoke {
    async fn run(context: Context, input: KeyRef) -> Result<Self::Output, Failure> {
        Ok(Done(key_management::revoke(&context, Self::SPEC.id, None, input).await?))
    }
}
