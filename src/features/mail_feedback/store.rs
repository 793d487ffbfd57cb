//! The tables of mail services, and all access to them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::model::{MailFeedback, Standing, secret_context};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, MailFeedbackId};
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;
use crate::vocab::tables;

/// Half of a SHA-256 digest, which is long enough to rule out collisions.
type Digest = [u8; 16];
type Key = (AccountId, MailFeedbackId);

/// A request whose ID is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KnownRequest {
    body: Digest,
}

impl Record for KnownRequest {}

const ROWS: Table<Key, MailFeedback> = Table::new(tables::MAIL_FEEDBACK);
const STANDINGS: Table<Key, Standing> = Table::new(tables::MAIL_FEEDBACK_STANDINGS);
const REQUESTS: Table<(MailFeedbackId, Digest), KnownRequest> = Table::new(tables::MAIL_FEEDBACK_REQUESTS);
const REQUEST_ORDER: Table<(MailFeedbackId, Timestamp, Digest), ()> = Table::new(tables::MAIL_FEEDBACK_REQUEST_ORDER);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] =
    &[RowCheck::of(ROWS), RowCheck::of(STANDINGS), RowCheck::of(REQUESTS), RowCheck::of(REQUEST_ORDER)];

pub fn find(tx: &impl Read, account: AccountId, id: MailFeedbackId) -> Result<Option<MailFeedback>> {
    tx.get(ROWS, &(account, id))
}

/// Returns whether a mail service still exists and has the same URL.
pub fn is_current(tx: &impl Read, row: &MailFeedback) -> Result<bool> {
    Ok(find(tx, row.account, row.id)?.is_some_and(|known| known.url_hash == row.url_hash))
}

/// Returns every mail service of the account, oldest first.
pub fn all(tx: &impl Read, account: AccountId) -> Result<Vec<MailFeedback>> {
    let rows = tx.list(ROWS, &ROWS.under(&(account,)), Order::Forward, limits::MAIL_FEEDBACK_MAX)?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Returns the services for which at least one account has a webhook.
pub fn services(tx: &impl Read) -> Result<BTreeSet<MailService>> {
    let mut services = BTreeSet::new();
    tx.visit(ROWS, &Span::default(), Order::Forward, |_, row| {
        services.insert(row.service);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(services)
}

/// Counts the secrets of all mail services, and those that the master key in `seal` cannot decrypt.
pub fn sealed(tx: &impl Read, seal: &Seal) -> Result<SecretCount> {
    let mut all = SecretCount::default();
    tx.visit(ROWS, &Span::default(), Order::Forward, |(account, id), row| {
        if let Some(sealed) = &row.sealed_secret {
            all = all.with(SecretCount::one(seal.open(&secret_context(account, id), sealed).is_some()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

pub fn save(tx: &mut WriteTx<'_>, row: &MailFeedback) {
    tx.put(ROWS, &(row.account, row.id), row);
}

/// Deletes a mail service with its counts and the IDs of its requests.
pub fn delete(tx: &mut WriteTx<'_>, row: &MailFeedback) -> Result<()> {
    let requests = limits::MAIL_FEEDBACK_REQUESTS_MAX as usize + 1;
    tx.delete(ROWS, &(row.account, row.id));
    tx.delete(STANDINGS, &(row.account, row.id));
    tx.delete_span(REQUESTS, &REQUESTS.under(&(row.id,)), requests)?;
    tx.delete_span(REQUEST_ORDER, &REQUEST_ORDER.under(&(row.id,)), requests)?;
    Ok(())
}

pub fn standing(tx: &impl Read, key: Key) -> Result<Standing> {
    Ok(tx.get(STANDINGS, &key)?.unwrap_or_default())
}

pub fn save_standing(tx: &mut WriteTx<'_>, key: Key, standing: &Standing) {
    tx.put(STANDINGS, &key, standing);
}

/// Whether a request is new or repeats an earlier request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    First,
    Repeated,
    /// The ID of an earlier request was used again with a different body.
    Reused,
}

/// Stores the ID of a request and returns whether the request is new. For a new ID, also deletes up to two of the oldest IDs if their
/// requests would no longer be accepted or if too many IDs are stored.
pub fn remember(
    tx: &mut WriteTx<'_>,
    id: MailFeedbackId,
    standing: &mut Standing,
    (request, body): (&str, &[u8]),
) -> Result<Arrival> {
    let key = (id, digest(request.as_bytes()));
    let (known_request, now) = (KnownRequest { body: digest(body) }, tx.now());
    if let Some(known) = tx.get(REQUESTS, &key)? {
        return Ok(if known == known_request { Arrival::Repeated } else { Arrival::Reused });
    }
    let kept_from = now.plus_ms(-limits::MAIL_FEEDBACK_AGE_MAX_MS - limits::MAIL_FEEDBACK_CLOCK_MS_MAX);
    // Up to two old IDs are deleted for each new ID, so that the number of IDs decreases after a burst.
    for ((id, at, digest), ()) in tx.list(REQUEST_ORDER, &REQUEST_ORDER.under(&(id,)), Order::Forward, 2)? {
        if at < kept_from || standing.remembered >= limits::MAIL_FEEDBACK_REQUESTS_MAX {
            tx.delete(REQUEST_ORDER, &(id, at, digest));
            tx.delete(REQUESTS, &(id, digest));
            standing.remembered = standing.remembered.saturating_sub(1);
        }
    }
    tx.put(REQUESTS, &key, &known_request);
    tx.put(REQUEST_ORDER, &(id, now, key.1), &());
    standing.remembered += 1;
    Ok(Arrival::First)
}

fn digest(bytes: &[u8]) -> Digest {
    *sha256(bytes).first_chunk().expect("a SHA-256 sum has 32 bytes")
}
