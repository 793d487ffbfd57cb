//! Stored responses for repeated requests (`assets/docs/idempotency.md`).
//!
//! Within 24 hours, a repeated request with the same `Idempotency-Key` gets the status and bytes of the first response. Failures with
//! status 429 or 5xx are not stored. Commands store the response in the same transaction as their effect. Asynchronous operations store it
//! after their effect; if the process crashes in between, the repeated request runs again. Idempotency keys are scoped to the API key. Two
//! requests are the same if their operations, their path parameters and their bodies match. Bodies are compared with sorted JSON keys, so a
//! repeated request can order its keys differently.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::base::clock::Timestamp;
use crate::base::secret::{same, sha256};
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{self, Order, Read, Record, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::KeyId;
use crate::vocab::limits;
use crate::vocab::tables;

type RecordKey = (KeyId, [u8; 32]);

const REPLAYS: Table<RecordKey, StoredAnswer> = Table::new(tables::REPLAYS);
const EXPIRY: Table<(Timestamp, KeyId, [u8; 32]), ()> = Table::new(tables::REPLAY_EXPIRY);

/// The checks of `mailmill check-data` that decode every stored response and every row of its expiry index.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(REPLAYS), RowCheck::of(EXPIRY)];

/// A stored response, which is returned when the same request is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAnswer {
    fingerprint: [u8; 32],
    pub status: u16,
    pub body: Vec<u8>,
    expires_at: Timestamp,
}

impl Record for StoredAnswer {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdempotentRequest {
    address: RecordKey,
    fingerprint: [u8; 32],
}

#[derive(Debug, PartialEq, Eq)]
pub enum Lookup {
    /// Nothing is stored for the key: the request must run.
    New,
    /// The same request ran before and got this response.
    Answered(StoredAnswer),
    /// The same request was completed before, but its response has been erased.
    Erased,
    /// The key was used before with a different request.
    Conflict,
}

impl IdempotentRequest {
    /// Identifies a request by its API key, idempotency key, operation, path parameters (`about`) and body.
    pub fn new(key: KeyId, idempotency_key: &[u8], operation: &str, about: &str, body: &[u8]) -> Self {
        Self { address: (key, sha256(idempotency_key)), fingerprint: fingerprint(operation, about, body) }
    }

    pub fn look_up(&self, tx: &impl Read, now: Timestamp) -> store::Result<Lookup> {
        Ok(match tx.get(REPLAYS, &self.address)?.filter(|stored| now < stored.expires_at) {
            None => Lookup::New,
            Some(stored) if !same(&stored.fingerprint, &self.fingerprint) => Lookup::Conflict,
            Some(stored) if stored.status == ERASED => Lookup::Erased,
            Some(stored) => Lookup::Answered(stored),
        })
    }

    /// Returns the context that binds the encrypted response to this request.
    pub fn place(&self) -> Vec<u8> {
        [b"replays/".as_slice(), &self.address.0.0, &self.address.1].concat()
    }

    pub fn store(&self, tx: &mut WriteTx<'_>, status: u16, body: &[u8]) {
        let expires_at = tx.now().plus_ms(limits::IDEMPOTENCY_WINDOW_MS);
        let stored = StoredAnswer { fingerprint: self.fingerprint, status, body: body.to_vec(), expires_at };
        tx.put(REPLAYS, &self.address, &stored);
        tx.put(EXPIRY, &(expires_at, self.address.0, self.address.1), &());
    }
}

/// The stored status of a response that was erased together with the contact it named; no operation returns this status. The request is
/// still treated as completed and does not run again.
const ERASED: u16 = 410;

/// Erases the responses that contain one of `needles`; encrypted responses are not searched. Reads up to `limit` responses, starting after
/// the key `after`. Returns true if there may be more, and then sets `after` to the last key read.
pub fn redact(tx: &mut WriteTx<'_>, after: &mut Vec<u8>, limit: usize, needles: &[String]) -> store::Result<bool> {
    let span = Span { from: after_prefix(after).filter(|_| !after.is_empty()).unwrap_or_default(), to: None };
    let rows = tx.list(REPLAYS, &span, Order::Forward, limit)?;
    for (address, stored) in &rows {
        let named = |needle: &String| {
            stored.body.windows(needle.len().max(1)).any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        };
        if needles.iter().any(named) {
            tx.put(REPLAYS, address, &StoredAnswer { status: ERASED, body: Vec::new(), ..stored.clone() });
        }
    }
    if let Some((last, _)) = rows.last() {
        *after = last.to_bytes();
    }
    Ok(rows.len() == limit)
}

/// Deletes up to `limit` expired responses; returns true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, limit: usize) -> store::Result<bool> {
    let now = tx.now();
    let span = Span { from: Vec::new(), to: Some(now.to_bytes()) };
    let mut due = Vec::new();
    tx.visit(EXPIRY, &span, Order::Forward, |key, ()| {
        due.push(key);
        Ok(if due.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    let full = due.len() == limit;
    for key in due {
        let address = (key.1, key.2);
        // The idempotency key may have been used again after this record expired; in that case, the newer record is kept.
        if tx.get(REPLAYS, &address)?.is_some_and(|stored| stored.expires_at <= now) {
            tx.delete(REPLAYS, &address);
        }
        tx.delete(EXPIRY, &key);
    }
    Ok(full)
}

fn fingerprint(operation: &str, about: &str, body: &[u8]) -> [u8; 32] {
    let mut sum = Sha256::new();
    for part in [operation.as_bytes(), about.as_bytes()] {
        sum.update((part.len() as u64).to_le_bytes());
        sum.update(part);
    }
    match serde_json::from_slice::<Value>(body) {
        Ok(value) => canonical(&value, &mut sum),
        Err(_) => sum.update(body),
    }
    sum.finalize().into()
}

/// Hashes a JSON value with the keys of its objects sorted.
fn canonical(value: &Value, sum: &mut Sha256) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            sum.update(b"{");
            for (name, value) in entries {
                sum.update((name.len() as u64).to_le_bytes());
                sum.update(name);
                canonical(value, sum);
            }
            sum.update(b"}");
        }
        Value::Array(items) => {
            sum.update(b"[");
            items.iter().for_each(|item| canonical(item, sum));
            sum.update(b"]");
        }
        Value::String(text) => {
            sum.update(b"\"");
            sum.update((text.len() as u64).to_le_bytes());
            sum.update(text);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => sum.update(format!("{value};")),
    }
}

/// The running requests that have an idempotency key.
///
/// Invariant: the record key of a request is in the set exactly while the request's [`Guard`] exists, so the lock on an idempotency key
/// neither outlives the request nor expires before the request ends.
#[derive(Default)]
pub struct InFlight(Mutex<HashSet<RecordKey>>);

impl InFlight {
    /// Marks a request as running; returns `None` while another request with the same idempotency key is running.
    pub fn begin(self: &std::sync::Arc<Self>, ticket: &IdempotentRequest) -> Option<Guard> {
        let fresh = self.0.lock().expect("no holder of this lock panics").insert(ticket.address);
        fresh.then(|| Guard { running: self.clone(), address: ticket.address })
    }
}

/// Marks the request as ended when dropped.
pub struct Guard {
    running: std::sync::Arc<InFlight>,
    address: RecordKey,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.running.0.lock().expect("no holder of this lock panics").remove(&self.address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_request_in_another_spelling_is_the_same() {
        let one = fingerprint("POST", "/v1/contacts", br#"{"email":"a@b.example","tags":["x"]}"#);
        assert_eq!(one, fingerprint("POST", "/v1/contacts", b"{ \"tags\": [\"x\"],\n\"email\": \"a@b.example\" }"));
        assert_ne!(one, fingerprint("POST", "/v1/contacts", br#"{"email":"a@b.example","tags":["y"]}"#));
        assert_ne!(one, fingerprint("POST", "/v1/contacts/bulk", br#"{"email":"a@b.example","tags":["x"]}"#));
    }

    #[test]
    fn two_requests_with_one_key_do_not_run_at_once() {
        let running = std::sync::Arc::new(InFlight::default());
        let ticket = IdempotentRequest::new(KeyId::from_bytes([1; 12]), b"k", "things.make", "", b"");
        let guard = running.begin(&ticket).expect("no request with this key is running");
        assert!(running.begin(&ticket).is_none());
        drop(guard);
        assert!(running.begin(&ticket).is_some());
    }
}
