//! Tests for the problems that block sending a campaign, and for the estimated number of recipients before, during and after planning.

use super::*;

#[test]
fn an_archived_campaign_cannot_be_sent_or_scheduled_and_does_not_start() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    let path = studio.draft();
    studio.act(&path, "archive").data();
    let at = json!({ "scheduledAt": "2026-02-01T09:00Z" });
    for (action, body) in [("send", json!({})), ("schedule", at.clone())] {
        let (status, code, error) = refused(studio.app.post(&format!("{path}/{action}"), body));
        assert_eq!((status, code.as_str()), (409, "WRONG_STATE"), "{action}");
        assert!(error.contains("archived") && error.contains("Unarchive"), "{action}: {error}");
    }
    let outlook = studio.app.get(&format!("{path}/dry-run")).data();
    assert!(outlook["ready"] == false && warnings(&outlook).contains(&("WRONG_STATE", true)), "{outlook}");
    assert_eq!(studio.status(&path), "draft");
    studio.act(&path, "unarchive").data();

    studio.app.post(&format!("{path}/schedule"), at).data();
    studio.act(&path, "archive").data();
    studio.app.clock.advance_ms(40 * 24 * HOUR_MS);
    studio.work();
    let held = studio.app.get(&path).data();
    assert_eq!((&held["status"], &held["batchId"]), (&json!("pending_review"), &Value::Null), "{held}");
    assert!(held["error"].as_str().is_some_and(|error| error.contains("archived")), "{held}");
    studio.act(&path, "unarchive").data();
    studio.act(&path, "send").data();
    assert_eq!(studio.status(&path), "sending");
}

#[test]
fn estimated_recipients_are_right_before_during_and_after_planning() {
    let studio = Studio::new();
    for name in ["ada", "bob", "cyd"] {
        studio.contact(&format!("{name}@example.com"), json!({ "firstName": name }));
    }
    studio.contact("gone@example.com", json!({ "status": "unsubscribed" }));
    let path = studio.draft();
    let estimated = || studio.app.get(&path).data()["estimatedRecipients"].clone();
    assert_eq!(estimated(), 3);
    assert_eq!(studio.act(&path, "send").data()["estimatedRecipients"], 3, "no recipient is planned yet");
    let mut steps = vec![estimated()];
    while studio.app.wait(sending::plan(studio.app.engine(), Environment::Test)).expect("planning succeeds") {
        steps.push(estimated());
    }
    assert_eq!(steps, vec![json!(3); steps.len()]);
    assert!(steps.len() > 1, "planning takes steps");
    assert_eq!(studio.app.get(&path).data()["skipped"], 1);
}

#[test]
fn a_campaign_accepts_an_email_alone_or_one_of_its_conversation() {
    let studio = Studio::with_emails(&["First", "Second"]);
    let first = studio.made(|_| {});
    assert_eq!((&first["subject"], &first["emailId"]), (&json!("First"), &json!(studio.emails[0])));
    let warning = &first["warnings"][0];
    assert_eq!(warning["code"], "FIRST_EMAIL_OF_SERIES", "{first}");
    assert!(warning["message"].as_str().is_some_and(|text| text.contains("2 emails") && text.contains("emailId")), "{warning}");
    assert_eq!(studio.app.get(&path(&first)).data().get("warnings"), None, "it concerns the choice alone");
    let second = studio.made(|wanted| wanted["emailId"] = json!(studio.emails[1]));
    assert_eq!((&second["subject"], second.get("warnings")), (&json!("Second"), None));
    let changed = studio.app.patch(&path(&second), json!({ "conversationId": studio.conversation })).data();
    assert_eq!((&changed["subject"], &changed["warnings"][0]["code"]), (&json!("First"), &json!("FIRST_EMAIL_OF_SERIES")));
}

// Regression test: because of the deleted topic, even a change that did not contain the topic was refused.
#[test]
fn a_draft_whose_topic_was_deleted_can_be_changed_but_not_sent() {
    let studio = Studio::new();
    let topic = studio.app.post_in("/v1/topics", json!({ "name": "News" })).data()["id"].clone();
    let path = path(&studio.made(|wanted| wanted["topicId"] = topic.clone()));
    studio.app.delete_in(&format!("/v1/topics/{}", topic.as_str().expect("the field is a string"))).data();
    assert_eq!(studio.app.patch_in(&path, json!({ "name": "Spring teas" })).data()["name"], "Spring teas");
    assert_eq!(refused(studio.app.patch_in(&path, json!({ "topicId": "66f1a2b3c4d5e6f70819202a" }))).0, 404);
    assert_eq!(refused(studio.act(&path, "send")).0, 404);
    studio.app.patch_in(&path, json!({ "topicId": null })).data();
    assert_eq!(studio.act(&path, "send").data()["status"], "sending");
}
