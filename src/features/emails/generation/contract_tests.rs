//! Tests with a language model that breaks the contract on purpose. Each bad response is returned to the model with its findings and is
//! finally rejected.

use serde_json::{Value, json};

use super::tests::{generate, status, with_model, work};
use crate::features::emails::document::Email as Document;
use crate::testing::fake_model::{FakeModel, ModelCall, Reaction};
use crate::vocab::limits;

const PROMPT: &str =
    "20% off all mugs with the code MUGS20 until 30 November 2026. Orders over £40 only. Keep it short and a bit dry, please.";

/// Returns a response that complies with the contract until `spoil` changes it.
fn email(spoil: impl FnOnce(&mut Value)) -> Value {
    let mut json = json!({
        "version": 1, "language": "en", "direction": "ltr", "purpose": "sale", "style": {},
        "subject": "20% off all mugs until 30 November", "preheader": "On orders over £40, with the code MUGS20.",
        "blocks": [
            { "type": "header", "id": "header", "name": "Acme" },
            { "type": "hero", "id": "hero", "title": "20% off all mugs", "text": "The offer ends on 30 November 2026.",
              "button": { "label": "Choose your mug", "href": "https://acme.example/" } },
            { "type": "coupon", "id": "code", "title": "20% off", "code": "MUGS20", "text": "Orders over £40 only." },
            { "type": "footer", "id": "footer", "sender": "Acme", "unsubscribe": "Unsubscribe" },
        ],
    });
    spoil(&mut json);
    // Only the contract may reject the response, so the document itself must be valid.
    Document::from_json(&json).expect("the document is valid").to_json()
}

/// A change that breaks the contract, and words that the expected finding contains.
type Breach = (fn(&mut Value), &'static str);

fn breaches() -> [Breach; 5] {
    [
        (|email| email["blocks"][2]["text"] = json!("For everyone."), "£40"),
        (
            |email| email["blocks"][1]["text"] = json!("The offer ends on 30 November 2026, and starts again on 4 December."),
            "4 december",
        ),
        (
            |email| email["blocks"][1]["text"] = json!("The offer ends on 30 November 2026. Keep it short and a bit dry."),
            "an instruction",
        ),
        (|email| email["subject"] = json!("20% off all mugs until the"), "is cut off"),
        (|email| email["blocks"][1]["text"] = json!("The offer ends on 30 November 2026. Save £15."), "£15"),
    ]
}

fn ask() -> Value {
    json!({ "prompt": PROMPT, "languages": ["en"], "count": 1, "webMode": false })
}

#[test]
fn each_breach_goes_back_to_the_model_with_its_finding() {
    for (spoil, words) in breaches() {
        let peer = FakeModel::with(vec![Reaction::Text(email(spoil).to_string()), Reaction::Text(email(|_| {}).to_string())]);
        let app = with_model(&peer);
        let id = generate(&app, ask());
        work(&app);
        let status = status(&app, &id);
        assert_eq!(status["status"], "completed", "{words}: {status}");
        let asked: Vec<ModelCall> = peer.asked();
        let steps: Vec<&str> = asked.iter().map(|call| call.schema().0).collect();
        assert_eq!(steps, ["outline_email", "write_blocks", "repair_email"], "{words}");
        assert!(asked[2].last_turn().contains(words), "{words}: {}", asked[2].last_turn());
        let written = &status["result"]["emails"][0];
        let kinds: Vec<&Value> = written["warnings"].as_array().expect("a list").iter().map(|warning| &warning["kind"]).collect();
        assert!(kinds.iter().all(|kind| **kind == "note"), "{written}");
        let facts = status["brief"]["facts"].as_array().expect("a list");
        assert!(facts.iter().any(|fact| fact["kind"] == "percentage"), "{status}");
    }
}

#[test]
fn a_model_that_repeats_its_breach_is_rejected() {
    for (spoil, words) in breaches() {
        let peer = FakeModel::with(vec![Reaction::Text(email(spoil).to_string())]);
        let app = with_model(&peer);
        let id = generate(&app, ask());
        work(&app);
        let status = status(&app, &id);
        assert_eq!(status["status"], "failed", "{words}: {status}");
        assert!(status["error"].as_str().is_some_and(|error| error.contains(words)), "{words}: {status}");
        assert_eq!(peer.asked().len(), 2 + limits::LANGUAGE_MODEL_CORRECTIONS_MAX);
    }
}

#[test]
fn an_edit_by_the_model_invents_nothing() {
    let change = |text: &str| {
        let change = json!({ "op": "set", "path": "blocks.hero.text", "value": text });
        Reaction::Text(json!({ "summary": "The text is friendlier.", "changes": [change] }).to_string())
    };
    let peer = FakeModel::with(vec![
        Reaction::Text(email(|_| {}).to_string()),
        change("Lovely mugs until 30 November 2026, and 50% off bowls."),
        change("Lovely mugs, only until 30 November 2026."),
        change("Lovely mugs, and 50% off bowls."),
    ]);
    let app = with_model(&peer);
    let id = generate(&app, ask());
    work(&app);
    let path = format!("/v1/emails/{}", status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("an ID"));
    let edit = |prompt: &str| {
        let started = app.post(&format!("{path}/edit"), json!({ "prompt": prompt, "async": true })).data();
        work(&app);
        app.get(&format!("{path}/edits/{}", started["editId"].as_str().expect("an ID"))).data()
    };
    let done = edit("friendlier");
    assert_eq!(done["status"], "completed", "{done}");
    let asked = peer.asked();
    assert!(asked.last().expect("a request").last_turn().contains("50%"), "the finding goes back");
    let refused = edit("friendlier still");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("50%")), "{refused}");
}

#[test]
fn an_email_can_be_generated_from_a_brief_alone() {
    let app = crate::testing::TestApp::new();
    let brief = app.post_in("/v1/projects/emails/brief", json!({ "prompt": PROMPT, "languages": ["en"] })).data();
    let mut own = brief.clone();
    let facts = own["facts"].as_array_mut().expect("a list");
    facts.iter_mut().for_each(|fact| {
        fact.as_object_mut().expect("an object").remove("span");
    });
    let id = generate(&app, json!({ "brief": own, "languages": ["en"], "count": 1 }));
    work(&app);
    let status = status(&app, &id);
    assert_eq!((&status["status"], &status["prompt"]), (&json!("completed"), &json!("")), "{status}");
    assert_eq!(status["brief"]["facts"], own["facts"]);
    let neither = app.post_in("/v1/projects/emails/generate", json!({ "languages": ["en"] }));
    assert!(neither.refusal().2.contains("prompt"), "{neither:?}");
}

/// Regression test: a restored version kept the brief of a later edit, so the next edit was checked against text that the email no longer
/// contained.
#[test]
fn a_restored_version_has_its_own_brief() {
    let app = crate::testing::TestApp::new();
    let mut brief = app.post_in("/v1/projects/emails/brief", json!({ "prompt": PROMPT, "languages": ["en"] })).data();
    for fact in brief["facts"].as_array_mut().expect("a list") {
        fact.as_object_mut().expect("an object").remove("span");
    }
    brief["subject"] = json!({ "text": "Mugs for you" });
    let id = generate(&app, json!({ "brief": brief, "languages": ["en"], "count": 1 }));
    work(&app);
    let path = format!("/v1/emails/{}", status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("an ID"));
    let subject = || app.get(&path).data()["brief"]["subject"]["text"].clone();
    assert_eq!(subject(), "Mugs for you");
    app.post(&format!("{path}/edit"), json!({ "prompt": "Change the subject to \"Good to see you\"", "async": true })).data();
    work(&app);
    assert_eq!(subject(), "Good to see you");
    for (version, own) in [(1, "Mugs for you"), (2, "Good to see you"), (3, "Mugs for you")] {
        app.post(&format!("{path}/versions/{version}/restore"), json!({})).data();
        assert_eq!(subject(), own, "version {version}");
    }
}

/// Regression test: if all emails in a series lacked a fact of their shared brief, there was no warning.
#[test]
fn a_fact_that_no_email_of_a_series_contains_is_reported_once() {
    let plan = json!({ "title": "Mugs", "emails": [
        { "purpose": "Announce the sale", "sendOffsetDays": 0 }, { "purpose": "Remind of the sale", "sendOffsetDays": 3 },
    ] });
    let peer = FakeModel::by(move |call| match call.schema().0 {
        "plan_emails" => Reaction::Text(plan.to_string()),
        _ => Reaction::Text(email(|json| json["blocks"][2]["text"] = json!("For everyone.")).to_string()),
    });
    let app = with_model(&peer);
    let id = generate(&app, json!({ "prompt": PROMPT, "languages": ["en"], "webMode": false }));
    work(&app);
    let status = status(&app, &id);
    assert_eq!(status["status"], "completed", "{status}");
    let lost = |at: usize| {
        let warnings = status["result"]["emails"][at]["warnings"].as_array().expect("a list").iter();
        warnings.filter(|warning| warning["kind"] == "fact_missing").map(Value::to_string).collect::<Vec<_>>()
    };
    assert!(lost(0).iter().any(|warning| warning.contains("£40")), "{status}");
    assert_eq!(lost(1), <[String; 0]>::default());
    // A direct change, which has no prompt, keeps the warning about the missing fact.
    let path = format!("/v1/emails/{}/document", status["result"]["emails"][0]["id"].as_str().expect("an ID"));
    let operations = json!([{ "op": "set", "path": "preheader", "value": "With the code MUGS20." }]);
    let saved = app.patch(&path, json!({ "operations": operations })).data();
    assert!(saved["warnings"].to_string().contains("£40"), "{saved}");
}

/// Regression test: after a change, a value from the prompt of an earlier edit was reported as invented.
#[test]
fn the_values_of_earlier_edits_are_known() {
    let app = crate::testing::TestApp::new();
    let id = generate(&app, json!({ "prompt": PROMPT, "languages": ["en"], "count": 1 }));
    work(&app);
    let path = format!("/v1/emails/{}", status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("an ID"));
    let edit = json!({ "prompt": "Change the subject to \"New mugs on 7 December\"", "async": true });
    app.post(&format!("{path}/edit"), edit).data();
    work(&app);
    let operations = json!([{ "op": "set", "path": "preheader", "value": "See you soon." }]);
    let saved = app.patch(&format!("{path}/document"), json!({ "operations": operations })).data();
    assert_eq!((&saved["subject"], &saved["preheader"]), (&json!("New mugs on 7 December"), &json!("See you soon.")));
    assert!(!saved["warnings"].to_string().contains("not_in_brief"), "{}", saved["warnings"]);
}

/// Regression test: an email from a language model was saved with a word that the brand avoids, although neither the prompt nor the brand's
/// text contained the word.
#[test]
fn a_word_that_the_brand_avoids_goes_back_to_the_model() {
    let spoiled = email(|email| email["blocks"][1]["text"] = json!("The offer ends on 30 November 2026. A real bargain."));
    let peer = FakeModel::with(vec![Reaction::Text(spoiled.to_string()), Reaction::Text(email(|_| {}).to_string())]);
    let app = with_model(&peer);
    app.patch(&format!("/v1/projects/{}", app.project), json!({ "voice": { "avoid": ["bargain", "mugs"] } })).data();
    let id = generate(&app, ask());
    work(&app);
    let status = status(&app, &id);
    assert_eq!(status["status"], "completed", "the prompt itself contains \"mugs\": {status}");
    let asked: Vec<ModelCall> = peer.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[2].last_turn().contains("bargain"), "{}", asked[2].last_turn());
}

/// Regression test: an edit by a language model could not report the parts of the instruction that it skipped, and removed facts
/// without reporting them.
#[test]
fn an_edit_by_the_model_names_what_it_skips_and_what_it_removes() {
    let change = json!({ "op": "remove", "id": "code" });
    let patch = |drops: bool| {
        let skipped = ["An email cannot play music."];
        let patch =
            json!({ "summary": "The coupon is gone.", "skipped": skipped, "drops_facts": drops, "changes": [change.clone()] });
        Reaction::Text(patch.to_string())
    };
    let peer = FakeModel::with(vec![Reaction::Text(email(|_| {}).to_string()), patch(false), patch(true)]);
    let app = with_model(&peer);
    let id = generate(&app, ask());
    work(&app);
    let path = format!("/v1/emails/{}", status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("an ID"));
    let started =
        app.post(&format!("{path}/edit"), json!({ "prompt": "Remove the coupon, and play music", "async": true })).data();
    work(&app);
    let edit = app.get(&format!("{path}/edits/{}", started["editId"].as_str().expect("an ID"))).data();
    let asked = peer.asked();
    let told = asked.last().expect("a request").last_turn();
    assert!(told.contains("MUGS20") && told.contains("drops_facts"), "a removed fact goes back to the model once: {told}");
    assert_eq!(edit["notDone"], json!(["An email cannot play music."]), "{edit}");
    assert_eq!(edit["done"][0], "The coupon is gone.");
    assert!(
        edit["done"][1].as_str().is_some_and(|lost| lost.contains("no longer contains") && lost.contains("MUGS20")),
        "{edit}"
    );
}
