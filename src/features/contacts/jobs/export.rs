//! Exports contacts to a CSV file that shows them as they were at one point in time.
//!
//! An export reads a single snapshot, so the file is consistent. The snapshot is lost when the process ends, so an interrupted export
//! starts over with a new file, and the incomplete file expires.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;

use super::csv_writer::CsvWriter;
use super::{ContactQuery, Export, Job, State, Task, find_open, finish};
use crate::engine::api::{EnvironmentData, Failure};
use crate::engine::store::{Error, Read, ReadTx, Result, blobs};
use crate::features::contact_records::{self, ContactRow};
use crate::features::contact_sets::{self, Facet};
use crate::features::filters::FilterTree;
use crate::features::segments;
use crate::features::tags::TagNames;
use crate::vocab::ids::{BlobId, JobId, ProjectId};
use crate::vocab::{limits, tables};

/// The number of file chunks written in one transaction.
const CHUNKS_PER_WRITE: usize = 8;

/// Writes the whole file of an export in one step; always returns false, because no work remains.
pub fn step(data: &EnvironmentData, job: &Job, export: &Export) -> Result<bool> {
    let tx = data.store.read();
    let numbers = match select(data, &tx, job, &export.query) {
        Ok(numbers) => numbers,
        Err(failure) => return refuse(data, job.id, &failure).map(|()| false),
    };
    let now = data.store.write_blocking(|tx| Ok::<_, Error>(tx.now()))??;
    let file = File::begin(data, &export.file_name, now.plus_ms(limits::EXPORT_LINK_MS))?;
    let (file, bytes, contacts) = write(&tx, job.project, &numbers, file)?;
    let id = job.id;
    data.store.write_blocking(move |tx| {
        let Some(mut job) = find_open(tx, id)? else { return Ok::<_, Error>(()) };
        let expires_at = tx.now().plus_ms(limits::EXPORT_LINK_MS);
        if !blobs::complete(tx, file, bytes, Some(expires_at))? {
            // Writing took so long that the incomplete file expired and was deleted.
            return finish(tx, job, State::Failed("Writing the file took too long; export fewer contacts.".to_owned()));
        }
        if let Task::Export(export) = &mut job.task {
            export.file = Some(file);
        }
        job.counts.total = contacts;
        finish(tx, job, State::Completed)
    })??;
    Ok(false)
}

pub(super) fn refuse(data: &EnvironmentData, id: JobId, failure: &Failure) -> Result<()> {
    let reason = failure.sentence();
    data.store.write_blocking(move |tx| match find_open(tx, id)? {
        Some(job) => finish(tx, job, State::Failed(reason)),
        None => Ok(()),
    })?
}

/// Returns the numbers of the contacts that `query` selects: contacts that are in the segment, match the filters, and are found by the
/// search.
pub(super) fn select(data: &EnvironmentData, tx: &ReadTx, job: &Job, query: &ContactQuery) -> Result<RoaringBitmap, Failure> {
    let mut numbers = contact_sets::set(tx, job.project, Facet::All)?;
    if let Some(id) = query.segment {
        numbers &= segments::require(tx, job.project, id)?.filter()?.select(tx, job.project, job.created_at)?;
    }
    if let Some(json) = &query.filters {
        let tree: FilterTree = serde_json::from_str(json).map_err(Failure::internal)?;
        numbers &= tree.check("filters")?.select(tx, job.project, job.created_at)?;
    }
    if let Some(text) = &query.search {
        numbers &= data.search.matching(&job.project.0, text).map_err(Failure::internal)?;
    }
    Ok(numbers)
}

/// Writes all selected contacts to `file`; returns the file, its length and the number of contacts.
fn write(tx: &ReadTx, project: ProjectId, numbers: &RoaringBitmap, mut file: File<'_>) -> Result<(BlobId, u64, u64)> {
    let contacts = write_lines(tx, project, numbers, |lines, all| file.flush(lines, all))?;
    Ok((file.id, file.bytes, contacts))
}

/// Formats all of the project's contacts in the snapshot `tx` as an export does, and passes the lines to `flush`; returns the number of
/// contacts. `flush` writes the lines and removes them from its first argument; it may leave them there for the next call, unless its
/// second argument is true.
pub fn write_all(tx: &ReadTx, project: ProjectId, flush: impl FnMut(&mut Vec<u8>, bool) -> Result<()>) -> Result<u64> {
    write_lines(tx, project, &contact_sets::set(tx, project, Facet::All)?, flush)
}

fn write_lines(
    tx: &ReadTx,
    project: ProjectId,
    numbers: &RoaringBitmap,
    mut flush: impl FnMut(&mut Vec<u8>, bool) -> Result<()>,
) -> Result<u64> {
    let keys = custom_keys(tx, project, numbers)?;
    let mut lines = Vec::new();
    let writer = CsvWriter::new(&keys, &mut lines);
    let mut names = TagNames::new(tx, project);
    let mut contacts = 0;
    each(tx, project, numbers, |contact| {
        let tags = names.of(&contact.tags)?;
        writer.write(&mut lines, contact, &tags);
        contacts += 1;
        flush(&mut lines, false)
    })?;
    flush(&mut lines, true)?;
    Ok(contacts)
}

/// Returns the names of all custom fields of the selected contacts, up to the column limit.
fn custom_keys(tx: &ReadTx, project: ProjectId, numbers: &RoaringBitmap) -> Result<BTreeSet<String>> {
    let mut keys = BTreeSet::new();
    each(tx, project, numbers, |contact| {
        for key in contact.custom_fields.keys() {
            if !keys.contains(*key) && keys.len() < limits::EXPORT_CUSTOM_COLUMNS_MAX {
                keys.insert((*key).to_owned());
            }
        }
        Ok(())
    })?;
    Ok(keys)
}

fn each(
    tx: &ReadTx,
    project: ProjectId,
    numbers: &RoaringBitmap,
    mut visit: impl FnMut(&ContactRow<'_>) -> Result<()>,
) -> Result<()> {
    let (Some(first), Some(last)) = (numbers.min(), numbers.max()) else { return Ok(()) };
    contact_records::visit_rows(tx, project, first..=last, |number, bytes| {
        if numbers.contains(number) {
            visit(&ContactRow::read(bytes).ok_or_else(|| tx.corrupt(tables::CONTACTS))?)?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// An export's file, which is written in chunks.
struct File<'w> {
    data: &'w EnvironmentData,
    id: BlobId,
    chunks: u32,
    bytes: u64,
}

impl<'w> File<'w> {
    fn begin(data: &'w EnvironmentData, name: &str, expires_at: crate::base::clock::Timestamp) -> Result<Self> {
        let (name, content_type) = (name.to_owned(), "text/csv; charset=utf-8".to_owned());
        let id = data.store.write_blocking(move |tx| {
            let id = BlobId::make(tx.now(), tx.random());
            blobs::begin(tx, id, blobs::Head { complete: false, bytes: 0, content_type, name, expires_at: Some(expires_at) });
            Ok::<_, Error>(id)
        })??;
        Ok(Self { data, id, chunks: 0, bytes: 0 })
    }

    /// Moves the first chunks of `lines` to the store once `lines` fill [`CHUNKS_PER_WRITE`] chunks; if `all` is true, moves all lines
    /// immediately.
    fn flush(&mut self, lines: &mut Vec<u8>, all: bool) -> Result<()> {
        let enough = blobs::CHUNK_BYTES * CHUNKS_PER_WRITE;
        if lines.len() < enough && !all {
            return Ok(());
        }
        let rest = if all { Vec::new() } else { lines.split_off(enough) };
        let whole = std::mem::replace(lines, rest);
        self.bytes += whole.len() as u64;
        let (id, first) = (self.id, self.chunks);
        self.chunks += whole.len().div_ceil(blobs::CHUNK_BYTES) as u32;
        self.data.store.write_blocking(move |tx| {
            for (number, chunk) in (first..).zip(whole.chunks(blobs::CHUNK_BYTES)) {
                blobs::put_chunk(tx, id, number, chunk.to_vec())?;
            }
            Ok::<_, Error>(())
        })?
    }
}
