//! UTC days, as the number of days since 1970-01-01.

use super::clock::Timestamp;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Returns the UTC day that contains a timestamp.
pub fn of(at: Timestamp) -> u32 {
    u32::try_from(at.0.div_euclid(DAY_MS)).unwrap_or(0)
}

/// Formats a day as `2026-01-31`.
pub fn date(day: u32) -> String {
    let text = Timestamp(i64::from(day) * DAY_MS).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_utc_dates() {
        assert_eq!((date(20_454), of(Timestamp(20_454 * DAY_MS))), ("2026-01-01".into(), 20_454));
        assert_eq!(of(Timestamp(20_455 * DAY_MS - 1)), 20_454);
    }
}
