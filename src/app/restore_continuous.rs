//! `mailmill restore` from a continuous backup: restores the newest state, or the state at a given time, and puts sending on hold.
//!
//! As in the restore of a backup folder, the key is verified before any file is written and is written last.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::Folder;
use super::instance;
use super::restore_terminal::{ask_for_key, say, say_hold};
use crate::base::random::SystemRandom;
use crate::engine::backup::catalog::{Catalog, Plan};
use crate::engine::backup::restoring::{self, Restored};
use crate::engine::backup::{SealedTarget, Target};
use crate::engine::fetch::Fetch;
use crate::engine::store::seal::Seal;
use crate::engine::store::{Error as StoreError, StoreFile};
use crate::features::contacts::jobs::write_all_contacts;
use crate::features::projects;
use crate::features::system::backup::BackupError;
use crate::surfaces::cli::{Problem, Restore};
use crate::vocab::ids::ProjectId;
use crate::vocab::settings::Settings;

/// The size of the page cache for a file that is only read.
const CACHE_BYTES: usize = 16 * 1024 * 1024;
/// The size, in bytes, at which the buffer of CSV lines is written to the file.
const LINES_BYTES: usize = 1024 * 1024;

/// Returns the URL or path of the continuous backup that `source` names, or `None` if `source` is a backup folder.
pub fn url(source: &Path) -> Option<String> {
    if let Some(text) = source.to_str().filter(|text| text.contains("://")) {
        return Some(text.to_owned());
    }
    let path = source.join("epochs").exists().then(|| std::path::absolute(source).ok())??;
    Some(path.to_string_lossy().into_owned())
}

/// Verifies a continuous backup, or restores it into the empty folder `data`.
pub fn restore(data: &Path, settings: &Settings, wanted: &Restore, url: &str) -> Result<(), Problem> {
    if wanted.without_key {
        return Err(Problem::misused(
            "--without-key: a continuous backup is encrypted with the master key and cannot be read without it; use --master-key \
             instead",
        ));
    }
    super::runtime()?.block_on(async {
        let fetch = Arc::new(Fetch::new(settings));
        let target = Target::open(url, &settings.backup, &fetch).map_err(Problem::failed)?;
        let key = verify_key(&target, wanted).await?;
        let sealed = SealedTarget::new(target, &key, Arc::new(SystemRandom::default()));
        let plan = match (wanted.verify, wanted.contacts.zip(wanted.to.as_deref())) {
            (true, _) => verify(&sealed, wanted, data).await,
            (false, Some((project, file))) => write_contacts(&sealed, wanted, data, (project, file)).await,
            (false, None) => restore_into(&sealed, wanted, data, &key).await,
        }?;
        if !plan.is_exact {
            say("The backup might not contain commits made between this state and the chosen time.");
        }
        Ok(())
    })
}

/// Returns the master key that the user provides, if it is the key that was used for the chosen state of the backup.
async fn verify_key(target: &Target, wanted: &Restore) -> Result<Seal, Problem> {
    let catalog = Catalog::load(target).await.map_err(Problem::failed)?;
    let plan = catalog.plan(wanted.at.map(|at| at.0)).map_err(Problem::failed)?;
    let file = ask_for_key(wanted)?;
    let seal = Seal::read_copy(&file).map_err(Problem::failed)?;
    let is_right = catalog.epochs.get(&plan.epoch).is_some_and(|start| start.key_check == seal.check_value());
    match is_right {
        true => Ok(seal),
        false => Err(Problem::failed(format_args!(
            "{} is not the master key that was used for the backup in {}; use the key from the time of the backup. Nothing was \
             written",
            file.display(),
            target.shown()
        ))),
    }
}

/// Restores the backup into a temporary folder next to `data`, calls `then` with that folder, and removes the folder.
async fn restore_aside<T>(
    sealed: &SealedTarget,
    wanted: &Restore,
    data: &Path,
    then: impl FnOnce(&Path) -> Result<T, Problem>,
) -> Result<(Plan, Restored, T), Problem> {
    let folder = PathBuf::from(format!("{}.restore-{}", data.display(), std::process::id()));
    let created = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    created.map_err(|error| {
        Problem::failed(format_args!(
            "the temporary folder {} cannot be created: {error}; check that its parent folder is writable and that the \
             disk has free space",
            folder.display()
        ))
    })?;
    let restored = restoring::restore(sealed, wanted.at.map(|at| at.0), &folder).await;
    let done = restored.map_err(Problem::failed).and_then(|(plan, restored)| Ok((plan, restored, then(&folder)?)));
    let removed = fs::remove_dir_all(&folder);
    let done = done?;
    removed.map_err(|error| {
        Problem::failed(format_args!("the temporary folder {} cannot be removed: {error}; delete it", folder.display()))
    })?;
    Ok(done)
}

/// Verifies the backup by restoring it into a temporary folder. Returns the plan of this restore.
async fn verify(sealed: &SealedTarget, wanted: &Restore, data: &Path) -> Result<Plan, Problem> {
    let (plan, Restored { rows, until, commits }, ()) = restore_aside(sealed, wanted, data, |_| Ok(())).await?;
    say(&format!(
        "The backup in {} is intact: {rows} rows as of {until}, from a snapshot of {} and {commits} commits after it.",
        sealed.target.shown(),
        plan.snapshot.at
    ));
    Ok(plan)
}

/// Writes a brand's contacts to a CSV file. The running installation is not changed: the user imports the file, and the usual rules apply
/// to contacts that exist, have unsubscribed or are suppressed.
async fn write_contacts(
    sealed: &SealedTarget,
    wanted: &Restore,
    data: &Path,
    (project, file): (ProjectId, &Path),
) -> Result<Plan, Problem> {
    let failed = |error: &dyn std::fmt::Display| {
        Problem::failed(format_args!(
            "{} cannot be written: {error}; choose a file in a writable folder on a disk with free space",
            file.display()
        ))
    };
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Problem::failed(format_args!("{} already exists; choose another file name with --to", file.display()))
        }
        _ => failed(&error),
    })?;
    let write = |folder: &Path| {
        let mut contacts = 0;
        let [_, test, live] = restoring::files(folder);
        for store in [test, live] {
            let store = StoreFile::open_verified(&store, CACHE_BYTES).map_err(Problem::failed)?;
            let tx = store.read().map_err(Problem::failed)?;
            // For a brand without contacts, the file has only the header line.
            if projects::owner(&tx, project).map_err(Problem::failed)?.is_some() {
                let mut unwritten = None;
                let flush = |lines: &mut Vec<u8>, all: bool| match all || lines.len() >= LINES_BYTES {
                    true => out.write_all(&std::mem::take(lines)).map_err(|error| {
                        let text = error.to_string();
                        unwritten = Some(error);
                        StoreError::Io(text)
                    }),
                    false => Ok(()),
                };
                let written = write_all_contacts(&tx, project, flush);
                contacts += written.map_err(|error| match unwritten {
                    Some(error) => failed(&error),
                    None => Problem::failed(error),
                })?;
                return out.sync_all().map(|()| contacts).map_err(|error| failed(&error));
            }
        }
        Err(Problem::failed(format_args!(
            "--contacts: the backup has no brand {project} at the chosen time; check the ID and --at"
        )))
    };
    let written = restore_aside(sealed, wanted, data, write).await;
    if written.is_err() {
        // The error of the restore is returned, even if removing the file also fails.
        let _ = fs::remove_file(file);
    }
    let (plan, Restored { until, .. }, contacts) = written?;
    let word = if contacts == 1 { "contact" } else { "contacts" };
    say(&format!("Wrote {contacts} {word} as of {until} to {}. Import the file on the Contacts page.", file.display()));
    Ok(plan)
}

async fn restore_into(sealed: &SealedTarget, wanted: &Restore, data: &Path, key: &Seal) -> Result<Plan, Problem> {
    let folder = Folder::open(data).map_err(Problem::failed)?;
    if !folder.names().map_err(Problem::failed)?.is_empty() {
        return Err(Problem::failed(BackupError::NotEmpty(folder.path().to_path_buf())));
    }
    let filled = fill(sealed, wanted, &folder, key).await;
    if filled.is_err() {
        folder.abandon();
    }
    let (plan, Restored { rows, until, .. }) = filled?;
    say(&format!("Restored {rows} rows (as of {until}) to {} and verified them against the backup.", data.display()));
    if wanted.at.is_none()
        && let Some(complete) = restoring::complete_until(sealed, plan.epoch).await
    {
        say(&format!("The backup has every commit up to {complete}. Commits after this time are not in the backup."));
    }
    say_hold(data, wanted.resume);
    Ok(plan)
}

async fn fill(sealed: &SealedTarget, wanted: &Restore, folder: &Folder, key: &Seal) -> Result<(Plan, Restored), Problem> {
    let done = restoring::restore(sealed, wanted.at.map(|at| at.0), folder.path()).await.map_err(Problem::failed)?;
    let failed = |error| {
        Problem::failed(format_args!(
            "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
            folder.instance().display()
        ))
    };
    instance::note_restored(folder, &done.1.until.to_string(), wanted.resume).map_err(failed)?;
    key.copy_to(&folder.master_key()).map_err(Problem::failed)?;
    Ok(done)
}
