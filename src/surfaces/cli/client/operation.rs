//! Runs the command of an operation.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};
use url::Url;

use super::super::problem::{Exit, Problem};
use super::super::terminal::note;
use super::arguments::{self, Input, flag, one};
use super::environment::Environment;
use super::fields::{self, Field};
use super::names::{self, Named, constant_case};
use super::option_names::{PROJECT, is_positional, long};
use super::output::{Format, items};
use super::progress::Progress;
use super::requests::{ApiResponse, Call, Payload, envelope, key_header, new_key};
use super::session::{Session, open_page};
use super::upload::Form;
use super::{features, safety, wait};
use crate::base::random::SystemRandom;
use crate::engine::api::operation::Media;
use crate::engine::api::{Entry, Replay};
use crate::surfaces::subject;
use crate::vocab::limits::PAGE_LIMIT_MAX;

/// The maximum number of pages that `--jsonl` reads, which is enough for a hundred million items.
const PAGES_MAX: u32 = 1_000_000;
/// The maximum number of files in one export. An export has one file per email, and a generation never has this many emails.
const FILES_MAX: usize = 1_000;

/// An operation with the arguments of its command.
struct Running<'a> {
    session: &'a Session,
    environment: &'a Environment,
    entry: &'static Entry,
    matches: &'a ArgMatches,
}

/// Runs the command; returns the exit code.
pub async fn run(session: &Session, environment: &Environment, named: &Named, matches: &ArgMatches) -> Result<u8, Problem> {
    let entry = named.entry;
    let running = Running { session, environment, entry, matches };
    let fields = fields::of(entry);
    let mut input = arguments::read(matches, &fields)?;
    running.settle(&mut input, &fields).await?;
    arguments::require(&input, &fields, features::main_field(entry.spec.id))?;
    running.execute(named, input, &fields).await.map_err(|problem| {
        problem.reworded(|message| names::with_commands(session.operations, &with_option(message, named, &fields)))
    })
}

/// Replaces the field name at the start of an API error, such as `createdAfter: must be a time`, with the name of the option or positional
/// argument that sets the field.
fn with_option(message: &str, named: &Named, fields: &[Field]) -> String {
    let start = message.split_once(": ").and_then(|(start, rest)| Some((fields.iter().find(|field| field.name == start)?, rest)));
    match start {
        Some((field, rest)) if is_positional(named, field) || features::main_field(named.entry.spec.id) == Some(&field.name) => {
            format!("{}: {rest}", constant_case(&field.name))
        }
        Some((field, rest)) => format!("--{}: {rest}", long(&field.name)),
        None => message.to_owned(),
    }
}

fn path_values(entry: &Entry, input: &Map<String, Value>) -> Vec<String> {
    entry.spec.path_names().filter_map(|name| input.get(name)?.as_str().map(str::to_owned)).collect()
}

impl Running<'_> {
    async fn execute(&self, named: &Named, input: Input, fields: &[Field]) -> Result<u8, Problem> {
        let (entry, session, matches) = (self.entry, self.session, self.matches);
        if flag(matches, "dry-run") {
            return self.dry_run(input.values).await;
        }
        if let Some(danger) = safety::danger_with(entry.spec, &input.values).filter(|_| !flag(matches, "yes")) {
            let mut question = [&named.words[..], &path_values(entry, &input.values)].concat().join(" ");
            if let Some(label) = self.label(&input.values).await? {
                question.push_str(&format!(" (“{label}”)"));
            }
            safety::confirm(danger, &question, &session.remote)?;
        }
        if entry.media.gives != Media::JSON_TYPE {
            return self.download(input.values).await;
        }
        if session.output.format == Format::Lines && entry.spec.verb.name() == "GET" {
            return self.all_pages(input.values, fields).await;
        }
        let mut data = self.call(&input).await?;
        if let Some(work) = features::work(entry.spec.id).filter(|_| flag(matches, "wait")) {
            let timeout = matches.try_get_one::<u64>("wait-timeout").ok().flatten().copied();
            data = wait::finish(session, work, data, &input.values, timeout).await?;
        }
        self.show(&data).await
    }

    async fn settle(&self, input: &mut Input, fields: &[Field]) -> Result<(), Problem> {
        match fields.iter().find(|field| field.name == PROJECT) {
            Some(field) => self.session.settle_project(&mut input.values, field.required).await,
            None => Ok(()),
        }
    }

    /// Returns the name of the object that the command affects, for the confirmation prompt. Returns `None` if the command names no object,
    /// if the key may not read the object, or if no terminal is available for a prompt. Fails if the object does not exist.
    async fn label(&self, input: &Map<String, Value>) -> Result<Option<String>, Problem> {
        let reader = subject::reader(self.session.operations, self.entry.spec).filter(|_| safety::can_ask());
        let Some(reader) = reader else { return Ok(None) };
        match self.session.call(reader.spec.id, subject::selector(reader, input).into()).await {
            Ok(object) => Ok(subject::label(&object)),
            Err(problem) if problem.code() == Exit::NotFound as u8 => Err(problem),
            Err(_) => Ok(None),
        }
    }

    async fn dry_run(&self, mut input: Map<String, Value>) -> Result<u8, Problem> {
        let id = features::dry_run(self.entry.spec.id).expect("only these commands have the option");
        let known = fields::of(names::operation(self.session.operations, id));
        input.retain(|name, _| known.iter().any(|field| field.name == *name));
        let data = self.session.call(id, input.into()).await?;
        self.session.output.data(&data);
        Ok(0)
    }

    /// Sends the request; returns the data of its response.
    async fn call(&self, input: &Input) -> Result<Value, Problem> {
        let mut call = self.session.request(self.entry, input.values.clone());
        if let Some(path) = &input.upload {
            let progress = Arc::new(Progress::new("Uploading", self.session.output.shows_progress()));
            let form = Form::new(path, &input.values, &SystemRandom::default(), progress)?;
            call.payload = Payload::Form(Arc::new(form));
        }
        let is_keyed = self.entry.spec.replay == Replay::Keyed;
        let answer = send(self.session, &mut call, one(self.matches, "idempotency-key"), is_keyed).await?;
        Ok(envelope(&answer)?["data"].take())
    }

    async fn show(&self, data: &Value) -> Result<u8, Problem> {
        let id = self.entry.spec.id;
        if let Some(folder) = one(self.matches, "output").filter(|_| features::has_files(id)) {
            self.save_files(data, Path::new(&folder)).await?;
        }
        if let Some((path, link)) = one(self.matches, "output").zip(features::file_link(id)) {
            let Some(url) = data[link].as_str() else {
                return Err(Problem::misused(match flag(self.matches, "wait") {
                    true => "the job has no file for --output; run the command again",
                    false => "--output requires --wait, because the file does not exist until the job finishes",
                }));
            };
            self.save_link(url, Path::new(&path)).await?;
        }
        let summary = features::summary(data).filter(|_| self.session.output.format == Format::Table);
        self.session.output.data(summary.as_ref().unwrap_or(data));
        if self.session.output.format == Format::Table {
            self.note_rest(data);
        }
        if let Some(failed) = data["failed"].as_u64().filter(|failed| *failed > 0 && self.session.output.notes)
            && let Some(job) = features::work(id).filter(|work| work.status == "contacts.import_status").and(data["id"].as_str())
        {
            note(&format!("{failed} rows failed; `mailmill contacts imports errors {job}` lists them"));
        }
        if flag(self.matches, "open") {
            self.open(data);
        }
        Ok(0)
    }

    /// If the list has more items than are shown, prints how many are shown and, if known, how many there are.
    fn note_rest(&self, data: &Value) {
        let Some(shown) = items(data).map(<[Value]>::len) else { return };
        let more = data["pagination"]["hasMore"] == true || data["hasMore"] == true || data["next"].is_string();
        if more && self.session.output.notes {
            let total = data["total"].as_u64().map_or_else(String::new, |total| format!(" of {total}"));
            note(&format!("{shown}{total} shown; --jsonl prints all"));
        }
    }

    /// Opens the first email's page in the dashboard.
    fn open(&self, data: &Value) {
        let first = &data["result"]["emails"][0];
        let email = [&first["id"], &data["emailId"], &data["result"]["emailId"], &data["id"]].into_iter().find_map(Value::as_str);
        let Some(email) = email else {
            note("There is no email to open yet; add --wait.");
            return;
        };
        let environment = if self.session.remote.is_live() { "live" } else { "test" };
        let server = self.session.remote.url.as_str().trim_end_matches('/');
        let page = format!("{server}/{environment}/emails/{email}");
        open_page(&page, &self.session.remote.url, self.environment, self.session.output.notes);
    }

    /// Prints each item of a list as a line of JSON.
    async fn all_pages(&self, mut input: Map<String, Value>, fields: &[Field]) -> Result<u8, Problem> {
        let has = |name: &str| fields.iter().any(|field| field.name == name);
        if has("limit") {
            input.entry("limit").or_insert_with(|| PAGE_LIMIT_MAX.into());
        }
        // The offset of the next page, for lists without a cursor. With `--page`, only that page is printed.
        let mut offset = input.get("offset").and_then(Value::as_u64).unwrap_or_default();
        for _ in 0..PAGES_MAX {
            let answer = self.session.send(&self.session.request(self.entry, input.clone())).await?;
            let data = envelope(&answer)?["data"].take();
            let Some(page) = items(&data) else {
                self.session.output.data(&data);
                return Ok(0);
            };
            self.session.output.lines(page);
            offset += page.len() as u64;
            let limit = input.get("limit").and_then(Value::as_u64).unwrap_or(PAGE_LIMIT_MAX);
            let next = match (&data["nextCursor"], &data["next"]) {
                (Value::String(cursor), _) if has("cursor") => ("cursor", Value::from(cursor.clone())),
                (_, next) if has("before") && !next.is_null() => ("before", next.clone()),
                _ if has("offset") && !input.contains_key("page") && page.len() as u64 == limit => ("offset", offset.into()),
                _ => return Ok(0),
            };
            input.insert(next.0.to_owned(), next.1);
        }
        Ok(0)
    }

    /// Saves a response that is a file.
    async fn download(&self, input: Map<String, Value>) -> Result<u8, Problem> {
        let call = self.session.request(self.entry, input);
        let refused = match one(self.matches, "output").filter(|path| path != "-") {
            Some(path) => save(self.session, &call, Path::new(&path)).await?,
            None => {
                let is_text = self.entry.media.gives.starts_with("text/");
                if std::io::stdout().is_terminal() && !is_text {
                    let message = "the response is not text; write it to a file with --output FILE";
                    return Err(Problem::misused(message));
                }
                self.session.remote.download(&call, &mut std::io::stdout().lock()).await?
            }
        };
        refused.map_or(Ok(0), |answer| Err(file_refusal(&answer)))
    }

    /// Saves the files to which a response links.
    async fn save_files(&self, data: &Value, folder: &Path) -> Result<(), Problem> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Problem::failed(format_args!("cannot create {}: {error}; check the path and its permissions", folder.display()))
        })?;
        for file in data["files"].as_array().into_iter().flatten().take(FILES_MAX) {
            let name: String =
                file["filename"].as_str().unwrap_or("file").chars().filter(|letter| !matches!(letter, '/' | '\0')).collect();
            let Some(url) = file["url"].as_str() else { continue };
            let path = folder.join(if name.starts_with('.') { format!("_{name}") } else { name });
            self.save_link(url, &path).await?;
        }
        Ok(())
    }

    /// Downloads the file to which a link in a response points.
    async fn save_link(&self, url: &str, path: &Path) -> Result<(), Problem> {
        let url: Url = url
            .parse()
            .map_err(|_| Problem::failed(format_args!("the server returned an invalid link: {url}; report this bug")))?;
        // Use only the path and query of the link, so that the key is sent only to this server.
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        match save(self.session, &Call::get(target), path).await? {
            None if self.session.output.notes => note(&format!("Saved {}", path.display())),
            None => {}
            Some(answer) => return Err(file_refusal(&answer)),
        }
        Ok(())
    }
}

/// Sends a request with the idempotency key `given` or, if `is_keyed` is true, with a new key. Prints the key unless the request was
/// rejected.
pub async fn send(session: &Session, call: &mut Call, given: Option<String>, is_keyed: bool) -> Result<ApiResponse, Problem> {
    let key = given.or_else(|| is_keyed.then(|| new_key(&SystemRandom::default())));
    if let Some(key) = &key {
        let (name, value) = key_header(key)?;
        call.headers.insert(name, value);
        call.is_repeatable = true;
    }
    let result = tokio::select! {
        result = session.send(call) => result,
        _ = tokio::signal::ctrl_c() => return Err(interrupted(key.as_deref())),
    };
    // Users need the key to repeat a request that may have been executed. A rejected request was not executed.
    let is_rejected = result.as_ref().is_ok_and(|answer| answer.status.is_client_error());
    if let Some(key) = key.filter(|_| session.output.notes && !is_rejected) {
        let is_replayed = result.as_ref().is_ok_and(|answer| answer.header("idempotent-replayed").is_some());
        note(&format!("Idempotency-Key: {key}{}", if is_replayed { " (repeated: this is the first response)" } else { "" }));
    }
    result
}

/// Returns the problem for a command that the user interrupted while it was waiting for the response.
fn interrupted(key: Option<&str>) -> Problem {
    let remedy = match key {
        Some(key) => format!("repeat the command with --idempotency-key {key} to get its result without running it twice"),
        None => "check its result before you repeat it".to_owned(),
    };
    Problem::new(Exit::Interrupted, format_args!("interrupted; the server may have executed the command: {remedy}"))
}

/// Downloads into a file. A failed download does not change a regular file.
async fn save(session: &Session, call: &Call, path: &Path) -> Result<Option<ApiResponse>, Problem> {
    // A symbolic link is kept, and the file to which it points is replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let failed = |error: std::io::Error| {
        Problem::failed(format_args!(
            "cannot write {}: {error}; check that its folder exists and is writable, and that the disk has free space",
            path.display()
        ))
    };
    // A device or a pipe cannot be replaced atomically, so it is written directly.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        return session.remote.download(call, &mut file).await;
    }
    let partial = PathBuf::from(format!("{}.part", path.display()));
    let mut file = File::create(&partial).map_err(failed)?;
    let downloaded = session.remote.download(call, &mut file).await;
    let kept = match &downloaded {
        Ok(None) => file.flush().and_then(|()| std::fs::rename(&partial, path)).map_err(failed),
        Ok(Some(_)) | Err(_) => std::fs::remove_file(&partial).map_err(failed),
    };
    let refused = downloaded?;
    kept.map(|()| refused)
}

fn file_refusal(answer: &ApiResponse) -> Problem {
    let is_json = answer.header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with(Media::JSON_TYPE));
    match envelope(answer) {
        Err(problem) if is_json => problem,
        _ => Problem::new(Exit::Failed, format_args!("download failed: the server returned status {}", answer.status.as_u16())),
    }
}
