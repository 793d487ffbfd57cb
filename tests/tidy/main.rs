//! Repository rules that no compiler checks: import directions, sizes, words, declarations.
//!
//! `SNAPSHOTS=write cargo test --test tidy` rewrites the snapshots.

mod advisories;
mod alternatives;
mod declarations;
mod directions;
mod house;
mod labels;
mod openapi;
mod sizes;
mod source;
mod statements;
mod templates;
mod unused;
mod words;

/// Fails with all findings at once, so that they can be fixed together.
fn none(what: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{what}:\n  {}", findings.join("\n  "));
}
