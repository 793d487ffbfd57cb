//! Dependency directions: `base ← vocab ← engine ← features ← surfaces ← app, operations, workers`.

use super::none;
use super::source::{Source, has_word, sources};

const LAYERS: [&[&str]; 6] =
    [&["base"], &["vocab"], &["engine"], &["features"], &["surfaces"], &["app", "operations", "workers"]];

/// Names that only these files may use.
const OWNERS: [(&str, &[&str]); 10] = [
    ("redb", &["src/engine/store/"]),
    ("tantivy", &["src/engine/search/"]),
    ("minijinja", &["src/engine/render/"]),
    ("mrml", &["src/engine/render/"]),
    ("takumi", &["src/engine/render/"]),
    ("takumi_pdf", &["src/engine/render/"]),
    ("hyper", &["src/surfaces/http/", "src/engine/fetch/"]),
    ("hyper_util", &["src/surfaces/http/", "src/engine/fetch/"]),
    ("bincode", &["src/engine/store/"]),
    ("clap", &["src/surfaces/cli/"]),
];

/// OpenAPI keywords, which only its writer may use.
const OPENAPI_WORDS: [&str; 4] = ["operationId", "requestBody", "securitySchemes", "\"in\": \"query\""];

fn layer(name: &str) -> Option<usize> {
    LAYERS.iter().position(|names| names.contains(&name))
}

/// The features, in order of dependence.
fn features(all: &[Source]) -> Vec<String> {
    let list = all.iter().find(|source| source.path == "src/features/mod.rs").expect("there are features");
    let names = list.shipped.lines().filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
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
                if source.shipped.contains(&format!("{other}::{inside}")) && !is_own(&source.shipped, other, inside, &order[own])
                {
                    findings.push(format!("{} names {other}::{inside} ({index})", source.path));
                }
            }
        }
    }
    none("a feature reaches into another", findings);
}

/// Returns whether a path is inside the feature itself: `contacts::tags::store` is part of contacts, even if there is also a feature
/// `tags`.
fn is_own(code: &str, other: &str, inside: &str, own: &str) -> bool {
    let what = format!("{other}::{inside}");
    code.match_indices(&what).all(|(at, _)| code[..at].ends_with(&format!("{own}::")) || code[..at].ends_with("super::"))
}

#[test]
fn surfaces_do_not_use_the_store() {
    let mut findings = Vec::new();
    for source in sources(&["src"]).iter().filter(|source| source.layer() == "surfaces") {
        for (line, path) in source.paths() {
            let is_store = path.starts_with(&["engine".into(), "store".into()]);
            if is_store || path.first().is_some_and(|name| name == "features") {
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
        if source.path != "src/engine/api/openapi.rs" {
            let known = OPENAPI_WORDS.iter().filter(|word| source.text.contains(*word));
            findings.extend(known.map(|word| format!("{} knows a word of OpenAPI: {word}", source.path)));
        }
    }
    none("a library is named outside its home", findings);
}
