//! Removes the signed-in user's authenticator app.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::store::sign_in;
use crate::features::accounts::user_views::Ack;
use crate::vocab::codes::Code;

pub struct TotpRemove;

impl Operation for TotpRemove {
    const SPEC: Spec = Spec::delete("accounts.totp_remove", "/v1/auth/totp", signed_in())
        .summary("Remove the authenticator app")
        .about("Needs a recent sign-in. Also deletes the recovery codes.")
        .fails(&[Code::FreshSignInRequired]);
    type Input = NoInput;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Ack::DONE))
    }
}

impl Async for TotpRemove {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let user = context.caller.proven(context.now())?.user.id;
        let write = move |tx: &mut WriteTx<'_>| {
            sign_in::delete_second_factor(tx, user);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(Ack::DONE))
    }
}
