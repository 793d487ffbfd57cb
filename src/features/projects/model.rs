//! A project and its rules. This module uses no clock, store or network.

use std::borrow::Cow;
use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::base::clock::Timestamp;
use crate::base::serde_str;
use crate::engine::store::Record;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;

/// A project as stored. The ID of its account is part of the row's key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    pub status: ProjectStatus,
    /// The host of the first address, without `www.`.
    pub domain: String,
    /// The URLs that the project was imported from: 1 to [`limits::PROJECT_URLS_MAX`].
    pub urls: Vec<String>,
    pub logos: Logos,
    pub sender: Option<DefaultSender>,
    /// Why the import failed, worded for users.
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Project {}

/// The import status of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProjectStatus {
    /// The import was accepted but has not started.
    Pending,
    /// The import is reading the project's sites.
    Processing,
    /// The project is ready for use.
    Active,
    /// The import failed. The field `error` contains the reason.
    Error,
}

/// The default sender of the brand's emails. A campaign or send can override it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultSender {
    pub from: String,
    pub from_name: Option<String>,
    pub reply_to: Option<String>,
}

/// The logo URLs that users set. Logos found on the sites are stored with the brand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logos {
    pub primary: Option<String>,
    pub secondary: Option<String>,
    pub favicon: Option<String>,
}

impl Logos {
    /// Returns the logos that users have set, most important first.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        [&self.primary, &self.secondary, &self.favicon].into_iter().flatten().map(String::as_str)
    }
}

impl Project {
    /// Creates a project that waits for its import. The host of the first site in `sites` becomes its domain and, if `name` is `None`, its
    /// name.
    pub fn pending(id: ProjectId, sites: &[Site], name: Option<&str>, logos: Logos, now: Timestamp) -> Self {
        let host = sites.first().expect("the caller rejects an empty list").host();
        let domain = host.strip_prefix("www.").unwrap_or(host).to_owned();
        Self {
            id,
            name: name.unwrap_or(&domain).to_owned(),
            status: ProjectStatus::Pending,
            domain,
            urls: sites.iter().map(|site| site.as_str().to_owned()).collect(),
            logos,
            sender: None,
            error: None,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The address of a web page: http or https, a host name or IP address, an optional port and a path, without a user name or fragment. The
/// address is ASCII: international host names are in DNS form, and other non-ASCII characters are percent-encoded.
///
/// There may be no server at a valid address, or a server that Mailmill must not connect to. Both are checked when a connection is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    text: String,
    /// The byte positions of the start and end of the host in `text`.
    host: (usize, usize),
}

/// Matches scheme, host, port and path. Every match is a valid [`Site`], but a few valid addresses, such as those with international names,
/// do not match. A host has at most 253 characters, so the pattern allows only three long labels or eight shorter labels.
const SITE_PATTERN: &str = concat!(
    "^[Hh][Tt][Tt][Pp][Ss]?://",
    r"([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?){0,2}",
    r"|([A-Za-z0-9]([A-Za-z0-9-]{0,28}[A-Za-z0-9])?\.){3,7}[A-Za-z0-9]([A-Za-z0-9-]{0,28}[A-Za-z0-9])?)",
    "(:[1-9][0-9]{0,3})?([/?#][!-~]*)?$",
);

/// The maximum length of a given address. This is one less than the stored maximum, because a slash is added to an address without a path.
const GIVEN_CHARACTERS_MAX: usize = limits::URL_CHARACTERS_MAX - 1;

impl Site {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host in lowercase ASCII.
    pub fn host(&self) -> &str {
        &self.text[self.host.0..self.host.1]
    }
}

impl FromStr for Site {
    type Err = SiteError;

    fn from_str(given: &str) -> Result<Self, SiteError> {
        let given = given.trim();
        if given.len() > GIVEN_CHARACTERS_MAX {
            return Err(SiteError::TooLong);
        }
        let (scheme, rest) = given.split_once("://").ok_or(SiteError::Scheme)?;
        let scheme = ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known)).ok_or(SiteError::Scheme)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if authority.contains('@') {
            return Err(SiteError::User);
        }
        let (host, port) = split_port(authority)?;
        let host = host_to_ascii(host).ok_or(SiteError::Host)?;
        let mut text = format!("{scheme}://{host}");
        let host = (text.len() - host.len(), text.len());
        if let Some(port) = port {
            text.push_str(&format!(":{port}"));
        }
        push_path(&mut text, path)?;
        // Escaping may have made the address longer than the input.
        if text.len() > limits::URL_CHARACTERS_MAX { Err(SiteError::TooLong) } else { Ok(Self { text, host }) }
    }
}

fn split_port(authority: &str) -> Result<(&str, Option<u16>), SiteError> {
    // Colons inside brackets belong to an IPv6 address.
    let after_host = authority.rfind(']').map_or(0, |bracket| bracket + 1);
    let Some(colon) = authority[after_host..].find(':') else { return Ok((authority, None)) };
    let (host, port) = authority.split_at(after_host + colon);
    match &port[1..] {
        "" => Ok((host, None)),
        digits => {
            let number = digits.parse().ok().filter(|number| *number > 0 && !digits.starts_with('+'));
            number.map(|number| (host, Some(number))).ok_or(SiteError::Port)
        }
    }
}

fn host_to_ascii(host: &str) -> Option<Cow<'_, str>> {
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().ok().map(|address| Cow::Owned(format!("[{address}]")));
    }
    let host = host.strip_suffix('.').unwrap_or(host);
    Uts46::new().to_ascii(host.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify).ok()
}

/// Appends the path and query in ASCII, excluding the fragment.
fn push_path(text: &mut String, path: &str) -> Result<(), SiteError> {
    use std::fmt::Write;
    let path = path.split('#').next().unwrap_or_default();
    if !path.starts_with('/') {
        text.push('/');
    }
    for character in path.chars() {
        if character.is_ascii_graphic() {
            text.push(character);
        } else if character.is_control() || character.is_whitespace() {
            return Err(SiteError::Character(character));
        } else {
            let mut buffer = [0; 4];
            for byte in character.encode_utf8(&mut buffer).bytes() {
                write!(text, "%{byte:02X}").expect("writing to memory cannot fail");
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteError {
    TooLong,
    Scheme,
    User,
    Host,
    Port,
    Character(char),
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => {
                write!(f, "The URL is longer than {GIVEN_CHARACTERS_MAX} characters after percent-encoding; use a shorter URL.")
            }
            Self::Scheme => f.write_str("The URL does not start with https:// or http://; enter the full URL."),
            Self::User => f.write_str("The URL contains a user name or password; remove the user name, the password and the @."),
            Self::Host => f.write_str("The URL has no valid host; use a URL such as https://example.com."),
            Self::Port => f.write_str("The port in the URL is not a number from 1 to 65535; correct or remove the port."),
            Self::Character(character) => {
                write!(f, "The URL contains the character U+{:04X}; remove or escape this character.", u32::from(*character))
            }
        }
    }
}

impl std::error::Error for SiteError {}

impl<'de> Deserialize<'de> for Site {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a URL, such as https://example.com")
    }
}

impl JsonSchema for Site {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Site".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": GIVEN_CHARACTERS_MAX, "pattern": SITE_PATTERN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(given: &str) -> Result<String, SiteError> {
        given.parse::<Site>().map(|site| format!("{} {}", site.as_str(), site.host()))
    }

    #[test]
    fn an_address_is_stored_in_normalized_form() {
        for (given, kept) in [
            ("https://example.com", "https://example.com/ example.com"),
            (" HTTP://WWW.Example.com:8080/a?b#c ", "http://www.example.com:8080/a?b www.example.com"),
            ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe xn--bcher-kva.example"),
            ("https://example.com.?q=1", "https://example.com/?q=1 example.com"),
            ("http://[::1]:80/", "http://[::1]:80/ [::1]"),
            ("http://192.0.2.1/x", "http://192.0.2.1/x 192.0.2.1"),
        ] {
            assert_eq!(site(given).as_deref(), Ok(kept), "{given}");
        }
    }

    #[test]
    fn an_invalid_address_is_rejected_with_its_reason() {
        for (given, reason) in [
            ("example.com", SiteError::Scheme),
            ("ftp://example.com", SiteError::Scheme),
            ("https://", SiteError::Host),
            ("https:///path", SiteError::Host),
            ("https://user@example.com", SiteError::User),
            ("https://exa mple.com", SiteError::Host),
            ("https://-a.example", SiteError::Host),
            ("https://example.com:0", SiteError::Port),
            ("https://example.com:+80", SiteError::Port),
            ("https://example.com:65536", SiteError::Port),
            ("https://example.com/a b", SiteError::Character(' ')),
            ("https://example.com/\u{7f}", SiteError::Character('\u{7f}')),
        ] {
            assert_eq!(site(given), Err(reason), "{given}");
        }
        assert_eq!(site(&format!("https://example.com/{}", "a".repeat(3000))), Err(SiteError::TooLong));
        assert_eq!(site(&format!("https://example.com/{}", "é".repeat(500))), Err(SiteError::TooLong));
    }

    #[test]
    fn the_first_address_names_the_project() {
        let sites = [
            "https://www.example.com/shop".parse().expect("the input is valid"),
            "https://other.example".parse().expect("the input is valid"),
        ];
        let id = ProjectId::from_bytes([1; 12]);
        let project = Project::pending(id, &sites, None, Logos::default(), Timestamp(5));
        assert_eq!((project.name.as_str(), project.domain.as_str()), ("example.com", "example.com"));
        assert_eq!(project.urls, ["https://www.example.com/shop", "https://other.example/"]);
        assert_eq!(Project::pending(id, &sites, Some("Acme"), Logos::default(), Timestamp(5)).name, "Acme");
    }
}
