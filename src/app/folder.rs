//! The data folder of an installation. Only its owner can access it, and only one process uses it at a time.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::vocab::environment::Environment;

/// The file that the process locks while it uses the folder. The kernel releases the lock however the process ends.
const LOCK: &str = "mailmill.lock";
/// The files allowed in a folder without data: Mailmill's lock file, the folder that file systems create in their root, and the record that
/// the first start writes before any other file.
const NOT_DATA: [&str; 3] = [LOCK, "lost+found", "first-start.new"];
/// The folder for commits that are not in the continuous backup yet.
pub const SPOOL: &str = "backup-spool";

/// A path to this process's program file. The path remains valid after an upgrade has replaced the program.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// A data folder that this process has locked.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The program that worker processes run.
    pub(super) worker_program: PathBuf,
    _lock: File,
}

/// Why the folder cannot be used.
#[derive(Debug)]
pub enum FolderError {
    InUse {
        path: PathBuf,
        pid: Option<u32>,
    },
    /// Other users can access the folder.
    Open {
        path: PathBuf,
        mode: u32,
    },
    /// The folder belongs to another user.
    Foreign {
        path: PathBuf,
        owner: u32,
    },
    /// The folder contains no data.
    Missing(PathBuf),
    Io {
        path: PathBuf,
        cause: io::Error,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path, pid } => {
                let pid = pid.map(|pid| format!(" (process ID {pid})")).unwrap_or_default();
                write!(
                    f,
                    "another mailmill process{pid} is using the data folder {}: stop that process first, or choose another folder with \
                     --data",
                    path.display()
                )
            }
            Self::Open { path, mode } => write!(
                f,
                "other users can access the data folder {0} (mode {mode:o}), which stores keys; run: chmod 700 '{0}'",
                path.display()
            ),
            Self::Foreign { path, owner } => {
                write!(
                    f,
                    "the data folder {} belongs to the user with ID {owner}; run mailmill as that user, or change the folder's owner",
                    path.display()
                )
            }
            Self::Missing(path) => write!(
                f,
                "no data was found in the folder {}: check that it exists and is readable, set another data folder with --data, or run \
                 `mailmill serve` first",
                path.display()
            ),
            Self::Io { path, cause } => write!(
                f,
                "{} cannot be used: {cause}; check that the data folder is writable and that the disk has free space, or choose another \
                 folder with --data",
                path.display()
            ),
        }
    }
}

impl Folder {
    /// Makes worker processes run `program` instead of this program. Benchmarks and other tools need this, because their own program cannot
    /// run as a worker process.
    pub fn with_worker_program(self, program: PathBuf) -> Self {
        Self { worker_program: program, ..self }
    }

    /// Locks the folder `path` for this process. If the folder does not exist, creates it.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |cause| FolderError::Io { path, cause }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed(path))?;
        let path = fs::canonicalize(path).map_err(failed(path))?;
        let found = fs::metadata(&path).map_err(failed(&path))?;
        // SAFETY: geteuid only reads the user ID of this process and cannot fail.
        if found.uid() != unsafe { libc::geteuid() } {
            return Err(FolderError::Foreign { path, owner: found.uid() });
        }
        let mode = found.mode() & 0o777;
        if mode & 0o077 != 0 {
            // If the folder is empty, as it is right after mkdir, there is no data that other users could have read or changed, so its mode
            // is corrected.
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
        // Only the error message of a second process uses the process ID, so failing to write it must not prevent the start.
        let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
        Ok(Self { path, worker_program: OWN_PROGRAM.into(), _lock: lock })
    }

    /// Locks an existing folder. Returns `FolderError::Missing` if the folder contains no data or cannot be read.
    pub fn open_existing(path: &Path) -> Result<Self, FolderError> {
        match names(path) {
            Ok(names) if !names.is_empty() => Self::open(path),
            _ => Err(FolderError::Missing(path.to_path_buf())),
        }
    }

    /// Returns the sorted names of the folder's entries, without the entries that are allowed in a folder without data.
    pub fn names(&self) -> Result<Vec<String>, FolderError> {
        names(&self.path).map_err(|cause| FolderError::Io { path: self.path.clone(), cause })
    }

    /// Abandons a folder that was empty before this process opened it: removes the files that this process wrote into it.
    pub fn abandon(self) {
        let stores = ["control", "test", "live"].map(|name| self.store(name));
        let key_aside = self.master_key().with_extension("new");
        for file in stores.iter().chain([&self.instance(), &key_aside, &self.path.join(LOCK)]) {
            // Errors are ignored: some of these files might not exist, a leftover lock file does no harm, and the caller reports the
            // earlier failure.
            let _ = fs::remove_file(file);
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the store with this name: `control`, `test` or `live`.
    pub fn store(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.redb"))
    }

    /// Returns the path of the file that identifies the folder and its last start. Backups do not contain the file, because it is used to
    /// detect copies of the folder.
    pub fn instance(&self) -> PathBuf {
        self.path.join("instance.json")
    }

    /// Returns the path of the file that exists while the first start is incomplete. The file also exists while this version gives an
    /// identity to stores that an older version created without one.
    pub fn first_start(&self) -> PathBuf {
        self.path.join("first-start")
    }

    pub fn search(&self, environment: Environment) -> PathBuf {
        self.path.join(format!("{environment}.search"))
    }

    /// Returns the path of Chromium's profile, which is used if Chromium renders emails. The profile can be deleted while Chromium
    /// is not running.
    pub fn chromium(&self) -> PathBuf {
        self.path.join("chromium")
    }

    /// Returns the path of the folder for commits that are not in the continuous backup yet.
    pub fn spool(&self) -> PathBuf {
        self.path.join(SPOOL)
    }

    /// Returns the path of the master key, which seals secrets at rest. No backup contains the key.
    pub fn master_key(&self) -> PathBuf {
        self.path.join("master.key")
    }

    /// Returns the path of the new key from an incomplete rekey. In the last step, the file becomes the master key.
    pub fn rekey(&self) -> PathBuf {
        self.path.join("master.key.rekey")
    }

    /// Returns the path of the folder with the certificate created at the first start.
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

/// Writes a small file durably and atomically; only the owner can access the file. `text` receives the file's temporary path and
/// returns the content.
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
        // If the file could not be created, there is no file to remove.
        let _ = fs::remove_file(&aside);
        return Err(error);
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Returns the path of the administration socket in the data folder `path`.
pub fn admin_socket(path: &Path) -> PathBuf {
    path.join("admin.sock")
}

/// Returns the path of a socket in the data folder `path`. Programs that run as the service's user deliver incoming mail through this
/// socket.
pub fn inbound_socket(path: &Path) -> PathBuf {
    path.join("inbound.sock")
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_new_folder_is_for_its_owner_only_and_an_open_one_is_refused() {
        let outer = tempfile::tempdir().expect("a temporary folder can be created");
        let path = outer.path().join("deep/data");
        let folder = Folder::open(&path).expect("the data folder can be opened");
        assert_eq!(fs::metadata(&path).expect("the folder exists").permissions().mode() & 0o777, 0o700);
        drop(folder);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).expect("the mode of the folder can be changed");
        let refusal = Folder::open(&path).expect_err("the folder is rejected").to_string();
        assert!(refusal.contains("mode 750") && refusal.contains("chmod 700"), "{refusal}");
    }

    #[test]
    fn a_second_process_gets_the_id_of_the_first_and_the_folder_after_it_ends() {
        let outer = tempfile::tempdir().expect("a temporary folder can be created");
        let path = outer.path().join("data");
        let first = Folder::open(&path).expect("the data folder can be opened");
        let refusal = Folder::open(&path).expect_err("the folder is rejected").to_string();
        assert!(refusal.contains(&format!("process ID {}", std::process::id())), "{refusal}");
        drop(first);
        assert!(Folder::open(&path).is_ok());
    }

    #[test]
    fn opening_existing_data_creates_no_folder() {
        let outer = tempfile::tempdir().expect("a temporary folder can be created");
        let path = outer.path().join("typo");
        assert!(matches!(Folder::open_existing(&path), Err(FolderError::Missing(_))));
        assert!(!path.exists());
    }
}
