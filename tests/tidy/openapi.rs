//! The OpenAPI document: a snapshot for reviewing changes, and checks that apply to any table.

use std::collections::BTreeSet;
use std::fs;

use mailmill::engine::api::{Access, openapi};
use mailmill::operations::OPERATIONS;
use serde_json::Value;

use super::none;
use super::source::root;

fn document() -> Value {
    openapi::document(OPERATIONS, None)
}

#[test]
fn the_document_matches_the_reviewed_snapshot() {
    let path = root().join("tests/snapshots/openapi.json");
    let now = format!("{:#}\n", document());
    if std::env::var_os("SNAPSHOTS").is_some_and(|word| word == "write") {
        fs::write(&path, &now).expect("the snapshot can be written");
    }
    let then = fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().zip(then.lines().chain(std::iter::repeat(""))).enumerate().find(|(_, (now, then))| now != then);
    let place = differs.map(|(line, (now, then))| format!("line {}:\n- {then}\n+ {now}", line + 1));
    let hint = "the API changed; if that was intended, run SNAPSHOTS=write cargo test --test tidy and read the difference";
    assert!(now == then, "{hint}\n{}", place.unwrap_or_default());
}

#[test]
fn every_network_operation_is_in_the_document_once_per_path() {
    let document = document();
    let mut ids = BTreeSet::new();
    for entry in OPERATIONS {
        let visible = entry.spec.access != Access::Operator && entry.media.documented;
        for path in std::iter::once(&entry.spec.path).chain(entry.spec.aliases) {
            let operation = &document["paths"][*path][entry.spec.verb.name().to_ascii_lowercase()];
            assert_eq!(operation.is_object(), visible, "{} {path}", entry.spec.id);
            if visible {
                let id = operation["operationId"].as_str().expect("an id").to_owned();
                assert!(ids.insert(id.clone()), "{id} is used twice");
                assert!(operation["responses"][entry.status.to_string()].is_object(), "{id} succeeds");
            }
        }
    }
}

/// Words that cannot be method names in Python or JavaScript.
const RESERVED: [&str; 14] = [
    "as", "class", "continue", "default", "export", "for", "from", "function", "global", "import", "new", "pass", "return",
    "with",
];

#[test]
fn every_client_name_is_usable_and_belongs_to_one_operation() {
    let names: Vec<&str> = OPERATIONS.iter().filter_map(|entry| entry.spec.client_name()).collect();
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let mut found = Vec::new();
    for name in &names {
        let words: Vec<&str> = name.split('.').collect();
        if !(2..=3).contains(&words.len()) || words.iter().any(|word| !is_word(word) || RESERVED.contains(word)) {
            found.push(format!("{name} is not the name of a method"));
        }
        if names.iter().filter(|other| *other == name).count() > 1 {
            found.push(format!("{name} is the name of two operations"));
        }
        if names.iter().any(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))) {
            found.push(format!("{name} is both a method and a resource"));
        }
    }
    none("names that clients cannot have", found);
}

#[test]
fn every_reference_resolves_and_every_component_is_used() {
    let document = document();
    let mut references = BTreeSet::new();
    walk(&document, &mut |value| {
        if let Some(at) = value.get("$ref").and_then(Value::as_str) {
            references.insert(at.to_owned());
        }
    });
    let lost = references.iter().filter(|at| document.pointer(at.trim_start_matches('#')).is_none()).cloned().collect();
    none("references to nothing", lost);
    let components = document["components"].as_object().expect("components");
    let names = components.iter().filter(|(kind, _)| *kind != "securitySchemes").flat_map(|(kind, all)| {
        all.as_object().expect("named components").keys().map(move |name| format!("#/components/{kind}/{name}"))
    });
    none("components without use", names.filter(|name| !references.contains(name)).collect());
}

#[test]
fn every_schema_has_a_unique_name() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    // Types with the same name get a number, which depends on the order of the table.
    let numbered = schemas.keys().filter(|name| name.ends_with(|letter: char| letter.is_ascii_digit())).cloned();
    none("schemas named by a number: give their types other names by #[schemars(rename = \"…\")]", numbered.collect());
}

/// Components that most APIs have.
const STANDARD: [&str; 3] = ["Error", "Metadata", "Pagination"];

/// Generated clients make classes of the components, so a name with a single word must be a word of the glossary.
#[test]
fn every_component_has_the_name_of_a_thing() {
    let glossary = fs::read_to_string(root().join("assets/docs/glossary.md")).expect("the glossary");
    let cells = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let words: BTreeSet<String> = cells.flat_map(|cell| cell.split(',')).map(|word| word.trim().to_lowercase()).collect();
    let is_known = |name: &str| STANDARD.contains(&name) || words.contains(&name.to_lowercase());
    let document = document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    let single = schemas.keys().filter(|name| name.chars().filter(|letter| letter.is_uppercase()).count() < 2);
    none("components whose names say too little", single.filter(|name| !is_known(name)).cloned().collect());
}

#[test]
fn every_schema_is_valid() {
    let mut findings = Vec::new();
    let document = document();
    let mut check = |schema: &Value| {
        if let Err(error) = jsonschema::meta::validate(schema) {
            findings.push(format!("{error} in {schema}"));
        }
    };
    document["components"]["schemas"].as_object().expect("schemas").values().for_each(&mut check);
    walk(&document["paths"], &mut |value| {
        if let Some(schema) = value.get("schema") {
            check(schema);
        }
    });
    none("schemas that are none", findings);
}

/// The response fields that are `null` if they have no value. All other fields are omitted in this case.
const NULLABLE: [&str; 7] = [
    "BulkProgress.result",
    "BulkProgress.error",
    "BulkProgress.completedAt",
    "ContactView.phone",
    "LogosView.primary",
    "LogosView.secondary",
    "LogosView.favicon",
];

#[test]
fn no_response_field_is_null_except_the_declared_ones() {
    let document = document();
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    walk(&document["paths"], &mut |operation| {
        if let Some(Value::Object(responses)) = operation.get("responses") {
            responses.values().for_each(|response| nullable(&document, response, "answer", &mut seen, &mut found));
        }
    });
    // `answer.error` belongs to the envelope.
    found.remove("answer.error");
    assert_eq!(found, NULLABLE.map(str::to_owned).into());
}

/// Collects the fields that may be null within a response schema, by their type.
fn nullable(document: &Value, value: &Value, place: &str, seen: &mut BTreeSet<String>, found: &mut BTreeSet<String>) {
    let is_null = |schema: &Value| match &schema["type"] {
        Value::String(kind) => kind == "null",
        Value::Array(kinds) => kinds.len() == 2 && kinds.iter().any(|kind| kind == "null"),
        _ => false,
    };
    match value {
        Value::Object(members) => {
            if let Some(at) = members.get("$ref").and_then(Value::as_str)
                && seen.insert(at.to_owned())
            {
                let target = document.pointer(at.trim_start_matches('#')).expect("references lead somewhere");
                nullable(document, target, at.rsplit('/').next().unwrap_or_default(), seen, found);
            }
            // Alternatives declare a field as null to require its absence.
            let is_alternative = !members.contains_key("type");
            for (name, field) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let choices = field["anyOf"].as_array().into_iter().flatten();
                if !is_alternative && (is_null(field) || choices.into_iter().any(is_null)) {
                    found.insert(format!("{place}.{name}"));
                }
            }
            for (_, member) in members.iter().filter(|(name, _)| !matches!(name.as_str(), "example" | "examples")) {
                nullable(document, member, place, seen, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| nullable(document, item, place, seen, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_list_with_a_total_has_a_top_level_count() {
    let document = document();
    let mut findings = Vec::new();
    for (path, operations) in document["paths"].as_object().expect("paths") {
        let answer = &operations["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let data = &answer["properties"]["data"];
        let data = data["$ref"].as_str().and_then(|at| document.pointer(at.trim_start_matches('#'))).unwrap_or(data);
        let is_collection = |shape: &Value| {
            let fields = &shape["properties"];
            let has_array = fields.as_object().is_some_and(|fields| fields.values().any(|field| field["type"] == "array"));
            shape["type"] == "array" || (has_array && fields.get("total").is_some())
        };
        // A dry run and a series of days are not lists of the account's objects.
        let is_list = [data, &data["oneOf"][0]].into_iter().any(is_collection) && !path.ends_with("/dry-run");
        let has_count = answer["required"].as_array().is_some_and(|names| names.iter().any(|name| name == "count"));
        if is_list != has_count {
            findings.push(path.clone());
        }
    }
    none("lists without a count, or a count without a list", findings);
}

#[test]
fn every_pattern_is_anchored_at_both_ends() {
    let mut findings = Vec::new();
    walk(&document(), &mut |value| {
        if let Some(pattern) = value.get("pattern").and_then(Value::as_str)
            && !(pattern.starts_with('^') && pattern.ends_with('$') || pattern.ends_with("$)") && pattern.starts_with("^("))
        {
            findings.push(pattern.to_owned());
        }
    });
    none("patterns that accept what surrounds a match", findings);
}

#[test]
fn every_default_is_valid_in_its_schema() {
    let document = document();
    let mut findings = Vec::new();
    walk(&document, &mut |value| {
        let Some(default) = value.get("default").filter(|_| value.get("type").is_some() || value.get("$ref").is_some()) else {
            return;
        };
        let whole = serde_json::json!({ "allOf": [value], "components": { "schemas": document["components"]["schemas"] } });
        let validator = jsonschema::options().should_validate_formats(true).build(&whole).expect("the schema is one");
        if !validator.is_valid(default) {
            findings.push(format!("{default}: {value}"));
        }
    });
    none("defaults that their own schema refuses", findings);
}

/// Visits every object within `value`.
fn walk(value: &Value, see: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(members) => {
            see(value);
            members.values().for_each(|member| walk(member, see));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
