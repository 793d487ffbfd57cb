//! Tests of jobs, from the request to the result. The tests also check that interruptions do not change the result.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Task, bulk, forget, import, open_jobs, step};
use crate::engine::outbox;
use crate::engine::store::key::Key;
use crate::engine::store::{Error, WriteTx};
use crate::features::contact_records;
use crate::features::contact_sets::{self, Facet};
use crate::features::contacts::indexing;
use crate::testing::TestApp;
use crate::vocab::{limits, tables};

fn work(app: &TestApp) {
    while step(app.data()).expect("the step succeeds") {}
}

fn upload(app: &TestApp, fields: &[(&str, &str)], file: &[u8]) -> crate::testing::TestResponse {
    let project = app.project.to_string();
    let mut all = vec![("projectId", project.as_str())];
    all.extend_from_slice(fields);
    app.upload("/v1/contacts/imports", &all, file)
}

/// Uploads a file, runs its import to the end, and returns the import's status.
fn import(app: &TestApp, fields: &[(&str, &str)], file: &[u8]) -> Value {
    let started = upload(app, fields, file);
    assert_eq!(started.status, 201, "{started:?}");
    work(app);
    status(app, &started.data()["id"])
}

fn status(app: &TestApp, id: &Value) -> Value {
    app.get(&format!("/v1/contacts/imports/{}", id.as_str().expect("the job has an id"))).data()
}

fn errors(app: &TestApp, status: &Value) -> Value {
    let id = status["id"].as_str().expect("the job has an id");
    app.get(&format!("/v1/contacts/imports/{id}/errors?limit=100")).data()["errors"].clone()
}

fn counts(total: u64, created: u64, updated: u64, skipped: u64, failed: u64) -> Value {
    json!({ "total": total, "created": created, "updated": updated, "skipped": skipped, "failed": failed })
}

fn contact(app: &TestApp, email: &str) -> Value {
    let tx = app.read();
    let found = contact_records::find_by_email(&tx, app.project, email).expect("the store is readable").expect("the row exists");
    app.get_in(&format!("/v1/contacts/{}", found.id)).data()
}

fn events(app: &TestApp) -> Vec<Value> {
    let waiting = outbox::waiting(&app.read(), 1_000).expect("the store is readable");
    let data = waiting.iter().map(|(_, event)| event.envelope());
    data.filter(|event| event["type"] == "subscriber.bulk_imported").map(|event| event["data"].clone()).collect()
}

/// Checks that rows, contact sets, counts and the search index agree; returns the number of contacts.
fn agree(app: &TestApp) -> u64 {
    while indexing::step(app.data()).expect("the indexing step succeeds") {}
    let tx = app.read();
    let all = contact_sets::set(&tx, app.project, Facet::All).expect("the store is readable");
    let mut rows = 0;
    contact_records::visit_rows(&tx, app.project, 0..=u32::MAX, |number, _| {
        assert!(all.contains(number));
        rows += 1;
        Ok(std::ops::ControlFlow::Continue(()))
    })
    .expect("the store is readable");
    assert_eq!((rows, contact_sets::count(&tx, app.project, Facet::All).expect("the store is readable")), (all.len(), all.len()));
    let found = app.data().search.matching(&app.project.0, "example").expect("the search succeeds");
    assert_eq!(found, all, "every contact in these tests has an address at example.com");
    rows
}

type Fields<'a> = &'a [(&'a str, &'a str)];

#[test]
fn importing_a_file_twice_changes_nothing_the_second_time() {
    let app = TestApp::new();
    let file = "Email,First Name,Last Name,Phone,Country,Language,custom.plan\r\n\
        ada@example.com,Ada,Lovelace,+44 20 1,gb,en-gb,pro\r\n\
        \"grace@example.com\",\"Grace \"\"Amazing\"\"\",\"Hop\nper\",,,,\r\n\
        bob@example.com,Bob,\"Berg, Dr.\",,,,free\r\n";
    let done = import(&app, &[("tags", "new, [2026]")], file.as_bytes());
    assert_eq!(done["counts"], counts(3, 2, 0, 0, 1), "{done}");
    let reported = json!([{ "row": 3, "email": "grace@example.com", "field": "lastName",
        "error": "The text contains the control character U+000A; remove it." }]);
    assert_eq!((done["status"].as_str(), errors(&app, &done)), (Some("completed"), reported));
    let ada = contact(&app, "ada@example.com");
    assert_eq!((&ada["firstName"], &ada["country"], &ada["language"]), (&json!("Ada"), &json!("GB"), &json!("en-GB")));
    assert_eq!((&ada["tags"], &ada["customFields"]), (&json!(["new", "[2026]"]), &json!({ "plan": "pro" })));
    assert_eq!(contact(&app, "bob@example.com")["lastName"], "Berg, Dr.");
    assert_eq!(events(&app).len(), 1);

    let again = import(&app, &[("tags", "new")], file.as_bytes());
    assert_eq!(again["counts"], counts(3, 0, 0, 2, 1));
    assert_eq!(events(&app).len(), 2, "every completed import is reported");
    assert_eq!(agree(&app), 2);
}

#[test]
fn an_import_does_not_overrule_the_contacts_own_choice() {
    let app = TestApp::new();
    let set = |email: &str, status: &str| {
        app.post_in("/v1/contacts", json!({ "email": email, "status": status })).data();
    };
    set("gone@example.com", "unsubscribed");
    set("list@example.com", "non-subscribed");
    let file =
        "email,status,name\ngone@example.com,subscribed,Gone Girl\nlist@example.com,subscribed,\nnew@example.com,unsubscribed,\n";
    let done = import(&app, &[], file.as_bytes());
    assert_eq!(done["counts"], counts(3, 1, 2, 0, 0));
    let gone = contact(&app, "gone@example.com");
    assert_eq!((&gone["status"], &gone["firstName"]), (&json!("unsubscribed"), &json!("Gone")));
    let reported = errors(&app, &done);
    assert_eq!(
        (&reported[0]["row"], &reported[0]["field"], reported.as_array().map(Vec::len)),
        (&json!(2), &json!("status"), Some(1))
    );
    assert_eq!(contact(&app, "list@example.com")["status"], "subscribed");
    assert!(contact(&app, "new@example.com")["unsubscribedAt"].is_string());

    let skipped = import(&app, &[("onConflict", "skip")], b"email,name\ngone@example.com,Other\nfresh@example.com,\n");
    assert_eq!(skipped["counts"], counts(2, 1, 0, 1, 0));
    assert_eq!(contact(&app, "gone@example.com")["firstName"], "Gone");
}

#[test]
fn encodings_delimiters_and_maps_are_applied() {
    let app = TestApp::new();
    let utf16: Vec<u8> = "\u{feff}email\tname\nutf16@example.com\tÅsa\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let files: [(&str, &[u8], Fields<'_>); 4] = [
        ("Zoë", "\u{feff}email;name\r\na@example.com;Zoë\r\n".as_bytes(), &[("delimiter", ";")]),
        ("Müller", b"email,name\na@example.com,M\xFCller", &[]),
        ("Åsa", &utf16, &[("delimiter", "\\t")]),
        (
            "Ада",
            "Wer,Wo,Wie\n,x@example.com,Ада\n".as_bytes(),
            &[("columnMap", r#"{"email":"wo","firstName":"Wie","customFields":{"who":"Wer"}}"#)],
        ),
    ];
    for ((name, file, fields), email) in
        files.into_iter().zip(["a@example.com", "a@example.com", "utf16@example.com", "x@example.com"])
    {
        let done = import(&app, fields, file);
        assert_eq!(done["status"], "completed", "{done}");
        assert_eq!(contact(&app, email)["firstName"], name, "{done}");
    }
}

#[test]
fn an_invalid_form_is_refused_with_a_remedy_and_starts_nothing() {
    let app = TestApp::new();
    let refusals: [(Fields<'_>, &[u8], &str); 8] = [
        (&[], b"who,where\nx,y\n", "columnMap: no column was recognized as the email address"),
        (
            &[("columnMap", r#"{"email":"E"}"#)],
            b"who\nx\n",
            "columnMap: the file has no column \"E\". The columns of the file: \"who\".",
        ),
        (&[("columnMap", r#"{"mail":"who"}"#)], b"who\nx\n", "columnMap: mail: unknown field `mail`"),
        (&[], b"", "file: the file is empty"),
        (&[("onConflict", "merge")], b"email\n", "onConflict: must be `upsert` or `skip`"),
        (&[("delimiter", "ab")], b"email\n", "delimiter: must be one ASCII character"),
        (&[("tags", "[1]")], b"email\n", "tags: must be names separated by commas"),
        (&[("hue", "red")], b"email\n", "hue: unknown field"),
    ];
    for (fields, file, expected) in refusals {
        let answer = upload(&app, fields, file);
        let (status, _, sentence) = answer.refusal();
        assert!(status == 400 && sentence.starts_with(expected), "{sentence}");
    }
    let foreign = app.upload("/v1/contacts/imports", &[("projectId", "66f1a2b3d4e5f60718293a4b")], b"email\n");
    assert_eq!(foreign.refusal().0, 404);
    let json = app.post("/v1/contacts/imports", json!({}));
    assert_eq!(json.refusal().0, 415);
    assert!(open_jobs(&app.read()).expect("the store is readable").is_empty());
}

#[test]
fn an_unreadable_row_fails_the_import_but_keeps_the_rows_before_it() {
    let app = TestApp::new();
    let mut file = b"email\na@example.com\n\"b@example.com\n".to_vec();
    file.extend(std::iter::repeat_n(b'x', limits::CONTACT_IMPORT_ROW_BYTES_MAX + 1));
    let done = import(&app, &[], &file);
    assert_eq!((done["status"].as_str(), &done["counts"]), (Some("failed"), &counts(1, 1, 0, 0, 0)));
    let error = done["error"].as_str().expect("the job reports its errors");
    assert!(error.starts_with("Row 3 is longer than 65536 bytes; most likely an earlier quotation mark"), "{error}");
    assert_eq!(events(&app).len(), 1, "the event reports the imported rows");
}

#[test]
fn a_bulk_write_reports_each_invalid_row_and_applies_the_others() {
    let app = TestApp::new();
    let rows = json!([
        { "email": "ada@example.com", "firstName": "Ada", "tags": ["a"] },
        { "email": "bob" },
        { "email": "eve@example.com", "hue": 1 },
        { "firstName": "Noel" },
        { "email": "ADA@example.com", "tags": ["b"], "customFields": { "plan": "pro" } },
        "text",
    ]);
    let done = app.post_in("/v1/contacts/bulk", json!({ "subscribers": rows })).data();
    assert_eq!((&done["success"], &done["failed"], &done["updated"]), (&json!(2), &json!(4), &json!(1)), "{done}");
    let reported: Vec<_> =
        done["errors"].as_array().expect("the job reports its errors").iter().map(|row| (&row["index"], &row["field"])).collect();
    assert_eq!(
        reported,
        [(&json!(1), &json!("email")), (&json!(2), &json!("hue")), (&json!(3), &json!("email")), (&json!(5), &json!(""))]
    );
    let ada = contact(&app, "ada@example.com");
    assert_eq!(
        (&ada["email"], &ada["tags"], &ada["customFields"]),
        (&json!("ada@example.com"), &json!(["a", "b"]), &json!({ "plan": "pro" }))
    );
    assert_eq!(events(&app), [json!({ "projectId": app.project, "success": 2, "failed": 4, "updated": 1 })]);
    assert_eq!(app.post_in("/v1/contacts/bulk", json!({ "subscribers": [] })).refusal().0, 400);
    assert_eq!(agree(&app), 1);
}

#[test]
fn a_large_bulk_write_is_a_job_that_counts_every_row_once() {
    let app = TestApp::new();
    let total = limits::BULK_AT_ONCE_MAX as u64 + 2;
    let mut rows: Vec<Value> = (1..total).map(|n| json!({ "email": format!("c{n}@example.com") })).collect();
    rows.push(json!({ "email": "no-address" }));
    let started = app.post_in("/v1/contacts/bulk", json!({ "subscribers": rows })).data();
    assert_eq!((&started["status"], &started["totalContacts"]), (&json!("processing"), &json!(total)));
    let path = format!("/v1/contacts/bulk/{}", started["jobId"].as_str().expect("the job has an id"));
    assert_eq!(app.get(&path).data()["status"], "pending");
    // Run each small step twice from the same job state: the second run must change nothing.
    for _ in 0..100 {
        let Some(job) = open_jobs(&app.read()).expect("the store is readable").into_iter().next() else { break };
        let Task::Bulk(bulk) = &job.task else { panic!("it is a bulk write") };
        bulk::step_by(app.data(), &job, bulk, 1_000).expect("the step succeeds");
        assert!(!bulk::step_by(app.data(), &job, bulk, 1_000).expect("the step succeeds"));
    }
    let done = app.get(&path).data();
    assert_eq!((&done["status"], &done["processed"]), (&json!("completed"), &json!(total)));
    assert_eq!((&done["result"]["success"], &done["result"]["errors"][0]["index"]), (&json!(total - 1), &json!(total - 1)));
    assert_eq!(events(&app).len(), 1);
    assert_eq!(agree(&app), total - 1);
}

/// Adds a contact, and damages its row so that the row cannot be read.
fn damage_ada(app: &TestApp) {
    app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
    let found = contact_records::find_by_email(&app.read(), app.project, "ada@example.com").expect("the store is readable");
    let key = (app.project, found.expect("the contact exists").id.number()).to_bytes();
    let damage = move |tx: &mut WriteTx<'_>| {
        tx.put_bytes(tables::CONTACTS, key, vec![0xFF]);
        Ok::<_, Error>(())
    };
    app.data().store.write_blocking(damage).expect("the store works").expect("the write succeeds");
}

#[test]
fn a_bulk_write_that_fails_keeps_none_of_the_rows_that_it_did_not_process() {
    let app = TestApp::new();
    damage_ada(&app);
    let mut rows: Vec<Value> = (0..limits::BULK_AT_ONCE_MAX).map(|n| json!({ "email": format!("c{n}@example.com") })).collect();
    rows.push(json!({ "email": "ada@example.com" }));
    app.post_in("/v1/contacts/bulk", json!({ "subscribers": rows })).data();
    let job = open_jobs(&app.read()).expect("the store is readable").remove(0);
    let kept = || super::store::waiting_rows(&app.read(), job.id, 0..u32::MAX).expect("the store is readable").len();
    assert_eq!(kept(), rows.len());
    work(&app);
    assert_eq!(app.get(&format!("/v1/contacts/jobs/{}", job.id)).data()["status"], "failed");
    assert_eq!(kept(), 0);
}

// Regression test: a damaged row was treated as a disk failure, so the job was retried forever, and no other job got a turn.
#[test]
fn a_damaged_contact_stops_its_job_and_no_other() {
    let app = TestApp::new();
    damage_ada(&app);
    let change = app.post_in("/v1/contacts/bulk-change", json!({ "all": true, "addTags": ["vip"] })).data();
    let other = app.another_project().to_string();
    let second = app.post("/v1/contacts/exports", json!({ "projectId": other })).data();
    work(&app);
    let job = |id: &Value| app.get(&format!("/v1/contacts/jobs/{}", id.as_str().expect("the job has an id"))).data();
    let stopped = job(&change["jobId"]);
    assert!(stopped["error"].as_str().is_some_and(|said| said.starts_with("An internal error stopped this job.")), "{stopped}");
    assert_eq!(job(&second["jobId"])["status"], "completed");
}

#[test]
fn an_export_can_be_imported_and_its_link_expires_after_an_hour() {
    let app = TestApp::new();
    let formula = json!({ "email": "+eve@example.com", "firstName": "=1+1", "phone": "+49 30 1", "tags": ["a;b"],
        "customFields": { "note": "@\"x\"", "list": [1, 2] } });
    app.post_in("/v1/contacts", formula).data();
    app.post_in("/v1/contacts", json!({ "email": "bob@example.com", "status": "unsubscribed" })).data();
    let started = app.post_in("/v1/contacts/exports", json!({})).data();
    assert_eq!((&started["status"], started.get("downloadUrl")), (&json!("pending"), None));
    work(&app);
    let path = format!("/v1/contacts/exports/{}", started["jobId"].as_str().expect("the job has an id"));
    let done = app.get_in(&path).data();
    assert_eq!((&done["status"], &done["contactCount"]), (&json!("completed"), &json!(2)));
    let url = done["downloadUrl"].as_str().expect("the response has a link").to_owned();
    let (code, disposition, file) = app.download(&url);
    assert_eq!((code, disposition.as_str()), (200, "attachment; filename=\"contacts-2026-01-01.csv\""));
    let text = String::from_utf8(file.clone()).expect("the file is UTF-8");
    assert!(text.starts_with("id,email,first_name,") && text.contains(",'=1+1,,,'+49 30 1,"), "{text}");

    let other = app.another_project().to_string();
    let imported = app.upload("/v1/contacts/imports", &[("projectId", &other)], &file).data();
    work(&app);
    assert_eq!(status(&app, &imported["id"])["counts"], counts(2, 2, 0, 0, 0));
    let list = app.get(&format!("/v1/contacts?projectId={other}&sortOrder=asc")).data();
    let eve = &list["contacts"][0];
    assert_eq!(
        (&eve["email"], &eve["firstName"], &eve["phone"]),
        (&json!("+eve@example.com"), &json!("=1+1"), &json!("+49 30 1"))
    );
    assert_eq!((&eve["tags"], &eve["customFields"]["note"]), (&json!(["a;b"]), &json!("@\"x\"")));

    assert_eq!(app.download(&url.replace("token=1", "token=2")).0, 404);
    assert_eq!(app.get(&format!("{path}?projectId={other}")).refusal().0, 404);
    app.clock.advance_ms(limits::EXPORT_LINK_MS);
    assert_eq!(app.download(&url).0, 404);
    assert_eq!(app.get_in(&path).data().get("downloadUrl"), None);
}

#[test]
fn an_export_contains_only_the_selected_contacts() {
    let app = TestApp::new();
    for (email, status) in [("a@example.com", "subscribed"), ("b@example.com", "bounced"), ("ab@example.com", "bounced")] {
        app.post_in("/v1/contacts", json!({ "email": email, "status": status })).data();
    }
    while indexing::step(app.data()).expect("the indexing step succeeds") {}
    let query = |filters: Value| app.post_in("/v1/contacts/exports", json!({ "filters": filters }));
    let both = query(json!({ "status": "bounced", "search": "ab@" })).data();
    work(&app);
    let done = app.get_in(&format!("/v1/contacts/exports/{}", both["jobId"].as_str().expect("the job has an id"))).data();
    assert_eq!(done["contactCount"], 1);
    assert_eq!(query(json!({ "hue": 1 })).refusal().0, 400);
    assert_eq!(app.post_in("/v1/contacts/exports", json!({ "segmentId": "66f1a2b3d4e5f60718293a4b" })).refusal().0, 404);
}

#[test]
fn open_jobs_are_limited_and_old_finished_ones_are_deleted() {
    let app = TestApp::new();
    let start = || app.post_in("/v1/contacts/exports", json!({}));
    let first = start().data();
    for _ in 1..limits::JOBS_OPEN_PER_PROJECT_MAX {
        start().data();
    }
    let refused = start();
    assert_eq!((refused.refusal().0, refused.refusal().1), (409, "LIMIT_REACHED"));
    assert!(
        refused.refusal().2.contains(" imports, exports and bulk changes for this brand are already in progress"),
        "{refused:?}"
    );
    work(&app);
    let last = start().data();
    let path = format!("/v1/contacts/exports/{}", first["jobId"].as_str().expect("the job has an id"));
    assert_eq!(app.get_in(&path).data()["status"], "completed");
    let forget_all = || while app.data().store.write_blocking(forget).expect("the store works").expect("the write succeeds") {};
    forget_all();
    assert_eq!(app.get_in(&path).status, 200);
    app.clock.advance_ms(limits::JOB_RETENTION_MS);
    forget_all();
    assert_eq!(app.get_in(&path).status, 404);
    assert_eq!(open_jobs(&app.read()).expect("the jobs are readable").len(), 1, "an open job is never deleted");

    // The retention period of a job starts when the job ends, so this job is kept longer than the others.
    let later = last["jobId"].as_str().expect("the job has an id");
    let path = format!("/v1/contacts/exports/{later}");
    work(&app);
    forget_all();
    assert_eq!(app.get_in(&path).data()["status"], "completed");
    app.clock.advance_ms(limits::JOB_RETENTION_MS - 1);
    forget_all();
    assert_eq!(app.get_in(&path).status, 200);
    app.clock.advance_ms(1);
    forget_all();
    assert_eq!(app.get_in(&path).status, 404);
}

/// Returns the expected result of an import, computed with a simple model: each address gets the name from the last of its rows that has a
/// name.
fn naive(rows: &[(u8, u8)]) -> BTreeMap<String, Option<String>> {
    let mut people: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (person, name) in rows {
        let known = people.entry(format!("p{person}@example.com")).or_default();
        if *name > 0 {
            *known = Some(format!("N{name}"));
        }
    }
    people
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Importing in chunks of any size, with a worker that restarts after any number of them, has the same result as importing all rows in
    /// order.
    #[test]
    fn an_import_in_chunks_with_interruptions_equals_a_plain_map(
        rows in prop::collection::vec((0..12_u8, 0..3_u8), 0..60), size in 1..9_usize, turns in 1..4_usize,
    ) {
        let app = TestApp::new();
        let mut file = "email,first name\r\n".to_owned();
        for (person, name) in &rows {
            let name = if *name > 0 { format!("N{name}") } else { String::new() };
            // In files with an even number of rows, write the addresses in uppercase: their case must not matter.
            let email = if rows.len() % 2 == 0 { format!("P{person}@Example.com") } else { format!("p{person}@example.com") };
            file.push_str(&format!("{email},{name}\r\n"));
        }
        let started = upload(&app, &[], file.as_bytes()).data();
        while let Some(job) = open_jobs(&app.read()).expect("the store is readable").into_iter().next() {
            let Task::Import(task) = &job.task else { panic!("it is an import") };
            import::step_by(app.data(), &job, task, (size, turns)).expect("the step succeeds");
            // Repeat the step with the job state from before the step: a second worker with that stale state must change nothing.
            let stale = import::step_by(app.data(), &job, task, (size, turns)).expect("the step succeeds");
            prop_assert!(!stale || rows.is_empty());
        }
        let people = naive(&rows);
        let done = status(&app, &started["id"]);
        prop_assert_eq!(&done["counts"]["total"], &json!(rows.len()));
        prop_assert_eq!(&done["counts"]["created"], &json!(people.len()));
        prop_assert_eq!(done["counts"]["failed"].as_u64(), Some(0));
        prop_assert_eq!(agree(&app), people.len() as u64);
        let tx = app.read();
        for (email, name) in people {
            let contact = contact_records::find_by_email(&tx, app.project, &email).expect("the store is readable").expect("the row exists");
            prop_assert_eq!(contact.profile.first_name, name);
        }
        // The completion event is emitted even for a file without rows.
        prop_assert_eq!(events(&app).len(), 1);
    }
}
