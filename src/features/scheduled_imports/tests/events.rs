//! Tests of scheduled imports of customer events.

use serde_json::{Value, json};

use super::super::worker;
use super::{HOUR_MS, app, create, work};
use crate::testing::csv_host::CsvHost;
use crate::testing::{START, TestApp};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// Returns the events of the contact with this email address.
fn events(app: &TestApp, email: &str) -> Vec<Value> {
    let listed = app.get_in("/v1/contacts").data();
    let contacts = listed["contacts"].as_array().expect("a list");
    let Some(contact) = contacts.iter().find(|one| one["email"] == email) else { return Vec::new() };
    let id = contact["id"].as_str().expect("an ID");
    app.get_in(&format!("/v1/contacts/{id}/events")).data()["events"].as_array().expect("a list").clone()
}

fn counts(run: &Value) -> [u64; 5] {
    ["created", "updated", "skipped", "failed", "excluded"].map(|name| run[name].as_u64().expect("a number"))
}

#[test]
fn each_row_of_a_growing_file_becomes_one_event() {
    let (app, host) = (app(), CsvHost::start());
    let (now, old) = (START, START.plus_ms(-91 * 24 * HOUR_MS));
    let mut file = format!(
        "name,email,occurredAt,externalOrderId,properties.value,properties.currency,note\n\
         purchase.completed,ada@example.com,{now},o-1,49.90,EUR,x\n\
         purchase.completed,ada@example.com,{old},o-0,10,EUR,x\n\
         purchase.completed,not an address,{now},o-2,1,EUR,x\n\
         purchase.completed,,{now},o-3,1,EUR,x\n"
    );
    host.offer(&file, "");
    let path = create(&app, &host.url(), json!({ "target": "events", "consentMode": null }));
    let shown = work(&app, &path);
    let run = &shown["lastRun"];
    assert_eq!((&run["result"], counts(run), &run["importId"]), (&json!("imported"), [1, 0, 0, 2, 1], &Value::Null), "{shown}");
    let rows: Vec<_> = run["problems"].as_array().expect("a list").iter().map(|one| (&one["row"], &one["field"])).collect();
    assert_eq!(rows, [(&json!(4), &json!("identifiers.email")), (&json!(5), &json!("identifiers"))]);
    let stored = events(&app, "ada@example.com");
    assert_eq!((stored.len(), &stored[0]["properties"]["value"]), (1, &json!(49.9)), "{stored:?}");
    file.push_str(&format!("purchase.refunded,ada@example.com,{now},o-1,5,EUR,x\n"));
    host.offer(&file, "");
    app.clock.advance_ms(24 * HOUR_MS);
    let shown = work(&app, &path);
    assert_eq!(counts(&shown["lastRun"]), [1, 0, 1, 2, 1], "{shown}");
    assert_eq!(events(&app, "ada@example.com").len(), 2);
    let (contacts, jobs) = (app.get_in("/v1/contacts").data(), app.get_in("/v1/contacts/jobs").data());
    assert_eq!((&contacts["total"], &contacts["contacts"][0]["status"]), (&json!(1), &json!("non-subscribed")));
    assert_eq!(jobs["jobs"], json!([]), "an import of events is not a contact job");
}

#[test]
fn columns_are_mapped_and_missing_ones_named() {
    let (app, host) = (app(), CsvHost::start());
    host.offer("E-mail;Sum;Order no.;Color\nada@example.com;12.50;7;red\n", "");
    let mapping = json!({
        "email": "E-mail", "properties.value": "Sum", "externalOrderId": "Order no.", "dedupeKey": "Order no.",
        "properties.color": "Color",
    });
    let more = json!({ "target": "events", "consentMode": null, "mapping": mapping, "eventName": "order.paid" });
    let path = create(&app, &host.url(), more);
    let shown = work(&app, &path);
    assert_eq!((&shown["lastRun"]["created"], &shown["eventName"]), (&json!(1), &json!("order.paid")), "{shown}");
    let stored = &events(&app, "ada@example.com")[0];
    assert_eq!((&stored["name"], &stored["properties"]["color"]), (&json!("order.paid"), &json!("red")), "{stored}");
    for (change, said) in [
        (json!({ "mapping": { "email": "Mail" } }), "no column \"Mail\", which is mapped to email"),
        (json!({ "mapping": { "properties.value": "Sum" } }), "No column identifies the contacts."),
        (json!({ "mapping": { "email": "E-mail" }, "eventName": null }), "No column contains the event names."),
    ] {
        app.patch(&path, change).data();
        let error = work(&app, &path)["lastRun"]["error"].as_str().expect("an error").to_owned();
        assert!(error.contains(said), "{error}");
    }
    for (change, field) in [
        (json!({ "columnMap": { "email": "E-mail" } }), "columnMap: does not apply to imports of events from a file"),
        (json!({ "status": "subscribed" }), "status"),
        (json!({ "sources": [] }), "sources"),
        (json!({ "mapping": { "mail": "E-mail" } }), "mapping.mail: there is no such field"),
        (json!({ "mapping": { "email": " " } }), "mapping.email"),
    ] {
        let refused = app.patch(&path, change.clone());
        assert!(refused.refusal().2.starts_with(field), "{change}: {refused:?}");
    }
}

// Regression test: rows that were read together with an unreadable row were not imported.
#[test]
fn rows_before_a_broken_row_are_imported() {
    let (app, host) = (app(), CsvHost::start());
    let long = "x".repeat(limits::CONTACT_IMPORT_ROW_BYTES_MAX + 1);
    host.offer(&format!("name,email\nvisit,ada@example.com\nvisit,\"{long}"), "");
    let path = create(&app, &host.url(), json!({ "target": "events", "consentMode": null }));
    let shown = work(&app, &path);
    let error = shown["lastRun"]["error"].as_str().expect("an error");
    assert!(error.starts_with("Row 3 is too long"), "{shown}");
    assert_eq!(events(&app, "ada@example.com").len(), 1);
}

/// A step stores the events of some rows together with the offset of the next row, so a restart between two steps does not repeat any rows.
#[test]
fn a_restart_repeats_no_row_and_a_deleted_import_ends() {
    const ROWS: usize = limits::EVENTS_PER_BATCH_MAX * 2 + 10;
    let (mut app, host) = (app(), CsvHost::start());
    let row = |number: usize| format!("visit,c{}@example.com,\"page {number}, x\"\n", number % 100);
    host.offer(&format!("name,email,properties.page\n{}", (0..ROWS).map(row).collect::<String>()), "\"v1\"");
    let path = create(&app, &host.url(), json!({ "target": "events", "consentMode": null }));
    let step = |app: &TestApp| app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
    step(&app);
    step(&app);
    assert_eq!(app.get(&path).data()["state"], "running");
    app = app.restarted();
    let shown = work(&app, &path);
    assert_eq!((counts(&shown["lastRun"]), host.sent()), ([ROWS as u64, 0, 0, 0, 0], vec![200]), "{shown}");
    app.patch(&path, json!({ "eventName": "seen" })).data();
    step(&app);
    step(&app);
    assert_eq!(app.get(&path).data()["state"], "running");
    app.delete(&path).data();
    step(&app);
    assert_eq!(app.get(&path).refusal().0, 404);
}
