//! Lists the accounts of the installation and their plans.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, manager};
use crate::features::accounts;
use crate::features::accounts::plans::{self, AccountList};

/// `accounts.account_list`
pub struct AccountListing;

/// No input.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ListAccounts")]
pub struct ListAccounts {}

impl Operation for AccountListing {
    const SPEC: Spec = Spec::get("accounts.account_list", "/v1/system/accounts", manager())
        .summary("List the accounts of the installation")
        .about(
            "Includes the plan of each account and the plans in the settings. For the owner and admins of the installation's own account.",
        );
    type Input = ListAccounts;
    type Output = Done<AccountList>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(AccountList::sample()))
    }
}

impl Query for AccountListing {
    fn run(view: &View<'_>, _: ListAccounts) -> Result<Self::Output, Failure> {
        accounts::require_installations(view.tx, view.caller.account())?;
        Ok(Done(plans::list(view.tx, &view.caller.engine.settings)?))
    }
}
