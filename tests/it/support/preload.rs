//! Builds the small C libraries that tests preload into the shipped program.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::{Mutex, PoisonError};

/// Returns the library that the machine's C compiler builds from `NAME.c`, once per test run; `None` if the machine cannot build it.
pub fn library(name: &'static str) -> Option<PathBuf> {
    static MADE: Mutex<Option<HashMap<&str, Option<PathBuf>>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.get_or_insert_default().entry(name).or_insert_with(|| built(name)).clone()
}

fn built(name: &str) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/support/{name}.c"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (place, aside) = (folder.join(format!("{name}.so")), folder.join(format!("{name}-{}.so", id())));
    let compiler =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&aside, &source]).arg("-ldl").output().ok()?;
    assert!(compiler.status.success(), "{name}.c is not C: {}", String::from_utf8_lossy(&compiler.stderr));
    // Another test run may be using the old library, so a rename replaces the file.
    fs::rename(&aside, &place).expect("its own folder");
    Some(place)
}
