//! The states of a client's access: the code that the user's decision creates, and the grant with its tokens. This module uses no
//! clock and no store.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::{same, sha256};
use crate::engine::access::access_tokens::AccessToken;
use crate::engine::store::Record;
use crate::features::accounts::agents::model::{Decision, KeyTerms};
use crate::vocab::ids::KeyId;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// The client and the resource that the user saw on the consent page. Codes and tokens work only for this client and this resource.
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
    /// The redirect URI of the request, which the client must repeat when it exchanges the code.
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

/// A client's access: an API key whose text was discarded, and the tokens that are accepted instead of the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub binding: Binding,
    pub key: KeyId,
    /// The hash of the key's text. The cache of access tokens refers to the key by this hash.
    pub key_hash: [u8; 32],
    pub decision: Decision,
    pub terms: KeyTerms,
    /// The access tokens, oldest first.
    pub access: Vec<AccessRow>,
    /// When the newest refresh token expires.
    pub refresh_expires_at: Timestamp,
}

impl Record for Grant {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessRow {
    /// SHA-256 of the token's text.
    pub hash: [u8; 32],
    /// The token's permissions: those of the grant, or fewer if the client requested fewer.
    pub permissions: PermissionSet,
    pub expires_at: Timestamp,
}

/// A refresh token, found by its hash. The rows of replaced tokens are kept, so that their reuse is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshRow {
    pub key: KeyId,
    pub expires_at: Timestamp,
    /// When the token was first exchanged for a new one.
    pub replaced_at: Option<Timestamp>,
}

impl Record for RefreshRow {}

impl Code {
    /// Returns whether the client may exchange the code: the client requested the code with this redirect URI, and knows the verifier.
    pub fn is_of(&self, client_id: &str, redirect_uri: &str, verifier: &str) -> bool {
        same(&self.binding.client, &sha256(client_id.as_bytes()))
            && same(self.redirect_uri.as_bytes(), redirect_uri.as_bytes())
            && is_verifier(verifier)
            && same(&self.challenge, &sha256(verifier.as_bytes()))
    }
}

impl Grant {
    /// Adds an access token with these permissions, and extends the grant. Returns the hashes of the access tokens that stop working,
    /// because they have expired or exceed the maximum number. Other earlier tokens still work: another process of the client may be using
    /// them.
    pub fn renew(&mut self, hash: [u8; 32], permissions: PermissionSet, now: Timestamp) -> Vec<[u8; 32]> {
        let row = AccessRow { hash, permissions, expires_at: now.plus_ms(limits::ACCESS_TOKEN_MS) };
        let (mut working, mut ended): (Vec<_>, Vec<_>) = self.access.drain(..).partition(|row| now < row.expires_at);
        let surplus = (working.len() + 1).saturating_sub(limits::ACCESS_TOKENS_PER_GRANT_MAX);
        ended.extend(working.drain(..surplus));
        working.push(row);
        self.access = working;
        self.refresh_expires_at = now.plus_ms(limits::REFRESH_TOKEN_MS);
        ended.into_iter().map(|row| row.hash).collect()
    }

    /// Returns the access tokens, with their hashes, in the form that the cache stores.
    pub fn access_tokens(&self) -> impl Iterator<Item = ([u8; 32], AccessToken)> {
        self.access.iter().map(|&AccessRow { hash, permissions, expires_at }| {
            (hash, AccessToken { key: self.key_hash, resource: self.binding.resource.clone(), permissions, expires_at })
        })
    }
}

impl RefreshRow {
    pub fn new(key: KeyId, now: Timestamp) -> Self {
        Self { key, expires_at: now.plus_ms(limits::REFRESH_TOKEN_MS), replaced_at: None }
    }

    /// Returns the row after an exchange. The grace period starts at the first exchange.
    pub fn replaced(self, now: Timestamp) -> Self {
        Self { replaced_at: self.replaced_at.or(Some(now)), ..self }
    }

    /// Returns whether the token was replaced so long ago that its grace period has ended. Its use may then mean that it was stolen.
    pub fn is_used_up(&self, now: Timestamp) -> bool {
        self.replaced_at.is_some_and(|replaced| replaced.plus_ms(limits::REFRESH_GRACE_MS) <= now)
    }
}

/// Returns whether a string can be a verifier: 43 to 128 letters, digits and `-._~` (RFC 7636 §4.1).
fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
}

/// Returns the hash in a `code_challenge`, if the value has the form that the method `S256` requires.
pub fn challenge(text: &str) -> Option<[u8; 32]> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::environment::Environment;
    use crate::vocab::ids::{AccountId, UserId};
    use crate::vocab::permissions::Permission;

    #[test]
    fn only_the_client_with_the_verifier_can_use_a_code() {
        // The example in RFC 7636, appendix B.
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
    fn a_grant_has_a_limited_number_of_access_tokens_and_forgets_expired_ones() {
        let all = PermissionSet::of(&[Permission::AudienceRead]);
        let mut grant = Grant {
            binding: Binding { client: [0; 32], resource: "https://a.example/mcp".into() },
            key: KeyId::from_bytes([1; 12]),
            key_hash: [2; 32],
            decision: Decision { account: AccountId::from_bytes([1; 12]), user: UserId::from_bytes([2; 12]), at: Timestamp(0) },
            terms: KeyTerms { permissions: all, environment: Environment::Test, key_name: "Agent".into() },
            access: Vec::new(),
            refresh_expires_at: Timestamp(0),
        };
        for number in 0..limits::ACCESS_TOKENS_PER_GRANT_MAX {
            assert!(grant.renew([number as u8; 32], all, Timestamp(number as i64)).is_empty());
        }
        assert_eq!(grant.renew([100; 32], all, Timestamp(100)), [[0; 32]], "the oldest one ends");
        assert_eq!(grant.access_tokens().count(), limits::ACCESS_TOKENS_PER_GRANT_MAX);
        let later = Timestamp(100 + limits::ACCESS_TOKEN_MS);
        assert_eq!(grant.renew([101; 32], all, later).len(), limits::ACCESS_TOKENS_PER_GRANT_MAX);
        assert_eq!(grant.access_tokens().map(|(hash, _)| hash).collect::<Vec<_>>(), [[101; 32]]);
        assert_eq!(grant.refresh_expires_at, later.plus_ms(limits::REFRESH_TOKEN_MS));
    }

    #[test]
    fn the_grace_period_of_a_refresh_token_starts_at_its_first_exchange() {
        let row = RefreshRow::new(KeyId::from_bytes([1; 12]), Timestamp(0));
        assert!(!row.is_used_up(Timestamp(limits::REFRESH_TOKEN_MS)));
        let row = row.replaced(Timestamp(1000)).replaced(Timestamp(2000));
        assert!(!row.is_used_up(Timestamp(999 + limits::REFRESH_GRACE_MS)));
        assert!(row.is_used_up(Timestamp(1000 + limits::REFRESH_GRACE_MS)));
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
