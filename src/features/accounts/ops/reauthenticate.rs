//! Authenticates a user again before an action that requires a recent sign-in.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::authenticate::{self, Credentials};
use crate::features::accounts::second_factor;
use crate::features::accounts::user_views::SessionState;
use crate::vocab::codes::Code;

pub struct Reauthenticate;

/// The credentials of the signed-in user.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    pub password: Secret,
    /// The code from the authenticator app, or a recovery code. Required if the user has set up an app.
    pub code: Option<String>,
}

impl Operation for Reauthenticate {
    const SPEC: Spec = Spec::post("accounts.reauthenticate", "/v1/auth/confirm", signed_in())
        .summary("Confirm your password")
        .about("For the next ten minutes, the session can use operations that need a recent sign-in.")
        .fails(&[Code::SignInFailed, Code::SecondFactorRequired]);
    type Input = Confirmation;
    type Output = Done<SessionState>;

    fn example() -> (Value, Self::Output) {
        (json!({ "password": "correct horse battery" }), Done(SessionState::sample()))
    }
}

impl Async for Reauthenticate {
    async fn run(context: Context, input: Confirmation) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let credentials = Credentials { password: input.password, code: input.code };
        authenticate::verify(&context, &who.user.email, credentials).await?;
        context.write(&Self::SPEC, |_| Ok(())).await?;
        who.session.proven_at.to(context.now());
        let recovery_left = second_factor::recovery_left(&context.engine.control.read(), who.user.id)?;
        Ok(Done(SessionState::new(who, recovery_left, context.now())))
    }
}
