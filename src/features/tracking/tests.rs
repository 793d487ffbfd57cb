//! Tests what unauthenticated visitors can do with the links in messages. The requests go through the request pipeline.

use http::Method;
use serde_json::{Value, json};

use super::inbound::Received;
use super::*;
use crate::base::email::EmailAddress;
use crate::base::period::Period;
use crate::engine::access::visit_buffer::Visit;
use crate::engine::mail::inbound::Envelope;
use crate::engine::outbox;
use crate::engine::store::{Read, Table, WriteTx};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::contact_records::{self, Contact};
use crate::features::contacts::noncontact_clicks;
use crate::features::engagement::{self, DeliveryEvent, Engagement, Measure};
use crate::features::filters::FilterTree;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::sending::{self, Address, Content, MailingKind, NewMailing, Policy, Sender, To, Tracking};
use crate::features::suppressions::{self, Digester, Reason};
use crate::testing::TestApp;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ContactId, MailingId, TopicId};
use crate::vocab::tables;

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

struct Scene {
    app: TestApp,
    mailing: MailingId,
    contact: String,
}

impl Scene {
    /// Creates a test app with a message to Ada that was delivered a minute ago.
    fn new() -> Self {
        Self::about(|_| None)
    }

    fn about(topic: impl FnOnce(&TestApp) -> Option<TopicId>) -> Self {
        let app = TestApp::new();
        let ada = json!({ "email": "Ada@example.com", "country": "GB", "language": "de-CH" });
        let contact = app.post_in("/v1/contacts", ada).data()["id"].as_str().expect("the field is a string").to_owned();
        let topic = topic(&app);
        let mut scene = Self { app, mailing: MailingId::from_bytes([0; 12]), contact };
        scene.mailing = scene.send(topic);
        scene.app.clock.advance_ms(60_000);
        scene
    }

    /// Sends another message to Ada.
    fn send(&self, topic: Option<TopicId>) -> MailingId {
        self.send_to("ada@example.com", topic)
    }

    fn send_to(&self, email: &'static str, topic: Option<TopicId>) -> MailingId {
        let (account, project) = (self.app.account(), Some(self.app.project));
        let number = ContactId::parse(&self.contact).expect("the ID is valid").number();
        let new = NewMailing {
            account,
            project,
            kind: MailingKind::Single,
            contents: vec![Content {
                subject: "Hello".into(),
                html: "<a href=\"https://example.com/\">x</a>".into(),
                ..Content::default()
            }],
            from: Sender { address: "hello@acme.example".into(), name: Some("Acme".into()), reply_to: None },
            to: To::Addresses(vec![Address { email: email.into(), name: None }]),
            transactional: false,
            topic,
            variables: serde_json::Map::new(),
            tracking: Tracking { opens: true, clicks: true },
            utm: None,
            campaign_name: None,
            unknown: Policy::Hold,
            local: None,
        };
        self.write(move |tx| {
            let id = sending::create(tx, new).expect("the mailing is accepted");
            sending::deliver(tx, id, 0).expect("the write succeeds");
            let sent = Activity { action: Action::Sent, mailing: id, campaign: None, at: tx.now() };
            activity::note(tx, project.expect("the mailing names a project"), &[(number, sent)]).expect("the write succeeds");
            id
        })
    }

    fn write<T: Send + 'static>(&self, write: impl FnOnce(&mut WriteTx<'_>) -> T + Send + 'static) -> T {
        let store = &self.app.data().store;
        store
            .write_blocking(move |tx| Ok::<_, ()>(write(tx)))
            .expect("the write succeeds")
            .expect("the operation accepts the input")
    }

    fn token(&self, purpose: Purpose) -> String {
        let token = Token { environment: Environment::Test, mailing: self.mailing, number: 0, purpose };
        Tokens::new(&self.app.engine().seal).link(token)
    }

    fn get(&self, path: &str, agent: &str) -> (u16, http::HeaderMap, String) {
        self.app.visit(Method::GET, path, &[("user-agent", agent)], "")
    }

    fn post(&self, path: &str, body: &str) -> (u16, http::HeaderMap, String) {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.app.visit(Method::POST, path, &headers, body)
    }

    fn open_pixel(&self, agent: &str) {
        let (status, headers, _) = self.get(&format!("/t/o/{}.gif", self.token(Purpose::Open)), agent);
        assert_eq!((status, headers["content-type"].to_str().expect("the header is ASCII")), (200, "image/gif"));
        // Advance the clock, so that the next visit is counted separately.
        self.app.clock.advance_ms(2_000);
    }

    /// Writes all pending visits and delivery events, and returns the engagement.
    fn settle(&self) -> Engagement {
        self.app.wait(flush(self.app.engine())).expect("the write succeeds");
        while self.app.wait(super::delivery_events::step(self.app.engine(), Environment::Test)).expect("the worker step succeeds")
        {
        }
        engagement::of(&self.app.read(), self.mailing, 0).expect("the store is readable")
    }

    fn status(&self) -> String {
        let contact = self.app.get_in(&format!("/v1/contacts/{}", self.contact)).data();
        contact["status"].as_str().expect("the field is a string").to_owned()
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let waiting = outbox::waiting(&self.app.read(), 100).expect("the store is readable");
        let events = waiting.iter().map(|(_, event)| event.envelope());
        events.filter(|event| event["type"] == kind).map(|event| event["data"].clone()).collect()
    }

    fn count(&self, measure: Measure) -> u64 {
        engagement::count(&self.app.read(), self.mailing, measure).expect("the store is readable")
    }

    fn happens(&self, mailing: MailingId, event: DeliveryEvent) {
        self.write(move |tx| {
            let now = tx.now();
            engagement::schedule_event(tx, now, mailing, 0, &event);
        });
        self.settle();
        self.app.clock.advance_ms(1_000);
    }
}

#[test]
fn opens_are_counted_by_kind_of_visitor() {
    let scene = Scene::new();
    scene.open_pixel(BROWSER);
    scene.open_pixel(BROWSER);
    scene.open_pixel("Mozilla/5.0");
    scene.open_pixel("BarracudaCentral");
    let did = scene.settle();
    assert_eq!((did.opens, did.proxy_opens, did.machine_opens), (2, 1, 1));
    assert_eq!((scene.count(Measure::Opens), scene.count(Measure::UniqueOpens), scene.count(Measure::MachineOpens)), (2, 1, 1));
    let found = |mode: &str| {
        let tree: FilterTree =
            serde_json::from_value(json!({ "activity": [{ "action": "opened", "mode": mode, "unit": "days", "amount": 1 }] }))
                .expect("the JSON is a filter tree");
        let filter = tree.check("filters").expect("the filter is valid");
        filter.count(&scene.app.read(), scene.app.project, scene.app.engine().clock.now()).expect("the store is readable")
    };
    assert_eq!(found("within"), 1, "segments find it");
    assert_eq!(found("before"), 0);
}

#[test]
fn immediate_repeats_count_once_and_head_requests_are_bots() {
    let scene = Scene::new();
    let path = format!("/t/o/{}.gif", scene.token(Purpose::Open));
    scene.get(&path, BROWSER);
    scene.get(&path, BROWSER);
    scene.get(&format!("{path}?fbclid=x"), "Mozilla/5.0 (another)");
    assert_eq!(scene.settle().opens, 2);
    scene.app.clock.advance_ms(2_000);
    scene.app.visit(Method::HEAD, &path, &[("user-agent", BROWSER)], "");
    scene.app.visit(Method::GET, &path, &[("user-agent", "Mozilla/5.0 (third)"), ("sec-purpose", "prefetch;prerender")], "");
    let did = scene.settle();
    assert_eq!((did.opens, did.machine_opens), (2, 2));
}

#[test]
fn invalid_tokens_and_tokens_for_another_purpose_are_not_found() {
    let scene = Scene::new();
    let view = scene.token(Purpose::View);
    for path in ["/t/c/none", &format!("/t/c/{view}"), &format!("/u/{view}"), &format!("/u/{view}/preferences"), "/u/x"] {
        let (status, headers, body) = scene.get(path, BROWSER);
        assert_eq!(status, 404, "{path}");
        assert!(
            headers["content-security-policy"].to_str().expect("the header is ASCII").starts_with("default-src 'none'"),
            "{path}"
        );
        assert!(body.contains("<h1>This link does not work</h1>"), "{body}");
    }
    assert_eq!(scene.get(&format!("/t/o/{view}.gif"), BROWSER).0, 404);
    assert_eq!(scene.post("/u/none", "List-Unsubscribe=One-Click").0, 404);
    assert_eq!(scene.settle(), Engagement::default());
}

#[test]
fn viewing_the_page_changes_nothing_and_one_click_unsubscribes_once() {
    let scene = Scene::new();
    let path = format!("/u/{}", scene.token(Purpose::Unsubscribe));
    let (status, _, body) = scene.get(&path, BROWSER);
    assert_eq!(status, 200);
    assert!(body.contains("<html lang=\"de\">") && body.contains("Ada@example.com") | body.contains("ada@example.com"), "{body}");
    assert_eq!(scene.status(), "subscribed");
    for _ in 0..2 {
        let (status, headers, body) = scene.post(&path, "List-Unsubscribe=One-Click");
        assert_eq!((status, body.as_str()), (200, "Unsubscribed.\n"));
        assert!(!headers.contains_key("location") && !headers.contains_key("set-cookie"));
    }
    assert_eq!(scene.status(), "unsubscribed");
    let emitted = scene.events("subscriber.unsubscribed");
    assert_eq!(emitted.len(), 1, "{emitted:?}");
    assert_eq!((&emitted[0]["action"], &emitted[0]["source"]), (&json!("unsubscribed"), &json!("one_click")));
    assert_eq!(scene.count(Measure::Unsubscribes), 1);
}

#[test]
fn the_first_button_unsubscribes_from_the_topic_and_the_second_from_everything() {
    let scene = Scene::about(|app| {
        let made = json!({ "name": "Offers", "defaultSubscription": "opt_in", "visibility": "public" });
        TopicId::parse(app.post_in("/v1/topics", made).data()["id"].as_str().expect("the field is a string"))
    });
    let path = format!("/u/{}", scene.token(Purpose::Unsubscribe));
    let (_, _, asks) = scene.get(&path, BROWSER);
    assert_eq!(asks.matches("<button").count(), 2, "{asks}");
    scene.post(&path, "List-Unsubscribe=One-Click");
    assert_eq!(scene.status(), "subscribed");
    let preferences = format!("/u/{}/preferences", scene.token(Purpose::Preferences));
    let (_, _, page) = scene.get(&preferences, BROWSER);
    assert!(page.contains("Offers") && !page.contains("checked"), "{page}");
    assert_eq!(scene.events("subscriber.unsubscribed")[0]["action"], "topic_left");
    let (_, _, done) = scene.post(&path, "scope=all");
    assert!(done.contains("Sie sind abgemeldet"), "{done}");
    assert_eq!(scene.status(), "unsubscribed");
    let emitted = scene.events("subscriber.unsubscribed");
    assert!(emitted.iter().any(|event| event["action"] == "unsubscribed" && event["source"] == "link"), "{emitted:?}");
}

#[test]
fn choices_are_saved_and_only_an_explicit_request_resubscribes() {
    let scene = Scene::new();
    let topic = |name: &str, visibility: &str| {
        let made = json!({ "name": name, "defaultSubscription": "opt_out", "visibility": visibility });
        scene.app.post_in("/v1/topics", made).data()["id"].as_str().expect("the field is a string").to_owned()
    };
    let (news, secret) = (topic("News", "public"), topic("Secret", "private"));
    let path = format!("/u/{}/preferences", scene.token(Purpose::Preferences));
    assert!(!scene.get(&path, BROWSER).2.contains("Secret"), "private topics are not shown");
    let (status, _, body) = scene.post(&path, &format!("topic={news}&topic={secret}&act=save"));
    assert_eq!((status, body.matches("checked").count()), (200, 1), "{body}");
    let (_, _, left) = scene.post(&path, "act=leave");
    assert!(left.contains("abgemeldet"), "{left}");
    assert_eq!(scene.status(), "unsubscribed");
    scene.post(&path, &format!("topic={news}&act=save"));
    assert_eq!(scene.status(), "unsubscribed", "choosing a topic alone does not resubscribe");
    scene.post(&path, &format!("topic={news}&again=1&act=save"));
    assert_eq!(scene.status(), "subscribed");
}

#[test]
fn one_hard_or_five_consecutive_soft_bounces_suppress_an_address_but_content_bounces_never_do() {
    let refused = |reply: &str| DeliveryEvent::Refused { reply: reply.into() };
    let scene = Scene::new();
    for _ in 0..6 {
        let id = scene.send(None);
        scene.happens(id, refused("554 5.7.1 message content rejected as spam"));
    }
    for _ in 0..4 {
        let id = scene.send(None);
        scene.happens(id, refused("552 5.2.2 mailbox full"));
    }
    assert_eq!(scene.status(), "subscribed");
    // A delivery between two bounces restarts the count.
    scene.send(None);
    scene.app.clock.advance_ms(1_000);
    for number in 0..5 {
        assert_eq!(scene.status(), "subscribed", "after {number}");
        let id = scene.send(None);
        scene.happens(id, refused("552 5.2.2 mailbox full"));
    }
    let scene = Scene::new();
    scene.happens(scene.mailing, refused("550 5.1.1 no such user"));
    assert_eq!(scene.status(), "bounced");
    assert_eq!(scene.settle().bounce.map(|bounce| bounce.class).as_deref(), Some("hard"));
    let listed = scene.app.get("/v1/suppressions").data();
    assert_eq!(listed["suppressions"][0]["reason"], "bounce_hard", "{listed}");
    scene.happens(scene.mailing, refused("550 5.1.1 no such user"));
    assert_eq!(scene.count(Measure::HardBounces), 1, "a repeated report is counted once");
}

// Regression: a rejected message, which counts as failed, was counted again as a bounce if its reply was classified on a later day.
#[test]
fn a_rejected_message_is_counted_as_failed_only() {
    let scene = Scene::new();
    let (list, id) = (SuppressionList::new(scene.app.engine()), scene.mailing);
    let is_new = scene.write(move |tx| {
        let found = recipient::MessageRecipient::find(tx, id, 0).expect("the store is readable");
        let mut rejected = found.expect("the recipient row exists");
        rejected.recipient.delivery = sending::Delivery::Failed { at: tx.now(), reply: String::new() };
        let bounce = (model::Bounce::Hard, suppressions::Source::Smtp);
        bounces::bounced(tx, &list, &rejected, bounce, "550 5.1.1").expect("the write succeeds")
    });
    assert_eq!((is_new, scene.count(Measure::HardBounces), scene.status().as_str()), (true, 0, "bounced"));
}

#[test]
fn a_complaint_unsubscribes_and_emits_an_event() {
    let scene = Scene::new();
    scene.happens(scene.mailing, DeliveryEvent::Complaint);
    assert_eq!(scene.status(), "unsubscribed");
    assert_eq!(scene.events("subscriber.unsubscribed")[0]["source"], "complaint");
    assert!(scene.settle().complained_at.is_some());
}

#[test]
fn an_erased_contact_is_in_no_recipient_row_and_in_no_event() {
    let scene = Scene::new();
    scene.open_pixel(BROWSER);
    scene.settle();
    let path = format!("/v1/contacts/{}/personal-data", scene.contact);
    let kept = scene.app.get_in(&path).data();
    assert_eq!((&kept["profile"]["email"], kept["activity"].as_array().map(Vec::len)), (&json!("Ada@example.com"), Some(1)));
    scene.post(&format!("/u/{}", scene.token(Purpose::Unsubscribe)), "List-Unsubscribe=One-Click");
    scene.app.delete_in(&format!("/v1/contacts/{}", scene.contact)).data();
    while scene.app.wait(erase(scene.app.engine(), Environment::Test)).expect("the erasure succeeds") {}
    let recipient = sending::recipient(&scene.app.read(), scene.mailing, 0)
        .expect("the store is readable")
        .expect("the recipient row exists");
    let written = format!("{recipient:?}");
    assert!(!written.contains("ada@") && !written.contains("250 ok"), "{written}");
    assert_eq!(engagement::of(&scene.app.read(), scene.mailing, 0).expect("the store is readable"), Engagement::default());
    assert_eq!(scene.count(Measure::Opens), 1, "anonymous totals remain after an erasure");
    assert!(scene.events("subscriber.added").is_empty());
    let emitted = scene.events("subscriber.unsubscribed");
    assert_eq!((emitted.len(), &emitted[0]["action"]), (1, &json!("deleted")), "other systems get the deletion event");
    let listed = scene.app.get("/v1/suppressions").data();
    assert_eq!((&listed["suppressions"][0]["reason"], &listed["suppressions"][0]["email"]), (&json!("erased"), &Value::Null));
    assert_eq!(scene.app.get_in(&path).refusal().0, 404);
    let unsubscribe = format!("/u/{}", scene.token(Purpose::Unsubscribe));
    assert_eq!(scene.get(&unsubscribe, BROWSER).0, 404);
}

/// An address with an invisible character. Only older versions accepted such addresses.
const OLDER: &str = "Ad\u{200d}a@example.com";

impl Scene {
    /// Returns a test app with a message to Ada at an address that only older versions accepted.
    fn with_an_older_address() -> Self {
        let mut scene = Self::new();
        let (project, number) = (scene.app.project, ContactId::parse(&scene.contact).expect("the ID is valid").number());
        scene.write(move |tx| {
            let digest = |email: &str| {
                contact_records::email_digest(&EmailAddress::stored(email).expect("the address is valid").normalized())
            };
            let before =
                contact_records::by_number(tx, project, number).expect("the store is readable").expect("the contact exists");
            contact_records::change(tx, project, |tx, changes| changes.remove(tx, &before, digest(&before.email)))
                .expect("the removal succeeds");
            let after = Contact { email: OLDER.into(), ..before };
            let put = |tx: &mut WriteTx<'_>, changes: &mut contact_records::Changes| {
                changes.add(tx, &after, digest(OLDER));
                Ok::<_, crate::engine::store::Error>(())
            };
            contact_records::change(tx, project, put).expect("the write succeeds");
        });
        scene.mailing = scene.sent_to_older("ad\u{200d}a@example.com");
        scene
    }

    /// Sends a message to an address that only older versions accepted.
    fn sent_to_older(&self, older: &'static str) -> MailingId {
        const RECIPIENT_ROWS: Table<(MailingId, u32), sending::Recipient> = Table::new(tables::RECIPIENTS);
        let mailing = self.send_to("ada@example.com", None);
        self.write(move |tx| {
            let mut row =
                tx.get(RECIPIENT_ROWS, &(mailing, 0)).expect("the store is readable").expect("the recipient row exists");
            row.address.as_mut().expect("the recipient row has an address").email = older.into();
            tx.put(RECIPIENT_ROWS, &(mailing, 0), &row);
        });
        mailing
    }

    fn reason(&self, normalized: &str) -> Option<Reason> {
        let (digester, account) = (Digester::new(&self.app.engine().seal), self.app.account());
        suppressions::reason(&self.app.read(), &digester, account, normalized).expect("the store is readable")
    }
}

#[test]
fn a_contact_whose_address_is_no_longer_valid_can_unsubscribe() {
    let scene = Scene::with_an_older_address();
    let other = scene.app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
    scene.post(&format!("/u/{}", scene.token(Purpose::Unsubscribe)), "List-Unsubscribe=One-Click");
    assert_eq!(scene.status(), "unsubscribed");
    let other = scene.app.get_in(&format!("/v1/contacts/{}", other.as_str().expect("the field is a string"))).data();
    assert_ne!(other["status"], "unsubscribed", "the address without the joiner belongs to another contact");
    // A recipient whose address only older versions accepted can unsubscribe even without being a contact.
    let scene = Scene { mailing: scene.sent_to_older("gr\u{200d}ace@example.com"), ..scene };
    scene.post(&format!("/u/{}", scene.token(Purpose::Unsubscribe)), "List-Unsubscribe=One-Click");
    assert_eq!((scene.reason("gr\u{200d}ace@example.com"), scene.reason("grace@example.com")), (Some(Reason::Unsubscribe), None));
}

#[test]
fn a_contact_whose_address_is_no_longer_valid_can_be_erased() {
    let scene = Scene::with_an_older_address();
    scene.post(&format!("/u/{}", scene.token(Purpose::Unsubscribe)), "List-Unsubscribe=One-Click");
    scene.app.delete_in(&format!("/v1/contacts/{}", scene.contact)).data();
    while scene.app.wait(erase(scene.app.engine(), Environment::Test)).expect("the erasure succeeds") {}
    let recipient = sending::recipient(&scene.app.read(), scene.mailing, 0)
        .expect("the store is readable")
        .expect("the recipient row exists");
    assert!(!format!("{recipient:?}").contains("a@example.com"), "{recipient:?}");
    assert_eq!((scene.reason("ad\u{200d}a@example.com"), scene.reason("ada@example.com")), (Some(Reason::Erased), None));
    let digest = contact_records::email_digest("ad\u{200d}a@example.com");
    let found = contact_records::number_by_digest(&scene.app.read(), scene.app.project, digest).expect("the store is readable");
    assert_eq!(found, None, "the address can be used again");
}

/// Returns a bounce report in Postfix's format.
fn report(status: &str, words: &str) -> String {
    let action = if status.starts_with('4') { "delayed" } else { "failed" };
    format!(
        "From: MAILER-DAEMON@mx.example.com\r\nTo: unknown@acme.example\r\nSubject: Undelivered Mail Returned to Sender\r\n\
         Auto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=\"b\"\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nI'm sorry.\r\n\
         --b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example.com\r\n\r\n\
         Final-Recipient: rfc822; ada@example.com\r\nAction: {action}\r\nStatus: {status}\r\nDiagnostic-Code: smtp; {words}\r\n\r\n\
         --b--\r\n"
    )
}

impl Scene {
    /// Passes a message to the inbound handler. Returns `None` if this installation does not receive mail for the message's address;
    /// otherwise, returns whether the message was handled.
    fn receive(&self, mark: char, purpose: Purpose, message: &str) -> Option<bool> {
        // Reports have an empty envelope sender; other messages have a sender address.
        let sender = if message.contains("multipart/report") { "" } else { "ada@example.com" };
        let token = Token { environment: Environment::Test, mailing: self.mailing, number: 0, purpose };
        let token = Tokens::new(&self.app.engine().seal).local_part(token);
        let recipient = format!("{mark}+{token}@bounces.acme.example");
        let envelope = Envelope { sender, recipient: &recipient };
        let engine = self.app.engine();
        let receive = || self.app.wait(inbound::receive(engine, message.as_bytes(), &envelope)).expect("the store is writable");
        is_ours(engine, &recipient).then(|| receive() == Received::Handled)
    }
}

#[test]
fn a_report_counts_only_with_a_valid_token_and_a_delay_report_changes_nothing() {
    let scene = Scene::new();
    let hard = report("5.1.1", "550 5.1.1 <ada@example.com>: user unknown");
    // The token is signed for a different purpose, so the report has no effect.
    assert_eq!(scene.receive('b', Purpose::Unsubscribe, &hard), None);
    assert!(!is_ours(scene.app.engine(), "b+mfrggzdfmztwq2lknnwg23tpobyxe43uov3ho6dzpi@acme.example"));
    assert_eq!(scene.status(), "subscribed");
    assert_eq!(scene.receive('b', Purpose::Bounce, &report("4.4.1", "connect timed out")), Some(true));
    assert_eq!(scene.status(), "subscribed");
    assert_eq!(scene.receive('b', Purpose::Bounce, &hard), Some(true));
    assert_eq!(scene.receive('b', Purpose::Bounce, &hard), Some(true));
    assert_eq!(scene.status(), "bounced");
    assert_eq!(scene.count(Measure::HardBounces), 1);
}

#[test]
fn mail_to_the_unsubscribe_address_unsubscribes_unless_it_is_an_automatic_reply() {
    let scene = Scene::new();
    let message = |more: &str| format!("From: ada@example.com\r\nSubject: unsubscribe\r\n{more}\r\nbye\r\n");
    assert_eq!(scene.receive('u', Purpose::Unsubscribe, &message("Auto-Submitted: auto-replied\r\n")), Some(false));
    assert_eq!(
        scene.receive('b', Purpose::Bounce, &message("")),
        Some(false),
        "a message to the bounce address requests nothing"
    );
    assert_eq!(scene.status(), "subscribed");
    assert_eq!(scene.receive('u', Purpose::Unsubscribe, &message("")), Some(true));
    assert_eq!(scene.status(), "unsubscribed");
    assert_eq!(scene.events("subscriber.unsubscribed")[0]["source"], "mailto");
}

#[test]
fn a_click_counts_and_redirects_only_to_the_mailings_link() {
    let scene = Scene::new();
    let path = format!("/t/c/{}", scene.token(Purpose::Click(0)));
    let (status, headers, _) = scene.get(&format!("{path}?url=https://evil.example"), BROWSER);
    assert_eq!((status, headers["location"].to_str().expect("the header is ASCII")), (302, "https://example.com/"));
    assert_eq!(headers["cache-control"].to_str().expect("the header is ASCII"), "no-store");
    assert_eq!(scene.get(&format!("/t/c/{}", scene.token(Purpose::Click(9))), BROWSER).0, 404);
    let did = scene.settle();
    assert_eq!((did.clicks, did.opens, scene.count(Measure::UniqueOpens)), (1, 1, 1), "a click implies an open");
}

#[test]
fn a_click_redirects_with_the_utm_parameters_of_the_time_of_sending() {
    let mut scene = Scene::new();
    scene.app.post("/v1/domains", json!({ "domain": "acme.example" })).data();
    let mark = |utm: Value| drop(scene.app.patch("/v1/domains/acme.example", json!({ "utm": utm })).data());
    mark(json!({ "campaign": "Spring & Co" }));
    let marked = scene.send(None);
    mark(Value::Null);
    let plain = scene.send(None);
    for (mailing, leads_to) in [
        (marked, "https://example.com/?utm_source=acme.example&utm_medium=email&utm_campaign=Spring+%26+Co"),
        (plain, "https://example.com/"),
    ] {
        scene.mailing = mailing;
        let (status, headers, _) = scene.get(&format!("/t/c/{}", scene.token(Purpose::Click(0))), BROWSER);
        assert_eq!((status, headers["location"].to_str().expect("the header is ASCII")), (302, leads_to));
    }
}

#[test]
fn many_clicks_right_after_delivery_are_attributed_to_a_scanner() {
    let scene = Scene::new();
    let mailing = scene.send(None);
    scene.app.clock.advance_ms(1_000);
    let visit = |link: u16, at| Visit {
        mailing,
        recipient: 0,
        link: Some(link),
        at,
        agent: BROWSER.into(),
        is_head: false,
        is_prefetch: false,
    };
    let at = scene.app.engine().clock.now();
    let first = vec![visit(0, at), visit(1, at.plus_ms(100))];
    scene.write(move |tx| visits::record(tx, &first)).expect("the write succeeds");
    let did = engagement::of(&scene.app.read(), mailing, 0).expect("the store is readable");
    assert_eq!((did.clicks, did.opens), (2, 1));
    let rest = vec![visit(2, at.plus_ms(200)), visit(3, at.plus_ms(300))];
    scene.write(move |tx| visits::record(tx, &rest)).expect("the write succeeds");
    let did = engagement::of(&scene.app.read(), mailing, 0).expect("the store is readable");
    assert_eq!((did.clicks, did.opens, did.machine_clicks), (0, 0, 4));
    let count = |measure| engagement::count(&scene.app.read(), mailing, measure).expect("the store is readable");
    assert_eq!((count(Measure::UniqueClicks), count(Measure::UniqueOpens), count(Measure::MachineClicks)), (0, 0, 4));
    let number = ContactId::parse(&scene.contact).expect("the ID is valid").number();
    let activities = activity::of(&scene.app.read(), scene.app.project, number, 10).expect("the store is readable");
    assert!(activities.iter().all(|activity| activity.action == Action::Sent), "{activities:?}");
}

#[test]
fn clicks_of_noncontacts_are_kept_unless_by_a_bot_and_are_erased_with_the_contact() {
    let scene = Scene::new();
    let project = scene.app.project;
    let clicks = |mailing, links: &[u16], after_ms: i64| {
        let at = scene.app.engine().clock.now().plus_ms(after_ms);
        let visit = |link: &u16| Visit {
            mailing,
            recipient: 0,
            link: Some(*link),
            at,
            agent: BROWSER.into(),
            is_head: false,
            is_prefetch: false,
        };
        let visits: Vec<Visit> = links.iter().map(visit).collect();
        scene.write(move |tx| visits::record(tx, &visits)).expect("the write succeeds");
    };
    let grace = "grace@example.com".parse().expect("the address is valid");
    let last = || {
        let found =
            noncontact_clicks::last_click(&scene.app.read(), project, &grace, Period::ALWAYS).expect("the store is readable");
        found.map(|(_, mailing)| mailing)
    };
    let (first, second) = (scene.send_to("Grace@example.com", None), scene.send_to("grace@EXAMPLE.com", None));
    clicks(first, &[0], 60_000);
    clicks(second, &[0, 1], 61_000);
    assert_eq!(last(), Some(second));
    // Clicks on all links soon after delivery are attributed to a scanner, whether the clicks are recorded in one write or in two.
    let (third, fourth) = (scene.send_to("grace@example.com", None), scene.send_to("grace@example.com", None));
    clicks(third, &[0, 1, 2, 3], 1_000);
    clicks(fourth, &[0, 1], 2_000);
    assert_eq!(last(), Some(second), "the latest click is returned, regardless of the latest message");
    clicks(fourth, &[2, 3], 2_500);
    assert_eq!(last(), Some(second));
    let of_machines = Period { to: scene.app.engine().clock.now().plus_ms(10_000), ..Period::ALWAYS };
    assert_eq!(
        noncontact_clicks::last_click(&scene.app.read(), project, &grace, of_machines).expect("the store is readable"),
        None
    );

    let contact = scene.app.post_in("/v1/contacts", json!({ "email": "grace@example.com" })).data()["id"].clone();
    scene.app.delete_in(&format!("/v1/contacts/{}", contact.as_str().expect("the field is a string"))).data();
    while scene.app.wait(erase(scene.app.engine(), Environment::Test)).expect("the erasure succeeds") {}
    assert_eq!(last(), None);
}
