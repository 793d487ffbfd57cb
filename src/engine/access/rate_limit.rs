//! Request budgets: the maximum number of requests per account and route group in a 60-second window. A window starts with its first
//! request.
//!
//! The rules are in `assets/docs/rate-limits.md`. The keys of an account share their windows, so an additional key adds no budget; users
//! share separate windows. The windows are in memory, so each account has full budgets after a restart.

use std::sync::Mutex;

use crate::base::clock::{Monotonic, Timestamp};
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// When the window started, on the monotonic clock; `None` before the first request. Setting the machine's clock back must not make the
    /// window longer.
    started: Option<Monotonic>,
    used: u32,
}

/// The windows that an account's keys share, or that its users share: one for each route group.
#[derive(Debug, Default)]
pub struct RateLimits {
    windows: [Mutex<Window>; RouteGroup::ALL.len()],
}

/// The values of a response's rate-limit headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// When the window ends, in Unix seconds.
    pub reset: i64,
    /// Whether this request is within the budget.
    pub granted: bool,
    /// The number of whole seconds until the window ends; at least 1.
    pub retry_after: u64,
}

impl RateLimits {
    /// Counts one request of the group `rate`, if the window has fewer than `limit` requests. The request was made at `now`, which
    /// is `at` on the monotonic clock. A limit of zero blocks the group.
    pub fn take(&self, rate: RouteGroup, limit: u32, (now, at): (Timestamp, Monotonic)) -> Allowance {
        let mut window = self.windows[rate as usize].lock().expect("no holder of this lock panics");
        let running = window.started.filter(|started| at.ms_since(*started) < limits::BUDGET_WINDOW_MS);
        let started = running.unwrap_or(at);
        if running.is_none() {
            *window = Window { started: Some(at), used: 0 };
        }
        let granted = window.used < limit;
        if granted {
            window.used += 1;
        }
        let left_ms = limits::BUDGET_WINDOW_MS - at.ms_since(started);
        // The time is rounded up, so that the window has ended for a client that waits until `reset`.
        let reset = now.plus_ms(left_ms + 999).seconds();
        let retry_after = (left_ms.max(1) as u64).div_ceil(1000);
        // During a window, the account can change to a plan whose limit is lower than the number of requests already made.
        Allowance { limit, remaining: limit.saturating_sub(window.used), reset, granted, retry_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_starts_with_its_first_request_and_ends_sixty_seconds_later() {
        let limits_of_account = RateLimits::default();
        let at = |ms: i64| (Timestamp(1_000_500 + ms), Monotonic(ms));
        let first = limits_of_account.take(RouteGroup::General, 2, at(0));
        assert_eq!((first.granted, first.remaining, first.reset, first.retry_after), (true, 1, 1061, 60));
        assert!(limits_of_account.take(RouteGroup::General, 2, at(59_000)).granted);
        let refused = limits_of_account.take(RouteGroup::General, 2, at(59_999));
        assert_eq!((refused.granted, refused.remaining, refused.retry_after), (false, 0, 1));
        let next = limits_of_account.take(RouteGroup::General, 2, at(60_000));
        assert_eq!((next.granted, next.remaining), (true, 1));
    }

    /// After the clock was set back by ten minutes, an earlier version of the limiter returned 429 for ten minutes.
    #[test]
    fn a_clock_set_back_or_forward_changes_no_window() {
        for off_ms in [-600_000, 600_000] {
            let limits_of_account = RateLimits::default();
            let start = Timestamp(1_000_000_000);
            assert!(limits_of_account.take(RouteGroup::General, 1, (start, Monotonic(0))).granted);
            let refused = limits_of_account.take(RouteGroup::General, 1, (start.plus_ms(off_ms + 1_000), Monotonic(1_000)));
            assert_eq!((refused.granted, refused.retry_after), (false, 59));
            assert_eq!(refused.reset, start.plus_ms(off_ms + 60_000).seconds());
            assert!(limits_of_account.take(RouteGroup::General, 1, (start.plus_ms(off_ms + 60_000), Monotonic(60_000))).granted);
        }
    }

    #[test]
    fn a_limit_lowered_within_a_window_leaves_nothing() {
        let limits_of_account = RateLimits::default();
        let at = (Timestamp(0), Monotonic(0));
        assert!(limits_of_account.take(RouteGroup::General, 3, at).granted);
        assert!(limits_of_account.take(RouteGroup::General, 3, at).granted);
        let lowered = limits_of_account.take(RouteGroup::General, 1, at);
        assert_eq!((lowered.granted, lowered.limit, lowered.remaining), (false, 1, 0));
    }

    #[test]
    fn each_group_has_a_separate_window_and_zero_blocks_a_group() {
        let limits_of_account = RateLimits::default();
        let at = (Timestamp(0), Monotonic(0));
        assert!(limits_of_account.take(RouteGroup::General, 1, at).granted);
        assert!(limits_of_account.take(RouteGroup::Sending, 1, at).granted);
        let closed = limits_of_account.take(RouteGroup::Campaigns, 0, at);
        assert_eq!((closed.granted, closed.limit, closed.remaining), (false, 0, 0));
    }
}
