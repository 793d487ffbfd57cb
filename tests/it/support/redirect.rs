//! Redirects the shipped program's connections to named hosts to servers on this machine, and lets it trust their certificates.
//!
//! A small library that is preloaded into the program redirects them; the machine's C compiler builds it from `redirect.c`. If that is not
//! possible, [`environment`] prints the reason, and the tests that need the library end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::missing;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/redirect.c");

/// Returns the environment variables of a program whose connections to `hosts` end at this machine: those to port 443 at `https_port`.
/// `roots` is the file with the certificates that the program trusts.
pub fn environment(hosts: &[&str], https_port: u16, roots: &Path) -> Option<Vec<(&'static str, PathBuf)>> {
    let Some(library) = library() else {
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

/// Returns the library, built once per test run.
fn library() -> Option<PathBuf> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(|| {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (place, aside) = (folder.join("redirect.so"), folder.join(format!("redirect-{}.so", std::process::id())));
        let compiler =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&aside).args([SOURCE, "-ldl"]).output().ok()?;
        assert!(compiler.status.success(), "redirect.c is not C: {}", String::from_utf8_lossy(&compiler.stderr));
        // Another test run may be using it.
        fs::rename(&aside, &place).expect("its own folder");
        Some(place)
    })
    .clone()
}
