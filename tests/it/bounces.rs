//! Tests what the server receives about a campaign's messages: bounce reports in the formats of many mail servers, complaints,
//! unsubscribe mail and one-click unsubscribes. Every token comes from a message of the shipped server. Also tests evidence that
//! settles unknown deliveries, and resends.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::campaigns::{act, becomes, logs};
use super::delivery::{draft, email, until, with_relay};
use super::support::client::Call;
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use super::support::messages::SentMessage;
use super::support::{Client, Reply, Server, operation};

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
pub const BOUNCES: &str = "bounces.acme.example";
/// Placeholder for tokens in the samples.
const SAMPLE_TOKEN: &str = "aefk3m2qz7x4w5yhbn6tcrd2jsvgl3upoi5kq7aeyz4m";

/// TABLE: the expected result of each sample: a bounce class, a complaint, an unsubscribe, or nothing.
const SAMPLES: [(&str, &[&str]); 7] = [
    (
        "hard",
        &[
            "domino-not-listed",
            "exchange-online-edge-blocked",
            "exchange-online-not-found",
            "exim-report",
            "gmail-unknown-user",
            "outlook-com-mailbox-unavailable",
            "postfix-no-domain",
            "postfix-unknown-user",
            "qmail-no-mailbox",
            "sendmail-user-unknown",
            "yahoo-no-account",
        ],
    ),
    ("soft", &["exchange-quota", "exim-old-prose", "gmail-over-quota", "postfix-expired", "qmail-over-quota"]),
    (
        "policy",
        &[
            "exchange-restricted-group",
            "gmail-unauthenticated",
            "outlook-com-blocked",
            "outlook-com-unauthenticated",
            "spamhaus-listed",
            "yahoo-policy",
        ],
    ),
    ("content", &["gmail-spam-content", "postfix-too-large", "virus-found"]),
    ("complaint", &["arf-redacted", "arf-yahoo", "complaint-microsoft"]),
    ("leaves", &["person-unsubscribes"]),
    (
        "nothing",
        &[
            "arf-not-spam",
            "delivered-receipt",
            "person-writes",
            "postfix-delayed",
            "read-receipt",
            "ticket-opened",
            "vacation-exchange",
            "vacation-german-bare",
            "vacation-sieve",
        ],
    ),
];

/// Settings of a server that sends through the sink and receives returned mail. One-click unsubscribe requires https.
fn settings(sink: &MailSink) -> String {
    let more = format!("bounce_domain = \"{BOUNCES}\"\ninbound = \"127.0.0.1:0\"\ninbound_lmtp = \"127.0.0.1:0\"\n");
    format!("[server]\npublic_url = \"https://mail.mill.example\"\n{}{more}", with_relay(sink))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/bounces")
}

/// A returned message and its envelope.
pub struct Returned {
    sender: String,
    recipient: String,
    raw: String,
}

impl Returned {
    /// Returns a sample about this message.
    fn sample(name: &str, posted: &SentMessage) -> Self {
        let text = fs::read_to_string(folder().join(name).with_extension("eml")).expect("a sample");
        let sender = text.lines().find_map(|line| line.strip_prefix("Return-Path: ")).unwrap_or("<ada@example.org>");
        let sender = sender.trim_matches(['<', '>']).to_owned();
        let own = |mark: &str, token: &str| (format!("{mark}+{SAMPLE_TOKEN}"), format!("{mark}+{token}"));
        let ((bounce, our_bounce), (leave, our_leave)) = (own("b", &posted.bounce), own("u", &posted.unsubscribe));
        let raw = text.replace(&bounce, &our_bounce).replace(&leave, &our_leave).replace('\n', "\r\n");
        let recipient = match name {
            "person-unsubscribes" => format!("{our_leave}@{BOUNCES}"),
            _ if name.starts_with("arf") || name.starts_with("complaint") => format!("fbl@{BOUNCES}"),
            _ => posted.sender.clone(),
        };
        Self { sender, recipient, raw }
    }

    /// Returns a message to the address for unsubscribing with this token.
    pub fn leaving(token: &str) -> Self {
        let raw = "From: Ada <ada@example.org>\r\nSubject: unsubscribe\r\n\r\n".to_owned();
        Self { sender: "ada@example.org".to_owned(), recipient: format!("u+{token}@{BOUNCES}"), raw }
    }

    /// Delivers the returned message in one of three ways.
    fn bring(&self, server: &Server, way: Way) {
        match way {
            Way::Smtp => self.talk(server.inbound(), "EHLO"),
            Way::Lmtp => self.talk(server.inbound_lmtp(), "LHLO"),
            Way::Pipe => {
                let output = server.run_with_input(&["inbound", "--sender", &self.sender, &self.recipient], self.raw.as_bytes());
                assert!(output.status.success(), "{output:?}");
            }
        }
    }

    /// Delivers the returned message to this address. `hello` is the first command of the protocol.
    pub fn talk(&self, address: SocketAddr, hello: &str) {
        let mut talk = Talk::with(address);
        talk.say(&format!("{hello} isp.example\r\n"), "250");
        talk.say(&format!("MAIL FROM:<{}>\r\n", self.sender), "250");
        talk.say(&format!("RCPT TO:<{}>\r\n", self.recipient), "250");
        talk.say("DATA\r\n", "354");
        let lines =
            self.raw.split_inclusive('\n').map(|line| if line.starts_with('.') { format!(".{line}") } else { line.to_owned() });
        talk.say(&(lines.collect::<String>() + "\r\n.\r\n"), "250");
        talk.say("QUIT\r\n", "221");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Smtp,
    Lmtp,
    Pipe,
}

const WAYS: [Way; 3] = [Way::Smtp, Way::Lmtp, Way::Pipe];

/// An SMTP conversation with the server, from the side of the delivering mail server.
struct Talk {
    stream: TcpStream,
    replies: BufReader<TcpStream>,
}

impl Talk {
    fn with(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        let replies = BufReader::new(stream.try_clone().expect("a second handle"));
        let mut talk = Self { stream, replies };
        talk.say("", "220");
        talk
    }

    fn say(&mut self, command: &str, expected: &str) {
        self.stream.write_all(command.as_bytes()).expect("sent");
        let mut reply = String::new();
        while reply.lines().last().is_none_or(|line| line.as_bytes().get(3) == Some(&b'-')) {
            assert_ne!(self.replies.read_line(&mut reply).expect("an answer"), 0, "{reply}");
        }
        assert!(reply.starts_with(expected), "{command} was answered {reply}");
    }
}

/// A campaign sent to these contacts, and the message that the relay accepted for each.
struct Sent {
    server: Server,
    client: Client,
    project: String,
    id: String,
}

impl Sent {
    async fn to(settings: &str, recipients: &[String]) -> Self {
        let server = Server::start(settings);
        let client = server.client("live", "all");
        let project = client.project("Returns").await;
        let contacts: Vec<Value> = recipients.iter().map(|email| json!({ "email": email, "status": "subscribed" })).collect();
        let done = client.data("contacts.bulk", json!({ "projectId": project, "subscribers": contacts })).await;
        assert_eq!(done["success"], recipients.len(), "{done}");
        let conversation = email(&client, &project).await;
        let id = draft(&client, &project, &conversation, "Returns").await;
        act(&client, "send", &id).await;
        becomes(&client, &id, "sent").await;
        Self { server, client, project, id }
    }

    /// Returns the campaign's log by address.
    async fn log(&self) -> BTreeMap<String, Value> {
        let rows = logs(&self.client, &self.id, None).await;
        rows.into_iter().map(|row| (row["to_email"].as_str().expect("an address").to_owned(), row)).collect()
    }

    /// Returns the status of every contact by address.
    async fn contacts(&self) -> BTreeMap<String, String> {
        let page = self.client.data("contacts.list", json!({ "projectId": self.project, "limit": 100 })).await;
        let contacts = page["contacts"].as_array().expect("a list").iter();
        let text = |contact: &Value, name: &str| contact[name].as_str().expect("text").to_owned();
        contacts.map(|contact| (text(contact, "email"), text(contact, "status"))).collect()
    }

    /// Returns why an address is suppressed, if it is.
    async fn suppressed(&self, email: &str) -> Option<String> {
        let found = self.client.data("suppressions.list", json!({ "email": email })).await;
        let rows = found.as_array().or_else(|| found["suppressions"].as_array()).expect("a list").clone();
        rows.first().map(|row| row["reason"].as_str().expect("a word").to_owned())
    }

    async fn visit(&self, id: &str, token: String, agent: &str) -> Reply {
        let call = Call::new(operation(id), json!({ "token": token })).header("user-agent", agent);
        self.client.with_key(None).try_send(Call { method: Method::GET, ..call }).await.expect("it answers")
    }

    /// Unsubscribes with one click as mail services do: no cookie, no key, the URL from the header.
    async fn one_click(&self, posted: &SentMessage, content_type: &str, body: &str) {
        let (_, token) = posted.one_click.split_once("/u/").expect("an address to unsubscribe by");
        let call = Call::new(operation("tracking.unsubscribe"), json!({ "token": token })).body(content_type, body.to_owned());
        let reply = self.client.with_key(None).try_send(call).await.expect("it answers");
        assert_eq!((reply.status, reply.header("location"), reply.header("set-cookie")), (200, None, None));
    }
}

fn posted(sink: &MailSink) -> BTreeMap<String, SentMessage> {
    sink.messages().iter().map(SentMessage::read).map(|posted| (posted.recipient.clone(), posted)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_returned_sample_has_its_effect_once_even_if_repeated() {
    let samples: Vec<(&str, &str)> =
        SAMPLES.iter().flat_map(|(effect, names)| names.iter().map(move |name| (*effect, *name))).collect();
    let kept: BTreeSet<String> = fs::read_dir(folder())
        .expect("samples")
        .map(|entry| entry.expect("readable").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(kept, samples.iter().map(|(_, name)| (*name).to_owned()).collect(), "every sample is in the table");
    let sink = MailSink::usual();
    let addresses: Vec<String> = samples.iter().map(|(_, name)| format!("{name}@example.com")).collect();
    let sent = Sent::to(&settings(&sink), &addresses).await;
    let posted = posted(&sink);
    for (number, (_, name)) in samples.iter().enumerate() {
        let returned = Returned::sample(name, &posted[&addresses[number]]);
        returned.bring(&sent.server, WAYS[number % 3]);
        // Servers repeat a message that was not acknowledged in time, possibly in a different way.
        returned.bring(&sent.server, WAYS[(number + 1) % 3]);
    }
    let (log, contacts) = (sent.log().await, sent.contacts().await);
    println!("sample | came by | is | contact | log | bounce | suppressed");
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for (number, (effect, name)) in samples.iter().enumerate() {
        let (address, way) = (&addresses[number], WAYS[number % 3]);
        let (row, contact, suppressed) = (&log[address], &contacts[address], sent.suppressed(address).await);
        let (status, bounce) = (row["status"].as_str().expect("a word"), row["bounce_type"].as_str());
        println!("{name} | {way:?} | {effect} | {contact} | {status} | {bounce:?} | {suppressed:?}");
        let expected = match *effect {
            "hard" => ("bounced", "bounced", Some("hard"), Some("bounce_hard")),
            "soft" | "policy" | "content" => ("subscribed", "bounced", Some(*effect), None),
            "complaint" => ("unsubscribed", "complained", None, Some("complaint")),
            "leaves" => ("unsubscribed", "delivered", None, None),
            _ => ("subscribed", "delivered", None, None),
        };
        assert_eq!((contact.as_str(), status, bounce, suppressed.as_deref()), expected, "{name}");
        *counted.entry(*effect).or_default() += 1;
    }
    let stats = act(&sent.client, "stats", &sent.id).await;
    let bounces = counted["hard"] + counted["soft"] + counted["policy"] + counted["content"];
    println!(
        "{} samples: {counted:?}; the campaign counts {} bounces, {} complaints, {} who left",
        samples.len(),
        stats["bounces"],
        stats["complaints"],
        stats["unsubscribes"]
    );
    assert_eq!((&stats["bounces"], &stats["complaints"]), (&json!(bounces), &json!(counted["complaint"])), "{stats}");
    // A complaint also unsubscribes, but only explicit unsubscribes count for the campaign.
    assert_eq!(stats["unsubscribes"], json!(counted["leaves"]), "{stats}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_click_and_unsubscribe_mail_work_from_the_headers_alone() {
    let sink = MailSink::usual();
    let names = ["multipart", "urlencoded", "mailto", "forged"];
    let addresses = names.map(|name| format!("{name}@example.com"));
    let sent = Sent::to(&settings(&sink), &addresses).await;
    let posted = posted(&sink);
    let body = "--000000000000d1f2c3\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n\
                --000000000000d1f2c3--\r\n";
    sent.one_click(&posted[&addresses[0]], "multipart/form-data; boundary=\"000000000000d1f2c3\"", body).await;
    sent.one_click(&posted[&addresses[1]], "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click").await;
    Returned::sample("person-unsubscribes", &posted[&addresses[2]]).bring(&sent.server, Way::Smtp);
    // A token with any changed character is invalid.
    let mut talk = Talk::with(sent.server.inbound());
    talk.say("EHLO isp.example\r\n", "250");
    talk.say("MAIL FROM:<>\r\n", "250");
    let token = &posted[&addresses[3]].unsubscribe;
    for at in [0, token.len() / 2, token.len() - 1] {
        let other = if token.as_bytes()[at] == b'a' { "b" } else { "a" };
        let forged = format!("{}{other}{}", &token[..at], &token[at + 1..]);
        talk.say(&format!("RCPT TO:<u+{forged}@{BOUNCES}>\r\n"), "550");
    }
    talk.say(&format!("RCPT TO:<b+{token}@{BOUNCES}>\r\n"), "550");
    let contacts = sent.contacts().await;
    println!("after one click and mail to unsubscribe: {contacts:?}");
    let statuses: Vec<&str> = addresses.iter().map(|address| contacts[address].as_str()).collect();
    assert_eq!(statuses, ["unsubscribed", "unsubscribed", "unsubscribed", "subscribed"]);
    assert_eq!(act(&sent.client, "stats", &sent.id).await["unsubscribes"], 3);
}

/// A relay that accepts the message and disconnects without a reply, for the first message to each recipient that `fits`.
fn speechless(fits: impl Fn(&str) -> bool + Send + 'static) -> MailSink {
    let seen: Arc<Mutex<HashSet<String>>> = Arc::default();
    MailSink::by(SinkCapabilities::default(), move |talk, now| {
        let is_first =
            now == SmtpStage::Dot && fits(&talk.recipient) && seen.lock().expect("unbroken").insert(talk.recipient.clone());
        if is_first { SinkAction::Close } else { SinkAction::Usual }
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_settles_unknown_deliveries_and_only_the_remaining_ones_are_resent() {
    let sink = speechless(|_| true);
    let names = ["opens", "clicks", "bounces", "is-delayed", "complains", "leaves", "is-scanned", "silent"];
    let addresses = names.map(|name| format!("{name}@example.com"));
    let sent = Sent::to(&settings(&sink), &addresses).await;
    let posted = posted(&sink);
    let of = |name: &str| posted[&format!("{name}@example.com")].clone();
    let states = async || -> Vec<String> {
        let log = sent.log().await;
        addresses.iter().map(|address| log[address]["status"].as_str().expect("a word").to_owned()).collect()
    };
    assert_eq!(states().await, ["unknown"; 8], "the relay took each message and said nothing");
    assert_eq!(act(&sent.client, "stats", &sent.id).await["unknown"], 8);

    sent.visit("tracking.open", format!("{}.gif", of("opens").token("/t/o/")), BROWSER).await;
    sent.visit("tracking.click", of("clicks").token("/t/c/"), BROWSER).await;
    sent.visit("tracking.click", of("is-scanned").token("/t/c/"), "BarracudaCentral").await;
    Returned::sample("postfix-unknown-user", &of("bounces")).bring(&sent.server, Way::Smtp);
    Returned::sample("postfix-delayed", &of("is-delayed")).bring(&sent.server, Way::Lmtp);
    Returned::sample("arf-yahoo", &of("complains")).bring(&sent.server, Way::Pipe);
    sent.one_click(&of("leaves"), "application/x-www-form-urlencoded", "List-Unsubscribe=One-Click").await;
    let expected = ["opened", "clicked", "bounced", "delivered", "complained", "delivered", "unknown", "unknown"];
    until(async || states().await == expected).await;
    println!("uncertain: {names:?}\nthen:     {:?}", states().await);

    let again = act(&sent.client, "resend_unknown", &sent.id).await;
    assert_eq!(again["resent"], 2, "{again}");
    becomes(&sent.client, &sent.id, "sent").await;
    let messages = sink.messages();
    for name in names {
        let own: Vec<SentMessage> =
            messages.iter().map(SentMessage::read).filter(|posted| posted.recipient == format!("{name}@example.com")).collect();
        let copies = if ["is-scanned", "silent"].contains(&name) { 2 } else { 1 };
        assert_eq!(own.len(), copies, "{name}");
        assert!(own.iter().all(|posted| posted.message_id == own[0].message_id), "{name}: copies have one id");
    }
    assert_eq!(states().await[6..], ["delivered", "delivered"]);
    assert_eq!(act(&sent.client, "resend_unknown", &sent.id).await["resent"], 0);
    assert_eq!(sink.count(), messages.len(), "no more deliveries are uncertain");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_resend_policy_campaigns_resend_to_unknown_recipients_and_direct_sends_never() {
    let sink = speechless(|recipient| recipient.starts_with("<doubt") || recipient.starts_with("<direct"));
    let addresses = ["doubt1", "doubt2", "sure1", "sure2"].map(|name| format!("{name}@example.com"));
    let sent = Sent::to(&(settings(&sink) + "unknown = \"resend\"\n"), &addresses).await;
    let direct = json!({
        "recipientType": "email", "recipientEmail": "direct@example.com", "from": "news@example.com", "subject": "Once",
        "template": "<p>Once</p>", "transactional": true,
    });
    let direct = sent.client.data("sending.send", direct).await["sendId"].clone();
    let unknown = async || sent.client.data("sending.get", json!({ "sendId": direct })).await;
    until(async || unknown().await.to_string().contains("unknown")).await;
    // The campaign is sent once every recipient was tried; the second copies follow.
    until(async || sent.log().await.values().all(|row| row["status"] == "delivered")).await;
    let mut copies: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
    for message in sink.messages() {
        let recipient = message.talk.recipient.trim_start_matches('<').split('@').next().expect("a part").to_owned();
        let seen = copies.entry(recipient).or_default();
        seen.0 += 1;
        seen.1.insert(message.message_id);
    }
    println!(
        "messages (and different ids) with unknown = \"resend\": {:?}",
        copies.iter().map(|(who, (many, ids))| (who, many, ids.len())).collect::<Vec<_>>()
    );
    let many: Vec<(usize, usize)> =
        ["doubt1", "doubt2", "sure1", "sure2", "direct"].iter().map(|who| (copies[*who].0, copies[*who].1.len())).collect();
    assert_eq!(many, [(2, 1), (2, 1), (1, 1), (1, 1), (1, 1)]);
    assert!(sent.log().await.values().all(|row| row["status"] == "delivered"));
}
