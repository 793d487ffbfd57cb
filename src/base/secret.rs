//! Secret values, and the small cryptographic helpers for them.
//!
//! This module is independent of what a secret protects; the code that creates a key defines the key's format.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::random::Random;

/// A value that is wiped from memory when dropped. `Debug` and `Display` hide it, and it cannot be serialized: code that must write the
/// value calls [`Secret::expose`].
#[derive(Clone)]
pub struct Secret<T: Zeroize = String>(T);

impl<T: Zeroize> Secret<T> {
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the secret value itself. Review each use of this method.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl<T: Zeroize> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl std::str::FromStr for Secret<String> {
    type Err = std::convert::Infallible;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        Ok(Self(given.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Secret<String> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Secret<String> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "password", "writeOnly": true })
    }
}

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    // The ring library computes SHA-256 twice as fast as the sha2 library on processors without SHA instructions.
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref().try_into().expect("a SHA-256 digest has 32 bytes")
}

/// Returns whether two byte strings are equal, in a time that does not reveal where they differ. Their lengths are not secret.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns `length` random letters and digits. Each has log2 62 = 5.95 bits of randomness.
pub fn random_base62(random: &dyn Random, length: usize) -> String {
    random_of(random, BASE62, length)
}

/// The characters of codes that people read, say and type. To avoid confusion, there are no digits; there are no vowels, so that codes
/// contain no words (RFC 8628 §6.1).
const CONSONANTS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

/// Returns `groups` groups of four letters for users to type, like `BCDF-GHJK`. Each letter has log2 20 = 4.3 bits of randomness.
pub fn random_code(random: &dyn Random, groups: usize) -> String {
    let letters = random_of(random, CONSONANTS, 4 * groups);
    let mut code = String::with_capacity(5 * groups);
    for (index, c) in letters.chars().enumerate() {
        if index > 0 && index % 4 == 0 {
            code.push('-');
        }
        code.push(c);
    }
    code
}

/// Normalizes a code that a user typed: keeps at most 64 letters and digits, in uppercase.
pub fn typed_code(given: &str) -> String {
    given.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).take(64).collect()
}

fn random_of(random: &dyn Random, letters: &[u8], length: usize) -> String {
    let many = u8::try_from(letters.len()).expect("an alphabet has at most 255 characters");
    // The largest random byte that can be used. Larger bytes are discarded, because they would make the first characters of the
    // alphabet more likely.
    let fair = u8::MAX - (u8::MAX % many + 1) % many;
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bytes: [u8; 32] = random.bytes();
        let drawn = bytes.iter().filter(|&&byte| byte <= fair).map(|byte| char::from(letters[usize::from(byte % many)]));
        text.extend(drawn.take(length - text.len()));
        bytes.zeroize();
    }
    text
}

/// The length of a [`checksum`]: 62⁶ is the first power of 62 above 2³².
pub const CHECKSUM_BYTES: usize = 6;

/// Returns the CRC-32 of the bytes in base 62. The checksum detects nearly all mistyped keys without a lookup.
pub fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut rest = crc32fast::hash(bytes);
    let mut digits = [b'0'; CHECKSUM_BYTES];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::super::random::SeededRandom;
    use super::*;

    #[test]
    fn no_formatting_shows_a_secret() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(format!("{secret} {secret:?} {secret:#?}"), "(secret) (secret) (secret)");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn sha256_is_the_published_function() {
        let sum = HEXLOWER.encode(&sha256(b"abc"));
        assert_eq!(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn only_equal_bytes_are_the_same() {
        assert!(same(b"abc", b"abc"));
        assert!(!same(b"abc", b"abd") && !same(b"abc", b"ab") && !same(b"", b"a"));
    }

    #[test]
    fn random_text_uses_all_digits_about_equally() {
        let text = random_base62(&SeededRandom::new(7), 62_000);
        assert_eq!(text.len(), 62_000);
        for digit in BASE62 {
            let count = text.bytes().filter(|byte| byte == digit).count();
            assert!((850..1150).contains(&count), "{} appears {count} times", char::from(*digit));
        }
    }

    #[test]
    fn a_code_is_accepted_however_it_is_typed() {
        let code = random_code(&SeededRandom::new(7), 2);
        assert_eq!((code.len(), code.as_bytes()[4]), (9, b'-'));
        assert!(code.bytes().all(|byte| byte == b'-' || CONSONANTS.contains(&byte)), "{code}");
        let plain = code.replace('-', "");
        for typed in [code.clone(), plain.clone(), code.to_lowercase(), format!("  {} ", code.replace('-', " "))] {
            assert_eq!(typed_code(&typed), plain);
        }
    }

    #[test]
    fn a_checksum_detects_a_changed_character() {
        assert_eq!(checksum(b"").as_slice(), b"000000");
        // The CRC-32 of these nine digits is 0xCBF43926, its published check value.
        assert_eq!(checksum(b"123456789").as_slice(), b"3jZRME".as_slice());
        assert_ne!(checksum(b"123456788"), checksum(b"123456789"));
    }
}
