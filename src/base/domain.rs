//! A validated domain name: ASCII, lowercase, with at least two labels.
//!
//! Validation does not check whether the domain exists, or who owns it.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::email::domain_to_ascii;
use super::serde_str;

/// The maximum length in bytes. RFC 1035 limits a whole name to 253 characters; this lower limit leaves room for labels before the domain,
/// such as a DKIM selector.
const DOMAIN_BYTES_MAX: usize = 200;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainName(Box<str>);

impl DomainName {
    /// Validates a domain name. Surrounding spaces and a final dot are removed; international names are converted to ASCII.
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

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the registrable domain of a name, according to the public suffix list: `acme.co.uk` for `news.acme.co.uk`. DMARC calls it the
/// organizational domain (RFC 7489 §3.2). Returns `None` for a public suffix, like `co.uk`.
pub fn registrable(name: &str) -> Option<&str> {
    psl::domain_str(name)
}

/// Returns whether the name is a public suffix of a registry, like `co.uk`. A user who enters such a name has omitted a label. The public
/// suffix list also contains domains of companies that offer subdomains, like `github.io`. Such a company owns its domain and can send from
/// it, so the result is false.
fn is_registry(name: &str) -> bool {
    psl::suffix(name.as_bytes())
        .is_some_and(|suffix| suffix.typ() == Some(psl::Type::Icann) && suffix.as_bytes().len() == name.len())
}

/// Returns the domains above `name` that belong to the same owner, nearest first.
pub fn parents(name: &str) -> impl Iterator<Item = &str> {
    let shortest = registrable(name).map_or(usize::MAX, str::len);
    std::iter::successors(parent(name), |name| parent(name)).take_while(move |name| name.len() >= shortest)
}

fn parent(name: &str) -> Option<&str> {
    name.split_once('.').map(|(_, parent)| parent)
}

/// Why a string is not accepted as a domain name.
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
            Self::Empty => "The domain is empty; enter a domain like example.com.",
            Self::Address => "Enter only the domain, like example.com, without https:// and without a path.",
            Self::Email => "Enter only the domain: the part after the @ of an email address.",
            Self::Invalid => "This is not a valid domain name; enter a name like example.com.",
            Self::WithoutDot => "The domain has no dot; enter it in full, like example.com.",
            Self::TooLong => {
                "The domain is longer than 200 characters, counting international labels in their xn-- form; use a shorter domain."
            }
            Self::Registry => "This is a public suffix, which belongs to a registry; enter your own domain, like example.co.uk.",
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
    fn every_spelling_of_a_domain_is_normalized() {
        for (given, kept) in [
            (" Acme.Example. ", "acme.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("news.shop.co.uk", "news.shop.co.uk"),
        ] {
            assert_eq!(DomainName::parse(given).expect(given).as_str(), kept);
        }
    }

    #[test]
    fn domains_that_no_one_owns_alone_are_rejected() {
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
        assert_eq!(parents("news.acme.co.uk").collect::<Vec<_>>(), ["acme.co.uk"], "no one owns co.uk");
        assert_eq!(parents("news.acme.github.io").collect::<Vec<_>>(), ["acme.github.io"]);
        for name in ["acme.example", "acme.co.uk", "acme.github.io", "co.uk", "github.io"] {
            assert_eq!(parents(name).count(), 0, "{name}");
        }
    }

    #[test]
    fn the_public_suffix_list_decides_the_owner_of_a_name() {
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
        assert!(DomainName::parse("github.io").is_ok(), "the owner of github.io may send from it");
    }
}
