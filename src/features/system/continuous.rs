//! Reports the state of the continuous backup to operators: how old the backup is, and whether it can be restored.
//!
//! A restore drill restores the newest state into a temporary folder in the data folder and checks it, so that an unusable backup is
//! noticed before it is needed. Owners and admins receive one email when a problem starts, and one when it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::store::{self, Drill, Incident};
use crate::base::clock::Timestamp;
use crate::base::machine;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, Failure};
use crate::engine::backup::restored_copy::TemporaryFolder;
use crate::engine::backup::{BackupStatus, ContinuousBackup, Error, restoring};
use crate::engine::store::{self as engine_store, StoreFile, identity};
use crate::features::accounts;
use crate::features::sending::system_mail::{self, SystemEmail};
use crate::vocab::finding::Finding;
use crate::vocab::limits;

/// The folder for restore drills, inside the data folder.
const DRILL_FOLDER: &str = "restore-drill";
/// The size in bytes of the page cache of a restored store that is opened only for inspection.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// The status of the installation's continuous backup.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContinuousBackupView {
    /// The backup target: the URL of an object store, or a folder.
    pub url: String,
    /// The last time at which the target had every commit; absent until the first snapshot is complete.
    pub complete_until: Option<WireTime>,
    /// The age of the backup: the seconds since `completeUntil`. If the machine were lost now, the commits of this period would be
    /// lost.
    pub age_seconds: Option<i64>,
    /// The age, in seconds, above which the backup is considered too old, from the setting `backup.warn_after_minutes`.
    pub warn_after_seconds: i64,
    /// The problem with the backup, as a sentence; absent if there is none.
    pub problem: Option<String>,
    /// The size of the commits that are not yet in the target, in bytes.
    pub waiting_bytes: u64,
    /// The size of the commits that this process has shipped, as stored in the target, in bytes.
    pub shipped_bytes: u64,
    /// The size of the keys and values that the shipped commits changed, in bytes.
    pub changed_bytes: u64,
    /// The newest snapshot since the process started; absent if there is none.
    pub last_snapshot: Option<SnapshotView>,
    /// The newest restore drill; absent if there is none.
    pub last_drill: Option<DrillView>,
}

/// A snapshot in the target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SnapshotView {
    pub at: WireTime,
    pub rows: u64,
    /// The size of the snapshot in the target, in bytes.
    pub bytes: u64,
}

/// The result of a restore drill.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrillView {
    pub at: WireTime,
    /// The number of restored rows; 0 if the restore failed.
    pub rows: u64,
    /// The time of the newest restored commit; absent if the restore failed.
    pub restored_until: Option<WireTime>,
    pub seconds: i64,
    /// Why the restore failed; absent if it succeeded.
    pub error: Option<String>,
}

impl ContinuousBackupView {
    pub fn sample() -> Self {
        let at = WireTime::sample();
        Self {
            url: "s3://acme-backups/mailmill".into(),
            complete_until: Some(at),
            age_seconds: Some(4),
            warn_after_seconds: 900,
            problem: None,
            waiting_bytes: 18_432,
            shipped_bytes: 7_340_032,
            changed_bytes: 12_582_912,
            last_snapshot: Some(SnapshotView { at, rows: 120_000, bytes: 20_971_520 }),
            last_drill: Some(DrillView { at, rows: 120_000, restored_until: Some(at), seconds: 9, error: None }),
        }
    }
}

/// Returns the continuous backup if this process makes one. In a cluster, only the leader makes one.
pub fn active(engine: &Engine) -> Option<&Arc<ContinuousBackup>> {
    engine.backup.as_ref().filter(|_| engine.cluster.as_ref().is_none_or(|member| member.leads()))
}

/// Returns the status of the continuous backup; `None` if no target is configured, or if this node does not lead its cluster.
pub fn view(engine: &Engine) -> engine_store::Result<Option<ContinuousBackupView>> {
    let Some(backup) = active(engine) else { return Ok(None) };
    let status = backup.status();
    let tx = engine.control.read();
    let drill = store::last_drill(&tx)?;
    Ok(Some(ContinuousBackupView {
        url: backup.url().to_owned(),
        complete_until: status.complete_until.map(WireTime),
        age_seconds: age_seconds(engine, &status),
        warn_after_seconds: warn_after_seconds(engine),
        problem: problem(engine, &status, drill.as_ref()),
        waiting_bytes: status.waiting_bytes,
        shipped_bytes: status.part_bytes,
        changed_bytes: status.changed_bytes,
        last_snapshot: status.last_snapshot.map(|snapshot| SnapshotView {
            at: WireTime(snapshot.at),
            rows: snapshot.rows,
            bytes: snapshot.bytes,
        }),
        last_drill: drill.map(|drill| DrillView {
            at: WireTime(drill.at),
            rows: drill.rows,
            restored_until: drill.until.map(WireTime),
            seconds: drill.seconds,
            error: drill.error,
        }),
    }))
}

pub fn warn_after_seconds(engine: &Engine) -> i64 {
    engine.settings.backup.warn_after_minutes.get() as i64 * 60
}

pub fn age_seconds(engine: &Engine, status: &BackupStatus) -> Option<i64> {
    status.age_ms(engine.clock.as_ref()).map(|age| age / 1000)
}

/// Returns the problem with the backup as a sentence; `None` if there is none.
fn problem(engine: &Engine, status: &BackupStatus, drill: Option<&Drill>) -> Option<String> {
    let cause = status.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    // These errors do not resolve themselves: the operator must decide which of the two servers may write to the target, or restore the
    // key.
    if let Some(error @ (Error::TakenOver { .. } | Error::InUse { .. } | Error::Foreign { .. } | Error::KeyLost(_))) =
        &status.error
    {
        return Some(format!("The backup has stopped: {error}."));
    }
    let warn_after = warn_after_seconds(engine);
    let has_run = status.has_run_ms(warn_after * 1000, engine.clock.as_ref());
    match age_seconds(engine, status) {
        // After a long stop, the backup has `warn_after` to catch up before it is considered too old.
        Some(age) if age > warn_after && (status.is_of_this_process() || has_run) => {
            return Some(format!("The backup is {} old{cause}.", duration(age)));
        }
        // The first snapshot of a large installation takes a while, so its absence is a problem only after `warn_after`.
        None if has_run => {
            return Some(format!("There is no complete backup yet{cause}."));
        }
        _ => {}
    }
    if let Some(error) = &status.thinning_error {
        return Some(format!("Old objects of the backup could not be deleted, so the backup keeps growing: {error}."));
    }
    let failed = drill.and_then(|drill| Some((drill.at, drill.error.as_ref()?)));
    failed.map(|(at, error)| format!("The restore drill of {at} failed: {error}."))
}

/// Formats a duration in the largest unit that fits, such as `5 min`.
fn duration(seconds: i64) -> String {
    match (seconds / 86_400, seconds / 3_600, seconds / 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, _) => format!("{hours} h"),
        (days, ..) => format!("{days} d"),
    }
}

/// Emails the owner and admins when a problem with the backup starts, and when it ends.
pub async fn watch(engine: &Arc<Engine>) -> Result<(), Failure> {
    let Some(backup) = &engine.backup else { return Ok(()) };
    let tx = engine.control.read();
    let (known, drill) = (store::incident(&tx)?, store::last_drill(&tx)?);
    drop(tx);
    let (found, now) = (problem(engine, &backup.status(), drill.as_ref()), engine.clock.now());
    let incident = match (known, found) {
        (None, None) => return Ok(()),
        (Some(known), Some(_)) if known.is_mailed || now.ms_since(known.tried_at).abs() < limits::BACKUP_MAIL_RETRY_MS => {
            return Ok(());
        }
        (known, Some(reason)) => {
            let since = known.map_or(now, |known| known.since);
            tracing::warn!(reason, "the continuous backup needs attention");
            let text = format!(
                "{reason}\n\nTarget: {}\n\nIf the machine of this installation is lost now, everything since the last complete backup is \
                 lost. The System page shows the state: {}/live/settings/system\n",
                backup.url(),
                engine.base_url()
            );
            let is_mailed = mail(engine, "The backup needs attention", &text).await?;
            Some(Incident { since, reason, tried_at: now, is_mailed })
        }
        // After a restart, the backup is not considered too old at first, but this does not mean that it works.
        (Some(_), None) if !backup.status().works() => return Ok(()),
        (Some(known), None) => {
            tracing::info!(reason = known.reason, "the continuous backup works again");
            if known.is_mailed {
                let text = format!("The backup works again.\n\nThe problem since {} was: {}\n", known.since, known.reason);
                mail(engine, "The backup works again", &text).await?;
            }
            None
        }
    };
    engine.control.write_essential(move |tx| store::set_incident(tx, incident.as_ref())).await??;
    Ok(())
}

/// Emails the owner and admins of the account that owns the installation. Returns whether all emails were accepted.
async fn mail(engine: &Arc<Engine>, subject: &str, text: &str) -> Result<bool, Failure> {
    let mut is_mailed = true;
    for to in accounts::managers(engine)? {
        let email = SystemEmail { to, subject: subject.to_owned(), text: text.to_owned() };
        if let Err(reason) = system_mail::send(engine, email).await? {
            tracing::warn!(reason, "the email about the backup could not be sent");
            is_mailed = false;
        }
    }
    Ok(is_mailed)
}

/// Runs a restore drill if one is due or was requested.
pub async fn drill_if_due(engine: &Arc<Engine>) -> Result<(), Failure> {
    let Some(backup) = engine.backup.clone() else { return Ok(()) };
    let last = store::last_drill(&engine.control.read())?;
    let now = engine.clock.now();
    let is_due = match (&last, engine.settings.backup.drill_days.get() as i64) {
        (_, 0) => false,
        (None, _) => backup.status().complete_until.is_some(),
        (Some(Drill { at, error: Some(_), .. }), _) => now.ms_since(*at).abs() >= limits::BACKUP_DRILL_RETRY_MS,
        // If the time of the last drill is in the future, the clock was set back after the drill, and a drill is due.
        (Some(Drill { at, .. }), days) => !(0..days * limits::DAY_MS).contains(&now.ms_since(*at)),
    };
    if !is_due && !backup.takes_drill_request() {
        return Ok(());
    }
    let drill = drill(engine, &backup, now).await;
    match &drill.error {
        None => tracing::info!(rows = drill.rows, seconds = drill.seconds, "the restore drill succeeded"),
        Some(error) => tracing::error!(error, "the restore drill failed"),
    }
    engine.control.write_essential(move |tx| store::note_drill(tx, &drill)).await??;
    Ok(())
}

async fn drill(engine: &Arc<Engine>, backup: &ContinuousBackup, at: Timestamp) -> Drill {
    let began = engine.clock.monotonic();
    // The folder may be large, so it is removed even if the drill fails or is interrupted.
    let folder = TemporaryFolder(engine.control.file().with_file_name(DRILL_FOLDER));
    let done = restore_into(engine, backup, &folder.0).await;
    let _ = tokio::task::spawn_blocking(move || drop(folder)).await;
    let seconds = engine.clock.monotonic().ms_since(began) / 1000;
    match done {
        Ok(restored) => Drill { at, rows: restored.rows, until: Some(restored.until), seconds, error: None },
        Err(error) => Drill { at, rows: 0, until: None, seconds, error: Some(error) },
    }
}

async fn restore_into(engine: &Arc<Engine>, backup: &ContinuousBackup, folder: &Path) -> Result<restoring::Restored, String> {
    make_folder(engine, folder, "a drill")?;
    let sealed = backup.target().map_err(|error| error.to_string())?;
    let (_, restored) = restoring::restore(&sealed, None, folder).await.map_err(|error| error.to_string())?;
    let own = identity::identity(&engine.control.read()).map_err(|error| error.to_string())?;
    let files = restoring::files(folder);
    let checking = tokio::task::spawn_blocking(move || check_files(&files, own.as_ref()));
    checking.await.map_err(|_| "the check of the restored files panicked".to_owned())??;
    Ok(restored)
}

/// Creates an empty folder in the data folder for a restore. Fails if the disk has no space for a second copy of all data. `what` names
/// the purpose in the error.
pub fn make_folder(engine: &Engine, folder: &Path, what: &str) -> Result<(), String> {
    let files = [&engine.control].into_iter().chain(engine.environments().map(|data| &data.store)).map(|store| store.file());
    let needed: u64 = files.filter_map(|file| fs::metadata(file).ok()).map(|found| found.len()).sum();
    let kept = engine.control.space().status().free_min;
    let data = folder.parent().unwrap_or(folder);
    if machine::free_bytes(data).is_ok_and(|free| free < needed.saturating_add(kept)) {
        return Err(format!(
            "{what} temporarily needs {} MiB of free disk space; free up space",
            needed.saturating_add(kept) >> 20
        ));
    }
    let removed = fs::remove_dir_all(folder).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    removed.and_then(|()| fs::create_dir(folder)).map_err(|error| format!("{} cannot be created: {error}", folder.display()))
}

/// Checks that the restored files are this installation's stores, each under its own name, and were made with the current master key.
fn check_files(files: &[PathBuf; 3], own: Option<&identity::Identity>) -> Result<(), String> {
    for file in files {
        let opened = StoreFile::open_verified(file, CACHE_BYTES).and_then(|file| identity::identity(&file.read()?));
        let found = opened.map_err(|error| error.to_string())?;
        let name = file.file_stem().and_then(|stem| stem.to_str());
        if !name.is_some_and(|name| is_own(found.as_ref(), own, name)) {
            return Err(format!(
                "{} was restored from another installation or store, or uses a different master key; check the setting backup.url",
                file.display()
            ));
        }
    }
    Ok(())
}

/// Returns whether a restored store is this installation's store with this name, and was made with the current master key.
pub fn is_own(found: Option<&identity::Identity>, own: Option<&identity::Identity>, name: &str) -> bool {
    let (Some(found), Some(own)) = (found, own) else { return false };
    found.installation == own.installation && found.key_check == own.key_check && found.store == name
}

/// Checks for `mailmill doctor` that the backup target can be used, and that the backup is not too old.
pub async fn findings(engine: &Arc<Engine>) -> Result<Vec<Finding>, Failure> {
    const SUBJECT: &str = "backup";
    let Some(backup) = active(engine) else {
        let said = match &engine.backup {
            Some(_) => "the node that leads the cluster makes the continuous backup",
            None => {
                "there is no continuous backup; to turn it on, set [backup] url to an object store or to a folder on another disk"
            }
        };
        return Ok(vec![Finding::skipped(SUBJECT, said)]);
    };
    let url = backup.url();
    if let Err(error) = backup.probe().await {
        let remedy = match error {
            Error::WrongKey | Error::Foreign { .. } => {
                "For this installation, set backup.url to a new prefix that contains no objects, or to an empty folder."
            }
            Error::Folder { .. } => "Create the folder, or correct backup.url.",
            _ => {
                "Check backup.url and backup.endpoint, and that the credentials permit listing, reading, writing and deleting objects."
            }
        };
        return Ok(vec![Finding::problem(SUBJECT, format!("{url}: {error}"), remedy)]);
    }
    let mut findings =
        vec![Finding::good(SUBJECT, format!("{url} can be read and written, and this installation's key decrypts it"))];
    let drill = store::last_drill(&engine.control.read())?;
    let status = backup.status();
    findings.push(match (problem(engine, &status, drill.as_ref()), age_seconds(engine, &status)) {
        (Some(problem), _) => {
            Finding::problem(SUBJECT, problem.trim_end_matches('.'), "Search the service's log for the cause, and fix it.")
        }
        (None, Some(age)) => Finding::good(SUBJECT, format!("the backup is {age} s old")),
        (None, None) => Finding::skipped(SUBJECT, "the first snapshot is not complete yet, or the service is not running"),
    });
    if let Some(Drill { at, rows, error: None, .. }) = drill {
        findings.push(Finding::good(SUBJECT, format!("the restore drill of {at} restored {rows} rows")));
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn a_backup_that_cannot_be_thinned_is_a_problem() {
        let app = TestApp::new();
        let (engine, mut status) = (app.engine(), BackupStatus::default());
        status.complete(engine.clock.now(), engine.clock.monotonic());
        assert_eq!(problem(engine, &status, None), None);
        status.thinning_error = Some(Error::Target { object: "log/1".to_owned(), cause: "403 Forbidden".to_owned() });
        let found = problem(engine, &status, None).unwrap_or_default();
        assert!(found.starts_with("Old objects of the backup could not be deleted") && found.contains("403"), "{found}");
    }
}
