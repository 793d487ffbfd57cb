//! Tests of a misbehaving shop: rate limits, revoked tokens, partial files, forged webhooks, and errors after a request has taken effect.

use serde_json::json;

use super::{Shop, order, work};
use crate::testing::stores::shopify::{self, SHOPIFY_TOKEN, ShopFault};

#[test]
fn a_forged_webhook_has_no_effect() {
    let shop = Shop::connected();
    let body = order(1, "ada@example.com").to_string();
    let good = shopify::headers("orders/paid", "w1", &body);
    let without = |name: &str| good.iter().filter(|(known, _)| *known != name).cloned().collect::<Vec<_>>();
    let with = |name: &'static str, value: &str| [without(name), vec![(name, value.to_owned())]].concat();
    for headers in [
        without("x-shopify-hmac-sha256"),
        with("x-shopify-hmac-sha256", ""),
        with("x-shopify-hmac-sha256", "bm90IHRoZSBzaWduYXR1cmU="),
        without("x-shopify-topic"),
        without("x-shopify-webhook-id"),
    ] {
        let (status, answer) = shop.send(&headers, &body);
        assert_eq!((status, &answer["code"]), (401, &json!("INVALID_SIGNATURE")), "{headers:?}");
    }
    let (status, _) = shop.send(&good, &format!("{body} "));
    assert_eq!(status, 401, "the signature is that of another body");
    assert!(shop.contact("ada@example.com").is_none());
    let (status, answer) = shop.webhook("orders/paid", "w2", &json!({ "id": "one" }));
    assert_eq!((status, &answer["code"]), (400, &json!("INVALID_REQUEST")), "{answer}");
    let (status, _) = shop.send(&good, &body);
    assert_eq!(status, 200, "the real webhook still has its effect");
    assert!(shop.contact("ada@example.com").is_some());
}

#[test]
fn an_import_survives_every_kind_of_broken_file() {
    for (part, fault) in [
        ("/files/", ShopFault::Cut),
        ("/files/", ShopFault::Short),
        ("/files/", ShopFault::Status(503)),
        ("/files/", ShopFault::Status(404)),
        ("query Operation", ShopFault::Failed),
        ("query Operation", ShopFault::Status(502)),
        ("mutation Export", ShopFault::StatusAfterEffect(502)),
        ("mutation Export", ShopFault::Refused),
        ("mutation Subscribe", ShopFault::StatusAfterEffect(500)),
    ] {
        let shop = Shop::new();
        shop.connect(json!({})).data();
        shop.peer.fail(part, 2, fault);
        work(&shop.app);
        work(&shop.app);
        assert_eq!((shop.products().len(), &shop.view()["sync"]["stage"]), (2, &json!("idle")), "{fault:?}: {}", shop.view());
        let mut hooks = shop.peer.hooks();
        hooks.sort();
        hooks.dedup();
        assert_eq!((hooks.len(), shop.peer.hooks().len()), (16, 16), "{fault:?}: every webhook exists once");
    }
}

#[test]
fn a_partial_file_is_never_imported_in_part() {
    let shop = Shop::connected();
    shop.peer.fail("/files/", 99, ShopFault::Short);
    shop.app.post(&format!("/v1/storefront/stores/{}/sync", shop.id()), json!({})).data();
    work(&shop.app);
    assert_eq!(shop.products().len(), 2, "no product is removed because the file lacks it");
    assert!(shop.view()["sync"]["waiting"].as_str().is_some_and(|said| said.contains("lines instead of")), "{}", shop.view());
}

#[test]
fn the_limit_of_points_pauses_the_requests() {
    let shop = Shop::new();
    shop.connect(json!({})).data();
    shop.peer.fail("mutation Export", 1, ShopFault::Throttled);
    for _ in 0..3 {
        work_once(&shop);
    }
    let waiting = shop.view()["sync"]["waiting"].clone();
    assert!(waiting.as_str().is_some_and(|said| said.contains("limits the requests from Mailmill")), "{waiting}");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    work(&shop.app);
    assert_eq!(shop.products().len(), 2);
}

// Regression: a shop that was down requested a pause, but Mailmill sent the next request before the pause ended.
#[test]
fn a_shop_that_is_down_is_not_asked_before_the_time_that_it_states() {
    let shop = Shop::new();
    shop.connect(json!({})).data();
    shop.peer.fail("mutation Subscribe", 1, ShopFault::Down(600));
    work_once(&shop);
    let asked = shop.peer.asked().len();
    work(&shop.app);
    assert_eq!((shop.peer.asked().len(), &shop.view()["status"]), (asked, &json!("connected")), "{}", shop.view());
    // Entering the keys again resumes the import.
    shop.connect(json!({})).data();
    work(&shop.app);
    assert_eq!((&shop.view()["sync"]["stage"], shop.products().len()), (&json!("idle"), 2), "{}", shop.view());
}

fn work_once(shop: &Shop) {
    let engine = shop.app.engine().clone();
    shop.app.wait(super::worker::sync(engine, crate::vocab::environment::Environment::Test)).expect("the step succeeds");
}

/// While sending is on hold, stores are not contacted: the data may be a copy, and the original installation may still import from the same
/// store with the same tokens.
#[test]
fn a_store_is_not_contacted_while_sending_is_on_hold() {
    let shop = Shop::new();
    shop.connect(json!({})).data();
    let asked = shop.peer.asked().len();
    shop.app.put_on_hold();
    work(&shop.app);
    assert_eq!((shop.peer.asked().len(), shop.products().len()), (asked, 0));
    shop.app.engine().hold.release();
    work(&shop.app);
    assert_eq!((&shop.view()["sync"]["stage"], shop.products().len()), (&json!("idle"), 2));
}

#[test]
fn a_token_revoked_during_an_import_stops_it_until_a_new_one_is_entered() {
    let shop = Shop::new();
    shop.connect(json!({})).data();
    work_once(&shop);
    shop.peer.accept(&[]);
    work(&shop.app);
    let view = shop.view();
    assert_eq!((&view["status"], shop.products().len()), (&json!("reconnect_required"), 0));
    let before = shop.peer.asked().len();
    work(&shop.app);
    assert_eq!(shop.peer.asked().len(), before, "a rejected token is not sent again and again");
    // Webhooks are still accepted, because their signature does not depend on the token.
    shop.applied("orders/paid", "w1", &order(1, "ada@example.com"));
    shop.peer.accept(&["shpat_new"]);
    shop.connect(json!({ "accessToken": "shpat_new" })).data();
    work(&shop.app);
    assert_eq!((shop.products().len(), &shop.view()["status"]), (2, &json!("connected")));
    shop.applied("app/uninstalled", "w2", &json!({ "id": 1 }));
    let view = shop.view();
    assert_eq!(view["status"], "reconnect_required");
    assert!(view["error"].as_str().is_some_and(|said| said.contains("removed from the store")), "{view}");
    shop.peer.accept(&[SHOPIFY_TOKEN]);
}

// Regression: the keys of a frozen store were reported as rejected, so its import stopped until a user entered the same keys
// again.
#[test]
fn a_frozen_or_locked_store_keeps_its_keys_and_is_imported_when_it_is_open_again() {
    let shop = Shop::new();
    for (status, said) in [(402, "frozen until its owner pays"), (423, "locked; its owner must contact")] {
        shop.peer.fail("query Shop ", 1, ShopFault::Status(status));
        let refused = shop.connect(json!({}));
        assert_eq!((refused.refusal().0, refused.refusal().1), (503, "PROVIDER_UNAVAILABLE"), "{refused:?}");
        assert!(refused.refusal().2.contains(said), "{refused:?}");
    }
    shop.connect(json!({})).data();
    shop.peer.fail("mutation Subscribe", 1, ShopFault::Status(402));
    work_once(&shop);
    let view = shop.view();
    assert_eq!(view["status"], "connected", "{view}");
    assert!(view["sync"]["waiting"].as_str().is_some_and(|waiting| waiting.contains("The store is frozen")), "{view}");
    work(&shop.app);
    assert_eq!((shop.products().len(), &shop.view()["sync"]["stage"]), (2, &json!("idle")));
}

// Regression: Shopify denies some apps access to customers. A store with such an app had to be reconnected after each import.
#[test]
fn a_store_that_denies_access_to_its_customers_is_imported_without_them() {
    let shop = Shop::new();
    shop.peer.fail("{ customers {", 9, ShopFault::Denied);
    shop.connect(json!({})).data();
    work(&shop.app);
    let view = shop.view();
    assert_eq!((&view["status"], &view["sync"]["stage"]), (&json!("connected"), &json!("idle")), "{view}");
    assert!(view["sync"]["waiting"].as_str().is_some_and(|said| said.contains("denies access to the customers")), "{view}");
    assert!(!view["toolsEnabled"].to_string().contains("customers"), "{view}");
    shop.peer.sell(vec![shopify::product(1, "Ember bowl", &[("35.00", None, true)], 2)]);
    shop.app.post(&format!("/v1/storefront/stores/{}/sync", shop.id()), json!({})).data();
    work(&shop.app);
    assert_eq!(shop.products().len(), 1, "the products stay up to date");
}

#[test]
fn a_refused_topic_does_not_prevent_the_others() {
    let shop = Shop::new();
    shop.peer.fail("CUSTOMERS_CREATE", 9, ShopFault::Refused);
    shop.connect(json!({})).data();
    work(&shop.app);
    assert_eq!((shop.peer.hooks().len(), &shop.view()["sync"]["webhooksOff"]), (15, &json!("the test refuses this")));
}

#[test]
fn a_store_that_refuses_webhooks_is_imported_without_them() {
    let shop = Shop::new();
    shop.peer.fail("mutation Subscribe", 99, ShopFault::Refused);
    shop.connect(json!({})).data();
    work(&shop.app);
    let view = shop.view();
    assert_eq!((shop.products().len(), &view["sync"]["webhooksOff"]), (2, &json!("the test refuses this")), "{view}");
    assert_eq!(view["toolsEnabled"], json!(["products", "collections", "customers"]));
}

#[test]
fn events_of_a_shop_with_a_wrong_clock_are_recorded_at_the_current_time() {
    let shop = Shop::connected();
    let mut ahead = order(1, "ada@example.com");
    ahead["processed_at"] = json!("2027-06-01T00:00:00Z");
    shop.applied("orders/paid", "w1", &ahead);
    let mut old = order(2, "bob@example.com");
    old["processed_at"] = json!("2024-06-01T00:00:00Z");
    let (status, answer) = shop.webhook("orders/paid", "w2", &old);
    assert_eq!(
        (status, &answer["data"]["applied"]),
        (200, &json!(false)),
        "orders older than the events that are kept are left out"
    );
    assert_eq!(shop.events("ada@example.com"), ["order.paid"]);
}
