//! Values of custom fields: JSON of limited size and depth, in a form that can be stored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::strict_objects::{ROUNDED, is_rounded};
use crate::vocab::limits;

/// The value of a custom field: plain JSON in requests and responses, tagged with its type in the store.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue {
    Null,
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<FieldValue>),
    Map(BTreeMap<String, FieldValue>),
}

/// A value as the store contains it, tagged with its type.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FieldValue")]
enum Stored {
    Null,
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    List(Vec<FieldValue>),
    Map(BTreeMap<String, FieldValue>),
}

impl FieldValue {
    /// Returns the value as a user would write it; returns `None` for null, lists and objects.
    pub fn as_text(&self) -> Option<std::borrow::Cow<'_, str>> {
        match self {
            FieldValue::Text(text) => Some(text.into()),
            FieldValue::Whole(number) => Some(number.to_string().into()),
            FieldValue::Number(number) => Some(number.to_string().into()),
            FieldValue::Bool(true) => Some("true".into()),
            FieldValue::Bool(false) => Some("false".into()),
            FieldValue::Null | FieldValue::List(_) | FieldValue::Map(_) => None,
        }
    }

    fn depth(&self) -> usize {
        match self {
            FieldValue::List(items) => 1 + items.iter().map(FieldValue::depth).max().unwrap_or(0),
            FieldValue::Map(entries) => 1 + entries.values().map(FieldValue::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            FieldValue::Null | FieldValue::Bool(_) => 5,
            FieldValue::Whole(_) | FieldValue::Number(_) => 8,
            FieldValue::Text(text) => text.len() + 2,
            FieldValue::List(items) => 2 + items.iter().map(|item| item.bytes() + 1).sum::<usize>(),
            FieldValue::Map(entries) => entries_bytes(entries),
        }
    }
}

fn entries_bytes(entries: &BTreeMap<String, FieldValue>) -> usize {
    2 + entries.iter().map(|(name, value)| name.len() + value.bytes() + 4).sum::<usize>()
}

/// Returns why no field can have this name; `None` if the name is neither blank nor too long.
pub fn name_refusal(name: &str) -> Option<String> {
    let (max, count) = (limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX, name.chars().count());
    match (name.trim().is_empty(), count > max) {
        (true, _) => Some("a field name is blank; enter a name".to_owned()),
        (_, true) => Some(format!("a field name has {count} characters; shorten it to at most {max}")),
        _ => None,
    }
}

/// Returns why the custom fields cannot be stored, or `None` if they can be stored.
pub fn refusal(fields: &BTreeMap<String, FieldValue>) -> Option<String> {
    if fields.len() > limits::CUSTOM_FIELDS_MAX {
        return Some(format!(
            "at most {} fields are allowed, but there are {}; remove some",
            limits::CUSTOM_FIELDS_MAX,
            fields.len()
        ));
    }
    let bytes = entries_bytes(fields);
    if bytes > limits::CUSTOM_FIELDS_BYTES_MAX {
        let max = limits::CUSTOM_FIELDS_BYTES_MAX;
        return Some(format!("all fields together can have at most {max} bytes, but have {bytes}; shorten some"));
    }
    for (name, value) in fields {
        if let Some(reason) = name_refusal(name) {
            return Some(reason);
        }
        if name.chars().any(char::is_control) {
            return Some(format!("the name {name:?} contains a control character; remove the character"));
        }
        if value.depth() >= limits::CUSTOM_FIELDS_DEPTH_MAX {
            return Some(format!(
                "\"{name}\" is nested too deeply; it can have at most {} levels of lists and objects",
                limits::CUSTOM_FIELDS_DEPTH_MAX - 1
            ));
        }
    }
    None
}

impl Serialize for FieldValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return Stored::serialize(self, serializer);
        }
        match self {
            FieldValue::Null => serializer.serialize_unit(),
            FieldValue::Bool(value) => serializer.serialize_bool(*value),
            FieldValue::Whole(value) => serializer.serialize_i64(*value),
            FieldValue::Number(value) => serializer.serialize_f64(*value),
            FieldValue::Text(value) => serializer.serialize_str(value),
            FieldValue::List(items) => items.serialize(serializer),
            FieldValue::Map(entries) => entries.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FieldValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() { deserializer.deserialize_any(Any) } else { Stored::deserialize(deserializer) }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = FieldValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<FieldValue, E> {
        Ok(FieldValue::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<FieldValue, E> {
        Ok(FieldValue::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<FieldValue, E> {
        Ok(FieldValue::Whole(value))
    }
    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<FieldValue, E> {
        i64::try_from(value).map(FieldValue::Whole).map_err(|_| E::custom(ROUNDED))
    }
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<FieldValue, E> {
        if is_rounded(value) { Err(E::custom(ROUNDED)) } else { Ok(FieldValue::Number(value)) }
    }
    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<FieldValue, E> {
        if value.contains('\0') {
            return Err(E::custom("a string must not contain the character U+0000; remove it"));
        }
        Ok(FieldValue::Text(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<FieldValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(FieldValue::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<FieldValue, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((name, value)) = entries.next_entry::<String, FieldValue>()? {
            match map.entry(name) {
                Entry::Vacant(free) => {
                    free.insert(value);
                }
                Entry::Occupied(taken) => {
                    return Err(A::Error::custom(format_args!("an object contains {:?} twice; remove one", taken.key())));
                }
            }
        }
        Ok(FieldValue::Map(map))
    }
}

impl JsonSchema for FieldValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FieldValue".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        value_schema(limits::CUSTOM_FIELDS_DEPTH_MAX - 1)
    }
}

/// Returns the schema of a value that has at most `levels` levels of nested lists and objects.
fn value_schema(levels: usize) -> Schema {
    // Each keyword of the schema applies only to values of one type, such as `pattern` to strings. A string can contain any character
    // except U+0000.
    let text = r"^[^\x00]*$";
    if levels == 0 {
        return json_schema!({
            "type": ["null", "boolean", "number", "string"], "pattern": text, "minimum": i64::MIN, "maximum": i64::MAX,
        });
    }
    let inside = value_schema(levels - 1);
    let types = ["null", "boolean", "number", "string", "array", "object"];
    json_schema!({
        "type": types, "pattern": text, "minimum": i64::MIN, "maximum": i64::MAX, "items": inside, "additionalProperties": inside,
    })
}

/// Parses custom fields from a request: null, or an object in which every name is unique.
pub fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BTreeMap<String, FieldValue>>, D::Error> {
    match FieldValue::deserialize(deserializer)? {
        FieldValue::Null => Ok(None),
        FieldValue::Map(fields) => Ok(Some(fields)),
        _ => Err(D::Error::custom("must be an object that maps names to values")),
    }
}

/// Adds the limits on the number and the names of custom fields to their input schema.
pub fn describe(schema: &mut Schema) {
    let name = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";
    let names = json_schema!({ "maxLength": limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX, "pattern": name });
    schema.insert("maxProperties".into(), limits::CUSTOM_FIELDS_MAX.into());
    schema.insert("propertyNames".into(), names.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Input {
        #[serde(default, deserialize_with = "given")]
        fields: Option<BTreeMap<String, FieldValue>>,
    }

    #[test]
    fn a_blank_name_and_a_long_one_have_errors_of_their_own() {
        let long = "n".repeat(limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX + 1);
        assert!(name_refusal(" ").is_some_and(|reason| reason.contains("is blank")));
        assert!(name_refusal(&long).is_some_and(|reason| reason.contains("has 101 characters")));
        assert_eq!(name_refusal(&long[1..]), None);
    }

    #[test]
    fn a_repeated_name_is_refused_at_every_level() {
        for json in [r#"{"fields":{"plan":"a","plan":"b"}}"#, r#"{"fields":{"address":{"city":"a","city":"b"}}}"#] {
            let error = serde_json::from_str::<Input>(json).expect_err(json).to_string();
            assert!(error.contains("twice; remove one"), "{error}");
        }
        for json in ["{}", r#"{"fields":null}"#] {
            assert!(serde_json::from_str::<Input>(json).expect(json).fields.is_none());
        }
        assert!(serde_json::from_str::<Input>(r#"{"fields":[]}"#).is_err());
    }
}
