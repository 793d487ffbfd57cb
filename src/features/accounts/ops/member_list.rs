//! Lists the members and the open invitations of the account.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, manager};
use crate::features::accounts::second_factor;
use crate::features::accounts::store::{self, sign_in};
use crate::features::accounts::user_views::{InvitationView, MemberView};

pub struct MemberList;

/// The members in order of joining, and the open invitations.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MemberList")]
pub struct Members {
    pub members: Vec<MemberView>,
    pub invitations: Vec<InvitationView>,
}

impl Operation for MemberList {
    const SPEC: Spec =
        Spec::get("accounts.member_list", "/v1/account/members", manager()).summary("List members and invitations");
    type Input = NoInput;
    type Output = Done<Members>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(Members { members: vec![MemberView::sample()], invitations: vec![InvitationView::sample()] }))
    }
}

impl Query for MemberList {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let mut members = Vec::new();
        for user in store::users(view.tx)?.iter().filter(|user| user.account == account) {
            let second_factor = second_factor::is_used(view.tx, user.id)?;
            members.push(MemberView::new(user, second_factor));
        }
        let invitations = sign_in::invitations(view.tx, view.now)?;
        let invitations =
            invitations.iter().filter(|invitation| invitation.account == account).map(InvitationView::new).collect();
        Ok(Done(Members { members, invitations }))
    }
}
