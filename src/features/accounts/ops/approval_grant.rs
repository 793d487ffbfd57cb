//! Grants an agent's request for a key.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::Name;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::engine::store::WriteTx;
use crate::features::accounts::agents;
use crate::features::accounts::agents::model::{Claim, Decision, KeyTerms, State};
use crate::features::accounts::agents::views::{self, ApprovalView};
use crate::features::accounts::store::claims;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

pub struct ApprovalGrant;

/// The agent's request, and the key to grant for it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GrantApproval {
    /// The code that the agent shows.
    pub code: String,
    /// The permissions to grant: all or some of the requested permissions.
    pub permissions: PermissionSet,
    /// The environment that the key will work in.
    pub environment: Environment,
    /// The name of the key. The default is the agent's name.
    pub key_name: Option<Name<{ limits::KEY_NAME_CHARACTERS_MAX }>>,
}

impl Operation for ApprovalGrant {
    const SPEC: Spec = Spec::post("accounts.approval_grant", "/v1/account/approvals/grant", signed_in())
        .summary("Grant an agent a key")
        .about("You can grant only requested permissions that you have yourself. Granting email:send or campaign:write requires a recent \
            sign-in. The agent fetches the key with its next poll; no one else sees it. If you leave the account or lose a permission \
            before that, the agent gets no key.")
        .fails(&[Code::NotFound, Code::FreshSignInRequired]);
    type Input = GrantApproval;
    type Output = Done<ApprovalView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "code": "BCDF-GHJK", "permissions": ["audience:read"], "environment": "test" });
        (input, Done(ApprovalView::sample()))
    }
}

impl Async for ApprovalGrant {
    async fn run(context: Context, input: GrantApproval) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let claim = agents::open(&context, who, &input.code).await?;
        agents::check_terms(&context, claim.requested, input.permissions)?;
        let key_name = input.key_name.map_or(claim.agent_name, |name| name.to_string());
        let granted = KeyTerms { permissions: input.permissions, environment: input.environment, key_name };
        let (id, digest, person) = (claim.id, agents::digest(&input.code), who.user.clone());
        let write = move |tx: &mut WriteTx<'_>| {
            // Check again inside the transaction: of two concurrent decisions, only the first still finds the request open.
            let claim = claims::find(tx, id)?.filter(|claim| claim.is_open(&digest, tx.now())).ok_or(Code::NotFound)?;
            let decision = Decision { account: person.account.id, user: person.id, at: tx.now() };
            let claim = Claim { state: State::Approved(decision, granted), ..claim };
            claims::save(tx, &claim)?;
            Ok(claim)
        };
        let claim = context.write(&Self::SPEC, write).await?;
        Ok(Done(views::view(claim, context.now(), Some(who.user.email.clone()), false)))
    }
}
