//! Returns the state of the session that makes the request, and the user of the session.

use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, signed_in};
use crate::features::accounts::second_factor;
use crate::features::accounts::user_views::SessionState;

pub struct State;

impl Operation for State {
    const SPEC: Spec = Spec::get("accounts.session", "/v1/auth/session", signed_in()).summary("Get the current session");
    type Input = NoInput;
    type Output = Done<SessionState>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(SessionState::sample()))
    }
}

impl Query for State {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let who = view.caller.user_session()?;
        Ok(Done(SessionState::new(who, second_factor::recovery_left(view.tx, who.user.id)?, view.now)))
    }
}
