//! What callers say of a webhook, checked: its address, what it asks for, its headers, whose values they may leave as they are.

use std::collections::BTreeMap;

use url::{Host, Url};

use super::dispatch::attempt::custom_headers;
use super::headers::{self, HIDDEN};
use super::model::{Webhook, headers_context};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::WriteTx;
use crate::vocab::limits;
use crate::vocab::webhook_events::Subscription;

/// The addresses of endpoints, for schemas: what this accepts is accepted; a little more is, like international names and public IP
/// addresses. A host has at most 253 characters: three long labels, or eight shorter ones.
pub const URL_PATTERN: &str = concat!(
    "^[Hh][Tt][Tt][Pp][Ss]://",
    r"([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)?",
    r"|([A-Za-z0-9]([A-Za-z0-9-]{0,28}[A-Za-z0-9])?\.){3,7})[A-Za-z]{2,30}",
    "(:(443|8443|[2-9][0-9]{3}|[1-5][0-9]{4}))?([/?#][!-~]*)?$",
);

/// The address of an endpoint in its usual spelling.
pub fn url(engine: &Engine, given: &str) -> Result<String, Failure> {
    let refused = |why: &str| Failure::field("url", why);
    let given = given.trim();
    // Reading an address would drop them without a word.
    if given.chars().any(char::is_control) {
        return Err(refused("leave out line breaks and other control characters"));
    }
    let mut url: Url = given.parse().map_err(|_| refused("expected an address like https://example.com/hooks"))?;
    match url.scheme() {
        "https" => {}
        "http" if engine.settings.webhooks.allow_http => {}
        "http" => return Err(refused("deliveries go by https only: give an address that begins with https://")),
        _ => return Err(refused("expected an address that begins with https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("leave out the user name and the password; customHeaders can carry an Authorization header"));
    }
    if url.host().is_some_and(|host| matches!(host, Host::Domain(name) if !is_resolvable(name))) {
        return Err(refused("the host is no name of the internet: its parts have 1 to 63 characters, and all together 253"));
    }
    if let Some(error) = engine.fetch.refusal(&url) {
        return Err(refused(&error.to_string()));
    }
    url.set_fragment(None);
    // As it is sent: other letters than ASCII take more room there.
    if url.as_str().len() > limits::URL_CHARACTERS_MAX {
        return Err(refused(&format!("the address is longer than {} characters; shorten it", limits::URL_CHARACTERS_MAX)));
    }
    Ok(url.into())
}

/// Whether there can be a host of this name (RFC 1035 §2.3.4).
fn is_resolvable(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= 253 && name.split('.').all(|part| (1..=63).contains(&part.len()))
}

/// What a webhook asks for: at least one, each once, in the order of the table.
pub fn events(given: Vec<Subscription>) -> Result<Vec<Subscription>, Failure> {
    if given.is_empty() {
        return Err(Failure::field("events", "give at least one event type; GET /v1/webhooks/events lists them"));
    }
    let mut events = Vec::new();
    for event in given {
        if !events.contains(&event) {
            events.push(event);
        }
    }
    Ok(events)
}

/// Put these headers of its owner into a webhook, in place of those before.
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
                let detail = format!("{HIDDEN} leaves a value as it is, and this header has none; give the value itself");
                return Err(Failure::field(&format!("customHeaders.{name}"), detail));
            };
            value.clone_from(known);
        }
        check(&given)?;
    }
    webhook.sealed_headers = match given.is_empty() {
        true => Vec::new(),
        false => {
            let text = serde_json::to_vec(&given).expect("texts by text are JSON");
            engine.seal.seal(&headers_context(webhook.account, webhook.id), &text, tx.random())
        }
    };
    Ok(())
}
