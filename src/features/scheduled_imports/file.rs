//! Fetches a run's file, stores it, and starts its import.

use sha2::{Digest, Sha256};
use url::Url;

use super::changes::{begin, change, fail};
use super::events;
use super::model::{
    ContactRows, EventImport, EventResult, FileSource, Known, RunFailure, RunOutcome, ScheduledImport, Target, Work,
};
use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::{Download, DownloadLimits, FetchError, KnownVersion};
use crate::engine::store::{Store, WriteTx, blobs};
use crate::features::contacts::jobs::{self, Columns, Encoding, Import, Sniffer, files};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, BlobId, ProjectId};
use crate::vocab::limits;

/// The reason shown to users if storing a file takes longer than the server keeps incomplete files.
const EXPIRED: &str = "Storing the file took more than an hour. The next run tries again.";

/// Fetches the file, and starts its import if the file has changed since the last import.
pub async fn start(engine: &Engine, environment: Environment, row: ScheduledImport, source: FileSource) -> Result<(), Failure> {
    let store = &engine.data(environment).store;
    let download = match open(engine, &source.url, &row.known).await {
        Ok(Some(download)) => download,
        Ok(None) => return change(store, row, |row, now| row.succeed(RunOutcome::Unchanged, now)).await,
        Err(reason) => return fail(store, row, RunFailure::new(reason)).await,
    };
    let named = KnownVersion::of(&download.headers);
    let mut file = FetchedFile::new(store, &download.url);
    let rows = match file.fetch(download, &row.known).await? {
        Ok(None) => {
            file.discard().await?;
            return change(store, row, |row, now| row.succeed(RunOutcome::Unchanged, now)).await;
        }
        Ok(Some(encoding)) => rows(&source, file.head(), encoding),
        Err(reason) => Err(reason),
    };
    let rows = match rows {
        Ok(rows) => rows,
        Err(reason) => {
            file.discard().await?;
            return fail(store, row, RunFailure::new(reason)).await;
        }
    };
    let digest = file.digest;
    let Some(stored) = file.complete().await? else { return fail(store, row, RunFailure::new(EXPIRED.to_owned())).await };
    let (place, reads) = ((row.account, row.project), Known { named, digest, changes_until: None });
    begin(store, row, reads, move |tx| rows.start(tx, place, stored)).await
}

/// Starts downloading the file; returns `None` if the server states that the file has not changed. Fails with the reason if the file cannot
/// be imported.
async fn open(engine: &Engine, url: &str, known: &Known) -> Result<Option<Download>, String> {
    let url = Url::parse(url).map_err(|_| "The URL is not valid. Enter another URL.".to_owned())?;
    let limits = DownloadLimits {
        head: limits::SCHEDULED_IMPORT_HEAD_TIME,
        total: limits::SCHEDULED_IMPORT_FETCH_TIME,
        bytes: limits::SCHEDULED_IMPORT_BYTES_MAX.min(engine.settings.limits.upload_bytes_max.get()),
    };
    let download = engine.fetch.download_newer(&url, "text/csv, text/plain, */*", &known.named, limits).await;
    let download = download.map_err(not_fetched)?;
    match download.status.as_u16() {
        304 if known.named != KnownVersion::default() => Ok(None),
        200 => Ok(Some(download)),
        status => {
            let remedy = match status {
                401 | 403 => "Use a URL that works without signing in.",
                429 | 500..=599 => "This is usually temporary. If it continues, contact the owner of the server.",
                _ => "Check the URL.",
            };
            Err(format!("The server responded with status {status}. {remedy}"))
        }
    }
}

fn not_fetched(error: FetchError) -> String {
    format!("The file could not be fetched: {error}")
}

/// A file that is stored while it is fetched, so that only its last few megabytes are in memory. A file of a few megabytes is stored only
/// if it is imported. A stored file expires if its import does not start.
struct FetchedFile<'s> {
    store: &'s Store,
    name: String,
    sniffer: Sniffer,
    /// The ID of the stored file; `None` until part of it is stored.
    id: Option<BlobId>,
    bytes: u64,
    chunks: u32,
    /// The start of the file; empty until part of the file is stored.
    first: Vec<u8>,
    /// The end of the file, which is not stored yet.
    rest: Vec<u8>,
    digest: Option<[u8; 32]>,
}

impl<'s> FetchedFile<'s> {
    fn new(store: &'s Store, url: &Url) -> Self {
        let name = url.path_segments().and_then(|mut parts| parts.next_back()).filter(|name| !name.is_empty());
        Self {
            store,
            name: name.unwrap_or("contacts.csv").chars().take(200).collect(),
            sniffer: Sniffer::default(),
            id: None,
            bytes: 0,
            chunks: 0,
            first: Vec::new(),
            rest: Vec::new(),
            digest: None,
        }
    }

    /// Fetches the file; returns the file's encoding, `None` if the file has not changed since the last import, or an error that states why
    /// the file cannot be imported.
    async fn fetch(&mut self, mut download: Download, known: &Known) -> Result<Result<Option<Encoding>, String>, Failure> {
        let mut digest = Sha256::new();
        loop {
            match download.next().await {
                Ok(Some(part)) => {
                    digest.update(&part);
                    self.sniffer.take(&part, &mut self.rest);
                }
                Ok(None) => break,
                Err(error) => return Ok(Err(not_fetched(error))),
            }
            while self.rest.len() > files::BYTES_PER_WRITE {
                if !self.store_part().await? {
                    return Ok(Err(EXPIRED.to_owned()));
                }
            }
        }
        let encoding = std::mem::take(&mut self.sniffer).end(&mut self.rest);
        self.digest = Some(digest.finalize().into());
        Ok(Ok((self.digest != known.digest).then_some(encoding)))
    }

    /// Returns the start of the file, long enough for its headers.
    fn head(&self) -> &[u8] {
        let first = if self.id.is_some() { &self.first } else { &self.rest };
        &first[..first.len().min(limits::CONTACT_IMPORT_ROW_BYTES_MAX)]
    }

    /// Stores the next part of the file. Returns false if the file has expired.
    async fn store_part(&mut self) -> Result<bool, Failure> {
        let rest = self.rest.split_off(self.rest.len().min(files::BYTES_PER_WRITE));
        let part = std::mem::replace(&mut self.rest, rest);
        let id = match self.id {
            Some(id) => id,
            None => {
                let name = self.name.clone();
                self.first = part[..part.len().min(limits::CONTACT_IMPORT_ROW_BYTES_MAX)].to_vec();
                self.store.write(move |tx| Ok::<_, Failure>(files::begin(tx, name))).await??
            }
        };
        let first = self.chunks;
        self.id = Some(id);
        self.bytes += part.len() as u64;
        self.chunks += part.len().div_ceil(blobs::CHUNK_BYTES) as u32;
        Ok(self.store.write(move |tx| files::put(tx, id, first, &part)).await??)
    }

    /// Stores the rest of the file; returns the stored file and its size, or `None` if the file has expired.
    async fn complete(mut self) -> Result<Option<(BlobId, u64)>, Failure> {
        while !self.rest.is_empty() {
            if !self.store_part().await? {
                return Ok(None);
            }
        }
        Ok(self.id.map(|id| (id, self.bytes)))
    }

    /// Marks the stored part of the file for deletion.
    async fn discard(self) -> Result<(), Failure> {
        let Some(id) = self.id else { return Ok(()) };
        let expire = move |tx: &mut WriteTx<'_>| {
            let now = tx.now();
            blobs::expire(tx, id, now)
        };
        Ok(self.store.write(expire).await??)
    }
}

/// An import whose file is not stored yet.
enum Rows {
    Contacts(Import),
    Events(EventImport),
}

/// A placeholder for the ID of the file until the file is stored.
const NO_FILE: BlobId = BlobId::from_bytes([0; 12]);

/// Reads the headers at the start of a file; returns the reason if the file cannot be imported.
fn rows(source: &FileSource, head: &[u8], encoding: Encoding) -> Result<Rows, String> {
    if head.trim_ascii_start().starts_with(b"<") {
        return Err("The URL returns a web page or XML, not a CSV file. Enter the URL that downloads the file.".to_owned());
    }
    let delimiter = source.delimiter.unwrap_or_else(|| jobs::pending_imports::fitting(head, b','));
    let (headers, offset) = jobs::headers(head, delimiter, encoding).map_err(|failure| failure.sentence())?;
    match &source.target {
        Target::Contacts(rows) => Ok(Rows::Contacts(contacts(rows, &headers, (encoding, delimiter, offset))?)),
        Target::Events(rows) => {
            events::check_headers(rows, &headers)?;
            let (rows, result) = (rows.clone(), EventResult::default());
            Ok(Rows::Events(EventImport { file: NO_FILE, encoding, delimiter, rows, offset, row: 1, result }))
        }
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
                      contacts without a status.";
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
