//! Converts a command's arguments to the input of its operation.

use std::io::Read;
use std::num::IntErrorKind;
use std::path::PathBuf;

use clap::ArgMatches;
use data_encoding::BASE64;
use serde_json::{Map, Value};

use super::super::problem::{Problem, named};
use super::fields::{Field, ValueKind};
use super::names::constant_case;
use super::option_names::{PROJECT, field_id, long, main_id};

/// The maximum size of a file, or of standard input, that becomes part of a JSON body. It only limits memory use; servers have lower
/// limits.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The part of an operation's input that the arguments set.
#[derive(Debug, Default)]
pub struct Input {
    pub values: Map<String, Value>,
    /// The file that a form uploads; `-` for standard input.
    pub upload: Option<PathBuf>,
}

/// TABLE: the text fields whose values users often keep in files. Of the text fields, only these accept `@` followed by a file name. The
/// values of other text fields are used as written, so that a script that passes a name from a form cannot be tricked into sending a local
/// file.
const LONG_TEXTS: [&str; 6] = ["html", "prompt", "instruction", "template", "content", "designRules"];

/// Returns whether a field's value can be `@` followed by a file name.
pub fn takes_file(field: &Field) -> bool {
    match field.kind {
        ValueKind::Text => LONG_TEXTS.contains(&field.name.as_str()),
        ValueKind::Json | ValueKind::Map => true,
        _ => false,
    }
}

/// Parses the arguments. Project names are not resolved to IDs yet.
pub fn read(matches: &ArgMatches, fields: &[Field]) -> Result<Input, Problem> {
    let mut input = Input { values: body(matches)?, upload: None };
    for field in fields {
        let texts = texts(matches, field);
        if texts.is_empty() {
            continue;
        }
        if field.kind == ValueKind::Upload {
            input.upload = Some(PathBuf::from(&texts[0]));
            continue;
        }
        let value = value(field, &texts)?;
        input.values.insert(field.name.clone(), value);
    }
    Ok(input)
}

/// Fails if a required field has no value; the error names the argument that sets the field. `main` is the field that can be set without an
/// option name.
pub fn require(input: &Input, fields: &[Field], main: Option<&str>) -> Result<(), Problem> {
    let is_set = |field: &Field| match field.kind {
        ValueKind::Upload => input.upload.is_some(),
        _ => input.values.contains_key(&field.name),
    };
    match fields.iter().find(|field| field.required && !is_set(field)) {
        None => Ok(()),
        Some(field) if field.name == PROJECT => Err(Problem::misused(
            "the project is missing; name it with --project (`mailmill projects list` lists the projects, `mailmill projects \
             import URL` creates one)",
        )),
        Some(field) if Some(&*field.name) == main => {
            Err(Problem::misused(format_args!("{} is missing; see --help for details", constant_case(&field.name))))
        }
        Some(field) => Err(Problem::misused(format_args!("--{} is missing; see --help for details", long(&field.name)))),
    }
}

/// Returns the object from `--body`, or an empty object.
fn body(matches: &ArgMatches) -> Result<Map<String, Value>, Problem> {
    let Some(given) = one(matches, "body") else { return Ok(Map::new()) };
    let text = content_of(&given, "--body")?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Problem::misused("--body must be a JSON object, like {\"name\": \"Ada\"}")),
        Err(error) => Err(Problem::misused(format_args!("--body is not valid JSON: {error}; correct its syntax"))),
    }
}

/// Returns the text that an option specifies. `-` stands for standard input, and `@` followed by a file name for the content of the file.
/// Any other text is the text itself.
pub fn content_of(given: &str, option: &str) -> Result<String, Problem> {
    if given == "-" { text_of("-", option) } else { content(given, option) }
}

/// Returns the values that the user gave for a field, as an option or as a positional argument.
fn texts(matches: &ArgMatches, field: &Field) -> Vec<String> {
    let found = [field_id(&field.name), main_id(&field.name)].into_iter().find_map(|id| {
        let given = matches.try_get_raw(&id).ok().flatten()?;
        Some(given.map(|text| text.to_string_lossy().into_owned()).collect::<Vec<_>>())
    });
    found.unwrap_or_default()
}

/// Returns the text of an argument that has a single value.
pub fn one(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.try_get_raw(id).ok().flatten()?.next().map(|text| text.to_string_lossy().into_owned())
}

/// Returns whether a flag is set; `false` if the command has no such flag.
pub fn flag(matches: &ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false)
}

fn value(field: &Field, texts: &[String]) -> Result<Value, Problem> {
    let option = format!("--{}", long(&field.name));
    let text = texts.last().map(String::as_str).unwrap_or_default();
    let wrong = |rule: &str| Problem::misused(format_args!("{option} {rule}, not \"{text}\""));
    Ok(match &field.kind {
        ValueKind::Text if takes_file(field) => content(text, &option)?.into(),
        ValueKind::Text | ValueKind::Choice(_) => text.into(),
        ValueKind::Integer => text.parse::<i64>().map_err(|error| wrong(integer(error.kind())))?.into(),
        ValueKind::Number => number(text).map_err(wrong)?.into(),
        ValueKind::Flag => match text {
            "true" => true.into(),
            "false" => false.into(),
            _ => return Err(wrong("must be true or false")),
        },
        ValueKind::List(_) => list(texts),
        ValueKind::Map => map(texts, &option)?,
        ValueKind::Json => json(&content(text, &option)?, &option)?,
        ValueKind::Base64 => BASE64.encode(&bytes(text, &option)?).into(),
        ValueKind::Upload => Value::Null,
    })
}

/// Returns the rule that the text violates, given the reason why it cannot be parsed as an integer.
fn integer(reason: &IntErrorKind) -> &'static str {
    match reason {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "must be a whole number of at most 18 digits",
        _ => "must be a whole number",
    }
}

/// Parses a number. NaN and infinity are errors, because JSON cannot contain them: both would be written as `null`.
fn number(text: &str) -> Result<f64, &'static str> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(number) if number.is_infinite() => Err("must be between -1.79e308 and 1.79e308"),
        _ => Err("must be a number"),
    }
}

/// Returns the items in a list. Each string contains comma-separated items, or a JSON array, whose items may contain commas.
fn list(texts: &[String]) -> Value {
    let items = texts.iter().flat_map(|text| match serde_json::from_str::<Vec<String>>(text) {
        Ok(items) => items,
        Err(_) => text.split(',').map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect(),
    });
    items.map(Value::from).collect()
}

/// Returns an object from JSON or from pairs like `city=Berlin`.
fn map(texts: &[String], option: &str) -> Result<Value, Problem> {
    let mut object = Map::new();
    for text in texts {
        let text = content(text, option)?;
        if text.trim_start().starts_with('{') {
            let given: Map<String, Value> = serde_json::from_str(&text)
                .map_err(|error| Problem::misused(format_args!("{option} is not valid JSON: {error}; correct its syntax")))?;
            object.extend(given);
            continue;
        }
        let Some((name, value)) = text.split_once('=') else {
            return Err(Problem::misused(format_args!("{option} must be KEY=VALUE or a JSON object, not \"{text}\"")));
        };
        object.insert(name.to_owned(), value.into());
    }
    Ok(object.into())
}

/// Parses JSON. Text that is not JSON becomes a string, because some fields accept either an object or a string. Fails if invalid JSON
/// starts with `{` or `[`.
fn json(text: &str, option: &str) -> Result<Value, Problem> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) if text.trim_start().starts_with(['{', '[']) => {
            Err(Problem::misused(format_args!("{option} is not valid JSON: {error}; correct its syntax")))
        }
        Err(_) => Ok(text.into()),
    }
}

/// Returns the value of a text argument. `@` followed by a file name stands for the content of the file, `@-` for standard input, and the
/// prefix `@@` for a literal `@`. Any other text is the value itself.
fn content(text: &str, option: &str) -> Result<String, Problem> {
    match text.strip_prefix('@') {
        None => Ok(text.to_owned()),
        Some(rest) if rest.starts_with('@') => Ok(rest.to_owned()),
        Some(file) => text_of(file, option),
    }
}

fn text_of(file: &str, option: &str) -> Result<String, Problem> {
    let bytes = bytes(file, option)?;
    String::from_utf8(bytes)
        .map_err(|_| Problem::misused(format_args!("{option}: {} is not UTF-8 text; convert it to UTF-8", named(file))))
}

fn bytes(file: &str, option: &str) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" => std::io::stdin().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes),
        _ => std::fs::File::open(file).and_then(|open| open.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Problem::unreadable(&format!("{option}: "), file, &error))?;
    match bytes.len() as u64 > INPUT_BYTES_MAX {
        true => {
            Err(Problem::misused(format_args!("{option}: {} has more than {INPUT_BYTES_MAX} bytes; shorten it", named(file))))
        }
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::commands::{self, Detail};
    use super::super::{fields, names};
    use super::*;
    use crate::operations::OPERATIONS;

    fn parsed(line: &[&str]) -> Result<Input, Problem> {
        let words: Vec<String> = line.iter().take_while(|word| !word.starts_with('-')).map(|word| (*word).to_owned()).collect();
        let resource = names::resources(OPERATIONS).into_iter().find(|(name, _)| *name == line[0]).expect("it is a resource");
        let matches = commands::resource(OPERATIONS, resource, Detail::All)
            .try_get_matches_from(line.to_vec())
            .map_err(Problem::misused)?;
        let found = names::of_resource(OPERATIONS, line[0]).into_iter().find(|named| words.starts_with(&named.words));
        let named = found.expect("it is a command");
        let mut inner = &matches;
        for _ in 1..named.words.len() {
            inner = inner.subcommand().expect("there is a subcommand").1;
        }
        let fields = fields::of(named.entry);
        let input = read(inner, &fields)?;
        require(&input, &fields, None).map(|()| input)
    }

    fn values(line: &[&str]) -> Value {
        Value::Object(parsed(line).expect("the arguments are valid").values)
    }

    #[test]
    fn options_become_typed_values() {
        let line = ["contacts", "create", "ada@example.com", "--project", "leaf", "--tags", "vip,new", "--tags", "[\"a,b\"]"];
        let line =
            [&line[..], &["--custom-fields", "city=Berlin", "--custom-fields", "{\"age\":7}", "--first-name", "@da"]].concat();
        assert_eq!(
            values(&line),
            json!({
                "email": "ada@example.com", "projectId": "leaf", "tags": ["vip", "new", "a,b"],
                "customFields": { "city": "Berlin", "age": 7 }, "firstName": "@da",
            })
        );
        assert_eq!(
            values(&[
                "emails",
                "generate",
                "Say hello",
                "--project",
                "p",
                "--count",
                "3",
                "--web-mode=false",
                "--languages",
                "en,de"
            ]),
            json!({ "prompt": "Say hello", "projectId": "p", "count": 3, "webMode": false, "languages": ["en", "de"] })
        );
        assert_eq!(values(&["webhooks", "deliveries", "get", "W", "D"]), json!({ "webhookId": "W", "deliveryId": "D" }));
    }

    #[test]
    fn a_body_is_extended_by_options_and_files_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("body.json");
        std::fs::write(&file, r#"{"name":"A","color":"red"}"#).expect("the file can be written");
        let body = format!("@{}", file.display());
        let line = ["tags", "create", "--body", &body, "--name", "B", "--project", "p"];
        assert_eq!(values(&line), json!({ "name": "B", "color": "red", "projectId": "p" }));
        let wrong = parsed(&["tags", "create", "--body", "[1]"]).expect_err("a list is not an object");
        assert!(wrong.to_string().starts_with("--body must be a JSON object"), "{wrong}");
        let broken = parsed(&["segments", "create", "--filters", "{\"a\": }"]).expect_err("it is not JSON");
        assert!(broken.to_string().starts_with("--filters is not valid JSON: "), "{broken}");
        let absent = parsed(&["emails", "generate", "@/nowhere/x", "--project", "p"]).expect_err("there is no such file");
        assert!(absent.to_string().starts_with("--prompt: cannot read /nowhere/x"), "{absent}");
        // A name is never read from a file, so a script cannot be tricked into sending a local file.
        assert_eq!(values(&["tags", "create", "--name", "@/etc/hostname", "--project", "p"])["name"], "@/etc/hostname");
    }

    // JSON cannot contain NaN or infinity. Written as null, such a value would look as if the option were not set.
    #[test]
    fn a_number_option_takes_only_numbers_that_json_can_contain() {
        let field = Field {
            name: "pixelRatio".into(),
            kind: ValueKind::Number,
            in_path: false,
            required: false,
            about: String::new(),
            default: None,
        };
        let read = |text: &str| value(&field, &[text.to_owned()]).map_err(|problem| problem.to_string());
        assert_eq!(read("-2.5"), Ok(json!(-2.5)));
        for text in ["nan", "NaN", "-nan", "two"] {
            assert_eq!(read(text), Err(format!("--pixel-ratio must be a number, not \"{text}\"")));
        }
        for text in ["inf", "-infinity", "1e999"] {
            assert_eq!(read(text), Err(format!("--pixel-ratio must be between -1.79e308 and 1.79e308, not \"{text}\"")));
        }
    }

    #[test]
    fn a_missing_field_is_named_with_its_option() {
        let missing = parsed(&["tags", "create", "--project", "p"]).expect_err("the name is missing");
        assert_eq!((missing.code(), missing.to_string().split(';').next()), (2, Some("--name is missing")));
        let project = parsed(&["tags", "create", "vip"]).expect_err("the project is missing");
        assert!(project.to_string().starts_with("the project is missing"), "{project}");
    }

    #[test]
    fn every_command_has_a_consistent_definition() {
        for (name, about) in names::resources(OPERATIONS) {
            let command = clap::Command::new("mailmill").args(commands::general());
            command.subcommand(commands::resource(OPERATIONS, (name, about), Detail::All)).debug_assert();
        }
    }
}
