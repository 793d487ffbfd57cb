//! Fuzz targets for the responses and webhooks of platforms, stores and mail services, and for incoming webhooks.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::Value;
use sha2::Sha256;

use super::Target;
use crate::base::clock::Timestamp;
use crate::engine::mail::feedback::sns::Message;
use crate::engine::mail::feedback::{self, Request};
use crate::features::contacts::jobs::ProviderImport;
use crate::features::contacts::jobs::provider::{Position, ProviderPage};
use crate::features::{connections, contacts, events, hooks, storefront};
use crate::vocab::ids::ConnectionId;
use crate::vocab::mail_services::MailService;
use crate::vocab::providers::{ConsentMode, Provider};

pub const PLATFORM_CONTACTS: Target = Target {
    name: "platform_contacts",
    run: platform_contacts,
    seeds: &[],
    words: &[
        "\"data\":[",
        "\"attributes\":{",
        "\"email\":\"a@example.com\"",
        "\"subscriptions\":{\"email\":{\"marketing\":{\"consent\":\"SUBSCRIBED\"",
        "\"properties\":{",
        "\"members\":[",
        "\"merge_fields\":{\"ADDRESS\":{",
        "\"total_items\":",
        "\"results\":[",
        "page%5Bcursor%5D=",
    ],
};

pub const PLATFORM_RESPONSES: Target = Target {
    name: "platform_responses",
    run: platform_responses,
    seeds: &[],
    words: &[
        "\"results\":[",
        "\"subscriberIdString\":\"a@example.com\"",
        "\"statuses\":[{\"status\":\"SUBSCRIBED\"}]",
        "\"wideStatuses\":[{\"status\":\"UNSUBSCRIBED\"}]",
        "\"errors\":[{\"message\":\"",
        "\"extensions\":{\"cost\":{\"requestedQueryCost\":1e308,",
        "\"__parentId\":\"gid://shopify/Product/1\"",
        "\"price\":\"-1e308\"",
        "webhook_id=",
        "&shop=acme.myshopify.com",
        "&state=test.",
        "\n",
    ],
};

pub const STORE_WEBHOOK: Target = Target {
    name: "store_webhook",
    run: store_webhook,
    seeds: &[],
    words: &[
        "\"id\":1",
        "\"email\":\"a@example.com\"",
        "\"total_price\":\"49.90\"",
        "\"currency\":\"EUR\"",
        "\"line_items\":[",
        "\"transactions\":[",
        "\"variants\":[",
        "\"customer\":{",
        "\"refunds\":[",
        "\"__parentId\":",
    ],
};

pub const INCOMING_WEBHOOK: Target = Target {
    name: "incoming_webhook",
    run: incoming_webhook,
    seeds: &[],
    words: &["{\"a\":{\"email\":", "\"items\":[{\"x\":", "email=", "&", "%40", "\"properties\":{", "\"customFields\":{", "1e400"],
};

pub const MAIL_FEEDBACK: Target = Target {
    name: "mail_feedback",
    run: mail_feedback,
    seeds: &[],
    words: &[
        "\"RecordType\":\"Bounce\"",
        "\"event\":\"failed\"",
        "\"delivery-status\":{",
        "\"type\":\"email.bounced\"",
        "\"data\":{",
        "\"headers\":[",
        "\"Message\":\"{",
        "\"notificationType\":\"Bounce\"",
        "[{\"event\":\"bounce\"",
    ],
};

/// Fuzzes the parsers of platforms' contact pages, and the validation of the parsed contacts.
fn platform_contacts(data: &[u8]) {
    let import = ProviderImport {
        provider: Provider::Klaviyo,
        connection: ConnectionId::from_bytes([1; 12]),
        sources: Vec::new(),
        consent_mode: ConsentMode::IncludeAll,
        fields: Default::default(),
        since: None,
        reads_changes: false,
        tag: "x".to_owned(),
        position: Position::default(),
        row: 0,
        excluded: 0,
        read: 0,
        expected: None,
        pause: None,
        failures: 0,
    };
    let contacts = connections::read_pages(data);
    assert!(contacts.len() <= data.len(), "the contacts come from the page");
    let _ = import.check(ProviderPage { contacts, next: None, expected: None });
}

/// Fuzzes the parsers of other responses from platforms and stores: consent to receive emails, errors, lines of exports, and the query with
/// which Shopify redirects a user back. A description of an error must fit in a log line.
fn platform_responses(data: &[u8]) {
    for said in [connections::read_response(data), storefront::read_response(data)] {
        assert!(said.chars().count() <= 300 && !said.chars().any(char::is_control), "{said:?}");
    }
    for product in storefront::read_export(data) {
        assert!(product.product.url.is_some() && !product.external_id.contains('/'), "{product:?}");
    }
    if let Ok(query) = std::str::from_utf8(data) {
        let _ = storefront::install::read_query(query);
    }
}

/// Fuzzes the parsers of stores' webhooks. Each resulting event must be a JSON object; the API's checks may reject its values, but must not
/// panic.
fn store_webhook(data: &[u8]) {
    for event in storefront::read_bodies(data, Timestamp(1_767_225_600_000)) {
        assert!(serde_json::from_str::<Value>(&event).is_ok_and(|event| event.is_object()), "{event}");
        let _ = events::check_json(&event);
    }
}

fn incoming_webhook(data: &[u8]) {
    let [contacts, customer_events] = hooks::read_bodies(data);
    contacts.iter().for_each(|input| drop(contacts::check_json(&input.to_string())));
    customer_events.iter().for_each(|input| drop(events::check_json(&input.to_string())));
}

/// Fuzzes the parsers of mail services' events. The input is inserted into requests with valid signatures, so that mutations reach the
/// parsers.
fn mail_feedback(data: &[u8]) {
    const NOW: i64 = 1_767_225_600;
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
    let read = |service: MailService, body: &[u8], secret: Option<&str>| {
        feedback::read(service, &Request { headers: &headers, body, now: Timestamp(NOW * 1_000) }, secret)
    };
    let _ = (read(MailService::Postmark, data, None), read(MailService::Brevo, data, Some("secret")));
    let _ = feedback::sendgrid_events(data);
    let _ = Message::parse(data).map(|message| (message.certificate_url().is_ok(), message.report().is_ok()));
    let mut sum = Hmac::<Sha256>::new_from_slice(b"secret").expect("HMAC accepts keys of any length");
    sum.update(format!("{NOW}once").as_bytes());
    let signature = HEXLOWER.encode(&sum.finalize().into_bytes());
    let signed = format!(r#"{{"signature":{{"timestamp":"{NOW}","token":"once","signature":"{signature}"}},"event-data":"#);
    let body = [signed.as_bytes(), data, b"}"].concat();
    let _ = read(MailService::Mailgun, &body, Some("secret"));
}
