//! Limits how many messages a client address may send in a minute. All addresses of an IPv6 /64 count as one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use crate::base::network::counted_as;
use crate::vocab::limits;

const MINUTE: Duration = Duration::from_secs(60);

/// The number of messages from each client address in its current minute.
#[derive(Default)]
pub struct MessageRateLimit(Mutex<HashMap<IpAddr, Minute>>);

struct Minute {
    since: Instant,
    messages: usize,
}

impl MessageRateLimit {
    /// Counts a message from this client address. Returns false if the address has sent too many messages in this minute.
    pub fn count_message(&self, address: IpAddr, now: Instant) -> bool {
        let mut addresses = self.0.lock().expect("no holder of this lock panics");
        if addresses.len() >= limits::INBOUND_ADDRESSES_KNOWN_MAX {
            addresses.retain(|_, minute| now.duration_since(minute.since) < MINUTE);
        }
        let minute = addresses.entry(counted_as(address)).or_insert(Minute { since: now, messages: 0 });
        if now.duration_since(minute.since) >= MINUTE {
            (minute.since, minute.messages) = (now, 0);
        }
        minute.messages += 1;
        minute.messages <= limits::INBOUND_MESSAGES_PER_MINUTE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_an_address_are_counted_by_the_minute() {
        let (quota, now) = (MessageRateLimit::default(), Instant::now());
        let address = |text: &str| text.parse::<IpAddr>().expect("the address is valid");
        let count = |times: usize, now| (0..times).filter(|_| quota.count_message(address("2001:db8::1"), now)).count();
        assert_eq!(count(10_000, now), limits::INBOUND_MESSAGES_PER_MINUTE_MAX);
        assert!(!quota.count_message(address("2001:db8::2"), now), "addresses in one network share a limit");
        assert!(quota.count_message(address("2001:db8:0:1::2"), now));
        assert_eq!(count(1, now + MINUTE), 1);
    }
}
