//! The one scan over rows: finds the contacts that pass a probe.
//!
//! Numbers are divided into chunks that any thread can take next. A chunk with many candidates is read as one range; one with few
//! candidates is read by lookups. The size of the result bounds the memory.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use roaring::RoaringBitmap;

use super::plan::Probe;
use super::row::Row;
use crate::engine::store::key::Key;
use crate::engine::store::{Error, Read, Result};
use crate::features::contacts::store::{self, CONTACTS};
use crate::vocab::ids::ProjectId;
use crate::vocab::tables;

/// Numbers in one chunk: a few hundred microseconds of work, so that threads finish at about the same time.
const CHUNK: u32 = 4_096;
/// Below this many candidates, a second thread costs more than it saves.
const ALONE_MAX: u64 = 4_096;
/// Threads of one scan. More would starve other requests, and a small machine has two.
const THREADS_MAX: usize = 4;
/// Skipping this many rows costs about as much as one lookup.
const ROWS_PER_LOOKUP: u64 = 12;

/// Returns the contacts of `open` that pass.
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

/// A chunk of numbers: the first and last candidate in it, and how many there are.
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
        let last = open.select((open.rank(first) + candidates - 2) as u32).expect("as many candidates were just counted");
        chunks.push(Chunk { first, last, candidates });
        from = end.checked_add(1).and_then(|next| open.range(next..).next());
    }
    chunks
}

/// The state that the threads of a scan share.
struct Walk<'w, 'f> {
    project: ProjectId,
    open: &'w RoaringBitmap,
    probe: &'w Probe<'f>,
    chunks: Vec<Chunk>,
    next: AtomicUsize,
    /// One thread failed, so the others may stop.
    failed: AtomicBool,
}

fn together(tx: &(impl Read + Sync), walk: &Walk<'_, '_>, threads: usize) -> Result<RoaringBitmap> {
    let whole = Mutex::new(Ok(RoaringBitmap::new()));
    let work = || {
        let mut passing = RoaringBitmap::new();
        let outcome = take(tx, walk, &mut passing);
        let mut whole = whole.lock().expect("no holder of this lock panics");
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
            // Without another thread, the scan takes longer but returns the same result.
            let helper = std::thread::Builder::new().name("segment-scan".into());
            let _ = helper.spawn_scoped(scope, work);
        }
        work();
    });
    whole.into_inner().expect("no holder of this lock panics")
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
            if let Some(row) = tx.get_bytes(CONTACTS.id, &(project, number).to_bytes())?
                && holds(probe, number, &row)?
            {
                passing.insert(number);
            }
        }
        return Ok(());
    }
    let mut next = wanted.next();
    store::visit_rows(tx, project, first..=last, |number, row| {
        while next.is_some_and(|next| next < number) {
            next = wanted.next();
        }
        if next == Some(number) && holds(probe, number, row)? {
            passing.insert(number);
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn holds(probe: &Probe<'_>, number: u32, row: &[u8]) -> Result<bool> {
    let held = Row::read(row).and_then(|row| probe.holds(number, &row));
    held.ok_or(Error::Corrupt(tables::CONTACTS.info().name))
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
