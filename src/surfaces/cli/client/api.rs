//! `mailmill api METHOD PATH` sends any request and prints the response. JSON is indented, and other bodies are unchanged. With `--jsonl`
//! or `--quiet`, prints the data of the response as other commands do, but only one page.

use std::io::IsTerminal;

use clap::ArgMatches;
use http::Method;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::Map;

use super::super::problem::Problem;
use super::super::terminal::{harmless_json, note, print};
use super::arguments::{content_of, flag, one};
use super::operation;
use super::output::Format;
use super::requests::{Call, Payload, refusal};
use super::safety::{self, Danger};
use super::session::Session;
use crate::engine::api::operation::Media;
use crate::engine::api::{Entry, Replay};

/// Runs the command; returns the exit code.
pub async fn run(session: &Session, matches: &ArgMatches) -> Result<u8, Problem> {
    let method = one(matches, "method").unwrap_or_default().to_ascii_uppercase();
    let path = one(matches, "path").unwrap_or_default();
    if !path.starts_with('/') {
        return Err(Problem::misused(format_args!("\"{path}\" is not a path; start it with /, as in /v1/projects")));
    }
    let method: Method = method
        .parse()
        .map_err(|_| Problem::misused(format_args!("\"{method}\" is not an HTTP method; use a method like GET or POST")))?;
    let mut call = Call { is_repeatable: method == Method::GET, method, target: path, ..Call::default() };
    if let Some(body) = one(matches, "body") {
        call.payload = Payload::Json(content_of(&body, "--body")?.into());
    }
    for header in matches.get_many::<String>("header").into_iter().flatten() {
        let parsed = header
            .split_once(':')
            .and_then(|(name, value)| Some((name.trim().parse::<HeaderName>().ok()?, HeaderValue::from_str(value.trim()).ok()?)));
        let (name, value) = parsed
            .ok_or_else(|| Problem::misused(format_args!("--header: \"{header}\" is not a valid header; use \"Name: value\"")))?;
        call.headers.insert(name, value);
    }
    let known = operations_at(session, &call);
    let danger = danger(&known, &call);
    if let Some(danger) = danger.filter(|_| !flag(matches, "yes")) {
        safety::confirm(danger, &format!("{} {}", call.method, call.target), &session.remote)?;
    }
    let is_keyed = known.iter().any(|entry| entry.spec.replay == Replay::Keyed) && !call.headers.contains_key("idempotency-key");
    let answer = operation::send(session, &mut call, one(matches, "idempotency-key"), is_keyed).await?;
    if flag(matches, "include") {
        let headers =
            answer.headers.iter().map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes())));
        print(&format!("{}\n{}\n", answer.status, headers.collect::<String>()));
    }
    let body = serde_json::from_slice::<serde_json::Value>(&answer.body);
    let is_short = matches!(session.output.format, Format::Lines | Format::Quiet) && answer.status.is_success();
    match &body {
        Ok(body) if is_short => session.output.data(body.get("data").unwrap_or(body)),
        Ok(body) => print(&format!("{}\n", harmless_json(&format_args!("{body:#}")))),
        Err(_) => write(&answer)?,
    }
    match answer.status.is_success() {
        true => Ok(0),
        false => Err(refusal(&answer, &body.unwrap_or_default())),
    }
}

/// Returns the operations that match the path and method of the request.
fn operations_at(session: &Session, call: &Call) -> Vec<&'static Entry> {
    let path = call.target.split(['?', '#']).next().unwrap_or_default();
    let is_at = |route: &str| {
        let (mut given, mut known) = (path.trim_end_matches('/').split('/'), route.split('/'));
        loop {
            match (given.next(), known.next()) {
                (None, None) => return true,
                (Some(given), Some(known)) if known.starts_with('{') || given == known => {}
                _ => return false,
            }
        }
    };
    let found = session.operations.iter().filter(|entry| entry.spec.verb.name() == call.method.as_str());
    found.filter(|entry| is_at(entry.spec.path) || entry.spec.aliases.iter().any(|alias| is_at(alias))).collect()
}

/// Returns why the request needs confirmation, according to its body and the operations at its path.
fn danger(known: &[&Entry], call: &Call) -> Option<Danger> {
    let body = match &call.payload {
        Payload::Json(bytes) => serde_json::from_slice(bytes).unwrap_or_default(),
        Payload::Empty | Payload::Form(_) => Map::new(),
    };
    known.iter().find_map(|entry| safety::danger_with(entry.spec, &body))
}

/// Prints a body that is not JSON.
fn write(answer: &super::requests::ApiResponse) -> Result<(), Problem> {
    let is_text = answer.header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/") || kind.starts_with(Media::JSON_TYPE));
    if !is_text && std::io::stdout().is_terminal() {
        note(&format!("The response has {} bytes that are not text; redirect standard output to a file.", answer.body.len()));
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    std::io::Write::write_all(&mut out, &answer.body).map_err(|error| {
        Problem::failed(format_args!("cannot write the response: {error}; check the file or program that receives the output"))
    })
}
