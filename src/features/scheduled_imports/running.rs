//! The steps of a run: fetch the file, store it, start its import, and record the result.

use url::Url;

use super::model::{FileVersion, RunFailure, RunOutcome, Running, ScheduledImport, Source};
use super::store;
use crate::base::secret::sha256;
use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::{KnownVersion, Limits, OversizePolicy, Response};
use crate::engine::store::{Store, WriteTx};
use crate::features::contacts::jobs::{self, Columns, Import, Sniffer, State, Task, files};
use crate::vocab::environment::Environment;
use crate::vocab::ids::BlobId;
use crate::vocab::limits;

/// Advances a scheduled import that is due.
pub async fn step(engine: &Engine, environment: Environment, row: ScheduledImport) -> Result<(), Failure> {
    let store = &engine.data(environment).store;
    if let Some(running) = row.running.clone() {
        return watch(store, row, running).await;
    }
    let fetched = match fetch(engine, &row).await {
        Ok(fetched) => fetched,
        Err(reason) => return fail(store, row, RunFailure::new(reason)).await,
    };
    let Some((response, version)) = fetched else {
        return change(store, row, |row, now| row.succeed(RunOutcome::Unchanged, now)).await;
    };
    let file = match File::read(&row.source, &response) {
        Ok(file) => file,
        Err(reason) => return fail(store, row, RunFailure::new(reason)).await,
    };
    drop(response);
    import(store, row, file, version).await
}

/// Records the result of the import of a run, if the import has ended.
async fn watch(store: &Store, row: ScheduledImport, running: Running) -> Result<(), Failure> {
    let failed = |reason: String| Err::<RunOutcome, _>(RunFailure { reason, job: Some(running.job) });
    let outcome = match jobs::find(&store.read(), running.job)? {
        None => failed("The import was deleted before its result was recorded.".to_owned()),
        Some(job) => match (job.state, job.task) {
            (State::Completed, Task::Import(import)) => {
                Ok(RunOutcome::Imported { job: job.id, counts: job.counts, excluded: import.excluded })
            }
            (State::Failed(reason) | State::Acknowledged(reason), _) => failed(reason),
            _ => return change(store, row, |row, now| row.due_at = now.plus_ms(limits::SCHEDULED_IMPORT_POLL_MS)).await,
        },
    };
    change(store, row, move |row, now| match outcome {
        Ok(outcome) => row.succeed(outcome, now),
        Err(failure) => row.fail(failure, now),
    })
    .await
}

async fn fail(store: &Store, row: ScheduledImport, failure: RunFailure) -> Result<(), Failure> {
    change(store, row, move |row, now| row.fail(failure, now)).await
}

/// Changes a row, unless a user deleted it or started another run since it was read.
async fn change(
    store: &Store,
    read: ScheduledImport,
    change: impl FnOnce(&mut ScheduledImport, crate::base::clock::Timestamp) + Send + 'static,
) -> Result<(), Failure> {
    let write = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
        let Some(before) = store::find(tx, read.account, read.id)? else { return Ok(()) };
        if !is_same_run(&before, &read) {
            return Ok(());
        }
        let mut after = before.clone();
        change(&mut after, tx.now());
        store::save(tx, Some(&before), &after);
        Ok(())
    };
    store.write(write).await?
}

/// Returns whether the stored row is still in the run of the row that was read. The settings may change while a file is imported, but not
/// while it is fetched.
fn is_same_run(stored: &ScheduledImport, read: &ScheduledImport) -> bool {
    match (&stored.running, &read.running) {
        (Some(stored), Some(read)) => stored.job == read.job,
        (None, None) => stored == read,
        _ => false,
    }
}

/// Fetches the file; returns `None` if it has not changed since the last import, or the reason why it cannot be imported.
async fn fetch(engine: &Engine, row: &ScheduledImport) -> Result<Option<(Response, FileVersion)>, String> {
    let url = Url::parse(&row.source.url).map_err(|_| "The URL is not valid. Enter another URL.".to_owned())?;
    let most = usize::try_from(engine.settings.limits.upload_bytes_max.get()).unwrap_or(usize::MAX);
    let limits = Limits {
        head: limits::SCHEDULED_IMPORT_HEAD_TIME,
        total: limits::SCHEDULED_IMPORT_FETCH_TIME,
        body_bytes: limits::SCHEDULED_IMPORT_BYTES_MAX.min(most),
        overlong: OversizePolicy::Refuse,
    };
    let response = engine.fetch.get_newer(&url, "text/csv, text/plain, */*", &row.known.named, &limits).await;
    let response = response.map_err(|error| format!("The file could not be fetched: {error}"))?;
    match response.status.as_u16() {
        304 if row.known.named != KnownVersion::default() => return Ok(None),
        200 => {}
        status => {
            let remedy = match status {
                401 | 403 => "Use a URL that works without signing in.",
                429 | 500..=599 => "This is usually temporary. If it continues, contact the owner of the server.",
                _ => "Check the URL.",
            };
            return Err(format!("The server responded with status {status}. {remedy}"));
        }
    }
    let digest = sha256(&response.body);
    if row.known.digest == Some(digest) {
        return Ok(None);
    }
    let version = FileVersion { named: KnownVersion::of(&response), digest: Some(digest) };
    Ok(Some((response, version)))
}

/// A file that was read as far as its headers.
struct File {
    name: String,
    bytes: Vec<u8>,
    import: Import,
}

impl File {
    /// Reads the encoding and the headers of a file; returns the reason if it cannot be imported.
    fn read(source: &Source, response: &Response) -> Result<Self, String> {
        let mut sniffer = Sniffer::default();
        let mut bytes = Vec::with_capacity(response.body.len());
        sniffer.take(&response.body, &mut bytes);
        let encoding = sniffer.end(&mut bytes);
        let head = &bytes[..bytes.len().min(limits::CONTACT_IMPORT_ROW_BYTES_MAX)];
        if head.trim_ascii_start().starts_with(b"<") {
            return Err("The URL returns a web page, not a CSV file. Enter the URL that downloads the file.".to_owned());
        }
        let delimiter = source.delimiter.unwrap_or_else(|| jobs::pending_imports::fitting(head, b','));
        let (headers, offset) = jobs::headers(head, delimiter, encoding).map_err(|failure| failure.sentence())?;
        let columns = match &source.columns {
            Some(map) => Columns::named(map, &headers),
            None => Columns::guessed(&headers),
        };
        let columns = columns.map_err(|failure| failure.sentence())?;
        let status = source.status_of_undecided();
        if status.is_none() && columns.status.is_none() {
            let reason = "The file has no status column, so no contact would be imported. Map a column to the status, or choose what happens \
                          to contacts without one.";
            return Err(reason.to_owned());
        }
        let import = Import {
            file: BlobId::from_bytes([0; 12]),
            encoding,
            delimiter,
            columns,
            on_conflict: source.on_conflict,
            tags: source.tags.clone(),
            status,
            leaves_out_undecided: status.is_none(),
            excluded: 0,
            offset,
            row: 1,
        };
        let name = response.url.path_segments().and_then(|mut parts| parts.next_back()).filter(|name| !name.is_empty());
        Ok(Self { name: name.unwrap_or("contacts.csv").chars().take(200).collect(), bytes, import })
    }
}

/// Stores a file and starts its import. A file whose import does not start expires.
async fn import(store: &Store, row: ScheduledImport, file: File, version: FileVersion) -> Result<(), Failure> {
    let File { name, bytes, import } = file;
    let id = store.write(move |tx| Ok::<_, Failure>(files::begin(tx, name))).await??;
    let mut first = 0;
    for part in bytes.chunks(files::BYTES_PER_WRITE) {
        let part = part.to_vec();
        let many = part.len().div_ceil(crate::engine::store::blobs::CHUNK_BYTES) as u32;
        if !store.write(move |tx| files::put(tx, id, first, &part)).await?? {
            return fail(store, row, RunFailure::new("Storing the file took more than an hour. The next run tries again.")).await;
        }
        first += many;
    }
    let total = bytes.len() as u64;
    let read = row.clone();
    let write = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
        let Some(before) = store::find(tx, read.account, read.id)? else { return Ok(()) };
        if !is_same_run(&before, &read) {
            return Ok(());
        }
        let job = files::import(tx, (read.account, read.project), Import { file: id, ..import }, total)?;
        let mut after = before.clone();
        after.running = Some(Running { job: job.id, started_at: tx.now(), file: version });
        after.due_at = tx.now().plus_ms(limits::SCHEDULED_IMPORT_POLL_MS);
        store::save(tx, Some(&before), &after);
        Ok(())
    };
    match store.write(write).await? {
        // The import cannot start, for example because too many jobs are open.
        Err(failure) if failure.cause.is_none() => fail(store, row, RunFailure::new(failure.sentence())).await,
        started => started,
    }
}
