//! Accounts: who owns this installation, and with which keys other programs work for them.
//!
//! An installation has one account today, made when it is first needed; the tables could hold more. Keys and passwords are kept as
//! hashes only. The ring of keys in memory is a copy of the table and is changed after every commit, one change at a time, so a key
//! works from the answer that shows it until the answer that says it is revoked.

mod hashing;
mod model;
pub mod ops;
mod pages;
mod ring;
mod store;
mod usage;
mod views;

use crate::engine::api::Engine;
use crate::engine::store::{self as engine_store, WriteTx};

pub use model::{Account, Password, User};
pub use ring::fill_ring;
pub use usage::flush as flush_usage;

/// Whether nobody has used this installation yet: there is no account.
pub fn is_untouched(engine: &Engine) -> engine_store::Result<bool> {
    Ok(store::account(&engine.control.read())?.is_none())
}

/// What the very first start gives its operator.
pub struct Welcome {
    /// The path of the set-up page, with its one-time token.
    pub setup_path: String,
    /// A test key with all permissions.
    pub test_key: crate::base::secret::Secret,
}

/// Make the account, a one-time set-up link and a test key.
pub async fn welcome(engine: &std::sync::Arc<Engine>) -> Result<Welcome, crate::engine::api::Failure> {
    let new = model::NewKey {
        name: "First key".into(),
        environment: crate::vocab::environment::Environment::Test,
        permissions: crate::vocab::permissions::PermissionSet::ALL,
    };
    let made = ring::create_key(engine, new, None).await?;
    let token = crate::base::secret::random_base62(engine.random.as_ref(), model::LINK_TOKEN_CHARACTERS);
    let digest = crate::base::secret::sha256(token.as_bytes());
    let write = move |tx: &mut WriteTx<'_>| {
        store::save_link(tx, digest);
        Ok::<_, engine_store::Error>(())
    };
    engine.control.write(write).await??;
    Ok(Welcome { setup_path: format!("/setup/{token}"), test_key: made.token })
}

/// Forget set-up links whose time is over and keys revoked long ago, a bounded number; true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> engine_store::Result<bool> {
    store::sweep(tx, limit)
}
