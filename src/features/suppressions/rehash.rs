//! Rehashes the suppression list with a different master key. Rows of erased contacts contain no address to hash, so they keep their hashes
//! and cannot be found with the new key.

use std::ops::ControlFlow;

use super::store::{self, Digest, Digester};
use crate::engine::store::seal::Seal;
use crate::engine::store::{Read, Result, Store};
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

/// Returns the number of rows without an address. These rows can be found only with the key that was used to hash them.
pub fn named_by_hash_alone(tx: &impl Read) -> Result<u64> {
    let mut many = 0;
    store::visit(tx, |_, _, row| {
        many += u64::from(row.email.is_none());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(many)
}

/// Returns whether any stored address is hashed with the key of `seal`; returns `None` if no row has an address.
pub fn is_hashed_with(tx: &impl Read, seal: &Seal) -> Result<Option<bool>> {
    let (digester, mut matches) = (Digester::new(seal), None);
    store::visit(tx, |account, digest, row| {
        let Some(email) = row.email else { return Ok(ControlFlow::Continue(())) };
        let is_match = digester.digest(account, &email) == digest;
        matches = Some(is_match);
        Ok(if is_match { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(matches)
}

/// Rehashes every stored address with the key of `seal`. Can be repeated safely after a crash. Blocks the calling thread, so it must not
/// run on a thread of the async runtime.
pub fn rehash(list: &Store, seal: &Seal) -> Result<()> {
    let digester = Digester::new(seal);
    let mut moves: Vec<(AccountId, Digest, Digest)> = Vec::new();
    store::visit(&list.read(), |account, before, row| {
        moves.extend(row.email.map(|email| (account, before, digester.digest(account, &email))));
        Ok(ControlFlow::Continue(()))
    })?;
    for part in moves.chunks(limits::SWEEP_ROWS) {
        let part = part.to_vec();
        list.write_blocking(move |tx| -> Result<()> {
            part.into_iter().try_for_each(|(account, before, after)| store::rename(tx, account, (before, after)))
        })??;
    }
    Ok(())
}
