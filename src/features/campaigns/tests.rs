//! Tests of the API for campaigns and of their worker, with a clock that the tests control.

mod readiness;
mod retries;
mod scores;

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::*;
use crate::base::clock::Timestamp;
use crate::features::emails::generation;
use crate::features::sending::{self, Audience, Mailing, MailingKind, Policy, Sender, State, Tracking, WaitReason};
use crate::testing::TestApp;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::limits;

const HOUR_MS: i64 = 60 * 60 * 1000;

struct Studio {
    app: TestApp,
    conversation: String,
    emails: Vec<String>,
}

impl Studio {
    fn new() -> Self {
        Self::with_emails(&["Winter teas"])
    }

    fn with_emails(titles: &[&str]) -> Self {
        let app = TestApp::with(|settings| settings.mail.require_verified_domain = false);
        let source = |title: &&str| {
            let html = format!(
                "<html lang=\"en\"><head><title>{title}</title></head><body><h1>{title}</h1><p>Hello {{{{ firstName }}}}</p></body></html>"
            );
            json!({ "name": title, "source": html })
        };
        let htmls: Vec<Value> = titles.iter().map(source).collect();
        let generated = app.post_in("/v1/projects/emails/import-html", json!({ "htmls": htmls })).data();
        let conversation = generated["conversationId"].as_str().expect("the field is a string").to_owned();
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
        let status = app.get(&format!("/v1/projects/emails/{conversation}/status")).data();
        assert_eq!(status["status"], "completed", "{status}");
        let emails = status["result"]["emails"].as_array().expect("the field is a list").iter();
        let emails = emails.map(|email| email["id"].as_str().expect("the field is a string").to_owned()).collect();
        Self { app, conversation, emails }
    }

    fn wanted(&self) -> Value {
        json!({
            "name": "Winter teas", "conversationId": self.conversation, "from": "news@acme.example", "fromName": "Acme",
            "recipientType": "audience",
        })
    }

    fn made(&self, change: impl FnOnce(&mut Value)) -> Value {
        let mut wanted = self.wanted();
        change(&mut wanted);
        self.app.post_in("/v1/campaigns", wanted).data()
    }

    fn draft(&self) -> String {
        path(&self.made(|_| {}))
    }

    fn act(&self, path: &str, action: &str) -> crate::testing::TestResponse {
        self.app.post(&format!("{path}/{action}"), json!({}))
    }

    fn status(&self, path: &str) -> String {
        self.app.get(path).data()["status"].as_str().expect("the field is a string").to_owned()
    }

    fn work(&self) {
        self.app.wait(worker::step(self.app.engine().clone(), Environment::Test)).expect("the worker step succeeds");
    }

    fn contact(&self, email: &str, more: Value) {
        let mut contact = json!({ "email": email });
        for (name, value) in more.as_object().expect("the value is an object") {
            contact[name] = value.clone();
        }
        self.app.post_in("/v1/contacts", contact).data();
    }
}

fn path(campaign: &Value) -> String {
    format!("/v1/campaigns/{}", campaign["id"].as_str().expect("the field is a string"))
}

fn refused(answer: crate::testing::TestResponse) -> (u16, String, String) {
    let (status, code, error) = answer.refusal();
    (status, code.to_owned(), error.to_owned())
}

#[test]
fn a_new_campaign_is_a_draft_with_the_text_of_its_email() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({}));
    studio.contact("bob@example.com", json!({ "status": "unsubscribed" }));
    let made = studio.made(|wanted| wanted["variables"] = json!({ "offer": "20% off" }));
    for (field, value) in [
        ("status", json!("draft")),
        ("subject", json!("Winter teas")),
        ("emailId", json!(studio.emails[0])),
        ("recipientId", json!(studio.app.project)),
        ("estimatedRecipients", json!(1)),
        ("variables", json!({ "offer": "20% off" })),
        ("scheduledAt", Value::Null),
        ("batchId", Value::Null),
        ("archived", json!(false)),
        ("triggeredBy", json!("api")),
        ("unknown", json!("hold")),
    ] {
        assert_eq!(made[field], value, "{field}");
    }
    assert_eq!(studio.app.get(&path(&made)).data(), made);
    // If only the email is given, its conversation is used.
    let by_email = studio.made(|wanted| {
        wanted["emailId"] = json!(studio.emails[0]);
        wanted.as_object_mut().expect("the value is an object").remove("conversationId");
    });
    assert_eq!(by_email["conversationId"], json!(studio.conversation));
}

#[test]
fn invalid_campaigns_are_refused_with_the_field() {
    let studio = Studio::new();
    let nothing = "66f1a2b3d4e5f60718293a99";
    for (change, status, word) in [
        (json!({ "conversationId": nothing }), 404, "no generation with this ID"),
        (json!({ "emailId": nothing }), 404, "emailId"),
        (json!({ "recipientType": "segment" }), 400, "recipientId"),
        (json!({ "recipientType": "segment", "recipientId": nothing }), 404, "no segment"),
        (json!({ "recipientType": "tag", "recipientId": nothing }), 404, "no tag with this ID"),
        (json!({ "topicId": nothing }), 404, "no topic"),
        (json!({ "from": "news" }), 400, "from"),
        (json!({ "subject": "Hi {{ firstName" }), 400, "subject"),
        (json!({ "subject": "Hi {{ 7*7 }}" }), 400, "subject"),
        (json!({ "preheaderText": "{% for %}" }), 400, "preheaderText"),
        (json!({ "minimumScore": 101 }), 400, "minimumScore"),
        (json!({ "variables": { "a": { "b": { "c": { "d": { "e": 1 } } } } } }), 400, "variables"),
    ] {
        let mut wanted = studio.wanted();
        for (name, value) in change.as_object().expect("the value is an object") {
            wanted[name] = value.clone();
        }
        let (found, _, error) = refused(studio.app.post_in("/v1/campaigns", wanted));
        assert!(found == status && error.contains(word), "{change}: {found} {error}");
    }
    // An email in another project is not found.
    let mut wanted = studio.wanted();
    wanted["projectId"] = json!(studio.app.another_project());
    assert_eq!(refused(studio.app.post("/v1/campaigns", wanted)).0, 404);
}

#[test]
fn an_unfinished_email_is_refused_with_what_to_wait_for() {
    let studio = Studio::new();
    let generated = studio.app.post_in("/v1/projects/emails/generate", json!({ "prompt": "Welcome" })).data();
    let mut wanted = studio.wanted();
    wanted["conversationId"] = generated["conversationId"].clone();
    let (status, code, error) = refused(studio.app.post_in("/v1/campaigns", wanted));
    assert_eq!((status, code.as_str()), (409, "WRONG_STATE"));
    assert!(error.contains("/status"), "{error}");
}

#[test]
fn lists_are_newest_first_and_filter_by_state_name_and_archive() {
    let studio = Studio::new();
    let names = |query: &str| -> Vec<String> {
        let data = studio.app.get_in(&format!("/v1/campaigns{query}")).data();
        let campaigns = data["campaigns"].as_array().expect("the field is a list").clone();
        assert!(data["total"].as_u64().is_some_and(|total| total >= campaigns.len() as u64));
        campaigns.iter().map(|campaign| campaign["name"].as_str().expect("the field is a string").to_owned()).collect()
    };
    let mut paths = Vec::new();
    for name in ["First", "Second", "Third"] {
        studio.app.clock.advance_ms(1_000);
        paths.push(path(&studio.made(|wanted| wanted["name"] = json!(name))));
    }
    studio.act(&paths[0], "archive").data();
    studio.app.post(&format!("{}/schedule", paths[1]), json!({ "scheduledAt": "2026-02-01T09:00Z" })).data();
    assert_eq!(names(""), ["Third", "Second", "First"]);
    assert_eq!(names("?archived=false"), ["Third", "Second"]);
    assert_eq!(names("?archived=true"), ["First"]);
    assert_eq!(names("?status=scheduled"), ["Second"]);
    assert_eq!(names("?status=scheduled,draft&archived=false"), ["Third", "Second"]);
    assert_eq!(names("?search=SEC"), ["Second"]);
    assert_eq!(names("?limit=1&page=2"), ["Second"]);
    assert_eq!(names("?limit=2&offset=2"), ["First"]);
    let (status, _, error) = refused(studio.app.get_in("/v1/campaigns?status=lost"));
    assert!(status == 400 && error.contains("status"), "{error}");
}

#[test]
fn a_draft_can_be_updated_in_part_and_deleted() {
    let studio = Studio::new();
    let path = studio.draft();
    let change = |body: Value| studio.app.patch_in(&path, body).data();
    let after = change(json!({ "subject": "Hello {{ firstName }}", "replyTo": "desk@acme.example", "minimumScore": 80 }));
    assert_eq!(
        (&after["subject"], &after["replyTo"], &after["minimumScore"]),
        (&json!("Hello {{ firstName }}"), &json!("desk@acme.example"), &json!(80))
    );
    let after = change(json!({ "subject": null, "minimumScore": null, "name": "Teas" }));
    assert_eq!(
        (&after["subject"], &after["replyTo"], &after["name"]),
        (&json!("Winter teas"), &json!("desk@acme.example"), &json!("Teas"))
    );
    let (status, _, error) = refused(studio.app.patch_in(&path, json!({ "subject": "Hi {{ firstName" })));
    assert!(status == 400 && error.starts_with("subject: "), "{status} {error}");
    assert_eq!(studio.app.delete(&path).data()["deleted"], true);
    assert_eq!(refused(studio.app.get(&path)).0, 404);
    assert_eq!(studio.app.get_in("/v1/campaigns").data()["total"], 0);
}

#[test]
fn a_duplicate_is_a_draft_in_every_state_of_the_original() {
    let studio = Studio::new();
    let path = studio.draft();
    studio.act(&path, "send").data();
    let copy = studio.act(&path, "duplicate").data();
    assert_eq!((&copy["name"], &copy["status"], &copy["batchId"]), (&json!("Winter teas (copy)"), &json!("draft"), &Value::Null));
    let named = studio.app.post(&format!("{path}/duplicate"), json!({ "name": "Again" })).data();
    assert_eq!(named["name"], "Again");
}

#[test]
fn a_campaign_is_sent_once() {
    let studio = Studio::new();
    let path = studio.draft();
    let sent = studio.act(&path, "send").data();
    assert_eq!(sent["status"], "sending");
    assert!(sent["batchId"].is_string() && sent["sentAt"].is_string());
    for action in ["send", "schedule", "reschedule"] {
        let answer = studio.app.post(&format!("{path}/{action}"), json!({}));
        // A missing start time is reported before the campaign's status is checked.
        let expected = if action == "send" { (409, "WRONG_STATE") } else { (400, "INVALID_REQUEST") };
        assert_eq!((answer.refusal().0, answer.refusal().1), expected, "{action}");
    }
    let answer = studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-02-01T09:00Z" }));
    assert_eq!(refused(answer).0, 409);
    assert_eq!(refused(studio.app.patch_in(&path, json!({ "name": "Other" }))).0, 409);
    let (status, _, error) = refused(studio.app.delete(&path));
    assert!(status == 409 && error.contains("duplicate"), "{error}");
    assert_eq!(studio.act(&path, "send").body["data"]["status"], "sending");
}

#[test]
fn pause_resume_and_cancel_reach_the_mailing_and_are_idempotent() {
    let studio = Studio::new();
    let path = studio.draft();
    let sent = studio.act(&path, "send").data();
    let mailing = MailingId::parse(sent["batchId"].as_str().expect("the field is a string")).expect("the ID is valid");
    let state = || sending::by_id(&studio.app.read(), mailing).expect("the read succeeds").expect("the mailing exists").state;
    for _ in 0..2 {
        assert_eq!(studio.act(&path, "pause").data()["status"], "paused");
        assert_eq!(state(), State::Paused);
    }
    studio.work();
    assert_eq!(studio.status(&path), "paused");
    for _ in 0..2 {
        assert_eq!(studio.act(&path, "resume").data()["status"], "sending");
        assert!(!matches!(state(), State::Paused));
    }
    for _ in 0..2 {
        let cancelled = studio.act(&path, "cancel").data();
        assert_eq!(cancelled["status"], "cancelled");
        assert!(cancelled["completedAt"].is_string());
        assert!(matches!(state(), State::Cancelled { .. }));
        studio.app.clock.advance_ms(1_000);
    }
    assert_eq!(refused(studio.act(&path, "resume")).0, 409);
    assert_eq!(refused(studio.act(&path, "resend-unknown")).0, 409);
}

#[test]
fn a_draft_cannot_be_stopped_and_the_error_suggests_an_alternative() {
    let studio = Studio::new();
    let path = studio.draft();
    for (action, word) in [
        ("cancel", "delete"),
        ("pause", "send or schedule"),
        ("resume", "send or schedule"),
        ("resend-unknown", "send or schedule"),
    ] {
        let (status, code, error) = refused(studio.act(&path, action));
        assert!((status, code.as_str()) == (409, "WRONG_STATE") && error.contains(word), "{action}: {error}");
    }
    assert_eq!(studio.act(&path, "unschedule").data()["status"], "draft");
}

#[test]
fn every_state_can_be_archived_and_only_archived_campaigns_unarchived() {
    let studio = Studio::new();
    let path = studio.draft();
    assert_eq!(refused(studio.act(&path, "unarchive")).0, 409);
    let archived = studio.act(&path, "archive").data();
    assert_eq!((&archived["archived"], &archived["status"]), (&json!(true), &json!("draft")));
    studio.app.clock.advance_ms(5_000);
    assert_eq!(studio.act(&path, "archive").data()["archivedAt"], archived["archivedAt"]);
    let back = studio.act(&path, "unarchive").data();
    assert_eq!((&back["archived"], &back["archivedAt"]), (&json!(false), &Value::Null));
}

#[test]
fn a_scheduled_campaign_starts_once_when_due() {
    let studio = Studio::new();
    let path = studio.draft();
    let body = json!({ "scheduledAt": "2026-01-01T09:00", "scheduledTimezone": "Europe/Kiev" });
    let scheduled = studio.app.post(&format!("{path}/schedule"), body).data();
    assert_eq!((&scheduled["status"], &scheduled["scheduledAt"]), (&json!("scheduled"), &json!("2026-01-01T07:00:00.000Z")));
    assert_eq!((&scheduled["scheduledTimezone"], &scheduled["scheduleNotice"]), (&json!("Europe/Kiev"), &Value::Null));
    studio.app.clock.advance_ms(7 * HOUR_MS - 1);
    studio.work();
    assert_eq!(studio.status(&path), "scheduled");
    studio.app.clock.advance_ms(1);
    studio.work();
    let started = studio.app.get(&path).data();
    assert_eq!((&started["status"], &started["sentAt"]), (&json!("sending"), &json!("2026-01-01T07:00:00.000Z")));
    studio.app.clock.advance_ms(HOUR_MS);
    studio.work();
    assert_eq!(studio.app.get(&path).data()["batchId"], started["batchId"]);
}

#[test]
fn a_campaign_missed_during_downtime_starts_once_after_a_restart() {
    let studio = Studio::new();
    let path = studio.draft();
    studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-01-01T09:00:00Z" })).data();
    studio.app.clock.advance_ms(48 * HOUR_MS);
    let Studio { app, conversation, emails } = studio;
    let studio = Studio { app: app.restarted(), conversation, emails };
    assert_eq!(studio.status(&path), "scheduled");
    studio.work();
    let started = studio.app.get(&path).data();
    assert_eq!(started["status"], "sending");
    studio.work();
    assert_eq!(studio.app.get(&path).data()["batchId"], started["batchId"]);
}

#[test]
fn a_schedule_can_be_moved_removed_or_overridden() {
    let studio = Studio::new();
    let path = studio.draft();
    let times = |action: &str, body: Value| studio.app.post(&format!("{path}/{action}"), body);
    assert_eq!(refused(times("reschedule", json!({ "scheduledAt": "2026-02-01T09:00Z" }))).0, 409);
    times("schedule", json!({ "scheduledAt": "2026-02-01T09:00", "scheduledTimezone": "US/Pacific" })).data();
    // Rescheduling keeps the time zone.
    let moved = times("reschedule", json!({ "scheduledAt": "2026-03-08T02:30" })).data();
    assert_eq!(moved["scheduledAt"], "2026-03-08T10:30:00.000Z");
    assert!(moved["scheduleNotice"].as_str().is_some_and(|notice| notice.contains("and skip")), "{moved}");
    let draft = times("unschedule", json!({})).data();
    assert_eq!((&draft["status"], &draft["scheduledAt"]), (&json!("draft"), &Value::Null));
    studio.app.clock.advance_ms(100 * 24 * HOUR_MS);
    studio.work();
    assert_eq!(studio.status(&path), "draft");
    let (status, _, error) = refused(times("schedule", json!({ "scheduledAt": "2026-02-01T09:00Z" })));
    assert!(status == 400 && error.contains("/send"), "{error}");
    times("schedule", json!({ "scheduledAt": "2026-06-01T09:00Z" })).data();
    let sent = times("send", json!({})).data();
    assert_eq!((&sent["status"], &sent["scheduledAt"]), (&json!("sending"), &Value::Null));
}

#[test]
fn a_canceled_schedule_does_not_start() {
    let studio = Studio::new();
    let path = studio.draft();
    studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-01-01T09:00Z" })).data();
    assert_eq!(studio.act(&path, "cancel").data()["status"], "cancelled");
    studio.app.clock.advance_ms(24 * HOUR_MS);
    studio.work();
    let campaign = studio.app.get(&path).data();
    assert_eq!((&campaign["status"], &campaign["batchId"]), (&json!("cancelled"), &Value::Null));
}

#[test]
fn a_campaign_that_cannot_start_when_due_waits_for_a_user() {
    let studio = Studio::new();
    let segment = studio.app.post_in("/v1/segments", json!({ "name": "All" })).data()["id"].clone();
    let made = studio.made(|wanted| {
        wanted["recipientType"] = json!("segment");
        wanted["recipientId"] = segment.clone();
    });
    let path = path(&made);
    studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-01-01T09:00Z" })).data();
    studio.app.delete_in(&format!("/v1/segments/{}", segment.as_str().expect("the field is a string"))).data();
    studio.app.clock.advance_ms(24 * HOUR_MS);
    studio.work();
    let held = studio.app.get(&path).data();
    assert_eq!((&held["status"], &held["batchId"]), (&json!("pending_review"), &Value::Null));
    assert!(held["error"].as_str().is_some_and(|error| error.contains("no segment")), "{held}");
    studio.app.patch_in(&path, json!({ "recipientType": "audience" })).data();
    let sent = studio.act(&path, "send").data();
    assert_eq!((&sent["status"], &sent["error"]), (&json!("sending"), &Value::Null));
}

#[test]
fn a_due_campaign_waits_for_an_edit_of_its_email_but_not_forever() {
    let studio = Studio::new();
    let path = studio.draft();
    studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": "2026-01-01T09:00Z" })).data();
    let edit = json!({ "prompt": "Make it shorter", "async": true });
    studio.app.post(&format!("/v1/emails/{}/edit", studio.emails[0]), edit).data();
    studio.app.clock.advance_ms(9 * HOUR_MS);
    studio.work();
    assert_eq!(studio.status(&path), "scheduled");
    studio.app.clock.advance_ms(limits::CAMPAIGN_EDIT_AWAITED_MS);
    studio.work();
    assert_eq!(studio.status(&path), "sending");
}

#[test]
fn tests_go_to_a_few_addresses_and_do_not_change_the_campaign() {
    let studio = Studio::new();
    let path = studio.draft();
    for email in ["ada@acme.example", "bob@acme.example"] {
        studio.contact(email, json!({ "firstName": "Ada" }));
    }
    let body = json!({ "emails": ["ada@acme.example", "bob@acme.example"] });
    let sent = studio.app.post(&format!("{path}/test"), body).data();
    let mailing = MailingId::parse(sent["sendId"].as_str().expect("the field is a string")).expect("the ID is valid");
    let mailing = sending::by_id(&studio.app.read(), mailing).expect("the read succeeds").expect("the mailing exists");
    assert_eq!((mailing.kind, mailing.audience), (MailingKind::Test, Audience::Addresses));
    assert_eq!(studio.status(&path), "draft");
    assert_eq!(studio.app.get(&format!("{path}/stats")).data()["recipients"], 0);
    for emails in [json!([]), json!(vec!["ada@acme.example"; 21]), json!(["ada"])] {
        let (status, _, error) = refused(studio.app.post(&format!("{path}/test"), json!({ "emails": emails })));
        assert!(status == 400 && error.contains("emails"), "{error}");
    }
}

// Regression test: only the test sends of emails were checked. A test send of a campaign was accepted without a check, and its messages
// were then skipped or delayed.
#[test]
fn a_test_is_refused_if_a_message_would_not_be_sent() {
    let studio = Studio::new();
    let path = format!("{}/test", studio.draft());
    let test = |emails: &[&str]| studio.app.post(&path, json!({ "emails": emails }));
    studio.app.post("/v1/suppressions", json!({ "email": "stop@acme.example" })).data();
    for email in ["ada@acme.example", "stop@acme.example"] {
        studio.contact(email, json!({ "firstName": "Ada" }));
    }
    let answer = test(&["ada@acme.example", "stop@acme.example"]);
    assert_eq!(answer.body["data"]["reason"], "suppressed");
    let (status, code, error) = refused(answer);
    assert!(status == 409 && code == "RECIPIENT_NOT_SENDABLE" && error.contains("emails: stop@acme.example"), "{error}");
    assert!(refused(test(&["new@acme.example"])).2.contains("firstName"));
    let account = studio.app.account();
    let wait = move |tx: &mut crate::engine::store::WriteTx<'_>| sending::quota::add_waiting(tx, account, 20_000_000);
    studio.app.data().store.write_blocking(wait).expect("the store can be written").expect("the store can be read");
    assert_eq!(refused(test(&["ada@acme.example"])).1, "SENDING_CAPACITY");
}

#[test]
fn stats_are_zero_and_logs_empty_before_the_start() {
    let studio = Studio::new();
    let path = studio.draft();
    let stats = studio.app.get(&format!("{path}/stats")).data();
    for field in ["totalSent", "totalDelivered", "uniqueOpens", "openRate", "clickRate", "bounces", "unknown", "skipped"] {
        assert_eq!(stats[field].as_f64(), Some(0.0), "{field}");
    }
    assert_eq!(stats.get("conversion"), None);
    let logs = studio.app.get(&format!("{path}/logs")).data();
    assert_eq!(logs, json!({ "emails": [], "hasMore": false }));
    let (status, _, error) = refused(studio.app.get(&format!("{path}/logs?cursor=x")));
    assert!(status == 400 && error.contains("cursor"), "{error}");
}

#[test]
fn another_projects_campaign_is_not_found_with_a_project_id() {
    let studio = Studio::new();
    let path = studio.draft();
    let other: ProjectId = studio.app.another_project();
    assert_eq!(refused(studio.app.get(&format!("{path}?projectId={other}"))).0, 404);
    assert_eq!(refused(studio.app.post(&format!("{path}/send"), json!({ "projectId": other }))).0, 404);
    studio.app.get_in(&path).data();
}

#[test]
fn a_dry_run_counts_all_recipients_with_reasons_and_changes_nothing() {
    let studio = Studio::new();
    studio.contact("ada@example.com", json!({ "firstName": "Ada" }));
    studio.contact("bob@example.com", json!({}));
    studio.contact("cyd@example.com", json!({ "status": "unsubscribed", "firstName": "Cyd" }));
    let path = studio.draft();
    let before = studio.app.get(&path).data();
    let outlook = studio.app.get(&format!("{path}/dry-run")).data();
    let counts = [&outlook["total"], &outlook["recipients"], &outlook["skipped"], &outlook["estimatedSeconds"]];
    assert_eq!(counts, [&json!(3), &json!(1), &json!(2), &json!(1)]);
    assert_eq!(outlook["skippedReasons"], json!({ "missing_field": 1, "unsubscribed": 1 }));
    assert_eq!(outlook["missingFields"], json!({ "firstName": 1 }));
    assert_eq!(warnings(&outlook), [("NO_UNSUBSCRIBE_LINK", false), ("NO_POSTAL_ADDRESS", false), ("MISSING_FIELDS", false)]);
    assert_eq!(outlook["ready"], true);
    assert_eq!(studio.app.get(&path).data(), before);
    // A variable of the campaign is the fallback for contacts without their own value.
    studio.app.patch_in(&path, json!({ "variables": { "firstName": "reader" } })).data();
    assert_eq!(studio.app.get(&format!("{path}/dry-run")).data()["recipients"], 2);
}

#[test]
fn a_dry_run_reports_what_would_block_sending() {
    let studio = Studio::new();
    let path = path(&studio.made(|wanted| wanted["minimumScore"] = json!(100)));
    let outlook = studio.app.get(&format!("{path}/dry-run")).data();
    assert_eq!(outlook["ready"], false);
    assert!(warnings(&outlook).contains(&("NOT_VALIDATED", true)) && warnings(&outlook).contains(&("NO_RECIPIENTS", false)));
    studio.app.patch_in(&path, json!({ "minimumScore": null })).data();
    studio.act(&path, "send").data();
    let outlook = studio.app.get(&format!("{path}/dry-run")).data();
    assert!(warnings(&outlook).contains(&("WRONG_STATE", true)), "{outlook}");
}

fn warnings(outlook: &Value) -> Vec<(&str, bool)> {
    let all = outlook["warnings"].as_array().expect("the field is a list").iter();
    all.map(|warning| {
        (warning["code"].as_str().expect("the field is a string"), warning["stops"].as_bool().expect("the field is a boolean"))
    })
    .collect()
}

/// Creates and sends a campaign. Returns it with a copy of its mailing whose state is set to `state`.
fn with_mailing(studio: &Studio, state: State) -> (Campaign, Mailing) {
    let path = studio.draft();
    studio.act(&path, "send").data();
    let mut found = None;
    let keep = |campaign| {
        found = Some(campaign);
        Ok(ControlFlow::Break(()))
    };
    store::visit(&studio.app.read(), studio.app.account(), studio.app.project, keep).expect("the read succeeds");
    let campaign: Campaign = found.expect("the campaign exists");
    let mailing = sending::by_id(&studio.app.read(), campaign.mailing.expect("the campaign has a mailing"))
        .expect("the read succeeds")
        .expect("the mailing exists");
    (campaign, Mailing { state, ..mailing })
}

#[test]
fn the_mailing_determines_the_status_of_a_running_campaign() {
    let studio = Studio::new();
    let at = Timestamp(1_767_300_000_000);
    let until = at;
    for (state, status, completed, said) in [
        (State::Sending, "sending", false, None),
        (State::Waiting { reason: WaitReason::Deferred, until }, "sent", false, None),
        (State::Waiting { reason: WaitReason::Quota, until }, "throttled", false, Some("used up")),
        (State::Waiting { reason: WaitReason::Transport, until }, "throttled", false, Some("no mail transport")),
        (State::Finished { at }, "sent", true, None),
        (State::Cancelled { at }, "cancelled", true, None),
        (State::Failed { reason: "The template is broken.".into(), at }, "failed", true, Some("template")),
    ] {
        let (campaign, mailing) = with_mailing(&studio, state.clone());
        let next = sync::synced(&campaign, &mailing).unwrap_or(campaign);
        assert_eq!(next.status.word(), status, "{state:?}");
        assert_eq!(next.completed_at.is_some(), completed, "{state:?}");
        let error = next.error.clone().unwrap_or_default();
        assert!(said.map_or(error.is_empty(), |said| error.contains(said)), "{state:?}: {error}");
        // A final status does not change, and a mailing that continues clears the campaign's error.
        let flowing = Mailing { state: State::Sending, ..mailing };
        let after = sync::synced(&next, &flowing).unwrap_or(next.clone());
        assert_eq!(after.status == next.status, completed || ["sending", "sent"].contains(&status), "{state:?}");
        assert!(completed || after.error.is_none());
    }
}

#[test]
fn the_mailing_uses_the_campaigns_recipients_and_sender() {
    let studio = Studio::new();
    let tag_of = |email: &str| studio.contact(email, json!({ "tags": ["vip"] }));
    tag_of("ada@example.com");
    let tag = studio.app.get_in("/v1/tags").data()["tags"][0]["id"].clone();
    let made = studio.made(|wanted| {
        wanted["recipientType"] = json!("tag");
        wanted["recipientId"] = tag.clone();
        wanted["replyTo"] = json!("desk@acme.example");
        wanted["subject"] = json!("Hello {{ firstName }}");
        wanted["unknown"] = json!("resend");
        wanted["variables"] = json!({ "offer": "20% off" });
    });
    assert_eq!(made["estimatedRecipients"], 1);
    let sent = studio.act(&path(&made), "send").data();
    let mailing = MailingId::parse(sent["batchId"].as_str().expect("the field is a string")).expect("the ID is valid");
    let mailing = sending::by_id(&studio.app.read(), mailing).expect("the read succeeds").expect("the mailing exists");
    let sender =
        Sender { address: "news@acme.example".into(), name: Some("Acme".into()), reply_to: Some("desk@acme.example".into()) };
    assert_eq!((&mailing.from, mailing.first().subject.as_str()), (&sender, "Hello {{ firstName }}"));
    assert!(matches!(mailing.audience, Audience::Tag(id) if json!(id) == tag));
    assert!(matches!(mailing.kind, MailingKind::Campaign(id) if json!(id) == made["id"]));
    assert_eq!((mailing.unknown, mailing.transactional), (Policy::Resend, false));
    assert_eq!(mailing.tracking, Tracking { opens: true, clicks: true });
    assert_eq!(
        serde_json::from_str::<Value>(&mailing.variables).expect("the value serializes to JSON"),
        json!({ "offer": "20% off" })
    );
}
