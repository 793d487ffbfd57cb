//! Creates a secret for an authenticator app. Sign-in requires its codes only once it is confirmed.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, signed_in};
use crate::features::accounts::{second_factor, user_store};
use crate::vocab::codes::Code;

/// `accounts.totp_begin`
pub struct TotpBegin;

/// The secret for the app.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppSecret {
    /// The secret as text to type into the app.
    pub secret: String,
    /// The secret as a URI that apps read, also from a QR code.
    pub uri: String,
}

impl Operation for TotpBegin {
    const SPEC: Spec = Spec::post("accounts.totp_begin", "/v1/auth/totp", signed_in())
        .summary("Set up an authenticator app")
        .about("Needs a recent sign-in. Nothing changes until you confirm it with a code from the app.")
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
                return Err(Failure::because(Code::WrongState, "An authenticator app is already set up; remove it first."));
            }
            user_store::save_second_factor(tx, user, &factor);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(AppSecret { secret: secret.expose().clone(), uri }))
    }
}
