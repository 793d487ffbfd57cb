//! Tests which models are chosen, which stages they run, and what happens when they fail.

use serde_json::{Value, json};

use super::tests::{email, generate, status, with_models, work};
use crate::testing::TestApp;
use crate::testing::fake_model::{FakeModel, ModelCall, Reaction};
use crate::vocab::settings::{Cap, Model, OnFailure};

fn first_email(status: &Value) -> &Value {
    &status["result"]["emails"][0]
}

fn hello() -> Value {
    json!({ "prompt": "Hello", "languages": ["en"], "count": 1 })
}

/// Returns the names of the models that were called, as sent to the endpoint.
fn called(peer: &FakeModel) -> Vec<String> {
    let name = |call: ModelCall| call.body["model"].as_str().expect("a request names its model").to_owned();
    let mut names: Vec<String> = peer.asked().into_iter().map(name).collect();
    names.dedup();
    names
}

#[test]
fn a_request_selects_its_model_by_name() {
    let peer = FakeModel::by(|call| match call.schema().0 {
        "edit_email" => {
            let change = json!({ "op": "set", "path": "subject", "value": "Changed" });
            Reaction::Text(json!({ "summary": "The subject is new.", "changes": [change] }).to_string())
        }
        _ => email(|_| {}),
    });
    let app = with_models(&peer, |settings| {
        let other = settings.models["peer"].clone();
        settings.models.insert("second".into(), Model { model: Some("peer-2".into()), ..other });
        settings.language_model.default = Some("peer".into());
    });
    for (model, writer, endpoint) in
        [(None, "peer", Some("peer-1")), (Some("second"), "second", Some("peer-2")), (Some("composer"), "composer", None)]
    {
        let mut body = hello();
        body["model"] = json!(model);
        let id = generate(&app, body);
        work(&app);
        let status = status(&app, &id);
        assert_eq!((&status["model"], &first_email(&status)["writtenBy"]), (&json!(writer), &json!(writer)), "{status}");
        assert_eq!(called(&peer), Vec::from_iter(endpoint));
        let path = format!("/v1/emails/{}", first_email(&status)["id"].as_str().expect("the field is a string"));
        app.post(&format!("{path}/edit"), json!({ "prompt": "x", "model": "second", "async": true })).data();
        work(&app);
        assert_eq!((&app.get(&path).data()["writtenBy"], called(&peer)), (&json!("second"), vec!["peer-2".to_owned()]));
        let wrong = app.post(&format!("{path}/edit"), json!({ "prompt": "x", "model": "third", "async": true }));
        assert_eq!(wrong.refusal().1, "MODEL_NOT_CONFIGURED");
    }
    let refused = app.post_in("/v1/projects/emails/generate", json!({ "prompt": "x", "model": "third" }));
    let (code, _, error) = refused.refusal();
    assert_eq!(code, 409);
    assert!(error.contains("\"peer\", \"second\", \"composer\""), "{error}");
}

/// If the data was restored or copied, the original installation may have finished the same generation already.
#[test]
fn models_are_not_called_for_work_from_before_a_hold_until_the_hold_ends() {
    let peer = FakeModel::by(|_| email(|_| {}));
    let app = with_models(&peer, |settings| settings.language_model.default = Some("peer".into()));
    let state = |id: &str| status(&app, id)["status"].clone();
    let first = generate(&app, hello());
    work(&app);
    let path = format!("/v1/emails/{}", first_email(&status(&app, &first))["id"].as_str().expect("the field is a string"));
    let edit = app.post(&format!("{path}/edit"), json!({ "prompt": "x", "async": true })).data();
    let old = generate(&app, hello());
    app.put_on_hold();
    peer.asked();
    work(&app);
    assert_eq!((state(&old), called(&peer)), (json!("pending"), Vec::new()));
    let new = generate(&app, hello());
    work(&app);
    assert_eq!((state(&old), state(&new)), (json!("pending"), json!("completed")));
    let edit = || app.get(&format!("{path}/edits/{}", edit["editId"].as_str().expect("an ID"))).data()["status"].clone();
    assert_eq!(edit(), "pending");
    app.engine().hold.release();
    work(&app);
    assert_eq!(state(&old), "completed");
    assert_ne!(edit(), "pending");
}

#[test]
fn the_composer_writes_in_place_of_a_failed_model_if_the_settings_say_so() {
    for reaction in [Reaction::Refuse("I will not.".into()), Reaction::Status(401, "Wrong key".into(), None), Reaction::Broken] {
        let peer = FakeModel::with(vec![reaction]);
        let app = with_models(&peer, |settings| settings.language_model.on_failure = OnFailure::Composer);
        // The request does not specify the number of emails, so planning also falls back to the composer.
        let id = generate(&app, json!({ "prompt": "Spring sale, 20% off with SPRING20", "languages": ["en"] }));
        work(&app);
        let status = status(&app, &id);
        assert_eq!((&status["status"], &status["onFailure"]), (&json!("completed"), &json!("composer")), "{status}");
        let written = first_email(&status);
        assert_eq!((&status["model"], &written["writtenBy"]), (&json!("peer"), &json!("composer")));
        let warnings = written["warnings"].to_string();
        assert!(warnings.contains("The built-in composer wrote this email because the language model failed: The"), "{warnings}");
        assert!(written["text"].as_str().is_some_and(|text| text.contains("SPRING20")));
        let path = format!("/v1/emails/{}", written["id"].as_str().expect("the field is a string"));
        let edit = json!({ "prompt": "Change the subject to \"Spring is here\"", "async": true });
        let started = app.post(&format!("{path}/edit"), edit).data();
        work(&app);
        let edit = app.get(&format!("{path}/edits/{}", started["editId"].as_str().expect("the field is a string"))).data();
        assert_eq!((&edit["status"], &edit["result"]["subject"]), (&json!("completed"), &json!("Spring is here")), "{edit}");
        assert!(edit["done"].to_string().contains("The built-in composer made this edit"), "{edit}");
    }
}

#[test]
fn by_default_a_failed_model_fails_the_email() {
    let peer = FakeModel::with(vec![Reaction::Refuse("I will not.".into())]);
    let app = with_models(&peer, |_| {});
    let id = generate(&app, hello());
    work(&app);
    let status = status(&app, &id);
    assert_eq!((&status["status"], &status["onFailure"]), (&json!("failed"), &json!("fail")), "{status}");
    assert_eq!(first_email(&status)["writtenBy"], Value::Null);
}

#[test]
fn the_monthly_limit_is_the_reason_for_the_failure() {
    let peer = FakeModel::with(vec![email(|_| {})]);
    let app = with_models(&peer, |settings| {
        settings.models.get_mut("peer").expect("the model exists").output_price = 1_000.0;
        settings.language_model.monthly_cost_max = Cap::new(Some(5));
    });
    let id = generate(&app, hello());
    work(&app);
    let status = status(&app, &id);
    assert!(status["error"].as_str().is_some_and(|error| error.contains("The monthly limit for language models")), "{status}");
    assert!(peer.asked().is_empty(), "no request is sent");
}

#[test]
fn the_status_shows_the_step() {
    let app = TestApp::new();
    let id = generate(&app, json!({ "prompt": "A welcome series", "languages": ["en", "de"], "count": 3 }));
    let progress = status(&app, &id)["progress"].clone();
    assert_eq!(progress, json!({ "stage": "waiting", "step": 1, "steps": 19, "percentage": 0 }));
    work(&app);
    let progress = status(&app, &id)["progress"].clone();
    assert_eq!(progress, json!({ "stage": "completed", "step": 19, "steps": 19, "percentage": 100 }));
}

/// Returns the response of a model that produces a brief with these facts.
fn brief_with(facts: Value) -> Reaction {
    let brief = json!({
        "purpose": "sale", "audience": null, "subject": null, "preheader": null, "headline": null, "facts": facts, "stories": [],
        "offer": null, "event": null, "cta": null, "signature": null, "tone": [], "constraints": [], "instructions": [], "unclear": [],
    });
    Reaction::Text(brief.to_string())
}

#[test]
fn the_model_makes_the_brief_and_writes_from_it() {
    let peer = FakeModel::briefing(|call| match call.schema().0 {
        "make_brief" => brief_with(json!([
            { "kind": "product", "role": null, "quote": "mugs", "sentence": null, "value": null, "story": null },
            { "kind": "code", "role": "offer", "quote": "NOTTHERE", "sentence": null, "value": null, "story": null },
        ])),
        _ => email(|json| json["blocks"][1]["text"] = json!("New mugs are here.")),
    });
    let app = with_models(&peer, |_| {});
    let id = generate(&app, json!({ "prompt": "New mugs", "languages": ["en"], "count": 1 }));
    work(&app);
    let status = status(&app, &id);
    assert_eq!(status["status"], "completed", "{status}");
    let facts = &status["brief"]["facts"];
    assert_eq!((facts.as_array().map(Vec::len), &facts[0]["text"]), (Some(1), &json!("mugs")), "{status}");
    assert_eq!(facts[0]["span"], json!({ "start": 4, "end": 8 }));
    let asked = peer.asked();
    assert_eq!(asked[0].schema().0, "make_brief");
    assert!(
        asked[1].last_turn().contains("\"kind\":\"product\""),
        "the brief is a part of the request: {}",
        asked[1].last_turn()
    );
}

#[test]
fn a_failed_brief_follows_the_setting() {
    for (on_failure, expected) in [(OnFailure::Fail, "failed"), (OnFailure::Composer, "completed")] {
        let peer = FakeModel::briefing(|call| match call.schema().0 {
            "make_brief" => Reaction::Refuse("I will not.".into()),
            _ => email(|_| {}),
        });
        let app = with_models(&peer, |settings| settings.language_model.on_failure = on_failure);
        let id = generate(&app, hello());
        work(&app);
        let status = status(&app, &id);
        assert_eq!(status["status"], expected, "{status}");
        assert_eq!(status["brief"].is_object(), on_failure == OnFailure::Composer, "rules make the brief instead");
    }
}

/// Regression test: the endpoint parsed every prompt with rules, even if a language model was configured.
#[test]
fn the_default_model_reads_a_prompt_and_its_usage_counts() {
    // This model reads the last sentence as an instruction. The rules would read it as a statement to print.
    let prompt = "We are closed on 24 December. Kilns are warm things.";
    let peer = FakeModel::briefing(|_| Reaction::Text(reading("We are closed on 24 December.", "Kilns are warm things.")));
    let app = with_models(&peer, |settings| settings.language_model.default = Some("peer".into()));
    let read = |model: Option<&str>| {
        let brief = app.post_in("/v1/projects/emails/brief", json!({ "prompt": prompt, "languages": ["en"], "model": model }));
        let brief = brief.data();
        (brief["facts"].as_array().map_or(0, Vec::len), brief["instructions"].clone())
    };
    let noted = json!([{ "text": "Kilns are warm things.", "span": { "start": 30, "end": 52 } }]);
    assert_eq!(read(None), (1, noted));
    assert_eq!(peer.asked().len(), 1);
    let usage = app.get("/v1/metrics/models").data()["months"][0]["usage"][0].clone();
    assert_eq!((&usage["model"], &usage["calls"]), (&json!("peer"), &json!(1)), "{usage}");
    assert!(read(Some("composer")).0 > 1);
    assert!(peer.asked().is_empty());
    let unknown = app.post_in("/v1/projects/emails/brief", json!({ "prompt": prompt, "model": "third" }));
    assert_eq!(unknown.refusal().1, "MODEL_NOT_CONFIGURED");
    // The quotes in the model's response are checked against the prompt, so the same response to another prompt yields no facts.
    let other = app.post_in("/v1/projects/emails/brief", json!({ "prompt": "Black Friday" })).data();
    assert_eq!(other["facts"], json!([]), "{other}");
}

#[test]
fn the_rules_read_a_prompt_in_place_of_a_failed_model_if_the_settings_say_so() {
    for (on_failure, is_read) in [(OnFailure::Fail, false), (OnFailure::Composer, true)] {
        let peer = FakeModel::briefing(|_| Reaction::Refuse("I will not.".into()));
        let app = with_models(&peer, |settings| {
            settings.language_model.default = Some("peer".into());
            settings.language_model.on_failure = on_failure;
        });
        let answer = app.post_in("/v1/projects/emails/brief", json!({ "prompt": "20% off with LOFT20" }));
        if is_read {
            assert_eq!(answer.data()["purpose"], "sale");
        } else {
            let (status, code, _) = answer.refusal();
            assert_eq!((status, code), (409, "MODEL_FAILED"), "{answer:?}");
        }
    }
}

#[test]
fn the_monthly_limit_stops_the_reading_of_a_prompt() {
    let peer = FakeModel::briefing(|_| Reaction::Text(String::new()));
    let app = with_models(&peer, |settings| {
        settings.language_model.default = Some("peer".into());
        settings.models.get_mut("peer").expect("the model exists").output_price = 1_000.0;
        settings.language_model.monthly_cost_max = Cap::new(Some(5));
    });
    let refused = app.post_in("/v1/projects/emails/brief", json!({ "prompt": "Black Friday" }));
    assert!(refused.refusal().2.contains("The monthly limit for language models"), "{refused:?}");
    assert!(peer.asked().is_empty(), "no request is sent");
}

/// Regression test: saving a preview ran the edit again, so a language model could write an email that differed from the preview.
#[test]
fn a_saved_preview_is_the_previewed_email_and_runs_no_model_again() {
    let mut count = 0;
    let peer = FakeModel::by(move |call| match call.schema().0 {
        "edit_email" => {
            count += 1;
            let change =
                json!({ "op": "set", "path": "subject", "value": format!("Hello {}", ["one", "two", "three"][count - 1]) });
            Reaction::Text(json!({ "summary": "The subject is new.", "changes": [change] }).to_string())
        }
        _ => email(|_| {}),
    });
    let app = with_models(&peer, |settings| settings.language_model.default = Some("peer".into()));
    let id = generate(&app, hello());
    work(&app);
    let path = format!("/v1/emails/{}", first_email(&status(&app, &id))["id"].as_str().expect("the field is a string"));
    let preview = || app.post(&format!("{path}/edit"), json!({ "prompt": "a new subject", "preview": true })).data();
    let save = |preview: &Value| {
        let id = preview["previewId"].as_str().expect("a preview has an ID");
        app.post(&format!("{path}/edits/{id}/save"), json!({ "label": "New subject" }))
    };
    let (first, second) = (preview(), preview());
    peer.asked();
    assert_eq!((&first["subject"], &second["subject"]), (&json!("Hello one"), &json!("Hello two")));
    let gone = save(&first);
    assert!(gone.refusal().1 == "EDIT_FAILED" && gone.refusal().2.contains("Preview the edit again"), "{gone:?}");
    let saved = save(&second).data();
    assert_eq!((&saved["version"], &saved["subject"], &saved["html"]), (&json!(2), &second["subject"], &second["html"]));
    assert_eq!(app.get(&path).data()["document"], second["document"]);
    assert!(peer.asked().is_empty(), "the edit is not run again");
    let version = app.get(&format!("{path}/versions")).data()["versions"][0].clone();
    assert_eq!((&version["origin"], &version["prompt"]), (&json!("edited"), &json!("a new subject")));
    assert_eq!(version["label"], "New subject");
    let edit = app.get(&format!("{path}/edits/{}", second["previewId"].as_str().expect("an ID"))).data();
    assert_eq!((&edit["status"], &edit["done"]), (&json!("completed"), &second["done"]));
    assert_eq!(save(&second).refusal().1, "EDIT_FAILED", "a preview is saved once");
    // Saving a preview of an earlier version would undo later changes, so it is rejected.
    let third = preview();
    app.patch(&format!("{path}/document"), json!({ "operations": [{ "op": "set", "path": "preheader", "value": "New" }] }))
        .data();
    assert_eq!(save(&third).refusal().1, "VERSION_CONFLICT");
}

/// Returns a model's response: a brief with one statement and one instruction.
fn reading(statement: &str, instruction: &str) -> String {
    let fact = json!({ "kind": "sentence", "role": null, "quote": statement, "sentence": null, "value": null, "story": null });
    json!({
        "purpose": "closing", "audience": null, "subject": null, "preheader": null, "headline": null, "facts": [fact],
        "stories": [], "offer": null, "event": null, "cta": null, "signature": null, "tone": [], "constraints": [],
        "instructions": [instruction], "unclear": [],
    })
    .to_string()
}
