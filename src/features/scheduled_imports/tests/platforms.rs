//! Tests of repeated imports from platforms: only changes are read, and unsubscribes are carried over.

use serde_json::{Value, json};

use super::super::worker;
use super::HOUR_MS;
use crate::base::clock::Clock;
use crate::engine::runner::{Step, Work};
use crate::features::connections;
use crate::testing::TestApp;
use crate::testing::platforms::changes::UNLISTED;
use crate::testing::platforms::{Fault, HUBSPOT_KEY, KLAVIYO_KEY, MAILCHIMP_KEY, Platforms, Standing, published};
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::workers::WORKERS;

/// Each platform's name, an API key, and the ID and type of a source that contains all contacts.
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

/// Connects a platform account, and creates a scheduled import from one of its sources. Returns the API path of the scheduled import.
fn create(app: &TestApp, (provider, key, source, kind): (&str, &str, &str, &str)) -> String {
    create_from(app, (provider, key), &json!([{ "id": source, "type": kind, "name": "Everyone" }]))
}

/// Connects a platform account, and creates a scheduled import from these sources. Returns the API path of the scheduled import.
fn create_from(app: &TestApp, (provider, key): (&str, &str), sources: &Value) -> String {
    app.post(&format!("/v1/connections/{provider}"), json!({ "apiKey": key })).data();
    let input = json!({ "name": "Sync", "provider": provider, "sources": sources, "everyHours": 1 });
    let made = app.post_in("/v1/scheduled-imports", input).data();
    format!("/v1/scheduled-imports/{}", made["id"].as_str().expect("an ID"))
}

fn schedule(app: &TestApp) {
    app.wait(worker::run(app.engine().clone(), Environment::Test)).expect("the step succeeds");
}

/// Runs the workers until the due run has ended. Returns the scheduled import.
fn work(app: &TestApp, path: &str) -> Value {
    for _ in 0..20 {
        schedule(app);
        for _ in 0..200 {
            let step = app.wait(connections::worker::import(app.engine().clone(), Environment::Test));
            if step.expect("the step succeeds") == Step::Done {
                break;
            }
        }
        app.clock.advance_ms(limits::SCHEDULED_IMPORT_POLL_MS);
        schedule(app);
        let shown = app.get(path).data();
        if shown["state"] != "running" {
            return shown;
        }
    }
    panic!("the run does not end: {}", app.get(path).data());
}

/// Returns the statuses of the contacts `person{number}@example.com` with these numbers; null for a contact that does not exist.
fn statuses<const N: usize>(app: &TestApp, numbers: [usize; N]) -> [Value; N] {
    let mut all = Vec::new();
    for page in 1..=3 {
        let listed = app.get_in(&format!("/v1/contacts?limit=100&page={page}")).data();
        all.extend(listed.as_array().expect("a list").clone());
    }
    numbers.map(|number| {
        let email = json!(format!("person{number}@example.com"));
        all.iter().find(|one| one["email"] == email).map_or(Value::Null, |one| one["status"].clone())
    })
}

fn counts(shown: &Value) -> [u64; 5] {
    let run = &shown["lastRun"];
    assert_eq!(run["result"], "imported", "{shown}");
    ["created", "updated", "skipped", "failed", "excluded"].map(|name| run[name].as_u64().expect("a number"))
}

#[test]
fn each_run_reads_only_changes_and_carries_unsubscribes_over() {
    for platform in PLATFORMS {
        let peer = Platforms::start(250);
        let app = app(&peer);
        let path = create(&app, platform);
        let first = work(&app, &path);
        assert_eq!(counts(&first), [225, 0, 0, 0, 25], "{first}");
        assert!(first["tag"].is_string() && first["changesUntil"].is_string(), "{first}");
        let contacts = app.get_in("/v1/contacts?limit=1").data()["total"].clone();
        app.clock.advance_ms(HOUR_MS);
        let requests = peer.asked().len();
        let idle = work(&app, &path);
        assert_eq!((counts(&idle), &idle["tag"]), ([0, 0, 0, 0, 0], &first["tag"]), "{}: {idle}", platform.0);
        let read = peer.asked()[requests..].iter().filter(|asked| asked.body.contains("person")).count();
        assert_eq!(read, usize::from(platform.0 == "platform_c") * 2, "only the contact who is in no source is read");
        let at = app.clock.now().to_string();
        peer.move_to(0, &at, Standing::Unsubscribed);
        peer.move_to(1, &at, Standing::Bounced);
        peer.join(&at);
        app.clock.advance_ms(HOUR_MS);
        let changed = work(&app, &path);
        assert_eq!(counts(&changed)[..2], [1, 2], "{}: {changed}", platform.0);
        assert_eq!(
            statuses(&app, [0, 1, 2, 250, UNLISTED]),
            [json!("unsubscribed"), json!("bounced"), json!("subscribed"), json!("subscribed"), Value::Null],
            "{}",
            platform.0
        );
        assert_eq!(app.get_in("/v1/contacts?limit=1").data()["total"], json!(contacts.as_u64().expect("a number") + 1));
        let jobs = app.get_in("/v1/contacts/jobs").data();
        assert_eq!(jobs["jobs"].as_array().expect("a list").len(), 3, "each run is one import");
    }
}

/// Checks each request that an import sends against the platform's published API description.
#[test]
fn imports_send_only_requests_that_the_platforms_describe() {
    let source = |id: &str, kind: &str| json!({ "id": id, "type": kind, "name": id });
    let sources = [
        json!([source("L1", "list"), source("S1", "segment"), source("suppressed", "segment")]),
        json!([source("a1b2c3", "audience"), source("a1b2c3/7", "tag"), source("a1b2c3/8", "segment")]),
        json!([source("1", "list"), source("2", "segment"), source("suppressed", "segment")]),
    ];
    let names = ["Klaviyo", "Mailchimp", "HubSpot"];
    for (((provider, key, ..), sources), name) in PLATFORMS.into_iter().zip(sources).zip(names) {
        let peer = Platforms::start(150);
        let app = app(&peer);
        let path = create_from(&app, (provider, key), &sources);
        app.get_in(&format!("/v1/contacts/imports/providers/{provider}/sources")).data();
        work(&app, &path);
        app.clock.advance_ms(HOUR_MS);
        work(&app, &path);
        for row in published::table(name, "import", &peer.asked()) {
            assert!(row.requests > 0 && row.objections.is_empty(), "{name}: {row:?}");
        }
    }
}

#[test]
fn a_run_continues_after_a_restart_and_a_failed_one_reads_the_same_changes_again() {
    let peer = Platforms::start(250);
    let mut app = app(&peer);
    let path = create(&app, PLATFORMS[0]);
    schedule(&app);
    app = app.restarted();
    assert_eq!(app.get(&path).data()["state"], "running");
    assert_eq!(counts(&work(&app, &path)), [225, 0, 0, 0, 25]);
    let until = app.get(&path).data()["changesUntil"].clone();
    let at = app.clock.now().to_string();
    peer.move_to(3, &at, Standing::Complained);
    peer.fail("/api/profiles", usize::MAX, Fault::Status(400, None));
    app.clock.advance_ms(HOUR_MS);
    schedule(&app);
    let import = app.get(&path).data()["importId"].as_str().expect("an import").to_owned();
    for _ in 0..limits::PROVIDER_IMPORT_FAILURES_MAX * 2 {
        app.wait(connections::worker::import(app.engine().clone(), Environment::Test)).expect("the step succeeds");
        app.clock.advance_ms(limits::PROVIDER_IMPORT_RETRY_MS_MAX);
    }
    assert_eq!(app.get(&format!("/v1/contacts/imports/{import}")).data()["status"], "failed");
    schedule(&app);
    let failed = app.get(&path).data();
    assert_eq!((&failed["lastRun"]["result"], &failed["changesUntil"]), (&json!("failed"), &until), "{failed}");
    peer.recover();
    app.clock.advance_ms(limits::SCHEDULED_IMPORT_RETRY_MS);
    assert_eq!(counts(&work(&app, &path))[1], 1);
    assert_eq!(statuses(&app, [3]), [json!("unsubscribed")]);
}

#[test]
fn a_removed_connection_fails_the_run_and_other_sources_are_read_completely() {
    let peer = Platforms::start(20);
    let app = app(&peer);
    let path = create(&app, PLATFORMS[0]);
    work(&app, &path);
    let sources = json!([{ "id": "S1", "type": "segment", "name": "Active" }]);
    let changed = app.patch(&path, json!({ "sources": sources, "consentMode": "include-all" })).data();
    assert_eq!((&changed["sources"][0]["id"], &changed["changesUntil"]), (&json!("S1"), &Value::Null), "{changed}");
    assert_eq!(counts(&work(&app, &path)).iter().sum::<u64>(), 20);
    let connection = changed["connectionId"].as_str().expect("an ID").to_owned();
    app.delete(&format!("/v1/connections?connectionId={connection}")).data();
    app.clock.advance_ms(HOUR_MS);
    let failed = work(&app, &path);
    let error = failed["lastRun"]["error"].as_str().expect("an error");
    assert!(error.contains("The connection to Klaviyo was removed. Connect the account again"), "{error}");
    let remade = app.post("/v1/connections/klaviyo", json!({ "apiKey": KLAVIYO_KEY })).data();
    app.patch(&path, json!({ "connectionId": remade["id"] })).data();
    assert_eq!(counts(&work(&app, &path))[3], 0);
    for (input, field) in [
        (json!({ "url": "https://acme.example/a.csv", "provider": "klaviyo" }), "provider: set either"),
        (json!({}), "url: set `url` to"),
        (json!({ "provider": "klaviyo" }), "sources"),
        (json!({ "provider": "klaviyo", "sources": sources, "tags": ["a"] }), "tags: does not apply to imports from a platform"),
        (json!({ "provider": "klaviyo", "sources": sources, "target": "events" }), "target"),
    ] {
        let mut whole = json!({ "projectId": app.project, "name": "Sync" });
        whole.as_object_mut().expect("an object").extend(input.as_object().expect("an object").clone());
        let refused = app.post("/v1/scheduled-imports", whole);
        assert!(refused.refusal().2.starts_with(field), "{input}: {refused:?}");
    }
    let refused = app.post_in("/v1/scheduled-imports", json!({ "name": "Sync", "provider": "hubspot", "sources": sources }));
    assert_eq!(refused.refusal().1, "PROVIDER_NOT_CONNECTED");
}

/// While sending is on hold, the data may be a copy of another installation's data, and that installation may already have imported the
/// same changes with the same tokens.
#[test]
fn no_platform_is_contacted_while_sending_is_on_hold() {
    let peer = Platforms::start(10);
    let app = app(&peer);
    create(&app, PLATFORMS[0]);
    let step = |name: &str| {
        let worker = WORKERS.iter().find(|worker| worker.name == name).expect("the worker is in the table");
        let Work::EachEnvironment(step) = worker.work else { panic!("{name} does not run in each environment") };
        app.wait(step(app.engine().clone(), Environment::Test)).expect("the step succeeds")
    };
    let connected = peer.asked().len();
    app.put_on_hold();
    step("scheduled imports");
    assert_eq!((peer.asked().len(), app.get_in("/v1/contacts/jobs").data()["jobs"].clone()), (connected, json!([])));
    app.engine().hold.release();
    step("scheduled imports");
    let started = peer.asked().len();
    app.put_on_hold();
    assert_eq!(step("platform imports"), Step::Done);
    assert_eq!(peer.asked().len(), started);
    app.engine().hold.release();
    step("platform imports");
    assert!(peer.asked().len() > started);
}
