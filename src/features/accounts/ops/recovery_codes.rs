//! Replaces all recovery codes of the signed-in user with new ones.

use serde_json::{Value, json};

use super::totp_confirm::RecoveryCodes;
use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::second_factor;
use crate::features::accounts::store::sign_in;
use crate::vocab::codes::Code;

pub struct RenewRecoveryCodes;

impl Operation for RenewRecoveryCodes {
    const SPEC: Spec = Spec::post("accounts.recovery_codes", "/v1/auth/totp/recovery-codes", signed_in())
        .summary("Create new recovery codes")
        .about("Needs a recent sign-in. The old codes stop working; the new codes are shown only in this response.")
        .fails(&[Code::FreshSignInRequired, Code::WrongState]);
    type Input = NoInput;
    type Output = Done<RecoveryCodes>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(RecoveryCodes { recovery_codes: vec!["BCDF-GHJK-LMNP".into()] }))
    }
}

impl Async for RenewRecoveryCodes {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let user = context.caller.proven(context.now())?.user.id;
        let write = move |tx: &mut WriteTx<'_>| {
            let factor = sign_in::second_factor(tx, user)?.filter(|factor| factor.is_confirmed);
            let none = || {
                Failure::because(
                    Code::WrongState,
                    "No authenticator app is set up, so there are no recovery codes. Set up an app first.",
                )
            };
            let mut factor = factor.ok_or_else(none)?;
            let codes = second_factor::renew_recovery(&mut factor, tx.random());
            sign_in::save_second_factor(tx, user, &factor);
            Ok(codes)
        };
        Ok(Done(RecoveryCodes { recovery_codes: context.write(&Self::SPEC, write).await? }))
    }
}
