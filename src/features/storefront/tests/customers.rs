//! Tests that customers are imported with their consent status.

use serde_json::{Value, json};

use super::{Shop, work};
use crate::testing::stores::shopify::{self, ShopFault, customer};

/// Returns the marketing state of a customer. Consecutive numbers cycle through the five states.
fn state(number: usize) -> &'static str {
    ["SUBSCRIBED", "UNSUBSCRIBED", "NOT_SUBSCRIBED", "PENDING", "INVALID"][number % 5]
}

fn count(shop: &Shop, status: &str) -> u64 {
    let found = shop.app.get_in(&format!("/v1/contacts?limit=1&status={status}"));
    found.body["count"].as_u64().or(found.body["data"]["total"].as_u64()).expect("the list has a total")
}

#[test]
fn customers_are_imported_with_their_consent_and_never_subscribed_again() {
    for (mode, silent) in [(None, 0), (Some("include-all"), 4_800)] {
        let shop = Shop::new();
        // Bob (`person0`) unsubscribed in Mailmill, but the shop still records his consent.
        shop.app.post_in("/v1/contacts", json!({ "email": "person0@example.com", "status": "unsubscribed" })).data();
        let mut customers: Vec<Value> = (0..12_000).map(|number| customer(number, state(number))).collect();
        customers.push(json!({ "id": "gid://shopify/Customer/99999", "defaultEmailAddress": null, "tags": [] }));
        shop.peer.serve_customers(customers);
        shop.peer.fail("/files/", 1, ShopFault::Cut);
        shop.connect(json!({ "customers": mode })).data();
        work(&shop.app);
        work(&shop.app);
        let sync = shop.view()["sync"].clone();
        assert_eq!(sync["stage"], "idle", "{sync}");
        assert_eq!(
            (count(&shop, "subscribed"), count(&shop, "unsubscribed"), count(&shop, "bounced"), count(&shop, "non-subscribed")),
            (2_399, 2_401, 2_400, silent),
            "{sync}"
        );
        assert_eq!(sync["customersExcluded"].as_u64(), Some(4_800 - silent));
        let bob = shop.contact("person0@example.com");
        assert!(bob.is_none_or(|bob| bob["status"] == "unsubscribed"));
    }
}

#[test]
fn a_change_of_consent_at_the_shop_unsubscribes_and_never_resubscribes() {
    let shop = Shop::connected();
    let consent = |email: &str, state: &str| json!({ "customer_id": 7, "email_address": email, "email_marketing_consent": { "state": state, "opt_in_level": "single_opt_in" } });
    let status = |email: &str| shop.contact(email).map(|contact| contact["status"].clone());
    let topic = "customers_email_marketing_consent/update";
    shop.applied(topic, "w1", &consent("ada@example.com", "subscribed"));
    assert_eq!(status("ada@example.com"), Some(json!("subscribed")));
    shop.applied(topic, "w2", &consent("ada@example.com", "unsubscribed"));
    shop.applied(topic, "w3", &consent("ada@example.com", "subscribed"));
    assert_eq!(status("ada@example.com"), Some(json!("unsubscribed")));
    let (_, ignored) = shop.webhook(topic, "w4", &consent("eve@example.com", "not_subscribed"));
    assert_eq!((&ignored["data"]["applied"], status("eve@example.com")), (&json!(false), None));
    let customer = json!({
        "id": 8, "email": "cyd@example.com", "first_name": "Cyd", "tags": "vip, regular",
        "email_marketing_consent": { "state": "subscribed", "consent_updated_at": "2025-12-01T00:00:00Z" },
    });
    shop.applied("customers/create", "w5", &customer);
    let cyd = shop.contact("cyd@example.com").expect("the contact exists");
    assert_eq!((&cyd["status"], &cyd["firstName"]), (&json!("subscribed"), &json!("Cyd")));
    assert!(cyd["tags"].to_string().contains("Shopify customers") && cyd["tags"].to_string().contains("vip"), "{cyd}");
}

#[test]
fn a_store_without_an_import_of_customers_still_unsubscribes_them() {
    let shop = Shop::new();
    shop.connect(json!({ "customers": "none" })).data();
    work(&shop.app);
    shop.app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "status": "subscribed" })).data();
    let topic = "customers_email_marketing_consent/update";
    let with = |email: &str, state: &str| json!({ "email_address": email, "email_marketing_consent": { "state": state } });
    shop.applied(topic, "w1", &with("ada@example.com", "unsubscribed"));
    assert_eq!(shop.contact("ada@example.com").expect("the contact exists")["status"], "unsubscribed");
    let (_, ignored) = shop.webhook(topic, "w2", &with("bob@example.com", "subscribed"));
    assert_eq!((&ignored["data"]["applied"], shop.contact("bob@example.com")), (&json!(false), None));
    assert!(!shop.view()["toolsEnabled"].to_string().contains("customers"));
}

// Regression: a delayed webhook replaced a customer's newer name, or unsubscribed a customer who had subscribed again.
#[test]
fn a_late_webhook_replaces_neither_newer_data_nor_newer_consent() {
    let shop = Shop::new();
    shop.peer.serve_customers(vec![customer(8, "SUBSCRIBED")]);
    shop.connect(json!({})).data();
    work(&shop.app);
    let email = "person8@example.com";
    let seen = || {
        let contact = shop.contact(email).expect("the contact exists");
        (contact["firstName"].clone(), contact["status"].clone())
    };
    let changed = |name: &str, (at, state, consent_at): (&str, &str, &str)| {
        json!({
            "id": 8, "email": email, "first_name": name, "updated_at": at,
            "email_marketing_consent": { "state": state, "consent_updated_at": consent_at },
        })
    };
    // The import stored the customer's data as of June 1 and the consent as of January 1. Both are newer than those in this webhook.
    let late = changed("Old", ("2025-05-31T00:00:00Z", "unsubscribed", "2024-12-31T00:00:00Z"));
    let (status, answer) = shop.webhook("customers/update", "w1", &late);
    assert_eq!((status, &answer["data"]["applied"]), (200, &json!(false)), "{answer}");
    assert_eq!(seen(), (json!("Person8"), json!("subscribed")));
    shop.applied("customers/update", "w2", &changed("New", ("2025-07-01T00:00:00Z", "subscribed", "2025-01-01T00:00:00Z")));
    let topic = "customers_email_marketing_consent/update";
    let consent = |state: &str, at: Option<&str>| {
        json!({
            "customer_id": 8, "email_address": email, "email_marketing_consent": { "state": state, "consent_updated_at": at },
        })
    };
    let (_, answer) = shop.webhook(topic, "w3", &consent("unsubscribed", Some("2024-12-31T00:00:00Z")));
    assert_eq!((&answer["data"]["applied"], seen()), (&json!(false), (json!("New"), json!("subscribed"))));
    // If a webhook about consent does not state when the consent changed, the time when Shopify triggered the webhook is used.
    let body = consent("unsubscribed", None).to_string();
    for (id, at, applied) in [("w4", "2024-12-30T00:00:00Z", false), ("w5", "2025-07-02T00:00:00.123456789Z", true)] {
        let mut headers = shopify::headers(topic, id, &body);
        headers.push(("x-shopify-triggered-at", at.to_owned()));
        assert_eq!(shop.send(&headers, &body).1["data"]["applied"], applied, "{at}");
    }
    assert_eq!(seen(), (json!("New"), json!("unsubscribed")));
    // An import that reads the customer's earlier state also has no effect.
    shop.app.post(&format!("/v1/storefront/stores/{}/sync", shop.id()), json!({})).data();
    work(&shop.app);
    assert_eq!(seen(), (json!("New"), json!("unsubscribed")));
}

// Regression: since version 2025-01 of Shopify's API, only the webhook about consent contains the consent. A webhook with a subscribed
// customer's new name had no effect, because the customer appeared not to be subscribed.
#[test]
fn a_change_without_consent_updates_only_contacts_that_exist_and_keeps_their_status() {
    let shop = Shop::new();
    shop.peer.serve_customers(vec![customer(8, "SUBSCRIBED")]);
    shop.connect(json!({})).data();
    work(&shop.app);
    let renamed = |id: u64| {
        let email = format!("person{id}@example.com");
        json!({ "id": id, "email": email, "first_name": "Ren", "updated_at": "2025-12-01T00:00:00Z" })
    };
    shop.applied("customers/update", "w1", &renamed(8));
    let contact = shop.contact("person8@example.com").expect("the contact exists");
    assert_eq!((&contact["firstName"], &contact["status"]), (&json!("Ren"), &json!("subscribed")));
    assert!(contact["tags"].to_string().contains("regular"), "{contact}");
    let (_, answer) = shop.webhook("customers/create", "w2", &renamed(9));
    assert_eq!((&answer["data"]["applied"], shop.contact("person9@example.com")), (&json!(false), None));
}
