//! Tests connected stores with the shipped program and a shop on loopback that behaves like Shopify: from the connection to an email with
//! its products, the revenue of an order, its refund, and the erasure of the customer; also through a `kill -9`, and by the forms.

use http::StatusCode;
use serde_json::{Value, json};

use super::events::{Stage, until};
use super::support::browser::Browser;
use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::stores::shopify::{self, SHOP, SHOPIFY_CLIENT, SHOPIFY_SECRET, SHOPIFY_TOKEN, ShopFault, Shopify};
use super::support::{Client, Server, operation};
use super::users::owned;

/// Settings that send the requests for every shop to this server.
pub fn settings(peer: &Shopify) -> String {
    let url = peer.url();
    format!("{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n[connections]\nshopify_url = \"{url}\"\n")
}

fn keys(project: &str) -> Value {
    json!({ "projectId": project, "storefrontStoreUrl": SHOP, "accessToken": SHOPIFY_TOKEN, "apiSecret": SHOPIFY_SECRET })
}

async fn store(client: &Client) -> Value {
    client.data("storefront.list", json!({})).await["stores"][0].clone()
}

async fn until_imported(client: &Client) -> Value {
    until(async || Some(store(client).await).filter(|store| store["sync"]["stage"] == "idle")).await
}

/// Sends a webhook; returns the status and whether it had an effect.
async fn webhook(client: &Client, (topic, id): (&str, &str), body: &Value) -> (u16, Value) {
    let url = store(client).await["webhookUrl"].as_str().expect("a URL").to_owned();
    let token = url.rsplit('/').next().expect("a token").to_owned();
    let body = body.to_string();
    let mut call = Call::new(operation("storefront.receive"), json!({ "token": token })).body("", body.clone());
    for (name, value) in shopify::headers(topic, id, &body) {
        call = call.header(name, value);
    }
    let reply = client.with_key(None).send(call).await;
    (reply.status, reply.json()["data"]["applied"].clone())
}

/// Returns an order of Ada, paid now.
fn order(id: u64) -> Value {
    json!({
        "id": id, "name": format!("#{id}"), "email": "ada@example.com", "currency": "EUR", "total_price": "49.90",
        "financial_status": "paid", "customer": { "id": 700, "email": "ada@example.com", "first_name": "Ada" }, "line_items": [],
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_connected_sells_refunds_and_forgets_a_customer() {
    let peer = Shopify::start();
    let server = Server::start(&settings(&peer));
    let client = server.all();
    let stage = Stage::new(&client).await;
    let refused = client.call("storefront.connect", json!({ "projectId": stage.project, "storefrontStoreUrl": SHOP })).await;
    refused.refused(StatusCode::CONFLICT, "PROVIDER_NOT_CONNECTED");
    let made = client.data("storefront.connect", keys(&stage.project)).await;
    assert_eq!((&made["status"], &made["store"]), (&json!("connected"), &json!("Acme Pottery")));
    assert_eq!(until_imported(&client).await["sync"]["products"], 2);

    // The product can be used in an email.
    let prompt = "Announce the Ember bowl, now on sale";
    let input = json!({ "projectId": stage.project, "prompt": prompt, "languages": ["en"], "count": 1 });
    let started = client.data("emails.generate", input).await;
    let email = until(async || {
        let status = client.data("emails.status", json!({ "conversationId": started["conversationId"] })).await;
        (status["status"] == "completed").then_some(status)
    })
    .await;
    let html = email["result"]["emails"][0]["html"].as_str().expect("HTML");
    assert!(html.contains("Ember bowl") && html.contains("36"), "{html}");

    // A click leads to an order, which is revenue.
    stage.click(&client).await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    for id in ["w1", "w1", "w2"] {
        assert_eq!(webhook(&client, ("orders/paid", id), &order(1)).await.0, 200);
    }
    let revenue = |amount: f64| json!({ "conversions": 1, "revenue": amount, "currency": "EUR", "source": "events" });
    stage.until_conversion(&client, revenue(49.9)).await;
    let paid_back = json!([{ "kind": "refund", "status": "success", "amount": "9.90", "currency": "EUR" }]);
    let refund = json!({ "id": 9, "order_id": 1, "transactions": paid_back });
    for id in ["w3", "w4"] {
        assert_eq!(webhook(&client, ("refunds/create", id), &refund).await.0, 200);
    }
    stage.until_conversion(&client, json!({ "conversions": 1, "revenue": 40, "currency": "EUR", "source": "events" })).await;

    // The shop passes on Ada's requests for her data and for its erasure.
    let customer = json!({ "id": 700, "email": "ada@example.com" });
    let asked = json!({ "customer": customer, "data_request": { "id": 9999 } });
    assert_eq!(webhook(&client, ("customers/data_request", "w5"), &asked).await, (200, json!(true)));
    let contact = store(&client).await["dataRequests"][0]["contactId"].clone();
    assert_eq!(contact, stage.ada.as_str());
    let export = client.data("tracking.personal_data", json!({ "id": contact, "projectId": stage.project })).await;
    assert_eq!(export["payments"].as_array().map(Vec::len), Some(2));
    let redact = json!({ "customer": customer, "orders_to_redact": [1] });
    assert_eq!(webhook(&client, ("customers/redact", "w6"), &redact).await, (200, json!(true)));
    let gone = client.call("contacts.get", json!({ "id": contact, "projectId": stage.project })).await;
    gone.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    client.data("storefront.disconnect", json!({ "serverId": made["serverId"] })).await;
    assert!(peer.hooks().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_continues_after_a_kill_and_a_revoked_token() {
    let peer = Shopify::start();
    peer.serve_customers((0..12_000).map(|number| shopify::customer(number, "SUBSCRIBED")).collect());
    let mut server = Server::start(&settings(&peer));
    let client = server.all();
    let project = client.project("Acme").await;
    let made = client.data("storefront.connect", keys(&project)).await;
    until(async || (store(&client).await["sync"]["customersImported"].as_u64() > Some(0)).then_some(())).await;
    server.kill();
    peer.accept(&[]);
    server.serve();
    let client = client.at(server.address());
    // The import may have ended just before the kill.
    client.data("storefront.sync", json!({ "serverId": made["serverId"] })).await;
    until(async || (store(&client).await["status"] == "reconnect_required").then_some(())).await;
    let again = client.call("storefront.connect", json!({ "projectId": project, "storefrontStoreUrl": SHOP })).await;
    again.refused(StatusCode::CONFLICT, "PROVIDER_RECONNECT_REQUIRED");
    peer.accept(&[SHOPIFY_TOKEN]);
    peer.fail("/files/", 1, ShopFault::Cut);
    client.data("storefront.connect", keys(&project)).await;
    until_imported(&client).await;
    assert_eq!(client.total(json!({ "projectId": project, "status": "subscribed" })).await, 12_000);
    server.signal("TERM");
    server.wait();
    let mut texts = vec![server.log().into_bytes()];
    for name in ["control.redb", "test.redb", "live.redb"] {
        texts.push(std::fs::read(server.data().join(name)).expect("readable"));
    }
    for secret in [SHOPIFY_TOKEN, SHOPIFY_SECRET] {
        let is_there = texts.iter().any(|text| text.windows(secret.len()).any(|window| window == secret.as_bytes()));
        assert!(!is_there, "a key is in a file or in the log");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_connected_and_disconnected_by_forms() {
    let peer = Shopify::start();
    let server = owned(&settings(&peer));
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let page = browser.get("/test/settings/stores").await;
    assert!(page.text.contains("Connect a store") && page.text.contains("read_products"), "{}", page.text);
    let csrf = page.csrf().to_owned();
    let fields = |token: &'static str| {
        vec![
            ("csrf", csrf.clone()),
            ("act", "connect".to_owned()),
            ("platform", "shopify".to_owned()),
            ("projectId", project.clone()),
            ("storefrontStoreUrl", SHOP.to_owned()),
            ("accessToken", token.to_owned()),
            ("apiSecret", SHOPIFY_SECRET.to_owned()),
            ("customers", "subscribed-only".to_owned()),
        ]
    };
    let pairs = |fields: &[(&'static str, String)]| fields.iter().map(|(name, value)| (*name, value.clone())).collect::<Vec<_>>();
    let wrong = pairs(&fields("shpat_wrong"));
    let wrong: Vec<(&str, &str)> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = browser.post("/test/settings/stores", &wrong).await;
    assert!(
        refused.status == 400 && refused.text.contains("rejected the keys") && !refused.text.contains("shpat_wrong"),
        "{}",
        refused.text
    );
    let right = pairs(&fields(SHOPIFY_TOKEN));
    let right: Vec<(&str, &str)> = right.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let made = browser.post("/test/settings/stores", &right).await;
    assert!(browser.get(made.location()).await.text.contains("Store connected."));
    let client = server.all();
    until_imported(&client).await;
    let list = browser.get("/test/settings/stores").await;
    assert!(
        list.text.contains("up to date") && list.text.contains("2 products") && !list.text.contains(SHOPIFY_TOKEN),
        "{}",
        list.text
    );
    let id = list.value("id").to_owned();
    for (act, said) in [("sync", "Import started."), ("disconnect", "Store disconnected.")] {
        let done = browser.post("/test/settings/stores", &[("csrf", csrf.as_str()), ("act", act), ("id", &id)]).await;
        assert!(browser.get(done.location()).await.text.contains(said));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_is_connected_by_installing_the_app() {
    const LIST: &str = "/test/settings/stores";
    let peer = Shopify::start();
    let app = format!("shopify_client_id = \"{SHOPIFY_CLIENT}\"\nshopify_client_secret = \"{SHOPIFY_SECRET}\"\n");
    let mut server = owned(&format!("{}{app}", settings(&peer)));
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let csrf = browser.get(LIST).await.csrf().to_owned();
    let form = |url: &'static str| {
        [("csrf", csrf.clone()), ("act", "install".into()), ("projectId", project.clone()), ("storefrontStoreUrl", url.into())]
    };
    let wrong = form("https://acme.example");
    let wrong: Vec<(&str, &str)> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = browser.post(LIST, &wrong).await;
    assert!(refused.status == 400 && refused.text.contains("myshopify.com domain"), "{}", refused.text);
    let right = form(SHOP);
    let right: Vec<(&str, &str)> = right.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let started = browser.post(LIST, &right).await;
    let link = started.text.split("href=\"").find(|part| part.starts_with(&peer.url())).and_then(|part| part.split('"').next());
    let link = link.unwrap_or_else(|| panic!("{}", started.text)).replace("&amp;", "&");
    let back = peer.install(&link);
    let path = &back[back.find("/connections/").expect("the callback page")..];
    // Neither another session nor another shop can complete the installation.
    let mut other = Browser::new(&server);
    other.sign_in("/test/").await;
    let moved = other.get(path).await.location().to_owned();
    let refused = other.get(&moved).await;
    assert!(refused.status == 400 && refused.text.contains("started in another session"), "{}", refused.text);
    let moved = browser.get(path).await.location().to_owned();
    assert!(moved.starts_with("/test/settings/stores/complete?"), "{moved}");
    let forged = browser.get(&moved.replace(SHOP, "evil.myshopify.com")).await;
    assert!(forged.status == 400 && forged.text.contains("Shopify did not sign"), "{}", forged.text);
    let done = browser.get(&moved).await;
    assert!(done.status == 303, "{}", done.text);
    assert!(browser.get(done.location()).await.text.contains("Store connected."));
    // A repeated callback has no further effect: Shopify gets the code once, and there is one store.
    let again = browser.get(&moved).await;
    assert_eq!((again.status, again.location()), (done.status, done.location()), "{}", again.text);
    let exchanges = peer.asked().into_iter().filter(|asked| asked.target == "/admin/oauth/access_token").count();
    let stores = server.all().data("storefront.list", json!({})).await;
    assert_eq!((exchanges, &stores["total"]), (1, &json!(1)), "{stores}");
    assert_eq!(until_imported(&server.all()).await["sync"]["products"], 2);
    assert!(browser.get("/test/settings/audit?in=data").await.text.contains("storefront.complete"));
    server.signal("TERM");
    server.wait();
    let mut texts = vec![server.log().into_bytes()];
    for name in ["control.redb", "test.redb", "live.redb"] {
        texts.push(std::fs::read(server.data().join(name)).expect("readable"));
    }
    for secret in ["shpat_installed_1", "shprt_1", SHOPIFY_SECRET, "code=code1"] {
        let is_there = texts.iter().any(|text| text.windows(secret.len()).any(|window| window == secret.as_bytes()));
        assert!(!is_there, "{secret} is in a file or in the log");
    }
}
