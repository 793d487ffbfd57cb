//! The data folder: where everything is kept, for its owner only, and used by one process at a time.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::vocab::environment::Environment;

/// Locked by the process that uses the folder. The kernel lets go when the process ends, in whatever way.
const LOCK: &str = "mailmill.lock";
/// What may be in a folder that nothing was put into yet: our own lock, what a file system puts into its root, and what a start that was
/// cut off in its very first steps leaves (the reserve of disk space among it).
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
    /// Others could read what is in it.
    Open { path: PathBuf, mode: u32 },
    /// It belongs to another user.
    Foreign { path: PathBuf, owner: u32 },
    /// There is no data in it.
    Missing(PathBuf),
    /// It cannot be made, read or written.
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
                "the data folder {} belongs to the user with id {owner}; run this as that user, who could not read new files otherwise",
                path.display()
            ),
            Self::Missing(path) => write!(
                f,
                "there is no data in {}: name the right folder with --data, or run `mailmill serve` first",
                path.display()
            ),
            Self::Io { path, cause } => write!(f, "the data folder cannot be used: {}: {cause}", path.display()),
        }
    }
}

impl Folder {
    /// Take the folder `path` into use; make it if it is not there.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |cause| FolderError::Io { path, cause }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed(path))?;
        let path = fs::canonicalize(path).map_err(failed(path))?;
        let found = fs::metadata(&path).map_err(failed(&path))?;
        // SAFETY: asks for a number of this process and cannot fail.
        if found.uid() != unsafe { libc::geteuid() } {
            return Err(FolderError::Foreign { path, owner: found.uid() });
        }
        let mode = found.mode() & 0o777;
        if mode & 0o077 != 0 {
            // Somebody's empty folder, as mkdir makes it, holds nothing yet that others may have seen or put there.
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

    /// Take the folder into use, if there is data in it.
    pub fn open_existing(path: &Path) -> Result<Self, FolderError> {
        match names(path) {
            Ok(names) if !names.is_empty() => Self::open(path),
            _ => Err(FolderError::Missing(path.to_path_buf())),
        }
    }

    /// The names of what was put into it, sorted.
    pub fn names(&self) -> Result<Vec<String>, FolderError> {
        names(&self.path).map_err(|cause| FolderError::Io { path: self.path.clone(), cause })
    }

    /// Give up a folder that was empty: what this process wrote into it is removed.
    pub fn abandon(self) {
        let stores = ["control", "test", "live"].map(|name| self.store(name));
        let key_aside = self.master_key().with_extension("new");
        for file in stores.iter().chain([&self.instance(), &key_aside, &self.path.join(LOCK)]) {
            // What was not reached is not there, and a lock that stays behind is not held by any process. The failure before is the one to tell.
            let _ = fs::remove_file(file);
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the store with this name: `control`, `test` or `live`.
    pub fn store(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.redb"))
    }

    /// Says which opening of which folder this is. Not in backups: it detects copies of the folder.
    pub fn instance(&self) -> PathBuf {
        self.path.join("instance.json")
    }

    /// There while the first start, or the first one by a program that knows installations, is not complete.
    pub fn first_start(&self) -> PathBuf {
        self.path.join("first-start")
    }

    /// The search index of an environment.
    pub fn search(&self, environment: Environment) -> PathBuf {
        self.path.join(format!("{environment}.search"))
    }

    /// What a Chromium needs of its own, if one draws emails. Can be deleted while none runs.
    pub fn chromium(&self) -> PathBuf {
        self.path.join("chromium")
    }

    /// The key that secrets at rest are sealed with. In no backup.
    pub fn master_key(&self) -> PathBuf {
        self.path.join("master.key")
    }

    /// The new key of a rekey that is not complete. It becomes the master key in the last step.
    pub fn rekey(&self) -> PathBuf {
        self.path.join("master.key.rekey")
    }

    /// Where the certificate made at the first start is.
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

/// Write a small file whole or not at all, for the owner only, and so that a power cut does not take it back. `text` says what is to be in
/// it, given the file as it is before it gets its name.
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
        // It is not there if it was not created.
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

/// The socket in the data folder `path` that takes in messages that came back.
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
    fn a_second_user_learns_who_has_the_folder_and_may_have_it_afterwards() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let path = outer.path().join("data");
        let first = Folder::open(&path).expect("opens");
        let refusal = Folder::open(&path).expect_err("refused").to_string();
        assert!(refusal.contains(&format!("process id {}", std::process::id())), "{refusal}");
        drop(first);
        assert!(Folder::open(&path).is_ok());
    }

    #[test]
    fn a_folder_without_data_is_not_made_by_looking_for_data() {
        let outer = tempfile::tempdir().expect("a temporary folder");
        let path = outer.path().join("typo");
        assert!(matches!(Folder::open_existing(&path), Err(FolderError::Missing(_))));
        assert!(!path.exists());
    }
}
