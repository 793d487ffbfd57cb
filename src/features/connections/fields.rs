//! Maps a platform's fields to contact fields. A user's mapping takes precedence over the platform's table.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::engine::api::Failure;
use crate::features::contact_records::fields::{FieldValue, refusal};
use crate::features::contacts::jobs::FieldMap;
use crate::features::contacts::jobs::provider::ExternalContact;
use crate::vocab::contact_fields::{Profile, ProfileField};
use crate::vocab::limits;

/// The prefix of the names of custom fields, which distinguishes them from other contact fields.
const CUSTOM: &str = "customFields.";

/// A platform's fields, each with its contact field. A field that is not in the list becomes a custom field with its own name.
pub type Defaults = &'static [(&'static str, &'static str)];

/// A user's mapping of a platform's fields to contact fields. It can record which fields the contacts have.
#[derive(Debug, Default)]
pub struct Mapping {
    /// The fields that a user mapped.
    map: FieldMap,
    /// The fields found in the contacts so far, up to a maximum number; `None` if fields are not recorded.
    seen: Option<Mutex<BTreeMap<String, PlatformField>>>,
}

/// A field that the platform's contacts have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformField {
    /// The contact field; `None` if the field is not imported.
    pub to: Option<String>,
    /// The first value, shortened.
    pub sample: String,
}

impl Mapping {
    pub fn new(map: FieldMap) -> Self {
        Self { map, seen: None }
    }

    /// Returns a mapping that records which fields the contacts have, up to a maximum number of fields.
    pub fn recording(map: FieldMap) -> Self {
        Self { map, seen: Some(Mutex::default()) }
    }

    /// Returns the recorded fields, by name.
    pub fn into_seen(self) -> BTreeMap<String, PlatformField> {
        self.seen.and_then(|seen| seen.into_inner().ok()).unwrap_or_default()
    }

    fn note(&self, name: &str, to: Option<&str>, value: &Value) {
        let Some(mut seen) = self.seen.as_ref().and_then(|seen| seen.lock().ok()) else { return };
        if !seen.contains_key(name) && seen.len() < limits::PROVIDER_FIELDS_SHOWN_MAX {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let sample = text.chars().take(limits::PROVIDER_FIELD_SAMPLE_CHARACTERS).collect();
            seen.insert(name.to_owned(), PlatformField { to: to.map(str::to_owned), sample });
        }
    }
}

/// Checks a user's mapping. A field that is mapped to `None` is not imported.
pub fn checked(map: FieldMap) -> Result<FieldMap, Failure> {
    if map.len() > limits::PROVIDER_FIELDS_MAPPED_MAX {
        let max = limits::PROVIDER_FIELDS_MAPPED_MAX;
        return Err(Failure::field("fieldMap", format_args!("map at most {max} fields")));
    }
    for (name, to) in &map {
        let at = format!("fieldMap.{name}");
        if name.is_empty() {
            return Err(Failure::field("fieldMap", "a field name is empty; use the names that the import preview lists"));
        }
        if name.len() > limits::PROVIDER_FIELD_NAME_BYTES_MAX {
            let max = limits::PROVIDER_FIELD_NAME_BYTES_MAX;
            let reason = format!("a field name has more than {max} bytes; remove this field from the mapping");
            return Err(Failure::field("fieldMap", reason));
        }
        let Some(to) = to else { continue };
        let own = to.strip_prefix(CUSTOM).filter(|own| !own.is_empty());
        // Reject an invalid field name now, because every import would reject contacts that have this field.
        if let Some(reason) = own.and_then(|own| refusal(&BTreeMap::from([(own.to_owned(), FieldValue::Null)]))) {
            return Err(Failure::field(&at, reason));
        }
        if own.is_none() && ProfileField::by_key(to).is_none() {
            let keys: Vec<&str> = ProfileField::ALL.iter().map(|field| field.spec().key).collect();
            let reason = format!("contacts have no such field; use {}, {CUSTOM}NAME or null", keys.join(", "));
            return Err(Failure::field(&at, reason));
        }
    }
    Ok(map)
}

/// Fills a contact with the values of a platform's fields.
pub struct Fields<'m> {
    mapping: &'m Mapping,
    defaults: Defaults,
    pub external: ExternalContact,
}

impl<'m> Fields<'m> {
    pub fn new(mapping: &'m Mapping, defaults: Defaults, external: ExternalContact) -> Self {
        Self { mapping, defaults, external }
    }

    /// Sets a field, unless its value is empty. By default, a field outside the platform's table becomes a custom field.
    pub fn put(&mut self, name: &str, value: Option<impl Into<Value>>) {
        let Some(value) = value.map(Into::into).filter(|value| !is_empty(value)) else { return };
        let default = self.defaults.iter().find(|(known, _)| *known == name).map(|(_, to)| *to);
        self.put_as(name, default.map_or_else(|| format!("{CUSTOM}{name}"), str::to_owned), value);
    }

    /// Sets a field that the account added; `own` is its name within the account. Unless the user mapped the field, an existing value of
    /// the custom field with this name is kept.
    pub fn put_own(&mut self, name: &str, own: &str, value: Value) {
        let is_taken = self.external.custom_fields.contains_key(own) && !self.mapping.map.contains_key(name);
        if !is_empty(&value) && !is_taken {
            self.put_as(name, format!("{CUSTOM}{own}"), value);
        }
    }

    fn put_as(&mut self, name: &str, default: String, value: Value) {
        let to = self.mapping.map.get(name).cloned().unwrap_or(Some(default));
        self.mapping.note(name, to.as_deref(), &value);
        let Some(to) = to else { return };
        match (to.strip_prefix(CUSTOM), ProfileField::by_key(&to), text(&value)) {
            (Some(own), ..) => self.put_custom(own, value),
            (None, Some(ProfileField::Country), Some(text)) if text.trim().len() != 2 => self.put_custom("country", value),
            (None, Some(field), Some(text)) => {
                let text = match field {
                    ProfileField::Country => text.trim().to_ascii_uppercase(),
                    // Some platforms separate the parts of a language tag (BCP 47) with an underscore.
                    ProfileField::Language => text.trim().replace('_', "-"),
                    _ => text,
                };
                self.external.profile.overlay(Profile::from_fn(|known| (known == field).then(|| text.clone())));
            }
            (None, ..) => self.put_custom(name, value),
        }
    }

    fn put_custom(&mut self, name: &str, value: Value) {
        // A value that a custom field cannot contain, such as a number that would be rounded, is stored as text.
        let value =
            serde_json::from_value(value.clone()).unwrap_or_else(|_| FieldValue::Text(value.to_string().replace('\0', "")));
        self.external.custom_fields.insert(name.to_owned(), value);
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty() || text.contains('\0'),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const DEFAULTS: Defaults = &[("first", "firstName"), ("land", "country"), ("made", "customFields.createdAt")];

    fn map(entries: Value) -> FieldMap {
        serde_json::from_value(entries).expect("the mapping has the documented form")
    }

    #[test]
    fn fields_follow_the_table_unless_a_user_mapped_them() {
        let mapping = Mapping::recording(map(json!({ "land": null, "size": "company", "made": "customFields.made" })));
        let mut fields = Fields::new(&mapping, DEFAULTS, ExternalContact::default());
        for (name, value) in [("first", json!("Ada")), ("land", json!("CH")), ("made", json!("2026")), ("note", json!(" "))] {
            fields.put(name, Some(value));
        }
        fields.put_own("size", "size", json!(38));
        fields.put_own("properties.made", "made", json!("mine"));
        let external = fields.external;
        let profile = &external.profile;
        assert_eq!(
            (profile.first_name.as_deref(), profile.country.as_deref(), profile.company.as_deref()),
            (Some("Ada"), None, Some("38"))
        );
        assert_eq!(external.custom_fields.into_iter().collect::<Vec<_>>(), [("made".into(), FieldValue::Text("2026".into()))]);
        let seen = mapping.into_seen();
        assert_eq!(seen.keys().collect::<Vec<_>>(), ["first", "land", "made", "size"]);
        assert_eq!(seen["land"], PlatformField { to: None, sample: "CH".into() });
    }

    #[test]
    fn a_country_without_a_code_and_a_list_become_custom_fields() {
        let mapping = Mapping::default();
        let mut fields = Fields::new(&mapping, DEFAULTS, ExternalContact::default());
        fields.put("land", Some("Switzerland"));
        fields.put("first", Some(json!(["a"])));
        let names: Vec<String> = fields.external.custom_fields.into_keys().collect();
        assert_eq!(names, ["country", "first"]);
    }

    // Regression test: if a name was too long, the error stated that contacts have no such field instead of stating the limit.
    #[test]
    fn names_that_are_too_long_are_refused_with_their_limit() {
        let (long, longest) = ("n".repeat(201), "n".repeat(200));
        assert!(checked(map(json!({ longest: "customFields.x" }))).is_ok());
        let refused = checked(map(json!({ long: null }))).expect_err("the name has 201 bytes").text();
        assert_eq!(refused, "fieldMap: a field name has more than 200 bytes; remove this field from the mapping");
        let own = |length: usize| map(json!({ "a": format!("customFields.{}", "n".repeat(length)) }));
        assert!(checked(own(limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX)).is_ok());
        let refused =
            checked(own(limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX + 1)).expect_err("no contact can have the field").text();
        assert_eq!(refused, "fieldMap.a: a field name has 101 characters; shorten it to at most 100");
    }

    #[test]
    fn a_mapping_to_an_unknown_field_is_refused() {
        assert!(checked(map(json!({ "a": "firstName", "b": "customFields.x", "c": null }))).is_ok());
        for to in ["email", "status", "customFields.", "first_name"] {
            let refused = checked(map(json!({ "a": to }))).expect_err(to).text();
            assert!(refused.contains("fieldMap.a") && refused.contains("customFields.NAME"), "{refused}");
        }
    }
}
