//! Admits connections up to a maximum, in total and per address. When all connections are in use, idle connections are closed to admit new
//! ones.
//!
//! The connection that is closed first is the one that has been idle longest among the connections from the address with the most
//! connections. So idle connections in a flood from a few addresses are closed first, and a visitor's only connection is closed last. A
//! connection is not closed while a request is in progress on it, or while its client is still reading a reply. A connection that is
//! already closing is chosen only if no other connection is idle. The connection's owner reports its state through [`Activity`].

mod activity;

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

pub use self::activity::Activity;
use self::activity::Idle;
use crate::base::network::counted_as;

/// The maximum number of rejections that are written at the same time. Further connections are closed without a response: during a flood,
/// writing responses would use up the resources that the maximum number of connections protects.
const REFUSALS_MAX: usize = 64;
/// How long the closing order is reused before it is computed again. The computation reads all connections.
const ORDER_KEPT: Duration = Duration::from_millis(100);
/// How long to wait for a connection that was asked to close before another connection is also asked. A connection that receives a
/// request just before it is asked to close responds to the request first.
const CLOSING_TIME: Duration = Duration::from_millis(50);
/// The maximum number of attempts to admit a waiting connection. With each attempt, one more connection must be closing.
const TRIES_MAX: usize = 20;
/// When all connections are in use, one idle connection per `AHEAD_OF` connections is closed in advance, up to [`AHEAD_MAX`], so that new
/// connections do not wait for each other during a flood.
const AHEAD_OF: usize = 128;
const AHEAD_MAX: usize = 32;

pub struct Admission {
    total_max: usize,
    per_address_max: usize,
    state: Mutex<State>,
    /// Notified when a connection has ended.
    freed: Notify,
}

#[derive(Default)]
struct State {
    total: usize,
    refusals: usize,
    addresses: HashMap<IpAddr, usize>,
    seats: HashMap<u64, Slot>,
    /// The few connections that were asked to close and are still open.
    asked: Vec<u64>,
    next_seat: u64,
    order: Order,
}

struct Slot {
    address: Option<IpAddr>,
    activity: Arc<Activity>,
    is_asked_to_close: bool,
}

/// The idle connections in closing order, each with its state when the order was computed.
#[derive(Default)]
struct Order {
    seats: VecDeque<(u64, Idle)>,
    computed_at: Option<Instant>,
}

/// Where a connection comes from, which determines how it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A remote address: its connections are counted, and limited per address.
    Remote(IpAddr),
    /// This machine: its connections are counted, but limited only in total, because all programs on the machine share one address.
    Loopback(IpAddr),
    /// A trusted proxy or a local socket, which many clients share: its connections are not counted by address.
    Shared,
}

impl Origin {
    fn address(self) -> Option<IpAddr> {
        match self {
            Self::Remote(address) | Self::Loopback(address) => Some(counted_as(address)),
            Self::Shared => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// All connections are in use, and no idle connection was closed in time.
    Total,
    /// This address already has its maximum number of connections.
    Address,
}

/// A permit for one open connection, or for writing one rejection. Dropping the ticket releases the permit.
pub struct Ticket {
    admission: Arc<Admission>,
    held: TicketKind,
}

enum TicketKind {
    Connection { seat: u64, activity: Arc<Activity> },
    Refusal,
}

impl Ticket {
    /// Returns the activity of the connection; the connection's owner keeps it up to date. For a rejection, returns a new activity that is
    /// not shared.
    pub fn activity(&self) -> Arc<Activity> {
        match &self.held {
            TicketKind::Connection { activity, .. } => activity.clone(),
            TicketKind::Refusal => Activity::new(),
        }
    }
}

impl Admission {
    pub fn new(total_max: usize, per_address_max: usize) -> Arc<Self> {
        Arc::new(Self { total_max, per_address_max, state: Mutex::default(), freed: Notify::new() })
    }

    /// Admits a connection. When all connections are in use, asks idle connections to close, and waits briefly for one to end.
    pub async fn admit(self: &Arc<Self>, origin: Origin) -> Result<Ticket, Refused> {
        for attempt in 0..TRIES_MAX {
            // Subscribe before reading the count, so that a connection that ends in between is not missed.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.try_admit(origin) {
                Err(Refused::Total) if self.ask_some_to_close(attempt) => {}
                decided => return decided,
            }
            // Whether a connection has ended or the wait timed out, the next attempt reads the count again.
            let _ = tokio::time::timeout(CLOSING_TIME, freed).await;
        }
        Err(Refused::Total)
    }

    /// Admits a connection only if there is room without closing another connection.
    pub fn try_admit(self: &Arc<Self>, origin: Origin) -> Result<Ticket, Refused> {
        let address = origin.address();
        let mut state = self.state();
        if let (Origin::Remote(_), Some(address)) = (origin, address)
            && state.addresses.get(&address).is_some_and(|open| *open >= self.per_address_max)
        {
            return Err(Refused::Address);
        }
        if state.total >= self.total_max {
            return Err(Refused::Total);
        }
        state.total += 1;
        if let Some(address) = address {
            *state.addresses.entry(address).or_default() += 1;
        }
        let (seat, activity) = (state.next_seat, Activity::new());
        state.next_seat += 1;
        state.seats.insert(seat, Slot { address, activity: activity.clone(), is_asked_to_close: false });
        Ok(Ticket { admission: Arc::clone(self), held: TicketKind::Connection { seat, activity } })
    }

    /// Returns a ticket for writing a rejection; `None` if too many rejections are being written.
    pub fn refuse(self: &Arc<Self>) -> Option<Ticket> {
        let mut state = self.state();
        if state.refusals >= REFUSALS_MAX {
            return None;
        }
        state.refusals += 1;
        Some(Ticket { admission: Arc::clone(self), held: TicketKind::Refusal })
    }

    /// Asks the next connection in closing order to close, for example when no file descriptor is left.
    pub fn ask_one_to_close(&self) {
        self.state().ask_next();
    }

    /// Ensures that enough connections are closing: one more for each attempt, because a connection may have received a request just before
    /// it was asked to close. Returns false if no connection is closing.
    fn ask_some_to_close(&self, attempt: usize) -> bool {
        let wanted = (self.total_max / AHEAD_OF).clamp(1, AHEAD_MAX) + attempt;
        let mut state = self.state();
        // A connection that received a request after it was asked to close responds to that request first, which may take a long time, so
        // it is not counted.
        let mut closing = state.closing();
        while closing < wanted {
            if !state.ask_next() {
                return closing > 0;
            }
            closing += 1;
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

impl State {
    /// Returns the number of connections that are closing because they were asked to.
    fn closing(&self) -> usize {
        let is_idle = |id: &&u64| self.seats.get(*id).is_some_and(|seat| seat.activity.idle().is_some());
        self.asked.iter().filter(is_idle).count()
    }

    /// Asks the next connection in closing order to close; returns false if no connection is idle.
    fn ask_next(&mut self) -> bool {
        let Some(id) = self.next_to_close(Instant::now()) else { return false };
        let Some(seat) = self.seats.get_mut(&id) else { return false };
        seat.is_asked_to_close = true;
        seat.activity.ask_to_close();
        self.asked.push(id);
        tracing::debug!("an idle connection is closed to make room for another");
        true
    }

    fn next_to_close(&mut self, now: Instant) -> Option<u64> {
        if self.order.computed_at.is_none_or(|at| now.duration_since(at) > ORDER_KEPT) {
            self.compute_order(now);
        }
        if let Some(seat) = self.take_next() {
            return Some(seat);
        }
        // The closing order is used up, but other connections may have become idle since it was computed.
        self.compute_order(now);
        self.take_next()
    }

    /// Takes connections from the front of the closing order until one has an unchanged state, and returns that connection.
    fn take_next(&mut self) -> Option<u64> {
        while let Some((id, idle)) = self.order.seats.pop_front() {
            let still = |seat: &Slot| !seat.is_asked_to_close && seat.activity.idle() == Some(idle);
            if self.seats.get(&id).is_some_and(still) {
                return Some(id);
            }
        }
        None
    }

    /// Sorts idle connections into the closing order. The rank of a connection is the number of connections from its address, not counting
    /// those that have been idle longer. The highest rank closes first; among equal ranks, the connection that has been idle longest closes
    /// first. Connections that are already closing come last: they end soon anyway, and their clients are still reading the last response.
    fn compute_order(&mut self, now: Instant) {
        let mut idle: Vec<(u64, Option<IpAddr>, Idle)> = self
            .seats
            .iter()
            .filter(|(_, seat)| !seat.is_asked_to_close)
            .filter_map(|(id, seat)| Some((*id, seat.address, seat.activity.idle()?)))
            .collect();
        idle.sort_unstable_by_key(|(id, _, idle)| (idle.since, *id));
        let mut heights = self.addresses.clone();
        let mut ranked: Vec<(usize, Idle, u64)> = Vec::with_capacity(idle.len());
        for (id, address, idle) in idle {
            let height = match address.and_then(|address| heights.get_mut(&address)) {
                Some(height) => {
                    *height = height.saturating_sub(1);
                    *height + 1
                }
                None => 1,
            };
            ranked.push((height, idle, id));
        }
        ranked.sort_unstable_by_key(|(height, idle, id)| (idle.is_closing, usize::MAX - height, idle.since, *id));
        self.order.seats = ranked.into_iter().map(|(_, idle, id)| (id, idle)).collect();
        self.order.computed_at = Some(now);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        match &self.held {
            TicketKind::Refusal => state.refusals -= 1,
            TicketKind::Connection { seat, .. } => {
                state.total -= 1;
                let id = *seat;
                let seat = state.seats.remove(&id);
                if seat.as_ref().is_some_and(|seat| seat.is_asked_to_close) {
                    state.asked.retain(|asked| *asked != id);
                }
                if let Some(address) = seat.and_then(|seat| seat.address)
                    && let Some(open) = state.addresses.get_mut(&address)
                {
                    *open -= 1;
                    // Invariant: the table never has more entries than there are open connections.
                    if *open == 0 {
                        state.addresses.remove(&address);
                    }
                }
                drop(state);
                self.admission.freed.notify_waiters();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pause that is long enough to make the order of events certain.
    const MOMENT: Duration = Duration::from_millis(5);

    fn remote(text: &str) -> Origin {
        Origin::Remote(text.parse().expect("the value is an address"))
    }

    /// Opens a connection whose owner closes it when asked to.
    async fn obedient(admission: &Arc<Admission>, origin: Origin) -> tokio::task::JoinHandle<()> {
        let ticket = admission.try_admit(origin).expect("there is room");
        let activity = ticket.activity();
        #[expect(clippy::disallowed_methods, reason = "the task ends with the test's runtime")]
        tokio::spawn(async move {
            activity.asked_to_close().await;
            drop(ticket);
        })
    }

    #[tokio::test]
    async fn one_address_cannot_take_all_connections() {
        let admission = Admission::new(10, 2);
        let held = [admission.admit(remote("192.0.2.1")).await, admission.admit(remote("192.0.2.1")).await];
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(admission.admit(remote("192.0.2.1")).await.err(), Some(Refused::Address));
        assert!(admission.admit(remote("192.0.2.2")).await.is_ok());
    }

    #[tokio::test]
    async fn a_connection_that_ends_frees_its_place() {
        let admission = Admission::new(1, 1);
        let held = admission.admit(remote("192.0.2.1")).await.expect("there is room");
        held.activity().begin();
        assert_eq!(
            admission.admit(Origin::Shared).await.err(),
            Some(Refused::Total),
            "a connection with a request in progress is not closed"
        );
        drop(held);
        assert!(admission.admit(remote("192.0.2.1")).await.is_ok());
        let state = admission.state();
        assert!(state.addresses.is_empty() && state.seats.is_empty() && state.total == 0);
    }

    #[tokio::test]
    async fn an_ipv6_network_counts_as_one_address() {
        let admission = Admission::new(10, 1);
        let _held = admission.admit(remote("2001:db8::1")).await;
        assert_eq!(admission.admit(remote("2001:db8::ffff")).await.err(), Some(Refused::Address));
        assert!(admission.admit(remote("2001:db8:0:1::1")).await.is_ok());
    }

    #[tokio::test]
    async fn loopback_is_limited_in_total_only() {
        let admission = Admission::new(3, 1);
        let local = Origin::Loopback("127.0.0.1".parse().expect("the value is an address"));
        let held: Vec<_> = (0..3).map_while(|_| admission.try_admit(local).ok()).collect();
        assert_eq!(held.len(), 3);
        assert_eq!(admission.try_admit(local).err(), Some(Refused::Total));
    }

    #[tokio::test]
    async fn refusals_are_bounded_too() {
        let admission = Admission::new(0, 0);
        let held: Vec<_> = (0..REFUSALS_MAX).map(|_| admission.refuse()).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(admission.refuse().is_none());
        drop(held);
        assert!(admission.refuse().is_some());
    }

    #[tokio::test]
    async fn when_all_are_in_use_the_longest_idle_of_the_address_with_the_most_is_closed() {
        let admission = Admission::new(4, 64);
        // This connection has been idle longest. It stays open, because its address has no other connection.
        let lonely = obedient(&admission, remote("192.0.2.1")).await;
        tokio::time::sleep(MOMENT).await;
        let first = obedient(&admission, remote("192.0.2.2")).await;
        tokio::time::sleep(MOMENT).await;
        let second = obedient(&admission, remote("192.0.2.2")).await;
        let busy = admission.try_admit(remote("192.0.2.2")).expect("there is room");
        busy.activity().begin();
        tokio::time::sleep(MOMENT).await;
        let _visitor = admission.admit(remote("192.0.2.9")).await.expect("an idle connection is closed to make room");
        first.await.expect("the connection is closed");
        assert_eq!([&lonely, &second].map(|held| held.is_finished()), [false, false]);
        let _visitor = admission.admit(remote("192.0.2.8")).await.expect("an idle connection is closed to make room");
        second.await.expect("the connection is closed");
        assert!(!lonely.is_finished());
        assert_eq!(busy.activity().running(), 1);
    }

    #[tokio::test]
    async fn a_connection_that_receives_a_request_as_it_is_asked_to_close_answers_it_and_another_is_closed() {
        let admission = Admission::new(2, 64);
        let surprised = admission.try_admit(remote("192.0.2.1")).expect("there is room");
        tokio::time::sleep(MOMENT).await;
        let other = obedient(&admission, remote("192.0.2.2")).await;
        let _visitor = admission.admit(remote("192.0.2.9")).await.expect("the other connection is closed to make room");
        other.await.expect("the connection is closed");
        surprised.activity().asked_to_close().await;
    }

    #[tokio::test]
    async fn a_connection_whose_client_still_reads_a_reply_is_not_asked_to_close() {
        let admission = Admission::new(2, 64);
        let reading = admission.try_admit(remote("192.0.2.1")).expect("there is room");
        reading.activity().write();
        tokio::time::sleep(MOMENT).await;
        let other = obedient(&admission, remote("192.0.2.2")).await;
        let _visitor = admission.admit(remote("192.0.2.9")).await.expect("the other connection is closed to make room");
        other.await.expect("the connection is closed");
        assert!(!reading.activity().is_asked_to_close());
        // As soon as its client has read the whole reply, the connection counts as idle.
        tokio::time::sleep(MOMENT).await;
        reading.activity().flushed();
        assert!(reading.activity().is_idle());
    }

    #[tokio::test]
    async fn a_closing_connection_is_the_last_to_be_asked() {
        let admission = Admission::new(3, 64);
        let closing = admission.try_admit(remote("192.0.2.1")).expect("there is room");
        closing.activity().begin_to_close();
        tokio::time::sleep(MOMENT).await;
        let others = [obedient(&admission, remote("192.0.2.2")).await, obedient(&admission, remote("192.0.2.3")).await];
        for (other, visitor) in others.into_iter().zip(["192.0.2.8", "192.0.2.9"]) {
            let ticket = admission.admit(remote(visitor)).await.expect("an idle connection is closed to make room");
            ticket.activity().begin();
            other.await.expect("the connection is closed");
            assert!(!closing.activity().is_asked_to_close());
            std::mem::forget(ticket);
        }
        let activity = closing.activity();
        let close = async {
            activity.asked_to_close().await;
            drop(closing);
        };
        let (visitor, ()) = tokio::join!(admission.admit(remote("192.0.2.7")), close);
        assert!(visitor.is_ok());
    }

    /// Connections that respond to a request before they close stay open until the response is sent.
    #[tokio::test]
    async fn connections_that_were_asked_and_became_busy_do_not_delay_the_next_visitor() {
        let admission = Admission::new(9, 64);
        let busy: Vec<_> = (0..8).map(|_| admission.try_admit(remote("192.0.2.1")).expect("there is room")).collect();
        for ticket in &busy {
            admission.ask_one_to_close();
            ticket.activity().begin();
        }
        let other = obedient(&admission, remote("192.0.2.2")).await;
        let began = Instant::now();
        let _visitor = admission.admit(remote("192.0.2.9")).await.expect("the other connection is closed to make room");
        assert!(began.elapsed() < CLOSING_TIME, "{:?}", began.elapsed());
        other.await.expect("the connection is closed");
    }

    #[tokio::test]
    async fn a_flood_of_idle_connections_displaces_itself() {
        let admission = Admission::new(400, 64);
        for number in 0..600 {
            let origin = remote(&format!("198.51.100.{}", number % 10));
            match admission.admit(origin).await {
                Ok(ticket) => {
                    let activity = ticket.activity();
                    #[expect(clippy::disallowed_methods, reason = "the task ends with the test's runtime")]
                    tokio::spawn(async move {
                        activity.asked_to_close().await;
                        drop(ticket);
                    });
                }
                Err(full) => assert_eq!(full, Refused::Address),
            }
        }
        let mut visitors = Vec::new();
        for number in 0..60 {
            visitors.push(admission.admit(remote(&format!("203.0.113.{number}"))).await.expect("no visitor is rejected"));
        }
        assert!(visitors.iter().all(|visitor| visitor.activity().is_idle()));
        // Up to four connections are closed in advance, so the total can be below the maximum of 400.
        assert!((396..=400).contains(&admission.state().total));
        let evicted = visitors.iter().filter(|visitor| visitor.activity().is_asked_to_close()).count();
        assert_eq!(evicted, 0, "no visitor displaces another while the flood holds more connections");
    }
}
