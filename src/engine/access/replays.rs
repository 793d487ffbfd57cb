//! Stored responses for repeated requests (`assets/docs/idempotency.md`).
//!
//! A request with an `Idempotency-Key` runs once; a repeat within 24 hours gets the first answer's status and bytes. The record is
//! written in the transaction of the effect, so there is no moment at which one exists without the other. Keys are scoped to the
//! API key. What counts as the same request: method, full path and body, the body compared after its keys are sorted, so that a
//! client that writes its JSON anew is not taken for another.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::base::clock::Timestamp;
use crate::base::secret::{same, sha256};
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{self, Order, Read, Record, Span, Table, WriteTx};
use crate::vocab::ids::KeyId;
use crate::vocab::limits;
use crate::vocab::tables;

type Address = (KeyId, [u8; 32]);

const REPLAYS: Table<Address, Kept> = Table::new(tables::REPLAYS);
const EXPIRY: Table<(Timestamp, KeyId, [u8; 32]), ()> = Table::new(tables::REPLAY_EXPIRY);

/// An answer kept for repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What request it answered.
    fingerprint: [u8; 32],
    pub status: u16,
    pub body: Vec<u8>,
    expires_at: Timestamp,
}

impl Record for Kept {}

/// A request with an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    address: Address,
    fingerprint: [u8; 32],
}

/// What is known of a ticket.
#[derive(Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing: run it.
    New,
    /// The same request was answered with this.
    Answered(Kept),
    /// The same request was answered, and what was said is erased.
    Erased,
    /// The key was used with another request.
    Conflict,
}

impl Ticket {
    /// The ticket of a request.
    pub fn new(key: KeyId, idempotency_key: &[u8], operation: &str, about: &str, body: &[u8]) -> Self {
        Self { address: (key, sha256(idempotency_key)), fingerprint: fingerprint(operation, about, body) }
    }

    /// What the store knows of it.
    pub fn look_up(&self, tx: &impl Read, now: Timestamp) -> store::Result<Known> {
        Ok(match tx.get(REPLAYS, &self.address)?.filter(|kept| now < kept.expires_at) {
            None => Known::New,
            Some(kept) if !same(&kept.fingerprint, &self.fingerprint) => Known::Conflict,
            Some(kept) if kept.status == ERASED => Known::Erased,
            Some(kept) => Known::Answered(kept),
        })
    }

    /// Where the answer belongs, for sealing it.
    pub fn place(&self) -> Vec<u8> {
        [b"replays/".as_slice(), &self.address.0.0, &self.address.1].concat()
    }

    /// Keep the answer.
    pub fn keep(&self, tx: &mut WriteTx<'_>, status: u16, body: &[u8]) {
        let expires_at = tx.now().plus_ms(limits::IDEMPOTENCY_WINDOW_MS);
        let kept = Kept { fingerprint: self.fingerprint, status, body: body.to_vec(), expires_at };
        tx.put(REPLAYS, &self.address, &kept);
        tx.put(EXPIRY, &(expires_at, self.address.0, self.address.1), &());
    }
}

/// The status of an answer that was erased with the person it named; no operation answers so itself. The request still counts as
/// answered and is not run again.
const ERASED: u16 = 410;

/// Empty the answers that name one of `needles`, from behind the key `after` on, looking at up to `limit`; true if there may be more,
/// and `after` then says how far it came.
pub fn redact(tx: &mut WriteTx<'_>, after: &mut Vec<u8>, limit: usize, needles: &[String]) -> store::Result<bool> {
    let span = Span { from: after_prefix(after).filter(|_| !after.is_empty()).unwrap_or_default(), to: None };
    let rows = tx.list(REPLAYS, &span, Order::Forward, limit)?;
    for (address, kept) in &rows {
        let named =
            |needle: &String| kept.body.windows(needle.len().max(1)).any(|window| window.eq_ignore_ascii_case(needle.as_bytes()));
        if needles.iter().any(named) {
            tx.put(REPLAYS, address, &Kept { status: ERASED, body: Vec::new(), ..kept.clone() });
        }
    }
    if let Some((last, _)) = rows.last() {
        *after = last.to_bytes();
    }
    Ok(rows.len() == limit)
}

/// Forget answers whose time is over, a bounded number; true if there may be more.
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
        // The same key may have been used again since: then the record is the newer one's.
        if tx.get(REPLAYS, &address)?.is_some_and(|kept| kept.expires_at <= now) {
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

/// Feed a value to the sum with its keys in order.
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

/// The tickets whose requests are running now.
///
/// Invariant: an address is inside exactly while its guard lives, so a lock never outlives its request and never expires before.
#[derive(Default)]
pub struct Running(Mutex<HashSet<Address>>);

impl Running {
    /// Begin; `None` while another request with this key runs.
    pub fn begin(self: &std::sync::Arc<Self>, ticket: &Ticket) -> Option<Guard> {
        let fresh = self.0.lock().expect("no holder of this lock panics").insert(ticket.address);
        fresh.then(|| Guard { running: self.clone(), address: ticket.address })
    }
}

/// Ends the running of a ticket when dropped.
pub struct Guard {
    running: std::sync::Arc<Running>,
    address: Address,
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
        let running = std::sync::Arc::new(Running::default());
        let ticket = Ticket::new(KeyId::from_bytes([1; 12]), b"k", "things.make", "", b"");
        let guard = running.begin(&ticket).expect("free");
        assert!(running.begin(&ticket).is_none());
        drop(guard);
        assert!(running.begin(&ticket).is_some());
    }
}
