//! Finds the data that is sealed with the master key, and tests whether a given key is the right key.
//!
//! A store that an earlier version created has no check value for its key. For such a store, a key is tested against the data that depends
//! on it: authenticator apps, DKIM keys, secrets of webhooks, incoming webhooks and mail services, keys of connected accounts and stores,
//! and the keyed hashes of suppressed addresses. Links in sent mail and the hashes of erased contacts also depend on the key but cannot be
//! used for the test, because neither the links nor the addresses are stored.

use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Read, Result, StoreFile};
use crate::features::{accounts, connections, domains, hooks, mail_feedback, storefront, suppressions, webhooks};

/// Whether the stores are sealed with a given key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Right,
    Wrong,
    /// The stores contain no data for testing the key.
    Untested,
}

/// Tests whether a key is the right key for stores that have no check value. The store files are given in the order control, test, live.
pub fn try_key([control, environments @ ..]: &[StoreFile; 3], seal: &Seal) -> Result<Fit> {
    let mut all = accounts::sealed(&control.read()?, seal)?;
    for data in environments {
        let tx = data.read()?;
        all = all.with(domains::sealed(&tx, seal)?).with(webhooks::sealed(&tx, seal)?);
        all = all.with(hooks::sealed(&tx, seal)?);
        all = all.with(mail_feedback::sealed(&tx, seal)?).with(connections::sealed(&tx, seal)?);
        all = all.with(storefront::sealed(&tx, seal)?);
        if let Some(matches) = suppressions::is_hashed_with(&tx, seal)? {
            all = all.with(SecretCount::one(matches));
        }
    }
    // After a rekey, some secrets stay unreadable until users replace them, so one readable secret is sufficient proof that the key is
    // right.
    Ok(match all {
        SecretCount { total: 0, .. } => Fit::Untested,
        SecretCount { total, closed } if closed < total => Fit::Right,
        _ => Fit::Wrong,
    })
}

/// The number of secrets in one store that a key cannot decrypt, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnreadableSecrets {
    pub domains: u64,
    pub webhooks: u64,
    pub incoming_webhooks: u64,
    pub mail_services: u64,
    /// Keys of connected accounts and stores.
    pub connections: u64,
}

/// Returns the number of secrets in one environment that a key cannot decrypt.
pub fn unreadable(tx: &impl Read, seal: &Seal) -> Result<UnreadableSecrets> {
    let of = |sealed: SecretCount| sealed.closed;
    Ok(UnreadableSecrets {
        domains: of(domains::sealed(tx, seal)?),
        webhooks: of(webhooks::sealed(tx, seal)?),
        incoming_webhooks: of(hooks::sealed(tx, seal)?),
        mail_services: of(mail_feedback::sealed(tx, seal)?),
        connections: of(connections::sealed(tx, seal)?.with(storefront::sealed(tx, seal)?)),
    })
}
