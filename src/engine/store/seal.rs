//! Secrets at rest: sealed under the master key, which lives in a file of its own and in no backup.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::base::random::Random;

const KEY_LEN: usize = 32;

/// Seals and opens secrets with the master key.
pub struct Seal {
    key: LessSafeKey,
    master: Zeroizing<[u8; KEY_LEN]>,
}

impl Seal {
    /// Read the master key from `file`; make one if there is none.
    pub fn from_file(file: &Path, random: &dyn Random) -> io::Result<Self> {
        let bytes = match fs::read(file) {
            Ok(bytes) => {
                let mode = fs::metadata(file)?.permissions().mode();
                if mode & 0o077 != 0 {
                    return Err(io::Error::other(format!(
                        "{} can be read by others; run: chmod 600 {}",
                        file.display(),
                        file.display()
                    )));
                }
                bytes
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(file, random)?,
            Err(error) => return Err(error),
        };
        let bytes: [u8; KEY_LEN] = bytes.try_into().map_err(|_| {
            io::Error::other(format!("{} is not a master key: it must have exactly {KEY_LEN} bytes", file.display()))
        })?;
        Ok(Self::from_key(&bytes))
    }

    /// A seal with this key.
    pub fn from_key(bytes: &[u8; KEY_LEN]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, bytes).expect("the length is the algorithm's");
        Self { key: LessSafeKey::new(key), master: Zeroizing::new(*bytes) }
    }

    /// A key for another purpose, from which neither the master key nor that of a third purpose can be found.
    pub fn derive(&self, purpose: &str) -> [u8; KEY_LEN] {
        let mut sum = Hmac::<Sha256>::new_from_slice(self.master.as_slice()).expect("HMAC takes keys of any length");
        sum.update(purpose.as_bytes());
        sum.finalize().into_bytes().into()
    }

    /// Seal `secret`. `place` says where it belongs (table and id): sealed bytes moved elsewhere do not open.
    pub fn seal(&self, place: &[u8], secret: &[u8], random: &dyn Random) -> Vec<u8> {
        // Random nonces of 96 bits are safe for far more secrets than one installation ever seals.
        let nonce: [u8; NONCE_LEN] = random.bytes();
        let mut sealed = secret.to_vec();
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(place), &mut sealed)
            .expect("secrets are far shorter than the algorithm's limit");
        [nonce.as_slice(), &sealed].concat()
    }

    /// Open what [`Seal::seal`] made for the same place; `None` with another key, another place or changed bytes.
    pub fn open(&self, place: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, body) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut body = body.to_vec();
        let length = self.key.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(place), &mut body).ok()?.len();
        body.truncate(length);
        Some(body)
    }
}

fn make(file: &Path, random: &dyn Random) -> io::Result<Vec<u8>> {
    let key: [u8; KEY_LEN] = random.bytes();
    // Written aside and renamed: a power cut here must not leave a short key, nor a key that something was sealed with and is gone.
    let aside = file.with_extension("new");
    // A leftover is removed and not written over: it might be one that others can read.
    fs::remove_file(&aside).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })?;
    let mut out = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
    out.write_all(&key)?;
    out.sync_all()?;
    fs::rename(&aside, file)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()?;
    Ok(key.to_vec())
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
        *sealed.last_mut().expect("not empty") ^= 1;
        assert_eq!(seal.open(b"webhooks/1", &sealed), None);
    }

    #[test]
    fn the_master_key_is_made_once_for_the_owner_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("master.key");
        // What a first start that was cut off may leave behind.
        fs::write(folder.path().join("master.new"), b"short").expect("written");
        let random = SeededRandom::new(3);
        let sealed = Seal::from_file(&file, &random).expect("made").seal(b"x", b"y", &random);
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
        assert!(Seal::from_file(&file, &random).expect("read").open(b"x", &sealed).is_some());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("set");
        let refusal = Seal::from_file(&file, &random).err().expect("refused").to_string();
        assert!(refusal.contains("chmod 600"), "{refusal}");
    }
}
