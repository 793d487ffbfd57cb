//! Tests exports into accounts, against a server that behaves like the platforms.

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::features::emails::generation::step;
use crate::testing::TestApp;
use crate::testing::platforms::{Fault, HUBSPOT_KEY, KLAVIYO_KEY, MAILCHIMP_KEY, Platforms, Stored, published};
use crate::vocab::environment::Environment;

/// A platform: its name, its API key, the option that selects what to create, and two values of the option, each with the API
/// path of the created object.
type Sample = (&'static str, &'static str, &'static str, [(&'static str, &'static str); 2]);

const PLATFORMS: [Sample; 3] = [
    ("klaviyo", KLAVIYO_KEY, "klaviyoType", [("html", "api/templates"), ("hybrid", "api/templates")]),
    ("mailchimp", MAILCHIMP_KEY, "mailchimpType", [("template", "3.0/templates"), ("campaign", "3.0/campaigns")]),
    ("hubspot", HUBSPOT_KEY, "customOptions", [("template", "cms/source-code"), ("email", "marketing/emails")]),
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

/// Creates a conversation with two finished emails.
fn conversation(app: &TestApp) -> String {
    let one = "<html><body><table><tr><td><div style=\"font-family:Arial\">Hi {{ first_name }} {{ tags }}</div></td></tr></table>\
               <img src=\"https://images.invalid/a.png\"><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></body></html>";
    let two = "<html><head><title>Sale</title></head><body><p>Sale</p></body></html>";
    let body = json!({ "htmls": [{ "name": "Hello", "source": one }, { "name": "Sale", "source": two }] });
    let id = app.post_in("/v1/projects/emails/import-html", body).data()["conversationId"].as_str().expect("an ID").to_owned();
    while app.wait(step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
    id
}

fn export(app: &TestApp, provider: &str, conversation: &str, option: (&str, &str), more: &str) -> crate::testing::TestResponse {
    if provider == "hubspot" {
        let images = if more.contains("images=upload") { "upload" } else { "hosted" };
        let body = json!({ "conversationId": conversation, "customOptions": { "type": option.1 }, "images": images });
        return app.post("/v1/export/hubspot", body);
    }
    app.get(&format!("/v1/export/{provider}/{conversation}?{}={}{more}", option.0, option.1))
}

/// Returns a test server for a platform, an app with a connected account on the platform, and a conversation with two finished emails.
fn connected(provider: &str, key: &str) -> (Platforms, TestApp, String) {
    let peer = Platforms::start(0);
    let app = app(&peer);
    connect(&app, provider, key);
    let id = conversation(&app);
    (peer, app, id)
}

fn at(peer: &Platforms, place: &str) -> Vec<Stored> {
    peer.stored().into_iter().filter(|stored| stored.place == place).collect()
}

#[test]
fn emails_are_created_in_an_account_and_updated_by_the_next_export() {
    for (provider, key, option, kinds) in PLATFORMS {
        for (kind, place) in kinds {
            let (peer, app, id) = connected(provider, key);
            let made = export(&app, provider, &id, (option, kind), "").data();
            let files = made["files"].as_array().expect("a list");
            assert_eq!(files.len(), 2, "{made}");
            assert_eq!(files[0]["untranslated"], json!(["{{ tags }}"]));
            assert_eq!(
                (&files[0]["platform"]["created"], &files[0]["platform"]["type"], &files[0]["expiresAt"]),
                (&json!(true), &json!(kind), &Value::Null)
            );
            let url = files[0]["url"].as_str().expect("a link");
            let host = match provider {
                "klaviyo" => "https://www.klaviyo.com/email-editor/",
                "mailchimp" => "https://us21.admin.mailchimp.com/",
                _ => "https://app.hubspot.com/",
            };
            assert!(url.starts_with(host), "{url}");
            let stored = at(&peer, place);
            assert_eq!(stored.len(), 2, "{provider} {kind}");
            let texts: Vec<String> = peer.stored().into_iter().map(|stored| stored.html).collect();
            for text in texts.iter().filter(|text| !text.is_empty()) {
                assert!(["unsubscribe_link", "*|UNSUB|*"].iter().any(|link| text.contains(link)), "{text}");
                assert_eq!(text.contains("data-klaviyo-region"), kind == "hybrid", "{text}");
                assert_eq!(text.contains("mc:edit"), place == "3.0/templates", "{text}");
            }
            let again = export(&app, provider, &id, (option, kind), "").data();
            assert_eq!(again["files"][0]["platform"]["created"], false, "{again}");
            assert_eq!(again["files"][0]["platform"]["id"], files[0]["platform"]["id"]);
            assert_eq!(at(&peer, place).len(), 2, "there is no duplicate");
            let status = app.get(&format!("/v1/export/status/{id}")).data();
            assert_eq!(status["exported"].as_array().map(Vec::len), Some(2), "{status}");
            assert_eq!((&status["exported"][0]["url"], &status["exported"][0]["type"]), (&json!(url), &json!(kind)));
        }
    }
}

#[test]
fn a_lost_response_creates_no_duplicate() {
    for (provider, key, option, kinds) in PLATFORMS {
        for (kind, place) in kinds {
            let part = match place {
                "api/templates" => "/api/templates",
                "3.0/templates" => "/3.0/templates",
                "3.0/campaigns" => "/3.0/campaigns",
                "cms/source-code" => "/content/",
                _ => "/marketing/emails",
            };
            let method = if place == "cms/source-code" { "PUT" } else { "POST" };
            for fault in [Fault::AfterEffect(502), Fault::Cut, Fault::Html] {
                let peer = Platforms::start(0);
                let app = app(&peer);
                connect(&app, provider, key);
                let id = conversation(&app);
                peer.fail_method(method, part, 1, fault);
                let made = export(&app, provider, &id, (option, kind), "");
                assert_eq!(made.status, 200, "{provider} {kind} {fault:?}: {made:?}");
                assert_eq!(at(&peer, place).len(), 2, "{provider} {kind} {fault:?}");
            }
            // The platform carries out the first export but responds with errors. The next export finds what the first one
            // created.
            let (peer, app, id) = connected(provider, key);
            peer.fail_method(method, part, 99, Fault::AfterEffect(502));
            peer.fail_method("GET", part, 99, Fault::Status(502, None));
            let failed = export(&app, provider, &id, (option, kind), "");
            assert_eq!((failed.refusal().0, failed.refusal().1), (503, "PROVIDER_UNAVAILABLE"), "{provider} {kind}");
            peer.recover();
            assert_eq!(export(&app, provider, &id, (option, kind), "").status, 200);
            assert_eq!(at(&peer, place).len(), 2, "{provider} {kind}");
        }
    }
}

#[test]
fn what_was_deleted_or_sent_is_created_again() {
    for (provider, key, option, kinds) in PLATFORMS {
        for (kind, place) in kinds {
            let (peer, app, id) = connected(provider, key);
            let first = export(&app, provider, &id, (option, kind), "").data();
            peer.change(|stored| stored.is_deleted |= stored.place == place);
            let again = export(&app, provider, &id, (option, kind), "").data();
            assert_eq!(again["files"][0]["platform"]["created"], true, "{provider} {kind}: {again}");
            assert_eq!(at(&peer, place).len(), 2);
            if kind == "campaign" || kind == "email" {
                assert!(again["files"][0]["platform"]["id"] != first["files"][0]["platform"]["id"]);
                peer.change(|stored| stored.is_sent |= stored.place == place);
                let third = export(&app, provider, &id, (option, kind), "").data();
                assert_eq!(third["files"][0]["platform"]["created"], true, "{provider} {kind}");
                assert_eq!(at(&peer, place).len(), 4, "the sent ones stay as they are");
            }
        }
    }
}

#[test]
fn the_codes_name_what_is_wrong_with_the_account() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    let id = conversation(&app);
    let run = |more: &str| export(&app, "klaviyo", &id, ("klaviyoType", "html"), more);
    assert_eq!((run("").refusal().0, run("").refusal().1), (409, "PROVIDER_NOT_CONNECTED"));
    let status = || app.get(&format!("/v1/export/status/{id}")).data()["platforms"][0].clone();
    assert_eq!((status()["isConnected"].clone(), status()["connections"].clone()), (json!(false), json!([])));
    let first = connect(&app, "klaviyo", KLAVIYO_KEY);
    assert_eq!(status()["isConnected"], true);
    app.post_in("/v1/connections/klaviyo", json!({ "apiKey": KLAVIYO_KEY })).data();
    assert_eq!((run("").refusal().0, run("").refusal().1), (400, "INTEGRATION_ACCOUNT_REQUIRED"));
    let named = format!("&connectionId={}", first["id"].as_str().expect("an ID"));
    assert_eq!(run(&named).status, 200);
    // A key without the scopes for exports still works for imports.
    peer.fail("/api/templates", 1, Fault::Status(403, None));
    let forbidden = run(&named);
    let (code, word, said) = forbidden.refusal();
    assert_eq!((code, word), (409, "PROVIDER_RECONNECT_REQUIRED"));
    assert!(said.contains("templates:write") && forbidden.body["data"]["connectUrl"].is_string(), "{said}");
    assert_eq!(status()["isConnected"], true);
    peer.fail("/api/templates", 1, Fault::Status(400, None));
    assert_eq!((run(&named).refusal().0, run(&named).status), (409, 200), "a refused template is not a reason to reconnect");
    peer.accept(&[]);
    assert_eq!((run(&named).refusal().0, run(&named).refusal().1), (409, "PROVIDER_RECONNECT_REQUIRED"));
    assert_eq!(status()["connections"].as_array().map(Vec::len), Some(2));
    let formats = app.get("/v1/export/formats").data();
    assert_eq!(formats["formats"][4]["types"], json!(["html", "hybrid"]));
}

#[test]
fn an_export_waits_for_a_short_limit_and_returns_a_long_one() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = conversation(&app);
    peer.fail_method("POST", "/api/templates", 1, Fault::Status(429, Some(1)));
    assert_eq!(export(&app, "klaviyo", &id, ("klaviyoType", "html"), "").status, 200);
    assert_eq!(at(&peer, "api/templates").len(), 2);
    peer.fail("/api/templates", 1, Fault::Status(429, Some(3_600)));
    let limited = export(&app, "klaviyo", &id, ("klaviyoType", "html"), "");
    assert_eq!((limited.refusal().0, limited.refusal().1), (503, "PROVIDER_UNAVAILABLE"));
    let state = app.get(&format!("/v1/export/status/{id}")).data()["platforms"][0].clone();
    assert_eq!((&state["connections"][0]["status"], &state["isConnected"]), (&json!("rate_limited"), &json!(true)));
}

#[test]
fn a_key_that_expires_in_the_middle_leaves_what_is_done_and_the_next_export_continues() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    connect(&app, "mailchimp", MAILCHIMP_KEY);
    let id = conversation(&app);
    let option = ("mailchimpType", "campaign");
    // The platform creates the second campaign, but the key expires before the campaign's content is stored.
    peer.fail_method("PUT", "/3.0/campaigns/c2/", 1, Fault::Status(401, None));
    let failed = export(&app, "mailchimp", &id, option, "");
    assert_eq!((failed.refusal().0, failed.refusal().1), (409, "PROVIDER_RECONNECT_REQUIRED"));
    assert_eq!(at(&peer, "3.0/campaigns").len(), 2);
    connect(&app, "mailchimp", MAILCHIMP_KEY);
    let made = export(&app, "mailchimp", &id, option, "").data();
    let stored = at(&peer, "3.0/campaigns");
    assert!(stored.len() == 2 && stored.iter().all(|stored| !stored.html.is_empty()), "{made}");
}

#[test]
fn an_account_that_is_connected_again_keeps_its_templates() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    let first = connect(&app, "klaviyo", KLAVIYO_KEY);
    let id = conversation(&app);
    let run = || export(&app, "klaviyo", &id, ("klaviyoType", "html"), "").data();
    run();
    app.delete(&format!("/v1/connections?connectionId={}", first["id"].as_str().expect("an ID"))).data();
    connect(&app, "klaviyo", KLAVIYO_KEY);
    assert_eq!(run()["files"][0]["platform"]["created"], false);
    let app = app.restarted();
    let again = export(&app, "klaviyo", &id, ("klaviyoType", "html"), "").data();
    assert_eq!(again["files"][0]["platform"]["created"], false);
    assert_eq!(at(&peer, "api/templates").len(), 2);
}

/// Creates a conversation with an email that shows one brand image twice and another image once.
fn illustrated(app: &TestApp) -> String {
    app.engine().set_base_url("https://mail.example.com".into());
    let file = std::fs::read("tests/samples/pictures/receipt.mjml.png").expect("the sample can be read");
    let upload = format!("/v1/projects/{}/images/upload", app.project);
    let uploaded = app.post(&upload, json!({ "file": BASE64.encode(&file) })).data();
    let url = uploaded["url"].as_str().expect("a link");
    let html = format!("<body><p>Hi</p><img src=\"{url}\"><img src=\"{url}\"><img src=\"https://images.invalid/b.svg\"></body>");
    let body = json!({ "htmls": [{ "name": "Hello", "source": html }] });
    let id = app.post_in("/v1/projects/emails/import-html", body).data()["conversationId"].as_str().expect("an ID").to_owned();
    while app.wait(step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
    id
}

/// Compares every request of an export with the platform's own API description. Regression test: the request that updates a Mailchimp
/// campaign lacked the sender, which the description requires.
#[test]
fn exports_send_only_requests_that_the_platforms_describe() {
    for ((provider, key, option, kinds), name) in PLATFORMS.into_iter().zip(["Klaviyo", "Mailchimp", "HubSpot"]) {
        let peer = Platforms::start(0);
        let app = app(&peer);
        connect(&app, provider, key);
        let id = illustrated(&app);
        // After a lost response, the export searches for the object that it created.
        for part in ["/api/templates", "/3.0/templates", "/3.0/campaigns", "/marketing/emails"] {
            peer.fail_method("POST", part, 1, Fault::AfterEffect(502));
        }
        for (kind, _) in kinds {
            export(&app, provider, &id, (option, kind), "&images=upload").data();
            peer.change(|stored| stored.name = "Renamed by a user".into());
            export(&app, provider, &id, (option, kind), "&images=upload").data();
        }
        for row in published::table(name, "export", &peer.asked()) {
            assert!(row.requests > 0 && row.objections.is_empty(), "{name}: {row:?}");
        }
    }
}

#[test]
fn images_are_uploaded_once_and_others_stay() {
    for (provider, key, option, kinds) in PLATFORMS {
        let peer = Platforms::start(0);
        let app = app(&peer);
        connect(&app, provider, key);
        let id = illustrated(&app);
        peer.fail_method("POST", "file", 1, Fault::AfterEffect(502));
        peer.fail_method("POST", "/api/images", 1, Fault::AfterEffect(502));
        for (kind, _) in kinds {
            let made = export(&app, provider, &id, (option, kind), "&images=upload").data();
            assert_eq!(made["files"][0]["platform"]["leftImages"], json!(["https://images.invalid/b.svg"]), "{made}");
        }
        let images = peer.images();
        assert_eq!(images.len(), 1, "{provider}: {images:?}");
        let texts: Vec<String> =
            peer.stored().into_iter().map(|stored| stored.html).filter(|html| html.contains("<img")).collect();
        assert!(!texts.is_empty() && texts.iter().all(|html| html.matches(&images[0].url).count() == 2), "{texts:?}");
    }
}

#[test]
fn options_of_hubspot_are_checked_and_passed_on() {
    let peer = Platforms::start(0);
    let app = app(&peer);
    connect(&app, "hubspot", HUBSPOT_KEY);
    let id = conversation(&app);
    let run = |options: Value| app.post("/v1/export/hubspot", json!({ "conversationId": id, "customOptions": options }));
    for (options, field) in [
        (json!({ "type": "page" }), "customOptions.type"),
        (json!({ "type": 7 }), "customOptions.type"),
        (json!({ "other": 1 }), "customOptions.other"),
        (json!({ "language": "de" }), "customOptions.language"),
    ] {
        let refused = run(options);
        assert!(refused.refusal().0 == 400 && refused.refusal().2.starts_with(field), "{refused:?}");
    }
    assert_eq!(run(json!({ "customInstructions": "x" })).status, 200);
    assert_eq!(run(json!({ "type": "email", "language": "de" })).status, 200);
    assert!(at(&peer, "marketing/emails").iter().all(|email| email.made["language"] == "de"));
}

/// Regression test: an image export showed the postal address that the brand had when the email was written.
#[test]
fn an_image_shows_the_current_postal_address() {
    let app = TestApp::new();
    let made = app.post_in("/v1/emails", json!({})).data();
    while app.wait(step(app.engine().clone(), Environment::Test)).expect("the step succeeds") {}
    let path = format!("/v1/export/png/{}", made["conversationId"].as_str().expect("an ID"));
    let file = || {
        let url = app.get(&path).data()["files"][0]["url"].as_str().expect("a link").to_owned();
        url.split('?').next().unwrap_or_default().to_owned()
    };
    let before = file();
    assert_eq!(file(), before, "the same email is drawn once");
    app.patch(&format!("/v1/projects/{}", app.project), json!({ "address": "1 High Street, London" })).data();
    assert_ne!(file(), before);
}
