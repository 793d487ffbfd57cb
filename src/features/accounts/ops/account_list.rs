//! Lists the accounts of the installation and their plans.

use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, NoInput, Operation, Query, Spec, View, manager};
use crate::features::accounts;
use crate::features::accounts::plans::{self, AccountList};

pub struct AccountListing;

impl Operation for AccountListing {
    const SPEC: Spec = Spec::get("accounts.account_list", "/v1/system/accounts", manager())
        .summary("List the accounts of the installation")
        .about(
            "Includes the plan of each account and all plans in the settings. Available to the owner and admins of the installation's own \
                account.",
        );
    type Input = NoInput;
    type Output = Done<AccountList>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(AccountList::sample()))
    }
}

impl Query for AccountListing {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        accounts::require_installations(view.tx, view.caller.account())?;
        Ok(Done(plans::list(view.tx, &view.caller.engine.settings)?))
    }
}
