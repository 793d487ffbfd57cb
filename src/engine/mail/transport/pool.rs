//! The pool of open connections. It limits the number of connections, and keeps idle connections open between messages.
//!
//! Invariant: the connections in use and the idle ones together do not exceed the maximum. If the pool is full and a server needs one more
//! connection, the connection that has been idle longest is closed. The pool distinguishes connections only by their server.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Duration, Instant};

use crate::engine::mail::smtp::Session;

pub struct Pool {
    places: Semaphore,
    places_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    in_use: usize,
    /// The idle connections, starting with the one that has been idle longest.
    resting: Vec<IdleConnection>,
}

struct IdleConnection {
    leads_to: String,
    session: Session,
    since: Instant,
}

pub struct PoolSlot<'a> {
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pool {
    /// Creates a pool of at most this many connections.
    pub fn new(places_max: usize) -> Self {
        Self { places: Semaphore::new(places_max), places_max, state: Mutex::default() }
    }

    pub async fn place(&self) -> PoolSlot<'_> {
        let permit = self.places.acquire().await.expect("the semaphore is never closed");
        self.state().in_use += 1;
        PoolSlot { pool: self, _permit: permit }
    }

    pub fn in_use(&self) -> usize {
        self.state().in_use
    }

    /// Waits until no connection is in use.
    pub async fn all_free(&self) {
        let all = u32::try_from(self.places_max).expect("the setting is a small number");
        drop(self.places.acquire_many(all).await.expect("the semaphore is never closed"));
    }

    /// Removes and returns the connections that have been idle for at least this duration.
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
    /// Removes and returns the most recently used idle connection to this server.
    pub fn take(&self, leads_to: &str) -> Option<Session> {
        let mut state = self.pool.state();
        let at = state.resting.iter().rposition(|resting| resting.leads_to == leads_to)?;
        Some(state.resting.remove(at).session)
    }

    /// If the pool is full, removes and returns the connection that has been idle longest. The caller must close it before it opens a new
    /// one.
    pub fn make_room(&self) -> Option<Session> {
        let mut state = self.pool.state();
        let is_full = state.in_use + state.resting.len() > self.pool.places_max;
        is_full.then(|| state.resting.remove(0).session)
    }

    /// Puts a connection back into the pool. For a moment, the connection is counted twice, so at worst, one connection too many is closed.
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
