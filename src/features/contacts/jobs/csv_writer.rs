//! Writes a contact as a line of a CSV file that an import can read back.

use std::collections::BTreeSet;

use super::columns::CUSTOM_PREFIX;
use super::formula_escape;
use crate::base::clock::Timestamp;
use crate::features::contacts::fields::FieldValue;
use crate::features::contacts::model::ContactRow;

/// The columns every export has.
const HEADERS: [&str; 12] = [
    "id",
    "email",
    "first_name",
    "last_name",
    "phone",
    "country",
    "language",
    "tags",
    "status",
    "created_at",
    "updated_at",
    "unsubscribed_at",
];

/// Writes rows that all have the same columns.
pub struct CsvWriter {
    keys: Vec<String>,
}

impl CsvWriter {
    /// Creates a writer with a column for each of `keys` and writes the headers.
    pub fn new(keys: &BTreeSet<String>, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(HEADERS.join(",").as_bytes());
        for key in keys {
            out.push(b',');
            formula_escape::write_cell(out, &format!("{CUSTOM_PREFIX}{key}"));
        }
        out.extend_from_slice(b"\r\n");
        Self { keys: keys.iter().cloned().collect() }
    }

    /// Writes one line.
    pub fn write(&self, out: &mut Vec<u8>, contact: &ContactRow<'_>, tags: &[String]) {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string()).unwrap_or_default();
        formula_escape::write_cell(out, &contact.id.to_string());
        let texts =
            [Some(contact.email), contact.first_name, contact.last_name, contact.phone, contact.country, contact.language];
        for text in texts {
            cell(out, text.unwrap_or_default());
        }
        cell(out, &tag_list(tags));
        cell(out, contact.status.word());
        for moment in [Some(contact.created_at), Some(contact.updated_at), contact.unsubscribed_at] {
            cell(out, &time(moment));
        }
        for key in &self.keys {
            cell(out, &contact.custom_fields.get(key.as_str()).map(text_of).unwrap_or_default());
        }
        out.extend_from_slice(b"\r\n");
    }
}

fn cell(out: &mut Vec<u8>, text: &str) {
    out.push(b',');
    formula_escape::write_cell(out, text);
}

/// Joins names with semicolons, or formats them as JSON if a name contains a separator.
fn tag_list(tags: &[String]) -> String {
    if tags.iter().any(|tag| tag.contains([',', ';']) || tag.starts_with('[')) {
        return serde_json::to_string(tags).expect("text is JSON");
    }
    tags.join(";")
}

/// Formats a value as a user would write it; lists and objects as JSON.
fn text_of(value: &FieldValue) -> String {
    match value.as_text() {
        Some(text) => text.into_owned(),
        None if *value == FieldValue::Null => String::new(),
        None => serde_json::to_string(value).expect("custom fields are JSON"),
    }
}
