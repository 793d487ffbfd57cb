//! A phone number as people write it.
//!
//! The API defines a phone number as free-form text. Numbers are shown and passed on, never dialed, so national numbering plans do not
//! matter here.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::serde_str;

/// The maximum number of characters that the API accepts.
pub const PHONE_CHARACTERS_MAX: usize = 30;

/// A phone number: at most 30 characters, at least one of them a digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phone(Box<str>);

impl Phone {
    /// Validates a phone number. Surrounding spaces are removed.
    pub fn parse(given: &str) -> Result<Self, PhoneError> {
        let text = given.trim();
        if text.is_empty() {
            return Err(PhoneError::Empty);
        }
        if text.chars().count() > PHONE_CHARACTERS_MAX {
            return Err(PhoneError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PhoneError::ControlCharacter);
        }
        // Digits of any script are accepted, because people write numbers in their own script.
        if !text.chars().any(char::is_numeric) {
            return Err(PhoneError::NoDigit);
        }
        Ok(Self(text.into()))
    }

    /// Returns the number in its original spelling, without surrounding spaces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0.into_string()
    }
}

/// Why a string is not a phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhoneError {
    Empty,
    TooLong,
    ControlCharacter,
    NoDigit,
}

impl fmt::Display for PhoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => {
                "The phone number is empty; enter a number, omit the field, or set the field to `null` to clear the number."
            }
            Self::TooLong => "The phone number is longer than 30 characters; shorten it.",
            Self::ControlCharacter => {
                "The phone number contains a control character; remove the character, or type the number again."
            }
            Self::NoDigit => "The phone number contains no digits; enter a number like +44 20 7946 0958.",
        })
    }
}

impl std::error::Error for PhoneError {}

impl FromStr for Phone {
    type Err = PhoneError;

    fn from_str(given: &str) -> Result<Self, PhoneError> {
        Self::parse(given)
    }
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Phone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Phone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "a phone number as a string")
    }
}

impl JsonSchema for Phone {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Phone".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The pattern allows no control characters and requires a digit.
        let pattern = r"^[^\x00-\x1f\x7f-\x9f]*\d[^\x00-\x1f\x7f-\x9f]*$";
        json_schema!({ "type": "string", "minLength": 1, "maxLength": PHONE_CHARACTERS_MAX, "pattern": pattern })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_numbers_as_people_write_them() {
        for given in ["+44 20 7946 0958", "(030) 12-34", "112", "٠١٢٣", "555 0100 ext. 7"] {
            assert_eq!(Phone::parse(&format!(" {given} ")).map(|phone| phone.to_string()), Ok(given.to_owned()));
        }
    }

    #[test]
    fn the_limit_is_in_characters_rather_than_bytes() {
        assert!(Phone::parse(&"٠".repeat(30)).is_ok());
        assert_eq!(Phone::parse(&"1".repeat(31)), Err(PhoneError::TooLong));
    }

    #[test]
    fn rejects_with_the_reason() {
        assert_eq!(Phone::parse(" "), Err(PhoneError::Empty));
        assert_eq!(Phone::parse("none"), Err(PhoneError::NoDigit));
        assert_eq!(Phone::parse("12\u{0}3"), Err(PhoneError::ControlCharacter));
    }
}
