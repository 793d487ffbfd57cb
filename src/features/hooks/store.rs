//! The tables of incoming webhooks, and all access to them.

use std::ops::ControlFlow;

use super::model::{Hook, HookDelivery, RequestOutcome, Standing};
use super::signature;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, HookId};
use crate::vocab::{limits, tables};

const HOOKS: Table<(AccountId, HookId), Hook> = Table::new(tables::HOOKS);
const STANDINGS: Table<HookId, Standing> = Table::new(tables::HOOK_STANDINGS);
const DELIVERIES: Table<(HookId, u64), HookDelivery> = Table::new(tables::HOOK_DELIVERIES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(HOOKS), RowCheck::of(STANDINGS), RowCheck::of(DELIVERIES)];

pub fn find(tx: &impl Read, account: AccountId, id: HookId) -> Result<Option<Hook>> {
    tx.get(HOOKS, &(account, id))
}

/// Returns every incoming webhook of the account, oldest first.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<Hook>> {
    let rows = tx.list(HOOKS, &HOOKS.under(&(account,)), Order::Forward, limits::HOOKS_MAX)?;
    Ok(rows.into_iter().map(|(_, hook)| hook).collect())
}

pub fn save(tx: &mut WriteTx<'_>, hook: &Hook) {
    tx.put(HOOKS, &(hook.account, hook.id), hook);
}

/// Deletes an incoming webhook and its deliveries.
pub fn delete(tx: &mut WriteTx<'_>, hook: &Hook) -> Result<()> {
    tx.delete(HOOKS, &(hook.account, hook.id));
    tx.delete(STANDINGS, &hook.id);
    tx.delete_span(DELIVERIES, &DELIVERIES.under(&(hook.id,)), limits::HOOK_DELIVERIES_KEPT + 1).map(drop)
}

/// Counts all signature secrets, and those that the master key in `seal` cannot decrypt.
pub fn sealed(tx: &impl Read, seal: &Seal) -> Result<SecretCount> {
    let mut all = SecretCount::default();
    tx.visit(HOOKS, &Span::default(), Order::Forward, |_, hook| {
        if let Some(check) = &hook.signature {
            all = all.with(SecretCount::one(signature::secret(seal, &hook, check).is_some()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

pub fn standing(tx: &impl Read, id: HookId) -> Result<Standing> {
    Ok(tx.get(STANDINGS, &id)?.unwrap_or_default())
}

/// Returns the latest deliveries, newest first.
pub fn deliveries(tx: &impl Read, id: HookId) -> Result<Vec<HookDelivery>> {
    let rows = tx.list(DELIVERIES, &DELIVERIES.under(&(id,)), Order::Backward, limits::HOOK_DELIVERIES_KEPT)?;
    Ok(rows.into_iter().map(|(_, delivery)| delivery).collect())
}

/// Records a delivery. Deletes the oldest one if there are more than [`limits::HOOK_DELIVERIES_KEPT`].
pub fn record(tx: &mut WriteTx<'_>, id: HookId, outcome: &RequestOutcome) -> Result<()> {
    let mut standing = standing(tx, id)?;
    let (now, number) = (tx.now(), standing.next);
    match outcome {
        RequestOutcome::Rejected { .. } => standing.rejected += 1,
        RequestOutcome::Created | RequestOutcome::Updated | RequestOutcome::Unchanged | RequestOutcome::Recorded => {
            standing.accepted += 1
        }
    }
    standing.next += 1;
    standing.last_at = Some(now);
    tx.put(STANDINGS, &id, &standing);
    tx.put(DELIVERIES, &(id, number), &HookDelivery { at: now, outcome: outcome.clone() });
    if let Some(oldest) = number.checked_sub(limits::HOOK_DELIVERIES_KEPT as u64) {
        tx.delete(DELIVERIES, &(id, oldest));
    }
    Ok(())
}
