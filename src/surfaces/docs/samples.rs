//! Code samples for an operation: for curl, Node, Python and the command line.

use serde_json::{Map, Value};

use super::shape::{BASE64, Field};
use crate::engine::api::Entry;
use crate::engine::api::operation::{Media, Takes};
use crate::surfaces::cli::option_name;

/// The maximum length of a line in a sample; longer values are split over several lines.
const LINE_CHARACTERS: usize = 100;

/// Field names that are keywords in Python. The Python client appends an underscore to them.
const PYTHON_KEYWORDS: [&str; 6] = ["as", "class", "from", "global", "import", "in"];

/// Returns the samples as one group of tabbed code blocks in Markdown.
pub fn samples(entry: &Entry, fields: &[Field], input: &Value, base: &str) -> String {
    let call = Call { entry, fields, input: input.as_object().cloned().unwrap_or_default(), base };
    let parts = [
        ("sh", "curl", call.curl()),
        ("js", "Node", call.node()),
        ("python", "Python", call.python()),
        ("sh", "CLI", call.cli()),
    ];
    parts.iter().map(|(language, tab, code)| format!("```{language} tab={tab}\n{code}\n```\n\n")).collect()
}

struct Call<'a> {
    entry: &'a Entry,
    fields: &'a [Field],
    input: Map<String, Value>,
    base: &'a str,
}

impl Call<'_> {
    /// Returns the input without the path parameters and without null values.
    fn rest(&self) -> Map<String, Value> {
        let mut rest = self.input.clone();
        rest.retain(|name, value| !value.is_null() && !self.entry.spec.path_names().any(|other| other == name));
        rest
    }

    fn is_form(&self) -> bool {
        matches!(self.entry.media.takes, Takes::Form(_))
    }

    /// Returns whether the operation is paged. The SDKs return an iterable list for such operations.
    fn is_list(&self) -> bool {
        let has = |name: &str| self.fields.iter().any(|field| field.name == name);
        !self.entry.spec.verb.has_body() && has("limit") && ["offset", "cursor", "before"].into_iter().any(has)
    }

    /// Returns the input for the SDKs, without the page number or offset, because the SDKs iterate over all pages.
    fn rest_for_sdks(&self) -> Map<String, Value> {
        let mut rest = self.rest();
        rest.retain(|name, _| !(self.is_list() && matches!(name.as_str(), "page" | "offset")));
        rest
    }

    fn name(&self) -> Vec<&str> {
        self.entry.spec.client_name().unwrap_or(self.entry.spec.id).split('.').collect()
    }

    fn curl(&self) -> String {
        let spec = self.entry.spec;
        let mut path = spec.path.to_owned();
        for name in spec.path_names() {
            let value = self.input.get(name).map(plain).unwrap_or_default();
            path = path.replace(&format!("{{{name}}}"), &value);
        }
        let rest = self.rest();
        if !spec.verb.has_body() && !rest.is_empty() {
            let pairs: Vec<(&String, String)> = rest.iter().map(|(name, value)| (name, plain(value))).collect();
            path = format!("{path}?{}", serde_urlencoded::to_string(pairs).unwrap_or_default());
        }
        let method = match (spec.verb.name(), spec.verb.has_body() && (!rest.is_empty() || self.is_form())) {
            ("GET", _) | ("POST", true) => String::new(),
            (verb, _) => format!(" -X {verb}"),
        };
        let mut code = format!("curl{method} '{}{path}' \\\n  -H \"Authorization: Bearer $MAILMILL_KEY\"", self.base);
        if self.is_form() {
            for field in self.fields.iter().filter(|field| field.is_file) {
                code.push_str(&format!(" \\\n  -F {}=@contacts.csv", field.name));
            }
            for field in self.fields.iter().filter(|field| field.required && !field.is_file && !field.in_path) {
                code.push_str(&format!(" \\\n  -F {}=66f1a2b3c4d5e6f708192a3b", field.name));
            }
        } else if spec.verb.has_body() && !rest.is_empty() {
            let body = json(&Value::Object(rest), 2).replace('\'', "'\\''");
            code.push_str(&format!(" \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"));
        }
        if self.entry.media.gives != Media::JSON_TYPE {
            code.push_str(" \\\n  --output FILE");
        }
        code
    }

    /// Returns the values of the path parameters in path order, as Node and Python literals.
    fn path_values(&self) -> impl Iterator<Item = String> {
        self.entry.spec.path_names().map(|name| {
            let value = self.input.get(name).map(plain).unwrap_or_default();
            // Examples contain all path parameters as strings, but the SDKs expect numeric parameters as numbers.
            let is_number = self.fields.iter().any(|field| field.name == name && field.kind == "integer");
            if is_number { value } else { format!("{value:?}") }
        })
    }

    fn node(&self) -> String {
        let mut arguments: Vec<String> = self.path_values().collect();
        let rest = self.rest_for_sdks();
        if self.is_form() {
            arguments.push("{ file, projectId }".to_owned());
        } else if !rest.is_empty() {
            arguments.push(JAVASCRIPT.write(&Value::Object(rest), 0));
        }
        let name: Vec<String> = self.name().into_iter().map(camel).collect();
        let call = format!("mailmill.{}({})", name.join("."), arguments.join(", "));
        match self.is_list() {
            true => format!("for await (const item of {call}) console.log(item);"),
            false => format!("await {call};"),
        }
    }

    fn python(&self) -> String {
        let mut arguments: Vec<String> = self.path_values().collect();
        if self.is_form() {
            arguments.extend(["file=file".to_owned(), "project_id=project_id".to_owned()]);
        } else {
            arguments.extend(
                self.rest_for_sdks().iter().map(|(name, value)| format!("{}={}", python_name(name), PYTHON.write(value, 4))),
            );
        }
        let start = format!("client.{}(", self.name().join("."));
        let line = format!("{start}{})", arguments.join(", "));
        let call = match line.len() <= LINE_CHARACTERS && !line.contains('\n') {
            true => line,
            false => format!("{start}\n    {},\n)", arguments.join(",\n    ")),
        };
        if self.is_list() { format!("for item in {call}:\n    print(item)") } else { call }
    }

    fn cli(&self) -> String {
        let mut words: Vec<String> = vec!["mailmill".to_owned()];
        words.extend(self.name().into_iter().map(|word| word.replace('_', "-")));
        let mut options = Vec::new();
        for name in self.entry.spec.path_names() {
            let value = self.input.get(name).map(plain).unwrap_or_default();
            // On the command line, the project is an option, because nearly every command needs it and users can set a default.
            if name == "projectId" { options.push(format!("--project {value}")) } else { words.push(value) }
        }
        if self.is_form() {
            options.extend(["--project 66f1a2b3c4d5e6f708192a3b".to_owned(), "--file contacts.csv".to_owned()]);
        } else {
            let is_file = |name: &str| self.fields.iter().any(|field| field.name == name && field.kind == BASE64);
            // The option takes a path, because the command-line client reads the file and encodes its content.
            options.extend(self.rest().iter().map(|(name, value)| match is_file(name) {
                true => option(name, &Value::from("image.png")),
                false => option(name, value),
            }));
        }
        let words = words.join(" ");
        let line = format!("{words} {}", options.join(" "));
        match line.len() <= LINE_CHARACTERS {
            true => line.trim_end().to_owned(),
            false => format!("{words} \\\n  {}", options.join(" \\\n  ")),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn option(name: &str, value: &Value) -> String {
    let long = option_name(name);
    match value {
        Value::Bool(true) => format!("--{long}"),
        Value::Array(items) if items.iter().all(Value::is_string) => format!("--{long} {}", quoted(&plain(value))),
        Value::Object(_) | Value::Array(_) => format!("--{long} {}", quoted(&value.to_string())),
        Value::Bool(false) => format!("--{long}=false"),
        other => format!("--{long} {}", quoted(&plain(other))),
    }
}

/// Quotes a word for a shell command if it contains special characters.
fn quoted(word: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b',' | b':' | b'/' | b'@' | b'=' | b'+');
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// How a language formats values.
struct Style {
    name: fn(&str) -> String,
    word: fn(&Value) -> String,
    /// The number of spaces per level of indentation.
    indent: usize,
    /// Whether braces have spaces inside them.
    is_wide: bool,
    /// Whether the last member is followed by a comma.
    ends_with_comma: bool,
}

const JSON: Style =
    Style { name: |name| format!("{name:?}"), word: |value| value.to_string(), indent: 2, is_wide: true, ends_with_comma: false };

const JAVASCRIPT: Style = Style {
    name: |name| {
        let is_word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_word { name.to_owned() } else { format!("{name:?}") }
    },
    ends_with_comma: true,
    ..JSON
};

const PYTHON: Style = Style {
    word: |value| match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    },
    indent: 4,
    is_wide: false,
    ends_with_comma: true,
    ..JSON
};

impl Style {
    /// Writes a value that starts on a line indented by `indent` spaces. The value is on one line if it fits; otherwise, each member is on
    /// its own line.
    fn write(&self, value: &Value, indent: usize) -> String {
        let line = self.line(value);
        if line.len() + indent <= LINE_CHARACTERS {
            return line;
        }
        let inner = indent + self.indent;
        let (open, members, close) = match value {
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| format!("{}: {}", (self.name)(key), self.write(value, inner));
                ('{', members.iter().map(member).collect::<Vec<_>>(), '}')
            }
            Value::Array(items) => ('[', items.iter().map(|item| self.write(item, inner)).collect(), ']'),
            _ => return line,
        };
        let pad = " ".repeat(inner);
        let members = members.join(&format!(",\n{pad}"));
        let comma = if self.ends_with_comma { "," } else { "" };
        format!("{open}\n{pad}{members}{comma}\n{}{close}", " ".repeat(indent))
    }

    fn line(&self, value: &Value) -> String {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let member = |(key, value): (&String, &Value)| format!("{}: {}", (self.name)(key), self.line(value));
                let space = if self.is_wide { " " } else { "" };
                format!("{{{space}{}{space}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
            Value::Array(items) => format!("[{}]", items.iter().map(|item| self.line(item)).collect::<Vec<_>>().join(", ")),
            other => (self.word)(other),
        }
    }
}

/// Formats a value as JSON. The line on which the value starts is indented by `indent` spaces.
pub fn json(value: &Value, indent: usize) -> String {
    JSON.write(value, indent)
}

fn camel(word: &str) -> String {
    let mut parts = word.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        let mut characters = part.chars();
        out.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(characters.as_str());
        out
    })
}

fn snake(name: &str) -> String {
    name.chars()
        .flat_map(|character| [character.is_ascii_uppercase().then_some('_'), Some(character.to_ascii_lowercase())])
        .flatten()
        .collect()
}

fn python_name(name: &str) -> String {
    let name = snake(name);
    if PYTHON_KEYWORDS.contains(&name.as_str()) { name + "_" } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::shape;
    use super::*;
    use crate::engine::api::response::{Envelope, RequestId};
    use crate::operations::OPERATIONS;

    fn of(id: &str) -> String {
        let entry = OPERATIONS.iter().find(|entry| entry.spec.id == id).expect("the operation exists");
        let envelope = Envelope {
            timestamp: crate::base::clock::Timestamp(0),
            request: RequestId { boot: 0, number: 0 },
            keeps_nulls: false,
        };
        samples(entry, &shape::input(entry), &(entry.example)(&envelope).0, "http://127.0.0.1:8080")
    }

    #[test]
    fn a_call_with_a_body_is_shown_in_four_languages() {
        let all = of("tags.create");
        for part in [
            "curl 'http://127.0.0.1:8080/v1/tags' \\\n  -H \"Authorization: Bearer $MAILMILL_KEY\" \\\n  -H 'Content-Type: application/json'",
            "await mailmill.tags.create({",
            "client.tags.create(",
            "project_id=\"",
            "mailmill tags create ",
            "--project ",
        ] {
            assert!(all.contains(part), "{part} in\n{all}");
        }
    }

    #[test]
    fn ids_are_in_the_path_and_values_of_reads_in_the_query() {
        let all = of("contacts.get");
        assert!(all.contains("?projectId=") && !all.contains(" -d ") && all.contains("mailmill contacts get "), "{all}");
        assert!(of("contacts.delete").contains("curl -X DELETE "));
    }

    #[test]
    fn programs_iterate_over_lists_and_options_have_the_names_of_the_command_line() {
        let all = of("tags.list");
        assert!(
            all.contains("for await (const item of mailmill.tags.list({") && all.contains("for item in client.tags.list("),
            "{all}"
        );
        let links = of("validation.links");
        assert!(links.contains("mailmill validation links") && links.contains("--timeout 5000"), "{links}");
        assert_eq!(option("output", &serde_json::json!(5)), "--input-output 5");
    }

    #[test]
    fn names_and_values_follow_the_rules_of_each_language() {
        assert_eq!((camel("bulk_changes"), snake("firstName")), ("bulkChanges".to_owned(), "first_name".to_owned()));
        assert_eq!((quoted("it's"), quoted("a,b")), ("'it'\\''s'".to_owned(), "a,b".to_owned()));
        let value = serde_json::json!({ "a": true, "b-c": null });
        assert_eq!(
            (JAVASCRIPT.write(&value, 0), PYTHON.write(&value, 0)),
            ("{ a: true, \"b-c\": null }".to_owned(), "{\"a\": True, \"b-c\": None}".to_owned())
        );
    }
}
