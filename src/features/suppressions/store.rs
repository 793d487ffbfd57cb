//! The tables of the suppression list, and all access to them.

use std::collections::HashMap;
use std::ops::ControlFlow;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::model::{Reason, Source, Suppression};
use crate::base::clock::Timestamp;
use crate::engine::store::seal::Seal;
use crate::engine::store::{Order, Read, ReadTx, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::AccountId;
use crate::vocab::limits::SUPPRESSIONS_IN_MEMORY_MAX;
use crate::vocab::tables;

/// Half of the keyed hash of a normalized address. 128 bits are enough to avoid collisions.
pub type Digest = [u8; 16];

const ROWS: Table<(AccountId, Digest), Suppression> = Table::new(tables::SUPPRESSIONS);
/// The rows in order of time. Each row is listed under its reason and under [`ALL`].
const ORDER: Table<(AccountId, u8, Timestamp, Digest), ()> = Table::new(tables::SUPPRESSION_ORDER);
const COUNTS: Table<(AccountId, u8), i64> = Table::new(tables::SUPPRESSION_COUNTS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ROWS), RowCheck::of(ORDER), RowCheck::of(COUNTS)];

/// The number that stands for all reasons in keys.
const ALL: u8 = 0;

/// Hashes addresses with a key that is specific to this installation.
#[derive(Clone)]
pub struct Digester(Hmac<Sha256>);

impl Digester {
    /// Creates a digester whose key is derived from the master key.
    pub fn new(seal: &Seal) -> Self {
        Self(seal.address_mac())
    }

    /// Returns the keyed hash of a normalized address. The hash differs between accounts.
    pub fn digest(&self, account: AccountId, normalized: &str) -> Digest {
        let mut sum = self.0.clone();
        sum.update(&account.0);
        sum.update(normalized.as_bytes());
        let bytes: [u8; 32] = sum.finalize().into_bytes().into();
        *bytes.first_chunk().expect("a hash is longer than its first half")
    }
}

/// Returns why this normalized address is on the list, or `None` if it is not on the list.
pub fn reason(tx: &impl Read, digester: &Digester, account: AccountId, normalized: &str) -> Result<Option<Reason>> {
    Ok(find(tx, digester, account, normalized)?.map(|row| row.reason))
}

/// Returns the row of this normalized address; `None` if the address is not on the list.
pub fn find(tx: &impl Read, digester: &Digester, account: AccountId, normalized: &str) -> Result<Option<Suppression>> {
    tx.get(ROWS, &(account, digester.digest(account, normalized)))
}

/// Adds an address to the list. Changes an existing row only if the new reason is more serious. Returns the resulting row.
pub fn add(
    tx: &mut WriteTx<'_>,
    digester: &Digester,
    account: AccountId,
    normalized: &str,
    (reason, source): (Reason, Source),
    note: Option<String>,
) -> Result<Suppression> {
    let email = (reason != Reason::Erased).then(|| normalized.to_owned());
    let new = Suppression { reason, source, email, note, created_at: tx.now() };
    let digest = digester.digest(account, normalized);
    let known = tx.get(ROWS, &(account, digest))?;
    if let Some(known) = known {
        if known.reason >= reason {
            return Ok(known);
        }
        remove(tx, account, digest, &known)?;
    }
    tx.put(ROWS, &(account, digest), &new);
    for facet in [ALL, reason.number()] {
        tx.put(ORDER, &(account, facet, new.created_at, digest), &());
        tx.add(COUNTS, &(account, facet), 1)?;
    }
    Ok(new)
}

/// Suppresses an address with a row that contains only its hash, so that the recipient stays suppressed without being identified.
pub fn erase(tx: &mut WriteTx<'_>, digester: &Digester, account: AccountId, normalized: &str) -> Result<()> {
    add(tx, digester, account, normalized, (Reason::Erased, Source::Api), None).map(drop)
}

/// Removes an address from the list. Returns the removed row.
pub fn delete(tx: &mut WriteTx<'_>, digester: &Digester, account: AccountId, normalized: &str) -> Result<Option<Suppression>> {
    let digest = digester.digest(account, normalized);
    let Some(known) = tx.get(ROWS, &(account, digest))? else { return Ok(None) };
    remove(tx, account, digest, &known)?;
    Ok(Some(known))
}

fn remove(tx: &mut WriteTx<'_>, account: AccountId, digest: Digest, row: &Suppression) -> Result<()> {
    tx.delete(ROWS, &(account, digest));
    for facet in [ALL, row.reason.number()] {
        tx.delete(ORDER, &(account, facet, row.created_at, digest));
        tx.add(COUNTS, &(account, facet), -1)?;
    }
    Ok(())
}

/// Returns the number of rows with this reason; `None` counts all rows.
pub fn count(tx: &impl Read, account: AccountId, reason: Option<Reason>) -> Result<u64> {
    let count = tx.get(COUNTS, &(account, reason.map_or(ALL, Reason::number)))?.unwrap_or(0);
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Returns up to `limit` rows with this reason, newest first, after skipping `offset` rows. `None` stands for all reasons.
pub fn list(tx: &impl Read, account: AccountId, reason: Option<Reason>, offset: usize, limit: usize) -> Result<Vec<Suppression>> {
    let facet = reason.map_or(ALL, Reason::number);
    let (mut skipped, mut digests) = (0, Vec::new());
    tx.visit(ORDER, &ORDER.under(&(account, facet)), Order::Backward, |(_, _, _, digest), ()| {
        if skipped < offset {
            skipped += 1;
            return Ok(ControlFlow::Continue(()));
        }
        if digests.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        digests.push(digest);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut rows = Vec::with_capacity(digests.len());
    for digest in digests {
        rows.extend(tx.get(ROWS, &(account, digest))?);
    }
    Ok(rows)
}

/// Calls `visitor` for every row in all accounts, until `visitor` returns `Break`.
pub fn visit(tx: &impl Read, mut visitor: impl FnMut(AccountId, Digest, Suppression) -> Result<ControlFlow<()>>) -> Result<()> {
    tx.visit(ROWS, &Span::default(), Order::Forward, |(account, digest), row| visitor(account, digest, row))
}

/// Moves a row from its hash with the previous key to its hash with the new key.
pub fn rename(tx: &mut WriteTx<'_>, account: AccountId, (before, after): (Digest, Digest)) -> Result<()> {
    let Some(row) = tx.get(ROWS, &(account, before))?.filter(|_| before != after) else { return Ok(()) };
    tx.delete(ROWS, &(account, before));
    tx.put(ROWS, &(account, after), &row);
    for facet in [ALL, row.reason.number()] {
        tx.delete(ORDER, &(account, facet, row.created_at, before));
        tx.put(ORDER, &(account, facet, row.created_at, after), &());
    }
    Ok(())
}

/// A snapshot of one account's suppression list, for many consecutive lookups.
///
/// For a list of typical size, all hashes are kept in memory, and a million lookups take about a second; an empty list costs no time. For a
/// very long list, each lookup reads a row from the store.
pub struct Checker {
    account: AccountId,
    digester: Digester,
    known: Known,
}

enum Known {
    All(HashMap<Digest, Reason>),
    Some(ReadTx),
}

impl Checker {
    /// Loads the account's list as seen by the transaction `tx`.
    pub fn load(tx: &ReadTx, digester: &Digester, account: AccountId) -> Result<Self> {
        Self::load_up_to(SUPPRESSIONS_IN_MEMORY_MAX, tx, digester, account)
    }

    /// Like `load`, but keeps the list in memory only if it has at most `in_memory_max` rows.
    pub(super) fn load_up_to(in_memory_max: u64, tx: &ReadTx, digester: &Digester, account: AccountId) -> Result<Self> {
        let known = match count(tx, account, None)? {
            0 => Known::All(HashMap::new()),
            count if count <= in_memory_max => {
                let mut known = HashMap::with_capacity(usize::try_from(count).unwrap_or(0));
                for reason in Reason::ALL {
                    tx.visit(ORDER, &ORDER.under(&(account, reason.number())), Order::Forward, |(_, _, _, digest), ()| {
                        known.insert(digest, reason);
                        Ok(ControlFlow::Continue(()))
                    })?;
                }
                Known::All(known)
            }
            _ => Known::Some(tx.clone()),
        };
        Ok(Self { account, digester: digester.clone(), known })
    }

    pub fn is_empty(&self) -> bool {
        matches!(&self.known, Known::All(known) if known.is_empty())
    }

    /// Returns why this normalized address is on the list, or `None` if it is not on the list.
    pub fn reason(&self, normalized: &str) -> Result<Option<Reason>> {
        match &self.known {
            Known::All(known) if known.is_empty() => Ok(None),
            Known::All(known) => Ok(known.get(&self.digester.digest(self.account, normalized)).copied()),
            Known::Some(tx) => reason(tx, &self.digester, self.account, normalized),
        }
    }
}
