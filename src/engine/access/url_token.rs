//! Secret tokens in URLs that other services call. A token identifies a row, and its secret part shows that the caller was given the URL.

use data_encoding::BASE64URL_NOPAD;

use crate::base::random::Random;
use crate::base::secret::{Secret, same, sha256};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, Id};
use crate::vocab::limits::URL_TOKEN_BYTES;

const BYTES: usize = 1 + 12 + 12 + URL_TOKEN_BYTES;

/// A token for a row of the kind `K`.
pub struct UrlToken<K> {
    pub environment: Environment,
    pub account: AccountId,
    pub id: Id<K>,
    secret: Secret<Vec<u8>>,
}

impl<K> UrlToken<K> {
    pub fn new(environment: Environment, account: AccountId, id: Id<K>, random: &dyn Random) -> Self {
        Self { environment, account, id, secret: Secret::new(random.bytes::<URL_TOKEN_BYTES>().to_vec()) }
    }

    /// Parses the text of a token. The result may still be invalid: only a comparison with the stored hash shows whether the token
    /// is valid.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; BYTES] = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()?;
        let (&[environment], rest) = bytes.split_first_chunk()?;
        let (account, rest) = rest.split_first_chunk()?;
        let (id, secret) = rest.split_first_chunk()?;
        let environment = match environment {
            0 => Environment::Test,
            1 => Environment::Live,
            _ => return None,
        };
        let secret = Secret::new(secret.to_vec());
        Some(Self { environment, account: AccountId::from_bytes(*account), id: Id::from_bytes(*id), secret })
    }

    pub fn text(&self) -> Secret<String> {
        let environment = match self.environment {
            Environment::Test => 0,
            Environment::Live => 1,
        };
        Secret::new(BASE64URL_NOPAD.encode(&[&[environment], &self.account.0[..], &self.id.0[..], self.secret.expose()].concat()))
    }

    /// Returns the hash that is stored. The secret is random, so a plain hash is enough.
    pub fn hash(&self) -> [u8; 32] {
        sha256(self.secret.expose())
    }

    /// Returns whether `hash` is the hash of this token.
    pub fn matches(&self, hash: &[u8; 32]) -> bool {
        same(hash, &self.hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;
    use crate::vocab::ids::MailFeedbackId;

    #[test]
    fn a_token_reads_back_and_other_texts_do_not() {
        let (account, id) = (AccountId::from_bytes([1; 12]), MailFeedbackId::from_bytes([2; 12]));
        let token = UrlToken::new(Environment::Live, account, id, &SeededRandom::new(3));
        let text = token.text().expose().clone();
        assert_eq!(text.len(), 60);
        let read = UrlToken::parse(&text).expect("a token reads back");
        assert_eq!((read.environment, read.account, read.id), (Environment::Live, account, id));
        assert!(read.matches(&token.hash()));
        let other = UrlToken::new(Environment::Live, account, id, &SeededRandom::new(4));
        assert!(!other.matches(&token.hash()));
        for text in ["", "a", &text[1..], &format!("{text}A"), &format!("_{}", &text[1..])] {
            assert!(UrlToken::<crate::vocab::ids::kinds::MailFeedback>::parse(text).is_none(), "{text}");
        }
    }
}
