//! TLS for connections to mail servers.
//!
//! A relay with TLS must present a certificate from a certificate authority that this machine trusts. Connections to recipients' servers
//! use TLS if the servers offer it. These servers are not verified, because their names come from unauthenticated DNS, and the alternative
//! is clear text (RFC 7435). If a domain's MTA-STS policy requires verification, the domain's servers are verified too.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::engine::fetch;

#[derive(Clone)]
pub struct TlsConnectors {
    proven: Result<Arc<ClientConfig>, String>,
    unproven: Arc<ClientConfig>,
}

impl TlsConnectors {
    /// Creates TLS configurations that trust the machine's certificate authorities and `further_roots`.
    pub fn new(further_roots: &[CertificateDer<'static>]) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let anybody = Arc::new(AnyCertificate(provider.clone()));
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.expect("ring has ciphers for all TLS versions");
        let unproven = builder.dangerous().with_custom_certificate_verifier(anybody).with_no_client_auth();
        Self { proven: fetch::client_config(further_roots, &[]), unproven: Arc::new(unproven) }
    }

    /// Returns the TLS configuration that verifies the server's name.
    pub fn proven(&self) -> Result<Arc<ClientConfig>, String> {
        self.proven.clone()
    }

    /// Returns the TLS configuration without verification.
    pub fn unproven(&self) -> Arc<ClientConfig> {
        self.unproven.clone()
    }
}

/// Accepts any certificate, but verifies that the server has the certificate's private key.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
