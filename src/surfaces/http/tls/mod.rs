//! TLS: the current certificate, and its replacement without a restart.
//!
//! Each handshake reads the certificate through one pointer; a task watches the files and replaces the certificate. This module is
//! independent of which clients connect and of what is served.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustls::crypto::CryptoProvider;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, version};
use tokio_rustls::TlsAcceptor;

use super::options::{StartError, TlsSource, setting};
use crate::base::clock::{Clock, Timestamp};

mod der;
mod files;
pub(super) mod nodes;
mod self_signed;
mod trust;

pub use trust::certificate_trouble;

use files::{Pair, Stamp};

/// The protocols offered in ALPN, in order of preference.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The period before expiry in which the service logs warnings about an operator's certificate, at each start and once a day.
const EXPIRY_WARNING_MS: i64 = 14 * DAY_MS;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The time between two checks of the expiry. Precision does not matter, because renewal and warnings start weeks before the expiry.
const EXPIRY_CHECK_MS: i64 = 60 * 60 * 1000;

/// The current certificate, its source, and the state needed to watch its files.
pub struct Tls {
    shown: Arc<CurrentCertificate>,
    provider: Arc<CryptoProvider>,
    pair: Pair,
    /// The names for a self-signed certificate; `None` if the operator provides the files.
    names: Option<Vec<String>>,
    clock: Arc<dyn Clock>,
    stamp: Stamp,
    checked_at: Timestamp,
    warned: Option<Timestamp>,
}

impl Tls {
    /// Loads the certificate from `source`. If `source` is self-signed, first creates the certificate if there is none, or replaces it if
    /// it must be renewed.
    pub fn load(source: &TlsSource, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let (pair, names) = match source {
            TlsSource::Files { certificate, key } => (Pair { certificate: certificate.clone(), key: key.clone() }, None),
            TlsSource::SelfSigned { folder, names } => {
                let pair = Pair { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
                let names = self_signed::names(names);
                self_signed::ensure(&pair, &names, clock.now(), &provider).map_err(|why| failed(folder, why))?;
                (pair, Some(names))
            }
        };
        // The metadata is read before the files, so a change while reading them is detected at the next check.
        let stamp = Stamp::of(&pair);
        let certified = pair.load(&provider).map_err(|(path, why)| failed(&path, hint(why, names.is_none())))?;
        let shown = Arc::new(CurrentCertificate(ArcSwap::from_pointee(certified)));
        let checked_at = clock.now();
        let mut tls = Self { shown, provider, pair, names, clock, stamp, checked_at, warned: None };
        tls.warn_of_expiry();
        Ok(tls)
    }

    /// Returns the acceptor for HTTPS connections. It always uses the current certificate.
    pub fn acceptor(&self) -> Result<TlsAcceptor, StartError> {
        self.acceptor_for(&PROTOCOLS)
    }

    /// Returns the acceptor for protocols that do not use ALPN. It always uses the current certificate.
    pub fn plain_acceptor(&self) -> Result<TlsAcceptor, StartError> {
        self.acceptor_for(&[])
    }

    fn acceptor_for(&self, protocols: &[&[u8]]) -> Result<TlsAcceptor, StartError> {
        let failed = |error: rustls::Error| failed(&self.pair.certificate, error.to_string());
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&self.provider))
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])
            .map_err(failed)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&self.shown) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        config.ticketer = rustls::crypto::ring::Ticketer::new().map_err(failed)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Watches the certificate's files until the task ends, and loads changed files. If they are invalid, the old certificate stays in use.
    pub async fn follow(mut self, every: Duration) {
        // The two files are rarely written at the same moment, so a change is loaded only when two consecutive checks see the
        // same state.
        let mut changed: Option<Stamp> = None;
        loop {
            tokio::time::sleep(every).await;
            self.check_expiry();
            let now = Stamp::of(&self.pair);
            if now == self.stamp {
                changed = None;
            } else if changed.as_ref() == Some(&now) {
                changed = None;
                self.stamp = now;
                self.reload();
            } else {
                changed = Some(now);
            }
        }
    }

    fn reload(&mut self) {
        match self.pair.load(&self.provider) {
            Ok(certified) => {
                self.shown.0.store(Arc::new(certified));
                self.warned = None;
                tracing::info!(certificate = %self.pair.certificate.display(), "the changed certificate was loaded");
            }
            Err((path, why)) => {
                tracing::warn!(file = %path.display(), why, "the new certificate or key cannot be used; the old one stays in use");
            }
        }
    }

    /// Checks the expiry at most once an hour: renews a self-signed certificate that expires soon, and warns about an operator's
    /// certificate that expires soon.
    fn check_expiry(&mut self) {
        let now = self.clock.now();
        if now.ms_since(self.checked_at) < EXPIRY_CHECK_MS {
            return;
        }
        self.checked_at = now;
        self.warn_of_expiry();
        if let Some(names) = &self.names
            && let Err(why) = self_signed::ensure(&self.pair, names, now, &self.provider)
        {
            tracing::warn!(why, "could not create a new certificate; the old one stays in use");
        }
    }

    fn warn_of_expiry(&mut self) {
        let now = self.clock.now();
        if self.names.is_some() || self.warned.is_some_and(|warned| now.ms_since(warned) < DAY_MS) {
            return;
        }
        let shown = self.shown.0.load();
        let Some(end) = shown.cert.first().and_then(|certificate| der::not_after(certificate)) else { return };
        if end.ms_since(now) < EXPIRY_WARNING_MS {
            tracing::warn!(%end, certificate = %self.pair.certificate.display(), "the certificate expires soon or has expired");
            self.warned = Some(now);
        }
    }
}

#[derive(Debug)]
struct CurrentCertificate(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

fn failed(path: &Path, why: String) -> StartError {
    StartError::Certificate { path: PathBuf::from(path), why }
}

fn hint(why: String, own_files: bool) -> String {
    if own_files {
        format!("{why} (see the settings {} and {})", setting::CERTIFICATE, setting::KEY)
    } else {
        format!("{why} (remove the certificate and the key, and Mailmill creates new ones)")
    }
}
