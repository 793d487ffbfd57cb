//! Limits how many bytes of large responses are in memory at the same time, over all fetches of the process.
//!
//! Small responses bypass the limit, so that large ones cannot block them.

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::vocab::limits::{RESPONSE_SMALL_BYTES, RESPONSES_BYTES_MAX};

/// The number of bytes per permit of the semaphore: one call can acquire at most `u32::MAX` permits.
const UNIT_BYTES: usize = 1024;
const UNITS_MAX: usize = RESPONSES_BYTES_MAX / UNIT_BYTES;

static UNITS: Semaphore = Semaphore::const_new(UNITS_MAX);

/// Memory reserved for a response; dropping the value releases it.
#[derive(Debug, Default)]
#[must_use = "dropping the value releases the memory"]
pub struct ResponseMemory(Option<SemaphorePermit<'static>>);

impl ResponseMemory {
    /// Reserves memory for a response of up to `bytes` bytes, and waits until enough is free. A response that is larger than the total
    /// reserves the total. Everything that a response needs is reserved at once: responses that each wait for their second half would
    /// deadlock.
    pub async fn reserve(bytes: usize) -> Self {
        let units = units(bytes);
        if units == 0 {
            return Self::default();
        }
        Self(Some(UNITS.acquire_many(units as u32).await.expect("the semaphore is never closed")))
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
    use std::time::Duration;

    use tokio::time::timeout;

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
}
