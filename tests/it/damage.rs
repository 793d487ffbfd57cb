//! Tests damaged data files: flipped bytes, truncated files, zeroed pages and swapped files are reported with the file's name and a
//! remedy, and no panic reaches a user. `CORRUPTIONS` sets the number of tries:
//!
//!     CORRUPTIONS=200 cargo test --release --test it damage -- --nocapture

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use mailmill::base::clock::SystemClock;
use mailmill::base::random::SystemRandom;
use mailmill::engine::store::{Error, Options, Store};
use mailmill::vocab::tables::{self, DatabaseKind};
use serde_json::{Value, json};

use super::delivery::knob;
use super::installation::said;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};

/// The default number of tries. Each try starts five processes, which takes about half a second.
const CORRUPTIONS: u64 = 40;
const FILES: [&str; 3] = ["control.redb", "test.redb", "live.redb"];
const PAGE: usize = 4096;

/// A random generator that returns the same numbers in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// Damages the stores in a folder; returns what was done, and to which file.
fn corrupt(folder: &Path, dice: &mut Dice) -> (String, &'static str) {
    let name = FILES[dice.below(FILES.len())];
    let path = folder.join(name);
    let mut bytes = fs::read(&path).expect("there");
    // Damage bytes that are in use, because most of a new file is empty.
    let filled: Vec<usize> = (0..bytes.len()).filter(|at| !matches!(bytes[*at], 0 | 255)).collect();
    let at = filled[dice.below(filled.len())];
    let done = match dice.below(4) {
        0 => {
            bytes[at] ^= 1 << dice.below(8);
            format!("byte {at} flipped")
        }
        1 => {
            bytes.truncate(at);
            format!("cut off at {at}")
        }
        2 => {
            let page = at - at % PAGE;
            let end = (page + PAGE).min(bytes.len());
            bytes[page..end].fill(0);
            format!("page at {page} zeroed")
        }
        _ => {
            let other = folder.join(FILES[(dice.below(2) + 1 + FILES.iter().position(|file| *file == name).unwrap_or(0)) % 3]);
            let swapped = fs::read(&other).expect("there");
            fs::write(&other, &bytes).expect("written");
            bytes = swapped;
            format!("swapped with {}", other.display())
        }
    };
    fs::write(&path, bytes).expect("written");
    (format!("{name}: {done}"), name)
}

/// Checks that a failure names a file and the remedy, and that nothing panicked.
fn well_told(what: &str, output: &Output, remedy: &str) {
    let words = plainly_told(what, output);
    if !output.status.success() {
        assert!(FILES.iter().any(|file| words.contains(file)) && words.contains(remedy), "{what}: {words}");
    }
}

fn plainly_told(what: &str, output: &Output) -> String {
    let words = said(output);
    assert!(
        !words.contains("panicked") && !words.contains("internal error") && !words.contains("RUST_BACKTRACE"),
        "{what}: {words}"
    );
    assert!(output.status.code().is_some(), "{what}: it was ended by a signal: {words}");
    words
}

/// Returns a stopped server with 2,000 live contacts, a live key, and the project of the contacts.
async fn used() -> (Server, String, String) {
    let mut server = Server::start(BOUNDLESS);
    let key = server.key("live", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("damage").await;
    let contacts: Vec<Value> = (0..2_000).map(|number| json!({ "email": format!("c{number}@example.com") })).collect();
    client.data("contacts.bulk", json!({ "projectId": project, "subscribers": contacts })).await;
    server.signal("TERM");
    assert!(server.wait().success());
    (server, key, project)
}

fn copy(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().expect("there is a cp");
    assert!(status.success());
}

/// Regression test: flipped bytes ended the process with a backtrace in 10 of 12 cases.
#[tokio::test(flavor = "multi_thread")]
async fn no_corruption_reaches_a_user_as_a_panic() {
    let (server, ..) = used().await;
    let outer = server.data().with_file_name("damaged");
    fs::create_dir(&outer).expect("made");
    let backup = outer.join("backup");
    let output = server.run(&["backup", "--to", backup.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", said(&output));
    let key = server.data().join("master.key");
    let (mut dice, mut refused) = (Dice(14), 0);
    let many = knob("CORRUPTIONS", CORRUPTIONS);
    for number in 0..many {
        let (data, saved): (PathBuf, PathBuf) = (outer.join("data"), outer.join("saved"));
        copy(&server.data(), &data);
        copy(&backup, &saved);
        let (what, name) = corrupt(&data, &mut dice);
        let (lost, _) = corrupt(&saved, &mut dice);
        let what = format!("{number}: {what}");
        let doctor = server.run_on(&data, &["doctor"]);
        // The doctor also fails because of other findings, such as the missing transport.
        let words = plainly_told(&what, &doctor);
        let checked = server.run_on(&data, &["check-data"]);
        well_told(&what, &checked, "mailmill restore");
        let reports = words.contains("PROBLEM  data") && words.contains("mailmill restore");
        assert!(reports || checked.status.success(), "{what}: the doctor does not report what check-data reports: {words}");
        let made = outer.join("made");
        well_told(&what, &server.run_on(&data, &["backup", "--to", made.to_str().expect("UTF-8")]), "mailmill restore");
        let served = server.serve_on(&data).await;
        well_told(&what, &served, "mailmill restore");
        refused += u64::from(!checked.status.success());
        if !checked.status.success() {
            assert!(!served.status.success(), "{what}: it was served, though check-data says {}", said(&checked));
            assert!(said(&checked).contains(name) || what.contains("swapped"), "{what}: {}", said(&checked));
        }
        let target = outer.join("restored");
        let arguments = ["restore", saved.to_str().expect("UTF-8"), "--master-key", key.to_str().expect("UTF-8")];
        let restored = server.run_on(&target, &arguments);
        well_told(&format!("{number}: backup: {lost}"), &restored, "use a different backup");
        for folder in [data, saved, made, target] {
            let _ = fs::remove_dir_all(folder);
        }
    }
    println!("{refused} of {many} corruptions were refused; the others were where nothing is read");
    assert!(refused * 2 > many, "{refused}");
}

/// A row that a faulty program wrote is on a page with the right checksum.
#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_cannot_be_read_is_found_by_check_data() {
    let (server, ..) = used().await;
    let checked = server.run(&["check-data"]);
    assert!(checked.status.success() && said(&checked).contains("rows can be read"), "{}", said(&checked));
    let file = server.data().join("live.redb");
    let options = Options { database_kind: DatabaseKind::Environment, cache_bytes: 1 << 20 };
    let store = Store::open(&file, &options, Arc::new(SystemClock), Arc::new(SystemRandom::default())).expect("it opens");
    let wrote = store.write(|tx| {
        tx.put_bytes(tables::CONTACTS, vec![0; 16], vec![1, 2, 3]);
        Ok::<_, Error>(())
    });
    assert_eq!(wrote.await, Ok(Ok(())));
    store.close();
    let checked = server.run(&["check-data"]);
    well_told("check-data", &checked, "mailmill restore");
    let words = said(&checked);
    assert!(!checked.status.success() && words.contains("1 of 2001 rows of the table \"contacts\" cannot be read"), "{words}");
}

/// Zeroes every page of the file that contains these bytes.
fn zero_pages(file: &Path, with: &[u8]) {
    let bytes = fs::read(file).expect("there");
    let open = fs::File::options().write(true).open(file).expect("it can be changed");
    let pages = bytes.chunks_exact(PAGE).enumerate().filter(|(_, page)| page.windows(with.len()).any(|part| part == with));
    let zeroed: Vec<_> = pages.map(|(number, _)| open.write_all_at(&[0; PAGE], (number * PAGE) as u64)).collect();
    assert!(!zeroed.is_empty() && zeroed.iter().all(Result::is_ok), "{zeroed:?}");
}

/// A start does not find damage that happens later, and does not check large files.
#[tokio::test(flavor = "multi_thread")]
async fn damage_found_while_serving_is_named_to_the_operator_and_not_to_the_client() {
    // The contacts need several times the memory of the cache.
    let mut server = Server::start(&format!("{BOUNDLESS}\n[data]\ncache_mib = 4\n"));
    let client = server.client("live", "all");
    let project = client.project("damage").await;
    for part in 0..4 {
        let contact = |number: usize| json!({ "email": format!("p{part}c{number}@example.com"), "customFields": { "note": "x".repeat(1_000) } });
        let contacts: Vec<Value> = (0..4_000).map(contact).collect();
        client.data("contacts.bulk", json!({ "projectId": project, "subscribers": contacts })).await;
    }
    assert_eq!(client.call("system.ready", json!({})).await.json()["data"]["checks"]["store"]["damaged"], json!([]));
    zero_pages(&server.data().join("live.redb"), b"@example.com");

    let refused = client.call("contacts.field_catalog", json!({ "projectId": project })).await;
    let text = refused.error();
    assert!(refused.status == 500 && text.contains("a data file is damaged"), "{} {text}", refused.status);
    assert!(!text.contains(".redb") && !text.contains("page"), "{text}");
    assert_eq!(client.call("projects.list", json!({})).await.status, 200, "other data is still served");

    let ready = client.call("system.ready", json!({})).await;
    let store = ready.json()["data"]["checks"]["store"].clone();
    assert_eq!((ready.status, &store["ok"], &store["damaged"][0]["file"]), (503, &json!(false), &json!("live.redb")), "{store}");
    let detail = |name: &str| store["damaged"][0][name].as_str().unwrap_or_default().to_owned();
    let found = detail("found");
    assert!(!found.is_empty() && detail("restore").starts_with("mailmill restore "), "{store}");

    let doctor = server.run(&["doctor"]);
    let report = plainly_told("doctor", &doctor);
    assert!(doctor.status.code() == Some(1) && report.contains("PROBLEM  data"), "{report}");
    for (place, words) in [("doctor", &report), ("log", &server.log())] {
        // The log escapes quotes.
        let names = ["live.redb is damaged: ", found.split('"').next().unwrap_or_default(), "mailmill restore"];
        assert!(names.iter().all(|name| words.contains(name)), "{place}: {words}");
    }
    assert!(server.is_running() && !server.log().contains("internal error"), "{}", server.log());
}
