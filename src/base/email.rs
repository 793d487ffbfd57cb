//! A validated email address.
//!
//! Validation accepts the addresses to which mail systems deliver today: a local part in plain ASCII or UTF-8 (SMTPUTF8), and a domain
//! name, which may be international. It rejects forms that only the grammar allows: quoted local parts, comments, address literals.
//! [`EmailAddress::normalized`] shows whether two spellings are the same address.
//!
//! Validation does not check whether the address exists, and does not take into account that some providers ignore dots and the text after
//! a plus sign.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use icu_properties::props::{
    BinaryProperty, DefaultIgnorableCodePoint, EnumeratedProperty, GeneralCategory, GeneralCategoryGroup,
};
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::serde_str;
use super::text::fold;

/// The maximum length of an address. RFC 5321 §4.5.3.1.3 limits a path to 256 octets; two of them are the angle brackets.
pub const ADDRESS_BYTES_MAX: usize = 254;
/// The maximum length of the local part (RFC 5321 §4.5.3.1.1).
const LOCAL_BYTES_MAX: usize = 64;
/// The maximum length of a domain. RFC 1035 §2.3.4: 255 octets on the wire are 253 written characters.
const DOMAIN_BYTES_MAX: usize = 253;
/// The maximum length of a label in a domain (RFC 1035 §2.3.4).
const LABEL_BYTES_MAX: usize = 63;

/// A validated email address, in its original spelling.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmailAddress {
    text: Box<str>,
    /// The position of the only `@` in `text`: at most [`LOCAL_BYTES_MAX`] in an address that was parsed, at most 255 in one from
    /// [`EmailAddress::stored`].
    at: u8,
}

impl EmailAddress {
    /// Validates an address. Surrounding spaces are removed; otherwise, the spelling is kept.
    pub fn parse(given: &str) -> Result<Self, EmailError> {
        let text = given.trim();
        let at = match plain(text.as_bytes()) {
            Some(at) => at,
            None => examine(text)?,
        };
        Ok(Self { text: text.into(), at: u8::try_from(at).expect("the local part has at most 64 bytes") })
    }

    /// Builds an address from text that an earlier version accepted. The current rules for the local part are not applied, so that the
    /// address can still be found, shown and deleted. Returns `None` if the text has no `@`, the domain is not valid, or the local part is
    /// longer than 255 bytes.
    pub fn stored(text: &str) -> Option<Self> {
        let (local, domain) = text.split_once('@')?;
        domain_to_ascii(domain)?;
        Some(Self { text: text.into(), at: u8::try_from(local.len()).ok()? })
    }

    /// Returns the address in its original spelling, without surrounding spaces.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn into_string(self) -> String {
        self.text.into_string()
    }

    /// Returns the part before the `@`, in its original spelling.
    pub fn local(&self) -> &str {
        &self.text[..usize::from(self.at)]
    }

    /// Returns the part after the `@`, in its original spelling.
    pub fn domain(&self) -> &str {
        &self.text[usize::from(self.at) + 1..]
    }

    /// Returns the domain in lowercase ASCII, as in DNS.
    pub fn domain_ascii(&self) -> Cow<'_, str> {
        domain_to_ascii(self.domain()).expect("the domain was checked when the address was parsed")
    }

    /// Returns the canonical spelling, which is the same for all spellings of this address: the local part and the domain are case-folded,
    /// and the domain is in ASCII.
    ///
    /// RFC 5321 allows mail systems to distinguish `Ana@` from `ana@`, but hardly any do, and two contacts for one person would be worse.
    pub fn normalized(&self) -> String {
        if self.text.is_ascii() {
            return self.text.to_ascii_lowercase();
        }
        let mut normalized = fold(self.local());
        normalized.push('@');
        normalized.push_str(&self.domain_ascii());
        normalized
    }
}

/// An email address that selects a stored object. Unlike an [`EmailAddress`], it can be an address that an earlier version accepted but the
/// current rules reject, so that the contact with this address can still be unsubscribed, and the suppression of this address removed.
#[derive(Clone, Debug)]
pub struct EmailKey {
    address: EmailAddress,
    problem: Option<EmailError>,
}

impl EmailKey {
    pub fn as_str(&self) -> &str {
        self.address.as_str()
    }

    /// Returns the normalized address: see [`EmailAddress::normalized`].
    pub fn normalized(&self) -> String {
        self.address.normalized()
    }

    /// Returns why the current rules reject the address. This is the error to return if no object is stored under the address.
    pub fn problem(&self) -> Option<EmailError> {
        self.problem
    }
}

impl FromStr for EmailKey {
    type Err = EmailError;

    fn from_str(given: &str) -> Result<Self, EmailError> {
        match EmailAddress::parse(given) {
            Ok(address) => Ok(Self { address, problem: None }),
            Err(problem) => {
                let address = EmailAddress::stored(given.trim()).ok_or(problem)?;
                Ok(Self { address, problem: Some(problem) })
            }
        }
    }
}

impl<'de> Deserialize<'de> for EmailKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "an email address as a string")
    }
}

impl JsonSchema for EmailKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EmailKey".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        EmailAddress::json_schema(generator)
    }
}

/// Returns the position of the `@`, if the address is valid plain ASCII. `None` means only that [`examine`] must check the address.
///
/// Nearly all addresses need only this single pass over their bytes, and an import can contain millions of them.
fn plain(bytes: &[u8]) -> Option<usize> {
    if bytes.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    let mut at = 0;
    let mut previous = b'.';
    loop {
        match *bytes.get(at)? {
            b'@' => break,
            b'.' if previous == b'.' => return None,
            byte if byte != b'.' && !is_local_byte(byte) => return None,
            byte => previous = byte,
        }
        at += 1;
    }
    if previous == b'.' || at > LOCAL_BYTES_MAX {
        return None;
    }
    plain_domain(&bytes[at + 1..]).then_some(at)
}

/// Returns whether this is a valid domain name of plain ASCII labels, without encoded international labels (`xn--`).
fn plain_domain(domain: &[u8]) -> bool {
    let mut label_bytes = 0;
    let mut label_has_letter = false;
    let mut dots = 0;
    let mut previous = b'.';
    for &byte in domain {
        match byte {
            b'.' => {
                if label_bytes == 0 || label_bytes > LABEL_BYTES_MAX || previous == b'-' {
                    return false;
                }
                dots += 1;
                label_bytes = 0;
                label_has_letter = false;
            }
            b'-' => {
                // Hyphens in the third and fourth positions may mark an international label, which [`examine`] must check.
                if label_bytes == 0 || (label_bytes == 3 && previous == b'-') {
                    return false;
                }
                label_bytes += 1;
            }
            b'0'..=b'9' => label_bytes += 1,
            b'a'..=b'z' | b'A'..=b'Z' => {
                label_bytes += 1;
                label_has_letter = true;
            }
            _ => return false,
        }
        previous = byte;
    }
    let last_label_is_right = (1..=LABEL_BYTES_MAX).contains(&label_bytes) && previous != b'-' && label_has_letter;
    dots > 0 && last_label_is_right && domain.len() <= DOMAIN_BYTES_MAX
}

/// Returns whether the byte is one of the ASCII characters of RFC 5322 `atext`.
fn is_local_byte(byte: u8) -> bool {
    const ALLOWED: [bool; 256] = {
        let mut allowed = [false; 256];
        let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~";
        let mut index = 0;
        while index < letters.len() {
            allowed[letters[index] as usize] = true;
            index += 1;
        }
        allowed
    };
    ALLOWED[usize::from(byte)]
}

/// Checks any address: returns the position of the `@`, or the problem. This function accepts every address that [`plain`] accepts, and
/// international addresses.
fn examine(text: &str) -> Result<usize, EmailError> {
    if text.is_empty() {
        return Err(EmailError::Empty);
    }
    if text.len() > ADDRESS_BYTES_MAX {
        return Err(EmailError::TooLong);
    }
    if let Some(character) = text.chars().find(|character| is_hidden(*character)) {
        return Err(EmailError::HiddenCharacter(character));
    }
    // This check precedes the check for quotation marks, because a display name can be in quotation marks.
    if text.contains(['<', '>']) {
        return Err(EmailError::DisplayName);
    }
    if text.starts_with('"') {
        return Err(EmailError::QuotedLocalPart);
    }
    let (local, domain) = text.split_once('@').ok_or(EmailError::NoAt)?;
    if domain.contains('@') {
        return Err(EmailError::ManyAts);
    }
    if text.chars().any(char::is_whitespace) {
        return Err(EmailError::Space);
    }
    examine_local(local)?;
    let ascii = examine_domain(domain)?;
    if local.len() + 1 + ascii.len() > ADDRESS_BYTES_MAX {
        return Err(EmailError::TooLong);
    }
    Ok(local.len())
}

/// Returns whether the character is invisible: a control, format or ignorable character. Joiners are also treated as invisible, because an
/// address can look the same with and without one.
fn is_hidden(character: char) -> bool {
    const FORMAT: GeneralCategoryGroup = GeneralCategoryGroup::Format.union(GeneralCategoryGroup::Control);
    const BRAILLE_BLANK: char = '\u{2800}';
    character == BRAILLE_BLANK
        || matches!(character, '\u{2028}' | '\u{2029}')
        || FORMAT.contains(GeneralCategory::for_char(character))
        || DefaultIgnorableCodePoint::for_char(character)
}

fn examine_local(local: &str) -> Result<(), EmailError> {
    if local.is_empty() {
        return Err(EmailError::LocalPartEmpty);
    }
    if local.len() > LOCAL_BYTES_MAX {
        return Err(EmailError::LocalPartTooLong);
    }
    if local.starts_with('.') || local.ends_with('.') || local.contains("..") {
        return Err(EmailError::LocalPartDots);
    }
    let forbidden = |c: char| c.is_ascii() && c != '.' && !is_local_byte(c as u8);
    match local.chars().find(|&c| forbidden(c)) {
        Some(character) => Err(EmailError::LocalPartCharacter(character)),
        None => Ok(()),
    }
}

fn examine_domain(domain: &str) -> Result<Cow<'_, str>, EmailError> {
    if domain.is_empty() {
        return Err(EmailError::DomainEmpty);
    }
    if domain.starts_with('[') {
        return Err(EmailError::AddressLiteral);
    }
    let ascii = domain_to_ascii(domain).ok_or(EmailError::DomainInvalid)?;
    let (_, last_label) = ascii.rsplit_once('.').ok_or(EmailError::DomainWithoutDot)?;
    if last_label.bytes().all(|byte| byte.is_ascii_digit()) {
        let is_address = ascii.parse::<std::net::Ipv4Addr>().is_ok();
        return Err(if is_address { EmailError::AddressLiteral } else { EmailError::DomainInvalid });
    }
    Ok(ascii)
}

pub(super) fn domain_to_ascii(domain: &str) -> Option<Cow<'_, str>> {
    // Hyphens in the third and fourth positions are used in practice and are harmless, so only the ends of a label are checked.
    Uts46::new().to_ascii(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify).ok()
}

/// Why a string is not accepted as an email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailError {
    Empty,
    TooLong,
    /// The address contains a control character or an invisible character.
    HiddenCharacter(char),
    QuotedLocalPart,
    DisplayName,
    NoAt,
    ManyAts,
    Space,
    LocalPartEmpty,
    LocalPartTooLong,
    LocalPartDots,
    LocalPartCharacter(char),
    DomainEmpty,
    DomainWithoutDot,
    DomainInvalid,
    AddressLiteral,
}

impl fmt::Display for EmailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = match self {
            Self::Empty => "The email address is empty; enter an address like name@example.com.",
            Self::TooLong => {
                "The email address is longer than 254 bytes, or becomes longer when its domain is converted to xn-- form; use a shorter \
                 address."
            }
            Self::HiddenCharacter(character) => {
                let code = u32::from(*character);
                return write!(
                    f,
                    "The email address contains the invisible character U+{code:04X}; remove the character, or type the \
                     address again."
                );
            }
            Self::QuotedLocalPart => {
                "The email address starts with a quotation mark, which is not supported; remove the quotation marks."
            }
            Self::DisplayName => "Enter only the email address, without the name and without < and >.",
            Self::NoAt => "The email address has no @; enter an address like name@example.com.",
            Self::ManyAts => "The email address has more than one @; enter one address.",
            Self::Space => "The email address contains a space; remove the space.",
            Self::LocalPartEmpty => "There is nothing before the @; enter an address like name@example.com.",
            Self::LocalPartTooLong => {
                "The part before the @ is longer than 64 bytes, the limit of the email standard; use a shorter address."
            }
            Self::LocalPartDots => {
                "The part before the @ starts or ends with a dot, or has two dots in a row; remove the extra dot."
            }
            Self::LocalPartCharacter(character) => {
                return write!(
                    f,
                    "The part before the @ contains {character:?}, which is not allowed there; remove the character."
                );
            }
            Self::DomainEmpty => "There is nothing after the @; enter an address like name@example.com.",
            Self::DomainWithoutDot => "The domain after the @ has no dot; enter it in full, like example.com.",
            Self::DomainInvalid => "The domain after the @ is not a valid domain name; check its spelling.",
            Self::AddressLiteral => "The part after the @ is an IP address; enter a domain name like example.com.",
        };
        f.write_str(sentence)
    }
}

impl std::error::Error for EmailError {}

impl FromStr for EmailAddress {
    type Err = EmailError;

    fn from_str(given: &str) -> Result<Self, EmailError> {
        Self::parse(given)
    }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl Serialize for EmailAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for EmailAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "an email address as a string")
    }
}

impl JsonSchema for EmailAddress {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EmailAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "idn-email", "maxLength": ADDRESS_BYTES_MAX })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(given: &str) -> EmailError {
        EmailAddress::parse(given).expect_err(given)
    }

    #[test]
    fn accepts_addresses_that_mail_systems_deliver_to() {
        for given in [
            "a@b.co",
            "Ana.Maria+news@Example.COM",
            "o'brien@example.com",
            "!#$%&'*+-/=?^_`{|}~@example.com",
            "x@1and1.com",
            "x@sub-domain.example.museum",
            "用户@例え.jp",
            "josé@example.com",
            "info@xn--mnchen-3ya.de",
            "info@münchen.de",
            "a@r3---sn.example.com",
        ] {
            assert_eq!(EmailAddress::parse(given).map(|email| email.to_string()), Ok(given.to_owned()));
        }
    }

    #[test]
    fn keeps_the_address_as_given_without_the_space_around_it() {
        let email =
            EmailAddress::parse(" \tAna@Example.com\u{a0}\r\n").expect("the address is valid without the surrounding spaces");
        assert_eq!((email.as_str(), email.local(), email.domain()), ("Ana@Example.com", "Ana", "Example.com"));
    }

    #[test]
    fn one_address_has_one_normalized_form() {
        let normalized = |given: &str| EmailAddress::parse(given).expect(given).normalized();
        assert_eq!(normalized("Ana+News@EXAMPLE.com"), "ana+news@example.com");
        assert_eq!(normalized("INFO@MÜNCHEN.de"), "info@xn--mnchen-3ya.de");
        assert_eq!(normalized("info@XN--MNCHEN-3YA.de"), "info@xn--mnchen-3ya.de");
        assert_eq!(normalized("info@münchen。de"), "info@xn--mnchen-3ya.de");
        // The same é is written as one character and as an e with a combining accent.
        assert_eq!(normalized("Jos\u{e9}@example.com"), normalized("jose\u{301}@example.com"));
    }

    #[test]
    fn rejects_with_the_reason() {
        assert_eq!(refused("  "), EmailError::Empty);
        assert_eq!(refused("ana.example.com"), EmailError::NoAt);
        assert_eq!(refused("a@b@example.com"), EmailError::ManyAts);
        assert_eq!(refused("a@example.com, b@example.com"), EmailError::ManyAts);
        assert_eq!(refused("a b@example.com"), EmailError::Space);
        assert_eq!(refused("a@exa mple.com"), EmailError::Space);
        assert_eq!(refused("a@example.com\r\nBcc: b@example.com"), EmailError::HiddenCharacter('\r'));
        assert_eq!(refused("\"a b\"@example.com"), EmailError::QuotedLocalPart);
        assert_eq!(refused("Ana <ana@example.com>"), EmailError::DisplayName);
        assert_eq!(refused("@example.com"), EmailError::LocalPartEmpty);
        assert_eq!(refused(".a@example.com"), EmailError::LocalPartDots);
        assert_eq!(refused("a.@example.com"), EmailError::LocalPartDots);
        assert_eq!(refused("a..b@example.com"), EmailError::LocalPartDots);
        assert_eq!(refused("a(b)@example.com"), EmailError::LocalPartCharacter('('));
        assert_eq!(refused("a@"), EmailError::DomainEmpty);
        assert_eq!(refused("a@localhost"), EmailError::DomainWithoutDot);
        assert_eq!(refused("a@[127.0.0.1]"), EmailError::AddressLiteral);
        assert_eq!(refused("a@127.0.0.1"), EmailError::AddressLiteral);
        for domain in ["-a.com", "a-.com", "a..com", ".com", "com.", "a_b.com", "xn--a.com", "a,b.com", "xn--.com"] {
            assert_eq!(refused(&format!("a@{domain}")), EmailError::DomainInvalid, "{domain}");
        }
    }

    /// Earlier versions accepted joiners: `an\u{200d}a@example.com` was a second contact next to `ana@example.com`, and stayed subscribed
    /// when the first contact unsubscribed.
    #[test]
    fn rejects_invisible_characters_at_any_position() {
        let hidden = "\0\u{7f}\u{85}\u{ad}\u{34f}\u{61c}\u{115f}\u{17b4}\u{180b}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{202e}\u{2028}\
                      \u{2060}\u{2066}\u{206f}\u{2800}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\u{fffb}\u{1bca0}\u{1d173}\u{e0041}\u{e0100}";
        for character in hidden.chars() {
            for given in [
                format!("an{character}a@example.com"),
                format!("ana@exam{character}ple.com"),
                format!("ana@example.com{character}x"),
            ] {
                assert_eq!(refused(&given), EmailError::HiddenCharacter(character), "{given:?}");
            }
        }
        let error = refused("an\u{200d}a@example.com").to_string();
        assert!(error.contains("U+200D"), "{error}");
        let kept = EmailAddress::stored("An\u{200d}a@Example.com").expect("a stored address is valid");
        assert_eq!(
            (kept.local(), kept.domain(), kept.normalized().as_str()),
            ("An\u{200d}a", "Example.com", "an\u{200d}a@example.com")
        );
    }

    #[test]
    fn a_key_can_be_an_address_that_is_rejected_today() {
        let key = |given: &str| given.parse::<EmailKey>().map(|key| (key.normalized(), key.problem()));
        assert_eq!(key(" Ana@Example.com"), Ok(("ana@example.com".to_owned(), None)));
        let hidden = Some(EmailError::HiddenCharacter('\u{200d}'));
        assert_eq!(key("An\u{200d}a@example.com"), Ok(("an\u{200d}a@example.com".to_owned(), hidden)));
        assert_eq!(key("ana"), Err(EmailError::NoAt));
        assert_eq!(key("ana@exam ple.com"), Err(EmailError::Space));
    }

    #[test]
    fn rejects_an_address_one_byte_too_long() {
        let domain = format!("{}.{}.{}.com", "a".repeat(63), "b".repeat(63), "c".repeat(57));
        let longest = format!("{}@{domain}", "l".repeat(64));
        assert_eq!(longest.len(), ADDRESS_BYTES_MAX);
        assert!(EmailAddress::parse(&longest).is_ok());
        assert_eq!(refused(&format!("{longest}m")), EmailError::TooLong);
        assert_eq!(refused(&format!("{}@example.com", "l".repeat(65))), EmailError::LocalPartTooLong);
        assert_eq!(refused(&format!("a@{}.com", "b".repeat(64))), EmailError::DomainInvalid);
        // In ASCII, each of the 30 labels `é` has seven bytes instead of two, which makes the whole address too long.
        let grows = format!("{}@{}com", "l".repeat(64), "é.".repeat(30));
        assert!(grows.len() < 160);
        assert_eq!(refused(&grows), EmailError::TooLong);
    }

    #[test]
    fn reads_and_writes_as_text_and_gives_its_reason() {
        let email: EmailAddress = serde_json::from_str("\" Ana@example.com\"").expect("the address is valid");
        assert_eq!(serde_json::to_string(&email).expect("an address can be written as JSON"), "\"Ana@example.com\"");
        let error = serde_json::from_str::<EmailAddress>("\"ana\"").expect_err("an address without an @ is rejected").to_string();
        assert!(error.starts_with("The email address has no @"), "{error}");
        let error = serde_json::from_str::<EmailAddress>("7").expect_err("a number is rejected").to_string();
        assert!(error.contains("expected an email address as a string"), "{error}");
    }

    proptest! {
        /// The fast path may only save time: the full check must accept every address that the fast path accepts, with the same result.
        #[test]
        fn the_fast_path_accepts_only_what_the_full_check_accepts(
            text in "[a-zA-Z0-9.+@_ -]{0,12}@[a-zA-Z0-9.-]{0,16}(xn--|\\.c|)",
        ) {
            if let Some(at) = plain(text.as_bytes()) {
                prop_assert_eq!(examine(&text), Ok(at));
                prop_assert_eq!(domain_to_ascii(&text[at + 1..]).expect("the domain of a parsed address is valid"), text[at + 1..].to_ascii_lowercase());
            }
        }

        #[test]
        fn no_input_panics_and_normalizing_twice_changes_nothing(text in "\\PC{0,10}@\\PC{0,10}(\\.com|)") {
            if let Ok(email) = EmailAddress::parse(&text) {
                let once = email.normalized();
                if let Ok(again) = EmailAddress::parse(&once) {
                    prop_assert_eq!(again.normalized(), once);
                }
            }
        }
    }
}
