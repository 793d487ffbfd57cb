//! HTTP: everything between sockets and [`Service`].
//!
//! This module listens (plain HTTP, TLS, the administration socket), implements HTTP/1.1 and HTTP/2, enforces the limits on connections
//! and requests, adds the security headers, and drains connections at shutdown. It is independent of operations, keys and permissions:
//! it passes each request to the service as [`Incoming`](crate::engine::api::http_types::Incoming) and sends the service's reply.
//!
//! The path of a request: `listen` (connection limits) → `connection` (protocol detection) → hyper over `stream` (time limits on
//! headers) → `exchange` (limits on requests, deadline, panics) → the service, which reads the body through `body`.
//!
//! The surface's own responses use the error envelope, except where the protocol does not allow one: over HTTP/2, hyper responds to
//! oversized headers with a bare 431, and to malformed frames with a reset or GOAWAY. A connection over the limit is closed without a
//! response if it uses TLS, or if too many are refused at the same time. A stalled connection is aborted.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::base::clock::Clock;
use crate::base::random::Random;
use crate::engine::admission::Admission;
use crate::engine::api::http_types::Service;
use crate::engine::tasks::{Group, Shutdown, Tasks};

mod activity;
mod answer;
mod body;
mod connection;
mod exchange;
mod listen;
mod node_client;
mod node_peer;
mod options;
mod proxy;
mod socket;
mod stream;
#[cfg(test)]
mod tests;
mod tls;

pub use answer::HARDENING_HEADERS;
pub use node_client::NodeClient;
pub use node_peer::is_forwarded;
pub use options::{Bound, Limits, Nodes, Options, StartError, TlsSource};
pub use proxy::ProxyTrust;
pub use tls::certificate_trouble;

use answer::Answers;
use connection::Context;
use exchange::Shared;
use listen::Acceptor;
use options::setting;
use socket::AdminSocket;
use tls::Tls;

/// The time between two checks of the certificate's files for changes. A check only reads the metadata of two files.
const CERTIFICATE_CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// A running server. Dropping it ends every connection immediately; [`Running::drain`] ends them gracefully.
pub struct Running {
    bound: Bound,
    draining: watch::Sender<bool>,
    shutdown: Shutdown,
    listeners: Group,
    connections: Arc<Group>,
    plain_tls: Option<TlsAcceptor>,
    /// The group of the task that watches the certificate's files. The task ends when the group is dropped.
    _keepers: Group,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainReport {
    /// The number of connections that ended gracefully.
    pub finished: usize,
    /// The number of connections that were aborted at the end of the grace period.
    pub cut: usize,
}

/// Binds all addresses in `options` and starts to accept connections for `service`.
pub async fn serve<S: Service>(
    options: Options,
    service: Arc<S>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tasks: &Tasks,
) -> Result<Running, StartError> {
    serve_with_interval(options, service, clock, random, tasks, CERTIFICATE_CHECK_INTERVAL).await
}

async fn serve_with_interval<S: Service>(
    options: Options,
    service: Arc<S>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tasks: &Tasks,
    certificate_poll: Duration,
) -> Result<Running, StartError> {
    check(&options)?;
    let Options { http, https, socket, nodes, tls, proxy, limits } = options;
    let draining = watch::Sender::new(false);
    let admission = Admission::new(limits.connections, limits.connections_per_address);
    let answers = Arc::new(Answers::new(Arc::clone(&clock), random));
    let shared = Arc::new(Shared { service, limits, proxy, answers });
    let connections = Arc::new(tasks.group("http connections"));
    let context = Context { shared, tasks: tasks.clone(), draining: draining.subscribe(), from_nodes: false };
    let accept_loop = Acceptor { context, admission, connections: Arc::clone(&connections) };
    let mut bound = Bound::default();

    // All addresses are bound before the first connection is accepted, so a server that fails to start has served no request.
    let plain = http.map(|address| listen::bind(setting::HTTP, address)).transpose()?;
    let secure = match https {
        Some(address) => {
            let listener = listen::bind(setting::HTTPS, address)?;
            let tls = Tls::load(&tls, clock)?;
            Some((listener, tls.acceptor()?, tls.plain_acceptor()?, tls))
        }
        None => None,
    };
    let admin = match socket {
        Some(path) => Some((AdminSocket::bind(&path).await?, path)),
        None => None,
    };
    let nodes = nodes.map(from_nodes).transpose()?;

    let listeners = tasks.group("http listeners");
    let keepers = tasks.group("certificate files");
    let mut plain_tls = None;
    if let Some(listener) = plain {
        bound.http = listener.local_addr().ok();
        listeners.spawn(accept_loop.clone().accept_tcp(listener, None));
    }
    if let Some((listener, acceptor, plain, tls)) = secure {
        plain_tls = Some(plain);
        bound.https = listener.local_addr().ok();
        listeners.spawn(accept_loop.clone().accept_tcp(listener, Some(acceptor)));
        keepers.spawn(tls.follow(certificate_poll));
    }
    if let Some((listener, acceptor)) = nodes {
        let context = Context { from_nodes: true, ..accept_loop.context.clone() };
        listeners.spawn(Acceptor { context, ..accept_loop.clone() }.accept_tcp(listener, Some(acceptor)));
    }
    if let Some((socket, path)) = admin {
        bound.socket = Some(path);
        listeners.spawn(accept_loop.accept_admin(socket));
    }
    Ok(Running { bound, draining, shutdown: tasks.shutdown(), listeners, connections, plain_tls, _keepers: keepers })
}

fn from_nodes(nodes: Nodes) -> Result<(TcpListener, TlsAcceptor), StartError> {
    let identity =
        tls::nodes::NodeIdentity::of(nodes.secret.expose()).and_then(|own| own.server().map_err(|error| error.to_string()));
    let config = identity.map_err(StartError::Nodes)?;
    let listener = TcpListener::from_std(nodes.listener).map_err(|error| StartError::Nodes(error.to_string()))?;
    Ok((listener, TlsAcceptor::from(Arc::new(config))))
}

fn check(options: &Options) -> Result<(), StartError> {
    if let Options { http: None, https: None, socket: None, .. } = options {
        return Err(StartError::NothingToListenOn);
    }
    match options.http {
        Some(address) if !address.ip().to_canonical().is_loopback() && !options.proxy.behind_proxy => {
            Err(StartError::PlainNotLoopback(address))
        }
        _ => Ok(()),
    }
}

impl Running {
    pub fn addresses(&self) -> &Bound {
        &self.bound
    }

    /// Returns an acceptor for TLS connections of other protocols; `None` without HTTPS. The acceptor uses the HTTPS certificate.
    pub fn plain_tls(&self) -> Option<TlsAcceptor> {
        self.plain_tls.clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.running()
    }

    /// Stops accepting connections, closes idle ones, and gives requests up to `grace` to finish. Aborts the remaining connections after
    /// that, or as soon as the process must stop immediately.
    pub async fn drain(mut self, grace: Duration) -> DrainReport {
        let open = self.connections.running();
        self.draining.send_replace(true);
        // The listeners end on the drain signal. After that, no connection is added.
        self.listeners.join(std::future::pending()).await;
        let over = async {
            tokio::select! {
                () = tokio::time::sleep(grace) => {}
                () = self.shutdown.cut() => {}
            }
        };
        let ended = self.connections.join(over).await;
        DrainReport { finished: open.saturating_sub(ended.cut), cut: ended.cut }
    }
}
