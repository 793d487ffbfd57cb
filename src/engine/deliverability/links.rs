//! The rules about links.

use std::collections::HashSet;
use std::net::IpAddr;

use super::message::{Link, Message};
use super::observations::{EvidencePlace, FACTS, Observations};
use super::postal_address;

/// The maximum number of distinct domains that a normal newsletter links to.
const DOMAINS_MAX: usize = 10;

/// The parts of a web address that the rules need.
pub struct Address<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    pub host: String,
    port: Option<&'a str>,
    path: &'a str,
}

impl<'a> Address<'a> {
    pub fn parse(address: &'a str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return None;
        }
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let (host, port) = match host.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
            _ => (host, None),
        };
        Some(Self { scheme, user, host: host.trim_end_matches('.').to_ascii_lowercase(), port, path })
    }

    fn is_numeric(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        // Browsers read decimal and hexadecimal numbers as IPv4 addresses (URL Standard, "IPv4 parser").
        let is_number =
            |part: &str| !part.is_empty() && (part.bytes().all(|byte| byte.is_ascii_digit()) || part.starts_with("0x"));
        host.parse::<IpAddr>().is_ok() || host.rsplit('.').next().is_some_and(is_number)
    }
}

/// Returns the registrable domain of a host, or the host if it has none.
pub fn registrable(host: &str) -> String {
    psl::domain_str(host).unwrap_or(host).to_owned()
}

/// Returns whether a link's text or address shows that the link unsubscribes.
pub fn unsubscribes(link: &Link) -> bool {
    let text = link.text.to_lowercase();
    let address = link.address.to_lowercase();
    FACTS.unsubscribe.iter().any(|word| text.contains(word.as_str()))
        || ["unsub", "optout", "opt-out", "opt_out", "preferences", "abmelden", "desabonn", "unsubscribe"]
            .iter()
            .any(|word| address.contains(word))
}

/// Applies the rules about links.
pub fn check(message: &Message, found: &mut Observations) {
    let mut domains = HashSet::new();
    for link in &message.links {
        check_scheme(link, found);
        let Some(address) = Address::parse(&link.address) else { continue };
        // If the host contains a merge field, the real host is not known yet and cannot be checked.
        if address.host.contains(['{', '[', '%']) && !address.host.contains("%2e") && !is_percent_encoded(&address.host) {
            continue;
        }
        domains.insert(registrable(&address.host));
        check_address(link, &address, found);
    }
    if domains.len() > DOMAINS_MAX {
        let first = message.links.first().map_or(0, |link| link.at);
        found.add("link_many_domains", EvidencePlace::html(first, &format!("{} domains", domains.len())));
    }
    check_unsubscribe(message, found);
}

fn check_scheme(link: &Link, found: &mut Observations) {
    let lowercase = link.address.to_ascii_lowercase();
    let mut add = |rule| found.add(rule, EvidencePlace::html(link.at, &link.address));
    if lowercase.starts_with("javascript:") || lowercase.starts_with("vbscript:") || lowercase.starts_with("data:") {
        add("link_script");
    }
    if lowercase.starts_with("mailto:")
        && ["remove", "unsub", "optout", "opt-out", "take me off"].iter().any(|word| lowercase.contains(word))
    {
        add("link_mail_removal");
    }
}

fn is_percent_encoded(host: &str) -> bool {
    let bytes = host.as_bytes();
    bytes.windows(3).any(|three| matches!(three, [b'%', one, two] if one.is_ascii_hexdigit() && two.is_ascii_hexdigit()))
}

fn check_address(link: &Link, address: &Address<'_>, found: &mut Observations) {
    let mut add = |rule| found.add(rule, EvidencePlace::html(link.at, &link.address));
    let host = address.host.as_str();
    let domain = registrable(host);
    if address.is_numeric() {
        add("link_numeric_host");
    }
    if host.split('.').any(|label| label.starts_with("xn--")) {
        add("link_punycode");
    }
    if is_percent_encoded(host) {
        add("link_encoded_host");
    }
    if FACTS.shorteners.contains(&domain) || FACTS.shorteners.contains(host) {
        add("link_shortener");
    }
    if address.port.is_some_and(|port| !matches!(port, "80" | "443")) {
        add("link_port");
    }
    if address.user.is_some() {
        add("link_userinfo");
    }
    if host.rsplit('.').next().is_some_and(|ending| FACTS.suspicious_endings.contains(ending)) {
        add("link_suspicious_ending");
    }
    let outer = host.strip_suffix(&domain).unwrap_or_default();
    if [".com.", ".net.", ".org.", ".co.uk."].iter().any(|ending| outer.contains(ending)) {
        add("link_domain_in_host");
    }
    let file = address.path.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    if [".exe", ".scr", ".zip", ".rar", ".iso", ".bat", ".cmd", ".msi", ".js", ".vbs"].iter().any(|ending| file.ends_with(ending))
    {
        add("link_executable");
    }
    let query = address.path.split_once('?').map(|(_, query)| query).unwrap_or_default();
    if (query.contains('@') || query.to_ascii_lowercase().contains("%40")) && !query.contains("{{") {
        add("link_recipient");
    }
    if address.scheme.eq_ignore_ascii_case("http") {
        add("link_unencrypted");
    }
    if shown_domain(&link.text).is_some_and(|shown| shown != domain) {
        add("link_mismatch");
    }
}

/// Returns the registrable domain in a link's text, if the text is a web address.
fn shown_domain(text: &str) -> Option<String> {
    if text.contains(' ') || text.contains('@') {
        return None;
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ':']).next()?.trim_end_matches('.').to_ascii_lowercase();
    let is_explicit = text.contains("://") || host.starts_with("www.");
    let suffix_is_known = psl::suffix(host.as_bytes()).is_some_and(|suffix| suffix.is_known());
    let is_host = host.contains('.') && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    (is_host && (is_explicit || suffix_is_known)).then(|| registrable(&host))
}

fn check_unsubscribe(message: &Message, found: &mut Observations) {
    if message.words.len() < 20 {
        return;
    }
    if !message.links.iter().any(unsubscribes) {
        found.add("unsubscribe_missing", EvidencePlace::html(0, ""));
    }
    if !postal_address::is_shown(message) {
        found.add("address_missing", EvidencePlace::html(0, ""));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deliverability::message::Input;
    use crate::engine::deliverability::rules;

    fn ids(address: &str, text: &str) -> Vec<&'static str> {
        let html = format!(
            "<p>Our workshop opens at nine on Saturday, and coffee is ready for everyone who comes.</p><a href='{address}'>{text}</a>"
        );
        let found = rules::check(&Message::of(&Input { html: &html, ..Input::default() }), &html);
        found.into_iter().filter(|finding| finding.points > 0.0).map(|finding| finding.rule).collect()
    }

    #[test]
    fn ordinary_links_trigger_nothing() {
        assert_eq!(ids("https://www.shop.example/a?b=c", "Shop"), [""; 0]);
        assert_eq!(ids("https://{{host}}/a", "Shop"), [""; 0]);
        assert_eq!(ids("https://links.shop.co.uk/a", "www.shop.co.uk"), [""; 0]);
    }

    #[test]
    fn deceptive_links_are_found() {
        assert_eq!(ids("http://192.0.2.7/a", "Shop"), ["link_numeric_host"]);
        assert_eq!(ids("http://0x7f.1/a", "Shop"), ["link_numeric_host"]);
        assert_eq!(ids("https://bank.com@evil.com/", "Shop"), ["link_userinfo"]);
        assert_eq!(ids("https://bank.com.evil.com/", "Shop"), ["link_domain_in_host"]);
        assert_eq!(ids("https://evil.com/", "www.bank.com"), ["link_mismatch"]);
        assert_eq!(ids("https://bit.ly/x", "Shop"), ["link_shortener"]);
        assert_eq!(ids("javascript:alert(1)", "Shop"), ["link_script"]);
        assert_eq!(ids("https://a.example:8080/x.exe", "Shop"), ["link_port", "link_executable"]);
        assert_eq!(ids("mailto:remove@a.example", "Shop"), ["link_mail_removal"]);
    }
}
