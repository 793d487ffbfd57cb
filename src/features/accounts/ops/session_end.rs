//! Ends one of the signed-in user's sessions.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::user_views::Ack;
use crate::features::accounts::{api_keys, sessions};
use crate::vocab::codes::Code;
use crate::vocab::ids::SessionId;

pub struct SessionEnd;

/// Selects one of your sessions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionRef {
    pub id: SessionId,
}

impl Operation for SessionEnd {
    const SPEC: Spec = Spec::delete("accounts.session_end", "/v1/auth/sessions/{id}", signed_in())
        .summary("End a session")
        .about("The session ends immediately.")
        .fails(&[Code::NotFound]);
    type Input = SessionRef;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "686868686868686868686868" }), Done(Ack::DONE))
    }
}

impl Async for SessionEnd {
    async fn run(context: Context, input: SessionRef) -> Result<Self::Output, Failure> {
        let (user, engine) = (context.caller.user_session()?.user.id, context.engine.clone());
        let _turn = api_keys::CACHE_LOCK.lock().await;
        if !engine.sessions.sessions().iter().any(|session| session.id == input.id && session.user == user) {
            return Err(Code::NotFound.into());
        }
        let inside = engine.clone();
        let write = move |tx: &mut WriteTx<'_>| {
            sessions::end(tx, &inside, user, |session| session.id == input.id);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        sessions::forget(&engine, user, |session| session.id == input.id);
        Ok(Done(Ack::DONE))
    }
}
