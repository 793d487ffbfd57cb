//! A proxy on the connections of a node to the database, or of other nodes to a node. It can delay, hold or cut the connections, as a
//! network can.
//!
//! It can also remove the check of the epoch from the appends of a node. This is a bug that the tests must detect.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The part of an append's statement that checks the epoch of the lease. Without it, the append succeeds in any epoch.
const CHECK: &[u8] = b"AND epoch = $3 FOR SHARE";
const LOOK: Duration = Duration::from_millis(2);
/// The delay of each packet of a slow network.
const DELAY: Duration = Duration::from_millis(25);
/// A statement starts a packet, and is shorter than this.
const PACKET_BYTES: usize = 64 * 1024;

/// The state of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Network {
    Fine,
    /// Every packet arrives late.
    Slow,
    /// Packets do not arrive until the state changes. Connections stay open.
    Held,
    /// Appends do not arrive until the state changes, but all other packets do.
    AppendsHeld,
    /// Packets arrive until the next append. It and all packets after it are held.
    HeldFromNextAppend,
    /// Connections are closed, and new ones fail.
    Cut,
}

pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    target: SocketAddr,
    network: AtomicU8,
    /// Both sides of the open connections.
    open: Mutex<Vec<Weak<TcpStream>>>,
    /// Whether the check is removed from appends, and from how many it was removed.
    is_unchecked: AtomicBool,
    unchecked: AtomicU64,
}

impl Proxy {
    /// Starts a proxy for the connections to `target`.
    pub fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            target,
            network: AtomicU8::new(Network::Fine as u8),
            open: Mutex::default(),
            is_unchecked: AtomicBool::new(false),
            unchecked: AtomicU64::new(0),
        });
        let own = shared.clone();
        spawn(move || {
            for client in listener.incoming().flatten() {
                own.serve(client);
            }
        });
        Self { address, shared }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set(&self, network: Network) {
        self.shared.network.store(network as u8, Ordering::SeqCst);
        if network == Network::Cut {
            self.shared.open().drain(..).filter_map(|stream| stream.upgrade()).for_each(|stream| close(&stream));
        }
    }

    /// Waits until an append is held, after [`Network::HeldFromNextAppend`].
    pub async fn has_held_an_append(&self) {
        while !self.shared.is(Network::Held) {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Removes the check of the epoch from all appends, or stops doing so.
    pub fn set_unchecked(&self, is_unchecked: bool) {
        self.shared.is_unchecked.store(is_unchecked, Ordering::SeqCst);
    }

    /// Returns the number of appends whose check was removed.
    pub fn unchecked(&self) -> u64 {
        self.shared.unchecked.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Vec<Weak<TcpStream>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is(&self, network: Network) -> bool {
        self.network.load(Ordering::SeqCst) == network as u8
    }

    /// Connects a client to the target.
    fn serve(self: &Arc<Self>, client: TcpStream) {
        if self.is(Network::Cut) {
            return;
        }
        let Ok(server) = TcpStream::connect(self.target) else { return };
        let (client, server) = (Arc::new(client), Arc::new(server));
        let mut open = self.open();
        open.retain(|stream| stream.strong_count() > 0);
        for (from, to, is_request) in [(&client, &server, true), (&server, &client, false)] {
            // The state of the network is the only cause of delays.
            let _ = from.set_nodelay(true);
            open.push(Arc::downgrade(from));
            let (own, from, to) = (self.clone(), from.clone(), to.clone());
            spawn(move || own.copy(&from, &to, is_request));
        }
    }

    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream, is_request: bool) {
        let mut packet = vec![0; PACKET_BYTES];
        while let Ok(count @ 1..) = from.read(&mut packet) {
            let packet = &mut packet[..count];
            let check = packet.windows(CHECK.len()).position(|part| part == CHECK).filter(|_| is_request);
            if let Some(at) = check {
                self.append(&mut packet[at..at + CHECK.len()]);
            }
            if self.is(Network::Slow) {
                std::thread::sleep(DELAY);
            }
            while self.is(Network::Held) || (check.is_some() && self.is(Network::AppendsHeld)) {
                std::thread::sleep(LOOK);
            }
            if self.is(Network::Cut) || to.write_all(packet).is_err() {
                break;
            }
        }
        close(from);
        close(to);
    }

    /// Handles an append before it is forwarded.
    fn append(&self, check: &mut [u8]) {
        if self.is(Network::HeldFromNextAppend) {
            self.network.store(Network::Held as u8, Ordering::SeqCst);
        }
        if self.is_unchecked.load(Ordering::SeqCst) {
            // Spaces keep the length, which the packet states.
            check.fill(b' ');
            self.unchecked.fetch_add(1, Ordering::SeqCst);
        }
    }
}

fn close(stream: &TcpStream) {
    // The other side may have closed the connection already.
    let _ = stream.shutdown(Shutdown::Both);
}

fn spawn(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name("network".into()).spawn(work).expect("a thread");
}
