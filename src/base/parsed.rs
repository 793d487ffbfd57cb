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

struct Parsed<T> {
    expected: &'static str,
    parsed: PhantomData<T>,
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
