//! Tests recording single events and batches: keys, responses, order and limits.

use serde_json::{Value, json};

use super::{Shop, at};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

fn login(email: &str) -> Value {
    json!({ "name": "login", "identifiers": { "email": email } })
}

fn keyed(email: &str, key: &str) -> Value {
    json!({ "name": "login", "identifiers": { "email": email }, "dedupeKey": key })
}

#[test]
fn an_event_is_stored_as_received_and_listed_newest_first() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    let mut paid = login("ada@example.com");
    paid["name"] = "purchase.completed".into();
    paid["identifiers"]["externalOrderId"] = "order 1".into();
    paid["properties"] = json!({ "value": 49.9, "items": [{ "sku": "T-1" }] });
    paid["occurredAt"] = "2025-12-31T23:00:00+01:00".into();
    paid["dedupeKey"] = "k".into();
    let id = shop.stored(paid);
    shop.app.clock.advance_ms(5);
    shop.stored(login("ada@example.com"));
    let events = shop.events_of(&ada);
    assert_eq!(
        (&events[0]["name"], &events[0]["occurredAt"], &events[0]["properties"]),
        (&json!("login"), &json!(at(5)), &Value::Null)
    );
    assert_eq!(
        events[1],
        json!({
            "eventId": id, "name": "purchase.completed", "occurredAt": "2025-12-31T22:00:00.000Z", "receivedAt": at(0),
            "identifiers": { "externalOrderId": "order 1" },
            "properties": { "value": 49.9, "items": [{ "sku": "T-1" }] }, "dedupeKey": "k",
        })
    );
    let part = |query: &str| shop.app.get_in(&format!("/v1/contacts/{ada}/events?limit=1{query}")).data();
    let first = part("");
    assert_eq!((&first["hasMore"], &first["events"][0]["name"]), (&json!(true), &json!("login")));
    let second = part(&format!("&cursor={}", first["nextCursor"].as_str().expect("the field is a string")));
    assert_eq!((&second["hasMore"], &second["nextCursor"]), (&json!(false), &Value::Null));
    assert_eq!(second["events"][0]["name"], "purchase.completed");
    assert_eq!(shop.app.get_in(&format!("/v1/contacts/{ada}/events?cursor=x")).status, 400);
    assert_eq!(shop.app.get_in("/v1/contacts/0123456789abcdef01234567/events").status, 404);
}

#[test]
fn the_same_key_stores_once_per_project_and_returns_the_first_event() {
    let shop = Shop::new();
    let first = shop.stored(keyed("ada@example.com", "k-1"));
    let again = shop.report(keyed("grace@example.com", "k-1")).data();
    assert_eq!(again, json!({ "stored": false, "eventId": first, "dedupeKey": "k-1", "duplicate": true }));
    assert!(shop.by_email("grace@example.com").is_none(), "a duplicate creates no contact");
    shop.stored(keyed("ada@example.com", "K-1"));
    let mut elsewhere = keyed("ada@example.com", "k-1");
    elsewhere["projectId"] = json!(shop.app.another_project());
    assert_eq!(shop.app.post("/v1/events", elsewhere).data()["stored"], true);
    let without = shop.report(login("ada@example.com")).data();
    assert_eq!((&without["stored"], &without["dedupeKey"]), (&json!(true), &Value::Null));
}

/// A store that receives no response resends the event, which may be older than 90 days by then.
#[test]
fn a_stored_event_is_a_duplicate_even_if_it_is_too_old_by_now() {
    let shop = Shop::new();
    let days = |many: i64| many * 24 * 60 * 60 * 1000;
    let mut old = keyed("ada@example.com", "k-1");
    old["occurredAt"] = at(-days(90)).into();
    let first = shop.stored(old.clone());
    shop.app.clock.advance_ms(days(1));
    let again = shop.report(old.clone()).data();
    assert_eq!((&again["duplicate"], &again["eventId"]), (&json!(true), &json!(first)));
    assert_eq!(shop.batch(json!([old])).data()["duplicates"], 1);
    old["dedupeKey"] = "k-2".into();
    assert!(shop.report(old).refusal().2.starts_with("occurredAt: the time is more than 90 days ago"));
}

/// Regression test: a time without an offset was stored as midnight, because only the date was parsed.
#[test]
fn a_time_without_an_offset_keeps_its_hours() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    let mut event = login("ada@example.com");
    event["occurredAt"] = "2025-12-31T22:15:30.5".into();
    shop.stored(event);
    assert_eq!(shop.events_of(&ada)[0]["occurredAt"], "2025-12-31T22:15:30.500Z");
}

#[test]
fn keys_of_large_batches_are_recognized_before_and_after_indexing() {
    let shop = Shop::new();
    let rows = |from: usize| {
        Value::Array((from..from + 300).map(|row| keyed(&format!("r{}@example.com", row % 7), &format!("k-{row}"))).collect())
    };
    let batch_counts = |from: usize| {
        let response = shop.batch(rows(from)).data();
        (
            response["accepted"].as_u64().expect("the field is a number"),
            response["duplicates"].as_u64().expect("the field is a number"),
        )
    };
    assert_eq!(batch_counts(0), (300, 0));
    assert_eq!(batch_counts(200), (200, 100));
    assert_eq!(
        shop.report(keyed("other@example.com", "k-450")).data()["duplicate"],
        true,
        "a single event can be a duplicate of an event in a batch"
    );
    while shop.app.wait(crate::features::events::index(shop.app.engine(), Environment::Test)).expect("the worker step succeeds") {
    }
    assert_eq!(batch_counts(200), (0, 300));
    assert_eq!(batch_counts(250), (50, 250));
    let twice = Value::Array((0..200).map(|row| keyed("ada@example.com", &format!("t-{}", row / 2))).collect());
    let response = shop.batch(twice).data();
    assert_eq!((&response["accepted"], &response["duplicates"]), (&json!(100), &json!(100)));
}

#[test]
fn an_idempotency_key_replays_a_single_event_and_is_refused_for_a_batch() {
    let shop = Shop::new();
    let mut event = login("ada@example.com");
    event["projectId"] = json!(shop.app.project);
    let first = shop.app.post_keyed("/v1/events", "once", event.clone()).data();
    let again = shop.app.post_keyed("/v1/events", "once", event.clone()).data();
    assert_eq!(first, again);
    let ada = shop.by_email("ada@example.com").expect("the contact exists");
    assert_eq!(shop.events_of(ada["id"].as_str().expect("the field is a string")).len(), 1);
    event["name"] = "logout".into();
    assert_eq!(shop.app.post_keyed("/v1/events", "once", event).refusal().1, "IDEMPOTENCY_CONFLICT");
    let batch = json!({ "projectId": shop.app.project, "events": [login("new@example.com")] });
    let refused = shop.app.post_keyed("/v1/events/batch", "once", batch);
    let (status, code, sentence) = refused.refusal();
    assert_eq!((status, code), (400, "INVALID_REQUEST"));
    assert!(sentence.contains("dedupeKey"), "{sentence}");
    assert!(shop.by_email("new@example.com").is_none());
}

#[test]
fn results_are_in_row_order_and_an_invalid_row_does_not_affect_the_others() {
    let shop = Shop::new();
    shop.stored(keyed("ada@example.com", "before"));
    let response = shop
        .batch(json!([
            keyed("ada@example.com", "k-1"),
            keyed("ada@example.com", "k-1"),
            { "name": "x", "identifiers": { "email": "grace@example" } },
            keyed("ada@example.com", "before"),
            { "name": "x", "identifiers": { "externalOrderId": "unknown" } },
            7,
            { "name": "x", "identifiers": { "email": "ada@example.com" }, "hue": 1 },
            login("ada@example.com"),
            { "name": "x", "identifiers": { "email": "ada@example.com" }, "occurredAt": "2020-01-01" },
            { "identifiers": { "email": "ada@example.com" } },
        ]))
        .data();
    assert_eq!(response["invalid"][5]["error"], "the field is required", "the error equals that of a single event");
    assert_eq!((&response["accepted"], &response["duplicates"]), (&json!(2), &json!(2)));
    let results = response["results"].as_array().expect("the field is a list");
    let stored: Vec<bool> = results.iter().map(|result| result["stored"].as_bool().expect("the field is a boolean")).collect();
    assert_eq!(stored, [true, false, false, false, false, false, false, true, false, false]);
    let duplicates: Vec<bool> = results.iter().map(|result| result["duplicate"] == true).collect();
    assert_eq!(duplicates, [false, true, false, true, false, false, false, false, false, false]);
    assert!(results[0]["eventId"].is_string() && results[0]["dedupeKey"] == "k-1");
    assert_eq!((results[1].get("eventId"), results[7].get("dedupeKey")), (None, None));
    let invalid: Vec<(u64, &str)> = response["invalid"]
        .as_array()
        .expect("the field is a list")
        .iter()
        .map(|row| (row["index"].as_u64().expect("the field is a number"), row["field"].as_str().expect("the field is a string")))
        .collect();
    assert_eq!(
        invalid,
        [(2, "identifiers.email"), (4, "identifiers.externalOrderId"), (5, ""), (6, "hue"), (8, "occurredAt"), (9, "name")]
    );
    assert!(
        response["invalid"]
            .as_array()
            .expect("the field is a list")
            .iter()
            .all(|row| !row["error"].as_str().expect("the field is a string").is_empty())
    );
}

#[test]
fn a_batch_has_one_to_five_hundred_rows() {
    let shop = Shop::new();
    let rows = |many: usize| Value::Array((0..many).map(|row| login(&format!("r{row}@example.com"))).collect());
    for (many, taken) in [(0, false), (1, true), (499, true), (500, true), (501, false)] {
        let response = shop.batch(rows(many));
        assert_eq!(response.status == 200, taken, "{many}");
        if taken {
            assert_eq!(response.data()["accepted"], many);
        } else {
            assert!(response.refusal().2.starts_with("events: "), "{response:?}");
        }
    }
}

#[test]
fn property_limits_are_reported_with_their_field_in_both_forms() {
    let shop = Shop::new();
    let many: serde_json::Map<String, Value> = (0..51).map(|name| (format!("n{name}"), json!(0))).collect();
    for properties in [json!({ "a": "x".repeat(16_384) }), json!(many), json!({ "a": { "b": { "c": { "d": {} } } } }), json!([])]
    {
        let mut event = login("ada@example.com");
        event["properties"] = properties;
        let refused = shop.report(event.clone());
        assert!(refused.refusal().2.starts_with("properties: "), "{refused:?}");
        assert_eq!(shop.batch(json!([event])).data()["invalid"][0]["field"], "properties");
    }
}

#[test]
fn a_project_can_have_a_thousand_event_names_and_known_ones_still_work() {
    let shop = Shop::new();
    let max = limits::EVENT_NAMES_PER_PROJECT_MAX as usize;
    let row = |number: usize| json!({ "name": format!("event.{number}"), "identifiers": { "email": "ada@example.com" } });
    let names: Vec<Value> = (0..=max).map(row).collect();
    let response: Vec<Value> = names.chunks(500).map(|rows| shop.batch(json!(rows)).data()).collect();
    let accepted: u64 = response.iter().map(|response| response["accepted"].as_u64().expect("the field is a number")).sum();
    assert_eq!(accepted, max as u64);
    assert_eq!(response[2]["invalid"][0]["field"], "name");
    assert!(shop.report(row(max)).refusal().2.starts_with("name: a brand can have at most 1000 event names"));
    let mut known = row(3);
    known["name"] = "EVENT.3".into();
    shop.stored(known);
}

#[test]
fn an_order_can_have_a_hundred_payments_and_refunds_without_counting_repeats() {
    let shop = Shop::new();
    let paid = |number: usize| {
        json!({
            "name": "paid", "identifiers": { "email": "ada@example.com", "externalOrderId": "o" },
            "properties": { "value": number }, "occurredAt": at(0),
        })
    };
    let max = limits::ORDER_FACTS_MAX;
    let response = shop.batch((0..max - 1).map(paid).collect()).data();
    assert_eq!(response["accepted"], max - 1);
    shop.stored(paid(0));
    shop.stored(paid(max - 1));
    assert!(
        shop.report(paid(max)).refusal().2.starts_with("identifiers.externalOrderId: this order already has the maximum of 100")
    );
    shop.stored(paid(7));
    let mut of_another = paid(7);
    of_another["identifiers"]["email"] = "grace@example.com".into();
    assert_eq!(shop.report(of_another).status, 400, "a payment by another contact is not a repeat");
    assert!(shop.by_email("grace@example.com").is_none());
}

/// Regression test: a shop sent its amounts as text. The events were stored without revenue, and the response did not report this.
#[test]
fn the_response_reports_an_amount_that_does_not_count() {
    let shop = Shop::new();
    let notes = |properties: Value| {
        let mut event = login("ada@example.com");
        event["identifiers"]["externalOrderId"] = "1001".into();
        event["properties"] = properties;
        shop.app.post_in("/v1/events", event).data()["notes"].clone()
    };
    let text = notes(json!({ "value": "49,90", "currency": "EUR" }));
    assert!(text[0].as_str().is_some_and(|note| note.starts_with("properties.value is not a number")), "{text}");
    let dollars = notes(json!({ "value": 49.9 }));
    assert!(dollars[0].as_str().is_some_and(|note| note.starts_with("properties.currency is missing")), "{dollars}");
    for plain in [json!({ "value": 49.9, "currency": "EUR" }), json!({ "value": null }), json!({})] {
        assert_eq!(notes(plain), Value::Null);
    }
}
