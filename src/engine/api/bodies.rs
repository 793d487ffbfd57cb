//! Limits how many bytes of large request bodies are in memory at the same time. Operations that read a body as a stream are not limited.
//!
//! A body stays in memory while its operation runs, and so does its parsed form. A few concurrent large bodies would use more memory than a
//! small server has. Small bodies bypass the limit, so that large ones cannot block them.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::failure::Failure;
use super::http_types::Body;
use crate::vocab::codes::Code;
use crate::vocab::limits::{BODIES_BYTES_MAX, BODIES_RETRY_SECONDS, BODIES_WAIT, BODY_SMALL_BYTES};

/// The number of bytes per permit of the semaphore. With one permit per byte, a reservation could exceed `u32::MAX`, the maximum that one
/// call can acquire.
const UNIT_BYTES: usize = 1024;

pub struct Bodies {
    units: Semaphore,
    units_max: usize,
    wait: Duration,
}

/// Memory reserved for one body; dropping the value releases it.
#[must_use = "dropping the value releases the memory"]
pub struct Room<'a> {
    _permit: Option<SemaphorePermit<'a>>,
}

impl Default for Bodies {
    fn default() -> Self {
        Self::new(BODIES_BYTES_MAX, BODIES_WAIT)
    }
}

impl Bodies {
    /// Creates a limit of `bytes` in total. A request waits at most `wait` for its share.
    pub fn new(bytes: usize, wait: Duration) -> Self {
        let units_max = bytes / UNIT_BYTES;
        Self { units: Semaphore::new(units_max), units_max, wait }
    }

    /// Reserves the part of the limit that `body` needs, and waits for it if necessary. Small bodies, and bodies that are rejected unread
    /// because they are too large, reserve nothing. The whole reservation is made before the body is read: bodies that each wait for their
    /// second half would deadlock. A body of unknown length reserves `limit` bytes, the maximum that the operation accepts; a body that is
    /// larger than the total reserves the total.
    pub fn room<'b>(&'b self, body: &Body, limit: usize) -> impl Future<Output = Result<Room<'b>, Failure>> + use<'b> {
        let bytes = match body {
            Body::Empty => 0,
            Body::Whole(bytes) => bytes.len(),
            // A body that is too large is rejected before any of it is read.
            Body::Stream { declared_bytes: Some(declared), .. } if *declared > limit as u64 => 0,
            Body::Stream { declared_bytes, .. } => declared_bytes.map_or(limit, |declared| declared as usize),
        };
        self.room_for(bytes)
    }

    async fn room_for(&self, bytes: usize) -> Result<Room<'_>, Failure> {
        if bytes <= BODY_SMALL_BYTES {
            return Ok(Room { _permit: None });
        }
        let units = bytes.div_ceil(UNIT_BYTES).min(self.units_max);
        match timeout(self.wait, self.units.acquire_many(units as u32)).await {
            Ok(permit) => Ok(Room { _permit: Some(permit.expect("the semaphore is never closed")) }),
            Err(_) => {
                let failure =
                    Failure::because(Code::Unavailable, "Too many large requests are in progress; try again in a few seconds.");
                Err(failure.after_seconds(BODIES_RETRY_SECONDS))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;
    use crate::testing::TestApp;

    const MOMENT: Duration = Duration::from_millis(50);
    const MIB: usize = 1024 * 1024;

    fn body(bytes: usize) -> Body {
        Body::Whole(Bytes::from(vec![b' '; bytes]))
    }

    fn arriving(declared_bytes: Option<u64>) -> Body {
        Body::Stream { declared_bytes, chunks: Box::pin(futures_util::stream::empty()) }
    }

    #[tokio::test]
    async fn large_bodies_wait_for_memory_and_are_rejected_after_a_while() {
        let bodies = Bodies::new(3 * MIB, MOMENT);
        let first = bodies.room(&body(2 * MIB), MIB).await.expect("there is room");
        let refused = bodies.room(&body(2 * MIB), MIB).await.err().expect("there is no room");
        assert_eq!((refused.code, refused.retry_after), (Code::Unavailable, Some(BODIES_RETRY_SECONDS)));
        let large = body(2 * MIB);
        let second = bodies.room(&large, MIB);
        let (second, ()) = tokio::join!(second, async {
            tokio::task::yield_now().await;
            drop(first);
        });
        assert!(second.is_ok());
    }

    #[tokio::test]
    async fn small_bodies_bypass_the_limit() {
        let bodies = Bodies::new(MIB, MOMENT);
        let _all = bodies.room(&body(MIB), MIB).await.expect("there is room");
        for small in
            [Body::Empty, body(BODY_SMALL_BYTES), arriving(Some(BODY_SMALL_BYTES as u64)), arriving(Some(9 * MIB as u64))]
        {
            assert!(bodies.room(&small, 8 * MIB).await.is_ok());
        }
        assert!(bodies.room(&arriving(Some(MIB as u64 / 2)), MIB).await.is_err());
        assert!(bodies.room(&arriving(None), MIB).await.is_err());
    }

    #[tokio::test]
    async fn a_body_larger_than_the_total_is_accepted_alone() {
        let bodies = Bodies::new(MIB, MOMENT);
        let alone = bodies.room(&body(5 * MIB), 8 * MIB).await.expect("no other body is in memory");
        assert!(bodies.room(&body(MIB), 8 * MIB).await.is_err());
        drop(alone);
        assert!(bodies.room(&body(MIB), 8 * MIB).await.is_ok());
    }

    #[test]
    fn a_request_without_memory_gets_503_and_may_try_again() {
        let app = TestApp::new();
        let engine = app.engine().clone();
        let held = app.wait(engine.bodies.room(&body(BODIES_BYTES_MAX), BODIES_BYTES_MAX)).expect("there is room");
        let large = json!({ "email": "ada@example.com", "firstName": "x".repeat(2 * BODY_SMALL_BYTES) });
        let reply = app.reply_to_post("/v1/contacts", &app.with_project(large.clone()));
        assert_eq!(reply.status, 503);
        assert_eq!(reply.headers["retry-after"], BODIES_RETRY_SECONDS.to_string().as_str());
        let answer = app.post_in("/v1/contacts", large.clone());
        assert_eq!(answer.refusal().1, "SERVICE_UNAVAILABLE");
        let small = json!({ "email": "ada@example.com" });
        app.post_in("/v1/contacts", small).data();
        drop(held);
        assert_eq!(
            app.post_in("/v1/contacts", large).status,
            400,
            "the body is read, and then rejected because the name is too long"
        );
    }
}
