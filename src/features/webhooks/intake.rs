//! What callers say of a webhook, checked: its address, what it asks for, its headers.

use std::collections::BTreeMap;

use url::Url;

use super::headers;
use super::model::{Webhook, headers_place};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::WriteTx;
use crate::vocab::limits;
use crate::vocab::webhook_events::Subscription;

/// The address of an endpoint in its usual spelling.
pub fn url(engine: &Engine, given: &str) -> Result<String, Failure> {
    let refused = |why: &str| Failure::field("url", why);
    if given.len() > limits::URL_CHARACTERS_MAX {
        return Err(refused(&format!("the address is longer than {} characters", limits::URL_CHARACTERS_MAX)));
    }
    let mut url: Url = given.trim().parse().map_err(|_| refused("expected an address like https://example.com/hooks"))?;
    match url.scheme() {
        "https" => {}
        "http" if engine.settings.webhooks.allow_http => {}
        "http" => return Err(refused("deliveries go by https only: give an address that begins with https://")),
        _ => return Err(refused("expected an address that begins with https://")),
    }
    if let Some(error) = engine.fetch.refusal(&url) {
        return Err(refused(&error.to_string()));
    }
    url.set_fragment(None);
    Ok(url.to_string())
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

/// Put these headers of its owner into a webhook.
pub fn set_headers(
    tx: &WriteTx<'_>,
    engine: &Engine,
    webhook: &mut Webhook,
    given: &BTreeMap<String, String>,
) -> Result<(), Failure> {
    headers::check(given, &engine.settings.webhooks.header_word)?;
    webhook.sealed_headers = match given.is_empty() {
        true => Vec::new(),
        false => {
            let text = serde_json::to_vec(given).expect("texts by text are JSON");
            engine.seal.seal(&headers_place(webhook.account, webhook.id), &text, tx.random())
        }
    };
    Ok(())
}
