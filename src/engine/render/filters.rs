//! Template filters for pages: numbers with thousands separators, percentages, sizes, money, and values of query strings.
//!
//! Where a number is expected, a value that is neither a number nor text with a number becomes an empty string, because some fields in the
//! responses of operations are `null`.

use minijinja::{Environment, Value};

pub fn add(environment: &mut Environment<'static>) {
    environment.add_filter("number", |value: &Value| number(value));
    environment.add_filter("percent", |value: &Value| percent(value));
    environment.add_filter("bytes", |value: &Value| bytes(value));
    environment.add_filter("query", |text: &str| query(text));
    environment.add_filter("money", |value: &Value, currency: &str| money(value, currency));
}

/// Adds thousands separators: `12345.5` → `12,345.5`.
fn number(value: &Value) -> String {
    plain(value).map(|text| grouped(&text)).unwrap_or_default()
}

/// Formats a fraction as a percentage: `0.1234` → `12.3%`.
fn percent(value: &Value) -> String {
    let share = plain(value).and_then(|text| text.parse::<f64>().ok());
    share.map(|share| format!("{:.1}%", share * 100.0).replace(".0%", "%")).unwrap_or_default()
}

/// Formats a number of bytes as a size: `1234567` → `1.2 MB`.
fn bytes(value: &Value) -> String {
    let Some(mut size) = plain(value).and_then(|text| text.parse::<f64>().ok()) else { return String::new() };
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 1000.0 {
            return if unit == "B" || size >= 100.0 { format!("{size:.0} {unit}") } else { format!("{size:.1} {unit}") };
        }
        size /= 1000.0;
    }
    format!("{size:.1} TB")
}

/// Formats an amount of money: `1234.5` with `EUR` → `EUR 1,234.50`. An amount with decimals gets at least two decimals.
fn money(value: &Value, currency: &str) -> String {
    let Some(mut text) = plain(value) else { return String::new() };
    if let Some(point) = text.find('.') {
        let missing = 3usize.saturating_sub(text.len() - point);
        text.push_str(&"0".repeat(missing));
    }
    format!("{currency} {}", grouped(&text)).trim_start().to_owned()
}

/// Percent-encodes text as a value in a query string.
fn query(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            true => out.push(byte.into()),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Returns a number, or a string that contains a number, as text.
fn plain(value: &Value) -> Option<String> {
    let text = value.to_string();
    let text = text.strip_suffix(".0").unwrap_or(&text);
    text.parse::<f64>().is_ok_and(f64::is_finite).then(|| text.to_owned())
}

fn grouped(text: &str) -> String {
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_a_url_stays_one_value() {
        assert_eq!(query("a&b=c é#/?+\"<"), "a%26b%3Dc%20%C3%A9%23%2F%3F%2B%22%3C");
    }

    #[test]
    fn numbers_are_formatted() {
        let of = |number: f64| Value::from(number);
        for (value, written) in [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (-1_234_567.5, "-1,234,567.5")] {
            assert_eq!(number(&of(value)), written);
        }
        assert_eq!(number(&Value::from("12345678901234567890")), "12,345,678,901,234,567,890");
        assert_eq!((number(&Value::from(())), number(&Value::from("many"))), (String::new(), String::new()));
    }

    #[test]
    fn percentages_sizes_and_money_have_their_units() {
        assert_eq!(percent(&Value::from(0.1234)), "12.3%");
        assert_eq!((percent(&Value::from(1)), percent(&Value::from(()))), ("100%".into(), String::new()));
        for (size, written) in [(999i64, "999 B"), (1_234_567, "1.2 MB"), (250_000_000, "250 MB"), (3_000_000_000_000, "3.0 TB")]
        {
            assert_eq!(bytes(&Value::from(size)), written);
        }
        assert_eq!(money(&Value::from(1234.5), "EUR"), "EUR 1,234.50");
        assert_eq!(money(&Value::from("40"), "JPY"), "JPY 40");
        assert_eq!(money(&Value::from("-9.905"), "BHD"), "BHD -9.905");
    }
}
