//! A domain name that was checked once and is right ever after: in ASCII, in small letters, with at least two labels.
//!
//! It does not know whether the domain exists, nor whose it is.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::email::domain_to_ascii;
use super::serde_str;

/// Room for what is put in front of a domain, like a key's selector; RFC 1035 ends all names at 253 characters.
const DOMAIN_BYTES_MAX: usize = 200;

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
        let Some((_, last)) = ascii.rsplit_once('.') else { return Err(DomainError::WithoutDot) };
        if last.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(DomainError::Invalid);
        }
        if ascii.len() > DOMAIN_BYTES_MAX {
            return Err(DomainError::TooLong);
        }
        if is_registry(&ascii) {
            return Err(DomainError::Registry);
        }
        Ok(Self(ascii.into()))
    }

    /// The name in ASCII and small letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The part of a name that one owner has registered, by the public suffix list: `acme.co.uk` of `news.acme.co.uk`. What stands above it
/// belongs to many. DMARC calls it the organisational domain (RFC 7489 §3.2). None of a name above all owners.
pub fn registrable(name: &str) -> Option<&str> {
    psl::domain_str(name)
}

/// Whether it is a registry that gives names away below this one: nobody has such a name for himself, so that whoever gives one has left
/// something out. Companies that let others have names below theirs own theirs, and may send from it.
fn is_registry(name: &str) -> bool {
    psl::suffix(name.as_bytes())
        .is_some_and(|suffix| suffix.typ() == Some(psl::Type::Icann) && suffix.as_bytes().len() == name.len())
}

/// The domains above `name` that belong to the same owner, the nearest first.
pub fn parents(name: &str) -> impl Iterator<Item = &str> {
    let shortest = registrable(name).map_or(usize::MAX, str::len);
    std::iter::successors(parent(name), |name| parent(name)).take_while(move |name| name.len() >= shortest)
}

fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
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
        serde_str::deserialize(deserializer, "a domain name like example.com")
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
        json_schema!({
            "type": "string", "format": "idn-hostname", "maxLength": DOMAIN_BYTES_MAX, "pattern": r"^[^.]+(\.[^.]+)+\.?$",
            "description": "A domain name like example.com.",
        })
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
            ("or.jp", DomainError::Registry),
            ("xn--55qx5d.cn", DomainError::Registry),
        ] {
            assert_eq!(DomainName::parse(given), Err(why), "{given}");
        }
        assert_eq!(DomainName::parse(&format!("{}.example", "a.".repeat(100) + "a")), Err(DomainError::TooLong));
    }

    #[test]
    fn parents_end_where_an_owner_ends() {
        assert_eq!(parents("a.b.acme.example").collect::<Vec<_>>(), ["b.acme.example", "acme.example"]);
        assert_eq!(parents("news.acme.co.uk").collect::<Vec<_>>(), ["acme.co.uk"], "co.uk speaks for nobody");
        assert_eq!(parents("news.acme.github.io").collect::<Vec<_>>(), ["acme.github.io"]);
        for name in ["acme.example", "acme.co.uk", "acme.github.io", "co.uk", "github.io"] {
            assert_eq!(parents(name).count(), 0, "{name}");
        }
    }

    #[test]
    fn the_owner_of_a_name_is_told_by_the_public_suffix_list() {
        for (name, owner) in [
            ("www.acme.co.uk", Some("acme.co.uk")),
            ("acme.pvt.k12.ma.us", Some("acme.pvt.k12.ma.us")),
            ("a.city.kawasaki.jp", Some("city.kawasaki.jp")),
            ("a.b.kobe.jp", Some("a.b.kobe.jp")),
            ("x.acme.example", Some("acme.example")),
            ("co.uk", None),
        ] {
            assert_eq!(registrable(name), owner, "{name}");
        }
        assert!(DomainName::parse("github.io").is_ok(), "its owner may send from it");
    }
}
