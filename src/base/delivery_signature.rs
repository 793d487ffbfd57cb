//! The two forms of a webhook delivery's signature (`assets/docs/webhooks.md`).
//!
//! `X-Service-Signature` is keyed with the secret's text exactly as shown; the Standard Webhooks form is keyed with the decoded bytes, as
//! in the public Standard Webhooks libraries.

use data_encoding::{BASE64, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The prefix of a secret; the remaining text is base64.
pub const PREFIX: &str = "whsec_";

/// Decodes the bytes of a secret. Returns `None` if `text` is not in the format of a secret.
pub fn secret_bytes(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.strip_prefix(PREFIX)?.as_bytes()).ok().filter(|bytes| !bytes.is_empty())
}

/// Returns the digest for `X-Service-Signature`.
pub fn digest(secret_text: &str, body: &[u8]) -> String {
    HEXLOWER.encode(&sum(secret_text.as_bytes(), &[body]))
}

/// Returns one entry of the `webhook-signature` header (Standard Webhooks).
pub fn standard(secret: &[u8], id: &str, seconds: i64, body: &[u8]) -> String {
    let head = format!("{id}.{seconds}.");
    format!("v1,{}", BASE64.encode(&sum(secret, &[head.as_bytes(), body])))
}

fn sum(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Hmac::<Sha256>::new_from_slice(key).expect("HMAC accepts keys of any length");
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_text_of_a_secret_has_bytes() {
        assert_eq!(secret_bytes("whsec_AAECAw=="), Some(vec![0, 1, 2, 3]));
        for text in ["", "whsec_", "AAECAw==", "whsec_!"] {
            assert_eq!(secret_bytes(text), None, "{text}");
        }
    }
}
