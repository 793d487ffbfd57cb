//! Unused entries: every limit, setting, code, table and asset must be used somewhere.

use std::fs;
use std::path::PathBuf;

use super::none;
use super::source::{Source, files, has_word, root, sources};

/// Returns the names of `path` that no other shipped file uses; `used` detects a use.
fn unused(path: &str, names: &[String], used: impl Fn(&Source, &str) -> bool) -> Vec<String> {
    let all = sources(&["src"]);
    // A field that its own type returns under another name is used too.
    let own = |source: &Source, name: &str| source.path == path && source.shipped.contains(&format!("self.{name}"));
    let is_used = |name: &str| all.iter().any(|source| own(source, name) || (source.path != path && used(source, name)));
    names.iter().filter(|name| !is_used(name)).map(|name| format!("{path}: {name}")).collect()
}

fn read(path: &str) -> Source {
    sources(&["src"]).into_iter().find(|source| source.path == path).unwrap_or_else(|| panic!("there is no {path}"))
}

/// Returns the words after `mark` at the start of lines of shipped code.
fn words_after(source: &Source, mark: &str) -> Vec<String> {
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix(mark)?;
        Some(rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect::<String>())
    };
    source.shipped.lines().filter_map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn every_limit_is_used() {
    let path = "src/vocab/limits.rs";
    let names = words_after(&read(path), "pub const ");
    assert!(names.len() > 20);
    none("limits that limit nothing", unused(path, &names, |source, name| has_word(&source.shipped, name)));
}

/// Words that show that a sentence gives a reason.
const REASON_WORDS: [&str; 49] = [
    "so", "because", "enough", "too", "than", "cannot", "limit", "fit", "fits", "shown", "take", "takes", "allow", "allows",
    "commonly", "need", "needs", "needed", "without", "refuse", "reject", "hide", "hides", "cut", "cuts", "never", "most", "RFC",
    "asks", "read", "reads", "lets", "until", "must", "would", "whatever", "already", "instead", "long", "short", "rare", "few",
    "several", "some", "as", "above", "twice", "which", "whose",
];
/// How sentences end that only state what happens beyond a limit, such as "Longer names are rejected."
const EFFECTS: [&str; 4] = ["rejected", "refused", "dropped", "counted"];
const EFFECT_WORDS_MAX: usize = 6;

fn only_states_the_effect(sentence: &str) -> bool {
    let words: Vec<&str> = sentence.trim_end_matches(['.', ';']).split_whitespace().collect();
    words.len() <= EFFECT_WORDS_MAX && words.last().is_some_and(|last| EFFECTS.contains(last))
}

/// Returns whether a comment states more than what is limited, and what happens beyond: it has a second sentence, or a sentence that gives
/// a reason.
fn gives_a_reason(comment: &str) -> bool {
    let sentences = comment.split_inclusive(['.', ':', ';']).filter(|part| part.trim().len() > 1);
    let sentences: Vec<&str> = sentences.filter(|part| !only_states_the_effect(part)).collect();
    let mut words = sentences.iter().flat_map(|part| part.split(|letter: char| !letter.is_alphanumeric()));
    sentences.len() > 1 || words.any(|word| REASON_WORDS.contains(&word)) || comment.contains("API's")
}

#[test]
fn every_limit_states_its_reason() {
    assert!(!gives_a_reason("Servers in one policy.") && gives_a_reason("Servers in one policy. Real policies have ten."));
    assert!(
        !gives_a_reason("The length of a name. Longer names are rejected.") && gives_a_reason("The length of a name: one line.")
    );
    let source = read("src/vocab/limits.rs");
    let mut comment = String::new();
    let mut findings = Vec::new();
    for line in source.text.lines() {
        if let Some(text) = line.strip_prefix("///") {
            comment.push_str(text);
        } else if let Some(rest) = line.strip_prefix("pub const ") {
            if !gives_a_reason(&comment) && !line.contains("//") {
                findings.push(format!("{}:{comment}", rest.split(':').next().unwrap_or_default()));
            }
            comment.clear();
        }
    }
    none("limits without a reason", findings);
}

#[test]
fn every_table_is_used() {
    let path = "src/vocab/tables.rs";
    let names: Vec<String> = words_after(&read(path), "pub const ").into_iter().filter(|name| name != "TABLES").collect();
    assert!(names.len() > 20);
    none("tables that hold nothing", unused(path, &names, |source, name| source.shipped.contains(&format!("tables::{name}"))));
}

#[test]
fn every_setting_is_used() {
    let path = "src/vocab/settings.rs";
    let names: Vec<String> =
        words_after(&read(path), "pub ").into_iter().filter(|name| name.starts_with(char::is_lowercase)).collect();
    let names: Vec<String> =
        names.into_iter().filter(|name| !matches!(name.as_str(), "fn" | "struct" | "enum" | "type")).collect();
    assert!(names.len() > 20);
    none("settings that change nothing", unused(path, &names, |source, name| has_word(&source.shipped, name)));
}

#[test]
fn every_code_is_used() {
    let path = "src/vocab/codes.rs";
    let source = read(path);
    let body = source.shipped.split("pub enum Code {").nth(1).and_then(|rest| rest.split('}').next()).expect("the enum of codes");
    let names: Vec<String> = body.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    assert!(names.len() > 10);
    none("codes that never happen", unused(path, &names, |source, name| has_word(&source.shipped, &format!("Code::{name}"))));
}

#[test]
fn every_worker_is_in_the_table() {
    let table = read("src/workers.rs");
    let mut findings = Vec::new();
    for source in sources(&["src/features"]).iter().filter(|source| source.path.ends_with("/worker.rs")) {
        let ["features", feature, "worker"] = source.module()[..] else { continue };
        let steps = words_after(source, "pub async fn ");
        let names = steps.iter().map(|step| format!("{feature}::worker::{step}"));
        findings.extend(names.filter(|name| !table.shipped.contains(name.as_str())));
    }
    none("workers that never run", findings);
    // The table calls only functions of a `worker.rs`, because this test finds no others.
    let marks = ["Box::pin(", "each!("];
    let calls = marks.iter().flat_map(|mark| table.shipped.split(mark).skip(1)).filter_map(|rest| rest.split(['(', ')']).next());
    let is_path =
        |call: &str| call.contains("::") && call.chars().all(|letter| letter.is_ascii_lowercase() || "_:".contains(letter));
    let others = calls.filter(|call| is_path(call) && !call.contains("::worker::")).map(str::to_owned).collect();
    none("steps in the table of workers that are not in a worker.rs", others);
}

#[test]
fn every_asset_is_embedded_or_shown_by_the_readme() {
    let all = sources(&["src"]);
    let readme = fs::read_to_string(root().join("README.md")).expect("a README");
    let mut findings = Vec::new();
    // `features/system/clients.rs` tests that the program contains the clients. Other compilers check their sources and tests.
    let is_client = |path: &PathBuf| path.starts_with(root().join("assets/clients"));
    for path in files(&root().join("assets")).into_iter().filter(|path| !is_client(path)) {
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        let is_shown = path.starts_with(root().join("assets/readme")) && readme.contains(&format!("assets/readme/{name}"));
        // The names of dictionaries and pages are in the tables of `dictionaries.rs` and `chapters.rs`, without their endings.
        let is_dictionary = path.starts_with(root().join("assets/spelling/dictionaries"));
        let is_page = path.starts_with(root().join("assets/docs")) && name.ends_with(".md");
        let name = if is_dictionary || is_page { name.split('.').next().unwrap_or_default().to_owned() } else { name };
        if !is_shown && !all.iter().any(|source| source.text.contains(&name)) {
            findings.push(path.display().to_string());
        }
    }
    none("assets that nothing names", findings);
}
