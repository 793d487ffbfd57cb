//! The top level of the repository, and the required content of its documents.

use std::fs;

use super::none;
use super::source::root;

const TOP: [&str; 16] = [
    ".ci",
    ".git",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "assets",
    "benches",
    "clippy.toml",
    "config",
    "deny.toml",
    "rustfmt.toml",
    "src",
];

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn nothing_else_is_at_the_top_level() {
    let ignored: Vec<String> = page(".gitignore").lines().map(|line| line.trim_matches('/').to_owned()).collect();
    let entries = fs::read_dir(root()).expect("the root is readable");
    let names = entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    let strange = names.filter(|name| !TOP.contains(&name.as_str()) && name != "tests" && !ignored.contains(name));
    none("not for the top of the repository", strange.collect());
}

#[test]
fn the_readme_names_these_commands() {
    let readme = page("README.md");
    let commands: Vec<&str> = readme.lines().map(str::trim).filter(|line| line.starts_with("cargo ")).collect();
    let demo = ["cargo run --release -- demo", "cargo run --release -- demo --site https://example.com"];
    assert_eq!(commands, [&demo[..], &["cargo run --release -- serve", "cargo test"]].concat(), "exactly these, in this order");
}

#[test]
fn the_changelog_has_a_section_for_unreleased_changes() {
    let changelog = page("CHANGELOG.md");
    let part = changelog.split("\n## Unreleased\n").nth(1).expect("a part for what is not released");
    assert!(part.contains("\n- "), "it says something");
}

#[test]
fn both_licenses_are_included_and_named() {
    assert!(page("LICENSE-MIT").starts_with("MIT License") && page("LICENSE-APACHE").contains("Version 2.0, January 2004"));
    assert!(page("Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
}
