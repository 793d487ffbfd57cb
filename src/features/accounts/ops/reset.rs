//! Sets a new password with a one-time password-reset link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, public};
use crate::features::accounts::members;
use crate::features::accounts::model::Password;
use crate::features::accounts::store::sign_in;
use crate::features::accounts::user_views::Ack;
use crate::vocab::codes::Code;

pub struct Reset;

/// The token from the password-reset link, and the new password.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResetRequest {
    pub token: String,
    pub password: Password,
}

impl Operation for Reset {
    const SPEC: Spec = Spec::post("accounts.reset", "/v1/auth/reset", public())
        .summary("Set a new password with a link")
        .about(
            "The token is the last part of the link. Each link works once. Setting the password ends all of the user's sessions.",
        )
        .fails(&[Code::NotFound]);
    type Input = ResetRequest;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "token": "0123456789abcdefghijABCDEFGHIJ01", "password": "correct horse battery" });
        (input, Done(Ack::DONE))
    }
}

impl Async for Reset {
    async fn run(context: Context, input: ResetRequest) -> Result<Self::Output, Failure> {
        let digest = sha256(input.token.as_bytes());
        // Check the link before the costly password hashing; the transaction checks the link again.
        let link =
            sign_in::reset_link(&context.engine.control.read(), digest, context.now())?.ok_or_else(members::link_not_found)?;
        members::set_password(&context, link.user, input.password, None, Self::SPEC.id, Some(digest)).await?;
        Ok(Done(Ack::DONE))
    }
}
