//! Lets the owner and admins create an API key, which is shown once.

use serde_json::Value;

use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, manager};
use crate::features::accounts::key_management::{self, CreatedKeyView, KeyRequest};
use crate::vocab::codes::Code;

pub struct KeyCreate;

impl Operation for KeyCreate {
    const SPEC: Spec = Spec::post("accounts.key_create", "/v1/account/keys", manager())
        .summary("Create an API key")
        .about("The key is shown only in this response.")
        .fails(&[Code::LimitReached, Code::NotFound]);
    type Input = KeyRequest;
    type Output = Created<CreatedKeyView>;

    fn example() -> (Value, Self::Output) {
        let (input, view) = CreatedKeyView::sample();
        (input, Created(view))
    }
}

impl Async for KeyCreate {
    async fn run(context: Context, input: KeyRequest) -> Result<Self::Output, Failure> {
        let account = Some(context.caller.account());
        Ok(Created(key_management::create(&context, Self::SPEC.id, account, input).await?))
    }
}
