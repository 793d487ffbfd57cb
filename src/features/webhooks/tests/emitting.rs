//! Tests which webhook events each operation emits, and that it emits no others. `assets/docs/webhooks.md` lists the events.

use serde_json::{Value, json};

use crate::engine::outbox;
use crate::features::contacts::jobs;
use crate::features::emails::generation;
use crate::testing::TestApp;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// A test app, and how many events the test has read from its outbox.
struct Outbox {
    app: TestApp,
    seen: usize,
}

impl Outbox {
    /// Returns the kind and payload of each event emitted since the last call, and checks that all envelopes have the same fields.
    #[track_caller]
    fn since(&mut self) -> Vec<(String, Value)> {
        let mut events = outbox::waiting(&self.app.read(), 10_000).expect("the data is readable");
        // The order of IDs is exact only to the second.
        events.sort_by_key(|(_, event)| event.created_at);
        let new = events.split_off(self.seen.min(events.len()));
        self.seen += new.len();
        let emitted = new.into_iter().map(|(id, event)| {
            let envelope = event.envelope();
            let names: Vec<&String> = envelope.as_object().expect("the envelope is an object").keys().collect();
            assert_eq!(names, ["id", "type", "timestamp", "apiVersion", "data", "metadata"]);
            assert_eq!((&envelope["id"], &envelope["apiVersion"]), (&json!(id), &json!("v1")));
            assert_eq!(envelope["metadata"]["userId"], json!(self.app.account()));
            assert_eq!(envelope["metadata"]["projectId"], envelope["data"]["projectId"].clone().take_or(&envelope));
            let conversation = envelope["data"].get("conversationId").cloned().unwrap_or_default();
            assert_eq!(envelope["metadata"]["conversationId"], conversation);
            (event.kind.word().to_owned(), envelope["data"].clone())
        });
        let mut emitted: Vec<(String, Value)> = emitted.collect();
        emitted.sort_by(|(left, _), (right, _)| left.cmp(right));
        self.app.clock.advance_ms(1_000);
        emitted
    }

    /// Asserts that exactly these events have been emitted since the last call.
    #[track_caller]
    fn assert_emitted(&mut self, what: &str, expected: &[(&str, Value)]) {
        let emitted = self.since();
        let expected: Vec<(String, Value)> = expected.iter().map(|(kind, data)| ((*kind).to_owned(), data.clone())).collect();
        assert_eq!(emitted, expected, "{what}");
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.app.post_in(path, body).data()
    }
}

/// Takes the project ID from a payload or, if the payload has none, from the envelope.
trait TakeOr {
    fn take_or(self, envelope: &Value) -> Value;
}

impl TakeOr for Value {
    fn take_or(self, envelope: &Value) -> Value {
        if self.is_null() { envelope["metadata"]["projectId"].clone() } else { self }
    }
}

fn outbox() -> Outbox {
    let mut outbox = Outbox { app: TestApp::new(), seen: 0 };
    let project = outbox.app.project;
    let data = json!({ "projectId": project, "urls": ["https://acme.example/"], "domain": "acme.example" });
    outbox.assert_emitted("projects.import", &[("project.import.started", data)]);
    outbox
}

#[test]
fn single_contacts() {
    let mut outbox = outbox();
    let project = outbox.app.project;
    let made = outbox.post("/v1/contacts", json!({ "email": "Ada@example.com", "tags": ["vip"] }));
    let (id, email) = (made["id"].clone(), "Ada@example.com");
    let path = format!("/v1/contacts/{}", id.as_str().expect("the value is an ID"));
    let added = json!({ "subscriberId": id, "projectId": project, "email": email, "tags": ["vip"] });
    outbox.assert_emitted("contacts.create", &[("subscriber.added", added)]);
    assert_eq!(outbox.app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).status, 409);
    outbox.assert_emitted("contacts.create of an existing contact", &[]);

    let updated = ("subscriber.updated", json!({ "subscriberId": id, "projectId": project, "email": email }));
    let left = |action: &str| {
        let data = json!({ "subscriberId": id, "projectId": project, "email": email, "action": action, "source": "api" });
        ("subscriber.unsubscribed", data)
    };
    outbox.app.patch_in(&path, json!({ "firstName": "Ada" })).data();
    outbox.assert_emitted("contacts.update", std::slice::from_ref(&updated));
    outbox.app.patch_in(&path, json!({ "firstName": "Ada" })).data();
    outbox.assert_emitted("contacts.update that changes nothing", &[]);
    outbox.app.patch_in(&path, json!({ "status": "unsubscribed" })).data();
    outbox.assert_emitted("contacts.update of the status", &[left("status_changed"), updated]);

    let steps: [(&str, Value, Option<&str>); 10] = [
        ("/v1/contacts/status", json!({ "status": "subscribed" }), None),
        ("/v1/contacts/status", json!({ "status": "unsubscribed" }), Some("status_changed")),
        ("/v1/contacts/status", json!({ "status": "unsubscribed" }), None),
        ("/v1/contacts/status", json!({ "status": "bounced" }), None),
        ("/v1/contacts/status", json!({ "status": "subscribed", "allLists": false, "tags": ["new"] }), None),
        ("/v1/contacts/status", json!({ "status": "unsubscribed", "allLists": false, "tags": ["new"] }), Some("tags_left")),
        ("/v1/subscribers/unsubscribe", json!({ "allLists": false, "tags": ["vip"] }), Some("tags_left")),
        ("/v1/subscribers/unsubscribe", json!({ "allLists": false, "tags": ["vip"] }), None),
        ("/v1/subscribers/unsubscribe", json!({}), Some("unsubscribed")),
        ("/v1/subscribers/unsubscribe", json!({}), None),
    ];
    for (path, mut body, action) in steps {
        body["email"] = email.into();
        let what = format!("{path} {body}");
        outbox.post(path, body);
        let expected: Vec<_> = action.into_iter().map(left).collect();
        outbox.assert_emitted(&what, &expected);
    }
    outbox.app.delete_in(&path).data();
    outbox.assert_emitted("contacts.delete", &[left("deleted")]);
}

#[test]
fn many_contacts_at_once() {
    let mut outbox = outbox();
    let project = outbox.app.project;
    let counts = |success: u64, failed: u64, updated: u64| json!({ "projectId": project, "success": success, "failed": failed, "updated": updated });
    let rows = json!([{ "email": "a@example.com" }, { "email": "b@example.com" }, { "email": "no-address" }]);
    outbox.post("/v1/contacts/bulk", json!({ "subscribers": rows }));
    outbox.assert_emitted("contacts.bulk", &[("subscriber.bulk_imported", counts(2, 1, 0))]);
    let rows = json!([{ "email": "a@example.com", "firstName": "A" }]);
    outbox.post("/v1/contacts/bulk", json!({ "subscribers": rows }));
    outbox.assert_emitted("contacts.bulk of an existing contact", &[("subscriber.bulk_imported", counts(1, 0, 1))]);
    outbox.post("/v1/contacts/bulk", json!({ "subscribers": [7] }));
    outbox.assert_emitted("contacts.bulk with an invalid row", &[("subscriber.bulk_imported", counts(0, 1, 0))]);

    let many: Vec<Value> =
        (0..=limits::BULK_AT_ONCE_MAX).map(|number| json!({ "email": format!("r{number}@example.com") })).collect();
    let job = outbox.post("/v1/contacts/bulk", json!({ "subscribers": many }))["jobId"].clone();
    outbox.assert_emitted("contacts.bulk that became a job", &[]);
    while jobs::step(outbox.app.data()).expect("the step succeeds") {}
    let mut done = counts(many.len() as u64, 0, 0);
    done["jobId"] = job;
    outbox.assert_emitted("contacts.bulk that is done", &[("subscriber.bulk_imported", done)]);

    let file =
        outbox.app.upload("/v1/contacts/imports", &[("projectId", &project.to_string())], b"email\nfile@example.com\n").data();
    outbox.assert_emitted("contacts.import", &[]);
    while jobs::step(outbox.app.data()).expect("the step succeeds") {}
    let mut done = counts(1, 0, 0);
    done["jobId"] = file["id"].clone();
    outbox.assert_emitted("contacts.import that is done", &[("subscriber.bulk_imported", done)]);

    outbox.post("/v1/contacts/bulk-delete", json!({ "emails": ["a@example.com", "b@example.com", "c@example.com"] }));
    let emitted = outbox.since();
    assert!(
        emitted.len() == 2 && emitted.iter().all(|(kind, data)| kind == "subscriber.unsubscribed" && data["action"] == "deleted")
    );
}

#[test]
fn imports_that_unsubscribe_contacts_emit_an_event_for_each() {
    let mut outbox = outbox();
    let project = outbox.app.project;
    let mut ids = Vec::new();
    for name in ["a", "b", "c", "gone"] {
        ids.push(outbox.post("/v1/contacts", json!({ "email": format!("{name}@example.com") }))["id"].clone());
    }
    outbox.post("/v1/contacts/status", json!({ "email": "gone@example.com", "status": "unsubscribed" }));
    outbox.since();
    let left = |index: usize, name: &str| {
        let email = format!("{name}@example.com");
        let data = json!({
            "subscriberId": ids[index], "projectId": project, "email": email, "action": "status_changed", "source": "api",
        });
        ("subscriber.unsubscribed", data)
    };
    let counts =
        |success: u64, updated: u64| json!({ "projectId": project, "success": success, "failed": 0, "updated": updated });
    let off = |name: &str| json!({ "email": format!("{name}@example.com"), "status": "unsubscribed" });
    // A new contact was never subscribed in this project, and a contact who is already unsubscribed does not unsubscribe again.
    outbox.post("/v1/contacts/bulk", json!({ "subscribers": [off("a"), off("gone"), off("new"), off("a")] }));
    outbox.assert_emitted("contacts.bulk", &[("subscriber.bulk_imported", counts(4, 1)), left(0, "a")]);

    let mut many: Vec<Value> =
        (0..=limits::BULK_AT_ONCE_MAX).map(|number| json!({ "email": format!("r{number}@example.com") })).collect();
    many.push(off("b"));
    let job = outbox.post("/v1/contacts/bulk", json!({ "subscribers": many }))["jobId"].clone();
    while jobs::step(outbox.app.data()).expect("the step succeeds") {}
    let mut done = counts(many.len() as u64, 1);
    done["jobId"] = job;
    outbox.assert_emitted("contacts.bulk as a job", &[("subscriber.bulk_imported", done), left(1, "b")]);

    let rows = b"email,status\nc@example.com,unsubscribed\ngone@example.com,unsubscribed\n";
    let file = outbox.app.upload("/v1/contacts/imports", &[("projectId", &project.to_string())], rows).data();
    while jobs::step(outbox.app.data()).expect("the step succeeds") {}
    let mut done = counts(2, 1);
    done["jobId"] = file["id"].clone();
    outbox.assert_emitted("contacts.import", &[("subscriber.bulk_imported", done), left(2, "c")]);
}

#[test]
fn contact_changes_outside_the_reference_emit_nothing() {
    let mut outbox = outbox();
    let id = outbox.post("/v1/contacts", json!({ "email": "ada@example.com", "tags": ["vip"] }))["id"].clone();
    outbox.since();
    let event = json!({ "name": "login", "identifiers": { "email": "new@example.com" } });
    outbox.post("/v1/events", event.clone());
    let known = json!({ "name": "login", "identifiers": { "subscriberId": id }, "profile": { "firstName": "Ada" } });
    outbox.post("/v1/events/batch", json!({ "events": [event, known] }));
    outbox.assert_emitted("events.record and events.batch", &[]);
    let tag = outbox.post("/v1/tags", json!({ "name": "another" }))["id"].clone();
    outbox.app.delete_in(&format!("/v1/tags/{}", tag.as_str().expect("the value is an ID"))).data();
    outbox.post("/v1/segments", json!({ "name": "all", "filters": {} }));
    outbox.post("/v1/topics", json!({ "name": "News", "defaultSubscription": "opt_in" }));
    outbox.app.post("/v1/suppressions", json!({ "email": "grace@example.com" })).data();
    outbox.app.post("/v1/webhooks", json!({ "url": "https://a.example/", "events": ["subscriber.added"] })).data();
    outbox.assert_emitted("tags, segments, topics, suppressions and webhooks", &[]);
}

#[test]
fn generated_and_imported_emails() {
    let mut outbox = outbox();
    let project = outbox.app.project;
    let wanted = json!({ "prompt": "Welcome our new subscribers", "languages": ["en"], "count": 1 });
    let started = outbox.post("/v1/projects/emails/generate", wanted);
    let id = started["conversationId"].clone();
    let started = json!({
        "conversationId": id, "projectId": project, "prompt": "Welcome our new subscribers", "model": "composer",
        "languages": ["en"], "count": 1,
    });
    outbox.assert_emitted("emails.generate", &[("email.generation.started", started)]);
    // Generation waits a limited time for the import of the project's website. Skip this time.
    outbox.app.clock.advance_ms(limits::SITE_IMPORT_AWAITED_MS);
    while outbox.app.wait(generation::step(outbox.app.engine().clone(), Environment::Test)).expect("stages do not fail") {}
    let completed = json!({ "conversationId": id, "projectId": project, "count": 1, "languages": ["en"] });
    outbox.assert_emitted("emails.generate that is done", &[("email.generation.completed", completed)]);

    let status = outbox.app.get(&format!("/v1/projects/emails/{}/status", id.as_str().expect("the value is an ID"))).data();
    let email = status["result"]["emails"][0]["emailId"].clone();
    let sent = outbox.app.post("/v1/emails/test/send", json!({ "emailId": email, "to": "ada@example.com" })).data();
    let tested = json!({
        "conversationId": id, "emailId": email, "recipient": "ada@example.com", "messageId": sent["messageId"], "sentAt": sent["sentAt"],
    });
    outbox.assert_emitted("sending.test", &[("email.test.sent", tested)]);

    let html = "<html lang=\"en\"><head><title>Hi</title></head><body><p>Hi. <a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p></body></html>";
    outbox.post("/v1/projects/emails/import-html", json!({ "html": html }));
    while outbox.app.wait(generation::step(outbox.app.engine().clone(), Environment::Test)).expect("stages do not fail") {}
    outbox.assert_emitted("emails.import_html: nothing is generated", &[]);

    let draft = json!({
        "name": "Winter", "conversationId": id, "from": "news@acme.example", "fromName": "Acme", "recipientType": "audience",
    });
    let campaign = outbox.post("/v1/campaigns", draft)["id"].clone();
    outbox.assert_emitted("campaigns.create", &[]);
    let path = format!("/v1/campaigns/{}/test", campaign.as_str().expect("the value is an ID"));
    let sent = outbox.app.post(&path, json!({ "emails": ["ada@example.com", "grace@example.com"] })).data();
    let emitted = outbox.since();
    for ((kind, data), recipient) in emitted.iter().zip(["ada@example.com", "grace@example.com"]) {
        assert_eq!((kind.as_str(), &data["messageId"], &data["conversationId"]), ("email.test.sent", &sent["sendId"], &id));
        assert!(emitted.iter().any(|(_, data)| data["recipient"] == recipient), "{emitted:?}");
    }
    assert_eq!(emitted.len(), 2, "campaigns.test");
}
