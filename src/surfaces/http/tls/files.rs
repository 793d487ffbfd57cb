//! The two PEM files of a certificate and its key: loading them, replacing them atomically, and detecting changes.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// The maximum size of a file in bytes, far larger than any certificate chain. A larger file is neither a certificate nor a key, so it
/// is not read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Clone, Debug)]
pub struct Pair {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Pair {
    /// Loads the certificate and the key, and checks that they match. An error names the invalid file and the reason.
    pub fn load(&self, provider: &CryptoProvider) -> Result<CertifiedKey, (PathBuf, String)> {
        let chain = read(&self.certificate).and_then(|pem| {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
            let chain = chain.map_err(|error| format!("the file contains an invalid PEM certificate: {error}"))?;
            if chain.is_empty() {
                Err("the file contains no PEM certificate: use a PEM file with the certificate chain".to_owned())
            } else {
                Ok(chain)
            }
        });
        let chain = chain.map_err(|why| (self.certificate.clone(), why))?;
        let key = read(&self.key).and_then(|pem| {
            PrivateKeyDer::from_pem_slice(&pem).map_err(|error| format!("the file contains no valid PEM private key: {error}"))
        });
        let key = key.map_err(|why| (self.key.clone(), why))?;
        CertifiedKey::from_der(chain, key, provider).map_err(|error| {
            (self.key.clone(), format!("the private key is not supported or does not match the certificate: {error}"))
        })
    }
}

/// Returns the first certificate in a PEM file, if there is one.
pub fn first_certificate(path: &Path) -> Option<CertificateDer<'static>> {
    CertificateDer::from_pem_slice(&read(path).ok()?).ok()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > FILE_BYTES_MAX {
        return Err(format!("the file is {length} bytes long, which is too large for a certificate or key: check the path"));
    }
    fs::read(path).map_err(|error| error.to_string())
}

/// Writes `content` to `path` with the permissions `mode`, atomically: readers see either the old content or the new content.
pub fn replace(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let new = path.with_extension("pem.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// The inode, size and modification time of the certificate file and of the key file. They differ after a file has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp([Option<[i64; 4]>; 2]);

impl Stamp {
    pub fn of(pair: &Pair) -> Self {
        Self([&pair.certificate, &pair.key].map(|path| {
            // Symbolic links are followed, because tools that renew certificates replace the link's target.
            let file = fs::metadata(path).ok()?;
            Some([file.ino() as i64, file.len() as i64, file.mtime(), file.mtime_nsec()])
        }))
    }
}
