//! Tests the events of mail services on the shipped server: a bounce, a block and a complaint from each service about messages of a
//! campaign, forged and replayed requests, restarts and a load test.
//!
//! The relays have the names of the services, and SNS has its own certificates; `support/redirect.rs` leads both to this machine.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::campaigns::{act, becomes};
use super::delivery::{draft, email};
use super::support::client::Call;
use super::support::mail_services::{self, Amazon, Kind, RelayedMessage, Request, Sendgrid};
use super::support::mail_sink::MailSink;
use super::support::server::BOUNDLESS;
use super::support::{Client, Reply, Server, operation, redirect};

const SERVICES: [&str; 6] = ["amazon_ses", "postmark", "mailgun", "sendgrid", "brevo", "resend"];
const HOSTS: [&str; 6] = [
    "email-smtp.us-east-1.amazonaws.com",
    "smtp.postmarkapp.com",
    "smtp.mailgun.org",
    "smtp.sendgrid.net",
    "smtp-relay.brevo.com",
    "smtp.resend.com",
];
const CASES: [Kind; 3] = [Kind::Bounce, Kind::Block, Kind::Complaint];

/// The HTTPS server of SNS: serves the signing certificate and confirms subscriptions.
struct SnsHost {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl SnsHost {
    fn start(amazon: &Amazon) -> Self {
        let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![amazon.host_certificate.clone()], amazon.host_key.clone_key())
            .expect("a certificate");
        let (config, pem) = (Arc::new(config), amazon.signing_pem.clone());
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let (address, asked) = (listener.local_addr().expect("bound"), Arc::new(Mutex::new(Vec::new())));
        let seen = asked.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
                let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).expect("a session"), stream);
                let mut bytes = [0; 4_096];
                // A client may close the connection early.
                let Ok(count) = stream.read(&mut bytes) else { continue };
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let target = text.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = if target.ends_with(".pem") { pem.as_str() } else { "<ConfirmSubscriptionResponse/>" };
                seen.lock().expect("no panic").push(target);
                let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        };
        std::thread::Builder::new().name("sns".into()).spawn(serve).expect("a thread");
        Self { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

/// A server whose relays are those of the services, and a campaign with a contact for each service and case.
struct Scene {
    server: Server,
    client: Client,
    project: String,
    messages: BTreeMap<String, RelayedMessage>,
    amazon: Amazon,
    sendgrid: Sendgrid,
    sns: SnsHost,
    /// The ID and the URL of each mail service.
    webhooks: BTreeMap<&'static str, (String, String)>,
    _sink: MailSink,
}

fn address(service: &str, case: &str) -> String {
    format!("{service}-{case}@example.com")
}

impl Scene {
    async fn new() -> Option<Self> {
        let (sink, amazon, sendgrid) = (MailSink::usual(), Amazon::new(), Sendgrid::new());
        let sns = SnsHost::start(&amazon);
        let relays: Vec<String> = HOSTS.map(|host| format!("\"smtp://{host}:{}?tls=off\"", sink.address.port())).into();
        let settings = format!(
            "{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n[mail]\nrelay = [{}]\nrequire_verified_domain = false\n",
            relays.join(", ")
        );
        let mut server = Server::stopped(&settings);
        let roots = server.data().with_file_name("roots.pem");
        std::fs::write(&roots, &amazon.root_pem).expect("written");
        let hosts = [HOSTS.as_slice(), &[mail_services::REGION_HOST]].concat();
        server.set_environment(redirect::environment(&hosts, sns.address.port(), &roots)?);
        server.serve();
        let client = server.client("live", "all");
        let project = client.project("Feedback").await;
        let cases = ["bounce", "block", "complaint", "forged", "spare"];
        let all: Vec<String> = SERVICES.iter().flat_map(|service| cases.map(|case| address(service, case))).collect();
        let contacts: Vec<Value> = all.iter().map(|email| json!({ "email": email, "status": "subscribed" })).collect();
        let done = client.data("contacts.bulk", json!({ "projectId": project, "subscribers": contacts })).await;
        assert_eq!(done["success"], all.len(), "{done}");
        let conversation = email(&client, &project).await;
        let campaign = draft(&client, &project, &conversation, "Feedback").await;
        act(&client, "send", &campaign).await;
        becomes(&client, &campaign, "sent").await;
        let messages = sink.messages();
        let accepted = messages.iter().map(RelayedMessage::read).map(|message| (message.recipient.clone(), message));
        let mut scene = Self {
            messages: accepted.collect(),
            webhooks: BTreeMap::new(),
            server,
            client,
            project,
            amazon,
            sendgrid,
            sns,
            _sink: sink,
        };
        assert_eq!(scene.messages.len(), all.len());
        for service in SERVICES {
            let made = scene.client.data("mail_feedback.create", scene.input(service)).await;
            let text = |name: &str| made[name].as_str().expect("text").to_owned();
            scene.webhooks.insert(service, (text("id"), text("url")));
        }
        Some(scene)
    }

    fn input(&self, service: &str) -> Value {
        let secret = match service {
            "postmark" => json!(mail_services::POSTMARK_PAIR),
            "mailgun" => json!(mail_services::MAILGUN_KEY),
            "sendgrid" => json!(self.sendgrid.verification_key()),
            "brevo" => json!(mail_services::BREVO_TOKEN),
            "resend" => json!(mail_services::RESEND_SECRET),
            _ => return json!({ "service": service, "topicArns": [mail_services::TOPIC] }),
        };
        json!({ "service": service, "secret": secret })
    }

    /// Returns the request of a service about the message to this address.
    fn request(&self, service: &str, kind: Kind, to: &str) -> Request {
        let (message, now) = (&self.messages[to], jiff::Timestamp::now());
        let (seconds, id) = (now.as_second(), format!("{to}-{kind:?}"));
        match service {
            "amazon_ses" => self.amazon.notification(message, kind, &id, &format!("{now:.3}")),
            "postmark" => mail_services::postmark(message, kind),
            "mailgun" => mail_services::mailgun(message, kind, &id, seconds),
            "sendgrid" => self.sendgrid.request(&[(message, kind)], seconds),
            "brevo" => mail_services::brevo(message, kind),
            "resend" => mail_services::resend(message, kind, &id, seconds),
            other => panic!("{other}"),
        }
    }

    async fn post(&self, service: &str, request: &Request) -> Reply {
        let (_, url) = &self.webhooks[service];
        let token = url.rsplit('/').next().expect("a URL has parts");
        let mut call = Call::new(operation("mail_feedback.receive"), json!({ "token": token }));
        call = call.body("application/json", request.body.clone());
        for (name, value) in &request.headers {
            call = call.header(name, value.clone());
        }
        self.client.with_key(None).try_send(call).await.expect("the server answers")
    }

    async fn contact(&self, email: &str) -> String {
        let page = self.client.data("contacts.list", json!({ "projectId": self.project, "limit": 100 })).await;
        let contacts = page["contacts"].as_array().expect("a list");
        let found = contacts.iter().find(|contact| contact["email"] == email).unwrap_or_else(|| panic!("{email}: {page}"));
        found["status"].as_str().expect("a word").to_owned()
    }

    async fn suppressed(&self, email: &str) -> Option<(String, String)> {
        let found = self.client.data("suppressions.list", json!({ "email": email })).await;
        let row = found["suppressions"].as_array().expect("a list").first()?.clone();
        let text = |name: &str| row[name].as_str().expect("a word").to_owned();
        Some((text("reason"), text("source")))
    }

    async fn shown(&self, service: &str) -> Value {
        self.client.data("mail_feedback.get", json!({ "mailServiceId": self.webhooks[service].0 })).await
    }
}

/// Returns the request with a signature or secret of another key.
fn forged(service: &str, request: &Request) -> Request {
    let mut forged = request.clone();
    match service {
        "amazon_ses" => {
            let mut body: Value = serde_json::from_str(&forged.body).expect("JSON");
            body["Message"] = format!("{} ", body["Message"].as_str().expect("text")).into();
            forged.body = body.to_string();
        }
        "mailgun" => {
            let mut body: Value = serde_json::from_str(&forged.body).expect("JSON");
            body["signature"]["token"] = "other".into();
            forged.body = body.to_string();
        }
        "sendgrid" | "resend" => forged.body.push(' '),
        _ => forged.headers = vec![("authorization", "Bearer guessed".into())],
    }
    forged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_of_every_service_have_their_effect_and_forged_ones_do_not() {
    let Some(scene) = Scene::new().await else { return };
    println!("service | case | status | contact | suppression");
    for service in SERVICES {
        for (kind, case) in CASES.into_iter().zip(["bounce", "block", "complaint"]) {
            let to = address(service, case);
            let request = scene.request(service, kind, &to);
            scene.post(service, &forged(service, &request)).await.refused(StatusCode::UNAUTHORIZED, "INVALID_SIGNATURE");
            assert_eq!((scene.contact(&to).await.as_str(), scene.suppressed(&to).await), ("subscribed", None), "{to}");
            let reply = scene.post(service, &request).await;
            let data = reply.json()["data"].clone();
            assert_eq!((reply.status, &data["unmatched"], &data["events"]), (200, &json!(0), &json!(1)), "{to}: {data}");
            let (contact, suppression) = (scene.contact(&to).await, scene.suppressed(&to).await);
            println!("{service} | {case} | {} | {contact} | {suppression:?}", reply.status);
            let by_service = |reason: &str| Some((reason.to_owned(), "mail_service".to_owned()));
            let expected = match kind {
                Kind::Bounce => ("bounced", by_service("bounce_hard")),
                Kind::Block => ("subscribed", None),
                Kind::Complaint => ("unsubscribed", by_service("complaint")),
            };
            assert_eq!((contact.as_str(), suppression), expected, "{to}");
        }
        let shown = scene.shown(service).await;
        assert_eq!((&shown["bounces"], &shown["complaints"]), (&json!(2), &json!(1)), "{shown}");
        assert_eq!(shown["status"], "active", "{shown}");
    }
    let asked = scene.sns.asked();
    assert_eq!(asked, ["/SimpleNotificationService-7f3a9c.pem"], "the certificate was fetched once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replays_have_no_effect_even_after_a_restart_and_no_secret_is_readable() {
    let Some(mut scene) = Scene::new().await else { return };
    let mut sent = Vec::new();
    for service in SERVICES {
        let to = address(service, "bounce");
        let request = scene.request(service, Kind::Bounce, &to);
        assert_eq!(scene.post(service, &request).await.status, 200, "{to}");
        sent.push((service, to, request));
    }
    scene.server.kill();
    scene.server.serve();
    scene.client = scene.client.at(scene.server.address());
    for (service, to, request) in &sent {
        assert_eq!(scene.contact(to).await, "bounced", "{to}: acknowledged events are on disk");
        // A user decides that the address works after all.
        scene.client.data("suppressions.delete", json!({ "email": to })).await;
        let reply = scene.post(service, request).await;
        assert_eq!((reply.status, scene.suppressed(to).await), (200, None), "{to}");
    }
    // A request with a known ID cannot report another event.
    let (_, to, request) = sent.iter().find(|(service, ..)| *service == "mailgun").expect("it was sent");
    let other = Request { body: request.body.replace("\"event\":\"failed\"", "\"event\":\"complained\""), ..request.clone() };
    scene.post("mailgun", &other).await.refused(StatusCode::NOT_ACCEPTABLE, "NEVER_ACCEPTED");
    assert_eq!(
        (scene.suppressed(to).await, scene.shown("mailgun").await["lastRejection"]["reason"].clone()),
        (None, json!("replayed"))
    );
    let old = mail_services::mailgun(&scene.messages[to], Kind::Complaint, "old", jiff::Timestamp::now().as_second() - 25 * 3600);
    scene.post("mailgun", &old).await.refused(StatusCode::UNAUTHORIZED, "INVALID_SIGNATURE");
    let shown = format!("{}", scene.client.data("mail_feedback.list", json!({})).await);
    let backup = scene.server.data().with_file_name("backup");
    let output = scene.server.run(&["backup", "--to", backup.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{output:?}");
    let mut places = vec![("responses".to_owned(), shown.into_bytes()), ("log".to_owned(), scene.server.log().into_bytes())];
    for folder in [scene.server.data(), backup] {
        for entry in std::fs::read_dir(&folder).expect("readable").map(|entry| entry.expect("readable")) {
            if entry.file_type().expect("known").is_file() {
                places.push((entry.path().display().to_string(), std::fs::read(entry.path()).expect("readable")));
            }
        }
    }
    let mut secrets: Vec<&str> =
        vec![mail_services::MAILGUN_KEY, mail_services::BREVO_TOKEN, mail_services::POSTMARK_PAIR, mail_services::RESEND_SECRET];
    secrets.extend(scene.webhooks.values().map(|(_, url)| url.rsplit('/').next().expect("a URL has parts")));
    for (place, bytes) in &places {
        for secret in &secrets {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{place} contains {secret}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscriptions_are_confirmed_only_for_configured_topics_at_our_own_url() {
    let Some(scene) = Scene::new().await else { return };
    let now = format!("{:.3}", jiff::Timestamp::now());
    let confirmation = scene.amazon.confirmation("c-1", &now);
    let id = scene.webhooks["amazon_ses"].0.clone();
    let topics = |arn: &str| json!({ "mailServiceId": id, "topicArns": [arn] });
    scene.client.data("mail_feedback.update", topics("arn:aws:sns:us-east-1:123456789012:other")).await;
    scene.post("amazon_ses", &confirmation).await.refused(StatusCode::UNAUTHORIZED, "INVALID_SIGNATURE");
    assert_eq!(scene.shown("amazon_ses").await["lastRejection"]["reason"], "topic_unknown");
    scene.client.data("mail_feedback.update", topics(mail_services::TOPIC)).await;
    scene
        .post("amazon_ses", &forged("amazon_ses", &scene.request("amazon_ses", Kind::Bounce, &address("amazon_ses", "spare"))))
        .await;
    assert_eq!(scene.post("amazon_ses", &confirmation).await.status, 200);
    let asked = scene.sns.asked();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[1].starts_with("/?Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aus-east-1"), "{asked:?}");
    assert!(scene.shown("amazon_ses").await["confirmedAt"].is_string());
}

/// `FEEDBACK_EVENTS` sets the number of requests of the load test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_events_at_once_are_all_counted() {
    let Some(scene) = Scene::new().await else { return };
    let many = super::delivery::knob("FEEDBACK_EVENTS", 2_000);
    let request = scene.request("postmark", Kind::Bounce, &address("postmark", "spare"));
    let (scene, request) = (Arc::new(scene), Arc::new(request));
    let started = Instant::now();
    let mut lanes = JoinSet::new();
    for lane in 0..32_u64 {
        let (scene, request) = (scene.clone(), request.clone());
        lanes.spawn(async move {
            for _ in (lane..many).step_by(32) {
                assert_eq!(scene.post("postmark", &request).await.status, 200);
            }
        });
    }
    lanes.join_all().await;
    let rate = many as f64 / started.elapsed().as_secs_f64();
    println!("{many} requests of one event each: {rate:.0} per second");
    assert_eq!(scene.shown("postmark").await["bounces"], many);
}
