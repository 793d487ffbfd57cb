//! Amounts of money as exact decimals, parsed from and written as the text of a JSON number. No floating point is involved.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The maximum number of decimal places: enough for floating-point numbers with rounding errors, like 59.970000000000006.
const DECIMALS: i64 = 18;
/// The maximum number of digits before the decimal point. Sums of a hundred million such numbers still fit in an `i128`.
const WHOLE_DIGITS: i64 = 12;
const ONE: i128 = 10_i128.pow(DECIMALS as u32);

/// An amount in the major units of a currency, exact to 18 decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(i128);

/// Why a number is not accepted as an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountError {
    NoNumber,
    TooLarge,
    TooFine,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber => f.write_str("must be a number like 49.90"),
            Self::TooLarge => write!(f, "use at most {WHOLE_DIGITS} digits before the decimal point"),
            Self::TooFine => write!(f, "use at most {DECIMALS} decimals"),
        }
    }
}

impl Amount {
    pub const ZERO: Self = Self(0);

    /// Parses an amount from the text of a JSON number.
    pub fn parse(number: &str) -> Result<Self, AmountError> {
        let (negative, rest) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|digit| digit.is_ascii_digit()) {
            return Err(AmountError::NoNumber);
        }
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        let dropped = (digits.len() - significant.len()) as i64;
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return Ok(Self::ZERO);
        }
        // The number equals `significant` times ten to the power of `power`.
        let power = exponent.saturating_sub(fraction.len() as i64).saturating_add(dropped);
        if power.saturating_add(significant.len() as i64) > WHOLE_DIGITS {
            return Err(AmountError::TooLarge);
        }
        if power < -DECIMALS {
            return Err(AmountError::TooFine);
        }
        let units: i128 = significant.parse().map_err(|_| AmountError::TooFine)?;
        let units = units * 10_i128.pow(u32::try_from(power + DECIMALS).expect("the exponent was checked not to be negative"));
        Ok(Self(if negative { -units } else { units }))
    }

    pub fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Returns the amount without its sign.
    pub fn size(self) -> Self {
        Self(self.0.abs())
    }

    /// Returns the sum, which saturates instead of overflowing.
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference, which saturates instead of overflowing.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

fn read_exponent(text: &str) -> Result<i64, AmountError> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(AmountError::NoNumber);
    }
    // An exponent that does not fit in a `u32` is replaced with the largest `u32`: with either exponent, the amount is out of range or
    // zero.
    let size = digits.parse::<u32>().unwrap_or(u32::MAX);
    Ok(if negative { -i64::from(size) } else { i64::from(size) })
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = ((self.0 / ONE).unsigned_abs(), (self.0 % ONE).unsigned_abs());
        let sign = if self.0 < 0 { "-" } else { "" };
        if fraction == 0 {
            return write!(f, "{sign}{whole}");
        }
        let fraction = format!("{fraction:0width$}", width = DECIMALS as usize);
        write!(f, "{sign}{whole}.{}", fraction.trim_end_matches('0'))
    }
}

/// In JSON, an amount is a number with all its digits; in the store, it is an `i128` in units of 10⁻¹⁸.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        RawValue::from_string(self.to_string()).expect("a decimal number is valid JSON").serialize(serializer)
    }
}

/// Deserializes only the stored form. Input is parsed with [`Amount::parse`].
impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i128::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(number: &str) -> String {
        Amount::parse(number).map_or_else(|error| error.to_string(), |amount| amount.to_string())
    }

    #[test]
    fn numbers_keep_every_digit_in_any_notation() {
        for (number, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("0.0", "0"),
            ("49.9", "49.9"),
            ("49.90", "49.9"),
            ("0.1", "0.1"),
            ("-0.01", "-0.01"),
            ("100", "100"),
            ("1e2", "100"),
            ("1.5E+3", "1500"),
            ("12345e-2", "123.45"),
            ("59.970000000000006", "59.970000000000006"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("999999999999", "999999999999"),
            ("999999999999.99", "999999999999.99"),
            ("0e999999999999", "0"),
        ] {
            assert_eq!(canonical(number), expected, "{number}");
        }
    }

    #[test]
    fn numbers_too_large_or_too_fine_and_other_text_are_rejected() {
        for number in ["1000000000000", "1e12", "1e999999999999", "-1e300"] {
            assert_eq!(Amount::parse(number), Err(AmountError::TooLarge), "{number}");
        }
        for number in ["0.0000000000000000001", "1e-19", "1e-999999999999"] {
            assert_eq!(Amount::parse(number), Err(AmountError::TooFine), "{number}");
        }
        for number in ["", "-", "x", "1.2.3", "1e", "--1", ".5", "1e+-2"] {
            assert_eq!(Amount::parse(number), Err(AmountError::NoNumber), "{number}");
        }
    }

    #[test]
    fn a_tenth_three_times_is_three_tenths() {
        let tenth = Amount::parse("0.1").expect("the amount is valid");
        assert_eq!(tenth.plus(tenth).plus(tenth), Amount::parse("0.3").expect("the amount is valid"));
        assert_eq!(serde_json::to_string(&tenth.minus(tenth.plus(tenth))).expect("an amount can be written as JSON"), "-0.1");
    }

    proptest! {
        #[test]
        fn written_amounts_parse_back_and_sums_have_no_order(one in -999_999_999_999_999_i64.., other in any::<i64>()) {
            let (one, other) = (Amount(i128::from(one) * 1_000_007), Amount(i128::from(other) * 999_983));
            prop_assert_eq!(Amount::parse(&one.to_string()), Ok(one));
            prop_assert_eq!(one.plus(other), other.plus(one));
            prop_assert_eq!(one.plus(other).minus(other), one);
        }
    }
}
