//! Reads the only fact needed from inside a certificate: when it expires.
//!
//! Reads just far enough into the DER (X.509, RFC 5280 §4.1) to find `notAfter`. Checks nothing else: rustls does.

use crate::base::clock::Timestamp;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns the end of the certificate's validity, or `None` if this is not a certificate.
pub fn not_after(certificate: &[u8]) -> Option<Timestamp> {
    let (tag, certificate, _) = element(certificate)?;
    let certificate = (tag == SEQUENCE).then_some(certificate)?;
    let (tag, mut fields, _) = element(certificate)?;
    (tag == SEQUENCE).then_some(())?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // Serial number, signature algorithm, issuer, and then the validity.
    for expected in [INTEGER, SEQUENCE, SEQUENCE] {
        let (tag, _, rest) = element(fields)?;
        (tag == expected).then_some(())?;
        fields = rest;
    }
    let (tag, validity, _) = element(fields)?;
    (tag == SEQUENCE).then_some(())?;
    let (_, _, rest) = element(validity)?;
    let (tag, time, _) = element(rest)?;
    time_of(tag, time)
}

/// Returns the first element's tag and content, and the remaining bytes.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, bytes) = bytes.split_first()?;
    let (&first, bytes) = bytes.split_first()?;
    let (length, bytes) = match first {
        0..=0x7f => (usize::from(first), bytes),
        0x81..=0x84 => {
            let (digits, rest) = bytes.split_at_checked(usize::from(first - 0x80))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// `YYMMDDHHMMSSZ`, or the same with four digits for the year.
fn time_of(tag: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let digits = rest.strip_suffix('Z').filter(|digits| digits.len() == 10)?;
    let pair = |at: usize| digits[at..at + 2].parse::<i8>().ok();
    let moment = jiff::civil::DateTime::new(year, pair(0)?, pair(2)?, pair(4)?, pair(6)?, pair(8)?, 0).ok()?;
    let moment = moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp(moment.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(year: i32) -> Vec<u8> {
        let mut params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("a valid name");
        params.not_after = rcgen::date_time_ymd(year, 11, 30);
        let key = rcgen::KeyPair::generate().expect("a key can be made");
        params.self_signed(&key).expect("it can be signed").der().to_vec()
    }

    #[test]
    fn the_expiry_is_read_in_both_encodings() {
        // Years before 2050 are written with two digits.
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
