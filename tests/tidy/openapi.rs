//! The OpenAPI document: a snapshot to read changes in, and checks that hold for any table.

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
fn the_document_is_as_it_was_reviewed() {
    let path = root().join("tests/snapshots/openapi.json");
    let now = format!("{:#}\n", document());
    if std::env::var_os("SNAPSHOTS").is_some_and(|word| word == "write") {
        fs::write(&path, &now).expect("the snapshot can be written");
    }
    let then = fs::read_to_string(&path).unwrap_or_default();
    let differs = now.lines().zip(then.lines().chain(std::iter::repeat(""))).enumerate().find(|(_, (now, then))| now != then);
    let place = differs.map(|(line, (now, then))| format!("line {}:\n- {then}\n+ {now}", line + 1));
    let hint = "the interface changed; if that was meant, run SNAPSHOTS=write cargo test --test tidy and read the difference";
    assert!(now == then, "{hint}\n{}", place.unwrap_or_default());
}

#[test]
fn every_operation_of_the_network_is_in_the_document_once_per_path() {
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

#[test]
fn every_reference_leads_somewhere_and_every_component_is_referred_to() {
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
fn every_schema_has_a_name_of_its_own() {
    let document = document();
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    // Two types of one name are told apart by a number, which depends on the order of the table.
    let numbered = schemas.keys().filter(|name| name.ends_with(|letter: char| letter.is_ascii_digit())).cloned();
    none("schemas named by a number: give their types other names by #[schemars(rename = \"…\")]", numbered.collect());
}

#[test]
fn every_schema_is_one() {
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

/// Every object within `value`.
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
