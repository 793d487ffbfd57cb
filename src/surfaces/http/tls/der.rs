//! Reads the expiry time of a certificate.

use x509_parser::parse_x509_certificate;

use crate::base::clock::Timestamp;

/// Returns the end of the certificate's validity (`notAfter`), or `None` if the bytes are not an X.509 certificate.
pub fn not_after(certificate: &[u8]) -> Option<Timestamp> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    Some(Timestamp(certificate.validity().not_after.timestamp() * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(year: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("the name is valid");
        params.not_after = rcgen::date_time_ymd(year, 11, 30);
        let key = rcgen::KeyPair::generate().expect("a key can be generated");
        params.self_signed(&key).expect("the certificate can be signed").der().to_vec()
    }

    #[test]
    fn the_expiry_is_read_in_both_encodings() {
        // Certificates encode years before 2050 with two digits.
        assert_eq!(not_after(&certificate(2031)).map(|end| end.to_string()).as_deref(), Some("2031-11-30T00:00:00.000Z"));
        assert_eq!(not_after(&certificate(2091)).map(|end| end.to_string()).as_deref(), Some("2091-11-30T00:00:00.000Z"));
    }

    #[test]
    fn garbage_is_not_a_certificate() {
        let whole = certificate(2031);
        for length in 0..120 {
            assert_eq!(not_after(&whole[..length]), None, "cut to {length} bytes");
        }
        assert_eq!(not_after(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
