//! Tests complete generations by the composer and by a fake language model, with a store.

use serde_json::{Value, json};

use super::*;
use crate::base::bounded::Bounded;
use crate::engine::outbox;
use crate::engine::store::{self as rows, WriteTx};
use crate::testing::TestApp as TestMill;
use crate::testing::fake_model::{FakeModel, ModelCall, Reaction};
use crate::testing::site::Site;
use crate::vocab::settings::{Protocol, Settings};
use crate::vocab::webhook_events::WebhookEvent;

/// Runs stages until no tasks are left.
pub fn work(app: &TestMill) {
    while app.wait(step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
}

pub fn generate(app: &TestMill, body: Value) -> String {
    let made = app.post_in("/v1/projects/emails/generate", body).data();
    // These tests do not import the project's sites. They advance the clock until the generation stops waiting for the import.
    app.clock.advance_ms(limits::SITE_IMPORT_AWAITED_MS);
    made["conversationId"].as_str().expect("the field is a string").to_owned()
}

pub fn status(app: &TestMill, conversation: &str) -> Value {
    app.get(&format!("/v1/projects/emails/{conversation}/status")).data()
}

fn events(app: &TestMill) -> Vec<WebhookEvent> {
    let kinds = outbox::waiting(&app.read(), 1000).expect("the read succeeds").into_iter().map(|(_, event)| event.kind);
    kinds.filter(|kind| *kind != WebhookEvent::ProjectImportStarted).collect()
}

/// Returns a response of the fake model: an email without facts, changed by `spoil`.
pub fn email(spoil: impl FnOnce(&mut Value)) -> Reaction {
    let mut json = json!({
        "version": 1, "language": "en", "direction": "ltr", "purpose": "announcement", "style": {},
        "subject": "Hello from us", "preheader": "A note for you.",
        "blocks": [
            { "type": "header", "id": "header", "name": "Acme" },
            { "type": "hero", "id": "hero", "title": "Hello", "text": "It is good to have you here.",
              "button": { "label": "Visit us", "href": "https://acme.example/" } },
            { "type": "footer", "id": "footer", "sender": "Acme", "unsubscribe": "Unsubscribe" },
        ],
    });
    spoil(&mut json);
    Reaction::Text(json.to_string())
}

pub fn with_model(peer: &FakeModel) -> TestMill {
    with_models(peer, |_| {})
}

pub fn with_models(peer: &FakeModel, change: impl FnOnce(&mut Settings)) -> TestMill {
    let url = peer.url();
    TestMill::with(|settings| {
        let mut model = settings.models["local"].clone();
        model.protocol = Some(Protocol::OpenAi);
        model.url = Some(url);
        model.model = Some("peer-1".into());
        model.repeats = Bounded::new(0).expect("the number is in bounds");
        model.input_price = 2.5;
        settings.models.insert("peer".into(), model);
        settings.outbound.allow_networks = vec!["127.0.0.1/32".parse().expect("the network is valid")];
        change(settings);
    })
}

#[test]
fn the_composer_creates_an_email_in_every_format() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Welcome our new subscribers", "languages": ["en"], "count": 1 }));
    assert_eq!(status(&app, &id)["status"], "pending");
    work(&app);
    let status = status(&app, &id);
    assert_eq!(
        (&status["status"], &status["model"], &status["progress"]["percentage"]),
        (&json!("completed"), &json!("composer"), &json!(100))
    );
    let result = &status["result"];
    assert_eq!(result["emails"].as_array().map(Vec::len), Some(1));
    let email = &result["emails"][0];
    assert_eq!(email["status"], "ready");
    for field in ["subject", "preheader", "html", "text"] {
        assert!(email[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {email}");
    }
    assert!(email["screenshotUrl"].as_str().is_some_and(|url| url.contains("/v1/files/")), "{}", email["warnings"]);
    assert!(result["stats"]["buttonCount"].as_u64().is_some_and(|count| count > 0));
    let path = email["screenshotUrl"].as_str().expect("the field is a string");
    let (code, disposition, png) = app.download(path);
    assert_eq!((code, disposition.as_str(), &png[1..4]), (200, "inline; filename=\"screenshot.png\"", b"PNG".as_slice()));
    assert_eq!(events(&app), [WebhookEvent::EmailGenerationStarted, WebhookEvent::EmailGenerationCompleted]);
}

#[test]
fn a_series_has_an_email_for_every_slot_in_every_language() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "A welcome series", "languages": ["en", "de"], "count": 3 }));
    work(&app);
    let result = status(&app, &id)["result"].clone();
    assert_eq!(result["seriesPlan"]["count"], 3);
    let places: Vec<(u64, &str)> = result["emails"]
        .as_array()
        .expect("the field is a list")
        .iter()
        .map(|email| {
            (
                email["slotIdx"].as_u64().expect("the field is a number"),
                email["language"].as_str().expect("the field is a string"),
            )
        })
        .collect();
    assert_eq!(places, [(0, "en"), (0, "de"), (1, "en"), (1, "de"), (2, "en"), (2, "de")]);
    let days: Vec<i64> = result["emails"]
        .as_array()
        .expect("the field is a list")
        .iter()
        .filter_map(|email| email["sendOffsetDays"].as_i64())
        .collect();
    assert!(days.len() == 6 && days[0] == 0 && days.is_sorted(), "{days:?}");
    assert_ne!(result["emails"][0]["subject"], result["emails"][2]["subject"]);
    assert_ne!(result["emails"][0]["subject"], result["emails"][1]["subject"]);
    assert_eq!(result["emails"][0]["slotUuid"], result["emails"][1]["slotUuid"]);
}

#[test]
fn an_interrupted_generation_resumes_and_finishes_once() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Spring sale, 20% off with SPRING20", "languages": ["en"], "count": 2 }));
    // Runs one stage at a time, as if the process stopped after each stage.
    let mut stages = 0;
    loop {
        let tasks = due(&app.read(), app.engine(), 1, &HashSet::new()).expect("the read succeeds");
        let Some(task) = tasks.into_iter().next() else { break };
        let place = StageContext { engine: app.engine().clone(), data: app.data().clone() };
        // The task is started and dropped at its first await point, so its unsaved work is lost.
        let started = due(&app.read(), app.engine(), 1, &HashSet::new())
            .expect("the read succeeds")
            .into_iter()
            .next()
            .expect("the task is still due");
        app.wait(async { drop(tokio::time::timeout(std::time::Duration::ZERO, started.run(place.clone())).await) });
        app.wait(task.run(place)).1.expect("the stage succeeds");
        stages += 1;
    }
    assert_eq!(status(&app, &id)["status"], "completed");
    assert_eq!(stages, 1 + 2 * 3 + 1, "one stage for planning, three stages for each of two emails, and one stage for finishing");
    assert_eq!(events(&app), [WebhookEvent::EmailGenerationStarted, WebhookEvent::EmailGenerationCompleted]);
}

#[test]
fn a_stage_that_never_ends_fails() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Hello", "languages": ["en"], "count": 1 }));
    let place = StageContext { engine: app.engine().clone(), data: app.data().clone() };
    let next = || {
        due(&app.read(), app.engine(), 1, &HashSet::new()).expect("the read succeeds").into_iter().next().expect("a task is due")
    };
    app.wait(next().run(place.clone())).1.expect("the stage succeeds");
    for _ in 0..limits::EMAIL_ATTEMPTS_MAX {
        let Task::Advance(account, _, mut email) = next() else { panic!("an email is next") };
        email.attempts += 1;
        let write = move |tx: &mut crate::engine::store::WriteTx<'_>| -> crate::engine::store::Result<()> {
            store::save_email(tx, account, &email);
            Ok(())
        };
        app.wait(app.data().store.write(write)).expect("the write succeeds").expect("the write succeeds");
    }
    work(&app);
    let status = status(&app, &id);
    assert_eq!(status["status"], "failed");
    assert!(status["error"].as_str().is_some_and(|error| error.contains("interrupted")), "{status}");
    assert_eq!(events(&app), [WebhookEvent::EmailGenerationStarted, WebhookEvent::EmailGenerationFailed]);
}

#[test]
fn a_language_model_writes_and_its_usage_is_counted() {
    let peer = FakeModel::with(vec![email(|json| json["blocks"][1]["button"]["href"] = json!("https://shop.example/sale"))]);
    let app = with_model(&peer);
    let id = generate(
        &app,
        json!({ "prompt": "Hello. Link: https://shop.example/sale", "webMode": false, "languages": ["en"], "count": 1 }),
    );
    work(&app);
    let status = status(&app, &id);
    assert_eq!((&status["status"], &status["model"]), (&json!("completed"), &json!("peer")), "{status}");
    let usage = &status["result"]["usage"];
    let asked = peer.asked();
    let calls = asked.len() as u64 + 1;
    assert_eq!(calls, 3, "the brief, the outline and the blocks");
    assert_eq!((&usage["calls"], &usage["inputTokens"]), (&json!(calls), &json!(100 * calls)));
    assert_eq!(usage["cost"], json!(250.0 * calls as f64 / 1e6));
    assert_eq!(asked[0].body["model"], "peer-1");
    let system = asked[0].body["messages"][0]["content"].as_str().expect("the field is a string");
    assert!(system.contains("https://shop.example/sale"), "links of the request are allowed: {system}");
    assert!(asked[0].last_turn().contains("<request>\nHello."));
}

#[test]
fn pages_that_the_prompt_links_to_are_read_unless_web_mode_is_off() {
    let site = Site::of_page(
        "/report",
        "<html><title>Report</title><main><h1>Our report</h1><p>Since March all of our boxes are made of straw, which grows again \
         every year and needs no trees. It took us two years and eleven suppliers to find a mill that could do it.</p></main></html>",
    );
    let url = format!("{}report", site.url());
    for (web_mode, is_read) in [(true, true), (false, false)] {
        let peer = FakeModel::with(vec![email(|json| {
            json["blocks"][1]["text"] = json!("We have published our report.");
            json["blocks"][1]["button"]["href"] = json!(url);
        })]);
        let app = with_model(&peer);
        let prompt = format!("We have published our report: {url}");
        let id = generate(&app, json!({ "prompt": prompt, "webMode": web_mode, "languages": ["en"], "count": 1 }));
        work(&app);
        assert_eq!(status(&app, &id)["status"], "completed");
        let system = peer.asked()[0].body["messages"][0]["content"].to_string();
        assert_eq!(system.contains("made of straw"), is_read, "{system}");
    }
}

#[test]
fn errors_in_a_response_are_returned_to_the_model() {
    let strange = email(|json| json["blocks"][1]["button"] = json!({ "label": "Go", "href": "https://evil.example/" }));
    let mut is_first = true;
    let peer = FakeModel::by(move |call| match call.is_correction() && call.schema().0 == "write_blocks" {
        _ if std::mem::take(&mut is_first) => Reaction::Text("Here is your email!".into()),
        true => email(|_| {}),
        false => strange.clone(),
    });
    let app = with_model(&peer);
    let id = generate(&app, json!({ "prompt": "Hello", "languages": ["en"], "count": 1 }));
    work(&app);
    assert_eq!(status(&app, &id)["status"], "completed", "{}", status(&app, &id));
    let asked = peer.asked();
    let steps: Vec<&str> = asked.iter().map(|call| call.schema().0).collect();
    assert!(steps.starts_with(&["outline_email", "outline_email", "write_blocks", "write_blocks"]), "{steps:?}");
    assert!(asked[1].last_turn().contains("not JSON"));
    let errors = asked[3].last_turn();
    assert!(errors.contains("- hero.button.href: https://evil.example/ is not among the links"), "{errors}");
}

#[test]
fn a_model_that_never_returns_a_valid_email_fails_with_the_reason() {
    let peer = FakeModel::with(vec![email(|json| json["subject"] = json!(""))]);
    let app = with_model(&peer);
    let id = generate(&app, json!({ "prompt": "Hello", "languages": ["en"], "count": 1 }));
    work(&app);
    let status = status(&app, &id);
    assert_eq!(status["status"], "failed");
    assert!(status["error"].as_str().is_some_and(|error| error.contains("subject")), "{status}");
    assert_eq!(peer.asked().len(), 1 + limits::LANGUAGE_MODEL_CORRECTIONS_MAX);
    assert_eq!(status["result"]["usage"]["calls"], 4, "the brief and failed calls count too");
    assert_eq!(events(&app), [WebhookEvent::EmailGenerationStarted, WebhookEvent::EmailGenerationFailed]);
}

#[test]
fn a_refusal_or_a_wrong_key_is_the_reason_for_the_failure() {
    for (reaction, words) in [
        (Reaction::Refuse("I will not write this.".into()), "declined to write this: I will not write this"),
        (Reaction::Status(401, "Incorrect API key".into(), None), "Incorrect API key (401"),
        (Reaction::Cut("{".into()), "output_tokens_max"),
    ] {
        let peer = FakeModel::with(vec![reaction]);
        let app = with_model(&peer);
        let id = generate(&app, json!({ "prompt": "Hello", "languages": ["en"], "count": 1 }));
        work(&app);
        let status = status(&app, &id);
        assert!(status["error"].as_str().is_some_and(|error| error.contains(words)), "{status}");
    }
}

#[test]
fn a_model_plans_a_series_and_translates_from_the_original() {
    let plan = json!({ "title": "Welcome", "emails": [
        { "purpose": "Say hello", "sendOffsetDays": 0 }, { "purpose": "Show the products", "sendOffsetDays": 3 },
    ] });
    let peer = FakeModel::by(move |asked: &ModelCall| {
        if asked.body["response_format"]["json_schema"]["name"] == "plan_emails" {
            return Reaction::Text(plan.to_string());
        }
        email(|_| {})
    });
    let app = with_model(&peer);
    let id = generate(&app, json!({ "prompt": "A series", "languages": ["en", "de"] }));
    work(&app);
    let status = status(&app, &id);
    assert_eq!(status["status"], "completed", "{status}");
    assert_eq!(
        status["result"]["seriesPlan"]["slots"][1],
        json!({ "slotIdx": 1, "purpose": "Show the products", "sendOffsetDays": 3 })
    );
    let ready =
        status["result"]["emails"].as_array().expect("the field is a list").iter().filter(|email| email["status"] == "ready");
    assert_eq!(ready.count(), 4, "{status}");
    let asked = peer.asked();
    let count = |name: &str| asked.iter().filter(|call| call.schema().0 == name).count();
    assert_eq!((count("plan_emails"), count("outline_email")), (1, 4), "the model plans once and writes four emails");
    let german = |call: &&ModelCall| call.last_turn().contains("Write them in de");
    assert!(asked.iter().filter(german).all(|call| call.last_turn().contains("in the original language")));
    assert!(asked.iter().filter(german).count() >= 2, "two emails are translated");
}

#[test]
fn invalid_requests_are_rejected_with_the_field() {
    let app = TestMill::new();
    for (body, field) in [
        (json!({ "prompt": " " }), "prompt"),
        (json!({ "prompt": "x", "count": 13 }), "count"),
        (json!({ "prompt": "x", "languages": ["en", "de", "fr", "es", "it", "pt"] }), "languages"),
        (json!({ "prompt": "x", "images": [{ "source": { "type": "url", "url": "ftp://a.example" } }] }), "images"),
    ] {
        let answer = app.post_in("/v1/projects/emails/generate", body);
        let (status, code, error) = answer.refusal();
        assert_eq!((status, code), (400, "INVALID_REQUEST"), "{error}");
        assert!(error.contains(field), "{field}: {error}");
    }
    let unknown = json!({ "prompt": "x", "referenceId": "66f1a2b3d4e5f60718293a4d" });
    assert_eq!(app.post_in("/v1/projects/emails/generate", unknown).refusal().0, 404);
    let unknown = app.post_in("/v1/projects/emails/generate", json!({ "prompt": "x", "model": "gpt-9" }));
    assert_eq!((unknown.refusal().0, unknown.refusal().1), (409, "MODEL_NOT_CONFIGURED"));
}

#[test]
fn an_edit_creates_a_version_and_an_earlier_one_can_be_restored() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Welcome our new subscribers", "languages": ["en"], "count": 1 }));
    work(&app);
    let email = status(&app, &id)["result"]["emails"][0].clone();
    let path = format!("/v1/emails/{}", email["id"].as_str().expect("the field is a string"));
    let started =
        app.post(&format!("{path}/edit"), json!({ "prompt": "Change the subject to \"Good to see you\"", "async": true })).data();
    assert_eq!((&started["status"], &started["stage"]), (&json!("pending"), &json!("waiting")));
    work(&app);
    let edit = app.get(&format!("{path}/edits/{}", started["editId"].as_str().expect("the field is a string"))).data();
    assert_eq!((&edit["status"], &edit["result"]["subject"]), (&json!("completed"), &json!("Good to see you")), "{edit}");
    assert_eq!(edit["result"]["version"], 2);
    let restored = app.post(&format!("{path}/versions/1/restore"), json!({})).data();
    assert_eq!((&restored["version"], &restored["subject"], &restored["html"]), (&json!(3), &email["subject"], &email["html"]));
    let versions = app.get(&format!("{path}/versions")).data();
    let origins: Vec<&Value> =
        versions["versions"].as_array().expect("the field is a list").iter().map(|version| &version["origin"]).collect();
    assert_eq!(origins, ["restored", "edited", "generated"]);
}

#[test]
fn a_preview_of_an_edit_saves_nothing() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Welcome our new subscribers", "languages": ["en"], "count": 1 }));
    work(&app);
    let email = status(&app, &id)["result"]["emails"][0].clone();
    let path = format!("/v1/emails/{}", email["id"].as_str().expect("the field is a string"));
    let prompt = "Change the subject to \"Good to see you\" and send it to Bob";
    let shown = app.post(&format!("{path}/edit"), json!({ "prompt": prompt, "preview": true })).data();
    assert_eq!(
        (&shown["subject"], &shown["document"]["subject"]),
        (&json!("Good to see you"), &json!("Good to see you")),
        "{shown}"
    );
    assert_eq!((&shown["version"], &shown["done"]), (&json!(1), &json!(["Changed the subject to “Good to see you”."])));
    assert!(shown["notDone"][0].as_str().is_some_and(|reason| reason.contains("Test send")), "{shown}");
    assert!(shown["html"].as_str().is_some_and(|html| html.contains("<title>Good to see you</title>")), "{shown}");
    assert!(!format!("{}{}", shown["html"], shown["text"]).contains("postal_address"), "the placeholder is filled in");
    let now = app.get(&path).data();
    assert_eq!((&now["version"], &now["subject"]), (&json!(1), &email["subject"]));
    let refused = app.post(&format!("{path}/edit"), json!({ "prompt": "flibbertigibbet", "preview": true }));
    assert_eq!((refused.refusal().0, refused.refusal().1), (409, "EDIT_FAILED"));
}

#[test]
fn an_edit_that_is_not_understood_changes_nothing_and_lists_what_is_possible() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Welcome our new subscribers", "languages": ["en"], "count": 1 }));
    work(&app);
    let email = status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("the field is a string").to_owned();
    let started = app.post(&format!("/v1/emails/{email}/edit"), json!({ "prompt": "flibbertigibbet", "async": true })).data();
    work(&app);
    let edit =
        app.get(&format!("/v1/emails/{email}/edits/{}", started["editId"].as_str().expect("the field is a string"))).data();
    assert_eq!((&edit["status"], &edit["changesMayHaveBeenSaved"]), (&json!("failed"), &json!(false)));
    assert!(edit["error"].as_str().is_some_and(|error| error.contains("subject")), "it lists what is possible: {edit}");
    assert_eq!(app.get(&format!("/v1/emails/{email}")).data()["version"], 1);
}

#[test]
fn a_model_edits_by_a_patch_and_the_previous_version_can_be_restored() {
    let peer = FakeModel::by(|asked: &ModelCall| match asked.body["response_format"]["json_schema"]["name"].as_str() {
        Some("edit_email") => {
            let change = json!({ "op": "set", "path": "subject", "value": "Changed" });
            Reaction::Text(json!({ "summary": "The subject is new.", "changes": [change] }).to_string())
        }
        _ => email(|_| {}),
    });
    let app = with_model(&peer);
    let id = generate(&app, json!({ "prompt": "Hello", "languages": ["en"], "count": 1 }));
    work(&app);
    let email = status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("the field is a string").to_owned();
    let started = app.post(&format!("/v1/emails/{email}/edit"), json!({ "prompt": "Another subject", "async": true })).data();
    work(&app);
    let edit =
        app.get(&format!("/v1/emails/{email}/edits/{}", started["editId"].as_str().expect("the field is a string"))).data();
    assert_eq!((&edit["result"]["subject"], &edit["done"]), (&json!("Changed"), &json!(["The subject is new."])), "{edit}");
    let path = format!("/v1/emails/{email}");
    let restored = app.post(&format!("{path}/versions/1/restore"), json!({})).data();
    assert_eq!((&restored["version"], &restored["subject"]), (&json!(3), &json!("Hello from us")));
    let versions = app.get(&format!("{path}/versions")).data();
    let origins: Vec<&Value> =
        versions["versions"].as_array().expect("the field is a list").iter().map(|version| &version["origin"]).collect();
    assert_eq!(origins, ["restored", "edited", "generated"]);
}

/// Imports an email as HTML and returns it once it is ready.
fn imported(app: &TestMill, body: Value) -> Value {
    let started = app.post_in("/v1/projects/emails/import-html", body).data();
    work(app);
    status(app, started["conversationId"].as_str().expect("the field is a string"))["result"]["emails"][0].clone()
}

/// Requests an edit, runs it and returns its status.
fn edited(app: &TestMill, email: &Value, prompt: &str) -> Value {
    let path = format!("/v1/emails/{}", email["id"].as_str().expect("the field is a string"));
    let started = app.post(&format!("{path}/edit"), json!({ "prompt": prompt, "label": "mine", "async": true })).data();
    work(app);
    app.get(&format!("{path}/edits/{}", started["editId"].as_str().expect("the field is a string"))).data()
}

const LETTER: &str = "<html lang=en><title>News</title><body><h1>Hello</h1><p>We have <b>new teas</b> for you. Come and see.</p>\
    <p><a class=button href=https://acme.example/teas style=\"background:#1a73e8;color:#ffffff\">See them</a></p></body></html>";

#[test]
fn an_edit_of_html_creates_a_version_that_can_be_undone() {
    let app = TestMill::new();
    let email = imported(&app, json!({ "html": LETTER }));
    let edit = edited(&app, &email, "Replace \"new teas\" with \"old cups\" and make the button #2E7D32. Then dance.");
    let result = &edit["result"];
    assert_eq!((&edit["status"], &result["version"]), (&json!("completed"), &json!(2)), "{edit}");
    let html = result["html"].as_str().expect("the field is a string");
    assert!(html.contains("We have <b>old cups</b> for you.") && html.contains("background:#2E7D32;color:#ffffff"), "{html}");
    assert!(result["text"].as_str().is_some_and(|text| text.contains("We have old cups for you.")), "{result}");
    assert!(result["screenshotUrl"].is_string() && result["screenshotUrl"] != email["screenshotUrl"]);
    let done: Vec<&str> = edit["done"].as_array().expect("the field is a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(done.len(), 2, "{done:?}");
    assert!(done[0].contains("old cups"), "{done:?}");
    assert!(edit["notDone"][0].as_str().is_some_and(|reason| reason.starts_with("“dance” was not applied")), "{edit}");
    let path = format!("/v1/emails/{}", email["id"].as_str().expect("the field is a string"));
    let restored = app.post(&format!("{path}/versions/1/restore"), json!({})).data();
    assert_eq!((&restored["version"], &restored["html"], &restored["text"]), (&json!(3), &email["html"], &email["text"]));
    let versions = app.get(&format!("{path}/versions")).data();
    let origins: Vec<(&Value, &Value)> =
        versions["versions"].as_array().expect("the field is a list").iter().map(|one| (&one["origin"], &one["label"])).collect();
    assert_eq!(origins[1..], [(&json!("edited"), &json!("mine")), (&json!("imported"), &Value::Null)]);
    let details = app.get(&path).data();
    assert_eq!(details["document"], Value::Null);
}

#[test]
fn an_edit_of_html_that_changes_nothing_creates_no_version() {
    let app = TestMill::new();
    let email = imported(&app, json!({ "html": LETTER }));
    for (prompt, reason) in [
        ("Make it formal", "imported as HTML"),
        ("flibbertigibbet", "name a part of the email (subject, preheader"),
        ("Remove the coupon", "the email has no such part (coupon)"),
        ("Make the button #1a73e8", "Nothing was changed"),
    ] {
        let edit = edited(&app, &email, prompt);
        assert_eq!((&edit["status"], &edit["changesMayHaveBeenSaved"]), (&json!("failed"), &json!(false)), "{prompt}: {edit}");
        assert!(edit["error"].as_str().is_some_and(|error| error.contains(reason)), "{prompt}: {edit}");
    }
    let now = app.get(&format!("/v1/emails/{}", email["id"].as_str().expect("the field is a string"))).data();
    assert_eq!((&now["version"], &now["html"]), (&json!(1), &email["html"]));
}

#[test]
fn a_model_edits_html_by_numbers_and_errors_are_returned_to_it() {
    let mut answers = [
        json!({ "summary": "Done.", "changes": [{ "op": "link", "number": 3, "address": "https://evil.example/" }] }),
        json!({ "summary": "The button says Buy.", "changes": [
            { "op": "text", "number": 3, "text": "Buy" }, { "op": "preheader", "text": "Read me" },
        ] }),
        json!({ "summary": "That is not about this email.", "changes": [] }),
    ]
    .into_iter();
    let peer = FakeModel::by(move |_| Reaction::Text(answers.next().expect("the fake model has three responses").to_string()));
    let app = with_model(&peer);
    let email = imported(&app, json!({ "html": LETTER }));
    let edit = edited(&app, &email, "Let the button say Buy");
    assert_eq!((&edit["status"], &edit["done"]), (&json!("completed"), &json!(["The button says Buy."])), "{edit}");
    assert_eq!(edit["result"]["preheader"], "Read me");
    assert!(edit["result"]["html"].as_str().is_some_and(|html| html.contains(">Buy</a>")), "{edit}");
    let asked = peer.asked();
    assert_eq!(asked[0].body["response_format"]["json_schema"]["name"], "edit_html_email");
    let first = asked[0].last_turn();
    assert!(first.contains("2 text: \"We have new teas for you. Come and see.\"") && !first.contains("<p>"), "{first}");
    assert!(asked[1].last_turn().contains("https://evil.example/ is not among the links"), "{}", asked[1].last_turn());
    let edit = edited(&app, &email, "Sing me a song");
    assert!(edit["error"].as_str().is_some_and(|error| error.contains("That is not about this email.")), "{edit}");
}

#[test]
fn an_import_instruction_is_the_first_edit_and_its_failure_a_warning() {
    let app = TestMill::new();
    let email = imported(&app, json!({ "html": LETTER, "instruction": "Change the headline to \"Welcome\"" }));
    assert_eq!((&email["version"], &email["status"]), (&json!(2), &json!("ready")));
    assert!(email["html"].as_str().is_some_and(|html| html.contains("<h1>Welcome</h1>")));
    let wanted = json!({ "html": LETTER, "instruction": "flibbertigibbet", "generateMedia": true });
    let email = imported(&app, wanted);
    let warnings = email["warnings"].to_string();
    assert_eq!((&email["version"], &email["status"]), (&json!(1), &json!("ready")));
    assert!(
        warnings.contains("The instruction was not applied: “flibbertigibbet”") && warnings.contains("No image was generated"),
        "{warnings}"
    );
    assert!(email["screenshotUrl"].is_string());
}

#[test]
fn an_import_survives_an_instruction_that_crashes_the_process() {
    let app = TestMill::new();
    let started =
        app.post_in("/v1/projects/emails/import-html", json!({ "html": LETTER, "instruction": "Make it shorter" })).data();
    let id = started["conversationId"].as_str().expect("the field is a string");
    let (account, conversation) = (app.account(), ConversationId::parse(id).expect("the ID is valid"));
    let spoil = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let mut email = store::emails(tx, account, conversation)?.remove(0);
        email.attempts = limits::EMAIL_ATTEMPTS_MAX;
        store::save_email(tx, account, &email);
        Ok(())
    };
    app.data().store.write_blocking(spoil).expect("the write succeeds").expect("the write succeeds");
    work(&app);
    let email = status(&app, id)["result"]["emails"][0].clone();
    assert_eq!((&email["status"], &email["version"]), (&json!("ready"), &json!(1)), "{email}");
    assert!(
        email["warnings"].to_string().contains("edit the email with the instruction as the prompt")
            && email["screenshotUrl"].is_string(),
        "{email}"
    );
}

#[test]
fn imported_emails_are_sanitized_and_have_screenshots() {
    let app = TestMill::new();
    let eml = "From: a@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
               <html lang=\"de\"><body><p onclick=\"x()\">Hallo<script>alert(1)</script></p></body></html>";
    let page = "<html><head><title>Sale</title></head><body><h1>Sale</h1><a href=\"javascript:x()\">a</a></body></html>";
    let body =
        json!({ "htmls": [{ "name": "a.eml", "source": eml }, { "name": "b.html", "source": page }], "visibility": "public" });
    let started = app.post_in("/v1/projects/emails/import-html", body).data();
    let id = started["conversationId"].as_str().expect("the field is a string");
    work(&app);
    let status = status(&app, id);
    assert_eq!(status["status"], "completed", "{status}");
    let emails = status["result"]["emails"].as_array().expect("the field is a list");
    let view: Vec<(&Value, &Value, &Value)> =
        emails.iter().map(|email| (&email["subject"], &email["language"], &email["status"])).collect();
    assert_eq!(view, [(&json!("Grüße"), &json!("de"), &json!("ready")), (&json!("Sale"), &json!("en"), &json!("ready"))]);
    for email in emails {
        let html = email["html"].as_str().expect("the field is a string");
        assert!(!html.contains("script") && !html.contains("onclick"), "{html}");
        assert!(email["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()));
        assert!(email["screenshotUrl"].is_string() && email["shareUrl"].is_string());
    }
    assert_eq!(emails[0]["text"], "Hallo\n");
    let exported = app.get(&format!("/v1/export/mjml/{id}"));
    assert_eq!(exported.refusal().1, "NOT_EXPORTABLE");
    let exported = app.get(&format!("/v1/export/html/{id}")).data();
    assert_eq!(exported["files"].as_array().map(Vec::len), Some(2));
    for (body, field) in [
        (json!({}), "html"),
        (json!({ "html": "a", "htmls": [{ "name": "b", "source": "c" }] }), "htmls"),
        (json!({ "html": "x".repeat(2 << 20) }), "html"),
    ] {
        let refused = app.post_in("/v1/projects/emails/import-html", body);
        let (code, _, error) = refused.refusal();
        assert!((code == 400 || code == 413) && error.contains(field), "{code} {error}");
    }
}

#[test]
fn conversations_are_found_by_the_subject_of_an_email() {
    let app = TestMill::new();
    let id = generate(&app, json!({ "prompt": "Welcome our new subscribers", "languages": ["en"], "count": 1 }));
    work(&app);
    let email = status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("the field is a string").to_owned();
    let set = json!({ "operations": [{ "op": "set", "path": "subject", "value": "Zebra crossing" }] });
    app.patch(&format!("/v1/emails/{email}/document"), set).data();
    let total = |search: &str| {
        let path = format!("/v1/projects/emails?projectId={}&search={search}", app.project);
        app.get(&path).body["data"]["total"].clone()
    };
    assert_eq!((total("zebra"), total("subscribers"), total("giraffe")), (json!(1), json!(1), json!(0)));
}
