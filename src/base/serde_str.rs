//! Reading values that are text outside and a checked type inside.
//!
//! Every such type parses by [`FromStr`]; this is the one bridge from there to serde, so that the sentence a type gives as its
//! reason reaches the caller unchanged. It knows nothing about any of those types.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::Deserializer;
use serde::de::{Error, Visitor};

/// Read text and parse it; `expected` completes the sentence "expected …" when something else than text is found.
pub fn deserialize<'de, T, D>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_str(Parsed { expected, parsed: PhantomData })
}

/// A sentence of the JSON reader in words that its caller knows: without the position in the text, which says nothing that the path
/// of the value does not, and without names of our types.
pub fn plain(message: &str) -> String {
    let message = message.rfind(" at line ").map_or(message, |end| &message[..end]);
    let Some((said, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = match expected.split(' ').next() {
        Some("struct" | "map" | "internally" | "adjacently") => "an object",
        Some("enum") => "one of the words that the documentation lists",
        Some("sequence" | "tuple") => "a list",
        _ if expected == "a sequence" => "a list",
        _ if expected == "a map" => "an object",
        _ => expected,
    };
    format!("{said}, expected {expected}")
}

/// The field that a sentence of the JSON reader is about, and what is to be said of it: `path` leads to where it was said, and is `.`
/// at the top.
pub fn placed(path: &str, sentence: &str) -> (String, String) {
    let path = if path == "." { "" } else { path };
    // Of these the path is that of the object in which the field is, or is not.
    for (start, remedy) in [("missing field `", "it is required"), ("duplicate field `", "it is given twice; give it once")] {
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

/// What a JSON value is, if it is no object.
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
    fn what_is_no_object_is_called_by_its_name() {
        for (json, what) in [(" {}", None), ("[]", Some("a list")), ("-1", Some("a number")), ("null", Some("null"))] {
            assert_eq!(other_than_object(json), what);
        }
    }

    #[test]
    fn a_sentence_is_told_of_the_field_that_it_is_about() {
        for (path, sentence, field, said) in [
            (".", "missing field `name`", "name", "it is required"),
            ("identifiers", "duplicate field `email`", "identifiers.email", "it is given twice; give it once"),
            (".", "unknown field `colour`, expected `a` or `b`", "colour", "unknown field `colour`, expected `a` or `b`"),
            ("profile.tags", "unknown field `tags`, expected `a`", "profile.tags", "unknown field `tags`, expected `a`"),
            (".", "expected something else", "", "expected something else"),
            ("a[3]", "too long", "a[3]", "too long"),
        ] {
            assert_eq!(placed(path, sentence), (field.to_owned(), said.to_owned()), "{path} {sentence}");
        }
    }

    #[test]
    fn names_of_types_are_not_told() {
        for (said, plainly) in [
            (
                "invalid type: string \"x\", expected struct NewContact at line 1 column 3",
                "invalid type: string \"x\", expected an object",
            ),
            ("invalid type: integer `1`, expected a sequence", "invalid type: integer `1`, expected a list"),
            ("unknown field `a`, expected one of `b`, `c`", "unknown field `a`, expected one of `b`, `c`"),
            ("missing field `a`", "missing field `a`"),
        ] {
            assert_eq!(plain(said), plainly);
        }
    }
}
