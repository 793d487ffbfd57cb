//! Discards a restore before a brand is brought back.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::accounts;
use crate::features::restores::requests;
use crate::vocab::codes::Code;

pub struct Discard;

/// The confirmation that a restore was discarded.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiscardResult {
    pub message: &'static str,
}

impl Operation for Discard {
    const SPEC: Spec = Spec::delete("restores.discard", "/v1/system/restores", manager())
        .summary("Discard a restore")
        .about(
            "Removes the temporary folder, and changes nothing else. A restore that is copying a brand cannot be discarded. Only the \
             installation's own account, which is the first account, may use this operation.",
        )
        .fails(&[Code::WrongState]);
    type Input = NoInput;
    type Output = Done<DiscardResult>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(discarded()))
    }
}

fn discarded() -> DiscardResult {
    DiscardResult { message: "The restore was discarded, if there was one." }
}

impl Async for Discard {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        accounts::require_installations(&context.engine.control.read(), account)?;
        requests::discard(&context, &Self::SPEC, Some(account)).await?;
        Ok(Done(discarded()))
    }
}
