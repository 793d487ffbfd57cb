//! Signed links: a path that works for anyone who has the link, until the link expires.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::base::clock::Timestamp;

/// Signs and checks links with a key that serves one purpose.
pub struct Links {
    key: [u8; 32],
}

impl Links {
    /// Creates a signer with `key`, which must have no other purpose.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Creates the token that makes `path` accessible until `expires_at`.
    pub fn sign(&self, path: &str, expires_at: Timestamp) -> String {
        let expiry = expires_at.seconds().to_string();
        let sum = mac(&self.key, &[path.as_bytes(), b"\0", expiry.as_bytes()]);
        format!("{expiry}.{}", HEXLOWER.encode(&sum))
    }

    /// Returns whether `token` gives access to `path` at `now`.
    pub fn check(&self, path: &str, token: &str, now: Timestamp) -> bool {
        let Some((expiry, sum)) = token.split_once('.') else { return false };
        let Ok(sum) = HEXLOWER.decode(sum.as_bytes()) else { return false };
        let mut expected = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC accepts keys of any length");
        for part in [path.as_bytes(), b"\0", expiry.as_bytes()] {
            expected.update(part);
        }
        expected.verify_slice(&sum).is_ok() && expiry.parse::<i64>().is_ok_and(|expiry| now.seconds() < expiry)
    }
}

fn mac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    parts.iter().for_each(|part| sum.update(part));
    sum.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_opens_its_own_path_until_it_expires() {
        let links = Links::new([1; 32]);
        let token = links.sign("/v1/x", Timestamp(60_000));
        assert!(links.check("/v1/x", &token, Timestamp(59_999)));
        assert!(!links.check("/v1/x", &token, Timestamp(60_000)));
        assert!(!links.check("/v1/y", &token, Timestamp(0)));
        assert!(!links.check("/v1/x", &token.replacen("60", "61", 1), Timestamp(0)));
        assert!(!links.check("/v1/x", "60.zz", Timestamp(0)));
        assert!(!Links::new([2; 32]).check("/v1/x", &token, Timestamp(0)));
    }
}
