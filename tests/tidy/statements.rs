//! The statements of the cluster run on any database with the PostgreSQL protocol.

use super::none;
use super::source::{has_word, line_of, sources};

const VERBS: [&str; 7] = ["ALTER", "CREATE", "DELETE", "INSERT", "SELECT", "UPDATE", "WITH"];
/// Words of PostgreSQL that distributed databases lack or treat differently, and words that need one session per client, which connection
/// poolers do not keep.
const FORBIDDEN: [&str; 22] = [
    "advisory",
    "cron",
    "ctid",
    "cursor",
    "extension",
    "function",
    "generated",
    "identity",
    "listen",
    "lock",
    "nextval",
    "nowait",
    "notify",
    "prepare",
    "sequence",
    "serial",
    "bigserial",
    "skip",
    "temporary",
    "trigger",
    "unlogged",
    "xmin",
];

#[test]
fn the_statements_of_the_cluster_are_portable() {
    let mut count = 0;
    let mut findings = Vec::new();
    for source in sources(&["src/engine/store/cluster"]) {
        for (before, statement) in source.literals() {
            if !VERBS.iter().any(|verb| statement.trim_start().starts_with(verb)) {
                continue;
            }
            count += 1;
            let lowercase = statement.to_lowercase();
            let words = FORBIDDEN.iter().filter(|word| has_word(&lowercase, word)).copied();
            let system = lowercase.contains("pg_").then_some("pg_");
            let line = line_of(&source.text, before.len());
            findings.extend(words.chain(system).map(|word| format!("{}:{line}: {word}", source.path)));
        }
    }
    assert!(count > 20, "only {count} statements were found");
    none("statements that not every database supports", findings);
}

/// The version of the records' format, and the versions of the rows, by the file that declares them.
const VERSIONS: [(&str, &str); 3] = [
    ("src/engine/store/cluster/shared_log.rs", "const FORMAT: u8 = 1;"),
    ("src/engine/store/codec.rs", "const VERSION: u8 = 1;"),
    ("src/features/emails/document/mod.rs", "const VERSION: u8 = 1;"),
];

/// A node of an older version must stop at a record whose rows it cannot read, and it recognizes only the format of records.
#[test]
fn a_new_version_of_a_row_needs_a_new_format_of_records() {
    let mut found = Vec::new();
    for source in sources(&["src"]) {
        let declared = source.shipped.lines().map(|line| line.trim().trim_start_matches("pub "));
        let is_version = |line: &&str| line.starts_with("const FORMAT: u8 = ") || line.starts_with("const VERSION: u8 = ");
        found.extend(declared.filter(is_version).map(|line| (source.path.clone(), line.to_owned())));
    }
    let known: Vec<(String, String)> = VERSIONS.map(|(path, line)| (path.to_owned(), line.to_owned())).to_vec();
    assert_eq!(found, known, "if the format of a row has changed, increase FORMAT in shared_log.rs, too, and correct this list");
}
