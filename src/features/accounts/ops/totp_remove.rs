//! No authenticator app any more.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::people_store;
use crate::features::accounts::people_views::Accomplished;
use crate::vocab::codes::Code;

/// `accounts.totp_remove`
pub struct TotpRemove;

/// Nothing to choose.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {}

impl Operation for TotpRemove {
    const SPEC: Spec = Spec::delete("accounts.totp_remove", "/v1/auth/totp", signed_in())
        .summary("Stop using the authenticator app")
        .about("Needs a fresh sign-in. Its recovery codes go with it.")
        .fails(&[Code::FreshSignInRequired]);
    type Input = Wanted;
    type Output = Done<Accomplished>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Accomplished::YES))
    }
}

impl Outward for TotpRemove {
    async fn run(context: Context, _: Wanted) -> Result<Self::Output, Failure> {
        let user = context.caller.proven(context.now())?.person.id;
        let write = move |tx: &mut WriteTx<'_>| {
            people_store::delete_second_factor(tx, user);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(Accomplished::YES))
    }
}
