//! Lists agents' requests for keys.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, signed_in};
use crate::features::accounts::agents;
use crate::features::accounts::agents::model::{Claim, State};
use crate::features::accounts::agents::views::{self, ApprovalView};
use crate::features::accounts::store::{self, claims};

pub struct ApprovalList;

/// A list of requests, newest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ApprovalList")]
pub struct Approvals {
    pub approvals: Vec<ApprovalView>,
}

impl Operation for ApprovalList {
    const SPEC: Spec =
        Spec::get("accounts.approval_list", "/v1/account/approvals", signed_in()).summary("List agent requests").about(
            "Returns requests that await your decision and requests that you decided. The owner and admins see all decided requests.",
        );
    type Input = NoInput;
    type Output = Done<Approvals>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Approvals { approvals: vec![ApprovalView::sample()] }))
    }
}

impl Query for ApprovalList {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let who = view.caller.user_session()?;
        let account = view.caller.account();
        let is_shown = |claim: &Claim| match claim.decision() {
            None => agents::is_for(claim, who) && view.now < claim.expires_at,
            Some(decision) if who.user.role.manages() => decision.account == account,
            Some(decision) => decision.user == who.user.id,
        };
        let mut approvals = Vec::new();
        for claim in claims::newest(view.tx, is_shown)? {
            let decided_by = match claim.decision().map(|decision| decision.user) {
                Some(user) => match store::user(view.tx, user)? {
                    Some(user) => Some(user.email),
                    None => store::former_member(view.tx, user)?.map(|former| former.email),
                },
                None => None,
            };
            let key_works = match &claim.state {
                State::KeyIssued(_, _, key) => store::key(view.tx, *key)?.is_some_and(|key| key.revoked_at.is_none()),
                State::Waiting | State::Denied(_) | State::Approved(..) => false,
            };
            approvals.push(views::view(claim, view.now, decided_by, key_works));
        }
        Ok(Done(Approvals { approvals }))
    }
}
