//! Confirms an authenticator app with its first code. After that, sign-in requires codes from the app.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::access::throttle::ThrottleKey;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, attempts, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::store::sign_in;
use crate::features::accounts::{authenticate, second_factor};
use crate::vocab::codes::Code;

pub struct TotpConfirm;

/// The first code from the authenticator app.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstCode {
    /// The code that the app shows.
    pub code: String,
}

/// Recovery codes, which the user enters instead of codes from the authenticator app if the app is lost.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryCodes {
    pub recovery_codes: Vec<String>,
}

impl Operation for TotpConfirm {
    const SPEC: Spec = Spec::post("accounts.totp_confirm", "/v1/auth/totp/confirm", signed_in())
        .summary("Confirm the authenticator app")
        .about("Returns recovery codes, shown only in this response. Each recovery code can replace a code from the app once.")
        .fails(&[Code::FreshSignInRequired, Code::WrongState, Code::SignInFailed]);
    type Input = FirstCode;
    type Output = Done<RecoveryCodes>;

    fn example() -> (Value, Self::Output) {
        (json!({ "code": "287082" }), Done(RecoveryCodes { recovery_codes: vec!["BCDF-GHJK-LMNP".into()] }))
    }
}

impl Async for TotpConfirm {
    async fn run(context: Context, input: FirstCode) -> Result<Self::Output, Failure> {
        let user = context.caller.proven(context.now())?.user.id;
        let name: [ThrottleKey; 1] = [(&authenticate::BY_ACCOUNT, user.to_string())];
        attempts::count(&context.engine, &name).await?;
        let engine = context.engine.clone();
        let write = move |tx: &mut WriteTx<'_>| {
            let problem = match sign_in::second_factor(tx, user)? {
                Some(factor) if !factor.is_confirmed => None,
                Some(_) => Some("An authenticator app is already confirmed. To use another app, remove the confirmed app first."),
                None => Some("No authenticator app is waiting to be confirmed. Set up an app first."),
            };
            if let Some(problem) = problem {
                return Err(Failure::because(Code::WrongState, problem));
            }
            if !second_factor::accept(tx, &engine.seal, user, &input.code)? {
                return Err(Failure::because(
                    Code::SignInFailed,
                    "The code is wrong or was used before. Enter the current code, and check that your phone's clock is correct.",
                ));
            }
            let mut factor = sign_in::second_factor(tx, user)?.ok_or(Code::WrongState)?;
            factor.is_confirmed = true;
            let codes = second_factor::renew_recovery(&mut factor, tx.random());
            sign_in::save_second_factor(tx, user, &factor);
            Ok(codes)
        };
        let recovery_codes = context.write(&Self::SPEC, write).await?;
        attempts::forgive(&context.engine, &name, &[]).await?;
        Ok(Done(RecoveryCodes { recovery_codes }))
    }
}
