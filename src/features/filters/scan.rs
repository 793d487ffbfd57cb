//! The scan of rows, which finds the contacts that pass a probe.
//!
//! Contact numbers are divided into chunks, and each thread takes the next free chunk. A chunk with many candidates is read as one range.
//! In a chunk with few candidates, each row is read separately. The size of the result determines the memory use.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use roaring::RoaringBitmap;

use super::probe::Probe;
use super::row::Row;
use crate::engine::store::{Read, Result};
use crate::features::contact_records;
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

/// The number of contact numbers in one chunk. Scanning a chunk takes only a few hundred microseconds, so all threads finish at about the
/// same time.
const CHUNK: u32 = 4_096;
/// The maximum number of candidates for which a scan uses only one thread. For so few candidates, a second thread would cost more time than
/// it saves.
const ALONE_MAX: u64 = 4_096;
/// The maximum number of threads for one scan. More threads would take processor time from other requests, and a small machine has only two
/// cores.
const THREADS_MAX: usize = 4;
/// The number of rows that can be skipped in about the time of one lookup.
const ROWS_PER_LOOKUP: u64 = 12;

/// Returns the contacts in `open` whose rows pass the probe.
pub(super) fn passing(tx: &impl Read, project: ProjectId, open: &RoaringBitmap, probe: &Probe<'_>) -> Result<RoaringBitmap> {
    let chunks = chunks(open);
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS_MAX)).min(chunks.len());
    match tx.snapshot() {
        Some(snapshot) if open.len() > ALONE_MAX && threads > 1 => {
            let walk = Walk { project, open, probe, chunks, next: AtomicUsize::new(0), failed: AtomicBool::new(false) };
            together(snapshot, &walk, threads)
        }
        _ => {
            let mut passing = RoaringBitmap::new();
            for chunk in chunks {
                one(tx, project, open, probe, chunk, &mut passing)?;
            }
            Ok(passing)
        }
    }
}

/// A chunk of contact numbers: the first and last candidate in it, and the number of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk {
    first: u32,
    last: u32,
    candidates: u64,
}

fn chunks(open: &RoaringBitmap) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut from = open.min();
    while let Some(first) = from {
        let end = first - first % CHUNK + (CHUNK - 1);
        let candidates = open.range_cardinality(first..=end);
        let last = open
            .select((open.rank(first) + candidates - 2) as u32)
            .expect("the chunk contains as many candidates as were counted");
        chunks.push(Chunk { first, last, candidates });
        from = end.checked_add(1).and_then(|next| open.range(next..).next());
    }
    chunks
}

/// The state that all threads of a scan share.
struct Walk<'w, 'f> {
    project: ProjectId,
    open: &'w RoaringBitmap,
    probe: &'w Probe<'f>,
    chunks: Vec<Chunk>,
    next: AtomicUsize,
    /// Whether a thread has failed, so that the other threads can stop.
    failed: AtomicBool,
}

fn together(tx: &(impl Read + Sync), walk: &Walk<'_, '_>, threads: usize) -> Result<RoaringBitmap> {
    let whole = Mutex::new(Ok(RoaringBitmap::new()));
    let work = || {
        let mut passing = RoaringBitmap::new();
        let outcome = take(tx, walk, &mut passing);
        let mut whole = whole.lock().expect("no thread panics while it holds this lock");
        match (&mut *whole, outcome) {
            (Ok(whole), Ok(())) => *whole |= passing,
            (Ok(_), Err(error)) => {
                walk.failed.store(true, Ordering::Relaxed);
                *whole = Err(error);
            }
            (Err(_), _) => {}
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If a thread cannot be started, the scan takes longer but returns the same result.
            let helper = std::thread::Builder::new().name("segment-scan".into());
            let _ = helper.spawn_scoped(scope, work);
        }
        work();
    });
    whole.into_inner().expect("no thread panics while it holds this lock")
}

fn take(tx: &impl Read, walk: &Walk<'_, '_>, passing: &mut RoaringBitmap) -> Result<()> {
    while !walk.failed.load(Ordering::Relaxed)
        && let Some(chunk) = walk.chunks.get(walk.next.fetch_add(1, Ordering::Relaxed))
    {
        one(tx, walk.project, walk.open, walk.probe, *chunk, passing)?;
    }
    Ok(())
}

fn one(
    tx: &impl Read,
    project: ProjectId,
    open: &RoaringBitmap,
    probe: &Probe<'_>,
    chunk: Chunk,
    passing: &mut RoaringBitmap,
) -> Result<()> {
    let Chunk { first, last, candidates } = chunk;
    let mut wanted = open.range(first..=last);
    if u64::from(last - first) > candidates * ROWS_PER_LOOKUP {
        for number in wanted {
            if let Some(row) = contact_records::row_bytes(tx, project, number)?
                && holds(tx, probe, number, &row)?
            {
                passing.insert(number);
            }
        }
        return Ok(());
    }
    let mut next = wanted.next();
    contact_records::visit_rows(tx, project, first..=last, |number, row| {
        while next.is_some_and(|next| next < number) {
            next = wanted.next();
        }
        if next == Some(number) && holds(tx, probe, number, row)? {
            passing.insert(number);
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn holds(tx: &impl Read, probe: &Probe<'_>, number: u32, row: &[u8]) -> Result<bool> {
    let held = Row::read(row).and_then(|row| probe.holds(number, &row));
    held.ok_or_else(|| tx.corrupt(tables::CONTACTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_candidate_once_up_to_the_last_number() {
        let open: RoaringBitmap = [0, 5, CHUNK - 1, CHUNK, 3 * CHUNK + 7, u32::MAX - 1, u32::MAX].into_iter().collect();
        let found = chunks(&open);
        let chunk = |first, last, candidates| Chunk { first, last, candidates };
        assert_eq!(
            found,
            [
                chunk(0, CHUNK - 1, 3),
                chunk(CHUNK, CHUNK, 1),
                chunk(3 * CHUNK + 7, 3 * CHUNK + 7, 1),
                chunk(u32::MAX - 1, u32::MAX, 2),
            ]
        );
        assert!(chunks(&RoaringBitmap::new()).is_empty());
    }
}
