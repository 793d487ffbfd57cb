//! Prints responses: as tables, as JSON, as lines of JSON, or only the IDs.

use std::io::IsTerminal;

use clap::ArgMatches;
use serde_json::Value;

use super::super::terminal::{harmless_json, note, print};
use super::arguments::flag;
use super::environment::Environment;
use super::table::{self, Style};

/// TABLE: the fields that identify an object, most specific first.
const IDS: [&str; 13] = [
    "id",
    "conversationId",
    "emailId",
    "jobId",
    "previewId",
    "deliveryId",
    "sendId",
    "batchId",
    "messageId",
    "serverId",
    "projectId",
    "domain",
    "email",
];
/// The width to assume for a terminal that does not report one.
const WIDTH_ASSUMED: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Table,
    Json,
    Lines,
    Quiet,
}

/// How the output of a command is written.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub format: Format,
    pub style: Style,
    /// Whether notes and progress are written to standard error.
    pub notes: bool,
}

impl Output {
    pub fn new(matches: &ArgMatches, environment: &Environment) -> Self {
        let quiet = flag(matches, "quiet");
        // These options are mutually exclusive, so at most one of them is set.
        let format = match (flag(matches, "json"), flag(matches, "jsonl"), quiet) {
            (true, _, _) => Format::Json,
            (_, true, _) => Format::Lines,
            (_, _, true) => Format::Quiet,
            _ => Format::Table,
        };
        let is_terminal = std::io::stdout().is_terminal();
        let width = is_terminal.then(|| {
            let known = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0);
            known.unwrap_or(WIDTH_ASSUMED)
        });
        let width = width.or(environment.columns);
        Self { format, style: Style { width, color: is_terminal && environment.allows_color }, notes: !quiet }
    }

    /// Returns whether progress can be shown.
    pub fn shows_progress(&self) -> bool {
        self.notes && std::io::stderr().is_terminal()
    }

    pub fn data(&self, data: &Value) {
        match self.format {
            Format::Json => print(&format!("{}\n", harmless_json(&format_args!("{data:#}")))),
            Format::Lines => match items(data) {
                Some(items) => self.lines(items),
                None => print(&format!("{}\n", harmless_json(data))),
            },
            Format::Quiet => {
                let all = items(data).map_or_else(|| vec![data], |items| items.iter().collect());
                print(&all.into_iter().filter_map(id).map(|id| format!("{id}\n")).collect::<String>());
            }
            Format::Table => match (items(data), data) {
                (Some([]), _) => note("Nothing found."),
                (Some(items), _) => print(&table::table(items, self.style)),
                (None, Value::Object(members)) => print(&table::object(members, self.style)),
                (None, other) => print(&format!("{}\n", table::cell(other))),
            },
        }
    }

    /// Prints the items of one page as lines of JSON.
    pub fn lines(&self, items: &[Value]) {
        print(&items.iter().map(|item| format!("{}\n", harmless_json(item))).collect::<String>());
    }
}

/// Returns the items in a list: the data itself if it is an array; otherwise, the only field that is not about paging.
pub fn items(data: &Value) -> Option<&[Value]> {
    match data {
        Value::Array(items) => Some(items),
        Value::Object(members) => {
            let mut rest = members.iter().filter(|(name, _)| !is_about_page(name));
            match (rest.next(), rest.next()) {
                (Some((_, Value::Array(items))), None) => Some(items),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_about_page(name: &str) -> bool {
    matches!(name, "total" | "limit" | "offset" | "page" | "pagination" | "hasMore" | "next" | "nextCursor" | "count")
}

/// Returns the most specific ID of an object.
pub fn id(value: &Value) -> Option<String> {
    let found = IDS.iter().map(|name| &value[*name]).find(|value| value.is_string()).unwrap_or(value);
    found.as_str().map(|_| table::cell(found))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_recognized_in_every_form_of_the_api() {
        let list = json!([{ "id": "1" }]);
        let items = |value: Value| items(&value).map(<[Value]>::len);
        assert_eq!(items(list.clone()), Some(1));
        assert_eq!(items(json!({ "contacts": list, "total": 1, "limit": 20, "offset": 0, "pagination": {} })), Some(1));
        assert_eq!(items(json!({ "entries": [], "nextCursor": null, "hasMore": false })), Some(0));
        assert_eq!(items(json!({ "id": "1", "events": ["a"] })), None);
        assert_eq!(items(json!("x")), None);
    }

    #[test]
    fn ids_are_found_under_their_names() {
        assert_eq!(id(&json!({ "name": "x", "conversationId": "c", "projectId": "p" })).as_deref(), Some("c"));
        assert_eq!(id(&json!("email.opened")).as_deref(), Some("email.opened"));
        assert_eq!(id(&json!({ "name": "x" })), None);
    }
}
