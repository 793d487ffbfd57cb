//! The filters of merge fields. The filters that can enlarge a value limit the size of the result.

use std::borrow::Cow;

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use serde_json::{Number, Value as Json};

use super::ast::{Constant, Filter};
use super::dates::Language;
use super::value::Value;
use crate::vocab::limits;

/// The maximum number of decimal places. More would be inexact.
const DECIMALS_MAX: u64 = 9;

/// Returns the filter with this name and these arguments, or an error message.
pub fn find(name: &str, arguments: Vec<Constant>) -> Result<Filter, String> {
    let mut arguments = arguments.into_iter();
    let filter = match (name, arguments.next(), arguments.next()) {
        // In Jinja, an empty value is treated as missing only with the second argument. Here, an empty value is always treated as
        // missing.
        ("default" | "d", Some(constant), None | Some(Constant::Truth(_))) => Filter::Default(constant),
        ("default" | "d", ..) => {
            return Err("the filter default takes one fallback value, like default(\"there\")".to_owned());
        }
        ("upper", None, None) => Filter::Upper,
        ("lower", None, None) => Filter::Lower,
        ("title", None, None) => Filter::Title,
        ("capitalize", None, None) => Filter::Capitalize,
        ("trim", None, None) => Filter::Trim,
        ("length" | "count", None, None) => Filter::Length,
        ("truncate", Some(Constant::Number(number)), None) => match number.as_u64() {
            Some(length @ 1..) => Filter::Truncate(usize::try_from(length).unwrap_or(usize::MAX)),
            _ => return Err("the filter truncate needs a whole number above 0, like truncate(40)".to_owned()),
        },
        ("truncate", ..) => {
            return Err("the filter truncate takes one argument, the maximum number of characters, like truncate(40)".to_owned());
        }
        ("replace", Some(Constant::Text(from)), Some(Constant::Text(to))) if !from.is_empty() => Filter::Replace { from, to },
        ("replace", ..) => {
            return Err(
                "the filter replace needs two quoted strings, like replace(\"_\", \" \"); the first string cannot be empty"
                    .to_owned(),
            );
        }
        ("round", None, None) => Filter::Round(0),
        ("round", Some(Constant::Number(number)), None) => match number.as_u64() {
            Some(decimals @ 0..=DECIMALS_MAX) => Filter::Round(decimals as usize),
            _ => return Err(format!("the filter round accepts 0 to {DECIMALS_MAX} decimals, like round(2)")),
        },
        ("join", None, None) => Filter::Join(String::new()),
        ("join", Some(Constant::Text(between)), None) => Filter::Join(between),
        ("date", Some(Constant::Text(format)), language) => {
            // Formatting a sample date shows whether the format is valid, before any recipient's date is formatted.
            strtime::format(&format, DateTime::default()).map_err(|_| {
                "the format of date is invalid; use directives such as %d, %B and %Y, like date(\"%d %B %Y\")".to_owned()
            })?;
            Filter::Date(format, language.map(date_language).transpose()?)
        }
        ("date", ..) => return Err("the filter date needs a format, like date(\"%d %B %Y\")".to_owned()),
        ("upper" | "lower" | "title" | "capitalize" | "trim" | "length" | "count" | "round" | "join", ..) => {
            return Err(format!("the filter {name} does not accept these arguments; correct or remove them"));
        }
        ("safe" | "escape" | "e", ..) => {
            return Err(format!(
                "the filter {name} is not supported in emails; remove the filter, because values are escaped where necessary"
            ));
        }
        _ => return Err(format!("unknown filter {name}; the filters are {FILTERS}")),
    };
    match arguments.next() {
        None => Ok(filter),
        Some(_) => Err(format!("the filter {name} has too many arguments; use fewer")),
    }
}

fn date_language(constant: Constant) -> Result<Language, String> {
    let known = match &constant {
        Constant::Text(tag) => Language::of(tag),
        Constant::Number(_) | Constant::Truth(_) => None,
    };
    known.ok_or_else(|| "date supports the languages en, de, fr, es, it, pt and nl, like date(\"%d %B %Y\", \"de\")".to_owned())
}

const FILTERS: &str = "default, upper, lower, title, capitalize, trim, truncate, replace, round, join, length and date";

pub enum FilterError {
    /// The value does not suit the filter. Contains a message to show after the name of the field.
    Value(&'static str),
    /// The result would be too long.
    Long,
}

impl Filter {
    /// Applies the filter. A missing value stays missing until a `default` filter replaces it. If the template sets no language, dates are
    /// in the language that `date_language` returns.
    pub fn apply<'a>(&'a self, value: Value<'a>, date_language: impl FnOnce() -> Language) -> Result<Value<'a>, FilterError> {
        if let Filter::Default(constant) = self {
            return Ok(if value.is_blank() { constant.value() } else { value });
        }
        match (self, value) {
            (_, Value::Missing) => Ok(Value::Missing),
            (Filter::Join(between), Value::List(items)) => join(&items, between),
            (Filter::Join(_), _) => Err(FilterError::Value("is not a list; join needs a list")),
            (Filter::Length, Value::List(items)) => Ok(Value::Number(items.len().into())),
            (Filter::Length, Value::Map(entries)) => Ok(Value::Number(entries.len().into())),
            (Filter::Round(decimals), value) => round(&value, *decimals),
            (filter, value) => match value.into_text() {
                Some(text) => filter.on_text(text, date_language),
                None => Err(FilterError::Value("is a list or an object; this filter needs text")),
            },
        }
    }

    fn on_text<'a>(&self, text: Cow<'a, str>, date_language: impl FnOnce() -> Language) -> Result<Value<'a>, FilterError> {
        let made = match self {
            Filter::Upper => text.to_uppercase(),
            Filter::Lower => text.to_lowercase(),
            Filter::Title => title(&text),
            Filter::Capitalize => {
                let mut characters = text.chars();
                characters.next().map_or_else(String::new, |first| {
                    first.to_uppercase().collect::<String>() + &characters.as_str().to_lowercase()
                })
            }
            Filter::Trim => text.trim().to_owned(),
            Filter::Truncate(length) => return Ok(Value::Text(truncate(text, *length))),
            Filter::Replace { from, to } => {
                let grown = text.matches(from.as_str()).count().saturating_mul(to.len());
                if text.len().saturating_add(grown) > limits::MERGE_OUTPUT_BYTES_MAX {
                    return Err(FilterError::Long);
                }
                text.replace(from.as_str(), to)
            }
            Filter::Length => return Ok(Value::Number(text.chars().count().into())),
            Filter::Date(format, named) => date(&text, format, named.unwrap_or_else(date_language))?,
            Filter::Default(_) | Filter::Round(_) | Filter::Join(_) => return Ok(Value::Text(text)),
        };
        Ok(Value::Text(Cow::Owned(made)))
    }
}

impl Constant {
    pub fn value(&self) -> Value<'_> {
        match self {
            Constant::Text(text) => Value::from(text.as_str()),
            Constant::Number(number) => Value::Number(number.clone()),
            Constant::Truth(truth) => Value::Truth(*truth),
        }
    }
}

/// Capitalizes each word.
fn title(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if c.is_whitespace() || matches!(c, '-' | '(' | '{' | '[' | '<') {
            made.push(c);
            begins = true;
        } else if begins {
            made.extend(c.to_uppercase());
            begins = false;
        } else {
            made.extend(c.to_lowercase());
        }
    }
    made
}

/// Truncates text to at most `length` characters: after a whole word, if that keeps more than half of the text that fits.
fn truncate(text: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    if text.char_indices().nth(length).is_none() {
        return text;
    }
    let end = text.char_indices().nth(length - 1).map_or(0, |(at, _)| at);
    let kept = &text[..end];
    let kept = match kept.rfind(char::is_whitespace) {
        Some(space) if space > end / 2 => kept[..space].trim_end(),
        _ => kept,
    };
    Cow::Owned(format!("{kept}…"))
}

fn join<'a>(items: &[Json], between: &str) -> Result<Value<'a>, FilterError> {
    let mut joined = String::new();
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            joined.push_str(between);
        }
        match Value::from(item).into_text() {
            Some(text) => joined.push_str(&text),
            None => {
                return Err(FilterError::Value("contains an item that is neither text nor a number; use a loop instead of join"));
            }
        }
        if joined.len() > limits::MERGE_OUTPUT_BYTES_MAX {
            return Err(FilterError::Long);
        }
    }
    Ok(Value::Text(Cow::Owned(joined)))
}

/// Rounds a number to this number of decimal places. Keeps trailing zeros, as in prices.
fn round<'a>(value: &Value<'_>, decimals: usize) -> Result<Value<'a>, FilterError> {
    let number = match value {
        Value::Number(number) if decimals == 0 && !number.is_f64() => return Ok(Value::Number(number.clone())),
        value => value.as_number().ok_or(FilterError::Value("is not a number; round needs a number"))?,
    };
    // Halves are rounded away from zero, as most readers expect; formatting alone would round them to even.
    let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let rounded = (number * scale).round() / scale;
    let text = format!("{:.decimals$}", if rounded.is_finite() { rounded } else { number });
    // Without decimals, the result is a number, which can be compared. With decimals, it is text, which keeps trailing zeros.
    match text.parse::<Number>() {
        Ok(number) if decimals == 0 => Ok(Value::Number(number)),
        _ => Ok(Value::Text(Cow::Owned(text))),
    }
}

/// Formats a date or time, given in ISO 8601. A time is not converted to another time zone.
fn date(text: &str, format: &str, date_language: Language) -> Result<String, FilterError> {
    let text = text.trim();
    let unfit = FilterError::Value("is not a date like 2026-11-21 or 2026-11-21T09:30:00Z");
    // Only the local time at the start is read. A time zone after it is ignored, because the time is not converted.
    let moment =
        strtime::parse("%Y-%m-%dT%H:%M:%S", text.get(..19).unwrap_or_default()).ok().and_then(|parts| parts.to_datetime().ok());
    let read = moment.or_else(|| text.parse::<jiff::civil::Date>().ok().map(|date| date.at(0, 0, 0, 0)));
    let Some(read) = read else { return Err(unfit) };
    date_language.write(format, read).ok_or(unfit)
}
