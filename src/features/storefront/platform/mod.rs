//! The platforms: a trait, and an adapter per platform that implements it. This module chooses the adapter.

mod lines;
mod shopify;
mod woocommerce;

use std::future::Future;

use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::client::Client;
use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::features::connections::PlatformError;
use crate::features::contacts::jobs::provider::{ExternalContact, UnreadableContact};
use crate::features::projects::shop_products::StoreProduct;
use crate::features::projects::shortened;
use crate::vocab::limits;
use crate::vocab::storefronts::{StoreTool, Storefront};

/// The functions that the adapter of each platform implements.
trait StorePort {
    /// Describes the store to which the keys belong. This also tests the keys.
    fn shop(client: &Client<'_>) -> impl Future<Output = Result<Shop, PlatformError>> + Send;

    /// Subscribes the URL in `hooks` to the store's webhooks, except those that the store already sends there. Reactivates webhooks that
    /// the platform disabled after failed deliveries.
    fn subscribe(client: &Client<'_>, hooks: &Hooks<'_>) -> impl Future<Output = Result<(), PlatformError>> + Send;

    /// Removes the webhooks that are sent to this URL.
    fn unsubscribe(client: &Client<'_>, url: &str) -> impl Future<Output = Result<(), PlatformError>> + Send;

    /// Reads a page of products, starting at `cursor`, or at the first product if there is no cursor.
    fn products(
        client: &Client<'_>,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<Paged<StoreProduct>, PlatformError>> + Send;

    /// Reads a page of customers, starting at `cursor`, or at the first customer if there is no cursor.
    fn customers(
        client: &Client<'_>,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<Paged<ReadCustomer>, PlatformError>> + Send;

    /// Verifies the signature. Returns the webhook's topic and the ID that identifies repeated webhooks, or `None` if the signature is
    /// invalid.
    fn verify(headers: &HeaderMap, body: &[u8], secret: &str) -> Option<Delivery>;

    /// Parses a webhook whose signature is valid.
    fn read(topic: &str, body: &[u8], site: &Site<'_>) -> Result<Change, Unreadable>;
}

/// A store's information about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shop {
    /// The address that identifies the store on the platform.
    pub address: String,
    /// The URL of the site that customers visit.
    pub site: String,
    pub name: String,
    pub currency: Option<String>,
    /// The kinds of data that the keys can access.
    pub tools: Vec<StoreTool>,
}

/// The webhook URL, the signing secret, and the kinds of data whose webhooks Mailmill subscribes to.
pub struct Hooks<'a> {
    pub url: &'a str,
    pub secret: &'a str,
    pub tools: &'a [StoreTool],
}

/// Information about a store that an adapter needs to parse the store's webhooks.
pub struct Site<'a> {
    pub url: &'a str,
    pub currency: Option<&'a str>,
}

/// A page of a list.
#[derive(Debug)]
pub enum Paged<T> {
    /// The platform is still preparing the list. Request it again with this cursor after a pause.
    Wait(String),
    Items {
        items: Vec<T>,
        /// The cursor of the next page; `None` if this is the last page.
        next: Option<String>,
    },
}

/// A webhook with a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The platform's ID for the webhook, which stays the same if the platform sends the webhook again.
    pub id: String,
    pub topic: String,
    /// The shop to which a privacy webhook from Shopify relates; `None` for all other webhooks.
    pub shop: Option<String>,
    /// When the reported change happened, if the platform states the time.
    pub triggered_at: Option<Timestamp>,
}

/// A store's customer. Webhooks can arrive in any order, so the times determine whether the data is newer than the stored data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreCustomer {
    /// The ID of the customer in the store; empty if it is unknown.
    pub id: String,
    /// When the customer's data last changed.
    pub changed_at: Option<Timestamp>,
    /// When the customer's consent last changed.
    pub consent_at: Option<Timestamp>,
    pub contact: ExternalContact,
}

/// A customer, or an error for a customer who could not be read.
pub type ReadCustomer = Result<StoreCustomer, UnreadableContact>;

/// The error for a webhook whose body has an undocumented format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Unreadable> {
    serde_json::from_slice(body).map_err(|_| Unreadable)
}

#[derive(Debug)]
pub enum Change {
    Product(Box<StoreProduct>),
    /// The product with this ID no longer exists, or customers can no longer see it.
    ProductGone(String),
    /// A change to collections. The webhook does not describe the effect on products.
    Collections,
    Events(Vec<StoreEvent>),
    Customer(Box<StoreCustomer>),
    /// A customer has requested their personal data.
    DataRequest {
        id: String,
        customer: CustomerRef,
    },
    /// A customer's personal data must be erased.
    RedactCustomer(CustomerRef),
    /// All data of the store must be erased.
    RedactShop,
    /// The app was removed from the store, so its keys no longer work.
    Uninstalled,
    Nothing,
}

impl Change {
    /// Returns whether the platform requests the export or erasure of data. The platform can also send such requests after the store is
    /// disconnected.
    pub fn is_privacy_request(&self) -> bool {
        matches!(self, Self::DataRequest { .. } | Self::RedactCustomer(_) | Self::RedactShop)
    }
}

/// The identifiers that are used to find a customer's contacts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomerRef {
    pub id: Option<String>,
    pub email: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoreEvent {
    pub name: &'static str,
    /// The idempotency key: the same event always has the same key.
    pub key: String,
    pub email: Option<String>,
    pub customer: Option<String>,
    pub checkout: Option<String>,
    pub order: Option<String>,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub occurred_at: Option<String>,
    pub properties: Value,
}

impl StoreEvent {
    /// Returns the event in the format of `POST /v1/events`. Replaces a time in the future with the current time.
    pub fn json(&self, now: Timestamp) -> String {
        let identifiers: serde_json::Map<String, Value> = [
            ("email", &self.email),
            ("externalCustomerId", &self.customer),
            ("externalCheckoutId", &self.checkout),
            ("externalOrderId", &self.order),
        ]
        .into_iter()
        .filter_map(|(name, id)| Some((name.to_owned(), Value::from(id.clone()?))))
        .collect();
        let at = time(self.occurred_at.as_deref()).map_or(now, |at| at.min(now));
        let mut event = json!({
            "name": self.name, "identifiers": identifiers, "dedupeKey": self.key, "occurredAt": at.to_string(),
            "properties": self.properties,
        });
        let names = [("firstName", &self.first_name), ("lastName", &self.last_name)];
        let names: serde_json::Map<String, Value> =
            names.into_iter().filter_map(|(field, name)| Some((field.to_owned(), short(name.as_deref()?)?.into()))).collect();
        // Without an email address, the event can only belong to an existing contact, whose profile is already known.
        if !names.is_empty() && self.email.is_some() {
            event["profile"] = Value::Object(names);
        }
        event.to_string()
    }
}

/// Parses a time; returns `None` if the text is missing or is not a time.
fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse::<WireTime>().ok().map(|at| at.0)
}

/// Returns the text on one line, shortened for a contact field; returns `None` if it is empty.
fn short(text: &str) -> Option<String> {
    const CHARACTERS_MAX: usize = 100;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|character| !character.is_control()).take(CHARACTERS_MAX).collect();
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the trimmed text; returns `None` if it is missing or empty.
fn given(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the plain text of an HTML description, shortened for a product; returns `None` if it is empty.
fn text_of(html: &str) -> Option<String> {
    let (mut text, mut is_tag) = (String::with_capacity(html.len()), false);
    for character in html.chars() {
        match character {
            '<' => is_tag = true,
            '>' if is_tag => {
                is_tag = false;
                text.push(' ');
            }
            _ if is_tag => {}
            _ => text.push(character),
        }
    }
    for (entity, character) in [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
        text = text.replace(entity, character);
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(shortened(&text, limits::DESCRIPTION_CHARACTERS_MAX)).filter(|text| !text.is_empty())
}

/// Returns the current price, and the original price if it is higher.
fn prices(price: &str, before: Option<&str>) -> (Option<String>, Option<String>) {
    let amount = |text: &str| text.trim().parse::<f64>().ok().filter(|amount| amount.is_finite());
    let Some(now) = amount(price) else { return (None, None) };
    let before = before.filter(|before| amount(before).is_some_and(|before| before > now));
    (Some(price.trim().to_owned()), before.map(|before| before.trim().to_owned()))
}

/// Calls a function of a platform's adapter.
macro_rules! adapter {
    ($platform:expr, $function:ident($($argument:expr),*)) => {
        match $platform {
            Storefront::Shopify => shopify::Shopify::$function($($argument),*),
            Storefront::WooCommerce => woocommerce::WooCommerce::$function($($argument),*),
        }
    };
    (await $platform:expr, $function:ident($($argument:expr),*)) => {
        match $platform {
            Storefront::Shopify => shopify::Shopify::$function($($argument),*).await,
            Storefront::WooCommerce => woocommerce::WooCommerce::$function($($argument),*).await,
        }
    };
}

pub async fn shop(client: &Client<'_>) -> Result<Shop, PlatformError> {
    adapter!(await client.platform(), shop(client))
}

pub async fn subscribe(client: &Client<'_>, hooks: &Hooks<'_>) -> Result<(), PlatformError> {
    adapter!(await client.platform(), subscribe(client, hooks))
}

pub async fn unsubscribe(client: &Client<'_>, url: &str) -> Result<(), PlatformError> {
    adapter!(await client.platform(), unsubscribe(client, url))
}

pub async fn products(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<StoreProduct>, PlatformError> {
    adapter!(await client.platform(), products(client, cursor))
}

pub async fn customers(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<ReadCustomer>, PlatformError> {
    adapter!(await client.platform(), customers(client, cursor))
}

/// Verifies a webhook's signature. Returns the webhook's topic and ID, or `None` if the signature is invalid.
pub fn verify(platform: Storefront, headers: &HeaderMap, body: &[u8], secret: &str) -> Option<Delivery> {
    adapter!(platform, verify(headers, body, secret))
}

pub fn read(platform: Storefront, topic: &str, body: &[u8], site: &Site<'_>) -> Result<Change, Unreadable> {
    adapter!(platform, read(topic, body, site))
}

/// Parses a body as a webhook of each topic, for fuzzing. Returns the events in the format of `POST /v1/events`.
#[cfg(any(test, fuzzing))]
pub fn read_bodies(body: &[u8], now: Timestamp) -> Vec<String> {
    const TOPICS: [(Storefront, &[&str]); 2] = [
        (
            Storefront::Shopify,
            &[
                "products/update",
                "products/delete",
                "orders/create",
                "orders/paid",
                "orders/cancelled",
                "refunds/create",
                "checkouts/create",
                "customers/update",
                "customers_email_marketing_consent/update",
                "customers/data_request",
                "customers/redact",
            ],
        ),
        (
            Storefront::WooCommerce,
            &["product.updated", "product.deleted", "order.created", "order.updated", "customer.updated", "customer.deleted"],
        ),
    ];
    let mut events = Vec::new();
    for (platform, topics) in TOPICS {
        for topic in topics {
            if let Ok(Change::Events(all)) =
                read(platform, topic, body, &Site { url: "https://acme.example", currency: Some("EUR") })
            {
                events.extend(all.iter().map(|event| event.json(now)));
            }
        }
    }
    events
}

/// Parses a body as the lines of an export, and as the request with which WooCommerce tests a webhook's URL, for fuzzing.
#[cfg(any(test, fuzzing))]
pub fn read_export(body: &[u8]) -> Vec<StoreProduct> {
    let _ = verify(Storefront::WooCommerce, &HeaderMap::new(), body, "secret");
    shopify::read_lines(body)
}

/// Returns the scopes that keys need, each with its purpose, for the page on which users connect stores.
pub fn scopes(platform: Storefront) -> &'static [(&'static str, &'static str)] {
    match platform {
        Storefront::Shopify => shopify::SCOPES,
        Storefront::WooCommerce => woocommerce::SCOPES,
    }
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether `signature` is the HMAC-SHA256 of the body, in base64.
fn is_signed(body: &[u8], secret: &str, signature: &str) -> bool {
    use hmac::{Hmac, KeyInit, Mac};
    let Ok(signature) = data_encoding::BASE64.decode(signature.trim().as_bytes()) else { return false };
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC accepts keys of every length");
    mac.update(body);
    // Reject an empty secret, because anyone could create a signature with it.
    !secret.is_empty() && mac.verify_slice(&signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_valid_only_for_its_body_and_secret() {
        // This signature was computed with `printf '{"id":1}' | openssl dgst -sha256 -hmac hush -binary | base64`.
        let signature = "VnKUjZsLuN5iZWjn5EntcBVCF9kMN43LglzCE1/GSeY=";
        assert!(is_signed(b"{\"id\":1}", "hush", signature));
        for (body, secret, signature) in [
            (b"{\"id\":2}".as_slice(), "hush", signature),
            (b"{\"id\":1}", "hushed", signature),
            (b"{\"id\":1}", "hush", ""),
            (b"{\"id\":1}", "hush", "not base64!"),
            (b"{\"id\":1}", "", signature),
        ] {
            assert!(!is_signed(body, secret, signature), "{secret} {signature}");
        }
    }

    #[test]
    fn a_description_becomes_text() {
        assert_eq!(text_of("<p>Thrown &amp; glazed</p><ul><li>red</li></ul>").as_deref(), Some("Thrown & glazed red"));
        assert_eq!(text_of("<br>"), None);
        assert_eq!(text_of("5 > 4 and a < b").as_deref(), Some("5 > 4 and a"));
    }

    #[test]
    fn only_a_higher_price_is_an_original_price() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(prices("36.00", Some("42.00")), (text("36.00"), text("42.00")));
        assert_eq!(prices("36.00", Some("36.00")), (text("36.00"), None));
        assert_eq!(prices("9.00", Some("36.00")), (text("9.00"), text("36.00")), "prices are compared as numbers");
        assert_eq!(prices("", Some("36.00")), (None, None));
    }

    #[test]
    fn a_time_ahead_of_the_clock_becomes_the_current_time() {
        let event = StoreEvent {
            name: "order.paid",
            key: "k".into(),
            email: Some("ada@example.com".into()),
            customer: None,
            checkout: None,
            order: Some("1".into()),
            first_name: Some(" Ada\u{7} ".into()),
            last_name: None,
            occurred_at: Some("2030-01-01T00:00:00-05:00".into()),
            properties: json!({ "value": 5 }),
        };
        let now = Timestamp(1_767_225_600_000);
        let json: Value = serde_json::from_str(&event.json(now)).expect("the event is JSON");
        assert_eq!((&json["occurredAt"], &json["profile"]["firstName"]), (&json!("2026-01-01T00:00:00.000Z"), &json!("Ada")));
        let earlier = StoreEvent { occurred_at: Some("2025-12-31T18:00:00-05:00".into()), ..event };
        let json: Value = serde_json::from_str(&earlier.json(now)).expect("the event is JSON");
        assert_eq!(json["occurredAt"], "2025-12-31T23:00:00.000Z");
    }
}
