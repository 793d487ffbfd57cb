//! Revokes the key that a user granted to an agent.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::agents::model::{Claim, State};
use crate::features::accounts::agents::views::{self, ApprovalView};
use crate::features::accounts::api_keys;
use crate::features::accounts::store::claims;
use crate::vocab::codes::Code;
use crate::vocab::ids::ClaimId;

pub struct ApprovalRevoke;

/// Selects an agent's request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeApproval {
    pub id: ClaimId,
}

impl Operation for ApprovalRevoke {
    const SPEC: Spec = Spec::post("accounts.approval_revoke", "/v1/account/approvals/{id}/revoke", signed_in())
        .summary("Revoke an agent's grant")
        .about("The agent's key stops working immediately. If the agent has not fetched the key yet, the key is never created.")
        .fails(&[Code::NotFound]);
    type Input = RevokeApproval;
    type Output = Done<ApprovalView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Done(ApprovalView::sample()))
    }
}

impl Async for ApprovalRevoke {
    async fn run(context: Context, input: RevokeApproval) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let (account, user, manages) = (context.caller.account(), who.user.id, who.user.role.manages());
        let is_own = move |claim: &Claim| {
            claim.decision().is_some_and(|decision| decision.account == account && (manages || decision.user == user))
        };
        let write = move |tx: &mut WriteTx<'_>| {
            let claim = claims::find(tx, input.id)?.filter(is_own).ok_or(Code::NotFound)?;
            let State::Approved(decision, _) = &claim.state else { return Ok(claim) };
            let claim = Claim { state: State::Denied(decision.clone()), ..claim };
            claims::save(tx, &claim)?;
            Ok(claim)
        };
        let claim = context.write(&Self::SPEC, write).await?;
        if let State::KeyIssued(_, _, key) = &claim.state {
            let act = (context.caller.act(Self::SPEC.id), context.envelope);
            api_keys::revoke_key(&context.engine, Some(account), key.to_string(), act).await?;
        }
        Ok(Done(views::view(claim, context.now(), None, false)))
    }
}
