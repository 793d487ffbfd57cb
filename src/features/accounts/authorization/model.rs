//! The states of a program's access: the code that the user's decision creates, and the grant with its tokens. Pure: uses no clock and no
//! store.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::{same, sha256};
use crate::engine::access::access_tokens::AccessToken;
use crate::engine::store::Record;
use crate::features::accounts::agents::model::{Decision, KeyTerms};
use crate::vocab::ids::KeyId;
use crate::vocab::limits;

/// The party to which codes and tokens belong: they work only for the client and the resource that the user has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// SHA-256 of the client ID.
    pub client: [u8; 32],
    /// The URL of the resource (RFC 8707).
    pub resource: String,
}

/// An authorization code, found by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    pub binding: Binding,
    /// The redirect URI of the request, which the client must repeat.
    pub redirect_uri: String,
    /// The SHA-256 hash of the verifier (RFC 7636, method `S256`).
    pub challenge: [u8; 32],
    pub decision: Decision,
    pub terms: KeyTerms,
    pub expires_at: Timestamp,
    /// The key that was created for the code; a second use of the code revokes it.
    pub key: Option<KeyId>,
}

impl Record for Code {}

/// The access of a program: an API key that no one knows, and the tokens that are accepted in place of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub binding: Binding,
    pub key: KeyId,
    /// The hash by which the key is found.
    pub key_hash: [u8; 32],
    pub decision: Decision,
    pub terms: KeyTerms,
    /// The hash of the current access token.
    pub access: [u8; 32],
    pub access_expires_at: Timestamp,
    /// The hash of the current refresh token.
    pub refresh: [u8; 32],
    pub refresh_expires_at: Timestamp,
}

impl Record for Grant {}

/// The row of a refresh token: its grant, and when the row can be deleted. Rows of replaced tokens stay, so that their use is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshRow {
    pub key: KeyId,
    pub expires_at: Timestamp,
}

impl Record for RefreshRow {}

impl Code {
    /// Returns whether the client may exchange the code: it is the client that requested it, with the same redirect URI, and knows the
    /// verifier.
    pub fn is_of(&self, client_id: &str, redirect_uri: &str, verifier: &str) -> bool {
        same(&self.binding.client, &sha256(client_id.as_bytes()))
            && same(self.redirect_uri.as_bytes(), redirect_uri.as_bytes())
            && is_verifier(verifier)
            && same(&self.challenge, &sha256(verifier.as_bytes()))
    }
}

impl Grant {
    /// Returns the grant with new tokens.
    pub fn renewed(self, access: [u8; 32], refresh: [u8; 32], now: Timestamp) -> Self {
        Self {
            access,
            refresh,
            access_expires_at: now.plus_ms(limits::ACCESS_TOKEN_MS),
            refresh_expires_at: now.plus_ms(limits::REFRESH_TOKEN_MS),
            ..self
        }
    }

    /// Returns the access token in the form that the cache stores.
    pub fn access_token(&self) -> AccessToken {
        AccessToken { key: self.key_hash, resource: self.binding.resource.clone(), expires_at: self.access_expires_at }
    }
}

/// Returns whether a text can be a verifier: 43 to 128 letters, digits and `-._~` (RFC 7636 §4.1).
fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
}

/// Returns the hash in a `code_challenge`, if it has the form of the method `S256`.
pub fn challenge(text: &str) -> Option<[u8; 32]> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::environment::Environment;
    use crate::vocab::ids::{AccountId, UserId};
    use crate::vocab::permissions::PermissionSet;

    #[test]
    fn only_the_client_with_the_verifier_can_use_a_code() {
        // The example of RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let challenge = challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").expect("the challenge is valid");
        let code = Code {
            binding: Binding { client: sha256(b"client"), resource: "https://a.example/mcp".into() },
            redirect_uri: "http://127.0.0.1:1/back".into(),
            challenge,
            decision: Decision { account: AccountId::from_bytes([1; 12]), user: UserId::from_bytes([2; 12]), at: Timestamp(0) },
            terms: KeyTerms { permissions: PermissionSet::NONE, environment: Environment::Test, key_name: "Agent".into() },
            expires_at: Timestamp(1),
            key: None,
        };
        assert!(code.is_of("client", "http://127.0.0.1:1/back", verifier));
        assert!(!code.is_of("other", "http://127.0.0.1:1/back", verifier));
        assert!(!code.is_of("client", "http://127.0.0.1:2/back", verifier), "the redirect URI must be the same, with its port");
        assert!(!code.is_of("client", "http://127.0.0.1:1/back", &verifier.replace('d', "e")));
        assert!(!code.is_of("client", "http://127.0.0.1:1/back", ""));
    }

    #[test]
    fn a_challenge_is_a_hash() {
        for wrong in
            ["", "short", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXkAA"]
        {
            assert_eq!(challenge(wrong), None, "{wrong}");
        }
    }
}
