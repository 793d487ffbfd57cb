//! Validates the input for webhooks: the URL, the subscriptions and the custom headers.

use std::collections::BTreeMap;

use url::{Host, Url};

use super::dispatch::attempt::custom_headers;
use super::headers::{self, HIDDEN};
use super::model::{Webhook, headers_context};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::WriteTx;
use crate::vocab::limits;
use crate::vocab::webhook_events::Subscription;

/// The pattern for endpoint URLs in schemas. Every URL that matches is valid. Some other valid URLs, such as URLs with international names
/// or public IP addresses, do not match. Before the top-level domain, a host has one or two labels of up to 63 characters each, or three to
/// seven labels of up to 30 characters each, so that its name does not exceed 253 characters.
pub const URL_PATTERN: &str = concat!(
    "^[Hh][Tt][Tt][Pp][Ss]://",
    r"([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)?",
    r"|([A-Za-z0-9]([A-Za-z0-9-]{0,28}[A-Za-z0-9])?\.){3,7})[A-Za-z]{2,30}",
    "(:(443|8443|[2-9][0-9]{3}|[1-5][0-9]{4}))?([/?#][!-~]*)?$",
);

/// Validates and normalizes the URL of an endpoint.
pub fn url(engine: &Engine, given: &str) -> Result<String, Failure> {
    let refused = |why: &str| Failure::field("url", why);
    let given = given.trim();
    // The URL parser would silently drop control characters.
    if given.chars().any(char::is_control) {
        return Err(refused("remove line breaks and other control characters"));
    }
    let mut url: Url = given.parse().map_err(|_| refused("must be a URL like https://example.com/hooks"))?;
    match url.scheme() {
        "https" => {}
        "http" if engine.settings.webhooks.allow_http => {}
        "http" => return Err(refused("webhook URLs must use https://")),
        _ => return Err(refused("must be a URL that starts with https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("remove the user name and password; set an Authorization header in `customHeaders` instead"));
    }
    if url.host().is_some_and(|host| matches!(host, Host::Domain(name) if !is_resolvable(name))) {
        return Err(refused(
            "the host is not a valid domain name: each label must have 1 to 63 characters, and the whole name at most 253",
        ));
    }
    if let Some(error) = engine.fetch.refusal(&url) {
        return Err(refused(&error.to_string()));
    }
    url.set_fragment(None);
    // Measure the encoded URL, because encoding lengthens non-ASCII characters.
    if url.as_str().len() > limits::URL_CHARACTERS_MAX {
        let max = limits::URL_CHARACTERS_MAX;
        return Err(refused(&format!("the URL is longer than {max} characters after percent-encoding; use a shorter URL")));
    }
    Ok(url.into())
}

/// Returns whether `name` is a valid host name (RFC 1035 §2.3.4).
fn is_resolvable(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= 253 && name.split('.').all(|part| (1..=63).contains(&part.len()))
}

/// Returns the subscriptions in the given order, without duplicates. Fails if there are none.
pub fn events(given: Vec<Subscription>) -> Result<Vec<Subscription>, Failure> {
    if given.is_empty() {
        let failure = Failure::field("events", "select at least one event");
        return Err(failure.see("webhooks.events", "GET /v1/webhooks/events lists the event types"));
    }
    let mut events = Vec::new();
    for event in given {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    Ok(events)
}

/// Replaces all custom headers of a webhook.
pub fn set_headers(
    tx: &WriteTx<'_>,
    engine: &Engine,
    webhook: &mut Webhook,
    mut given: BTreeMap<String, String>,
) -> Result<(), Failure> {
    let check = |given: &BTreeMap<String, String>| headers::check(given, &engine.settings.webhooks.header_word);
    check(&given)?;
    if given.values().any(|value| value == HIDDEN) {
        let kept = custom_headers(engine, webhook).unwrap_or_default();
        for (name, value) in given.iter_mut().filter(|(_, value)| *value == HIDDEN) {
            let Some((_, known)) = kept.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
                let detail =
                    format!("{HIDDEN} keeps the current value, but this header has no stored value; send the value itself");
                return Err(Failure::field(&format!("customHeaders.{name}"), detail));
            };
            value.clone_from(known);
        }
        check(&given)?;
    }
    webhook.sealed_headers = match given.is_empty() {
        true => Vec::new(),
        false => {
            let text = serde_json::to_vec(&given).expect("a map of strings is JSON");
            engine.seal.seal(&headers_context(webhook.account, webhook.id), &text, tx.random())
        }
    };
    Ok(())
}
