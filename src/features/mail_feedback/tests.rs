//! Tests mail services through the request pipeline: events in the services' formats, and their effects.

use http::{HeaderMap, Method};
use serde_json::{Value, json};

use super::*;
use crate::base::random::SeededRandom;
use crate::engine::access::url_token::UrlToken;
use crate::engine::mail::feedback::Refusal;
use crate::engine::mail::feedback::sample::{Content, Sample, sample};
use crate::engine::store::key::Key;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::sending::{self, Address, MailingKind, NewMailing, Policy, Sender, To, Tracking};
use crate::features::{accounts, engagement};
use crate::testing::TestApp;
use crate::vocab::ids::MailingId;
use crate::vocab::{limits, tables};

const TOPIC: &str = "arn:aws:sns:us-east-1:123456789012:bounces";
const WHSEC: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A test app that has sent a message to Ada.
struct Scene {
    app: TestApp,
    mailing: MailingId,
    contact: String,
}

impl Scene {
    fn new() -> Self {
        let app = TestApp::new();
        let made = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let contact = made["id"].as_str().expect("the value is an ID").to_owned();
        let mut scene = Self { app, mailing: MailingId::from_bytes([0; 12]), contact };
        scene.mailing = scene.send();
        scene
    }

    fn send(&self) -> MailingId {
        let new = NewMailing {
            account: self.app.account(),
            project: Some(self.app.project),
            kind: MailingKind::Single,
            contents: vec![sending::Content { subject: "Hello".into(), html: "<p>x</p>".into(), ..Default::default() }],
            from: Sender { address: "hello@acme.example".into(), name: None, reply_to: None },
            to: To::Addresses(vec![Address { email: "ada@example.com".into(), name: None }]),
            transactional: false,
            topic: None,
            variables: serde_json::Map::new(),
            tracking: Tracking { opens: false, clicks: false },
            utm: None,
            campaign_name: None,
            unknown: Policy::Hold,
            local: None,
        };
        let written = self.app.data().store.write_blocking(move |tx| -> Result<_, Failure> {
            let id = sending::create(tx, new)?;
            sending::deliver(tx, id, 0)?;
            Ok(id)
        });
        written.expect("the store works").expect("the mailing is accepted")
    }

    fn token(&self, purpose: Purpose) -> String {
        let token = Token { environment: Environment::Test, mailing: self.mailing, number: 0, purpose };
        Tokens::new(&self.app.engine().seal).local_part(token)
    }

    /// Adds a mail service. Returns its ID and the URL of its webhook.
    fn add(&self, input: Value) -> (String, String) {
        let made = self.app.post("/v1/mail-services", input).data();
        (text(&made["id"]), text(&made["url"]))
    }

    /// Adds a Postmark mail service to another account. Returns the URL of its webhook.
    fn add_of(&self, account: AccountId) -> String {
        let id = MailFeedbackId::from_bytes([8; 12]);
        let token = UrlToken::new(Environment::Test, account, id, &SeededRandom::new(3));
        let (now, url_hash) = (self.app.engine().clock.now(), token.hash());
        let row = model::MailFeedback {
            id,
            account,
            service: MailService::Postmark,
            name: None,
            url_hash,
            sealed_secret: None,
            topics: Vec::new(),
            created_at: now,
            updated_at: now,
        };
        let written = self.app.data().store.write_blocking(move |tx| {
            store::save(tx, &row);
            Ok::<_, crate::engine::store::Error>(())
        });
        written.expect("the store works").expect("the data can be written");
        input::url(self.app.engine(), &token)
    }

    /// Returns a Postmark bounce event about the message, as JSON.
    fn postmark(&self, kind: &str, details: &str) -> String {
        let metadata = json!({ "mailmill": self.token(Purpose::Message) });
        json!({ "RecordType": "Bounce", "Type": kind, "Details": details, "Metadata": metadata }).to_string()
    }

    fn get(&self, id: &str) -> Value {
        self.app.get(&format!("/v1/mail-services/{id}")).data()
    }

    fn post(&self, url: &str, headers: &HeaderMap, body: &str) -> (u16, Value) {
        let headers: Vec<(&'static str, &str)> = ["authorization", "svix-id", "svix-timestamp", "svix-signature"]
            .into_iter()
            .chain(["x-twilio-email-event-webhook-signature", "x-twilio-email-event-webhook-timestamp"])
            .filter_map(|name| Some((name, headers.get(name)?.to_str().expect("ASCII"))))
            .collect();
        let (status, _, reply) = self.app.visit(Method::POST, url, &headers, body);
        (status, serde_json::from_str(&reply).expect("replies are JSON"))
    }

    fn send_sample(&self, url: &str, made: &Sample) -> (u16, Value) {
        self.post(url, &made.headers, std::str::from_utf8(&made.body).expect("the body is JSON"))
    }

    fn sample(&self, service: MailService, secret: Option<&str>, id: &str) -> Sample {
        let token = self.token(Purpose::Message);
        sample(service, secret, &Content { token: &token, id, topic: TOPIC, now: self.app.engine().clock.now() })
    }

    fn status(&self) -> String {
        text(&self.app.get_in(&format!("/v1/contacts/{}", self.contact)).data()["status"])
    }

    fn suppression(&self) -> Value {
        self.app.get("/v1/suppressions").data()["suppressions"][0].clone()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not text")).to_owned()
}

/// Returns a valid secret for a service; `None` for Amazon SES, which has no secret, and for SendGrid, whose samples contain a new key.
fn secret_of(service: MailService) -> Option<&'static str> {
    match service {
        MailService::AmazonSes | MailService::Sendgrid => None,
        MailService::Postmark => Some("user:password"),
        MailService::Mailgun => Some("key-1"),
        MailService::Brevo => Some("token-1"),
        MailService::Resend => Some(WHSEC),
    }
}

/// Amazon SES is tested by `tests/it/mail_services.rs`, with certificates.
const TESTED: [MailService; 5] =
    [MailService::Postmark, MailService::Mailgun, MailService::Sendgrid, MailService::Brevo, MailService::Resend];

#[test]
fn a_hard_bounce_suppresses_the_address_once_and_a_forged_one_does_not() {
    for service in TESTED {
        let scene = Scene::new();
        let made = scene.sample(service, secret_of(service), "request-1");
        let secret = made.secret.as_deref().or(secret_of(service));
        let (id, url) = scene.add(json!({ "service": service, "secret": secret }));
        let forged = Sample { headers: HeaderMap::new(), ..scene.sample(service, Some("forged:x"), "request-2") };
        let (status, reply) = scene.send_sample(&url, &forged);
        assert_eq!((status, &reply["code"]), (401, &json!("INVALID_SIGNATURE")), "{service:?}: {reply}");
        assert_eq!((scene.status().as_str(), scene.suppression()), ("subscribed", Value::Null), "{service:?}");
        assert_eq!(scene.get(&id)["status"], "rejecting");
        scene.app.clock.advance_ms(1_000);
        let (status, reply) = scene.send_sample(&url, &made);
        assert_eq!(
            (status, &reply["data"]["events"], &reply["data"]["unmatched"]),
            (200, &json!(1), &json!(0)),
            "{service:?}: {reply}"
        );
        assert_eq!(scene.status(), "bounced", "{service:?}");
        let suppression = scene.suppression();
        assert_eq!(
            (&suppression["reason"], &suppression["source"]),
            (&json!("bounce_hard"), &json!("mail_service")),
            "{suppression}"
        );
        // A replay has no effect, even after the suppression is removed.
        scene.app.delete("/v1/suppressions/ada%40example.com").data();
        let (status, reply) = scene.send_sample(&url, &made);
        assert_eq!((status, scene.suppression()), (200, Value::Null), "{service:?}: {reply}");
        let shown = scene.get(&id);
        assert_eq!(
            (&shown["status"], &shown["lastRejection"]["reason"]),
            (&json!("active"), &json!(reason_of(service))),
            "{service:?}"
        );
    }
}

/// Returns the expected reason for rejecting a request that is signed with a different key and has no headers. Only Mailgun sends the
/// signature in the body.
fn reason_of(service: MailService) -> &'static str {
    if service == MailService::Mailgun { "signature_wrong" } else { "signature_missing" }
}

#[test]
fn the_bounce_address_and_the_message_id_also_identify_the_message() {
    for event in [
        |token: &str| json!({ "event": "hard_bounce", "message-id": format!("<{token}@acme.example>") }),
        |token: &str| json!({ "event": "hard_bounce", "X-Mailin-custom": format!("other:1|mailmill:{token}") }),
    ] {
        for purpose in [Purpose::Message, Purpose::Bounce, Purpose::Unsubscribe] {
            let scene = Scene::new();
            let (_, url) = scene.add(json!({ "service": "brevo", "secret": "token-1" }));
            let headers: HeaderMap =
                [(http::header::AUTHORIZATION, "Bearer token-1".parse().expect("ASCII"))].into_iter().collect();
            let (status, _) = scene.post(&url, &headers, &event(&scene.token(purpose)).to_string());
            let expected = if purpose == Purpose::Unsubscribe { "subscribed" } else { "bounced" };
            assert_eq!((status, scene.status().as_str()), (200, expected), "{purpose:?}");
        }
    }
}

#[test]
fn blocks_and_soft_bounces_do_not_suppress_and_complaints_do() {
    let scene = Scene::new();
    let (id, url) = scene.add(json!({ "service": "postmark" }));
    let token = scene.token(Purpose::Message);
    let event = |more: Value| {
        let mut event = json!({ "Metadata": { "Mailmill": token } });
        event.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        scene.post(&url, &HeaderMap::new(), &event.to_string())
    };
    assert_eq!(event(json!({ "RecordType": "Bounce", "Type": "Blocked", "Details": "listed" })).0, 200);
    assert_eq!(event(json!({ "RecordType": "Delivery" })).0, 200);
    assert_eq!((scene.status().as_str(), scene.suppression()), ("subscribed", Value::Null));
    assert_eq!(event(json!({ "RecordType": "SpamComplaint", "Type": "SpamComplaint" })).0, 200);
    assert_eq!((scene.status().as_str(), &scene.suppression()["reason"]), ("unsubscribed", &json!("complaint")));
    let shown = scene.get(&id);
    let counts = ["bounces", "complaints", "deliveries", "unsubscribes"].map(|name| shown[name].as_u64().expect("a count"));
    assert_eq!(counts, [1, 1, 1, 0], "{shown}");
}

#[test]
fn an_unsubscribe_applies_once_for_each_message() {
    let scene = Scene::new();
    let (_, url) = scene.add(json!({ "service": "postmark" }));
    let event = json!({
        "RecordType": "SubscriptionChange", "SuppressSending": true, "SuppressionReason": "ManualSuppression", "Origin": "Recipient",
        "Metadata": { "mailmill": scene.token(Purpose::Message) },
    });
    let unsubscribe = || assert_eq!(scene.post(&url, &HeaderMap::new(), &event.to_string()).0, 200);
    let set =
        |status: &str| scene.app.post_in("/v1/contacts/status", json!({ "email": "ada@example.com", "status": status })).data();
    unsubscribe();
    assert_eq!(scene.status(), "unsubscribed");
    set("subscribed");
    unsubscribe();
    assert_eq!(scene.status(), "subscribed", "a replay does not unsubscribe again");
}

#[test]
fn the_id_of_a_request_cannot_be_used_for_another_body() {
    let scene = Scene::new();
    let (id, url) = scene.add(json!({ "service": "mailgun", "secret": "key-1" }));
    let made = scene.sample(MailService::Mailgun, Some("key-1"), "once");
    let body = String::from_utf8(made.body.clone()).expect("the body is JSON");
    assert_eq!(scene.send_sample(&url, &made).0, 200);
    assert_eq!(scene.send_sample(&url, &made).1["data"]["repeated"], true);
    let (status, reply) = scene.post(&url, &HeaderMap::new(), &body.replace("failed", "complained"));
    assert_eq!((status, &reply["code"]), (406, &json!("NEVER_ACCEPTED")), "Mailgun does not repeat the request");
    assert_eq!(scene.get(&id)["lastRejection"]["reason"], "replayed");
    assert_eq!(scene.suppression()["reason"], "bounce_hard", "the complaint was not recorded");
    let scene = Scene { app: scene.app.restarted(), ..scene };
    let (status, _) = scene.post(&url, &HeaderMap::new(), &body.replace("failed", "complained"));
    assert_eq!(status, 406, "a restart does not forget requests");
    scene.app.clock.advance_ms(limits::MAIL_FEEDBACK_AGE_MAX_MS + 1_000);
    assert_eq!(scene.send_sample(&url, &made).0, 401, "the request is too old");
}

#[test]
fn events_about_other_messages_are_counted_and_ignored() {
    let scene = Scene::new();
    let (id, url) = scene.add(json!({ "service": "postmark" }));
    for metadata in [json!({}), json!({ "mailmill": "abcdefghijklmnopqrstuvwxyz234567abcdefghijkl" }), json!(null)] {
        let event = json!({ "RecordType": "Bounce", "Type": "HardBounce", "Details": "x", "Metadata": metadata });
        assert_eq!(scene.post(&url, &HeaderMap::new(), &event.to_string()).1["data"]["unmatched"], 1);
    }
    assert_eq!((scene.get(&id)["unmatchedEvents"].clone(), scene.suppression()), (json!(3), Value::Null));
    for body in ["", "x", "[]", "{}", "{\"RecordType\":1}"] {
        assert_eq!(scene.post(&url, &HeaderMap::new(), body).0, 400, "{body}");
    }
}

// Regression test: one damaged row caused status 500 for the whole request, and all of the service's retries failed, too.
#[test]
fn a_damaged_row_does_not_block_the_other_events_of_a_request() {
    let mut scene = Scene::new();
    let (id, url) = scene.add(json!({ "service": "brevo", "secret": "token-1" }));
    let event = |scene: &Scene| {
        let message_id = format!("<{}@acme.example>", scene.token(Purpose::Message));
        json!({ "event": "hard_bounce", "message-id": message_id })
    };
    let (damaged, of_damaged) = (scene.mailing, event(&scene));
    scene.mailing = scene.send();
    let body = json!([of_damaged, event(&scene)]).to_string();
    let written = scene.app.data().store.write_blocking(move |tx| {
        tx.put_bytes(tables::RECIPIENTS, (damaged, 0_u32).to_bytes(), vec![0xFF]);
        Ok::<_, crate::engine::store::Error>(())
    });
    written.expect("the store works").expect("the data can be written");
    let headers: HeaderMap = [(http::header::AUTHORIZATION, "Bearer token-1".parse().expect("ASCII"))].into_iter().collect();
    let (status, reply) = scene.post(&url, &headers, &body);
    let counts = ["events", "unmatched"].map(|name| reply["data"][name].as_u64());
    assert_eq!((status, counts), (200, [Some(2), Some(1)]), "{reply}");
    assert_eq!((scene.status().as_str(), &scene.get(&id)["bounces"]), ("bounced", &json!(1)));
}

#[test]
fn only_the_installations_own_account_reports_about_the_mail_of_other_accounts() {
    let scene = Scene::new();
    let event = scene.postmark("HardBounce", "550 5.1.1 unknown");
    let report = |account| scene.post(&scene.add_of(account), &HeaderMap::new(), &event).1["data"]["unmatched"].clone();
    assert_eq!((report(AccountId::from_bytes([9; 12])), scene.suppression()), (json!(1), Value::Null));
    scene.app.wait(accounts::welcome(scene.app.engine())).expect("the account is created");
    let own = accounts::installation(scene.app.engine()).expect("the store is readable").expect("the account exists");
    assert_ne!(own, scene.app.account());
    assert_eq!((report(AccountId::from_bytes([9; 12])), scene.suppression()), (json!(1), Value::Null));
    assert_eq!((report(own), &scene.suppression()["reason"]), (json!(0), &json!("bounce_hard")));
}

#[test]
fn a_hard_bounce_after_a_soft_one_takes_effect_once() {
    use engagement::Measure;
    let scene = Scene::new();
    let (_, url) = scene.add(json!({ "service": "postmark" }));
    let send = |kind: &str, details: &str| {
        scene.app.clock.advance_ms(1_000);
        assert_eq!(scene.post(&url, &HeaderMap::new(), &scene.postmark(kind, details)).0, 200);
    };
    let counts = || {
        [Measure::SoftBounces, Measure::HardBounces]
            .map(|measure| engagement::count(&scene.app.read(), scene.mailing, measure).expect("the store is readable"))
    };
    send("Transient", "451 4.7.1 try again later");
    assert_eq!(counts(), [0, 0], "a delay is not a bounce");
    send("SoftBounce", "452 4.2.2 mailbox full");
    assert_eq!((counts(), scene.status().as_str(), scene.suppression()), ([1, 0], "subscribed", Value::Null));
    for _ in 0..2 {
        send("HardBounce", "550 5.1.1 unknown");
        assert_eq!((counts(), scene.status().as_str()), ([0, 1], "bounced"));
        assert_eq!(scene.suppression()["reason"], "bounce_hard");
    }
    scene.app.delete("/v1/suppressions/ada%40example.com").data();
    send("HardBounce", "550 5.1.1 unknown");
    send("SoftBounce", "452 4.2.2 mailbox full");
    assert_eq!((counts(), scene.suppression()), ([0, 1], Value::Null), "a repeat has no effect");
}

#[test]
fn a_request_has_no_effect_after_its_url_was_replaced_or_deleted() {
    let scene = Scene::new();
    let (id, _) = scene.add(json!({ "service": "mailgun", "secret": "key-1" }));
    let source = || store::all(&scene.app.read(), scene.app.account()).expect("the store is readable").remove(0);
    let receive = |source: &model::MailFeedback, secret: &str| {
        let made = scene.sample(MailService::Mailgun, Some(secret), "request-1");
        let (source, body) = (source.clone(), made.body.into());
        let incoming = ingest::Incoming { environment: Environment::Test, source, headers: HeaderMap::new(), body, sample: None };
        scene.app.wait(ingest::receive(scene.app.engine(), incoming))
    };
    let is_absent = |source: &model::MailFeedback| {
        let refused = receive(source, "key-2");
        assert!(matches!(refused, Err(ingest::Rejected::Refused(_))), "{refused:?}");
        let answer = receive(source, "key-1");
        let is_absent = matches!(&answer, Err(ingest::Rejected::Failed(failure)) if failure.code == Code::NotFound);
        assert!(is_absent, "{answer:?}");
        let standing = store::standing(&scene.app.read(), (source.account, source.id)).expect("the store is readable");
        assert_eq!((standing, scene.suppression()), (model::Standing::default(), Value::Null));
    };
    let first = source();
    scene.app.patch(&format!("/v1/mail-services/{id}"), json!({ "newUrl": true })).data();
    is_absent(&first);
    let second = source();
    scene.app.delete(&format!("/v1/mail-services/{id}")).data();
    is_absent(&second);
}

#[test]
fn rejections_are_stored_at_intervals_whatever_their_reason() {
    let scene = Scene::new();
    let (id, url) = scene.add(json!({ "service": "mailgun", "secret": "key-1" }));
    let forged = scene.sample(MailService::Mailgun, Some("key-2"), "request-1");
    let reason = || scene.get(&id)["lastRejection"]["reason"].clone();
    assert_eq!((scene.send_sample(&url, &forged).0, reason()), (401, json!("signature_wrong")));
    scene.app.clock.advance_ms(9_000);
    assert_eq!((scene.post(&url, &HeaderMap::new(), "{}").0, reason()), (401, json!("signature_wrong")));
    scene.app.clock.advance_ms(1_000);
    assert_eq!((scene.post(&url, &HeaderMap::new(), "{}").0, reason()), (401, json!("signature_missing")));
}

/// Mailgun repeats a rejected request for hours unless the status is 406. A wrong secret can be corrected during that time, so the status
/// for a wrong signature must not be 406.
#[test]
fn only_what_no_repeat_can_correct_ends_the_repeats_of_mailgun() {
    let scene = Scene::new();
    for (service, status) in [("mailgun", 401), ("postmark", 400)] {
        let (_, url) = scene.add(json!({ "service": service }));
        assert_eq!(scene.post(&url, &HeaderMap::new(), "[").0, status, "{service}");
    }
    let (_, url) = scene.add(json!({ "service": "mailgun", "secret": "key-1" }));
    assert_eq!(scene.post(&url, &HeaderMap::new(), "[").0, 406);
    assert_eq!(scene.send_sample(&url, &scene.sample(MailService::Mailgun, Some("key-2"), "request-1")).0, 401);
}

#[test]
fn bodies_of_services_with_one_event_are_small() {
    let scene = Scene::new();
    let body = format!("{{\"x\":\"{}\"}}", "x".repeat(limits::MAIL_FEEDBACK_EVENT_BYTES_MAX));
    for (service, status) in [("mailgun", 413), ("resend", 413), ("brevo", 401), ("postmark", 400)] {
        let (_, url) = scene.add(json!({ "service": service }));
        assert_eq!(scene.post(&url, &HeaderMap::new(), &body).0, status, "{service}");
    }
}

#[test]
fn a_certificate_is_read_from_the_cache_after_the_turn_and_an_absent_one_is_remembered() {
    let app = TestApp::new();
    let url = url::Url::parse("https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem").expect("a URL");
    let (engine, now) = (app.engine(), app.engine().clock.now());
    let cache = &engine.sns_certificates;
    let fetched = app.wait(async {
        let mut turns = Vec::new();
        for _ in 0..limits::DRAWN_IMAGES_AT_ONCE {
            turns.push(cache.turn().await);
        }
        let fill = async {
            cache.put(url.as_str(), Some(std::sync::Arc::new(b"not a certificate".to_vec())), now);
            drop(turns);
        };
        tokio::join!(ingest::certificate(engine, &url, now), fill).0
    });
    assert!(matches!(fetched, Err(ingest::Rejected::Refused(Refusal::SignatureWrong))), "{fetched:?}");
    cache.put(url.as_str(), None, now);
    let known = app.wait(ingest::certificate(engine, &url, now));
    let Err(ingest::Rejected::Failed(failure)) = known else { panic!("{known:?}") };
    assert_eq!(failure.message.as_deref(), Some("The signing certificate of Amazon SNS could not be fetched."));
}

#[test]
fn secrets_are_sealed_and_urls_are_shown_once() {
    let scene = Scene::new();
    let (id, url) = scene.add(json!({ "service": "mailgun", "secret": "key-canary-7" }));
    let token = url.rsplit('/').next().expect("a URL has parts").to_owned();
    let shown = format!("{}{:?}", scene.get(&id), scene.app.get("/v1/mail-services"));
    assert!(!shown.contains("canary") && !shown.contains(&token), "{shown}");
    let bytes = std::fs::read(scene.app.data().store.file()).expect("the file can be read");
    for secret in ["key-canary-7", &token] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{secret} is stored");
    }
    let changed = scene.app.patch(&format!("/v1/mail-services/{id}"), json!({ "newUrl": true, "name": "News" })).data();
    let new = text(&changed["url"]);
    let made = scene.sample(MailService::Mailgun, Some("key-canary-7"), "request-1");
    assert_eq!((scene.send_sample(&url, &made).0, scene.send_sample(&new, &made).0), (404, 200));
    let cleared = scene.app.patch(&format!("/v1/mail-services/{id}"), json!({ "secret": null, "name": null })).data();
    assert_eq!((&cleared["secretConfigured"], &cleared["name"], &cleared["url"]), (&json!(false), &Value::Null, &Value::Null));
    assert_eq!(scene.send_sample(&new, &made).0, 401, "no request is accepted without the secret");
    assert_eq!(scene.get(&id)["lastRejection"]["reason"], "secret_missing");
    scene.app.delete(&format!("/v1/mail-services/{id}")).data();
    assert_eq!((scene.send_sample(&new, &made).0, scene.app.get(&format!("/v1/mail-services/{id}")).status), (404, 404));
}

#[test]
fn the_test_button_sends_a_sample_without_effect() {
    let scene = Scene::new();
    for service in MailService::ALL {
        let secret = match service {
            MailService::Sendgrid => scene.sample(service, None, "x").secret,
            _ => secret_of(service).map(str::to_owned),
        };
        let topics = (service == MailService::AmazonSes).then_some([TOPIC]);
        let (id, _) = scene.add(json!({ "service": service, "secret": secret, "topicArns": topics }));
        let test = || scene.app.post(&format!("/v1/mail-services/{id}/test"), json!({})).data();
        let tested = test();
        let is_temporary = matches!(service, MailService::AmazonSes | MailService::Sendgrid);
        assert_eq!((&tested["success"], &tested["temporaryKey"]), (&json!(true), &json!(is_temporary)), "{service:?}: {tested}");
        let shown = scene.get(&id);
        assert_eq!((&shown["status"], &shown["unmatchedEvents"]), (&json!("waiting"), &json!(0)), "a sample is not counted");
        if service.info().needs_secret {
            scene.app.patch(&format!("/v1/mail-services/{id}"), json!({ "secret": null })).data();
            let tested = test();
            assert_eq!((&tested["success"], &tested["reason"]), (&json!(false), &json!("secret_missing")), "{service:?}");
        }
    }
}

#[test]
fn wrong_input_is_refused_with_the_field() {
    let app = TestApp::new();
    for (input, field) in [
        (json!({ "service": "resend", "secret": "re_1" }), "secret"),
        (json!({ "service": "mailgun", "secret": " " }), "secret"),
        (json!({ "service": "mailgun", "secret": "a\u{e9}" }), "secret"),
        (json!({ "service": "postmark", "topicArns": [TOPIC] }), "topicArns"),
        (json!({ "service": "amazon_ses" }), "topicArns"),
        (json!({ "service": "amazon_ses", "topicArns": ["arn:aws:s3:::bucket"] }), "topicArns"),
        (json!({ "service": "other" }), "service"),
    ] {
        let refused = app.post("/v1/mail-services", input.clone());
        assert!(refused.refusal().2.starts_with(&format!("{field}: ")), "{input}: {refused:?}");
    }
    for _ in 0..limits::MAIL_FEEDBACK_MAX {
        app.post("/v1/mail-services", json!({ "service": "postmark" })).data();
    }
    assert_eq!(app.post("/v1/mail-services", json!({ "service": "postmark" })).refusal().1, "LIMIT_REACHED");
}

#[test]
fn the_number_of_remembered_requests_is_limited() {
    let app = TestApp::new();
    let id = MailFeedbackId::from_bytes([5; 12]);
    let written = app.data().store.write_blocking(move |tx| {
        let mut standing = model::Standing { remembered: limits::MAIL_FEEDBACK_REQUESTS_MAX - 1, ..Default::default() };
        let mut arrive = |request: &str| store::remember(tx, id, &mut standing, (request, b"body"));
        let first = [arrive("1")?, arrive("2")?, arrive("1")?];
        Ok::<_, crate::engine::store::Error>((first, arrive("2")?, standing.remembered))
    });
    let (first, second, remembered) = written.expect("the store works").expect("the data can be written");
    use store::Arrival::First;
    assert_eq!((first, second), ([First, First, First], First), "the older of two requests is forgotten");
    assert!(remembered <= limits::MAIL_FEEDBACK_REQUESTS_MAX, "{remembered}");
}
