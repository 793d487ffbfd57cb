//! `mailmill rekey`: creates a new master key for an installation that has lost every copy of its key, after the operator has named and
//! accepted each loss.
//!
//! The new key is on disk next to the stores before any data is sealed with it. Check values are changed after all other data, and the new
//! key gets its final name last. While the file of the new key exists, the service does not start with the folder, and a second `mailmill
//! rekey` continues with the same key. If the old key is found before the check values change, the command seals the data with the old key
//! again.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::folder::Folder;
use super::installation::{Inspection, Opener, UNTESTED, fit, note_key};
use crate::base::clock::{Clock, SystemClock};
use crate::base::random::{Random, SystemRandom};
use crate::engine::store::commit_log::StoreName;
use crate::engine::store::identity::{self, Identity};
use crate::engine::store::seal::{KeyError, Seal};
use crate::engine::store::space::Space;
use crate::engine::store::{ReadTx, Result as StoreResult, Store, StoreFile, WriteTx};
use crate::features::installation::rekey::{Loss, Losses, rekey as put_under};
use crate::features::installation::sealed::Fit;
use crate::surfaces::cli::{Problem, Rekey};
use crate::vocab::settings::Settings;

/// The key to use in place of the data's current key.
enum Goal {
    /// A new key that is not in a file yet.
    New(Seal),
    /// The new key of an interrupted rekey.
    Resumed(Seal),
    /// The installation's old key, which was found again after an interrupted rekey.
    Old(Seal),
}

impl Goal {
    fn of(folder: &Folder, inspection: &Inspection, random: &dyn Random) -> Result<Self, Problem> {
        let interrupted = match Seal::read(&folder.rekey()) {
            Ok(seal) => Some(seal),
            // The key file is complete before any data is sealed with the key, so if the file is missing or incomplete, no data is sealed
            // with it.
            Err(KeyError::Missing(_) | KeyError::Length(..)) => None,
            Err(trouble) => return Err(Problem::failed(trouble)),
        };
        let own = match Seal::read(&folder.master_key()) {
            Ok(seal) => Some((fit(folder, inspection, &seal)?, seal)),
            Err(KeyError::Missing(_) | KeyError::Length(..)) => None,
            Err(trouble) => return Err(Problem::failed(trouble)),
        };
        match (own, interrupted) {
            (Some((Fit::Right, seal)), Some(_)) => Ok(Self::Old(seal)),
            (_, Some(seal)) => Ok(Self::Resumed(seal)),
            (Some((Fit::Right, _)), None) => {
                Err(Problem::misused("master.key is already the key of this installation; there is nothing to do"))
            }
            (Some((Fit::Untested, _)), None) => Err(Problem::misused(format_args!(
                "there is nothing to rekey: no stored data is encrypted with the master key; {UNTESTED}"
            ))),
            (Some((Fit::Wrong, _)) | None, None) => Ok(Self::New(Seal::new(random))),
        }
    }

    fn seal(&self) -> &Seal {
        let (Self::New(seal) | Self::Resumed(seal) | Self::Old(seal)) = self;
        seal
    }

    /// Returns what is lost when this key replaces the current key of the data in `files`.
    fn losses(&self, files: &[StoreFile; 3], settings: &Settings) -> Result<Losses, Problem> {
        let [control, test, live] = files.each_ref().map(|file| file.read().map_err(Problem::failed));
        let stores: [&ReadTx; 3] = [&control?, &test?, &live?];
        let lost = Losses::count(stores, self.seal()).map_err(Problem::failed)?;
        Ok(match self {
            Self::Old(_) => lost.of_secrets(),
            Self::New(_) | Self::Resumed(_) if settings.backup.url.is_some() => lost.with_backup(),
            Self::New(_) | Self::Resumed(_) => lost,
        })
    }

    /// Returns a note about the losses that an interrupted rekey caused and that the list of losses does not show; empty if no rekey was
    /// interrupted.
    fn remark(&self) -> &'static str {
        match self {
            Self::New(_) => "",
            Self::Resumed(_) => {
                "An earlier rekey was interrupted. This rekey continues with the key that the earlier rekey created. What the earlier rekey \
                 replaced (DKIM keys, authenticator apps) is also lost but not listed.\n"
            }
            Self::Old(_) => {
                "An earlier rekey was interrupted, and master.key is the old key: this rekey switches the data back to it. Authenticator \
                 apps that the earlier rekey removed are also lost but not listed.\n"
            }
        }
    }
}

/// Lists what is lost without the master key or, if the operator has accepted each loss, replaces the key.
pub fn rekey(data: &Path, settings: &Settings, wanted: &Rekey) -> Result<(), Problem> {
    let accepted = losses(&wanted.accept_loss)?;
    let folder = Folder::open_existing(data).map_err(Problem::failed)?;
    let (clock, random): (Arc<dyn Clock>, Arc<dyn Random>) = (Arc::new(SystemClock), Arc::new(SystemRandom::default()));
    let opener = Opener { folder: &folder, settings, space: &Space::unlimited(), clock: &clock, random: &random, log: None };
    let inspection = opener.inspect()?;
    if let Some(refusal) = inspection.mismatch().map_err(Problem::failed)? {
        return Err(Problem::failed(refusal));
    }
    let goal = Goal::of(&folder, &inspection, random.as_ref())?;
    let lost = goal.losses(&inspection.files, settings)?;
    let lacking: Vec<&str> = lost.kinds().filter(|loss| !accepted.contains(loss)).map(Loss::word).collect();
    if !lacking.is_empty() || (lost.kinds().next().is_none() && wanted.accept_loss.is_empty()) {
        super::print(&format!("{}Lost with the old key:\n{lost}", goal.remark()));
        let all: Vec<&str> = lost.kinds().map(Loss::word).collect();
        let all = if all.is_empty() { Loss::Links.word().to_owned() } else { all.join(",") };
        let next = match goal {
            Goal::Old(_) => "To return to the old key",
            Goal::New(_) | Goal::Resumed(_) => "Look for a copy of master.key first; to continue without it",
        };
        return Err(Problem::misused(format_args!(
            "nothing was changed. {next}, run the command again with --accept-loss {all}"
        )));
    }
    let key = folder.rekey();
    if let Goal::New(seal) = &goal {
        remove_short(&key)?;
        seal.copy_to(&key).map_err(Problem::failed)?;
    }
    put_all_under(&opener, inspection, goal.seal())?;
    let which = if matches!(goal, Goal::Old(_)) { "old" } else { "new" };
    match goal {
        Goal::Old(_) => fs::remove_file(&key).and_then(|()| sync(&folder)),
        Goal::New(_) | Goal::Resumed(_) => replace(&folder, clock.as_ref()),
    }
    .map_err(|error| {
        Problem::failed(format_args!(
            "the data now uses the {which} key, but the key files in {} could not be updated: {error}; fix the problem, and run \
                the command again to finish",
            folder.path().display()
        ))
    })?;
    let shown = folder.master_key();
    super::print(&format!(
        "The master key is in {}: keep a copy elsewhere.\n{}Lost with the old key:\n{lost}",
        shown.display(),
        goal.remark()
    ));
    Ok(())
}

fn losses(words: &[String]) -> Result<Vec<Loss>, Problem> {
    let parse = |word: &String| {
        let known = Loss::ALL.into_iter().find(|loss| loss.word() == word);
        let all = Loss::ALL.map(Loss::word).join(", ");
        known.ok_or_else(|| Problem::misused(format_args!("--accept-loss: \"{word}\" is unknown; use one of {all}")))
    };
    words.iter().map(parse).collect()
}

/// Makes `seal` the key of the stores' data, and changes the stores' check values last.
fn put_all_under(opener: &Opener<'_>, inspection: Inspection, seal: &Seal) -> Result<(), Problem> {
    let Inspection { files, identities, .. } = inspection;
    let mut stores = Vec::new();
    for (store, file) in StoreName::ALL.into_iter().zip(files) {
        stores.push(opener.start(file, store, |_| Ok(()))?);
    }
    let stores: [Arc<Store>; 3] = stores.try_into().unwrap_or_else(|_| unreachable!("there is one store for each file"));
    put_under(&stores, seal).map_err(Problem::failed)?;
    if identities.iter().any(Option::is_none) {
        note_key(opener.folder, seal, opener.random.as_ref())?;
    }
    for (store, whose) in stores.iter().zip(identities) {
        // A store without an identity has no check value to change. It gets an identity with a check value at the next start.
        let Some(whose) = whose else { continue };
        let whose = Identity { key_check: seal.check_value(), ..whose };
        let write = move |tx: &mut WriteTx<'_>| -> StoreResult<()> {
            identity::set_identity(tx, &whose);
            Ok(())
        };
        store.write_blocking(write).and_then(|written| written).map_err(Problem::failed)?;
    }
    for store in stores.into_iter().filter_map(Arc::into_inner) {
        store.close();
    }
    Ok(())
}

/// Removes a key file that a crash left incomplete. No data is sealed with its key.
fn remove_short(key: &Path) -> Result<(), Problem> {
    match fs::remove_file(key) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Problem::failed(format_args!(
            "{} cannot be removed: {error}; check the folder's permissions, and run the command again",
            key.display()
        ))),
        _ => Ok(()),
    }
}

/// Gives the new key its final name. An existing key file is kept under another name.
fn replace(folder: &Folder, clock: &dyn Clock) -> io::Result<()> {
    let file = folder.master_key();
    if file.exists() {
        let aside = folder.path().join(format!("master.key.replaced-{}", clock.now().seconds()));
        if aside.exists() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!(
                    "the old key cannot be renamed to {}, because this file already exists; move the file to another folder",
                    aside.display()
                ),
            ));
        }
        fs::rename(&file, aside)?;
        sync(folder)?;
    }
    fs::rename(folder.rekey(), &file)?;
    sync(folder)
}

fn sync(folder: &Folder) -> io::Result<()> {
    File::open(folder.path())?.sync_all()
}
