//! A certificate and its key in two PEM files: loading them, writing them, and noticing that they changed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustls::crypto::CryptoProvider;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

/// Far more than any chain of certificates has. A file beyond it is something else, and not read whole.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The two files.
#[derive(Clone, Debug)]
pub struct Pair {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Pair {
    /// Both files, if they are well-formed and belong together; else which file is wrong, and how.
    pub fn load(&self, provider: &CryptoProvider) -> Result<CertifiedKey, (PathBuf, String)> {
        let chain = read(&self.certificate).and_then(|pem| {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
            let chain = chain.map_err(|error| format!("not a certificate in PEM: {error}"))?;
            if chain.is_empty() { Err("no certificate in PEM is in it".to_owned()) } else { Ok(chain) }
        });
        let chain = chain.map_err(|why| (self.certificate.clone(), why))?;
        let key = read(&self.key)
            .and_then(|pem| PrivateKeyDer::from_pem_slice(&pem).map_err(|error| format!("not a private key in PEM: {error}")));
        let key = key.map_err(|why| (self.key.clone(), why))?;
        CertifiedKey::from_der(chain, key, provider)
            .map_err(|error| (self.key.clone(), format!("it does not fit the certificate: {error}")))
    }
}

/// The first certificate in a PEM file, if there is one.
pub fn first_certificate(path: &Path) -> Option<CertificateDer<'static>> {
    CertificateDer::from_pem_slice(&read(path).ok()?).ok()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > FILE_BYTES_MAX {
        return Err(format!("it has {length} bytes, which no certificate or key has"));
    }
    fs::read(path).map_err(|error| error.to_string())
}

/// Write `content` to `path` with `mode`, so that at every moment the old or the new content is there, whole.
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

/// By what a change of the two files is noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp([Option<[i64; 4]>; 2]);

impl Stamp {
    /// The present stamp.
    pub fn of(pair: &Pair) -> Self {
        Self([&pair.certificate, &pair.key].map(|path| {
            // Follows links: tools that renew certificates swap a link.
            let file = fs::metadata(path).ok()?;
            Some([file.ino() as i64, file.len() as i64, file.mtime(), file.mtime_nsec()])
        }))
    }
}
