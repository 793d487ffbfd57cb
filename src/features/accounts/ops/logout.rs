//! Ends the session that makes the request.

use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::user_views::Ack;
use crate::features::accounts::{api_keys, sessions};

pub struct Logout;

impl Operation for Logout {
    const SPEC: Spec = Spec::post("accounts.logout", "/v1/auth/logout", signed_in())
        .summary("Sign out")
        .about("The session and its token stop working immediately.");
    type Input = NoInput;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Ack::DONE))
    }
}

impl Async for Logout {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let (user, own, engine) = (who.user.id, who.session.id, context.engine.clone());
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let inside = engine.clone();
        let write = move |tx: &mut WriteTx<'_>| {
            sessions::end(tx, &inside, user, |session| session.id == own);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        sessions::forget(&engine, user, |session| session.id == own);
        Ok(Done(Ack::DONE))
    }
}
