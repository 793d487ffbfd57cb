//! Tests with third-party programs, if this machine has them: Postfix as a relay that requires a password and reports bounces, and
//! dkimpy, which verifies the signatures of delivered messages.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::campaigns::{act, becomes, logs};
use super::delivery::{email, until};
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SinkMessage, SmtpStage};
use super::support::name_server::NameServer;
use super::support::postfix::{PASSWORD, Postfix, USER};
use super::support::server::BOUNDLESS;
use super::support::{Client, Server, free_address, python_with};

const RECIPIENTS: usize = 40;
const UNKNOWN: &str = "unknown@example.com";
const BOUNCES: &str = "bounces.acme.example";

/// Verifies each signature of a message: prints one line of JSON with the results by algorithm.
const VERIFIER: &str = r#"
import dkim, json, sys
given = json.load(sys.stdin)
message = given["message"].encode("latin-1")
zone = {name.rstrip(".").encode() + b".": value.encode() for name, value in given["zone"].items()}
checked = dkim.DKIM(message)
many = sum(1 for name, _ in checked.headers if name.lower() == b"dkim-signature")
found = []
for index in range(many):
    one = dkim.DKIM(message)
    good = one.verify(idx=index, dnsfunc=lambda name, timeout=5: zone.get(name))
    fields = one.signature_fields
    found.append([fields[b"a"].decode(), good, sorted(set(b"".join(fields[b"h"].split()).decode().lower().split(":")))])
print(json.dumps(found))
"#;

/// Returns dkimpy's result for a message with these DNS records: each signature's algorithm, whether it is valid, and which headers
/// it signs.
fn verdicts(python: &Path, zone: &Value, message: &[u8]) -> Vec<(String, bool, BTreeSet<String>)> {
    let mut child =
        Command::new(python).args(["-c", VERIFIER]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    // Each byte becomes the character with the same number.
    let given = json!({ "zone": zone, "message": message.iter().map(|byte| char::from(*byte)).collect::<String>() });
    write!(child.stdin.take().expect("piped"), "{given}").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stdout).expect("it says what it found")
}

/// Verifies a domain; returns its records by name.
pub async fn verify(client: &Client, names: &NameServer, domain: &str) -> Value {
    let made = client.data("domains.create", json!({ "domain": domain })).await;
    let mut zone = json!({});
    for record in made["dnsRecords"].as_array().expect("records").iter().filter(|record| record["type"] == "TXT") {
        let (name, value) = (record["name"].as_str().expect("a name"), record["value"].as_str().expect("a value"));
        names.txt(name, value);
        zone[name] = value.into();
    }
    let verified = client.data("domains.verify", json!({ "domain": domain })).await;
    assert_eq!(verified["status"], "verified", "{verified}");
    zone
}

async fn crowd(client: &Client) -> String {
    let project = client.project("Peers").await;
    let mut contacts: Vec<Value> =
        (1..RECIPIENTS).map(|number| json!({ "email": format!("r{number}@example.com"), "firstName": "Zoë" })).collect();
    contacts.push(json!({ "email": UNKNOWN, "firstName": "Unknown" }));
    let done = client.data("contacts.bulk", json!({ "projectId": project, "subscribers": contacts })).await;
    assert_eq!(done["success"], RECIPIENTS, "{done}");
    project
}

/// Starts the final server, which rejects one of the recipients.
fn last_server() -> MailSink {
    MailSink::by(SinkCapabilities::default(), |talk, now| {
        let is_unknown = now == SmtpStage::Recipient && talk.recipient.contains(UNKNOWN);
        if is_unknown { SinkAction::Say("550 5.1.1 <unknown@example.com>: User unknown".to_owned()) } else { SinkAction::Usual }
    })
}

fn check_signatures(zone: &Value, messages: &[SinkMessage]) {
    let Some(python) = python_with("dkim, nacl") else { return };
    for message in messages.iter().step_by(RECIPIENTS / 4) {
        let found = verdicts(&python, zone, &message.body);
        let shown: Vec<(&str, bool)> = found.iter().map(|(algorithm, good, _)| (algorithm.as_str(), *good)).collect();
        println!("dkimpy on the message to {}, after Postfix: {shown:?}", message.talk.recipient);
        let right: BTreeSet<(&str, bool)> = [("rsa-sha256", true), ("ed25519-sha256", true)].into();
        assert_eq!(shown.iter().copied().collect::<BTreeSet<_>>(), right);
        for (_, _, signed) in &found {
            assert!(
                ["from", "list-unsubscribe", "list-unsubscribe-post"].iter().all(|name| signed.contains(*name)),
                "{signed:?}"
            );
        }
        let changed = String::from_utf8_lossy(&message.body).replace("One-Click", "Two-Clicks");
        assert!(verdicts(&python, zone, changed.as_bytes()).iter().all(|(_, good, _)| !good), "a change is noticed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_goes_through_postfix_with_a_password_and_its_bounces_are_processed() {
    if !Postfix::can_run() {
        return;
    }
    let (sink, names, port) = (last_server(), NameServer::start(), free_address().port());
    let relay = format!("smtp://{}:{}@127.0.0.1:{port}", USER.replace('@', "%40"), PASSWORD.replace(' ', "%20"));
    let settings = format!(
        "[server]\npublic_url = \"https://mail.mill.example\"\n{BOUNDLESS}\n[mail]\nrelay = [\"{relay}\"]\nconnections = 8\n\
         dns = \"{}\"\nbounce_domain = \"{BOUNCES}\"\ninbound = \"127.0.0.1:0\"\n",
        names.address
    );
    let server = Server::start(&settings);
    let postfix = Postfix::start(port, sink.address, BOUNCES, server.inbound());
    let client = server.client("live", "all");
    let zone = verify(&client, &names, "acme.example").await;
    let project = crowd(&client).await;
    let conversation = email(&client, &project).await;
    until(async || Postfix::listens(port)).await;
    let wanted = json!({
        "projectId": project, "name": "Peers", "conversationId": conversation, "subject": "Grüße, {{ firstName }}",
        "from": "news@acme.example", "fromName": "Acmé", "recipientType": "audience",
    });
    let id = client.data("campaigns.create", wanted).await["id"].as_str().expect("an id").to_owned();
    act(&client, "send", &id).await;
    becomes(&client, &id, "sent").await;
    // Postfix has the messages now, and delivers and reports them later.
    until(async || sink.count() == RECIPIENTS - 1).await;
    let bounced = async || logs(&client, &id, Some("bounced")).await;
    until(async || bounced().await.len() == 1).await;
    let (row, contact) =
        (bounced().await.remove(0), client.data("contacts.list", json!({ "projectId": project, "search": UNKNOWN })).await);
    println!(
        "{RECIPIENTS} recipients by Postfix with a password: {} delivered once each, 1 reported by Postfix: {} {}",
        sink.count(),
        row["to_email"],
        row["bounce_type"]
    );
    assert_eq!((&row["to_email"], &row["bounce_type"]), (&json!(UNKNOWN), &json!("hard")), "{row}");
    assert_eq!(contact["contacts"][0]["status"], "bounced", "{contact}");
    let messages = sink.messages();
    let recipients: BTreeSet<&str> = messages.iter().map(|message| message.talk.recipient.as_str()).collect();
    assert_eq!((messages.len(), recipients.len()), (RECIPIENTS - 1, RECIPIENTS - 1));
    assert!(messages.iter().all(|message| message.talk.sender.starts_with("<b+") && message.talk.sender.contains(BOUNCES)));
    assert!(postfix.log().contains("sasl_method=PLAIN"), "it was asked for the password:\n{}", postfix.log());
    check_signatures(&zone, &messages);
}
