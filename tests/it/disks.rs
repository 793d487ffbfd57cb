//! Disks that are full and disks that fail, under the shipped server while it sends a campaign.
//!
//! What must hold: nothing is acknowledged that is not on disk, the server says why and ends, and after a start on a disk that
//! works the campaign completes with nobody lost, nobody sent to twice, and nobody called sent who has no message. `FAULTS` says how many
//! calls of each kind fail, one in each run, spread over all calls of a campaign's life (0: every single one):
//!
//!     FAULTS=0 cargo test --release --test it disks -- --nocapture

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::delivery::{CONNECTIONS, Report, audience, draft, email, knob, ledger, relay, taken, until, with_relay};
use super::support::client::Call;
use super::support::faults::{Fault, Kind};
use super::support::{Client, Faults, Server, contract, operation};

/// Of the small disk. A new data folder takes a part of it.
const DISK_MIB: u64 = 48;
/// What is left on it when the campaign begins.
const LEFT_BYTES: u64 = 512 * 1024;
const PIECE_BYTES: u64 = 64 * 1024;
/// So many rows of a ledger do not fit into what is left.
const CROWD: usize = 4_000;

/// A campaign of each run in which one call fails.
const FEW: usize = 24;
const FEW_CONNECTIONS: u64 = 4;

/// A small disk of its own, in memory.
struct Disk {
    place: PathBuf,
}

impl Disk {
    /// At this place; `None` where this user may not mount anything, which is printed.
    fn mount(place: &Path) -> Option<Self> {
        fs::create_dir_all(place).expect("the folder can be made");
        let options = format!("size={DISK_MIB}m,mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "mailmill-test"]).arg(place).output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self { place: place.to_path_buf() }),
            Ok(output) => {
                println!("skipped: no disk can be mounted here: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                println!("skipped: there is no mount here: {error}");
                None
            }
        }
    }

    fn ballast(&self) -> PathBuf {
        self.place.join("ballast")
    }

    /// Fill it, but for some bytes; also what has become free since it was filled.
    fn fill(&self, left: u64) {
        let ballast = fs::File::options().create(true).append(true).open(self.ballast());
        let mut ballast = ballast.expect("there is room for a file");
        let piece = vec![1; PIECE_BYTES as usize];
        while ballast.write_all(&piece).is_ok() {}
        let length = ballast.metadata().expect("it is there").len();
        ballast.set_len(length.saturating_sub(left)).expect("shorter is always possible");
    }

    fn free(&self) {
        fs::remove_file(self.ballast()).expect("it is there");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // At once out of the tree, and gone when its last user has ended.
        let _ = Command::new("umount").arg("-l").arg(&self.place).status();
    }
}

/// Somebody who adds contacts as fast as answers come, and knows which were acknowledged.
struct Writer {
    acknowledged: Arc<Mutex<BTreeSet<String>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Writer {
    fn start(client: Client, project: String) -> Self {
        let acknowledged: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let kept = acknowledged.clone();
        let writing = async move {
            for number in 0.. {
                let contact =
                    json!({ "projectId": project, "email": format!("late{number}@example.com"), "status": "unsubscribed" });
                let call = Call::new(operation("contacts.create"), contact);
                let entry = call.entry;
                // An answer that breaks off is none.
                let Some(reply) = client.try_send(call).await.ok().filter(|reply| !reply.bytes.is_empty()) else { return };
                contract::check(entry, &reply);
                match reply.status {
                    201 => {
                        let id = reply.json()["data"]["id"].as_str().expect("an id").to_owned();
                        kept.lock().expect("unbroken").insert(id);
                    }
                    503 => {}
                    other => panic!("neither done nor refused: {other}"),
                }
            }
        };
        #[expect(clippy::disallowed_methods, reason = "it ends with the test, which waits for it")]
        let task = tokio::spawn(writing);
        Self { acknowledged, task }
    }

    /// Those that were acknowledged, now that nobody answers any more.
    async fn end(self) -> BTreeSet<String> {
        self.task.await.expect("every answer was one of the two");
        let acknowledged = self.acknowledged.lock().expect("unbroken");
        acknowledged.clone()
    }
}

/// Have a campaign sent whose sending may have been refused, and wait for its end.
async fn insist(client: &Client, id: &str) {
    until(async || {
        let status = client.data("campaigns.get", json!({ "id": id })).await["status"].clone();
        if status == "draft" {
            client.data("campaigns.send", json!({ "id": id })).await;
        }
        status == "sent"
    })
    .await;
}

/// The part of a log that tells of failures, for the report.
fn why(log: &str) -> String {
    let line = log.lines().rfind(|line| line.contains("os error") || line.contains("nothing was acknowledged"));
    line.unwrap_or("nothing").trim().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_stops_the_server_which_says_why_and_a_campaign_completes_when_there_is_room_again() {
    let sink = relay();
    let mut server = Server::stopped(&with_relay(&sink));
    let Some(disk) = Disk::mount(&server.data()) else { return };
    server.serve();
    let key = server.key("live", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = audience(&client, CROWD).await;
    let conversation = email(&client, &project).await;
    let id = draft(&client, &project, &conversation, "Full").await;
    let began = Instant::now();
    disk.fill(LEFT_BYTES);
    let writer = Writer::start(client.clone(), project.clone());
    let sent = client.try_send(Call::new(operation("campaigns.send"), json!({ "id": id }))).await;
    let ended = server.end().await;
    let sent_when_full = sink.count();
    let acknowledged = writer.end().await;
    let log = server.log();
    println!(
        "send answered {:?}; ended with {ended} after {sent_when_full} messages: {}",
        sent.map(|sent| sent.status).ok(),
        why(&log)
    );
    assert!(!ended.success() && log.contains("No space left on device"), "{log}");

    // As long as there is no room it does not run, and says the same. (What its index had not finished when it ended is room.)
    disk.fill(0);
    let said = server.log().len();
    let again = server.serve_to_the_end().await;
    println!("a start without room ends with {again}: {}", why(&server.log()[said..]));
    assert!(!again.success() && server.log()[said..].contains("No space left"), "{}", server.log());
    disk.free();
    server.serve();
    let client = Client::new(server.address(), Some(key));
    insist(&client, &id).await;
    for contact in &acknowledged {
        client.data("contacts.get", json!({ "id": contact, "projectId": project })).await;
    }
    println!("{} contacts were acknowledged until the disk was full, and all are there", acknowledged.len());
    let mut report = Report { kills: 1, seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    let mut states = ledger(&client, &id).await;
    // Who came after the campaign had begun is none of it, or is skipped.
    states.retain(|address, _| !address.starts_with("late"));
    assert_eq!(states.len(), CROWD);
    report.add(&states, &taken(&sink, 0));
    report.print();
    report.hold(CONNECTIONS);
    drop(server);
    drop(disk);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_takes_nothing_more_in_the_middle_of_a_campaign_loses_and_repeats_nobody() {
    let sink = relay();
    let mut server = Server::stopped(&with_relay(&sink));
    let Some(faults) = server.faults() else { return };
    server.serve();
    let key = server.key("live", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = audience(&client, CROWD).await;
    let conversation = email(&client, &project).await;
    let id = draft(&client, &project, &conversation, "Full in the middle").await;
    let began = Instant::now();
    client.data("campaigns.send", json!({ "id": id })).await;
    until(async || sink.count() >= CROWD / 10).await;
    let writer = Writer::start(client.clone(), project.clone());
    faults.arm(Kind::Write, Fault::Full, 1, u64::MAX);
    let ended = server.end().await;
    let acknowledged = writer.end().await;
    let log = server.log();
    println!("ended with {ended} after {} messages: {}", sink.count(), why(&log));
    assert!(!ended.success() && log.contains("No space left on device"), "{log}");
    assert!(sink.count() < CROWD, "the campaign was over before");
    faults.disarm();
    server.serve();
    let client = Client::new(server.address(), Some(key));
    insist(&client, &id).await;
    for contact in &acknowledged {
        client.data("contacts.get", json!({ "id": contact, "projectId": project })).await;
    }
    let mut report = Report { kills: 1, seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    let mut states = ledger(&client, &id).await;
    states.retain(|address, _| !address.starts_with("late"));
    report.add(&states, &taken(&sink, 0));
    report.print();
    report.hold(CONNECTIONS);
}

/// One server on which one call after the other fails.
struct Bench {
    server: Server,
    faults: Faults,
    key: String,
    project: String,
    conversation: String,
    sink: super::support::mail_sink::MailSink,
}

/// What a run came to.
enum Ran {
    /// There were not so many calls.
    NotReached,
    /// The server ended by it.
    Ended,
    /// It went on: the file was none that it depends on.
    WentOn(String),
}

impl Bench {
    async fn new() -> Option<Self> {
        let sink = relay();
        let settings =
            with_relay(&sink).replace(&format!("connections = {CONNECTIONS}"), &format!("connections = {FEW_CONNECTIONS}"));
        let mut server = Server::stopped(&settings);
        let faults = server.faults()?;
        server.serve();
        let key = server.key("live", "all");
        let client = Client::new(server.address(), Some(key.clone()));
        let project = audience(&client, FEW).await;
        let conversation = email(&client, &project).await;
        Some(Self { server, faults, key, project, conversation, sink })
    }

    fn client(&self) -> Client {
        Client::new(self.server.address(), Some(self.key.clone()))
    }

    /// A whole campaign, of which the call with this number fails; 0: none does.
    async fn run(&mut self, (kind, fault): (Kind, Fault), number: u64, report: &mut Report) -> Ran {
        let before = self.sink.count();
        let client = self.client();
        let id = draft(&client, &self.project, &self.conversation, &format!("{kind:?} {number}")).await;
        self.faults.arm(kind, fault, number, 1);
        let sent = client.try_send(Call::new(operation("campaigns.send"), json!({ "id": id }))).await;
        let refused = sent.as_ref().is_ok_and(|reply| reply.status >= 500);
        let mut ended = None;
        let deadline = Instant::now() + Duration::from_secs(120);
        while ended.is_none() && Instant::now() < deadline {
            ended = self.server.ended();
            let call = Call::new(operation("campaigns.get"), json!({ "id": id }));
            let now = client.try_send(call).await.ok().filter(|reply| reply.status == 200);
            if ended.is_none() && now.is_some_and(|reply| reply.json()["data"]["status"] == "sent") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.faults.disarm();
        let failed = self.faults.failed();
        // The last calls come when the campaign is over for everybody else.
        if ended.is_none() && failed > 0 && self.faults.failed_path().ends_with(".redb") {
            ended = Some(self.server.end().await);
        }
        if let Some(status) = ended {
            assert!(!status.success(), "an end by a broken disk is a failure");
            report.kills += 1;
            self.server.serve();
        } else {
            assert!(!refused, "a server that refuses what it cannot keep does not go on");
        }
        let client = self.client();
        insist(&client, &id).await;
        report.add(&ledger(&client, &id).await, &taken(&self.sink, before));
        match (ended, failed) {
            (Some(_), _) => Ran::Ended,
            (None, 0) => Ran::NotReached,
            (None, _) => Ran::WentOn(self.faults.failed_path()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whichever_call_of_the_disk_fails_nobody_is_lost_or_repeated() {
    let faults = knob("FAULTS", 5);
    let Some(mut bench) = Bench::new().await else { return };
    println!("fails | calls of a campaign | tried | server ended | went on | not reached | {}", Report::HEAD);
    for (name, what) in [
        ("sync: EIO", (Kind::Sync, Fault::Broken)),
        ("write: EIO", (Kind::Write, Fault::Broken)),
        ("write: ENOSPC", (Kind::Write, Fault::Full)),
    ] {
        let mut report = Report::default();
        bench.run(what, 0, &mut report).await;
        let calls = bench.faults.seen(what.0);
        assert!(calls > 10, "only {calls} calls were seen: the faults do not reach the server");
        let tried = if faults == 0 { calls } else { faults.min(calls) };
        let (mut ended, mut not_reached, mut went_on) = (0, 0, BTreeSet::new());
        let (mut many_went_on, began) = (0, Instant::now());
        for number in 0..tried {
            match bench.run(what, 1 + number * calls / tried, &mut report).await {
                Ran::Ended => ended += 1,
                Ran::NotReached => not_reached += 1,
                Ran::WentOn(file) => {
                    many_went_on += 1;
                    went_on.insert(file);
                }
            }
        }
        report.seconds = began.elapsed().as_secs_f64();
        println!("{name} | {calls} | {tried} | {ended} | {many_went_on} {went_on:?} | {not_reached} | {}", report.line());
        report.hold(FEW_CONNECTIONS);
        assert!(ended > 0, "no fault has ended the server");
    }
}

/// A direct send with this key and address.
fn direct(number: u64) -> Call {
    let send = json!({
        "recipientType": "email", "recipientEmail": format!("direct{number}@example.com"), "from": "news@example.com",
        "subject": "Your order", "template": "<p>It is on its way.</p>", "transactional": true,
    });
    Call::new(operation("sending.send"), send).header("idempotency-key", format!("order-{number}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_direct_send_that_is_repeated_with_its_key_after_a_failing_disk_goes_out_once() {
    let Some(mut bench) = Bench::new().await else { return };
    let (mut refused, mut ended, mut unknown) = (0, 0, 0);
    let last = knob("FAULTS", 8).max(4);
    for number in 1..=last {
        let client = bench.client();
        // The first syncs of a send: its acceptance, its handoff, what became of it.
        bench.faults.arm(Kind::Sync, Fault::Broken, 1 + (number - 1) % 4, 1);
        let first = client.try_send(direct(number)).await;
        let was_refused = !first.as_ref().is_ok_and(|reply| reply.status < 300);
        refused += u64::from(was_refused);
        until(async || bench.faults.failed() > 0 || bench.faults.seen(Kind::Sync) >= 8).await;
        if bench.faults.failed() > 0 {
            assert!(!bench.server.end().await.success());
            ended += 1;
            bench.faults.disarm();
            bench.server.serve();
        }
        bench.faults.disarm();
        let client = bench.client();
        let again = client.try_send(direct(number)).await.expect("it answers");
        assert!(again.status < 300, "{}", again.error());
        if let (Ok(first), false) = (&first, was_refused) {
            assert_eq!(first.json()["data"]["sendId"], again.json()["data"]["sendId"], "the repeat is answered as the first");
        }
        let id = again.json()["data"]["sendId"].clone();
        let state = async || client.data("sending.get", json!({ "sendId": id })).await["recipients"][0]["status"].clone();
        until(async || ["sent", "unknown"].contains(&state().await.as_str().expect("a word"))).await;
        let now = state().await;
        unknown += u64::from(now == "unknown");
        let copies = taken(&bench.sink, 0).get(&format!("direct{number}@example.com")).copied().unwrap_or(0);
        assert!(copies == 1 || (copies == 0 && now == "unknown"), "{copies} copies, {now}");
    }
    println!(
        "{last} direct sends, a sync fails in each: {refused} not acknowledged at first, the server ended {ended} times; \
         repeated with the same key: 0 twice, 0 lost, {unknown} unknown"
    );
    assert!(ended > 0 && refused > 0);
}
