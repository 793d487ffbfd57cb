//! Account plans: lists all accounts with their plans, and changes the plan of an account.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Account;
use super::{api_keys, store};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Failure, Spec};
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;
use crate::vocab::roles::Role;
use crate::vocab::settings::Settings;

/// All accounts, with the installation's own account first, and the names of the plans in the settings.
#[derive(Serialize, JsonSchema)]
pub struct AccountList {
    pub accounts: Vec<AccountView>,
    pub plans: Vec<String>,
}

/// An account in the installation.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountView {
    pub id: AccountId,
    /// The email address of the account's owner; `null` before setup.
    pub owner: Option<String>,
    pub members: u64,
    pub plan: String,
    /// Whether this is the installation's own account. All other accounts were created by sign-up.
    pub is_own: bool,
    pub created_at: WireTime,
}

impl AccountView {
    pub fn sample() -> Self {
        Self {
            id: AccountId::from_bytes([0x66; 12]),
            owner: Some("ada@example.com".into()),
            members: 2,
            plan: "unlimited".into(),
            is_own: true,
            created_at: WireTime::sample(),
        }
    }

    fn new(tx: &impl Read, account: Account) -> StoreResult<Self> {
        let Account { id, plan, created_at } = account;
        let members: Vec<_> = store::users(tx)?.into_iter().filter(|user| user.account == id).collect();
        let owner = members.iter().find(|user| user.role == Role::Owner).map(|user| user.email.clone());
        let is_own = super::is_installations(tx, id)?;
        Ok(Self { id, owner, members: members.len() as u64, plan, is_own, created_at: WireTime(created_at) })
    }
}

impl AccountList {
    pub fn sample() -> Self {
        Self { accounts: vec![AccountView::sample()], plans: vec!["standard".into(), "unlimited".into()] }
    }
}

pub fn list(tx: &impl Read, settings: &Settings) -> StoreResult<AccountList> {
    let accounts = store::accounts(tx)?.into_iter().map(|account| AccountView::new(tx, account));
    let mut accounts = accounts.collect::<StoreResult<Vec<_>>>()?;
    accounts.sort_by_key(|account| !account.is_own);
    Ok(AccountList { accounts, plans: settings.plans.keys().cloned().collect() })
}

/// Changes the plan of an account. The new plan takes effect with the next request and the next message.
pub async fn set_plan(context: &Context, spec: &'static Spec, id: AccountId, plan: String) -> Result<AccountView, Failure> {
    let engine = &context.engine;
    if !engine.settings.plans.contains_key(&plan) {
        let names = engine.settings.plan_names();
        return Err(Failure::field("plan", format!("the settings have no plan named \"{plan}\"; choose one of {names}")));
    }
    // Hold the lock so that the table and the in-memory limits change together.
    let _turn = api_keys::CACHE_LOCK.lock().await;
    let write = move |tx: &mut WriteTx<'_>| {
        let account = Account { plan, ..store::account_of(tx, id)?.ok_or(Code::NotFound)? };
        store::save_account(tx, &account);
        Ok(account)
    };
    let account = context.write(spec, write).await?;
    let limits = api_keys::plan_limits(&engine.settings, &account.plan);
    api_keys::account_limits(engine, &account).plan.store(Arc::new(limits));
    Ok(AccountView::new(&engine.control.read(), account)?)
}
