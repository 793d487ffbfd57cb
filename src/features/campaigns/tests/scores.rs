//! Tests of the minimum score: what it blocks, and what the error states.

use super::*;
use crate::features::emails::checking;

impl Studio {
    fn checked(&self) -> Value {
        self.app.post(&format!("/v1/emails/{}/checks", self.emails[0]), json!({})).data()
    }
}

#[test]
fn a_score_below_the_minimum_blocks_sending_and_names_the_worst_findings() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    let score = studio.checked()["scores"]["overall"].as_u64().expect("the email has a score");
    assert!((30..100).contains(&score), "the email has no unsubscribe link: {score}");
    let path = path(&studio.made(|wanted| wanted["minimumScore"] = json!(score + 1)));
    for (action, body) in [("send", json!({})), ("schedule", json!({ "scheduledAt": "2026-01-01T09:00Z" }))] {
        let answer = studio.app.post(&format!("{path}/{action}"), body);
        let data = answer.body["data"].clone();
        let (status, code, error) = refused(answer);
        assert_eq!((status, code.as_str()), (409, "NOT_VALIDATED"));
        assert!(error.contains(&format!("score is {score}")) && error.contains("Worst findings: "), "{error}");
        assert_eq!(
            (&data["score"], &data["minimumScore"], &data["emailId"]),
            (&json!(score), &json!(score + 1), &json!(studio.emails[0]))
        );
        let findings = data["findings"].as_array().expect("a list");
        assert!(
            (1..=3).contains(&findings.len())
                && error.contains(findings[0]["message"].as_str().expect("text").trim_end_matches('.')),
            "{data}"
        );
    }
    let outlook = studio.app.get(&format!("{path}/dry-run")).data();
    assert!(outlook["ready"] == false && warnings(&outlook).contains(&("NOT_VALIDATED", true)), "{outlook}");
    assert_eq!((&outlook["checks"][0]["scores"]["overall"], &outlook["checks"][0]["language"]), (&json!(score), &json!("en")));
    assert!(outlook["checks"][0]["worstFindings"].as_array().is_some_and(|found| (1..=3).contains(&found.len())), "{outlook}");

    studio.app.patch_in(&path, json!({ "minimumScore": score })).data();
    studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-01-01T09:00Z" })).data();
    assert_eq!(refused(studio.app.patch_in(&path, json!({ "minimumScore": 100 }))).1, "NOT_VALIDATED");
    assert_eq!(studio.act(&path, "send").data()["status"], "sending");
}

/// Regression test: a campaign's own subject, which replaces the email's checked subject, was not checked.
#[test]
fn the_campaigns_own_subject_counts() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    let score = studio.checked()["scores"]["overall"].as_u64().expect("the email has a score");
    let path = path(&studio.made(|wanted| {
        wanted["minimumScore"] = json!(score);
        wanted["subject"] = json!("YOU HAVE WON A FREE PRIZE!!!");
    }));
    let outlook = studio.app.get(&format!("{path}/dry-run")).data();
    let checks = &outlook["checks"][0];
    assert!(checks["scores"]["overall"].as_u64().is_some_and(|lower| lower < score), "{checks}");
    assert_eq!(refused(studio.app.post(&format!("{path}/send"), json!({}))).1, "NOT_VALIDATED");
    studio.app.patch_in(&path, json!({ "subject": null })).data();
    assert_eq!(studio.act(&path, "send").data()["status"], "sending");
}

#[test]
fn mistakes_in_the_campaigns_own_subject_and_preheader_count() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    let checks = studio.checked();
    let score = |checks: &Value| checks["scores"]["overall"].as_u64().expect("the email has a score");
    let path = path(&studio.made(|wanted| {
        wanted["minimumScore"] = json!(score(&checks));
        wanted["subject"] = json!("Hello {{ firstName }}, you will recieve our garden news");
        wanted["preheaderText"] = json!("Its time to plan your beds for the spring");
    }));
    let outlook = || studio.app.get(&format!("{path}/dry-run")).data()["checks"][0].clone();
    let names = |checks: &Value, start: &str| {
        let found = checks["worstFindings"].as_array().expect("a list");
        found.iter().any(|one| one["message"].as_str().is_some_and(|message| message.starts_with(start)))
    };
    let both = outlook();
    assert!(names(&both, "In the campaign's subject: “recieve” is misspelled."), "{both}");
    assert!(names(&both, "In the campaign's preheader: “Its” does not fit"), "{both}");
    assert_eq!(refused(studio.app.post(&format!("{path}/send"), json!({}))).1, "NOT_VALIDATED");
    studio.app.patch_in(&path, json!({ "subject": "Hello {{ firstName }}, you will receive our garden news" })).data();
    let one = outlook();
    assert!(score(&both) < score(&one) && score(&one) < score(&checks), "{one}");
    studio.app.patch_in(&path, json!({ "preheaderText": "It's time to plan your beds for the spring" })).data();
    assert_eq!(studio.act(&path, "send").data()["status"], "sending");
}

#[test]
fn a_campaign_without_a_minimum_score_is_never_blocked() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    let path = studio.draft();
    assert_eq!(studio.act(&path, "send").data()["status"], "sending");
}

#[test]
fn a_due_campaign_waits_for_the_score_of_a_new_version_and_is_held_if_the_score_is_too_low() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    let score = studio.checked()["scores"]["overall"].as_u64().expect("the email has a score");
    let path = path(&studio.made(|wanted| wanted["minimumScore"] = json!(score)));
    studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-01-01T09:00Z" })).data();
    // The new version is worse, and it has no score yet.
    let account = studio.app.account();
    let id = crate::vocab::ids::EmailId::parse(&studio.emails[0]).expect("the ID is valid");
    checking::tests::replace_html(&studio.app, account, id, "<html><body><img src=\"\"><p>Viagra!!!</p></body></html>");
    studio.app.clock.advance_ms(9 * HOUR_MS);
    studio.work();
    assert_eq!(studio.status(&path), "scheduled", "the campaign waits for the checks");
    while studio.app.wait(checking::step(studio.app.engine().clone(), Environment::Test)).expect("the checks succeed") {}
    studio.app.clock.advance_ms(limits::CAMPAIGN_EDIT_CHECK_MS);
    studio.work();
    let held = studio.app.get(&path).data();
    assert_eq!(held["status"], "pending_review", "{held}");
    assert!(held["error"].as_str().is_some_and(|error| error.contains("score is")), "{held}");
}
