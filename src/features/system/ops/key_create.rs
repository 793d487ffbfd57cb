//! Lets the operator create an API key, which is shown once.

use serde_json::Value;

use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, operator};
use crate::features::accounts::key_management::{self, CreatedKeyView, KeyRequest};
use crate::vocab::codes::Code;

pub struct KeyCreate;

impl Operation for KeyCreate {
    const SPEC: Spec =
        Spec::post("system.key_create", "/admin/keys", operator()).summary("Create an API key").fails(&[Code::LimitReached]);
    type Input = KeyRequest;
    type Output = Created<CreatedKeyView>;

    fn example() -> (Value, Self::Output) {
        let (input, view) = CreatedKeyView::sample();
        (input, Created(view))
    }
}

impl Async for KeyCreate {
    async fn run(context: Context, input: KeyRequest) -> Result<Self::Output, Failure> {
        Ok(Created(key_management::create(&context, Self::SPEC.id, None, input).await?))
    }
}
