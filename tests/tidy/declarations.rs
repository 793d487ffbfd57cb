//! Every operation's declaration, checked against the rules and against itself.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;

use http::StatusCode;
use mailmill::base::clock::Timestamp;
use mailmill::engine::api::input::Arguments;
use mailmill::engine::api::response::{Envelope, RequestId};
use mailmill::engine::api::{Entry, Media, openapi};
use mailmill::operations::OPERATIONS;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::none;
use super::source::{files, root, sources};

pub const ENVELOPE: Envelope =
    Envelope { timestamp: Timestamp(1_767_225_600_000), request: RequestId { boot: 1, number: 1 }, keeps_nulls: false };

/// Returns a standalone schema created by `of`.
fn standalone(settings: SchemaSettings, of: impl FnOnce(&mut SchemaGenerator) -> schemars::Schema) -> Value {
    let mut generator = settings.with(|settings| settings.definitions_path = "/components/schemas".into()).into_generator();
    let schema = of(&mut generator).to_value();
    let mut schemas = openapi::document(OPERATIONS, None)["components"]["schemas"].take();
    for (name, definition) in generator.take_definitions(true) {
        schemas[name] = definition;
    }
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "allOf": [schema], "components": { "schemas": schemas } })
}

pub fn input_schema(entry: &Entry) -> Value {
    standalone(SchemaSettings::draft2020_12().for_deserialize(), entry.input)
}

fn output_schema(entry: &Entry) -> Value {
    let mut schema = standalone(SchemaSettings::draft2020_12().for_serialize(), entry.output);
    openapi::leave_out_nulls(&mut schema);
    schema
}

/// Returns the errors of `value` against `schema`.
pub fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).expect("the schema is one");
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn failures_refer_to_existing_operations() {
    let mut findings = Vec::new();
    let mut seen = 0;
    for source in sources(&["src/features"]) {
        for (at, _) in source.text.match_indices(".see(\"") {
            let mut texts = source.text[at..].split('"');
            let (id, between, hint) =
                (texts.nth(1).unwrap_or_default(), texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
            seen += 1;
            let Some(entry) = OPERATIONS.iter().find(|entry| entry.spec.id == id) else {
                findings.push(format!("{}: no operation has the ID {id}", source.path));
                continue;
            };
            // Check only hints that are literals, which directly follow the comma. Hints with values are in variables.
            let (verb, path) = (entry.spec.verb.name(), entry.spec.path);
            if between.trim() == "," && !hint.starts_with(&format!("{verb} {path} ")) {
                findings.push(format!("{}: \"{hint}\" is not {verb} {path}", source.path));
            }
        }
    }
    assert!(seen > 10, "failures refer to operations");
    none("a failure refers to another operation than it names", findings);
}

#[test]
fn an_id_matches_its_file_and_module() {
    let mut findings = Vec::new();
    let table = fs::read_to_string(root().join("src/operations.rs")).expect("the table of operations");
    for entry in OPERATIONS {
        let id = entry.spec.id;
        let Some((noun, verb)) = id.split_once('.') else {
            findings.push(format!("{id} is not noun.verb"));
            continue;
        };
        let file = root().join(format!("src/features/{noun}/ops/{verb}.rs"));
        match fs::read_to_string(&file) {
            Ok(text) if text.contains(&format!("\"{id}\"")) => {}
            Ok(_) => findings.push(format!("{} does not declare {id}", file.display())),
            Err(_) => findings.push(format!("{id} is not at {}", file.display())),
        }
        if !table.contains(&format!("{noun}::ops::{verb}::")) {
            findings.push(format!("{id} is not in the table from its own module"));
        }
        if OPERATIONS.iter().filter(|other| other.spec.id == id).count() != 1 {
            findings.push(format!("{id} is in the table more than once"));
        }
    }
    none("an operation's id, file and row disagree", findings);
}

#[test]
fn every_operation_file_is_in_the_table() {
    let mut findings = Vec::new();
    for path in files(&root().join("src/features")) {
        let parts: Vec<String> = path.iter().rev().take(3).map(|part| part.to_string_lossy().into_owned()).collect();
        let [file, folder, noun] = parts.as_slice() else { continue };
        let Some(verb) = file.strip_suffix(".rs").filter(|verb| folder == "ops" && *verb != "mod") else { continue };
        if !OPERATIONS.iter().any(|entry| entry.spec.id == format!("{noun}.{verb}")) {
            findings.push(format!("{noun}.{verb}"));
        }
    }
    none("operations with a file that are not in the table", findings);
}

#[test]
fn every_operation_is_described() {
    let mut findings = Vec::new();
    for entry in OPERATIONS {
        let spec = entry.spec;
        if spec.summary.is_empty() || spec.summary.ends_with('.') || spec.summary.len() > 80 {
            findings.push(format!("{}: its summary is not a short line: {:?}", spec.id, spec.summary));
        }
        if !spec.about.is_empty() && !spec.about.ends_with('.') {
            findings.push(format!("{}: its description is not a sentence", spec.id));
        }
        if StatusCode::from_u16(entry.status).is_err() {
            findings.push(format!("{}: {} is not a status", spec.id, entry.status));
        }
        let names: Vec<&str> = spec.path_names().collect();
        for alias in spec.aliases {
            let others: Vec<&str> = alias.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            if others != names {
                findings.push(format!("{}: {alias} has other names than {}", spec.id, spec.path));
            }
        }
    }
    none("incomplete declarations", findings);
}

#[test]
fn every_example_parses_and_matches_its_schema() {
    let mut findings = Vec::new();
    for entry in OPERATIONS {
        let spec = entry.spec;
        let (input, _) = (entry.example)(&ENVELOPE);
        let form = matches!(entry.media.takes, mailmill::engine::api::operation::Takes::Form(_));
        let mut rest = input.as_object().cloned().unwrap_or_else(|| panic!("{}: the example is not an object", spec.id));
        let mut path = Vec::new();
        for name in spec.path_names() {
            let Some(value) = rest.shift_remove(name) else {
                findings.push(format!("{}: the example lacks {name}", spec.id));
                continue;
            };
            path.push((name, Cow::Owned(text(&value))));
        }
        let pairs: Vec<(String, String)> = rest.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        let query = if spec.verb.has_body() { String::new() } else { serde_urlencoded::to_string(pairs).expect("pairs of text") };
        let body = if form { "{}".to_owned() } else { Value::Object(rest).to_string() };
        let arguments = Arguments { spec, path, query: &query, body: body.as_bytes(), given: None };
        if let Err(failure) = (entry.reads)(&arguments) {
            findings.push(format!("{}: {}", spec.id, failure.text()));
        }
        if !form {
            findings.extend(
                complaints(&input_schema(entry), &input).into_iter().map(|complaint| format!("{}: {complaint}", spec.id)),
            );
        }
    }
    none("invalid examples", findings);
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

#[test]
fn every_example_response_matches_its_schema() {
    let mut findings = Vec::new();
    for entry in OPERATIONS.iter().filter(|entry| entry.media.gives == Media::JSON_TYPE) {
        let (_, output) = (entry.example)(&ENVELOPE);
        let schema = output_schema(entry);
        // A raw operation without a response type has no schema.
        if schema["allOf"] == json!([true]) {
            continue;
        }
        findings.extend(complaints(&schema, &output).into_iter().map(|complaint| format!("{}: {complaint}", entry.spec.id)));
    }
    none("responses that do not match their schema", findings);
}

#[test]
fn no_literal_path_segment_can_be_a_parameter_value_there() {
    let mut findings = Vec::new();
    let paths: Vec<&str> =
        OPERATIONS.iter().flat_map(|entry| entry.spec.aliases.iter().chain([&entry.spec.path])).copied().collect();
    for entry in OPERATIONS {
        let spec = entry.spec;
        for (end, _) in spec.path.match_indices("/{") {
            let name = spec.path[end + 2..].split('}').next().expect("a name in braces");
            let words = paths.iter().filter_map(|path| path.strip_prefix(&spec.path[..=end])?.split('/').next());
            let words: BTreeSet<&str> = words.filter(|word| !word.starts_with('{')).collect();
            let Some(schema) = (!words.is_empty()).then(|| input_schema(entry)) else { continue };
            let (mut input, _) = (entry.example)(&ENVELOPE);
            for word in words {
                input[name] = word.into();
                if complaints(&schema, &input).is_empty() {
                    findings.push(format!("{}: {word} is taken for {name}", spec.id));
                }
            }
        }
    }
    none("words of paths that can be ids", findings);
}

#[test]
fn every_input_object_refuses_unknown_fields() {
    let mut findings = Vec::new();
    for entry in OPERATIONS {
        let mut schema = standalone(SchemaSettings::draft2020_12().for_deserialize(), entry.input);
        // Takes the schema of the input itself; the definitions stay in `schema`.
        let root = schema["allOf"][0].take();
        if entry.spec.speaks_oauth {
            // OAuth prescribes that unknown fields are ignored, and the schema says so.
            let target = root["$ref"].as_str().and_then(|at| schema.pointer(at.trim_start_matches('#'))).unwrap_or(&root);
            if target["additionalProperties"] != Value::Bool(true) {
                findings.push(format!("{}: not declared as open", entry.spec.id));
            }
            continue;
        }
        let mut seen = Vec::new();
        open_objects(&root, &schema, entry.spec.id, &mut seen, &mut findings);
    }
    none("objects that take whatever comes", findings);
}

/// Returns the fields that alternatives name, including nested alternatives.
fn fields_of(choices: &Value) -> Vec<String> {
    let choices = choices.as_array().into_iter().flatten();
    let of = |choice: &Value| {
        let own = choice["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned());
        let required = choice["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned));
        let inner = ["anyOf", "allOf"].into_iter().flat_map(|name| fields_of(&choice[name]));
        own.chain(required).chain(inner).collect::<Vec<_>>()
    };
    choices.flat_map(of).collect()
}

fn open_objects(schema: &Value, all: &Value, place: &str, seen: &mut Vec<String>, findings: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") && members.get("additionalProperties") != Some(&Value::Bool(false)) {
                findings.push(place.to_owned());
            }
            if let Some(at) = members.get("$ref").and_then(Value::as_str)
                && !seen.iter().any(|other| other == at)
            {
                seen.push(at.to_owned());
                let target = all.pointer(at.trim_start_matches('#')).unwrap_or_else(|| panic!("{place}: {at} is nowhere"));
                open_objects(target, all, &format!("{place} > {at}"), seen, findings);
            }
            // Next to the full list of fields, alternatives only add requirements: they name no other fields.
            let target = members.get("$ref").and_then(Value::as_str).and_then(|at| all.pointer(at.trim_start_matches('#')));
            let is_closed = target.is_some() || members.get("additionalProperties") == Some(&Value::Bool(false));
            let known = &target.unwrap_or(schema)["properties"];
            let is_alternatives = |name: &str| is_closed && matches!(name, "anyOf" | "allOf");
            let named = members.iter().filter(|(name, _)| is_alternatives(name)).flat_map(|(_, choices)| fields_of(choices));
            let strange = named.filter(|name| known.get(name).is_none());
            findings.extend(strange.map(|name| format!("{place}: {name}")));
            for (name, member) in members.iter().filter(|(name, _)| !is_alternatives(name)) {
                // Under `properties` the keys are field names, and a field may have any name.
                match member {
                    Value::Object(fields) if name == "properties" => {
                        fields.values().for_each(|field| open_objects(field, all, place, seen, findings));
                    }
                    _ => open_objects(member, all, place, seen, findings),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| open_objects(item, all, place, seen, findings)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
