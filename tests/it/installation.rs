//! Tests the installation's data: if the key or a store is lost or wrong, the service does not start, and restore, rekey and
//! check-data help.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use super::support::server::BOUNDLESS;
use super::support::{Client, Server};
use super::users::{OWNER, PASSWORD, set_up};

/// Returns a command's output on both streams.
pub fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Starts a server that must fail to start; returns its output.
pub fn refused(server: &Server) -> String {
    let output = server.serve_again();
    let words = said(&output);
    assert!(!output.status.success() && !words.contains("panicked") && !words.contains("internal error"), "{words}");
    words
}

/// Returns the path of the server's master key.
pub fn key(server: &Server) -> PathBuf {
    server.data().join("master.key")
}

/// Stops the server gracefully.
pub fn stop(server: &mut Server) {
    server.signal("TERM");
    assert!(server.wait().success());
}

/// Returns a stopped server whose data contains a webhook, a domain and an owner.
pub async fn used() -> (Server, String) {
    let mut server = Server::start(BOUNDLESS);
    set_up(&server);
    let key = server.key("live", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("acme").await;
    client.contact(&project, "ada@example.com").await;
    client.data("domains.create", json!({ "domain": "acme.example" })).await;
    client.data("webhooks.create", json!({ "url": "https://hooks.example/", "events": ["subscriber.added"] })).await;
    client.data("mail_feedback.create", json!({ "service": "mailgun", "secret": "key-1" })).await;
    client.data("suppressions.create", json!({ "email": "bob@example.com" })).await;
    stop(&mut server);
    (server, key)
}

/// Regression test: Mailmill silently created another key, so links in sent mail returned 404, and erased contacts were mailed again.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_or_wrong_key_stops_the_start_and_the_right_one_allows_it() {
    let (mut server, api_key) = used().await;
    let right = fs::read(key(&server)).expect("there");
    fs::remove_file(key(&server)).expect("removed");
    let words = refused(&server);
    for part in
        ["master.key", "missing", "No backup contains the key", "unsubscribe links", "DKIM", "erased contacts", "mailmill rekey"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!key(&server).exists(), "no other key is made");
    for (wrong, part) in [(vec![7; 32], "check value differs"), (vec![7; 5], "5 bytes")] {
        fs::write(key(&server), wrong).expect("written");
        fs::set_permissions(key(&server), fs::Permissions::from_mode(0o600)).expect("set");
        let words = refused(&server);
        assert!(words.contains(part) && words.contains("mailmill rekey"), "{words}");
        let output = server.run(&["keys", "list"]);
        assert!(!output.status.success() && said(&output).contains(part), "{}", said(&output));
    }
    let doctor = server.run(&["doctor"]);
    assert!(!doctor.status.success() && said(&doctor).contains("PROBLEM  data"), "{}", said(&doctor));
    fs::write(key(&server), right).expect("written");
    server.serve();
    assert_eq!(Client::new(server.address(), Some(api_key)).call("projects.list", json!({})).await.status, 200);
}

/// Regression test: a missing store was created again, empty.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_swapped_or_foreign_store_stops_the_start_and_is_never_created() {
    let (server, _) = used().await;
    let file = |name: &str| server.data().join(name);
    let aside = server.data().with_file_name("aside");
    for name in ["control.redb", "test.redb", "live.redb"] {
        fs::rename(file(name), &aside).expect("moved");
        let words = refused(&server);
        assert!(words.contains(&format!("{name} is missing")) && words.contains("mailmill restore"), "{words}");
        assert!(!file(name).exists(), "{name} is not made");
        fs::rename(&aside, file(name)).expect("moved");
    }
    for (left, right) in [("test.redb", "live.redb"), ("control.redb", "live.redb")] {
        let swap = || {
            fs::rename(file(left), &aside).expect("moved");
            fs::rename(file(right), file(left)).expect("moved");
            fs::rename(&aside, file(right)).expect("moved");
        };
        swap();
        let words = refused(&server);
        assert!(words.contains("swapped") && words.contains(left) && words.contains("mailmill restore"), "{words}");
        swap();
    }
    let other = Server::stopped(BOUNDLESS);
    other.key("test", "all");
    fs::rename(file("live.redb"), &aside).expect("moved");
    fs::copy(other.data().join("live.redb"), file("live.redb")).expect("copied");
    let words = refused(&server);
    assert!(words.contains("belong to different installations"), "{words}");
    fs::rename(&aside, file("live.redb")).expect("moved");
    for name in ["control.redb", "test.redb", "live.redb"] {
        fs::remove_file(file(name)).expect("removed");
    }
    let words = refused(&server);
    assert!(words.contains("control.redb, test.redb and live.redb are missing"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_an_empty_folder_is_a_new_installation() {
    let mut server = Server::stopped(BOUNDLESS);
    fs::create_dir(server.data()).expect("made");
    fs::set_permissions(server.data(), fs::Permissions::from_mode(0o700)).expect("set");
    fs::write(server.data().join("notes.txt"), "mine").expect("written");
    let words = refused(&server);
    assert!(words.contains("not empty") && words.contains("notes.txt"), "{words}");
    assert_eq!(fs::read_to_string(server.data().join("notes.txt")).expect("there"), "mine");
    fs::remove_file(server.data().join("notes.txt")).expect("removed");
    // Regression test: a folder with only the reserve or the spool became a new installation, and the spooled commits were forgotten.
    for (left, is_folder) in [("reserve", false), ("backup-spool", true)] {
        let path = server.data().join(left);
        let made = if is_folder { fs::create_dir(&path) } else { fs::write(&path, [0; 64]) };
        made.expect("made");
        let words = refused(&server);
        assert!(words.contains("live.redb are missing") && words.contains(left) && words.contains("mailmill restore"), "{words}");
        let removed = if is_folder { fs::remove_dir(&path) } else { fs::remove_file(&path) };
        removed.expect("nothing else was written");
    }
    // The root folder of a volume contains this folder.
    fs::create_dir(server.data().join("lost+found")).expect("made");
    server.serve();
}

/// A kill during the first start must not leave a folder with which the service never starts.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_first_start_is_completed_by_the_next() {
    let whole = Server::stopped(BOUNDLESS);
    whole.key("test", "all");
    let marker = r#"{"installation":"00112233445566778899aabbccddeeff","adopts":false}"#;
    // The files in order of creation. After a kill, any number of them may exist.
    for made in 0..=4 {
        let mut server = Server::stopped(BOUNDLESS);
        let data = server.data();
        fs::create_dir(&data).expect("made");
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).expect("set");
        fs::write(data.join("first-start"), marker).expect("written");
        for name in ["master.key", "control.redb", "test.redb", "live.redb"].iter().take(made) {
            // Stores are created empty first, and renamed afterward.
            fs::copy(whole.data().join(name), data.join(name)).expect("copied");
        }
        fs::write(data.join("reserve"), [0; 64]).expect("written");
        server.serve();
        assert!(!data.join("first-start").exists());
        assert_eq!(server.all().call("projects.list", json!({})).await.status, 200);
        server.kill();
        server.serve();
        assert_eq!(server.all().call("projects.list", json!({})).await.status, 200, "and it is no copy of anything");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_during_starts_neither_block_the_next_start_nor_hold_sending() {
    let mut server = Server::start(BOUNDLESS);
    server.kill();
    for round in 0..12_u64 {
        let mut child = server.spawn_again();
        std::thread::sleep(std::time::Duration::from_millis(round * 12));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }
    server.serve();
    let text = said(&server.run(&["resume"]));
    assert!(text.contains("not on hold"), "{text}");
}

/// Backs up the server into a folder next to its data.
pub fn backup(server: &Server) -> PathBuf {
    let target = server.data().with_file_name("backup");
    let output = server.run(&["backup", "--to", target.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", said(&output));
    target
}

/// Restores a backup with the server's program.
pub fn restore(server: &Server, backup: &Path, data: &Path, more: &[&str]) -> Output {
    let mut arguments = vec!["restore", backup.to_str().expect("UTF-8")];
    arguments.extend(more);
    server.run_on(data, &arguments)
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_verifies_the_key_before_it_writes_anything() {
    let (server, _) = used().await;
    let saved = backup(&server);
    let target = server.data().with_file_name("restored");
    let wrong = server.data().with_file_name("wrong.key");
    fs::write(&wrong, [9; 32]).expect("written");
    let output = restore(&server, &saved, &target, &[]);
    assert!(!output.status.success() && said(&output).contains("--master-key"), "{}", said(&output));
    let output = restore(&server, &saved, &target, &["--master-key", wrong.to_str().expect("UTF-8")]);
    assert!(
        !output.status.success() && said(&output).contains("is not the master key that was used for the backup"),
        "{}",
        said(&output)
    );
    assert!(!target.exists(), "nothing was written");
    let own = key(&server);
    let output = restore(&server, &saved, &target, &["--master-key", own.to_str().expect("UTF-8")]);
    assert!(output.status.success() && said(&output).contains("on hold"), "{}", said(&output));
    assert_eq!(fs::read(target.join("master.key")).expect("there"), fs::read(own).expect("there"));
    let checked = server.run_on(&target, &["check-data"]);
    assert!(checked.status.success() && said(&checked).contains("Nothing to do."), "{}", said(&checked));
    let verified =
        server.run(&["restore", saved.to_str().expect("UTF-8"), "--verify", "--master-key", wrong.to_str().expect("UTF-8")]);
    assert!(!verified.status.success(), "{}", said(&verified));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_lost_while_the_service_runs_is_detected_by_backup_and_doctor() {
    let mut server = Server::start(BOUNDLESS);
    let text = said(&server.run(&["doctor"]));
    assert!(text.contains("good     master key"), "{text}");
    let client = Client::new(server.address(), None);
    let ready = async || {
        let reply = client.call("system.ready", json!({})).await;
        (reply.status, reply.json()["data"]["checks"]["key"]["ok"].clone())
    };
    assert_eq!(ready().await, (200, json!(true)));
    fs::rename(key(&server), server.data().with_file_name("elsewhere")).expect("moved");
    let text = said(&server.run(&["doctor"]));
    assert!(text.contains("PROBLEM  master key") && text.contains("Mailmill does not start without the key"), "{text}");
    assert_eq!(ready().await, (503, json!(false)));
    let target = server.data().with_file_name("backup");
    let output = server.run(&["backup", "--to", target.to_str().expect("UTF-8")]);
    assert!(
        !output.status.success() && said(&output).contains("is complete, but the master key is missing"),
        "{}",
        said(&output)
    );
    assert!(server.run(&["restore", target.to_str().expect("UTF-8"), "--verify"]).status.success(), "and it is complete");
    fs::rename(server.data().with_file_name("elsewhere"), key(&server)).expect("moved");
    assert_eq!(ready().await, (200, json!(true)));
    stop(&mut server);
    server.serve();
}

#[tokio::test(flavor = "multi_thread")]
async fn rekey_lists_each_loss_and_continues_only_when_all_are_accepted() {
    let (mut server, api_key) = used().await;
    let output = server.run(&["rekey"]);
    assert!(!output.status.success() && said(&output).contains("nothing to do"), "the key is there: {}", said(&output));
    fs::remove_file(key(&server)).expect("removed");
    let listed = server.run(&["rekey", "--accept-loss", "dkim"]);
    let words = said(&listed);
    assert!(!listed.status.success() && words.contains("--accept-loss dkim,webhooks"), "{words}");
    assert!(words.contains("Lost with the old key:\n  dkim"), "{words}");
    assert!(words.contains("1 sending domains") && words.contains("1 webhooks"), "{words}");
    assert!(words.contains("1 mail services"), "{words}");
    assert!(!key(&server).exists(), "nothing was changed");
    let misspelt = server.run(&["rekey", "--accept-loss", "dkin"]);
    assert!(!misspelt.status.success() && said(&misspelt).contains("\"dkin\" is unknown; use one of"), "{}", said(&misspelt));
    let output = server.run(&["rekey", "--accept-loss", "dkim,webhooks,mail-services"]);
    assert!(output.status.success() && said(&output).contains("Lost with the old key:\n  dkim"), "{}", said(&output));
    server.serve();
    let client = Client::new(server.address(), Some(api_key));
    let domains = client.data("domains.list", json!({})).await;
    assert_eq!((&domains[0]["domain"], &domains[0]["isVerified"]), (&json!("acme.example"), &json!(false)), "{domains}");
    let hooks = client.data("webhooks.list", json!({})).await;
    let id = hooks["webhooks"][0]["id"].clone();
    let rotated = client.data("webhooks.rotate_secret", json!({ "webhookId": id })).await;
    assert!(rotated["secret"].as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{rotated}");
    let services = client.data("mail_feedback.list", json!({})).await;
    let service = json!({ "mailServiceId": services["mailServices"][0]["id"] });
    let tested = client.data("mail_feedback.test", service.clone()).await;
    assert_eq!((&tested["success"], &tested["reason"]), (&json!(false), &json!("secret_missing")), "{tested}");
    let entered = json!({ "mailServiceId": service["mailServiceId"], "secret": "key-1" });
    client.data("mail_feedback.update", entered).await;
    assert_eq!(client.data("mail_feedback.test", service).await["success"], true);
    // The address is also on the suppression list under the new key.
    let listed: Value = client.data("suppressions.list", json!({})).await;
    assert!(listed.to_string().contains("bob@example.com"), "{listed}");
    client.data("suppressions.delete", json!({ "email": "bob@example.com" })).await;
    let login = Client::new(server.address(), None).call("accounts.login", json!({ "email": OWNER, "password": PASSWORD })).await;
    assert_eq!(login.status, 200);
    let text = said(&server.run(&["resume"]));
    assert!(text.contains("not on hold"), "{text}");
    // The new key is also lost, and a power failure has truncated the next one on a file system without hard links.
    stop(&mut server);
    fs::remove_file(key(&server)).expect("removed");
    let short = server.data().join("master.key.rekey");
    fs::write(&short, b"").expect("written");
    fs::set_permissions(&short, fs::Permissions::from_mode(0o600)).expect("set");
    assert!(refused(&server).contains("Run `mailmill rekey` again"));
    let output = server.run(&["rekey", "--accept-loss", "dkim,webhooks,mail-services,replays"]);
    assert!(output.status.success(), "{}", said(&output));
    server.serve();
    let output = server.run(&["rekey"]);
    assert!(!output.status.success(), "{}", said(&output));
}

/// Regression test: the list lacked the continuous backup, although the new key opens none of its objects.
#[tokio::test(flavor = "multi_thread")]
async fn a_rekey_lists_the_continuous_backup() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let url = outer.path().join("target");
    let mut server = Server::start(&format!("{BOUNDLESS}\n[backup]\nurl = {url:?}\n"));
    let hook = json!({ "url": "https://hooks.example/a", "events": ["subscriber.added"] });
    server.client("live", "all").data("webhooks.create", hook).await;
    stop(&mut server);
    fs::remove_file(key(&server)).expect("removed");
    let words = said(&server.run(&["rekey", "--accept-loss", "webhooks,replays"]));
    assert!(words.contains("--accept-loss backup,webhooks") && words.contains("1 continuous backups"), "{words}");
    assert!(!key(&server).exists(), "nothing was changed");
    let output = server.run(&["rekey", "--accept-loss", "backup,webhooks,replays"]);
    assert!(output.status.success(), "{}", said(&output));
    server.serve();
}

/// Tests a folder like one from a version in which stores did not name their installation.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_from_before_installations_had_names_is_adopted_with_the_right_key_only() {
    let (mut server, api_key) = used().await;
    forget_identities(&server.data());
    let right = fs::read(key(&server)).expect("there");
    // A store is missing while the stores get their names.
    let (record, file) = (server.data().join("first-start"), server.data().join("live.redb"));
    fs::write(&record, r#"{"installation":"00112233445566778899aabbccddeeff","adopts":true}"#).expect("written");
    fs::rename(&file, file.with_extension("aside")).expect("moved");
    let words = refused(&server);
    assert!(words.contains("live.redb is missing") && words.contains("mailmill restore"), "{words}");
    fs::rename(file.with_extension("aside"), &file).expect("moved");
    fs::remove_file(record).expect("removed");
    fs::write(key(&server), [7; 32]).expect("written");
    let words = refused(&server);
    assert!(words.contains("decrypts none of the secrets") && words.contains("mailmill rekey"), "{words}");
    fs::write(key(&server), right).expect("written");
    server.serve();
    assert_eq!(Client::new(server.address(), Some(api_key)).call("projects.list", json!({})).await.status, 200);
    assert!(said(&server.run(&["resume"])).contains("not on hold"));
    stop(&mut server);
    fs::remove_file(key(&server)).expect("removed");
    fs::write(key(&server), [7; 32]).expect("written");
    fs::set_permissions(key(&server), fs::Permissions::from_mode(0o600)).expect("set");
    assert!(refused(&server).contains("check value differs"), "from the first start on the check value tells");
}

/// The new key opens no secret until the webhook has a new secret. Regression test: the service once rejected the new key at the
/// start.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_without_check_values_starts_after_a_rekey_that_lost_its_only_secret() {
    let mut server = Server::start(BOUNDLESS);
    let hook = json!({ "url": "https://hooks.example/a", "events": ["subscriber.added"] });
    server.client("live", "all").data("webhooks.create", hook).await;
    stop(&mut server);
    forget_identities(&server.data());
    fs::remove_file(key(&server)).expect("removed");
    let output = server.run(&["rekey", "--accept-loss", "webhooks,replays"]);
    assert!(output.status.success(), "{}", said(&output));
    let checked = server.run(&["check-data"]);
    assert!(checked.status.success() && said(&checked).contains("the key belongs to this installation"), "{}", said(&checked));
    let output = server.run(&["rekey"]);
    assert!(!output.status.success() && said(&output).contains("nothing to do"), "{}", said(&output));
    let own = fs::read(key(&server)).expect("there");
    fs::write(key(&server), [7; 32]).expect("written");
    assert!(refused(&server).contains("is not the master key of this installation"), "another key is still refused");
    fs::write(key(&server), own).expect("written");
    server.serve();
    stop(&mut server);
    server.serve();
}

/// Regression test: in data without secrets any key was accepted, so suppressed people would have been mailed again.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_verified_with_suppressed_addresses_where_nothing_is_sealed() {
    let mut server = Server::start(BOUNDLESS);
    server.client("live", "all").data("suppressions.create", json!({ "email": "bob@example.com" })).await;
    stop(&mut server);
    forget_identities(&server.data());
    let (right, wrong) = (key(&server), server.data().with_file_name("wrong.key"));
    fs::write(&wrong, [7; 32]).expect("written");
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o600)).expect("set");
    let saved = backup_from_before(&server);
    let target = server.data().with_file_name("restored");
    let output = restore(&server, &saved, &target, &["--master-key", wrong.to_str().expect("UTF-8")]);
    assert!(
        !output.status.success()
            && said(&output).contains("is not the master key that was used for the backup")
            && !target.exists(),
        "{}",
        said(&output)
    );
    let output = restore(&server, &saved, &target, &["--master-key", right.to_str().expect("UTF-8")]);
    assert!(output.status.success() && !said(&output).contains("could not be verified"), "{}", said(&output));
    forget_identities(&server.data());
    let aside = server.data().with_file_name("right.key");
    fs::rename(&right, &aside).expect("moved");
    fs::copy(&wrong, &right).expect("copied");
    assert!(refused(&server).contains("matches no suppressed address"));
    let checked = server.run(&["check-data"]);
    assert!(!checked.status.success() && said(&checked).contains("PROBLEM  master key"), "{}", said(&checked));
    fs::rename(&aside, &right).expect("moved");
    let checked = server.run(&["check-data"]);
    assert!(checked.status.success() && said(&checked).contains("the key belongs to this installation"), "{}", said(&checked));
    server.serve();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_cannot_be_verified_is_not_called_verified() {
    let mut server = Server::start(BOUNDLESS);
    stop(&mut server);
    forget_identities(&server.data());
    let saved = backup_from_before(&server);
    let target = server.data().with_file_name("restored");
    let own = key(&server);
    let output = restore(&server, &saved, &target, &["--master-key", own.to_str().expect("UTF-8")]);
    assert!(output.status.success() && said(&output).contains("the master key could not be verified"), "{}", said(&output));
    forget_identities(&server.data());
    let checked = said(&server.run(&["check-data"]));
    assert!(checked.contains("could not be verified"), "{checked}");
    let output = server.run(&["rekey"]);
    assert!(!output.status.success() && said(&output).contains("could not be verified"), "{}", said(&output));
    server.serve();
    assert!(server.log().contains("could not be verified"), "{}", server.log());
}

/// Creates a backup like one from a version without key checks.
fn backup_from_before(server: &Server) -> PathBuf {
    let saved = backup(server);
    // Creating the backup has given the stores an identity.
    let file = saved.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&file).expect("readable")).expect("JSON");
    let fields = manifest.as_object_mut().expect("an object");
    assert!(fields.remove("installation").is_some() && fields.remove("keyCheck").is_some());
    fields.insert("format".into(), json!(1));
    fs::write(&file, manifest.to_string()).expect("written");
    saved
}

/// Regression test: a backup of an older version has no identities, and its folder sent everything again at its first start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_folder_from_before_installations_had_names_is_on_hold() {
    let (mut server, _) = used().await;
    forget_identities(&server.data());
    let restored = json!({ "restored": { "made_at": "2026-01-01T00:00:00Z", "resume": false } });
    fs::write(server.data().join("instance.json"), restored.to_string()).expect("written");
    for start in ["first", "second"] {
        server.serve();
        let shown = said(&server.run(&["resume"]));
        assert!(shown.contains("still on hold"), "{start}: {shown}");
        stop(&mut server);
    }
}

/// Removes the installation's identity from the stores.
fn forget_identities(data: &Path) {
    use mailmill::base::clock::SystemClock;
    use mailmill::base::random::SystemRandom;
    use mailmill::engine::store::{Options, Store, Table};
    use mailmill::vocab::tables::{DatabaseKind, META};
    use std::sync::Arc;
    const ROWS: Table<String, Vec<u8>> = Table::new(META);
    for (name, database_kind) in
        [("control", DatabaseKind::Control), ("test", DatabaseKind::Environment), ("live", DatabaseKind::Environment)]
    {
        let options = Options { database_kind, cache_bytes: 1024 * 1024 };
        let file = data.join(format!("{name}.redb"));
        let store = Store::open(&file, &options, Arc::new(SystemClock), Arc::new(SystemRandom::default())).expect("opens");
        let wrote = tokio::task::block_in_place(|| {
            store.write_blocking(|tx| {
                tx.delete(ROWS, &"identity".to_owned());
                tx.delete(ROWS, &"boots".to_owned());
                Ok::<_, ()>(())
            })
        });
        assert!(matches!(wrote, Ok(Ok(()))));
        store.close();
    }
    fs::remove_file(data.join("instance.json")).expect("removed");
}
