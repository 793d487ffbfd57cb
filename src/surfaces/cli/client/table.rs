//! Formats lists as tables, and objects as lines, for human readers. Tables fit the terminal's width.

use serde_json::{Map, Value};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::terminal::harmless;

/// TABLE: the columns that come first, in this order. Only the first ID identifies the rows; other IDs come last. In 80 columns, there is
/// room for an ID, a long name and a status, so the status comes before other text.
const FIRST: [&str; 36] = [
    "id",
    "projectId",
    "conversationId",
    "emailId",
    "jobId",
    "previewId",
    "serverId",
    "deviceKey",
    "design",
    "code",
    "filename",
    "email",
    "recipient",
    "domain",
    "name",
    "title",
    "state",
    "status",
    "subject",
    "label",
    "url",
    "host",
    "type",
    "eventType",
    "kind",
    "format",
    "provider",
    "result",
    "reason",
    "version",
    "language",
    "error",
    "count",
    "contactCount",
    "emailCount",
    "attempts",
];
/// TABLE: the columns that are shown last.
const LAST: [&str; 4] = ["scheduledAt", "sentAt", "createdAt", "updatedAt"];
/// TABLE: fields that would make every row long and are rarely useful. `--json` shows them.
const LEFT_OUT: [&str; 12] = [
    "_id",
    "html",
    "text",
    "prompt",
    "object",
    "screenshotUrl",
    "screenshotFullUrl",
    "thumbnailUrl",
    "messageId",
    "slotUuid",
    "slotIdx",
    "triggeredBy",
];
const GAP: usize = 2;
/// The minimum width of a truncated column. If less space is left, this column and all later columns are omitted.
const COLUMN_MIN: usize = 8;
const COLUMN_MAX: usize = 44;
/// The maximum width of a column in a terminal of 80 columns, so that an ID, a name and a status fit.
const COLUMN_NARROW_MAX: usize = 32;
/// The minimum terminal width at which a column can be as wide as [`COLUMN_MAX`].
const WIDE: usize = 100;
/// The maximum number of columns in a table that is not written to a terminal.
const COLUMNS_MAX: usize = 10;
/// The maximum length of a value that is shown in full in an object. Of a longer value, only the start and the length are shown.
const TEXT_MAX: usize = 2_000;
/// If a list inside an object has at most this many items, nested objects and lists in the items are shown in full.
const BLOCKS_MAX: usize = 5;
/// The maximum number of items shown for a list inside an object.
const ITEMS_MAX: usize = 20;

/// The width and the colors of the output.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The width of the terminal or, if the output is not a terminal, the value of `COLUMNS`; `None` if neither is known.
    pub width: Option<usize>,
    pub color: bool,
}

/// Returns a table with one row per object. If any item is not an object, returns each item on its own line instead.
pub fn table(items: &[Value], style: Style) -> String {
    let rows: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
    if rows.len() < items.len() {
        return items.iter().map(|item| format!("{}\n", cell(item))).collect();
    }
    let columns = columns(&rows);
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| columns.iter().map(|name| row.get(*name).map_or_else(|| "-".to_owned(), cell)).collect()).collect();
    let wanted: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, name)| cells.iter().map(|row| row[index].width()).chain([heading(name).width()]).max().unwrap_or_default())
        .collect();
    let mut widths = widths(&wanted, style.width);
    // A truncated ID is useless, so its column is omitted.
    let last = widths.len().saturating_sub(1);
    if last > 0 && is_id(columns[last]) && widths[last] < wanted[last] {
        widths.pop();
    }
    let line = |texts: Vec<String>, colored: bool| {
        let mut out = String::new();
        for (index, (text, width)) in texts.iter().zip(&widths).enumerate() {
            let text = cut(text, *width);
            let padding = if index + 1 == widths.len() { 0 } else { width - text.width() + GAP };
            let shown = if colored && style.color { painted(columns[index], &text) } else { text };
            out.push_str(&shown);
            out.push_str(&" ".repeat(padding));
        }
        format!("{}\n", out.trim_end())
    };
    let mut out = line(columns.iter().map(|name| heading(name)).collect(), false);
    out.extend(cells.into_iter().map(|row| line(row, true)));
    out
}

/// Returns the names of the columns, in order: the fields with simple values, without the fields in [`LEFT_OUT`] and the IDs that repeat an
/// earlier column in every row.
fn columns<'a>(rows: &[&'a Map<String, Value>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        for (name, value) in *row {
            let is_simple = match value {
                Value::Array(items) => !items.is_empty() && items.iter().all(|item| !item.is_object() && !item.is_array()),
                Value::Object(_) | Value::Null => false,
                _ => true,
            };
            if is_simple && !names.contains(&name.as_str()) && !LEFT_OUT.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let own_id = FIRST.iter().find(|name| is_id(name) && names.contains(name));
    let place = |name: &str| {
        if is_id(name) && Some(&name) != own_id {
            return FIRST.len() + LAST.len() + 1;
        }
        let last = || LAST.iter().position(|other| *other == name).map(|index| FIRST.len() + 1 + index);
        FIRST.iter().position(|other| *other == name).or_else(last).unwrap_or(FIRST.len())
    };
    names.sort_by_key(|name| place(name));
    let mut kept: Vec<&str> = Vec::new();
    for name in names {
        let repeats = |other: &&str| rows.iter().all(|row| row.get(name) == row.get(*other));
        // The objects in a list usually all belong to the project that the user named, so the column is omitted.
        let is_known = name == "projectId" && !kept.is_empty();
        let is_repeated = || is_id(name) && kept.iter().any(repeats);
        if !is_known && !is_repeated() {
            kept.push(name);
        }
    }
    kept
}

fn is_id(name: &str) -> bool {
    name == "id" || name.ends_with("Id")
}

/// Returns the widths of the columns that fit.
fn widths(wanted: &[usize], terminal: Option<usize>) -> Vec<usize> {
    let Some(terminal) = terminal else { return wanted.iter().take(COLUMNS_MAX).copied().collect() };
    let mut left = terminal;
    let mut widths: Vec<usize> = Vec::new();
    for wanted in wanted {
        let gap = if widths.is_empty() { 0 } else { GAP };
        let width = (*wanted).min(if terminal < WIDE { COLUMN_NARROW_MAX } else { COLUMN_MAX });
        let room = left.saturating_sub(gap);
        if room < width.min(COLUMN_MIN) {
            break;
        }
        let width = width.min(room).max(1);
        widths.push(width);
        left -= width + gap;
        if left == 0 {
            break;
        }
    }
    widths
}

/// Returns the heading of a column: `createdAt` becomes `CREATED AT`.
fn heading(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            out.push(' ');
        }
        out.push(character.to_ascii_uppercase());
    }
    out
}

/// Returns a value on one line, without control characters, because values come from contacts and websites, and an escape sequence in a
/// value must not reach the terminal.
pub fn cell(value: &Value) -> String {
    let text = match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => minute(text).unwrap_or_else(|| clean(text)),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Object(members) => {
            members.iter().map(|(name, value)| format!("{}: {}", clean(name), cell(value))).collect::<Vec<_>>().join(", ")
        }
    };
    if text.is_empty() { "-".to_owned() } else { text }
}

/// Puts text on one line: replaces each sequence of spaces, line breaks, control characters and bidirectional formatting characters with
/// one space.
fn clean(text: &str) -> String {
    harmless(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a time without its seconds; `None` if the text is not a time.
fn minute(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_time = bytes.len() >= 20 && bytes.ends_with(b"Z") && bytes[4] == b'-' && bytes[10] == b'T' && bytes[13] == b':';
    (is_time && text.is_ascii()).then(|| text[..16].replace('T', " "))
}

/// Truncates text to a width.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or_default();
        if used > width {
            break;
        }
        out.push(character);
    }
    out.push('…');
    out
}

/// Colors the value of a status column.
fn painted(column: &str, text: &str) -> String {
    if !matches!(column, "status" | "state" | "result" | "severity") {
        return text.to_owned();
    }
    let code = match text.to_ascii_lowercase().as_str() {
        "active" | "completed" | "ready" | "sent" | "delivered" | "subscribed" | "success" | "verified" | "imported" => 32,
        "failed" | "error" | "bounced" | "complained" | "critical" | "cancelled" => 31,
        "pending" | "processing" | "sending" | "scheduled" | "queued" | "paused" | "throttled" | "running" => 33,
        _ => return text.to_owned(),
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// Formats an object as lines of the form `name: value`; nested objects are indented.
pub fn object(members: &Map<String, Value>, style: Style) -> String {
    let mut out = String::new();
    lines(members, 0, style, &mut out);
    out
}

fn lines(members: &Map<String, Value>, indent: usize, style: Style, out: &mut String) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    let shown: Vec<(&String, &Value)> = members.iter().filter(|(name, value)| *name != "_id" && !is_empty(value)).collect();
    let width = shown.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
    for (name, value) in shown {
        let start = format!("{}{name}:{}", " ".repeat(indent), " ".repeat(width - name.width() + 1));
        match value {
            Value::Object(inner) => {
                out.push_str(&format!("{}\n", start.trim_end()));
                lines(inner, indent + 2, style, out);
            }
            Value::Array(items) if items.len() <= BLOCKS_MAX && items.iter().any(is_nested) => {
                out.push_str(&format!("{}\n", start.trim_end()));
                for item in items.iter().filter_map(Value::as_object) {
                    let mut block = String::new();
                    lines(item, indent + 4, style, &mut block);
                    let first = format!("{}- ", " ".repeat(indent + 2));
                    out.push_str(&block.replacen(&" ".repeat(indent + 4), &first, 1));
                }
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                out.push_str(&format!("{}\n", start.trim_end()));
                let indented = Style { width: style.width.map(|width| width.saturating_sub(indent + 2)), ..style };
                let inner = table(&items[..items.len().min(ITEMS_MAX)], indented);
                out.extend(inner.lines().map(|line| format!("{}{line}\n", " ".repeat(indent + 2))));
                if items.len() > ITEMS_MAX {
                    out.push_str(&format!("{}… and {} more\n", " ".repeat(indent + 2), items.len() - ITEMS_MAX));
                }
            }
            value => {
                let whole = cell(value);
                let short = match whole.chars().count() {
                    length if length > TEXT_MAX => format!("{} (--json shows all {length} characters)", cut(&whole, 60)),
                    _ => whole,
                };
                let shown = wrapped(&short, start.width(), style.width);
                out.push_str(&start);
                out.push_str(&if style.color { painted(name, &shown) } else { shown });
                out.push('\n');
            }
        }
    }
}

/// Returns whether the object contains nested objects, which a table row cannot show.
fn is_nested(item: &Value) -> bool {
    let is_inner = |value: &Value| match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => items.iter().any(Value::is_object),
        _ => false,
    };
    item.as_object().is_some_and(|members| members.values().any(is_inner))
}

/// Wraps text between words, and indents all lines after the first.
fn wrapped(text: &str, indent: usize, terminal: Option<usize>) -> String {
    let Some(room) = terminal.map(|terminal| terminal.saturating_sub(indent)).filter(|room| *room >= COLUMN_MIN) else {
        return text.to_owned();
    };
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let width = word.width();
        if used > 0 && used + 1 + width > room {
            out.push_str(&format!("\n{}", " ".repeat(indent)));
            used = 0;
        }
        if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PLAIN: Style = Style { width: Some(40), color: false };

    #[test]
    fn a_table_fits_the_terminal_and_keeps_ids_whole() {
        let items = [
            json!({ "createdAt": "2026-01-31T09:30:00.000Z", "name": "A long name that does not fit in here", "id": "66f1a2b3d4e5f60718293a4b" }),
            json!({ "createdAt": null, "name": "北京", "id": "66f1a2b3d4e5f60718293a4c" }),
        ];
        let text = table(&items, PLAIN);
        assert_eq!(
            text,
            "ID                        NAME\n66f1a2b3d4e5f60718293a4b  A long name t…\n66f1a2b3d4e5f60718293a4c  北京\n"
        );
        assert!(text.lines().all(|line| line.width() <= 40));
        let wide = table(&items, Style { width: None, color: false });
        assert!(wide.contains("A long name that does not fit in here  2026-01-31 09:30\n"), "{wide}");
    }

    #[test]
    fn only_a_known_status_is_colored_and_only_if_colors_are_allowed() {
        let items =
            [json!({ "id": "a", "name": "failed", "status": "failed" }), json!({ "id": "b", "name": "x", "status": "other" })];
        let colored = table(&items, Style { width: Some(80), color: true });
        assert_eq!(colored.matches('\u{1b}').count(), 2, "{colored:?}");
        assert!(colored.contains("\u{1b}[31mfailed\u{1b}[0m"), "{colored:?}");
        assert!(!table(&items, PLAIN).contains('\u{1b}'));
    }

    #[test]
    fn escape_sequences_in_values_do_not_reach_the_terminal() {
        let text = table(&[json!({ "name": "a\u{1b}[31mb\u{9b}2J\r\n\u{202e}c" })], PLAIN);
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\r', '\u{202e}']), "{text:?}");
        assert_eq!(cell(&json!("a\nb")), "a b");
    }

    #[test]
    fn name_and_status_are_shown_before_the_ids_of_other_objects() {
        let campaign = json!({
            "id": "66f1a2b3d4e5f60718293a4b", "conversationId": "66f1a2b3d4e5f60718293a4c", "emailId": "66f1a2b3d4e5f60718293a4d",
            "name": "A campaign with a name that is long enough to be cut", "status": "scheduled",
        });
        let text = table(&[campaign], Style { width: Some(80), color: false });
        assert!(text.starts_with("ID                        NAME") && text.ends_with("  scheduled\n"), "{text}");
    }

    // Regression test: in a terminal with 80 columns, a long subject left no space for the status.
    #[test]
    fn the_status_is_shown_before_further_texts() {
        let campaign = json!({
            "id": "66f1a2b3d4e5f60718293a4b", "name": "A campaign with a name that is long enough to be cut",
            "subject": "A subject that is also long enough to be cut", "status": "scheduled",
        });
        let text = table(&[campaign], Style { width: Some(80), color: false });
        assert!(text.lines().all(|line| line.width() <= 80) && text.contains("  scheduled  A subj"), "{text}");
    }

    #[test]
    fn a_short_list_of_nested_objects_is_shown_completely() {
        let value = json!({ "checks": [{ "name": "links", "findings": [{ "title": "Dead link" }] }] });
        let text = object(value.as_object().expect("an object"), PLAIN);
        assert_eq!(text, "checks:\n  - name:     links\n    findings:\n      TITLE\n      Dead link\n");
    }

    #[test]
    fn states_have_colors_only_if_wanted() {
        let items = [json!({ "id": "1", "status": "failed" })];
        assert!(table(&items, Style { color: true, ..PLAIN }).contains("\u{1b}[31mfailed\u{1b}[0m"));
        assert!(!table(&items, PLAIN).contains('\u{1b}'));
    }

    #[test]
    fn an_object_is_indented_and_wrapped() {
        let value = json!({ "name": "one two three four five six seven eight", "sender": { "from": "a@b.example" }, "tags": ["x", "y"], "none": null });
        let text = object(value.as_object().expect("an object"), PLAIN);
        assert_eq!(
            text,
            "name:   one two three four five six\n        seven eight\nsender:\n  from: a@b.example\ntags:   x, y\n"
        );
    }
}
