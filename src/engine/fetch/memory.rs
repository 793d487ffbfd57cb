//! Limits the total memory for the large responses of all fetches in this process.
//!
//! Small responses bypass the limit, so that large ones cannot block them.

use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout, timeout_at};

use crate::vocab::limits::{RESPONSE_SMALL_BYTES, RESPONSES_BYTES_MAX};

/// The number of bytes per permit of the semaphore. A permit stands for more than one byte because one call can acquire at most `u32::MAX`
/// permits.
const UNIT_BYTES: usize = 1024;
const UNITS_MAX: usize = RESPONSES_BYTES_MAX / UNIT_BYTES;

static UNITS: Semaphore = Semaphore::const_new(UNITS_MAX);

/// While a fetch waits for memory, its time limit is extended in steps of this length.
const TICK: Duration = Duration::from_millis(100);
/// The maximum time by which waits for memory extend a fetch's time limit. The connection stays open during a wait, and few servers keep a
/// connection open for longer.
const WAIT_MAX: Duration = Duration::from_secs(60);

tokio::task_local! {
    /// How long the current fetch has waited for memory.
    static WAITED: Cell<Duration>;
}

/// Runs a fetch with a time limit that excludes waits for memory, because the other server is not responsible for these waits. Returns
/// `None` if the time limit passes.
pub async fn within<T>(limit: Duration, fetch: impl Future<Output = T>) -> Option<T> {
    let start = Instant::now();
    let deadline = || start + limit + WAITED.with(Cell::get).min(WAIT_MAX);
    let limited = async {
        let mut fetch = pin!(fetch);
        loop {
            let end = deadline();
            match timeout_at(end, &mut fetch).await {
                Ok(fetched) => return Some(fetched),
                Err(_) if deadline() > end => {}
                Err(_) => return None,
            }
        }
    };
    WAITED.scope(Cell::default(), limited).await
}

/// Changes the recorded wait of the current fetch, if the fetch has a time limit.
fn note_wait(change: impl FnOnce(Duration) -> Duration) {
    let _ = WAITED.try_with(|waited| waited.set(change(waited.get())));
}

/// Memory reserved for a response; dropping the value releases it.
#[derive(Debug, Default)]
#[must_use = "dropping the value releases the memory"]
pub struct ResponseMemory(Option<SemaphorePermit<'static>>);

impl ResponseMemory {
    /// Reserves memory for a response of up to `bytes` bytes, and waits until enough is free. A response that is larger than the total
    /// reserves the total. The memory is not reserved in parts, because responses that each wait for their second part would deadlock.
    pub async fn reserve(bytes: usize) -> Self {
        let units = units(bytes);
        if units == 0 {
            return Self::default();
        }
        let mut turn = pin!(UNITS.acquire_many(units as u32));
        loop {
            let start = Instant::now();
            // Each step of the wait is counted in advance, so that the time limit cannot pass during the step.
            note_wait(|waited| waited + TICK);
            let acquired = timeout(TICK, &mut turn).await;
            note_wait(|waited| (waited + start.elapsed()).saturating_sub(TICK));
            if let Ok(acquired) = acquired {
                return Self(Some(acquired.expect("the semaphore is never closed")));
            }
        }
    }

    /// Releases the memory that a response of `bytes` bytes does not need.
    pub fn shrunk_to(self, bytes: usize) -> Self {
        let Some(mut permit) = self.0 else { return Self::default() };
        let surplus = permit.num_permits().saturating_sub(units(bytes));
        drop(permit.split(surplus));
        Self(Some(permit))
    }
}

fn units(bytes: usize) -> usize {
    if bytes <= RESPONSE_SMALL_BYTES { 0 } else { bytes.div_ceil(UNIT_BYTES).min(UNITS_MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn large_responses_wait_for_memory_and_small_ones_do_not() {
        let all = ResponseMemory::reserve(2 * RESPONSES_BYTES_MAX).await;
        assert!(timeout(MOMENT, ResponseMemory::reserve(RESPONSE_SMALL_BYTES + 1)).await.is_err());
        assert!(timeout(MOMENT, ResponseMemory::reserve(RESPONSE_SMALL_BYTES)).await.is_ok());
        let half = all.shrunk_to(RESPONSES_BYTES_MAX / 2);
        let other = timeout(Duration::from_secs(60), ResponseMemory::reserve(RESPONSES_BYTES_MAX / 4)).await;
        assert!(other.is_ok(), "the other half is free");
        drop((half.shrunk_to(0), other));
    }

    /// Regression test: an import waited for the memory of other imports, and reported that the website did not respond in time.
    #[tokio::test]
    async fn a_wait_for_memory_does_not_count_against_the_time_limit() {
        let limit = Duration::from_millis(300);
        let all = ResponseMemory::reserve(RESPONSES_BYTES_MAX).await;
        let fetch = ResponseMemory::reserve(RESPONSES_BYTES_MAX);
        let release = async {
            tokio::time::sleep(limit * 4).await;
            drop(all);
        };
        let (fetched, ()) = tokio::join!(within(limit, fetch), release);
        assert!(fetched.is_some());
        assert!(within(limit, tokio::time::sleep(limit * 2)).await.is_none());
    }
}
