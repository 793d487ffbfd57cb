//! A new password by a one-time link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, public};
use crate::features::accounts::model::Password;
use crate::features::accounts::people_views::Accomplished;
use crate::features::accounts::{members, people_store};
use crate::vocab::codes::Code;

/// `accounts.reset`
pub struct Reset;

/// The link and the new password.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ByLink {
    pub token: String,
    pub password: Password,
}

impl Operation for Reset {
    const SPEC: Spec = Spec::post("accounts.reset", "/v1/auth/reset", public())
        .summary("Set a new password by a link")
        .about("The token is the last part of the link. It works once; all sessions of the person end.")
        .fails(&[Code::NotFound]);
    type Input = ByLink;
    type Output = Done<Accomplished>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "token": "0123456789abcdefghijABCDEFGHIJ01", "password": "correct horse battery" });
        (input, Done(Accomplished::YES))
    }
}

impl Outward for Reset {
    async fn run(context: Context, input: ByLink) -> Result<Self::Output, Failure> {
        let digest = sha256(input.token.as_bytes());
        // Known before the work of hashing; the transaction asks again.
        let link =
            people_store::reset_link(&context.engine.control.read(), digest, context.now())?.ok_or_else(members::dead_link)?;
        members::set_password(&context, link.user, input.password, None, Self::SPEC.id, Some(digest)).await?;
        Ok(Done(Accomplished::YES))
    }
}
