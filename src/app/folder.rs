//! The data folder: it holds all data, for its owner only, and one process uses it at a time.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::vocab::environment::Environment;

/// The file that the process using the folder locks. The kernel releases the lock however the process ends.
const LOCK: &str = "mailmill.lock";
/// Files allowed in a folder without data: our own lock, what a file system puts into its root, and what a start that was interrupted in
/// its first steps leaves (including the reserve of disk space).
const NOT_DATA: [&str; 4] = [LOCK, "lost+found", "first-start.new", "reserve"];

/// The data folder, in use by this process.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

/// Why the folder cannot be used.
#[derive(Debug)]
pub enum FolderError {
    /// Another process uses it.
    InUse { path: PathBuf, pid: Option<u32> },
    /// Other users could read its files.
    Open { path: PathBuf, mode: u32 },
    /// It belongs to another user.
    Foreign { path: PathBuf, owner: u32 },
    /// It contains no data.
    Missing(PathBuf),
    /// It cannot be created, read or written.
    Io { path: PathBuf, cause: io::Error },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path, pid } => {
                write!(f, "another mailmill process")?;
                if let Some(pid) = pid {
                    write!(f, " (process id {pid})")?;
                }
                write!(f, " uses the data folder {}: stop it first, or choose another folder with --data", path.display())
            }
            Self::Open { path, mode } => write!(
                f,
                "the data folder {0} is open to other users (mode {mode:o}) and will hold keys; run: chmod 700 {0}",
                path.display()
            ),
            Self::Foreign { path, owner } => write!(
                f,
                "the data folder {} belongs to the user with ID {owner}; run mailmill as that user, who must be able to read new files",
                path.display()
            ),
            Self::Missing(path) => write!(
                f,
                "there is no data in {}: choose the right folder with --data, or run `mailmill serve` first",
                path.display()
            ),
            Self::Io { path, cause } => write!(f, "the data folder cannot be used: {}: {cause}", path.display()),
        }
    }
}

impl Folder {
    /// Locks the folder `path` for this process; creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |cause| FolderError::Io { path, cause }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed(path))?;
        let path = fs::canonicalize(path).map_err(failed(path))?;
        let found = fs::metadata(&path).map_err(failed(&path))?;
        // SAFETY: reads a number of this process and cannot fail.
        if found.uid() != unsafe { libc::geteuid() } {
            return Err(FolderError::Foreign { path, owner: found.uid() });
        }
        let mode = found.mode() & 0o777;
        if mode & 0o077 != 0 {
            // An empty folder, as mkdir makes it, holds nothing yet that others may have read or written.
            let empty = fs::read_dir(&path).map_err(failed(&path))?.next().is_none();
            if !empty {
                return Err(FolderError::Open { path, mode });
            }
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).map_err(failed(&path))?;
        }
        let file = path.join(LOCK);
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&file)
            .map_err(failed(&file))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let pid = lock.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(FolderError::InUse { path, pid });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(&file)(cause)),
        }
        let written = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id())).and_then(|()| lock.flush());
        written.map_err(failed(&file))?;
        Ok(Self { path, _lock: lock })
    }

    /// Locks the folder if it contains data.
    pub fn open_existing(path: &Path) -> Result<Self, FolderError> {
        match names(path) {
            Ok(names) if !names.is_empty() => Self::open(path),
            _ => Err(FolderError::Missing(path.to_path_buf())),
        }
    }

    /// The names of its files, sorted.
    pub fn names(&self) -> Result<Vec<String>, FolderError> {
        names(&self.path).map_err(|cause| FolderError::Io { path: self.path.clone(), cause })
    }

    /// Gives up a folder that was empty: removes what this process wrote into it.
    pub fn abandon(self) {
        let stores = ["control", "test", "live"].map(|name| self.store(name));
        let key_aside = self.master_key().with_extension("new");
        for file in stores.iter().chain([&self.instance(), &key_aside, &self.path.join(LOCK)]) {
            // Files that were not reached do not exist, and a leftover lock file is held by no process. The caller reports the earlier
            // failure.
            let _ = fs::remove_file(file);
        }
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the store with this name: `control`, `test` or `live`.
    pub fn store(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.redb"))
    }

    /// The file that identifies the folder and its last start. Not in backups: it detects copies of the folder.
    pub fn instance(&self) -> PathBuf {
        self.path.join("instance.json")
    }

    /// The file that exists while the first start, or the first one with a version that identifies installations, is incomplete.
    pub fn first_start(&self) -> PathBuf {
        self.path.join("first-start")
    }

    /// The search index of an environment.
    pub fn search(&self, environment: Environment) -> PathBuf {
        self.path.join(format!("{environment}.search"))
    }

    /// The profile of a Chromium, if one renders emails. Can be deleted while none runs.
    pub fn chromium(&self) -> PathBuf {
        self.path.join("chromium")
    }

    /// The key that seals secrets at rest. In no backup.
    pub fn master_key(&self) -> PathBuf {
        self.path.join("master.key")
    }

    /// The new key of an incomplete rekey. It becomes the master key in the last step.
    pub fn rekey(&self) -> PathBuf {
        self.path.join("master.key.rekey")
    }

    /// The folder of the certificate made at the first start.
    pub fn tls(&self) -> PathBuf {
        self.path.join("tls")
    }
}

fn names(path: &Path) -> io::Result<Vec<String>> {
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = entries.collect::<io::Result<_>>()?;
    names.retain(|name| !NOT_DATA.contains(&name.as_str()));
    names.sort();
    Ok(names)
}

/// Writes a small file atomically, for the owner only, and durably. `text` returns the content, given the file before it gets its name.
pub fn write_whole(file: &Path, text: impl FnOnce(&Path) -> io::Result<String>) -> io::Result<()> {
    let aside = file.with_extension("new");
    fs::remove_file(&aside).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    let fill = || {
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
        writeln!(out, "{}", text(&aside)?)?;
        out.sync_all()?;
        fs::rename(&aside, file)
    };
    if let Err(error) = fill() {
        // The file does not exist if its creation failed.
        let _ = fs::remove_file(&aside);
        return Err(error);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// The administration socket in the data folder `path`.
pub fn admin_socket(path: &Path) -> PathBuf {
    path.join("admin.sock")
}

/// The socket in the data folder `path` that accepts bounced messages.
pub fn inbound_socket(path: &Path) -> PathBuf {
    path.join("inbound.sock")
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_new_folder_is_for_its_owner_only_and_an_open_one_is_refused() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let path = outer.path().join("deep/data");
        let folder = Folder::open(&path).expect("opens");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o700);
        drop(folder);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).expect("set");
        let refusal = Folder::open(&path).expect_err("refused").to_string();
        assert!(refusal.contains("mode 750") && refusal.contains("chmod 700"), "{refusal}");
    }

    #[test]
    fn a_second_process_is_told_who_uses_the_folder_and_gets_it_afterwards() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let path = outer.path().join("data");
        let first = Folder::open(&path).expect("opens");
        let refusal = Folder::open(&path).expect_err("refused").to_string();
        assert!(refusal.contains(&format!("process id {}", std::process::id())), "{refusal}");
        drop(first);
        assert!(Folder::open(&path).is_ok());
    }

    #[test]
    fn opening_existing_data_creates_no_folder() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let path = outer.path().join("typo");
        assert!(matches!(Folder::open_existing(&path), Err(FolderError::Missing(_))));
        assert!(!path.exists());
    }
}
