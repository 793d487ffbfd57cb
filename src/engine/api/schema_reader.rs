//! Reads the JSON schemas of one operation, for surfaces that list its fields: the command line and the documentation.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use super::operation::{Entry, Takes};

/// The prefix of references to schemas in the same document.
const DEFINITIONS: &str = "#/$defs/";
/// The maximum number of references that are followed in a chain.
const REFERENCES_MAX: usize = 8;

/// The schemas of an operation's input or output, with the definitions that they refer to.
pub struct SchemaReader {
    /// The schema of the input or output and, if the operation takes a form, the schema of the form.
    pub schemas: Vec<Value>,
    definitions: Map<String, Value>,
}

impl SchemaReader {
    /// Reads the input of an operation.
    pub fn input(entry: &Entry) -> Self {
        let mut generator = settings().for_deserialize().into_generator();
        let mut schemas = vec![(entry.input)(&mut generator)];
        if let Takes::Form(form) = entry.media.takes {
            schemas.push(form(&mut generator));
        }
        Self::new(schemas, generator)
    }

    /// Reads the output of an operation: the envelope with its data.
    pub fn output(entry: &Entry) -> Self {
        let mut generator = settings().for_serialize().into_generator();
        let schema = (entry.output)(&mut generator);
        Self::new(vec![schema], generator)
    }

    fn new(schemas: Vec<Schema>, mut generator: SchemaGenerator) -> Self {
        Self { schemas: schemas.into_iter().map(Schema::to_value).collect(), definitions: generator.take_definitions(true) }
    }

    /// Follows the references of a schema, and returns the schema that they lead to.
    pub fn resolve<'a>(&'a self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..REFERENCES_MAX {
            let name = schema["$ref"].as_str().and_then(|at| at.strip_prefix(DEFINITIONS));
            match name.and_then(|name| self.definitions.get(name)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Resolves the schema's reference. If the schema is nullable (an `anyOf` of `null` and another schema), returns the other schema.
    pub fn core<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let schema = self.resolve(schema);
        let Some(choices) = schema["anyOf"].as_array() else { return schema };
        let mut others = choices.iter().filter(|choice| choice["type"] != "null");
        match (others.next(), others.next()) {
            (Some(only), None) => self.core(only),
            _ => schema,
        }
    }

    /// Returns the description of a field on one line, and its default. A default of `false`, an empty list or an empty object is left out.
    pub fn about<'a>(&'a self, field: &'a Value) -> (String, Option<String>) {
        let about = [field, self.core(field)].into_iter().find_map(|schema| schema["description"].as_str()).unwrap_or_default();
        let default = match &field["default"] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()).filter(|text| !matches!(text.as_str(), "[]" | "{}" | "false")),
        };
        (about.split_whitespace().collect::<Vec<_>>().join(" "), default)
    }
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}
