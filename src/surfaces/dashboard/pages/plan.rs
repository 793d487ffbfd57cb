//! The page about the account's plan: its limits and the usage of email quotas. Users who manage the installation also change accounts'
//! plans here.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::engine::api::response::WireTime;
use crate::features::accounts::plans::AccountList;
use crate::features::sending::ops::plan::{AccountPlan, PlanQuota};
use crate::features::{accounts, sending};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct PlanPage {
    /// The accounts whose plans the user may change.
    accounts: Option<AccountList>,
    quotas: [Quota; 2],
    plan: AccountPlan,
}

#[derive(Serialize)]
struct Quota {
    label: &'static str,
    limit: Option<u64>,
    used: u64,
    remaining: Option<u64>,
    resets_at: WireTime,
    share: Option<f64>,
}

impl Quota {
    fn of(label: &'static str, quota: &PlanQuota) -> Self {
        let PlanQuota { limit, used, remaining, resets_at } = *quota;
        let share = limit.map(|limit| if limit == 0 { 1.0 } else { used as f64 / limit as f64 });
        Self { label, limit, used, remaining, resets_at, share }
    }
}

impl PlanPage {
    fn new(plan: AccountPlan, accounts: Option<AccountList>) -> Self {
        let quotas = [Quota::of("Today", &plan.daily), Quota::of("This month", &plan.monthly)];
        Self { accounts, quotas, plan }
    }
}

page_context!(PlanPage, "plan.html", {
    use crate::engine::api::Operation;

    let plan = || sending::ops::plan::Plan::example().1.0;
    let open = AccountPlan {
        recipients_per_second: None,
        provider: None,
        daily: PlanQuota { limit: None, remaining: None, ..plan().daily },
        ..plan()
    };
    vec![Self::new(plan(), Some(AccountList::sample())), Self::new(open, None)]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Done(plan) = visit.ask::<sending::ops::plan::Plan>(json!({})).await?;
    let may_change =
        visit.session.as_ref().is_some_and(|session| session.user.role.manages() && session.user.account.is_installations);
    let accounts = match may_change {
        true => Some(visit.ask::<accounts::ops::account_list::AccountListing>(json!({})).await?.0),
        false => None,
    };
    Ok(PageResponse::draw(&PlanPage::new(plan, accounts)))
}

pub async fn change(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({ "id": form.get("id"), "plan": form.get("plan") });
    visit.ask::<accounts::ops::account_plan::AccountPlanChange>(input).await?;
    Ok(PageResponse::redirect(format!("{}?done=plan", visit.path)))
}
