//! The properties of an event: JSON that is checked against the limits and stored as received.

use std::collections::HashSet;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::vocab::limits;

const VALUE: &str = "value";
const CURRENCY: &str = "currency";

/// The properties of an event, within the limits.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// The JSON text, as received.
    pub json: String,
    /// The text of the property `value`, if `value` is a number.
    pub value: Option<String>,
    /// Whether `value` is present and neither a number nor null.
    pub has_other_value: bool,
    /// The JSON of the property `currency`; `None` if `currency` is absent or null.
    pub currency: Option<String>,
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        let max = limits::EVENT_PROPERTIES_BYTES_MAX;
        if json.len() > max {
            return Err(D::Error::custom(format_args!(
                "is {} bytes long as JSON, but can be at most {max} bytes long; shorten it",
                json.len()
            )));
        }
        let mut properties = Self::default();
        let mut reader = serde_json::Deserializer::from_str(&json);
        Top(&mut properties).deserialize(&mut reader).map_err(|error| {
            let said = crate::base::serde_str::plain(&error.to_string());
            D::Error::custom(said)
        })?;
        properties.json = json.into_string();
        Ok(properties)
    }
}

/// Reads the top-level object of the properties and keeps its `value` and `currency`.
struct Top<'p>(&'p mut Properties);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with names and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = entries.next_key::<String>()? {
            if names.len() == limits::EVENT_PROPERTIES_KEYS_MAX {
                return Err(A::Error::custom(format_args!(
                    "an event can have at most {} top-level properties; remove some of them",
                    limits::EVENT_PROPERTIES_KEYS_MAX
                )));
            }
            let place = match name.as_str() {
                VALUE => Some(&mut self.0.value),
                CURRENCY => Some(&mut self.0.currency),
                _ => None,
            };
            match place {
                Some(place) => {
                    let json = entries.next_value::<&RawValue>()?.get();
                    let mut reader = serde_json::Deserializer::from_str(json);
                    let is_number = json.starts_with(|first: char| first == '-' || first.is_ascii_digit());
                    let is_value = name == VALUE && is_number;
                    // The digits of a number can exceed the precision of a built-in number type, so the number is kept as text and not
                    // parsed here.
                    if !is_value {
                        Inside { levels: 1 }.deserialize(&mut reader).map_err(A::Error::custom)?;
                    }
                    let kept = if name == VALUE { is_value } else { json != "null" };
                    *place = kept.then(|| json.to_owned());
                    self.0.has_other_value |= name == VALUE && !is_value && json != "null";
                }
                None => entries.next_value_seed(Inside { levels: 1 })?,
            }
            if let Some(name) = names.replace(name) {
                return Err(A::Error::custom(format_args!("an object contains {name:?} twice; remove one")));
            }
        }
        Ok(())
    }
}

/// Checks a value that is nested in this many levels of objects and lists.
#[derive(Clone, Copy)]
struct Inside {
    levels: usize,
}

impl Inside {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let max = limits::EVENT_PROPERTIES_LEVELS_MAX;
        if self.levels == max {
            return Err(E::custom(format_args!("objects and lists can be nested at most {max} levels deep; flatten them")));
        }
        Ok(Self { levels: self.levels + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Inside {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inside {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let inside = self.deeper()?;
        while items.next_element_seed(inside)?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let inside = self.deeper()?;
        let mut names = HashSet::new();
        while let Some(name) = entries.next_key::<String>()? {
            if let Some(name) = names.replace(name) {
                return Err(A::Error::custom(format_args!("an object contains {name:?} twice; remove one")));
            }
            entries.next_value_seed(inside)?;
        }
        Ok(())
    }
}

impl JsonSchema for Properties {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventProperties".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "maxProperties": limits::EVENT_PROPERTIES_KEYS_MAX,
            "additionalProperties": inside_schema(limits::EVENT_PROPERTIES_LEVELS_MAX - 1),
        })
    }
}

/// Returns the schema of a value with at most this many levels of lists and objects.
fn inside_schema(levels: usize) -> Schema {
    if levels == 0 {
        return json_schema!({ "type": ["null", "boolean", "number", "string"] });
    }
    let inside = inside_schema(levels - 1);
    let types = ["null", "boolean", "number", "string", "array", "object"];
    json_schema!({ "type": types, "items": inside, "additionalProperties": inside })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Properties, String> {
        serde_json::from_str(json).map_err(|error: serde_json::Error| error.to_string())
    }

    /// Returns a JSON object of exactly this many bytes.
    fn of_bytes(many: usize) -> String {
        format!("{{\"a\":\"{}\"}}", "x".repeat(many - 8))
    }

    fn of_names(many: usize) -> String {
        let names: Vec<String> = (0..many).map(|name| format!("\"n{name}\":0")).collect();
        format!("{{{}}}", names.join(","))
    }

    fn of_levels(many: usize, open: &str, close: &str) -> String {
        format!("{{\"a\":{}1{}}}", open.repeat(many - 1), close.repeat(many - 1))
    }

    #[test]
    fn sixteen_kilobytes_of_text_are_accepted() {
        for (many, taken) in [(16_383, true), (16_384, true), (16_385, false)] {
            assert_eq!(of_bytes(many).len(), many);
            assert_eq!(read(&of_bytes(many)).is_ok(), taken, "{many}");
        }
        let spaced = format!("{{\"a\":1{}}}", " ".repeat(16_384));
        assert!(read(&spaced).expect_err("spaces are part of the size").contains("at most 16384 bytes"));
        let two_bytes_each = format!("{{\"a\":\"{}\"}}", "é".repeat(8_188));
        assert_eq!((two_bytes_each.len(), read(&two_bytes_each).is_ok()), (16_384, true));
        assert!(read(&format!("{{\"a\":\"é{}\"}}", "é".repeat(8_188))).is_err(), "bytes are counted, not characters");
    }

    #[test]
    fn fifty_top_level_names_and_any_number_of_nested_names_are_accepted() {
        for (many, taken) in [(0, true), (49, true), (50, true), (51, false)] {
            assert_eq!(read(&of_names(many)).is_ok(), taken, "{many}");
        }
        assert!(read(&format!("{{\"a\":{}}}", of_names(200))).is_ok());
    }

    #[test]
    fn four_levels_of_objects_and_lists_are_accepted() {
        for (many, taken) in [(1, true), (3, true), (4, true), (5, false), (100, false)] {
            assert_eq!(read(&of_levels(many, "{\"a\":", "}")).is_ok(), taken, "{many} objects");
            assert_eq!(read(&of_levels(many, "[", "]")).is_ok(), taken, "{many} with lists");
        }
        assert!(read(r#"{"value":[[[1]]],"currency":{"a":{"b":{}}}}"#).is_ok());
        assert!(read(r#"{"value":[[[[1]]]]}"#).expect_err("the value has five levels").contains("at most 4 levels deep"));
    }

    #[test]
    fn a_repeated_name_is_refused_at_every_level() {
        for json in [r#"{"a":1,"a":1}"#, r#"{"value":1,"value":2}"#, r#"{"a":{"b":1,"b":2}}"#, r#"{"a":[{"b":1,"\u0062":2}]}"#] {
            assert!(read(json).expect_err(json).contains("twice; remove one"), "{json}");
        }
    }

    #[test]
    fn only_an_object_is_accepted_and_it_is_stored_as_received() {
        for json in ["[]", "1", "\"a\"", "true"] {
            assert!(read(json).expect_err(json).contains("an object with names and values"), "{json}");
        }
        let sent = "{ \"b\" : 1.10,\n\"a\":\"\\u00e9\" }";
        assert_eq!(read(sent).expect("the properties are valid").json, sent);
    }

    #[test]
    fn only_a_number_is_a_value_and_its_text_is_kept() {
        let value = |json: &str| read(json).expect(json).value;
        assert_eq!(value(r#"{"value":49.90}"#).as_deref(), Some("49.90"));
        assert_eq!(value(r#"{"value":-1e400}"#).as_deref(), Some("-1e400"));
        for json in ["{}", r#"{"value":"49.90"}"#, r#"{"value":null}"#, r#"{"value":[1]}"#, r#"{"value":true}"#] {
            assert_eq!(value(json), None, "{json}");
        }
    }
}
