//! The short signed tokens in messages. A token identifies a recipient of a mailing and a purpose.
//!
//! A token contains references, but no address or name. It is valid as long as the master key stays the same.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::base::secret::same;
use crate::engine::store::seal::Seal;
use crate::vocab::environment::Environment;
use crate::vocab::ids::MailingId;

/// The length of the signature in bytes. A signature of 80 bits cannot be guessed, and keeps links short.
const TAG_BYTES: usize = 10;
const HEAD_BYTES: usize = 1 + 12 + 4;
const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// The base-32 alphabet of RFC 4648 in lowercase. Decoding ignores case, because servers may change the case of local parts.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// The purpose of a token. An operation accepts only tokens for the purposes that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The tracking pixel, which records that the message was opened.
    Open,
    /// A tracked link, with its number.
    Click(u16),
    Unsubscribe,
    /// The page on which contacts choose topics.
    Preferences,
    /// The page that shows the message on the web.
    View,
    /// The envelope sender, to which bounces are returned.
    Bounce,
    /// The reference to the message in its Message-ID and in the header that a mail service copies into its events. It grants no
    /// access.
    Message,
}

impl Purpose {
    fn number(self) -> u8 {
        match self {
            Purpose::Open => 0,
            Purpose::Click(_) => 1,
            Purpose::Unsubscribe => 2,
            Purpose::Preferences => 3,
            Purpose::View => 4,
            Purpose::Bounce => 5,
            Purpose::Message => 6,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub environment: Environment,
    pub mailing: MailingId,
    pub number: u32,
    pub purpose: Purpose,
}

/// Signs and reads tokens.
#[derive(Clone)]
pub struct Tokens {
    keyed: Hmac<Sha256>,
}

impl Tokens {
    pub fn new(seal: &Seal) -> Self {
        let key = seal.derive("mailmill mail tokens v1");
        Self { keyed: Hmac::new_from_slice(&key).expect("HMAC accepts keys of any length") }
    }

    /// Encodes a token for links, in base64url.
    pub fn link(&self, token: Token) -> String {
        encode(&self.bytes(token), BASE64URL, 6)
    }

    /// Encodes a token for local parts of email addresses, in base 32, which is not affected by changes of case.
    pub fn local_part(&self, token: Token) -> String {
        encode(&self.bytes(token), BASE32, 5)
    }

    /// Reads a token written by [`Tokens::link`].
    pub fn read_link(&self, text: &str) -> Option<Token> {
        self.read(&decode(text.as_bytes(), 6, |byte| BASE64URL.iter().position(|c| *c == byte))?)
    }

    /// Reads a token written by [`Tokens::local_part`].
    pub fn read_local_part(&self, text: &str) -> Option<Token> {
        let small = |byte: u8| BASE32.iter().position(|c| *c == byte.to_ascii_lowercase());
        self.read(&decode(text.as_bytes(), 5, small)?)
    }

    fn bytes(&self, token: Token) -> Vec<u8> {
        let environment = match token.environment {
            Environment::Test => 0,
            Environment::Live => 1,
        };
        let mut bytes = Vec::with_capacity(HEAD_BYTES + 2 + TAG_BYTES);
        bytes.push(token.purpose.number() << 1 | environment);
        bytes.extend_from_slice(&token.mailing.0);
        bytes.extend_from_slice(&token.number.to_be_bytes());
        if let Purpose::Click(link) = token.purpose {
            bytes.extend_from_slice(&link.to_be_bytes());
        }
        let tag = self.tag(&bytes);
        bytes.extend_from_slice(&tag);
        bytes
    }

    fn tag(&self, bytes: &[u8]) -> [u8; TAG_BYTES] {
        let mut sum = self.keyed.clone();
        sum.update(bytes);
        let sum: [u8; 32] = sum.finalize().into_bytes().into();
        *sum.first_chunk().expect("a SHA-256 sum has 32 bytes")
    }

    fn read(&self, bytes: &[u8]) -> Option<Token> {
        let (body, tag) = bytes.split_last_chunk::<TAG_BYTES>()?;
        if !same(&self.tag(body), tag) {
            return None;
        }
        let (&[first], rest) = body.split_first_chunk()?;
        let (mailing, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let purpose = match (first >> 1, rest) {
            (0, []) => Purpose::Open,
            (1, [high, low]) => Purpose::Click(u16::from_be_bytes([*high, *low])),
            (2, []) => Purpose::Unsubscribe,
            (3, []) => Purpose::Preferences,
            (4, []) => Purpose::View,
            (5, []) => Purpose::Bounce,
            (6, []) => Purpose::Message,
            _ => return None,
        };
        let environment = if first & 1 == 1 { Environment::Live } else { Environment::Test };
        Some(Token { environment, mailing: MailingId::from_bytes(*mailing), number: u32::from_be_bytes(*number), purpose })
    }
}

fn encode(bytes: &[u8], letters: &[u8], bits_per_letter: u32) -> String {
    let mut text = String::with_capacity((bytes.len() * 8).div_ceil(bits_per_letter as usize));
    let (mut held, mut bits) = (0_u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= bits_per_letter {
            bits -= bits_per_letter;
            text.push(char::from(letters[(held >> bits) as usize & (letters.len() - 1)]));
        }
    }
    if bits > 0 {
        text.push(char::from(letters[(held << (bits_per_letter - bits)) as usize & (letters.len() - 1)]));
    }
    text
}

/// Decodes a token into bytes. Returns `None` if a character is invalid, the text is longer than any token, or the encoding is not
/// canonical.
fn decode(text: &[u8], bits_per_letter: u32, value: impl Fn(u8) -> Option<usize>) -> Option<Vec<u8>> {
    const LETTERS_MAX: usize = 64;
    if text.len() > LETTERS_MAX {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len());
    let (mut held, mut bits) = (0_u32, 0);
    for c in text {
        held = held << bits_per_letter | u32::try_from(value(*c)?).ok()?;
        bits += bits_per_letter;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    // Each token has exactly one encoding: the unused bits must be the zeros that `encode` writes.
    (bits < bits_per_letter && held & ((1 << bits) - 1) == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens() -> Tokens {
        Tokens::new(&Seal::from_key(&[7; 32]))
    }

    fn token(purpose: Purpose) -> Token {
        Token { environment: Environment::Live, mailing: MailingId::from_bytes([9; 12]), number: 77, purpose }
    }

    const PURPOSES: [Purpose; 7] = [
        Purpose::Open,
        Purpose::Click(513),
        Purpose::Unsubscribe,
        Purpose::Preferences,
        Purpose::View,
        Purpose::Bounce,
        Purpose::Message,
    ];

    #[test]
    fn a_token_reads_back_in_both_forms() {
        for purpose in PURPOSES {
            for environment in Environment::ALL {
                let token = Token { environment, ..token(purpose) };
                let (link, local) = (tokens().link(token), tokens().local_part(token));
                assert_eq!(tokens().read_link(&link), Some(token));
                assert_eq!(tokens().read_local_part(&local), Some(token));
                assert_eq!(tokens().read_local_part(&local.to_uppercase()), Some(token), "servers may change the case");
                assert!(link.len() <= 40 && local.len() + 2 <= 64, "{link} {local}");
            }
        }
    }

    #[test]
    fn any_changed_character_or_another_key_makes_it_invalid() {
        let link = tokens().link(token(Purpose::Click(3)));
        for place in 0..link.len() {
            for c in [b'A', b'b', b'7', b'-'] {
                let mut changed = link.clone().into_bytes();
                if changed[place] == c {
                    continue;
                }
                changed[place] = c;
                let changed = String::from_utf8(changed).expect("the token is ASCII");
                assert_eq!(tokens().read_link(&changed), None, "{changed}");
            }
        }
        let others = Tokens::new(&Seal::from_key(&[8; 32]));
        assert_eq!(others.read_link(&link), None);
        assert_eq!(tokens().read_link(&link[..link.len() - 1]), None);
        assert_eq!(tokens().read_link(&format!("{link}A")), None);
    }

    proptest! {
        #[test]
        fn no_input_makes_reading_panic(text in "\\PC{0,80}") {
            prop_assert_eq!(tokens().read_link(&text), None);
            prop_assert_eq!(tokens().read_local_part(&text), None);
        }

        #[test]
        fn bytes_of_any_length_read_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            for (letters, bits) in [(BASE64URL.as_slice(), 6), (BASE32.as_slice(), 5)] {
                let text = encode(&bytes, letters, bits);
                prop_assert_eq!(decode(text.as_bytes(), bits, |b| letters.iter().position(|l| *l == b)), Some(bytes.clone()));
            }
        }
    }
}
