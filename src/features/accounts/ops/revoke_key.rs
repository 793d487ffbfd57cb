//! Revokes an API key, starting with the next request.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::accounts::views::{self, KeyView};
use crate::features::accounts::{api_keys, store};
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct RevokeKey;

/// Selects a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRef {
    /// The key's id, or its beginning with at least the 8 characters that lists show.
    #[schemars(length(min = limits::KEY_ID_CHARACTERS_SHOWN, max = 24))]
    pub id: String,
}

impl KeyRef {
    /// The given beginning of the id.
    pub fn prefix(self) -> Result<String, Failure> {
        let shown = limits::KEY_ID_CHARACTERS_SHOWN;
        if !(shown..=24).contains(&self.id.len()) {
            return Err(Failure::field("id", format_args!("give at least the {shown} characters that the list of keys shows")));
        }
        Ok(self.id)
    }
}

impl Operation for RevokeKey {
    const SPEC: Spec =
        Spec::delete("accounts.revoke_key", "/admin/keys/{id}", operator()).summary("Revoke an API key").fails(&[Code::NotFound]);
    type Input = KeyRef;
    type Output = Done<KeyView>;

    fn example() -> (Value, Self::Output) {
        let view = KeyView { revoked_at: Some(crate::engine::api::response::WireTime::sample()), ..KeyView::sample() };
        (json!({ "id": "9c1185a5" }), Done(view))
    }
}

impl Async for RevokeKey {
    async fn run(context: Context, input: KeyRef) -> Result<Self::Output, Failure> {
        let key =
            api_keys::revoke_key(&context.engine, None, input.prefix()?, (context.caller.act(Self::SPEC.id), context.envelope))
                .await?;
        let usage = store::usage(&context.engine.control.read(), key.id)?;
        Ok(Done(views::view(key, usage)))
    }
}
