//! Seals secrets at rest: encrypts them with the master key, which is in a separate file and in no backup.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::base::random::Random;
use crate::base::secret::same;
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

const KEY_LEN: usize = 32;

pub struct Seal {
    key: LessSafeKey,
    master: Zeroizing<[u8; KEY_LEN]>,
    /// The keyed hash for addresses on the suppression list. It is derived once, because every response with a contact uses it.
    address_mac: Hmac<Sha256>,
    /// The file from which the key was read.
    file: Option<PathBuf>,
}

/// The number of secrets of one kind, and the number of those that the master key cannot open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretCount {
    pub total: u64,
    pub closed: u64,
}

impl SecretCount {
    pub fn one(opens: bool) -> Self {
        Self { total: 1, closed: u64::from(!opens) }
    }

    pub fn with(self, other: Self) -> Self {
        Self { total: self.total + other.total, closed: self.closed + other.closed }
    }
}

/// A value that distinguishes master keys without revealing them. A store contains the check value of its key, so that a wrong key is
/// detected before it is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyCheck(String);

impl KeyCheck {
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Why a file is not a usable master key.
#[derive(Debug)]
pub enum KeyError {
    /// The file does not exist.
    Missing(PathBuf),
    /// Users other than the owner can access the file.
    Open(PathBuf),
    /// The file does not have the length of a key.
    Length(PathBuf, u64),
    /// The file contains a key, but not the key that seals the secrets.
    Wrong(PathBuf),
    /// The file could not be read or written.
    Io(PathBuf, io::Error),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(file) => write!(f, "the master key is missing: {} does not exist", file.display()),
            Self::Open(file) => write!(f, "other users of this machine can access {0}; run: chmod 600 {0}", file.display()),
            Self::Length(file, found) => {
                write!(f, "{} is not a master key: it is {found} bytes long instead of {KEY_LEN}", file.display())
            }
            Self::Wrong(file) => {
                write!(f, "{} is not the master key of this installation: its check value differs", file.display())
            }
            Self::Io(file, cause) => {
                write!(f, "the master key {} cannot be used: {cause}; check the file and its permissions", file.display())
            }
        }
    }
}

impl KeyError {
    /// Returns what the operator must do while the service still has the right key in memory.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Open(_) => {
                "Restrict the file to its owner (chmod 600) before the service stops, because Mailmill does not start while other users can \
                 access the key."
            }
            Self::Io(..) => {
                "Make the file readable by the service before the service stops, because Mailmill does not start without the key."
            }
            Self::Missing(_) | Self::Length(..) | Self::Wrong(_) => {
                "Restore master.key from your copy before the service stops, because Mailmill does not start without the key."
            }
        }
    }
}

impl Seal {
    /// Reads the master key from `file`. Fails if users other than the owner can access the file.
    pub fn read(file: &Path) -> Result<Self, KeyError> {
        match fs::metadata(file) {
            Ok(found) if found.is_file() && found.permissions().mode() & 0o077 != 0 => Err(KeyError::Open(file.to_path_buf())),
            _ => Self::read_copy(file),
        }
    }

    /// Reads a copy of a master key from any medium. The file's permissions are not checked, because the file systems of some media have no
    /// file owners.
    pub fn read_copy(file: &Path) -> Result<Self, KeyError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => KeyError::Missing(file.to_path_buf()),
            _ => KeyError::Io(file.to_path_buf(), error),
        };
        // Without the flag, opening a named pipe would wait for a writer.
        let mut open = fs::File::options().read(true).custom_flags(libc::O_NONBLOCK).open(file).map_err(failed)?;
        let found = open.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(failed(io::Error::other("it is not a regular file")));
        }
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        if found.len() != KEY_LEN as u64 {
            return Err(KeyError::Length(file.to_path_buf(), found.len()));
        }
        open.read_exact(bytes.as_mut_slice()).map_err(failed)?;
        Ok(Self { file: Some(file.to_path_buf()), ..Self::from_key(&bytes) })
    }

    /// Reads the master key from `file`. If there is no key yet, creates one.
    pub fn make(file: &Path, random: &dyn Random) -> Result<Self, KeyError> {
        let failed = |error| KeyError::Io(file.to_path_buf(), error);
        // An empty file never contained a key: a power cut can leave an empty file on a file system without hard links.
        if fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() == 0) {
            fs::remove_file(file).map_err(failed)?;
        }
        if !file.exists() {
            let key = Zeroizing::new(random.bytes::<KEY_LEN>());
            write(file, key.as_slice()).map_err(failed)?;
        }
        Self::read(file)
    }

    /// Creates a new key that is not in a file yet.
    pub fn new(random: &dyn Random) -> Self {
        Self::from_key(&Zeroizing::new(random.bytes::<KEY_LEN>()))
    }

    /// Creates a copy of the seal, for use on another thread.
    pub fn duplicate(&self) -> Self {
        Self { file: self.file.clone(), ..Self::from_key(&self.master) }
    }

    /// Copies this key to `file`, which must not exist.
    pub fn copy_to(&self, file: &Path) -> Result<(), KeyError> {
        write(file, self.master.as_slice()).map_err(|error| KeyError::Io(file.to_path_buf(), error))
    }

    /// Checks that the key's file still contains the key. Reads 32 bytes.
    pub fn check_file(&self) -> Result<(), KeyError> {
        let Some(file) = &self.file else { return Ok(()) };
        let there = Self::read(file)?;
        if same(there.master.as_slice(), self.master.as_slice()) { Ok(()) } else { Err(KeyError::Wrong(file.clone())) }
    }

    pub fn check_value(&self) -> KeyCheck {
        KeyCheck(HEXLOWER.encode(&self.derive("mailmill key check v1")))
    }

    pub fn from_key(bytes: &[u8; KEY_LEN]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("the key has the length that the algorithm requires");
        let address_mac = keyed(&derived(bytes, "suppressions"));
        Self { key: LessSafeKey::new(key), master: Zeroizing::new(*bytes), address_mac, file: None }
    }

    /// Derives a key for `purpose`. Neither the master key nor a key for a different purpose can be computed from the derived key.
    pub fn derive(&self, purpose: &str) -> [u8; KEY_LEN] {
        derived(&self.master, purpose)
    }

    /// Returns the keyed hash for addresses on the suppression list.
    pub fn address_mac(&self) -> Hmac<Sha256> {
        self.address_mac.clone()
    }

    /// Seals `secret`. `place` is the table and ID of the secret: sealed bytes that are moved to a different place cannot be opened.
    pub fn seal(&self, place: &[u8], secret: &[u8], random: &dyn Random) -> Vec<u8> {
        // Random nonces of 96 bits are safe for far more secrets than one installation seals.
        let nonce: [u8; NONCE_LEN] = random.bytes();
        let mut sealed = secret.to_vec();
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), &mut sealed)
            .expect("secrets are far shorter than the algorithm's limit");
        [nonce.as_slice(), &sealed].concat()
    }

    /// Opens bytes that [`Seal::seal`] sealed for the same place. Returns `None` if the key or the place differs, or if the bytes were
    /// changed.
    pub fn open(&self, place: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut body = body.to_vec();
        let length = self.key.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(place), &mut body).ok()?.len();
        body.truncate(length);
        Some(body)
    }
}

fn derived(master: &[u8; KEY_LEN], purpose: &str) -> [u8; KEY_LEN] {
    let mut mac = keyed(master);
    mac.update(purpose.as_bytes());
    mac.finalize().into_bytes().into()
}

fn keyed(key: &[u8; KEY_LEN]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC accepts keys of any length")
}

/// Writes a key under a temporary name, and then gives the file its final name, so that a power cut can neither leave a truncated key nor
/// destroy a key that is in use. A failure leaves no file behind.
fn write(file: &Path, key: &[u8]) -> io::Result<()> {
    write_linked(file, key, |aside| fs::hard_link(aside, file))
}

fn write_linked(file: &Path, key: &[u8], link: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let aside = file.with_extension("new");
    // A leftover temporary file is removed, not overwritten, because other users might be able to read it.
    fs::remove_file(&aside).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    create(&aside, key)?;
    // Unlike a rename, a hard link never replaces a file. This matters because an existing key may be the only copy. On file systems
    // without hard links, the file is created directly. This replaces no file either, but a power cut can leave the file empty.
    let named = match link(&aside) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => create(file, key),
        linked => linked,
    };
    let removed = fs::remove_file(&aside);
    named?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let durable = removed.and_then(|()| fs::File::open(folder)?.sync_all());
    durable.inspect_err(|_| drop(fs::remove_file(file)))
}

/// Creates a file that only its owner can access. On success, the file is complete and synced to disk; a failure leaves no new file.
fn create(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    out.write_all(bytes).and_then(|()| out.sync_all()).inspect_err(|_| drop(fs::remove_file(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    #[test]
    fn a_secret_opens_only_in_its_own_place_with_its_own_key_and_unchanged() {
        let random = SeededRandom::new(3);
        let seal = Seal::from_key(&[7; 32]);
        let mut sealed = seal.seal(b"webhooks/1", b"whsec", &random);
        assert_eq!(seal.open(b"webhooks/1", &sealed).as_deref(), Some(b"whsec".as_slice()));
        assert_eq!(seal.open(b"webhooks/2", &sealed), None);
        assert_eq!(Seal::from_key(&[8; 32]).open(b"webhooks/1", &sealed), None);
        *sealed.last_mut().expect("the sealed text is not empty") ^= 1;
        assert_eq!(seal.open(b"webhooks/1", &sealed), None);
    }

    #[test]
    fn the_master_key_is_created_once_for_its_owner_only() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("master.key");
        assert!(matches!(Seal::read(&file), Err(KeyError::Missing(_))), "reading never creates a key");
        // An interrupted first start may leave a temporary file.
        fs::write(folder.path().join("master.new"), b"short").expect("the write succeeds");
        let random = SeededRandom::new(3);
        let made = Seal::make(&file, &random).expect("the key is created");
        let sealed = made.seal(b"x", b"y", &random);
        assert_eq!(fs::metadata(&file).expect("the file exists").permissions().mode() & 0o777, 0o600);
        let read = Seal::make(&file, &random).expect("the key is read");
        assert!(read.open(b"x", &sealed).is_some());
        assert!(read.check_value() == made.check_value() && made.check_value() != Seal::from_key(&[8; 32]).check_value());
        assert!(made.copy_to(&file).is_err(), "a key is never overwritten");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("the change succeeds");
        let refusal = Seal::read(&file).err().expect("the operation is rejected").to_string();
        assert!(refusal.contains("chmod 600"), "{refusal}");
    }

    /// In an earlier version, a restore to a FAT file system or to some network volumes failed in its last step, when it wrote the key.
    #[test]
    fn without_hard_links_a_key_is_written_completely_and_never_over_another() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("master.key");
        let names = || fs::read_dir(folder.path()).expect("the data is readable").count();
        let without_links = |_: &Path| Err(io::Error::from_raw_os_error(libc::EPERM));
        write_linked(&file, &[7; KEY_LEN], without_links).expect("the write succeeds");
        assert_eq!((fs::read(&file).expect("the file exists"), names()), (vec![7; KEY_LEN], 1));
        assert_eq!(fs::metadata(&file).expect("the file exists").permissions().mode() & 0o777, 0o600);
        let refused = write_linked(&file, &[8; KEY_LEN], without_links).expect_err("a key exists");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            (fs::read(&file).expect("the file exists"), names()),
            (vec![7; KEY_LEN], 1),
            "the folder contains only the key"
        );
        // Without hard links, a power cut during the first start can leave the key file empty.
        fs::write(&file, b"").expect("the file can be emptied");
        assert!(Seal::make(&file, &SeededRandom::new(3)).is_ok(), "a first start continues");
    }

    #[test]
    fn a_key_that_cannot_be_written_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        // The parent folder is missing, so the temporary file cannot be created.
        let file = folder.path().join("missing/master.key");
        assert!(write(&file, &[7; KEY_LEN]).is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("the data is readable").count(), 0);
    }

    #[test]
    fn a_lost_truncated_or_replaced_key_file_is_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("master.key");
        let seal = Seal::make(&file, &SeededRandom::new(3)).expect("the key is created");
        assert!(seal.check_file().is_ok());
        for (bytes, words) in [(vec![7; 32], "check value differs"), (vec![7; 31], "it is 31 bytes long")] {
            fs::write(&file, bytes).expect("the write succeeds");
            let trouble = seal.check_file().expect_err("the problem is found").to_string();
            assert!(trouble.contains(words) && trouble.contains("master.key"), "{trouble}");
        }
        fs::remove_file(&file).expect("the file can be removed");
        assert!(matches!(seal.check_file(), Err(KeyError::Missing(_))));
    }

    // Regression test: if the key file was a named pipe, the start waited forever. If it was a folder, the error was about the length of
    // the file.
    #[test]
    fn only_a_regular_file_is_read_as_a_key() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let pipe = folder.path().join("master.key");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe can be created");
        for file in [pipe.as_path(), folder.path()] {
            for key in [Seal::read(file), Seal::make(file, &SeededRandom::new(3))] {
                let trouble = key.err().expect("there is no key").to_string();
                assert!(trouble.contains("not a regular file"), "{trouble}");
            }
        }
    }
}
