//! Tests full disks and failing disks while the shipped server sends a campaign.
//!
//! Requirements: nothing is acknowledged that is not on disk. On a full disk, the server continues as read-only, and recipients can
//! unsubscribe with their links; when there is space again, everything continues automatically. On a failing disk, the server
//! reports the reason and ends. In both cases the campaign completes: no recipient is lost, none gets two messages, and none is
//! marked as sent without a message. `FAULTS` sets the number of runs for each kind of call. In each run one call fails; these
//! calls are spread over the campaign's duration (0: every call fails once):
//!
//!     FAULTS=0 cargo test --release --test it disks -- --nocapture

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::campaigns::is_complete;
use super::delivery::{CONNECTIONS, Report, audience, draft, email, knob, relay, statuses, taken, until, with_relay};
use super::support::client::Call;
use super::support::faults::{Fault, Kind};
use super::support::mail_sink::MailSink;
use super::support::server::BOUNDLESS;
use super::support::{Client, Faults, Server, contract, missing, operation};

/// The size of the small disk, part of which a new data folder uses.
const DISK_MIB: u64 = 48;
/// The free space when the campaign starts.
const LEFT_BYTES: u64 = 512 * 1024;
const PIECE_BYTES: u64 = 64 * 1024;
/// The number of recipients who unsubscribe while the disk is full.
const MESSAGES: usize = 12;
/// The number of recipients: more rows than fit into the remaining space.
const CROWD: usize = 4_000;

/// The number of recipients in each run in which one call fails.
const FEW: usize = 24;
const FEW_CONNECTIONS: u64 = 4;

/// A small disk in memory.
struct Disk {
    place: PathBuf,
}

impl Disk {
    /// Mounts the disk at this path; returns `None` if this user may not mount anything.
    fn mount(place: &Path) -> Option<Self> {
        fs::create_dir_all(place).expect("the folder can be made");
        let options = format!("size={DISK_MIB}m,mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "mailmill-test"]).arg(place).output();
        match mounted {
            Ok(output) if output.status.success() => {
                fs::create_dir(place.join("lost+found")).expect("the new disk is empty");
                Some(Self { place: place.to_path_buf() })
            }
            Ok(output) => {
                missing(&format!("no disk can be mounted: {}", String::from_utf8_lossy(&output.stderr).trim()));
                None
            }
            Err(error) => {
                missing(&format!("there is no mount: {error}"));
                None
            }
        }
    }

    /// Returns the file that fills the disk; a data folder with this folder still counts as empty.
    fn ballast(&self) -> PathBuf {
        self.place.join("lost+found/ballast")
    }

    /// Fills the disk except for some bytes, including space that became free since the last call.
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
        // The disk is detached immediately, and freed when its last user ends.
        let _ = Command::new("umount").arg("-l").arg(&self.place).status();
    }
}

/// Adds contacts as fast as responses arrive, and records which were acknowledged.
struct Writer {
    acknowledged: Arc<Mutex<BTreeSet<String>>>,
    refused: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

impl Writer {
    fn start(client: Client, project: String) -> Self {
        let acknowledged: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let (refused, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (kept, not_taken, over) = (acknowledged.clone(), refused.clone(), is_over.clone());
        let writing = async move {
            for number in 0.. {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let contact =
                    json!({ "projectId": project, "email": format!("late{number}@example.com"), "status": "unsubscribed" });
                let call = Call::new(operation("contacts.create"), contact);
                let entry = call.entry;
                // An incomplete response does not count.
                let Some(reply) = client.try_send(call).await.ok().filter(|reply| !reply.bytes.is_empty()) else { return };
                contract::check(entry, &reply);
                match reply.status {
                    201 => {
                        let id = reply.json()["data"]["id"].as_str().expect("an id").to_owned();
                        kept.lock().expect("unbroken").insert(id);
                    }
                    503 => {
                        not_taken.fetch_add(1, Ordering::SeqCst);
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    other => panic!("neither done nor refused: {other}"),
                }
            }
        };
        #[expect(clippy::disallowed_methods, reason = "it ends with the test, which waits for it")]
        let task = tokio::spawn(writing);
        Self { acknowledged, refused, is_over, task }
    }

    /// Returns how many contacts were refused so far.
    fn refused(&self) -> usize {
        self.refused.load(Ordering::SeqCst)
    }

    /// Returns the acknowledged contacts.
    async fn end(self) -> BTreeSet<String> {
        self.is_over.store(true, Ordering::SeqCst);
        self.task.await.expect("every answer was one of the two");
        let acknowledged = self.acknowledged.lock().expect("unbroken");
        acknowledged.clone()
    }
}

/// Requests to send a campaign until the server accepts the request, then waits until the campaign is complete.
async fn insist(client: &Client, id: &str) {
    until(async || {
        let campaign = client.data("campaigns.get", json!({ "id": id })).await;
        if campaign["status"] == "draft" {
            client.data("campaigns.send", json!({ "id": id })).await;
        }
        is_complete(&campaign)
    })
    .await;
}

/// Sends direct tests to new contacts; returns the tokens of their unsubscribe links.
async fn messages(client: &Client, project: &str) -> Vec<(String, String)> {
    let mut tokens = Vec::new();
    for number in 0..MESSAGES {
        let email = format!("reader{number}@example.com");
        let contact = client.contact(project, &email).await;
        let send = json!({
            "recipientType": "email", "recipientEmail": email, "from": "hello@acme.example", "subject": "Spring",
            "template": "<p>Hello</p><a href=\"{{ unsubscribe_url }}\">Leave</a> <a href=\"https://shop.example/\">Shop</a>",
            "projectId": project, "transactional": false,
        });
        let sent = client.data("sending.send", send).await["sendId"].clone();
        let mut html = String::new();
        until(async || {
            let listed = client.data("sending.inbox_list", json!({ "sendId": sent })).await;
            let Some(id) = listed["messages"][0]["id"].as_str().map(str::to_owned) else { return false };
            let message = client.data("sending.inbox_get", json!({ "id": id })).await;
            html = message["html"].as_str().expect("HTML").to_owned();
            true
        })
        .await;
        let token = |front: &str| {
            let rest = html.split_once(front).map(|(_, rest)| rest).expect("the link is there");
            rest.split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter)))
                .next()
                .expect("a token")
                .to_owned()
        };
        tokens.push((contact, format!("{} {}", token("/u/"), token("/t/c/"))));
    }
    tokens
}

/// A recipient unsubscribes with one click, and follows a link; the contact then shows both.
async fn leaves(client: &Client, project: &str, (contact, tokens): &(String, String)) {
    let (leave, click) = tokens.split_once(' ').expect("two tokens");
    let anonymous = client.with_key(None);
    let call = Call::new(operation("tracking.unsubscribe"), json!({ "token": leave }));
    let call = call.body("application/x-www-form-urlencoded", "List-Unsubscribe=One-Click".to_owned());
    let reply = anonymous.try_send(call).await.expect("it answers");
    assert_eq!(reply.status, 200, "{}", reply.error());
    let followed = anonymous.call("tracking.click", json!({ "token": click })).await;
    assert!((300..400).contains(&followed.status), "{}", followed.status);
    let now = client.data("contacts.get", json!({ "id": contact, "projectId": project })).await;
    assert_eq!(now["status"], "unsubscribed");
}

/// Checks that reads work, writes are refused with the reason and `Retry-After`, and health reports the problem.
async fn is_read_only(client: &Client, project: &str) {
    let contact = json!({ "projectId": project, "email": "late@example.com" });
    let refused = client.call("contacts.create", contact).await;
    assert_eq!(refused.status, 503, "{}", refused.error());
    assert_eq!(refused.json()["code"], "STORAGE_FULL", "{}", refused.error());
    assert_eq!(refused.headers.get("retry-after").and_then(|value| value.to_str().ok()), Some("60"));
    assert_eq!(client.call("contacts.list", json!({ "projectId": project })).await.status, 200);
    assert_eq!(client.data("system.health", json!({})).await["readOnly"], true);
    assert_eq!(client.call("system.live", json!({})).await.status, 200);
    let ready = client.call("system.ready", json!({})).await;
    let disk = &ready.json()["data"]["checks"]["disk"];
    assert_eq!((ready.status, &disk["ok"], &disk["readOnly"]), (503, &json!(false), &json!(true)));
}

/// Checks the count of panics, because their lines in a log on the full disk are lost.
async fn no_worker_panicked(client: &Client) {
    let ready = client.call("system.ready", json!({})).await.json();
    assert_eq!(ready["data"]["checks"]["workers"]["restarts"], 0, "{ready}");
}

/// Compares a campaign's recipient rows with the relay's messages.
async fn no_recipient_is_lost(client: &Client, campaign: &str, sink: &MailSink, began: Instant) {
    let mut report = Report { kills: 1, seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    let mut states = statuses(client, campaign).await;
    // Contacts added after the campaign started are not recipients, or are skipped.
    states.retain(|address, _| !address.starts_with("late"));
    assert_eq!(states.len(), CROWD);
    report.add(&states, &taken(sink, 0));
    report.print();
    report.hold(CONNECTIONS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_full_disk_the_server_is_read_only_recipients_can_unsubscribe_and_everything_continues_once_there_is_room() {
    let sink = relay();
    let mut server = Server::stopped(&format!("{}\n[data]\nfree_mib_min = 3\nreserve_mib = 2\n", with_relay(&sink)));
    let Some(disk) = Disk::mount(&server.data()) else { return };
    // The log file is on the same disk. Before the log is in the folder, the service starts once, because only an empty folder
    // becomes a new installation.
    server.key("test", "all");
    server.standard_error(disk.place.join("errors.log"));
    server.serve();
    let key = server.key("live", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let (tests, test_project) = (server.all(), server.all().project("Letters").await);
    let messages = messages(&tests, &test_project).await;
    let project = audience(&client, CROWD).await;
    let conversation = email(&client, &project).await;
    let id = draft(&client, &project, &conversation, "Full").await;
    let began = Instant::now();
    let writer = Writer::start(client.clone(), project.clone());
    disk.fill(LEFT_BYTES);
    until(async || writer.refused() > 0).await;
    let acknowledged = writer.end().await;
    is_read_only(&client, &project).await;
    leaves(&tests, &test_project, &messages[0]).await;
    let refused = client.call("campaigns.send", json!({ "id": id })).await;
    assert_eq!((refused.status, sink.count()), (503, 0), "{}", refused.error());
    let said = server.run(&["doctor"]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("the service is read-only"), "{said:?}");

    let said = server.run(&["backup", "--to", &disk.place.join("backup").to_string_lossy()]);
    let errors = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(!said.status.success() && errors.contains("Free up space, or choose a folder on another disk"), "{errors}");
    assert!(!disk.place.join("backup").exists(), "nothing was started");

    // Another program uses the remaining space too, so only the reserve is left for unsubscribes.
    disk.fill(0);
    for message in &messages[1..MESSAGES / 2] {
        leaves(&tests, &test_project, message).await;
    }
    is_read_only(&client, &project).await;

    // On a full disk the service starts as read-only instead of failing repeatedly.
    no_worker_panicked(&client).await;
    server.kill();
    disk.fill(0);
    server.serve();
    let (client, tests) = (client.at(server.address()), tests.at(server.address()));
    is_read_only(&client, &project).await;
    for message in &messages[MESSAGES / 2..MESSAGES - 1] {
        leaves(&tests, &test_project, message).await;
    }
    assert!(server.ended().is_none(), "it runs on");
    disk.free();
    let freed = Instant::now();
    until(async || client.call("system.ready", json!({})).await.status == 200).await;
    let reserve = tests.call("system.ready", json!({})).await.json()["data"]["checks"]["disk"]["reserveMib"].clone();
    println!("of the reserve of 2 MiB, {reserve} are there again");
    println!("read-only for {:?}; ready {:?} after there was room", freed - began, freed.elapsed());
    leaves(&tests, &test_project, &messages[MESSAGES - 1]).await;
    insist(&client, &id).await;
    for contact in &acknowledged {
        client.data("contacts.get", json!({ "id": contact, "projectId": project })).await;
    }
    println!("{} contacts were acknowledged until the disk was full, and all are there", acknowledged.len());
    no_recipient_is_lost(&client, &id, &sink, began).await;
    let errors = fs::read_to_string(disk.place.join("errors.log")).expect("it is there");
    assert!(!errors.contains("internal error at"), "{errors}");
    no_worker_panicked(&client).await;
    drop(server);
    drop(disk);
}

/// Checks that the service refuses a new project for lack of space, and answers a read.
async fn refuses_a_project(client: &Client) {
    let refused = client.call("projects.import", json!({ "name": "Late", "urls": ["http://127.0.0.1/late"] })).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "STORAGE_FULL"), "{}", refused.error());
    assert_eq!(client.call("projects.list", json!({})).await.status, 200);
}

/// Regression test: these starts ended with a failure, so a supervisor would have repeated them forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_start_and_a_resumed_copy_on_an_almost_full_disk_are_read_only() {
    // The threshold is larger than the disk.
    let mut server = Server::stopped(&format!("{BOUNDLESS}\n[data]\nfree_mib_min = {}\nreserve_mib = 2\n", 2 * DISK_MIB));
    let Some(disk) = Disk::mount(&server.data()) else { return };
    disk.fill(LEFT_BYTES);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(2));
            disk.free();
        });
        server.serve();
    });
    let greeting = server.log();
    assert!(greeting.contains("a new installation waits until space is freed"), "{greeting}");
    let key = greeting.lines().skip_while(|line| !line.contains("Test API key")).nth(1).expect("the greeting shows a key");
    let client = Client::new(server.address(), Some(key.trim().to_owned()));
    refuses_a_project(&client).await;
    server.kill();
    server.serve();
    refuses_a_project(&client.at(server.address())).await;

    // A folder without this file counts as a copy.
    server.kill();
    fs::remove_file(disk.place.join("instance.json")).expect("it is there");
    server.serve_with(&["--resume"]);
    let client = client.at(server.address());
    refuses_a_project(&client).await;
    assert!(server.log().contains("sending resumes because of --resume"), "{}", server.log());
    let checks = client.call("system.ready", json!({})).await.json()["data"]["checks"].clone();
    assert_eq!((&checks["dispatchers"]["onHold"], &checks["disk"]["readOnly"]), (&json!(false), &json!(true)), "{checks}");
    drop(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fills_up_during_a_campaign_loses_and_repeats_no_recipient() {
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
    until(async || writer.refused() > 0).await;
    let stopped_at = sink.count();
    tokio::time::sleep(Duration::from_secs(2)).await;
    is_read_only(&client, &project).await;
    println!("{stopped_at} messages when the disk was full, {} two seconds later", sink.count());
    assert!(sink.count() - stopped_at <= 2 * usize::try_from(CONNECTIONS).expect("few") && stopped_at < CROWD);
    faults.disarm();
    until(async || client.call("system.ready", json!({})).await.status == 200).await;
    let acknowledged = writer.end().await;
    insist(&client, &id).await;
    assert!(server.ended().is_none(), "it ran on");
    for contact in &acknowledged {
        client.data("contacts.get", json!({ "id": contact, "projectId": project })).await;
    }
    let mut report = Report { seconds: began.elapsed().as_secs_f64(), ..Report::default() };
    let mut states = statuses(&client, &id).await;
    states.retain(|address, _| !address.starts_with("late"));
    report.add(&states, &taken(&sink, 0));
    report.print();
    report.hold(CONNECTIONS);
}

/// A server on which one call fails in each run.
struct Bench {
    server: Server,
    faults: Faults,
    key: String,
    project: String,
    conversation: String,
    sink: MailSink,
}

/// The result of a run.
enum Ran {
    /// The run made fewer calls, so none of them failed.
    NotReached,
    /// The failure ended the server.
    Ended,
    /// The server continued, because it does not depend on this file.
    Continued(String),
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

    /// Runs a whole campaign in which the call with this number fails; if 0, no call fails.
    async fn run(&mut self, (kind, fault): (Kind, Fault), number: u64, report: &mut Report) -> Ran {
        let before = self.sink.count();
        let client = self.client();
        // After a full disk the server is read-only until it has measured the free space again.
        until(async || client.data("system.health", json!({})).await["readOnly"] != true).await;
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
            if ended.is_none() && now.is_some_and(|reply| is_complete(&reply.json()["data"])) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.faults.disarm();
        let failed = self.faults.failed();
        // The failed call can be one of the last, so the server may end only after the campaign is complete.
        if ended.is_none() && failed > 0 && fault == Fault::Broken && self.faults.failed_path().ends_with(".redb") {
            ended = Some(self.server.end().await);
        }
        if let Some(status) = ended {
            assert!(!status.success(), "an end by a broken disk is a failure");
            report.kills += 1;
            self.server.serve();
        } else {
            assert!(!refused || fault == Fault::Full, "a server whose disk is broken does not continue");
        }
        let client = self.client();
        insist(&client, &id).await;
        report.add(&statuses(&client, &id).await, &taken(&self.sink, before));
        match (ended, failed) {
            (Some(_), _) => Ran::Ended,
            (None, 0) => Ran::NotReached,
            (None, _) => Ran::Continued(self.faults.failed_path()),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_failing_disk_call_loses_or_repeats_a_recipient() {
    let faults = knob("FAULTS", 5);
    let Some(mut bench) = Bench::new().await else { return };
    println!("fails | calls of a campaign | tried | server ended | continued | not reached | {}", Report::HEAD);
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
        let (mut ended, mut not_reached, mut continued) = (0, 0, BTreeSet::new());
        let (mut many_continued, began) = (0, Instant::now());
        for number in 0..tried {
            match bench.run(what, 1 + number * calls / tried, &mut report).await {
                Ran::Ended => ended += 1,
                Ran::NotReached => not_reached += 1,
                Ran::Continued(file) => {
                    many_continued += 1;
                    continued.insert(file);
                }
            }
        }
        report.seconds = began.elapsed().as_secs_f64();
        println!("{name} | {calls} | {tried} | {ended} | {many_continued} {continued:?} | {not_reached} | {}", report.line());
        report.hold(FEW_CONNECTIONS);
        match what.1 {
            // A write that fails for lack of space is retried.
            Fault::Full => assert_eq!(ended, 0, "a full disk has ended the server"),
            _ => assert!(ended > 0, "no fault has ended the server"),
        }
    }
}

/// Returns a direct send with this number in its idempotency key and address.
fn direct(number: u64) -> Call {
    let send = json!({
        "recipientType": "email", "recipientEmail": format!("direct{number}@example.com"), "from": "news@example.com",
        "subject": "Your order", "template": "<p>It is on its way.</p>", "transactional": true,
    });
    Call::new(operation("sending.send"), send).header("idempotency-key", format!("order-{number}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_direct_send_repeated_with_its_key_after_a_disk_failure_is_sent_once() {
    let Some(mut bench) = Bench::new().await else { return };
    let (mut refused, mut ended, mut unknown) = (0, 0, 0);
    let last = knob("FAULTS", 8).max(4);
    for number in 1..=last {
        let client = bench.client();
        // Fail the first syncs of a send: those of its acceptance, its handoff and its outcome.
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
