//! How many connections there may be, in all and of one address, and how many messages an address may bring in a minute.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::time::Instant;

use crate::vocab::limits;

const MINUTE: Duration = Duration::from_secs(60);

/// The room that there is.
#[derive(Default)]
pub struct Room(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    connections: usize,
    addresses: HashMap<IpAddr, Guest>,
}

/// What is known of an address.
struct Guest {
    connections: usize,
    /// When its present minute began.
    since: Instant,
    messages: usize,
}

/// The right to one connection, given back on drop.
pub struct Ticket {
    room: Arc<Room>,
    address: Option<IpAddr>,
}

impl Room {
    /// An empty room.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Let one more in, if there is room.
    pub fn admit(self: &Arc<Self>, address: Option<IpAddr>, now: Instant) -> Option<Ticket> {
        let address = address.map(group_of);
        let mut counts = self.counts();
        if counts.connections >= limits::INBOUND_CONNECTIONS_MAX {
            return None;
        }
        if let Some(address) = address {
            let guest = counts.guest(address, now);
            if guest.connections >= limits::INBOUND_CONNECTIONS_PER_ADDRESS_MAX {
                return None;
            }
            guest.connections += 1;
        }
        counts.connections += 1;
        Some(Ticket { room: self.clone(), address })
    }

    /// Count a message of this address; false if it has brought too many in this minute.
    pub fn count_message(&self, address: IpAddr, now: Instant) -> bool {
        let mut counts = self.counts();
        let guest = counts.guest(group_of(address), now);
        if now.duration_since(guest.since) >= MINUTE {
            (guest.since, guest.messages) = (now, 0);
        }
        guest.messages += 1;
        guest.messages <= limits::INBOUND_MESSAGES_PER_MINUTE_MAX
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

impl Counts {
    fn guest(&mut self, address: IpAddr, now: Instant) -> &mut Guest {
        if self.addresses.len() >= limits::INBOUND_ADDRESSES_KNOWN_MAX {
            self.addresses.retain(|_, guest| guest.connections > 0 || now.duration_since(guest.since) < MINUTE);
        }
        self.addresses.entry(address).or_insert(Guest { connections: 0, since: now, messages: 0 })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut counts = self.room.counts();
        counts.connections -= 1;
        if let Some(guest) = self.address.and_then(|address| counts.addresses.get_mut(&address)) {
            guest.connections -= 1;
        }
    }
}

/// What is counted as one address: an IPv4 address, or a /64 of IPv6.
fn group_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn one_address_cannot_take_all_the_room() {
        let (room, now) = (Room::new(), Instant::now());
        let held: Vec<_> = (0..100).map_while(|_| room.admit(Some(address("192.0.2.1")), now)).collect();
        assert_eq!(held.len(), limits::INBOUND_CONNECTIONS_PER_ADDRESS_MAX);
        assert!(room.admit(Some(address("::ffff:192.0.2.1")), now).is_none());
        let other = room.admit(Some(address("192.0.2.2")), now).is_some();
        drop(held);
        assert!(other && room.admit(Some(address("192.0.2.1")), now).is_some());
        let many: Vec<_> = (0..1_000).map_while(|_| room.admit(None, now)).collect();
        assert_eq!(many.len(), limits::INBOUND_CONNECTIONS_MAX);
    }

    #[test]
    fn messages_of_an_address_are_counted_by_the_minute() {
        let (room, now) = (Room::new(), Instant::now());
        let count = |times: usize, now| (0..times).filter(|_| room.count_message(address("2001:db8::1"), now)).count();
        assert_eq!(count(10_000, now), limits::INBOUND_MESSAGES_PER_MINUTE_MAX);
        assert!(!room.count_message(address("2001:db8::2"), now), "the same network");
        assert!(room.count_message(address("2001:db8:0:1::2"), now));
        assert_eq!(count(1, now + MINUTE), 1);
    }
}
