//! The fields of an operation's input and output, read from their JSON schemas.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use crate::engine::api::Entry;
use crate::engine::api::operation::Takes;

/// The prefix of references to schemas in the same document.
const DEFINITIONS: &str = "#/$defs/";
/// The levels of nested objects that are listed: a field and its own fields.
const LEVELS_MAX: usize = 2;
/// The maximum number of references that lead to one schema. Real schemas have at most two.
const REFERENCES_MAX: usize = 8;
/// The longest list of values that is shown.
const VALUES_MAX: usize = 24;

/// A field of an input or output.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name with its path, such as `profile.firstName` or `events[].name`.
    pub name: String,
    /// The type in words, such as `list of strings`.
    pub kind: String,
    pub required: bool,
    pub in_path: bool,
    pub about: String,
    /// Whether the value is a file in a form.
    pub is_file: bool,
}

/// Returns the fields of the operation's input, the path parameters first.
pub fn input(entry: &Entry) -> Vec<Field> {
    let mut generator = settings().for_deserialize().into_generator();
    let mut schemas = vec![(entry.input)(&mut generator)];
    if let Takes::Form(form) = entry.media.takes {
        schemas.push(form(&mut generator));
    }
    let mut fields = listed(schemas, generator, &[]);
    let in_path: Vec<&str> = entry.spec.path_names().collect();
    for field in &mut fields {
        field.in_path = in_path.contains(&field.name.as_str());
        field.required |= field.in_path;
    }
    fields.sort_by_key(|field| in_path.iter().position(|name| *name == field.name).unwrap_or(in_path.len()));
    fields
}

/// Returns the fields of the `data` of the operation's response.
pub fn output(entry: &Entry) -> Vec<Field> {
    let mut generator = settings().for_serialize().into_generator();
    let schema = (entry.output)(&mut generator);
    listed(vec![schema], generator, &["data"])
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}

/// Returns the fields of the schemas, or of the property at `at` in them.
fn listed(schemas: Vec<Schema>, mut generator: SchemaGenerator, at: &[&str]) -> Vec<Field> {
    let definitions = generator.take_definitions(true);
    let reader = Reader { definitions: &definitions };
    let mut fields = Vec::new();
    for schema in schemas {
        let schema = schema.to_value();
        let mut part = reader.core(&schema);
        for name in at {
            part = reader.core(&part["properties"][*name]);
        }
        reader.collect(part, "", 1, true, &mut fields);
    }
    fields
}

struct Reader<'a> {
    definitions: &'a Map<String, Value>,
}

impl<'a> Reader<'a> {
    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..REFERENCES_MAX {
            let name = schema["$ref"].as_str().and_then(|at| at.strip_prefix(DEFINITIONS));
            match name.and_then(|name| self.definitions.get(name)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    /// Returns the schema without references and without the alternative `null`.
    fn core(&self, schema: &'a Value) -> &'a Value {
        let schema = self.resolve(schema);
        let Some(choices) = schema["anyOf"].as_array() else { return schema };
        let mut others = choices.iter().filter(|choice| choice["type"] != "null");
        match (others.next(), others.next()) {
            (Some(only), None) => self.core(only),
            _ => schema,
        }
    }

    fn collect(&self, schema: &'a Value, prefix: &str, level: usize, required: bool, fields: &mut Vec<Field>) {
        let names = schema["required"].as_array();
        let is_required = |name: &str| required && names.is_some_and(|names| names.iter().any(|other| other == name));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let name = format!("{prefix}{name}");
            if fields.iter().any(|other| other.name == name) {
                continue;
            }
            let core = self.core(field);
            let short = name.rsplit('.').next().unwrap_or_default();
            fields.push(Field {
                kind: self.kind(core),
                required: is_required(short),
                in_path: false,
                about: about(field, core),
                is_file: core["format"] == "binary",
                name: name.clone(),
            });
            if level < LEVELS_MAX {
                let items = self.core(&core["items"]);
                self.collect(core, &format!("{name}."), level + 1, true, fields);
                self.collect(items, &format!("{name}[]."), level + 1, true, fields);
            }
        }
        for combined in ["allOf", "anyOf", "oneOf"] {
            for branch in schema[combined].as_array().into_iter().flatten() {
                self.collect(self.core(branch), prefix, level, combined == "allOf" && required, fields);
            }
        }
    }

    /// Returns the type in words.
    fn kind(&self, schema: &'a Value) -> String {
        if let Some(values) = self.values(schema) {
            let more = values.len() > VALUES_MAX;
            let shown: Vec<String> = values.iter().take(VALUES_MAX).map(|value| format!("`{value}`")).collect();
            return format!("{}{}", shown.join(", "), if more { ", …" } else { "" });
        }
        let word = match &schema["type"] {
            Value::String(word) => word.as_str(),
            Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| *word != "null").unwrap_or("value"),
            _ => "value",
        };
        match word {
            "string" if schema["format"] == "binary" => "file".to_owned(),
            "string" if schema["format"] == "date-time" => "time".to_owned(),
            "array" => format!("list of {}", self.kind(self.core(&schema["items"])).replace("list of ", "lists of ")),
            "value" => "any value".to_owned(),
            word => word.to_owned(),
        }
    }

    /// Returns the values of an enumeration of texts.
    fn values(&self, schema: &'a Value) -> Option<Vec<String>> {
        if let Some(value) = schema["const"].as_str() {
            return Some(vec![value.to_owned()]);
        }
        let of_list = |list: &'a Value| {
            let texts = list.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
            Some(texts).filter(|texts| !texts.is_empty())
        };
        if let Some(values) = of_list(&schema["enum"]) {
            return Some(values);
        }
        let branches = schema["oneOf"].as_array()?;
        let all: Option<Vec<Vec<String>>> = branches.iter().map(|branch| self.values(self.resolve(branch))).collect();
        all.map(|all| all.concat())
    }
}

/// Returns the description of a field on one line, with its default.
fn about(field: &Value, core: &Value) -> String {
    let text = [field, core].into_iter().find_map(|schema| schema["description"].as_str()).unwrap_or_default();
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let default = match &field["default"] {
        Value::Null => None,
        Value::String(word) => Some(word.clone()),
        other => Some(other.to_string()).filter(|shown| !matches!(shown.as_str(), "[]" | "{}" | "false")),
    };
    if let Some(default) = default {
        text.push_str(&format!(" Default: `{default}`."));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::OPERATIONS;

    fn fields(id: &str, read: fn(&Entry) -> Vec<Field>) -> Vec<Field> {
        read(OPERATIONS.iter().find(|entry| entry.spec.id == id).expect("the operation exists"))
    }

    #[test]
    fn inputs_have_their_path_parameters_first_and_nested_fields_by_their_path() {
        let list = fields("events.record", input);
        let find = |name: &str| list.iter().find(|field| field.name == name).unwrap_or_else(|| panic!("{name} in {list:#?}"));
        assert!(find("projectId").required && find("name").required && !find("occurredAt").required);
        assert_eq!(find("identifiers.email").kind, "string");
        let update = fields("contacts.update", input);
        assert!(update[0].name == "id" && update[0].in_path && update[0].required);
        assert!(update.iter().any(|field| field.name == "status" && field.kind.contains("`subscribed`")), "{update:#?}");
    }

    #[test]
    fn outputs_are_the_fields_of_the_data() {
        let list = fields("contacts.create", output);
        assert!(list.iter().any(|field| field.name == "email") && !list.iter().any(|field| field.name == "success"), "{list:#?}");
    }
}
