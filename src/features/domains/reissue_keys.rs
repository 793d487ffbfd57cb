//! Counts and replaces the DKIM keys that the master key cannot open.

use std::ops::ControlFlow;

use super::key_pairs::{keys, pairs};
use super::model::{Domain, place};
use super::store;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Read, Result, Store};
use crate::vocab::ids::AccountId;

/// Returns whether the master key can open all private keys of the domain.
fn opens(seal: &Seal, account: AccountId, domain: &Domain) -> bool {
    domain.keys.iter().all(|key| seal.open(&place(account, &domain.name, &key.selector), &key.sealed).is_some())
}

/// Counts all domains, and those with a key that the master key cannot open.
pub fn sealed(tx: &impl Read, seal: &Seal) -> Result<SecretCount> {
    let mut all = SecretCount::default();
    store::visit(tx, |account, domain| {
        all = all.with(SecretCount::one(opens(seal, account, &domain)));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// Replaces the keys of every domain whose keys cannot be opened, and returns the number of these domains. They are not verified until the
/// new records are in DNS. Takes seconds of CPU time for each domain, so it must not run on a thread of the async runtime.
pub fn reissue(store: &Store, seal: &Seal) -> Result<u64> {
    let mut lost = Vec::new();
    store::visit(&store.read(), |account, domain| {
        if !opens(seal, account, &domain) {
            lost.push((account, domain));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for (account, before) in &lost {
        let pairs = pairs();
        let (account, before, seal) = (*account, before.clone(), seal.duplicate());
        store.write_blocking(move |tx| -> Result<()> {
            let mut domain = before.clone();
            domain.replace_lost_keys(keys(&seal, account, &domain.name, &pairs, tx.random()), tx.now());
            store::save(tx, account, Some(&before), &domain);
            Ok(())
        })??;
    }
    Ok(lost.len() as u64)
}
