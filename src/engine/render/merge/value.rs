//! The values of merge fields, and the trait that looks them up.

use std::borrow::Cow;

use serde_json::{Map, Number, Value as Json};

use super::ast::Word;

/// The data of one recipient. A lookup finds only the exact name; the caller tries both spellings of a name, such as `firstName` and
/// `first_name`.
pub trait Fields {
    /// Returns the value with this name, or [`Value::Missing`] if there is none.
    fn field(&self, name: &str) -> Value<'_>;
}

impl Fields for Map<String, Json> {
    fn field(&self, name: &str) -> Value<'_> {
        self.get(name).map_or(Value::Missing, Value::from)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// There is no value, or the value is null.
    Missing,
    Text(Cow<'a, str>),
    Number(Number),
    Truth(bool),
    List(Cow<'a, [Json]>),
    Map(Cow<'a, Map<String, Json>>),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Value::Missing, Value::from)
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Value::Missing,
            Json::Bool(truth) => Value::Truth(*truth),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::Text(Cow::Borrowed(text)),
            Json::Array(items) => Value::List(Cow::Borrowed(items)),
            Json::Object(entries) => Value::Map(Cow::Borrowed(entries)),
        }
    }
}

impl From<Json> for Value<'_> {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Value::Missing,
            Json::Bool(truth) => Value::Truth(truth),
            Json::Number(number) => Value::Number(number),
            Json::String(text) => Value::Text(Cow::Owned(text)),
            Json::Array(items) => Value::List(Cow::Owned(items)),
            Json::Object(entries) => Value::Map(Cow::Owned(entries)),
        }
    }
}

impl<'a> Value<'a> {
    pub fn is_missing(&self) -> bool {
        matches!(self, Value::Missing)
    }

    /// Returns whether `default(…)` replaces the value: it is missing, or is a blank string.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Value::Missing => true,
            Value::Text(text) => text.trim().is_empty(),
            Value::Number(_) | Value::Truth(_) | Value::List(_) | Value::Map(_) => false,
        }
    }

    /// Returns whether the value is true as a condition.
    pub(super) fn holds(&self) -> bool {
        match self {
            Value::Missing => false,
            Value::Text(text) => !text.trim().is_empty(),
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::Truth(truth) => *truth,
            Value::List(items) => !items.is_empty(),
            Value::Map(entries) => !entries.is_empty(),
        }
    }

    /// Returns the value as text, or `None` if it is a list, a map or missing.
    pub(super) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Value::Text(text) => Some(text),
            Value::Number(number) => Some(Cow::Owned(number_text(&number))),
            Value::Truth(truth) => Some(Cow::Borrowed(if truth { "true" } else { "false" })),
            Value::Missing | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// Returns the value as a number. A string that contains a number is converted too, because imported columns contain only strings.
    pub(super) fn as_number(&self) -> Option<f64> {
        let number = match self {
            Value::Number(number) => number.as_f64(),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Missing | Value::Truth(_) | Value::List(_) | Value::Map(_) => None,
        };
        number.filter(|number| number.is_finite())
    }

    fn entry(self, word: &Word) -> Value<'a> {
        let names = [Some(&word.given), word.other.as_ref()];
        let mut names = names.into_iter().flatten();
        match self {
            Value::Map(Cow::Borrowed(entries)) => names.find_map(|name| entries.get(&**name)).map_or(Value::Missing, Value::from),
            Value::Map(Cow::Owned(mut entries)) => {
                names.find_map(|name| entries.remove(&**name)).map_or(Value::Missing, Value::from)
            }
            _ => Value::Missing,
        }
    }

    /// Returns the value at a path inside this value.
    pub(super) fn descend(self, words: &[Word]) -> Value<'a> {
        words.iter().fold(self, Value::entry)
    }
}

pub(super) fn look_up<'a>(fields: &'a dyn Fields, words: &[Word]) -> Value<'a> {
    let Some((first, rest)) = words.split_first() else { return Value::Missing };
    let mut value = fields.field(&first.given);
    if let (Value::Missing, Some(other)) = (&value, &first.other) {
        value = fields.field(other);
    }
    value.descend(rest)
}

/// Writes a number, without the `.0` of a whole number.
pub(super) fn number_text(number: &Number) -> String {
    let text = number.to_string();
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}
