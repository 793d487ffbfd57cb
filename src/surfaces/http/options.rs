//! The surface's options, with the reason for every number, and the errors of a failed start.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::proxy::ProxyTrust;

/// Where to listen, and the limits. At least one of `http`, `https` and `socket` is required.
pub struct Options {
    /// Plain HTTP. Only on loopback, unless [`ProxyTrust::behind_proxy`] says that a proxy in front speaks TLS.
    pub http: Option<SocketAddr>,
    /// HTTPS with the certificate of `tls`.
    pub https: Option<SocketAddr>,
    /// The administration socket. Any process that can open it acts as the operator.
    pub socket: Option<PathBuf>,
    /// The source of the certificate. Used only with `https`.
    pub tls: TlsSource,
    /// Which reverse proxies to trust, if any.
    pub proxy: ProxyTrust,
    /// Limits on connections and requests.
    pub limits: Limits,
}

/// The source of the certificate.
#[derive(Clone, Debug)]
pub enum TlsSource {
    /// The operator's own PEM files, reloaded when they change.
    Files { certificate: PathBuf, key: PathBuf },
    /// `cert.pem` and `key.pem` in this folder, created if missing and renewed before they expire. They are valid for localhost, the
    /// loopback addresses and `names` (host names or addresses).
    SelfMade { folder: PathBuf, names: Vec<String> },
}

/// The bound addresses, with real ports in place of port 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    pub http: Option<SocketAddr>,
    pub https: Option<SocketAddr>,
    pub socket: Option<PathBuf>,
}

/// Limits of the surface. The body *size* is not among them: it depends on the operation, so the pipeline enforces it.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From the first byte of a request (or from the start of a connection) to the end of its headers. A slow sender of headers holds a
    /// connection without counting as a caller; no legitimate client needs 10 s for 16 KiB.
    pub header_time: Duration,
    /// Total bytes of all header names and values. Large enough for several tokens and cookies; keeps the buffer per connection small.
    pub header_bytes: usize,
    /// Number of header lines. Browsers send about 20.
    pub header_count: usize,
    /// Bytes of the path and query. The longest query of our own operations is far below.
    pub uri_bytes: usize,
    /// How long the surface waits for a request body: at most this long for any single chunk, and at most this long in total, plus the time
    /// that the bytes received so far may take at `body_rate_min`. A small body has 30 s; a large one may continue for as long as data
    /// arrives. Time in which the pipeline is busy with earlier chunks does not count.
    pub body_time: Duration,
    /// The minimum rate, in bytes per second, of a large body after `body_time`.
    pub body_rate_min: u64,
    /// How long a connection may stay open with no request on it.
    pub idle_time: Duration,
    /// For the TLS handshake.
    pub handshake_time: Duration,
    /// From the request (or the last chunk of its body) to the head of the reply. Afterwards the caller gets 503: by then it has given up
    /// or will repeat, and work must not pile up.
    pub reply_time: Duration,
    /// How long a reply may make no progress: its producer returns nothing or the client reads nothing. Longer than `reply_time` and
    /// `body_time`, which end with a proper response.
    pub stall_time: Duration,
    /// The total number of open connections. One costs about 10 KiB idle, and about 60 KiB at worst.
    pub connections: usize,
    /// Open connections per address (per /64 in IPv6: a household or one rented machine has at least that). Loopback and the trusted
    /// proxies are exempt: all clients of a proxy, and all programs on this machine, share one address there, and the total limit still
    /// applies.
    pub connections_per_address: usize,
    /// Concurrent HTTP/2 requests on one connection. Also limits what one client can make the pipeline hold at once.
    pub h2_streams: u32,
    /// After this long without HTTP/2 traffic the client is pinged, and has the same time to respond.
    pub h2_ping: Duration,
    /// Streams that were opened and reset before the pipeline saw them (the "rapid reset" flood), per connection.
    pub h2_pending_resets: usize,
    /// Streams that the server had to reset because of the client's errors, per connection.
    pub h2_error_resets: usize,
    /// How long the remaining input is read and discarded after the last response on a connection that is to be closed. Otherwise the
    /// client's machine may discard the response before the client has read it.
    pub linger_time: Duration,
    /// How much is discarded in that time.
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

/// Names of settings, for error messages.
pub mod setting {
    pub const HTTP: &str = "server.http (--http)";
    pub const HTTPS: &str = "server.https (--https)";
    pub const BEHIND_PROXY: &str = "server.behind_proxy";
    pub const CERTIFICATE: &str = "tls.certificate";
    pub const KEY: &str = "tls.key";
}

/// Why the surface could not start.
#[derive(Debug)]
pub enum StartError {
    /// No address and no socket was given.
    NothingToListenOn,
    /// Plain HTTP on an address that others could intercept.
    PlainNotLoopback(SocketAddr),
    /// The address could not be bound.
    Listen { setting: &'static str, address: SocketAddr, cause: io::Error },
    /// The administration socket could not be created.
    Socket { path: PathBuf, why: String },
    /// There is no usable certificate.
    Certificate { path: PathBuf, why: String },
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
                "plain HTTP on {address} could be read and changed in transit: serve HTTPS there ({}), listen on 127.0.0.1 only, \
                 or set {} = true if a proxy in front speaks TLS",
                setting::HTTPS,
                setting::BEHIND_PROXY
            ),
            Self::Listen { setting, address, cause } => {
                let remedy = match cause.kind() {
                    io::ErrorKind::AddrInUse => "another process listens there: stop it or choose another port",
                    io::ErrorKind::PermissionDenied => "ports below 1024 need a privilege: choose a higher port",
                    io::ErrorKind::AddrNotAvailable => "this machine has no such address",
                    _ => "choose another address",
                };
                write!(f, "cannot listen on {address}, the value of {setting}: {cause} ({remedy})")
            }
            Self::Socket { path, why } => write!(f, "cannot create the administration socket {}: {why}", path.display()),
            Self::Certificate { path, why } => {
                write!(f, "cannot use the certificate or key {}: {why}", path.display())
            }
        }
    }
}
