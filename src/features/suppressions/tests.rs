//! Tests of the suppression list: its operations, erasure, and the checks before sending.

use serde_json::{Value, json};

use super::{Checker, Digester, Reason, Source, add, erase, reason};
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::testing::TestApp;

fn write<T: Send + 'static>(
    app: &TestApp,
    change: impl FnOnce(&mut WriteTx<'_>) -> crate::engine::store::Result<T> + Send + 'static,
) -> T {
    let written = app.wait(app.data().store.write(move |tx| change(tx).map_err(Failure::from)));
    written.expect("the store works").expect("the write succeeds")
}

fn emails(data: &Value) -> Vec<&str> {
    data["suppressions"]
        .as_array()
        .expect("the value is an array")
        .iter()
        .map(|row| row["email"].as_str().unwrap_or("erased"))
        .collect()
}

#[test]
fn an_address_is_added_found_and_removed() {
    let app = TestApp::new();
    let made = app.post("/v1/suppressions", json!({ "email": " Ada@EXAMPLE.com", "note": "Asked us" }));
    assert_eq!(made.status, 201);
    let made = made.data();
    assert_eq!((&made["email"], &made["reason"], &made["source"]), (&json!("ada@example.com"), &json!("manual"), &json!("api")));
    assert_eq!(app.post("/v1/suppressions", json!({ "email": "ada@example.com" })).data(), made, "a repeat changes nothing");
    assert_eq!(app.get("/v1/suppressions?email=ADA@example.com").data()["suppressions"], json!([made]));
    assert_eq!(app.get("/v1/suppressions?email=ada@example.com&reason=complaint").data()["total"], 0);
    assert_eq!(app.delete("/v1/suppressions/Ada@example.com").data()["deleted"], true);
    assert_eq!(app.delete("/v1/suppressions/ada@example.com").refusal().0, 404);
    assert_eq!(app.get("/v1/suppressions").data()["total"], 0);
}

#[test]
fn the_newest_come_first_and_the_list_filters_by_reason() {
    let app = TestApp::new();
    for (email, reason) in [("a@example.com", "manual"), ("b@example.com", "complaint"), ("c@example.com", "manual")] {
        app.post("/v1/suppressions", json!({ "email": email, "reason": reason })).data();
        app.clock.advance_ms(1_000);
    }
    assert_eq!(emails(&app.get("/v1/suppressions").data()), ["c@example.com", "b@example.com", "a@example.com"]);
    let manual = app.get("/v1/suppressions?reason=manual&limit=1&offset=1").data();
    assert_eq!((emails(&manual), &manual["total"]), (vec!["a@example.com"], &json!(2)));
    assert_eq!(app.post("/v1/suppressions", json!({ "email": "d@example.com", "reason": "erased" })).refusal().0, 400);
}

#[test]
fn a_more_serious_reason_replaces_a_less_serious_one() {
    let app = TestApp::new();
    let put = |reason: &str| {
        app.post("/v1/suppressions", json!({ "email": "a@example.com", "reason": reason })).data()["reason"].clone()
    };
    assert_eq!(put("unsubscribe"), "unsubscribe");
    assert_eq!(put("complaint"), "complaint");
    assert_eq!(put("manual"), "complaint");
    assert_eq!(app.get("/v1/suppressions").data()["total"], 1);
    assert_eq!(app.get("/v1/suppressions?reason=unsubscribe").data()["total"], 0);
}

#[test]
fn an_erased_contact_stays_on_the_list_without_its_address() {
    let app = TestApp::new();
    app.post("/v1/suppressions", json!({ "email": "a@example.com", "note": "Lives in Bath" })).data();
    let (digester, account) = (Digester::new(&app.engine().seal), app.account());
    let used = digester.clone();
    write(&app, move |tx| erase(tx, &used, account, "a@example.com"));
    let row = app.get("/v1/suppressions").data()["suppressions"][0].clone();
    assert_eq!((&row["email"], &row["note"], &row["reason"]), (&json!(null), &json!(null), &json!("erased")));
    assert_eq!(reason(&app.read(), &digester, account, "a@example.com"), Ok(Some(Reason::Erased)));
    assert_eq!(app.get("/v1/suppressions?email=a@example.com").data()["total"], 1);
}

#[test]
fn an_address_that_is_rejected_today_can_be_found_and_removed() {
    const OLDER: &str = "ad\u{200d}a@example.com";
    let (app, path) = (TestApp::new(), "/v1/suppressions/ad%E2%80%8Da@example.com");
    let (digester, account) = (Digester::new(&app.engine().seal), app.account());
    write(&app, move |tx| add(tx, &digester, account, OLDER, (Reason::Manual, Source::Api), None));
    assert_eq!(emails(&app.get("/v1/suppressions?email=ad%E2%80%8Da@example.com").data()), [OLDER]);
    assert_eq!(app.delete(path).data(), json!({ "email": OLDER, "deleted": true }));
    let refused = app.delete(path);
    assert!(refused.refusal().0 == 400 && refused.refusal().2.contains("U+200D"), "{refused:?}");
    let refused = app.get("/v1/suppressions?email=ad%E2%80%8Da@example.com");
    assert!(refused.refusal().0 == 400 && refused.refusal().2.contains("U+200D"), "{refused:?}");
}

#[test]
fn a_checker_agrees_with_the_list() {
    let app = TestApp::new();
    let (digester, account) = (Digester::new(&app.engine().seal), app.account());
    let empty = Checker::load(&app.read(), &digester, account).expect("the store is readable");
    assert_eq!(empty.reason("a1@example.com"), Ok(None));
    let used = digester.clone();
    write(&app, move |tx| {
        for (number, reason) in (0..100).zip(Reason::ALL.iter().cycle()) {
            add(tx, &used, account, &format!("a{number}@example.com"), (*reason, Source::Smtp), None)?;
        }
        Ok(())
    });
    let tx = app.read();
    let checker = Checker::load(&tx, &digester, account).expect("the store is readable");
    let frugal = Checker::load_up_to(10, &tx, &digester, account).expect("the store is readable");
    for number in 0..200 {
        let email = format!("a{number}@example.com");
        let expected = reason(&tx, &digester, account, &email);
        assert_eq!(expected, Ok((number < 100).then(|| Reason::ALL[number % 5])));
        assert_eq!(checker.reason(&email), expected);
        assert_eq!(frugal.reason(&email), expected);
    }
    let other = crate::vocab::ids::AccountId::from_bytes([9; 12]);
    assert_eq!(reason(&tx, &digester, other, "a1@example.com"), Ok(None), "each account has its own list");
    assert!(!Reason::Unsubscribe.stops_transactional() && Reason::BounceHard.stops_transactional());
}
