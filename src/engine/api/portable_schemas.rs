//! Rewrites schemas of the OpenAPI document so that code generators understand them. The rewritten schemas allow the same values.
//!
//! Generators such as openapi-generator read only some keywords of JSON Schema. They turn other keywords into types that do not compile or
//! that reject valid values, and ignore `if` and `not`.

use serde_json::{Map, Value, json};

/// Rewrites all schemas within `part`.
pub fn rewrite(part: &mut Value) {
    match part {
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                match (name.as_str(), member) {
                    ("example" | "examples" | "default" | "const" | "enum", _) => {}
                    // Field names are not keywords: even a field with the name `default` or `enum` has a schema to rewrite.
                    ("properties", Value::Object(fields)) => fields.values_mut().for_each(rewrite_field),
                    (_, member) => rewrite(member),
                }
            }
            leave_out_empty_default(members);
            join_constants(members);
            separate_conditions(members);
            state_integer_size(members);
        }
        Value::Array(items) => items.iter_mut().for_each(rewrite),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn rewrite_field(field: &mut Value) {
    // Generators have no type that contains only `null`.
    if *field == json!({ "type": "null" }) {
        *field = json!({ "type": ["string", "null"], "const": null });
    }
    rewrite(field);
}

/// Removes a default that means the same as an absent field. For such a default, generators write code that does not compile.
fn leave_out_empty_default(members: &mut Map<String, Value>) {
    if members.get("default").is_some_and(|default| [json!(null), json!([]), json!({})].contains(default)) {
        members.remove("default");
    }
}

/// Turns a choice of constant strings into one enumeration. Generators create no type for a choice with a default.
fn join_constants(members: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = members.get("oneOf") else { return };
    let (mut words, mut descriptions) = (Vec::new(), Vec::new());
    for choice in choices {
        let own: &[Value] = match (&choice["const"], &choice["enum"]) {
            (word @ Value::String(_), _) => std::slice::from_ref(word),
            (_, Value::Array(own)) if choice["type"] == "string" => own,
            _ => return,
        };
        words.extend_from_slice(own);
        descriptions.extend(own.iter().map(|_| choice["description"].as_str().unwrap_or_default().to_owned()));
    }
    members.remove("oneOf");
    members.insert("type".into(), "string".into());
    members.insert("enum".into(), words.into());
    if descriptions.iter().any(|description| !description.is_empty()) {
        members.insert("x-enum-descriptions".into(), descriptions.into());
    }
}

/// Rewrites alternatives as `if … else false` if they only state conditions on an object's fields, because generators would create a type
/// for each alternative.
fn separate_conditions(members: &mut Map<String, Value>) {
    let has_type = ["type", "properties", "$ref"].iter().any(|name| members.contains_key(*name));
    if !has_type || members.contains_key("if") {
        return;
    }
    let is_condition = |one: &Value| ["type", "$ref", "const", "enum"].iter().all(|name| one.get(*name).is_none());
    let is_list = |name: &&str| members.get(*name).and_then(Value::as_array).is_some_and(|all| all.iter().all(is_condition));
    let Some(name) = ["anyOf", "allOf"].into_iter().find(is_list) else { return };
    let conditions = members.remove(name).unwrap_or_default();
    members.insert("if".into(), json!({ name: conditions }));
    members.insert("else".into(), false.into());
}

/// Sets an integer's format, which states whether 32 bits are enough. Generators assume 32 bits for integers without a format, and for
/// formats that are not part of OpenAPI, such as `uint64`.
fn state_integer_size(members: &mut Map<String, Value>) {
    let is_integer = match members.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "integer"),
        kind => kind.is_some_and(|kind| kind == "integer"),
    };
    if is_integer {
        let is_small = |name: &str| members.get(name).and_then(Value::as_i64).is_some_and(|limit| i32::try_from(limit).is_ok());
        let format = if is_small("minimum") && is_small("maximum") { "int32" } else { "int64" };
        members.insert("format".into(), format.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(mut schema: Value) -> Value {
        rewrite(&mut schema);
        schema
    }

    #[test]
    fn generators_get_enumerations_conditions_and_sizes_that_they_understand() {
        let choice = json!({ "oneOf": [{ "type": "string", "enum": ["a", "b"] }, { "const": "c", "type": "string", "description": "C." }] });
        assert_eq!(
            rewritten(choice),
            json!({ "type": "string", "enum": ["a", "b", "c"], "x-enum-descriptions": ["", "", "C."] })
        );
        let object = json!({
            "type": "object",
            "properties": { "default": { "type": "integer", "minimum": 0, "format": "uint64" }, "error": { "type": "null" } },
            "anyOf": [{ "required": ["default"] }, { "required": ["error"] }],
            "default": {},
        });
        assert_eq!(
            rewritten(object),
            json!({
                "type": "object",
                "properties": {
                    "default": { "type": "integer", "minimum": 0, "format": "int64" },
                    "error": { "type": ["string", "null"], "const": null },
                },
                "if": { "anyOf": [{ "required": ["default"] }, { "required": ["error"] }] },
                "else": false,
            })
        );
        let small = json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 255, "format": "uint8", "default": null });
        assert_eq!(rewritten(small), json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 255, "format": "int32" }));
    }

    #[test]
    fn a_rewritten_schema_allows_the_same_values() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": ["string", "null"], "pattern": r"^[^\x00-\x1f\x7f-\x9f]*$" },
                "file": { "type": "string", "minLength": 1 },
                "kind": { "oneOf": [{ "const": "x" }, { "const": "y" }] },
                "none": { "type": "null" },
            },
            "anyOf": [{ "required": ["name"] }, { "required": ["file"] }, { "properties": { "kind": { "const": "x" } } }],
        });
        let before = jsonschema::validator_for(&schema).expect("the schema is valid");
        let after = jsonschema::validator_for(&rewritten(schema)).expect("the schema is valid");
        let mut results = Vec::new();
        for value in [
            json!({ "name": "Ünal" }),
            json!({ "name": null }),
            json!({ "name": "a\u{85}" }),
            json!({ "name": "a\u{7f}" }),
            json!({ "file": "" }),
            json!({ "file": "x" }),
            json!({ "kind": "x", "none": null }),
            json!({ "kind": "y", "name": "a", "none": "a" }),
            json!({ "kind": "y" }),
            json!({ "kind": "z", "name": "a" }),
            json!([]),
        ] {
            assert_eq!(before.is_valid(&value), after.is_valid(&value), "{value}");
            results.push(after.is_valid(&value));
        }
        assert_eq!(results, [true, true, false, false, false, true, true, false, false, false, false]);
    }
}
