//! A simulated WooCommerce site: REST API v3 with pages and basic authentication, and signed webhooks.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::super::platforms::{PlatformRequest, base64};
use super::{StoreResponse, serve, signature};

/// The consumer key and the consumer secret.
pub const WOO_KEY: &str = "ck_0123456789abcdef0123456789abcdef01234567";
pub const WOO_SECRET: &str = "cs_fedcba9876543210fedcba9876543210fedcba98";

#[derive(Default)]
struct State {
    products: Vec<Value>,
    customers: Vec<Value>,
    hooks: Vec<Value>,
    next: u64,
}

#[derive(Clone)]
pub struct WooCommerce {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl WooCommerce {
    pub fn start(products: Vec<Value>, customers: Vec<Value>) -> Self {
        let state = Arc::new(Mutex::new(State { products, customers, ..State::default() }));
        let shared = state.clone();
        let address = serve(move |asked| answer(&mut shared.lock().expect("no panic"), asked));
        Self { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    pub fn hooks(&self) -> Vec<Value> {
        self.state().hooks.clone()
    }

    pub fn delete_product(&self, id: u64) {
        self.state().products.retain(|product| product["id"] != id);
    }

    /// Changes the status of all webhooks.
    pub fn set_hooks(&self, status: &str) {
        self.state().hooks.iter_mut().for_each(|hook| hook["status"] = status.into());
    }

    /// Returns the headers of a webhook request, including the signature of its body.
    pub fn headers(&self, topic: &str, id: &str, body: &str) -> Vec<(&'static str, String)> {
        let secret = self.state().hooks[0]["secret"].as_str().expect("a webhook has a secret").to_owned();
        vec![
            ("x-wc-webhook-topic", topic.to_owned()),
            ("x-wc-webhook-delivery-id", id.to_owned()),
            ("x-wc-webhook-signature", signature(body, &secret)),
            ("content-type", "application/json".to_owned()),
        ]
    }
}

/// Returns only the fields of an item that the query lists in `_fields`, or all fields if the query has no `_fields`.
fn selected(item: &Value, query: &str) -> Value {
    let query: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let Some((_, fields)) = query.into_iter().find(|(name, _)| name == "_fields") else { return item.clone() };
    let own = item.as_object().into_iter().flatten().filter(|(name, _)| fields.split(',').any(|field| field == *name));
    Value::Object(own.map(|(name, value)| (name.clone(), value.clone())).collect())
}

fn answer(state: &mut State, asked: &PlatformRequest) -> StoreResponse {
    let expected = format!("Basic {}", base64(&format!("{WOO_KEY}:{WOO_SECRET}")));
    if asked.headers.get("authorization") != Some(&expected) {
        let said = json!({ "code": "woocommerce_rest_cannot_view", "message": "Sorry, you cannot list resources.", "data": { "status": 401 } });
        return StoreResponse::new(401, said.to_string());
    }
    let (path, query) = asked.target.split_once('?').unwrap_or((&asked.target, ""));
    let number = |name: &str, default: usize| {
        let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.map_or(default, |text| text.parse().expect("the parameter is a number"))
    };
    let missing = || StoreResponse::new(404, json!({ "code": "rest_no_route", "message": "No route was found." }).to_string());
    let Some(path) = path.strip_prefix("/wp-json/wc/v3") else { return missing() };
    let list = |all: &[Value]| {
        let (page, size) = (number("page", 1), number("per_page", 10));
        if size > 100 {
            return StoreResponse::new(
                400,
                json!({ "code": "rest_invalid_param", "message": "Invalid parameter(s): per_page" }).to_string(),
            );
        }
        let items = all.iter().skip((page - 1) * size).take(size);
        let items: Vec<Value> = items.map(|item| selected(item, query)).collect();
        let pages = all.len().div_ceil(size);
        let headers = format!("x-wp-total: {}\r\nx-wp-totalpages: {pages}\r\n", all.len());
        StoreResponse { headers, ..StoreResponse::new(200, json!(items).to_string()) }
    };
    match (asked.method.as_str(), path) {
        ("GET", "/data/currencies/current") => {
            StoreResponse::new(200, json!({ "code": "EUR", "name": "Euro", "symbol": "€" }).to_string())
        }
        ("GET", "/products") => list(&state.products),
        ("GET", "/customers") => list(&state.customers),
        ("GET", "/webhooks") => list(&state.hooks),
        ("POST", "/webhooks") => {
            let mut hook: Value = serde_json::from_str(&asked.body).expect("the body is JSON");
            state.next += 1;
            hook["id"] = state.next.into();
            state.hooks.push(hook.clone());
            StoreResponse::new(201, hook.to_string())
        }
        ("PUT", path) => {
            let id = path.strip_prefix("/webhooks/").and_then(|id| id.parse::<u64>().ok());
            match state.hooks.iter_mut().find(|hook| id.is_some_and(|id| hook["id"] == id)) {
                Some(hook) => {
                    let change: Value = serde_json::from_str(&asked.body).expect("the body is JSON");
                    hook["status"] = change["status"].clone();
                    StoreResponse::new(200, hook.to_string())
                }
                None => missing(),
            }
        }
        ("DELETE", path) => match path.strip_prefix("/webhooks/").and_then(|id| id.parse::<u64>().ok()) {
            Some(id) if query == "force=true" => {
                state.hooks.retain(|hook| hook["id"] != id);
                StoreResponse::new(200, json!({ "id": id }).to_string())
            }
            _ => missing(),
        },
        _ => missing(),
    }
}
