//! Changes the plan of an account.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::features::accounts::plans::{AccountView, set_plan};
use crate::features::accounts::require_installations;
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;

pub struct AccountPlanChange;

/// The account and its new plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePlan {
    /// The account's ID.
    pub id: AccountId,
    /// The name of a plan in the settings.
    pub plan: String,
}

impl Operation for AccountPlanChange {
    const SPEC: Spec = Spec::put("accounts.account_plan", "/v1/system/accounts/{id}/plan", manager())
        .summary("Change the plan of an account")
        .about("Takes effect from the next request and the next message. Available to the owner and admins of the installation's own \
            account.")
        .fails(&[Code::NotFound]);
    type Input = ChangePlan;
    type Output = Done<AccountView>;

    fn example() -> (Value, Self::Output) {
        let account = AccountView::sample();
        (json!({ "id": account.id, "plan": account.plan }), Done(account))
    }
}

impl Async for AccountPlanChange {
    async fn run(context: Context, input: ChangePlan) -> Result<Self::Output, Failure> {
        require_installations(&context.engine.control.read(), context.caller.account())?;
        set_plan(&context, &Self::SPEC, input.id, input.plan).await.map(Done)
    }
}
