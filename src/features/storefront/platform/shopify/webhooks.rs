//! Shopify's webhooks, whose bodies are in the format of the REST resources.

use serde::Deserialize;
use serde_json::{Value, json};

use super::bulk::status;
use crate::engine::api::response::WireTime;
use crate::features::contacts::jobs::provider::ExternalContact;
use crate::features::projects::brand::BrandProduct;
use crate::features::projects::shop_products::StoreProduct;
use crate::features::storefront::platform::{
    Change, CustomerRef, Site, StoreCustomer, StoreEvent, Unreadable, given, parse, prices, short, text_of, time,
};
use crate::vocab::limits;

/// The maximum number of order lines that an order's event contains.
const LINES_MAX: usize = 20;

/// Parses a webhook with this topic.
pub fn read(topic: &str, body: &[u8], site: &Site<'_>) -> Result<Change, Unreadable> {
    match topic {
        "products/create" | "products/update" => product(parse(body)?, site),
        "products/delete" => Ok(Change::ProductGone(parse::<Deleted>(body)?.id.to_string())),
        "collections/create" | "collections/update" | "collections/delete" => Ok(Change::Collections),
        "orders/create" => Ok(order(parse(body)?, "order.created")),
        "orders/paid" => Ok(order(parse(body)?, "order.paid")),
        "orders/cancelled" => Ok(order(parse(body)?, "order.cancelled")),
        "refunds/create" => Ok(refund(&parse(body)?)),
        "checkouts/create" | "checkouts/update" => Ok(checkout(parse(body)?)),
        "customers/create" | "customers/update" => Ok(customer(parse(body)?)),
        "customers_email_marketing_consent/update" => Ok(consent(parse(body)?)),
        "customers/data_request" => {
            let asked: DataRequest = parse(body)?;
            Ok(Change::DataRequest { id: asked.data_request.id.to_string(), customer: asked.customer.into() })
        }
        "customers/redact" => Ok(Change::RedactCustomer(parse::<Redaction>(body)?.customer.into())),
        "shop/redact" => Ok(Change::RedactShop),
        "app/uninstalled" => Ok(Change::Uninstalled),
        _ => Ok(Change::Nothing),
    }
}

#[derive(Deserialize)]
struct Deleted {
    id: u64,
}

#[derive(Deserialize)]
struct Product {
    id: u64,
    title: String,
    body_html: Option<String>,
    handle: String,
    status: Option<String>,
    published_at: Option<String>,
    updated_at: Option<WireTime>,
    image: Option<Image>,
    #[serde(default)]
    variants: Vec<Variant>,
}

#[derive(Deserialize)]
struct Image {
    src: String,
}

#[derive(Deserialize)]
struct Variant {
    price: String,
    compare_at_price: Option<String>,
    inventory_policy: Option<String>,
    /// The number of units in stock; 0 if the units are not counted. Since version 2024-07, webhooks do not state whether units are
    /// counted.
    inventory_quantity: Option<i64>,
}

impl Variant {
    /// Returns whether customers can buy the variant, assuming that its units are counted.
    fn is_for_sale(&self) -> bool {
        self.inventory_policy.as_deref() == Some("continue") || self.inventory_quantity > Some(0)
    }
}

fn product(product: Product, site: &Site<'_>) -> Result<Change, Unreadable> {
    if product.status.as_deref().is_some_and(|status| status != "active") || product.published_at.is_none() {
        return Ok(Change::ProductGone(product.id.to_string()));
    }
    let amount = |variant: &Variant| variant.price.parse::<f64>().unwrap_or(f64::MAX);
    let rank = |variant: &&Variant| (!variant.is_for_sale(), amount(variant));
    let lowest =
        product.variants.iter().min_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal));
    let (price, price_before) =
        lowest.map(|variant| prices(&variant.price, variant.compare_at_price.as_deref())).unwrap_or_default();
    let counted: Vec<i64> = product.variants.iter().filter_map(|variant| variant.inventory_quantity).collect();
    Ok(Change::Product(Box::new(StoreProduct {
        external_id: product.id.to_string(),
        product: BrandProduct {
            name: product.title.chars().take(limits::PRODUCT_NAME_CHARACTERS_MAX).collect(),
            url: Some(format!("{}/products/{}", site.url, product.handle)),
            image: product.image.map(|image| image.src),
            description: product.body_html.as_deref().and_then(text_of),
            price,
            price_before,
            currency: site.currency.map(str::to_owned),
        },
        changed_at: product.updated_at.map(|at| at.0),
        stock: (!counted.is_empty()).then(|| counted.iter().sum()),
        sold_out: !product.variants.iter().any(Variant::is_for_sale),
        stock_if_counted: true,
        collections: None,
    })))
}

#[derive(Deserialize)]
struct Order {
    id: u64,
    name: Option<String>,
    email: Option<String>,
    contact_email: Option<String>,
    customer: Option<Customer>,
    currency: Option<String>,
    total_price: Option<String>,
    created_at: Option<String>,
    processed_at: Option<String>,
    cancelled_at: Option<String>,
    checkout_token: Option<String>,
    #[serde(default)]
    test: bool,
    #[serde(default)]
    line_items: Vec<LineItem>,
}

#[derive(Deserialize)]
struct LineItem {
    title: Option<String>,
    quantity: Option<i64>,
    price: Option<String>,
}

#[derive(Deserialize)]
struct Customer {
    id: Option<u64>,
    email: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    phone: Option<String>,
    tags: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    email_marketing_consent: Option<Consent>,
    default_address: Option<Address>,
}

#[derive(Deserialize)]
struct Consent {
    state: Option<String>,
    consent_updated_at: Option<String>,
}

#[derive(Deserialize)]
struct Address {
    city: Option<String>,
    country_code: Option<String>,
}

fn items(lines: &[LineItem]) -> Vec<Value> {
    let item = |line: &LineItem| {
        let price = line.price.as_deref().and_then(|price| price.parse::<f64>().ok());
        json!({ "title": line.title.as_deref().and_then(short), "quantity": line.quantity, "price": price })
    };
    lines.iter().take(LINES_MAX).map(item).collect()
}

/// Converts a decimal number in a string into a JSON number.
fn number(text: Option<&str>) -> Option<Value> {
    let value: serde_json::Number = serde_json::from_str(text?.trim()).ok()?;
    Some(Value::Number(value))
}

/// Returns an order's event. The property `value` makes an event a conversion. Only the event for the payment of an order that is not a
/// test has this property.
fn order(order: Order, name: &'static str) -> Change {
    let customer = order.customer.as_ref();
    let email =
        [order.email, order.contact_email, customer.and_then(|customer| customer.email.clone())].into_iter().find_map(given);
    let total = number(order.total_price.as_deref());
    let amount = if name == "order.paid" && !order.test { "value" } else { "total" };
    let properties = json!({
        amount: total, "currency": order.currency, "orderName": order.name, "test": order.test, "items": items(&order.line_items),
    });
    let occurred_at = match name {
        "order.cancelled" => order.cancelled_at,
        _ => order.processed_at.or(order.created_at),
    };
    Change::Events(vec![StoreEvent {
        name,
        key: format!("shopify:{name}:{}", order.id),
        email,
        customer: customer.and_then(|customer| customer.id).map(|id| id.to_string()),
        checkout: given(order.checkout_token),
        order: Some(order.id.to_string()),
        first_name: customer.and_then(|customer| customer.first_name.clone()),
        last_name: customer.and_then(|customer| customer.last_name.clone()),
        occurred_at,
        properties,
    }])
}

#[derive(Deserialize)]
struct Refund {
    id: u64,
    order_id: u64,
    created_at: Option<String>,
    #[serde(default)]
    transactions: Vec<Transaction>,
}

#[derive(Deserialize)]
struct Transaction {
    kind: Option<String>,
    status: Option<String>,
    amount: Option<String>,
    currency: Option<String>,
}

fn refund(refund: &Refund) -> Change {
    let is_paid_back = |transaction: &&Transaction| {
        transaction.kind.as_deref() == Some("refund") && transaction.status.as_deref() == Some("success")
    };
    let paid_back: Vec<&Transaction> = refund.transactions.iter().filter(is_paid_back).collect();
    // Each transaction becomes a separate event, because adding up floating-point amounts would cause rounding errors.
    let event = |(index, transaction): (usize, &&Transaction)| {
        Some(StoreEvent {
            name: "order.refunded",
            key: format!("shopify:refund:{}:{index}", refund.id),
            email: None,
            customer: None,
            checkout: None,
            order: Some(refund.order_id.to_string()),
            first_name: None,
            last_name: None,
            occurred_at: refund.created_at.clone(),
            properties: json!({ "value": number(transaction.amount.as_deref())?, "currency": transaction.currency }),
        })
    };
    Change::Events(paid_back.iter().enumerate().filter_map(event).collect())
}

#[derive(Deserialize)]
struct Checkout {
    token: Option<String>,
    email: Option<String>,
    customer: Option<Customer>,
    currency: Option<String>,
    total_price: Option<String>,
    created_at: Option<String>,
    abandoned_checkout_url: Option<String>,
    #[serde(default)]
    line_items: Vec<LineItem>,
}

/// Returns a checkout's event, or no change while the customer's email address is unknown. All webhooks about a checkout have the same key,
/// so the checkout is recorded only once.
fn checkout(checkout: Checkout) -> Change {
    let customer = checkout.customer.as_ref();
    let email = given(checkout.email).or_else(|| given(customer?.email.clone()));
    let (Some(token), Some(email)) = (given(checkout.token), email) else { return Change::Nothing };
    Change::Events(vec![StoreEvent {
        name: "checkout.started",
        key: format!("shopify:checkout:{token}"),
        email: Some(email),
        customer: customer.and_then(|customer| customer.id).map(|id| id.to_string()),
        checkout: Some(token),
        order: None,
        first_name: customer.and_then(|customer| customer.first_name.clone()),
        last_name: customer.and_then(|customer| customer.last_name.clone()),
        occurred_at: checkout.created_at,
        properties: json!({
            "total": number(checkout.total_price.as_deref()), "currency": checkout.currency,
            "url": checkout.abandoned_checkout_url, "items": items(&checkout.line_items),
        }),
    }])
}

fn customer(customer: Customer) -> Change {
    let Some(email) = given(customer.email) else { return Change::Nothing };
    let consent = customer.email_marketing_consent;
    let state = consent.as_ref().and_then(|consent| consent.state.as_deref()).unwrap_or_default();
    if state == "redacted" {
        return Change::Nothing;
    }
    let id = customer.id.map(|id| id.to_string()).unwrap_or_default();
    let consent_at = time(consent.as_ref().and_then(|consent| consent.consent_updated_at.as_deref()));
    let changed_at = time(customer.updated_at.as_deref());
    let mut external = ExternalContact { email, status: status(state), ..ExternalContact::default() };
    external.tags = customer.tags.iter().flat_map(|tags| tags.split(',')).filter_map(short).collect();
    external.profile.first_name = given(customer.first_name);
    external.profile.last_name = given(customer.last_name);
    external.profile.phone = given(customer.phone);
    external.profile.city = customer.default_address.as_ref().and_then(|address| given(address.city.clone()));
    external.profile.country = customer.default_address.and_then(|address| given(address.country_code));
    let fields = [
        ("shopifyCustomerId", Some(id.clone()).filter(|id| !id.is_empty()).map(Value::from)),
        ("customerSince", customer.created_at.map(Value::from)),
        ("consentAt", consent.and_then(|consent| consent.consent_updated_at).map(Value::from)),
    ];
    for (name, value) in fields {
        if let Some(value) = value.and_then(|value| serde_json::from_value(value).ok()) {
            external.custom_fields.insert(name.to_owned(), value);
        }
    }
    Change::Customer(Box::new(StoreCustomer { id, changed_at, consent_at, contact: external }))
}

#[derive(Deserialize)]
struct ConsentChange {
    customer_id: Option<u64>,
    email_address: Option<String>,
    email_marketing_consent: Option<Consent>,
}

fn consent(change: ConsentChange) -> Change {
    let Some(email) = given(change.email_address) else { return Change::Nothing };
    let (state, at) =
        change.email_marketing_consent.map(|consent| (consent.state, consent.consent_updated_at)).unwrap_or_default();
    Change::Customer(Box::new(StoreCustomer {
        id: change.customer_id.map(|id| id.to_string()).unwrap_or_default(),
        changed_at: None,
        consent_at: time(at.as_deref()),
        contact: ExternalContact { email, status: status(&state.unwrap_or_default()), ..ExternalContact::default() },
    }))
}

#[derive(Deserialize)]
struct PrivacyRequest {
    shop_domain: String,
}

/// Returns the domain of the shop to which a privacy webhook relates.
pub fn privacy_shop(topic: &str, body: &[u8]) -> Option<String> {
    let is_privacy = matches!(topic, "customers/data_request" | "customers/redact" | "shop/redact");
    let request = is_privacy.then(|| parse::<PrivacyRequest>(body).ok()).flatten()?;
    Some(request.shop_domain.to_ascii_lowercase())
}

#[derive(Deserialize)]
struct DataRequest {
    customer: PrivacyCustomer,
    data_request: RequestId,
}

#[derive(Deserialize)]
struct RequestId {
    id: u64,
}

#[derive(Deserialize)]
struct Redaction {
    customer: PrivacyCustomer,
}

#[derive(Deserialize)]
struct PrivacyCustomer {
    id: Option<u64>,
    email: Option<String>,
}

impl From<PrivacyCustomer> for CustomerRef {
    fn from(customer: PrivacyCustomer) -> Self {
        Self { id: customer.id.map(|id| id.to_string()), email: given(customer.email) }
    }
}
