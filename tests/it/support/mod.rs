//! Support for the tests: servers, clients, and the contract that every reply must satisfy.

pub mod browser;
pub mod client;
pub mod contract;
pub mod faults;
pub mod fixtures;
pub mod hook_sink;
pub mod messages;
// Shared with the library's own tests; each of the two uses only part of it.
#[allow(dead_code)]
#[path = "../../../src/testing/mail_sink/mod.rs"]
pub mod mail_sink;
// Shared with the library's own tests.
#[allow(dead_code)]
#[path = "../../../src/testing/name_server.rs"]
pub mod name_server;
pub mod postfix;
pub mod server;

pub use client::{Client, Reply};
pub use faults::Faults;
pub use server::{Server, shared};

use mailmill::engine::api::{Access, Entry};
use mailmill::operations::OPERATIONS;
use serde_json::Value;

/// The id of a project that does not exist.
pub const NO_PROJECT: &str = "0123456789abcdef01234567";

/// Returns a Python that has these modules, from CI or from the machine; prints a note if there is none.
pub fn python_with(modules: &str) -> Option<&'static str> {
    use std::process::{Command, Stdio};
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/target/ci-tools/python/bin/python3");
    let has_them = |python: &&str| {
        let found = Command::new(python).args(["-c", &format!("import {modules}")]).stderr(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    let found = [own, "python3"].into_iter().find(has_them);
    if found.is_none() {
        println!("skipped: no Python with {modules}");
    }
    found
}

/// Returns the operation with this id.
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
