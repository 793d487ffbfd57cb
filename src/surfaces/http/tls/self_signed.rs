//! The self-signed certificate, created at the first start so that HTTPS works without configuration.
//!
//! No certificate authority has signed the certificate, so browsers show a warning, and other clients must be configured to trust its file.
//! The certificate is renewed before it expires, or if it lacks a name, but only if Mailmill created it: the operator's own files are never
//! overwritten.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use rcgen::{CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose};
use rustls::crypto::CryptoProvider;

use super::der;
use super::files::{Pair, first_certificate, replace};
use crate::base::clock::Timestamp;

/// The subject of all self-signed certificates, which identifies them as Mailmill's own.
const SUBJECT: &str = "Mailmill self-signed certificate";

/// The validity of a new certificate. Some browsers reject a validity of more than 398 days.
const VALID_MS: i64 = 397 * super::DAY_MS;

/// The period before expiry in which a certificate is renewed. It leaves time to replace the copies that clients trust.
const REMAKE_MS: i64 = 30 * super::DAY_MS;

/// How far the start of a new certificate's validity is backdated, because the clocks of clients can be slow.
const BACKDATE_MS: i64 = super::DAY_MS;

/// Returns the names that a certificate needs: the loopback names and `asked`.
pub fn names(asked: &[String]) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    for name in asked {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Creates a certificate and key if there are none. Replaces them if the self-signed certificate expires soon, lacks a name or cannot
/// be loaded.
pub fn ensure(pair: &Pair, names: &[String], now: Timestamp, provider: &CryptoProvider) -> Result<(), String> {
    if pair.certificate.exists() {
        let ours = first_certificate(&pair.certificate).filter(|der| contains(der, SUBJECT.as_bytes()));
        let Some(der) = ours else { return Ok(()) };
        let good = der::not_after(&der).is_some_and(|end| end.ms_since(now) > REMAKE_MS)
            && names.iter().all(|name| has_name(&der, name))
            && pair.load(provider).is_ok();
        if good {
            return Ok(());
        }
    } else if pair.key.exists() {
        // An interrupted creation leaves a certificate without a key, never a key without a certificate, so this key is the
        // operator's.
        let (key, certificate) = (pair.key.display(), pair.certificate.display());
        return Err(format!("{key} is a key without a certificate: add {certificate}, or remove the key"));
    }
    make(pair, names, now)
}

fn make(pair: &Pair, names: &[String], now: Timestamp) -> Result<(), String> {
    let mut params = CertificateParams::new(names.to_vec())
        .map_err(|error| format!("a host name cannot be used in the certificate: {error}"))?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, SUBJECT);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let (year, month, day) = date(now.plus_ms(-BACKDATE_MS))?;
    params.not_before = rcgen::date_time_ymd(year, month, day);
    let (year, month, day) = date(now.plus_ms(VALID_MS))?;
    params.not_after = rcgen::date_time_ymd(year, month, day);
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(|error| error.to_string())?;
    let certificate = params.self_signed(&key).map_err(|error| error.to_string())?;

    if let Some(folder) = pair.certificate.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| error.to_string())?;
    }
    // The certificate is written first, which `ensure` relies on. If the process ends between the two writes, `ensure` detects the
    // mismatch and repairs it.
    replace(&pair.certificate, certificate.pem().as_bytes(), 0o600).map_err(|error| error.to_string())?;
    replace(&pair.key, key.serialize_pem().as_bytes(), 0o600).map_err(|error| error.to_string())?;
    tracing::info!(certificate = %pair.certificate.display(), "created a self-signed certificate");
    Ok(())
}

fn date(moment: Timestamp) -> Result<(i32, u8, u8), String> {
    let moment = jiff::Timestamp::from_millisecond(moment.0).map_err(|error| error.to_string())?;
    let date = moment.to_zoned(jiff::tz::TimeZone::UTC).date();
    Ok((date.year().into(), date.month() as u8, date.day() as u8))
}

/// Returns whether the certificate has this subject alternative name. Searches the DER bytes for the encoded name (RFC 5280 §4.2.1.6).
fn has_name(der: &[u8], name: &str) -> bool {
    let (tag, value) = match name.parse() {
        Ok(std::net::IpAddr::V4(address)) => (0x87, address.octets().to_vec()),
        Ok(std::net::IpAddr::V6(address)) => (0x87, address.octets().to_vec()),
        Err(_) => (0x82, name.as_bytes().to_vec()),
    };
    let Ok(length) = u8::try_from(value.len()) else { return false };
    let mut encoded = vec![tag, length];
    encoded.extend_from_slice(&value);
    contains(der, &encoded)
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_795_244_400_000);

    fn fixture() -> (tempfile::TempDir, Pair, CryptoProvider) {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let pair = Pair { certificate: folder.path().join("tls/cert.pem"), key: folder.path().join("tls/key.pem") };
        (folder, pair, rustls::crypto::ring::default_provider())
    }

    fn content(pair: &Pair) -> Vec<u8> {
        std::fs::read(&pair.certificate).expect("the certificate exists")
    }

    #[test]
    fn a_certificate_is_renewed_shortly_before_it_expires() {
        let (_folder, pair, provider) = fixture();
        ensure(&pair, &names(&[]), NOW, &provider).expect("the certificate can be created");
        let first = content(&pair);
        let end = der::not_after(&first_certificate(&pair.certificate).expect("the file contains a certificate"))
            .expect("the certificate has an expiry time");
        ensure(&pair, &names(&[]), end.plus_ms(-REMAKE_MS - 1), &provider).expect("the certificate is still usable");
        assert_eq!(content(&pair), first);
        ensure(&pair, &names(&[]), end.plus_ms(-REMAKE_MS), &provider).expect("the certificate can be created");
        assert_ne!(content(&pair), first);
        pair.load(&provider).expect("the new certificate and key can be loaded");
    }

    #[test]
    fn it_is_renewed_for_a_new_name() {
        let (_folder, pair, provider) = fixture();
        ensure(&pair, &names(&[]), NOW, &provider).expect("the certificate can be created");
        let first = content(&pair);
        ensure(&pair, &names(&["localhost".to_owned(), "::1".to_owned()]), NOW, &provider)
            .expect("the certificate is still usable");
        assert_eq!(content(&pair), first);
        ensure(&pair, &names(&["192.0.2.1".to_owned()]), NOW, &provider).expect("the certificate can be created");
        assert_ne!(content(&pair), first);
    }

    /// A power failure between the two writes leaves a certificate without a key.
    #[test]
    fn an_interrupted_creation_is_repaired() {
        let (_folder, pair, provider) = fixture();
        ensure(&pair, &names(&[]), NOW, &provider).expect("the certificate can be created");
        std::fs::remove_file(&pair.key).expect("the key exists");
        ensure(&pair, &names(&[]), NOW, &provider).expect("the certificate can be created");
        pair.load(&provider).expect("the certificate and key can be loaded");
    }
}
