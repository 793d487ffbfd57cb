//! Opens connections: resolves the host, checks every address, connects to an address that passed the check, and verifies the host's
//! certificate.
//!
//! Invariant: unless the operator chose the URL, a socket is opened only to an address that was checked here, after the name was resolved.
//! If a name resolves differently the next time, the new addresses are checked in the same way, and so are the addresses of a redirect.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::address::Guard;
use super::failure::FetchError;
use crate::base::machine::{has_free_descriptor, is_lack_of_descriptors};
use crate::vocab::limits;

/// Ports below this number belong to well-known services; only two of these ports are for the web.
const FREE_PORTS_FROM: u16 = 1024;
const WEB_PORTS: [u16; 2] = [80, 443];

pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

pub trait Resolve: Send + Sync + 'static {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a>;
}

/// Reserved name endings that no public host has (RFC 2606, RFC 7686): the system's resolver is not asked for such names.
const NOWHERE: [&str; 3] = [".example", ".invalid", ".onion"];

/// The machine's own resolver.
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        if let Some(end) = NOWHERE.iter().find(|end| host.ends_with(*end)) {
            let error = io::Error::other(format!("names that end in {end} are reserved"));
            return Box::pin(std::future::ready(Err(error)));
        }
        Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect()) })
    }
}

/// A connection to a server, plain or encrypted.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection and, if it is encrypted, the server's certificate in DER.
pub struct Connected {
    pub wire: Box<dyn Wire>,
    pub certificate: Option<Vec<u8>>,
}

pub struct Connector {
    guard: Guard,
    resolver: Box<dyn Resolve>,
    /// Root certificates that are trusted in addition to the machine's.
    further_roots: Vec<CertificateDer<'static>>,
    tls: OnceLock<Arc<ClientConfig>>,
}

/// Who chose the URL, which determines whether addresses are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The URL comes from a user, a page or a redirect.
    Untrusted,
    /// Like `Untrusted`, but for private data: if any address of the host is not allowed, no data is sent.
    Receiver,
    /// The URL comes from the operator's settings.
    Operator,
}

impl Connector {
    pub fn new(guard: Guard, resolver: Box<dyn Resolve>, further_roots: Vec<CertificateDer<'static>>) -> Self {
        Self { guard, resolver, further_roots, tls: OnceLock::new() }
    }

    /// Connects to the host of `url`, at one of the addresses that `trust` allows.
    pub async fn connect(&self, url: &Url, trust: Trust) -> Result<Box<dyn Wire>, FetchError> {
        Ok(self.connect_with_certificate(url, trust).await?.wire)
    }

    /// Connects like [`Connector::connect`], and also returns the host's certificate.
    pub async fn connect_with_certificate(&self, url: &Url, trust: Trust) -> Result<Connected, FetchError> {
        let encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            other => return Err(FetchError::Scheme(other.to_owned())),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Credentials);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(FetchError::Scheme(url.scheme().to_owned()));
        };
        let found = self.addresses(&host).await?;
        let admitted = match trust {
            Trust::Operator => found,
            Trust::Untrusted => self.admitted(found, port, &host.to_string())?,
            Trust::Receiver => match found.iter().find(|address| !self.guard.admits(**address)) {
                Some(address) => return Err(FetchError::NotPublic { host: host.to_string(), address: *address }),
                None => self.admitted(found, port, &host.to_string())?,
            },
        };
        let stream = open(&admitted, port, &host.to_string()).await?;
        if encrypted { self.encrypt(stream, host).await } else { Ok(Connected { wire: Box::new(stream), certificate: None }) }
    }

    /// Returns whether the host of `url` is an IP address in a network that the operator has allowed.
    pub fn is_in_allowed_network(&self, url: &Url) -> bool {
        match url.host() {
            Some(Host::Ipv4(address)) => self.guard.is_allowed(address.into()),
            Some(Host::Ipv6(address)) => self.guard.is_allowed(address.into()),
            Some(Host::Domain(_)) | None => false,
        }
    }

    pub async fn resolves(&self, name: &str) -> bool {
        self.resolver.resolve(name).await.is_ok_and(|found| !found.is_empty())
    }

    /// Returns why a request to `url` is not allowed, or `None` if nothing in the URL itself forbids the request.
    pub fn refusal(&self, url: &Url) -> Option<FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Some(FetchError::Scheme(url.scheme().to_owned()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Some(FetchError::Credentials);
        }
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Some(FetchError::Scheme(url.scheme().to_owned()));
        };
        let address = match host {
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
            Host::Domain(name) => {
                let name = name.trim_end_matches('.');
                (name == "localhost" || name.ends_with(".localhost")).then(|| IpAddr::from([127, 0, 0, 1]))
            }
        };
        match address {
            Some(address) => self.admitted(vec![address], port, &host.to_string()).err(),
            None if port < FREE_PORTS_FROM && !WEB_PORTS.contains(&port) && !self.guard.opens_anything() => {
                Some(FetchError::Port(port))
            }
            None => None,
        }
    }

    async fn addresses(&self, host: &Host<&str>) -> Result<Vec<IpAddr>, FetchError> {
        let name = match host {
            Host::Ipv4(address) => return Ok(vec![IpAddr::V4(*address)]),
            Host::Ipv6(address) => return Ok(vec![IpAddr::V6(*address)]),
            Host::Domain(name) => *name,
        };
        let unresolved = |cause: String| FetchError::Unresolved { host: name.to_owned(), cause };
        // If the system's resolver cannot open its files and sockets, it may report the name as unknown, so every failure is checked for a
        // lack of file descriptors.
        let found = self.resolver.resolve(name).await.map_err(|error| {
            match is_lack_of_descriptors(&error) || !has_free_descriptor() {
                true => FetchError::NoDescriptors,
                false => unresolved(error.to_string()),
            }
        })?;
        if found.is_empty() { Err(unresolved("no address was found".to_owned())) } else { Ok(found) }
    }

    /// Returns the addresses in `found` that may be contacted at this port. If a host also has other addresses, they are skipped.
    fn admitted(&self, found: Vec<IpAddr>, port: u16, host: &str) -> Result<Vec<IpAddr>, FetchError> {
        let refused = found.iter().copied().find(|address| !self.guard.admits(*address));
        let admitted: Vec<IpAddr> = found.into_iter().filter(|address| self.guard.admits(*address)).collect();
        if let (true, Some(address)) = (admitted.is_empty(), refused) {
            return Err(FetchError::NotPublic { host: host.to_owned(), address });
        }
        let is_for_web = port >= FREE_PORTS_FROM || WEB_PORTS.contains(&port);
        let is_own = admitted.iter().all(|address| self.guard.is_allowed(*address));
        if is_for_web || is_own { Ok(admitted) } else { Err(FetchError::Port(port)) }
    }

    async fn encrypt(&self, stream: TcpStream, host: Host<&str>) -> Result<Connected, FetchError> {
        let shown = host.to_string();
        let failed = |cause: String| FetchError::Tls { host: shown.clone(), cause };
        // If the configuration cannot be created, the error is not kept, because the certificates may be readable later.
        let config = match self.tls.get() {
            Some(config) => config.clone(),
            None => {
                let config = client_config(&self.further_roots, &[b"http/1.1"]);
                let config =
                    config.map_err(|cause| if has_free_descriptor() { failed(cause) } else { FetchError::NoDescriptors })?;
                self.tls.get_or_init(|| config).clone()
            }
        };
        let name = match host {
            Host::Domain(name) => ServerName::try_from(name.to_owned()).map_err(|error| failed(error.to_string()))?,
            Host::Ipv4(address) => ServerName::from(IpAddr::V4(address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::V6(address)),
        };
        let handshake = TlsConnector::from(config).connect(name, stream);
        let stream = handshake.await.map_err(|error| failed(error.to_string()))?;
        let certificate = stream.get_ref().1.peer_certificates().and_then(|all| Some(all.first()?.to_vec()));
        Ok(Connected { wire: Box::new(stream), certificate })
    }
}

/// Connects to the first of `addresses` that accepts a connection.
async fn open(addresses: &[IpAddr], port: u16, host: &str) -> Result<TcpStream, FetchError> {
    let mut cause = "no address was found".to_owned();
    let mut refusals = 0;
    for address in addresses.iter().take(limits::FETCH_ADDRESSES_TRIED_MAX) {
        match timeout(limits::FETCH_CONNECT_TIME, TcpStream::connect(SocketAddr::new(*address, port))).await {
            Ok(Ok(stream)) => {
                // Nagle's algorithm is turned off: each request is a single write, so waiting for more data gains nothing.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) if is_lack_of_descriptors(&error) => return Err(FetchError::NoDescriptors),
            Ok(Err(error)) => {
                refusals += usize::from(error.kind() == io::ErrorKind::ConnectionRefused);
                cause = error.to_string();
            }
            Err(_) => cause = "no response".to_owned(),
        }
    }
    let host = host.to_owned();
    if refusals > 0 && refusals == addresses.len().min(limits::FETCH_ADDRESSES_TRIED_MAX) {
        return Err(FetchError::ConnectionRefused { host });
    }
    Err(FetchError::Unreachable { host, cause })
}

/// Returns the TLS configuration for these protocols, with the machine's root certificates and those in `further`. Callers keep the
/// configuration, because the machine's certificates change only when the machine is updated.
pub fn client_config(further: &[CertificateDer<'static>], protocols: &[&[u8]]) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    let (added, _) = roots.add_parsable_certificates(native.certs);
    let (further, _) = roots.add_parsable_certificates(further.to_vec());
    if added + further == 0 {
        let reason = native.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(format!(
            "no trusted root certificates found{reason}; install the ca-certificates package, or correct SSL_CERT_FILE if it is set, \
             and restart Mailmill"
        ));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Arc::new(config))
}
