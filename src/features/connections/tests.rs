//! Tests of connections and imports with a server that behaves like the platforms.

mod failures;
mod preview;
mod published;
mod sign_in;

use serde_json::{Value, json};

use super::credentials::open;
use super::model::Connection;
use super::{sealed, store, worker};
use crate::engine::runner::Step;
use crate::engine::store::seal::{Seal, SecretCount};
use crate::features::contacts::jobs;
use crate::testing::TestApp;
use crate::testing::platforms::{Fault, HUBSPOT_KEY, KLAVIYO_KEY, MAILCHIMP_KEY, Platforms, Standing, standing};
use crate::vocab::environment::Environment;
use crate::vocab::ids::ConnectionId;
use crate::vocab::providers::Provider;

/// For each platform: its name, a key, a source with all contacts, and the kind of this source.
const PLATFORMS: [(&str, &str, &str, &str); 3] = [
    ("platform_a", KLAVIYO_KEY, "L1", "list"),
    ("platform_b", MAILCHIMP_KEY, "a1b2c3", "audience"),
    ("platform_c", HUBSPOT_KEY, "1", "list"),
];

fn app(peer: &Platforms) -> TestApp {
    TestApp::with(|settings| {
        settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
        let connections = &mut settings.connections;
        (connections.klaviyo_url, connections.mailchimp_url, connections.hubspot_url) = (peer.url(), peer.url(), peer.url());
    })
}

fn connect(app: &TestApp, provider: &str, key: &str) -> Value {
    app.post(&format!("/v1/connections/{provider}"), json!({ "apiKey": key })).data()
}

fn start(app: &TestApp, provider: &str, source: (&str, &str), mode: &str) -> String {
    let sources = json!([{ "id": source.0, "type": source.1, "name": "Everyone" }]);
    let body = json!({ "provider": provider, "sources": sources, "consentMode": mode });
    let started = app.post_in("/v1/contacts/imports/provider", body).data();
    assert_eq!((&started["object"], &started["status"]), (&json!("contact_import"), &json!("pending")));
    started["id"].as_str().expect("the import has an ID").to_owned()
}

fn step(app: &TestApp) -> Step {
    app.wait(worker::import(app.engine().clone(), Environment::Test)).expect("the step succeeds")
}

fn work(app: &TestApp) {
    for _ in 0..1_000 {
        if step(app) == Step::Done {
            return;
        }
    }
    panic!("the imports never end");
}

fn progress(app: &TestApp, id: &str) -> Value {
    app.get(&format!("/v1/contacts/imports/{id}")).data()
}

fn count(app: &TestApp, status: &str) -> u64 {
    let found = app.get_in(&format!("/v1/contacts?limit=1&status={status}"));
    assert_eq!(found.status, 200);
    found.body["count"].as_u64().or(found.body["data"]["total"].as_u64()).expect("the list has a total")
}

/// Returns how many of the first `people` contacts have one of the subscription states in `wanted`.
fn of(people: usize, wanted: &[Standing]) -> u64 {
    (0..people).filter(|number| wanted.contains(&standing(*number))).count() as u64
}

#[test]
fn an_account_is_connected_listed_reconnected_and_removed() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for (provider, alias, key, label) in [
        ("platform_a", "klaviyo", KLAVIYO_KEY, "Klaviyo"),
        ("platform_b", "mailchimp", MAILCHIMP_KEY, "Mailchimp"),
        ("platform_c", "hubspot", HUBSPOT_KEY, "HubSpot"),
    ] {
        let made = app.post(&format!("/v1/connections/{alias}"), json!({ "apiKey": key, "name": "Shop" }));
        assert_eq!(made.status, 201);
        let made = made.data();
        assert_eq!(
            (&made["provider"], &made["providerName"], &made["status"]),
            (&json!(provider), &json!(label), &json!("connected"))
        );
        let again = connect(&app, provider, key);
        assert_eq!((&again["id"], &again["name"]), (&made["id"], &json!("Shop")), "the same account is reconnected");
        let listed = app.get(&format!("/v1/connections?provider={alias}")).data();
        assert_eq!((&listed["total"], &listed["connections"][0]["id"]), (&json!(1), &made["id"]));
        let gone =
            app.delete(&format!("/v1/connections?connectionId={}", made["id"].as_str().expect("the value is an ID"))).data();
        assert_eq!(gone["deleted"], true);
        assert_eq!(app.get("/v1/connections").data()["total"], 0);
    }
    assert_eq!(app.delete("/v1/connections?connectionId=66f1a2b3d4e5f60718293a60").status, 404);
}

#[test]
fn a_key_is_checked_before_it_is_stored_and_never_shown() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    for (provider, key, part) in [
        ("klaviyo", "sk_wrong", "starts with pk_"),
        (
            "klaviyo",
            "pk_other",
            "Klaviyo rejected this key (The key is not valid.); check the key; it needs the scopes accounts:read",
        ),
        ("mailchimp", "0123", "ends with its data center"),
        ("mailchimp", "0123-us1.evil.example", "ends with its data center"),
        ("hubspot", "pat other", "without spaces"),
        ("hubspot", "", "without spaces"),
    ] {
        let refused = app.post(&format!("/v1/connections/{provider}"), json!({ "apiKey": key }));
        let (status, code, said) = refused.refusal();
        assert_eq!((status, code), (400, "INVALID_REQUEST"), "{key}");
        assert!(said.starts_with("apiKey: ") && said.contains(part), "{said}");
    }
    assert_eq!(app.get("/v1/connections").data()["total"], 0);
    peer.fail("/api/accounts", 9, Fault::Status(503, None));
    let down = app.post("/v1/connections/klaviyo", json!({ "apiKey": KLAVIYO_KEY }));
    assert_eq!((down.refusal().0, down.refusal().1), (503, "PROVIDER_UNAVAILABLE"));
    peer.recover();
    let create = || app.post_keyed("/v1/connections/klaviyo", "once", json!({ "apiKey": KLAVIYO_KEY }));
    let made = create();
    assert_eq!(made.status, 201);
    let asked = peer.asked().len();
    assert_eq!((create().body, peer.asked().len()), (made.body.clone(), asked), "a repeat gets the stored response");
    assert!(!format!("{made:?}{:?}", app.get("/v1/connections")).contains(KLAVIYO_KEY));
    let bytes = std::fs::read(app.data().store.file()).expect("the file can be read");
    assert!(!bytes.windows(KLAVIYO_KEY.len()).any(|window| window == KLAVIYO_KEY.as_bytes()), "the key is sealed");
}

#[test]
fn the_three_codes_are_returned_in_exactly_their_cases() {
    let peer = Platforms::start(3);
    let app = app(&peer);
    let sources = |more: &str| app.get_in(&format!("/v1/contacts/imports/providers/klaviyo/sources{more}"));
    let import = |connection: Value| {
        let list = json!([{ "id": "L1", "type": "list", "name": "News" }]);
        app.post_in(
            "/v1/contacts/imports/provider",
            json!({ "provider": "klaviyo", "sources": list, "connectionId": connection }),
        )
    };
    let unknown = "?connectionId=66f1a2b3d4e5f60718293a60";
    for refused in [sources(""), sources(unknown), import(Value::Null)] {
        let (status, code, said) = refused.refusal();
        assert_eq!((status, code), (409, "PROVIDER_NOT_CONNECTED"));
        let url = refused.body["data"]["connectUrl"].as_str().expect("there is a link");
        assert!(url.ends_with("/test/settings/connections?provider=klaviyo") && said.contains(url), "{said}");
    }
    let first = connect(&app, "klaviyo", KLAVIYO_KEY);
    assert_eq!(sources("").status, 200);
    let limited = app.post_in("/v1/connections/klaviyo", json!({ "apiKey": KLAVIYO_KEY })).data();
    assert!(limited["id"] != first["id"], "a connection limited to a brand is separate");
    for refused in [sources(""), import(Value::Null)] {
        assert_eq!((refused.refusal().0, refused.refusal().1), (400, "INTEGRATION_ACCOUNT_REQUIRED"));
        assert_eq!(refused.body["data"]["connections"].as_array().map(Vec::len), Some(2));
    }
    let named = format!("?connectionId={}", first["id"].as_str().expect("the value is an ID"));
    assert_eq!(sources(&named).status, 200);
    assert_eq!(sources(unknown).refusal().1, "RESOURCE_NOT_FOUND");
    let other = app.another_project();
    let alone = app.get(&format!("/v1/contacts/imports/providers/klaviyo/sources?projectId={other}"));
    assert_eq!(alone.status, 200, "the other brand sees only the connection without a limit");
    peer.accept(&[]);
    for refused in [sources(&named), sources(&named), import(first["id"].clone())] {
        let (status, code, said) = refused.refusal();
        assert_eq!((status, code), (409, "PROVIDER_RECONNECT_REQUIRED"), "{said}");
        assert!(said.contains("The key is not valid.") && said.contains("/settings/connections"), "{said}");
    }
    let listed = app.get("/v1/connections").data();
    let shown = listed["connections"].as_array().expect("there is a list").iter().find(|shown| shown["id"] == first["id"]);
    assert_eq!(shown.map(|shown| &shown["status"]), Some(&json!("reconnect_required")));
    peer.accept(&[KLAVIYO_KEY]);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    assert_eq!(sources(&named).status, 200);
    assert_eq!(app.get_in("/v1/contacts/imports/providers/other/sources").refusal().0, 400);
}

#[test]
fn the_sources_of_every_platform_are_listed_page_by_page() {
    let app = app(&Platforms::start(5));
    for (provider, key, ..) in PLATFORMS {
        connect(&app, provider, key);
        let listed = app.get_in(&format!("/v1/contacts/imports/providers/{provider}/sources")).data();
        let kinds: Vec<String> =
            listed["sources"].as_array().expect("there is a list").iter().map(|source| source["type"].to_string()).collect();
        let many = |kind: &str| kinds.iter().filter(|found| found.trim_matches('"') == kind).count();
        let expected = match provider {
            // The number of segments includes the source with the contacts who must not be emailed.
            "platform_a" => (0, 12, 13, 0),
            "platform_b" => (1, 0, 1, 1),
            _ => (0, 2, 2, 0),
        };
        assert_eq!((many("audience"), many("list"), many("segment"), many("tag")), expected, "{listed}");
        if provider != "platform_a" {
            assert!(listed["sources"].as_array().expect("there is a list").iter().any(|source| source["count"] == 5), "{listed}");
        }
    }
}

#[test]
fn contacts_of_every_platform_keep_their_status_and_their_details() {
    const PEOPLE: usize = 2_345;
    for (provider, key, source, kind) in PLATFORMS {
        let app = app(&Platforms::start(PEOPLE));
        connect(&app, provider, key);
        let id = start(&app, provider, (source, kind), "subscribed-only");
        work(&app);
        let silent = of(PEOPLE, &[Standing::Silent]);
        let done = progress(&app, &id);
        let counts = json!({ "total": PEOPLE as u64 - silent, "created": PEOPLE as u64 - silent, "updated": 0, "skipped": 0, "failed": 0 });
        assert_eq!(
            (&done["status"], &done["counts"], &done["progress"]),
            (&json!("completed"), &counts, &json!(1.0)),
            "{provider}: {done}"
        );
        assert_eq!((&done["provider"], &done["excluded"]), (&json!(provider), &json!(silent)));
        while app.wait(crate::features::contacts::worker::index(app.engine().clone(), Environment::Test)).expect("indexed")
            == Step::More
        {}
        assert_eq!(count(&app, "subscribed"), of(PEOPLE, &[Standing::Subscribed]), "{provider}");
        assert_eq!(count(&app, "unsubscribed"), of(PEOPLE, &[Standing::Unsubscribed, Standing::Complained]), "{provider}");
        assert_eq!(count(&app, "bounced"), of(PEOPLE, &[Standing::Bounced]), "{provider}");
        let found = app.get_in("/v1/contacts?search=person1@example.com").body["data"].clone();
        let person = found.as_array().or(found["contacts"].as_array()).expect("there is a list")[0].clone();
        assert_eq!((&person["firstName"], &person["email"]), (&json!("Person1"), &json!("person1@example.com")));
        assert!(person["language"].as_str().is_some_and(|language| language.starts_with("en")), "{person}");
        let tags = person["tags"].as_array().expect("there are tags");
        assert!(tags.contains(&json!("Everyone")) && tags.len() == if provider == "platform_b" { 3 } else { 2 }, "{person}");
        let fields = &person["customFields"];
        assert!(!fields["providerCreatedAt"].is_null() || !fields["consentAt"].is_null(), "{person}");
        let shoe = if provider == "platform_b" { "SHOE" } else { "shoe" };
        assert!(!fields[shoe].is_null() && fields["hs_object_id"].is_null(), "{person}");
        // A second import, now of all contacts, adds only the contacts without consent, as non-subscribed.
        let again = start(&app, provider, (source, kind), "include-all");
        work(&app);
        let done = progress(&app, &again);
        assert_eq!((&done["counts"]["created"], &done["counts"]["failed"]), (&json!(silent), &json!(0)), "{done}");
        assert_eq!(count(&app, "subscribed"), of(PEOPLE, &[Standing::Subscribed]), "{provider}");
    }
}

/// Contacts who unsubscribed might not be on any list. Without a source for them, an online store or a file with an older consent could
/// subscribe them again.
#[test]
fn contacts_who_must_get_no_email_are_a_source_of_their_own() {
    const PEOPLE: usize = 1_000;
    let profiles = [Standing::Unsubscribed, Standing::Bounced, Standing::Complained];
    for (provider, key, name, wanted) in [
        ("klaviyo", KLAVIYO_KEY, "Suppressed profiles", profiles.as_slice()),
        ("hubspot", HUBSPOT_KEY, "Unsubscribed and bounced contacts", &profiles[1..]),
    ] {
        let app = app(&Platforms::start(PEOPLE));
        connect(&app, provider, key);
        let listed = app.get_in(&format!("/v1/contacts/imports/providers/{provider}/sources")).data();
        let source = &listed["sources"][0];
        assert_eq!((&source["id"], &source["type"], &source["name"]), (&json!("suppressed"), &json!("segment"), &json!(name)));
        let id = start(&app, provider, ("suppressed", "segment"), "subscribed-only");
        work(&app);
        let (done, all) = (progress(&app, &id), of(PEOPLE, wanted));
        let counts = json!({ "total": all, "created": all, "updated": 0, "skipped": 0, "failed": 0 });
        assert_eq!((&done["status"], &done["counts"], &done["excluded"]), (&json!("completed"), &counts, &json!(0)), "{done}");
        while app.wait(crate::features::contacts::worker::index(app.engine().clone(), Environment::Test)).expect("indexed")
            == Step::More
        {}
        let bounced = of(PEOPLE, &[Standing::Bounced]);
        let counted = ["unsubscribed", "bounced", "subscribed"].map(|status| count(&app, status));
        assert_eq!(counted, [all - bounced, bounced, 0], "{provider}");
    }
}

#[test]
fn the_groups_that_members_of_a_mailchimp_audience_chose_become_tags() {
    let peer = Platforms::start(4);
    let app = app(&peer);
    connect(&app, "mailchimp", MAILCHIMP_KEY);
    start(&app, "mailchimp", ("a1b2c3", "audience"), "include-all");
    work(&app);
    let listed = app.get_in("/v1/contacts").data();
    let is_gardener = |number: usize| {
        let email = json!(format!("person{number}@example.com"));
        let all = listed["contacts"].as_array().expect("there is a list");
        let one = all.iter().find(|one| one["email"] == email).expect("the contact was imported");
        one["tags"].as_array().expect("there are tags").contains(&json!("Topics: Gardening"))
    };
    assert_eq!([0, 1, 2, 3].map(is_gardener), [true, false, true, false], "{listed}");
    let asked = peer.asked();
    let read = asked.iter().filter(|asked| asked.target.contains("interest-categories")).count();
    assert_eq!(read, 2, "the names of the groups are read once, not for each page");
}

#[test]
fn an_import_continues_after_a_kill_without_counting_twice() {
    const PEOPLE: usize = 12_000;
    for (provider, key, source, kind) in PLATFORMS {
        let peer = Platforms::start(PEOPLE);
        let mut app = app(&peer);
        connect(&app, provider, key);
        let id = start(&app, provider, (source, kind), "include-all");
        assert_eq!(step(&app), Step::More);
        let some = progress(&app, &id)["counts"]["total"].as_u64().expect("the value is a number");
        assert!((100..PEOPLE as u64).contains(&some), "{some}");
        // The platform fails in the middle of a step, and then the process ends. The pages before the failure are kept.
        peer.fail(if provider == "platform_c" { "batch/read" } else { source }, 99, Fault::Status(500, None));
        step(&app);
        app = app.restarted();
        peer.recover();
        assert!(progress(&app, &id)["waiting"].as_str().is_some_and(|said| said.contains("request to the platform failed")));
        app.clock.advance_ms(10 * 60 * 1000);
        work(&app);
        let done = progress(&app, &id);
        let counts = json!({ "total": PEOPLE, "created": PEOPLE, "updated": 0, "skipped": 0, "failed": 0 });
        assert_eq!((&done["status"], &done["counts"]), (&json!("completed"), &counts), "{provider}: {done}");
    }
}

#[test]
fn a_rejected_key_lets_the_import_wait_until_the_account_is_reconnected() {
    let peer = Platforms::start(9_000);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    step(&app);
    peer.accept(&["pk_new"]);
    step(&app);
    let waits = progress(&app, &id);
    assert_eq!(waits["status"], "processing");
    assert!(
        waits["waiting"].as_str().is_some_and(|said| {
            said.starts_with("The import is paused because the connection")
                && said.contains("The platform does not accept the credentials")
        }),
        "{waits}"
    );
    assert_eq!(app.get("/v1/connections").data()["connections"][0]["status"], "reconnect_required");
    connect(&app, "klaviyo", "pk_new");
    work(&app);
    assert_eq!((&progress(&app, &id)["status"], &progress(&app, &id)["counts"]["created"]), (&json!("completed"), &json!(9_000)));
    // After a week without a new key, the import ends.
    let late = start(&app, "klaviyo", ("L1", "list"), "include-all");
    peer.accept(&[]);
    step(&app);
    app.clock.advance_ms(8 * 24 * 60 * 60 * 1000);
    step(&app);
    let failed = progress(&app, &late);
    assert_eq!(failed["status"], "failed");
    let said = failed["error"].as_str().expect("there is a reason");
    assert!(said.contains("was not reconnected within a week.") && !said.contains("waits"), "{said}");
}

#[test]
fn limits_of_the_platform_are_respected_and_shown() {
    let peer = Platforms::start(250);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    // A rate limit ends the step even if the requested pause is short, and the import continues after the pause.
    peer.fail("profiles", 1, Fault::Status(429, Some(1)));
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    work(&app);
    assert!(progress(&app, &id)["waiting"].as_str().is_some_and(|said| said.contains("rate limiting this account")));
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    app.clock.advance_ms(1_100);
    work(&app);
    assert_eq!(progress(&app, &id)["counts"]["created"], 250);
    let before = peer.asked().len();
    peer.fail("profiles", 1, Fault::Status(429, Some(3_600)));
    let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
    for _ in 0..5 {
        step(&app);
    }
    assert_eq!(peer.asked().len(), before + 1, "no request is sent during the pause");
    let shown = app.get("/v1/connections").data()["connections"][0].clone();
    assert_eq!((&shown["status"], shown["rateLimitedUntil"].is_null()), (&json!("rate_limited"), false));
    assert!(progress(&app, &id)["waiting"].as_str().is_some_and(|said| said.contains("rate limiting this account")));
    let listed = app.get_in("/v1/contacts/imports/providers/klaviyo/sources");
    assert_eq!((listed.refusal().0, listed.refusal().1), (503, "PROVIDER_UNAVAILABLE"));
    assert_eq!(peer.asked().len(), before + 1);
}

// Regression test: the `Retry-After` header was respected only in responses that reported a rate limit.
#[test]
fn a_platform_that_is_down_until_a_stated_time_is_not_asked_before() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let before = peer.asked().len();
    peer.fail("/api/lists", 1, Fault::Status(503, Some(3_600)));
    for _ in 0..2 {
        let refused = app.get_in("/v1/contacts/imports/providers/klaviyo/sources");
        assert_eq!((refused.refusal().0, refused.refusal().1), (503, "PROVIDER_UNAVAILABLE"));
    }
    assert_eq!(peer.asked().len(), before + 1);
}

// Regression test: each key had its own pause, and a new access token ended the pause of the previous token.
#[test]
fn a_limit_applies_to_all_connections_of_an_account() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    peer.accept(&[KLAVIYO_KEY, "pk_two"]);
    let first = connect(&app, "klaviyo", KLAVIYO_KEY);
    let second = app.post_in("/v1/connections/klaviyo", json!({ "apiKey": "pk_two" })).data();
    let sources = |made: &Value| {
        let id = made["id"].as_str().expect("there is an ID");
        app.get_in(&format!("/v1/contacts/imports/providers/klaviyo/sources?connectionId={id}"))
    };
    peer.fail("/api/lists", 1, Fault::Status(429, Some(3_600)));
    assert_eq!(sources(&first).refusal().0, 503);
    let asked = peer.asked().len();
    assert_eq!((sources(&second).refusal().0, peer.asked().len()), (503, asked));
}

#[test]
fn broken_responses_are_repeated_and_never_imported_in_part() {
    for fault in [Fault::Cut, Fault::Partial, Fault::Html, Fault::Status(502, None)] {
        let peer = Platforms::start(700);
        let app = app(&peer);
        connect(&app, "klaviyo", KLAVIYO_KEY);
        peer.fail("cursor%5D=300", 4, fault);
        let id = start(&app, "klaviyo", ("L1", "list"), "include-all");
        for _ in 0..6 {
            work(&app);
            app.clock.advance_ms(10 * 60 * 1000);
        }
        let done = progress(&app, &id);
        assert_eq!(
            (&done["status"], &done["counts"]["created"], &done["counts"]["total"]),
            (&json!("completed"), &json!(700), &json!(700)),
            "{fault:?}: {done}"
        );
    }
}

#[test]
fn members_deleted_during_an_import_hide_no_others() {
    let peer = Platforms::start(3_000);
    let app = app(&peer);
    connect(&app, "mailchimp", MAILCHIMP_KEY);
    let id = start(&app, "mailchimp", ("a1b2c3", "audience"), "include-all");
    peer.fail("offset=999", 3, Fault::Status(500, None));
    step(&app);
    peer.delete_first(10);
    app.clock.advance_ms(10 * 60 * 1000);
    work(&app);
    let done = progress(&app, &id);
    let counts = &done["counts"];
    assert_eq!(
        (&done["status"], &counts["created"], &counts["skipped"]),
        (&json!("completed"), &json!(3_000), &json!(0)),
        "{done}"
    );
}

#[test]
fn an_import_names_its_sources_and_ends_if_one_is_gone() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    connect(&app, "hubspot", HUBSPOT_KEY);
    let id = start(&app, "hubspot", ("9", "list"), "include-all");
    work(&app);
    let failed = progress(&app, &id);
    assert_eq!(failed["status"], "failed");
    assert!(failed["error"].as_str().is_some_and(|said| said.starts_with("\"Everyone\" does not exist in HubSpot.")), "{failed}");
    let many: Vec<Value> = (0..26).map(|number| json!({ "id": number.to_string(), "type": "list", "name": "x" })).collect();
    for sources in [json!([]), json!(many), json!([{ "id": "../x?", "type": "list", "name": "x" }])] {
        let refused = app.post_in("/v1/contacts/imports/provider", json!({ "provider": "hubspot", "sources": sources }));
        assert!(refused.refusal().0 == 400 && refused.refusal().2.starts_with("sources"), "{refused:?}");
    }
    // Removing the connection ends its imports.
    let id = start(&app, "hubspot", ("1", "list"), "include-all");
    let connection = app.get("/v1/connections").data()["connections"][0]["id"].as_str().expect("the value is an ID").to_owned();
    app.delete(&format!("/v1/connections?connectionId={connection}")).data();
    work(&app);
    assert!(progress(&app, &id)["error"].as_str().is_some_and(|said| said.contains("was removed")));
}

#[test]
fn an_import_has_a_tag_and_a_segment_of_its_contacts_and_emits_one_event() {
    let app = app(&Platforms::start(20));
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let sources = json!([{ "id": "L1", "type": "list", "name": "News" }, { "id": "S1", "type": "segment", "name": "Buyers" }]);
    let body = json!({ "provider": "klaviyo", "sources": sources });
    let started = app.post_in("/v1/contacts/imports/provider", body.clone()).data();
    assert_eq!(started["tag"]["name"], "Klaviyo import 2026-01-01");
    let second = app.post_in("/v1/contacts/imports/provider", body).data();
    assert_eq!(second["segment"]["name"], "Klaviyo import 2026-01-01 (2)");
    work(&app);
    let segment = started["segment"]["id"].as_str().expect("the value is an ID");
    assert_eq!(app.get_in(&format!("/v1/segments/{segment}")).data()["count"], 18);
    let counts = &progress(&app, started["id"].as_str().expect("the value is an ID"))["counts"];
    assert_eq!((&counts["created"], &counts["updated"]), (&json!(18), &json!(18)), "the second source adds its tag: {counts}");
    assert_eq!(app.get("/v1/contacts/jobs").data()["jobs"][0]["kind"], "import");
    assert!(!jobs::step(app.data()).expect("the step succeeds"), "the worker for files leaves the import alone");
}

#[test]
fn keys_that_a_new_master_key_does_not_open_are_counted_and_cannot_be_used() {
    let app = app(&Platforms::start(0));
    connect(&app, "hubspot", HUBSPOT_KEY);
    let other = Seal::from_key(&[8; 32]);
    let count = |seal: &Seal| sealed(&app.read(), seal).expect("the data is readable");
    assert_eq!(count(&app.engine().seal), SecretCount { total: 1, closed: 0 });
    assert_eq!(count(&other), SecretCount { total: 1, closed: 1 });
    let connection = store::all(&app.read(), app.account()).expect("the data is readable").remove(0);
    assert!(open(&other, &connection).is_none());
    let moved = Connection { id: ConnectionId::from_bytes([1; 12]), ..connection };
    assert!(open(&app.engine().seal, &moved).is_none(), "a key opens only for its own connection");
}

#[test]
fn every_provider_has_an_address_in_the_settings() {
    let app = TestApp::new();
    let connections = &app.engine().settings.connections;
    let addresses = [&connections.klaviyo_url, &connections.mailchimp_url, &connections.hubspot_url];
    assert_eq!(addresses.len(), Provider::ALL.len());
    assert!(addresses.iter().all(|url| url.starts_with("https://")));
}
