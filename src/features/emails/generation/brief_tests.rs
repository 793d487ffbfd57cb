//! Tests that an email follows its brief and its brand, from the request to the stored email and its later changes.

use serde_json::{Value, json};

use super::tests::{generate, status, work};
use crate::features::projects;
use crate::testing::TestApp;
use crate::vocab::environment::Environment;

const PROMPT: &str = "20% off all mugs until Sunday with MUGS20. Keep it short. Sign as Ada.";

/// Regression test: after users corrected a fact in the brief, the email still contained the old value, alone or next to the new value.
#[test]
fn a_corrected_brief_is_what_the_email_says() {
    let app = TestApp::new();
    let written = |correct: &dyn Fn(&mut Value)| {
        let mut brief = app.post_in("/v1/projects/emails/brief", json!({ "prompt": PROMPT })).data();
        let facts = brief["facts"].as_array_mut().expect("the brief has facts");
        facts.iter_mut().for_each(correct);
        let id = generate(&app, json!({ "prompt": PROMPT, "brief": brief, "languages": ["en"], "count": 1 }));
        work(&app);
        let email = status(&app, &id)["result"]["emails"][0].clone();
        format!("{} {}", email["subject"], email["text"])
    };
    let text = written(&|fact| {
        if fact["kind"] == "percentage" {
            fact["text"] = "25%".into();
            fact["value"] = Value::Null;
        }
    });
    assert!(text.contains("25%") && !text.contains("20%"), "{text}");
    let text = written(&|fact| {
        if fact["kind"] == "code" {
            fact["text"] = "MUGS25".into();
        }
    });
    assert!(text.contains("MUGS25") && !text.contains("MUGS20"), "{text}");
}

/// Regression test: "20% off all mugs" became "20 % Rabatt" in German, without a warning about the missing scope.
#[test]
fn what_an_offer_applies_to_is_translated_or_reported_with_its_place() {
    let app = TestApp::new();
    let id = generate(&app, json!({ "prompt": PROMPT, "languages": ["en", "de"], "count": 1 }));
    work(&app);
    let emails = status(&app, &id)["result"]["emails"].clone();
    let lost = |at: usize| {
        let warnings = emails[at]["warnings"].as_array().into_iter().flatten();
        let lost = warnings.filter(|warning| warning["kind"] == "not_translated");
        lost.map(|warning| (warning["text"].clone(), warning["span"].clone())).collect::<Vec<_>>()
    };
    assert_eq!((lost(0), lost(1)), (vec![], vec![(json!("all mugs"), json!({ "start": 8, "end": 16 }))]), "{emails}");
}

/// Regression test: a user changed the code of a coupon to one that is not in the brief, and the email was saved without a warning.
#[test]
fn a_direct_change_that_the_brief_does_not_say_is_saved_with_a_warning() {
    let app = TestApp::new();
    let prompt = "10% off the first order with HELLO10";
    let id = generate(&app, json!({ "prompt": prompt, "languages": ["en"], "count": 1 }));
    work(&app);
    let email = status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("the email has an ID").to_owned();
    let blocks = app.get(&format!("/v1/emails/{email}")).data()["document"]["blocks"].clone();
    let coupon = blocks.as_array().expect("a list").iter().find(|block| block["type"] == "coupon").expect("there is a coupon");
    let path = format!("blocks.{}.code", coupon["id"].as_str().expect("the block has an ID"));
    let operations = json!([{ "op": "set", "path": path, "value": "HELLO99" }]);
    let saved = app.patch(&format!("/v1/emails/{email}/document"), json!({ "operations": operations })).data();
    let kinds = |text: &str| {
        let all = saved["warnings"].as_array().expect("a list").iter();
        all.filter(|warning| warning["text"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(text)))
            .map(|warning| warning["kind"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(saved["version"], 2);
    assert!(kinds("HELLO99").contains(&json!("not_in_brief")), "{}", saved["warnings"]);
    assert!(kinds("HELLO10").contains(&json!("fact_missing")), "{}", saved["warnings"]);
}

/// Regression test: a warning about a value that is not in the brief offered no way to remove the value or to add it to the brief.
#[test]
fn a_value_that_the_brief_does_not_say_is_added_to_the_brief_or_removed() {
    let app = TestApp::new();
    let id = generate(&app, json!({ "prompt": "10% off the first order with HELLO10", "languages": ["en"], "count": 1 }));
    work(&app);
    let path = format!("/v1/emails/{}", status(&app, &id)["result"]["emails"][0]["id"].as_str().expect("an ID"));
    let first = app.get(&path).data()["document"]["blocks"][1]["id"].clone();
    let text = json!({ "type": "text", "id": "new", "text": "Hello there. Only £9 left. See you on 4 December." });
    let operations = json!([
        { "op": "set", "path": "preheader", "value": "Now 15% off." }, { "op": "insert", "after": first, "value": text },
    ]);
    let saved = app.patch(&format!("{path}/document"), json!({ "operations": operations })).data();
    let warning = |email: &Value, text: &str| {
        let all = email["warnings"].as_array().expect("a list").clone();
        all.into_iter().find(|warning| warning["kind"] == "not_in_brief" && warning["text"] == text)
    };
    let [price, rate, day] = ["£9", "15%", "4 december"].map(|text| warning(&saved, text).expect("a warning"));
    assert_eq!((&price["accept"], &rate["accept"]), (&json!("Only £9 left."), &json!("Now 15% off.")));
    assert!(rate["remove"].is_null(), "the preheader must not be empty: {rate}");
    for accepted in [&price, &rate] {
        app.post(&format!("{path}/brief"), json!({ "text": accepted["accept"] })).data();
    }
    let now = app.get(&path).data();
    assert!(warning(&now, "£9").is_none() && warning(&now, "15%").is_none(), "{}", now["warnings"]);
    assert!(warning(&now, "4 december").is_some());
    assert_eq!(now["brief"]["preheader"]["text"], "Now 15% off.");
    let saved = app.patch(&format!("{path}/document"), json!({ "operations": [day["remove"]] })).data();
    let blocks = saved["document"]["blocks"].to_string();
    assert!(blocks.contains("Hello there. Only £9 left.") && !blocks.contains("4 December"), "{blocks}");
    assert!(!saved["warnings"].to_string().contains("not_in_brief"), "{}", saved["warnings"]);
    let imported = app.post("/v1/emails", json!({ "projectId": app.project })).data();
    let refused = app.post(&format!("/v1/emails/{}/brief", imported["id"].as_str().expect("an ID")), json!({ "text": "x" }));
    assert_eq!(refused.refusal().1, "WRONG_STATE");
}

/// Regression test: if the import of a brand had failed, its emails were signed with the address of its site.
#[test]
fn a_brand_whose_import_failed_is_refused_with_the_reason() {
    let app = TestApp::new();
    let waiting = generate(&app, json!({ "prompt": "Hello", "languages": ["en"] }));
    // The host of the site, acme.example, does not exist.
    let import = || app.wait(projects::worker::import_sites(app.engine().clone(), Environment::Test)).expect("the step succeeds");
    let is_over = || app.get(&format!("/v1/projects/import/{}/status", app.project)).data()["status"] == "error";
    assert!((0..100).any(|_| {
        import();
        is_over()
    }));
    let answer = app.post_in("/v1/projects/emails/generate", json!({ "prompt": "Hello" }));
    let (status_code, code, detail) = answer.refusal();
    assert_eq!((status_code, code), (409, "WRONG_STATE"));
    assert!(detail.contains("The import of the brand failed") && detail.contains("acme.example"), "{detail}");
    assert!(detail.contains("/retry imports it again"), "{detail}");
    // The generation that was waiting for the import fails because the import failed.
    work(&app);
    let failed = status(&app, &waiting);
    assert_eq!(failed["status"], "failed");
    assert!(failed.to_string().contains("The import of the brand failed"), "{failed}");
    // Values that users set are sufficient to write an email.
    app.patch(&format!("/v1/projects/{}", app.project), json!({ "name": "Acme Tea" })).data();
    app.post_in("/v1/projects/emails/generate", json!({ "prompt": "Hello" })).data();
}
