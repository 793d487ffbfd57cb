//! Writes an operation's example as a command line.

use serde_json::Value;

use super::arguments::takes_file;
use super::features;
use super::fields::{Field, ValueKind};
use super::names::Named;
use super::option_names::{PROJECT, is_positional, long};
use crate::base::clock::Timestamp;
use crate::engine::api::Envelope;
use crate::engine::api::response::RequestId;

/// A placeholder envelope, because an example's input does not depend on the time or the request ID.
const ENVELOPE: Envelope = Envelope { timestamp: Timestamp(0), request: RequestId { boot: 0, number: 0 }, keeps_nulls: false };
/// The width beyond which a command continues on the next line, so that it fits an 80-column terminal.
const WIDTH: usize = 76;
const CONTINUED: &str = " \\\n    ";

/// Returns the example as one command, on several lines if it is long.
pub fn line(named: &Named, fields: &[Field]) -> String {
    joined(parts(named, fields, shortened))
}

/// Returns the words, values and options of the example. `shown` determines how each value is written.
fn parts(named: &Named, fields: &[Field], shown: impl Fn(&Field, bool, String) -> String) -> Vec<String> {
    let (input, _) = (named.entry.example)(&ENVELOPE);
    let main = features::main_field(named.entry.spec.id);
    let (mut first, mut main_values, mut options) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let is_main = main == Some(field.name.as_str());
        let texts = match field.kind {
            ValueKind::Upload => vec!["contacts.csv".to_owned()],
            ValueKind::Base64 => vec!["image.png".to_owned()],
            _ => texts(field, &input[field.name.as_str()]),
        };
        for text in texts {
            let text = shown(field, is_main, text);
            match (is_positional(named, field), is_main) {
                (true, _) => first.push(quoted(&text)),
                (false, true) => main_values.push(quoted(&text)),
                (false, false) => options.push(option(field, &text)),
            }
        }
    }
    let words = std::iter::once("mailmill".to_owned()).chain(named.words.iter().cloned());
    words.chain(first).chain(main_values).chain(options).collect()
}

/// Makes a long value of an example fit on one line: shortens the value of the main field, and replaces any other value that a file can
/// contain with a file name. Help text is wrapped, and a wrapped value cannot be copied.
fn shortened(field: &Field, is_main: bool, text: String) -> String {
    let name = if is_main { 0 } else { long(&field.name).len() };
    let room = WIDTH.saturating_sub(CONTINUED.len() + "-- ''".len() + name);
    if quoted(&text).chars().count() <= room + 2 {
        return text;
    }
    if is_main {
        let start: String = text.chars().take(room).collect();
        return start.rsplit_once(' ').map_or(start.clone(), |(start, _)| start.trim_end_matches(',').to_owned());
    }
    if field.kind == ValueKind::Text && !takes_file(field) {
        return text;
    }
    let ending = match field.kind {
        ValueKind::Text if field.name == "html" => "html",
        ValueKind::Text => "txt",
        _ => "json",
    };
    format!("@{}.{ending}", long(&field.name))
}

fn joined(parts: Vec<String>) -> String {
    let mut out = String::new();
    let mut used = 0;
    for part in parts {
        let width = part.chars().count();
        if used > 0 && used + 1 + width > WIDTH {
            out.push_str(CONTINUED);
            used = CONTINUED.len();
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        used += width;
        out.push_str(&part);
    }
    out
}

/// Returns the values to write for a field.
fn texts(field: &Field, value: &Value) -> Vec<String> {
    match (value, &field.kind) {
        (Value::Null, _) => Vec::new(),
        (Value::String(text), _) if text.starts_with('@') && takes_file(field) => vec![format!("@{text}")],
        (Value::String(text), _) => vec![text.clone()],
        (Value::Array(items), ValueKind::List(_)) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            match items.iter().any(|item| item.contains(',')) {
                true => vec![value.to_string()],
                false => vec![items.join(",")],
            }
        }
        (other, _) => vec![other.to_string()],
    }
}

fn option(field: &Field, text: &str) -> String {
    let name = if field.name == PROJECT { "project".to_owned() } else { long(&field.name) };
    match (&field.kind, text) {
        (ValueKind::Flag, "true") => format!("--{name}"),
        (ValueKind::Flag, text) => format!("--{name}={text}"),
        (_, text) => format!("--{name} {}", quoted(text)),
    }
}

/// Quotes a string for a POSIX shell.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:@,+=%".contains(character);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::commands::{Detail, resource};
    use super::super::{arguments, fields, names};
    use super::*;
    use crate::operations::OPERATIONS;

    /// Splits a command as a POSIX shell does.
    fn split(line: &str) -> Vec<String> {
        let (mut parts, mut part, mut quoted, mut escaped) = (Vec::new(), None::<String>, false, false);
        for character in line.chars() {
            match character {
                _ if escaped => {
                    escaped = false;
                    if character != '\n' {
                        part.get_or_insert_default().push(character);
                    }
                }
                '\'' => {
                    quoted = !quoted;
                    part.get_or_insert_default();
                }
                _ if quoted => part.get_or_insert_default().push(character),
                '\\' => escaped = true,
                ' ' | '\n' => parts.extend(part.take()),
                _ => part.get_or_insert_default().push(character),
            }
        }
        parts.extend(part);
        parts
    }

    /// Every operation has a command, and parsing the command line of its example gives the example's input.
    #[test]
    fn the_example_of_every_operation_is_a_command_with_the_same_input() {
        let mut seen = 0;
        for (name, about) in names::resources(OPERATIONS) {
            for named in names::of_resource(OPERATIONS, name) {
                let fields = fields::of(named.entry);
                let shown = line(&named, &fields);
                assert!(shown.lines().all(|line| line.chars().count() < 80), "{shown}");
                let line = joined(parts(&named, &fields, |_, _, text| text));
                let command = resource(OPERATIONS, (name, about), Detail::All);
                let matches = command.try_get_matches_from(&split(&line)[1..]).unwrap_or_else(|error| panic!("{line}: {error}"));
                let mut inner = &matches;
                while let Some((_, next)) = inner.subcommand() {
                    inner = next;
                }
                if fields.iter().any(|field| matches!(field.kind, ValueKind::Upload | ValueKind::Base64)) {
                    continue;
                }
                let input = arguments::read(inner, &fields).unwrap_or_else(|problem| panic!("{line}: {problem}"));
                arguments::require(&input, &fields, None).unwrap_or_else(|problem| panic!("{line}: {problem}"));
                let (mut example, _) = (named.entry.example)(&ENVELOPE);
                example.as_object_mut().expect("an input is an object").retain(|_, value| !value.is_null());
                assert_eq!(Value::Object(input.values), example, "{line}");
                seen += 1;
            }
        }
        assert!(seen > 150, "{seen}");
    }

    #[test]
    fn texts_are_quoted_for_a_shell() {
        assert_eq!(quoted("ada@example.com"), "ada@example.com");
        assert_eq!(quoted("it's 10% off"), r"'it'\''s 10% off'");
        assert_eq!(split(&format!("a {} ''", quoted("it's x"))), ["a", "it's x", ""]);
    }
}
