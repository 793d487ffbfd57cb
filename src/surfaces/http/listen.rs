//! Binds addresses and accepts connections, up to the connection limits.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::answer::Refusal;
use super::connection::{self, Context};
use super::options::StartError;
use super::socket::AdminSocket;
use crate::engine::admission::{Activity, Admission, Origin, Refused, Ticket};
use crate::engine::api::http_types::{Peer, Service};
use crate::engine::tasks::Group;

/// The number of connections that the kernel queues while the server is busy: the default maximum on Linux (`net.core.somaxconn`). The
/// kernel applies a lower maximum if one is configured.
const BACKLOG: u32 = 4096;

/// The pause after a failed accept, usually for lack of file descriptors. Immediate retries would also fail, and would occupy a CPU.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Binds a listener to `address`, which comes from `setting`. Errors name the setting.
pub fn bind(setting: &'static str, address: SocketAddr) -> Result<TcpListener, StartError> {
    let bound = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        // Without this option, a new process cannot bind the address after a restart while the kernel still remembers connections of the
        // old process.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bound().map_err(|cause| StartError::Listen { setting, address, cause })
}

pub struct Acceptor<S> {
    pub context: Context<S>,
    pub admission: Arc<Admission>,
    pub connections: Arc<Group>,
}

impl<S> Clone for Acceptor<S> {
    fn clone(&self) -> Self {
        Self { context: self.context.clone(), admission: Arc::clone(&self.admission), connections: Arc::clone(&self.connections) }
    }
}

impl<S: Service> Acceptor<S> {
    /// Accepts TCP connections until the server starts to drain.
    pub async fn accept_tcp(self, listener: TcpListener, tls: Option<TlsAcceptor>) {
        while let Some((tcp, address)) = self.next(|| listener.accept()).await {
            self.admit_tcp(tcp, address, tls.as_ref()).await;
        }
    }

    /// Accepts connections on the administration socket until the server starts to drain.
    pub async fn accept_admin(self, socket: AdminSocket) {
        while let Some(stream) = self.next(|| socket.accept()).await {
            // The connection is counted but never refused, because the operator must be able to connect when all slots are taken, and only
            // the owner of the data folder and root can connect here.
            let ticket = self.admission.try_admit(Origin::Shared).ok();
            let activity = ticket.as_ref().map_or_else(Activity::new, Ticket::activity);
            let context = self.context.clone();
            self.connections.spawn(async move {
                connection::serve_plain(stream, Peer::Operator, activity, context).await;
                drop(ticket);
            });
        }
    }

    /// Returns the next connection, or `None` when the server starts to drain.
    async fn next<T, F: Future<Output = io::Result<T>>>(&self, accept: impl Fn() -> F) -> Option<T> {
        let mut draining = self.context.draining.clone();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = draining.wait_for(|draining| *draining) => return None,
                accepted = accept() => accepted,
            };
            match accepted {
                Ok(connection) => return Some(connection),
                // The client disconnected before its connection was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept connections");
                    // File descriptors can run out before the connection limit is reached; closing an idle
                    // connection frees one.
                    self.admission.ask_one_to_close();
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            }
        }
    }

    async fn admit_tcp(&self, tcp: TcpStream, address: SocketAddr, tls: Option<&TlsAcceptor>) {
        let address = address.ip().to_canonical();
        let shared = &self.context.shared;
        let is_shared = self.context.from_nodes || shared.proxy.trusts(address);
        let origin = match (is_shared, address.is_loopback()) {
            (true, _) => Origin::Shared,
            (false, true) => Origin::Loopback(address),
            (false, false) => Origin::Remote(address),
        };
        let ticket = match self.admission.admit(origin).await {
            Ok(ticket) => ticket,
            Err(full) => return self.turn_away(tcp, full, tls.is_some()),
        };
        // Without `TCP_NODELAY`, the kernel could delay the end of a response to fill a packet. If the option cannot be set, responses are
        // only slower.
        let _ = tcp.set_nodelay(true);
        let peer = Peer::Network { address, tls: tls.is_some() };
        let (context, activity) = (self.context.clone(), ticket.activity());
        match tls.cloned() {
            Some(acceptor) => self.connections.spawn(async move {
                connection::serve_tls(tcp, acceptor, peer, activity, context).await;
                drop(ticket);
            }),
            None => self.connections.spawn(async move {
                connection::serve_plain(tcp, peer, activity, context).await;
                drop(ticket);
            }),
        }
    }

    /// Responds that the server is full. A TLS connection gets no response, because the handshake would cost too much.
    fn turn_away(&self, tcp: TcpStream, full: Refused, tls: bool) {
        tracing::debug!(?full, "connection refused");
        let Some(ticket) = self.admission.refuse().filter(|_| !tls) else { return };
        let shared = Arc::clone(&self.context.shared);
        self.connections.spawn(async move {
            connection::refuse(tcp, Refusal::Full, &ticket.activity(), &shared).await;
            drop(ticket);
        });
    }
}
