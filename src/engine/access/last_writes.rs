//! The position in the change feed after a caller's last write, so that a search soon afterward can wait until the search index contains
//! the write.
//!
//! The positions are kept in memory, for each API key and each session.

use std::sync::{Mutex, PoisonError};

use crate::base::clock::Monotonic;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The last write of one caller, for each environment.
#[derive(Debug, Default)]
pub struct LastWrites([Mutex<Option<LastWrite>>; Environment::ALL.len()]);

#[derive(Clone, Copy, Debug)]
struct LastWrite {
    position: u64,
    at: Monotonic,
}

impl LastWrites {
    /// Records a write that moved the feed to `position`.
    pub fn note(&self, environment: Environment, position: u64, at: Monotonic) {
        let mut last = self.0[environment as usize].lock().unwrap_or_else(PoisonError::into_inner);
        // Two concurrent writes can be recorded in the wrong order, so the higher position is kept.
        let position = last.map_or(position, |last| last.position.max(position));
        *last = Some(LastWrite { position, at });
    }

    /// Returns the feed position that a search must include: the position of the caller's last write, if that write is recent.
    pub fn recent(&self, environment: Environment, now: Monotonic) -> Option<u64> {
        let last = *self.0[environment as usize].lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|last| now.ms_since(last.at) < limits::SEARCH_OWN_WRITES_MS).map(|last| last.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_recent_for_a_second_in_its_environment() {
        let writes = LastWrites::default();
        assert_eq!(writes.recent(Environment::Test, Monotonic(0)), None);
        writes.note(Environment::Test, 7, Monotonic(5_000));
        assert_eq!(writes.recent(Environment::Test, Monotonic(5_999)), Some(7));
        assert_eq!(writes.recent(Environment::Test, Monotonic(6_000)), None);
        assert_eq!(writes.recent(Environment::Live, Monotonic(5_000)), None);
        writes.note(Environment::Test, 6, Monotonic(5_500));
        assert_eq!(
            writes.recent(Environment::Test, Monotonic(6_400)),
            Some(7),
            "an earlier write that is recorded late does not move the position back"
        );
    }
}
