//! WooCommerce: the paged REST API v3, and webhooks, whose bodies have the same format as the API's responses.
//!
//! WooCommerce records no consent and reports no checkouts, so Mailmill imports neither.

use http::{HeaderMap, Method};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Value, json};
use url::Url;

use super::{
    Change, Delivery, Hooks, Paged, ReadCustomer, Shop, Site, StoreCustomer, StoreEvent, StorePort, Unreadable, given, header,
    is_signed, parse, prices, short, text_of, time,
};
use crate::engine::api::response::WireTime;
use crate::features::connections::{LimitedList, PlatformError};
use crate::features::contacts::jobs::provider::ExternalContact;
use crate::features::projects::brand::BrandProduct;
use crate::features::projects::shop_products::StoreProduct;
use crate::features::storefront::client::Client;
use crate::vocab::limits;
use crate::vocab::storefronts::StoreTool;

pub const SCOPES: &[(&str, &str)] =
    &[("Read/Write", "Import products and customers, and create the webhooks that keep them up to date and report orders.")];

/// The number of items per page, which is the maximum that WooCommerce allows.
const PAGE: &str = "100";
const PAGE_ITEMS: usize = 100;
/// The fields that are requested for each item. Plug-ins add hundreds of other fields.
const WEBHOOK_FIELDS: &str = "id,topic,delivery_url,status";
const PRODUCT_FIELDS: &str = "id,name,permalink,status,catalog_visibility,date_modified_gmt,short_description,description,price,\
                              regular_price,manage_stock,stock_quantity,stock_status,images,categories";
const CUSTOMER_FIELDS: &str = "id,email,first_name,last_name,date_created_gmt,date_modified_gmt,billing";
/// The maximum number of pages of webhooks to read. Stores usually have far fewer webhooks.
const WEBHOOK_PAGES_MAX: u32 = 20;
/// The maximum number of order lines that an order's event contains.
const LINES_MAX: usize = 20;

const TOOLS: [StoreTool; 5] =
    [StoreTool::Products, StoreTool::Collections, StoreTool::Customers, StoreTool::Orders, StoreTool::Refunds];
const TOPICS: [&str; 8] = [
    "product.created",
    "product.updated",
    "product.deleted",
    "product.restored",
    "order.created",
    "order.updated",
    "customer.created",
    "customer.updated",
];

pub struct WooCommerce;

#[derive(Deserialize)]
struct CurrentCurrency {
    code: String,
}

#[derive(Deserialize)]
struct Webhook {
    id: u64,
    topic: String,
    delivery_url: String,
    /// The webhook's status: `active`, `paused` by a user, or `disabled` by WooCommerce after five failed deliveries in a row.
    #[serde(default)]
    status: String,
}

/// Returns the store's webhooks that are sent to this URL.
async fn webhooks(client: &Client<'_>, url: &str) -> Result<Vec<Webhook>, PlatformError> {
    let mut found = Vec::new();
    for page in 1..=WEBHOOK_PAGES_MAX {
        let number = page.to_string();
        let query = [("per_page", PAGE), ("page", number.as_str()), ("_fields", WEBHOOK_FIELDS)];
        let listed = client.rest::<LimitedList<Webhook, PAGE_ITEMS>>(Method::GET, "/webhooks", &query, None).await?;
        found.extend(listed.items.0.into_iter().filter(|webhook| webhook.delivery_url == url));
        if page >= listed.pages {
            break;
        }
    }
    Ok(found)
}

/// Reads a page of a list. The cursor consists of the page number and the total number of items. If the total has decreased since the
/// previous page, deletions have moved other items to earlier pages, so the list is read again from the start.
async fn page<T: DeserializeOwned>(
    client: &Client<'_>,
    (path, query): (&str, &[(&str, &str)]),
    cursor: Option<&str>,
) -> Result<(Vec<T>, Option<String>), PlatformError> {
    let position = cursor.and_then(|cursor| cursor.split_once(' '));
    let (number, before): (u32, u64) =
        position.and_then(|(number, total)| Some((number.parse().ok()?, total.parse().ok()?))).unwrap_or((1, 0));
    let text = number.to_string();
    let query = [&[("per_page", PAGE), ("page", &text), ("orderby", "id"), ("order", "asc")], query].concat();
    let listed = client.rest::<LimitedList<T, PAGE_ITEMS>>(Method::GET, path, &query, None).await?;
    if listed.total < before {
        return Ok((Vec::new(), Some(format!("1 {}", listed.total))));
    }
    Ok((listed.items.0, (number < listed.pages).then(|| format!("{} {}", number + 1, listed.total))))
}

impl StorePort for WooCommerce {
    async fn shop(client: &Client<'_>) -> Result<Shop, PlatformError> {
        let currency: CurrentCurrency = client.rest(Method::GET, "/data/currencies/current", &[], None).await?.items;
        let address = client.address().to_owned();
        let name = Url::parse(&address).ok().and_then(|url| url.host_str().map(str::to_owned));
        Ok(Shop {
            name: name.unwrap_or_else(|| address.clone()),
            site: address.clone(),
            address,
            currency: Some(currency.code),
            tools: TOOLS.to_vec(),
        })
    }

    async fn subscribe(client: &Client<'_>, hooks: &Hooks<'_>) -> Result<(), PlatformError> {
        let known = webhooks(client, hooks.url).await?;
        for topic in TOPICS {
            if let Some(webhook) = known.iter().find(|webhook| webhook.topic == topic) {
                if webhook.status == "disabled" {
                    let body = json!({ "status": "active" });
                    client.rest::<Value>(Method::PUT, &format!("/webhooks/{}", webhook.id), &[], Some(&body)).await?;
                }
                continue;
            }
            let body = json!({
                "name": format!("Mailmill {topic}"), "topic": topic, "delivery_url": hooks.url, "secret": hooks.secret, "status": "active",
            });
            client.rest::<IgnoredAny>(Method::POST, "/webhooks", &[], Some(&body)).await?;
        }
        Ok(())
    }

    async fn unsubscribe(client: &Client<'_>, url: &str) -> Result<(), PlatformError> {
        for webhook in webhooks(client, url).await? {
            client.rest::<IgnoredAny>(Method::DELETE, &format!("/webhooks/{}", webhook.id), &[("force", "true")], None).await?;
        }
        Ok(())
    }

    async fn products(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<StoreProduct>, PlatformError> {
        let shop = client.rest::<CurrentCurrency>(Method::GET, "/data/currencies/current", &[], None).await?.items;
        let (products, next) =
            page::<Product>(client, ("/products", &[("status", "publish"), ("_fields", PRODUCT_FIELDS)]), cursor).await?;
        let items = products.into_iter().filter(Product::is_visible).map(|product| product.reported(Some(&shop.code))).collect();
        Ok(Paged::Items { items, next })
    }

    async fn customers(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<ReadCustomer>, PlatformError> {
        let (customers, next) = page::<Customer>(client, ("/customers", &[("_fields", CUSTOMER_FIELDS)]), cursor).await?;
        let items = customers.into_iter().filter_map(|customer| customer.reported().map(Ok)).collect();
        Ok(Paged::Items { items, next })
    }

    fn verify(headers: &HeaderMap, body: &[u8], secret: &str) -> Option<Delivery> {
        let Some(signature) = header(headers, "x-wc-webhook-signature").filter(|signature| !signature.is_empty()) else {
            // WooCommerce tests the URL of a new webhook with an unsigned request, which has no effect.
            let id = body.strip_prefix(b"webhook_id=").filter(|id| !id.is_empty() && id.iter().all(u8::is_ascii_digit))?;
            let id = format!("ping {}", String::from_utf8_lossy(id));
            return Some(Delivery { id, topic: "ping".to_owned(), shop: None, triggered_at: None });
        };
        if !is_signed(body, secret, signature) {
            return None;
        }
        let (id, topic) = (header(headers, "x-wc-webhook-delivery-id")?, header(headers, "x-wc-webhook-topic")?);
        Some(Delivery { id: id.to_owned(), topic: topic.to_owned(), shop: None, triggered_at: None })
    }

    fn read(topic: &str, body: &[u8], site: &Site<'_>) -> Result<Change, Unreadable> {
        match topic {
            "product.created" | "product.updated" | "product.restored" => {
                let product: Product = parse(body)?;
                match product.is_visible() {
                    true => Ok(Change::Product(Box::new(product.reported(site.currency)))),
                    false => Ok(Change::ProductGone(product.id.to_string())),
                }
            }
            "product.deleted" => Ok(Change::ProductGone(parse::<Deleted>(body)?.id.to_string())),
            "order.created" | "order.updated" => Ok(Change::Events(parse::<Order>(body)?.events(site.url))),
            "customer.created" | "customer.updated" => {
                let customer = parse::<Customer>(body)?.reported();
                Ok(customer.map_or(Change::Nothing, |customer| Change::Customer(Box::new(customer))))
            }
            _ => Ok(Change::Nothing),
        }
    }
}

#[derive(Deserialize)]
struct Deleted {
    id: u64,
}

#[derive(Deserialize)]
struct Product {
    id: u64,
    name: String,
    permalink: Option<String>,
    status: Option<String>,
    catalog_visibility: Option<String>,
    date_modified_gmt: Option<WireTime>,
    short_description: Option<String>,
    description: Option<String>,
    #[serde(default)]
    price: String,
    regular_price: Option<String>,
    #[serde(default)]
    manage_stock: Value,
    stock_quantity: Option<f64>,
    stock_status: Option<String>,
    #[serde(default)]
    images: Vec<Image>,
    #[serde(default)]
    categories: Vec<Named>,
}

#[derive(Deserialize)]
struct Image {
    src: String,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Product {
    /// Returns whether customers can find the product in the store.
    fn is_visible(&self) -> bool {
        self.status.as_deref() == Some("publish") && self.catalog_visibility.as_deref() != Some("hidden")
    }

    fn reported(self, currency: Option<&str>) -> StoreProduct {
        let (price, price_before) = prices(&self.price, self.regular_price.as_deref());
        let text = self.short_description.as_deref().and_then(text_of).or_else(|| self.description.as_deref().and_then(text_of));
        StoreProduct {
            external_id: self.id.to_string(),
            product: BrandProduct {
                name: self.name.chars().take(limits::PRODUCT_NAME_CHARACTERS_MAX).collect(),
                url: given(self.permalink),
                image: self.images.into_iter().next().map(|image| image.src),
                description: text,
                price,
                price_before,
                currency: currency.map(str::to_owned),
            },
            changed_at: self.date_modified_gmt.map(|at| at.0),
            stock: self.stock_quantity.filter(|_| self.manage_stock == true).map(|quantity| quantity as i64),
            sold_out: self.stock_status.as_deref() == Some("outofstock"),
            stock_if_counted: false,
            collections: Some(self.categories.into_iter().map(|category| category.name).collect()),
        }
    }
}

#[derive(Deserialize)]
struct Order {
    id: u64,
    number: Option<String>,
    status: Option<String>,
    currency: Option<String>,
    total: Option<String>,
    date_created_gmt: Option<String>,
    date_paid_gmt: Option<String>,
    date_modified_gmt: Option<String>,
    customer_id: Option<u64>,
    billing: Option<Billing>,
    #[serde(default)]
    line_items: Vec<LineItem>,
    #[serde(default)]
    refunds: Vec<Refund>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Billing {
    first_name: Option<String>,
    last_name: Option<String>,
    email: Option<String>,
    phone: Option<String>,
    city: Option<String>,
    country: Option<String>,
}

#[derive(Deserialize)]
struct LineItem {
    name: Option<String>,
    quantity: Option<i64>,
    total: Option<String>,
}

#[derive(Deserialize)]
struct Refund {
    id: u64,
    total: Option<String>,
}

/// Converts a decimal number in a string into a JSON number without its sign.
fn number(text: Option<&str>) -> Option<Value> {
    let number: serde_json::Number = serde_json::from_str(text?.trim().trim_start_matches('-')).ok()?;
    Some(Value::Number(number))
}

impl Order {
    /// Returns one event for each change to the order so far. Events that have already been recorded are recognized by their keys. The keys
    /// contain the site, because two stores can have orders with the same number.
    fn events(self, site: &str) -> Vec<StoreEvent> {
        let place = site.split_once("://").map_or(site, |(_, place)| place);
        let order = format!("{place}#{}", self.id);
        let billing = self.billing.unwrap_or_default();
        let item = |line: &LineItem| {
            let total = number(line.total.as_deref());
            json!({ "title": line.name.as_deref().and_then(short), "quantity": line.quantity, "total": total })
        };
        let items: Vec<Value> = self.line_items.iter().take(LINES_MAX).map(item).collect();
        let customer = self.customer_id.filter(|id| *id > 0).map(|id| format!("{place}#{id}"));
        let event = |name: &'static str, key: String, at: &Option<String>, properties: Value| StoreEvent {
            name,
            key,
            email: given(billing.email.clone()),
            customer: customer.clone(),
            checkout: None,
            order: Some(order.clone()),
            first_name: given(billing.first_name.clone()),
            last_name: given(billing.last_name.clone()),
            occurred_at: given(at.clone()),
            properties,
        };
        let (total, currency) = (number(self.total.as_deref()), &self.currency);
        let key = |what: &str| format!("woocommerce:{what}:{order}");
        let about = json!({ "total": total, "currency": currency, "orderName": self.number, "items": items });
        let mut events = vec![event("order.created", key("order.created"), &self.date_created_gmt, about)];
        if self.date_paid_gmt.as_deref().is_some_and(|at| !at.is_empty()) {
            let about = json!({ "value": total, "currency": currency, "orderName": self.number, "items": items });
            events.push(event("order.paid", key("order.paid"), &self.date_paid_gmt, about));
        }
        if self.status.as_deref() == Some("cancelled") {
            let about = json!({ "total": total, "currency": currency, "orderName": self.number });
            events.push(event("order.cancelled", key("order.cancelled"), &self.date_modified_gmt, about));
        }
        for refund in &self.refunds {
            let Some(value) = number(refund.total.as_deref()) else { continue };
            let refund_key = format!("{}:{}", key("refund"), refund.id);
            let about = json!({ "value": value, "currency": currency });
            events.push(event("order.refunded", refund_key, &self.date_modified_gmt, about));
        }
        events
    }
}

#[derive(Deserialize)]
struct Customer {
    id: u64,
    email: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    date_created_gmt: Option<String>,
    date_modified_gmt: Option<String>,
    billing: Option<Billing>,
}

impl Customer {
    /// Returns the customer; returns `None` if the customer has no address.
    fn reported(self) -> Option<StoreCustomer> {
        let (id, changed_at) = (self.id.to_string(), time(self.date_modified_gmt.as_deref()));
        let mut external = ExternalContact { email: given(self.email)?, ..ExternalContact::default() };
        let billing = self.billing.unwrap_or_default();
        external.profile.first_name = given(self.first_name);
        external.profile.last_name = given(self.last_name);
        external.profile.phone = given(billing.phone);
        external.profile.city = given(billing.city);
        external.profile.country = given(billing.country);
        let fields =
            [("woocommerceCustomerId", Some(Value::from(id.clone()))), ("customerSince", self.date_created_gmt.map(Value::from))];
        for (name, value) in fields {
            if let Some(value) = value.and_then(|value| serde_json::from_value(value).ok()) {
                external.custom_fields.insert(name.to_owned(), value);
            }
        }
        Some(StoreCustomer { id, changed_at, consent_at: None, contact: external })
    }
}
