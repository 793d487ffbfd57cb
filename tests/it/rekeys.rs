//! Tests a rekey that is killed and a restore that fails: at each step, the error names a remedy that works.
//!
//! `REKEY_KILLS` sets the number of runs in which a rekey is killed before a call that makes writes durable; these calls are spread
//! over the whole rekey (0: one run for every such call). A rekey is also killed before each rename.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use mailmill::engine::store::seal::Seal;
use mailmill::engine::store::{ReadTx, StoreFile};
use mailmill::features::installation::rekey::{Loss, Losses};
use mailmill::features::suppressions;

use super::delivery::knob;
use super::installation::{backup, key, refused, restore, said, stop, used};
use super::support::Server;
use super::support::faults::{Fault, Kind};
use super::support::server::BOUNDLESS;

const EVERYTHING: &str = "erased,links,backup,dkim,webhooks,incoming,mail-services,connections,authenticators,replays";
const PAGES: usize = 1024 * 1024;

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).expect("made");
    fs::set_permissions(to, fs::metadata(from).expect("there").permissions()).expect("set");
    for entry in fs::read_dir(from).expect("readable").map(|entry| entry.expect("readable")) {
        if entry.file_type().expect("known").is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

/// Returns what the key in the folder does not open, after checking that the key matches every address on the suppression list.
fn lost(data: &Path) -> Losses {
    let seal = Seal::read(&data.join("master.key")).expect("a key");
    let open = |name: &str| StoreFile::open_verified(&data.join(name), PAGES).expect("whole");
    let files = ["control.redb", "test.redb", "live.redb"].map(open);
    let [control, test, live] = files.each_ref().map(|file| file.read().expect("readable"));
    let stores: [&ReadTx; 3] = [&control, &test, &live];
    assert_eq!(suppressions::is_hashed_with(&live, &seal), Ok(Some(true)), "the suppressed address is found");
    Losses::count(stores, &seal).expect("readable")
}

/// Regression test: the new key was only in memory until the end, so a kill left secrets and addresses under a lost key, and the old key
/// was refused when it was found.
#[tokio::test(flavor = "multi_thread")]
async fn a_rekey_killed_at_any_step_is_completed_or_undone_by_the_next() {
    let (mut server, _) = used().await;
    let (saved, old) = (server.data().with_file_name("saved"), server.data().with_file_name("old.key"));
    fs::copy(key(&server), &old).expect("copied");
    copy_folder(&server.data(), &saved);
    fs::remove_file(saved.join("master.key")).expect("removed");
    let Some(faults) = server.faults() else { return };
    let reset = || {
        fs::remove_dir_all(server.data()).expect("removed");
        copy_folder(&saved, &server.data());
    };
    let rekey = || server.run(&["rekey", "--accept-loss", EVERYTHING]);
    reset();
    faults.arm(Kind::Sync, Fault::Killed, 0, 0);
    assert!(rekey().status.success());
    let (syncs, names) = (faults.seen(Kind::Sync), faults.seen(Kind::Name));
    assert!(syncs > 8 && names > 3, "only {syncs} and {names} calls were seen");
    let few = knob("REKEY_KILLS", 6);
    let tried = if few == 0 { syncs } else { few.min(syncs) };
    let points = (0..tried).map(|number| (Kind::Sync, 1 + number * syncs / tried)).chain((1..=names).map(|at| (Kind::Name, at)));
    let (mut new_keys, mut old_keys) = (0, 0);
    for (number, (kind, at)) in points.enumerate() {
        reset();
        faults.arm(kind, Fault::Killed, at, 1);
        let output = rekey();
        assert_eq!(output.status.signal(), Some(9), "{kind:?} {at}: {}", said(&output));
        faults.disarm();
        // In every other run, the old key is found again.
        let is_found = number % 2 == 1 && !key(&server).exists();
        if is_found {
            fs::copy(&old, key(&server)).expect("copied");
        }
        let has_new = server.data().join("master.key.rekey").exists();
        if has_new {
            let words = refused(&server);
            assert!(words.contains("was interrupted") && words.contains("Run `mailmill rekey` again"), "{kind:?} {at}: {words}");
            let listed = said(&server.run(&["rekey"]));
            assert!(
                listed.contains("Lost with the old key:") && listed.contains("nothing was changed"),
                "{kind:?} {at}: {listed}"
            );
        } else if !key(&server).exists() {
            assert!(refused(&server).contains("the master key is missing"), "{kind:?} {at}");
        }
        let output = rekey();
        let is_done = said(&output).contains("there is nothing to");
        assert!(output.status.success() || (is_done && !has_new), "{kind:?} {at}: {}", said(&output));
        let checked = server.run(&["check-data"]);
        assert!(
            checked.status.success() && said(&checked).contains("the key belongs to this"),
            "{kind:?} {at}: {}",
            said(&checked)
        );
        let is_old = fs::read(key(&server)).expect("there") == fs::read(&old).expect("there");
        let lost = lost(&server.data());
        assert_eq!((lost.of(Loss::Dkim), lost.of(Loss::Authenticators)), (0, 0), "{kind:?} {at}");
        assert_eq!(lost.of(Loss::Webhooks), u64::from(!is_old), "{kind:?} {at}: the old key opens what the old key has sealed");
        *(if is_old { &mut old_keys } else { &mut new_keys }) += 1;
        if is_found && !is_old {
            let kept = fs::read_dir(server.data()).expect("readable").map(|entry| entry.expect("readable").file_name());
            assert!(kept.into_iter().any(|name| name.to_string_lossy().starts_with("master.key.replaced-")), "{kind:?} {at}");
        }
    }
    println!("{tried} of {syncs} syncs and {names} names: {new_keys} continued, {old_keys} went back");
    assert!(new_keys > 0 && old_keys > 0, "{new_keys} {old_keys}");
    server.serve();
    stop(&mut server);
}

fn names(data: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(data) else { return Vec::new() };
    entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect()
}

/// Regression test: a restore that failed at the key left the stores behind, so a second restore rejected the folder.
#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_fails_at_any_step_leaves_an_empty_folder() {
    let (source, _) = used().await;
    let (saved, own) = (backup(&source), key(&source));
    let mut target = Server::stopped(BOUNDLESS);
    let Some(faults) = target.faults() else { return };
    let data: PathBuf = fs::canonicalize(target.data().parent().expect("a folder")).expect("there").join("data");
    let fill = || {
        let arguments = ["restore", saved.to_str().expect("UTF-8"), "--master-key", own.to_str().expect("UTF-8")];
        target.run(&arguments)
    };
    faults.arm(Kind::Sync, Fault::Full, 0, 0);
    assert!(fill().status.success());
    let seen = [Kind::Sync, Kind::Name].map(|kind| (kind, faults.seen(kind)));
    assert!(seen[0].1 >= 5 && seen[1].1 >= 3, "{seen:?}");
    let (mut failed, mut done) = (0, 0);
    for (kind, at) in seen.into_iter().flat_map(|(kind, many)| (1..=many).map(move |at| (kind, at))) {
        fs::remove_dir_all(&data).expect("removed");
        faults.arm(kind, if kind == Kind::Sync { Fault::Full } else { Fault::Refused }, at, 1);
        let output = fill();
        faults.disarm();
        if output.status.success() {
            // Without hard links, the key is created under its own name.
            assert_eq!(fs::read(data.join("master.key")).expect("there"), fs::read(&own).expect("there"), "{kind:?} {at}");
            done += 1;
            continue;
        }
        assert_eq!(names(&data), Vec::<String>::new(), "{kind:?} {at}: {}", said(&output));
        let again = restore(&source, &saved, &data, &["--master-key", own.to_str().expect("UTF-8")]);
        assert!(again.status.success(), "{kind:?} {at}: {}", said(&again));
        failed += 1;
    }
    println!("{failed} restores failed and left nothing, {done} continued");
    assert!(failed > 4 && done > 0, "{failed} {done}");
}
