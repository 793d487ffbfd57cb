//! The fields of an operation's input and output, read from its JSON Schemas.

use serde_json::Value;

use crate::engine::api::Entry;
use crate::engine::api::schema_reader::SchemaReader;

/// The maximum nesting depth of listed fields: top-level fields, and the fields of their objects.
const LEVELS_MAX: usize = 2;
/// The maximum number of allowed values that a field's type lists; an ellipsis replaces the others.
const VALUES_MAX: usize = 24;

/// The type shown for a file that is sent as a Base64 string.
pub const BASE64: &str = "file in Base64";

#[derive(Clone, Debug)]
pub struct Field {
    /// The field's path, such as `profile.firstName` or `events[].name`.
    pub name: String,
    /// The type as shown to readers, such as `list of strings`.
    pub kind: String,
    pub required: bool,
    pub in_path: bool,
    pub about: String,
    /// Whether the value is a file in a multipart form.
    pub is_file: bool,
}

/// Returns the fields of the operation's input, with the path parameters first.
pub fn input(entry: &Entry) -> Vec<Field> {
    let mut fields = listed(&SchemaReader::input(entry), &[]);
    let in_path: Vec<&str> = entry.spec.path_names().collect();
    for field in &mut fields {
        field.in_path = in_path.contains(&field.name.as_str());
        field.required |= field.in_path;
    }
    fields.sort_by_key(|field| in_path.iter().position(|name| *name == field.name).unwrap_or(in_path.len()));
    fields
}

/// Returns the fields of `data` in the operation's response.
pub fn output(entry: &Entry) -> Vec<Field> {
    listed(&SchemaReader::output(entry), &["data"])
}

/// Returns the fields of the property at the path `at`. If `at` is empty, returns the fields of the schemas themselves.
fn listed(schemas: &SchemaReader, at: &[&str]) -> Vec<Field> {
    let reader = Reader(schemas);
    let mut fields = Vec::new();
    for schema in &schemas.schemas {
        let mut part = schemas.core(schema);
        for name in at {
            part = schemas.core(&part["properties"][*name]);
        }
        reader.collect(part, "", 1, true, &mut fields);
    }
    fields
}

struct Reader<'a>(&'a SchemaReader);

impl<'a> Reader<'a> {
    fn collect(&self, schema: &'a Value, prefix: &str, level: usize, required: bool, fields: &mut Vec<Field>) {
        let names = schema["required"].as_array();
        let is_required = |name: &str| required && names.is_some_and(|names| names.iter().any(|other| other == name));
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let name = format!("{prefix}{name}");
            if fields.iter().any(|other| other.name == name) {
                continue;
            }
            let core = self.0.core(field);
            let short = name.rsplit('.').next().unwrap_or_default();
            fields.push(Field {
                kind: self.kind(core),
                required: is_required(short),
                in_path: false,
                about: self.about(field),
                is_file: core["format"] == "binary",
                name: name.clone(),
            });
            if level < LEVELS_MAX {
                let items = self.0.core(&core["items"]);
                self.collect(core, &format!("{name}."), level + 1, true, fields);
                self.collect(items, &format!("{name}[]."), level + 1, true, fields);
            }
        }
        for combined in ["allOf", "anyOf", "oneOf"] {
            for branch in schema[combined].as_array().into_iter().flatten() {
                self.collect(self.0.core(branch), prefix, level, combined == "allOf" && required, fields);
            }
        }
    }

    /// Returns the field's description and default value on one line.
    fn about(&self, field: &'a Value) -> String {
        match self.0.about(field) {
            (text, Some(default)) => format!("{text} Default: `{default}`."),
            (text, None) => text,
        }
    }

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
            "string" if schema["contentEncoding"] == "base64" => BASE64.to_owned(),
            "string" if schema["format"] == "date-time" => "time".to_owned(),
            "array" => format!("list of {}", self.kind(self.0.core(&schema["items"])).replace("list of ", "lists of ")),
            "value" => "any value".to_owned(),
            word => word.to_owned(),
        }
    }

    /// Returns the allowed values of a schema that allows only certain strings.
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
        let all: Option<Vec<Vec<String>>> = branches.iter().map(|branch| self.values(self.0.resolve(branch))).collect();
        all.map(|all| all.concat())
    }
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
