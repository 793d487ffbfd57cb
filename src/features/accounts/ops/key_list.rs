//! Lists the API keys of the account, for the owner and admins.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::accounts::ops::list_keys::Keys;
use crate::features::accounts::views::{self, KeyView};
use crate::features::accounts::{store, usage};

/// `accounts.key_list`
pub struct KeyList;

impl Operation for KeyList {
    const SPEC: Spec = Spec::get("accounts.key_list", "/v1/account/keys", manager())
        .summary("List the API keys")
        .about("Newest first. Revoked keys stay in the list for 90 days.");
    type Input = NoInput;
    type Output = Done<Keys>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Keys { keys: vec![KeyView::sample()] }))
    }
}

impl Async for KeyList {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        usage::flush(&context.engine).await?;
        let account = context.caller.account();
        let tx = context.engine.control.read();
        let mut keys = store::keys(&tx)?;
        keys.retain(|key| key.account == account);
        keys.sort_by_key(|key| std::cmp::Reverse(key.created_at));
        let views = keys.into_iter().map(|key| {
            let usage = store::usage(&tx, key.id)?;
            Ok(views::view(key, usage))
        });
        Ok(Done(Keys { keys: views.collect::<Result<_, Failure>>()? }))
    }
}
