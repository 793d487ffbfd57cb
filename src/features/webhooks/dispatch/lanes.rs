//! Limits the concurrent attempts per endpoint, so that slow and unresponsive endpoints leave connections for other endpoints. The
//! functions use no clock, randomness or network.
//!
//! An endpoint starts with few concurrent attempts and is allowed more when its attempts succeed quickly. Endpoints whose last attempt did
//! not succeed quickly start new attempts only while they together use less than half of the connections.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::store::WebhookKey;
use super::attempt::SigningSecret;
use crate::vocab::limits;

/// How many attempts an endpoint has in flight, and how many it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lane {
    window: usize,
    in_flight: usize,
    /// Whether the endpoint's last attempt succeeded quickly.
    is_quick: bool,
    /// The secret that the endpoint probably uses during a grace period.
    secret: SigningSecret,
}

/// All endpoints that have, or recently had, attempts in flight.
pub struct Lanes {
    lanes: BTreeMap<WebhookKey, Lane>,
    /// The number of attempts in flight at all endpoints.
    in_flight: usize,
    /// The number of attempts in flight at endpoints that are not quick.
    in_flight_slow: usize,
    all_max: usize,
    each_max: usize,
    /// The endpoint that was served last.
    last: Option<WebhookKey>,
}

impl Lanes {
    /// Creates lanes with a limit on all attempts and a limit per endpoint.
    pub fn new(all_max: usize, each_max: usize) -> Self {
        Self { lanes: BTreeMap::new(), in_flight: 0, in_flight_slow: 0, all_max, each_max, last: None }
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns how many more attempts the endpoint's own limit allows.
    pub fn room(&self, key: WebhookKey) -> usize {
        let lane = self.lane(key);
        lane.window.saturating_sub(lane.in_flight)
    }

    fn lane(&self, key: WebhookKey) -> Lane {
        let unknown = Lane {
            window: limits::WEBHOOK_WINDOW_FIRST.min(self.each_max),
            in_flight: 0,
            is_quick: false,
            secret: SigningSecret::Previous,
        };
        self.lanes.get(&key).copied().unwrap_or(unknown)
    }

    /// Returns the deliveries that may be sent now, and reserves capacity for them. Endpoints take turns, one delivery at a time, until the
    /// capacity is used up.
    pub fn take<T>(&mut self, mut wanted: Vec<(WebhookKey, Vec<T>)>) -> Vec<(WebhookKey, T)> {
        // Continue after the endpoint that was served last, so that every endpoint is served.
        wanted.sort_by_key(|(key, _)| (self.last.is_some_and(|last| *key <= last), *key));
        wanted.iter_mut().for_each(|(_, waiting)| waiting.reverse());
        let mut taken = Vec::new();
        loop {
            let before = taken.len();
            for (key, waiting) in &mut wanted {
                if waiting.is_empty() || !self.board(*key) {
                    continue;
                }
                taken.extend(waiting.pop().map(|item| (*key, item)));
                self.last = Some(*key);
            }
            if taken.len() == before {
                return taken;
            }
        }
    }

    /// Reserves capacity for one attempt at this endpoint. Returns false if no capacity is free.
    fn board(&mut self, key: WebhookKey) -> bool {
        let mut lane = self.lane(key);
        let slow_max = self.all_max.div_ceil(2);
        let is_full = self.in_flight >= self.all_max || (!lane.is_quick && self.in_flight_slow >= slow_max);
        if is_full || lane.in_flight >= lane.window {
            return false;
        }
        lane.in_flight += 1;
        self.in_flight += 1;
        self.in_flight_slow += usize::from(!lane.is_quick);
        self.lanes.insert(key, lane);
        true
    }

    /// Releases capacity that was reserved but not used.
    pub fn give_back(&mut self, key: WebhookKey) {
        let lane = self.lane(key);
        self.leave(key, lane);
    }

    /// Records the end of an attempt: adapts the endpoint's limit to the result and releases the capacity.
    pub fn ended(&mut self, key: WebhookKey, well: bool, took: Duration) {
        let mut lane = self.lane(key);
        let was_quick = lane.is_quick;
        lane.is_quick = well && took < limits::WEBHOOK_QUICK_TIME;
        lane.window = match (well, lane.is_quick) {
            (true, true) => (lane.window + 1).min(self.each_max),
            (true, false) => lane.window.clamp(1, limits::WEBHOOK_WINDOW_FIRST.min(self.each_max)),
            (false, _) => 1,
        };
        // The endpoint's other attempts in flight now count toward its new class, quick or slow.
        match (was_quick, lane.is_quick) {
            (true, false) => self.in_flight_slow += lane.in_flight,
            (false, true) => self.in_flight_slow -= lane.in_flight.min(self.in_flight_slow),
            _ => {}
        }
        self.leave(key, lane);
    }

    /// Returns the secret for the main signature of this attempt during a grace period. A receiver may have either secret and may check
    /// only one signature. The first attempt uses the secret that probably works, the second attempt the current secret, and the third
    /// attempt the previous secret.
    pub fn secret(&self, key: WebhookKey, number: usize) -> SigningSecret {
        match number {
            1 => self.lane(key).secret,
            2 => SigningSecret::Newest,
            _ => SigningSecret::Previous,
        }
    }

    /// Uses the result of an attempt to determine which secret the endpoint has. If only one secret was valid, the result provides no
    /// information, and the endpoint is assumed to have the previous secret after the next rotation.
    pub fn learn(&mut self, key: WebhookKey, secret: Option<SigningSecret>, well: bool) {
        let Some(lane) = self.lanes.get_mut(&key) else { return };
        lane.secret = match (secret, well) {
            (Some(secret), true) => secret,
            (Some(SigningSecret::Previous), false) => SigningSecret::Newest,
            (Some(SigningSecret::Newest), false) | (None, _) => SigningSecret::Previous,
        };
    }

    fn leave(&mut self, key: WebhookKey, mut lane: Lane) {
        lane.in_flight = lane.in_flight.saturating_sub(1);
        self.in_flight = self.in_flight.saturating_sub(1);
        if !lane.is_quick {
            self.in_flight_slow = self.in_flight_slow.saturating_sub(1);
        }
        self.lanes.insert(key, lane);
        if self.lanes.len() > limits::WEBHOOK_LANES_MAX {
            self.lanes.retain(|_, lane| lane.in_flight > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::ids::{AccountId, WebhookId};

    fn key(number: u8) -> WebhookKey {
        (AccountId::from_bytes([0; 12]), WebhookId::from_bytes([number; 12]))
    }

    fn waiting(numbers: std::ops::Range<u8>, each: usize) -> Vec<(WebhookKey, Vec<usize>)> {
        numbers.map(|number| (key(number), (0..each).collect())).collect()
    }

    const QUICK: Duration = Duration::from_millis(5);

    #[test]
    fn an_endpoint_earns_capacity_and_loses_it_with_a_failure() {
        let mut lanes = Lanes::new(100, 5);
        assert_eq!(lanes.take(waiting(1..2, 9)).len(), limits::WEBHOOK_WINDOW_FIRST);
        for _ in 0..10 {
            for _ in 0..lanes.in_flight() {
                lanes.ended(key(1), true, QUICK);
            }
            lanes.take(waiting(1..2, 9));
        }
        assert_eq!(lanes.in_flight(), 5);
        lanes.ended(key(1), false, QUICK);
        assert_eq!((lanes.in_flight(), lanes.room(key(1))), (4, 0));
        for _ in 0..4 {
            lanes.ended(key(1), false, QUICK);
        }
        assert_eq!((lanes.in_flight(), lanes.in_flight_slow, lanes.room(key(1))), (0, 0, 1));
    }

    #[test]
    fn dead_endpoints_never_take_the_capacity_of_quick_ones() {
        let mut lanes = Lanes::new(20, 5);
        for number in 0..3 {
            lanes.take(waiting(number..number + 1, 1));
            lanes.ended(key(number), true, QUICK);
        }
        // A hundred endpoints that never respond get only half of the capacity.
        assert_eq!(lanes.take(waiting(100..200, 50)).len(), 10);
        let quick = lanes.take(waiting(0..3, 50));
        assert_eq!(quick.len(), 9, "three attempts for each webhook that responds quickly");
        assert_eq!(lanes.take(waiting(100..200, 50)).len(), 0);
    }

    #[test]
    fn every_endpoint_has_a_turn_with_little_capacity() {
        let mut lanes = Lanes::new(4, 4);
        let mut served = std::collections::BTreeSet::new();
        for _ in 0..10 {
            for (whom, _) in lanes.take(waiting(0..20, 9)) {
                served.insert(whom);
                lanes.ended(whom, true, Duration::from_secs(5));
            }
        }
        assert_eq!(served.len(), 20);
    }

    #[test]
    fn the_known_secret_signs_first_and_then_both_alternate() {
        let mut lanes = Lanes::new(4, 4);
        assert_eq!(
            [1, 2, 3].map(|number| lanes.secret(key(1), number)),
            [SigningSecret::Previous, SigningSecret::Newest, SigningSecret::Previous]
        );
        lanes.take(waiting(1..2, 9));
        for (secret, well, next) in [
            (Some(SigningSecret::Previous), true, SigningSecret::Previous),
            (Some(SigningSecret::Previous), false, SigningSecret::Newest),
            // An attempt that was already in flight with the previous secret also fails, which changes nothing.
            (Some(SigningSecret::Previous), false, SigningSecret::Newest),
            (Some(SigningSecret::Newest), true, SigningSecret::Newest),
            (Some(SigningSecret::Newest), false, SigningSecret::Previous),
            (Some(SigningSecret::Newest), true, SigningSecret::Newest),
            (None, true, SigningSecret::Previous),
        ] {
            lanes.learn(key(1), secret, well);
            assert_eq!(lanes.secret(key(1), 1), next, "{secret:?} {well}");
        }
    }

    #[test]
    fn unused_capacity_is_released() {
        let mut lanes = Lanes::new(4, 4);
        for (whom, _) in lanes.take(waiting(0..4, 9)) {
            lanes.give_back(whom);
        }
        assert_eq!((lanes.in_flight(), lanes.in_flight_slow), (0, 0));
        assert!(!lanes.take(waiting(0..4, 9)).is_empty());
    }
}
