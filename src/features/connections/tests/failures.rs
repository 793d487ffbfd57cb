//! Tests of imports that encounter limits, failures, and changes to their connection.

use std::time::Duration;

use serde_json::{Value, json};

use super::{app, connect, progress, start, step, work};
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::features::connections::error::PlatformError;
use crate::features::connections::importing::{self, Stop};
use crate::features::connections::model::Connection;
use crate::features::connections::{store, worker};
use crate::features::contacts::jobs::provider::{ExternalContact, Pause, Position, ProviderPage, open_imports};
use crate::features::contacts::jobs::{Job, ProviderImport, Task};
use crate::features::tags;
use crate::testing::TestApp;
use crate::testing::platforms::{Fault, HUBSPOT_KEY, KLAVIYO_KEY, MAILCHIMP_KEY, Platforms};
use crate::vocab::contact_status::Status;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

const LATER_MS: i64 = limits::PROVIDER_IMPORT_RETRY_MS_MAX;

fn add(app: &TestApp, more: Value) -> String {
    let mut contact = app.with_project(json!({ "status": "subscribed" }));
    let fields = contact.as_object_mut().expect("the contact is an object");
    fields.extend(more.as_object().expect("the fields are an object").clone());
    app.post("/v1/contacts", contact).data()["id"].as_str().expect("the contact has an ID").to_owned()
}

fn errors(app: &TestApp, id: &str) -> String {
    app.get(&format!("/v1/contacts/imports/{id}/errors")).body.to_string()
}

fn open(app: &TestApp) -> (Job, ProviderImport) {
    let job = open_imports(&app.read()).expect("the data is readable").remove(0);
    let Task::Provider(import) = job.task.clone() else { panic!("the job is an import from a platform") };
    (job, import)
}

fn connection(app: &TestApp) -> Connection {
    store::all(&app.read(), app.account()).expect("the data is readable").remove(0)
}

#[test]
fn a_limit_of_fields_or_tags_never_leaves_a_contact_subscribed() {
    let app = app(&Platforms::start(20));
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let fields: serde_json::Map<String, Value> =
        (0..limits::CUSTOM_FIELDS_MAX).map(|number| (format!("f{number}"), json!(number))).collect();
    let tags: Vec<String> = (0..limits::TAGS_PER_CONTACT_MAX).map(|number| format!("t{number}")).collect();
    let full = [
        add(&app, json!({ "email": "person6@example.com", "customFields": fields })),
        add(&app, json!({ "email": "person16@example.com", "tags": tags })),
    ];
    let id = start(&app, "klaviyo", ("L1", "list"), "subscribed-only");
    work(&app);
    let done = progress(&app, &id);
    assert_eq!(
        (&done["status"], &done["counts"]["updated"], &done["counts"]["failed"]),
        (&json!("completed"), &json!(2), &json!(0)),
        "{done}"
    );
    for contact in full {
        assert_eq!(app.get_in(&format!("/v1/contacts/{contact}")).data()["status"], "unsubscribed");
    }
    let said = errors(&app, &id);
    assert!(said.contains("person6@example.com") && said.contains("customFields"), "{said}");
    assert!(said.contains("person16@example.com") && said.contains("at most 100 tags"), "{said}");
}

#[test]
fn an_import_whose_tag_is_gone_and_cannot_be_created_keeps_statuses() {
    let app = app(&Platforms::start(10));
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let known = add(&app, json!({ "email": "person6@example.com" }));
    let id = start(&app, "klaviyo", ("L1", "list"), "subscribed-only");
    let (job, import) = open(&app);
    let filling = app.data().store.write_blocking(move |tx| {
        let number = tags::number(tx, job.project, &import.tag)?.expect("the import has a tag");
        let tag = tags::by_number(tx, job.project, number)?.expect("the import has a tag");
        tags::delete(tx, job.project, &tag)?;
        for number in 0..=limits::TAGS_PER_PROJECT_MAX {
            tags::create(tx, job.project, &format!("full {number}"))?;
        }
        Ok::<_, crate::engine::store::Error>(())
    });
    filling.expect("the store works").expect("the write succeeds");
    work(&app);
    let done = progress(&app, &id);
    let counts = json!({ "total": 9, "created": 8, "updated": 1, "skipped": 0, "failed": 0 });
    assert_eq!((&done["status"], &done["counts"]), (&json!("completed"), &counts), "{done}");
    assert_eq!(app.get_in(&format!("/v1/contacts/{known}")).data()["status"], "unsubscribed");
    assert!(errors(&app, &id).contains("delete a tag first"));
}

#[test]
fn a_platform_that_never_responds_does_not_hold_up_the_others() {
    let (silent, peer) = (Platforms::start(10), Platforms::start(10));
    let app = TestApp::with(|settings| {
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
        (settings.connections.klaviyo_url, settings.connections.hubspot_url) = (silent.url(), peer.url());
    });
    connect(&app, "klaviyo", KLAVIYO_KEY);
    connect(&app, "hubspot", HUBSPOT_KEY);
    silent.fail("profiles", 1, Fault::Silence);
    start(&app, "klaviyo", ("L1", "list"), "include-all");
    let id = start(&app, "hubspot", ("1", "list"), "include-all");
    let import = worker::import(app.engine().clone(), Environment::Test);
    let ended = app.wait(async { tokio::time::timeout(Duration::from_secs(5), import).await });
    assert!(ended.is_err(), "the step still waits for the silent platform");
    assert_eq!(progress(&app, &id)["status"], "completed");
}

#[test]
fn a_step_that_fails_pauses_only_its_own_import() {
    let app = app(&Platforms::start(10));
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    let (job, _) = open(&app);
    let failure = Failure::internal("on purpose");
    app.wait(worker::pause(app.engine(), Environment::Test, &job, failure)).expect("the pause is stored");
    assert!(progress(&app, &id)["waiting"].as_str().is_some_and(|said| said.contains("an internal error")));
    app.clock.advance_ms(LATER_MS);
    work(&app);
    assert_eq!(progress(&app, &id)["counts"]["created"], 10);
}

#[test]
fn a_successful_step_ends_the_rejection_of_its_key() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    peer.accept(&[]);
    step(&app);
    let status = |app: &TestApp| app.get("/v1/connections").data()["connections"][0]["status"].clone();
    assert_eq!(status(&app), "reconnect_required");
    peer.accept(&[KLAVIYO_KEY]);
    app.clock.advance_ms(LATER_MS);
    work(&app);
    assert_eq!((&progress(&app, &id)["status"], status(&app)), (&json!("completed"), json!("connected")));
}

#[test]
fn a_batch_with_missing_results_is_read_again() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    connect(&app, "hubspot", HUBSPOT_KEY);
    peer.fail("contacts/batch/read", 3, Fault::Status(207, None));
    let id = start(&app, "hubspot", ("1", "list"), "include-all");
    work(&app);
    assert!(progress(&app, &id)["waiting"].as_str().is_some_and(|said| said.contains("207")));
    app.clock.advance_ms(LATER_MS);
    work(&app);
    assert_eq!(progress(&app, &id)["counts"]["created"], 10);
}

// Regression test: a deleted contact that was still in a list made the whole import fail after thirty attempts.
#[test]
fn a_deleted_contact_that_a_list_still_has_does_not_stop_the_import() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    connect(&app, "hubspot", HUBSPOT_KEY);
    peer.delete_contact("3");
    let id = start(&app, "hubspot", ("1", "list"), "include-all");
    work(&app);
    let done = progress(&app, &id);
    assert_eq!((&done["status"], &done["counts"]["created"]), (&json!("completed"), &json!(9)), "{done}");
}

#[test]
fn a_source_that_is_gone_does_not_end_the_import_of_the_others() {
    let app = app(&Platforms::start(10));
    connect(&app, "hubspot", HUBSPOT_KEY);
    for ids in [["9", "1"], ["1", "9"]] {
        let sources = ids.map(|id| json!({ "id": id, "type": "list", "name": format!("List {id}") }));
        let body = json!({ "provider": "hubspot", "sources": sources, "consentMode": "include-all" });
        let started = app.post_in("/v1/contacts/imports/provider", body).data();
        let id = started["id"].as_str().expect("the import has an ID");
        work(&app);
        let done = progress(&app, id);
        assert_eq!((&done["status"], &done["counts"]["total"]), (&json!("completed"), &json!(10)), "{done}");
        assert!(errors(&app, id).contains("List 9\\\" does not exist in HubSpot"), "{}", errors(&app, id));
    }
}

#[test]
fn a_contact_that_cannot_be_read_is_refused_without_its_page() {
    for (provider, key, source) in [("klaviyo", KLAVIYO_KEY, "L1"), ("hubspot", HUBSPOT_KEY, "1")] {
        let peer = Platforms::start(10);
        let app = app(&peer);
        connect(&app, provider, key);
        peer.fail(
            if provider == "klaviyo" { "profiles" } else { "contacts/batch/read" },
            1,
            Fault::Replace("\"Person3\"", "77777"),
        );
        let id = start(&app, provider, (source, "list"), "include-all");
        work(&app);
        let done = progress(&app, &id);
        let counts = json!({ "total": 10, "created": 9, "updated": 0, "skipped": 0, "failed": 1 });
        assert_eq!((&done["status"], &done["counts"]), (&json!("completed"), &counts), "{provider}: {done}");
        let said = errors(&app, &id);
        assert!(said.contains("person3@example.com") && said.contains("unknown format") && !said.contains("77777"), "{said}");
    }
}

#[test]
fn a_pause_from_a_clock_that_was_ahead_is_ignored() {
    let app = app(&Platforms::start(0));
    connect(&app, "klaviyo", KLAVIYO_KEY);
    start(&app, "klaviyo", ("L1", "list"), "include-all");
    let (_, mut import) = open(&app);
    let now = app.engine().clock.now();
    let mut waits = |until: Timestamp| {
        import.pause = Some(Pause { reason: String::new(), since: now, until });
        import.waits_at(now)
    };
    let max = limits::PROVIDER_PAUSE_MS_MAX;
    assert_eq!([now, now.plus_ms(1), now.plus_ms(max), now.plus_ms(max + 1)].map(&mut waits), [false, true, true, false]);
}

#[test]
fn a_step_with_an_old_key_does_not_pause_a_reconnected_import() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    let (used, (job, import)) = (connection(&app), open(&app));
    peer.accept(&["pk_new"]);
    connect(&app, "klaviyo", "pk_new");
    let now = app.engine().clock.now();
    let stop = Stop::of(&PlatformError::Rejected("old".into()), &import, &used, Position::default(), now);
    let apply = app.data().store.write_blocking(move |tx| {
        store::limit(tx, &used, now.plus_ms(1_000))?;
        stop.apply(tx, &used, job.id)
    });
    apply.expect("the store works").expect("the write succeeds");
    assert!(progress(&app, &id)["waiting"].is_null());
    assert_eq!(app.get("/v1/connections").data()["connections"][0]["status"], "connected");
    work(&app);
    assert_eq!(progress(&app, &id)["counts"]["created"], 10);
}

#[test]
fn a_page_is_not_stored_after_its_connection_was_removed() {
    let app = app(&Platforms::start(10));
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    let (used, (job, import)) = (connection(&app), open(&app));
    app.delete(&format!("/v1/connections?connectionId={}", used.id)).data();
    let contact =
        ExternalContact { email: "ada@example.com".into(), status: Some(Status::Subscribed), ..ExternalContact::default() };
    let page = import.check(ProviderPage { contacts: vec![Ok(contact)], next: None, expected: None });
    let keep =
        move |tx: &mut crate::engine::store::WriteTx<'_>| importing::keep(tx, &used, job.id, (page, "It was removed.".into()));
    app.data().store.write_blocking(keep).expect("the store works").expect("the write succeeds");
    let failed = progress(&app, &id);
    assert_eq!((&failed["status"], &failed["counts"]["total"]), (&json!("failed"), &json!(0)), "{failed}");
}

#[test]
fn a_connection_of_one_brand_is_reconnected_by_its_id() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    let made = app.post_in("/v1/connections/klaviyo", json!({ "apiKey": KLAVIYO_KEY })).data();
    peer.accept(&["pk_new", MAILCHIMP_KEY]);
    let again = |provider: &str, key: &str| {
        app.post(&format!("/v1/connections/{provider}"), json!({ "apiKey": key, "connectionId": made["id"] }))
    };
    let same = again("klaviyo", "pk_new").data();
    assert_eq!((&same["id"], &same["projectId"]), (&made["id"], &made["projectId"]));
    assert_eq!(app.get("/v1/connections").data()["total"], 1);
    assert_eq!(again("mailchimp", MAILCHIMP_KEY).refusal().0, 404, "the connection is one to another provider");
    peer.fail("/api/accounts", 1, Fault::Replace("XyZ123", "Other"));
    let other = again("klaviyo", "pk_new");
    let (status, _, said) = other.refusal();
    assert!(status == 400 && said.starts_with("apiKey: ") && said.contains("belongs to the account"), "{said}");
    assert_eq!(app.get("/v1/connections").data()["total"], 1);
}
