//! Tests one field's value, independently of the kind of row or record that contains the value.
//!
//! The rules: In a text comparison, *strings* are compared in folded form (`base::text::fold`: lowercase, one Unicode form), and numbers
//! and booleans in the form in which users write them. A *list* passes if one of its items passes; objects and null have no value. *Dates*
//! are UTC days or moments; a string that is not a date is neither before nor after any date. In a number comparison, *numbers* and numeric
//! strings are compared in double precision. A negated mode is the exact opposite of the mode that it negates, so contacts without the
//! field pass it.

use std::io::Write;
use std::ops::{Bound, RangeBounds};

use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::base::text::fold;

/// A value in a row. A string has not been validated as UTF-8, because most comparisons need only its bytes.
#[derive(Clone, Copy, Debug)]
pub enum RowValue<'a> {
    Text(&'a [u8]),
    Whole(i64),
    Number(f64),
    Bool(bool),
}

/// A comparison that a single value passes or fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Text(TextTest),
    Time(Period),
    Number(Bound<f64>, Bound<f64>),
}

/// The part of a string that must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPosition {
    Whole,
    Start,
    End,
    Anywhere,
}

/// A comparison with text. It passes if the value contains one of the `needles` at `position`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextTest {
    pub position: TextPosition,
    /// The strings to search for. Invariant: folded and never empty.
    pub needles: Vec<String>,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns the period that a date (a whole day) or a date-time (a millisecond) denotes; `None` if the string is neither.
pub fn period(text: &str) -> Option<Period> {
    let text = text.trim();
    // Every accepted form begins with a four-digit year and a hyphen. This check quickly excludes other strings, such as telephone numbers.
    if text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let utc =
        |moment: jiff::civil::DateTime| jiff::tz::TimeZone::UTC.to_timestamp(moment).ok().map(jiff::Timestamp::as_millisecond);
    if text.len() == 10 {
        let from = utc(text.parse::<jiff::civil::Date>().ok()?.to_datetime(jiff::civil::Time::midnight()))?;
        return Some(Period { from: Timestamp(from), to: Timestamp(from + DAY_MS) });
    }
    let with_offset = text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    let from = with_offset.or_else(|| utc(text.parse().ok()?))?;
    Some(Period { from: Timestamp(from), to: Timestamp(from + 1) })
}

/// Returns the UTC day that contains the given time.
pub fn day_of(at: Timestamp) -> Period {
    let from = at.0.div_euclid(DAY_MS) * DAY_MS;
    Period { from: Timestamp(from), to: Timestamp(from + DAY_MS) }
}

/// Returns the number that the string represents; `None` if the string is not a number.
pub fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Returns the number to compare values with; `None` if the string is not a number between -(2^53 - 1) and 2^53 - 1. For the comparison,
/// values are rounded to 53 bits. Within these limits, rounding never moves a value to the wrong side of the number.
pub fn bound(text: &str) -> Option<f64> {
    const EXACT_MAX: f64 = 9_007_199_254_740_991.0;
    number(text).filter(|number| number.abs() <= EXACT_MAX)
}

impl Test {
    pub fn holds(&self, piece: RowValue<'_>) -> bool {
        match self {
            Test::Text(test) => test.holds(piece),
            Test::Time(wanted) => match piece {
                RowValue::Text(text) => {
                    std::str::from_utf8(text).ok().and_then(period).is_some_and(|found| wanted.contains(found.from))
                }
                _ => false,
            },
            Test::Number(low, high) => {
                let found = match piece {
                    RowValue::Text(text) => std::str::from_utf8(text).ok().and_then(number),
                    RowValue::Whole(whole) => Some(whole as f64),
                    RowValue::Number(fraction) => Some(fraction),
                    RowValue::Bool(_) => None,
                };
                found.is_some_and(|found| (*low, *high).contains(&found))
            }
        }
    }
}

impl TextTest {
    fn holds(&self, piece: RowValue<'_>) -> bool {
        match piece {
            RowValue::Text(text) => self.text(text),
            RowValue::Bool(true) => self.text(b"true"),
            RowValue::Bool(false) => self.text(b"false"),
            RowValue::Whole(whole) => {
                let mut digits = [0; 20];
                let mut rest = digits.as_mut_slice();
                write!(rest, "{whole}").expect("the buffer has room for every 64-bit number, which has at most 20 characters");
                let length = 20 - rest.len();
                self.text(&digits[..length])
            }
            // The text of a fraction can have more than 300 characters, so it is allocated instead of written to a fixed buffer. The
            // allocation is acceptable, because fractions are rarely compared as text.
            RowValue::Number(fraction) => self.text(fraction.to_string().as_bytes()),
        }
    }

    fn text(&self, text: &[u8]) -> bool {
        if text.is_ascii() {
            return self.needles.iter().any(|needle| self.position.finds_ascii(text, needle.as_bytes()));
        }
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let folded = fold(text);
        self.needles.iter().any(|needle| match self.position {
            TextPosition::Whole => folded == *needle,
            TextPosition::Start => folded.starts_with(needle.as_str()),
            TextPosition::End => folded.ends_with(needle.as_str()),
            TextPosition::Anywhere => folded.contains(needle.as_str()),
        })
    }
}

impl TextPosition {
    /// Compares an ASCII string by the same rules as [`TextTest::text`]. Folding changes only the case of such a string, so no copy
    /// is needed.
    fn finds_ascii(self, text: &[u8], needle: &[u8]) -> bool {
        match self {
            TextPosition::Whole => text.eq_ignore_ascii_case(needle),
            TextPosition::Start => text.get(..needle.len()).is_some_and(|start| start.eq_ignore_ascii_case(needle)),
            TextPosition::End => {
                text.len().checked_sub(needle.len()).is_some_and(|start| text[start..].eq_ignore_ascii_case(needle))
            }
            TextPosition::Anywhere => {
                let Some((first, _)) = needle.split_first() else { return true };
                text.windows(needle.len())
                    .any(|window| window[0].to_ascii_lowercase() == *first && window.eq_ignore_ascii_case(needle))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_holds(position: TextPosition, needle: &str, text: &str) -> bool {
        Test::Text(TextTest { position, needles: vec![fold(needle)] }).holds(RowValue::Text(text.as_bytes()))
    }

    #[test]
    fn text_is_found_at_its_position_in_any_case() {
        for (position, needle, text, found) in [
            (TextPosition::Whole, "VIP", "vip", true),
            (TextPosition::Whole, "vip", "vips", false),
            (TextPosition::Start, "Ann", "ANNA", true),
            (TextPosition::Start, "nna", "Anna", false),
            (TextPosition::Start, "Annabel", "Anna", false),
            (TextPosition::End, "@Example.com", "ann@EXAMPLE.com", true),
            (TextPosition::End, "longer than it", "it", false),
            (TextPosition::Anywhere, "ExAm", "ann@example.com", true),
            (TextPosition::Anywhere, "aab", "aaab", true),
            (TextPosition::Anywhere, "example.org", "ann@example.com", false),
            (TextPosition::Whole, "CAFÉ", "cafe\u{301}", true),
            (TextPosition::Start, "ΟΔ", "οδος", true),
            (TextPosition::Anywhere, "é", "cafe", false),
            (TextPosition::Anywhere, "k", "\u{212a}elvin", true),
        ] {
            assert_eq!(text_holds(position, needle, text), found, "{position:?} {needle} in {text}");
        }
    }

    #[test]
    fn numbers_and_booleans_are_compared_as_written() {
        let is = |needle: &str| Test::Text(TextTest { position: TextPosition::Whole, needles: vec![needle.into()] });
        assert!(is("-9223372036854775808").holds(RowValue::Whole(i64::MIN)));
        assert!(
            is("7").holds(RowValue::Whole(7)) && is("7").holds(RowValue::Number(7.0)) && is("2.5").holds(RowValue::Number(2.5))
        );
        assert!(is("true").holds(RowValue::Bool(true)) && !is("true").holds(RowValue::Bool(false)));
    }

    #[test]
    fn only_numbers_and_numeric_text_are_numbers() {
        // Regression test: at 2^53 and above, neighboring integers were rounded to the same number, and 9007199254740993 was not greater
        // than 9007199254740992.
        assert_eq!((bound("9007199254740993"), bound("-9007199254740992"), bound("1e300")), (None, None, None));
        let above = Test::Number(Bound::Excluded(bound("9007199254740991").expect("the number is valid")), Bound::Unbounded);
        assert!(above.holds(RowValue::Whole(9_007_199_254_740_993)) && !above.holds(RowValue::Whole(9_007_199_254_740_991)));
        let above_five = Test::Number(Bound::Excluded(5.0), Bound::Unbounded);
        for (piece, holds) in [
            (RowValue::Whole(6), true),
            (RowValue::Whole(5), false),
            (RowValue::Number(5.1), true),
            (RowValue::Text(b" 6e0 "), true),
            (RowValue::Text(b"inf"), false),
            (RowValue::Text(b"six"), false),
            (RowValue::Bool(true), false),
        ] {
            assert_eq!(above_five.holds(piece), holds, "{piece:?}");
        }
    }

    #[test]
    fn a_date_is_a_day_and_a_date_time_a_moment() {
        let day = period("2026-01-31").expect("the string is a date");
        assert_eq!(day.to.ms_since(day.from), DAY_MS);
        assert_eq!(day.from.to_string(), "2026-01-31T00:00:00.000Z");
        let moment = |text: &str| period(text).map(|period| period.from.to_string());
        assert_eq!(moment("2026-01-31T10:30:00+02:00").as_deref(), Some("2026-01-31T08:30:00.000Z"));
        assert_eq!(
            moment("2026-01-31T10:30:00").as_deref(),
            Some("2026-01-31T10:30:00.000Z"),
            "a date-time without an offset is in UTC"
        );
        for wrong in ["", "2026", "31.01.2026", "2026-02-30", "2026-1-31", "2026-01-31 maybe", "0049-170-1234567", "20260131"] {
            assert_eq!(period(wrong), None, "{wrong}");
        }
        assert_eq!(day_of(Timestamp(-1)).to, Timestamp(0));
    }
}
