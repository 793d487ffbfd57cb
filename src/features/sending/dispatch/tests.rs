//! Tests of complete sends: from the API through planning and the dispatcher to the built-in inbox or a mail server.

mod languages;

use std::collections::HashSet;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::rules;
use crate::base::secret::Secret;
use crate::engine::api::Engine;
use crate::engine::runner;
use crate::engine::store::key::Key;
use crate::engine::store::{Error, ReadTx, WriteTx};
use crate::engine::tasks::{Stage, Tasks};
use crate::features::engagement;
use crate::features::sending::model::{Event, Schedule};
use crate::features::sending::recipient_writer::{self, RecipientUpdate, RecipientWriter, RowUpdate, UpdateResult};
use crate::features::sending::{self, Address, Content, Counts, MailingKind, NewMailing, Policy, Sender, To, Tracking};
use crate::features::sending::{recipients, store as rows};
use crate::testing::TestApp;
use crate::testing::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ContactId, MailingId};
use crate::vocab::{limits, tables};
use crate::workers::WORKERS;

fn start(tasks: &Tasks, engine: &Arc<Engine>) {
    runner::start(tasks, engine, WORKERS.iter().filter(|worker| worker.name == "sending"));
}

fn run_until(app: &TestApp, holds: impl Fn(&ReadTx) -> bool) {
    run_in(app, Environment::Test, holds);
}

fn run_in(app: &TestApp, environment: Environment, holds: impl Fn(&ReadTx) -> bool) {
    while app.wait(sending::plan(app.engine(), environment)).expect("planning succeeds") {}
    let store = app.engine().data(environment).store.clone();
    app.wait(async {
        let tasks = Tasks::new(Handle::current());
        start(&tasks, app.engine());
        loop {
            let (mailings, rows) = (store.changed(tables::MAILINGS).notified(), store.changed(tables::RECIPIENTS).notified());
            if holds(&store.read()) {
                break;
            }
            let changed = async {
                tokio::select! { () = mailings => {}, () = rows => {} }
            };
            tokio::time::timeout(Duration::from_secs(20), changed).await.expect("a change happens within the time limit");
        }
        tasks.raise(Stage::Draining);
        let joined = tasks.join(Duration::from_secs(20)).await;
        assert!(joined.panicked.is_empty() && joined.cut.is_empty(), "{joined:?}");
    });
}

fn counts(tx: &ReadTx, id: MailingId) -> Counts {
    sending::counts(tx, id).expect("the store can be read")
}

fn run_to_the_end(app: &TestApp, id: MailingId) -> Counts {
    run_until(app, |tx| {
        sending::by_id(tx, id).expect("the store can be read").is_some_and(|mailing| mailing.word() == "finished")
    });
    counts(&app.read(), id)
}

fn id(data: &Value, field: &str) -> MailingId {
    MailingId::parse(data[field].as_str().expect("the ID is a string")).expect("the ID is valid")
}

fn mail_to(to: &str) -> Value {
    json!({
        "recipientType": "email", "recipientEmail": to, "from": "hello@example.com", "fromName": "Example",
        "subject": "Order {{ order }}", "template": "<p>Dear {{ firstName | default(\"you\") }}, <a href=\"https://shop.example/?o={{ order }}\">look</a></p>",
        "variables": { "order": "4711" },
    })
}

fn contact(app: &TestApp, email: &str, more: Value) -> String {
    let mut body = json!({ "email": email });
    body.as_object_mut().expect("the value is an object").extend(more.as_object().expect("the value is an object").clone());
    app.post_in("/v1/contacts", body).data()["id"].as_str().expect("the ID is a string").to_owned()
}

#[test]
fn a_direct_send_arrives_in_the_inbox_once_with_its_fields_filled() {
    let app = TestApp::new();
    app.engine().set_base_url("https://mail.example".to_owned());
    let accepted = app.post("/v1/sending", mail_to("ada@example.com")).data();
    assert_eq!((accepted["status"].as_str(), accepted["provider"].as_str()), (Some("queued"), Some("inbox")));
    let send = id(&accepted, "sendId");
    let counts = run_to_the_end(&app, send);
    assert_eq!((counts.sent, counts.total), (1, 1));
    let view = app.get(&format!("/v1/sending/{send}")).data();
    assert_eq!((view["status"].as_str(), view["recipients"][0]["status"].as_str()), (Some("sent"), Some("sent")));

    let list = app.get("/v1/inbox?to=ADA@example.com&search=4711").data();
    assert_eq!(list["total"], 1, "{list}");
    assert_eq!(app.get("/v1/inbox?search=nothing").data()["total"], 0);
    let message = list["messages"][0]["id"].as_str().expect("the ID is a string").to_owned();
    let opened = app.get(&format!("/v1/inbox/{message}")).data();
    let header = |name: &str| {
        let headers = opened["headers"].as_array().expect("the value is a list");
        headers
            .iter()
            .find(|header| header["name"] == name)
            .map(|header| header["value"].as_str().expect("the value is a string").to_owned())
    };
    assert_eq!(header("Subject").as_deref(), Some("Order 4711"));
    assert_eq!(header("To").as_deref(), Some("<ada@example.com>"));
    assert_eq!(header("List-Unsubscribe"), None, "a transactional message has no unsubscribe header");
    assert!(opened["html"].as_str().expect("the value is a string").contains("Dear you,"), "{opened}");
    assert!(opened["links"][0].as_str().expect("the link is a string").contains("/t/c/"), "{opened}");
    assert!(opened["text"].as_str().expect("the value is a string").contains("Dear you,"), "{opened}");
    let (status, _, raw) = app.download(&format!("/v1/inbox/{message}/raw"));
    assert!(status == 200 && String::from_utf8_lossy(&raw).contains("Message-ID: <"));
    let (status, _, page) = app.download(&format!("/v1/inbox/{message}/html"));
    assert!(status == 200 && String::from_utf8_lossy(&page).contains("/t/o/"), "the page has the tracking pixel");
    app.delete(&format!("/v1/inbox/{message}")).data();
    assert_eq!(app.get(&format!("/v1/inbox/{message}")).refusal().0, 404);
}

#[test]
fn every_contact_in_an_audience_has_a_row_and_skipped_contacts_have_a_reason() {
    let app = TestApp::new();
    contact(&app, "ada@example.com", json!({ "firstName": "Ada" }));
    contact(&app, "grace@example.com", json!({}));
    contact(&app, "gone@example.com", json!({ "firstName": "G", "status": "unsubscribed" }));
    contact(&app, "bad@example.com", json!({ "firstName": "B", "status": "bounced" }));
    contact(&app, "cold@example.com", json!({ "firstName": "C", "status": "non-subscribed" }));
    app.post("/v1/suppressions", json!({ "email": "stop@example.com" })).data();
    contact(&app, "stop@example.com", json!({ "firstName": "S" }));
    let wanted = json!({
        "recipientType": "audience", "from": "news@example.com", "subject": "News for {{ firstName }}", "template": "<p>Hello</p>",
    });
    let accepted = app.post_in("/v1/sending", wanted).data();
    let batch = id(&accepted, "batchId");
    let counts = run_to_the_end(&app, batch);
    assert_eq!((counts.total, counts.sent), (6, 1), "{counts:?}");
    for reason in ["unsubscribed", "bounced", "not_subscribed", "suppressed", "missing_field"] {
        assert_eq!(counts.skipped.get(reason), Some(&1), "{reason}: {counts:?}");
    }
    let view = app.get(&format!("/v1/sending/batches/{batch}")).data();
    assert_eq!((view["status"].as_str(), view["totalCount"].as_u64()), (Some("completed"), Some(6)), "{view}");
    let message = app.get("/v1/inbox").data()["messages"][0]["id"].as_str().expect("the ID is a string").to_owned();
    let opened = app.get(&format!("/v1/inbox/{message}")).data();
    let names: Vec<&str> =
        opened["headers"].as_array().expect("the value is a list").iter().filter_map(|header| header["name"].as_str()).collect();
    assert!(names.contains(&"List-Unsubscribe") && names.contains(&"Feedback-ID"), "{names:?}");
    assert!(
        opened["html"].as_str().expect("the value is a string").contains("Unsubscribe</a>"),
        "the message has an unsubscribe link: {opened}"
    );
}

#[test]
fn simulated_recipients_behave_as_named() {
    let app = TestApp::new();
    let send =
        |local: &str| id(&app.post("/v1/sending", mail_to(&format!("{local}@simulator.mailmill.example"))).data(), "sendId");
    let bounced = send("hard-bounce+1");
    assert_eq!(run_to_the_end(&app, bounced).failed, 1);
    let view = app.get(&format!("/v1/sending/{bounced}")).data();
    assert!(view["recipients"][0]["reply"].as_str().expect("the reply is a string").starts_with("550 5.1.1"), "{view}");

    let deferred = send("deferred");
    run_until(&app, |tx| counts(tx, deferred).deferred == 1);
    assert_eq!(app.get(&format!("/v1/sending/{deferred}")).data()["status"], "deferred");
    app.clock.advance_ms(31 * 60_000);
    assert_eq!(run_to_the_end(&app, deferred).sent, 1);
    assert_eq!(run_to_the_end(&app, send("delivered")).sent, 1);
    assert_eq!(run_to_the_end(&app, send("no-such-name")).failed, 1);
}

#[test]
fn old_messages_are_deleted_from_the_inbox() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let app = TestApp::new();
    let send = |to: &str| run_to_the_end(&app, id(&app.post("/v1/sending", mail_to(to)).data(), "sendId"));
    send("old@example.com");
    app.clock.advance_ms(20 * DAY);
    send("young@example.com");
    app.clock.advance_ms(11 * DAY);
    assert_eq!(app.get("/v1/inbox").data()["total"], 2);
    let kept = sending::Retention { direct_ms: 400 * DAY, inbox_ms: 30 * DAY };
    app.data()
        .store
        .write_blocking(move |tx| sending::sweep(tx, kept))
        .expect("the store can be written")
        .expect("the store can be read");
    let left = app.get("/v1/inbox").data();
    assert_eq!((left["total"].as_u64(), left["messages"][0]["to"].as_str()), (Some(1), Some("young@example.com")), "{left}");
}

#[test]
fn a_repeat_with_the_same_idempotency_key_is_the_same_send() {
    let app = TestApp::new();
    let keyed = || app.post_keyed("/v1/sending", "once", mail_to("ada@example.com")).data();
    let (first, second) = (keyed(), keyed());
    assert_eq!(first["sendId"], second["sendId"]);
    run_to_the_end(&app, id(&first, "sendId"));
    assert_eq!(keyed()["sendId"], first["sendId"]);
    assert_eq!(app.get("/v1/inbox").data()["total"], 1);
}

#[test]
fn a_canceled_batch_skips_waiting_recipients() {
    let app = TestApp::new();
    contact(&app, "ada@example.com", json!({}));
    let wanted = json!({ "recipientType": "audience", "from": "n@example.com", "subject": "x", "template": "<p>x</p>" });
    let batch = id(&app.post_in("/v1/sending", wanted).data(), "batchId");
    // Plan the mailing's audience before the mailing is canceled.
    app.wait(sending::plan(app.engine(), Environment::Test)).expect("planning succeeds");
    app.wait(sending::plan(app.engine(), Environment::Test)).expect("planning succeeds");
    app.post(&format!("/v1/sending/batches/{batch}/cancel"), json!({})).data();
    run_until(&app, |tx| counts(tx, batch).skipped.contains_key("cancelled"));
    assert_eq!(counts(&app.read(), batch).total, 1);
    let again = app.post(&format!("/v1/sending/batches/{batch}/cancel"), json!({}));
    assert_eq!(again.refusal().1, "WRONG_STATE");
    assert_eq!(app.get("/v1/inbox").data()["total"], 0);
}

fn to_everyone(more: Value) -> Value {
    let mut body = json!({ "recipientType": "audience", "from": "n@example.com", "subject": "x", "template": "<p>x</p>" });
    body.as_object_mut().expect("the value is an object").extend(more.as_object().expect("the value is an object").clone());
    body
}

/// Regression test: planning failed repeatedly on a mailing whose topic had been deleted, so no other mailings were planned.
#[test]
fn a_topic_that_is_deleted_before_planning_no_longer_restricts_the_recipients() {
    let app = TestApp::new();
    contact(&app, "ada@example.com", json!({}));
    let topic = app.post_in("/v1/topics", json!({ "name": "Updates" })).data()["id"].clone();
    let batch = id(&app.post_in("/v1/sending", to_everyone(json!({ "topicId": topic }))).data(), "batchId");
    app.delete_in(&format!("/v1/topics/{}", topic.as_str().expect("the ID is a string"))).data();
    assert_eq!(run_to_the_end(&app, batch).sent, 1);
}

#[test]
fn a_damaged_mailing_does_not_block_the_planning_and_sending_of_others() {
    let app = TestApp::new();
    contact(&app, "ada@example.com", json!({}));
    let create = |damages: bool, body: Value, field: &str| {
        // The queues are ordered by creation time, so give each mailing a different creation time.
        app.clock.advance_ms(1_000);
        let created = id(&app.post_in("/v1/sending", body).data(), field);
        let damage = move |tx: &mut WriteTx<'_>| {
            if damages {
                tx.put_bytes(tables::MAILINGS, created.to_bytes(), vec![0xFF]);
            }
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(damage).expect("the store can be written").expect("the write succeeds");
        created
    };
    create(true, mail_to("ada@example.com"), "sendId");
    let sound = create(false, mail_to("ada@example.com"), "sendId");
    assert_eq!(run_to_the_end(&app, sound).sent, 1);
    create(true, to_everyone(json!({})), "batchId");
    let sound = create(false, to_everyone(json!({})), "batchId");
    while app.wait(sending::plan(app.engine(), Environment::Test)).is_ok_and(|more| more) {}
    assert_eq!(counts(&app.read(), sound).total, 1);
}

#[test]
fn invalid_sends_are_refused_with_the_field() {
    let app = TestApp::new();
    let with = |field: &str, value: Value| {
        let mut body = mail_to("ada@example.com");
        body[field] = value;
        app.post("/v1/sending", body)
    };
    for (field, value, says) in [
        ("template", json!("{% set x = 1 %}"), "template"),
        ("subject", json!("{{ broken"), "subject"),
        ("recipientType", json!("tag"), "projectId"),
        ("emailId", json!("666666666666666666666666"), "template"),
    ] {
        let refused = with(field, value);
        assert_eq!(refused.refusal().0, 400, "{refused:?}");
        assert_eq!(refused.body["data"]["field"], says, "{refused:?}");
    }
    assert_eq!(with("projectId", json!("666666666666666666666666")).refusal().0, 404);
}

#[test]
fn unmailable_addresses_and_missing_fields_are_refused_at_once() {
    let app = TestApp::new();
    app.post("/v1/suppressions", json!({ "email": "stop@example.com" })).data();
    let refused = app.post("/v1/sending", mail_to("Stop@example.com"));
    assert_eq!((refused.refusal().1, refused.body["data"]["reason"].as_str()), ("RECIPIENT_NOT_SENDABLE", Some("suppressed")));
    contact(&app, "bad@example.com", json!({ "status": "bounced" }));
    let mut body = mail_to("bad@example.com");
    body["projectId"] = json!(app.project);
    assert_eq!(app.post("/v1/sending", body).body["data"]["reason"], "bounced");
    let mut body = mail_to("ada@example.com");
    body["variables"] = json!({});
    let refused = app.post("/v1/sending", body);
    assert_eq!((refused.refusal().0, refused.body["data"]["field"].as_str()), (400, Some("variables")), "{refused:?}");
    assert!(refused.refusal().2.contains("order"), "{refused:?}");
    assert_eq!(app.get("/v1/metrics/sending").data()["today"]["reserved"], 0, "rejected sends reserve no quota");
}

#[test]
fn a_full_queue_is_refused_with_a_time_to_retry() {
    let app = TestApp::new();
    let account = app.account();
    // The test plan allows a million recipients per second and ten seconds' worth of queued direct sends, so 20 million exceed the
    // limit.
    let wait = move |tx: &mut WriteTx<'_>| sending::quota::add_waiting(tx, account, 20_000_000);
    app.data().store.write_blocking(wait).expect("the store can be written").expect("the store can be read");
    let refused = app.post("/v1/sending", mail_to("ada@example.com"));
    let message = "Too many emails are queued: 20000000 from direct sends. Try again in 11 seconds.";
    assert_eq!(refused.refusal(), (429, "SENDING_CAPACITY", message));
    let wait_ms = refused.body["data"]["retryAfterMs"].as_u64().expect("the value is a number");
    assert!((10_000..10_100).contains(&wait_ms), "{wait_ms}");
}

#[test]
fn sent_messages_are_counted_by_day_and_month() {
    let app = TestApp::new();
    let metrics = app.get("/v1/metrics/sending?months=1").data();
    assert_eq!((metrics["period"].as_str(), metrics["monthly"]["sent"].as_u64()), (Some("2026-01"), Some(0)), "{metrics}");
    run_to_the_end(&app, id(&app.post("/v1/sending", mail_to("ada@example.com")).data(), "sendId"));
    let metrics = app.get("/v1/metrics/sending").data();
    assert_eq!((metrics["monthly"]["sent"].as_u64(), metrics["today"]["reserved"].as_u64()), (Some(1), Some(0)), "{metrics}");
}

/// Returns an app whose live mail is sent to the test's mail server.
fn live_mill(sink: &MailSink) -> TestApp {
    let relay = Secret::new(format!("smtp://{}", sink.address));
    TestApp::with(move |settings| {
        settings.mail.relay = vec![relay];
        settings.mail.require_verified_domain = false;
    })
}

fn open_live(app: &TestApp, many: usize) -> MailingId {
    let to = (0..many).map(|number| Address { email: format!("p{number}@example.com"), name: None }).collect();
    let new = NewMailing {
        account: app.account(),
        project: None,
        kind: MailingKind::Batch,
        contents: vec![Content { subject: "Hello".into(), html: "<p>Hello {{ email }}</p>".into(), ..Content::default() }],
        from: Sender { address: "news@example.com".into(), name: None, reply_to: None },
        to: To::Addresses(to),
        transactional: false,
        topic: None,
        local: None,
        variables: serde_json::Map::new(),
        tracking: Tracking::default(),
        utm: None,
        campaign_name: None,
        unknown: Policy::Hold,
    };
    let store = &app.engine().data(Environment::Live).store;
    store.write_blocking(move |tx| sending::create(tx, new)).expect("the store can be written").expect("the mailing is valid")
}

fn run_live_until(app: &TestApp, holds: impl Fn(&ReadTx) -> bool) {
    run_in(app, Environment::Live, holds);
}

fn live_counts(app: &TestApp, id: MailingId) -> Counts {
    counts(&app.engine().data(Environment::Live).store.read(), id)
}

fn is_finished(tx: &ReadTx, id: MailingId) -> bool {
    sending::by_id(tx, id).expect("the store can be read").is_some_and(|mailing| mailing.word() == "finished")
}

#[test]
fn live_mail_leaves_through_the_relay_once_per_recipient() {
    let sink = MailSink::usual();
    let app = live_mill(&sink);
    let id = open_live(&app, 300);
    run_live_until(&app, |tx| is_finished(tx, id));
    assert_eq!(live_counts(&app, id).sent, 300);
    let messages = sink.messages();
    let ids: HashSet<&str> = messages.iter().map(|message| message.message_id.as_str()).collect();
    assert_eq!((messages.len(), ids.len()), (300, 300));
    assert!(sink.connections() <= app.engine().settings.mail.connections.count(), "connections are reused");
}

#[test]
fn a_failure_after_the_dot_is_unknown_and_resent_only_on_request() {
    let sink = MailSink::once(SinkCapabilities::default(), SmtpStage::Dot, SinkAction::Close);
    let app = live_mill(&sink);
    let id = open_live(&app, 5);
    run_live_until(&app, |tx| is_finished(tx, id));
    let before = live_counts(&app, id);
    assert_eq!((before.sent, before.unknown), (4, 1), "{before:?}");
    let account = app.account();
    let store = app.engine().data(Environment::Live).store.clone();
    let resent = store
        .write_blocking(move |tx| sending::resend_unknown(tx, account, id))
        .expect("the store can be written")
        .expect("the operation is allowed");
    assert_eq!(resent, 1);
    run_live_until(&app, |tx| is_finished(tx, id));
    assert_eq!(live_counts(&app, id).sent, 5);
}

#[test]
fn a_paused_mailing_with_many_retries_does_not_block_others() {
    let sink = MailSink::usual();
    let app = live_mill(&sink);
    let store = app.engine().data(Environment::Live).store.clone();
    let deferred = |many: u32| {
        let id = open_live(&app, many as usize);
        let defer = move |tx: &mut WriteTx<'_>| {
            let mailing = rows::by_id(tx, id)?.expect("the row exists");
            for number in 0..many {
                let schedule = Schedule { first_pause_ms: 60_000, give_up_ms: 600_000 };
                let event = Event::Deferred { reply: "450 later".into(), schedule };
                let recipient = rows::recipient(tx, id, number)?.expect("the row exists");
                recipients::advance(tx, &mailing, number, &recipient, event)?.expect("the recipient is queued");
            }
            Ok::<_, Error>(())
        };
        store.write_blocking(defer).expect("the store can be written").expect("the store can be read");
        id
    };
    let (paused, other, account) = (deferred(1_500), deferred(1), app.account());
    store
        .write_blocking(move |tx| sending::pause(tx, account, paused))
        .expect("the store can be written")
        .expect("the operation is allowed");
    app.clock.advance_ms(61_000);
    run_live_until(&app, |tx| is_finished(tx, other));
    assert_eq!((live_counts(&app, paused).deferred, sink.count()), (1_500, 1));
    store
        .write_blocking(move |tx| sending::resume(tx, account, paused))
        .expect("the store can be written")
        .expect("the operation is allowed");
    run_live_until(&app, |tx| is_finished(tx, paused));
    assert_eq!(sink.count(), 1_501);
}

#[test]
fn a_relay_outage_loses_no_recipients() {
    let gone = MailSink::usual().address;
    let relay = Secret::new(format!("smtp://{gone}"));
    let app = TestApp::with(move |settings| {
        settings.mail.relay = vec![relay];
        settings.mail.require_verified_domain = false;
    });
    let id = open_live(&app, 3);
    app.wait(async {
        let tasks = Tasks::new(Handle::current());
        start(&tasks, app.engine());
        tasks.raise(Stage::Draining);
        tasks.join(Duration::from_secs(20)).await;
    });
    assert_eq!(live_counts(&app, id).queued, 3);
}

#[test]
fn a_paused_mailing_continues_when_resumed() {
    let sink = MailSink::usual();
    let app = live_mill(&sink);
    let (id, account) = (open_live(&app, 20), app.account());
    let store = app.engine().data(Environment::Live).store.clone();
    store
        .write_blocking(move |tx| sending::pause(tx, account, id))
        .expect("the store can be written")
        .expect("the operation is allowed");
    let other = open_live(&app, 1);
    run_live_until(&app, |tx| is_finished(tx, other));
    assert_eq!((live_counts(&app, id).queued, sink.count()), (20, 1));
    store
        .write_blocking(move |tx| sending::resume(tx, account, id))
        .expect("the store can be written")
        .expect("the operation is allowed");
    run_live_until(&app, |tx| is_finished(tx, id));
    assert_eq!(sink.count(), 21);
}

#[test]
fn a_submitted_update_survives_a_busy_store() {
    let app = TestApp::new();
    let store = app.engine().data(Environment::Test).store.clone();
    let answer = app.wait(async {
        let (go, held) = mpsc::channel::<()>();
        let holding = store.write(move |_| {
            held.recv().expect("the test sends the signal");
            Ok::<_, ()>(())
        });
        tokio::pin!(holding);
        assert!(holding.as_mut().now_or_never().is_none());
        let mut waiting = Vec::new();
        loop {
            let mut one = Box::pin(store.write(|_| Ok::<_, ()>(())));
            match one.as_mut().now_or_never() {
                None => waiting.push(one),
                Some(refused) => {
                    assert_eq!(refused, Err(Error::Busy));
                    break;
                }
            }
        }
        let (writer, entries) = RecipientWriter::new(1);
        let writing = recipient_writer::run(store.clone(), Arc::new(rules(app.engine(), 1)), entries);
        let asking = async {
            let letting_go = async {
                tokio::time::sleep(limits::RECIPIENT_WRITER_BUSY_PAUSE).await;
                go.send(()).expect("the writer waits");
            };
            tokio::join!(writer.submit_and_wait(MailingId::from_bytes([9; 12]), 0, RowUpdate::Claim), letting_go).0
        };
        tokio::select! { () = writing => panic!("the writer ended"), answer = asking => answer }
    });
    assert_eq!(answer, UpdateResult::Refused, "the update is refused because the mailing does not exist");
}

/// Regression test: if a mail server's reply arrived after the contact had been erased, the reply was stored in the erased recipient row
/// and in a delivery event. Such replies often contain the address.
#[test]
fn a_reply_that_arrives_after_the_erasure_is_not_stored() {
    let app = TestApp::new();
    let ada = contact(&app, "ada@example.com", json!({}));
    let direct = id(&app.post_in("/v1/sending", mail_to("ada@example.com")).data(), "sendId");
    let batch = id(&app.post_in("/v1/sending", to_everyone(json!({}))).data(), "batchId");
    while app.wait(sending::plan(app.engine(), Environment::Test)).expect("planning succeeds") {}
    let number = ContactId::parse(&ada).expect("the ID is valid").number();
    let update = |change: fn() -> RowUpdate| {
        let rules = rules(app.engine(), 1);
        let updates =
            [(direct, 0), (batch, number)].map(|(mailing, number)| RecipientUpdate { mailing, number, update: change() });
        let write = move |tx: &mut WriteTx<'_>| recipient_writer::write(tx, &rules, &updates);
        let answers = app.data().store.write_blocking(write).expect("the store can be written");
        assert_eq!(answers.expect("the store can be read"), [UpdateResult::Done, UpdateResult::Done]);
    };
    update(|| RowUpdate::Claim);
    app.delete_in(&format!("/v1/contacts/{ada}")).data();
    let erase = move |tx: &mut WriteTx<'_>| sending::erase(tx, direct, 0);
    app.data().store.write_blocking(erase).expect("the store can be written").expect("the store can be read");
    update(|| RowUpdate::Event(Event::Refused { reply: "550 5.1.1 <ada@example.com>: unknown".into() }));
    let tx = app.read();
    for (mailing, number) in [(direct, 0), (batch, number)] {
        let row = sending::recipient(&tx, mailing, number).expect("the store can be read").expect("the row exists");
        assert!(matches!(&row.delivery, sending::Delivery::Failed { reply, .. } if reply.is_empty()), "{row:?}");
    }
    let later = app.engine().clock.now().plus_ms(60_000);
    assert!(engagement::due_events(&tx, later, 10).expect("the store can be read").is_empty());
}

/// Regression test: one damaged row caused all updates in the transaction to be lost, including mail servers' replies to other messages.
#[test]
fn an_update_of_a_damaged_row_does_not_lose_the_updates_that_are_written_with_it() {
    let app = TestApp::new();
    let create = || id(&app.post("/v1/sending", mail_to("ada@example.com")).data(), "sendId");
    let (damaged, sound) = (create(), create());
    let store = app.engine().data(Environment::Test).store.clone();
    let damage = move |tx: &mut WriteTx<'_>| {
        tx.put_bytes(tables::RECIPIENTS, (damaged, 0_u32).to_bytes(), vec![0xFF]);
        Ok::<_, Error>(())
    };
    store.write_blocking(damage).expect("the store can be written").expect("the write succeeds");
    let answers = app.wait(async {
        let (writer, entries) = RecipientWriter::new(2);
        let writing = recipient_writer::run(store.clone(), Arc::new(rules(app.engine(), 1)), entries);
        let claim = |id| writer.submit_and_wait(id, 0, RowUpdate::Claim);
        let asking = async { tokio::join!(claim(damaged), claim(sound)) };
        // The updates are submitted before the writer starts, so that it writes both in one transaction.
        tokio::select! { biased; answers = asking => answers, () = writing => panic!("the writer ended") }
    });
    assert_eq!(answers, (UpdateResult::Lost, UpdateResult::Done));
}
