//! Measures memory growth under hostile input, eight requests or four sites at a time: small files that unpack to gigabytes, bodies and
//! messages of the maximum size, malformed fonts. Worker processes with their own limits parse images, emails and websites.
//!
//! `cargo test --test it memory -- --nocapture` prints the tables.

mod inputs;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use data_encoding::BASE64;
use futures_util::future::join_all;
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;

use self::inputs::{
    HostileSite, bodies, csv_files, emails, encoded, hosts, images, messages, prompts, stores, was_requested, write_fonts,
};
use super::sites;
use super::support::server::BOUNDLESS;
use super::support::stores::woocommerce::{WOO_KEY, WOO_SECRET};
use super::support::{Client, Reply, Server};

const AT_ONCE: usize = 8;
/// The number of sites that the server imports at the same time.
const SITES_AT_ONCE: usize = 4;
/// The time limit for an email or an import, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);
/// The maximum memory growth of the server for any input.
const GROWTH_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Returns a field of the server's process status in bytes.
fn memory(server: &Server, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_else(|| panic!("{field}: {status}"));
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1024
}

/// Resets the peak of the memory; returns the memory in use.
fn from_now_on(server: &Server) -> u64 {
    std::fs::write(format!("/proc/{}/clear_refs", server.id()), "5").expect("it is ours");
    memory(server, "VmRSS:")
}

/// Delivers a message from a new client address; returns the reply.
async fn bring(anonymous: usize, to: SocketAddr, message: &[u8]) -> std::io::Result<String> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 3, 1 + anonymous as u8), 0).into())?;
    let mut stream = BufReader::new(socket.connect(to).await?);
    let mut reply = String::new();
    stream.read_line(&mut reply).await?;
    for command in ["HELO isp.example", "MAIL FROM:<>", "RCPT TO:<fbl@mill.example>", "DATA"] {
        stream.write_all(format!("{command}\r\n").as_bytes()).await?;
        reply.clear();
        stream.read_line(&mut reply).await?;
        assert!(reply.starts_with(['2', '3']), "{command}: {reply}");
    }
    stream.write_all(message).await?;
    stream.write_all(b"\r\n.\r\n").await?;
    reply.clear();
    stream.read_line(&mut reply).await?;
    Ok(reply.trim_end().to_owned())
}

/// Waits until the requested emails exist, or have failed.
async fn ended(client: &Client, started: &[Reply]) -> Vec<String> {
    let mut states = Vec::new();
    for reply in started {
        let body = reply.json();
        let Some(id) = body["data"]["conversationId"].as_str() else { continue };
        let ended = async {
            loop {
                let state = client.data("emails.status", json!({ "conversationId": id })).await;
                if state["status"] == "completed" || state["status"] == "failed" {
                    return state["status"].as_str().unwrap_or_default().to_owned();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        states.push(tokio::time::timeout(PATIENCE, ended).await.expect("it ends"));
    }
    states
}

/// An input and its measured cost.
struct Row {
    name: String,
    bytes: usize,
    peak: u64,
    growth: u64,
    answers: String,
}

/// A server and its measurements so far.
struct Table {
    server: Server,
    client: Client,
    project: String,
    rows: Vec<Row>,
}

impl Table {
    async fn new(settings: &str) -> Self {
        let server = Server::start(settings);
        let client = server.all();
        let project = client.project("Hostile").await;
        Self { server, client, project, rows: Vec::new() }
    }

    /// Runs `work` and records how much the server's memory grows in the meantime.
    async fn measure(&mut self, name: &str, bytes: usize, work: impl AsyncFnOnce(&Client, &Server) -> String) {
        let before = from_now_on(&self.server);
        let answers = work(&self.client, &self.server).await;
        let peak = memory(&self.server, "VmHWM:");
        self.rows.push(Row { name: name.to_owned(), bytes, peak, growth: peak.saturating_sub(before), answers });
    }

    /// Prints the measurements, and checks that all are within the limit and that the server still works.
    async fn check(self) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!("{:<48} {:>9} {:>9} {:>9}", "several at a time", "KB each", "peak MiB", "grown MiB");
        for Row { name, bytes, peak, growth, answers } in &self.rows {
            println!("{name:<48} {:>9} {:>9.1} {:>9.1} {answers}", bytes / 1000, mib(*peak), mib(*growth));
        }
        let over: Vec<_> = self.rows.iter().filter(|row| row.growth > GROWTH_BYTES_MAX).map(|row| &row.name).collect();
        assert!(over.is_empty(), "{over:?} grew the server by more than {GROWTH_BYTES_MAX} bytes");
        let small = BASE64.encode(&encoded(RgbImage::new(20, 10), ImageFormat::Png));
        let input = json!({ "projectId": self.project, "file": small });
        // On a busy machine, the workers may still end the last request.
        let mut made = self.client.call("projects.images_upload", input.clone()).await;
        for _ in 0..60 {
            if made.status != 503 {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            made = self.client.call("projects.images_upload", input.clone()).await;
        }
        let made = made.json()["data"].take();
        assert_eq!((&made["width"], &made["height"]), (&json!(20), &json!(10)));
    }
}

/// The result of a request that the server has the memory for.
#[derive(Clone, Copy)]
pub enum Expected {
    Made,
    /// The request is refused for a reason with these words.
    Refused(&'static str),
    /// The request succeeds, or is refused for a reason with some of these words.
    MadeOr(&'static [&'static str]),
}

impl Expected {
    fn is(self, reply: &Reply) -> bool {
        let (is_made, is_refused) = (reply.status < 300, reply.status == 400);
        match self {
            Self::Made => is_made,
            Self::Refused(words) => is_refused && reply.json().to_string().contains(words),
            Self::MadeOr(reasons) => {
                let text = reply.json().to_string();
                is_made || is_refused && reasons.iter().any(|words| text.contains(words))
            }
        }
    }
}

/// Makes the same call eight times at once. At least one has the expected result; the others may have to retry.
async fn at_once(client: &Client, operation: &str, input: &Value, expected: Expected) -> (Vec<Reply>, String) {
    let replies = join_all((0..AT_ONCE).map(|_| client.call(operation, input.clone()))).await;
    for reply in &replies {
        let is_fine = if reply.status == 503 { reply.header("retry-after").is_some() } else { expected.is(reply) };
        assert!(is_fine, "{operation}: {} {}", reply.status, reply.json());
    }
    assert!(replies.iter().any(|reply| reply.status != 503), "{operation}: every request was postponed");
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    let said = replies.iter().map(Reply::error).find(|said| !said.is_empty()).unwrap_or_default();
    let said: String = said.chars().take(80).collect();
    (replies, format!("{statuses:?} {said}"))
}

/// Regression test: eight uploads of a PNG of 292 KB, 10,000 pixels on each side, took 4,353 MiB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_files_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    let project = table.project.clone();
    for (name, file, expected) in images() {
        let input = json!({ "projectId": project, "file": BASE64.encode(&file) });
        let work = async |client: &Client, _: &Server| at_once(client, "projects.images_upload", &input, expected).await.1;
        table.measure(name, file.len(), work).await;
    }
    for (name, html, expected) in emails() {
        let input = json!({ "projectId": project, "htmls": [{ "name": "x", "source": html }] });
        let work = async |client: &Client, _: &Server| at_once(client, "emails.import_html", &input, expected).await.1;
        table.measure(name, html.len(), work).await;
    }
    table.check().await;
}

/// Regression test: all pages of a site were parsed in the server at the same time, those of four sites in parallel, so twenty pages like
/// each of these took more than a gigabyte.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_sites_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    for HostileSite { name, url, reaches, is_costly } in hosts() {
        let work = async |client: &Client, _: &Server| {
            let import = |site: usize| {
                let pages: Vec<String> = (0..10).map(|page| format!("{url}/{site}/{page}")).collect();
                sites::import(client, json!({ "urls": pages }))
            };
            let states = join_all((0..SITES_AT_ONCE).map(import)).await;
            for (_, state) in &states {
                let is_ended_early = || state["error"].as_str().is_some_and(|error| error.contains("too much time or memory"));
                assert!(state["status"] == "active" || is_costly && is_ended_early(), "{name}: {state}");
                let pages = state["importMetrics"]["pagesRead"].as_u64();
                assert!(state["status"] != "active" || pages >= Some(10), "{name}: {state}");
            }
            assert!(was_requested(&format!("{url}{reaches}")), "{name}");
            let statuses: Vec<&Value> = states.iter().map(|(_, state)| &state["status"]).collect();
            format!("{statuses:?}")
        };
        table.measure(name, 0, work).await;
    }
    table.check().await;
}

/// Regression test: a few kilobytes of gzip from a store unpacked to 32 MiB, which took hundreds of megabytes when they were parsed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_stores_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    let project = table.project.clone();
    for (name, url) in stores() {
        let work = async |client: &Client, _: &Server| {
            for number in 0..AT_ONCE {
                let keys = json!({
                    "projectId": project, "storefrontStoreUrl": format!("{url}/{number}"), "consumerKey": WOO_KEY,
                    "consumerSecret": WOO_SECRET,
                });
                client.data("storefront.connect", keys).await;
            }
            let ended = async {
                loop {
                    let listed = client.data("storefront.list", json!({})).await;
                    let ours = |store: &&Value| store["storeUrl"].as_str().is_some_and(|known| known.starts_with(&url));
                    let stores: Vec<&Value> = listed["stores"].as_array().expect("a list").iter().filter(ours).collect();
                    let problems: Vec<&str> = stores.iter().filter_map(|store| store["sync"]["waiting"].as_str()).collect();
                    if problems.len() == AT_ONCE {
                        return problems.iter().map(|problem| (*problem).to_owned()).collect::<Vec<_>>();
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let problems = tokio::time::timeout(PATIENCE, ended).await.expect("every import meets the response");
            let is_expected = |problem: &String| {
                ["larger than", "too many JSON values", "unexpected data"].iter().any(|part| problem.contains(part))
            };
            assert!(problems.iter().all(is_expected), "{name}: {problems:?}");
            problems[0].clone()
        };
        table.measure(name, 0, work).await;
        let listed = table.client.data("storefront.list", json!({})).await;
        for store in listed["stores"].as_array().expect("a list") {
            table.client.data("storefront.disconnect", json!({ "serverId": store["serverId"] })).await;
        }
    }
    table.check().await;
}

/// Regression test: eight compressed files of 32 MiB were in memory at the same time, each of them twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_csv_files_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    let project = table.project.clone();
    for (name, url, expected) in csv_files() {
        let work = async |client: &Client, _: &Server| {
            let mut ids = Vec::new();
            for number in 0..AT_ONCE {
                let input = json!({ "projectId": project, "name": number.to_string(), "url": url, "status": "subscribed" });
                ids.push(client.data("scheduled_imports.create", input).await["id"].clone());
            }
            let ended = async {
                loop {
                    let runs = join_all(ids.iter().map(|id| client.data("scheduled_imports.get", json!({ "id": id })))).await;
                    if runs.iter().all(|run| !run["lastRun"].is_null()) {
                        return runs;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let ended = tokio::time::timeout(PATIENCE, ended).await.expect("every run ends");
            let is_expected = |run: &Value| run["lastRun"]["error"].as_str().is_some_and(|error| error.contains(expected));
            assert!(ended.iter().all(is_expected), "{name}: {ended:?}");
            format!("{}", ended[0]["lastRun"]["error"])
        };
        table.measure(name, 0, work).await;
    }
    table.check().await;
}

/// Bodies are in memory several times: as text, as parsed data, and as the file that they contain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_cost_the_server_little_memory() {
    let mut table = Table::new(BOUNDLESS).await;
    for (name, operation, input, expected) in bodies(&table.project) {
        let bytes = input.to_string().len();
        let work = async |client: &Client, _: &Server| at_once(client, operation, &input, expected).await.1;
        table.measure(name, bytes, work).await;
    }
    table.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_mail_costs_the_server_little_memory() {
    let mut table = Table::new(&format!("{BOUNDLESS}\n[mail]\ninbound = \"127.0.0.1:0\"\n")).await;
    for (name, message) in messages() {
        let work = async |_: &Client, server: &Server| {
            let replies = join_all((0..AT_ONCE).map(|number| bring(number, server.inbound(), &message))).await;
            let replies: Vec<String> = replies.into_iter().map(|reply| reply.expect("an answer")).collect();
            assert!(replies.iter().all(|reply| reply.starts_with(['2', '4', '5'])), "{name}: {replies:?}");
            // If all requests were rejected for lack of memory, no message was read, so one more message is sent alone.
            let alone = bring(AT_ONCE, server.inbound(), &message).await.expect("an answer");
            assert!(alone.starts_with("250") || alone.starts_with("554"), "{name}: {alone}");
            let codes: Vec<&str> = replies.iter().map(|reply| reply.get(..9).unwrap_or(reply)).collect();
            format!("{codes:?}")
        };
        table.measure(name, message.len(), work).await;
    }
    table.check().await;
}

/// Texts of users or a language model reach the MJML parser through the templates, and the worker reads the operator's fonts for each
/// character that the built-in fonts lack.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_mjml_and_fonts_cost_the_server_little_memory() {
    let fonts = tempfile::tempdir().expect("a temporary folder");
    write_fonts(fonts.path());
    let mut table = Table::new(&format!("{BOUNDLESS}\n[rendering]\nfonts = {:?}\n", fonts.path())).await;
    let project = table.project.clone();
    for (name, prompt) in prompts() {
        let input = json!({ "projectId": project, "prompt": prompt });
        let work = async |client: &Client, _: &Server| {
            let (started, answers) = at_once(client, "emails.generate", &input, Expected::Made).await;
            format!("{answers} {:?}", ended(client, &started).await)
        };
        table.measure(name, prompt.len(), work).await;
    }
    let letters: String = ('\u{4e00}'..'\u{4e80}').chain('\u{13000}'..'\u{13080}').collect();
    let input = json!({ "projectId": project, "html": format!("<p>{letters}"), "name": "x" });
    let mut conversation = Value::Null;
    let work = async |client: &Client, _: &Server| {
        let (started, answers) = at_once(client, "emails.import_html", &input, Expected::Made).await;
        let states = ended(client, &started).await;
        assert!(states.iter().all(|state| state == "completed"), "{states:?}");
        let made = started.iter().find(|reply| reply.status < 300).expect("an import was accepted");
        conversation = made.json()["data"]["conversationId"].clone();
        answers
    };
    table.measure("fonts in screenshots, 15 hostile files", 0, work).await;
    let input = json!({ "conversationId": conversation });
    let work = async |client: &Client, _: &Server| at_once(client, "exports.pdf", &input, Expected::Made).await.1;
    table.measure("fonts in PDF, 15 hostile files", 0, work).await;
    table.check().await;
}
