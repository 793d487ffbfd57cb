//! Tests of scheduled imports with a server on the loopback interface: versions, consent, failures, changes and restarts.

mod events;
mod platforms;

use serde_json::{Value, json};

use super::worker;
use crate::base::clock::Clock;
use crate::engine::store::blobs;
use crate::features::contacts::jobs;
use crate::testing::TestApp;
use crate::testing::csv_host::CsvHost;
use crate::vocab::environment::Environment;
use crate::vocab::{limits, tables};

const HOUR_MS: i64 = 60 * 60 * 1000;
const FILE: &str = "email,first name,status\nada@example.com,Ada,subscribed\nbob@example.com,Bob,\n";

fn app() -> TestApp {
    TestApp::with(|settings| settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("a network")])
}

/// Creates a scheduled import of the file at `url`. Returns the API path of the scheduled import.
fn create(app: &TestApp, url: &str, more: Value) -> String {
    let mut input = json!({ "name": "Shop", "url": url, "consentMode": "include-all" });
    input.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let made = app.post_in("/v1/scheduled-imports", input).data();
    format!("/v1/scheduled-imports/{}", made["id"].as_str().expect("an ID"))
}

/// Runs the workers until the due run has ended. Returns the scheduled import.
fn work(app: &TestApp, path: &str) -> Value {
    for _ in 0..10 {
        app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
        while jobs::step(app.data()).expect("the step succeeds") {}
        app.clock.advance_ms(limits::SCHEDULED_IMPORT_POLL_MS);
        app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
        let shown = app.get(path).data();
        if shown["state"] != "running" {
            return shown;
        }
    }
    panic!("the run does not end: {}", app.get(path).data());
}

fn statuses(app: &TestApp) -> Vec<(String, String)> {
    let listed = app.get_in("/v1/contacts?sortOrder=asc").data();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    listed["contacts"].as_array().expect("a list").iter().map(|one| (text(&one["email"]), text(&one["status"]))).collect()
}

#[test]
fn each_run_imports_only_a_new_version_of_the_file() {
    for etag in ["\"v1\"", ""] {
        let (app, host) = (app(), CsvHost::start());
        host.offer(FILE, etag);
        let path = create(&app, &host.redirecting(&host.url()), json!({ "tags": ["shop"] }));
        let first = work(&app, &path);
        let run = &first["lastRun"];
        assert_eq!(
            (&run["result"], &run["created"], &first["state"]),
            (&json!("imported"), &json!(2), &json!("active")),
            "{first}"
        );
        assert_eq!(
            statuses(&app),
            [("ada@example.com", "subscribed"), ("bob@example.com", "non-subscribed")].map(|(a, b)| (a.into(), b.into()))
        );
        assert_eq!(host.sent(), [200]);
        let import = run["importId"].as_str().expect("an import");
        assert_eq!(app.get(&format!("/v1/contacts/imports/{import}")).data()["counts"]["created"], 2);
        assert_eq!(work(&app, &path)["lastRun"]["importId"], run["importId"], "no run is due");
        assert_eq!(host.sent(), Vec::<u16>::new());
        app.clock.advance_ms(24 * HOUR_MS);
        let second = work(&app, &path);
        assert_eq!((&second["lastRun"]["result"], &second["lastRun"]["error"]), (&json!("unchanged"), &Value::Null), "{second}");
        assert_eq!(host.sent(), [if etag.is_empty() { 200 } else { 304 }]);
        host.offer(&FILE.replace("Bob", "Rob"), "\"v2\"");
        app.clock.advance_ms(24 * HOUR_MS);
        let third = work(&app, &path);
        assert_eq!((&third["lastRun"]["updated"], &third["lastRun"]["skipped"]), (&json!(1), &json!(1)), "{third}");
    }
}

/// Regression test: two copies of each file were in memory before the file was stored.
#[test]
fn a_large_compressed_file_is_stored_in_parts_and_kept_only_if_it_is_imported() {
    let (app, host) = (app(), CsvHost::start());
    let large = |file: &str| format!("{file}{}", "\n".repeat(5_000_000)).into_bytes();
    host.offer_compressed(&large(FILE));
    let path = create(&app, &host.url(), json!({}));
    let first = work(&app, &path);
    assert_eq!((&first["lastRun"]["result"], &first["lastRun"]["created"]), (&json!("imported"), &json!(2)), "{first}");
    let store = &app.data().store;
    let chunks = || {
        while store.write_blocking(blobs::sweep).expect("the store works").expect("the sweep succeeds") {}
        store.read().rows(tables::BLOBS).expect("the data is readable")
    };
    for (file, result) in [(FILE, "unchanged"), ("<html>", "failed")] {
        host.offer_compressed(&large(file));
        app.clock.advance_ms(24 * HOUR_MS);
        let before = chunks();
        assert_eq!(work(&app, &path)["lastRun"]["result"], result);
        assert_eq!(chunks(), before, "the stored part of the file is deleted, although it is younger than an hour");
    }
    host.offer_compressed(&vec![b'x'; 40_000_000]);
    app.clock.advance_ms(24 * HOUR_MS);
    let run = work(&app, &path)["lastRun"].clone();
    assert!(run["error"].as_str().is_some_and(|error| error.contains("larger than")), "{run}");
}

#[test]
fn a_file_resubscribes_no_contact_and_undecided_contacts_are_left_out() {
    let (app, host) = (app(), CsvHost::start());
    app.post_in("/v1/contacts", json!({ "email": "ada@example.com", "status": "unsubscribed" })).data();
    host.offer(FILE, "");
    let path = create(&app, &host.url(), json!({ "consentMode": "subscribed-only", "everyHours": 1 }));
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["excluded"], &shown["lastRun"]["created"]), (&json!(1), &json!(0)), "{shown}");
    assert_eq!(statuses(&app), [("ada@example.com".to_owned(), "unsubscribed".to_owned())]);
    let import = shown["lastRun"]["importId"].as_str().expect("an import");
    assert_eq!(app.get(&format!("/v1/contacts/imports/{import}")).data()["excluded"], 1);
    // This file has no status column, so its rows have no status.
    host.offer("email\nada@example.com\n", "");
    app.clock.advance_ms(HOUR_MS);
    let shown = work(&app, &path);
    assert!(shown["lastRun"]["error"].as_str().is_some_and(|error| error.contains("no status column")), "{shown}");
    app.patch(&path, json!({ "status": "subscribed" })).data();
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["result"], &shown["failures"]), (&json!("imported"), &json!(0)), "{shown}");
    assert_eq!(statuses(&app), [("ada@example.com".to_owned(), "unsubscribed".to_owned())]);
}

#[test]
fn failures_name_the_remedy_and_pause_after_ten_in_a_row() {
    let (app, host) = (app(), CsvHost::start());
    host.offer("<!doctype html><title>Sign in</title>", "");
    let path = create(&app, &host.url(), json!({}));
    let mut waits = Vec::new();
    for (number, (status, body, reason)) in [
        (200, "<!doctype html>", "web page"),
        (404, "", "status 404. Check the URL."),
        (401, "", "without signing in"),
        (304, "", "status 304"),
        (200, "", "the file is empty"),
        (200, "name\nAda\n", "no column was recognized as the email address"),
        (200, "PK\u{3}\u{4}", "Excel"),
        (500, "", "status 500. This is usually temporary."),
        (429, "", "status 429. This is usually temporary."),
        (503, "", "status 503. This is usually temporary."),
    ]
    .into_iter()
    .enumerate()
    {
        if status == 200 {
            host.offer(body, "")
        } else {
            host.refuse(status)
        }
        let started = app.clock.now();
        let shown = work(&app, &path);
        let error = shown["lastRun"]["error"].as_str().unwrap_or_else(|| panic!("{shown}"));
        assert!(error.to_lowercase().contains(&reason.to_lowercase()), "{error}");
        assert_eq!(shown["failures"], number + 1);
        let is_last = number + 1 == limits::SCHEDULED_IMPORT_FAILURES_MAX as usize;
        assert_eq!(shown["state"], if is_last { "paused" } else { "active" }, "{shown}");
        if is_last {
            assert_eq!(shown["pausedReason"], error);
        } else {
            let due = super::store::all(&app.read(), app.account()).expect("readable")[0].due_at;
            waits.push(due.ms_since(started) / 60_000);
            app.clock.advance_ms(due.ms_since(app.clock.now()));
        }
    }
    assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1280]);
    host.sent();
    app.clock.advance_ms(48 * HOUR_MS);
    work(&app, &path);
    assert_eq!(host.sent(), Vec::<u16>::new(), "a paused import starts no run");
    host.offer(FILE, "");
    assert_eq!(app.post(&format!("{path}/run"), json!({})).data()["state"], "active");
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["result"], &shown["pausedReason"]), (&json!("imported"), &Value::Null), "{shown}");
}

/// A job that fails after some rows leaves out the remaining rows, so the same file is imported again.
#[test]
fn a_failed_import_is_repeated_although_the_file_is_the_same() {
    let (app, host) = (app(), CsvHost::start());
    host.offer(&format!("email\nada@example.com\n\"{}", "x".repeat(limits::CONTACT_IMPORT_ROW_BYTES_MAX + 1)), "\"v1\"");
    let path = create(&app, &host.url(), json!({ "columnMap": { "email": "email" } }));
    let shown = work(&app, &path);
    let run = &shown["lastRun"];
    assert!(
        run["error"].as_str().is_some_and(|error| error.contains("quotation mark")) && run["importId"].is_string(),
        "{shown}"
    );
    host.sent();
    app.clock.advance_ms(limits::SCHEDULED_IMPORT_RETRY_MS);
    assert_eq!(work(&app, &path)["failures"], 2);
    assert_eq!(host.sent(), [200]);
}

#[test]
fn private_addresses_are_not_fetched_whatever_redirects_there() {
    let (app, host) = (TestApp::new(), CsvHost::start());
    host.offer(FILE, "");
    let path = create(&app, &host.url(), json!({}));
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["result"], host.sent().len()), (&json!("failed"), 0), "{shown}");
    let app = self::app();
    let path = create(&app, &host.redirecting("http://10.0.0.1/contacts.csv"), json!({}));
    let error = work(&app, &path)["lastRun"]["error"].as_str().expect("an error").to_owned();
    assert!(error.contains("10.0.0.1"), "{error}");
}

#[test]
fn a_run_continues_after_a_restart_and_its_file_is_imported_once() {
    let (mut app, host) = (app(), CsvHost::start());
    host.offer(FILE, "");
    let path = create(&app, &host.url(), json!({}));
    app = app.restarted();
    app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
    assert_eq!(app.get(&path).data()["state"], "running");
    app = app.restarted();
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["result"], &shown["lastRun"]["created"]), (&json!("imported"), &json!(2)), "{shown}");
    assert_eq!(host.sent(), [200]);
    assert_eq!(app.get_in("/v1/contacts/jobs").data()["jobs"].as_array().expect("a list").len(), 1);
}

#[test]
fn changes_apply_to_the_next_run_which_starts_immediately() {
    let (app, host) = (app(), CsvHost::start());
    host.offer("mail;plan\nada@example.com;pro\n", "\"v1\"");
    let path = create(&app, &host.url(), json!({ "columnMap": { "email": "mail" } }));
    assert_eq!(work(&app, &path)["lastRun"]["created"], 1);
    let map = json!({ "email": "mail", "customFields": { "plan": "plan" } });
    app.patch(&path, json!({ "columnMap": map, "everyHours": 2 })).data();
    host.sent();
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["updated"], host.sent()), (&json!(1), vec![200]), "{shown}");
    assert_eq!(app.patch(&path, json!({ "active": false })).data()["state"], "paused");
    app.clock.advance_ms(3 * HOUR_MS);
    work(&app, &path);
    assert_eq!(host.sent(), Vec::<u16>::new());
    assert_eq!(app.patch(&path, json!({ "active": true })).data()["state"], "active");
    assert_eq!(work(&app, &path)["lastRun"]["result"], "unchanged");
    app.delete(&path).data();
    assert_eq!(app.get(&path).refusal().0, 404);
    assert_eq!(app.get_in("/v1/scheduled-imports").data()["imports"], json!([]));
    app.clock.advance_ms(3 * HOUR_MS);
    app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
    assert_eq!(host.sent(), [304]);
}

#[test]
fn a_new_interval_counts_from_the_start_of_the_last_run() {
    let (app, host) = (app(), CsvHost::start());
    host.offer(FILE, "");
    let path = create(&app, &host.url(), json!({ "everyHours": 6 }));
    let due_at = || super::store::all(&app.read(), app.account()).expect("readable")[0].due_at;
    app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
    app.clock.advance_ms(HOUR_MS / 2);
    assert_eq!(work(&app, &path)["lastRun"]["created"], 2);
    let before = due_at();
    app.patch(&path, json!({ "everyHours": 8 })).data();
    assert_eq!(due_at(), before.plus_ms(2 * HOUR_MS));
    app.patch(&path, json!({ "everyHours": 6 })).data();
    assert_eq!(due_at(), before);
}

#[test]
fn wrong_settings_are_refused_with_the_field() {
    let app = TestApp::new();
    for (input, field) in [
        (json!({ "url": "contacts.csv" }), "url"),
        (json!({ "url": "file:///etc/passwd" }), "url"),
        (json!({ "url": "https://user:password@acme.example/contacts.csv" }), "url"),
        (json!({ "url": "ftp://acme.example/contacts.csv" }), "url: must be a URL that starts with http:// or https://"),
        (json!({ "everyHours": 0 }), "everyHours"),
        (json!({ "delimiter": "ab" }), "delimiter"),
        (json!({ "columnMap": { "mail": "a" } }), "columnMap"),
    ] {
        let mut whole = json!({ "projectId": app.project, "name": "Shop", "url": "https://acme.example/contacts.csv" });
        whole.as_object_mut().expect("an object").extend(input.as_object().expect("an object").clone());
        let refused = app.post("/v1/scheduled-imports", whole);
        assert!(refused.refusal().2.starts_with(field), "{input}: {refused:?}");
    }
}
