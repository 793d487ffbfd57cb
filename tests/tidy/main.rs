//! Rules of the house that no compiler checks: directions of imports, sizes, words, declarations.
//!
//! `SNAPSHOTS=write cargo test --test tidy` writes the snapshots anew.

mod advisories;
mod alternatives;
mod declarations;
mod directions;
mod house;
mod openapi;
mod sizes;
mod source;
mod unused;

/// Fail with all findings at once: whoever repairs wants to see them together.
fn none(what: &str, findings: Vec<String>) {
    assert!(findings.is_empty(), "{what}:\n  {}", findings.join("\n  "));
}
