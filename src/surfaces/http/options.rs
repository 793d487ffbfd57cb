//! The options of the HTTP surface, with the reason for every number, and the errors of a failed start.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::proxy::ProxyTrust;
use crate::base::secret::Secret;

/// The addresses to listen on, and the limits. At least one of `http`, `https` and `socket` is required.
pub struct Options {
    /// The address for plain HTTP. It must be a loopback address, unless [`ProxyTrust::behind_proxy`] states that a proxy in front
    /// terminates TLS.
    pub http: Option<SocketAddr>,
    /// The address for HTTPS, with the certificate of `tls`.
    pub https: Option<SocketAddr>,
    /// The path of the administration socket. Any process that can open the socket acts as the operator.
    pub socket: Option<PathBuf>,
    /// The listener for other nodes of the cluster, if the service is part of one.
    pub nodes: Option<Nodes>,
    /// The source of the certificate; used only with `https`.
    pub tls: TlsSource,
    /// The reverse proxies to trust, if any.
    pub proxy: ProxyTrust,
    /// The limits on connections and requests.
    pub limits: Limits,
}

/// A bound listener for other nodes of the cluster, and the secret by which they recognize each other.
pub struct Nodes {
    pub listener: std::net::TcpListener,
    pub secret: Secret,
}

/// The source of the certificate.
#[derive(Clone, Debug)]
pub enum TlsSource {
    /// The operator's own PEM files, reloaded when they change.
    Files { certificate: PathBuf, key: PathBuf },
    /// The files `cert.pem` and `key.pem` in this folder, created if missing and renewed before they expire. The certificate is valid for
    /// localhost, the loopback addresses and `names` (host names or addresses).
    SelfSigned { folder: PathBuf, names: Vec<String> },
}

/// The bound addresses, with the actual ports in place of port 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    pub http: Option<SocketAddr>,
    pub https: Option<SocketAddr>,
    pub socket: Option<PathBuf>,
}

/// The limits of the HTTP surface. The body *size* is not included: it depends on the operation, so the pipeline enforces it.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The time from the first byte of a request (or from the start of a connection) to the end of the headers. A client that sends headers
    /// slowly holds a connection before the limits on callers apply; no legitimate client needs 10 s for 16 KiB.
    pub header_time: Duration,
    /// The maximum number of bytes of all header names and values. The limit is large enough for several tokens and cookies, and keeps the
    /// buffer of each connection small.
    pub header_bytes: usize,
    /// The maximum number of header lines. Browsers send about 20.
    pub header_count: usize,
    /// The maximum number of bytes of the path and query. The longest query of Mailmill's own operations is far shorter.
    pub uri_bytes: usize,
    /// How long the surface waits for a request body: at most this long for any single chunk, and at most this long in total, plus the time
    /// that the bytes received so far may take at `body_rate_min`. A small body has 30 s; a large body has more time while
    /// data arrives fast enough. Time in which the pipeline is busy with earlier chunks is not included.
    pub body_time: Duration,
    /// The minimum rate, in bytes per second, of a large body after `body_time`.
    pub body_rate_min: u64,
    /// How long a connection may stay open while it has no request.
    pub idle_time: Duration,
    /// The time limit for the TLS handshake.
    pub handshake_time: Duration,
    /// The time limit from the request (or the last chunk of its body) to the head of the reply. After this time the caller gets 503: by
    /// then the caller has given up or will repeat the request, and work must not pile up.
    pub reply_time: Duration,
    /// How long a reply may make no progress because its producer returns no data or the client reads none. The limit is longer than
    /// `reply_time` and `body_time`, which end with a proper response.
    pub stall_time: Duration,
    /// The maximum number of open connections. A connection uses about 10 KiB when idle, and about 60 KiB at worst.
    pub connections: usize,
    /// The maximum number of open connections per address (per /64 in IPv6, because a household or a rented machine has at least a /64).
    /// Loopback and the trusted proxies are exempt: all clients of a proxy, and all programs on this machine, share an address there, and
    /// the total limit still applies.
    pub connections_per_address: usize,
    /// The maximum number of concurrent HTTP/2 requests on a connection. This also limits how many requests a client can make the pipeline
    /// hold at the same time.
    pub h2_streams: u32,
    /// The time without HTTP/2 traffic after which the client is pinged. The client has an equally long time to respond.
    pub h2_ping: Duration,
    /// The maximum number of streams per connection that were opened and reset before the pipeline saw them (the "rapid reset" flood).
    pub h2_pending_resets: usize,
    /// The maximum number of streams per connection that the server had to reset because of the client's errors.
    pub h2_error_resets: usize,
    /// How long the remaining input is read and discarded after the last response on a connection that is being closed. Otherwise the
    /// client's machine may discard the response before the client has read it.
    pub linger_time: Duration,
    /// The maximum number of bytes that are discarded within `linger_time`.
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
            linger_bytes: 1024 * 1024,
        }
    }
}

/// The names of settings, for error messages.
pub mod setting {
    pub const HTTP: &str = "server.http (--http)";
    pub const HTTPS: &str = "server.https (--https)";
    pub const BEHIND_PROXY: &str = "server.behind_proxy";
    pub const CERTIFICATE: &str = "tls.certificate";
    pub const KEY: &str = "tls.key";
}

/// The reason why the surface could not start.
#[derive(Debug)]
pub enum StartError {
    /// The options contain no address and no socket.
    NothingToListenOn,
    /// Plain HTTP would use an address on which traffic could be intercepted.
    PlainNotLoopback(SocketAddr),
    /// The address could not be bound.
    Listen { setting: &'static str, address: SocketAddr, cause: io::Error },
    /// The administration socket could not be created.
    Socket { path: PathBuf, why: String },
    /// There is no usable certificate.
    Certificate { path: PathBuf, why: String },
    /// The listener for other nodes of the cluster cannot be used.
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
                    io::ErrorKind::AddrInUse => "another process uses this address: stop that process or choose a different port",
                    io::ErrorKind::PermissionDenied => {
                        "ports below 1024 require CAP_NET_BIND_SERVICE: grant it, or choose a higher port"
                    }
                    io::ErrorKind::AddrNotAvailable => "this machine does not have this address: choose one of its addresses",
                    _ => "choose a different address",
                };
                write!(f, "cannot listen on {address}, the value of {setting}: {cause} ({remedy})")
            }
            Self::Nodes(why) => write!(f, "cannot listen for other nodes of the cluster: {why}"),
            Self::Socket { path, why } => write!(f, "cannot create the administration socket {}: {why}", path.display()),
            Self::Certificate { path, why } => {
                write!(f, "cannot use the certificate or key {}: {why}", path.display())
            }
        }
    }
}
