//! Processes fetched pages in worker processes, because parsing a few megabytes of hostile HTML, styles or structured data can take
//! gigabytes of memory or several minutes.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;

use super::model::{FetchOutcome, FetchTask, File, Import};
use super::{draft, plan};
use crate::engine::api::Failure;
use crate::engine::render::pixels::{Pixels, RenderError};
use crate::engine::store::{Record, Value};
use crate::features::projects::reading::{self, Draft, Text};
use crate::vocab::limits::{SITE_IMPORT_RESULT_BYTES_MAX, SITE_IMPORTS_BYTES_MAX};

/// The permit to hold the files of an import in memory. Only one import can have the permit. The files of one import take a few dozen
/// megabytes.
static TURN: Semaphore = Semaphore::const_new(1);
/// The number of bytes per permit of [`ROOM`].
const UNIT_BYTES: usize = 1024;
/// The memory for files that have been fetched but not stored yet.
static ROOM: Semaphore = Semaphore::const_new(SITE_IMPORTS_BYTES_MAX / UNIT_BYTES);
/// The pause before the next attempt if all worker processes are busy.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// The space, in bytes, for the parts of an encoded input other than file contents.
const INPUT_BYTES: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Work {
    /// Find the files that the fetched files refer to.
    Further,
    /// Choose additional pages of the site.
    Choose,
    /// Extract a draft of the brand.
    Draft,
    /// Extract the text of a page.
    Text,
}

#[derive(Serialize, Deserialize)]
struct Input<'a> {
    work: Work,
    import: Option<Cow<'a, Import>>,
    files: Cow<'a, [File]>,
}

impl Record for Input<'_> {}

#[derive(Serialize, Deserialize)]
enum Found {
    Plan(Vec<FetchTask>),
    Draft(Box<Draft>),
    Text(Option<Text>),
}

impl Record for Found {}

/// Waits until no other import has its files in memory.
pub async fn turn() -> SemaphorePermit<'static> {
    TURN.acquire().await.expect("the semaphore is never closed")
}

/// Reserves memory for files that an import is about to fetch, and waits until enough is free. The whole amount is reserved in one step.
/// Otherwise, imports that each held a part could wait for each other forever.
pub async fn room(bytes: usize) -> SemaphorePermit<'static> {
    let units = bytes.min(SITE_IMPORTS_BYTES_MAX).div_ceil(UNIT_BYTES);
    ROOM.acquire_many(units as u32).await.expect("the semaphore is never closed")
}

/// Runs a task in this process, which must be a worker process.
pub fn run_task(input: &[u8]) -> Option<Vec<u8>> {
    let Input { work, import, files } = Input::decode(input)?;
    let found = match (work, import) {
        (Work::Further, Some(import)) => Found::Plan(plan::further(&import, &files)),
        (Work::Choose, Some(import)) => Found::Plan(plan::choose(&import, &files)),
        (Work::Further | Work::Choose, None) => return None,
        (Work::Draft, _) => Found::Draft(Box::new(draft::draft(&files))),
        (Work::Text, _) => Found::Text(files.first().and_then(text_of_file)),
    };
    let mut out = Vec::new();
    found.encode(&mut out);
    (out.len() <= SITE_IMPORT_RESULT_BYTES_MAX).then_some(out)
}

fn text_of_file(file: &File) -> Option<Text> {
    reading::text(&plan::raw(file, &file.found_at.parse().ok()?)?)
}

/// Returns the files that `new` files refer to and that are not yet planned; `None` if finding them takes too much time or memory.
pub async fn further(pixels: &Pixels, import: &Import, new: &[File]) -> Result<Option<Vec<FetchTask>>, Failure> {
    match run(pixels, Work::Further, Some(import), new).await {
        Ok(Found::Plan(plan)) => Ok(Some(plan)),
        other => not_done(other),
    }
}

/// Returns additional pages of the site to fetch; `None` if choosing them takes too much time or memory.
pub async fn choose(pixels: &Pixels, import: &Import, known: &[File]) -> Result<Option<Vec<FetchTask>>, Failure> {
    match run(pixels, Work::Choose, Some(import), known).await {
        Ok(Found::Plan(plan)) => Ok(Some(plan)),
        other => not_done(other),
    }
}

/// Extracts a draft of the brand from these files; `None` if extraction takes too much time or memory.
pub async fn draft(pixels: &Pixels, files: &[File]) -> Result<Option<Draft>, Failure> {
    match run(pixels, Work::Draft, None, files).await {
        Ok(Found::Draft(draft)) => Ok(Some(*draft)),
        other => not_done(other),
    }
}

/// Returns the main text of a page; `None` if the page has hardly any text or cannot be read.
pub async fn text(pixels: &Pixels, page: File) -> Option<Text> {
    let found = run(pixels, Work::Text, None, &[page]).await;
    if let Ok(Found::Text(text)) = found { text } else { None }
}

fn not_done<T>(result: Result<Found, RenderError>) -> Result<Option<T>, Failure> {
    match result {
        Err(RenderError::TooCostly) => Ok(None),
        Err(error) => Err(Failure::internal(error)),
        Ok(_) => Err(Failure::internal("a worker process returned the result of a different task; report this bug")),
    }
}

/// Runs a task in a worker process, as soon as one is available.
async fn run(pixels: &Pixels, work: Work, import: Option<&Import>, files: &[File]) -> Result<Found, RenderError> {
    let bytes = |file: &File| if let FetchOutcome::Fetched { bytes, .. } = &file.outcome { bytes.len() } else { 0 };
    let mut input = Vec::with_capacity(files.iter().map(bytes).sum::<usize>() + INPUT_BYTES);
    Input { work, import: import.map(Cow::Borrowed), files: Cow::Borrowed(files) }.encode(&mut input);
    let result = loop {
        match pixels.run_feature(&input).await {
            Err(RenderError::Busy) => sleep(BUSY_PAUSE).await,
            result => break result?,
        }
    };
    Found::decode(&result).ok_or_else(|| RenderError::Failed("the result of the worker process cannot be decoded".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::projects::importing::model::FileRole;

    #[test]
    fn a_task_survives_the_way_to_a_worker_and_back() {
        let html = format!("<p>{}", "Acme makes lamps for desks in a small workshop. ".repeat(10));
        let outcome =
            FetchOutcome::Fetched { content_type: "text/html".into(), language: String::new(), bytes: html.into_bytes() };
        let url = "https://acme.example/about".to_owned();
        let files = [File { url: url.clone(), found_at: url.clone(), kind: FileRole::Given, outcome }];
        let mut input = Vec::new();
        Input { work: Work::Text, import: None, files: Cow::Borrowed(files.as_slice()) }.encode(&mut input);
        let found = run_task(&input).and_then(|found| Found::decode(&found));
        assert!(matches!(found, Some(Found::Text(Some(text))) if text.url == url));
        assert!(run_task(b"").is_none() && run_task(&input[..input.len() / 2]).is_none());
    }

    #[test]
    fn only_costly_files_end_an_import_at_once() {
        assert_eq!(not_done::<()>(Err(RenderError::TooCostly)).ok(), Some(None));
        assert!(not_done::<()>(Err(RenderError::Failed("x".to_owned()))).is_err());
        assert!(not_done::<()>(Ok(Found::Text(None))).is_err());
    }
}
