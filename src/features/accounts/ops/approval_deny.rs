//! Denies an agent's request.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::agents;
use crate::features::accounts::agents::model::{Claim, Decision, State};
use crate::features::accounts::agents::views::{self, ApprovalView};
use crate::features::accounts::store::claims;
use crate::vocab::codes::Code;
use crate::vocab::ids::ClaimId;

pub struct ApprovalDeny;

/// Selects an agent's request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DenyApproval {
    pub id: ClaimId,
}

impl Operation for ApprovalDeny {
    const SPEC: Spec = Spec::post("accounts.approval_deny", "/v1/account/approvals/{id}/deny", signed_in())
        .summary("Deny an agent's request")
        .about("The agent's next poll fails with invalid_grant. No code is needed, so you can always deny an unexpected request.")
        .fails(&[Code::NotFound]);
    type Input = DenyApproval;
    type Output = Done<ApprovalView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Done(ApprovalView::sample()))
    }
}

impl Async for ApprovalDeny {
    async fn run(context: Context, input: DenyApproval) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?.clone();
        let email = who.user.email.clone();
        let write = move |tx: &mut WriteTx<'_>| {
            let claim = claims::find(tx, input.id)?.filter(|claim| claim.state == State::Waiting && agents::is_for(claim, &who));
            let claim = claim.filter(|claim| tx.now() < claim.expires_at).ok_or(Code::NotFound)?;
            let decision = Decision { account: who.user.account.id, user: who.user.id, at: tx.now() };
            let claim = Claim { state: State::Denied(decision), ..claim };
            claims::save(tx, &claim)?;
            Ok(claim)
        };
        let claim = context.write(&Self::SPEC, write).await?;
        Ok(Done(views::view(claim, context.now(), Some(email), false)))
    }
}
