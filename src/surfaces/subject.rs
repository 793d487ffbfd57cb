//! The object of an operation, described for users in questions such as "Delete the contact “ada@example.com”?".
//!
//! The object is read through the API as the caller. Labels are text that other people wrote, so they are shortened, and characters that
//! could hide or reorder other text are removed.

use serde_json::{Map, Value};

use crate::base::text::is_invisible;
use crate::engine::api::schema_reader::SchemaReader;
use crate::engine::api::spec::Verb;
use crate::engine::api::{Entry, Spec};

/// The fields whose value can serve as an object's label, in order of preference.
const NAMES: [&str; 7] = ["name", "title", "subject", "email", "domain", "url", "fileName"];
/// The maximum length of a label in characters. A longer label could push the rest of the question out of view.
const LABEL_CHARACTERS_MAX: usize = 100;

/// Returns the operation that reads the object that `spec` acts on. Both have the same path up to the object's ID: `campaigns.get` for
/// `campaigns.send`. Returns `None` if the path names no object or no operation reads it.
pub fn reader(operations: &'static [Entry], spec: &Spec) -> Option<&'static Entry> {
    let (object, last) = spec.path.rsplit_once('}')?;
    // This path names a part of the object: `DELETE /v1/projects/{projectId}/images` deletes an image, not the brand.
    if spec.verb == Verb::Delete && !last.is_empty() {
        return None;
    }
    let is_reader = |entry: &&Entry| entry.spec.verb == Verb::Get && entry.spec.path.strip_suffix('}') == Some(object);
    operations.iter().find(is_reader).filter(|entry| entry.spec.id != spec.id && entry.spec.client_name().is_some())
}

/// Returns the part of an operation's input that selects the object: the path parameters, and the brand if `reader` needs it.
pub fn selector(reader: &Entry, input: &Map<String, Value>) -> Map<String, Value> {
    let schemas = SchemaReader::input(reader);
    let takes_project = schemas.schemas.iter().any(|schema| schemas.resolve(schema)["properties"].get("projectId").is_some());
    let is_selected = |name: &str| reader.spec.path_names().any(|other| other == name) || (takes_project && name == "projectId");
    input.iter().filter(|(name, _)| is_selected(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns the label of an object in `data`: its name, title, subject, email address, domain, URL or file name.
pub fn label(data: &Value) -> Option<String> {
    let own = |object: &Value| {
        let values = NAMES.iter().filter_map(|name| object[*name].as_str());
        values.map(plain).find(|text| !text.is_empty())
    };
    // In some responses, the object is a member of `data`, as for a message in the inbox.
    own(data).or_else(|| data.as_object()?.values().filter(|member| member.is_object()).find_map(own))
}

/// Returns text from other people for use within a line: shortened, and without characters that could hide or reorder other text.
pub fn plain(text: &str) -> String {
    let is_shown = |character: &char| !is_invisible(*character) && (!character.is_control() || character.is_whitespace());
    let visible: String = text.chars().filter(is_shown).take(LABEL_CHARACTERS_MAX + 1).collect();
    let mut line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(LABEL_CHARACTERS_MAX) {
        line.truncate(end);
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operations::OPERATIONS;

    fn of(id: &str) -> Option<&'static str> {
        let entry = OPERATIONS.iter().find(|entry| entry.spec.id == id).expect("the operation exists");
        reader(OPERATIONS, entry.spec).map(|entry| entry.spec.id)
    }

    #[test]
    fn the_reader_of_an_object_has_the_same_path() {
        assert_eq!(of("campaigns.send"), Some("campaigns.get"));
        assert_eq!(of("contacts.delete"), Some("contacts.get"));
        assert_eq!(of("webhooks.update"), Some("webhooks.get"));
        assert_eq!(of("domains.verify"), Some("domains.get"));
        for none in ["projects.images_remove", "projects.products_merge", "contacts.bulk_delete", "sending.send", "campaigns.get"]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn every_reader_can_be_called_with_the_path_and_the_brand() {
        for entry in OPERATIONS {
            let Some(reader) = reader(OPERATIONS, entry.spec) else { continue };
            let schemas = SchemaReader::input(reader);
            let schema = schemas.resolve(&schemas.schemas[0]);
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for name in required {
                assert!(
                    name == "projectId" || entry.spec.path_names().any(|other| other == name),
                    "{}: {} also needs {name}",
                    entry.spec.id,
                    reader.spec.id
                );
            }
        }
        let reader = OPERATIONS.iter().find(|entry| entry.spec.id == "webhooks.get").expect("the operation exists");
        let given = json!({ "webhookId": "1", "projectId": "2", "url": "https://a.example/" });
        let selected = selector(reader, given.as_object().expect("an object"));
        assert_eq!(Value::Object(selected), json!({ "webhookId": "1" }));
    }

    #[test]
    fn a_label_is_the_best_name_on_one_short_line() {
        assert_eq!(label(&json!({ "email": "ada@example.com", "status": "active" })).as_deref(), Some("ada@example.com"));
        assert_eq!(label(&json!({ "url": "https://a.example/", "name": "" })).as_deref(), Some("https://a.example/"));
        assert_eq!(label(&json!({ "message": { "subject": "Winter teas" }, "text": "x" })).as_deref(), Some("Winter teas"));
        assert_eq!(label(&json!({ "name": "A\u{202e}\u{1b}[2J\n  b" })).as_deref(), Some("A[2J b"));
        let long = label(&json!({ "name": "é".repeat(500) })).expect("a label");
        assert_eq!((long.chars().count(), long.ends_with('…')), (LABEL_CHARACTERS_MAX + 1, true));
        assert_eq!((label(&json!({ "id": "1" })), label(&Value::Null)), (None, None));
    }
}
