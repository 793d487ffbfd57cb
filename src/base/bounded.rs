//! Whole numbers whose range is guaranteed by their type.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A whole number from `MIN` to `MAX`, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Bounded<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Bounded<MIN, MAX> {
    pub fn new(number: u64) -> Option<Self> {
        (MIN..=MAX).contains(&number).then_some(Self(number))
    }

    pub fn get(self) -> u64 {
        self.0
    }

    pub fn seconds(self) -> std::time::Duration {
        std::time::Duration::from_secs(self.0)
    }

    /// Returns the number as a `usize`, for counts of objects in memory.
    pub fn count(self) -> usize {
        usize::try_from(self.0).expect("the service runs on 64-bit machines only")
    }
}

impl<const MIN: u64, const MAX: u64> fmt::Display for Bounded<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Bounded<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<const MIN: u64, const MAX: u64>;
        impl<const MIN: u64, const MAX: u64> Visitor<'_> for Number<MIN, MAX> {
            type Value = Bounded<MIN, MAX>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {MIN} to {MAX}")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Bounded::new(number).ok_or_else(|| outside(number, MIN, MAX))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                u64::try_from(number).ok().and_then(Bounded::new).ok_or_else(|| outside(number, MIN, MAX))
            }

            /// JSON has only one kind of number: 5.0 equals 5, and some clients send whole numbers with a decimal point.
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                let whole = number.fract() == 0.0 && (0.0..=i64::MAX as f64).contains(&number);
                let bounded = if whole { Bounded::new(number as u64) } else { None };
                bounded.ok_or_else(|| outside(number, MIN, MAX))
            }
        }
        deserializer.deserialize_i64(Number)
    }
}

fn outside<E: Error>(found: impl fmt::Display, min: u64, max: u64) -> E {
    E::custom(format_args!("must be a whole number from {min} to {max}, not {found}"))
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Bounded<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("From{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_the_ends_of_the_range_but_no_number_outside() {
        let read =
            |text: &str| serde_json::from_str::<Bounded<1, 100>>(text).map(Bounded::get).map_err(|error| error.to_string());
        assert_eq!((read("1"), read("100")), (Ok(1), Ok(100)));
        for outside in ["0", "101", "-1"] {
            let error = read(outside).expect_err(outside);
            assert!(error.starts_with(&format!("must be a whole number from 1 to 100, not {outside}")), "{error}");
        }
        assert!(read("1.5").is_err() && read("\"5\"").is_err());
    }
}
