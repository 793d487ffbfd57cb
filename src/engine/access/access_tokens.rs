//! The cache of OAuth access tokens, looked up by the hash of their text.
//!
//! A token stands for an API key that a user granted to a program, and is valid only for one resource and until its expiry. The cache is a
//! copy of rows in the store; `features/accounts` fills it at startup and updates it with every change.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::vocab::permissions::PermissionSet;

/// The prefix of these access tokens. Secret scanners recognize leaked tokens by this prefix.
pub const PREFIX: &str = "mm_at_";

/// The path of the only resource that access tokens are valid for: the MCP server.
pub const RESOURCE_PATH: &str = "/mcp";

/// Returns the URL of the resource that access tokens are valid for.
pub fn resource(base_url: &str) -> String {
    format!("{base_url}{RESOURCE_PATH}")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// The hash of the API key that the token stands for.
    pub key: [u8; 32],
    /// The URL of the resource that the token is valid for (RFC 8707).
    pub resource: String,
    /// The permissions that the user granted to the token.
    pub permissions: PermissionSet,
    pub expires_at: Timestamp,
}

#[derive(Debug, Default)]
pub struct AccessTokens(Mutex<HashMap<[u8; 32], AccessToken>>);

impl AccessTokens {
    /// Adds a token under the hash of its text, and removes expired tokens.
    pub fn add(&self, hash: [u8; 32], token: AccessToken, now: Timestamp) {
        let mut tokens = self.tokens();
        tokens.retain(|_, token| now < token.expires_at);
        tokens.insert(hash, token);
    }

    /// Replaces all tokens. Each token comes with the hash of its text.
    pub fn fill(&self, tokens: impl IntoIterator<Item = ([u8; 32], AccessToken)>) {
        *self.tokens() = tokens.into_iter().collect();
    }

    pub fn remove(&self, hash: &[u8; 32]) {
        self.tokens().remove(hash);
    }

    /// Returns the token with this text, if it is valid for `resource` at `now`.
    pub fn find(&self, text: &str, resource: &str, now: Timestamp) -> Option<AccessToken> {
        if !text.starts_with(PREFIX) {
            return None;
        }
        // The token is random and looked up by its hash, so the time of the lookup reveals nothing about other tokens.
        let tokens = self.tokens();
        let token = tokens.get(&sha256(text.as_bytes()))?;
        (token.resource == resource && now < token.expires_at).then(|| token.clone())
    }

    fn tokens(&self) -> MutexGuard<'_, HashMap<[u8; 32], AccessToken>> {
        self.0.lock().expect("no holder of this lock panics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_valid_for_its_resource_until_it_expires() {
        let tokens = AccessTokens::default();
        let (text, here) = ("mm_at_secret", "https://mail.example.com/mcp");
        let permissions = PermissionSet::NONE;
        let token = AccessToken { key: [1; 32], resource: here.into(), permissions, expires_at: Timestamp(100) };
        tokens.add(sha256(text.as_bytes()), token.clone(), Timestamp(0));
        assert_eq!(tokens.find(text, here, Timestamp(99)), Some(token));
        assert_eq!(tokens.find(text, here, Timestamp(100)), None, "the token has expired");
        assert_eq!(tokens.find(text, "https://mail.example.com", Timestamp(0)), None, "the audience is another one");
        assert_eq!(tokens.find("mm_at_other", here, Timestamp(0)), None);
        tokens.remove(&sha256(text.as_bytes()));
        assert_eq!(tokens.find(text, here, Timestamp(0)), None);
    }
}
