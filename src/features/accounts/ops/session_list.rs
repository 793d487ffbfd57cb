//! Lists the sessions of the signed-in user.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, signed_in};
use crate::features::accounts::store::sign_in;
use crate::features::accounts::user_views::SessionView;

pub struct SessionList;

/// A list of your sessions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionList")]
pub struct Sessions {
    pub sessions: Vec<SessionView>,
}

impl Operation for SessionList {
    const SPEC: Spec = Spec::get("accounts.session_list", "/v1/auth/sessions", signed_in())
        .summary("List your sessions")
        .about("Lists the browsers and programs in which you are signed in, most recently used first.");
    type Input = NoInput;
    type Output = Done<Sessions>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Sessions { sessions: vec![SessionView::sample()] }))
    }
}

impl Query for SessionList {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let who = view.caller.user_session()?;
        let mut cached = view.caller.engine.sessions.sessions();
        cached.retain(|entry| entry.user == who.user.id && entry.works(view.now));
        cached.sort_by_key(|entry| std::cmp::Reverse(entry.seen_at.get()));
        let mut sessions = Vec::with_capacity(cached.len());
        for entry in cached {
            if let Some(session) = sign_in::session(view.tx, entry.id)? {
                sessions.push(SessionView::new(session, entry.seen_at.get(), who.session.id));
            }
        }
        Ok(Done(Sessions { sessions }))
    }
}
