//! Creates a secret for an authenticator app. Sign-in requires codes from the app only after the user confirms the app with its first
//! code.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, signed_in};
use crate::features::accounts::second_factor;
use crate::features::accounts::store::sign_in;
use crate::vocab::codes::Code;

pub struct TotpBegin;

/// The secret for setting up an authenticator app.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppSecret {
    /// The secret as text that the user can type into the app.
    pub secret: String,
    /// The secret as a URI that apps can read directly or from a QR code.
    pub uri: String,
}

impl Operation for TotpBegin {
    const SPEC: Spec = Spec::post("accounts.totp_begin", "/v1/auth/totp", signed_in())
        .summary("Set up an authenticator app")
        .about("Needs a recent sign-in. Sign-in does not change until you confirm the app with a code.")
        .fails(&[Code::FreshSignInRequired, Code::WrongState]);
    type Input = NoInput;
    type Output = Done<AppSecret>;

    fn example() -> (Value, Self::Output) {
        let uri = "otpauth://totp/Mailmill:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Mailmill".into();
        (json!({}), Done(AppSecret { secret: "JBSWY3DPEHPK3PXP".into(), uri }))
    }
}

impl Async for TotpBegin {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let who = context.caller.proven(context.now())?;
        let user = who.user.id;
        let (factor, secret) = second_factor::begin(&context.engine.seal, user, context.engine.random.as_ref());
        let uri = second_factor::address(&secret, &who.user.email)?;
        let write = move |tx: &mut crate::engine::store::WriteTx<'_>| {
            if sign_in::second_factor(tx, user)?.is_some_and(|factor| factor.is_confirmed) {
                return Err(Failure::because(Code::WrongState, "An authenticator app is already set up. Remove that app first."));
            }
            sign_in::save_second_factor(tx, user, &factor);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(AppSecret { secret: secret.expose().clone(), uri }))
    }
}
