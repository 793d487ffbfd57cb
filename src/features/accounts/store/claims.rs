//! The tables of agents' requests, and all access to them.

use std::ops::ControlFlow;

use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::features::accounts::agents::model::{Claim, State};
use crate::vocab::ids::ClaimId;
use crate::vocab::limits;
use crate::vocab::tables;

const CLAIMS: Table<ClaimId, Claim> = Table::new(tables::CLAIMS);
const CODES: Table<[u8; 32], ClaimRow> = Table::new(tables::CLAIM_CODES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(CLAIMS), RowCheck::of(CODES)];

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct ClaimRow(ClaimId);

impl Record for ClaimRow {}

pub fn find(tx: &impl Read, id: ClaimId) -> Result<Option<Claim>> {
    tx.get(CLAIMS, &id)
}

/// Returns the agent's pending request with this code.
pub fn by_code(tx: &impl Read, code: [u8; 32]) -> Result<Option<Claim>> {
    match tx.get(CODES, &code)? {
        Some(ClaimRow(id)) => tx.get(CLAIMS, &id),
        None => Ok(None),
    }
}

/// Saves an agent's request. The request can be found by its code only while it is pending.
pub fn save(tx: &mut WriteTx<'_>, claim: &Claim) -> Result<()> {
    if let Some(before) = tx.get(CLAIMS, &claim.id)? {
        tx.delete(CODES, &before.code);
    }
    if claim.state == State::Waiting {
        tx.put(CODES, &claim.code, &ClaimRow(claim.id));
    }
    tx.put(CLAIMS, &claim.id, claim);
    Ok(())
}

/// Returns whether the limit allows another pending request.
pub fn has_room(tx: &impl Read) -> Result<bool> {
    Ok(tx.list(CODES, &Span::default(), Order::Forward, limits::CLAIMS_WAITING_MAX)?.len() < limits::CLAIMS_WAITING_MAX)
}

/// Returns the newest requests that match `wanted`, up to [`limits::CLAIMS_SHOWN_MAX`]. Searches only the newest [`limits::AUDIT_WALK_MAX`]
/// requests.
pub fn newest(tx: &impl Read, wanted: impl Fn(&Claim) -> bool) -> Result<Vec<Claim>> {
    let (mut found, mut walked) = (Vec::new(), 0);
    tx.visit(CLAIMS, &Span::default(), Order::Backward, |_, claim| {
        walked += 1;
        if wanted(&claim) {
            found.push(claim);
        }
        let wants_more = found.len() < limits::CLAIMS_SHOWN_MAX && walked < limits::AUDIT_WALK_MAX;
        Ok(if wants_more { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// Deletes up to `limit` requests on which no user decided in time, or whose decision is older than the audit log's retention period;
/// returns whether there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> Result<bool> {
    let now = tx.now();
    let forgotten_before = now.plus_ms(-limits::AUDIT_KEPT_MS);
    let mut gone = Vec::new();
    tx.visit(CLAIMS, &Span::default(), Order::Forward, |id, claim| {
        let is_gone = match claim.decision() {
            None => claim.expires_at <= now,
            Some(decision) => decision.at < forgotten_before,
        };
        if is_gone {
            gone.push((id, claim.code));
        }
        Ok(if gone.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    for (id, code) in &gone {
        tx.delete(CLAIMS, id);
        tx.delete(CODES, code);
    }
    Ok(gone.len() == limit)
}
