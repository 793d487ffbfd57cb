//! Opens the stores of a data folder: creates a new installation in an empty folder, or checks that the existing installation is complete.
//!
//! An installation is complete if all three stores exist and belong to the same installation, each file contains the store that it is named
//! after, and the master key is the one that seals their secrets. These checks are made before any store is changed. A missing part is
//! never recreated: an empty store would look like a first start, and a new key would go unnoticed until links, signatures and suppressions
//! fail.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::folder::{Folder, SPOOL, write_whole};
use super::instance::{self, Boots, Finding};
use crate::base::clock::Clock;
use crate::base::random::Random;
use crate::engine::hold::{self, HoldNumber, OnHold};
use crate::engine::store::commit_log::{self, CommitLog, Logged, StoreName};
use crate::engine::store::damage::RESTORE;
use crate::engine::store::identity::{self, Identity, Installation};
use crate::engine::store::seal::{KeyCheck, KeyError, Seal};
use crate::engine::store::space::{RESERVE, Space, wait_for};
use crate::engine::store::{Options, Result as StoreResult, Store, StoreFile, WriteTx};
use crate::features::installation::sealed::{self, Fit};
use crate::surfaces::cli::Problem;
use crate::vocab::limits;
use crate::vocab::settings::Settings;
use crate::vocab::tables::DatabaseKind;

/// The cache size of the control store. It is small, because the store's few accounts and keys stay in memory anyway.
pub const CONTROL_CACHE_BYTES: usize = 8 * 1024 * 1024;
pub const MIB: usize = 1024 * 1024;
/// TABLE: the stores of an installation. A start is counted in the stores in this order.
pub const STORES: [(&str, DatabaseKind); 3] =
    [("control", DatabaseKind::Control), ("test", DatabaseKind::Environment), ("live", DatabaseKind::Environment)];
/// The message for a master key that cannot be verified.
pub const UNTESTED: &str = "the master key could not be verified: the data has no check value, no secret and no suppressed address to test it \
                            with. Make sure that this is the right key: with a different key, unsubscribe links in sent mail stop working";
/// The maximum number of file names in a message.
const NAMES_SHOWN: usize = 5;

pub struct OpenStores {
    pub seal: Seal,
    /// The stores, in the order of [`STORES`].
    pub stores: [Arc<Store>; 3],
    pub hold: Option<OnHold>,
    /// Whether the folder is the one that was opened last time, not a new, restored or copied folder.
    pub is_same: bool,
}

/// The inputs needed to open a folder's stores.
pub struct Opener<'a> {
    pub folder: &'a Folder,
    pub settings: &'a Settings,
    pub space: &'a Arc<Space>,
    pub clock: &'a Arc<dyn Clock>,
    pub random: &'a Arc<dyn Random>,
    /// The log that receives the stores' commits, if there is a continuous backup.
    pub log: Option<Arc<dyn CommitLog>>,
}

/// The record of the start that gives the stores their identity. The record exists only until that start is complete; before then, no
/// request is acknowledged.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstStart {
    installation: Installation,
    /// Whether the stores already existed, without an identity, because an older version created them.
    adopts: bool,
    /// The check value of the new key, if a rekey has resealed stores that have no check values. The sealed data of such stores might not
    /// show which key is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_check: Option<KeyCheck>,
}

impl FirstStart {
    fn new(random: &dyn Random, adopts: bool) -> Self {
        Self { installation: Installation::new(random), adopts, key_check: None }
    }

    /// Reads the record from its file in the folder, if the file exists.
    fn read(folder: &Folder) -> Result<Option<Self>, Problem> {
        let file = folder.first_start();
        match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|error| {
                Problem::failed(format_args!(
                    "{} is damaged: {error}. For a new installation, choose an empty folder with --data; otherwise, restore the newest \
                     backup into a new folder: {RESTORE}",
                    file.display()
                ))
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(Problem::failed(format_args!("{} cannot be read: {error}; check its permissions", file.display())))
            }
        }
    }

    fn write(&self, folder: &Folder) -> Result<(), Problem> {
        let file = folder.first_start();
        let written = write_whole(&file, |_| Ok(serde_json::to_string(self).expect("the record can be written as JSON")));
        written.map_err(|error| {
            Problem::failed(format_args!(
                "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
                file.display()
            ))
        })
    }

    /// Compares `seal` with the key of the last rekey or, if there was no rekey, with the key that the stores' secrets are sealed
    /// with.
    fn fit(&self, inspection: &Inspection, seal: &Seal) -> StoreResult<Fit> {
        match &self.key_check {
            Some(own) => Ok(if *own == seal.check_value() { Fit::Right } else { Fit::Wrong }),
            None => inspection.fit(seal),
        }
    }

    /// Returns the first transaction of the store `name`: it writes the store's identity and counts the first start.
    fn identify(&self, name: &str, seal: &Seal) -> impl FnOnce(&mut WriteTx<'_>) -> StoreResult<()> + Send + use<> {
        let identity = Identity::new(&self.installation, name, seal);
        move |tx| {
            identity::set_identity(tx, &identity);
            identity::set_boots(tx, 1);
            Ok(())
        }
    }
}

/// Why the stores cannot be opened.
#[derive(Debug)]
pub enum Refusal {
    /// Some stores are missing, or all stores are missing from a folder that contains other Mailmill files.
    Missing {
        folder: String,
        missing: Vec<String>,
        found: Vec<String>,
    },
    /// The folder contains files, and none of them belongs to Mailmill.
    NotEmpty {
        folder: String,
        found: Vec<String>,
    },
    Key(KeyError),
    /// A rekey was interrupted, and its new key is still in this file.
    RekeyIncomplete(String),
    /// The key opens none of the sealed secrets, and there is no check value.
    KeyOpensNothing(String),
    /// A file contains a different store's data.
    Swapped {
        file: String,
        holds: String,
    },
    /// Two files belong to different installations.
    Foreign {
        file: String,
        other: String,
    },
    /// The folder belongs to a node of a cluster.
    Clusters(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { folder, missing, found } => write!(
                f,
                "{} missing from {folder}, which contains {}. This is not a new installation, so no empty file is created. \
                 Restore the missing files to this folder, or restore the newest backup into a new folder: {RESTORE}",
                are(missing),
                listed(found)
            ),
            Self::NotEmpty { folder, found } => write!(
                f,
                "{folder} is not empty (it contains {}) and has no Mailmill data. Choose the folder of an installation with --data or, for \
                 a new installation, an empty folder",
                listed(found)
            ),
            Self::Key(cause @ (KeyError::Missing(_) | KeyError::Wrong(_) | KeyError::Length(..))) => lost_key(f, cause),
            Self::Key(cause) => cause.fmt(f),
            Self::RekeyIncomplete(file) => write!(
                f,
                "`mailmill rekey` was interrupted: {file} contains the new master key, and some of the data may already use that \
                 key. Run `mailmill rekey` again to see which data cannot be recovered, and to complete the change"
            ),
            Self::KeyOpensNothing(file) => lost_key(
                f,
                &format_args!(
                    "{file} is not the master key of this installation: it decrypts none of the secrets and matches no suppressed address"
                ),
            ),
            Self::Swapped { file, holds } => write!(
                f,
                "{file} contains the data of {holds}: the two files were probably swapped. Swap their names, or restore the newest \
                 backup into a new folder: {RESTORE}"
            ),
            Self::Clusters(folder) => write!(
                f,
                "{folder} belongs to a node of a cluster, but the setting cluster.database is empty. Use the settings of the node \
                 (--config FILE). To use the data on a single machine, write it into a new folder with \
                 `mailmill cluster export --to DIR`"
            ),
            Self::Foreign { file, other } => write!(
                f,
                "{file} and {other} belong to different installations. Replace the file from the wrong installation, or restore the \
                 newest backup into a new folder: {RESTORE}"
            ),
        }
    }
}

fn lost_key(f: &mut fmt::Formatter<'_>, cause: &dyn fmt::Display) -> fmt::Result {
    write!(
        f,
        "{cause}. No backup contains the key: put the copy that you keep elsewhere at that path (mode 600) and start again. Without the \
         right key, unsubscribe links in sent mail stop working, DKIM keys, webhook secrets and authenticator apps cannot be opened, and \
         erased contacts can no longer be recognized and may be emailed again. If every copy is lost, `mailmill rekey` lists what \
         is lost and creates a new key"
    )
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMES_SHOWN);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

fn are(missing: &[String]) -> String {
    match missing {
        [one] => format!("{one} is"),
        [first @ .., last] => format!("{} and {last} are", first.join(", ")),
        [] => String::new(),
    }
}

/// The identities of a folder's stores, read without changing the stores.
pub struct Inspection {
    pub files: [StoreFile; 3],
    pub identities: [Option<Identity>; 3],
    boots: Boots,
    /// The highest hold number in any of the stores.
    last_hold: HoldNumber,
}

impl Inspection {
    /// Reads the identities of these files, in the order of [`STORES`].
    pub fn of(files: [StoreFile; 3]) -> StoreResult<Self> {
        let says = |file: &StoreFile| -> StoreResult<_> {
            let tx = file.read()?;
            Ok((identity::identity(&tx)?, identity::boots(&tx)?, hold::last_number(&tx)?))
        };
        let [control, test, live] = files.each_ref().map(says);
        let (control, test, live) = (control?, test?, live?);
        let last_hold = control.2.max(test.2).max(live.2);
        Ok(Self { files, identities: [control.0, test.0, live.0], boots: [control.1, test.1, live.1], last_hold })
    }

    /// Returns whether the files belong to a node of a cluster.
    fn is_clusters(&self) -> StoreResult<bool> {
        Ok(commit_log::links(&self.files[0].read()?)?.is_some())
    }

    /// Returns the refusal if a file contains a different store's data, or if two files belong to different installations.
    pub fn mismatch(&self) -> StoreResult<Option<Refusal>> {
        let shown = |at: usize| self.files[at].path().display().to_string();
        for (at, (name, database_kind)) in STORES.into_iter().enumerate() {
            match &self.identities[at] {
                Some(identity) if identity.store != name => {
                    return Ok(Some(Refusal::Swapped { file: shown(at), holds: format!("{}.redb", identity.store) }));
                }
                Some(_) => {}
                None => {
                    let found = self.files[at].database_kind()?.filter(|found| *found != database_kind);
                    if let Some(found) = found {
                        let holds = if found == DatabaseKind::Control { "control.redb" } else { "test.redb or live.redb" };
                        return Ok(Some(Refusal::Swapped { file: shown(at), holds: holds.into() }));
                    }
                }
            }
        }
        let installation = |at: usize| self.identities[at].as_ref().map(|identity| &identity.installation);
        let other = (1..STORES.len()).find(|at| installation(*at) != installation(0));
        Ok(other.map(|at| Refusal::Foreign { file: shown(at), other: shown(0) }))
    }

    /// Compares `seal` with the key that the stores are sealed with.
    pub fn fit(&self, seal: &Seal) -> StoreResult<Fit> {
        match &self.identities {
            [Some(control), Some(test), Some(live)] => {
                let own = seal.check_value();
                let is_own = [control, test, live].iter().all(|identity| identity.key_check == own);
                Ok(if is_own { Fit::Right } else { Fit::Wrong })
            }
            _ => sealed::try_key(&self.files, seal),
        }
    }
}

/// Compares `seal` with the key of the folder's stores. If the stores have no check values and a rekey has recorded their new key (see
/// [`note_key`]), the record decides.
pub fn fit(folder: &Folder, inspection: &Inspection, seal: &Seal) -> Result<Fit, Problem> {
    let fit = match FirstStart::read(folder)?.filter(|first| first.adopts) {
        Some(first) => first.fit(inspection, seal),
        None => inspection.fit(seal),
    };
    fit.map_err(Problem::failed)
}

/// Records `seal` as the key of stores without check values. These stores get their check values at the next start.
pub fn note_key(folder: &Folder, seal: &Seal, random: &dyn Random) -> Result<(), Problem> {
    let first = FirstStart::read(folder)?.unwrap_or_else(|| FirstStart::new(random, true));
    FirstStart { key_check: Some(seal.check_value()), ..first }.write(folder)
}

/// Records the first start in an empty folder, or checks that the stores of the existing installation exist. Call this before any other
/// file is written: without the record, a folder that contains only the disk space reserve or the spool of the continuous backup is treated
/// as an installation whose stores are missing.
pub fn prepare(folder: &Folder, random: &dyn Random) -> Result<(), Problem> {
    let room = || wait_for(folder.path(), limits::NEW_INSTALLATION_BYTES);
    match FirstStart::read(folder)? {
        Some(first) if first.adopts => Ok(()),
        Some(_) => {
            room();
            Ok(())
        }
        None if folder.names().map_err(Problem::failed)?.is_empty() => {
            room();
            FirstStart::new(random, false).write(folder)
        }
        None => require_all(folder),
    }
}

/// Checks that all three stores exist; otherwise returns an error that names the missing ones.
pub fn require_all(folder: &Folder) -> Result<(), Problem> {
    let names = folder.names().map_err(Problem::failed)?;
    let is_there = |name: &str| names.iter().any(|other| *other == format!("{name}.redb"));
    let missing: Vec<String> =
        STORES.iter().filter(|(name, _)| !is_there(name)).map(|(name, _)| format!("{name}.redb")).collect();
    let is_ours = |name: &String| {
        let is_file = ["instance.json", "first-start", RESERVE, SPOOL].contains(&name.as_str());
        is_file || name.starts_with("master.key") || name.ends_with(".search")
    };
    if missing.is_empty() {
        return Ok(());
    }
    let folder = folder.path().display().to_string();
    Err(Problem::failed(match missing.len() == STORES.len() && !names.iter().any(is_ours) {
        true => Refusal::NotEmpty { folder, found: names },
        false => Refusal::Missing { folder, missing, found: names },
    }))
}

impl Opener<'_> {
    /// Opens the stores of a folder after [`prepare`], or returns an error that states why they cannot be opened.
    pub fn take(&self) -> Result<OpenStores, Problem> {
        match FirstStart::read(self.folder)? {
            Some(first) if first.adopts => self.adopt(&first, self.inspect()?),
            Some(first) => self.begin(&first),
            None => {
                let inspection = self.inspect()?;
                if inspection.identities.iter().any(Option::is_some) {
                    return self.proceed(inspection);
                }
                let first = FirstStart::new(self.random.as_ref(), true);
                self.adopt(&first, inspection)
            }
        }
    }

    /// Creates the key and the stores, except those that an earlier first start has already created.
    fn begin(&self, first: &FirstStart) -> Result<OpenStores, Problem> {
        let key = Seal::make(&self.folder.master_key(), self.random.as_ref());
        let seal = key.map_err(|error| Problem::failed(Refusal::Key(error)))?;
        let open = |store: StoreName| {
            let (name, database_kind) = (store.word(), store.database_kind());
            let options = Options { database_kind, cache_bytes: self.cache_bytes(database_kind) };
            let (space, sources) = (self.space.clone(), (self.clock.clone(), self.random.clone()));
            let first = first.identify(name, &seal);
            let store = Store::open_and(space, &self.folder.store(name), &options, sources, self.logged(store), first);
            store.map(Arc::new).map_err(Problem::failed)
        };
        let [control, test, live] = StoreName::ALL;
        let stores = [open(control)?, open(test)?, open(live)?];
        self.complete(first)?;
        Ok(OpenStores { seal, stores, hold: None, is_same: false })
    }

    /// Gives an identity to existing stores that have none. Fails if the key does not open their sealed data.
    fn adopt(&self, first: &FirstStart, inspection: Inspection) -> Result<OpenStores, Problem> {
        let seal = self.read_key()?;
        let inspection = Inspection { identities: [None, None, None], ..inspection };
        if let Some(refusal) = inspection.mismatch().map_err(Problem::failed)? {
            return Err(Problem::failed(refusal));
        }
        let file = self.folder.master_key();
        match first.fit(&inspection, &seal).map_err(Problem::failed)? {
            Fit::Right => {}
            Fit::Wrong => return Err(Problem::failed(Refusal::KeyOpensNothing(file.display().to_string()))),
            Fit::Untested => tracing::warn!(file = %file.display(), "{UNTESTED}"),
        }
        first.write(self.folder)?;
        // A folder restored from an older version's backup also has stores without an identity, and sending is put on hold, as for any
        // copy. The hold must be on disk before `complete` records this location: after that, the folder is no longer recognized as a copy.
        let restored = instance::restored(self.folder).filter(|_| self.settings.data.hold_copies);
        let on_hold = restored.map(|cause| OnHold { since: self.clock.now(), number: inspection.last_hold + 1, cause });
        let number = on_hold.as_ref().map(|hold| hold.number);
        let [control, test, live] = inspection.files;
        let identify = first.identify(StoreName::Control.word(), &seal);
        let control = self.start(control, StoreName::Control, move |tx| {
            if let Some(on_hold) = &on_hold {
                hold::put(tx, on_hold);
            }
            identify(tx)
        })?;
        let start = |file, store: StoreName| {
            let identify = first.identify(store.word(), &seal);
            self.start(file, store, move |tx| {
                number.into_iter().for_each(|number| hold::set_number(tx, number));
                identify(tx)
            })
        };
        let stores = [control, start(test, StoreName::Test)?, start(live, StoreName::Live)?];
        self.complete(first)?;
        tracing::info!("this data folder now records its installation and the check value of its master key");
        let hold = hold::read(&stores[0].read()).map_err(Problem::failed)?;
        Ok(OpenStores { seal, stores, hold, is_same: false })
    }

    /// Records that the stores have their identity and were opened once.
    fn complete(&self, first: &FirstStart) -> Result<(), Problem> {
        let noted = self.space.write(|| instance::note(self.folder, &first.installation, 1));
        let done = noted.and_then(|()| fs::remove_file(self.folder.first_start()));
        done.map_err(|error| {
            Problem::failed(format_args!(
                "the data folder {} cannot be written to: {error}; check that the folder is writable and that the disk has free space",
                self.folder.path().display()
            ))
        })
    }

    /// Opens an existing installation if it is complete, and counts this start. The result states whether sending is on hold.
    fn proceed(&self, inspection: Inspection) -> Result<OpenStores, Problem> {
        if let Some(refusal) = inspection.mismatch().map_err(Problem::failed)? {
            return Err(Problem::failed(refusal));
        }
        let seal = self.read_key()?;
        if inspection.fit(&seal).map_err(Problem::failed)? != Fit::Right {
            return Err(Problem::failed(Refusal::Key(KeyError::Wrong(self.folder.master_key()))));
        }
        let [Some(Identity { installation, .. }), ..] = inspection.identities else {
            unreachable!("a mismatch was rejected earlier")
        };
        let found = match instance::check(self.folder, &installation, inspection.boots) {
            Finding::Hold(_) if !self.settings.data.hold_copies => Finding::Same,
            found => found,
        };
        let next = next_boot(self.folder, &found, inspection.boots);
        let (since, is_same) = (self.clock.now(), found == Finding::Same);
        let number = inspection.last_hold + 1;
        let is_new = matches!(found, Finding::Hold(_));
        let [control, test, live] = inspection.files;
        // The hold must be on disk before `instance.json` records this location: after that, the folder is no longer recognized as a copy.
        let control = self.start(control, StoreName::Control, move |tx| {
            match found {
                Finding::Same => {}
                Finding::Hold(cause) => hold::put(tx, &OnHold { since, number, cause }),
                Finding::Resume => hold::clear(tx),
            }
            identity::set_boots(tx, next);
            Ok(())
        })?;
        let data = |file, store| {
            self.start(file, store, move |tx| {
                if is_new {
                    hold::set_number(tx, number);
                }
                identity::set_boots(tx, next);
                Ok(())
            })
        };
        let stores = [control, data(test, StoreName::Test)?, data(live, StoreName::Live)?];
        let note = || instance::note(self.folder, &installation, next);
        // If the folder is new at this location, this start must be recorded, so on a full disk the start waits for space.
        let noted = if is_same { note() } else { self.space.write(note) };
        if let Err(error) = noted {
            let file = self.folder.instance();
            // If the folder was last opened at this location, the service starts even if the disk is full, and the next start counts this
            // start.
            if !is_same {
                return Err(Problem::failed(format_args!(
                    "{} cannot be written: {error}; check that its folder is writable and that the disk has free space",
                    file.display()
                )));
            }
            tracing::warn!(file = %file.display(), %error, "this start could not be recorded");
        }
        let hold = hold::read(&stores[0].read()).map_err(Problem::failed)?;
        Ok(OpenStores { seal, stores, hold, is_same })
    }

    /// Opens the store in a file whose identity has been read. `first` is the store's first transaction.
    pub fn start(
        &self,
        file: StoreFile,
        store: StoreName,
        first: impl FnOnce(&mut WriteTx<'_>) -> StoreResult<()> + Send + 'static,
    ) -> Result<Arc<Store>, Problem> {
        let sources = (self.clock.clone(), self.random.clone());
        let opened = Store::of(file, store.database_kind(), sources, self.logged(store), first);
        opened.map(Arc::new).map_err(Problem::failed)
    }

    fn logged(&self, store: StoreName) -> Option<Logged> {
        self.log.clone().map(|log| Logged { store, log })
    }

    fn read_key(&self) -> Result<Seal, Problem> {
        let rekey = self.folder.rekey();
        if rekey.exists() {
            return Err(Problem::failed(Refusal::RekeyIncomplete(rekey.display().to_string())));
        }
        Seal::read(&self.folder.master_key()).map_err(|error| Problem::failed(Refusal::Key(error)))
    }

    /// Opens the store files and reads their identities.
    pub fn inspect(&self) -> Result<Inspection, Problem> {
        require_all(self.folder)?;
        let open = |(name, database_kind)| {
            let opened = StoreFile::open(self.space.clone(), &self.folder.store(name), self.cache_bytes(database_kind));
            opened.map_err(Problem::failed)
        };
        let [control, test, live] = STORES;
        let inspection = Inspection::of([open(control)?, open(test)?, open(live)?]).map_err(Problem::failed)?;
        match inspection.is_clusters().map_err(Problem::failed)? {
            true => Err(Problem::failed(Refusal::Clusters(self.folder.path().display().to_string()))),
            false => Ok(inspection),
        }
    }

    fn cache_bytes(&self, database_kind: DatabaseKind) -> usize {
        match database_kind {
            DatabaseKind::Control => CONTROL_CACHE_BYTES,
            DatabaseKind::Environment | DatabaseKind::Every => self.settings.data.cache_mib.count() * MIB,
        }
    }
}

/// Returns the number of this start. If the last start was not counted in every file, because of a crash or a full disk, this start gets
/// the same number, so that the counts in one folder never differ by more than one.
fn next_boot(folder: &Folder, found: &Finding, boots: Boots) -> u64 {
    let most = boots.into_iter().max().unwrap_or(0);
    let is_counted = boots == [most; 3] && instance::counted(folder) == Some(most);
    if *found == Finding::Same && !is_counted { most } else { most + 1 }
}
