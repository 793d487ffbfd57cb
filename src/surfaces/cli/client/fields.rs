//! Reads the fields of an operation's input from its JSON schema.
//!
//! Only the schema of the given command is generated, because generating the schemas of all operations would slow down the start of the
//! program.

use serde_json::Value;

use crate::engine::api::Entry;
use crate::engine::api::schema_reader::SchemaReader;

/// How the value of a field is written on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Text,
    Integer,
    Number,
    Flag,
    /// One of these values, each with a description.
    Choice(Vec<(String, Option<String>)>),
    /// A list of strings, or of allowed values.
    List(Option<Vec<String>>),
    /// An object with arbitrary keys: as JSON, or as KEY=VALUE.
    Map,
    /// JSON; text that is not JSON is a string.
    Json,
    /// A file to upload as part of a form.
    Upload,
    /// A file that is sent as base64.
    Base64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name in the API, such as `projectId`.
    pub name: String,
    pub kind: ValueKind,
    pub in_path: bool,
    pub required: bool,
    /// The description in the API.
    pub about: String,
    pub default: Option<String>,
}

/// Returns the fields of the operation's input, the path parameters first.
pub fn of(entry: &Entry) -> Vec<Field> {
    let schemas = SchemaReader::input(entry);
    let reader = Reader(&schemas);
    let in_path: Vec<&str> = entry.spec.path_names().collect();
    let mut fields = Vec::new();
    for shape in &schemas.schemas {
        reader.collect(shape, true, &mut fields);
    }
    for field in &mut fields {
        field.in_path = in_path.contains(&field.name.as_str());
        field.required |= field.in_path;
    }
    fields.sort_by_key(|field| in_path.iter().position(|name| *name == field.name).unwrap_or(in_path.len()));
    fields
}

struct Reader<'a>(&'a SchemaReader);

impl<'a> Reader<'a> {
    /// Adds the fields of an object schema and of its alternatives. A field of an alternative is not required.
    fn collect(&self, shape: &'a Value, is_whole: bool, fields: &mut Vec<Field>) {
        let shape = self.0.resolve(shape);
        let required: Vec<&str> = shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, schema) in shape["properties"].as_object().into_iter().flatten() {
            if fields.iter().all(|field| field.name != *name) {
                fields.push(self.field(name, schema, is_whole && required.contains(&name.as_str())));
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for branch in shape[key].as_array().into_iter().flatten() {
                self.collect(branch, false, fields);
            }
        }
    }

    fn field(&self, name: &str, schema: &'a Value, required: bool) -> Field {
        let (about, default) = self.0.about(schema);
        Field {
            name: name.to_owned(),
            kind: self.kind(self.0.core(schema)),
            in_path: false,
            required,
            about: about.replace('`', ""),
            default,
        }
    }

    fn kind(&self, schema: &'a Value) -> ValueKind {
        if let Some(values) = self.values(schema) {
            return ValueKind::Choice(values);
        }
        let is_binary = schema["format"] == "binary";
        match kind_word(schema) {
            Some("string") if is_binary => ValueKind::Upload,
            Some("string") if schema["contentEncoding"] == "base64" => ValueKind::Base64,
            Some("string") => ValueKind::Text,
            Some("integer") => ValueKind::Integer,
            Some("number") => ValueKind::Number,
            Some("boolean") => ValueKind::Flag,
            Some("array") => self.list(self.0.core(&schema["items"])),
            Some("object") if !schema["properties"].is_object() && !schema["anyOf"].is_array() => ValueKind::Map,
            _ => ValueKind::Json,
        }
    }

    fn list(&self, items: &'a Value) -> ValueKind {
        if let Some(values) = self.values(items) {
            return ValueKind::List(Some(values.into_iter().map(|(value, _)| value).collect()));
        }
        let is_text = |schema: &Value| kind_word(schema) == Some("string") || schema["const"].is_string();
        let branches = items["anyOf"].as_array().or_else(|| items["oneOf"].as_array());
        match branches.is_some_and(|all| all.iter().all(|branch| is_text(self.0.core(branch)))) || is_text(items) {
            true => ValueKind::List(None),
            false => ValueKind::Json,
        }
    }

    /// Returns the values of a string enumeration.
    fn values(&self, schema: &'a Value) -> Option<Vec<(String, Option<String>)>> {
        if let Some(values) = schema["enum"].as_array() {
            let texts: Vec<_> = values.iter().filter_map(|value| Some((value.as_str()?.to_owned(), None))).collect();
            return Some(texts).filter(|texts| !texts.is_empty());
        }
        let branches = schema["oneOf"].as_array()?;
        let mut found = Vec::new();
        for branch in branches {
            let branch = self.0.resolve(branch);
            match (branch["const"].as_str(), branch["enum"].as_array()) {
                (Some(value), _) => {
                    let about = branch["description"].as_str().map(|text| text.replace('`', ""));
                    found.push((value.to_owned(), about));
                }
                (None, Some(values)) => {
                    found.extend(values.iter().filter_map(|value| Some((value.as_str()?.to_owned(), None))));
                }
                (None, None) => return None,
            }
        }
        Some(found).filter(|found| !found.is_empty())
    }
}

/// Returns the type of a schema, without `null`.
fn kind_word(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(word) => Some(word),
        Value::Array(words) => {
            let mut words = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            words.next().filter(|_| words.next().is_none())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::operation;
    use super::*;
    use crate::operations::OPERATIONS;

    fn field(id: &str, name: &str) -> Field {
        let fields = of(operation(OPERATIONS, id));
        let found = fields.iter().find(|field| field.name == name);
        found.unwrap_or_else(|| panic!("{id} has the fields {fields:?}")).clone()
    }

    #[test]
    fn schemas_become_the_kinds_of_values_that_users_write() {
        assert_eq!(field("contacts.list", "search").kind, ValueKind::Text);
        assert_eq!(field("contacts.list", "limit").kind, ValueKind::Integer);
        assert_eq!(field("contacts.list", "tags").kind, ValueKind::List(None));
        assert!(matches!(field("contacts.list", "sortBy").kind, ValueKind::Choice(values) if values.len() > 1));
        assert_eq!(field("contacts.create", "customFields").kind, ValueKind::Map);
        assert_eq!(field("emails.generate", "brief").kind, ValueKind::Json);
        assert_eq!(field("emails.generate", "webMode").kind, ValueKind::Flag);
        assert_eq!(field("contacts.import", "file").kind, ValueKind::Upload);
        assert_eq!(field("projects.images_upload", "file").kind, ValueKind::Base64);
        assert!(
            matches!(field("webhooks.create", "events").kind, ValueKind::List(Some(values)) if values.contains(&"email.opened".to_owned()))
        );
    }

    #[test]
    fn path_parameters_come_first_and_are_required() {
        let fields = of(operation(OPERATIONS, "webhooks.delivery"));
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["webhookId", "deliveryId"]);
        assert!(fields.iter().all(|field| field.in_path && field.required));
    }

    #[test]
    fn descriptions_are_one_line_without_markup_and_defaults_are_shown() {
        let limit = field("contacts.list", "limit");
        assert_eq!(limit.default.as_deref(), Some("20"));
        let prompt = field("emails.generate", "brief");
        assert!(!prompt.about.is_empty() && !prompt.about.contains(['`', '\n']), "{}", prompt.about);
    }
}
