//! `mailmill restore`: restores a backup and the master key into an empty folder, with sending on hold.
//!
//! `--brand` instead restores one brand into the running installation: see `restore_brand`.
//!
//! The key is verified before any file is written, and the key is written last. The service does not start with a folder without the key,
//! so an interrupted restore is never mistaken for a complete one.

use std::path::Path;

use super::folder::Folder;
use super::installation::UNTESTED;
use super::instance;
use super::restore_terminal::{ask_for_key, say, say_hold};
use super::{restore_brand, restore_continuous};
use crate::engine::store::seal::{KeyError, Seal};
use crate::features::installation::sealed::{self, Fit};
use crate::features::system::backup::{self, BackupError, Manifest};
use crate::surfaces::cli::{Problem, Restore};
use crate::vocab::settings::Settings;

/// Verifies a backup, or restores it into the empty folder `data`.
pub fn restore(data: &Path, settings: &Settings, wanted: &Restore) -> Result<(), Problem> {
    let backup = &wanted.folder;
    if let Some(project) = wanted.brand {
        return restore_brand::restore(data, wanted, project);
    }
    if let Some(url) = restore_continuous::url(backup) {
        return restore_continuous::restore(data, settings, wanted, &url);
    }
    if wanted.at.is_some() || wanted.contacts.is_some() {
        return Err(Problem::misused(
            "--at and --contacts work only with a continuous backup; omit them to restore the whole backup folder",
        ));
    }
    if wanted.verify {
        let manifest = backup::verify(backup).map_err(Problem::failed)?;
        if let Some(file) = &wanted.master_key {
            verify_key(backup, &manifest, file)?;
        }
        say(&format!("The backup in {} is intact: {} rows, created at {}.", backup.display(), manifest.rows(), manifest.made_at));
        return Ok(());
    }
    let manifest = backup::read_manifest(backup).map_err(Problem::failed)?;
    let key = match wanted.without_key {
        true => None,
        false => Some(verify_key(backup, &manifest, &ask_for_key(wanted)?)?),
    };
    let folder = Folder::open(data).map_err(Problem::failed)?;
    if !folder.names().map_err(Problem::failed)?.is_empty() {
        return Err(Problem::failed(BackupError::NotEmpty(folder.path().to_path_buf())));
    }
    let filled = fill(&folder, wanted, |file| key.as_ref().map_or(Ok(()), |key| key.copy_to(file)));
    if filled.is_err() {
        folder.abandon();
    }
    let manifest = filled?;
    let shown = data.display();
    say(&format!(
        "Restored {} rows (saved at {}) to {shown} and verified them against the backup.",
        manifest.rows(),
        manifest.made_at
    ));
    if key.is_none() {
        say(&format!(
            "The master key is missing: put a copy at {shown}/master.key (mode 600), or see `mailmill rekey --data {shown}`."
        ));
    }
    say_hold(data, wanted.resume);
    Ok(())
}

fn fill(folder: &Folder, wanted: &Restore, write_key: impl FnOnce(&Path) -> Result<(), KeyError>) -> Result<Manifest, Problem> {
    let manifest = backup::restore(&wanted.folder, folder.path()).map_err(Problem::failed)?;
    let failed = |error| {
        Problem::failed(format_args!(
            "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
            folder.instance().display()
        ))
    };
    instance::note_restored(folder, &manifest.made_at, wanted.resume).map_err(failed)?;
    write_key(&folder.master_key()).map_err(Problem::failed)?;
    Ok(manifest)
}

/// Returns the key in `file`, if it is the backup's key.
fn verify_key(folder: &Path, manifest: &Manifest, file: &Path) -> Result<Seal, Problem> {
    let seal = Seal::read_copy(file).map_err(Problem::failed)?;
    let fit = match &manifest.key_check {
        Some(check) if *check == seal.check_value() => Fit::Right,
        Some(_) => Fit::Wrong,
        // The oldest backups have no check value, so this check tries to open sealed data with the key.
        None => backup::files(folder)
            .and_then(|files| sealed::try_key(&files, &seal).map_err(|error| BackupError::Store(folder.to_path_buf(), error)))
            .map_err(Problem::failed)?,
    };
    match fit {
        Fit::Right => Ok(seal),
        Fit::Untested => {
            say(&format!("{}: {UNTESTED}.", file.display()));
            Ok(seal)
        }
        Fit::Wrong => Err(Problem::failed(format_args!(
            "{} is not the master key that was used for the backup in {}; use the key from the time of the backup. Nothing was \
             written",
            file.display(),
            folder.display()
        ))),
    }
}
