//! Tests the continuous backup of the service against an S3 server: kills, restores of moments, failing and lying targets, two servers,
//! wrong clocks, drills, and exports of contacts from the past.
//!
//! `BACKUP_KILLS` sets the number of kills of the first test:
//!
//!     BACKUP_KILLS=50 cargo test --test it continuous_backup -- --nocapture

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mailmill::base::clock::{Clock, SystemClock, Timestamp};
use mailmill::base::random::{Random, SystemRandom};
use mailmill::engine::store::{Order, Read, Span, StoreFile, identity};
use mailmill::vocab::tables::TABLES;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::delivery::until;
use super::installation::said;
use super::support::client::Call;
use super::support::mail_sink::MailSink;
use super::support::object_store::{ObjectStore, Weather, folder_bytes};
use super::support::server::BOUNDLESS;
use super::support::{Client, NO_PROJECT, Server, operation};
use super::users::{OWNER, set_up, signed_in};

const WRITERS: usize = 4;
/// The time before a kill, counted from the moment when the server accepts requests.
const KILL_AFTER_MS: std::ops::Range<u64> = 300..2_500;
/// The limit for the commits before a kill that are not in the log yet. A busy machine delays the thread that writes the log.
const GAP_MS: i64 = 2_000;
/// The number of contacts for which shipped bytes are counted.
const COUNTED: usize = 500;
/// The largest number of bytes shipped for each changed byte. Compression saves more than seals, names and checksums add.
const SHIPPED_BYTES_MAX: f64 = 1.2;
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK: Duration = Duration::from_millis(100);
const CACHE_BYTES: usize = 8 << 20;

#[expect(clippy::disallowed_methods, reason = "the caller of the test sets its size")]
fn knob(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

pub fn settings(store: &ObjectStore, prefix: &str) -> String {
    format!("{BOUNDLESS}\n{}", store.settings(prefix))
}

/// The contacts whose creation was acknowledged, by email address, with the time of their creation.
type Created = BTreeMap<String, Timestamp>;

pub fn moment(text: &Value) -> Timestamp {
    let text = text.as_str().expect("a time");
    let parsed: jiff::Timestamp = text.parse().unwrap_or_else(|_| panic!("{text} is a time"));
    Timestamp(parsed.as_millisecond())
}

/// Creates contacts until the server is killed, or until there are `most`; returns the acknowledged ones.
async fn write(client: Client, project: String, mark: String, most: usize) -> Created {
    let mut created = Created::new();
    for number in 0..most {
        let email = format!("{mark}-{number}@example.com");
        let call = Call::new(operation("contacts.create"), json!({ "projectId": project, "email": email }));
        match client.try_send(call).await {
            Ok(reply) if reply.status == 201 && !reply.bytes.is_empty() => {
                created.insert(email, moment(&reply.json()["data"]["createdAt"]));
            }
            _ => break,
        }
    }
    created
}

/// Returns the email address of the contact that the same writer created next.
fn next_of(email: &str) -> Option<String> {
    let (mark, number) = email.strip_suffix("@example.com")?.rsplit_once('-')?;
    Some(format!("{mark}-{}@example.com", number.parse::<usize>().ok()? + 1))
}

/// Waits until the backup has everything that was committed before this call.
pub async fn catch_up(client: &Client) {
    let began = tokio::time::Instant::now();
    let mut last = Value::Null;
    while began.elapsed() < PATIENCE {
        // The response can come late, so the time of the request counts.
        let asked = began.elapsed();
        let reply = client.call("system.ready", json!({})).await.json();
        last = reply["data"]["checks"]["backup"].clone();
        let age = last["ageSeconds"].as_u64();
        if age.is_some_and(|age| Duration::from_secs(age + 1) < asked) {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
    panic!("the backup does not catch up: {last}");
}

/// A folder for restores, with a copy of the server's master key.
pub struct Vault {
    folder: tempfile::TempDir,
    url: String,
}

impl Vault {
    pub fn new(server: &Server, url: String) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::copy(server.data().join("master.key"), folder.path().join("key")).expect("the key can be copied");
        Self { folder, url }
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// Runs `mailmill restore` with these options; returns the output.
    pub fn run(&self, server: &Server, data: &Path, options: &[&str]) -> std::process::Output {
        let key = self.key();
        let key = key.to_str().expect("UTF-8");
        server.run_on(data, &[&["restore", self.url.as_str(), "--master-key", key][..], options].concat())
    }

    /// Restores into a new folder.
    pub fn restore(&self, server: &Server, options: &[&str]) -> PathBuf {
        let data = self.folder.path().join(format!("data-{}", fs::read_dir(self.folder.path()).map_or(0, Iterator::count)));
        let output = self.run(server, &data, options);
        assert!(output.status.success(), "{}", said(&output));
        data
    }

    /// Returns the emails of a brand's contacts at a time, with the times of their creation.
    pub fn contacts(&self, server: &Server, project: &str, at: Option<Timestamp>) -> Created {
        let file = self.folder.path().join("contacts.csv");
        let at = at.map(|at| at.to_string());
        let mut options = vec!["--contacts", project, "--to", file.to_str().expect("UTF-8")];
        options.extend(at.iter().flat_map(|at| ["--at", at.as_str()]));
        let output = self.run(server, &self.folder.path().join("aside"), &options);
        assert!(output.status.success(), "{}", said(&output));
        let text = fs::read_to_string(&file).expect("the file exists");
        fs::remove_file(&file).expect("the file can be removed");
        let mut lines = text.lines();
        let headers: Vec<&str> = lines.next().expect("headers").split(',').collect();
        let column = |name: &str| headers.iter().position(|header| *header == name).unwrap_or_else(|| panic!("{headers:?}"));
        let (email, created) = (column("email"), column("created_at"));
        lines
            .map(|line| line.split(',').collect::<Vec<_>>())
            .map(|cells| (cells[email].into(), moment(&json!(cells[created]))))
            .collect()
    }
}

/// Compares all rows of two data folders, except the count of their starts; returns the number of rows.
pub fn compare(one: &Path, other: &Path) -> usize {
    let rows = |folder: &Path, name: &str| {
        let file = StoreFile::open_verified(&folder.join(name), CACHE_BYTES).expect("the file is intact");
        let (here, tx) = (file.table_names().expect("the file is readable"), file.read().expect("the file is readable"));
        let mut rows = BTreeMap::new();
        for info in TABLES.iter().filter(|info| here.iter().any(|table| table == info.name)) {
            let visit = tx.visit_bytes(info.id, &Span::default(), Order::Forward, &mut |key, value| {
                if !identity::stays_behind(info.id, key) {
                    rows.insert((info.name, key.to_vec()), value.to_vec());
                }
                Ok(std::ops::ControlFlow::Continue(()))
            });
            visit.expect("the rows are readable");
        }
        rows
    };
    let mut count = 0;
    for name in ["control.redb", "test.redb", "live.redb"] {
        let (one, other) = (rows(one, name), rows(other, name));
        let differing: Vec<_> =
            one.iter().filter(|(key, value)| other.get(*key) != Some(*value)).map(|(key, _)| key).take(5).collect();
        assert!(
            differing.is_empty() && one.len() == other.len(),
            "{name}: {} and {} rows: {differing:?}",
            one.len(),
            other.len()
        );
        count += one.len();
    }
    count
}

/// Creates contacts, and prints how many bytes the backup has shipped for each byte that the process changed since its start.
async fn ship_and_count(server: &Server, client: &Client, project: &str) -> Created {
    let created = write(client.clone(), project.to_owned(), "counted".into(), COUNTED).await;
    catch_up(client).await;
    set_up(server);
    let status = status_of(&signed_in(server, OWNER, "live").await).await;
    let bytes = |name: &str| status[name].as_f64().expect("a number");
    let ratio = bytes("shippedBytes") / bytes("changedBytes");
    println!("{ratio:.2} bytes shipped for each changed byte ({} of {})", bytes("shippedBytes"), bytes("changedBytes"));
    assert!(ratio < SHIPPED_BYTES_MAX, "{status}");
    created
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_loses_nothing_and_every_moment_can_be_restored() {
    let Some(store) = ObjectStore::start() else { return };
    let random = SystemRandom::default();
    let within = |range: &std::ops::Range<u64>| {
        range.start + u64::from(u32::from_be_bytes((&random as &dyn Random).bytes())) % (range.end - range.start)
    };
    let mut server = Server::start(&settings(&store, "kills"));
    let key = server.key("live", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("kills").await;
    let vault = Vault::new(&server, ObjectStore::url("kills"));
    catch_up(&client).await;
    let (mut all, mut moments): (_, Vec<Timestamp>) = (Created::new(), Vec::new());
    let (mut windows_ms, mut lost) = (Vec::new(), 0);
    let kills = knob("BACKUP_KILLS", 4);
    for round in 0..kills {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(client.clone(), project.clone(), format!("r{round}-w{writer}"), usize::MAX));
        }
        tokio::time::sleep(Duration::from_millis(within(&KILL_AFTER_MS))).await;
        server.kill();
        let killed = SystemClock.now();
        let created: Created = writers.join_all().await.into_iter().flatten().collect();
        // Find the acknowledged contacts that the target does not have: losing the machine would have lost them.
        let backed_up = vault.contacts(&server, &project, None);
        let missing = created.iter().filter(|(email, _)| !backed_up.contains_key(*email)).map(|(_, at)| *at);
        let missing: Vec<Timestamp> = missing.collect();
        windows_ms.push(missing.iter().map(|at| killed.ms_since(*at)).max().unwrap_or(0));
        lost = lost.max(missing.len());
        assert!(all.keys().all(|email| backed_up.contains_key(email)), "contacts of earlier rounds are in the backup");
        moments.extend(created.values().nth(within(&(0..created.len().max(1) as u64)) as usize));
        all.extend(created);
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
        catch_up(&client).await;
    }
    windows_ms.sort_unstable();
    let (window_ms, median_ms) = (windows_ms.last().copied().unwrap_or(0), windows_ms[windows_ms.len() / 2]);
    assert!(window_ms < 30_000, "a loss of the machine would have cost {window_ms} ms");
    let (mut in_gaps, mut compared, mut gap_ms) = (0, 0, 0);
    for at in &moments {
        let found = vault.contacts(&server, &project, Some(*at));
        compared += found.len();
        for (email, created) in &all {
            match (created <= at, found.get(email)) {
                (true, Some(there)) => assert_eq!(there, created, "{email}"),
                (false, there) => assert_eq!(there, None, "{email} was created at {created}, after {at}"),
                // A kill can come after a commit and before its record is in the spool. Such commits are in the next snapshot only.
                (true, None) => {
                    in_gaps += 1;
                    gap_ms = gap_ms.max(at.ms_since(*created));
                    let later = next_of(email).and_then(|next| found.get(&next));
                    assert_eq!(later, None, "{email} is missing, but the next contact of its writer is there");
                }
            }
        }
    }
    assert!(gap_ms < GAP_MS, "commits of {gap_ms} ms are in no log");
    all.extend(ship_and_count(&server, &client, &project).await);
    server.signal("TERM");
    assert!(server.wait().success(), "{}", server.log());
    let rows = compare(&server.data(), &vault.restore(&server, &[]));
    println!(
        "kills | contacts acknowledged | missing after a restart | moments restored | contacts compared there | missing there | rows equal"
    );
    println!("{kills} | {} | 0 | {} | {compared} | {in_gaps} | {rows}", all.len(), moments.len());
    println!("at most {gap_ms} ms before a kill cannot be restored as a moment");
    println!(
        "a loss of the machine at a kill would have cost at most {lost} contacts and {window_ms} ms (median {median_ms} ms)"
    );
    let last = vault.contacts(&server, &project, None);
    assert!(all.iter().all(|(email, at)| last.get(email) == Some(at)), "every acknowledged contact is in the backup");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_fails_or_lies_delays_the_backup_and_damages_nothing() {
    let Some(store) = ObjectStore::start() else { return };
    let mut server = Server::start(&settings(&store, "weather"));
    let client = server.client("live", "all");
    let project = client.project("weather").await;
    let vault = Vault::new(&server, ObjectStore::url("weather"));
    catch_up(&client).await;
    let mut all = Created::new();
    let kinds = [
        Weather::Unavailable,
        Weather::Revoked,
        Weather::CutUploads,
        Weather::HalfUploads,
        Weather::LostResponses,
        Weather::Fine,
    ];
    for (round, weather) in kinds.into_iter().enumerate() {
        store.set(weather);
        let before = store.uploads();
        let began = tokio::time::Instant::now();
        all.extend(write(client.clone(), project.clone(), format!("w{round}"), 200).await);
        assert_eq!(all.len(), (round + 1) * 200, "{weather:?}: writes do not wait for the target");
        assert!(began.elapsed() < PATIENCE);
        while weather != Weather::Fine && store.uploads() < before + 3 && began.elapsed() < Duration::from_secs(20) {
            tokio::time::sleep(LOOK).await;
        }
        if weather == Weather::Revoked {
            until(async || {
                let findings = said(&server.run(&["doctor"]));
                findings.contains("PROBLEM  backup") && findings.contains("credentials")
            })
            .await;
        }
    }
    catch_up(&client).await;
    let there = vault.contacts(&server, &project, None);
    assert!(all.iter().all(|(email, at)| there.get(email) == Some(at)), "{} of {}", there.len(), all.len());
    server.signal("TERM");
    assert!(server.wait().success(), "{}", server.log());
    compare(&server.data(), &vault.restore(&server, &[]));
    let log = server.log();
    assert!(!log.contains("secret_key") && !log.contains("Signature="), "credentials are not logged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_and_another_installation_are_rejected_and_a_restored_one_takes_over() {
    let Some(store) = ObjectStore::start() else { return };
    let mut server = Server::start(&settings(&store, "two"));
    let client = server.client("live", "all");
    let project = client.project("two").await;
    client.contact(&project, "a@example.com").await;
    catch_up(&client).await;
    let vault = Vault::new(&server, ObjectStore::url("two"));
    // The restored folder is a second server of the same installation.
    let copy = vault.restore(&server, &[]);
    let mut twin = Server::stopped(&settings(&store, "two"));
    fs::rename(&copy, twin.data()).expect("the folder can be moved");
    twin.serve();
    until(async || twin.log().contains("is writing to this backup target; stop that server")).await;
    let doctor = said(&twin.run(&["doctor"]));
    assert!(doctor.contains("The backup has stopped: the server "), "{doctor}");
    let other = Server::start(&settings(&store, "two"));
    until(async || other.log().contains("the backup target belongs to the installation")).await;
    drop(other);
    client.contact(&project, "b@example.com").await;
    catch_up(&client).await;
    assert_eq!(vault.contacts(&server, &project, None).len(), 2, "the first server is not disturbed");
    let key = twin.key("live", "all");
    let twins = Client::new(twin.address(), Some(key));
    twins.contact(&project, "c@example.com").await;
    server.kill();
    catch_up(&twins).await;
    let emails: Vec<String> = vault.contacts(&server, &project, None).into_keys().collect();
    assert_eq!(emails, ["a@example.com", "c@example.com"], "the second server took over with its own state");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_clocks_change_neither_the_order_nor_the_content() {
    let Some(store) = ObjectStore::start() else { return };
    let mut server = Server::stopped(&settings(&store, "clocks"));
    let Some(faults) = server.faults() else { return };
    server.serve();
    let client = server.client("live", "all");
    let project = client.project("clocks").await;
    let vault = Vault::new(&server, ObjectStore::url("clocks"));
    let mut all = Created::new();
    // The clock is right, then a year ahead, then a year behind, then right again.
    for (round, days) in [0, 365, -365, 0].into_iter().enumerate() {
        faults.clock_off_by_ms(days * 86_400_000);
        all.extend(write(client.clone(), project.clone(), format!("c{round}"), 20).await);
        catch_up(&client).await;
        assert_eq!(vault.contacts(&server, &project, None).len(), (round + 1) * 20);
    }
    server.signal("TERM");
    assert!(server.wait().success(), "{}", server.log());
    compare(&server.data(), &vault.restore(&server, &[]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_get_one_email_per_problem_and_drills_prove_the_backup() {
    let Some(store) = ObjectStore::start() else { return };
    let sink = MailSink::usual();
    let mail = format!("[mail]\nrelay = [\"smtp://{}\"]\nrequire_verified_domain = false\n", sink.address);
    let settings = settings(&store, "drills").replace("drill_days = 0", "drill_days = 7\nwarn_after_minutes = 1");
    let mut server = Server::stopped(&format!("{settings}{mail}"));
    server.set_environment(vec![("MAILMILL_ACCOUNTS__MAIL_FROM", "mailmill@example.com".into())]);
    server.serve();
    set_up(&server);
    let owner = signed_in(&server, OWNER, "live").await;
    let client = server.client("live", "all");
    client.project("drills").await;
    catch_up(&client).await;
    let drill = async |wanted: fn(&Value) -> bool| {
        let began = tokio::time::Instant::now();
        while began.elapsed() < PATIENCE {
            let status = owner.data("system.status", json!({})).await["continuousBackup"].clone();
            if wanted(&status["lastDrill"]) {
                return status;
            }
            tokio::time::sleep(LOOK).await;
        }
        panic!("{}", owner.data("system.status", json!({})).await["continuousBackup"]);
    };
    let status = drill(|drill| drill["rows"].as_u64().is_some_and(|rows| rows > 0) && drill["error"].is_null()).await;
    println!("{status:#}");
    assert!(!server.data().join("restore-drill").exists());
    assert!(said(&server.run(&["doctor"])).contains("the restore drill of"));
    // Delete a part of the snapshot, which only a drill detects.
    let part = store.objects().into_iter().find(|name| name.contains("/part-00000000")).expect("the snapshot has parts");
    store.delete(&part);
    owner.data("system.backup_run", json!({ "task": "drill" })).await;
    let status = drill(|drill| !drill["error"].is_null()).await;
    assert!(status["problem"].as_str().is_some_and(|problem| problem.contains("it is missing")), "{status}");
    let mails = |word: &str| sink.messages().iter().filter(|mail| String::from_utf8_lossy(&mail.body).contains(word)).count();
    until(async || mails("The backup needs attention") > 0).await;
    owner.data("system.backup_run", json!({ "task": "snapshot" })).await;
    until(async || status_of(&owner).await["lastSnapshot"]["at"] != status["lastSnapshot"]["at"]).await;
    owner.data("system.backup_run", json!({ "task": "drill" })).await;
    drill(|drill| drill["error"].is_null()).await;
    until(async || mails("The backup works again") > 0).await;
    assert_eq!((mails("Subject: The backup needs attention"), mails("Subject: The backup works again")), (1, 1));
}

async fn status_of(owner: &Client) -> Value {
    owner.data("system.status", json!({})).await["continuousBackup"].clone()
}

/// Deleted contacts come back with the usual import, and contacts that unsubscribed in the meantime stay unsubscribed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contacts_that_were_deleted_by_mistake_are_exported_from_the_past() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let target = outer.path().join("target");
    let url = target.to_str().expect("UTF-8").to_owned();
    let server = Server::start(&format!("{BOUNDLESS}\n[backup]\nurl = \"{url}\"\ninterval_seconds = 1\n"));
    let client = server.client("live", "all");
    let project = client.project("oops").await;
    catch_up(&client).await;
    let vault = Vault::new(&server, url.clone());
    assert_eq!(vault.contacts(&server, &project, None), Created::new(), "the brand is in the backup, without contacts");
    let created = write(client.clone(), project.clone(), "kept".into(), 30).await;
    catch_up(&client).await;
    let before = SystemClock.now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    let first = client.data("contacts.list", json!({ "projectId": project, "limit": 10 })).await;
    for contact in first["contacts"].as_array().expect("a list") {
        client.data("contacts.delete", json!({ "projectId": project, "id": contact["id"] })).await;
    }
    catch_up(&client).await;
    assert_eq!(vault.contacts(&server, &project, None).len(), 20);
    assert_eq!(vault.contacts(&server, &project, Some(before)), created);
    let (bytes, output) = (folder_bytes(&target), vault.run(&server, &outer.path().join("x"), &["--verify"]));
    assert!(output.status.success() && said(&output).contains("is intact"), "{}", said(&output));
    assert!(folder_bytes(&target) >= bytes, "a restore deletes nothing in the target");
    let file = outer.path().join("x.csv");
    let file = file.to_str().expect("UTF-8");
    for (options, word) in [
        (vec!["--contacts", NO_PROJECT, "--to", file], "has no brand"),
        (vec!["--at", "2020-01-01"], "the backup contains no state as of"),
        (vec!["--at", "yesterday"], "must be a time like"),
        (vec!["--contacts", NO_PROJECT, "--to", "/nowhere/x.csv"], "cannot be written"),
        (vec!["--resume", "--contacts", &project, "--to", "x.csv"], "cannot be used with"),
    ] {
        let output = vault.run(&server, &outer.path().join("x"), &options);
        assert!(!output.status.success() && said(&output).contains(word), "{options:?}: {}", said(&output));
    }
    // A key of another installation is rejected before anything is written.
    fs::write(vault.key(), [9; 32]).expect("the file can be written");
    let output = vault.run(&server, &outer.path().join("x"), &[]);
    assert!(said(&output).contains("Nothing was written") && !outer.path().join("x").exists(), "{}", said(&output));
}
