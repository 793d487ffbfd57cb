//! Addresses in a document: link targets and image URLs. Addresses are checked and escaped when they are parsed.
//!
//! Parsing an address does not send a request to it.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::email::EmailAddress;
use crate::base::serde_str;
use crate::features::projects::Site;
use crate::vocab::limits;
use crate::vocab::placeholders;

/// A link target: a web page, an email address (`mailto:`), a telephone number (`tel:`), or a placeholder for an address that is filled in
/// when the email is sent, such as `{{ unsubscribe_url }}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(Box<str>);

/// The http or https URL of an image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageUrl(Box<str>);

impl Link {
    /// Parses a link target. The error message is a sentence for users.
    pub fn parse(given: &str) -> Result<Self, LinkError> {
        let given = given.trim();
        if let Some(placeholder) = placeholder(given) {
            return Ok(Self(placeholder.into()));
        }
        let scheme = given.split(':').next().unwrap_or_default();
        if scheme.eq_ignore_ascii_case("mailto") {
            return mailto(&given["mailto:".len().min(given.len())..]);
        }
        if scheme.eq_ignore_ascii_case("tel") {
            return tel(&given["tel:".len().min(given.len())..]);
        }
        web(given).map(|text| Self(text.into()))
    }

    /// Returns the placeholder for the unsubscribe link, which is filled in when the email is sent.
    pub fn unsubscribe() -> Self {
        Self(placeholders::UNSUBSCRIBE_URL.into())
    }

    /// Returns the placeholder for the link that opens the email in a browser, which is filled in when the email is sent.
    pub fn view() -> Self {
        Self(placeholders::VIEW_URL.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ImageUrl {
    /// Parses the URL of an image. The error message is a sentence for users.
    pub fn parse(given: &str) -> Result<Self, LinkError> {
        web(given.trim()).map(|text| Self(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the normalized form of a known placeholder; `None` if the text is not one. Spaces are ignored.
fn placeholder(given: &str) -> Option<&'static str> {
    let name = given.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    placeholders::LINKS.into_iter().find(|known| known.trim_matches(['{', '}', ' ']) == name)
}

/// Normalizes a web address. [`Site`] checks the part before the fragment.
fn web(given: &str) -> Result<String, LinkError> {
    let (page, fragment) = given.split_once('#').map_or((given, None), |(page, fragment)| (page, Some(fragment)));
    let site: Site = page.parse().map_err(|error: <Site as FromStr>::Err| LinkError(error.to_string()))?;
    let mut text = String::with_capacity(given.len());
    push_escaped(&mut text, site.as_str());
    if let Some(fragment) = fragment {
        text.push('#');
        push_escaped(&mut text, fragment);
    }
    if text.len() > limits::URL_CHARACTERS_MAX {
        let max = limits::URL_CHARACTERS_MAX;
        return Err(LinkError(format!("The URL is longer than {max} characters after percent-encoding; use a shorter URL.")));
    }
    Ok(text)
}

/// Appends the address to `text`. Percent-encodes the characters that a URL cannot contain, such as spaces, non-ASCII letters and braces.
fn push_escaped(text: &mut String, address: &str) {
    let mut buffer = [0; 4];
    for character in address.chars() {
        let plain = character.is_ascii_graphic() && !matches!(character, '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}');
        if plain {
            text.push(character);
            continue;
        }
        for byte in character.encode_utf8(&mut buffer).bytes() {
            text.push('%');
            text.push_str(&HEXLOWER.encode(&[byte]).to_ascii_uppercase());
        }
    }
}

fn mailto(address: &str) -> Result<Link, LinkError> {
    let (mailbox, query) = address.split_once('?').map_or((address, None), |(mailbox, query)| (mailbox, Some(query)));
    let mailbox: EmailAddress = mailbox.parse().map_err(|error| LinkError(format!("{error}")))?;
    let mut text = "mailto:".to_owned();
    push_escaped(&mut text, mailbox.as_str());
    if let Some(query) = query {
        text.push('?');
        push_escaped(&mut text, query);
    }
    Ok(Link(text.into()))
}

fn tel(number: &str) -> Result<Link, LinkError> {
    let kept: String = number.chars().filter(|digit| !matches!(digit, ' ' | '-' | '.' | '(' | ')' | '/')).collect();
    let digits = kept.strip_prefix('+').unwrap_or(&kept);
    if (3..=20).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(Link(format!("tel:{kept}").into()));
    }
    Err(LinkError(
        "The phone number must have 3 to 20 digits, with an optional + at the start, as in tel:+4930123456.".to_owned(),
    ))
}

/// Why a string is not a valid link or image address, as a sentence for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError(String);

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LinkError {}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(given: &str) -> Result<Self, LinkError> {
        Self::parse(given)
    }
}

impl FromStr for ImageUrl {
    type Err = LinkError;

    fn from_str(given: &str) -> Result<Self, LinkError> {
        Self::parse(given)
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ImageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Link {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl Serialize for ImageUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "an address as a string, such as https://example.com/sale")
    }
}

impl<'de> Deserialize<'de> for ImageUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "the address of an image as a string, such as https://example.com/a.jpg")
    }
}

impl JsonSchema for Link {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Link".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": limits::URL_CHARACTERS_MAX })
    }
}

impl JsonSchema for ImageUrl {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ImageUrl".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": limits::URL_CHARACTERS_MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalized_and_safe() {
        for (given, kept) in [
            ("https://Example.com", "https://example.com/"),
            (" https://example.com/a?b=c#d ", "https://example.com/a?b=c#d"),
            ("https://example.com/\"><script>", "https://example.com/%22%3E%3Cscript%3E"),
            ("https://example.com/{{a}}#{%x%}", "https://example.com/%7B%7Ba%7D%7D#%7B%x%%7D"),
            ("mailto:Ada@example.com?subject=a b", "mailto:Ada@example.com?subject=a%20b"),
            ("TEL:+49 (30) 123-456", "tel:+4930123456"),
            ("{{unsubscribe_url}}", "{{ unsubscribe_url }}"),
        ] {
            assert_eq!(Link::parse(given).map(|link| link.to_string()).as_deref(), Ok(kept), "{given}");
        }
    }

    #[test]
    fn invalid_addresses_are_rejected_with_a_remedy() {
        for given in ["", "javascript:alert(1)", "data:text/html,x", "/path", "example.com", "mailto:", "tel:abc", "{{ name }}"] {
            let error = Link::parse(given).expect_err(given).to_string();
            assert!(error.ends_with('.'), "{given}: {error}");
        }
        assert!(ImageUrl::parse("mailto:ada@example.com").is_err() && ImageUrl::parse("{{ view_url }}").is_err());
    }
}
