//! A secret for an authenticator app, asked for at sign-ins only after it was confirmed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, signed_in};
use crate::features::accounts::{second_factor, user_store};
use crate::vocab::codes::Code;

/// `accounts.totp_begin`
pub struct TotpBegin;

/// What the app is given.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppSecret {
    /// To be typed into the app.
    pub secret: String,
    /// The same as an address that apps understand, also as a QR code.
    pub uri: String,
}

impl Operation for TotpBegin {
    const SPEC: Spec = Spec::post("accounts.totp_begin", "/v1/auth/totp", signed_in())
        .summary("Begin to use an authenticator app")
        .about("Needs a fresh sign-in. Confirm with a code of the app; until then nothing changes.")
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
            if user_store::second_factor(tx, user)?.is_some_and(|factor| factor.is_confirmed) {
                return Err(Failure::because(Code::WrongState, "An authenticator app is in use; remove it first."));
            }
            user_store::save_second_factor(tx, user, &factor);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(AppSecret { secret: secret.expose().clone(), uri }))
    }
}
