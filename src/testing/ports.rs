//! Addresses for servers that a test starts later.

use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// The range from which the ports are chosen. By default, Linux chooses higher ports for outgoing connections.
const PORTS: Range<u16> = 10_000..30_000;

/// Returns an address on which a server can listen later. No other test in this process receives the same address.
pub fn free_address() -> SocketAddr {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    // Processes with consecutive IDs start 101 ports apart, so that they rarely try the same port.
    let first = std::process::id().wrapping_mul(101);
    loop {
        let number = first.wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed)) % PORTS.len() as u32;
        let address = SocketAddr::from(([127, 0, 0, 1], PORTS.start + number as u16));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}
