//! The tables of sending domains, and all access to them.

use std::ops::ControlFlow;

use super::model::Domain;
use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::AccountId;
use crate::vocab::{limits, tables};

const DOMAINS: Table<(AccountId, String), Domain> = Table::new(tables::DOMAINS);
/// The domains in the order of their next check. Invariant: a domain with a next check has exactly one row here, under the time of that
/// check.
const QUEUE: Table<(Timestamp, AccountId, String), ()> = Table::new(tables::DOMAIN_QUEUE);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(DOMAINS), RowCheck::of(QUEUE)];

pub fn find(tx: &impl Read, account: AccountId, name: &str) -> Result<Option<Domain>> {
    tx.get(DOMAINS, &(account, name.to_owned()))
}

/// Returns every domain of the account, sorted by name.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<Domain>> {
    let rows = tx.list(DOMAINS, &DOMAINS.under(&(account,)), Order::Forward, limits::DOMAINS_MAX)?;
    Ok(rows.into_iter().map(|(_, domain)| domain).collect())
}

/// Returns up to `count` domains from all accounts.
pub fn of_all_accounts(tx: &impl Read, count: usize) -> Result<Vec<Domain>> {
    let rows = tx.list(DOMAINS, &Span::default(), Order::Forward, count)?;
    Ok(rows.into_iter().map(|(_, domain)| domain).collect())
}

/// Visits every domain in all accounts, until `visitor` breaks.
pub fn visit(tx: &impl Read, mut visitor: impl FnMut(AccountId, Domain) -> Result<ControlFlow<()>>) -> Result<()> {
    tx.visit(DOMAINS, &Span::default(), Order::Forward, |(account, _), domain| visitor(account, domain))
}

/// Stores a domain; `before` is its previous state.
pub fn save(tx: &mut WriteTx<'_>, account: AccountId, before: Option<&Domain>, domain: &Domain) {
    let due = |domain: &Domain| domain.next_check.map(|time| (time, account, domain.name.clone()));
    if let Some(due) = before.and_then(due) {
        tx.delete(QUEUE, &due);
    }
    if let Some(due) = due(domain) {
        tx.put(QUEUE, &due, &());
    }
    tx.put(DOMAINS, &(account, domain.name.clone()), domain);
}

/// Deletes a domain together with its keys.
pub fn delete(tx: &mut WriteTx<'_>, account: AccountId, domain: &Domain) {
    if let Some(time) = domain.next_check {
        tx.delete(QUEUE, &(time, account, domain.name.clone()));
    }
    tx.delete(DOMAINS, &(account, domain.name.clone()));
}

/// Returns up to `count` domains whose check is due; the domains that have waited longest come first.
pub fn due(tx: &impl Read, now: Timestamp, count: usize) -> Result<Vec<(AccountId, Domain)>> {
    let mut names = Vec::new();
    tx.visit(QUEUE, &Span::default(), Order::Forward, |(time, account, name), ()| {
        if time > now || names.len() == count {
            return Ok(ControlFlow::Break(()));
        }
        names.push((account, name));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut due = Vec::new();
    for (account, name) in names {
        due.extend(find(tx, account, &name)?.map(|domain| (account, domain)));
    }
    Ok(due)
}
