//! Support for the tests: servers, clients, and the contract that every reply must satisfy.

pub mod browser;
pub mod client;
pub mod contract;
pub mod faults;
pub mod fixtures;
pub mod hook_sink;
pub mod mail_services;
pub mod messages;
pub mod object_store;
// The library's own tests use this mail server, too.
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
#[path = "../../../src/testing/mail_sink/mod.rs"]
pub mod mail_sink;
// The library's own tests use this name server, too.
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
#[path = "../../../src/testing/name_server.rs"]
pub mod name_server;
// The library's own tests use this server, too.
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
#[path = "../../../src/testing/csv_host.rs"]
pub mod csv_host;
// The library's own tests use this server, too.
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
#[path = "../../../src/testing/platforms.rs"]
pub mod platforms;
// The library's own tests use these addresses, too.
#[path = "../../../src/testing/ports.rs"]
pub mod ports;
// The library's own tests use this server, too.
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
#[path = "../../../src/testing/postgres.rs"]
pub mod postgres;
// The library's own tests use these servers, too.
pub mod postfix;
pub mod preload;
pub mod redirect;
pub mod server;
#[allow(dead_code, reason = "each of the two users needs only a part of it")]
#[path = "../../../src/testing/stores/mod.rs"]
pub mod stores;

pub use client::{Client, Reply};
pub use faults::Faults;
pub use ports::free_address;
pub use server::{Server, shared};

use std::path::{Path, PathBuf};

use mailmill::engine::api::{Access, Entry};
use mailmill::operations::OPERATIONS;
use serde_json::Value;

/// The ID of a project that does not exist.
pub const NO_PROJECT: &str = "0123456789abcdef01234567";

/// Reports that a test cannot run because a tool is missing. With `CI=true`, the test fails instead.
pub fn missing(tool: &str) {
    assert!(std::env::var_os("CI").is_none_or(|word| word != "true"), "{tool}");
    eprintln!("\n*** NOT TESTED: {tool} ***\n");
}

/// Returns a Python interpreter that has these modules: that of CI or of the machine. Reports if there is none.
pub fn python_with(modules: &str) -> Option<PathBuf> {
    use std::process::{Command, Stdio};
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ci-tools/python/bin/python3");
    let has_them = |python: &PathBuf| {
        let found = Command::new(python).args(["-c", &format!("import {modules}")]).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    let found = [own, "python3".into()].into_iter().find(has_them);
    if found.is_none() {
        missing(&format!("there is no Python with {modules}; .ci/run installs them"));
    }
    found
}

/// Returns the operation with this ID.
pub fn operation(id: &str) -> &'static Entry {
    OPERATIONS.iter().find(|entry| entry.spec.id == id).unwrap_or_else(|| panic!("there is no operation {id}"))
}

/// Returns the operations that require a key.
pub fn keyed() -> impl Iterator<Item = &'static Entry> {
    OPERATIONS
        .iter()
        .filter(|entry| matches!(entry.spec.access, Access::Needs(_) | Access::NeedsOne(_)) && entry.media.documented)
}

/// Returns the input of an operation's example, in `project`.
pub fn example(entry: &Entry, project: &str) -> Value {
    let (mut input, _) = (entry.example)(&contract::ENVELOPE);
    if let Some(place) = input.get_mut("projectId") {
        *place = project.into();
    }
    input
}
