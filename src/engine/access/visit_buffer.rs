//! Visits to links in messages, buffered in memory for a moment so that a visitor does not wait for the disk.
//!
//! The tracking feature removes the visits in batches and interprets them. Visits that do not fit in the buffer are dropped and counted: a
//! flood of visits makes the statistics less accurate, but does not use up memory.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::vocab::ids::MailingId;
use crate::vocab::limits;

/// A visit to a link in a message, or a request for the message's tracking pixel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Visit {
    pub mailing: MailingId,
    pub recipient: u32,
    /// The number of the visited link; `None` for the tracking pixel.
    pub link: Option<u16>,
    #[schemars(with = "i64")]
    pub at: Timestamp,
    /// The User-Agent header of the visit, truncated.
    pub agent: String,
    pub is_head: bool,
    /// Whether the client declared that the request is a prefetch.
    pub is_prefetch: bool,
}

/// The visits of one environment that are not stored yet.
#[derive(Default)]
pub struct VisitBuffer {
    inner: Mutex<Inner>,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Inner {
    visits: VecDeque<Visit>,
    /// Hashes of the mailing, recipient, link and client of each visit, in the current window of [`limits::VISIT_REPEAT_MS`] and in the
    /// previous one.
    seen: [HashSet<u64>; 2],
    window: i64,
}

impl VisitBuffer {
    /// Buffers a visit if there is space. A repeated visit by the same `client` to the same link within a short time is ignored.
    ///
    /// Only a hash of `client` is kept, and only in memory.
    pub fn note(&self, visit: Visit, client: &[u8]) {
        let mut inner = self.inner();
        if inner.is_repeat(&visit, client) {
            return;
        }
        if inner.visits.len() < limits::VISITS_WAITING_MAX {
            inner.visits.push_back(visit);
        } else {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Removes and returns up to `limit` visits, oldest first.
    pub fn take(&self, limit: usize) -> Vec<Visit> {
        let mut inner = self.inner();
        let many = inner.visits.len().min(limit);
        inner.visits.drain(..many).collect()
    }

    /// Puts visits back at the front of the buffer, because they could not be stored.
    pub fn put_back(&self, visits: Vec<Visit>) {
        let mut inner = self.inner();
        for visit in visits.into_iter().rev() {
            inner.visits.push_front(visit);
        }
    }

    /// Returns the number of visits dropped since the last call.
    pub fn dropped(&self) -> u64 {
        self.dropped.swap(0, Ordering::Relaxed)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no holder of this lock panics")
    }
}

impl Inner {
    fn is_repeat(&mut self, visit: &Visit, client: &[u8]) -> bool {
        let window = visit.at.0.div_euclid(limits::VISIT_REPEAT_MS);
        if window != self.window {
            let [now, before] = &mut self.seen;
            if window == self.window + 1 {
                std::mem::swap(now, before)
            } else {
                before.clear()
            }
            now.clear();
            self.window = window;
        }
        let mut hasher = DefaultHasher::new();
        (visit.mailing, visit.recipient, visit.link, client).hash(&mut hasher);
        let known = hasher.finish();
        let again = self.seen.iter().any(|seen| seen.contains(&known));
        // The set is bounded even during a flood. While the set is full, visits are not added to it, so their repeats are counted as new
        // visits.
        if self.seen[0].len() < limits::VISITS_WAITING_MAX {
            self.seen[0].insert(known);
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(recipient: u32) -> Visit {
        Visit {
            mailing: MailingId::from_bytes([1; 12]),
            recipient,
            link: None,
            at: Timestamp(0),
            agent: String::new(),
            is_head: false,
            is_prefetch: false,
        }
    }

    #[test]
    fn excess_visits_are_dropped_and_counted_and_failed_ones_come_first_again() {
        let visits = VisitBuffer::default();
        for recipient in 0..limits::VISITS_WAITING_MAX as u32 + 3 {
            visits.note(visit(recipient), b"a client");
        }
        assert_eq!((visits.dropped(), visits.dropped()), (3, 0));
        let taken = visits.take(2);
        visits.put_back(taken);
        assert_eq!(visits.take(3).iter().map(|visit| visit.recipient).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn the_same_client_at_the_same_link_counts_once_within_a_moment() {
        let visits = VisitBuffer::default();
        let at = |ms| Visit { at: Timestamp(ms), ..visit(1) };
        visits.note(at(900), b"ann");
        visits.note(at(950), b"ann");
        visits.note(at(950), b"bob");
        visits.note(Visit { link: Some(1), ..at(950) }, b"ann");
        visits.note(at(1_100), b"ann");
        assert_eq!(visits.take(10).len(), 3);
        visits.note(at(5_000), b"ann");
        assert_eq!(visits.take(10).len(), 1);
    }
}
