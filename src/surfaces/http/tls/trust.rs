//! Checks whether clients will trust a certificate, by verifying it as a client does, with the root certificates of this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::base::clock::Timestamp;

/// Returns why clients that connect to `host` would reject the certificate chain in this file; `None` if they would accept it.
pub fn certificate_trouble(chain: &Path, host: &str, now: Timestamp) -> Option<String> {
    judge(chain, host, now, &rustls_native_certs::load_native_certs().certs).err()
}

fn judge(chain: &Path, host: &str, now: Timestamp, authorities: &[CertificateDer<'static>]) -> Result<(), String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(chain).and_then(Iterator::collect);
    let certificates = read.map_err(|error| format!("the certificate file cannot be read: {error}"))?;
    let (own, between) =
        certificates.split_first().ok_or("the file contains no certificate; use a PEM file with the certificate chain")?;
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("{host} is not a valid name for a certificate"))?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    let verifier =
        verifier.map_err(|_| "no trusted root certificates were found on this machine; install the ca-certificates package")?;
    let now = UnixTime::since_unix_epoch(Duration::from_millis(u64::try_from(now.0).unwrap_or_default()));
    verifier.verify_server_cert(own, between, &name, &[], now).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

    use super::*;

    /// The time at which the tests verify certificates: 2026-06-01, midnight UTC.
    const NOW: Timestamp = Timestamp(1_780_272_000_000);
    const YEAR_MS: i64 = 365 * 24 * 60 * 60 * 1000;

    #[test]
    fn names_times_and_authorities_are_verified() {
        let authority_key = KeyPair::generate().expect("a key can be generated");
        let mut authority = CertificateParams::new(Vec::new()).expect("a certificate without names is valid");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = authority.self_signed(&authority_key).expect("the certificate can be signed").der().clone();
        let issuer = Issuer::new(authority, authority_key);
        let mut params = CertificateParams::new(vec!["mail.example.com".into()]).expect("the name is valid");
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2026, 12, 31));
        let key = KeyPair::generate().expect("a key can be generated");
        let folder = tempfile::TempDir::new().expect("a temporary folder can be created");
        let chain = folder.path().join("chain.pem");
        fs::write(&chain, params.signed_by(&key, &issuer).expect("the certificate can be signed").pem())
            .expect("the file can be written");

        let roots = [root];
        assert_eq!(judge(&chain, "mail.example.com", NOW, &roots), Ok(()));
        for (host, now, roots, trouble) in [
            ("other.example.com", NOW, &roots[..], "not valid for name"),
            ("mail.example.com", Timestamp(NOW.0 + YEAR_MS), &roots, "expired"),
            ("mail.example.com", NOW, &[], "no trusted root certificates"),
        ] {
            let found = judge(&chain, host, now, roots).expect_err("the certificate is rejected");
            assert!(found.contains(trouble), "{found}");
        }
        fs::write(&chain, "nothing").expect("the file can be written");
        assert!(judge(&chain, "mail.example.com", NOW, &roots).is_err_and(|found| found.contains("no certificate")));
    }
}
