//! `mailmill rekey`: a new master key for an installation that lost every copy of its own, after each loss was accepted by name.
//!
//! The key file is written last. Whatever a crash leaves does not start and can be rekeyed again.

use std::path::Path;
use std::sync::Arc;

use super::folder::Folder;
use super::installation::{Opener, STORES};
use crate::base::clock::{Clock, SystemClock};
use crate::base::random::{Random, SystemRandom};
use crate::engine::store::identity::{self, Identity};
use crate::engine::store::seal::{KeyError, Seal};
use crate::engine::store::space::Space;
use crate::engine::store::{ReadTx, Store, StoreFile};
use crate::features::installation::rekey::{Loss, Losses, rekey as put_under};
use crate::surfaces::cli::{Problem, Rekey};
use crate::vocab::settings::Settings;

/// List what is lost without the key, or go on without it.
pub fn rekey(data: &Path, settings: &Settings, wanted: &Rekey) -> Result<(), Problem> {
    let accepted = losses(&wanted.accept_loss)?;
    let folder = Folder::open_existing(data).map_err(Problem::failed)?;
    let (clock, random): (Arc<dyn Clock>, Arc<dyn Random>) = (Arc::new(SystemClock), Arc::new(SystemRandom::default()));
    let opener = Opener { folder: &folder, settings, space: &Space::unlimited(), clock: &clock, random: &random };
    opener.require_all(&folder.names().map_err(Problem::failed)?)?;
    let looked = opener.look()?;
    if let Some(refusal) = looked.mismatch().map_err(Problem::failed)? {
        return Err(Problem::failed(refusal));
    }
    let present = match Seal::read(&folder.master_key()) {
        Ok(seal) if looked.is_sealed_with(&seal).map_err(Problem::failed)? => {
            return Err(Problem::misused("master.key is the key of this installation: there is nothing to do"));
        }
        Ok(seal) => Some(seal),
        Err(KeyError::Missing(_) | KeyError::Length(..)) => None,
        Err(trouble) => return Err(Problem::failed(trouble)),
    };
    let new = Seal::new(random.as_ref());
    let lost = count(&looked.files, present.as_ref().unwrap_or(&new))?;
    let lacking: Vec<&str> = lost.kinds().filter(|loss| !accepted.contains(loss)).map(Loss::word).collect();
    if !lacking.is_empty() || (lost.kinds().next().is_none() && wanted.accept_loss.is_empty()) {
        super::print(&format!("Without the master key of this installation, these are lost:\n{lost}"));
        let all: Vec<&str> = lost.kinds().map(Loss::word).collect();
        let all = if all.is_empty() { Loss::Links.word().to_owned() } else { all.join(",") };
        return Err(Problem::misused(format_args!(
            "nothing was changed. Look for a copy of master.key first; to go on without it: mailmill rekey --accept-loss {all}"
        )));
    }
    let stores = start(&opener, looked.files, looked.identities, &new)?;
    put_under(&stores, &new).map_err(Problem::failed)?;
    close(stores);
    replace(&folder, &new, present.is_some(), clock.as_ref())?;
    super::print(&format!("The new master key is in {}: keep a copy elsewhere.\n{lost}", folder.master_key().display()));
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

fn count(files: &[StoreFile; 3], seal: &Seal) -> Result<Losses, Problem> {
    let [control, test, live] = files.each_ref().map(|file| file.read().map_err(Problem::failed));
    let stores: [&ReadTx; 3] = [&control?, &test?, &live?];
    Losses::count(stores, seal).map_err(Problem::failed)
}

fn start(
    opener: &Opener<'_>,
    files: [StoreFile; 3],
    identities: [Option<Identity>; 3],
    seal: &Seal,
) -> Result<[Arc<Store>; 3], Problem> {
    let mut stores = Vec::new();
    for (((_, realm), file), whose) in STORES.into_iter().zip(files).zip(identities) {
        // Stores that have no identity yet get theirs at the next start.
        let whose = whose.map(|whose| Identity { key_check: seal.check_value(), ..whose });
        stores.push(opener.start(file, realm, move |tx| {
            whose.iter().for_each(|whose| identity::set_identity(tx, whose));
            Ok(())
        })?);
    }
    Ok(stores.try_into().unwrap_or_else(|_| unreachable!("there are as many stores as files")))
}

fn close(stores: [Arc<Store>; 3]) {
    for store in stores.into_iter().filter_map(Arc::into_inner) {
        store.close();
    }
}

/// Give the new key its name. A key that was there, whatever it was, is kept beside it.
fn replace(folder: &Folder, new: &Seal, is_there: bool, clock: &dyn Clock) -> Result<(), Problem> {
    let file = folder.master_key();
    if is_there || file.exists() {
        let aside = folder.path().join(format!("master.key.replaced-{}", clock.now().seconds()));
        let failed = |error| Problem::failed(format_args!("{} cannot be renamed: {error}", file.display()));
        std::fs::rename(&file, aside).map_err(failed)?;
    }
    new.copy_to(&file).map_err(Problem::failed)
}
