//! Redirects the shipped program's connections to named hosts to servers on this machine, and lets it trust their certificates.
//!
//! A small library that is preloaded into the program redirects them; the machine's C compiler builds it from `redirect.c`. If that is not
//! possible, [`environment`] prints the reason, and the tests that need the library end.

use std::path::{Path, PathBuf};

use super::missing;
use super::preload::library;

/// Returns the environment variables of a program whose connections to `hosts` end at this machine: those to port 443 at `https_port`.
/// `roots` is the file with the certificates that the program trusts.
pub fn environment(hosts: &[&str], https_port: u16, roots: &Path) -> Option<Vec<(&'static str, PathBuf)>> {
    let Some(library) = library("redirect") else {
        missing("there is no C compiler (cc) for Linux to redirect connections with");
        return None;
    };
    Some(vec![
        ("LD_PRELOAD", library),
        ("REDIRECT_HOSTS", hosts.join(",").into()),
        ("REDIRECT_HTTPS", https_port.to_string().into()),
        ("SSL_CERT_FILE", roots.to_path_buf()),
    ])
}
