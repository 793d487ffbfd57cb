//! A field of a partial update: absent, cleared, or set.
//!
//! A field of this type must have `#[serde(default)]`: otherwise serde reads an absent field as `null`, which would clear the field. The
//! type does not implement `Serialize`, because it is for input only, never for storage or output.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};

/// The change to one field in a partial update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Absent,
    /// The input is `null`: the field is cleared.
    Null,
    Value(T),
}

impl<T> Patch<T> {
    /// Applies the change to `current`.
    pub fn apply(self, current: &mut Option<T>) {
        match self {
            Self::Absent => {}
            Self::Null => *current = None,
            Self::Value(value) => *current = Some(value),
        }
    }

    /// Returns whether the input contains the field.
    pub fn is_given(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Converts the new value, if there is one, with `change`.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Self::Absent => Patch::Absent,
            Self::Null => Patch::Null,
            Self::Value(value) => Patch::Value(change(value)),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Self::Null, Self::Value))
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Change {
        #[serde(default)]
        phone: Patch<String>,
    }

    fn read(json: &str) -> Patch<String> {
        serde_json::from_str::<Change>(json).expect(json).phone
    }

    #[test]
    fn distinguishes_absent_null_and_set() {
        assert_eq!(read("{}"), Patch::Absent);
        assert_eq!(read(r#"{"phone":null}"#), Patch::Null);
        assert_eq!(read(r#"{"phone":"112"}"#), Patch::Value("112".to_owned()));
        assert!(serde_json::from_str::<Change>(r#"{"phone":112}"#).is_err());
    }

    #[test]
    fn applies_each_kind_of_change() {
        let changed = |patch: Patch<u8>| {
            let mut current = Some(1);
            patch.apply(&mut current);
            current
        };
        assert_eq!([changed(Patch::Absent), changed(Patch::Null), changed(Patch::Value(2))], [Some(1), None, Some(2)]);
    }

    #[test]
    fn its_schema_is_nullable_and_not_required() {
        let schema = serde_json::to_value(schemars::schema_for!(Change)).expect("a schema can be written as JSON");
        assert_eq!(schema["properties"]["phone"], serde_json::json!({ "type": ["string", "null"] }));
        assert_eq!(schema.get("required"), None);
    }
}
