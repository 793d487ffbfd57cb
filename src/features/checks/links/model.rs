//! The statuses of links, and the checks of a URL that need no request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::engine::fetch::Fetch;
use crate::engine::render::inspect::LinkKind;
use crate::engine::render::merge::{OutputKind, Template};
use crate::vocab::placeholders;

/// The status of a link after a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkStatus {
    /// The link works.
    Ok,
    /// The URL redirects to `finalUrl`. If the check follows redirects, the target works; otherwise, the target was not checked.
    Redirected,
    /// The link does not work, for example because the page or the host does not exist, the server failed twice, or the certificate is
    /// invalid.
    Broken,
    /// The server could not be reached, did not respond in time, or is rate limiting requests. The link may work.
    Unreachable,
    /// The server responds to browsers but not to programs, for example because it requires sign-in or blocks bots. The link probably
    /// works.
    Unverifiable,
    /// The check does not request the URL, or a URL to which it redirects: the address is private, the port is reserved, the URL contains a
    /// user name or password, or the scheme is not for the web.
    Blocked,
    /// The link cannot work, for example because the URL is malformed.
    Invalid,
    /// The link was not checked; `error` is the reason.
    Skipped,
}

/// What a check concludes about a URL without sending a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The final status, with its reason.
    Final(LinkStatus, String),
    /// Only the server's response can determine the status.
    Request(Url),
}

fn invalid(reason: impl Into<String>) -> Verdict {
    Verdict::Final(LinkStatus::Invalid, reason.into())
}

fn skipped(reason: impl Into<String>) -> Verdict {
    Verdict::Final(LinkStatus::Skipped, reason.into())
}

/// The inputs of [`verdict`], other than the URL and its kind.
pub struct Surroundings<'a> {
    pub fetch: &'a Fetch,
    /// The base URL of this service.
    pub base: &'a str,
    /// The IDs and anchor names in the email that links can lead to.
    pub targets: &'a [String],
}

/// The schemes of URLs that open an app other than the browser, and `cid`, which refers to a part of the message.
const APP_SCHEMES: [&str; 6] = ["mailto", "tel", "sms", "facetime", "webcal", "cid"];
/// The schemes that email clients block.
const SCRIPT_SCHEMES: [&str; 4] = ["javascript", "vbscript", "data", "about"];
/// The prefixes of the paths of links that this service adds to messages.
const OWN_PATHS: [&str; 3] = ["/u/", "/t/", "/v/"];

/// Returns what can be concluded about the URL without a request.
pub fn verdict(url: &str, kind: LinkKind, around: &Surroundings<'_>) -> Verdict {
    let what = match kind {
        LinkKind::Link => "link",
        LinkKind::Form => "form",
        _ => "file",
    };
    if url.is_empty() {
        return invalid(match kind {
            LinkKind::Link => "The link has no URL. Set its URL.",
            LinkKind::Form => "The form has no URL. Set its URL.",
            _ => "An image or other file has no URL. Set its URL.",
        });
    }
    if let Some(verdict) = merge_verdict(url) {
        return verdict;
    }
    if let Some(target) = url.strip_prefix('#') {
        return anchor(target, around.targets);
    }
    let scheme = url.split_once(':').map(|(scheme, _)| scheme).filter(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    });
    let scheme = scheme.map(str::to_ascii_lowercase);
    match scheme.as_deref() {
        Some("http" | "https") => web(url, around),
        Some(scheme) if APP_SCHEMES.contains(&scheme) => app_address(scheme, url),
        Some(scheme) if SCRIPT_SCHEMES.contains(&scheme) => {
            invalid(format!("Email clients block {scheme}: URLs. Use an https:// URL."))
        }
        Some(scheme) if !scheme.contains('.') && !url[scheme.len() + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
            Verdict::Final(
                LinkStatus::Blocked,
                format!(
                    "The scheme {scheme} is not for websites, so the link was not requested. Many email clients remove such links."
                ),
            )
        }
        _ if url.starts_with("//") => invalid("The URL has no scheme. Put https: before it."),
        _ => invalid(format!(
            "The URL of the {what} is incomplete, so it does not work in an email. Write the whole URL, with https://."
        )),
    }
}

fn web(url: &str, around: &Surroundings<'_>) -> Verdict {
    let after = url.split_once(':').map_or("", |(_, after)| after);
    if !after.starts_with("//") || url.contains(char::is_whitespace) {
        return invalid("The URL is malformed: write it as https://example.com/page, without spaces.");
    }
    let parsed = match Url::parse(url) {
        Ok(parsed) => parsed,
        Err(error) => return invalid(format!("The URL is malformed: {error}.")),
    };
    let is_own = !around.base.is_empty()
        && url
            .strip_prefix(around.base.trim_end_matches('/'))
            .is_some_and(|path| OWN_PATHS.iter().any(|own| path.starts_with(own)));
    if is_own {
        return skipped("The link belongs to this service, which adds it for each recipient.");
    }
    match around.fetch.refusal(&parsed) {
        Some(refusal) => Verdict::Final(LinkStatus::Blocked, refusal.to_string()),
        None => Verdict::Request(parsed),
    }
}

fn anchor(target: &str, targets: &[String]) -> Verdict {
    if target.is_empty() {
        return invalid("The link leads to \"#\" instead of a page. Set its URL.");
    }
    let decoded = percent_encoding::percent_decode_str(target).decode_utf8_lossy();
    if targets.iter().any(|known| *known == target || *known == decoded) {
        return skipped("The link leads to an element in the email. Some email clients ignore such links.");
    }
    invalid(format!("No element in the email has the ID \"{target}\", so the link does not work. Correct the ID."))
}

fn app_address(scheme: &str, url: &str) -> Verdict {
    let rest = url.get(scheme.len() + 1..).unwrap_or_default();
    let address = rest.split('?').next().unwrap_or_default();
    let decoded = percent_encoding::percent_decode_str(address).decode_utf8_lossy();
    match scheme {
        "mailto" => {
            let wrong = decoded.split(',').map(str::trim).find(|one| crate::base::email::EmailAddress::parse(one).is_err());
            // A `mailto:` link without an address lets the reader choose one. Sharing links use this form.
            match wrong {
                Some("") if rest.starts_with('?') => skipped("The link opens a new message without a recipient."),
                Some("") if decoded.contains(',') => {
                    invalid("The link has an empty address. Remove the extra comma, or add an address.")
                }
                Some("") => invalid("The link has no email address. Write it like mailto:name@example.com."),
                Some(wrong) => invalid(format!("\"{wrong}\" is not an email address. Write it like name@example.com.")),
                None => skipped("The link opens a new message. Mailmill did not check whether the address exists."),
            }
        }
        // FaceTime also calls email addresses.
        "facetime" if decoded.contains('@') => skipped("An app opens the link, so it was not requested."),
        "tel" | "sms" | "facetime" => {
            let digits = decoded.chars().filter(char::is_ascii_digit).count();
            let is_sound = decoded.chars().all(|c| c.is_ascii_digit() || "+-.()*#,;=/ ".contains(c) || c.is_ascii_alphabetic());
            match (3..=20).contains(&digits) && is_sound {
                true => skipped("The link opens the phone app. Mailmill did not check whether the number exists."),
                false => invalid(format!("\"{decoded}\" is not a phone number. Write it like {scheme}:+14155550123.")),
            }
        }
        "cid" => skipped("The URL refers to a part of the message, so it was not requested."),
        _ => skipped("An app opens the link, so it was not requested."),
    }
}

/// The delimiters of other email services' merge tags.
const FOREIGN_TAGS: [(&str, &str); 8] =
    [("*|", "|*"), ("%%", "%%"), ("[[", "]]"), ("<%", "%>"), ("${", "}"), ("#{", "}"), ("{$", "}"), ("%recipient", "%")];
/// Percent-encoded braces: an editor has encoded a merge field, so the field is not filled in.
const ENCODED_BRACES: [&str; 2] = ["%7b%7b", "%7B%7B"];

/// Returns the verdict on a URL with merge fields or merge tags; `None` for any other URL.
fn merge_verdict(url: &str) -> Option<Verdict> {
    if ENCODED_BRACES.iter().any(|braces| url.contains(braces)) {
        return Some(invalid("The braces of a merge field are percent-encoded, so the field is not filled in. Write {{ and }}."));
    }
    if let Some((start, end)) = FOREIGN_TAGS
        .iter()
        .find(|(start, end)| url.split_once(start).is_some_and(|(_, rest)| rest.find(end).is_some_and(|length| length > 0)))
    {
        return Some(invalid(format!(
            "The URL contains a merge tag of another service ({start}…{end}), which is not filled in. Write merge fields like \
             {{{{ first_name }}}}."
        )));
    }
    let plain = url.trim_matches(['[', ']', '{', '}', '<', '>', '%', '*', '|', '_']).to_ascii_lowercase();
    if plain != url.to_ascii_lowercase() && !url.contains("{{") && plain.contains("unsub") {
        return Some(invalid(format!(
            "{url} is not replaced with the unsubscribe link. Write {} instead.",
            placeholders::UNSUBSCRIBE_URL
        )));
    }
    if !url.contains("{{") && !url.contains("{%") {
        return None;
    }
    let template = match Template::compile(url, OutputKind::Text) {
        Ok(template) => template,
        Err(error) => return Some(invalid(format!("The merge field is invalid: {error}."))),
    };
    let fields: Vec<&str> = template.fields().collect();
    let own = |name: &str| placeholders::LINKS.iter().any(|link| link.trim_matches(['{', '}', ' ']) == name);
    if let [field] = fields[..]
        && url.starts_with("{{")
        && !own(field)
        && field.to_ascii_lowercase().contains("unsub")
    {
        return Some(invalid(format!(
            "{{{{ {field} }}}} is not Mailmill's unsubscribe link. Write {} instead.",
            placeholders::UNSUBSCRIBE_URL
        )));
    }
    if url.starts_with("{{") && fields.iter().any(|field| own(field)) {
        return Some(skipped("The link is filled in for each recipient when the email is sent."));
    }
    Some(skipped("The URL contains merge fields, so its page is known only when the email is sent."))
}

/// Words of unsubscribe links, in lowercase.
pub const UNSUBSCRIBE_WORDS: &[&str] = &[
    "unsub",
    "opt out",
    "opt-out",
    "optout",
    "preferences",
    "abmeld",
    "abbestell",
    "austragen",
    "désabonn",
    "désinscri",
    "desabonn",
    "darse de baja",
    "cancelar",
    "descadastr",
    "disiscri",
    "afmeld",
    "uitschrijv",
    "отпис",
    "wypisz",
];

/// Words, in lowercase, that suggest that opening a link changes something, in addition to `UNSUBSCRIBE_WORDS`. The check looks for them in
/// URLs and link text.
const CHANGING_WORDS: &[&str] = &[
    "opt_out",
    "optin",
    "opt-in",
    "opt_in",
    "confirm",
    "verify",
    "activate",
    "approve",
    "accept",
    "decline",
    "subscribe",
    "remove",
    "delete",
    "cancel",
    "preference",
    "logout",
    "aktivier",
    "bestaetig",
    "bestätig",
    "baja",
    "bevestig",
    "conferma",
    "potwierd",
    "подтвер",
];
/// The minimum length of a value that looks like a recipient's token.
const TOKEN_CHARACTERS_MIN: usize = 24;
/// The minimum number of changes between letters and digits, or between cases, in a value that looks random.
const TOKEN_CHANGES_MIN: usize = 3;

/// Returns whether a URL or the text of a link suggests that opening the link changes something, such as a subscription.
pub fn announces_change(text: &str) -> bool {
    let text = text.to_lowercase();
    UNSUBSCRIBE_WORDS.iter().chain(CHANGING_WORDS).any(|word| text.contains(word))
}

/// Returns whether a GET request to a URL is very unlikely to change anything: the URL names no action and contains nothing that looks like
/// a recipient's token.
pub fn may_get(url: &Url) -> bool {
    let path = percent_encoding::percent_decode_str(url.path()).decode_utf8_lossy();
    let query = percent_encoding::percent_decode_str(url.query().unwrap_or_default()).decode_utf8_lossy();
    !announces_change(&path)
        && !announces_change(&query)
        && !query.split(['&', '=', ';']).any(is_random)
        && !path.split('/').any(is_random)
}

/// Returns whether a GET request for an image or a style sheet is unlikely to change anything. Such URLs often contain random names, which
/// are allowed.
pub fn may_get_file(url: &Url) -> bool {
    !announces_change(url.path()) && !announces_change(url.query().unwrap_or_default())
}

/// Never allows a GET request.
pub fn never(_: &Url) -> bool {
    false
}

/// Returns whether a value looks like a random token: it contains a long run of digits and capitals, or it is long and changes often
/// between letters and digits, or between cases.
fn is_random(value: &str) -> bool {
    let mut runs = value.split(|c: char| !c.is_ascii_digit() && !c.is_ascii_uppercase());
    if runs.any(|run| run.len() >= TOKEN_CHARACTERS_MIN) {
        return true;
    }
    let class = |c: char| match c {
        _ if c.is_ascii_digit() => 1,
        _ if c.is_ascii_uppercase() => 2,
        _ if c.is_alphabetic() => 3,
        _ => 0,
    };
    let classes: Vec<u8> = value.chars().map(class).filter(|class| *class > 0).collect();
    let changes = classes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // A capital letter at the start of a word causes at most two changes (before and after it). These changes are not a sign of a random
    // value, so they are not counted.
    let capitals =
        value.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with(|c: char| c.is_uppercase())).count();
    value.chars().count() >= TOKEN_CHARACTERS_MIN && changes.saturating_sub(2 * capitals) >= TOKEN_CHANGES_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_an_address_differs_from_one_with_an_extra_comma() {
        for (url, reason) in [
            ("mailto:", "The link has no email address."),
            ("mailto:%20", "The link has no email address."),
            ("mailto:ada@example.com,", "The link has an empty address. Remove the extra comma"),
        ] {
            let found = app_address("mailto", url);
            let Verdict::Final(LinkStatus::Invalid, said) = &found else { panic!("{url}: {found:?}") };
            assert!(said.starts_with(reason), "{url}: {said}");
        }
    }

    #[test]
    fn an_embedded_image_is_not_opened_by_an_app() {
        let found = app_address("cid", "cid:logo@example.com");
        assert!(matches!(&found, Verdict::Final(_, said) if said.contains("a part of the message")), "{found:?}");
    }
}
