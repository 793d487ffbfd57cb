//! Shopify's exports: starts a bulk operation, queries its state until it ends, and reads its file line by line.
//!
//! The cursor is the operation's ID; for customers, it also contains the position in the file. The file is complete only if it has as many
//! lines as the operation has objects.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{UserError, accepted, number, queries};
use crate::features::connections::PlatformError;
use crate::features::contacts::jobs::provider::{ExternalContact, UnreadableContact};
use crate::features::projects::brand::BrandProduct;
use crate::features::projects::shop_products::StoreProduct;
use crate::features::storefront::client::{Client, plain};
use crate::features::storefront::platform::lines::Lines;
use crate::features::storefront::platform::{Paged, ReadCustomer, StoreCustomer, given, prices, text_of, time};
use crate::vocab::contact_status::Status;
use crate::vocab::limits;

#[derive(Deserialize)]
struct StartReply {
    #[serde(rename = "bulkOperationRunQuery")]
    started: StartedOperation,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StartedOperation {
    bulk_operation: Option<OperationId>,
    user_errors: Vec<UserError>,
}

#[derive(Deserialize)]
struct OperationId {
    id: String,
}

#[derive(Deserialize)]
struct PollReply {
    node: Option<Operation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Operation {
    status: String,
    error_code: Option<String>,
    object_count: Value,
    url: Option<String>,
}

/// The file of a completed bulk operation, and its number of lines.
struct File {
    url: String,
    lines: u64,
}

enum State {
    Running,
    /// The operation ended. If there is no file, the export is empty.
    Ended(Option<File>),
}

/// Starts an export. Returns the ID of its bulk operation.
async fn start(client: &Client<'_>, query: &str) -> Result<String, PlatformError> {
    let answer: StartReply = client.graphql(queries::EXPORT, json!({ "query": query })).await?;
    accepted(answer.started.user_errors)?;
    let operation = answer.started.bulk_operation;
    operation
        .map(|operation| operation.id)
        .ok_or_else(|| PlatformError::Malformed("the response has no bulk operation".to_owned()))
}

async fn state(client: &Client<'_>, id: &str) -> Result<State, PlatformError> {
    let answer: PollReply = client.graphql(queries::OPERATION, json!({ "id": id })).await?;
    let operation = answer.node.ok_or(PlatformError::Missing)?;
    match operation.status.as_str() {
        "CREATED" | "RUNNING" | "CANCELING" => Ok(State::Running),
        "COMPLETED" => {
            // The count is a 64-bit number, which Shopify writes as a string.
            let count = match &operation.object_count {
                Value::String(text) => text.parse().ok(),
                other => other.as_u64(),
            };
            let lines = count.ok_or_else(|| PlatformError::Malformed("objectCount is not a number".to_owned()))?;
            Ok(State::Ended(operation.url.map(|url| File { url, lines })))
        }
        "CANCELED" | "EXPIRED" | "FAILED" => {
            if operation.error_code.as_deref() == Some("ACCESS_DENIED") {
                return Err(PlatformError::Forbidden("the app has no access to the exported data".to_owned()));
            }
            Err(PlatformError::Missing)
        }
        other => Err(PlatformError::Malformed(format!("a bulk operation has the unknown status {}", plain(other)))),
    }
}

fn line<T: DeserializeOwned>(bytes: &[u8], number: u64) -> Result<T, PlatformError> {
    serde_json::from_slice(bytes).map_err(|error| {
        PlatformError::Unavailable(format!("the export contains unexpected data at line {number}, column {}", error.column()))
    })
}

fn incomplete(read: u64, expected: u64) -> PlatformError {
    PlatformError::Unavailable(format!("the export has {read} lines instead of {expected}"))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ProductLine {
    Child(Child),
    Product(Box<ProductFields>),
}

#[derive(Deserialize)]
struct Child {
    #[serde(rename = "__parentId")]
    parent: String,
    #[serde(flatten)]
    kind: ChildKind,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ChildKind {
    #[serde(rename_all = "camelCase")]
    Variant {
        price: String,
        compare_at_price: Option<String>,
        available_for_sale: bool,
    },
    Collection {
        title: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProductFields {
    id: String,
    title: String,
    description: Option<String>,
    online_store_url: Option<String>,
    updated_at: Option<crate::engine::api::response::WireTime>,
    #[serde(default)]
    tracks_inventory: bool,
    total_inventory: Option<i64>,
    featured_media: Option<Media>,
    price_range_v2: Option<PriceRange>,
}

#[derive(Deserialize)]
struct Media {
    preview: Option<Preview>,
}

#[derive(Deserialize)]
struct Preview {
    image: Option<Image>,
}

#[derive(Deserialize)]
struct Image {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PriceRange {
    min_variant_price: MinPrice,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MinPrice {
    currency_code: String,
}

/// A product, with the price and availability of the variants that have been read so far.
struct PartialProduct {
    product: StoreProduct,
    /// The lowest price of the variants that are for sale or, if no variant is for sale, of all variants. The flag is true if no variant is
    /// for sale.
    lowest: Option<(bool, f64)>,
    is_for_sale: bool,
}

impl PartialProduct {
    fn new(fields: ProductFields) -> Option<Self> {
        // A product without a URL is not published to the online store, so customers cannot open it. Leave it out.
        let url = given(fields.online_store_url)?;
        let image = fields.featured_media.and_then(|media| media.preview).and_then(|preview| preview.image);
        let product = BrandProduct {
            name: fields.title.chars().take(limits::PRODUCT_NAME_CHARACTERS_MAX).collect(),
            url: Some(url),
            image: image.map(|image| image.url),
            description: fields.description.as_deref().and_then(text_of),
            currency: fields.price_range_v2.map(|range| range.min_variant_price.currency_code),
            ..BrandProduct::default()
        };
        let product = StoreProduct {
            external_id: number(&fields.id),
            product,
            changed_at: fields.updated_at.map(|at| at.0),
            stock: fields.total_inventory.filter(|_| fields.tracks_inventory),
            sold_out: false,
            stock_if_counted: false,
            collections: Some(Vec::new()),
        };
        Some(Self { product, lowest: None, is_for_sale: false })
    }

    fn add(&mut self, child: ChildKind) {
        match child {
            ChildKind::Variant { price, compare_at_price, available_for_sale } => {
                self.is_for_sale |= available_for_sale;
                let Ok(amount) = price.parse::<f64>() else { return };
                // The price of a variant that is for sale takes precedence over a lower price of a variant that is not for sale.
                let rank = (!available_for_sale, amount);
                if self.lowest.is_none_or(|lowest| rank < lowest) {
                    self.lowest = Some(rank);
                    let product = &mut self.product.product;
                    (product.price, product.price_before) = prices(&price, compare_at_price.as_deref());
                }
            }
            ChildKind::Collection { title } => {
                let collections = self.product.collections.get_or_insert_default();
                if collections.len() < limits::STORE_COLLECTIONS_PER_PRODUCT_MAX {
                    collections.push(title);
                }
            }
        }
    }
}

/// The published products that have been read from an export so far.
#[derive(Default)]
struct Catalog {
    gathered: BTreeMap<String, PartialProduct>,
    /// The IDs of the products in the order of the export.
    order: Vec<String>,
}

impl Catalog {
    fn add(&mut self, line: ProductLine) {
        match line {
            ProductLine::Child(child) => {
                // Products that are not published are not collected, so their variants and collections are ignored.
                if let Some(parent) = self.gathered.get_mut(&child.parent) {
                    parent.add(child.kind);
                }
            }
            ProductLine::Product(fields) => {
                let gid = fields.id.clone();
                // Keep one more product than the maximum, so that the importer detects and reports that products were left out.
                if self.order.len() <= limits::PRODUCTS_MAX
                    && let Some(product) = PartialProduct::new(*fields)
                {
                    self.order.push(gid.clone());
                    self.gathered.insert(gid, product);
                }
            }
        }
    }

    fn into_products(self) -> Vec<StoreProduct> {
        let Self { mut gathered, order } = self;
        let done = |gid: String| {
            let PartialProduct { mut product, is_for_sale, .. } = gathered.remove(&gid)?;
            product.sold_out = !is_for_sale;
            Some(product)
        };
        order.into_iter().filter_map(done).collect()
    }
}

/// Parses the lines of an export. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn read_lines(body: &[u8]) -> Vec<StoreProduct> {
    let mut catalog = Catalog::default();
    for (bytes, number) in body.split(|byte| *byte == b'\n').zip(1..) {
        let _ = line::<ProductLine>(bytes, number).map(|line| catalog.add(line));
        let _ = customer(bytes, number);
    }
    catalog.into_products()
}

/// Starts, polls or reads the export of products.
pub async fn products(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<StoreProduct>, PlatformError> {
    let Some(id) = cursor else { return Ok(Paged::Wait(start(client, queries::PRODUCTS).await?)) };
    let file = match state(client, id).await? {
        State::Running => return Ok(Paged::Wait(id.to_owned())),
        State::Ended(None) => return Ok(Paged::Items { items: Vec::new(), next: None }),
        State::Ended(Some(file)) => file,
    };
    let mut lines = Lines::new(client.download(&file.url, 0).await?);
    let (mut catalog, mut count) = (Catalog::default(), 0);
    while let Some(bytes) = lines.next().await? {
        count += 1;
        catalog.add(line(&bytes, count)?);
    }
    if count != file.lines {
        return Err(incomplete(count, file.lines));
    }
    Ok(Paged::Items { items: catalog.into_products(), next: None })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CustomerFields {
    id: String,
    first_name: Option<String>,
    last_name: Option<String>,
    locale: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
    number_of_orders: Option<Value>,
    #[serde(default)]
    tags: Vec<String>,
    amount_spent: Option<Money>,
    default_email_address: Option<Email>,
    default_phone_number: Option<Phone>,
    default_address: Option<Address>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Money {
    amount: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Email {
    email_address: Option<String>,
    marketing_state: String,
    marketing_updated_at: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Phone {
    phone_number: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Address {
    city: Option<String>,
    country_code_v2: Option<String>,
}

/// Converts a marketing state, in uppercase or lowercase, into a contact status. Returns `None` for other states, for example if the
/// customer neither subscribed nor unsubscribed.
pub fn status(state: &str) -> Option<Status> {
    match state.to_ascii_uppercase().as_str() {
        "SUBSCRIBED" => Some(Status::Subscribed),
        "UNSUBSCRIBED" => Some(Status::Unsubscribed),
        "INVALID" => Some(Status::Bounced),
        _ => None,
    }
}

/// Starts, polls or reads the export of customers. The cursor is `ID` or, after part of the file has been read, `ID lines bytes` with the
/// numbers of lines and bytes that have been read.
pub async fn customers(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<ReadCustomer>, PlatformError> {
    let Some(cursor) = cursor else { return Ok(Paged::Wait(start(client, queries::CUSTOMERS).await?)) };
    let mut words = cursor.split(' ');
    let id = words.next().unwrap_or_default();
    let mut position = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    let (mut count, from) = (position(), position());
    let file = match state(client, id).await? {
        State::Running => return Ok(Paged::Wait(id.to_owned())),
        State::Ended(None) => return Ok(Paged::Items { items: Vec::new(), next: None }),
        State::Ended(Some(file)) => file,
    };
    let mut lines = Lines::new(client.download(&file.url, from).await?);
    let mut items = Vec::new();
    while items.len() < limits::STORE_CUSTOMERS_PER_STEP {
        let Some(bytes) = lines.next().await? else {
            if count != file.lines {
                return Err(incomplete(count, file.lines));
            }
            return Ok(Paged::Items { items, next: None });
        };
        count += 1;
        items.extend(customer(&bytes, count)?);
    }
    Ok(Paged::Items { items, next: Some(format!("{id} {count} {}", from + lines.read)) })
}

/// Parses a customer. Returns `None` if the customer has no address or their data was erased.
fn customer(bytes: &[u8], number: u64) -> Result<Option<ReadCustomer>, PlatformError> {
    let value: Value = line(bytes, number)?;
    let email = value.pointer("/defaultEmailAddress/emailAddress").and_then(Value::as_str).map(str::to_owned);
    if email.is_none() || value.pointer("/defaultEmailAddress/marketingState").and_then(Value::as_str) == Some("REDACTED") {
        return Ok(None);
    }
    let Ok(fields) = serde_json::from_value::<CustomerFields>(value) else { return Ok(Some(Err(UnreadableContact(email)))) };
    Ok(fields.reported().map(Ok))
}

impl CustomerFields {
    fn reported(self) -> Option<StoreCustomer> {
        let email = self.default_email_address?;
        let id = super::number(&self.id);
        let (changed_at, consent_at) = (time(self.updated_at.as_deref()), time(email.marketing_updated_at.as_deref()));
        let mut external = ExternalContact {
            email: email.email_address?,
            status: status(&email.marketing_state),
            tags: self.tags,
            ..ExternalContact::default()
        };
        external.profile.first_name = given(self.first_name);
        external.profile.last_name = given(self.last_name);
        external.profile.language = given(self.locale);
        external.profile.phone = self.default_phone_number.and_then(|phone| given(phone.phone_number));
        let address = self.default_address;
        external.profile.city = address.as_ref().and_then(|address| given(address.city.clone()));
        external.profile.country = address.and_then(|address| given(address.country_code_v2));
        let fields = [
            ("shopifyCustomerId", Some(Value::from(id.clone()))),
            ("customerSince", self.created_at.map(Value::from)),
            ("consentAt", email.marketing_updated_at.map(Value::from)),
            ("ordersCount", self.number_of_orders.and_then(|count| whole(&count)).map(Value::from)),
            ("amountSpent", self.amount_spent.and_then(|money| money.amount.parse::<f64>().ok()).map(Value::from)),
        ];
        for (name, value) in fields {
            if let Some(value) = value.and_then(|value| serde_json::from_value(value).ok()) {
                external.custom_fields.insert(name.to_owned(), value);
            }
        }
        Some(StoreCustomer { id, changed_at, consent_at, contact: external })
    }
}

/// Returns a 64-bit number, which Shopify writes as a string.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}
