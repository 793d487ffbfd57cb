//! A simulated Shopify shop: GraphQL operations with their costs, in the pinned API version, bulk operations with their files, and signed
//! webhooks.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::super::platforms::PlatformRequest;
#[path = "install.rs"]
mod install;

use super::graphql::{self, Field, Type, type_of};
use super::{StoreResponse, serve, signature};

/// The access token that the shop accepts initially.
pub const SHOPIFY_TOKEN: &str = "shpat_0123456789abcdef0123456789abcdef";
/// The app's secret, which signs webhooks.
pub const SHOPIFY_SECRET: &str = "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";
/// The app's client ID.
pub const SHOPIFY_CLIENT: &str = "3b1f0c7e5a2d4968b7c6d5e4f3a2b1c0";
pub const SHOP: &str = "acme.myshopify.com";

const VERSION: &str = "2026-10";
const POINTS_MAX: f64 = 2_000.0;

/// The part of Shopify's schema that the server supports.
const SCHEMA: &[Type] = &[
    (
        "QueryRoot",
        &[
            ("shop", "Shop"),
            ("currentAppInstallation", "AppInstallation"),
            ("webhookSubscriptions", "WebhookSubscriptionConnection"),
            ("node", "Node"),
            ("products", "ProductConnection"),
            ("customers", "CustomerConnection"),
        ],
    ),
    (
        "Mutation",
        &[
            ("webhookSubscriptionCreate", "WebhookSubscriptionCreatePayload"),
            ("webhookSubscriptionDelete", "WebhookSubscriptionDeletePayload"),
            ("bulkOperationRunQuery", "BulkOperationRunQueryPayload"),
        ],
    ),
    (
        "Shop",
        &[
            ("id", "ID"),
            ("name", "String"),
            ("myshopifyDomain", "String"),
            ("currencyCode", "CurrencyCode"),
            ("primaryDomain", "Domain"),
        ],
    ),
    ("Domain", &[("host", "String"), ("url", "URL")]),
    ("AppInstallation", &[("accessScopes", "AccessScope")]),
    ("AccessScope", &[("handle", "String")]),
    ("WebhookSubscriptionConnection", &[("nodes", "WebhookSubscription")]),
    ("WebhookSubscription", &[("id", "ID"), ("topic", "WebhookSubscriptionTopic"), ("uri", "String")]),
    ("WebhookSubscriptionCreatePayload", &[("webhookSubscription", "WebhookSubscription"), ("userErrors", "UserError")]),
    ("WebhookSubscriptionDeletePayload", &[("deletedWebhookSubscriptionId", "ID"), ("userErrors", "UserError")]),
    ("BulkOperationRunQueryPayload", &[("bulkOperation", "BulkOperation"), ("userErrors", "UserError")]),
    ("UserError", &[("field", "String"), ("message", "String")]),
    ("Node", &[("id", "ID")]),
    (
        "BulkOperation",
        &[
            ("id", "ID"),
            ("status", "BulkOperationStatus"),
            ("errorCode", "BulkOperationErrorCode"),
            ("objectCount", "UnsignedInt64"),
            ("url", "URL"),
        ],
    ),
    ("ProductConnection", &[("edges", "ProductEdge")]),
    ("ProductEdge", &[("node", "Product")]),
    (
        "Product",
        &[
            ("id", "ID"),
            ("title", "String"),
            ("description", "String"),
            ("onlineStoreUrl", "URL"),
            ("updatedAt", "DateTime"),
            ("tracksInventory", "Boolean"),
            ("totalInventory", "Int"),
            ("featuredMedia", "Media"),
            ("priceRangeV2", "ProductPriceRangeV2"),
            ("variants", "ProductVariantConnection"),
            ("collections", "CollectionConnection"),
        ],
    ),
    ("Media", &[("preview", "MediaPreviewImage")]),
    ("MediaPreviewImage", &[("image", "Image")]),
    ("Image", &[("url", "URL")]),
    ("ProductPriceRangeV2", &[("minVariantPrice", "MoneyV2")]),
    ("MoneyV2", &[("amount", "Decimal"), ("currencyCode", "CurrencyCode")]),
    ("ProductVariantConnection", &[("edges", "ProductVariantEdge")]),
    ("ProductVariantEdge", &[("node", "ProductVariant")]),
    ("ProductVariant", &[("id", "ID"), ("price", "Money"), ("compareAtPrice", "Money"), ("availableForSale", "Boolean")]),
    ("CollectionConnection", &[("edges", "CollectionEdge")]),
    ("CollectionEdge", &[("node", "Collection")]),
    ("Collection", &[("id", "ID"), ("title", "String")]),
    ("CustomerConnection", &[("edges", "CustomerEdge")]),
    ("CustomerEdge", &[("node", "Customer")]),
    (
        "Customer",
        &[
            ("id", "ID"),
            ("firstName", "String"),
            ("lastName", "String"),
            ("locale", "String"),
            ("createdAt", "DateTime"),
            ("updatedAt", "DateTime"),
            ("numberOfOrders", "UnsignedInt64"),
            ("tags", "String"),
            ("amountSpent", "MoneyV2"),
            ("defaultEmailAddress", "CustomerEmailAddress"),
            ("defaultPhoneNumber", "CustomerPhoneNumber"),
            ("defaultAddress", "MailingAddress"),
        ],
    ),
    (
        "CustomerEmailAddress",
        &[
            ("emailAddress", "String"),
            ("marketingState", "CustomerEmailAddressMarketingState"),
            ("marketingUpdatedAt", "DateTime"),
        ],
    ),
    ("CustomerPhoneNumber", &[("phoneNumber", "String")]),
    ("MailingAddress", &[("city", "String"), ("countryCodeV2", "CountryCode")]),
];

/// What the shop does instead of responding as documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShopFault {
    /// Responds with this status; the request has no effect.
    Status(u16),
    /// Responds with this status, although the request took effect.
    StatusAfterEffect(u16),
    /// Responds with status 503 and this number of seconds in `Retry-After`; the request has no effect.
    Down(u32),
    /// Rejects the request because the rate limit has too few points left.
    Throttled,
    /// Announces the size of the whole file, but closes the connection after a part of it.
    Cut,
    /// Sends only some of the lines, as a complete file.
    Short,
    /// Makes the bulk operation fail.
    Failed,
    /// Rejects the mutation with a user error.
    Refused,
    /// Denies access to the requested data.
    Denied,
}

#[derive(Default)]
struct State {
    tokens: Vec<String>,
    grants: u32,
    installs: install::Installs,
    scopes: Vec<&'static str>,
    points: f64,
    products: Vec<Value>,
    customers: Vec<Value>,
    hooks: Vec<(String, String, String)>,
    /// For each bulk operation, its file and the number of further polls that report the operation as running.
    operations: BTreeMap<String, (String, u32)>,
    faults: Vec<(&'static str, usize, ShopFault)>,
    asked: Vec<PlatformRequest>,
    next: u64,
    base: String,
}

#[derive(Clone)]
pub struct Shopify {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Shopify {
    /// Starts a shop with a bowl on sale, a vase that is sold out, and a product that is not published.
    pub fn start() -> Self {
        let state = State {
            tokens: vec![SHOPIFY_TOKEN.to_owned()],
            scopes: vec!["read_products", "read_orders", "read_customers"],
            points: POINTS_MAX,
            products: vec![
                product(1, "Ember bowl", &[("36.00", Some("42.00"), true), ("48.00", None, true)], 7),
                product(2, "Tall vase", &[("60.00", None, false)], 0),
                unpublished(product(3, "Draft", &[("5.00", None, true)], 1)),
            ],
            ..State::default()
        };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        let address = serve(move |asked| answer(&mut shared.lock().expect("no panic"), asked));
        state.lock().expect("no panic").base = format!("http://{address}");
        Self { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// Makes the next `times` requests that contain `part` fail with `fault`.
    pub fn fail(&self, part: &'static str, times: usize, fault: ShopFault) {
        self.state().faults.push((part, times, fault));
    }

    pub fn accept(&self, tokens: &[&str]) {
        self.state().tokens = tokens.iter().map(|token| (*token).to_owned()).collect();
    }

    pub fn grants(&self) -> u32 {
        self.state().grants
    }

    /// Installs the app, as a user would on the authorization page with this URL. Returns the callback URL.
    pub fn install(&self, url: &str) -> String {
        self.state().installs.consent(url)
    }

    /// Replaces the app's scopes.
    pub fn allow(&self, scopes: &[&'static str]) {
        self.state().scopes = scopes.to_vec();
    }

    pub fn sell(&self, products: Vec<Value>) {
        self.state().products = products;
    }

    pub fn serve_customers(&self, customers: Vec<Value>) {
        self.state().customers = customers;
    }

    /// Returns the topic and the URL of each registered webhook.
    pub fn hooks(&self) -> Vec<(String, String)> {
        self.state().hooks.iter().map(|(_, topic, uri)| (topic.clone(), uri.clone())).collect()
    }

    pub fn asked(&self) -> Vec<PlatformRequest> {
        self.state().asked.clone()
    }
}

/// Returns a published product. Each variant has a price, an optional original price, and whether customers can buy it.
pub fn product(number: u64, title: &str, variants: &[(&str, Option<&str>, bool)], stock: i64) -> Value {
    let handle = title.to_lowercase().replace(' ', "-");
    let variant = |(index, (price, before, sells)): (usize, &(&str, Option<&str>, bool))| {
        let id = format!("gid://shopify/ProductVariant/{number}{index}");
        json!({ "id": id, "price": price, "compareAtPrice": before, "availableForSale": sells })
    };
    json!({
        "id": format!("gid://shopify/Product/{number}"), "title": title, "description": format!("{title}, thrown by hand."),
        "onlineStoreUrl": format!("https://www.acme.example/products/{handle}"), "updatedAt": "2025-12-30T10:00:00Z",
        "tracksInventory": true, "totalInventory": stock,
        "featuredMedia": { "preview": { "image": { "url": format!("https://cdn.shopify.com/{handle}.jpg") } } },
        "priceRangeV2": { "minVariantPrice": { "amount": "1", "currencyCode": "GBP" } },
        "variants": variants.iter().enumerate().map(variant).collect::<Vec<_>>(),
        "collections": [{ "id": "gid://shopify/Collection/5", "title": "Stoneware" }],
    })
}

/// Returns the product as an unpublished one: without a page in the online store.
fn unpublished(mut product: Value) -> Value {
    product["onlineStoreUrl"] = Value::Null;
    product
}

/// Returns a customer; `state` is the marketing consent, such as `SUBSCRIBED`.
pub fn customer(number: usize, state: &str) -> Value {
    json!({
        "id": format!("gid://shopify/Customer/{number}"), "firstName": format!("Person{number}"), "lastName": "Buyer", "locale": "en-GB",
        "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2025-06-01T00:00:00Z", "numberOfOrders": "3", "tags": ["regular"],
        "amountSpent": { "amount": "120.50", "currencyCode": "GBP" },
        "defaultEmailAddress": {
            "emailAddress": format!("person{number}@example.com"), "marketingState": state, "marketingUpdatedAt": "2025-01-01T00:00:00Z",
        },
        "defaultPhoneNumber": null, "defaultAddress": { "city": "Leeds", "countryCodeV2": "GB" },
    })
}

/// Returns the headers of a webhook request, including the signature of its body.
pub fn headers(topic: &str, id: &str, body: &str) -> Vec<(&'static str, String)> {
    vec![
        ("x-shopify-topic", topic.to_owned()),
        ("x-shopify-webhook-id", id.to_owned()),
        ("x-shopify-shop-domain", SHOP.to_owned()),
        ("x-shopify-api-version", VERSION.to_owned()),
        ("x-shopify-hmac-sha256", signature(body, SHOPIFY_SECRET)),
        ("content-type", "application/json".to_owned()),
    ]
}

fn answer(state: &mut State, asked: &PlatformRequest) -> StoreResponse {
    state.asked.push(asked.clone());
    let text = format!("{} {}", asked.target, asked.body);
    let fault = state.faults.iter_mut().find(|(part, times, _)| *times > 0 && text.contains(*part)).map(|found| {
        found.1 -= 1;
        found.2
    });
    match fault {
        Some(ShopFault::Status(status)) => {
            return StoreResponse::new(status, json!({ "errors": "the test asked for this" }).to_string());
        }
        Some(ShopFault::Down(seconds)) => {
            let headers = format!("retry-after: {seconds}\r\n");
            return StoreResponse { headers, ..StoreResponse::new(503, "<html>".to_owned()) };
        }
        Some(ShopFault::StatusAfterEffect(status)) => {
            let _ = respond(state, asked, None);
            return StoreResponse::new(status, "<html>".to_owned());
        }
        _ => {}
    }
    respond(state, asked, fault)
}

fn respond(state: &mut State, asked: &PlatformRequest, fault: Option<ShopFault>) -> StoreResponse {
    if let Some(name) = asked.target.strip_prefix("/files/") {
        return file(state, name, asked, fault);
    }
    if asked.method == "POST" && asked.target == "/admin/oauth/access_token" {
        return grant(state, asked);
    }
    if asked.method != "POST" || asked.target != format!("/admin/api/{VERSION}/graphql.json") {
        return StoreResponse::new(404, json!({ "errors": "Not Found" }).to_string());
    }
    let token = asked.headers.get("x-shopify-access-token").map_or("", String::as_str);
    if !state.tokens.iter().any(|known| known == token) {
        return StoreResponse::new(401, json!({ "errors": "[API] Invalid API key or access token" }).to_string());
    }
    let cost = 10.0;
    let throttled = fault == Some(ShopFault::Throttled);
    let available = if throttled { 0.0 } else { state.points };
    let extensions = json!({ "cost": {
        "requestedQueryCost": cost, "actualQueryCost": if throttled { Value::Null } else { cost.into() },
        "throttleStatus": { "maximumAvailable": POINTS_MAX, "currentlyAvailable": available, "restoreRate": 100.0 },
    } });
    let failed = |message: &str, code: &str| {
        let errors = json!([{ "message": message, "extensions": { "code": code } }]);
        StoreResponse::new(200, json!({ "errors": errors, "extensions": extensions }).to_string())
    };
    if throttled {
        return failed("Throttled", "THROTTLED");
    }
    if fault == Some(ShopFault::Denied) {
        return failed("This app is not approved to access this object.", "ACCESS_DENIED");
    }
    let request: Value = serde_json::from_str(&asked.body).unwrap_or_default();
    let fields = match graphql::parse(request["query"].as_str().unwrap_or_default(), &request["variables"], SCHEMA) {
        Ok(fields) => fields,
        Err(why) => return failed(&why, "undefinedField"),
    };
    let mut data = serde_json::Map::new();
    for field in &fields {
        let value = resolve(state, field, fault);
        data.insert(field.name.clone(), graphql::pick(&value, &field.fields));
    }
    StoreResponse::new(200, json!({ "data": data, "extensions": extensions }).to_string())
}

/// Responds to a request for an access token with a new token: to the client credentials grant, and to the grants of an installation
/// (`install`). Earlier tokens remain valid.
fn grant(state: &mut State, asked: &PlatformRequest) -> StoreResponse {
    let expected = format!("grant_type=client_credentials&client_id={SHOPIFY_CLIENT}&client_secret={SHOPIFY_SECRET}");
    if asked.body != expected {
        let scopes = state.scopes.join(",");
        if let Some((token, answer)) = state.installs.tokens(&asked.body, &scopes) {
            state.tokens.push(token);
            return StoreResponse::new(200, answer.to_string());
        }
        let error = json!({ "error": "invalid_client", "error_description": "The client ID or the client secret is wrong." });
        return StoreResponse::new(400, error.to_string());
    }
    state.grants += 1;
    let token = format!("shpat_granted_{}", state.grants);
    state.tokens.push(token.clone());
    StoreResponse::new(200, json!({ "access_token": token, "scope": state.scopes.join(","), "expires_in": 86_399 }).to_string())
}

fn resolve(state: &mut State, field: &Field, fault: Option<ShopFault>) -> Value {
    let refused = fault == Some(ShopFault::Refused);
    let errors = if refused { json!([{ "field": ["query"], "message": "the test refuses this" }]) } else { json!([]) };
    let argument = |name: &str| field.arguments.get(name).cloned().unwrap_or_default();
    state.next += 1;
    let number = state.next;
    match field.name.as_str() {
        "shop" => json!({
            "id": "gid://shopify/Shop/1", "name": "Acme Pottery", "myshopifyDomain": SHOP, "currencyCode": "GBP",
            "primaryDomain": { "host": "www.acme.example", "url": "https://www.acme.example" },
        }),
        "currentAppInstallation" => {
            let scopes: Vec<Value> = state.scopes.iter().map(|scope| json!({ "handle": scope })).collect();
            json!({ "accessScopes": scopes })
        }
        "webhookSubscriptions" => {
            let hook = |(id, topic, uri): &(String, String, String)| json!({ "id": id, "topic": topic, "uri": uri });
            json!({ "nodes": state.hooks.iter().map(hook).collect::<Vec<_>>() })
        }
        "webhookSubscriptionCreate" => {
            let (topic, hook) = (argument("topic"), argument("webhookSubscription"));
            let (topic, uri) =
                (topic.as_str().unwrap_or_default().to_owned(), hook["uri"].as_str().unwrap_or_default().to_owned());
            let is_taken = state.hooks.iter().any(|(_, known, there)| *known == topic && *there == uri);
            if is_taken || refused {
                let errors =
                    if refused { errors } else { json!([{ "field": null, "message": "for this topic has already been taken" }]) };
                return json!({ "webhookSubscription": null, "userErrors": errors });
            }
            let id = format!("gid://shopify/WebhookSubscription/{number}");
            state.hooks.push((id.clone(), topic.clone(), uri.clone()));
            json!({ "webhookSubscription": { "id": id, "topic": topic, "uri": uri }, "userErrors": [] })
        }
        "webhookSubscriptionDelete" => {
            let id = argument("id");
            state.hooks.retain(|(known, ..)| id != known.as_str());
            json!({ "deletedWebhookSubscriptionId": id, "userErrors": [] })
        }
        "bulkOperationRunQuery" => {
            let query = argument("query");
            let inner = match graphql::parse(query.as_str().unwrap_or_default(), &Value::Null, SCHEMA) {
                Ok(inner) if !refused => inner,
                Ok(_) => return json!({ "bulkOperation": null, "userErrors": errors }),
                Err(why) => return json!({ "bulkOperation": null, "userErrors": [{ "field": ["query"], "message": why }] }),
            };
            let id = format!("gid://shopify/BulkOperation/{number}");
            let file = export(state, &inner[0]);
            state.operations.insert(id.clone(), (file, 1));
            json!({ "bulkOperation": { "id": id, "status": "CREATED" }, "userErrors": [] })
        }
        "node" => {
            let id = argument("id");
            let id = id.as_str().unwrap_or_default();
            let base = state.base.clone();
            let Some((file, runs)) = state.operations.get_mut(id) else { return Value::Null };
            let is_running = *runs > 0;
            *runs = runs.saturating_sub(1);
            let status = match fault {
                Some(ShopFault::Failed) => "FAILED",
                _ if is_running => "RUNNING",
                _ => "COMPLETED",
            };
            let lines = file.lines().count();
            let number = id.rsplit('/').next().unwrap_or_default();
            let url = (status == "COMPLETED" && lines > 0).then(|| format!("{base}/files/{number}"));
            json!({ "id": id, "status": status, "errorCode": null, "objectCount": lines.to_string(), "url": url })
        }
        _ => Value::Null,
    }
}

/// Returns the file of a bulk operation: one JSON line per object, with nested objects after their parent.
fn export(state: &State, root: &Field) -> String {
    let (nodes, of) = if root.name == "products" { (&state.products, "Product") } else { (&state.customers, "Customer") };
    let node_fields = |field: &Field| field.fields[0].fields[0].fields.clone();
    let (mut lines, fields) = (String::new(), node_fields(root));
    let is_list = |field: &&Field| type_of(SCHEMA, of, &field.name).is_some_and(|kind| kind.ends_with("Connection"));
    let (lists, own): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(is_list);
    let own: Vec<Field> = own.into_iter().cloned().collect();
    for node in nodes {
        lines += &format!("{}\n", graphql::pick(node, &own));
        for list in &lists {
            for child in node[&list.name].as_array().into_iter().flatten() {
                let mut child = graphql::pick(child, &node_fields(list));
                child["__parentId"] = node["id"].clone();
                lines += &format!("{child}\n");
            }
        }
    }
    lines
}

fn file(state: &State, name: &str, asked: &PlatformRequest, fault: Option<ShopFault>) -> StoreResponse {
    let Some((file, _)) = state.operations.get(&format!("gid://shopify/BulkOperation/{name}")) else {
        return StoreResponse::new(404, String::new());
    };
    let range =
        asked.headers.get("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    let body = file[range.unwrap_or(0).min(file.len())..].to_owned();
    let status = if range.is_some() { 206 } else { 200 };
    let half = body.len() / 2;
    match fault {
        Some(ShopFault::Cut) => StoreResponse { sent: half, ..StoreResponse::new(status, body) },
        Some(ShopFault::Short) => {
            let end = body[..half].rfind('\n').map_or(0, |at| at + 1);
            StoreResponse::new(status, body[..end].to_owned())
        }
        _ => StoreResponse::new(status, body),
    }
}
