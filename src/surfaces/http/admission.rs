//! Counts open connections, in all and per address, and says when there is no room for another.
//!
//! Does not know what a connection is: a [`Ticket`] is held for as long as one is open.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use crate::base::network::counted_as;

/// Refusals that may be spoken at the same time. When more are due, connections are closed without a word: under a flood,
/// politeness must not cost what the cap saves.
const REFUSALS_MAX: usize = 64;

/// The door.
pub struct Admission {
    total_max: usize,
    per_address_max: usize,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    total: usize,
    refusals: usize,
    addresses: HashMap<IpAddr, usize>,
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The process has as many connections as it may.
    Total,
    /// This address has as many connections as it may.
    Address,
}

/// The right to one open connection (or to one spoken refusal), given back on drop.
pub struct Ticket {
    admission: Arc<Admission>,
    held: Held,
}

enum Held {
    Connection { counted: Option<IpAddr> },
    Refusal,
}

impl Admission {
    /// A door with these caps.
    pub fn new(total_max: usize, per_address_max: usize) -> Arc<Self> {
        Arc::new(Self { total_max, per_address_max, counts: Mutex::default() })
    }

    /// Let one more in. `address` is counted if given; those that many share are not.
    pub fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Result<Ticket, Full> {
        let counted = address.map(counted_as);
        let mut counts = self.counts();
        if counts.total >= self.total_max {
            return Err(Full::Total);
        }
        if let Some(address) = counted {
            let open = counts.addresses.entry(address).or_default();
            if *open >= self.per_address_max {
                return Err(Full::Address);
            }
            *open += 1;
        }
        counts.total += 1;
        Ok(Ticket { admission: Arc::clone(self), held: Held::Connection { counted } })
    }

    /// Whether a refusal may be spoken.
    pub fn refuse(self: &Arc<Self>) -> Option<Ticket> {
        let mut counts = self.counts();
        if counts.refusals >= REFUSALS_MAX {
            return None;
        }
        counts.refusals += 1;
        Some(Ticket { admission: Arc::clone(self), held: Held::Refusal })
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().expect("no holder of this lock panics")
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut counts = self.admission.counts();
        match self.held {
            Held::Refusal => counts.refusals -= 1,
            Held::Connection { counted } => {
                counts.total -= 1;
                if let Some(address) = counted
                    && let Some(open) = counts.addresses.get_mut(&address)
                {
                    *open -= 1;
                    // Invariant: the table never holds more entries than there are open connections.
                    if *open == 0 {
                        counts.addresses.remove(&address);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("an address"))
    }

    #[test]
    fn one_address_cannot_take_all_the_room() {
        let door = Admission::new(10, 2);
        let held = [door.admit(address("192.0.2.1")), door.admit(address("192.0.2.1"))];
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(door.admit(address("192.0.2.1")).err(), Some(Full::Address));
        assert!(door.admit(address("192.0.2.2")).is_ok());
    }

    #[test]
    fn room_comes_back_when_a_connection_ends() {
        let door = Admission::new(1, 1);
        let held = door.admit(address("192.0.2.1"));
        assert_eq!(door.admit(None).err(), Some(Full::Total));
        drop(held);
        assert!(door.admit(address("192.0.2.1")).is_ok());
        assert!(door.counts().addresses.is_empty());
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let door = Admission::new(10, 1);
        let _held = door.admit(address("2001:db8::1"));
        assert_eq!(door.admit(address("2001:db8::ffff")).err(), Some(Full::Address));
        assert!(door.admit(address("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn refusals_are_bounded_too() {
        let door = Admission::new(0, 0);
        let held: Vec<_> = (0..REFUSALS_MAX).map(|_| door.refuse()).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(door.refuse().is_none());
        drop(held);
        assert!(door.refuse().is_some());
    }
}
