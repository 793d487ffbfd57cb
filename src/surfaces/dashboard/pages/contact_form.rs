//! The profile and custom fields of a contact's form.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::engine::api::Done;
use crate::features::contacts;
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::visit::{PageError, Visit};
use crate::vocab::contact_fields::{ProfileField, ProfileSpec};

/// The contact statuses that the form offers, with their labels.
pub const STATUSES: [(&str, &str); 4] = [
    ("subscribed", "Subscribed"),
    ("unsubscribed", "Unsubscribed"),
    ("bounced", "Bounced"),
    ("non-subscribed", "Not subscribed"),
];
/// The number of empty rows for new custom fields.
const SPARE_ROWS: usize = 2;
/// The maximum number of custom fields that the form suggests from other contacts.
const OFFERED: usize = 8;
/// The number of recent contacts whose custom fields are suggested; reading them takes a few milliseconds.
const CONTACTS_EXAMINED: u64 = 1_000;

#[derive(Serialize)]
pub struct ProfileRow {
    key: &'static str,
    label: &'static str,
    hint: &'static str,
    max: usize,
    value: String,
}

/// Returns the profile fields of a contact's form. `value` returns a field's value by its key.
pub fn profile_rows<'v>(value: impl Fn(&str) -> &'v str) -> Vec<ProfileRow> {
    let row = |field: &ProfileField| {
        let ProfileSpec { key, label, hint, characters_max, .. } = *field.spec();
        ProfileRow { key, label, hint, max: characters_max, value: value(key).to_owned() }
    };
    ProfileField::ALL.iter().map(row).collect()
}

/// Copies the profile fields of a submitted form to an operation's input. An empty field deletes the stored value.
pub fn read_profile(form: &Fields, input: &mut Value) {
    for spec in ProfileField::ALL.iter().map(|field| field.spec()) {
        input[spec.key] = json!(form.some(spec.key));
    }
}

#[derive(Serialize)]
pub struct CustomRow {
    name: String,
    value: String,
    /// Whether the name is fixed, and only the value can be edited.
    fixed: bool,
}

impl CustomRow {
    /// Returns two sample rows: a custom field, and an empty row.
    #[cfg(test)]
    pub fn samples() -> Vec<Self> {
        let row = |name: &str, value: &str, fixed| Self { name: name.into(), value: value.into(), fixed };
        vec![row("plan", "pro", true), row("", "", false)]
    }
}

/// Returns rows for the contact's custom fields, suggestions from other contacts, and a few empty rows. After a submission, returns the
/// submitted rows instead.
pub async fn custom_rows(visit: &Visit, project: &str, known: &Value) -> Result<Vec<CustomRow>, PageError> {
    let row = |name: &str, value: String, fixed: bool| CustomRow { name: name.to_owned(), value, fixed };
    let known: Vec<(&String, &Value)> = known.as_object().into_iter().flatten().collect();
    let is_known = |name: &str| known.iter().any(|(other, _)| *other == name);
    if !visit.form.all("field").is_empty() {
        let sent = visit.form.all("field").into_iter().zip(visit.form.all("value"));
        return Ok(sent.map(|(name, value)| row(name, value.to_owned(), is_known(name))).collect());
    }
    let mut rows: Vec<CustomRow> = known.iter().map(|(name, value)| row(name, written(value), true)).collect();
    let input = json!({ "projectId": project, "examine": CONTACTS_EXAMINED });
    let Done(catalog) = visit.ask::<contacts::ops::field_catalog::FieldCatalog>(input).await?;
    let others = catalog.entries.iter().filter(|entry| !entry.auto && !is_known(&entry.key)).take(OFFERED);
    rows.extend(others.map(|entry| row(&entry.key, String::new(), true)));
    rows.extend((0..SPARE_ROWS).map(|_| row("", String::new(), false)));
    Ok(rows)
}

/// Formats the value of a custom field for editing.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Returns the custom fields that the user changed. If the old value is a number or a Boolean, the new text is parsed as JSON if possible,
/// and otherwise stays a string; lists and objects must be entered as JSON.
pub fn custom_sent(form: &Fields, known: &Value) -> Result<Map<String, Value>, PageError> {
    let mut changed = Map::new();
    for (name, text) in form.all("field").into_iter().zip(form.all("value")) {
        let (name, text) = (name.trim(), text.trim());
        let before = known.get(name).unwrap_or(&Value::Null);
        if name.is_empty() && !text.is_empty() {
            let error = PageError::plain(http::StatusCode::BAD_REQUEST, "Enter a name for the custom field.");
            return Err(PageError { field: "customFields".into(), ..error });
        }
        if name.is_empty() || written(before) == text {
            continue;
        }
        let value = match before {
            _ if text.is_empty() => Value::Null,
            Value::Number(_) | Value::Bool(_) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            Value::Array(_) | Value::Object(_) => serde_json::from_str(text).map_err(|_| {
                let message = format!(
                    "The value of “{name}” is a list or an object, so it must be valid JSON. Correct it, or leave it empty to remove the \
                     field."
                );
                PageError { field: "customFields".into(), ..PageError::plain(http::StatusCode::BAD_REQUEST, &message) }
            })?,
            Value::String(_) | Value::Null => text.into(),
        };
        changed.insert(name.to_owned(), value);
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(form: &str, known: Value) -> Result<Map<String, Value>, PageError> {
        custom_sent(&Fields::read(form.as_bytes()), &known)
    }

    #[test]
    fn a_custom_field_keeps_its_type_and_unchanged_ones_are_not_sent() {
        let known = json!({ "age": 31, "vip": true, "plan": "pro", "list": [1, 2] });
        let form =
            "field=age&value=32&field=vip&value=true&field=plan&value=&field=list&value=[1]&field=new&value=7&field=&value=";
        let expected = json!({ "age": 32, "plan": null, "list": [1], "new": "7" });
        assert_eq!(Value::Object(sent(form, known.clone()).expect("the fields are valid")), expected);
        assert_eq!(
            sent("field=&value=x", json!({})).expect_err("a value without a field name is rejected").field,
            "customFields"
        );
        assert!(sent("field=list&value=x", known).is_err());
    }
}
