//! Changes the plan of one account if the operator gives a plan, then lists the accounts.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::accounts::plans::{self, AccountList, set_plan};
use crate::features::accounts::store;
use crate::vocab::codes::Code;

pub struct AccountAdmin;

/// The plan to set, if any, and the account to set it for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminPlan {
    /// The new plan. If absent, no plan changes.
    pub plan: Option<String>,
    /// The email address of the account's owner or of another member. If absent, the installation's own account is selected.
    pub owner: Option<EmailAddress>,
}

impl Operation for AccountAdmin {
    const SPEC: Spec = Spec::post("accounts.account_admin", "/admin/accounts", operator())
        .summary("List the accounts, or change the plan of one account")
        .fails(&[Code::NotFound]);
    type Input = AdminPlan;
    type Output = Done<AccountList>;

    fn example() -> (Value, Self::Output) {
        (json!({ "plan": "standard", "owner": "ada@example.com" }), Done(AccountList::sample()))
    }
}

impl Async for AccountAdmin {
    async fn run(context: Context, input: AdminPlan) -> Result<Self::Output, Failure> {
        if let Some(plan) = input.plan {
            let account = {
                let tx = context.engine.control.read();
                match &input.owner {
                    Some(email) => store::user_by_email(&tx, &email.normalized())?.map(|user| user.account),
                    None => store::account(&tx)?.map(|account| account.id),
                }
            };
            let absent = || match &input.owner {
                Some(_) => {
                    Failure::field("owner", "no account has an owner or member with this email address; check its spelling")
                }
                None => Failure::because(
                    Code::NotFound,
                    "This installation has no owner yet. Create the owner with `mailmill setup`.",
                ),
            };
            set_plan(&context, &Self::SPEC, account.ok_or_else(absent)?, plan).await?;
        }
        let list = plans::list(&context.engine.control.read(), &context.engine.settings)?;
        Ok(Done(list))
    }
}
