//! Imports a file: one thread reads and checks chunks while the writer commits the previous chunk.
//!
//! Invariant: one transaction contains a chunk's contacts, webhook events, counts and notes, and the offset of the next chunk. If the
//! process ends at any point, the import resumes after the last committed chunk, and no row is counted twice.

use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};

use super::records::{RecordError, Records};
use super::{Import, Job, State, Task, add_notes, find_open, finish, save};
use crate::engine::api::{EnvironmentData, Failure};
use crate::engine::store::{Error, ReadTx, Result, WriteTx, blobs};
use crate::features::contact_records::email_index;
use crate::features::contacts::batch::{self, Batch, Counts, RowNote};
use crate::features::contacts::webhook_events::Source;
use crate::features::contacts::write::ContactInput;
use crate::features::projects;
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::ids::JobId;
use crate::vocab::limits;

/// Advances an import by one step; returns whether rows remain.
pub fn step(data: &EnvironmentData, job: &Job, import: &Import) -> Result<bool> {
    if email_index::is_full(&data.store.read(), job.project)? {
        // Every lookup of an email searches each run that is not yet merged into the email index. If there are too many runs, wait until
        // the worker has merged them.
        return Ok(true);
    }
    step_by(data, job, import, (limits::CONTACT_IMPORT_STEP_CONTACTS, limits::CONTACT_IMPORT_CHUNKS_PER_STEP))
}

/// Advances an import by at most `chunks` chunks of `rows` rows each; returns whether rows remain.
pub(super) fn step_by(data: &EnvironmentData, job: &Job, import: &Import, (rows, chunks): (usize, usize)) -> Result<bool> {
    let (send, receive) = sync_channel(1);
    let reader = Reader::open(data.store.read(), import, rows)?;
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new()
            .name("import-read".to_owned())
            .spawn_scoped(scope, move || reader.run(chunks, &send))
            .map_err(|error| {
                Error::Io(format!("the thread for an import cannot be started: {error}; check the limit on threads"))
            })?;
        let mut more = true;
        while let Ok(chunk) = receive.recv() {
            let id = job.id;
            if let ControlFlow::Break(()) = data.store.write_blocking(move |tx| commit(tx, id, chunk))?? {
                more = false;
                break;
            }
        }
        // Close the channel, so that the reader does not wait forever to send its next chunk.
        drop(receive);
        reading.join().map_err(|_| Error::Panicked)??;
        Ok(more)
    })
}

/// A group of rows that were read from the file and checked.
struct Chunk {
    /// The file offset of the start of the rows.
    start: u64,
    /// The file offset of the end of the rows.
    end: u64,
    /// The number of the last row in this chunk.
    row: u32,
    batch: Batch,
    /// The number of rows refused while reading.
    failed: u64,
    /// The notes on the refused rows.
    notes: Vec<RowNote>,
    /// The number of rows that are left out because they have no status.
    excluded: u64,
    tags: Vec<TagName>,
    /// The final state of the job, if the file ends after this chunk or the rest of the file cannot be read.
    over: Option<State>,
}

struct Reader {
    import: Import,
    rows: usize,
    tags: Vec<TagName>,
    records: Option<Records<blobs::Reader>>,
}

impl Reader {
    fn open(tx: ReadTx, import: &Import, rows: usize) -> Result<Self> {
        let file = blobs::Reader::open(tx, import.file, import.offset)?;
        let records = file.map(|file| Records::new(file, import.delimiter, import.offset));
        let tags = import.tags.iter().filter_map(|name| TagName::parse(name).ok()).collect();
        Ok(Self { import: import.clone(), rows, tags, records })
    }

    fn run(mut self, chunks: usize, send: &SyncSender<Chunk>) -> Result<()> {
        let mut row = self.import.row;
        let mut start = self.import.offset;
        for _ in 0..chunks {
            let chunk = self.chunk(start, row)?;
            (start, row) = (chunk.end, chunk.row);
            let over = chunk.over.is_some();
            // If there is no receiver, this step commits no further chunks.
            if send.send(chunk).is_err() || over {
                break;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, start: u64, mut row: u32) -> Result<Chunk> {
        let mut rows: Vec<(u32, ContactInput)> = Vec::with_capacity(self.rows);
        let (mut failed, mut notes, mut excluded) = (0, Vec::new(), 0);
        let mut end = start;
        let mut over = None;
        while rows.len() + ((failed + excluded) as usize) < self.rows && end - start < limits::CONTACT_IMPORT_CHUNK_BYTES {
            let Some(records) = &mut self.records else {
                over = Some(State::Failed("The uploaded file no longer exists. Upload the file again.".to_owned()));
                break;
            };
            match records.read() {
                Ok(Some(record)) => {
                    row += 1;
                    if u64::from(row) > limits::CONTACT_IMPORT_ROWS_MAX + 1 {
                        over = Some(State::Failed(too_many_rows()));
                        row -= 1;
                        break;
                    }
                    if !record.is_blank() {
                        match self.import.columns.contact_input(&record, self.import.encoding, row) {
                            Ok(input) => match input.status.or(self.import.status) {
                                None if self.import.leaves_out_undecided => excluded += 1,
                                status => rows.push((row, ContactInput { status, ..input })),
                            },
                            Err(note) => {
                                failed += 1;
                                if notes.len() < limits::BULK_ERRORS_SHOWN_MAX {
                                    notes.push(note);
                                }
                            }
                        }
                    }
                    end = records.offset();
                }
                Ok(None) => {
                    end = records.offset();
                    over = Some(State::Completed);
                    break;
                }
                Err(broken) => {
                    over = Some(State::Failed(unreadable(&broken, row + 1)?));
                    break;
                }
            }
        }
        Ok(Chunk { start, end, row, batch: Batch::new(rows), failed, notes, excluded, tags: self.tags.clone(), over })
    }
}

/// Returns the store error that the blob reader wrapped in an I/O error.
fn store_error(error: &std::io::Error) -> Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    inner.cloned().unwrap_or_else(|| Error::Io(format!("cannot read an import file: {error}")))
}

fn too_many_rows() -> String {
    let max = limits::CONTACT_IMPORT_ROWS_MAX;
    format!("The file has more than {max} rows. The rows up to that limit were imported; import the rest from another file.")
}

/// Returns the error message for a row that cannot be read. Fails with the store's error if the store is at fault, not the file.
fn unreadable(broken: &RecordError, row: u32) -> Result<String> {
    let why = match broken {
        RecordError::TooLong => {
            let max = limits::CONTACT_IMPORT_ROW_BYTES_MAX;
            format!("is longer than {max} bytes; most likely an earlier quotation mark is not closed")
        }
        RecordError::TooManyColumns => {
            format!("has more than {} columns; check the delimiter", limits::CONTACT_IMPORT_COLUMNS_MAX)
        }
        RecordError::Source(error) => return Err(store_error(error)),
    };
    Ok(format!("Row {row} {why}. Earlier rows were imported. Fix the file, then import it again."))
}

/// Commits a chunk; returns `Break` if the import needs no further chunks in this step.
fn commit(tx: &mut WriteTx<'_>, id: JobId, chunk: Chunk) -> Result<ControlFlow<()>> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(ControlFlow::Break(())) };
    let Task::Import(import) = &mut job.task else { return Ok(ControlFlow::Break(())) };
    if import.offset != chunk.start {
        // Another worker has already committed this chunk, so the import's position must be reloaded.
        return Ok(ControlFlow::Break(()));
    }
    let on_conflict = import.on_conflict;
    (import.offset, import.row) = (chunk.end, chunk.row);
    import.excluded += chunk.excluded;
    if !project_exists(tx, &job)? {
        finish(tx, job, State::Failed(PROJECT_GONE.to_owned()))?;
        return Ok(ControlFlow::Break(()));
    }
    let outcome = batch::apply(tx, (job.account, job.project), chunk.batch, (on_conflict, &chunk.tags), Source::Api)?;
    job.counts.add(&outcome.counts);
    job.counts.add(&Counts { total: chunk.failed, failed: chunk.failed, ..Counts::default() });
    let mut notes = chunk.notes;
    notes.extend(outcome.notes);
    notes.sort_by_key(|note| note.row);
    add_notes(tx, &mut job, notes);
    match chunk.over {
        Some(state) => {
            finish(tx, job, state)?;
            Ok(ControlFlow::Break(()))
        }
        None => {
            job.state = State::Running;
            save(tx, &job);
            Ok(ControlFlow::Continue(()))
        }
    }
}

/// The error for a job whose project was deleted while the job was in progress.
pub const PROJECT_GONE: &str = "The brand was deleted before this job finished.";

pub fn project_exists(tx: &WriteTx<'_>, job: &Job) -> Result<bool> {
    match projects::require(tx, job.account, job.project) {
        Ok(()) => Ok(true),
        Err(Failure { code: Code::NotFound, .. }) => Ok(false),
        Err(failure) => Err(Error::Io(failure.cause.unwrap_or_else(|| failure.code.info().message.to_owned()))),
    }
}
