//! Calendar months in UTC, counted from January 1970.

use jiff::tz::TimeZone;

use super::clock::Timestamp;

/// Returns the month that contains a timestamp.
pub fn of(at: Timestamp) -> u32 {
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default().to_zoned(TimeZone::UTC);
    let months = (i32::from(moment.year()) - 1970) * 12 + i32::from(moment.month()) - 1;
    u32::try_from(months).unwrap_or(0)
}

/// Formats a month, for example as `2026-01`.
pub fn text(month: u32) -> String {
    format!("{:04}-{:02}", 1970 + month / 12, month % 12 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_utc_months() {
        let at = |text: &str| Timestamp(text.parse::<jiff::Timestamp>().expect("the time is valid").as_millisecond());
        assert_eq!(text(of(at("2026-01-31T23:59:59.999Z"))), "2026-01");
        assert_eq!(of(at("2026-02-01T00:00:00Z")), of(at("2026-01-01T00:00:00Z")) + 1);
        assert_eq!(text(of(Timestamp(0))), "1970-01");
    }
}
