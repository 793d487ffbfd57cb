//! Reads the pauses that responses request, and limits the number of values in responses. Even a two-byte JSON value can take hundreds of
//! bytes of memory when it is parsed.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::base::clock::Timestamp;
use crate::vocab::limits::{PROVIDER_PAUSE_MS_MAX, PROVIDER_RESPONSE_VALUES_MAX};

/// Returns the pause that a `Retry-After` header requests, as a number of seconds or as an HTTP date (RFC 9110 §10.2.3). A pause that
/// exceeds the maximum is shortened to the maximum.
pub fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => Some(seconds).filter(|seconds| seconds.is_finite())?,
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(text).ok()?;
            Timestamp(date.timestamp().as_millisecond()).ms_since(now) as f64 / 1e3
        }
    };
    Some(Duration::from_secs_f64(seconds.clamp(0.0, PROVIDER_PAUSE_MS_MAX as f64 / 1e3)))
}

/// Returns whether the JSON text has more values than any expected response of a platform. Allocates no memory.
pub fn has_too_many_values(json: &[u8]) -> bool {
    let (mut in_string, mut escaped, mut values) = (false, false, 0);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values > PROVIDER_RESPONSE_VALUES_MAX
}

/// A list of at most `ITEMS_MAX` items. Parsing fails if there are more, because a server may return more items than a request asks for.
pub struct LimitedList<T, const ITEMS_MAX: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const ITEMS_MAX: usize> Deserialize<'de> for LimitedList<T, ITEMS_MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

struct Items<T, const ITEMS_MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const ITEMS_MAX: usize> Visitor<'de> for Items<T, ITEMS_MAX> {
    type Value = LimitedList<T, ITEMS_MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {ITEMS_MAX} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == ITEMS_MAX {
                return Err(A::Error::invalid_length(ITEMS_MAX + 1, &self));
            }
            items.push(item);
        }
        Ok(LimitedList(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        let now = Timestamp(1_767_225_600_000);
        let longest = PROVIDER_PAUSE_MS_MAX as u128;
        for (text, ms) in [
            (" 2.5 ", Some(2_500)),
            ("-3", Some(0)),
            ("1e300", Some(longest)),
            ("Thu, 01 Jan 2026 00:00:30 GMT", Some(30_000)),
            ("Wed, 31 Dec 2025 23:00:00 GMT", Some(0)),
            ("Fri, 01 Jan 2027 00:00:00 GMT", Some(longest)),
            ("nan", None),
            ("inf", None),
            ("soon", None),
        ] {
            assert_eq!(retry_after(text, now).map(|pause| pause.as_millis()), ms, "{text}");
        }
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        let of = |text: &str| has_too_many_values(format!("[{}0]", text.repeat(PROVIDER_RESPONSE_VALUES_MAX)).as_bytes());
        assert!(of("0,") && of("[],") && of("{\"\":0},"));
        assert!(!of(" ") && !of("\n"));
        let text = format!("[\"\\\"{}\"]", "[,{".repeat(PROVIDER_RESPONSE_VALUES_MAX));
        assert!(!has_too_many_values(text.as_bytes()));
    }

    #[test]
    fn a_list_with_more_items_than_allowed_is_rejected() {
        let read = |json: &str| serde_json::from_str::<LimitedList<u8, 2>>(json).map(|list| list.0);
        assert_eq!(read("[1,2]").ok(), Some(vec![1, 2]));
        let error = read("[1,2,3]").expect_err("the list is too long");
        assert!(error.to_string().contains("expected a list of at most 2 items"), "{error}");
    }
}
