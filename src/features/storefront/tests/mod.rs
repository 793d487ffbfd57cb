//! Tests of connected stores, with servers that behave like the platforms.

mod customers;
mod failures;
mod install;
mod woocommerce;

use http::Method;
use serde_json::{Value, json};

use super::model::{DataRequest, Store};
use super::{keys, sealed, store, worker};
use crate::base::clock::Timestamp;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::testing::stores::shopify::{self, SHOP, SHOPIFY_CLIENT, SHOPIFY_SECRET, SHOPIFY_TOKEN, ShopFault, Shopify};
use crate::testing::{TestApp, TestResponse};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// A test app, and a Shopify shop that can be connected to its project.
struct Shop {
    app: TestApp,
    peer: Shopify,
}

fn app(address: &str) -> TestApp {
    TestApp::with(|settings| {
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
        settings.connections.shopify_url = address.to_owned();
    })
}

/// Runs the steps of imports that are due now or become due within the next minute.
fn work(app: &TestApp) {
    for _ in 0..40 {
        app.wait(worker::sync(app.engine().clone(), Environment::Test)).expect("the step succeeds");
        app.clock.advance_ms(1_500);
    }
}

impl Shop {
    fn new() -> Self {
        let peer = Shopify::start();
        Self { app: app(&peer.url()), peer }
    }

    /// Returns a connected shop whose data has been imported.
    fn connected() -> Self {
        let shop = Self::new();
        shop.connect(json!({})).data();
        work(&shop.app);
        assert_eq!(shop.view()["sync"]["stage"], "idle", "{}", shop.view());
        shop
    }

    fn connect(&self, more: Value) -> TestResponse {
        let mut body = json!({ "storefrontStoreUrl": SHOP, "accessToken": SHOPIFY_TOKEN, "apiSecret": SHOPIFY_SECRET });
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        self.app.post_in("/v1/storefront/connect", body)
    }

    fn view(&self) -> Value {
        self.app.get_in("/v1/storefront/stores").data()["stores"][0].clone()
    }

    fn url(&self) -> String {
        self.view()["webhookUrl"].as_str().expect("there is a URL").to_owned()
    }

    fn id(&self) -> String {
        self.view()["serverId"].as_str().expect("there is an ID").to_owned()
    }

    /// Sends a webhook. Returns the status and the body of the response.
    fn webhook(&self, topic: &str, id: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let headers = shopify::headers(topic, id, &body);
        self.send(&headers, &body)
    }

    fn send(&self, headers: &[(&'static str, String)], body: &str) -> (u16, Value) {
        let headers: Vec<(&'static str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (status, _, text) = self.app.visit(Method::POST, &self.url(), &headers, body);
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// Sends a webhook and checks that it has an effect.
    #[track_caller]
    fn applied(&self, topic: &str, id: &str, body: &Value) {
        let (status, answer) = self.webhook(topic, id, body);
        assert_eq!((status, &answer["data"]["applied"]), (200, &json!(true)), "{answer}");
    }

    fn products(&self) -> Vec<Value> {
        self.app.get(&format!("/v1/projects/{}/products?limit=100", self.app.project)).data()["products"]
            .as_array()
            .expect("there is a list")
            .clone()
    }

    fn product(&self, name: &str) -> Option<Value> {
        self.products().into_iter().find(|product| product["name"] == name)
    }

    fn contact(&self, email: &str) -> Option<Value> {
        let all = self.app.get_in("/v1/contacts?limit=100").data();
        all["contacts"].as_array().expect("there is a list").iter().find(|contact| contact["email"] == email).cloned()
    }

    /// Returns the names of a contact's events, in alphabetical order.
    fn events(&self, email: &str) -> Vec<String> {
        let contact = self.contact(email).expect("the contact exists");
        let id = contact["id"].as_str().expect("there is an ID");
        let listed = self.app.get_in(&format!("/v1/contacts/{id}/events?limit=100")).data();
        let mut names: Vec<String> =
            listed["events"].as_array().expect("there is a list").iter().map(|event| event["name"].to_string()).collect();
        names.iter_mut().for_each(|name| *name = name.trim_matches('"').to_owned());
        names.sort();
        names
    }
}

fn order(id: u64, email: &str) -> Value {
    json!({
        "id": id, "name": format!("#{id}"), "email": email, "currency": "GBP", "total_price": "36.00", "financial_status": "paid",
        "created_at": "2025-12-31T23:00:00-01:00", "processed_at": "2025-12-31T22:30:00+00:00", "checkout_token": format!("c{id}"),
        "customer": { "id": 700 + id, "email": email, "first_name": "Ada", "last_name": "Byron" },
        "line_items": [{ "title": "Ember bowl", "quantity": 1, "price": "36.00" }],
    })
}

fn refund(id: u64, order: u64, amount: &str) -> Value {
    let paid_back = json!({ "kind": "refund", "status": "success", "amount": amount, "currency": "GBP" });
    let failed = json!({ "kind": "refund", "status": "failure", "amount": "99.00", "currency": "GBP" });
    json!({ "id": id, "order_id": order, "created_at": "2025-12-31T23:30:00Z", "transactions": [paid_back, failed] })
}

#[test]
fn a_store_is_connected_and_its_products_are_in_the_brand() {
    let shop = Shop::new();
    let made = shop.connect(json!({})).data();
    assert_eq!((&made["status"], &made["store"]), (&json!("connected"), &json!("Acme Pottery")));
    let tools = json!(["products", "collections", "customers", "orders", "refunds", "checkouts", "privacy"]);
    assert_eq!(made["toolsEnabled"], tools);
    work(&shop.app);
    let bowl = shop.product("Ember bowl").expect("the product was imported");
    assert_eq!(
        (&bowl["price"], &bowl["priceBefore"], &bowl["currency"], &bowl["stock"], &bowl["origin"]),
        (&json!("36.00"), &json!("42.00"), &json!("GBP"), &json!(7), &json!("store"))
    );
    assert_eq!(bowl["image"], "https://cdn.shopify.com/ember-bowl.jpg");
    assert_eq!(bowl["collections"], json!(["Stoneware"]));
    let vase = shop.product("Tall vase").expect("the product was imported");
    assert_eq!((&vase["soldOut"], &vase["price"]), (&json!(true), &json!("60.00")));
    assert!(shop.product("Draft").is_none(), "customers cannot open an unpublished product");
    let brand = shop.app.get(&format!("/v1/projects/{}", shop.app.project)).data()["brand"].clone();
    let offered: Vec<&Value> =
        brand["products"].as_array().expect("there is a list").iter().map(|product| &product["name"]).collect();
    assert_eq!(offered, [&json!("Ember bowl")], "emails leave sold-out products out");
    let view = shop.view();
    assert_eq!((&view["sync"]["products"], &view["sync"]["stage"], &view["toolsEnabled"]), (&json!(2), &json!("idle"), &tools));
    assert_eq!((shop.peer.hooks().len(), shop.peer.hooks().iter().all(|(_, url)| *url == shop.url())), (16, true));
    let asked = format!("{:?}", shop.view());
    assert!(!asked.contains(SHOPIFY_TOKEN) && !asked.contains(SHOPIFY_SECRET));
    let bytes = std::fs::read(shop.app.data().store.file()).expect("the file can be read");
    for secret in [SHOPIFY_TOKEN, SHOPIFY_SECRET] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "the keys are sealed");
    }
}

#[test]
fn a_repeated_request_connects_a_store_once() {
    let shop = Shop::new();
    let body = json!({ "storefrontStoreUrl": SHOP, "accessToken": SHOPIFY_TOKEN, "apiSecret": SHOPIFY_SECRET });
    let body = shop.app.with_project(body);
    let connect = || shop.app.post_keyed("/v1/storefront/connect", "once", body.clone());
    let made = connect();
    assert_eq!(made.status, 200);
    let asked = shop.peer.asked().len();
    assert_eq!((connect().body, shop.peer.asked().len()), (made.body.clone(), asked), "a repeat gets the stored response");
    // Connecting the store again without an idempotency key tests the store's keys again, but does not create a second store.
    assert_eq!(shop.connect(json!({})).data()["serverId"], made.body["data"]["serverId"]);
    assert_eq!(shop.app.get("/v1/storefront/stores").data()["total"], 1);
    work(&shop.app);
    assert_eq!(shop.peer.hooks().len(), 16, "webhooks are requested once");
}

#[test]
fn webhooks_keep_products_up_to_date_and_late_ones_change_nothing() {
    let shop = Shop::connected();
    let bowl = |price: &str, updated_at: &str| {
        json!({
            "id": 1, "title": "Ember bowl", "handle": "ember-bowl", "body_html": "<p>Glazed</p>", "status": "active",
            "published_at": "2025-01-01T00:00:00Z", "updated_at": updated_at, "image": { "src": "https://cdn.shopify.com/new.jpg" },
            "variants": [{ "price": price, "compare_at_price": "50.00", "inventory_policy": "deny", "inventory_quantity": 3 }],
        })
    };
    shop.applied("products/update", "w1", &bowl("33.00", "2025-12-31T12:00:00Z"));
    let found = shop.product("Ember bowl").expect("the product stays");
    assert_eq!((&found["price"], &found["priceBefore"], &found["stock"]), (&json!("33.00"), &json!("50.00"), &json!(3)));
    assert_eq!(found["collections"], json!(["Stoneware"]), "a webhook does not know the collections");
    assert_eq!(
        (&found["url"], &found["description"]),
        (&json!("https://www.acme.example/products/ember-bowl"), &json!("Glazed"))
    );
    shop.applied("products/update", "w2", &bowl("99.00", "2025-12-31T11:00:00Z"));
    assert_eq!(shop.product("Ember bowl").expect("the product stays")["price"], "33.00", "the webhook was late");
    let repeated = shop.webhook("products/update", "w1", &bowl("33.00", "2025-12-31T12:00:00Z"));
    assert_eq!((repeated.0, &repeated.1["data"]["repeated"]), (200, &json!(true)));
    // A value that a user set is kept when the product changes and is imported again.
    let id = found["id"].as_str().expect("there is an ID").to_owned();
    let path = format!("/v1/projects/{}/products/{id}", shop.app.project);
    shop.app.patch(&path, json!({ "price": "30.00" })).data();
    shop.applied("products/update", "w3", &bowl("31.00", "2025-12-31T13:00:00Z"));
    assert_eq!(shop.product("Ember bowl").expect("the product stays")["price"], "30.00");
    shop.applied("products/delete", "w4", &json!({ "id": 2 }));
    assert!(shop.product("Tall vase").is_none());
    shop.applied("products/delete", "w5", &json!({ "id": 1 }));
    let kept = shop.product("Ember bowl").expect("a product that a user edited stays");
    assert_eq!(kept["stock"], Value::Null);
    // A change to a collection starts an import soon.
    shop.peer.sell(vec![shopify::product(8, "Jug", &[("25.00", None, true)], 1)]);
    shop.applied("collections/update", "w6", &json!({ "id": 5, "title": "Stoneware" }));
    shop.app.clock.advance_ms(61_000);
    work(&shop.app);
    assert!(shop.product("Jug").is_some());
}

// Regression: since version 2024-07 of Shopify's API, webhooks do not state whether units are counted, so a product that was sold out
// appeared in emails again after its next webhook.
#[test]
fn a_webhook_about_a_product_keeps_whether_its_units_are_counted() {
    let shop = Shop::new();
    let mut gift = shopify::product(4, "Gift card", &[("20.00", None, true)], 0);
    gift["tracksInventory"] = json!(false);
    shop.peer.sell(vec![shopify::product(1, "Ember bowl", &[("36.00", None, true)], 7), gift]);
    shop.connect(json!({})).data();
    work(&shop.app);
    let report = |id: u64, title: &str, quantity: i64| {
        let variant = json!({ "price": "20.00", "inventory_policy": "deny", "inventory_quantity": quantity });
        json!({
            "id": id, "title": title, "handle": format!("p{id}"), "status": "active", "published_at": "2025-01-01T00:00:00Z",
            "updated_at": "2025-12-31T12:00:00Z", "variants": [variant],
        })
    };
    for (id, title, quantity) in [(1, "Ember bowl", 0), (4, "Gift card", 0), (5, "New mug", 0), (6, "New jug", 2)] {
        shop.applied("products/update", &format!("w{id}"), &report(id, title, quantity));
    }
    let state = |name: &str| {
        let product = shop.product(name).expect("the product exists");
        (product["stock"].as_i64(), product["soldOut"].as_bool())
    };
    assert_eq!(
        ["Ember bowl", "Gift card", "New mug", "New jug"].map(state),
        [(Some(0), Some(true)), (None, Some(false)), (None, Some(false)), (Some(2), Some(false))]
    );
}

#[test]
fn orders_refunds_and_checkouts_become_events_in_any_order_and_only_once() {
    let shop = Shop::connected();
    let checkout = json!({ "token": "c1", "email": "ada@example.com", "currency": "GBP", "total_price": "36.00", "created_at": "2025-12-31T22:00:00Z" });
    shop.applied("checkouts/create", "w1", &checkout);
    // The refund arrives before its order and waits for it.
    shop.applied("refunds/create", "w2", &refund(9, 1, "10.00"));
    for id in ["w3", "w4"] {
        shop.applied("orders/create", id, &order(1, "ada@example.com"));
    }
    for id in ["w5", "w5"] {
        let (status, _) = shop.webhook("orders/paid", id, &order(1, "ada@example.com"));
        assert_eq!(status, 200);
    }
    assert_eq!(shop.events("ada@example.com"), ["checkout.started", "order.created", "order.paid", "order.refunded"]);
    shop.applied("refunds/create", "w6", &refund(9, 1, "10.00"));
    shop.applied("orders/cancelled", "w7", &order(1, "ada@example.com"));
    assert_eq!(shop.events("ada@example.com").len(), 5, "a repeated refund has no effect");
    let ada = shop.contact("ada@example.com").expect("the contact exists");
    assert_eq!((&ada["status"], &ada["firstName"]), (&json!("non-subscribed"), &json!("Ada")), "an order subscribes no contact");
    let id = ada["id"].as_str().expect("there is an ID");
    let data = shop.app.get_in(&format!("/v1/contacts/{id}/personal-data")).data();
    let payments: Vec<String> = data["payments"]
        .as_array()
        .expect("there is a list")
        .iter()
        .map(|payment| format!("{} {}", payment["amount"], payment["isRefund"]))
        .collect();
    assert_eq!(payments, ["10 true", "36 false"], "{data}");
    let unknown = shop.webhook("orders/paid", "w8", &json!({ "id": 77, "total_price": "5.00" }));
    assert_eq!(
        (unknown.0, &unknown.1["data"]["applied"]),
        (200, &json!(true)),
        "an order without a customer waits for its customer"
    );
    let other = shop.webhook("themes/publish", "w9", &json!({ "id": 1 }));
    assert_eq!((other.0, &other.1["data"]["applied"]), (200, &json!(false)));
}

#[test]
fn requests_for_privacy_are_answered_with_the_export_and_the_erasure() {
    let shop = Shop::connected();
    shop.applied("orders/paid", "w1", &order(1, "ada@example.com"));
    shop.app.post_in("/v1/contacts", json!({ "email": "bob@example.com" })).data();
    let id = shop.contact("ada@example.com").expect("the contact exists")["id"].clone();
    let asked = json!({
        "shop_id": 954889, "shop_domain": SHOP, "orders_requested": [1], "customer": { "id": 701, "email": "ada@example.com" },
        "data_request": { "id": 9999 },
    });
    shop.applied("customers/data_request", "w2", &asked);
    let listed = shop.view()["dataRequests"][0].clone();
    assert_eq!((&listed["requestId"], &listed["contactId"]), (&json!("9999"), &id));
    // A request for erasure may identify the customer only by the ID in an earlier order.
    let redact = json!({ "shop_id": 954889, "shop_domain": SHOP, "customer": { "id": 701 }, "orders_to_redact": [1] });
    shop.applied("customers/redact", "w3", &redact);
    assert!(shop.contact("ada@example.com").is_none() && shop.contact("bob@example.com").is_some());
    let again = shop.webhook("customers/redact", "w4", &redact);
    assert_eq!((again.0, &again.1["data"]["applied"]), (200, &json!(false)));
    // When the platform requests the erasure of the shop, the contacts that the shop added are erased, and all others remain.
    shop.applied("orders/paid", "w5", &order(2, "cyd@example.com"));
    shop.applied("orders/paid", "w6", &order(3, "bob@example.com"));
    let url = shop.url();
    shop.applied("shop/redact", "w7", &json!({ "shop_id": 954889, "shop_domain": SHOP }));
    work(&shop.app);
    assert_eq!(shop.app.get("/v1/storefront/stores").data()["total"], 0);
    assert!(shop.products().is_empty());
    assert!(shop.contact("cyd@example.com").is_none() && shop.contact("bob@example.com").is_some());
    let (status, _, _) = shop.app.visit(Method::POST, &url, &[], "{}");
    assert_eq!(status, 404);
}

// Regression: after a store was disconnected, its platform's privacy requests were rejected. Shopify requests the erasure of a shop two
// days after the app is removed.
#[test]
fn privacy_requests_are_answered_after_the_store_was_disconnected() {
    let shop = Shop::connected();
    shop.applied("orders/paid", "w1", &order(1, "ada@example.com"));
    shop.applied("orders/paid", "w2", &order(2, "cyd@example.com"));
    shop.app.post_in("/v1/contacts", json!({ "email": "bob@example.com" })).data();
    let (url, id) = (shop.url(), shop.id());
    let send = |topic: &str, id: &str, body: &Value| {
        let body = body.to_string();
        let headers = shopify::headers(topic, id, &body);
        let headers: Vec<(&'static str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (status, _, text) = shop.app.visit(Method::POST, &url, &headers, &body);
        (status, serde_json::from_str::<Value>(&text).unwrap_or_default()["data"]["applied"].clone())
    };
    let path = format!("/v1/storefront/stores/{id}");
    assert_eq!(shop.app.delete(&path).data()["deleted"], true);
    assert_eq!((shop.app.delete(&path).status, shop.app.post(&format!("{path}/sync"), json!({})).status), (404, 404));
    assert_eq!(shop.app.get("/v1/storefront/stores").data()["total"], 0);
    let kept = store::with_disconnected(&shop.app.read(), shop.app.account()).expect("the data is readable").remove(0);
    let keys = keys::open(&shop.app.engine().seal, &kept).expect("the keys open");
    assert_eq!((keys.key.as_str(), keys.signing_secret.as_str()), ("", SHOPIFY_SECRET), "only the secret for webhooks is kept");
    work(&shop.app);
    assert_eq!(send("orders/paid", "w3", &order(3, "dan@example.com")), (404, Value::Null));
    assert!(shop.contact("dan@example.com").is_none());
    let forged = shop.app.visit(Method::POST, &url, &[("x-shopify-topic", "shop/redact")], "{}");
    assert_eq!(forged.0, 401);
    let asked =
        json!({ "shop_domain": SHOP, "customer": { "id": 701, "email": "ada@example.com" }, "data_request": { "id": 9999 } });
    assert_eq!(send("customers/data_request", "w4", &asked), (200, json!(true)));
    let listed = shop.view();
    assert_eq!(
        (&listed["status"], &listed["dataRequests"][0]["requestId"]),
        (&json!("disconnected"), &json!("9999")),
        "{listed}"
    );
    assert_eq!((&listed["toolsEnabled"], &listed["webhookUrl"]), (&json!([]), &Value::Null));
    let redact = json!({ "shop_domain": SHOP, "customer": { "id": 701 } });
    assert_eq!(send("customers/redact", "w5", &redact), (200, json!(true)));
    assert!(shop.contact("ada@example.com").is_none() && shop.contact("cyd@example.com").is_some());
    assert_eq!(send("shop/redact", "w6", &json!({ "shop_domain": SHOP })), (200, json!(true)));
    work(&shop.app);
    assert!(shop.contact("cyd@example.com").is_none() && shop.contact("bob@example.com").is_some());
    assert!(store::with_disconnected(&shop.app.read(), shop.app.account()).expect("the data is readable").is_empty());
    assert_eq!(send("shop/redact", "w7", &json!({ "shop_domain": SHOP })), (404, Value::Null));
}

#[test]
fn a_disconnected_store_is_forgotten_in_time_and_keeps_its_url_if_it_is_connected_again() {
    let shop = Shop::connected();
    let (url, id) = (shop.url(), shop.id());
    let kept = || store::with_disconnected(&shop.app.read(), shop.app.account()).expect("the data is readable").len();
    let path = format!("/v1/storefront/stores/{id}");
    shop.app.delete(&path).data();
    shop.app.clock.advance_ms(limits::STORE_DISCONNECTED_KEPT_MS - 3_600_000);
    work(&shop.app);
    assert_eq!(kept(), 1);
    shop.connect(json!({})).data();
    work(&shop.app);
    assert_eq!((shop.url(), shop.id(), shop.view()["sync"]["stage"].clone()), (url, id, json!("idle")));
    assert_eq!((shop.products().len(), shop.peer.hooks().len()), (2, 16));
    shop.app.delete(&path).data();
    shop.app.clock.advance_ms(limits::STORE_DISCONNECTED_KEPT_MS);
    work(&shop.app);
    assert_eq!(kept(), 0);
}

// Regression: after 500 requests were stored, every later request was lost, although the response reported it as applied.
#[test]
fn a_new_data_request_replaces_the_oldest_one_if_too_many_are_stored() {
    let shop = Shop::connected();
    let id = crate::vocab::ids::StoreId::parse(&shop.id()).expect("the ID is valid");
    let filling = shop.app.data().store.write(move |tx| {
        for number in 0..limits::STORE_DATA_REQUESTS_MAX {
            let received_at = Timestamp(number as i64 + 1);
            let request = DataRequest { external_id: format!("old{number}"), contact: None, received_at };
            store::put_data_request(tx, id, &request)?;
        }
        Ok::<_, crate::engine::store::Error>(())
    });
    shop.app.wait(filling).expect("written").expect("saved");
    let asked = json!({ "shop_domain": SHOP, "customer": { "email": "ada@example.com" }, "data_request": { "id": 9999 } });
    shop.applied("customers/data_request", "w1", &asked);
    let listed = shop.view()["dataRequests"].as_array().expect("there is a list").clone();
    let first_and_last = [&listed[0]["requestId"], &listed[listed.len() - 1]["requestId"]];
    assert_eq!((listed.len(), first_and_last), (limits::STORE_DATA_REQUESTS_MAX, [&json!("9999"), &json!("old1")]));
}

// Regression: a request about another shop of the same app erased the customers of the shop whose webhook URL is in the app's settings.
#[test]
fn a_privacy_request_takes_effect_only_at_the_shop_that_it_names() {
    const OTHER: &str = "other.myshopify.com";
    let shop = Shop::connected();
    shop.applied("orders/paid", "w1", &order(1, "ada@example.com"));
    let about = |domain: &str| json!({ "shop_id": 1, "shop_domain": domain, "customer": { "email": "ada@example.com" } });
    for (topic, id) in [("customers/redact", "w2"), ("shop/redact", "w3")] {
        let (status, answer) = shop.webhook(topic, id, &about(OTHER));
        assert_eq!((status, &answer["data"]["applied"]), (200, &json!(false)), "{topic}: {answer}");
    }
    work(&shop.app);
    assert!(shop.contact("ada@example.com").is_some());
    assert_eq!(shop.app.get("/v1/storefront/stores").data()["total"], 1);
    let second = shop.app.another_project().to_string();
    shop.app.post("/v1/storefront/connect", json!({ "projectId": second, "storefrontStoreUrl": SHOP })).data();
    let mut all = store::all(&shop.app.read(), shop.app.account()).expect("the data is readable");
    let mut other = all.pop().expect("there are two stores");
    assert_eq!(other.project.to_string(), second);
    other.address = OTHER.to_owned();
    let saving = shop.app.data().store.write(move |tx| {
        store::save(tx, &other);
        Ok::<_, crate::engine::store::Error>(())
    });
    shop.app.wait(saving).expect("written").expect("saved");
    shop.app.post("/v1/contacts", json!({ "email": "ada@example.com", "projectId": second })).data();
    shop.applied("customers/redact", "w4", &about(OTHER));
    let there = shop.app.get(&format!("/v1/contacts?limit=100&projectId={second}")).data();
    assert_eq!((&there["contacts"], shop.contact("ada@example.com").is_some()), (&json!([]), true));
}

#[test]
fn a_store_is_synced_on_request_and_disconnected_with_its_webhooks() {
    let shop = Shop::connected();
    shop.peer.sell(vec![shopify::product(1, "Ember bowl", &[("35.00", None, true)], 2)]);
    shop.app.post(&format!("/v1/storefront/stores/{}/sync", shop.id()), json!({})).data();
    work(&shop.app);
    assert_eq!(shop.products().len(), 1, "a product that the store no longer has is removed");
    assert_eq!(shop.product("Ember bowl").expect("the product stays")["price"], "35.00");
    assert_eq!(shop.peer.hooks().len(), 16, "webhooks are not requested twice");
    let gone = shop.app.delete(&format!("/v1/storefront/stores/{}", shop.id())).data();
    assert_eq!((&gone["deleted"], &gone["webhooksRemoved"]), (&json!(true), &json!(true)));
    assert!(shop.peer.hooks().is_empty());
    assert_eq!(shop.product("Ember bowl").expect("products stay")["origin"], "imported");
    assert_eq!(shop.app.delete("/v1/storefront/stores/66f1a2b3d4e5f60718293a70").refusal().1, "RESOURCE_NOT_FOUND");
}

#[test]
fn the_three_codes_are_returned_in_exactly_their_cases() {
    let shop = Shop::new();
    let plain = |project: &str| shop.app.post("/v1/shopify/connect", json!({ "projectId": project, "shopifyStoreUrl": SHOP }));
    let own = shop.app.project.to_string();
    let refused = plain(&own);
    assert_eq!((refused.refusal().0, refused.refusal().1), (409, "PROVIDER_NOT_CONNECTED"));
    let page = refused.body["data"]["connectUrl"].as_str().expect("there is a link").to_owned();
    assert!(page.ends_with("/test/settings/stores") && refused.refusal().2.contains(&page));
    let made = shop.connect(json!({})).data();
    assert_eq!(plain(&own).data()["serverId"], made["serverId"], "the store is connected to this project already");
    let second = shop.app.another_project().to_string();
    let copied = plain(&second).data();
    assert!(copied["serverId"] != made["serverId"] && copied["projectId"] == second);
    let third = shop.app.another_project().to_string();
    let refused = plain(&third);
    assert_eq!((refused.refusal().0, refused.refusal().1), (400, "INTEGRATION_ACCOUNT_REQUIRED"));
    let body = json!({ "projectId": third, "storefrontStoreUrl": SHOP, "connectionId": made["serverId"] });
    assert_eq!(shop.app.post("/v1/storefront/connect", body).data()["projectId"], third);
    shop.peer.accept(&[]);
    let fourth = shop.app.another_project().to_string();
    let body = json!({ "projectId": fourth, "storefrontStoreUrl": SHOP, "connectionId": made["serverId"] });
    let refused = shop.app.post("/v1/storefront/connect", body);
    assert_eq!(
        (refused.refusal().0, refused.refusal().1),
        (409, "PROVIDER_RECONNECT_REQUIRED"),
        "no keys are named: {refused:?}"
    );
    assert!(refused.body["data"]["field"].is_null(), "{refused:?}");
    work(&shop.app);
    for project in [&own, &second] {
        let refused = plain(project);
        assert_eq!((refused.refusal().0, refused.refusal().1), (409, "PROVIDER_RECONNECT_REQUIRED"), "{refused:?}");
        assert!(refused.body["data"]["connectUrl"].is_string() && refused.refusal().2.contains("Invalid API key"));
    }
    assert_eq!(shop.view()["status"], "reconnect_required");
    assert_eq!(shop.view()["toolsEnabled"], json!([]));
    shop.peer.accept(&[SHOPIFY_TOKEN]);
    let again = shop.connect(json!({})).data();
    assert_eq!(again["serverId"], made["serverId"]);
    work(&shop.app);
    assert_eq!(shop.products().len(), 2);
}

#[test]
fn keys_and_addresses_are_checked_before_anything_is_stored() {
    let shop = Shop::new();
    for (change, field, part) in [
        (json!({ "storefrontStoreUrl": "https://www.acme.example" }), "storefrontStoreUrl", "myshopify.com"),
        (json!({ "storefrontStoreUrl": "" }), "storefrontStoreUrl", "must be the store's URL"),
        (json!({ "accessToken": "shpat_wrong" }), "accessToken", "rejected the keys"),
        (json!({ "accessToken": "two words" }), "accessToken", "without spaces"),
        (json!({ "apiSecret": null }), "apiSecret", "app's secret"),
        (json!({ "accessToken": null }), "clientId", "client ID"),
        (json!({ "clientId": SHOPIFY_CLIENT }), "accessToken", "either"),
        (json!({ "accessToken": null, "clientId": "3b1f" }), "clientId", "rejected the keys"),
        (json!({ "consumerKey": "ck_1" }), "consumerKey", "either"),
        (json!({ "consumerSecret": "cs_1" }), "consumerSecret", "either"),
    ] {
        let refused = shop.connect(change.clone());
        let (status, code, said) = refused.refusal();
        assert_eq!((status, code), (400, "INVALID_REQUEST"), "{change}");
        assert!(said.starts_with(field) && said.contains(part), "{said}");
    }
    shop.peer.allow(&["read_orders"]);
    assert!(shop.connect(json!({})).refusal().2.contains("read_products"));
    assert_eq!(shop.app.get("/v1/storefront/stores").data()["total"], 0);
    shop.peer.allow(&["write_products"]);
    let made = shop.connect(json!({})).data();
    assert_eq!(made["toolsEnabled"], json!(["products", "collections", "privacy"]), "only what the scopes allow is on");
}

#[test]
fn an_app_of_the_dev_dashboard_gets_a_new_token_every_day_and_after_it_was_rejected() {
    let shop = Shop::new();
    let keys = json!({ "storefrontStoreUrl": SHOP, "clientId": SHOPIFY_CLIENT, "clientSecret": SHOPIFY_SECRET });
    assert_eq!(shop.app.post_in("/v1/storefront/connect", keys).data()["status"], "connected");
    work(&shop.app);
    assert_eq!((shop.products().len(), shop.peer.grants()), (2, 1), "the token is used until it expires");
    let again = |expected| {
        let path = format!("/v1/storefront/stores/{}/sync", shop.id());
        shop.app.post(&path, json!({})).data();
        work(&shop.app);
        let view = shop.view();
        assert_eq!((&view["sync"]["stage"], &view["status"]), (&json!("idle"), &json!("connected")), "{view}");
        assert_eq!(shop.peer.grants(), expected);
    };
    shop.app.clock.advance_ms(24 * 3_600_000);
    again(2);
    // Shopify revokes tokens early, for example if the app is reinstalled.
    shop.peer.accept(&[]);
    again(3);
    // If the app's secret is replaced at Shopify, imports stop until a user enters the new secret.
    shop.peer.fail("/admin/oauth/access_token", 1, ShopFault::Status(400));
    shop.peer.accept(&[]);
    shop.app.post(&format!("/v1/storefront/stores/{}/sync", shop.id()), json!({})).data();
    work(&shop.app);
    assert_eq!(shop.view()["status"], "reconnect_required");
    let bytes = std::fs::read(shop.app.data().store.file()).expect("the file can be read");
    for secret in [SHOPIFY_SECRET, "shpat_granted"] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "the secret is sealed");
    }
}

#[test]
fn keys_that_a_new_master_key_does_not_open_are_counted_and_open_only_for_their_store() {
    let shop = Shop::new();
    shop.connect(json!({})).data();
    let other = Seal::from_key(&[8; 32]);
    let count = |seal: &Seal| sealed(&shop.app.read(), seal).expect("the data is readable");
    assert_eq!(count(&shop.app.engine().seal), SecretCount { total: 1, closed: 0 });
    assert_eq!(count(&other), SecretCount { total: 1, closed: 1 });
    let found = store::all(&shop.app.read(), shop.app.account()).expect("the data is readable").remove(0);
    assert!(keys::open(&other, &found).is_none());
    let moved = Store { id: crate::vocab::ids::StoreId::from_bytes([1; 12]), ..found };
    assert!(keys::open(&shop.app.engine().seal, &moved).is_none());
}
