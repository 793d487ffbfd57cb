//! Imports a file: one thread reads and checks chunks while the writer commits the previous one.
//!
//! Invariant: one transaction contains a chunk's contacts, its webhook events, its counts, its notes and the offset of the next chunk.
//! Whenever the process ends, the import resumes after the last committed chunk, and no row counts twice.

use std::ops::ControlFlow;
use std::sync::mpsc::{SyncSender, sync_channel};

use super::records::{RecordError, Records};
use super::{Import, Job, State, Task, add_notes, find_open, finish, save};
use crate::engine::api::{EnvironmentData, Failure};
use crate::engine::store::{Error, ReadTx, Result, WriteTx, blobs};
use crate::features::contacts::batch::{self, Batch, Counts, RowNote};
use crate::features::contacts::email_index;
use crate::features::contacts::tags::TagName;
use crate::features::contacts::webhook_events::Source;
use crate::features::contacts::write::ContactInput;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::JobId;
use crate::vocab::limits;

/// Chunks of one step: a second or two, after which other jobs get their turn.
const CHUNKS_PER_STEP: usize = 16;
/// The size at which a chunk of long rows ends before it has all its rows.
const CHUNK_BYTES: u64 = 8 * 1024 * 1024;

/// Advances an import by one step; returns whether there is more to do.
pub fn step(data: &EnvironmentData, job: &Job, import: &Import) -> Result<bool> {
    if email_index::is_full(&data.store.read(), job.project)? {
        // The worker merges the runs before the next step.
        return Ok(true);
    }
    step_by(data, job, import, (limits::IMPORT_STEP_CONTACTS, CHUNKS_PER_STEP))
}

/// Like `step`, with at most `chunks` chunks of `rows` rows.
pub(super) fn step_by(data: &EnvironmentData, job: &Job, import: &Import, (rows, chunks): (usize, usize)) -> Result<bool> {
    let (send, receive) = sync_channel(1);
    let reader = Reader::open(data.store.read(), import, rows)?;
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new()
            .name("import-read".to_owned())
            .spawn_scoped(scope, move || reader.run(chunks, &send))
            .map_err(|error| Error::Io(error.to_string()))?;
        let mut more = true;
        while let Ok(chunk) = receive.recv() {
            let id = job.id;
            if let ControlFlow::Break(()) = data.store.write_blocking(move |tx| commit(tx, id, chunk))?? {
                more = false;
                break;
            }
        }
        // The reader must not wait for space in the channel when no one receives any more.
        drop(receive);
        reading.join().map_err(|_| Error::Panicked)??;
        Ok(more)
    })
}

/// Rows of a file that were read and checked.
struct Chunk {
    /// Where the rows start and end in the file.
    start: u64,
    end: u64,
    /// The number of the last row.
    row: u32,
    batch: Batch,
    /// The number of rows refused while reading, and their notes.
    failed: u64,
    notes: Vec<RowNote>,
    tags: Vec<TagName>,
    /// The final state, if the file ends here or cannot be read further.
    over: Option<State>,
}

/// Reads and checks rows.
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
            // Without a receiver the job no longer exists, so there is nothing left to read.
            if send.send(chunk).is_err() || over {
                break;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, start: u64, mut row: u32) -> Result<Chunk> {
        let mut rows: Vec<(u32, ContactInput)> = Vec::with_capacity(self.rows);
        let (mut failed, mut notes) = (0, Vec::new());
        let mut end = start;
        let mut over = None;
        while rows.len() + (failed as usize) < self.rows && end - start < CHUNK_BYTES {
            let Some(records) = &mut self.records else {
                over = Some(State::Failed("The uploaded file no longer exists; upload it again.".to_owned()));
                break;
            };
            match records.read() {
                Ok(Some(record)) => {
                    row += 1;
                    if u64::from(row) > limits::IMPORT_ROWS_MAX + 1 {
                        over = Some(State::Failed(too_many_rows()));
                        row -= 1;
                        break;
                    }
                    if !record.is_blank() {
                        match self.import.columns.contact_input(&record, self.import.encoding, row) {
                            Ok(input) => rows.push((row, ContactInput { status: input.status.or(self.import.status), ..input })),
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
        Ok(Chunk { start, end, row, batch: Batch::new(rows), failed, notes, tags: self.tags.clone(), over })
    }
}

/// Recovers the store error that the blob reader wrapped in an I/O error.
fn store_error(error: &std::io::Error) -> Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    inner.cloned().unwrap_or_else(|| Error::Io(error.to_string()))
}

fn too_many_rows() -> String {
    let max = limits::IMPORT_ROWS_MAX;
    format!("The file has more than {max} rows. The rows up to that limit were imported; put the rest in another file.")
}

/// Returns the error message for a row that cannot be read. A failure of the store is not blamed on the file.
fn unreadable(broken: &RecordError, row: u32) -> Result<String> {
    let why = match broken {
        RecordError::TooLong => {
            let max = limits::IMPORT_ROW_BYTES_MAX;
            format!("is longer than {max} bytes; most likely an earlier quotation mark is not closed")
        }
        RecordError::TooManyColumns => format!("has more than {} columns; check the delimiter", limits::IMPORT_COLUMNS_MAX),
        RecordError::Source(error) => return Err(store_error(error)),
    };
    Ok(format!("Row {row} {why}. The rows before it were imported; fix the file and import it again."))
}

/// Commits a chunk; `Break` if there is nothing more to do.
fn commit(tx: &mut WriteTx<'_>, id: JobId, chunk: Chunk) -> Result<ControlFlow<()>> {
    let Some(mut job) = find_open(tx, id)? else { return Ok(ControlFlow::Break(())) };
    let Task::Import(import) = &mut job.task else { return Ok(ControlFlow::Break(())) };
    if import.offset != chunk.start {
        // Another worker committed this chunk: reload the import's position.
        return Ok(ControlFlow::Break(()));
    }
    let on_conflict = import.on_conflict;
    (import.offset, import.row) = (chunk.end, chunk.row);
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

/// The error of a job whose project was deleted meanwhile.
pub const PROJECT_GONE: &str = "The project was deleted before this was done.";

/// Returns whether the job's project exists.
pub fn project_exists(tx: &WriteTx<'_>, job: &Job) -> Result<bool> {
    match projects::require(tx, job.account, job.project) {
        Ok(()) => Ok(true),
        Err(Failure { code: Code::NotFound, .. }) => Ok(false),
        Err(failure) => Err(Error::Io(failure.cause.unwrap_or_default())),
    }
}
