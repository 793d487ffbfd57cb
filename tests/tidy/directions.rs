//! Dependency directions: `base ← vocab ← engine ← features ← surfaces ← app, operations, workers`.

use std::collections::{BTreeMap, BTreeSet};

use super::none;
use super::source::{Source, has_word, sources};

const LAYERS: [&[&str]; 6] =
    [&["base"], &["vocab"], &["engine"], &["features"], &["surfaces"], &["app", "operations", "workers"]];

/// The parts of the engine, in order of dependence.
const ENGINE: [&str; 20] = [
    "store",
    "tasks",
    "key_locks",
    "admission",
    "recent_log",
    "clients",
    "deliverability",
    "spelling",
    "render",
    "search",
    "fetch",
    "hold",
    "outbox",
    "language_model",
    "mail",
    "settings",
    "backup",
    "access",
    "api",
    "runner",
];

/// Names that may appear only in these places.
const OWNERS: [(&str, &[&str]); 16] = [
    ("redb", &["src/engine/store/"]),
    ("tantivy", &["src/engine/search/"]),
    ("object_store", &["src/engine/backup/", "src/engine/fetch/storage.rs"]),
    ("zstd", &["src/engine/backup/", "src/engine/store/cluster/"]),
    ("tokio_postgres", &["src/engine/store/cluster/"]),
    ("tokio_postgres_rustls", &["src/engine/store/cluster/"]),
    ("minijinja", &["src/engine/render/"]),
    ("mrml", &["src/engine/render/"]),
    ("takumi", &["src/engine/render/"]),
    ("takumi_pdf", &["src/engine/render/"]),
    ("hyper", &["src/surfaces/http/", "src/surfaces/mcp/stdio.rs", "src/surfaces/cli/client/", "src/engine/fetch/"]),
    ("hyper_util", &["src/surfaces/http/", "src/surfaces/mcp/stdio.rs", "src/surfaces/cli/client/", "src/engine/fetch/"]),
    ("rmcp", &["src/surfaces/mcp/"]),
    ("bincode", &["src/engine/store/"]),
    ("clap", &["src/surfaces/cli/"]),
    ("pulldown_cmark", &["src/surfaces/docs/"]),
];

/// OpenAPI keywords, which only its writer and its reader may use.
const OPENAPI_WORDS: [&str; 4] = ["operationId", "requestBody", "securitySchemes", "\"in\": \"query\""];

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&name))
}

/// The features, in order of dependence.
fn features(all: &[Source]) -> Vec<String> {
    let list = all.iter().find(|source| source.path == "src/features/mod.rs").expect("there are features");
    let names = list.shipped.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once("mod "));
    names.map(|(_, name)| name.to_owned()).collect()
}

#[test]
fn imports_run_one_way() {
    let mut findings = Vec::new();
    for source in sources(&["src"]) {
        let Some(own) = layer(source.layer()) else { continue };
        for (line, path) in source.paths() {
            let Some(other) = path.first().and_then(|name| layer(name)) else { continue };
            if other > own {
                findings.push(format!("{}:{line} names {}", source.path, path.join("::")));
            }
        }
    }
    none("a layer names one above it", findings);
}

#[test]
fn features_use_only_earlier_features_and_their_public_modules() {
    let all = sources(&["src"]);
    let order = features(&all);
    let place = |name: &str| order.iter().position(|other| other == name);
    let mut findings = Vec::new();
    for source in all.iter().filter(|source| source.layer() == "features") {
        let module = source.module();
        let Some(own) = module.get(1).and_then(|name| place(name)) else { continue };
        for (line, path) in source.paths().into_iter().filter(|(_, path)| path.first().is_some_and(|name| name == "features")) {
            let Some(other) = path.get(1).and_then(|name| place(name)).filter(|other| *other != own) else { continue };
            if other > own {
                findings.push(format!("{}:{line} names {}, which stands below", source.path, path.join("::")));
            }
        }
        for (index, other) in order.iter().enumerate().filter(|(index, _)| *index != own) {
            for inside in ["ops", "store"] {
                if has_word(&source.shipped, &format!("{other}::{inside}"))
                    && !is_own(&source.shipped, other, inside, &order[own])
                {
                    findings.push(format!("{} names {other}::{inside} ({index})", source.path));
                }
            }
        }
    }
    none("a feature reaches into another", findings);
}

/// Returns whether a path is inside the feature itself: `contacts::ops::topics` is part of contacts, even if there is also a feature
/// `topics`.
fn is_own(code: &str, other: &str, inside: &str, own: &str) -> bool {
    let what = format!("{other}::{inside}");
    code.match_indices(&what).all(|(at, _)| code[..at].ends_with(&format!("{own}::")) || code[..at].ends_with("super::"))
}

#[test]
fn the_engine_imports_in_one_order() {
    let place = |name: &str| ENGINE.iter().position(|other| *other == name);
    let mut findings = Vec::new();
    for source in sources(&["src"]).iter().filter(|source| source.layer() == "engine") {
        let Some(own) = source.module().get(1).copied() else { continue };
        let Some(own) = place(own) else {
            findings.push(format!("{} is not in the list", source.path));
            continue;
        };
        for (line, path) in source.paths().into_iter().filter(|(_, path)| path.first().is_some_and(|name| name == "engine")) {
            if path.get(1).and_then(|name| place(name)).is_some_and(|other| other > own) {
                findings.push(format!("{}:{line} imports {}, which comes later", source.path, path.join("::")));
            }
        }
    }
    none("a part of the engine imports one that comes later", findings);
}

/// Tables that several modules open: single values, each under its own name.
const SHARED_TABLES: [&str; 1] = ["META"];

/// A feature has one store, `store.rs` or the folder `store`, and a table has one owner: a feature, or a part of the engine.
#[test]
fn each_table_is_opened_by_one_owner_and_in_a_feature_by_its_store() {
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut findings = Vec::new();
    for source in sources(&["src"]) {
        let module = source.module();
        let is_feature = source.layer() == "features";
        if is_feature && module.iter().skip(3).any(|name| *name == "store") {
            findings.push(format!("{} is a second store of its feature", source.path));
        }
        for rest in source.shipped.split("Table::new(").skip(1) {
            let Some(name) = rest.strip_prefix("tables::").and_then(|rest| rest.split(')').next()) else {
                if is_feature {
                    findings.push(format!("{} opens a table without naming it as tables::…", source.path));
                }
                continue;
            };
            if is_feature && module.get(2) != Some(&"store") {
                findings.push(format!("{} opens {name} outside the store of its feature", source.path));
            }
            owners.entry(name.to_owned()).or_default().insert(module.iter().take(2).copied().collect::<Vec<_>>().join("/"));
        }
    }
    assert!(owners.len() > 100, "the tables are found");
    let shared = owners.iter().filter(|(name, owners)| owners.len() > 1 && !SHARED_TABLES.contains(&name.as_str()));
    findings.extend(shared.map(|(name, owners)| format!("{name} has several owners: {owners:?}")));
    none("tables opened outside the store of their owner", findings);
}

/// The files that a file imports, directly or through others.
fn reached<'a>(imports: &'a BTreeMap<&str, BTreeSet<String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(imports[next].iter().map(String::as_str).filter(|name| seen.insert(*name)));
    }
    seen
}

/// Files that import each other cannot be read one at a time. A file and its folder count as one.
#[test]
fn no_files_import_each_other_in_a_circle() {
    let all: BTreeMap<String, Source> = sources(&["src"])
        .into_iter()
        .filter(|source| !source.shipped.trim().is_empty())
        .map(|source| (source.module().join("/"), source))
        .collect();
    let file =
        |path: &[String]| (1..=path.len()).rev().map(|length| path[..length].join("/")).find(|name| all.contains_key(name));
    let are_one = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}/")) || b.starts_with(&format!("{a}/"));
    let imports: BTreeMap<&str, BTreeSet<String>> = all
        .iter()
        .map(|(own, source)| {
            let imported = source.paths().into_iter().filter_map(|(_, path)| file(&path));
            (own.as_str(), imported.filter(|other| !are_one(own, other)).collect())
        })
        .collect();
    let mut findings = Vec::new();
    for (own, imported) in &imports {
        let circular = imported.iter().filter(|other| reached(&imports, other).contains(own));
        findings.extend(circular.map(|other| format!("{own} imports {other}, which leads back")));
    }
    none("circular imports", findings);
}

#[test]
fn surfaces_touch_no_store() {
    let mut findings = Vec::new();
    for source in sources(&["src"]).iter().filter(|source| source.layer() == "surfaces") {
        for (line, path) in source.paths() {
            let is_store = path.starts_with(&["engine".into(), "store".into()]);
            let is_feature = path.first().is_some_and(|name| name == "features");
            // Pages refer to operations and their outputs by type. Only the pipeline runs an operation, because only the pipeline
            // has a context.
            let is_page = source.path.starts_with("src/surfaces/dashboard/");
            let names_store = path.iter().any(|name| name.split('_').any(|word| word == "store"));
            if is_store || (is_feature && (!is_page || names_store)) {
                findings.push(format!("{}:{line} names {}", source.path, path.join("::")));
            }
        }
    }
    none("a surface goes round the pipeline", findings);
}

#[test]
fn each_library_has_one_home() {
    let mut findings = Vec::new();
    for source in sources(&["src"]) {
        for (library, homes) in OWNERS {
            let at_home = homes.iter().any(|home| source.path.starts_with(home));
            if !at_home && has_word(&source.shipped, library) {
                findings.push(format!("{} names {library}, whose home is {}", source.path, homes.join(" and ")));
            }
        }
        if !["src/engine/api/openapi.rs", "src/engine/api/flat_schemas.rs"].contains(&source.path.as_str()) {
            let known = OPENAPI_WORDS.iter().filter(|word| source.text.contains(*word));
            findings.extend(known.map(|word| format!("{} knows a word of OpenAPI: {word}", source.path)));
        }
    }
    none("a library is named outside its home", findings);
}
