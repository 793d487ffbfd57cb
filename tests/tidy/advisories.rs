//! Accepted security advisories: each names the crate and the reviewed version.

use std::fs;

use super::none;
use super::source::root;

fn read(name: &str) -> toml::Table {
    let text = fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    text.parse().unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn accepted_advisories_concern_versions_that_are_in_use() {
    let lock = read("Cargo.lock");
    let packages = lock["package"].as_array().expect("a list");
    let in_use = |name: &str, version: &str| {
        packages.iter().any(|package| package["name"].as_str() == Some(name) && package["version"].as_str() == Some(version))
    };
    let deny = read("deny.toml");
    let accepted = deny["advisories"]["ignore"].as_array().expect("a list");
    let stale = accepted.iter().filter_map(|advisory| {
        let reason = advisory["reason"].as_str().unwrap_or_default();
        let named = reason.split_once(": ").and_then(|(what, _)| what.split_once(' '));
        (!named.is_some_and(|(name, version)| in_use(name, version))).then(|| {
            format!("{}: judge it again, and begin its reason with the crate and its version in Cargo.lock", advisory["id"])
        })
    });
    none("an accepted advisory is about another version", stale.collect());
}
