//! Tests refunds and cancellations as shops report them: with a separate ID, before their order, repeatedly, or larger than the order.

use serde_json::{Value, json};

use super::{Shop, at};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::revenue::{self, Conversion, Scope};
use crate::features::{events, tracking};
use crate::testing::START;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ContactId, MailingId};
use crate::vocab::limits;

const MAILING: MailingId = MailingId::from_bytes([4; 12]);
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns a shop with one contact who clicked a link in an email, and the contact's number.
fn shop_with_click(mailing: MailingId, clicked_at: i64) -> (Shop, u32) {
    let shop = Shop::new();
    let number = click(&shop, mailing, clicked_at);
    (shop, number)
}

fn click(shop: &Shop, mailing: MailingId, clicked_at: i64) -> u32 {
    let number = ContactId::parse(&shop.add("ada@example.com")).expect("the ID is valid").number();
    let project = shop.app.project;
    let click = Activity { action: Action::Clicked, mailing, campaign: None, at: START.plus_ms(clicked_at) };
    let store = &shop.app.data().store;
    store
        .write_blocking(move |tx| activity::note(tx, project, &[(number, click)]))
        .expect("the write succeeds")
        .expect("the activity is recorded");
    number
}

fn event(name: &str, order: &str, value: &str) -> Value {
    let value: Value = serde_json::from_str(value).expect("the value is a JSON number");
    json!({
        "name": name, "identifiers": { "email": "ada@example.com", "externalOrderId": order }, "properties": { "value": value },
    })
}

/// Returns the `conversion` object of the statistics as JSON text, so that the comparison is exact.
fn conversion(shop: &Shop) -> String {
    let totals = revenue::totals(&shop.app.read(), Scope::Mailing(MAILING)).expect("the store is readable");
    serde_json::to_string(&Conversion::of(&totals)).expect("the value serializes to JSON")
}

fn expected(conversions: u32, revenue: &str) -> String {
    format!(r#"{{"conversions":{conversions},"revenue":{revenue},"currency":"USD","source":"events"}}"#)
}

#[test]
fn ten_orders_of_a_tenth_less_a_refund_of_three_tenths_are_seven_tenths() {
    for name in ["order.refunded", "Refund issued", "ORDER_CANCELLED", "order.canceled"] {
        let (shop, _) = shop_with_click(MAILING, -5);
        for order in 0..10 {
            shop.stored(event("order.paid", &format!("order-{order}"), "0.1"));
        }
        assert_eq!(conversion(&shop), expected(10, "1"));
        shop.stored(event(name, "refund-1", "0.3"));
        assert_eq!(conversion(&shop), expected(10, "0.7"), "{name}");
    }
}

#[test]
fn a_batch_with_a_refund_before_its_orders_gives_the_same_result() {
    let (shop, _) = shop_with_click(MAILING, -5);
    let mut rows = vec![event("order.refunded", "refund-1", "0.3")];
    rows.extend((0..10).map(|order| event("order.paid", &format!("order-{order}"), "0.1")));
    assert_eq!(shop.batch(rows.into()).data()["accepted"], 11);
    while shop.app.wait(events::step(shop.app.engine(), Environment::Test)).expect("the worker step succeeds") {}
    assert_eq!(conversion(&shop), expected(10, "0.7"));
}

#[test]
fn a_repeated_refund_counts_once_however_it_is_recognized() {
    let (shop, _) = shop_with_click(MAILING, -5);
    shop.stored(event("order.paid", "order-1", "50"));
    let mut keyed = event("order.refunded", "refund-1", "1");
    keyed["dedupeKey"] = "refund-1".into();
    shop.stored(keyed.clone());
    assert_eq!(shop.report(keyed).data()["duplicate"], true);
    let mut timed = event("order.refunded", "order-1", "2");
    timed["occurredAt"] = at(0).into();
    shop.stored(timed.clone());
    shop.stored(timed);
    let mut idempotent = event("order.refunded", "refund-2", "4");
    idempotent["projectId"] = json!(shop.app.project);
    for _ in 0..2 {
        shop.app.post_keyed("/v1/events", "refund-2", idempotent.clone()).data();
    }
    let mut without_order = json!({
        "name": "refund", "identifiers": { "email": "ada@example.com" }, "properties": { "value": 8 }, "occurredAt": at(0),
    });
    shop.stored(without_order.clone());
    shop.stored(without_order.clone());
    assert_eq!(conversion(&shop), expected(1, "35"));
    without_order["occurredAt"] = at(1).into();
    shop.stored(without_order);
    assert_eq!(conversion(&shop), expected(1, "27"), "a refund at another time is separate");
}

#[test]
fn a_refund_of_more_than_the_order_is_recorded_as_given() {
    let (shop, _) = shop_with_click(MAILING, -5);
    shop.stored(event("order.paid", "order-1", "50"));
    shop.stored(event("order.refunded", "order-1", "80.5"));
    assert_eq!(conversion(&shop), expected(1, "-30.5"));
    shop.stored(event("order.cancelled", "order-1", "-50"));
    assert_eq!(conversion(&shop), expected(1, "-80.5"), "the sign of the value has no effect");
}

/// Regression test: if an earlier payment for an order arrived late, charts still showed the order on the day of the later payment.
#[test]
fn charts_show_orders_and_their_refunds_on_the_day_the_order_was_paid() {
    let shop = Shop::new();
    let letter = json!({
        "recipientType": "email", "recipientEmail": "ada@example.com", "from": "hello@example.com", "subject": "Hello",
        "template": "<p>Hello</p>",
    });
    let sent = shop.app.post_in("/v1/sending", letter).data();
    let mailing = MailingId::parse(sent["sendId"].as_str().expect("the field is a string")).expect("the ID is valid");
    shop.app.clock.advance_ms(20 * DAY_MS);
    click(&shop, mailing, 9 * DAY_MS);
    let on_day = |name: &str, order: &str, value: &str, day: i64| {
        let mut event = event(name, order, value);
        event["occurredAt"] = at(day * DAY_MS).into();
        shop.stored(event);
    };
    let days = || -> Vec<(String, String)> {
        let timeline = shop.app.get("/v1/metrics/timeline?days=30").data();
        let days = timeline["days"].as_array().expect("the field is a list").iter();
        let revenue = |day: &Value| Some((day["date"].as_str()?.to_owned(), day["revenue"][0]["revenue"].as_f64()?.to_string()));
        days.filter_map(revenue).collect()
    };
    on_day("order.paid", "order-1", "50", 12);
    assert_eq!(days(), [("2026-01-13".into(), "50".into())]);
    on_day("order.refunded", "refund-1", "20", 15);
    assert_eq!(days(), [("2026-01-13".into(), "30".into())]);
    on_day("order.paid", "order-1", "50", 10);
    while shop.app.wait(events::step(shop.app.engine(), Environment::Test)).expect("the worker step succeeds") {}
    assert_eq!(days(), [("2026-01-11".into(), "30".into())]);
}

#[test]
fn refunds_of_an_erased_contact_still_count_but_leave_no_row_of_the_contact() {
    let (shop, number) = shop_with_click(MAILING, -5);
    shop.stored(event("order.paid", "order-1", "50"));
    shop.stored(event("order.refunded", "refund-1", "20"));
    let project = shop.app.project;
    let rows = || {
        let tx = shop.app.read();
        let unpaid = revenue::unpaid(&tx, project, number, None, 9).expect("the store is readable").len();
        (revenue::last_credit(&tx, project, number, START).expect("the store is readable").is_some(), unpaid)
    };
    assert_eq!(rows(), (true, 1));
    let ada =
        shop.by_email("ada@example.com").expect("the contact exists")["id"].as_str().expect("the field is a string").to_owned();
    let kept = shop.app.get_in(&format!("/v1/contacts/{ada}/personal-data")).data();
    assert_eq!(kept["payments"].as_array().map(Vec::len), Some(2), "{kept}");
    shop.app.delete_in(&format!("/v1/contacts/{ada}")).data();
    while shop.app.wait(tracking::erase(shop.app.engine(), Environment::Test)).expect("the erasure succeeds") {}
    while shop.app.wait(events::step(shop.app.engine(), Environment::Test)).expect("the worker step succeeds") {}
    assert_eq!(rows(), (false, 0));
    assert_eq!(conversion(&shop), expected(1, "30"));
}

// Regression test: the error named externalOrderId, which was not in the request, and advised omitting the refund.
#[test]
fn too_many_refunds_at_one_time_are_refused_with_a_remedy() {
    let shop = Shop::new();
    let refund = json!({
        "name": "refund", "identifiers": { "email": "ada@example.com" }, "properties": { "value": 1, "currency": "GBP" },
    });
    let max = limits::ORDER_FACTS_MAX;
    let done = shop.batch(Value::Array(vec![refund.clone(); max + 1])).data();
    assert_eq!((&done["accepted"], &done["invalid"][0]["field"]), (&json!(max), &json!("identifiers")), "{done}");
    let said = done["invalid"][0]["error"].as_str().expect("the row has an error");
    assert!(said.ends_with("set externalOrderId or occurredAt"), "{said}");
    let mut timed = refund;
    timed["occurredAt"] = json!(at(-1_000));
    shop.stored(timed);
}
