//! Writes a contact as a line of a CSV file, in the format that an import accepts.

use std::collections::BTreeSet;

use super::columns::CUSTOM_PREFIX;
use super::formula_escape;
use crate::base::clock::Timestamp;
use crate::features::contact_records::ContactRow;
use crate::features::contact_records::fields::FieldValue;
use crate::vocab::contact_fields::{CONTACT_FIELDS, FieldSource};

/// Writes contacts as lines of a CSV file. All lines have the same columns.
pub struct CsvWriter {
    keys: Vec<String>,
}

impl CsvWriter {
    /// Creates a writer with the standard columns and a column for each custom field in `keys`, and writes the headers.
    pub fn new(keys: &BTreeSet<String>, out: &mut Vec<u8>) -> Self {
        let headers: Vec<&str> = CONTACT_FIELDS.iter().map(|field| field.column).collect();
        out.extend_from_slice(headers.join(",").as_bytes());
        for key in keys {
            out.push(b',');
            formula_escape::write_cell(out, &format!("{CUSTOM_PREFIX}{key}"));
        }
        out.extend_from_slice(b"\r\n");
        Self { keys: keys.iter().cloned().collect() }
    }

    pub fn write(&self, out: &mut Vec<u8>, contact: &ContactRow<'_>, tags: &[String]) {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string()).unwrap_or_default();
        for (at, field) in CONTACT_FIELDS.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            let mut write = |text: &str| formula_escape::write_cell(out, text);
            match field.place {
                FieldSource::Id => write(&contact.id.to_string()),
                FieldSource::Email => write(contact.email),
                FieldSource::Profile(field) => write(contact.profile.get(field).copied().unwrap_or_default()),
                FieldSource::Tags => write(&tag_list(tags)),
                FieldSource::Status => write(contact.status.word()),
                FieldSource::CreatedAt => write(&time(Some(contact.created_at))),
                FieldSource::UpdatedAt => write(&time(Some(contact.updated_at))),
                FieldSource::UnsubscribedAt => write(&time(contact.unsubscribed_at)),
            }
        }
        for key in &self.keys {
            out.push(b',');
            formula_escape::write_cell(out, &contact.custom_fields.get(key.as_str()).map(text_of).unwrap_or_default());
        }
        out.extend_from_slice(b"\r\n");
    }
}

/// Joins tag names with semicolons, or formats them as a JSON array if a name contains a separator.
fn tag_list(tags: &[String]) -> String {
    if tags.iter().any(|tag| tag.contains([',', ';']) || tag.starts_with('[')) {
        return serde_json::to_string(tags).expect("strings can be written as JSON");
    }
    tags.join(";")
}

/// Formats a value as a user would write it; formats lists and objects as JSON.
fn text_of(value: &FieldValue) -> String {
    match value.as_text() {
        Some(text) => text.into_owned(),
        None if *value == FieldValue::Null => String::new(),
        None => serde_json::to_string(value).expect("custom fields can be written as JSON"),
    }
}
