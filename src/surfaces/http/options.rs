//! The options of the HTTP surface, and the reasons why it can fail to start.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::proxy::ProxyTrust;
use crate::base::secret::Secret;

/// The addresses to listen on, the certificate, the trusted proxies, and the limits. At least one of `http`, `https` and `socket` is
/// required.
pub struct Options {
    /// The address for plain HTTP. It must be a loopback address, unless [`ProxyTrust::behind_proxy`] states that a reverse proxy
    /// terminates TLS.
    pub http: Option<SocketAddr>,
    /// The address for HTTPS, with the certificate from `tls`.
    pub https: Option<SocketAddr>,
    /// The path of the administration socket. Any process that can open the socket acts as the operator.
    pub socket: Option<PathBuf>,
    /// The listener for other nodes, if this server is part of a cluster.
    pub nodes: Option<Nodes>,
    /// The source of the TLS certificate, used only with `https`.
    pub tls: TlsSource,
    pub proxy: ProxyTrust,
    pub limits: Limits,
}

/// A bound listener for the other nodes of the cluster, and the secret that authenticates the nodes to each other.
pub struct Nodes {
    pub listener: std::net::TcpListener,
    pub secret: Secret,
}

#[derive(Clone, Debug)]
pub enum TlsSource {
    /// The operator's own PEM files, reloaded when they change.
    Files { certificate: PathBuf, key: PathBuf },
    /// The files `cert.pem` and `key.pem` in this folder, created if missing and renewed before they expire. The certificate is valid for
    /// localhost, the loopback addresses and `names` (host names or addresses).
    SelfSigned { folder: PathBuf, names: Vec<String> },
}

/// The bound addresses. A configured port 0 is replaced with the actual port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    pub http: Option<SocketAddr>,
    pub https: Option<SocketAddr>,
    pub socket: Option<PathBuf>,
}

/// The limits of the HTTP surface. The pipeline limits the size of bodies, because that limit depends on the operation.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The time from the first byte of a request (or the start of a connection) to the end of the headers. A client that sends headers
    /// slowly occupies a connection before any limit on callers applies. Normal clients need far less than 10 s for 16 KiB.
    pub header_time: Duration,
    /// The maximum total size of header names and values, in bytes. It is enough for several tokens and cookies, and keeps each
    /// connection's buffer small.
    pub header_bytes: usize,
    /// The maximum number of header lines. Browsers send about 20.
    pub header_count: usize,
    /// The maximum length of the path and query, in bytes. The longest query of Mailmill's own clients is far shorter.
    pub uri_bytes: usize,
    /// The time limit for a request body. The wait for a single chunk may take at most this long, and all waits together may take this long
    /// plus the time that the received bytes take at `body_rate_min`. A small body must arrive within 30 s; a large body may take longer
    /// while data arrives fast enough. Time that the pipeline spends on earlier chunks does not count.
    pub body_time: Duration,
    /// The minimum average rate, in bytes per second, of a large body that takes longer than `body_time`.
    pub body_rate_min: u64,
    /// The time that a connection may stay open without a request.
    pub idle_time: Duration,
    /// The time limit for the TLS handshake.
    pub handshake_time: Duration,
    /// The time limit from the request (or the last chunk of its body) to the head of the reply. After that, the caller gets a 503, because
    /// callers have given up or will retry by then, and work must not pile up.
    pub reply_time: Duration,
    /// The maximum time that a reply may make no progress, either because the service produces no data or because the client reads none.
    /// This limit must be longer than `reply_time` and `body_time`, so that a request that exceeds one of those gets a proper error
    /// response first.
    pub stall_time: Duration,
    /// The maximum number of open connections. A connection uses about 10 KiB when idle, and about 60 KiB at worst.
    pub connections: usize,
    /// The maximum number of open connections per client address; per /64 in IPv6, because a household or a rented machine has at
    /// least a /64. Loopback and trusted proxies are exempt, because many clients share these addresses; the total limit still
    /// applies to them.
    pub connections_per_address: usize,
    /// The maximum number of concurrent HTTP/2 requests on a connection. It also bounds how many requests of the connection the server
    /// processes at the same time.
    pub h2_streams: u32,
    /// The time without HTTP/2 traffic before the server pings the client. The client must respond within the same time.
    pub h2_ping: Duration,
    /// The maximum number of streams per connection that the client opened and reset before the pipeline saw them (the "rapid
    /// reset" attack).
    pub h2_pending_resets: usize,
    /// The maximum number of streams per connection that the server reset because of client errors.
    pub h2_error_resets: usize,
    /// How long the server continues to read and discard input after the last response on a connection that it closes. If it closed the
    /// connection immediately, the client's kernel could discard the response before the client has read it.
    pub linger_time: Duration,
    /// The maximum number of bytes read and discarded within `linger_time`: more than most clients send before they read a response.
    pub linger_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_time: Duration::from_secs(10),
            header_bytes: 16 * 1024,
            header_count: 64,
            uri_bytes: 8 * 1024,
            body_time: Duration::from_secs(30),
            body_rate_min: 1024,
            idle_time: Duration::from_secs(60),
            handshake_time: Duration::from_secs(10),
            reply_time: Duration::from_secs(30),
            stall_time: Duration::from_secs(120),
            connections: 4096,
            connections_per_address: 64,
            h2_streams: 64,
            h2_ping: Duration::from_secs(20),
            h2_pending_resets: 20,
            h2_error_resets: 1024,
            linger_time: Duration::from_secs(2),
            linger_bytes: 32 * 1024 * 1024,
        }
    }
}

/// The names of settings, as they appear in error messages.
pub mod setting {
    pub const HTTP: &str = "server.http (--http)";
    pub const HTTPS: &str = "server.https (--https)";
    pub const BEHIND_PROXY: &str = "server.behind_proxy";
    pub const CERTIFICATE: &str = "tls.certificate";
    pub const KEY: &str = "tls.key";
}

#[derive(Debug)]
pub enum StartError {
    /// The options contain neither an address nor a socket.
    NothingToListenOn,
    /// The address for plain HTTP is not a loopback address, so traffic could be intercepted.
    PlainNotLoopback(SocketAddr),
    /// The address could not be bound.
    Listen { setting: &'static str, address: SocketAddr, cause: io::Error },
    /// The administration socket could not be created.
    Socket { path: PathBuf, why: String },
    /// There is no usable certificate.
    Certificate { path: PathBuf, why: String },
    /// The listener for other nodes of the cluster could not be set up.
    Nodes(String),
}

impl std::error::Error for StartError {}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToListenOn => {
                write!(f, "nothing to listen on: set {} or {} to an address", setting::HTTPS, setting::HTTP)
            }
            Self::PlainNotLoopback(address) => write!(
                f,
                "traffic over plain HTTP on {address} can be read and changed in transit: serve HTTPS there ({}), listen on 127.0.0.1 \
                 only, or set {} = true if a reverse proxy terminates TLS",
                setting::HTTPS,
                setting::BEHIND_PROXY
            ),
            Self::Listen { setting, address, cause } => {
                let remedy = match cause.kind() {
                    io::ErrorKind::AddrInUse => "stop the process that uses this address, or choose a different port",
                    io::ErrorKind::PermissionDenied if address.port() < 1024 => {
                        "grant CAP_NET_BIND_SERVICE, which ports below 1024 require, or choose a higher port"
                    }
                    io::ErrorKind::AddrNotAvailable => "choose one of this machine's addresses",
                    _ => "fix the problem, or choose a different address",
                };
                write!(f, "cannot listen on {address}, the value of {setting}: {cause}; {remedy}")
            }
            Self::Nodes(why) => write!(f, "cannot listen for other nodes of the cluster: {why}"),
            Self::Socket { path, why } => write!(f, "cannot create the administration socket {}: {why}", path.display()),
            Self::Certificate { path, why } => {
                write!(f, "cannot use the certificate or key {}: {why}", path.display())
            }
        }
    }
}
