//! Delivery signatures and their secret.
//!
//! The same secret is used for both forms of signature: `X-Service-Signature` and Standard Webhooks. `base/delivery_signature.rs` computes
//! the signatures. The secret is shown as `whsec_` followed by random bytes in base64.

use data_encoding::BASE64;

use crate::base::delivery_signature;
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::{AccountId, WebhookId};
use crate::vocab::limits;

use super::model::secret_context;

/// The bytes of a webhook's secret, with which deliveries are signed.
pub struct Signer(Secret<Vec<u8>>);

impl Signer {
    pub fn new(random: &dyn Random) -> Self {
        Self(Secret::new(random.bytes::<{ limits::WEBHOOK_SECRET_BYTES }>().to_vec()))
    }

    /// Decrypts a secret. Returns `None` if it was sealed with a different master key.
    pub fn open(seal: &Seal, account: AccountId, webhook: WebhookId, sealed: &[u8]) -> Option<Self> {
        seal.open(&secret_context(account, webhook), sealed).map(|bytes| Self(Secret::new(bytes)))
    }

    /// Encrypts the secret with the master key.
    pub fn seal(&self, seal: &Seal, account: AccountId, webhook: WebhookId, random: &dyn Random) -> Vec<u8> {
        seal.seal(&secret_context(account, webhook), self.0.expose(), random)
    }

    /// Returns the secret as text, which is shown to its owner only once.
    pub fn text(&self) -> Secret<String> {
        Secret::new(format!("{}{}", delivery_signature::PREFIX, BASE64.encode(self.0.expose())))
    }

    /// Returns the HMAC-SHA256 of the body for `X-Service-Signature`.
    pub fn digest(&self, body: &[u8]) -> String {
        delivery_signature::digest(self.text().expose(), body)
    }

    /// Returns one entry of `webhook-signature`.
    pub fn standard(&self, id: &str, seconds: i64, body: &[u8]) -> String {
        delivery_signature::standard(self.0.expose(), id, seconds, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    /// The expected values were computed with Python's hmac module, independently of this program.
    #[test]
    fn both_forms_match_other_implementations() {
        let signer = Signer(Secret::new((0..32).collect()));
        assert_eq!(signer.text().expose(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let plain = br#"{"a":1}"#.as_slice();
        let other = r#"{"name":"Zoë 北京 🎉"}"#.as_bytes();
        assert_eq!(signer.digest(plain), "d3f1ea16147b8b8d0304fe2a9559b4b4b84d057af19b132191df3378cbd1234a");
        assert_eq!(signer.digest(other), "7192be8026088460d6c99fbdd4d7f59dad86a207af9fa902d082484f04618b89");
        assert_eq!(signer.standard("evt", 1_700_000_000, plain), "v1,HRuZCedO+PssxGDGFJFxYEgm9jSi18+GPruIagDDyRc=");
        assert_eq!(signer.standard("evt", 1_700_000_000, other), "v1,y9jIWu0GRvMszopC1S4epYvN2dPcQ+BJq1k/RDQOq74=");
    }

    #[test]
    fn a_secret_opens_only_for_its_own_webhook() {
        let (random, seal) = (SeededRandom::new(5), Seal::from_key(&[7; 32]));
        let (account, webhook) = (AccountId::from_bytes([1; 12]), WebhookId::from_bytes([2; 12]));
        let signer = Signer::new(&random);
        let sealed = signer.seal(&seal, account, webhook, &random);
        let opened = Signer::open(&seal, account, webhook, &sealed).expect("the secret opens in the place where it was sealed");
        assert_eq!(opened.digest(b"x"), signer.digest(b"x"));
        assert!(Signer::open(&seal, account, WebhookId::from_bytes([3; 12]), &sealed).is_none());
        assert!(Signer::new(&random).digest(b"x") != signer.digest(b"x"));
    }
}
