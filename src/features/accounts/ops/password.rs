//! Changes the signed-in user's password. The user must also enter the current password.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::authenticate::{self, Credentials};
use crate::features::accounts::members;
use crate::features::accounts::model::Password;
use crate::features::accounts::user_views::Ack;
use crate::vocab::codes::Code;

pub struct ChangePassword;

/// The user's current credentials, and the new password.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPassword {
    pub current: Secret,
    /// The code from the authenticator app, or a recovery code. Required if the user has set up an app.
    pub code: Option<String>,
    pub password: Password,
}

impl Operation for ChangePassword {
    const SPEC: Spec = Spec::put("accounts.password", "/v1/auth/password", signed_in())
        .summary("Change your password")
        .about("Ends all your other sessions and invalidates your password-reset links.")
        .fails(&[Code::SignInFailed, Code::SecondFactorRequired]);
    type Input = NewPassword;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "current": "correct horse battery", "password": "staple and more of it" });
        (input, Done(Ack::DONE))
    }
}

impl Async for ChangePassword {
    async fn run(context: Context, input: NewPassword) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let proof = Credentials { password: input.current, code: input.code };
        let user = authenticate::verify(&context, &who.user.email, proof).await?;
        let kept = Some(who.session.id);
        members::set_password(&context, user.id, input.password, kept, Self::SPEC.id, None).await?;
        Ok(Done(Ack::DONE))
    }
}
