//! A domain name that was checked once and is right ever after: in ASCII, in small letters, with at least two labels.
//!
//! It does not know whether the domain exists, nor whose it is.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::email::domain_to_ascii;
use super::parsed;

/// Room for what is put in front of a domain, like a key's selector; RFC 1035 ends all names at 253 characters.
const DOMAIN_BYTES_MAX: usize = 200;

/// Registries that give names away below words of their own, and those words. Nobody has such a name for himself, so that whoever
/// gives one has left something out. It is a courtesy and no safeguard: whoever can put a key into the DNS there owns the name.
const REGISTRIES: &[(&str, &[&str])] = &[
    ("ar", &["com", "edu", "gob", "gov", "net", "org"]),
    ("at", &["ac", "co", "gv", "or"]),
    ("au", &["asn", "com", "edu", "gov", "id", "net", "org"]),
    ("br", &["com", "edu", "gov", "net", "org"]),
    ("cn", &["ac", "com", "edu", "gov", "net", "org"]),
    ("hk", &["com", "edu", "gov", "net", "org"]),
    ("id", &["ac", "co", "go", "net", "or", "web"]),
    ("il", &["ac", "co", "gov", "net", "org"]),
    ("in", &["ac", "co", "edu", "firm", "gov", "net", "org"]),
    ("jp", &["ac", "ad", "co", "ed", "go", "gr", "lg", "ne", "or"]),
    ("kr", &["ac", "co", "go", "ne", "or", "pe", "re"]),
    ("mx", &["com", "edu", "gob", "net", "org"]),
    ("my", &["com", "edu", "gov", "net", "org"]),
    ("nz", &["ac", "co", "geek", "govt", "net", "org", "school"]),
    ("pl", &["com", "edu", "gov", "net", "org"]),
    ("sg", &["com", "edu", "gov", "net", "org"]),
    ("th", &["ac", "co", "go", "in", "net", "or"]),
    ("tr", &["com", "edu", "gov", "net", "org"]),
    ("tw", &["com", "edu", "gov", "net", "org"]),
    ("ua", &["com", "edu", "gov", "net", "org"]),
    ("uk", &["ac", "co", "gov", "ltd", "me", "net", "nhs", "org", "plc", "sch"]),
    ("za", &["ac", "co", "gov", "net", "org", "web"]),
];

/// A checked domain name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainName(Box<str>);

impl DomainName {
    /// Check a name. Space around it and a dot at its end are dropped; international names become ASCII.
    pub fn parse(given: &str) -> Result<Self, DomainError> {
        let text = given.trim();
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.is_empty() {
            return Err(DomainError::Empty);
        }
        if text.contains("://") || text.contains('/') {
            return Err(DomainError::Address);
        }
        if text.contains('@') {
            return Err(DomainError::Email);
        }
        let ascii = domain_to_ascii(text).ok_or(DomainError::Invalid)?.into_owned();
        let Some((first, last)) = ascii.rsplit_once('.') else { return Err(DomainError::WithoutDot) };
        if last.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DomainError::Invalid);
        }
        if ascii.len() > DOMAIN_BYTES_MAX {
            return Err(DomainError::TooLong);
        }
        if REGISTRIES.iter().any(|(registry, words)| *registry == last && words.contains(&first)) {
            return Err(DomainError::Registry);
        }
        Ok(Self(ascii.into()))
    }

    /// The name in ASCII and small letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The domains above `name` that still have two labels, the nearest first.
pub fn parents(name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(name), |name| parent(name))
}

fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent).filter(|parent| parent.contains('.'))
}

/// Why a text is not a domain name that we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DomainError {
    Empty,
    Address,
    Email,
    Invalid,
    WithoutDot,
    TooLong,
    Registry,
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "The domain is empty; give one like example.com.",
            Self::Address => "Give the domain alone, like example.com, without https:// and without a path.",
            Self::Email => "Give the domain alone: what stands after the @ of an email address.",
            Self::Invalid => "This is not a valid domain name; check its spelling.",
            Self::WithoutDot => "The domain has no dot; give it in full, like example.com.",
            Self::TooLong => "The domain is longer than 200 characters; there is no room for the names below it.",
            Self::Registry => "Names below this one belong to many; give your own domain in full, like example.co.uk.",
        })
    }
}

impl std::error::Error for DomainError {}

impl FromStr for DomainName {
    type Err = DomainError;

    fn from_str(given: &str) -> Result<Self, DomainError> {
        Self::parse(given)
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for DomainName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DomainName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed::deserialize(deserializer, "a domain name like example.com")
    }
}

impl JsonSchema for DomainName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DomainName".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "idn-hostname", "maxLength": DOMAIN_BYTES_MAX, "description": "A domain name like example.com." })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_domain_becomes_one() {
        for (given, kept) in [
            (" Acme.Example. ", "acme.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("news.shop.co.uk", "news.shop.co.uk"),
        ] {
            assert_eq!(DomainName::parse(given).expect(given).as_str(), kept);
        }
    }

    #[test]
    fn what_is_no_domain_of_ones_own_is_refused() {
        for (given, why) in [
            ("", DomainError::Empty),
            ("https://acme.example", DomainError::Address),
            ("ada@acme.example", DomainError::Email),
            ("acme", DomainError::WithoutDot),
            ("192.0.2.1", DomainError::Invalid),
            ("acme..example", DomainError::Invalid),
            ("-acme.example", DomainError::Invalid),
            ("ac me.example", DomainError::Invalid),
            ("co.uk", DomainError::Registry),
            ("com.au", DomainError::Registry),
        ] {
            assert_eq!(DomainName::parse(given), Err(why), "{given}");
        }
        assert_eq!(DomainName::parse(&format!("{}.example", "a.".repeat(100) + "a")), Err(DomainError::TooLong));
    }

    #[test]
    fn parents_end_at_two_labels() {
        assert_eq!(parents("a.b.acme.example").collect::<Vec<_>>(), ["b.acme.example", "acme.example"]);
        assert_eq!(parents("acme.example").count(), 0);
    }
}
