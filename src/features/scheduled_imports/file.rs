//! Fetches a run's file, stores it, and starts its import.

use url::Url;

use super::changes::{begin, change, fail};
use super::events;
use super::model::{
    ContactRows, EventImport, EventResult, FileSource, Known, RunFailure, RunOutcome, ScheduledImport, Target, Work,
};
use crate::base::secret::sha256;
use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::{KnownVersion, Limits, OversizePolicy, Response};
use crate::engine::store::{Store, WriteTx, blobs};
use crate::features::contacts::jobs::{self, Columns, Encoding, Import, Sniffer, files};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, BlobId, ProjectId};
use crate::vocab::limits;

/// Fetches the file and starts its import, unless the file has not changed since the last import.
pub async fn start(engine: &Engine, environment: Environment, row: ScheduledImport, source: FileSource) -> Result<(), Failure> {
    let store = &engine.data(environment).store;
    let fetched = match fetch(engine, &source.url, &row.known).await {
        Ok(fetched) => fetched,
        Err(reason) => return fail(store, row, RunFailure::new(reason)).await,
    };
    let Some((response, reads)) = fetched else {
        return change(store, row, |row, now| row.succeed(RunOutcome::Unchanged, now)).await;
    };
    let file = match File::read(&source, &response) {
        Ok(file) => file,
        Err(reason) => return fail(store, row, RunFailure::new(reason)).await,
    };
    drop(response);
    import(store, row, file, reads).await
}

/// Fetches the file; returns `None` if it has not changed since the last import, or the reason why it cannot be imported.
async fn fetch(engine: &Engine, url: &str, known: &Known) -> Result<Option<(Response, Known)>, String> {
    let url = Url::parse(url).map_err(|_| "The URL is not valid. Enter another URL.".to_owned())?;
    let most = usize::try_from(engine.settings.limits.upload_bytes_max.get()).unwrap_or(usize::MAX);
    let limits = Limits {
        head: limits::SCHEDULED_IMPORT_HEAD_TIME,
        total: limits::SCHEDULED_IMPORT_FETCH_TIME,
        body_bytes: limits::SCHEDULED_IMPORT_BYTES_MAX.min(most),
        overlong: OversizePolicy::Refuse,
    };
    let response = engine.fetch.get_newer(&url, "text/csv, text/plain, */*", &known.named, &limits).await;
    let response = response.map_err(|error| format!("The file could not be fetched: {error}"))?;
    match response.status.as_u16() {
        304 if known.named != KnownVersion::default() => return Ok(None),
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
    if known.digest == Some(digest) {
        return Ok(None);
    }
    let reads = Known { named: KnownVersion::of(&response), digest: Some(digest), changes_until: None };
    Ok(Some((response, reads)))
}

/// A fetched file whose headers have been read.
struct File {
    name: String,
    bytes: Vec<u8>,
    rows: Rows,
}

/// An import whose file is not stored yet.
enum Rows {
    Contacts(Import),
    Events(EventImport),
}

/// A placeholder until the file is stored.
const NO_FILE: BlobId = BlobId::from_bytes([0; 12]);

impl File {
    /// Reads the encoding and the headers of a file; returns the reason if it cannot be imported.
    fn read(source: &FileSource, response: &Response) -> Result<Self, String> {
        let mut sniffer = Sniffer::default();
        let mut bytes = Vec::with_capacity(response.body.len());
        sniffer.take(&response.body, &mut bytes);
        let encoding = sniffer.end(&mut bytes);
        let head = &bytes[..bytes.len().min(limits::CONTACT_IMPORT_ROW_BYTES_MAX)];
        if head.trim_ascii_start().starts_with(b"<") {
            return Err("The URL returns a web page or XML, not a CSV file. Enter the URL that downloads the file.".to_owned());
        }
        let delimiter = source.delimiter.unwrap_or_else(|| jobs::pending_imports::fitting(head, b','));
        let (headers, offset) = jobs::headers(head, delimiter, encoding).map_err(|failure| failure.sentence())?;
        let rows = match &source.target {
            Target::Contacts(rows) => Rows::Contacts(contacts(rows, &headers, (encoding, delimiter, offset))?),
            Target::Events(rows) => {
                events::check_headers(rows, &headers)?;
                let (rows, result) = (rows.clone(), EventResult::default());
                Rows::Events(EventImport { file: NO_FILE, encoding, delimiter, rows, offset, row: 1, result })
            }
        };
        let name = response.url.path_segments().and_then(|mut parts| parts.next_back()).filter(|name| !name.is_empty());
        Ok(Self { name: name.unwrap_or("contacts.csv").chars().take(200).collect(), bytes, rows })
    }
}

/// Returns an import of contacts from a file with these headers.
fn contacts(
    rows: &ContactRows,
    headers: &[String],
    (encoding, delimiter, offset): (Encoding, u8, u64),
) -> Result<Import, String> {
    let columns = match &rows.columns {
        Some(map) => Columns::named(map, headers),
        None => Columns::guessed(headers),
    };
    let columns = columns.map_err(|failure| failure.sentence())?;
    let status = rows.status_of_undecided();
    if status.is_none() && columns.status.is_none() {
        let reason = "The file has no status column, so no contact would be imported. Map a column to the status, or choose what happens to \
                      contacts without one.";
        return Err(reason.to_owned());
    }
    Ok(Import {
        file: NO_FILE,
        encoding,
        delimiter,
        columns,
        on_conflict: rows.on_conflict,
        tags: rows.tags.clone(),
        status,
        leaves_out_undecided: status.is_none(),
        excluded: 0,
        offset,
        row: 1,
    })
}

/// Stores a file and starts its import. A file whose import does not start expires.
async fn import(store: &Store, row: ScheduledImport, file: File, reads: Known) -> Result<(), Failure> {
    let File { name, bytes, rows } = file;
    let id = store.write(move |tx| Ok::<_, Failure>(files::begin(tx, name))).await??;
    let mut first = 0;
    for part in bytes.chunks(files::BYTES_PER_WRITE) {
        let part = part.to_vec();
        let many = part.len().div_ceil(blobs::CHUNK_BYTES) as u32;
        if !store.write(move |tx| files::put(tx, id, first, &part)).await?? {
            return fail(store, row, RunFailure::new("Storing the file took more than an hour. The next run tries again.")).await;
        }
        first += many;
    }
    let (place, total) = ((row.account, row.project), bytes.len() as u64);
    begin(store, row, reads, move |tx| rows.start(tx, place, (id, total))).await
}

impl Rows {
    /// Starts the import of the completely stored file.
    fn start(self, tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), (file, bytes): (BlobId, u64)) -> Result<Work, Failure> {
        match self {
            Self::Contacts(import) => Ok(Work::Contacts(files::import(tx, place, Import { file, ..import }, bytes)?.id)),
            Self::Events(import) => {
                // From now on, the file is kept until the import ends.
                if !blobs::complete(tx, file, bytes, None)? {
                    return Err(files::expired());
                }
                Ok(Work::Events(EventImport { file, ..import }))
            }
        }
    }
}
