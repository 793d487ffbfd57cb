//! A small mail server for bounces, complaints and unsubscribe messages. Without a configured address, it accepts mail only through
//! a local socket. It accepts only mail for addresses that the handler accepts.
//!
//! The server speaks SMTP with other servers (with STARTTLS), and LMTP with the operator's own mail server and the `inbound` command. A
//! message is acknowledged after the handler has stored it durably, or has found that it needs no action. The server relays no mail, offers
//! no authentication, and does not interpret addresses. It limits connections, errors, messages, recipients, bytes and time.

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

use futures_util::future::join_all;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

#[cfg(any(test, fuzzing))]
use crate::engine::admission::Activity;
use crate::engine::admission::{Admission, Origin};
use crate::engine::tasks::{Group, GroupResult, Shutdown, Tasks};
use crate::vocab::limits;
use rate_limit::MessageRateLimit;
use session::Protocol;

/// The pause after a failed accept. Without it, the listener would retry, and fail, in a busy loop.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A received message, unchanged except that dot-stuffing is undone. Its lines end in CRLF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The envelope sender; empty for the null sender.
    pub sender: String,
    /// The recipients that the handler accepts; at least one.
    pub recipients: Vec<String>,
    pub bytes: Vec<u8>,
    /// The address of the client, if the client used SMTP.
    pub peer: Option<IpAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerResult {
    /// The message is on disk or needs no action, so the client may delete it.
    Durable,
    /// Handling the message failed temporarily, so the client keeps the message and retries.
    Later,
    /// The message is rejected, so the client must not retry.
    Refused,
}

pub type Handling = Pin<Box<dyn Future<Output = HandlerResult> + Send>>;

pub trait MailHandler: Send + Sync + 'static {
    /// Returns whether mail to this address is accepted. Called for each recipient, before the message is received.
    fn wants(&self, recipient: &str) -> bool;

    /// Handles a message. The client gets the result as a reply.
    fn take(&self, mail: ReceivedMessage) -> Handling;
}

/// The addresses, host name, TLS configuration and connection limit of the listener.
pub struct Options {
    /// The address for SMTP from other servers.
    pub smtp: Option<SocketAddr>,
    /// The address for LMTP from the operator's own mail server.
    pub lmtp: Option<SocketAddr>,
    /// The Unix socket for LMTP from programs that run as the service's user.
    pub socket: Option<PathBuf>,
    /// The host name that the listener uses in greetings.
    pub host: String,
    /// The TLS configuration for STARTTLS. If it is missing, STARTTLS is not offered.
    pub tls: Option<TlsAcceptor>,
    /// The maximum number of open connections: at most [`limits::INBOUND_CONNECTIONS_MAX`], or fewer if file descriptors are scarce.
    pub connections: usize,
}

impl Default for Options {
    /// Returns options that listen on no address.
    fn default() -> Self {
        let connections = limits::INBOUND_CONNECTIONS_MAX;
        Self { smtp: None, lmtp: None, socket: None, host: String::new(), tls: None, connections }
    }
}

struct Shared {
    handler: Arc<dyn MailHandler>,
    host: String,
    tls: Option<TlsAcceptor>,
    quota: MessageRateLimit,
    /// The memory available for large messages, in units of [`limits::INBOUND_MEMORY_UNIT_BYTES`].
    memory: Semaphore,
    /// The slots for messages that the handler processes at the same time.
    handler_slots: Semaphore,
    shutdown: Shutdown,
}

/// A server that receives mail, bound to its addresses. Dropping the listener ends all sessions immediately.
pub struct Listener {
    /// The bound SMTP address.
    pub smtp: Option<SocketAddr>,
    /// The bound LMTP address.
    pub lmtp: Option<SocketAddr>,
    networks: Vec<(TcpListener, Protocol)>,
    local: Option<UnixListener>,
    shared: Arc<Shared>,
    admission: Arc<Admission>,
    sessions: Group,
}

impl Listener {
    /// Accepts mail until the service drains, then waits up to `grace` for all sessions to end. Can be called again.
    pub async fn run(&self, grace: Duration) -> GroupResult {
        let networks = self.networks.iter().map(|(listener, protocol)| self.accept(listener, *protocol));
        tokio::join!(join_all(networks), self.accept_local());
        self.sessions.join(tokio::time::sleep(grace)).await
    }

    /// Handles a message that another node of the cluster received.
    pub async fn take(&self, mail: ReceivedMessage) -> HandlerResult {
        self.shared.handler.take(mail).await
    }
}

/// Binds all addresses in `options`, to receive mail for `handler`.
pub async fn bind(options: Options, handler: Arc<dyn MailHandler>, tasks: &Tasks) -> io::Result<Listener> {
    let Options { smtp, lmtp, socket, host, tls, connections } = options;
    let admission = Admission::new(connections, limits::INBOUND_CONNECTIONS_PER_ADDRESS_MAX);
    let shared = Arc::new(Shared {
        handler,
        host,
        tls,
        quota: MessageRateLimit::default(),
        memory: Semaphore::new(limits::INBOUND_MEMORY_BYTES_MAX / limits::INBOUND_MEMORY_UNIT_BYTES),
        handler_slots: Semaphore::new(limits::INBOUND_AT_ONCE),
        shutdown: tasks.shutdown(),
    });
    let smtp = bind_address(smtp, "mail.inbound").await?;
    let lmtp = bind_address(lmtp, "mail.inbound_lmtp").await?;
    let socket = socket.as_deref().map(bind_socket).transpose()?;
    let address = |listener: &Option<TcpListener>| listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let bound = (address(&smtp), address(&lmtp));
    let networks = [(smtp, Protocol::Smtp), (lmtp, Protocol::Lmtp)];
    let networks = networks.into_iter().filter_map(|(listener, protocol)| Some((listener?, protocol))).collect();
    let sessions = tasks.group("mail sessions");
    Ok(Listener { smtp: bound.0, lmtp: bound.1, networks, local: socket, shared, admission, sessions })
}

/// Runs a session with a client that sends the lines in `said` one at a time, until the server hangs up or all lines are sent. For fuzzing.
#[cfg(any(test, fuzzing))]
pub async fn converse(handler: Arc<dyn MailHandler>, shutdown: Shutdown, said: &[u8]) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let shared = Shared {
        handler,
        host: "mail.mill.example".to_owned(),
        tls: None,
        quota: MessageRateLimit::default(),
        memory: Semaphore::new(limits::INBOUND_MEMORY_BYTES_MAX / limits::INBOUND_MEMORY_UNIT_BYTES),
        handler_slots: Semaphore::new(limits::INBOUND_AT_ONCE),
        shutdown,
    };
    let (ours, theirs) = tokio::io::duplex(said.len().max(4096));
    let (mut replies, mut commands) = tokio::io::split(theirs);
    let talk = async {
        for line in said.split_inclusive(|byte| *byte == b'\n') {
            if commands.write_all(line).await.is_err() {
                break;
            }
            // Let the server reply first: a command that arrives before the reply ends the session.
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
        }
        // If the server has already hung up, the session has ended and this call fails, so its error is ignored.
        let _ = commands.shutdown().await;
    };
    let listen = async {
        let mut heard = [0; 4096];
        while replies.read(&mut heard).await.is_ok_and(|read| read > 0) {}
    };
    let activity = Activity::new();
    tokio::join!(session::run(ours, Protocol::Smtp, None, &activity, &shared), talk, listen);
}

async fn bind_address(address: Option<SocketAddr>, setting: &str) -> io::Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let with_address = |error: io::Error| {
        io::Error::new(
            error.kind(),
            format!(
                "cannot listen for mail on {address} (setting {setting}): {error}; use one of this machine's addresses, and a \
                 free port that the service is allowed to use"
            ),
        )
    };
    TcpListener::bind(address).await.map(Some).map_err(with_address)
}

/// Binds a Unix socket. Only one process at a time uses the data folder, so an existing socket is a leftover and is replaced.
fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    UnixListener::bind(path)
}

impl Listener {
    async fn accept(&self, listener: &TcpListener, protocol: Protocol) {
        let mut shutdown = self.shared.shutdown.clone();
        loop {
            let accepted = tokio::select! {
                () = shutdown.draining() => return,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            // A rejected connection is closed without a reply, because other servers retry.
            if let Ok(ticket) = self.admission.admit(Origin::Remote(peer.ip())).await {
                let peer = (protocol == Protocol::Smtp).then(|| peer.ip());
                let shared = self.shared.clone();
                self.sessions.spawn(async move {
                    session::run(stream, protocol, peer, &ticket.activity(), &shared).await;
                    drop(ticket);
                });
            }
        }
    }

    async fn accept_local(&self) {
        let Some(listener) = &self.local else { return };
        let mut shutdown = self.shared.shutdown.clone();
        loop {
            let accepted = tokio::select! {
                () = shutdown.draining() => return,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, _)) = accepted else {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            if let Ok(ticket) = self.admission.admit(Origin::Shared).await {
                let shared = self.shared.clone();
                self.sessions.spawn(async move {
                    session::run(stream, Protocol::Lmtp, None, &ticket.activity(), &shared).await;
                    drop(ticket);
                });
            }
        }
    }
}
