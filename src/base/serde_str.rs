//! Serde support for values that are text in JSON and a validated type in code.
//!
//! Such types parse with [`FromStr`]; [`deserialize`] connects it to serde and passes the type's error message on unchanged. This module
//! does not depend on any of those types.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Deserializer;
use serde::de::{Error, Visitor};

/// Reads text and parses it; `expected` completes the message "expected …" for input that is not text.
pub fn deserialize<'de, T, D>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(Parsed { expected, parsed: PhantomData })
}

/// Rewrites a JSON parser's message for API users: removes the position in the text, because the path of the value is shown instead, and
/// the names of Rust types.
pub fn plain(message: &str) -> String {
    let message = message.rfind(" at line ").map_or(message, |end| &message[..end]);
    let Some((said, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    if let Some(value) = said.strip_prefix("unknown variant `").and_then(|rest| rest.strip_suffix('`')) {
        return format!("must be {}; {value:?} is not allowed", expected.replace('`', ""));
    }
    let expected = match expected.split(' ').next() {
        Some("struct" | "map" | "internally" | "adjacently") => "an object",
        Some("enum") => "one of the documented values",
        Some("sequence" | "tuple") => "a list",
        Some("u8") => "a whole number from 0 to 255",
        Some("u16") => "a whole number from 0 to 65535",
        Some("u32") => "a whole number from 0 to 4294967295",
        Some("u64" | "usize") => "a whole number from 0 to 18446744073709551615",
        Some("i8" | "i16" | "i32") => "a whole number",
        Some("i64" | "isize") => "a whole number from -9223372036854775808 to 9223372036854775807",
        Some("f32" | "f64") => "a number",
        _ if expected == "a sequence" => "a list",
        _ if expected == "a map" => "an object",
        _ if expected == "a boolean" => "true or false",
        _ => expected,
    };
    match said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: ")) {
        Some(found) => format!("must be {expected}, not {}", named(found)),
        None => format!("{said}, expected {expected}"),
    }
}

/// Returns the value that the JSON parser found, without the name of its Rust type.
fn named(found: &str) -> String {
    match found {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        _ => {
            let number = found.strip_prefix("integer ").or_else(|| found.strip_prefix("floating point "));
            let value = number.or_else(|| found.strip_prefix("boolean ")).map(|value| value.trim_matches('`').to_owned());
            value
                .or_else(|| found.strip_prefix("string ").map(|text| format!("the text {text}")))
                .unwrap_or_else(|| found.to_owned())
        }
    }
}

/// Returns the field that a JSON parser's message is about, and the message for the field. `path` is where the parser reported the
/// problem; it is `.` for the top level.
pub fn placed(path: &str, sentence: &str) -> (String, String) {
    let path = if path == "." { "" } else { path };
    // If a field is missing or occurs twice, the parser reports the path of the object, and only the message names the field.
    for (start, remedy) in
        [("missing field `", "the field is required"), ("duplicate field `", "the field occurs twice; send it once")]
    {
        if let Some(name) = sentence.strip_prefix(start).and_then(|rest| rest.strip_suffix('`')) {
            let inside = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            return (inside, remedy.to_owned());
        }
    }
    let unknown = sentence.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    match unknown.filter(|_| path.is_empty()) {
        Some(name) => (name.to_owned(), sentence.to_owned()),
        None => (path.to_owned(), sentence.to_owned()),
    }
}

struct Parsed<T> {
    expected: &'static str,
    parsed: PhantomData<T>,
}

/// Returns a description of a JSON value that is not an object, for an error message; `None` for an object.
pub fn other_than_object(json: &str) -> Option<&'static str> {
    match json.trim_start().bytes().next() {
        Some(b'{') => None,
        Some(b'[') => Some("a list"),
        Some(b'"') => Some("text"),
        Some(b't' | b'f') => Some("true or false"),
        Some(b'n') => Some("null"),
        _ => Some("a number"),
    }
}

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Parsed<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_an_object_is_named() {
        for (json, what) in [(" {}", None), ("[]", Some("a list")), ("-1", Some("a number")), ("null", Some("null"))] {
            assert_eq!(other_than_object(json), what);
        }
    }

    #[test]
    fn a_message_is_assigned_to_its_field() {
        for (path, sentence, field, said) in [
            (".", "missing field `name`", "name", "the field is required"),
            ("identifiers", "duplicate field `email`", "identifiers.email", "the field occurs twice; send it once"),
            (".", "unknown field `color`, expected `a` or `b`", "color", "unknown field `color`, expected `a` or `b`"),
            ("profile.tags", "unknown field `tags`, expected `a`", "profile.tags", "unknown field `tags`, expected `a`"),
            (".", "expected something else", "", "expected something else"),
            ("a[3]", "too long", "a[3]", "too long"),
        ] {
            assert_eq!(placed(path, sentence), (field.to_owned(), said.to_owned()), "{path} {sentence}");
        }
    }

    #[test]
    fn type_names_are_removed() {
        for (said, plainly) in [
            (
                "invalid type: string \"x\", expected struct NewContact at line 1 column 3",
                "must be an object, not the text \"x\"",
            ),
            ("invalid type: integer `1`, expected a sequence", "must be a list, not 1"),
            ("invalid type: map, expected a boolean", "must be true or false, not an object"),
            ("invalid type: null, expected a string", "must be a string, not null"),
            ("invalid value: integer `-1`, expected u64", "must be a whole number from 0 to 18446744073709551615, not -1"),
            (
                "invalid type: floating point `1e20`, expected i64",
                "must be a whole number from -9223372036854775808 to 9223372036854775807, not 1e20",
            ),
            ("invalid value: integer `300`, expected u8", "must be a whole number from 0 to 255, not 300"),
            ("unknown variant `x`, expected `a` or `b`", "must be a or b; \"x\" is not allowed"),
            ("unknown variant `x`, expected one of `a`, `b`, `c`", "must be one of a, b, c; \"x\" is not allowed"),
            ("unknown field `a`, expected one of `b`, `c`", "unknown field `a`, expected one of `b`, `c`"),
            ("missing field `a`", "missing field `a`"),
        ] {
            assert_eq!(plain(said), plainly);
        }
    }
}
