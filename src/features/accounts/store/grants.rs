//! The tables of authorization codes, grants and refresh tokens, and all access to them.

use std::ops::ControlFlow;

use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::accounts::authorization::model::{Code, Grant, RefreshRow};
use crate::vocab::ids::KeyId;
use crate::vocab::limits;
use crate::vocab::tables;

const CODES: Table<[u8; 32], Code> = Table::new(tables::OAUTH_CODES);
const GRANTS: Table<KeyId, Grant> = Table::new(tables::OAUTH_GRANTS);
const REFRESH_TOKENS: Table<[u8; 32], RefreshRow> = Table::new(tables::OAUTH_REFRESH_TOKENS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(CODES), RowCheck::of(GRANTS), RowCheck::of(REFRESH_TOKENS)];

pub fn code(tx: &impl Read, hash: [u8; 32]) -> Result<Option<Code>> {
    tx.get(CODES, &hash)
}

pub fn save_code(tx: &mut WriteTx<'_>, hash: [u8; 32], code: &Code) {
    tx.put(CODES, &hash, code);
}

pub fn find(tx: &impl Read, key: KeyId) -> Result<Option<Grant>> {
    tx.get(GRANTS, &key)
}

/// Returns the row and the grant of the refresh token with this hash, even if the token was replaced.
pub fn by_refresh(tx: &impl Read, hash: [u8; 32]) -> Result<Option<(RefreshRow, Grant)>> {
    let Some(row) = tx.get(REFRESH_TOKENS, &hash)? else { return Ok(None) };
    Ok(tx.get(GRANTS, &row.key)?.map(|grant| (row, grant)))
}

/// Returns the grants of all accounts.
pub fn all(tx: &impl Read) -> Result<Vec<Grant>> {
    Ok(tx.list(GRANTS, &Span::default(), Order::Forward, usize::MAX)?.into_iter().map(|(_, grant)| grant).collect())
}

pub fn save(tx: &mut WriteTx<'_>, grant: &Grant) {
    tx.put(GRANTS, &grant.key, grant);
}

pub fn save_refresh(tx: &mut WriteTx<'_>, hash: [u8; 32], row: &RefreshRow) {
    tx.put(REFRESH_TOKENS, &hash, row);
}

/// Deletes up to `limit` expired rows of each table. Returns whether there may be more, and the keys of the ended grants.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> Result<(bool, Vec<KeyId>)> {
    let now = tx.now();
    let mut codes = Vec::new();
    tx.visit(CODES, &Span::default(), Order::Forward, |hash, code| {
        if code.expires_at.plus_ms(limits::OAUTH_CODE_KEPT_MS) <= now {
            codes.push(hash);
        }
        Ok(if codes.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let mut tokens = Vec::new();
    tx.visit(REFRESH_TOKENS, &Span::default(), Order::Forward, |hash, row| {
        if row.expires_at <= now {
            tokens.push(hash);
        }
        Ok(if tokens.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let mut grants = Vec::new();
    tx.visit(GRANTS, &Span::default(), Order::Forward, |key, grant| {
        if grant.refresh_expires_at <= now {
            grants.push(key);
        }
        Ok(if grants.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    codes.iter().for_each(|hash| tx.delete(CODES, hash));
    tokens.iter().for_each(|hash| tx.delete(REFRESH_TOKENS, hash));
    grants.iter().for_each(|key| tx.delete(GRANTS, key));
    Ok((codes.len() == limit || tokens.len() == limit || grants.len() == limit, grants))
}
