//! A whole campaign: planning the recipient rows, rendering the messages, handing them to a mail server in this process, and storing the
//! outcomes.
//!
//! Prints the speed and the cost in memory and CPU time. `SEND_RECIPIENTS` sets the number of recipients (20,000 by default), and
//! `PLAN_RECIPIENTS` the number of recipients that are only planned (200,000 by default; published figures use 1,000,000).

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mailmill::base::memory;
use mailmill::base::secret::Secret;
use mailmill::engine::runner;
use mailmill::engine::tasks::{Stage, Tasks};
use mailmill::features::sending;
use mailmill::vocab::environment::Environment;
use mailmill::vocab::ids::MailingId;
use mailmill::workers::WORKERS;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::shared::BenchApp;

/// The number of contacts per request.
const CHUNK: u64 = 5_000;

/// Opens a service that sends mail to `relay`.
fn open(folder: &Path, relay: SocketAddr) -> BenchApp {
    BenchApp::open(folder, Environment::Live, |settings| {
        settings.mail.relay = vec![Secret::new(format!("smtp://{relay}"))];
        settings.mail.require_verified_domain = false;
    })
}

/// Creates a project with this many contacts.
async fn project(app: &BenchApp, contacts: u64) -> String {
    let project = app.project().await;
    for first in (0..contacts).step_by(CHUNK as usize) {
        let subscriber = |number: u64| json!({ "email": format!("r{number}@example.com"), "firstName": format!("N{number}"), "status": "subscribed" });
        let subscribers: Vec<Value> = (first..contacts.min(first + CHUNK)).map(subscriber).collect();
        app.post("/v1/contacts/bulk", json!({ "projectId": project, "subscribers": subscribers })).await;
    }
    project
}

/// Creates a send of this HTML to all contacts, without planning it.
async fn send(app: &BenchApp, project: &str, html: &str) -> MailingId {
    let wanted = json!({
        "recipientType": "audience", "projectId": project, "from": "news@example.com", "fromName": "News",
        "subject": "Hi {{ firstName | default(\"you\") }}", "template": html,
    });
    let batch = app.post("/v1/sending", wanted).await["batchId"].as_str().and_then(MailingId::parse);
    batch.expect("a send to an audience has a batch")
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
async fn plan(app: &BenchApp) -> Duration {
    let start = Instant::now();
    while sending::plan(&app.api.0, Environment::Live).await.expect("planned") {}
    start.elapsed()
}

/// A mail server that accepts everything, and the number of messages it accepted.
#[expect(clippy::disallowed_methods, reason = "it lives as long as the bench")]
async fn sink() -> (SocketAddr, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let (address, taken) = (listener.local_addr().expect("bound"), Arc::new(AtomicU64::new(0)));
    let count = taken.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, count.clone()));
        }
    });
    (address, taken)
}

async fn serve(mut stream: TcpStream, taken: Arc<AtomicU64>) {
    stream.set_nodelay(true).expect("a socket");
    stream.write_all(b"220 sink ESMTP\r\n").await.expect("connected");
    let (mut bytes, mut held, mut in_data) = (vec![0; 64 * 1024], Vec::new(), false);
    loop {
        let Ok(count @ 1..) = stream.read(&mut bytes).await else { return };
        held.extend_from_slice(&bytes[..count]);
        let mut said = String::new();
        loop {
            if in_data {
                // The dot arrives separately, after the claim.
                if !held.ends_with(b"\r\n.\r\n") {
                    let keep = held.len().saturating_sub(4);
                    held.drain(..keep);
                    break;
                }
                held.clear();
                in_data = false;
                taken.fetch_add(1, Ordering::Relaxed);
                said.push_str("250 2.0.0 taken\r\n");
                continue;
            }
            let Some(end) = held.windows(2).position(|two| two == b"\r\n") else { break };
            let line: Vec<u8> = held.drain(..end + 2).collect();
            said.push_str(match line.get(..4).unwrap_or_default() {
                b"EHLO" => "250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n",
                b"DATA" => {
                    in_data = true;
                    "354 go\r\n"
                }
                b"QUIT" => "221 bye\r\n",
                _ => "250 ok\r\n",
            });
        }
        if stream.write_all(said.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Returns 50 KB with a tracked link in each of 48 paragraphs.
fn html() -> String {
    let filler = "Lorem ipsum dolor sit amet, consetetur. ".repeat(24);
    let paragraph = |number: u32| {
        format!(
            "<p>Hello {{{{ firstName | default(\"there\") }}}}, read <a href=\"https://example.com/{number}\">this</a>. {filler}</p>"
        )
    };
    let paragraphs: String = (0..48).map(paragraph).collect();
    format!("<html><body>{paragraphs}<p><a href=\"{{{{ unsubscribe_url }}}}\">Unsubscribe</a></p></body></html>")
}

#[expect(clippy::disallowed_methods, reason = "how large a bench is can only be said from outside")]
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.replace('_', "").parse().ok()).unwrap_or(usual)
}

/// Returns a line of this process's kernel status, in KiB.
fn resident(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_ascii_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0)
}

async fn planning(contacts: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let app = open(folder.path(), ([127, 0, 0, 1], 9).into());
    let project = project(&app, contacts).await;
    for (what, html) in [("by sets alone", "<p>Hello</p>"), ("with a look at each contact", "<p>Hello {{ firstName }}</p>")] {
        send(&app, &project, html).await;
        let took = plan(&app).await.as_secs_f64();
        println!("planning {contacts} {what}: {took:.2} s, {:.1} s for 1,000,000", took * 1e6 / contacts as f64);
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures")]
async fn sending_all(recipients: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (relay, taken) = sink().await;
    let app = open(folder.path(), relay);
    let project = project(&app, recipients).await;
    send(&app, &project, &html()).await;
    plan(&app).await;
    memory::give_back();
    let before = resident("RssAnon:");
    let tasks = Tasks::new(tokio::runtime::Handle::current());
    let start = Instant::now();
    runner::start(&tasks, &app.api.0, WORKERS.iter().filter(|worker| worker.name == "sending"));
    let mut peak = before;
    while taken.load(Ordering::Relaxed) < recipients {
        tokio::time::sleep(Duration::from_millis(20)).await;
        peak = peak.max(resident("RssAnon:"));
        assert!(start.elapsed() < Duration::from_secs(600), "only {} arrived", taken.load(Ordering::Relaxed));
    }
    let took = start.elapsed().as_secs_f64();
    tasks.raise(Stage::Draining);
    tasks.join(Duration::from_secs(20)).await;
    println!(
        "{recipients} messages of 50 KB with 48 links through {} connections: {took:.1} s, {:.0}/s; own memory {} MiB before, {} at most",
        app.api.0.settings.mail.connections.count(),
        recipients as f64 / took,
        before / 1024,
        peak / 1024,
    );
}

/// Measures planning and sending, and prints the figures.
pub fn run() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(planning(number("PLAN_RECIPIENTS", 200_000)));
    runtime.block_on(sending_all(number("SEND_RECIPIENTS", 20_000)));
}
