//! TLS between the nodes of a cluster: both sides prove that they know the cluster's secret.
//!
//! Every node derives the same Ed25519 key from the secret and presents a certificate with it; both sides accept exactly this key. Unlike a
//! signature on each request, this also encrypts the traffic, and requires neither synchronized clocks nor protection against replays.
//! Nodes need no certificate files and no certificate authority, and a new secret replaces all certificates.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, date_time_ymd};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{ClientConfig, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme, version};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use sha2::Sha256;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The name in the certificate. Peers compare the key and ignore the name.
const NAME: &str = "node.mailmill.internal";
/// The bytes of a PKCS #8 file before the 32 bytes of an Ed25519 private key (RFC 8410).
const PKCS8_START: [u8; 16] = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// The certificate and the key that all nodes share.
pub struct NodeIdentity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
    verifier: Arc<SameKey>,
}

impl NodeIdentity {
    /// Derives the key from the cluster's secret, and creates a certificate with it.
    pub fn of(secret: &str) -> Result<Self, String> {
        let mut seed = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(|error| error.to_string())?;
        seed.update(b"mailmill cluster node v1");
        let der = [PKCS8_START.as_slice(), &seed.finalize().into_bytes()].concat();
        let key = PrivatePkcs8KeyDer::from(der);
        let said = |error: rcgen::Error| error.to_string();
        let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519).map_err(said)?;
        let mut params = CertificateParams::new(vec![NAME.to_owned()]).map_err(said)?;
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2100, 1, 1));
        let certificate = params.self_signed(&pair).map_err(said)?.der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let public = public_key(&certificate).ok_or("the certificate derived from cluster.secret cannot be read")?;
        Ok(Self { certificate, key, verifier: Arc::new(SameKey { public, provider }) })
    }

    pub fn server(&self) -> Result<ServerConfig, Error> {
        let mut config = ServerConfig::builder_with_provider(self.verifier.provider.clone())
            .with_protocol_versions(&[&version::TLS13])?
            .with_client_cert_verifier(self.verifier.clone())
            .with_single_cert(vec![self.certificate.clone()], PrivateKeyDer::Pkcs8(self.key.clone_key()))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    pub fn client(&self) -> Result<ClientConfig, Error> {
        let mut config = ClientConfig::builder_with_provider(self.verifier.provider.clone())
            .with_protocol_versions(&[&version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(self.verifier.clone())
            .with_client_auth_cert(vec![self.certificate.clone()], PrivateKeyDer::Pkcs8(self.key.clone_key()))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }
}

pub fn server_name() -> ServerName<'static> {
    ServerName::try_from(NAME).expect("the name is valid")
}

fn public_key(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    Some(parsed.public_key().raw.to_vec())
}

/// A verifier that accepts exactly the certificates with the cluster's key.
#[derive(Debug)]
struct SameKey {
    public: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl SameKey {
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        // Public keys are not secret, so an equal public key proves nothing; the signature in the handshake proves that the peer has the
        // private key.
        match public_key(certificate) {
            Some(public) if public == self.public => Ok(()),
            _ => {
                let why = "the other side is not a node of this cluster, or has a different cluster.secret; set the same secret \
                           on all nodes";
                Err(Error::General(why.to_owned()))
            }
        }
    }

    fn signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.check(certificate)?;
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn unsupported() -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General(
            "the connection between nodes requires TLS 1.3; use the same version of Mailmill on all nodes".to_owned(),
        ))
    }
}

impl ServerCertVerifier for SameKey {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Self::unsupported()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

impl ClientCertVerifier for SameKey {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Self::unsupported()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    /// Returns whether a client can complete a handshake with a server that uses the secret `server`.
    async fn connects(server: &str, client: Arc<ClientConfig>) -> bool {
        let (near, far) = tokio::io::duplex(16 * 1024);
        let acceptor = TlsAcceptor::from(Arc::new(NodeIdentity::of(server).expect("a secret").server().expect("a key")));
        let serving = async {
            let mut tls = acceptor.accept(far).await?;
            tls.write_all(b"hello").await?;
            tls.shutdown().await
        };
        let calling = async {
            let mut tls = TlsConnector::from(client).connect(server_name(), near).await?;
            let mut read = String::new();
            tls.read_to_string(&mut read).await.map(|_| read)
        };
        let (served, read) = tokio::join!(serving, calling);
        served.is_ok() && read.is_ok_and(|read| read == "hello")
    }

    #[tokio::test]
    async fn nodes_with_the_same_secret_connect_and_others_do_not() {
        let client = |secret: &str| Arc::new(NodeIdentity::of(secret).expect("a secret").client().expect("a key"));
        assert!(connects(SECRET, client(SECRET)).await);
        assert!(!connects(SECRET, client("another secret of 32 characters.")).await);
        // This client has no certificate and accepts the server's certificate.
        let nameless = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&version::TLS13])
            .expect("TLS 1.3 is supported")
            .dangerous()
            .with_custom_certificate_verifier(NodeIdentity::of(SECRET).expect("a secret").verifier)
            .with_no_client_auth();
        assert!(!connects(SECRET, Arc::new(nameless)).await);
        // This client presents the cluster's certificate but lacks its private key.
        let (own, other) = (NodeIdentity::of(SECRET).expect("a secret"), NodeIdentity::of("x").expect("a secret"));
        let copied = NodeIdentity { certificate: own.certificate, key: other.key, verifier: own.verifier };
        assert!(copied.client().is_err() || !connects(SECRET, Arc::new(copied.client().expect("a pair"))).await);
    }
}
