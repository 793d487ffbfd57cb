//! The credentials of connected accounts, which are stored only in sealed form.

use serde::Deserialize;
use serde_json::json;

use super::model::Connection;
use crate::base::clock::Timestamp;
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::{AccountId, ConnectionId};

pub enum Credentials {
    /// An API key that the user entered.
    Key(Secret),
    /// Tokens that the platform issued after the user signed in there.
    Tokens(Tokens),
}

/// The tokens of an account (RFC 6749).
pub struct Tokens {
    pub access: Secret,
    /// The refresh token; `None` if the platform issued none.
    pub refresh: Option<Secret>,
    pub expires_at: Option<Timestamp>,
    /// The Mailchimp data center of the account; empty for other platforms.
    pub region: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredTokens {
    access: Secret,
    refresh: Option<Secret>,
    expires_at_ms: Option<i64>,
    region: String,
}

impl Credentials {
    /// Returns the text that is sealed: the key itself, or the tokens as JSON. The platforms' keys do not start with a brace, so a key and
    /// tokens can be distinguished.
    fn to_text(&self) -> Secret {
        Secret::new(match self {
            Self::Key(key) => key.expose().clone(),
            Self::Tokens(Tokens { access, refresh, expires_at, region }) => json!({
                "access": access.expose(), "refresh": refresh.as_ref().map(Secret::expose),
                "expiresAtMs": expires_at.map(|at| at.0), "region": region,
            })
            .to_string(),
        })
    }

    fn parse(text: String) -> Option<Self> {
        if !text.starts_with('{') {
            return Some(Self::Key(Secret::new(text)));
        }
        let StoredTokens { access, refresh, expires_at_ms, region } = serde_json::from_str(&text).ok()?;
        Some(Self::Tokens(Tokens { access, refresh, expires_at: expires_at_ms.map(Timestamp), region }))
    }
}

fn place(account: AccountId, id: ConnectionId) -> Vec<u8> {
    [b"connections/".as_slice(), &account.0, &id.0].concat()
}

pub fn seal(seal: &Seal, (account, id): (AccountId, ConnectionId), credentials: &Credentials, random: &dyn Random) -> Vec<u8> {
    seal.seal(&place(account, id), credentials.to_text().expose().as_bytes(), random)
}

/// Opens the credentials of a connection; returns `None` if they were sealed with a different master key.
pub fn open(seal: &Seal, connection: &Connection) -> Option<Credentials> {
    let bytes = seal.open(&place(connection.account, connection.id), &connection.sealed_key)?;
    Credentials::parse(String::from_utf8(bytes).ok()?)
}
