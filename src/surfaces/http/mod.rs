//! HTTP: everything between sockets and [`Service`].
//!
//! Listens (plain, TLS, the administration socket), speaks HTTP/1.1 and HTTP/2, holds every connection and request to its
//! limits, adds the security headers, and drains at the end. Knows no operation, no key and no permission: a request goes to
//! the service as [`Incoming`](crate::engine::api::http_types::Incoming), and what comes back is sent.
//!
//! The way of a request: `listen` (is there room?) → `connection` (which protocol?) → hyper over `channel` (time limits on
//! headers) → `exchange` (limits of every request, deadline, panics) → the service, which reads the body through `body`.
//!
//! What the surface answers by itself is the error envelope, with these exceptions, where the protocol leaves no room for one:
//! an HTTP/2 request whose headers are beyond the limit is answered by the library with a bare 431, and malformed frames with
//! a reset or GOAWAY; connections over the cap are closed without a word if they want TLS, or if too many are refused at once;
//! a connection that stalls is cut.

use std::sync::Arc;
use std::time::Duration;

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
mod options;
mod proxy;
mod socket;
mod stream;
#[cfg(test)]
mod tests;
mod tls;

pub use answer::HARDENING_HEADERS;
pub use options::{Bound, Limits, Options, StartError, TlsSource};
pub use proxy::ProxyTrust;
pub use tls::certificate_trouble;

use answer::Answers;
use connection::Context;
use exchange::Shared;
use listen::Acceptor;
use options::setting;
use socket::AdminSocket;
use tls::Tls;

/// How often the certificate's files are looked at. Three numbers of two files: cheap enough to be soon.
const CERTIFICATE_LOOK: Duration = Duration::from_secs(3);

/// A server that accepts connections. Dropping it ends everything at once; [`Running::drain`] ends it well.
pub struct Running {
    bound: Bound,
    draining: watch::Sender<bool>,
    shutdown: Shutdown,
    listeners: Group,
    connections: Arc<Group>,
    plain_tls: Option<TlsAcceptor>,
    /// Follows the certificate's files; ends when dropped.
    _keepers: Group,
}

/// How a drain went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainReport {
    /// Connections that were open and came to a proper end.
    pub finished: usize,
    /// Connections that were cut when the grace was over.
    pub cut: usize,
}

/// Bind everything that `options` name and accept connections for `service` from now on.
pub async fn serve<S: Service>(
    options: Options,
    service: Arc<S>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tasks: &Tasks,
) -> Result<Running, StartError> {
    serve_looking(options, service, clock, random, tasks, CERTIFICATE_LOOK).await
}

async fn serve_looking<S: Service>(
    options: Options,
    service: Arc<S>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    tasks: &Tasks,
    certificate_look: Duration,
) -> Result<Running, StartError> {
    check(&options)?;
    let Options { http, https, socket, tls, proxy, limits } = options;
    let draining = watch::Sender::new(false);
    let admission = Admission::new(limits.connections, limits.connections_per_address);
    let answers = Arc::new(Answers::new(Arc::clone(&clock), random));
    let shared = Arc::new(Shared { service, limits, proxy, answers });
    let connections = Arc::new(tasks.group("http connections"));
    let context = Context { shared, tasks: tasks.clone(), draining: draining.subscribe() };
    let accept_loop = Acceptor { context, admission, connections: Arc::clone(&connections) };
    let mut bound = Bound::default();

    // All is bound before anything is accepted: a start that fails has served nobody.
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
        keepers.spawn(tls.follow(certificate_look));
    }
    if let Some((socket, path)) = admin {
        bound.socket = Some(path);
        listeners.spawn(accept_loop.accept_admin(socket));
    }
    Ok(Running { bound, draining, shutdown: tasks.shutdown(), listeners, connections, plain_tls, _keepers: keepers })
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
    /// The addresses that were bound.
    pub fn addresses(&self) -> &Bound {
        &self.bound
    }

    /// What accepts TLS connections of other protocols with the same certificate; `None` without HTTPS.
    pub fn plain_tls(&self) -> Option<TlsAcceptor> {
        self.plain_tls.clone()
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.connections.running()
    }

    /// Take nothing new, close what idles, let requests finish for up to `grace` (or until the process is asked to stop at
    /// once), and cut the rest.
    pub async fn drain(mut self, grace: Duration) -> DrainReport {
        let open = self.connections.running();
        self.draining.send_replace(true);
        // Listeners end on the signal; nothing new joins the connections after that.
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
