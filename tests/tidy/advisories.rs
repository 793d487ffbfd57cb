//! Accepted security advisories: each names the crate and the reviewed version. The versions that were not reviewed are listed.

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

/// Regression test: the list of accepted advisories claimed to cover 64 crates that were added after the comparison.
#[test]
fn every_version_is_listed_as_compared_with_the_advisories_or_not() {
    let (lock, lists) = (read("Cargo.lock"), read("tests/tidy/advisories.toml"));
    let of = |list: &str| -> Vec<String> {
        let versions = lists[list].as_array().expect("a list");
        versions.iter().map(|version| version.as_str().expect("a name and a version").to_owned()).collect()
    };
    let (compared, not_compared) = (of("compared"), of("not_compared"));
    let text = |package: &toml::Value, key: &str| package[key].as_str().expect("a string").to_owned();
    let used: Vec<String> = lock["package"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|package| package.get("source").is_some())
        .map(|package| format!("{} {}", text(package, "name"), text(package, "version")))
        .collect();
    let unlisted = used.iter().filter(|version| !compared.contains(version) && !not_compared.contains(version));
    let unlisted = unlisted.map(|version| format!("{version}: add it to not_compared in tests/tidy/advisories.toml"));
    let stale = compared.iter().chain(&not_compared).filter(|version| !used.contains(version));
    let stale = stale.map(|version| format!("{version}: remove it from tests/tidy/advisories.toml"));
    none("versions whose comparison with the advisories is not known", unlisted.chain(stale).collect());
}
