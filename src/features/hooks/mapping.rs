//! Extracts the values of a webhook's fields from the body of a request.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::model::{Hook, HookKind};
use crate::base::strict_objects::{ROUNDED, is_rounded};
use crate::features::contacts::FieldError;
use crate::vocab::contact_fields::ProfileField;
use crate::vocab::limits;

/// The fields of an event, except the fields of its profile and its properties.
const EVENT_FIELDS: [&str; 8] =
    ["name", "occurredAt", "dedupeKey", "email", "subscriberId", "externalCustomerId", "externalCheckoutId", "externalOrderId"];

/// The pattern for the path of a value in a body.
pub const PATH_PATTERN: &str = r"^[^.\x00-\x1f\x7f-\x9f]+(?:\.[^.\x00-\x1f\x7f-\x9f]+)*$";

/// Returns the pattern for the names of contact fields in a mapping.
pub fn contact_fields_pattern() -> String {
    format!("^(?:email|{})$", profile_pattern())
}

/// Returns the pattern for the names of event fields in a mapping.
pub fn event_fields_pattern() -> String {
    format!(r"^(?:{}|properties\.[\s\S]+|profile\.(?:{}))$", EVENT_FIELDS.join("|"), profile_pattern())
}

fn profile_pattern() -> String {
    let keys: Vec<&str> = ProfileField::ALL.iter().map(|field| field.spec().key).collect();
    format!(r"{}|customFields\.[\s\S]+", keys.join("|"))
}

/// Checks a mapping: its field names and the syntax of its paths.
pub fn check(kind: HookKind, mapping: &BTreeMap<String, String>) -> Result<(), FieldError> {
    if mapping.len() > limits::HOOK_FIELDS_MAX {
        return Err(FieldError::new("mapping", format_args!("map at most {} fields", limits::HOOK_FIELDS_MAX)));
    }
    for (field, path) in mapping {
        let at = format!("mapping.{field}");
        if !is_field(kind, field) {
            return Err(FieldError::new(at, format_args!("there is no such field; use one of: {}", fields_of(kind))));
        }
        let is_path = !path.is_empty() && path.len() <= limits::HOOK_PATH_CHARACTERS_MAX && !path.chars().any(char::is_control);
        if !is_path || path.split('.').any(str::is_empty) {
            let max = limits::HOOK_PATH_CHARACTERS_MAX;
            let reason =
                format_args!("enter the path of the value in the body, like `email` or `contact.email`; use at most {max} bytes");
            return Err(FieldError::new(at, reason));
        }
    }
    if kind == HookKind::Contacts && !mapping.is_empty() && !mapping.contains_key("email") {
        return Err(FieldError::new("mapping.email", "enter the path of the contact's email"));
    }
    Ok(())
}

fn is_field(kind: HookKind, field: &str) -> bool {
    let is_profile = |name: &str| ProfileField::ALL.iter().any(|known| known.spec().key == name) || is_in(name, "customFields.");
    match kind {
        HookKind::Contacts => field == "email" || is_profile(field),
        HookKind::Events => {
            EVENT_FIELDS.contains(&field) || is_in(field, "properties.") || field.strip_prefix("profile.").is_some_and(is_profile)
        }
    }
}

fn is_in(name: &str, front: &str) -> bool {
    name.strip_prefix(front).is_some_and(|rest| !rest.is_empty() && rest.len() <= limits::HOOK_PATH_CHARACTERS_MAX)
}

fn fields_of(kind: HookKind) -> &'static str {
    match kind {
        HookKind::Contacts => "email, the fields of a contact, or customFields.NAME",
        HookKind::Events => {
            "name, occurredAt, dedupeKey, email, subscriberId, externalCustomerId, externalCheckoutId, externalOrderId, properties.NAME or \
             profile.FIELD"
        }
    }
}

/// Converts a body to input in the format of the API operations.
pub fn input(hook: &Hook, body: &Value) -> Value {
    let mut input = mapped(hook.kind, &hook.mapping, body);
    if let (HookKind::Events, Some(name)) = (hook.kind, &hook.event_name) {
        input.insert("name".into(), name.clone().into());
    }
    Value::Object(input)
}

fn mapped(kind: HookKind, mapping: &BTreeMap<String, String>, body: &Value) -> Map<String, Value> {
    let mut input = Map::new();
    if mapping.is_empty() {
        own_names(kind, body, &mut input);
    }
    for (field, path) in mapping {
        if let Some(value) = at(body, path) {
            set(kind, &mut input, field, value);
        }
    }
    input
}

/// Parses the bytes as JSON and as a form, and converts each parsed body to input, with and without a mapping. Returns the inputs for
/// contacts, then the inputs for events. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn read_bodies(bytes: &[u8]) -> [Vec<Value>; 2] {
    let paths = [("email", "a.email"), ("customFields.x", "items.0.x"), ("phone", "list.id=1.phone")];
    let event_paths = [("email", "email"), ("name", "event.name"), ("properties.value", "sum"), ("profile.customFields.x", "x")];
    let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(field, path)| ((*field).to_owned(), (*path).to_owned())).collect();
    let bodies: Vec<Value> = [true, false].into_iter().filter_map(|is_form| body(is_form, bytes).ok()).collect();
    let of = |kind: HookKind, mapping: BTreeMap<String, String>| {
        assert!(check(kind, &mapping).is_ok(), "the mapping is valid");
        let all = bodies.iter().flat_map(|body| [mapped(kind, &BTreeMap::new(), body), mapped(kind, &mapping, body)]);
        all.map(Value::Object).collect()
    };
    [of(HookKind::Contacts, map(&paths)), of(HookKind::Events, map(&event_paths))]
}

/// Returns whether events have a field with this name.
pub fn is_event_field(name: &str) -> bool {
    is_field(HookKind::Events, name)
}

/// Returns the error for a mapping to a field that events do not have.
pub fn no_event_field(field: &str) -> FieldError {
    let fields = fields_of(HookKind::Events);
    FieldError::new(format!("mapping.{field}"), format_args!("there is no such field; use one of: {fields}"))
}

/// Returns the event with these field values, in the format of the API operations. `name` overrides the event's name.
pub fn event<'v>(values: impl IntoIterator<Item = (&'v str, &'v Value)>, name: Option<&str>) -> Value {
    let mut input = Map::new();
    values.into_iter().for_each(|(field, value)| set(HookKind::Events, &mut input, field, value));
    if let Some(name) = name {
        input.insert("name".into(), name.into());
    }
    Value::Object(input)
}

/// For a webhook without a mapping, copies each value whose name in the body is the name of a field. Ignores other values, because most
/// systems send more values than the webhook uses.
fn own_names(kind: HookKind, body: &Value, input: &mut Map<String, Value>) {
    for (name, value) in body.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("customFields", Value::Object(fields)) if kind == HookKind::Contacts => {
                fields.iter().for_each(|(name, value)| set(kind, input, &format!("customFields.{name}"), value));
            }
            ("properties", Value::Object(fields)) if kind == HookKind::Events => {
                fields.iter().for_each(|(name, value)| set(kind, input, &format!("properties.{name}"), value));
            }
            (name, value) if is_field(kind, name) => set(kind, input, name, value),
            _ => {}
        }
    }
}

/// Returns the value at a path. A path consists of field names separated by dots. In a list, a part of the path is an index, starting at 0,
/// or `name=text`, which selects the first item in which `name` has the value `text`. A top-level name that contains dots also matches.
fn at<'v>(body: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(value) = body.get(path) {
        return Some(value);
    }
    path.split('.').try_fold(body, |value, part| match value {
        Value::Array(items) => match part.split_once('=') {
            Some((name, text)) => items.iter().find(|item| item.get(name).and_then(Value::as_str) == Some(text)),
            None => items.get(part.parse::<usize>().ok()?),
        },
        other => other.get(part),
    })
}

/// Sets a field of the input. Leaves out empty values. Text fields also accept numbers and booleans, because systems differ in how they
/// send such values.
fn set(kind: HookKind, input: &mut Map<String, Value>, field: &str, value: &Value) {
    let value = match value {
        Value::Null => return,
        Value::String(text) if text.trim().is_empty() => return,
        Value::String(text) => Value::String(text.trim().to_owned()),
        other => other.clone(),
    };
    let as_text = |value: Value| match value {
        // Keep an inexact number as a number, so that `check_exact` rejects it.
        Value::Number(number) if is_inexact(&number) => Value::Number(number),
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(flag) => Value::String(flag.to_string()),
        other => other,
    };
    let (path, value): (Vec<&str>, Value) = match (kind, field) {
        (HookKind::Contacts, field) => match field.split_once('.') {
            Some((group, name)) => (vec![group, name], value),
            None => (vec![field], as_text(value)),
        },
        (HookKind::Events, field) => match field.split_once('.') {
            Some(("properties", name)) => (vec!["properties", name], number(name, value)),
            Some((group, rest)) => match rest.split_once('.') {
                Some((fields, name)) => (vec![group, fields, name], value),
                None => (vec![group, rest], as_text(value)),
            },
            None if matches!(field, "name" | "occurredAt" | "dedupeKey") => (vec![field], as_text(value)),
            None => (vec!["identifiers", field], as_text(value)),
        },
    };
    let (last, groups) = path.split_last().expect("a path has a last part");
    let mut place = input;
    for group in groups {
        let inner = place.entry(*group).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(inner) = inner else { return };
        place = inner;
    }
    place.insert((*last).to_owned(), value);
}

/// Returns whether the number may be an integer that the parser rounded.
fn is_inexact(number: &Number) -> bool {
    number.is_f64() && number.as_f64().is_some_and(is_rounded)
}

/// Rejects input with a number that the parser may have rounded: for example, a rounded order number would identify a different order.
pub fn check_exact(input: &Value) -> Result<(), FieldError> {
    fn check(field: &str, value: &Value) -> Result<(), FieldError> {
        match value {
            Value::Number(number) if is_inexact(number) => Err(FieldError::new(field.to_owned(), ROUNDED)),
            Value::Array(items) => items.iter().try_for_each(|item| check(field, item)),
            Value::Object(fields) => fields.iter().try_for_each(|(name, value)| match field {
                "" => check(name, value),
                field => check(&format!("{field}.{name}"), value),
            }),
            _ => Ok(()),
        }
    }
    check("", input)
}

/// Converts the event property `value` from text to a number, because forms send all values as text. Returns other properties
/// unchanged.
fn number(name: &str, value: Value) -> Value {
    match (name, &value) {
        ("value", Value::String(text)) => serde_json::from_str::<Number>(text).map_or(value, Value::Number),
        _ => value,
    }
}

/// Returns whether bodies of this content type are forms.
pub fn is_form(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// Parses a JSON or form body. Repeated form fields become a list.
pub fn body(is_form: bool, bytes: &[u8]) -> Result<Value, FieldError> {
    if !is_form {
        let parsed: Result<Value, _> = serde_json::from_slice(bytes);
        return match parsed {
            Ok(object @ Value::Object(_)) => Ok(object),
            Ok(_) => Err(FieldError::new("", "the body must be a JSON object; send one record in each request")),
            Err(_) => Err(FieldError::new(
                "",
                "the body is not valid JSON; correct it, or send a form as application/x-www-form-urlencoded",
            )),
        };
    }
    let pairs: Vec<(String, String)> = serde_urlencoded::from_bytes(bytes)
        .map_err(|_| FieldError::new("", "the form is invalid; encode it as application/x-www-form-urlencoded"))?;
    let mut fields = Map::new();
    for (name, value) in pairs {
        match fields.entry(name) {
            serde_json::map::Entry::Vacant(new) => {
                new.insert(Value::String(value));
            }
            serde_json::map::Entry::Occupied(mut known) => {
                if !known.get().is_array() {
                    let first = known.get().clone();
                    known.insert(Value::Array(vec![first]));
                }
                known.get_mut().as_array_mut().expect("made a list above").push(Value::String(value));
            }
        }
    }
    Ok(Value::Object(fields))
}
