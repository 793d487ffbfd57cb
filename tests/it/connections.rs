//! Tests connections and imports of the shipped program, with a server on loopback that behaves like the platforms.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::browser::Browser;
use super::support::client::Call;
use super::support::platforms::{
    CLIENT_ID, CLIENT_SECRET, Fault, HUBSPOT_KEY, KLAVIYO_KEY, MAILCHIMP_KEY, Platforms, Standing, standing,
};
use super::support::server::BOUNDLESS;
use super::support::{Client, Server, operation as find};
use super::users::owned;

const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(600);

/// Settings that send the requests for every platform to this server.
pub fn settings(peer: &Platforms) -> String {
    let url = peer.url();
    format!(
        "{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n[connections]\nklaviyo_url = \"{url}\"\n\
         mailchimp_url = \"{url}\"\nhubspot_url = \"{url}\"\n"
    )
}

async fn progress(client: &Client, id: &str) -> Value {
    client.data("contacts.import_status", json!({ "id": id })).await
}

/// Polls the import until `done` accepts its progress.
async fn until(client: &Client, id: &str, done: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = progress(client, id).await;
        if done(&now) {
            return now;
        }
        assert!(Instant::now() < deadline, "{now}");
        tokio::time::sleep(LOOK).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_contacts_are_imported_exactly_despite_a_kill_and_a_revoked_key() {
    const PEOPLE: usize = 20_000;
    let of = |wanted: &[Standing]| (0..PEOPLE).filter(|number| wanted.contains(&standing(*number))).count() as u64;
    for (provider, key, source, kind) in [
        ("klaviyo", KLAVIYO_KEY, "L1", "list"),
        ("mailchimp", MAILCHIMP_KEY, "a1b2c3", "audience"),
        ("hubspot", HUBSPOT_KEY, "1", "list"),
    ] {
        let peer = Platforms::start(PEOPLE);
        let mut server = Server::start(&settings(&peer));
        let client = server.all();
        let project = client.project("Acme").await;
        client.data("connections.create", json!({ "provider": provider, "apiKey": key })).await;
        let sources = json!([{ "id": source, "type": kind, "name": "Everyone" }]);
        let input = json!({ "provider": provider, "projectId": project, "sources": sources });
        let id = client.data("connections.import", input).await["id"].as_str().expect("an ID").to_owned();
        until(&client, &id, |now| now["counts"]["total"].as_u64() > Some(0)).await;
        server.kill();
        peer.accept(&[]);
        server.serve();
        let client = client.at(server.address());
        let waits = until(&client, &id, |now| !now["waiting"].is_null()).await;
        assert!(waits["waiting"].as_str().is_some_and(|said| said.contains("reconnect")), "{waits}");
        let query = json!({ "provider": provider, "projectId": project });
        let refused = client.call("connections.sources", query).await;
        refused.refused(StatusCode::CONFLICT, "PROVIDER_RECONNECT_REQUIRED");
        peer.accept(&[key]);
        client.data("connections.create", json!({ "provider": provider, "apiKey": key })).await;
        let done = until(&client, &id, |now| now["status"] == "completed" || now["status"] == "failed").await;
        let silent = of(&[Standing::Silent]);
        let all = PEOPLE as u64 - silent;
        let counts = json!({ "total": all, "created": all, "updated": 0, "skipped": 0, "failed": 0 });
        assert_eq!(
            (&done["status"], &done["counts"], &done["excluded"]),
            (&json!("completed"), &counts, &json!(silent)),
            "{provider}"
        );
        for (status, wanted) in [
            ("subscribed", vec![Standing::Subscribed]),
            ("unsubscribed", vec![Standing::Unsubscribed, Standing::Complained]),
            ("bounced", vec![Standing::Bounced]),
        ] {
            assert_eq!(client.total(json!({ "projectId": project, "status": status })).await, of(&wanted), "{provider} {status}");
        }
        server.signal("TERM");
        server.wait();
        let mut texts = vec![server.log().into_bytes()];
        for name in ["control.redb", "test.redb", "live.redb"] {
            texts.push(std::fs::read(server.data().join(name)).expect("readable"));
        }
        let is_there = texts.iter().any(|text| text.windows(key.len()).any(|window| window == key.as_bytes()));
        assert!(!is_there, "{provider}: the key is in a file or in the log");
    }
}

/// Imports an email with an unsubscribe link; returns the IDs of its conversation and of the email.
async fn email(client: &Client, project: &str) -> (String, String) {
    let html = "<body><p>Hi {{ first_name }}</p><a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></body>";
    let input = json!({ "projectId": project, "html": html, "name": "Welcome" });
    let started = client.data("emails.import_html", input).await;
    let conversation = started["conversationId"].as_str().expect("an ID").to_owned();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = client.data("emails.status", json!({ "conversationId": conversation })).await;
        if now["status"] == "completed" {
            let email = now["result"]["emails"][0]["emailId"].as_str().expect("an ID").to_owned();
            return (conversation, email);
        }
        assert!(Instant::now() < deadline, "{now}");
        tokio::time::sleep(LOOK).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_in_the_middle_of_an_export_leaves_no_duplicate() {
    for (provider, key, operation) in [
        ("klaviyo", KLAVIYO_KEY, "exports.platform_a"),
        ("mailchimp", MAILCHIMP_KEY, "exports.platform_b"),
        ("hubspot", HUBSPOT_KEY, "exports.platform_c"),
    ] {
        let peer = Platforms::start(0);
        let mut server = Server::start(&settings(&peer));
        let client = server.all();
        let project = client.project("Acme").await;
        client.data("connections.create", json!({ "provider": provider, "apiKey": key })).await;
        let (conversation, _) = email(&client, &project).await;
        let mut input = json!({ "conversationId": conversation });
        if provider == "hubspot" {
            input["customOptions"] = json!({ "type": "email" });
        }
        // The platform creates the template, but the server is killed before it receives the response.
        let part = if provider == "hubspot" { "/marketing/emails" } else { "/templates" };
        peer.fail_method("POST", part, 1, Fault::AfterEffect(502));
        #[expect(clippy::disallowed_methods, reason = "the test aborts it")]
        let waiting = tokio::spawn({
            let (client, input) = (client.clone(), input.clone());
            async move { client.try_send(Call::new(find(operation), input)).await }
        });
        let deadline = Instant::now() + PATIENCE;
        while !peer.asked().iter().any(|asked| asked.method == "POST" && asked.target.contains(part)) {
            assert!(Instant::now() < deadline, "{provider}: nothing was created");
            tokio::time::sleep(LOOK).await;
        }
        server.kill();
        waiting.abort();
        server.serve();
        let client = client.at(server.address());
        let made = client.data(operation, input.clone()).await;
        let again = client.data(operation, input).await;
        assert_eq!(made["files"][0]["platform"]["id"], again["files"][0]["platform"]["id"]);
        let drafts = peer.stored().into_iter().filter(|stored| stored.place != "cms/source-code").count();
        assert_eq!(drafts, 1, "{provider}: {made}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_email_is_exported_into_an_account_by_forms() {
    let peer = Platforms::start(0);
    let server = owned(&settings(&peer));
    let client = server.all();
    let project = client.project("Acme").await;
    let (_, id) = email(&client, &project).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let path = format!("/test/emails/{id}/exports");
    let page = browser.get(&path).await;
    assert!(page.text.contains("No account is connected") && page.text.contains("Connect HubSpot"), "{}", page.text);
    let csrf = page.csrf().to_owned();
    let made = client.data("connections.create", json!({ "provider": "mailchimp", "apiKey": MAILCHIMP_KEY })).await;
    let connection = made["id"].as_str().expect("an ID").to_owned();
    let page = browser.get(&path).await;
    assert!(page.text.contains("Template with editable regions") && page.text.contains(&connection), "{}", page.text);
    let fields = [
        ("csrf", csrf.as_str()),
        ("provider", "platform_b"),
        ("connection", connection.as_str()),
        ("type", "campaign"),
        ("upload", "1"),
    ];
    let done = browser.post(&path, &fields).await;
    assert!(done.status == 200 && done.text.contains("Created.") && done.text.contains("Open in Mailchimp"), "{}", done.text);
    assert!(done.text.contains("https://us21.admin.mailchimp.com/campaigns/edit?id=42"), "{}", done.text);
    let again = browser.post(&path, &fields).await;
    assert!(again.text.contains("Updated.") && again.text.contains("Previous exports"), "{}", again.text);
    assert_eq!(peer.stored().len(), 1);
    peer.accept(&[]);
    let refused = browser.post(&path, &fields).await;
    assert!(refused.status == 409 && refused.text.contains("no longer work"), "{}", refused.text);
    assert!(browser.get(&path).await.text.contains("reconnect required"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_connected_by_signing_in_to_the_platform() {
    for (provider, label) in [("klaviyo", "Klaviyo"), ("mailchimp", "Mailchimp"), ("hubspot", "HubSpot")] {
        let peer = Platforms::start(0);
        let url = peer.url();
        let clients = format!(
            "{provider}_client_id = \"{CLIENT_ID}\"\n{provider}_client_secret = \"{CLIENT_SECRET}\"\n{provider}_login_url = \"{url}\"\n"
        );
        let mut server = owned(&format!("{}{clients}", settings(&peer)));
        let mut browser = Browser::new(&server);
        browser.sign_in("/test/").await;
        let list = "/test/settings/connections";
        let page = browser.get(list).await;
        assert!(page.text.contains(&format!("Connect {label}")), "{}", page.text);
        let csrf = page.csrf().to_owned();
        let fields = [("csrf", csrf.as_str()), ("act", "authorize"), ("provider", provider)];
        let none = browser.post(list, &fields).await;
        assert!(none.status == 400 && none.text.contains("imports, exports, or both"), "{}", none.text);
        let fields = [fields.as_slice(), &[("uses", "imports")]].concat();
        let started = browser.post(list, &fields).await;
        let link = started.text.split("href=\"").find(|part| part.starts_with(&url)).and_then(|part| part.split('"').next());
        let link = link.unwrap_or_else(|| panic!("{}", started.text)).replace("&amp;", "&");
        let back = peer.consent(&link);
        let path = &back[back.find("/connections/").expect("the callback page")..];
        // Another session cannot complete the sign-in.
        let mut other = Browser::new(&server);
        other.sign_in("/test/").await;
        let moved = other.get(path).await.location().to_owned();
        let refused = other.get(&moved).await;
        assert!(refused.status == 400 && refused.text.contains("not started in this session"), "{}", refused.text);
        let moved = browser.get(path).await.location().to_owned();
        assert!(moved.starts_with(&format!("/test/settings/connections/{provider}/complete?")), "{moved}");
        let done = browser.get(&moved).await;
        assert!(done.status == 303, "{}", done.text);
        let listed = browser.get(done.location()).await;
        assert!(listed.text.contains("Account connected.") && listed.text.contains(">connected<"), "{}", listed.text);
        // A reload of the callback page has no further effect: the platform gets the code once.
        let again = browser.get(&moved).await;
        assert_eq!((again.status, again.location()), (done.status, done.location()), "{}", again.text);
        let exchanges =
            peer.asked().into_iter().filter(|asked| asked.method == "POST" && asked.target.ends_with("/token")).count();
        let connections = server.all().data("connections.list", json!({})).await;
        assert_eq!((exchanges, &connections["total"]), (1, &json!(1)), "{connections}");
        assert_eq!(connections["connections"][0]["uses"], json!(["imports"]));
        assert!(listed.text.contains("Allow exports"), "{}", listed.text);
        let denied = browser.get(&format!("{list}/{provider}/complete?error=access_denied&state=x")).await;
        assert!(denied.status == 400 && denied.text.contains("access_denied"), "{}", denied.text);
        assert!(browser.get("/test/settings/audit?in=data").await.text.contains("connections.complete"));
        let id = listed.value("id").to_owned();
        let gone = browser.post(list, &[("csrf", csrf.as_str()), ("act", "remove"), ("id", &id)]).await;
        let gone = browser.get(gone.location()).await;
        let said = if provider == "mailchimp" { "remove the app in Mailchimp." } else { "access was revoked." };
        assert!(gone.text.contains("Connection removed.") && gone.text.contains(said), "{provider}: {}", gone.text);
        server.signal("TERM");
        server.wait();
        let mut texts = vec![server.log().into_bytes()];
        for name in ["control.redb", "test.redb", "live.redb"] {
            texts.push(std::fs::read(server.data().join(name)).expect("readable"));
        }
        for secret in ["access-code1", "refresh-code1", CLIENT_SECRET, "code=code1"] {
            let is_there = texts.iter().any(|text| text.windows(secret.len()).any(|window| window == secret.as_bytes()));
            assert!(!is_there, "{provider}: {secret} is in a file or in the log");
        }
    }
}

/// Repeats the import of this form each day, and pauses the schedule.
async fn repeats(browser: &mut Browser<'_>, form: &[(&str, &str)]) {
    let repeated = browser.post("/test/contacts/import/platform", &[form, &[("every", "24")]].concat()).await;
    let schedule = browser.get(repeated.location()).await;
    assert!(schedule.text.contains("Klaviyo: ") && schedule.text.contains("Pause schedule"), "{}", schedule.text);
    let off = [form[0], ("act", "off")];
    let paused = browser.post(repeated.location().split('?').next().expect("a path"), &off).await;
    // The first run has started already, and the schedule is shown as paused once the run has ended.
    let deadline = Instant::now() + PATIENCE;
    while !browser.get(paused.location()).await.text.contains("Resume schedule") {
        assert!(Instant::now() < deadline, "the schedule is not paused");
        tokio::time::sleep(LOOK).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_is_connected_and_imported_by_forms() {
    let peer = Platforms::start(40);
    let server = owned(&settings(&peer));
    let project = server.all().project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let page = browser.get("/test/settings/connections?provider=klaviyo").await;
    assert!(page.text.contains("Import your audience") && page.text.contains("value=\"klaviyo\" required checked"));
    let nothing = browser.get(&format!("/test/contacts/import/platform?brand={project}")).await;
    assert!(nothing.text.contains("No connected account"), "{}", nothing.text);
    let csrf = page.csrf().to_owned();
    let with = |key: &'static str| {
        [
            ("csrf", csrf.clone()),
            ("act", "connect".into()),
            ("provider", "klaviyo".into()),
            ("apiKey", key.into()),
            ("name", "My \"shop\"".into()),
        ]
    };
    let wrong = with("pk_wrong");
    let wrong: Vec<(&str, &str)> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = browser.post("/test/settings/connections", &wrong).await;
    assert!(refused.status == 400 && refused.text.contains("rejected this key"), "{}", refused.text);
    assert!(refused.text.contains("My &quot;shop&quot;") && !refused.text.contains("pk_wrong"), "{}", refused.text);
    let right = with(KLAVIYO_KEY);
    let right: Vec<(&str, &str)> = right.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let made = browser.post("/test/settings/connections", &right).await;
    let list = browser.get(made.location()).await;
    assert!(list.text.contains("Account connected.") && list.text.contains(">connected<") && !list.text.contains(KLAVIYO_KEY));
    let path = format!("/test/contacts/import/platform?brand={project}");
    let page = browser.get(&path).await;
    assert!(page.text.contains("List 1") && page.text.contains("Segment 11"), "{}", page.text);
    assert!(page.text.contains("Also choose “Suppressed profiles”"), "{}", page.text);
    let none = [("csrf", csrf.as_str()), ("brand", &project), ("connection", page.value("connection"))];
    let refused = browser.post("/test/contacts/import/platform", &none).await;
    assert!(refused.status == 400 && refused.text.contains("1 to 25 sources"), "{}", refused.text);
    let source = r#"{"id":"L1","name":"List 1","type":"list"}"#;
    let fields = [none.as_slice(), &[("source", source), ("all", "yes")]].concat();
    let previewed =
        browser.post("/test/contacts/import/platform", &[fields.as_slice(), &[("act", "preview")]].concat()).await.text;
    assert!(previewed.contains("Results for 40 contacts") && previewed.contains("properties.shoe"), "{previewed}");
    assert_eq!(server.all().data("contacts.list", json!({ "projectId": project })).await["total"], 0, "a preview stores nothing");
    let mapped = [("act", "import"), ("field", "properties.shoe"), ("to", "company"), ("custom", "")];
    let fields = [fields.as_slice(), &mapped].concat();
    let started = browser.post("/test/contacts/import/platform", &fields).await;
    let there = started.location().to_owned();
    let deadline = Instant::now() + PATIENCE;
    let page = loop {
        let page = browser.get(&there).await;
        if page.text.contains(">completed<") {
            break page;
        }
        assert!(Instant::now() < deadline, "{}", page.text);
        tokio::time::sleep(LOOK).await;
    };
    assert!(page.text.contains("Left out"), "{}", page.text);
    let listed = server.all().data("contacts.list", json!({ "projectId": project, "limit": 100 })).await;
    let shoes = listed["contacts"].as_array().expect("a list").iter().find(|one| one["email"] == "person7@example.com");
    assert_eq!(shoes.expect("the contact was imported")["company"], "7");
    repeats(&mut browser, &fields).await;
    peer.fail("/api/", 99, Fault::Status(503, None));
    let down = browser.get(&path).await;
    assert!(down.status == 503 && down.text.contains("request to the platform failed"), "{}", down.text);
    let id = list.value("id").to_owned();
    let gone = browser.post("/test/settings/connections", &[("csrf", csrf.as_str()), ("act", "remove"), ("id", &id)]).await;
    let gone = browser.get(gone.location()).await;
    assert!(gone.text.contains("The key stays valid until you revoke it in Klaviyo."), "{}", gone.text);
    let audit = browser.get("/test/settings/audit").await;
    assert!(audit.text.contains("connections.create") || audit.text.contains("Connect"), "{}", audit.text);
}
