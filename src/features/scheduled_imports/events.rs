//! Imports the rows in a file as customer events.
//!
//! Invariant: one transaction stores the events of some rows, their results, and the offset of the next row. After a crash, the import
//! resumes at this offset, and no row is counted twice. A row that was stored before is recognized by its `dedupeKey`. If the file has no
//! `dedupeKey` column, the key is computed from the row, so that a file to which rows are only appended can be imported repeatedly.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use serde_json::Value;

use super::changes::{fail, try_change};
use super::model::{EventImport, EventResult, EventRows, RowProblem, RunFailure, RunOutcome, ScheduledImport, Work};
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::api::Failure;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Result as StoreResult, Store, WriteTx, blobs};
use crate::features::contacts::jobs::Records;
use crate::features::events::{self, Reported};
use crate::features::{hooks, projects};
use crate::vocab::limits;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Checks that the file has the mapped columns, a column that identifies the contact and, unless all events receive the same name, a column
/// for the event name. Otherwise, returns the reason as a sentence for users.
pub fn check_headers(rows: &EventRows, headers: &[String]) -> Result<(), String> {
    for (field, header) in &rows.mapping {
        if !headers.contains(header) {
            return Err(format!(
                "The file has no column \"{header}\", which is mapped to {field}. Correct the mapping or the file."
            ));
        }
    }
    let has = |field: &str| match rows.mapping.is_empty() {
        true => headers.iter().any(|header| header == field),
        false => rows.mapping.contains_key(field),
    };
    if rows.event_name.is_none() && !has("name") {
        return Err(
            "No column contains the event names. Map a column to the field \"name\", or set one event name for all rows."
                .to_owned(),
        );
    }
    let identifiers = ["email", "subscriberId", "externalCustomerId", "externalCheckoutId", "externalOrderId"];
    if !identifiers.into_iter().any(has) {
        let reason = "No column identifies the contacts. Map a column to email, subscriberId, externalCustomerId, externalCheckoutId or \
                      externalOrderId.";
        return Err(reason.to_owned());
    }
    Ok(())
}

/// Imports some rows, and ends the run after the last one.
pub async fn step(store: &Store, row: ScheduledImport, import: EventImport) -> Result<(), Failure> {
    let chunk = match read(store, &import)? {
        Ok(chunk) => chunk,
        Err(reason) => return stop(store, row, import, reason).await,
    };
    if projects::find(&store.read(), row.account, row.project)?.is_none() {
        return stop(store, row, import, "The brand was deleted. Delete this scheduled import.".to_owned()).await;
    }
    store.write(move |tx| commit(tx, &row, import, chunk)).await?
}

/// Ends a run that cannot continue, with the reason.
async fn stop(store: &Store, row: ScheduledImport, import: EventImport, reason: String) -> Result<(), Failure> {
    store.write(move |tx| release(tx, &import)).await??;
    fail(store, row, RunFailure::new(reason)).await
}

/// Marks an import's file for deletion.
pub fn release(tx: &mut WriteTx<'_>, import: &EventImport) -> StoreResult<()> {
    let now = tx.now();
    blobs::expire(tx, import.file, now)
}

/// Rows read from the file.
struct Chunk {
    /// The events, with their row numbers.
    events: Vec<(u32, Value)>,
    offset: u64,
    row: u32,
    is_last: bool,
}

/// Reads the next rows, up to a row that cannot be read. Returns the reason if the first row cannot be read.
fn read(store: &Store, import: &EventImport) -> Result<Result<Chunk, String>, Failure> {
    let gone = || Ok(Err("The stored file no longer exists. The next run fetches it again.".to_owned()));
    let Some(start) = blobs::Reader::open(store.read(), import.file, 0)? else { return gone() };
    let Some(rest) = blobs::Reader::open(store.read(), import.file, import.offset)? else { return gone() };
    let broken = |row: u32| {
        format!(
            "Row {row} is too long or has too many columns; most likely a quotation mark is not closed. Correct the file. \
                Earlier rows may have been imported."
        )
    };
    let mut first = Records::new(start, import.delimiter, 0);
    let headers: Vec<String> = match first.read() {
        Ok(Some(record)) => (0..record.len()).map(|at| import.encoding.text(record.cell(at)).trim().to_owned()).collect(),
        _ => return Ok(Err(broken(1))),
    };
    let mut records = Records::new(rest, import.delimiter, import.offset);
    let mut chunk = Chunk { events: Vec::new(), offset: import.offset, row: import.row, is_last: false };
    while chunk.events.len() < limits::EVENTS_PER_BATCH_MAX {
        match records.read() {
            Ok(None) => {
                chunk.is_last = true;
                break;
            }
            Err(_) if chunk.events.is_empty() => return Ok(Err(broken(chunk.row + 1))),
            // The next step starts at the broken row and ends the run.
            Err(_) => break,
            Ok(Some(record)) => {
                chunk.row += 1;
                if !record.is_blank() {
                    let cells: Vec<String> =
                        (0..record.len()).map(|at| import.encoding.text(record.cell(at)).into_owned()).collect();
                    chunk.events.push((chunk.row, event(&import.rows, &headers, &cells)));
                }
            }
        }
        chunk.offset = records.offset();
    }
    Ok(Ok(chunk))
}

/// Returns a row's event, in the format of `POST /v1/events` without the project.
fn event(rows: &EventRows, headers: &[String], cells: &[String]) -> Value {
    let row: BTreeMap<&str, &str> = headers.iter().map(String::as_str).zip(cells.iter().map(String::as_str)).collect();
    let cell = |header: &String| Value::from(row.get(header.as_str()).copied().unwrap_or_default());
    let given: Vec<(&str, Value)> = match rows.mapping.is_empty() {
        true => headers.iter().filter(|name| hooks::is_event_field(name)).map(|name| (name.as_str(), cell(name))).collect(),
        false => rows.mapping.iter().map(|(field, header)| (field.as_str(), cell(header))).collect(),
    };
    let mut event = hooks::event(given.iter().map(|(field, value)| (*field, value)), rows.event_name.as_deref());
    if event.get("dedupeKey").is_none() {
        let digest = sha256(serde_json::to_string(cells).expect("texts can be written as JSON").as_bytes());
        event["dedupeKey"] = format!("row-{}", HEXLOWER.encode(&digest[..16])).into();
    }
    event
}

fn is_too_old(event: &Value, now: Timestamp) -> bool {
    let at = event["occurredAt"].as_str().and_then(|text| text.parse::<WireTime>().ok());
    at.is_some_and(|at| at.0 < now.plus_ms(-i64::from(limits::EVENT_KEPT_DAYS) * DAY_MS))
}

/// Stores the events of a chunk together with the import's progress.
fn commit(tx: &mut WriteTx<'_>, read: &ScheduledImport, import: EventImport, chunk: Chunk) -> Result<(), Failure> {
    try_change(tx, read, |tx, row, now| {
        let EventImport { mut result, .. } = import.clone();
        let (old, events): (Vec<_>, Vec<_>) = chunk.events.into_iter().partition(|(_, event)| is_too_old(event, now));
        result.excluded += old.len() as u64;
        let (numbers, events): (Vec<u32>, Vec<String>) = events.into_iter().map(|(row, event)| (row, event.to_string())).unzip();
        let mut numbers = numbers.into_iter();
        events::report_all(tx, read.project, &events, |reported| {
            result.count(numbers.next().expect("each event has one result"), reported);
        })?;
        if chunk.is_last {
            release(tx, &import)?;
            row.succeed(RunOutcome::Events(result), now);
        } else if let Some(running) = &mut row.running {
            running.work = Work::Events(EventImport { offset: chunk.offset, row: chunk.row, result, ..import });
            row.due_at = now;
        }
        Ok(())
    })
}

impl EventResult {
    fn count(&mut self, row: u32, reported: Reported) {
        let counts = &mut self.counts;
        counts.total += 1;
        let (field, error) = match reported {
            Reported::Stored => return counts.created += 1,
            Reported::Duplicate => return counts.skipped += 1,
            Reported::NoContact => {
                let error = "no contact has this identifier; map a column to email, which creates contacts";
                ("identifiers".to_owned(), error.to_owned())
            }
            Reported::Refused { field, reason } => (field, reason),
        };
        counts.failed += 1;
        if self.problems.len() < limits::SCHEDULED_IMPORT_PROBLEMS_MAX {
            self.problems.push(RowProblem { row, field, error });
        }
    }
}
