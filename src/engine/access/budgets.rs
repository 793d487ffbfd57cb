//! Request budgets: so many requests per account and route group in a window of 60 seconds that begins with its first request.
//!
//! Specification, Limits, Request budgets 1–7. Every key of an account draws on the same windows; creating a key raises nothing.
//! The windows live in memory: after a restart they begin anew, which can only be to the caller's advantage and for a minute.

use std::sync::Mutex;

use crate::base::clock::Timestamp;
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

/// One group's window of one account.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// `None` before the first request.
    started: Option<Timestamp>,
    used: u32,
}

/// The budgets of one account.
#[derive(Debug, Default)]
pub struct Budgets {
    windows: [Mutex<Window>; RouteGroup::ALL.len()],
}

/// What the headers of a limited answer say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// Unix seconds at which the window ends.
    pub reset: i64,
    /// Whether this request is within the budget.
    pub granted: bool,
    /// Whole seconds until the window ends; at least 1.
    pub retry_after: u64,
}

impl Budgets {
    /// Count one request of group `rate` against `limit`. A limit of zero closes the group.
    pub fn take(&self, rate: RouteGroup, limit: u32, now: Timestamp) -> Allowance {
        let mut window = self.windows[rate as usize].lock().expect("no holder of this lock panics");
        let running = window.started.filter(|started| now.ms_since(*started) < limits::BUDGET_WINDOW_MS);
        let started = running.unwrap_or(now);
        if running.is_none() {
            *window = Window { started: Some(now), used: 0 };
        }
        let granted = window.used < limit;
        if granted {
            window.used += 1;
        }
        let end = started.plus_ms(limits::BUDGET_WINDOW_MS);
        // Rounded up: a client that waits until `reset` must find the window over.
        let reset = end.plus_ms(999).seconds();
        let retry_after = (end.ms_since(now).max(1) as u64).div_ceil(1000);
        Allowance { limit, remaining: limit - window.used, reset, granted, retry_after }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_starts_with_its_first_request_and_ends_sixty_seconds_later() {
        let budgets = Budgets::default();
        let start = Timestamp(1_000_500);
        let first = budgets.take(RouteGroup::General, 2, start);
        assert_eq!((first.granted, first.remaining, first.reset, first.retry_after), (true, 1, 1061, 60));
        assert!(budgets.take(RouteGroup::General, 2, start.plus_ms(59_000)).granted);
        let refused = budgets.take(RouteGroup::General, 2, start.plus_ms(59_999));
        assert_eq!((refused.granted, refused.remaining, refused.retry_after), (false, 0, 1));
        let next = budgets.take(RouteGroup::General, 2, start.plus_ms(60_000));
        assert_eq!((next.granted, next.remaining), (true, 1));
    }

    #[test]
    fn groups_have_windows_of_their_own_and_zero_closes_a_group() {
        let budgets = Budgets::default();
        assert!(budgets.take(RouteGroup::General, 1, Timestamp(0)).granted);
        assert!(budgets.take(RouteGroup::Sending, 1, Timestamp(0)).granted);
        let closed = budgets.take(RouteGroup::Campaigns, 0, Timestamp(0));
        assert_eq!((closed.granted, closed.limit, closed.remaining), (false, 0, 0));
    }
}
