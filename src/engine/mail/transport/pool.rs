//! Open connections: how many there may be, and those that rest between two messages.
//!
//! Invariant: connections in use and at rest together are at most the number given. Who needs one more than that to another server
//! sends the longest-resting one away. It does not know what the connections lead to, only whether two lead to the same.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Duration, Instant};

use crate::engine::mail::smtp::Session;

/// The connections.
pub struct Pool {
    places: Semaphore,
    places_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    in_use: usize,
    /// The longest-resting first.
    resting: Vec<IdleConnection>,
}

struct IdleConnection {
    leads_to: String,
    session: Session,
    since: Instant,
}

/// A place for one connection.
pub struct PoolSlot<'a> {
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    /// At most so many.
    pub fn new(places_max: usize) -> Self {
        Self { places: Semaphore::new(places_max), places_max, state: Mutex::default() }
    }

    /// Wait for a place.
    pub async fn place(&self) -> PoolSlot<'_> {
        let permit = self.places.acquire().await.expect("the semaphore is never closed");
        self.state().in_use += 1;
        PoolSlot { pool: self, _permit: permit }
    }

    /// How many are in use.
    pub fn in_use(&self) -> usize {
        self.state().in_use
    }

    /// Wait until none is in use.
    pub async fn all_free(&self) {
        let all = u32::try_from(self.places_max).expect("the setting is a small number");
        drop(self.places.acquire_many(all).await.expect("the semaphore is never closed"));
    }

    /// Those that have rested for longer than this, out of the pool.
    pub fn rested(&self, now: Instant, longer_than: Duration) -> Vec<Session> {
        let mut state = self.state();
        let count = state.resting.iter().take_while(|resting| now - resting.since >= longer_than).count();
        state.resting.drain(..count).map(|resting| resting.session).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

impl PoolSlot<'_> {
    /// The connection to there that rested last.
    pub fn take(&self, leads_to: &str) -> Option<Session> {
        let mut state = self.pool.state();
        let at = state.resting.iter().rposition(|resting| resting.leads_to == leads_to)?;
        Some(state.resting.remove(at).session)
    }

    /// Make room for a new connection: the one that has to go, if one has to.
    pub fn make_room(&self) -> Option<Session> {
        let mut state = self.pool.state();
        let is_full = state.in_use + state.resting.len() > self.pool.places_max;
        is_full.then(|| state.resting.remove(0).session)
    }

    /// Let a connection rest. For a moment it counts twice, which sends one too many away at worst.
    pub fn put(self, leads_to: &str, session: Session, now: Instant) {
        let resting = IdleConnection { leads_to: leads_to.to_owned(), session, since: now };
        self.pool.state().resting.push(resting);
    }
}

impl Drop for PoolSlot<'_> {
    fn drop(&mut self) {
        self.pool.state().in_use -= 1;
    }
}
