//! The API reference as Markdown: one page per client resource, generated from the table of operations.

use serde_json::Value;

use super::samples::{json, samples};
use super::shape::{self, Field};
use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::api::openapi;
use crate::engine::api::response::{Envelope, RequestId};
use crate::engine::api::{Entry, Media};
use crate::surfaces::docs_links::{self, address, anchor};
use crate::vocab::limits;

/// The envelope in the example responses, with a fixed time and request ID.
const EXAMPLE: Envelope =
    Envelope { timestamp: Timestamp(1_767_225_600_000), request: RequestId { boot: 0x6950_5d80, number: 1 }, keeps_nulls: false };

pub struct ReferencePage {
    /// The name in the URL, such as `api/contacts`.
    pub name: String,
    pub text: String,
}

/// Returns the overview page, then one page per resource in the order of the operations.
pub fn pages(operations: &[Entry], base: &str, now: Timestamp) -> Vec<ReferencePage> {
    let mut resources: Vec<(&str, Vec<(&str, &Entry)>)> = Vec::new();
    for entry in operations {
        let Some((resource, method)) = entry.spec.client_name().and_then(|name| name.split_once('.')) else { continue };
        match resources.iter_mut().find(|(other, _)| *other == resource) {
            Some((_, entries)) => entries.push((method, entry)),
            None => resources.push((resource, vec![(method, entry)])),
        }
    }
    let mut pages = vec![overview(&resources)];
    pages.extend(resources.iter().map(|(resource, entries)| page(resource, entries, base, now)));
    pages
}

/// Converts a resource name to a title: `incoming_webhooks` becomes `Incoming webhooks`.
fn title(resource: &str) -> String {
    let words = resource.replace('_', " ");
    words[..1].to_ascii_uppercase() + &words[1..]
}

const OVERVIEW: &str = "# API overview

All operations that an API key can call, by resource. Each page shows the same call for curl, the [Node and Python SDKs, and the command \
line](clients.md). `/openapi.json` describes the same operations for code generators. Rules that hold for all of them are in \
[API conventions](api-conventions.md).

";

fn overview(resources: &[(&str, Vec<(&str, &Entry)>)]) -> ReferencePage {
    let mut text = OVERVIEW.to_owned();
    for (resource, entries) in resources {
        text.push_str(&format!("## {}\n\n| Operation | Request |\n|---|---|\n", title(resource)));
        for (_, entry) in entries {
            let spec = entry.spec;
            let name = spec.client_name().unwrap_or(spec.id);
            text.push_str(&format!("| [{}]({}) | `{} {}` |\n", spec.summary, address(name), spec.verb.name(), spec.path));
        }
        text.push('\n');
    }
    ReferencePage { name: "api".to_owned(), text }
}

fn page(resource: &str, entries: &[(&str, &Entry)], base: &str, now: Timestamp) -> ReferencePage {
    let mut text = format!("# {}\n\n", title(resource));
    let lines = entries.iter().map(|(method, entry)| format!("- [{}](#{})\n", entry.spec.summary, anchor(method)));
    text.extend(lines);
    let mut shown = Vec::new();
    for (method, entry) in entries {
        text.push_str(&operation(method, entry, (base, now), &mut shown));
    }
    ReferencePage { name: docs_links::page(resource), text }
}

/// A response part that is already on the page, with the summary and the anchor of the operation that shows it.
type Shown = (String, &'static str, String);

fn operation(method: &str, entry: &Entry, (base, now): (&str, Timestamp), shown: &mut Vec<Shown>) -> String {
    let spec = entry.spec;
    let fields = shape::input(entry);
    let (input, output) = (entry.example)(&EXAMPLE);
    let mut text =
        format!("\n## {} {{#{}}}\n\n`{} {}`\n\n{}\n\n", spec.summary, anchor(method), spec.verb.name(), spec.path, about(entry));
    if !fields.is_empty() {
        text.push_str("| Field | Type | Description |\n|---|---|---|\n");
        text.extend(fields.iter().map(row));
        text.push('\n');
    }
    text.push_str(&samples(entry, &fields, &dated(input, now), base));
    if entry.media.gives != Media::JSON_TYPE {
        text.push_str(&format!("The response has the content type `{}`.\n\n", entry.media.gives));
    } else if output["data"] != Value::Null {
        let example = format!("`data` of the response:\n\n```json\n{}\n```\n\n", json(&output["data"], 0));
        text.push_str(&format!("Status {}. ", entry.status));
        text.push_str(&once(example, "The response is like that of", method, entry, shown));
        text.push_str(&once(results(&shape::output(entry)), "Its fields are those of", method, entry, shown));
    }
    text.push_str(&errors(entry));
    text.push_str(&format!("[Try it on test data](/test/api/{})\n", spec.client_name().unwrap_or(spec.id)));
    text
}

/// Moves the start time in an example into the future, because the API rejects past times. The new time is a year ahead: it stays in the
/// future while a server runs for a year without a restart, and the API accepts times up to two years ahead.
fn dated(mut input: Value, now: Timestamp) -> Value {
    if let Some(at) = input.get_mut("scheduledAt") {
        *at = format!("{}T09:30", day::date(day::of(now) + 365)).into();
    }
    input
}

/// Returns `part` or, if an earlier operation on the page shows an identical part, the text `same` with a link to that operation. Many
/// operations return the same object.
fn once(part: String, same: &str, method: &str, entry: &Entry, shown: &mut Vec<Shown>) -> String {
    if part.is_empty() {
        return part;
    }
    if let Some((_, summary, anchor)) = shown.iter().find(|(other, ..)| *other == part) {
        return format!("{same} [{summary}](#{anchor}).\n\n");
    }
    shown.push((part.clone(), entry.spec.summary, anchor(method)));
    part
}

/// Returns the operation's description. The rules for idempotency keys are replaced with a link, because they are the same for most
/// operations.
fn about(entry: &Entry) -> String {
    let parts: Vec<String> = openapi::describe(entry.spec)
        .split("\n\n")
        .map(|part| match part.starts_with("With an `Idempotency-Key`") {
            true => "Honors an [`Idempotency-Key`](idempotency.md).".to_owned(),
            false => part.replace('\n', " "),
        })
        .collect();
    parts.join("\n\n")
}

fn row(field: &Field) -> String {
    let required = if field.required { ", required" } else { "" };
    let place = if field.in_path { ", in the path" } else { required };
    format!("| `{}` | {}{place} | {} |\n", field.name, cell(&field.kind), cell(&field.about))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

/// Returns a table of the response fields that have a description.
fn results(fields: &[Field]) -> String {
    let described: Vec<&Field> =
        fields.iter().filter(|field| !field.about.is_empty()).take(limits::DOCS_RESULT_FIELDS_MAX).collect();
    if described.is_empty() {
        return String::new();
    }
    let rows: String = described.iter().map(|field| format!("| `{}` | {} |\n", field.name, cell(&field.about))).collect();
    format!("| Field of the response | Description |\n|---|---|\n{rows}\n")
}

fn errors(entry: &Entry) -> String {
    let own: Vec<String> = entry.spec.fails.iter().map(|code| code.info().wire).map(link).collect();
    match own.is_empty() {
        true => "Errors: those of [every operation](errors.md).\n\n".to_owned(),
        false => format!("Errors: {}, and those of [every operation](errors.md).\n\n", own.join(", ")),
    }
}

fn link(wire: &str) -> String {
    format!("[`{wire}`](errors.md#{})", wire.to_ascii_lowercase())
}
