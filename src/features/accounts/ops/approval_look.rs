//! Returns an agent's request by the code that the agent shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::agents;
use crate::features::accounts::agents::views::{self, ApprovalView, ScopeView};
use crate::vocab::codes::Code;

/// `accounts.approval_look`
pub struct ApprovalLook;

/// The code.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalCode {
    /// The code that the agent shows; case and hyphen do not matter.
    pub code: String,
}

/// A request and what it would allow.
#[derive(Serialize, JsonSchema)]
pub struct ApprovalDetails {
    pub approval: ApprovalView,
    pub scopes: Vec<ScopeView>,
}

impl Operation for ApprovalLook {
    const SPEC: Spec = Spec::post("accounts.approval_look", "/v1/account/approvals/look", signed_in())
        .summary("Get an agent's request")
        .about("Finds the request by the code that the agent shows. After a few wrong codes, you have to wait ten minutes.")
        .fails(&[Code::NotFound]);
    type Input = ApprovalCode;
    type Output = Done<ApprovalDetails>;

    fn example() -> (Value, Self::Output) {
        let details = ApprovalDetails { approval: ApprovalView::sample(), scopes: Vec::new() };
        (json!({ "code": "BCDF-GHJK" }), Done(details))
    }
}

impl Async for ApprovalLook {
    async fn run(context: Context, input: ApprovalCode) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let claim = agents::open(&context, who, &input.code).await?;
        let scopes = views::scopes(&claim, who);
        Ok(Done(ApprovalDetails { approval: views::view(claim, context.now(), None, false), scopes }))
    }
}
