//! Returns an agent's request by the code that the agent shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, signed_in};
use crate::features::accounts::agents;
use crate::features::accounts::agents::views::{self, ApprovalView, ScopeView};
use crate::vocab::codes::Code;

pub struct ApprovalGet;

/// The code that selects a request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalCode {
    /// The code that the agent shows. Case and the hyphen do not matter.
    pub code: String,
}

/// An agent's request, with a description of each requested permission.
#[derive(Serialize, JsonSchema)]
pub struct ApprovalDetails {
    pub approval: ApprovalView,
    pub scopes: Vec<ScopeView>,
}

impl Operation for ApprovalGet {
    const SPEC: Spec = Spec::post("accounts.approval_get", "/v1/account/approvals/lookup", signed_in())
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

impl Async for ApprovalGet {
    async fn run(context: Context, input: ApprovalCode) -> Result<Self::Output, Failure> {
        let who = context.caller.user_session()?;
        let claim = agents::open(&context, who, &input.code).await?;
        let scopes = views::scopes(claim.requested, who);
        Ok(Done(ApprovalDetails { approval: views::view(claim, context.now(), None, false), scopes }))
    }
}
