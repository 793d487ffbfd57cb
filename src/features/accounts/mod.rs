//! Accounts, which own all data in this installation, and have members and API keys for programs.
//!
//! An installation has one account, created when first needed, and more accounts if sign-up is open. Members sign in with a password and
//! optionally an authenticator app; agents request keys from members. Keys, passwords and tokens are stored only as hashes. The in-memory
//! caches of keys and users are copies of the tables and are updated after each commit, one change at a time.

pub mod agents;
mod api_keys;
mod authenticate;
pub mod authorization;
pub mod key_management;
mod members;
mod model;
pub mod ops;
mod password_hash;
pub mod plans;
mod second_factor;
mod sessions;
mod store;
mod usage;
pub mod user_views;
pub mod views;

pub use store::ROW_CHECKS;
pub use store::claims::ROW_CHECKS as CLAIM_ROW_CHECKS;
pub use store::grants::ROW_CHECKS as GRANT_ROW_CHECKS;
pub use store::sign_in::ROW_CHECKS as SIGN_IN_ROW_CHECKS;

use std::sync::Arc;

use crate::base::email::EmailAddress;
use crate::base::secret::{Secret, random_base62, sha256};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{self as engine_store, Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::AccountId;
use crate::vocab::permissions::PermissionSet;
use crate::vocab::roles::Role;

use store::{claims, sign_in};

/// Loads into memory the data that authentication checks: keys, access tokens, users, sessions, and attempts. A node of a cluster also
/// calls this function when another node has changed any of this data except attempts.
pub fn load_caches(engine: &Engine) -> engine_store::Result<()> {
    api_keys::load_caches(engine)?;
    authorization::load(engine, &engine.control.read())
}

/// Stores the usage of keys and sessions that is still recorded only in memory.
pub async fn flush_usage(engine: &Arc<Engine>) -> Result<(), Failure> {
    usage::flush(engine).await?;
    sessions::flush(engine).await
}

/// Deletes expired data, up to `limit` rows of each kind; returns whether there may be more expired data.
pub fn sweep(engine: &Engine, tx: &mut WriteTx<'_>, limit: usize) -> engine_store::Result<bool> {
    let more = [
        store::sweep(tx, limit)?,
        sign_in::sweep(tx, limit)?,
        claims::sweep(tx, limit)?,
        authorization::sweep(engine, tx, limit)?,
        engine.throttle.sweep(tx, engine.clock.monotonic(), limit)?,
    ];
    Ok(more.contains(&true))
}

/// Returns the number of stored secrets of authenticator apps, and how many of them the given key cannot decrypt.
pub fn sealed(tx: &impl Read, seal: &Seal) -> engine_store::Result<SecretCount> {
    let all = sign_in::second_factors(tx)?;
    Ok(all.iter().fold(SecretCount::default(), |sum, (user, factor)| {
        sum.with(SecretCount::one(second_factor::opens(seal, *user, factor)))
    }))
}

/// Deletes the authenticator apps whose secrets the given key cannot decrypt, because signing in with such an app is impossible. Returns
/// the number of deleted apps.
pub fn drop_closed(tx: &mut WriteTx<'_>, seal: &Seal) -> engine_store::Result<u64> {
    let mut dropped = 0;
    for (user, factor) in sign_in::second_factors(tx)? {
        if !second_factor::opens(seal, user, &factor) {
            sign_in::delete_second_factor(tx, user);
            dropped += 1;
        }
    }
    Ok(dropped)
}

pub fn plan_of(engine: &Engine, account: AccountId) -> engine_store::Result<String> {
    Ok(store::account_of(&engine.control.read(), account)?.map(|account| account.plan).unwrap_or_default())
}

/// Returns whether `account` is the installation's own account rather than one created by sign-up.
pub fn is_installations(tx: &impl Read, account: AccountId) -> engine_store::Result<bool> {
    Ok(store::account(tx)?.is_some_and(|first| first.id == account))
}

/// Fails unless `account` is the installation's own account.
pub fn require_installations(tx: &impl Read, account: AccountId) -> Result<(), Failure> {
    match is_installations(tx, account)? {
        true => Ok(()),
        false => Err(Failure::because(
            Code::InsufficientPermissions,
            "Only the account that owns this installation can use this operation; sign in to that account.",
        )),
    }
}

/// Returns the ID of the installation's own account, if that account exists.
pub fn installation(engine: &Engine) -> engine_store::Result<Option<AccountId>> {
    Ok(store::account(&engine.control.read())?.map(|account| account.id))
}

/// Returns the email addresses of the owner and admins of the installation's own account.
pub fn managers(engine: &Engine) -> engine_store::Result<Vec<EmailAddress>> {
    let tx = engine.control.read();
    let Some(account) = store::account(&tx)? else { return Ok(Vec::new()) };
    let users = store::users(&tx)?.into_iter().filter(|user| user.account == account.id);
    let managers = users.filter(|user| matches!(user.role, Role::Owner | Role::Admin));
    Ok(managers.filter_map(|user| user.email.parse().ok()).collect())
}

/// Returns whether this installation is unused: it has no account.
pub fn is_untouched(engine: &Engine) -> engine_store::Result<bool> {
    Ok(store::account(&engine.control.read())?.is_none())
}

/// The setup path and the test key, which are shown to the operator at the first start.
pub struct Welcome {
    /// The path of the setup page, with its one-time token.
    pub setup_path: String,
    /// A test key with all permissions.
    pub test_key: Secret,
}

/// Creates the installation's own account, a one-time setup link and a test key.
pub async fn welcome(engine: &Arc<Engine>) -> Result<Welcome, Failure> {
    let new = model::NewKey { name: "First key".into(), environment: Environment::Test, permissions: PermissionSet::ALL };
    let created = api_keys::create_key(engine, None, new, None).await?;
    let token = random_base62(engine.random.as_ref(), model::LINK_TOKEN_CHARACTERS);
    let digest = sha256(token.as_bytes());
    let write = move |tx: &mut WriteTx<'_>| {
        store::save_link(tx, digest);
        Ok::<_, engine_store::Error>(())
    };
    engine.control.write_essential(write).await??;
    Ok(Welcome { setup_path: format!("/setup/{token}"), test_key: created.token })
}
