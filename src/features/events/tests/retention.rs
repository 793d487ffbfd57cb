//! Tests how long events are kept, which contacts filters find by their events, and which data remains after an erasure.

use serde_json::{Value, json};

use super::{Shop, at};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::customer_events::external_ids::digest;
use crate::features::revenue::{self, Scope};
use crate::features::{events, tracking};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ContactId, MailingId};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MAILING: MailingId = MailingId::from_bytes([4; 12]);

fn named(name: &str, email: &str, occurred_at: i64) -> Value {
    json!({ "name": name, "identifiers": { "email": email }, "occurredAt": at(occurred_at), "dedupeKey": format!("{name}{email}{occurred_at}") })
}

fn sweep(shop: &Shop) {
    let store = &shop.app.data().store;
    while store.write_blocking(events::sweep).expect("the write succeeds").expect("the sweep succeeds") {}
}

#[test]
fn events_are_kept_for_ninety_days_after_they_were_received() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    shop.stored(named("old", "ada@example.com", -80 * DAY_MS));
    shop.app.clock.advance_ms(DAY_MS);
    shop.stored(named("new", "ada@example.com", DAY_MS));
    shop.app.clock.advance_ms(89 * DAY_MS);
    sweep(&shop);
    assert_eq!(shop.events_of(&ada).len(), 2);
    shop.app.clock.advance_ms(1_000);
    sweep(&shop);
    let left = shop.events_of(&ada);
    assert_eq!((left.len(), &left[0]["name"]), (1, &json!("new")));
    assert_eq!(
        shop.report(named("new", "ada@example.com", DAY_MS)).data()["duplicate"],
        true,
        "the key of an event is kept as long as the event"
    );
    shop.app.clock.advance_ms(DAY_MS);
    sweep(&shop);
    assert!(shop.events_of(&ada).is_empty());
}

#[test]
fn filters_find_contacts_with_and_without_an_event() {
    let shop = Shop::new();
    for email in ["ada@example.com", "grace@example.com", "joan@example.com"] {
        shop.add(email);
    }
    shop.app.clock.advance_ms(30 * DAY_MS);
    shop.stored(named("purchase.completed", "ada@example.com", 29 * DAY_MS));
    shop.stored(named("purchase.completed", "grace@example.com", 10 * DAY_MS));
    let count = |condition: Value| shop.segment(json!({ "events": [condition] }));
    let name = "Purchase.Completed";
    assert_eq!(count(json!({ "name": name, "mode": "within", "unit": "days", "amount": 7 })), 1);
    assert_eq!(count(json!({ "name": name, "mode": "not_within", "unit": "days", "amount": 7 })), 2);
    assert_eq!(count(json!({ "name": name, "mode": "within", "unit": "hours", "amount": 480 })), 2);
    assert_eq!(count(json!({ "name": name, "mode": "ever" })), 2);
    assert_eq!(count(json!({ "name": name, "mode": "never" })), 1);
    assert_eq!(count(json!({ "name": name, "mode": "between", "from": at(9 * DAY_MS), "to": at(11 * DAY_MS) })), 1);
    assert_eq!(count(json!({ "name": name, "mode": "not_between", "from": at(9 * DAY_MS), "to": at(11 * DAY_MS) })), 2);
    assert_eq!(count(json!({ "name": "unheard.of", "mode": "ever" })), 0);
    let both = json!({ "events": [
        { "name": name, "mode": "ever" }, { "name": name, "mode": "not_within", "unit": "days", "amount": 7 },
    ] });
    assert_eq!(shop.segment(both), 1);
}

#[test]
fn an_invalid_condition_is_refused_with_its_path() {
    let shop = Shop::new();
    for (condition, path) in [
        (json!({ "name": "x", "mode": "sometimes" }), "filters.events[0].mode"),
        (json!({ "name": "x", "mode": "within" }), "filters.events[0].unit"),
        (json!({ "name": "x", "mode": "within", "unit": "days" }), "filters.events[0].amount"),
        (json!({ "name": "x", "mode": "within", "unit": "days", "amount": 91 }), "filters.events[0].amount"),
        (json!({ "name": "x", "mode": "within", "unit": "hours", "amount": 2_161 }), "filters.events[0].amount"),
        (json!({ "name": "x", "mode": "ever", "amount": 3 }), "filters.events[0].amount"),
        (json!({ "name": "x", "mode": "between", "from": at(0) }), "filters.events[0].to"),
        (json!({ "name": "x", "mode": "between", "from": at(5), "to": at(5) }), "filters.events[0].to"),
        (json!({ "name": "", "mode": "ever" }), "filters.events[0].name"),
        (json!({ "mode": "ever" }), "filters.events[0].name"),
    ] {
        let refused = shop.app.post_in("/v1/segments", json!({ "name": "s", "filters": { "events": [condition] } }));
        let sentence = refused.refusal().2;
        assert!(sentence.starts_with(&format!("{path}: ")), "{path}: {sentence}");
    }
    for amount in [1, 90] {
        let condition = json!({ "name": "x", "mode": "not_within", "unit": "days", "amount": amount });
        assert_eq!(shop.segment(json!({ "events": [condition] })), 0, "{amount}");
    }
}

/// Regression test: two refunds in one batch were counted as one, because they arrived at the same time.
#[test]
fn refunds_of_one_batch_are_each_counted() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    let number = ContactId::parse(&ada).expect("the ID is valid").number();
    let project = shop.app.project;
    let click = Activity { action: Action::Clicked, mailing: MAILING, campaign: None, at: crate::testing::START.plus_ms(-5) };
    let store = &shop.app.data().store;
    store
        .write_blocking(move |tx| activity::note(tx, project, &[(number, click)]))
        .expect("the write succeeds")
        .expect("the activity is recorded");
    let order = |name: &str, value: u32| {
        json!({
            "name": name, "identifiers": { "email": "ada@example.com", "externalOrderId": "o-1" }, "properties": { "value": value },
        })
    };
    let mut paid = order("paid", 100);
    paid["occurredAt"] = at(0).into();
    let (mut keyed, mut other) = (order("refund", 10), order("refund", 10));
    (keyed["dedupeKey"], other["dedupeKey"]) = ("a".into(), "b".into());
    let response = shop.batch(json!([paid, order("refund", 10), order("refund", 10), keyed, other, keyed])).data();
    assert_eq!((&response["accepted"], &response["duplicates"]), (&json!(5), &json!(1)));
    let totals = revenue::totals(&shop.app.read(), Scope::Mailing(MAILING)).expect("the store is readable");
    let dollars = totals.values().next().expect("the revenue has one currency");
    assert_eq!((dollars.conversions, dollars.amount.to_string()), (1, "60".to_owned()));
}

#[test]
fn personal_data_has_events_and_payments_and_an_erasure_leaves_only_anonymous_numbers() {
    let shop = Shop::new();
    let ada = shop.add("ada@example.com");
    let number = ContactId::parse(&ada).expect("the ID is valid").number();
    let project = shop.app.project;
    let click = Activity { action: Action::Clicked, mailing: MAILING, campaign: None, at: crate::testing::START.plus_ms(-5) };
    let store = &shop.app.data().store;
    store
        .write_blocking(move |tx| activity::note(tx, project, &[(number, click)]))
        .expect("the write succeeds")
        .expect("the activity is recorded");
    let mut paid = named("paid", "ada@example.com", 0);
    paid["identifiers"]["externalOrderId"] = "o-1".into();
    paid["identifiers"]["externalCustomerId"] = "c-1".into();
    paid["properties"] = json!({ "value": 49.9, "currency": "EUR", "secret": "present" });
    shop.stored(paid.clone());
    for key in ["ada@example.com:1", "ada@example.com:2"] {
        let mut refund = paid.clone();
        (refund["name"], refund["dedupeKey"], refund["properties"]["value"]) = ("refund".into(), key.into(), 5.into());
        shop.stored(refund);
    }
    let kept = shop.app.get_in(&format!("/v1/contacts/{ada}/personal-data")).data();
    assert_eq!(kept["events"][0]["properties"]["secret"], "present");
    let money = |amount: Value, is_refund: bool| json!({ "at": at(0), "amount": amount, "currency": "EUR", "isRefund": is_refund, "creditedSendId": MAILING });
    assert_eq!(kept["payments"], json!([money(json!(5), true), money(json!(5), true), money(json!(49.9), false)]));
    let keys = || -> Vec<_> {
        let order =
            revenue::find(&shop.app.read(), project, digest("o-1")).expect("the store is readable").expect("the order exists");
        order.facts.iter().filter_map(|fact| fact.key).collect()
    };
    let before_erasing = keys();
    let totals = || revenue::totals(&shop.app.read(), Scope::Mailing(MAILING)).expect("the store is readable");
    let before = totals();
    assert_eq!(before.len(), 1);
    shop.app.delete_in(&format!("/v1/contacts/{ada}")).data();
    while shop.app.wait(tracking::erase(shop.app.engine(), Environment::Test)).expect("the erasure succeeds") {}
    while shop.app.wait(events::step(shop.app.engine(), Environment::Test)).expect("the worker step succeeds") {}
    assert_eq!(totals(), before, "the revenue of an email stays, because it is anonymous");
    let keys = keys();
    assert!(
        keys.len() == 2 && keys[0] != keys[1] && keys.iter().all(|key| !before_erasing.contains(key)),
        "an erasure deletes the contact's keys, which are personal data"
    );
    assert_eq!(shop.report(json!({ "name": "x", "identifiers": { "externalCustomerId": "c-1" } })).status, 404);
    assert_eq!(shop.report(paid).data()["duplicate"], true, "a repeat does not restore the contact");
    let refund = json!({
        "name": "refund", "identifiers": { "email": "other@example.com", "externalOrderId": "o-1" },
        "properties": { "value": 10, "currency": "EUR" },
    });
    shop.stored(refund);
    let after = totals();
    let euro = after.values().next().expect("the revenue has one currency");
    assert_eq!(
        (euro.conversions, euro.amount.to_string()),
        (1, "29.9".to_owned()),
        "a refund is still taken from the same email"
    );
}
