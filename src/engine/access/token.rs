//! The text of an API key: `sk_live_` or `sk_test_`, 32 random letters and digits, and a checksum of 6 characters.
//!
//! Because of the checksum, most mistyped keys are rejected without a lookup, and code scanners can recognize a leaked key. This file does
//! not check whether a key exists: keys are stored and looked up under [`PresentedKey::hash`].

use std::fmt;

use crate::base::random::Random;
use crate::base::secret::{CHECKSUM_BYTES, Secret, checksum, random_base62, sha256};
use crate::vocab::environment::Environment;

/// The number of random characters: 32 × log2 62 = 190.5 bits, so a key cannot be guessed, and two keys are practically never the same.
const RANDOM_BYTES: usize = 32;
const PREFIX: &str = "sk_";
const SIGNED_BYTES: usize = PREFIX.len() + "live_".len() + RANDOM_BYTES;
const TOKEN_BYTES: usize = SIGNED_BYTES + CHECKSUM_BYTES;
/// The maximum length of the short vendor name that some clients put in front of a key (`mm_sk_live_…`); a longer prefix is not a vendor
/// name.
const VENDOR_BYTES_MAX: usize = 16;

/// Creates the text of a new key.
pub fn create(environment: Environment, random: &dyn Random) -> Secret {
    // The full capacity is reserved from the start: a growing string would leave its first part in freed memory.
    let mut token = String::with_capacity(TOKEN_BYTES);
    token.push_str(PREFIX);
    token.push_str(environment.word());
    token.push('_');
    token.push_str(Secret::new(random_base62(random, RANDOM_BYTES)).expose());
    let sum = checksum(token.as_bytes());
    token.extend(sum.map(char::from));
    Secret::new(token)
}

/// An API key that a caller presented: well-formed, but not yet looked up.
#[derive(Clone, Copy)]
pub struct PresentedKey<'a> {
    /// The environment that the key's text names.
    pub environment: Environment,
    token: &'a str,
}

impl PresentedKey<'_> {
    /// Returns the hash under which the key is stored.
    pub fn hash(&self) -> [u8; 32] {
        sha256(self.token.as_bytes())
    }
}

impl fmt::Debug for PresentedKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}_(secret)", self.environment)
    }
}

/// The error for text that cannot be a key of this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Parses the text of a key, with or without a short vendor name in front.
pub fn parse(given: &str) -> Result<PresentedKey<'_>, Malformed> {
    let token = if given.starts_with(PREFIX) { given } else { without_vendor(given).ok_or(Malformed)? };
    let after_prefix = token.strip_prefix(PREFIX).ok_or(Malformed)?;
    let (word, rest) = after_prefix.split_once('_').ok_or(Malformed)?;
    let environment: Environment = word.parse().map_err(|_| Malformed)?;
    if token.len() != TOKEN_BYTES || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Malformed);
    }
    let (signed, sum) = token.as_bytes().split_at(SIGNED_BYTES);
    if checksum(signed) != sum {
        return Err(Malformed);
    }
    Ok(PresentedKey { environment, token })
}

fn without_vendor(given: &str) -> Option<&str> {
    let (vendor, token) = given.split_once('_')?;
    let is_short_name = (1..=VENDOR_BYTES_MAX).contains(&vendor.len())
        && vendor.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_short_name.then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn key(environment: Environment, seed: u64) -> String {
        create(environment, &SeededRandom::new(seed)).expose().clone()
    }

    #[test]
    fn a_created_key_parses_with_its_environment() {
        for environment in Environment::ALL {
            for seed in 1..500 {
                let token = key(environment, seed);
                assert_eq!(token.len(), 46);
                assert!(token.starts_with(&format!("sk_{environment}_")), "{token}");
                assert_eq!(parse(&token).map(|presented| presented.environment), Ok(environment));
            }
        }
    }

    #[test]
    fn a_vendor_prefix_is_ignored() {
        let token = key(Environment::Live, 1);
        let hash = parse(&token).expect("the token is well-formed").hash();
        assert_eq!(hash, sha256(token.as_bytes()));
        for vendor in ["mm", "a", "vendor0123456789"] {
            let named = format!("{vendor}_{token}");
            assert_eq!(parse(&named).map(|presented| presented.hash()), Ok(hash), "{vendor}");
        }
        for wrong in ["", "MM", "m-m", "vendor01234567890", "mm_mm", "é", "sk"] {
            assert_eq!(parse(&format!("{wrong}_{token}")).err(), Some(Malformed), "{wrong}");
        }
    }

    #[test]
    fn any_changed_missing_or_added_character_is_malformed() {
        let token = key(Environment::Test, 2);
        for place in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[place] = if changed[place] == b'x' { b'y' } else { b'x' };
            let changed = String::from_utf8(changed).expect("the text is ASCII");
            assert_eq!(parse(&changed).err(), Some(Malformed), "{changed}");
            assert_eq!(parse(&token[..place]).err(), Some(Malformed));
        }
        assert_eq!(parse(&format!("{token}x")).err(), Some(Malformed));
        assert_eq!(parse(&token.replacen("test", "live", 1)).err(), Some(Malformed));
    }

    #[test]
    fn nothing_prints_the_key() {
        let token = key(Environment::Live, 3);
        let presented = parse(&token).expect("the token is well-formed");
        assert_eq!(format!("{presented:?}"), "sk_live_(secret)");
    }
}
