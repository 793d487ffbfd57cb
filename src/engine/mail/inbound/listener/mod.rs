//! A small mail server for bounces, complaints and unsubscribes: off unless an address is configured, and only for addresses that the
//! handler accepts.
//!
//! It uses SMTP with other servers (with STARTTLS), and LMTP with the operator's own mail server and the `inbound` command. A message is
//! acknowledged only after the handler has stored it durably. The server relays nothing, offers no authentication, and does not know the
//! meaning of addresses. Everything that clients choose is bounded: connections, commands, errors, recipients, bytes, time.

mod connection;
mod data;
mod rate_limit;
mod session;
#[cfg(test)]
mod tests;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

#[cfg(any(test, fuzzing))]
use crate::engine::admission::Activity;
use crate::engine::admission::{Admission, Origin};
use crate::engine::jobs::{Group, GroupResult, Shutdown, Tasks};
use crate::vocab::limits;
use rate_limit::MessageRateLimit;
use session::Protocol;

/// After a failed accept, an immediate retry would fail too, in a busy loop.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A received message, unchanged except for the protocol's dots. Its lines end in CRLF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Empty: the null sender.
    pub sender: String,
    /// The recipients that the handler accepts; at least one.
    pub recipients: Vec<String>,
    pub bytes: Vec<u8>,
    /// The address of the client, if it used SMTP.
    pub peer: Option<IpAddr>,
}

/// The result of handling a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerResult {
    /// It is on disk, or needs no action: the client may delete it.
    Durable,
    /// Temporarily failed; the client keeps it and retries.
    Later,
    /// Rejected; the client must give it up.
    Refused,
}

/// A future with the result of handling a message.
pub type Handling = Pin<Box<dyn Future<Output = HandlerResult> + Send>>;

/// The handler of received mail.
pub trait MailHandler: Send + Sync + 'static {
    /// Whether mail to this address is accepted. Called for each recipient, before anything else is received.
    fn wants(&self, recipient: &str) -> bool;

    /// Handles a message. The client gets the result as a reply.
    fn take(&self, mail: ReceivedMessage) -> Handling;
}

/// The addresses to listen on.
pub struct Options {
    /// For SMTP from other servers.
    pub smtp: Option<SocketAddr>,
    /// For LMTP from the operator's own mail server.
    pub lmtp: Option<SocketAddr>,
    /// For LMTP from programs of the same user.
    pub socket: Option<PathBuf>,
    /// The host name in greetings.
    pub host: String,
    /// For STARTTLS; without it, STARTTLS is not offered.
    pub tls: Option<TlsAcceptor>,
    /// The maximum of open connections: at most [`limits::INBOUND_CONNECTIONS_MAX`], fewer if descriptors are scarce.
    pub connections: usize,
}

impl Default for Options {
    /// Listens nowhere.
    fn default() -> Self {
        let connections = limits::INBOUND_CONNECTIONS_MAX;
        Self { smtp: None, lmtp: None, socket: None, host: String::new(), tls: None, connections }
    }
}

/// The shared state of all sessions.
struct Shared {
    handler: Arc<dyn MailHandler>,
    host: String,
    tls: Option<TlsAcceptor>,
    quota: MessageRateLimit,
    /// Bytes of large messages in memory, in units of [`limits::INBOUND_MEMORY_UNIT_BYTES`].
    memory: Semaphore,
    /// Messages that the handler processes at a time.
    desk_places: Semaphore,
    shutdown: Shutdown,
}

/// A running listener. Dropping it ends everything at once.
pub struct Running {
    /// The bound SMTP address.
    pub smtp: Option<SocketAddr>,
    /// The bound LMTP address.
    pub lmtp: Option<SocketAddr>,
    listeners: Group,
    sessions: Arc<Group>,
}

impl Running {
    /// Waits until all sessions have ended, at most this long.
    pub async fn drain(self, grace: Duration) -> GroupResult {
        self.listeners.join(tokio::time::sleep(grace)).await;
        self.sessions.join(tokio::time::sleep(grace)).await
    }
}

/// Binds all addresses in `options`, and receives mail for `handler` from now on.
pub async fn serve(options: Options, handler: Arc<dyn MailHandler>, tasks: &Tasks) -> io::Result<Running> {
    let Options { smtp, lmtp, socket, host, tls, connections } = options;
    let admission = Admission::new(connections, limits::INBOUND_CONNECTIONS_PER_ADDRESS_MAX);
    let shared = Arc::new(Shared {
        handler,
        host,
        tls,
        quota: MessageRateLimit::default(),
        memory: Semaphore::new(limits::INBOUND_MEMORY_BYTES_MAX / limits::INBOUND_MEMORY_UNIT_BYTES),
        desk_places: Semaphore::new(limits::INBOUND_AT_ONCE),
        shutdown: tasks.shutdown(),
    });
    let smtp = bind(smtp).await?;
    let lmtp = bind(lmtp).await?;
    let socket = socket.as_deref().map(bind_socket).transpose()?;
    let address = |listener: &Option<TcpListener>| listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let bound = (address(&smtp), address(&lmtp));
    let (listeners, sessions) = (tasks.group("mail listeners"), Arc::new(tasks.group("mail sessions")));
    for (listener, protocol) in [(smtp, Protocol::Smtp), (lmtp, Protocol::Lmtp)] {
        if let Some(listener) = listener {
            listeners.spawn(accept(listener, protocol, shared.clone(), admission.clone(), sessions.clone()));
        }
    }
    if let Some(socket) = socket {
        listeners.spawn(accept_local(socket, shared, admission, sessions.clone()));
    }
    Ok(Running { smtp: bound.0, lmtp: bound.1, listeners, sessions })
}

/// Sends a client's lines to a server that accepts every message, one line at a time, until it hangs up or all are sent: the other side of
/// [`session::run`], for fuzzing.
#[cfg(any(test, fuzzing))]
pub async fn converse(handler: Arc<dyn MailHandler>, shutdown: Shutdown, said: &[u8]) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let shared = Shared {
        handler,
        host: "mail.mill.example".to_owned(),
        tls: None,
        quota: MessageRateLimit::default(),
        memory: Semaphore::new(limits::INBOUND_MEMORY_BYTES_MAX / limits::INBOUND_MEMORY_UNIT_BYTES),
        desk_places: Semaphore::new(limits::INBOUND_AT_ONCE),
        shutdown,
    };
    let (ours, theirs) = tokio::io::duplex(said.len().max(4096));
    let (mut replies, mut commands) = tokio::io::split(theirs);
    let talk = async {
        for line in said.split_inclusive(|byte| *byte == b'\n') {
            if commands.write_all(line).await.is_err() {
                break;
            }
            // The server runs while this side waits; commands sent ahead of a reply would end the session.
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
        }
        // Fails if the server has hung up, which also ends the session.
        let _ = commands.shutdown().await;
    };
    let listen = async {
        let mut heard = [0; 4096];
        while replies.read(&mut heard).await.is_ok_and(|read| read > 0) {}
    };
    let activity = Activity::new();
    tokio::join!(session::run(ours, Protocol::Smtp, None, &activity, &shared), talk, listen);
}

async fn bind(address: Option<SocketAddr>) -> io::Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let told = |error: io::Error| io::Error::new(error.kind(), format!("cannot listen for mail on {address}: {error}"));
    TcpListener::bind(address).await.map(Some).map_err(told)
}

/// The folder is used by one process at a time: an existing socket is a leftover.
fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(path)
}

async fn accept(listener: TcpListener, protocol: Protocol, shared: Arc<Shared>, admission: Arc<Admission>, sessions: Arc<Group>) {
    let mut shutdown = shared.shutdown.clone();
    loop {
        let accepted = tokio::select! {
            () = shutdown.draining() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        // A rejected connection is closed without a reply: other servers retry.
        if let Ok(ticket) = admission.admit(Origin::Remote(peer.ip())).await {
            let peer = (protocol == Protocol::Smtp).then(|| peer.ip());
            let shared = shared.clone();
            sessions.spawn(async move {
                session::run(stream, protocol, peer, &ticket.activity(), &shared).await;
                drop(ticket);
            });
        }
    }
}

async fn accept_local(listener: UnixListener, shared: Arc<Shared>, admission: Arc<Admission>, sessions: Arc<Group>) {
    let mut shutdown = shared.shutdown.clone();
    loop {
        let accepted = tokio::select! {
            () = shutdown.draining() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        if let Ok(ticket) = admission.admit(Origin::Shared).await {
            let shared = shared.clone();
            sessions.spawn(async move {
                session::run(stream, Protocol::Lmtp, None, &ticket.activity(), &shared).await;
                drop(ticket);
            });
        }
    }
}
