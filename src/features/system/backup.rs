//! Backups. A backup is a folder that contains a copy of each store and a manifest of the stores' contents.
//!
//! The manifest is written last, so a folder without a manifest is not a backup. The manifest contains digests of all rows of the stores;
//! comparing the digests with the copies proves that every row is readable and unchanged. A backup excludes the search index, which can be
//! rebuilt, and the master key, which must not be stored with the data that it protects.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::api::Engine;
use crate::engine::store::identity::{self, Installation};
use crate::engine::store::seal::KeyCheck;
use crate::engine::store::{self, ReadTx, StoreFile, backup};
use crate::vocab::tables::DatabaseKind;

const MANIFEST: &str = "manifest.json";
/// The format version of the manifest and the folder. Version 1 contained neither the installation nor the key check.
const FORMAT: u32 = 2;
const FORMATS: [u32; 2] = [1, FORMAT];
/// The size in bytes of the page cache of a store that is opened only for inspection.
const CACHE_BYTES: usize = 16 * 1024 * 1024;
/// The maximum size of a manifest in bytes.
const MANIFEST_BYTES_MAX: u64 = 1024 * 1024;

/// TABLE: the data files in a backup. Apart from these files and the manifest, no file in the folder is read.
const FILES: [(&str, DatabaseKind); 3] =
    [("control.redb", DatabaseKind::Control), ("test.redb", DatabaseKind::Environment), ("live.redb", DatabaseKind::Environment)];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    format: u32,
    /// The version of Mailmill that made the backup.
    program: String,
    pub made_at: String,
    /// The installation that owns the data in the backup.
    #[serde(default)]
    installation: Option<Installation>,
    /// A value that identifies the master key with which the secrets in the backup are encrypted.
    #[serde(default)]
    pub key_check: Option<KeyCheck>,
    /// Maps the name of each file to the digests of its tables.
    files: BTreeMap<String, backup::Digests>,
}

impl Manifest {
    /// Returns the number of rows in all files of the backup.
    pub fn rows(&self) -> u64 {
        self.files.values().flat_map(|tables| tables.values()).map(|table| table.rows).sum()
    }
}

#[derive(Debug)]
pub enum BackupError {
    NotEmpty(PathBuf),
    Io(PathBuf, io::Error),
    Manifest(PathBuf, String),
    Store(PathBuf, store::Error),
    /// The content of a table does not match the manifest.
    Differs {
        file: PathBuf,
        table: String,
    },
    /// A file contains a different store than its name indicates.
    Swapped {
        file: PathBuf,
        holds: String,
    },
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEmpty(path) => write!(f, "the folder {} is not empty; choose a new or empty folder", path.display()),
            Self::Io(path, cause) => write!(f, "{}: {cause}", path.display()),
            Self::Manifest(path, why) => write!(f, "{} cannot be used as a backup: {why}", path.display()),
            Self::Store(path, store::Error::Damaged { file, found }) if file == path => {
                write!(f, "the backup is damaged: {}: {found}; use a different backup", path.display())
            }
            // The error names the damaged file of the running service, not a file in the backup.
            Self::Store(_, cause @ store::Error::Damaged { .. }) => cause.fmt(f),
            Self::Swapped { file, holds } => write!(
                f,
                "the backup is damaged: {} contains the data of {holds}.redb; if two files were swapped, swap them back; if not, use \
                    a different backup",
                file.display()
            ),
            Self::Store(path, cause) => write!(f, "{}: {cause}", path.display()),
            Self::Differs { file, table } => write!(
                f,
                "the backup is damaged: the table \"{table}\" in {} differs from the manifest; use a different backup",
                file.display()
            ),
        }
    }
}

impl std::error::Error for BackupError {}

impl BackupError {
    /// Makes the error name `source`, the file in the backup from which the damaged copy was made.
    fn about(self, source: PathBuf) -> Self {
        match self {
            Self::Store(_, store::Error::Damaged { found, .. }) => {
                Self::Store(source.clone(), store::Error::Damaged { file: source, found })
            }
            Self::Swapped { holds, .. } => Self::Swapped { file: source, holds },
            Self::Differs { table, .. } => Self::Differs { file: source, table },
            other => other,
        }
    }
}

type Result<T> = std::result::Result<T, BackupError>;

fn failed(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.to_path_buf();
    move |cause| BackupError::Io(path, cause)
}

/// Copies all stores of a running engine into the folder `target`, each from one snapshot.
pub fn make(engine: &Engine, target: &Path, now: Timestamp) -> Result<Manifest> {
    make_empty(target)?;
    // Take all three snapshots before the first copy, so that they reflect almost the same point in time.
    let [test, live] = engine.environments().map(|environment_data| environment_data.store.read());
    let stores = [engine.control.read(), test, live];
    let mut files = BTreeMap::new();
    for ((name, database_kind), tx) in FILES.into_iter().zip(&stores) {
        files.insert(name.to_owned(), copy(tx, database_kind, &target.join(name))?);
    }
    let program = concat!("mailmill ", env!("CARGO_PKG_VERSION")).to_owned();
    let whose = identity::identity(&stores[0]).map_err(|error| BackupError::Store(target.to_path_buf(), error))?;
    let (installation, key_check) = whose.map(|whose| (whose.installation, whose.key_check)).unzip();
    let manifest = Manifest { format: FORMAT, program, made_at: now.to_string(), installation, key_check, files };
    write_manifest(target, &manifest)?;
    Ok(manifest)
}

fn copy(tx: &ReadTx, database_kind: DatabaseKind, file: &Path) -> Result<backup::Digests> {
    let digests = backup::copy(tx, database_kind, file).map_err(|error| BackupError::Store(file.to_path_buf(), error))?;
    fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(failed(file))?;
    Ok(digests)
}

/// Creates a folder that only its owner can access, or accepts an existing empty folder.
fn make_empty(folder: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed(folder))?;
    let mut entries = fs::read_dir(folder).map_err(failed(folder))?;
    if entries.next().is_some() { Err(BackupError::NotEmpty(folder.to_path_buf())) } else { Ok(()) }
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<()> {
    let path = folder.join(MANIFEST);
    let text = serde_json::to_string_pretty(manifest).expect("a manifest can be written as JSON");
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        writeln!(file, "{text}")?;
        file.sync_all()?;
        File::open(folder)?.sync_all()
    };
    write().map_err(failed(&path))
}

/// Reads the manifest of the backup in `folder`, and compares it with every row in the backup.
pub fn verify(folder: &Path) -> Result<Manifest> {
    let manifest = read_manifest(folder)?;
    for (name, database_kind) in FILES {
        compare(&folder.join(name), database_kind, &manifest.files[name])?;
    }
    Ok(manifest)
}

pub fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST);
    let refuse = |why: String| BackupError::Manifest(folder.to_path_buf(), why);
    let bytes = match fs::metadata(&path) {
        Ok(found) if found.len() > MANIFEST_BYTES_MAX => {
            return Err(refuse(format!("the file {MANIFEST} is too large for a manifest; use a different backup")));
        }
        Ok(_) => fs::read(&path).map_err(failed(&path))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(refuse(format!("the folder has no {MANIFEST}; choose a folder that contains a backup")));
        }
        Err(error) => return Err(failed(&path)(error)),
    };
    let invalid = |why: String| refuse(format!("the file {MANIFEST} is invalid: {why}; use a different backup"));
    // A newer manifest can have fields that this program does not know, so check its format first.
    let content: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    if let Some(format) = content["format"].as_u64().filter(|format| *format > u64::from(FORMAT)) {
        return Err(refuse(format!(
            "the backup has format {format}, but this program supports only formats up to {FORMAT}; use a newer version of \
             Mailmill"
        )));
    }
    let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
    if !FORMATS.contains(&manifest.format) {
        return Err(invalid(format!("the format {} is unknown", manifest.format)));
    }
    match FILES.iter().find(|(name, _)| !manifest.files.contains_key(*name)) {
        Some((name, _)) => Err(refuse(format!("the file {MANIFEST} does not list {name}; use a different backup"))),
        None => Ok(manifest),
    }
}

fn compare(file: &Path, database_kind: DatabaseKind, expected: &backup::Digests) -> Result<()> {
    if !file.exists() {
        return Err(failed(file)(io::ErrorKind::NotFound.into()));
    }
    let failed = |error| BackupError::Store(file.to_path_buf(), error);
    let found = backup::digests(file, database_kind).map_err(failed)?;
    let tables = expected.keys().chain(found.keys());
    match tables.into_iter().find(|table| expected.get(*table) != found.get(*table)) {
        Some(table) => Err(match holds(file).map_err(failed)? {
            Some(holds) => BackupError::Swapped { file: file.to_path_buf(), holds },
            None => BackupError::Differs { file: file.to_path_buf(), table: table.clone() },
        }),
        None => Ok(()),
    }
}

/// Returns the name of the store that the file contains, if that name differs from the file's name.
fn holds(file: &Path) -> store::Result<Option<String>> {
    let whose = identity::identity(&StoreFile::open_verified(file, CACHE_BYTES)?.read()?)?;
    let is_own = |name: &str| file.file_stem().is_some_and(|stem| stem == name);
    Ok(whose.map(|whose| whose.store).filter(|name| !is_own(name)))
}

/// Opens the stores of the backup in `folder` for inspection: control, test and live.
pub fn files(folder: &Path) -> Result<[StoreFile; 3]> {
    let open = |name: &str| {
        let file = folder.join(name);
        StoreFile::open_verified(&file, CACHE_BYTES).map_err(|error| BackupError::Store(file, error))
    };
    let [control, test, live] = FILES.map(|(name, _)| name);
    Ok([open(control)?, open(test)?, open(live)?])
}

/// Copies the backup in `folder` into the folder `data`, which must contain no stores, and compares every row of the copy with the
/// manifest. Removes the copied files after a failure.
pub fn restore(folder: &Path, data: &Path) -> Result<Manifest> {
    let manifest = read_manifest(folder)?;
    if FILES.iter().any(|(name, _)| data.join(name).exists()) {
        return Err(BackupError::NotEmpty(data.to_path_buf()));
    }
    let copied = FILES.into_iter().try_for_each(|(name, database_kind)| {
        let target = data.join(name);
        let source = folder.join(name);
        copy_file(&source, &target)?;
        compare(&target, database_kind, &manifest.files[name]).map_err(|error| error.about(source))?;
        // Remove the cluster's mark from the copy, because the backup may have been made by a cluster node.
        store::cluster::unmark(&target).map_err(|error| BackupError::Store(target, error))
    });
    if copied.is_err() {
        for (name, _) in FILES {
            // Ignore errors: a file may not have been copied yet, and the first failure must be reported.
            let _ = fs::remove_file(data.join(name));
        }
    }
    copied?;
    Ok(manifest)
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from).map_err(failed(from))?;
    let mut write = || {
        let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        io::copy(&mut source, &mut target)?;
        target.sync_all()
    };
    write().map_err(failed(to))
}
