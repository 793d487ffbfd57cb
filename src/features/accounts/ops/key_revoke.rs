//! Revokes an API key, for the owner and admins.

use serde_json::Value;

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts::ops::revoke_key::{KeyRef, RevokeKey};
use crate::features::accounts::views::{self, KeyView};
use crate::features::accounts::{api_keys, store};
use crate::vocab::codes::Code;

/// `accounts.key_revoke`
pub struct KeyRevoke;

impl Operation for KeyRevoke {
    const SPEC: Spec = Spec::delete("accounts.key_revoke", "/v1/account/keys/{id}", manager())
        .summary("Revoke an API key")
        .about("The next request with it fails.")
        .fails(&[Code::NotFound]);
    type Input = KeyRef;
    type Output = Done<KeyView>;

    fn example() -> (Value, Self::Output) {
        RevokeKey::example()
    }
}

impl Async for KeyRevoke {
    async fn run(context: Context, input: KeyRef) -> Result<Self::Output, Failure> {
        let prefix = input.prefix()?;
        let act = (context.caller.act(Self::SPEC.id), context.envelope);
        let key = api_keys::revoke_key(&context.engine, Some(context.caller.account()), prefix, act).await?;
        let usage = store::usage(&context.engine.control.read(), key.id)?;
        Ok(Done(views::view(key, usage)))
    }
}
