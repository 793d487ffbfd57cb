//! Shortens the schemas of tools, because most assistants load all of them into the model's context.
//!
//! An input schema keeps what a model needs to write the input: names, types, allowed values, and one or two sentences about each
//! field. The operation itself checks lengths, patterns and conditions between fields, and its errors name the field. An output schema
//! keeps only the names and types of the fields in `data`, because a model can read the result itself. Every schema has one type, or
//! alternatives with one type each, because some clients support no other form.

use serde_json::{Map, Value, json};

use crate::engine::api::flat_schemas::{DEFINITIONS, FlatInput};

/// The maximum length of a field's description in characters. A longer first sentence is kept whole.
const FIELD_CHARACTERS: usize = 160;
/// The maximum length, in characters, of a tool's description after its summary. A longer first sentence is kept whole.
const TOOL_CHARACTERS: usize = 400;
/// The maximum number of allowed values that a schema lists. Longer lists, such as the time zones, are omitted, because models know the
/// values.
const WORDS_MAX: usize = 60;
/// The highest numeric limit that is kept. Higher limits only reflect how the number is stored.
const LIMIT_MAX: f64 = 1e9;
/// Fields that many tools have. Their descriptions are omitted, because their names or `get_capabilities` explain them.
const COMMON: [&str; 4] = ["projectId", "limit", "offset", "sortOrder"];

/// Returns the first sentences of `text`: at least one, and more only up to `characters` in total.
fn beginning(text: &str, characters: usize) -> String {
    let words: Vec<String> = text.split_whitespace().map(|word| word.replace('`', "")).collect();
    let mut kept = String::new();
    let mut sentence = String::new();
    for (index, word) in words.iter().enumerate() {
        sentence.push_str(if sentence.is_empty() { "" } else { " " });
        sentence.push_str(word);
        if word.ends_with(['.', ';', '?']) || index + 1 == words.len() {
            if !kept.is_empty() && kept.chars().count() + 1 + sentence.chars().count() > characters {
                break;
            }
            kept.push_str(if kept.is_empty() { "" } else { " " });
            kept.push_str(&std::mem::take(&mut sentence));
        }
    }
    match kept.strip_suffix(';') {
        Some(kept) => format!("{kept}."),
        None => kept,
    }
}

/// Returns a tool's description: the summary, and the start of `about`.
pub fn description(summary: &str, about: &str) -> String {
    match about.is_empty() {
        true => format!("{summary}."),
        false => format!("{summary}. {}", beginning(about, TOOL_CHARACTERS)),
    }
}

/// Shortens an operation's input schema. `keeps_null` states whether `null` has a different meaning from an absent field, as it does in
/// operations that change an object.
pub fn input(flat: FlatInput, keeps_null: bool) -> FlatInput {
    let shortener = Shortener { keeps_null };
    let mut properties = Map::new();
    for (name, schema) in flat.properties {
        let mut short = shortener.shortened(&schema);
        if COMMON.contains(&name.as_str()) {
            short.remove("description");
        }
        properties.insert(name, short.into());
    }
    let mut definitions = Map::new();
    let mut waiting = Vec::new();
    properties.values().for_each(|schema| references(schema, &mut waiting));
    while let Some(name) = waiting.pop() {
        if !definitions.contains_key(&name) {
            let mut definition = shortener.shortened(&flat.definitions[&name]);
            // The definition's description is removed, because the fields that refer to the definition have their own.
            definition.remove("description");
            let definition = definition.into();
            references(&definition, &mut waiting);
            definitions.insert(name, definition);
        }
    }
    FlatInput { properties, required: flat.required, definitions }
}

/// Adds to `found` the names of the definitions that a schema refers to.
fn references(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(definition_name));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn definition_name(reference: &Value) -> Option<String> {
    reference.as_str().and_then(|at| at.strip_prefix(DEFINITIONS)).map(str::to_owned)
}

struct Shortener {
    keeps_null: bool,
}

impl Shortener {
    fn shortened(&self, schema: &Value) -> Map<String, Value> {
        let mut short = match schema["$ref"].as_str() {
            Some(reference) => Map::from_iter([("$ref".to_owned(), reference.into())]),
            None => self.shape(schema),
        };
        if let Some(text) = schema["description"].as_str() {
            short.insert("description".into(), beginning(text, FIELD_CHARACTERS).into());
        }
        let default = &schema["default"];
        if default.is_string() || default.is_number() || default.is_boolean() {
            short.insert("default".into(), default.clone());
        }
        short
    }

    fn shape(&self, schema: &Value) -> Map<String, Value> {
        // If a schema has fields, its alternatives are only conditions between the fields. They are omitted, because the operation checks
        // them itself.
        if !schema["properties"].is_object()
            && let Some(branches) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())
        {
            return self.alternatives(branches);
        }
        match &schema["type"] {
            Value::Array(kinds) => {
                let others: Vec<&Value> = kinds.iter().filter(|kind| *kind != "null").collect();
                match others.as_slice() {
                    [only] if !self.keeps_null => self.typed(schema, only),
                    [only] => any_of([self.typed(schema, only), kind("null")]),
                    _ => any_of(kinds.iter().filter_map(Value::as_str).map(kind)),
                }
            }
            Value::Null if schema["properties"].is_object() => self.typed(schema, &"object".into()),
            Value::Null => self.typed(schema, &"string".into()),
            only => self.typed(schema, only),
        }
    }

    fn alternatives(&self, branches: &[Value]) -> Map<String, Value> {
        let others: Vec<&Value> = branches.iter().filter(|branch| branch["type"] != "null").collect();
        let allowed: Option<Vec<Value>> =
            others.iter().map(|branch| allowed_values(branch)).collect::<Option<Vec<_>>>().map(|all| all.concat());
        let mut shapes: Vec<Map<String, Value>> = match allowed {
            Some(allowed) => vec![self.typed(&json!({ "enum": allowed }), &"string".into())],
            None => others.iter().map(|branch| self.shortened(branch)).collect(),
        };
        if others.len() < branches.len() && self.keeps_null {
            shapes.push(kind("null"));
        }
        if shapes.len() == 1 { shapes.remove(0) } else { any_of(shapes) }
    }

    /// Returns the shortened schema for values of the type `of`.
    fn typed(&self, schema: &Value, of: &Value) -> Map<String, Value> {
        let mut short = Map::from_iter([("type".to_owned(), of.clone())]);
        let mut keep = |name: &str, value: Value| short.insert(name.to_owned(), value);
        match of.as_str().unwrap_or_default() {
            "object" => {
                if let Some(properties) = schema["properties"].as_object() {
                    let all = properties.iter().map(|(name, schema)| (name.clone(), self.shortened(schema).into()));
                    keep("properties", Value::Object(all.collect()));
                    if schema["required"].as_array().is_some_and(|names| !names.is_empty()) {
                        keep("required", schema["required"].clone());
                    }
                }
                if schema["additionalProperties"].is_object() {
                    keep("additionalProperties", self.shortened(&schema["additionalProperties"]).into());
                }
            }
            "array" => {
                keep("items", self.shortened(&schema["items"]).into());
                if !schema["maxItems"].is_null() {
                    keep("maxItems", schema["maxItems"].clone());
                }
            }
            "integer" | "number" => {
                for name in ["minimum", "maximum"] {
                    if schema[name].as_f64().is_some_and(|limit| limit != 0.0 && limit.abs() < LIMIT_MAX) {
                        keep(name, schema[name].clone());
                    }
                }
            }
            "string" => {
                if let Some(all) = allowed_values(schema).filter(|all| all.len() <= WORDS_MAX) {
                    keep("enum", all.into());
                } else if matches!(schema["format"].as_str(), Some("date" | "date-time")) {
                    keep("format", schema["format"].clone());
                }
            }
            _ => {}
        }
        short
    }
}

/// Returns the allowed values of a schema with `const` or `enum`.
fn allowed_values(schema: &Value) -> Option<Vec<Value>> {
    let all = match &schema["const"] {
        Value::Null => schema["enum"].as_array()?.clone(),
        word => vec![word.clone()],
    };
    all.iter().all(Value::is_string).then_some(all)
}

fn kind(name: &str) -> Map<String, Value> {
    let mut schema = Map::from_iter([("type".to_owned(), name.into())]);
    if name == "array" {
        // Some clients require every array to have a schema for its items.
        schema.insert("items".into(), any_of(["string", "number", "boolean", "object"].map(kind)).into());
    }
    schema
}

fn any_of(schemas: impl IntoIterator<Item = Map<String, Value>>) -> Map<String, Value> {
    let schemas: Vec<Value> = schemas.into_iter().map(Value::Object).collect();
    Map::from_iter([("anyOf".to_owned(), schemas.into())])
}

/// Returns the schema of a result. If `lists_fields` is true, the schema contains the types of the fields; otherwise, it contains only the
/// type of the whole result. `definitions` resolves references in `data`.
pub fn output(data: &Value, definitions: &Map<String, Value>, lists_fields: bool) -> Value {
    let target = resolved(data, definitions);
    let fields = target["properties"].as_object().filter(|_| lists_fields);
    match fields {
        Some(fields) => {
            let types = fields.iter().map(|(name, schema)| (name, types_of(schema, definitions)));
            // A field that may have any type is omitted. Results may still contain it, because they may contain fields that the schema does
            // not list.
            let known = types.filter(|(_, types)| !types.is_empty());
            let known: Map<String, Value> = known.map(|(name, types)| (name.clone(), typed_as(&types))).collect();
            json!({ "type": "object", "properties": known })
        }
        None => typed_as(&types_of(target, definitions)),
    }
}

fn typed_as(types: &[String]) -> Value {
    match types {
        [only] => json!({ "type": only }),
        all => json!({ "anyOf": all.iter().map(|one| json!({ "type": one })).collect::<Vec<_>>() }),
    }
}

/// Returns the types that a value may have; empty if it may have any type.
fn types_of(schema: &Value, definitions: &Map<String, Value>) -> Vec<String> {
    let schema = resolved(schema, definitions);
    let mut found: Vec<String> = match &schema["type"] {
        Value::String(only) => vec![only.clone()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ if schema["properties"].is_object() => vec!["object".into()],
        _ => match schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            Some(branches) => {
                let branches: Vec<Vec<String>> = branches.iter().map(|branch| types_of(branch, definitions)).collect();
                if branches.iter().any(Vec::is_empty) { Vec::new() } else { branches.concat() }
            }
            None => allowed_values(schema).map(|_| vec!["string".into()]).unwrap_or_default(),
        },
    };
    found.sort_unstable();
    found.dedup();
    found
}

/// The maximum number of references that are followed to reach a schema. Real schemas need at most two.
const REFERENCES_MAX: usize = 8;

fn resolved<'a>(mut schema: &'a Value, definitions: &'a Map<String, Value>) -> &'a Value {
    for _ in 0..REFERENCES_MAX {
        match definition_name(&schema["$ref"]).and_then(|name| definitions.get(&name)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_the_first_sentences() {
        assert_eq!(beginning("The `id` of\nthe tag.", 100), "The id of the tag.");
        assert_eq!(beginning("First one. Second one. Third one.", 22), "First one. Second one.");
        assert_eq!(beginning("First one; then another", 5), "First one.");
        assert_eq!(beginning("", 5), "");
        assert_eq!(description("List tags", ""), "List tags.");
    }

    fn short(schema: &Value, keeps_null: bool) -> Value {
        Shortener { keeps_null }.shortened(schema).into()
    }

    #[test]
    fn an_input_keeps_names_types_and_words() {
        let status = json!({ "oneOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "string", "const": "c", "description": "x" }] });
        assert_eq!(short(&status, false), json!({ "type": "string", "enum": ["a", "b", "c"] }));
        let text = json!({ "type": ["string", "null"], "pattern": "^x", "maxLength": 5, "description": "A text." });
        assert_eq!(short(&text, false), json!({ "type": "string", "description": "A text." }));
        assert_eq!(short(&text, true), json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "description": "A text." }));
        let any = short(&json!({ "type": ["null", "string", "array"], "items": { "type": "string" } }), false);
        assert_eq!((&any["anyOf"][0], &any["anyOf"][1]), (&json!({ "type": "null" }), &json!({ "type": "string" })));
        assert_eq!(any["anyOf"][2]["items"]["anyOf"][1], json!({ "type": "number" }), "{any}");
        let filter = json!({
            "type": "object", "additionalProperties": false, "required": ["key"],
            "properties": { "key": { "$ref": "#/$defs/Key", "description": "The key." }, "values": { "type": "array", "maxItems": 3 } },
            "anyOf": [{ "required": ["values"] }],
        });
        assert_eq!(
            short(&filter, false),
            json!({
                "type": "object", "required": ["key"],
                "properties": {
                    "key": { "$ref": "#/$defs/Key", "description": "The key." },
                    "values": { "type": "array", "items": { "type": "string" }, "maxItems": 3 },
                },
            })
        );
    }

    #[test]
    fn an_output_has_the_types_of_its_fields() {
        let definitions = json!({
            "Word": { "oneOf": [{ "type": "string", "const": "a" }] },
            "List": { "type": "object", "properties": {
                "word": { "$ref": "#/$defs/Word" }, "size": { "type": ["integer", "null"] }, "any": {},
                "items": { "type": "array", "items": { "$ref": "#/$defs/Word" } },
            } },
        });
        let definitions = definitions.as_object().expect("an object");
        let data = json!({ "$ref": "#/$defs/List" });
        let whole = output(&data, definitions, true);
        assert_eq!(
            whole,
            json!({ "type": "object", "properties": {
                "word": { "type": "string" }, "size": { "anyOf": [{ "type": "integer" }, { "type": "null" }] }, "items": { "type": "array" },
            } })
        );
        assert_eq!(output(&data, definitions, false), json!({ "type": "object" }));
    }
}
