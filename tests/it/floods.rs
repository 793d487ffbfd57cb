//! Tests floods of idle connections against the shipped server, with few and with many file descriptors: visitors are served, the
//! search index continues, and health reports the real state. `FLOOD` is the number of sockets:
//!
//!     FLOOD=6000 cargo test --release --test it floods -- --nocapture

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;

use super::delivery::{knob, until};
use super::support::hook_sink::HookSink;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};
use super::webhooks;

/// The number of client addresses in a flood.
const ADDRESSES: usize = 100;
const PROBES: usize = 60;
/// The number of file descriptors that the tests themselves need.
const OWN_DESCRIPTORS: usize = 200;

/// Returns this many idle sockets, or as many as this machine's limits allow.
fn flood_size(usual: u64) -> usize {
    let limit = usize::try_from(mailmill::base::machine::raise_descriptor_limit().now).unwrap_or(usize::MAX);
    let wanted = usize::try_from(knob("FLOOD", usual)).expect("a number of sockets");
    let many = wanted.min(limit.saturating_sub(OWN_DESCRIPTORS));
    if many < wanted {
        println!("{many} sockets instead of {wanted}: this machine allows {limit} descriptors");
    }
    many
}

/// Connects from this loopback address. A connection that is closed immediately was refused by the server.
async fn connect(source: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((source, 0).into())?;
    socket.connect(to).await
}

fn attacker(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, u8::try_from(1 + number % ADDRESSES).expect("a hundred addresses"))
}

/// Opens idle sockets in three states: without data, with incomplete headers, and kept alive after a response.
async fn flood(to: SocketAddr, many: usize) -> Vec<TcpStream> {
    let mut sockets = Vec::with_capacity(many);
    for number in 0..many {
        let mut socket = connect(attacker(number), to).await.expect("the kernel takes connections");
        match number % 3 {
            0 => {}
            1 => drop(socket.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-slow: ").await),
            _ => {
                drop(socket.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await);
                let mut answer = [0; 1_024];
                // A connection of a flood may be closed before its request.
                let _ = tokio::time::timeout(Duration::from_secs(20), socket.read(&mut answer)).await;
            }
        }
        sockets.push(socket);
    }
    sockets
}

/// Sends one request on a new connection; returns its status and duration.
async fn probe(number: usize, to: SocketAddr, path: &str) -> (u16, Duration) {
    let began = Instant::now();
    let source = Ipv4Addr::new(127, 0, 2, u8::try_from(1 + number).expect("few probes"));
    let asking = async {
        let mut socket = connect(source, to).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let answer = tokio::time::timeout(Duration::from_secs(60), asking).await;
    let answer = answer.unwrap_or_else(|_| Ok(Vec::new())).unwrap_or_default();
    let status = std::str::from_utf8(answer.get(9..12).unwrap_or_default()).ok().and_then(|text| text.parse().ok());
    (status.unwrap_or(0), began.elapsed())
}

/// Connects 60 visitors in sequence, and checks that all are served, 99% of them within 200 ms.
async fn visitors_are_served(to: SocketAddr, what: &str) {
    let mut times = Vec::with_capacity(PROBES);
    let mut refused = 0;
    for number in 0..PROBES {
        let (status, took) = probe(number, to, "/health/live").await;
        refused += usize::from(status != 200);
        times.push(took);
    }
    times.sort_unstable();
    let (median, p99) = (times[PROBES / 2], times[PROBES * 99 / 100]);
    println!("{what}: {refused} of {PROBES} probes refused, median {median:?}, p99 {p99:?}");
    assert_eq!(refused, 0, "{what}");
    assert!(p99 < Duration::from_millis(200), "{what}: p99 {p99:?}");
}

/// Returns the log lines about connection limits.
fn fitted(log: &str) -> String {
    log.lines().filter(|line| line.contains("descriptors")).collect::<Vec<_>>().join("\n")
}

async fn ready(to: SocketAddr) -> (u16, Value) {
    let reply = Client::new(to, None).call("system.ready", json!({})).await;
    (reply.status, reply.json()["data"].clone())
}

/// Checks that contacts can be added and found by the index.
async fn index_keeps_up(client: &Client, project: &str, name: &str) {
    let contact = json!({ "projectId": project, "email": format!("{name}@example.com"), "status": "subscribed" });
    client.data("contacts.create", contact).await;
    let asked = json!({ "projectId": project, "search": name });
    until(async || client.total(asked.clone()).await == 1).await;
}

fn settings() -> String {
    BOUNDLESS.replace("level = \"warn\"", "level = \"info\"")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_idle_connections_from_100_addresses_refuses_no_visitor() {
    let many = flood_size(6_000);
    let server = Server::start(&settings());
    let client = server.all();
    let project = client.project("flood").await;
    let sockets = flood(server.address(), many).await;
    visitors_are_served(server.address(), &format!("{} idle sockets", sockets.len())).await;
    index_keeps_up(&client, &project, "during").await;
    let (status, data) = ready(server.address()).await;
    assert_eq!(status, 200, "{data}");
    println!("{}\n{}", fitted(&server.log()), data["checks"]["descriptors"]);
    // The flood continues, and opens closed connections again.
    drop(sockets);
    let mut again = flood(server.address(), many / 4).await;
    again.extend(flood(server.address(), many / 4).await);
    visitors_are_served(server.address(), "the flood comes back").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_1024_descriptors_an_idle_flood_leaves_the_search_index_and_visitors_alone() {
    let many = flood_size(6_000).min(3_000);
    let mut server = Server::stopped(&settings());
    server.limit_descriptors(1_024, 1_024);
    server.serve();
    let client = server.all();
    let project = client.project("flood").await;
    index_keeps_up(&client, &project, "before").await;
    let sockets = flood(server.address(), many).await;
    visitors_are_served(server.address(), &format!("{} idle sockets, 1024 descriptors", sockets.len())).await;
    for number in 0..5 {
        index_keeps_up(&client, &project, &format!("during{number}")).await;
    }
    let (status, data) = ready(server.address()).await;
    println!("{}\n{}", fitted(&server.log()), data["checks"]["descriptors"]);
    assert_eq!(status, 200, "{data}");
    let checks = &data["checks"];
    assert!(checks["descriptors"]["open"].as_u64() < Some(1_000) && checks["workers"]["failures"] == 0, "{data}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_soft_limit_is_raised_to_the_hard_limit() {
    let mut server = Server::stopped(&settings());
    server.limit_descriptors(512, 1_500);
    server.serve();
    let (_, data) = ready(server.address()).await;
    assert_eq!(data["checks"]["descriptors"]["limit"], 1_500, "{}", server.log());
    assert!(fitted(&server.log()).contains("before=512"), "{}", server.log());
}

/// Regression test: with 40 descriptors, the server started, but no request got a response.
#[test]
fn a_limit_that_is_too_low_for_the_servers_own_files_is_refused() {
    let mut server = Server::stopped(&settings());
    server.limit_descriptors(40, 40);
    let refused = server.serve_again();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("may open only 40 files, but needs at least 256"), "{said}");
}

/// Regression test: each webhook that could not be sent for lack of descriptors counted as a failed attempt at its endpoint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lack_of_descriptors_is_no_failed_attempt_at_a_webhook() {
    let sink = HookSink::content().await;
    let mut server = Server::stopped(&webhooks::settings(""));
    server.limit_descriptors(1_500, 1_500);
    server.serve();
    let client = server.all();
    let project = client.project("scarce").await;
    let (hook, _) = webhooks::hook(&client, &sink.url(), &["subscriber.added"]).await;
    let delivery = async || webhooks::deliveries(&client, &hook).await.first().cloned().unwrap_or_default();
    // Existing connections need no further descriptors.
    server.set_descriptor_limit(3);
    client.data("contacts.create", json!({ "projectId": project, "email": "ada@example.com" })).await;
    until(async || delivery().await["status"] == "pending").await;
    // Three failed attempts would take four seconds.
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert_eq!((&delivery().await["status"], sink.got().len()), (&json!("pending"), 0));
    server.set_descriptor_limit(1_500);
    until(async || delivery().await["status"] == "success").await;
    let delivered = delivery().await;
    assert_eq!((&delivered["attempts"], sink.got().len()), (&json!(1), 1), "{delivered}");
}

/// Regression test: the search index once died when no descriptors were left while contacts changed. Health must report it, and everything
/// must continue when descriptors are available again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_without_descriptors_report_it_and_continue_when_there_are_some() {
    let mut server = Server::stopped(&settings());
    server.limit_descriptors(1_500, 1_500);
    server.serve();
    let client = server.all();
    let project = client.project("scarce").await;
    index_keeps_up(&client, &project, "before").await;
    // Existing connections need no further descriptors.
    server.set_descriptor_limit(3);
    let contact = |name: &str| json!({ "projectId": project, "email": format!("{name}@example.com"), "status": "subscribed" });
    for number in 0..20 {
        client.data("contacts.create", contact(&format!("scarce{number}"))).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let asked = async || client.call("system.ready", json!({})).await;
    until(async || asked().await.status == 503).await;
    let reply = asked().await;
    let data = &reply.json()["data"];
    println!("without descriptors: {data}");
    assert_eq!(data["checks"]["descriptors"]["ok"], false, "{data}");
    until(async || asked().await.json()["data"]["checks"]["searchIndex"]["ok"] == false).await;
    assert_eq!(client.call("system.health", json!({})).await.status, 200);
    server.set_descriptor_limit(1_500);
    let began = Instant::now();
    let asked_for = json!({ "projectId": project, "search": "scarce19" });
    until(async || client.total(asked_for.clone()).await == 1).await;
    until(async || asked().await.status == 200).await;
    println!("the index continued {:?} after there were descriptors again", began.elapsed());
    index_keeps_up(&client, &project, "after").await;
}
