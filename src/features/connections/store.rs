//! The table of connections and all access to it.

pub mod exported;

use std::ops::ControlFlow;

use super::credentials::open;
use super::model::Connection;
use crate::base::clock::Timestamp;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, ConnectionId};
use crate::vocab::{limits, tables};

const CONNECTIONS: Table<(AccountId, ConnectionId), Connection> = Table::new(tables::CONNECTIONS);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(CONNECTIONS)];

pub fn find(tx: &impl Read, account: AccountId, id: ConnectionId) -> Result<Option<Connection>> {
    tx.get(CONNECTIONS, &(account, id))
}

/// Returns the connections of the account, oldest first.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<Connection>> {
    let rows = tx.list(CONNECTIONS, &CONNECTIONS.under(&(account,)), Order::Forward, limits::CONNECTIONS_MAX)?;
    Ok(rows.into_iter().map(|(_, connection)| connection).collect())
}

pub fn save(tx: &mut WriteTx<'_>, connection: &Connection) {
    tx.put(CONNECTIONS, &(connection.account, connection.id), connection);
}

pub fn delete(tx: &mut WriteTx<'_>, connection: &Connection) {
    tx.delete(CONNECTIONS, &(connection.account, connection.id));
}

/// Records that the platform rejected the credentials of `used`, unless they were replaced after `used` was read.
pub fn reject(tx: &mut WriteTx<'_>, used: &Connection, reason: &str) -> Result<()> {
    let Some(mut connection) = find(tx, used.account, used.id)? else { return Ok(()) };
    if connection.sealed_key == used.sealed_key && connection.rejected.as_deref() != Some(reason) {
        connection.rejected = Some(reason.to_owned());
        save(tx, &connection);
    }
    Ok(())
}

/// Records that the platform accepted the credentials of `used`, unless they were replaced after `used` was read.
pub fn accept(tx: &mut WriteTx<'_>, used: &Connection) -> Result<()> {
    let Some(mut connection) = find(tx, used.account, used.id)? else { return Ok(()) };
    if connection.sealed_key == used.sealed_key && connection.rejected.is_some() {
        connection.rejected = None;
        save(tx, &connection);
    }
    Ok(())
}

/// Replaces the credentials of `used`, unless they were replaced after `used` was read; returns the stored connection.
pub fn renew(tx: &mut WriteTx<'_>, used: &Connection, sealed_key: Vec<u8>) -> Result<Option<Connection>> {
    let Some(mut connection) = find(tx, used.account, used.id)? else { return Ok(None) };
    if connection.sealed_key == used.sealed_key {
        connection.sealed_key = sealed_key;
        save(tx, &connection);
    }
    Ok(Some(connection))
}

/// Records the end of the pause that the platform asked for, unless the credentials were replaced after `used` was read.
pub fn limit(tx: &mut WriteTx<'_>, used: &Connection, until: Timestamp) -> Result<()> {
    let Some(mut connection) = find(tx, used.account, used.id)? else { return Ok(()) };
    if connection.sealed_key == used.sealed_key {
        connection.paused_until = Some(until);
        save(tx, &connection);
    }
    Ok(())
}

/// Counts the credentials of all connections, and those that the master key in `seal` does not open.
pub fn sealed(tx: &impl Read, seal: &Seal) -> Result<SecretCount> {
    let mut all = SecretCount::default();
    tx.visit(CONNECTIONS, &Span::default(), Order::Forward, |_, connection| {
        all = all.with(SecretCount::one(open(seal, &connection).is_some()));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}
