//! Finds problems with an email's links, other than broken links. Readers, spam filters and marketers notice these problems.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::LazyLock;

use url::{Host, Url};

use super::check::CheckedUrl;
use super::model::{LinkStatus, UNSUBSCRIBE_WORDS};
use crate::base::clock::Timestamp;
use crate::base::domain::registrable;
use crate::engine::render::inspect::{LinkKind, LinkUse, Links};
use crate::features::checks::views::Severity;
use crate::vocab::limits;
use crate::vocab::placeholders;

/// The kind of problem that a finding reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkRule {
    VisibleUrlDiffers,
    UnsubscribeMissing,
    AnchorTargetMissing,
    Shortener,
    IpHost,
    PunycodeHost,
    InsecureHttp,
    InsecureRedirect,
    CertificateExpires,
    LinkedImageWithoutAlt,
    SameTextDifferentTarget,
    UtmMissing,
    UtmDuplicate,
    LinkTooLong,
    PermanentRedirect,
    AnchorSupport,
    ImageTooLarge,
    NotAnImage,
}

/// TABLE: each rule with its ID, its severity and its remedy.
#[rustfmt::skip]
const RULES: [(LinkRule, &str, Severity, &str); 18] = [
    (LinkRule::VisibleUrlDiffers, "visible_url_differs", Severity::Critical, "In the link text, show the site that the link leads to, or use words instead of a URL."),
    (LinkRule::UnsubscribeMissing, "unsubscribe_missing", Severity::Critical, "Add a link to {{ unsubscribe_url }} to the footer of every marketing email."),
    (LinkRule::AnchorTargetMissing, "anchor_target_missing", Severity::Critical, "Add an element with this ID, or change the link."),
    (LinkRule::Shortener, "shortener", Severity::Warning, "Link to the page itself. Mailmill counts clicks without a shortener."),
    (LinkRule::IpHost, "ip_host", Severity::Critical, "Link to a host name instead of an IP address."),
    (LinkRule::PunycodeHost, "punycode_host", Severity::Warning, "Check that the host is the intended one. Spam filters distrust internationalized host names."),
    (LinkRule::InsecureHttp, "insecure_http", Severity::Warning, "Use https:// if the site supports it."),
    (LinkRule::InsecureRedirect, "insecure_redirect", Severity::Warning, "Link to the https:// address of the final page."),
    (LinkRule::CertificateExpires, "certificate_expires", Severity::Warning, "Renew the site's certificate before the email is sent."),
    (LinkRule::LinkedImageWithoutAlt, "linked_image_without_alt", Severity::Warning, "Add alt text that says where the link leads."),
    (LinkRule::SameTextDifferentTarget, "same_text_different_target", Severity::Info, "Give each link its own text, or give all of them the same target."),
    (LinkRule::UtmMissing, "utm_missing", Severity::Info, "Add the same UTM parameters to these links, or let the sending domain add them to all links."),
    (LinkRule::UtmDuplicate, "utm_duplicate", Severity::Warning, "Use each UTM parameter only once. Analytics tools use only one of the values."),
    (LinkRule::LinkTooLong, "link_too_long", Severity::Warning, "Shorten the URL to at most 2,000 characters. Some email clients truncate longer URLs."),
    (LinkRule::PermanentRedirect, "permanent_redirect", Severity::Info, "Link to the new address, so that readers are not redirected."),
    (LinkRule::AnchorSupport, "anchor_support", Severity::Info, "Do not rely on links within the email: several apps, such as Gmail on iOS and Samsung Email, ignore them."),
    (LinkRule::ImageTooLarge, "image_too_large", Severity::Warning, "Reduce the file to less than 1 MB. On a phone, large images appear late or not at all."),
    (LinkRule::NotAnImage, "not_an_image", Severity::Critical, "Use the URL of the image file itself, not of a page that shows it."),
];

pub fn rule_ids() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(_, id, ..)| *id)
}

impl LinkRule {
    fn row(self) -> &'static (Self, &'static str, Severity, &'static str) {
        &RULES[self as usize]
    }

    /// Returns the ID of the rule in the API.
    pub fn id(self) -> &'static str {
        self.row().1
    }

    pub fn severity(self) -> Severity {
        self.row().2
    }

    /// Returns how to resolve the finding.
    pub fn fix(self) -> &'static str {
        self.row().3
    }
}

/// A finding about one URL, several URLs, or the whole email.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFinding {
    pub rule: LinkRule,
    pub message: String,
    pub url: Option<String>,
    /// The indexes in [`Links::uses`] of the places that the finding is about.
    pub uses: Vec<usize>,
}

/// The size in bytes above which an image is large: such an image takes a few seconds to load on a slow phone connection.
const IMAGE_BYTES_MAX: u64 = 1024 * 1024;
/// A certificate with fewer remaining days than this is about to expire. Certificates are usually renewed a month before they expire,
/// so the renewal has probably failed.
const CERTIFICATE_DAYS_MIN: i64 = 14;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// The maximum number of findings of one rule.
const FINDINGS_PER_RULE_MAX: usize = 20;

static SHORTENERS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let list = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/validation/shorteners.txt"));
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
});

/// Returns the number of whole days until a certificate expires.
pub fn days_left(expires: Timestamp, now: Timestamp) -> i64 {
    expires.ms_since(now).div_euclid(DAY_MS)
}

fn days_in_words(days: i64) -> String {
    match days {
        ..1 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        _ => format!("{days} days"),
    }
}

/// Returns the findings about the links in an email, most severe first.
pub fn findings(links: &Links, urls: &[CheckedUrl], now: Timestamp) -> Vec<LinkFinding> {
    let mut finder = Finder { links, found: Vec::new() };
    for checked in urls {
        finder.url(checked);
        finder.response(checked, now);
    }
    finder.texts(urls);
    finder.utm(urls);
    finder.unsubscribe();
    let mut counts: HashMap<LinkRule, usize> = HashMap::new();
    finder.found.sort_by_key(|finding| (finding.rule.severity(), finding.rule));
    finder.found.retain(|finding| {
        let count = counts.entry(finding.rule).or_default();
        *count += 1;
        *count <= FINDINGS_PER_RULE_MAX
    });
    finder.found
}

struct Finder<'a> {
    links: &'a Links,
    found: Vec<LinkFinding>,
}

impl Finder<'_> {
    fn note(&mut self, rule: LinkRule, checked: &CheckedUrl, message: String) {
        self.found.push(LinkFinding { rule, message, url: Some(checked.url.clone()), uses: checked.uses.clone() });
    }

    fn used(&self, checked: &CheckedUrl) -> impl Iterator<Item = (usize, &LinkUse)> {
        checked.uses.iter().filter_map(|index| Some((*index, self.links.uses.get(*index)?)))
    }

    /// Finds problems in the URL itself.
    fn url(&mut self, checked: &CheckedUrl) {
        let is_link = self.used(checked).any(|(_, one)| one.kind == LinkKind::Link);
        let length = checked.url.chars().count();
        if length > limits::LINK_CHARACTERS_MAX && !checked.url.starts_with("data:") {
            self.note(LinkRule::LinkTooLong, checked, format!("The URL has {length} characters."));
        }
        if is_link && checked.url.len() > 1 && checked.url.starts_with('#') {
            let (rule, message) = match checked.status {
                LinkStatus::Invalid => {
                    (LinkRule::AnchorTargetMissing, format!("No element in the email has the ID that {} refers to.", checked.url))
                }
                _ => (LinkRule::AnchorSupport, format!("{} is a link to an element in the email.", checked.url)),
            };
            self.note(rule, checked, message);
        }
        let Some(url) = web(&checked.url) else { return };
        let host = url.host_str().unwrap_or_default();
        if checked.is_own {
            // The operator already knows the hosts of this service and of allowed networks, so no finding reports them.
        } else if matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_))) {
            self.note(LinkRule::IpHost, checked, format!("The host {host} is an IP address."));
        } else if host.split('.').any(|label| label.starts_with("xn--")) {
            let (shown, _) = idna::domain_to_unicode(host);
            self.note(LinkRule::PunycodeHost, checked, format!("The host {host} is the ASCII form of {shown}."));
        }
        if is_link && SHORTENERS.contains(host.strip_prefix("www.").unwrap_or(host)) {
            self.note(LinkRule::Shortener, checked, format!("{host} hides where the link leads."));
        }
        if url.scheme() == "http" && !checked.is_own {
            self.note(LinkRule::InsecureHttp, checked, "The URL uses http:, which is not encrypted.".to_owned());
        }
        let mut seen = BTreeSet::new();
        if let Some((name, _)) = url.query_pairs().find(|(name, _)| name.starts_with("utm_") && !seen.insert(name.to_string())) {
            self.note(LinkRule::UtmDuplicate, checked, format!("The URL contains {name} more than once."));
        }
    }

    /// Finds problems in the response.
    fn response(&mut self, checked: &CheckedUrl, now: Timestamp) {
        let Some(report) = checked.report.clone() else { return };
        let trail = &report.probe.trail;
        let is_permanent = trail.hops.first().is_some_and(|hop| matches!(hop.status.as_u16(), 301 | 308));
        if checked.status == LinkStatus::Redirected && is_permanent {
            self.note(LinkRule::PermanentRedirect, checked, format!("The URL redirects permanently to {}.", trail.url));
        }
        if checked.url.starts_with("https:") && trail.url.scheme() == "http" {
            self.note(
                LinkRule::InsecureRedirect,
                checked,
                format!("The link redirects to {}, which is not encrypted.", trail.url),
            );
        }
        if let Some(days) =
            trail.certificate_expires.map(|expires| days_left(expires, now)).filter(|days| *days < CERTIFICATE_DAYS_MIN)
        {
            let host = trail.hops.first().map_or(&trail.url, |hop| &hop.url).host_str().unwrap_or_default();
            self.note(
                LinkRule::CertificateExpires,
                checked,
                format!("The certificate of {host} expires in {}.", days_in_words(days)),
            );
        }
        let is_image = self.used(checked).any(|(_, one)| matches!(one.kind, LinkKind::Image | LinkKind::Background));
        let Ok(response) = &report.probe.outcome else { return };
        if !is_image || !matches!(checked.status, LinkStatus::Ok | LinkStatus::Redirected) {
            return;
        }
        let kind =
            response.content_type.as_deref().map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        if let Some(kind) = kind.filter(|kind| !kind.starts_with("image/") && kind != "application/octet-stream") {
            self.note(LinkRule::NotAnImage, checked, format!("The image URL returns {kind} instead of an image."));
        }
        if let Some(bytes) = response.content_bytes.filter(|bytes| *bytes > IMAGE_BYTES_MAX) {
            self.note(LinkRule::ImageTooLarge, checked, format!("The image is {} KB.", bytes / 1024));
        }
    }

    /// Finds problems with the text of links: linked images without alt text, text that shows a different site, and the same text for
    /// different targets.
    fn texts(&mut self, urls: &[CheckedUrl]) {
        let mut by_text: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
        for checked in urls {
            let mut without_alt = Vec::new();
            let mut differing = Vec::new();
            for (index, one) in self.used(checked).filter(|(_, one)| one.kind == LinkKind::Link && !one.outlook_only) {
                if one.images > 0 && one.text.is_empty() {
                    without_alt.push(index);
                }
                if let Some(shown) = shown_host(&one.text).filter(|shown| leads_elsewhere(shown, &checked.url)) {
                    differing.push((index, shown));
                }
                let text = one.text.to_lowercase();
                if one.images == 0 && text.chars().any(char::is_alphabetic) {
                    by_text.entry(text).or_default().push((index, target(&checked.url)));
                }
            }
            if !without_alt.is_empty() {
                let message = "The link consists of images without alt text.".to_owned();
                self.found.push(LinkFinding {
                    rule: LinkRule::LinkedImageWithoutAlt,
                    message,
                    url: Some(checked.url.clone()),
                    uses: without_alt,
                });
            }
            if let Some((_, shown)) = differing.first() {
                let message = format!("The link text shows {shown}, but the link leads to {}.", host_of(&checked.url));
                let uses = differing.iter().map(|(index, _)| *index).collect();
                self.found.push(LinkFinding { rule: LinkRule::VisibleUrlDiffers, message, url: Some(checked.url.clone()), uses });
            }
        }
        for (text, uses) in by_text {
            let targets: BTreeSet<&str> = uses.iter().map(|(_, target)| target.as_str()).collect();
            if targets.len() > 1 {
                let message = format!("Links with the text \"{text}\" lead to {} different pages.", targets.len());
                let uses = uses.into_iter().map(|(index, _)| index).collect();
                self.found.push(LinkFinding { rule: LinkRule::SameTextDifferentTarget, message, url: None, uses });
            }
        }
    }

    /// Finds links that lack a UTM parameter that other links to the same site have. Ignores `utm_content` and `utm_term`, because they
    /// distinguish the links in an email from each other.
    fn utm(&mut self, urls: &[CheckedUrl]) {
        let names = |url: &Url| -> BTreeSet<String> {
            let names = url.query_pairs().map(|(name, _)| name.into_owned());
            names.filter(|name| name.starts_with("utm_") && !matches!(name.as_str(), "utm_content" | "utm_term")).collect()
        };
        let links: Vec<(&CheckedUrl, Url)> = urls
            .iter()
            .filter(|checked| self.used(checked).any(|(_, one)| one.kind == LinkKind::Link))
            .filter_map(|checked| Some((checked, web(&checked.url)?)))
            .collect();
        let mut sites: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for (_, url) in &links {
            sites.entry(site(url.host_str().unwrap_or_default())).or_default().extend(names(url));
        }
        let lacks = |url: &Url| {
            sites.get(site(url.host_str().unwrap_or_default())).is_some_and(|expected| !expected.is_subset(&names(url)))
        };
        let missing: Vec<usize> =
            links.iter().filter(|(_, url)| lacks(url)).flat_map(|(checked, _)| checked.uses.clone()).collect();
        if !missing.is_empty() {
            let message = match missing.len() {
                1 => "1 link lacks UTM parameters that other links to the same site have.".to_owned(),
                many => format!("{many} links lack UTM parameters that other links to the same site have."),
            };
            self.found.push(LinkFinding { rule: LinkRule::UtmMissing, message, url: None, uses: missing });
        }
    }

    fn unsubscribe(&mut self) {
        let own = placeholders::UNSUBSCRIBE_URL.trim_matches(['{', '}', ' ']);
        let is_unsubscribe = |one: &LinkUse| {
            let words = format!("{} {} {}", one.url, one.text, one.rel).to_lowercase();
            one.kind == LinkKind::Link && (words.contains(own) || UNSUBSCRIBE_WORDS.iter().any(|word| words.contains(word)))
        };
        if !self.links.uses.iter().any(is_unsubscribe) && self.links.total == self.links.uses.len() {
            let message = "The email has no unsubscribe link.".to_owned();
            self.found.push(LinkFinding { rule: LinkRule::UnsubscribeMissing, message, url: None, uses: Vec::new() });
        }
    }
}

fn web(url: &str) -> Option<Url> {
    let parsed = Url::parse(url).ok()?;
    (matches!(parsed.scheme(), "http" | "https") && !url.contains("{{")).then_some(parsed)
}

fn host_of(url: &str) -> String {
    web(url).and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| url.chars().take(80).collect())
}

/// Returns the registrable domain of a host, or the host itself.
fn site(host: &str) -> &str {
    registrable(host).unwrap_or(host)
}

/// Returns the URL without its UTM parameters, fragment and trailing slash.
fn target(url: &str) -> String {
    let Some(mut parsed) = web(url) else { return url.to_owned() };
    let kept: Vec<(String, String)> = parsed
        .query_pairs()
        .filter(|(name, _)| !name.starts_with("utm_"))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    parsed.set_fragment(None);
    parsed.set_query(None);
    if !kept.is_empty() {
        parsed.query_pairs_mut().extend_pairs(kept);
    }
    parsed.as_str().trim_end_matches('/').to_owned()
}

/// Returns the host in a link's text, if the text is a URL or a host name.
fn shown_host(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',', '!']);
    if text.contains(char::is_whitespace) || text.contains('@') || !text.contains('.') {
        return None;
    }
    let url = if text.contains("://") { Url::parse(text).ok()? } else { Url::parse(&format!("https://{text}")).ok()? };
    let host = url.host_str()?.to_owned();
    if host.parse::<IpAddr>().is_ok() {
        return Some(host);
    }
    // Text such as "v2.0" or "Node.js" is a host name only if it ends in a known public suffix.
    psl::domain(host.as_bytes()).filter(|domain| domain.suffix().is_known() && host.contains('.'))?;
    let is_url = text.contains("://")
        || text.starts_with("www.")
        || text.contains('/')
        || matches!(
            host.rsplit('.').next(),
            Some("com" | "org" | "net" | "edu" | "gov" | "de" | "fr" | "nl" | "es" | "it" | "uk" | "eu" | "shop" | "store")
        );
    is_url.then_some(host)
}

fn leads_elsewhere(shown: &str, url: &str) -> bool {
    web(url).and_then(|url| url.host_str().map(|host| site(host) != site(shown))).unwrap_or_default()
}
