//! Types and rules for accounts, users and keys. This module uses no clock, store or wire format.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::base::serde_str;
use crate::base::text::fold;
use crate::engine::access::session_cache::SessionKind;
use crate::engine::store::Record;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, InvitationId, KeyId, SessionId, UserId};
use crate::vocab::limits::{PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN};
use crate::vocab::permissions::PermissionSet;
use crate::vocab::roles::Role;

/// The length of a link's token: 32 × log2 62 = 190 random bits, which cannot be guessed.
pub const LINK_TOKEN_CHARACTERS: usize = 32;

/// An account, which owns projects, contacts and keys, and has members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    pub id: AccountId,
    /// The name of one of the plans in the settings.
    pub plan: String,
    pub created_at: Timestamp,
}

impl Record for Account {}

/// A user who can sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    pub account: AccountId,
    /// The email exactly as the user entered it.
    pub email: String,
    /// The display name; empty if the user gave none.
    pub name: String,
    pub role: Role,
    pub password: PasswordHash,
    pub created_at: Timestamp,
}

impl Record for User {}

/// A user who is no longer a member. The row is kept so that the audit log can show the user's email. It is deleted 90 days after the user
/// left, together with the last of the user's log entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerMember {
    pub email: String,
    pub left_at: Timestamp,
}

impl Record for FormerMember {}

/// A session as it is stored: without its token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub user: UserId,
    pub kind: SessionKind,
    /// SHA-256 of the token in the cookie; zeros for a program's session, whose token is signed rather than stored.
    pub digest: [u8; 32],
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub idle_ms: i64,
    pub seen_at: Timestamp,
    pub proven_at: Timestamp,
    /// The network address from which the user signed in.
    pub address: String,
    /// The user agent of the browser or program.
    pub agent: String,
}

impl Record for Session {}

/// A user's authenticator app, with its recovery codes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondFactor {
    /// The secret that the server shares with the app, sealed.
    pub secret: Vec<u8>,
    /// Whether the user has confirmed the app with its first code. Sign-in requires codes only after that.
    pub is_confirmed: bool,
    /// The time steps whose codes were used most recently, in the order of use. These codes are not accepted again.
    pub used_steps: Vec<u64>,
    /// Hashes of the unused recovery codes.
    pub recovery: Vec<[u8; 32]>,
}

impl Record for SecondFactor {}

/// An invitation, whose link lets a user become a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub id: InvitationId,
    pub account: AccountId,
    pub email: String,
    pub role: Role,
    pub digest: [u8; 32],
    pub invited_by: UserId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

impl Record for Invitation {}

/// A one-time password-reset link. The key of its row is the hash of the link's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetLink {
    pub user: UserId,
    pub expires_at: Timestamp,
}

impl Record for ResetLink {}

/// A hashed password, with the parameters needed to verify a password against it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordHash {
    /// The memory for Argon2id in KiB.
    pub memory_kib: u32,
    pub passes: u32,
    pub lanes: u32,
    pub salt: [u8; 16],
    pub hash: [u8; 32],
}

/// An API key as it is stored: without the key itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    pub id: KeyId,
    pub account: AccountId,
    pub name: String,
    pub environment: Environment,
    pub permissions: PermissionSet,
    /// SHA-256 of the key itself.
    pub hash: [u8; 32],
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

impl Record for Key {}

pub struct NewKey {
    pub name: String,
    pub environment: Environment,
    pub permissions: PermissionSet,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyUsage {
    pub requests: u64,
    pub last_used_at: Option<Timestamp>,
}

impl Record for KeyUsage {}

impl KeyUsage {
    /// Returns this usage plus `requests` requests, the last of which was made at `last`.
    pub fn plus(self, requests: u64, last: Timestamp) -> Self {
        Self { requests: self.requests.saturating_add(requests), last_used_at: self.last_used_at.max(Some(last)) }
    }
}

/// A one-time link to the setup page. The key of its row is the hash of the link's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupLink {
    pub expires_at: Timestamp,
}

impl Record for SetupLink {}

/// A password of acceptable length that is neither one repeated character nor among the most common passwords. It may contain any
/// characters, because rules that require certain kinds of characters lead to weaker passwords.
#[derive(Clone, Debug)]
pub struct Password(Secret);

/// TABLE: the passwords that are most frequent in leaks and long enough to be accepted here.
const GUESSED_FIRST: [&str; 12] = [
    "123456789012",
    "1234567890123",
    "012345678910",
    "1q2w3e4r5t6y",
    "password1234",
    "password12345",
    "password123456",
    "passwordpassword",
    "qwertyuiop12",
    "qwertyuiop123",
    "qwertyuiopasdfghjkl",
    "administrator",
];

impl Password {
    pub fn bytes(&self) -> &[u8] {
        self.0.expose().as_bytes()
    }

    /// Rejects a password that is the user's email or the part before its `@`, because attackers try these first (NIST SP 800-63B, 5.1.1.2:
    /// context-specific words).
    pub fn fits(&self, email: &str) -> Result<(), PasswordError> {
        let (given, email) = (fold(self.0.expose().trim()), fold(email.trim()));
        let local = email.rsplit_once('@').map_or("", |(local, _)| local);
        if given == email || given == local { Err(PasswordError::Email) } else { Ok(()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordError {
    TooShort,
    TooLong,
    OneCharacter,
    GuessedFirst,
    Email,
}

impl fmt::Display for PasswordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => write!(f, "The password is too short; use at least {PASSWORD_CHARACTERS_MIN} characters."),
            Self::TooLong => write!(f, "The password is too long; use at most {PASSWORD_CHARACTERS_MAX} characters."),
            Self::OneCharacter => {
                f.write_str("The password is one repeated character; choose a different password, such as a few words.")
            }
            Self::GuessedFirst => f.write_str("This password is too common; choose a different password, such as a few words."),
            Self::Email => f.write_str(
                "The password is your email or the part before the @, which is easy to guess; choose a different password.",
            ),
        }
    }
}

impl std::error::Error for PasswordError {}

impl FromStr for Password {
    type Err = PasswordError;

    fn from_str(given: &str) -> Result<Self, PasswordError> {
        match given.chars().count() {
            ..PASSWORD_CHARACTERS_MIN => return Err(PasswordError::TooShort),
            PASSWORD_CHARACTERS_MIN..=PASSWORD_CHARACTERS_MAX => {}
            _ => return Err(PasswordError::TooLong),
        }
        if given.chars().skip(1).eq(given.chars().take(given.chars().count() - 1)) {
            return Err(PasswordError::OneCharacter);
        }
        let folded = fold(given);
        if GUESSED_FIRST.contains(&folded.as_str()) {
            return Err(PasswordError::GuessedFirst);
        }
        Ok(Self(Secret::new(given.to_owned())))
    }
}

impl<'de> Deserialize<'de> for Password {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a password as a string")
    }
}

impl JsonSchema for Password {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Password".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string", "format": "password", "writeOnly": true,
            "minLength": PASSWORD_CHARACTERS_MIN, "maxLength": PASSWORD_CHARACTERS_MAX,
            "description": "Must not be your email or the part before its @, ignoring case.",
            "not": { "anyOf": [{ "pattern": "^([\\s\\S])\\1*$" }, { "enum": GUESSED_FIRST }] },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_have_twelve_to_a_hundred_and_twenty_eight_characters() {
        let refusal = |given: &str| given.parse::<Password>().err();
        assert_eq!(refusal(&"é".repeat(11)), Some(PasswordError::TooShort));
        assert_eq!((refusal(&"éx".repeat(6)), refusal(&"éx".repeat(64))), (None, None));
        assert_eq!(refusal(&"x".repeat(129)), Some(PasswordError::TooLong));
        assert_eq!(
            format!("{:?}", "correct horse battery".parse::<Password>().expect("the password is long enough")),
            "Password((secret))"
        );
    }

    #[test]
    fn common_passwords_and_the_users_email_are_rejected() {
        let refusal = |given: &str| given.parse::<Password>().err();
        assert_eq!(refusal(&"é".repeat(12)), Some(PasswordError::OneCharacter));
        assert_eq!(refusal("PassWord1234"), Some(PasswordError::GuessedFirst));
        assert_eq!((refusal("aaaaaaaaaaab"), refusal("password 1234 and more")), (None, None));
        let email = "Ada.Lovelace@Example.com";
        let fits = |given: &str| given.parse::<Password>().expect("the password is valid").fits(email);
        for wrong in ["ada.lovelace@example.com", "ADA.LOVELACE", " Ada.Lovelace@Example.com "] {
            assert_eq!(fits(wrong), Err(PasswordError::Email), "{wrong}");
        }
        assert_eq!(fits("ada.lovelace and the engine"), Ok(()));
    }

    #[test]
    fn usage_grows_and_its_time_never_decreases() {
        let usage = KeyUsage::default().plus(2, Timestamp(50)).plus(3, Timestamp(40));
        assert_eq!(usage, KeyUsage { requests: 5, last_used_at: Some(Timestamp(50)) });
    }
}
