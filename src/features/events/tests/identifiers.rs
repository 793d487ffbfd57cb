//! Tests how the contact of an event is found and how an event changes the contact.

use serde_json::{Value, json};

use super::Shop;
use crate::engine::outbox;

fn named(name: &str, identifiers: Value) -> Value {
    json!({ "name": name, "identifiers": identifiers })
}

#[test]
fn an_address_creates_a_non_subscribed_contact_without_a_webhook_event() {
    let shop = Shop::new();
    let pending_events = |shop: &Shop| outbox::waiting(&shop.app.read(), 100).expect("the store is readable").len();
    let before = pending_events(&shop);
    shop.stored(json!({
        "name": "signup", "identifiers": { "email": "Ada@Example.com" },
        "profile": { "firstName": "Ada", "country": "GB", "customFields": { "plan": "pro" } },
    }));
    let ada = shop.by_email("Ada@Example.com").expect("the contact exists");
    assert_eq!(ada["status"], "non-subscribed");
    assert_eq!(
        (&ada["firstName"], &ada["country"], &ada["customFields"]),
        (&json!("Ada"), &json!("GB"), &json!({ "plan": "pro" }))
    );
    shop.stored(json!({
        "name": "login", "identifiers": { "email": "ada@example.COM" }, "profile": { "lastName": "Lovelace" },
    }));
    assert_eq!(
        shop.app.get_in("/v1/contacts").data()["total"],
        1,
        "an address identifies one contact in uppercase and lowercase"
    );
    assert_eq!(pending_events(&shop), before);
    assert_eq!(
        shop.app.get_in("/v1/contacts?status=non-subscribed").data()["total"],
        1,
        "the number of non-subscribed contacts is current"
    );
}

#[test]
fn a_profile_is_merged_and_the_subscription_stays() {
    let shop = Shop::new();
    let id = shop.add("ada@example.com");
    shop.app
        .patch_in(&format!("/v1/contacts/{id}"), json!({ "phone": "112", "customFields": { "plan": "pro", "city": "Bern" } }));
    for status in ["subscribed", "unsubscribed", "bounced", "non-subscribed"] {
        shop.app.post_in("/v1/contacts/status", json!({ "email": "ada@example.com", "status": status })).data();
        shop.stored(json!({
            "name": "profile.changed", "identifiers": { "email": "ada@example.com" },
            "profile": { "firstName": "Ada", "phone": null, "customFields": { "plan": null, "step": status } },
        }));
        let ada = shop.contact(&id);
        assert_eq!(ada["status"], status);
        assert_eq!((&ada["firstName"], &ada["phone"]), (&json!("Ada"), &Value::Null));
        assert_eq!(ada["customFields"], json!({ "city": "Bern", "step": status }));
    }
    let before = shop.contact(&id)["updatedAt"].clone();
    shop.app.clock.advance_ms(1_000);
    shop.stored(json!({ "name": "login", "identifiers": { "email": "ada@example.com" }, "profile": { "firstName": "Ada" } }));
    assert_eq!(shop.contact(&id)["updatedAt"], before, "a change without effect does not update the contact");
}

#[test]
fn external_ids_are_stored_and_suffice_later() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    let ids = json!({ "externalCustomerId": "c-1", "externalCheckoutId": "k-1", "externalOrderId": "o-1" });
    let mut first = ids.clone();
    first["subscriberId"] = json!(ada);
    shop.stored(named("paid", first));
    for (kind, id) in ids.as_object().expect("the value is an object") {
        shop.stored(named("later", json!({ kind.as_str(): id })));
        let wrong = shop.report(named("later", json!({ kind.as_str(): "other" })));
        let (status, code, sentence) = wrong.refusal();
        assert_eq!((status, code), (404, "RESOURCE_NOT_FOUND"));
        assert!(sentence.starts_with(&format!("identifiers.{kind}: ")) && sentence.contains("set `email`"), "{sentence}");
        let other_case =
            shop.report(named("later", json!({ kind.as_str(): id.as_str().expect("the field is a string").to_uppercase() })));
        assert_eq!(other_case.status, 404, "IDs are compared exactly");
    }
    assert_eq!(shop.events_of(&ada).len(), 4);
    let mixed = json!({ "externalCustomerId": "k-1" });
    assert_eq!(shop.report(named("later", mixed)).status, 404, "each kind of ID is separate");
    let project = shop.app.another_project();
    let elsewhere = json!({ "projectId": project, "name": "later", "identifiers": { "externalOrderId": "o-1" } });
    assert_eq!(shop.app.post("/v1/events", elsewhere).status, 404, "the IDs of each project are separate");
}

#[test]
fn the_first_identifier_that_matches_a_contact_decides() {
    let shop = Shop::new();
    let [ada, grace] = ["ada@example.com", "grace@example.com"].map(|email| shop.add(email));
    shop.stored(named("paid", json!({ "subscriberId": grace, "externalCustomerId": "c-1" })));
    let about = |identifiers: Value| {
        let id = shop.stored(named("x", identifiers));
        let owners = [&ada, &grace].map(|contact| shop.events_of(contact).iter().any(|event| event["eventId"] == id.as_str()));
        match owners {
            [true, false] => "ada",
            [false, true] => "grace",
            _ => "another contact",
        }
    };
    assert_eq!(
        about(json!({ "email": "ada@example.com", "subscriberId": grace })),
        "ada",
        "the email takes precedence over the ID in a forwarded link"
    );
    assert_eq!(about(json!({ "email": "new@example.com", "subscriberId": grace })), "another contact");
    assert_eq!(about(json!({ "subscriberId": "0123456789abcdef01234567", "externalCustomerId": "c-1" })), "grace");
    assert_eq!(about(json!({ "subscriberId": ada, "externalCustomerId": "c-1" })), "ada");
    assert_eq!(about(json!({ "externalCustomerId": "c-1" })), "ada", "an ID belongs to its last contact");
    assert_eq!(
        about(json!({ "externalCustomerId": "unknown", "externalCheckoutId": "unknown", "subscriberId": grace })),
        "grace"
    );
    assert_eq!(about(json!({ "externalCheckoutId": "unknown" })), "grace");
}

#[test]
fn an_id_does_not_restore_a_deleted_contact_and_an_address_creates_a_new_one() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    shop.stored(named("paid", json!({ "subscriberId": ada, "externalOrderId": "o-1" })));
    shop.app.delete_in(&format!("/v1/contacts/{ada}")).data();
    assert_eq!(shop.report(named("later", json!({ "externalOrderId": "o-1" }))).status, 404);
    assert_eq!(shop.report(named("later", json!({ "subscriberId": ada }))).status, 404);
    shop.stored(named("later", json!({ "email": "ada@example.com", "externalOrderId": "o-1" })));
    let recreated = shop.by_email("ada@example.com").expect("the contact exists");
    assert_eq!(recreated["status"], "non-subscribed");
    assert_ne!(recreated["id"], ada.as_str());
}

#[test]
fn a_refused_event_leaves_nothing_behind() {
    let shop = Shop::new();
    let long = "x".repeat(17_000);
    let too_large = json!({
        "name": "unheard.of", "identifiers": { "email": "new@example.com", "externalCustomerId": "c-9" },
        "profile": { "customFields": { "essay": long } },
    });
    let refused = shop.report(too_large.clone());
    assert!(refused.refusal().2.starts_with("profile.customFields: "), "{refused:?}");
    let response = shop.batch(json!([too_large, { "name": "ok", "identifiers": { "email": "b@example.com" } }])).data();
    assert_eq!((&response["accepted"], &response["invalid"][0]["field"]), (&json!(1), &json!("profile.customFields")));
    assert!(shop.by_email("new@example.com").is_none());
    assert_eq!(shop.report(named("x", json!({ "externalCustomerId": "c-9" }))).status, 404);
    let known = shop.add("ada@example.com");
    let half = json!({ "a": "x".repeat(9_000) });
    shop.stored(json!({ "name": "x", "identifiers": { "subscriberId": known }, "profile": { "customFields": half } }));
    let over = json!({ "name": "x", "identifiers": { "subscriberId": known }, "profile": { "customFields": { "b": "x".repeat(9_000) } } });
    assert_eq!(shop.report(over).status, 400, "merged fields must stay within the limits of a contact");
    assert_eq!(shop.events_of(&known).len(), 1);
}

#[test]
fn rows_with_one_new_address_in_a_batch_create_one_contact() {
    let shop = Shop::new();
    let row =
        |name: &str, email: &str| json!({ "name": name, "identifiers": { "email": email }, "profile": { "firstName": name } });
    let response =
        shop.batch(json!([row("One", "new@example.com"), row("Two", "NEW@example.com"), row("Three", "other@example.com")]));
    assert_eq!(response.data()["accepted"], 3);
    assert_eq!(shop.app.get_in("/v1/contacts").data()["total"], 2);
    let new = shop.by_email("new@example.com").expect("the contact exists");
    assert_eq!(new["firstName"], "Two", "rows are processed in order");
    assert_eq!(shop.events_of(new["id"].as_str().expect("the field is a string")).len(), 2);
}
