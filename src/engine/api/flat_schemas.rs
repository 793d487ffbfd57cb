//! Operation schemas for callers that pass one flat object. The schemas are read from the OpenAPI document.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const SCHEMAS: &str = "#/components/schemas/";
/// The prefix of references to a flat schema's definitions.
pub const DEFINITIONS: &str = "#/$defs/";

/// The operations of the OpenAPI document, by ID.
pub struct FlatSchemas<'a> {
    operations: BTreeMap<&'a str, &'a Value>,
    schemas: &'a Map<String, Value>,
}

/// The input of an operation: the fields of the path, the query and the body.
pub struct FlatInput {
    pub properties: Map<String, Value>,
    pub required: Vec<String>,
    /// The schemas that the fields refer to, for `$defs`.
    pub definitions: Map<String, Value>,
}

impl<'a> FlatSchemas<'a> {
    /// Reads a document that [`super::openapi::document`] has generated. Panics if the document has a different structure.
    pub fn new(document: &'a Value) -> Self {
        let paths = document["paths"].as_object().expect("the document has paths");
        let operations = paths.values().filter_map(Value::as_object).flat_map(|methods| methods.values());
        let operations = operations.filter(|operation| operation.get("x-alias-of").is_none());
        let operations = operations.filter_map(|operation| Some((operation["operationId"].as_str()?, operation))).collect();
        let schemas = document["components"]["schemas"].as_object().expect("the document has schemas");
        Self { operations, schemas }
    }

    fn of(&self, operation: &str) -> &'a Value {
        self.operations.get(operation).unwrap_or_else(|| panic!("{operation} is not documented"))
    }

    /// Returns the input of an operation.
    ///
    /// Conditions between fields are left out, because some language models do not accept `anyOf` or `allOf` at the top level of a schema.
    /// The operation itself checks these conditions.
    pub fn input(&self, operation: &str) -> FlatInput {
        let operation = self.of(operation);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            // The parameter for the idempotency key is a reference to a component, so it has no `name` here.
            let Some(name) = parameter["name"].as_str() else { continue };
            let mut schema = parameter["schema"].clone();
            if let Some(about) = parameter.get("description") {
                schema["description"] = about.clone();
            }
            if parameter["required"] == true {
                required.push(name.to_owned());
            }
            properties.insert(name.to_owned(), schema);
        }
        let body = self.resolved(&operation["requestBody"]["content"]["application/json"]["schema"]);
        properties.extend(body["properties"].as_object().cloned().unwrap_or_default());
        let names = body["required"].as_array().into_iter().flatten();
        required.extend(names.filter_map(Value::as_str).map(str::to_owned));
        let mut definitions = Map::new();
        properties.values_mut().for_each(|schema| definitions.extend(self.embed(schema)));
        FlatInput { properties, required, definitions }
    }

    /// Returns the schema of `data` in an operation's response. References in the schema point into the OpenAPI document.
    pub fn data(&self, operation: &str) -> Value {
        let responses = self.of(operation)["responses"].as_object().expect("an operation has responses");
        let success =
            responses.iter().find(|(status, _)| status.starts_with('2')).expect("an operation has a success response").1;
        let data = &self.resolved(&success["content"]["application/json"]["schema"])["properties"]["data"];
        assert!(!data.is_null(), "{operation}: the response has no data");
        data.clone()
    }

    fn resolved(&self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str().and_then(|at| at.strip_prefix(SCHEMAS)) {
            Some(name) => &self.schemas[name],
            None => schema,
        }
    }

    /// Points the references in `schema` to `$defs`, and returns their definitions.
    pub fn embed(&self, schema: &mut Value) -> Map<String, Value> {
        let mut definitions = Map::new();
        let mut waiting = Vec::new();
        redirect(schema, &mut waiting);
        while let Some(name) = waiting.pop() {
            if !definitions.contains_key(&name) {
                let mut definition = self.schemas[&name].clone();
                redirect(&mut definition, &mut waiting);
                definitions.insert(name, definition);
            }
        }
        definitions
    }
}

/// The formats that are kept. Some validators complain about formats that JSON Schema does not define, such as `uint32`.
const FORMATS: [&str; 9] = ["date-time", "date", "time", "duration", "email", "idn-email", "hostname", "uri", "uuid"];

/// Points the references to `$defs`, collects the names of their definitions, and removes examples and the formats that are not in
/// [`FORMATS`].
fn redirect(schema: &mut Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            members.remove("examples");
            if members.get("format").and_then(Value::as_str).is_some_and(|format| !FORMATS.contains(&format)) {
                members.remove("format");
            }
            let name = members.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix(SCHEMAS)).map(str::to_owned);
            if let Some(name) = name {
                members.insert("$ref".into(), format!("{DEFINITIONS}{name}").into());
                found.push(name);
            }
            members.values_mut().for_each(|member| redirect(member, found));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
