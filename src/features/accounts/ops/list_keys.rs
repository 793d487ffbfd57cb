//! Lists the API keys of the installation (`assets/docs/authentication.md`).

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, operator};
use crate::features::accounts::views::{self, KeyView};
use crate::features::accounts::{store, usage};

pub struct ListKeys;

/// All keys, newest first. Revoked keys stay in the list for 90 days.
#[derive(Serialize, JsonSchema)]
pub struct Keys {
    pub keys: Vec<KeyView>,
}

impl Operation for ListKeys {
    const SPEC: Spec = Spec::get("accounts.list_keys", "/admin/keys", operator()).summary("List the API keys");
    type Input = NoInput;
    type Output = Done<Keys>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Keys { keys: vec![KeyView::sample()] }))
    }
}

impl Async for ListKeys {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        // Includes requests counted in memory that have not been written yet.
        usage::flush(&context.engine).await?;
        let tx = context.engine.control.read();
        let mut keys = store::keys(&tx)?;
        keys.sort_by_key(|key| std::cmp::Reverse(key.created_at));
        let views = keys.into_iter().map(|key| {
            let usage = store::usage(&tx, key.id)?;
            Ok(views::view(key, usage))
        });
        Ok(Done(Keys { keys: views.collect::<Result<_, Failure>>()? }))
    }
}
