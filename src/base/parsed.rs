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
