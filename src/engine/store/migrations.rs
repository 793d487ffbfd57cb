//! Migrates older files in numbered steps. Each step runs in one transaction, which also stores the new version number.

use std::path::Path;

use super::key::Key;
use super::port::Overlay;
use super::tx::{Read, Table, WriteTx};
use super::writer::{self, Writer};
use super::{Error, Result};
use crate::vocab::tables::{self, DatabaseKind};

const META: Table<String, Vec<u8>> = Table::new(tables::META);
const VERSION_KEY: &str = "schema-version";

/// One migration step, from version `to - 1` to `to`.
pub struct Step {
    pub to: u32,
    /// The kind of file that the step changes; in other files, only the version number changes.
    pub database_kind: DatabaseKind,
    pub run: fn(&mut WriteTx<'_>) -> Result<()>,
}

/// All migration steps since version 1, oldest first.
pub const STEPS: &[Step] = &[];

/// Returns the newest version of the rows that this program knows.
fn known(steps: &[Step]) -> u32 {
    steps.last().map_or(1, |step| step.to)
}

/// Returns whether a newer program has migrated the rows that `tx` sees.
pub fn is_newer(tx: &impl Read) -> Result<bool> {
    Ok(version(tx)?.is_some_and(|found| found > known(STEPS)))
}

/// Returns whether this commit of another node migrates the rows to a version that this program does not know.
pub fn migrates_too_far(batch: &Overlay) -> bool {
    let version = batch.get(tables::META, &VERSION_KEY.to_owned().to_bytes()).flatten();
    version.is_some_and(|bytes| bytes.try_into().is_ok_and(|bytes| u32::from_le_bytes(bytes) > known(STEPS)))
}

/// Runs the steps that have not been run on `file` yet; rejects a file that a newer program wrote.
pub fn run(writer: &mut Writer, file: &Path, database_kind: DatabaseKind, steps: &'static [Step]) -> Result<()> {
    let known = known(steps);
    let found = step(writer, move |tx| Ok(version(tx)?.unwrap_or(0)))?;
    if found > known {
        return Err(Error::Newer { file: file.to_path_buf(), found, known });
    }
    if found == 0 {
        // A new file starts at the newest version, so no step is needed.
        return step(writer, move |tx| {
            set_version(tx, known);
            Ok(())
        });
    }
    for due in steps.iter().filter(|step| step.to > found) {
        tracing::info!(file = %file.display(), to = due.to, "migrating the data file");
        step(writer, move |tx| {
            if due.database_kind.is_in(database_kind) {
                (due.run)(tx)?;
            }
            set_version(tx, due.to);
            Ok(())
        })?;
    }
    Ok(())
}

/// Runs one command and commits it, outside the writer's queue.
pub fn step<T: Send + 'static>(
    writer: &mut Writer,
    command: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (mut job, mut answer) = writer::job(command);
    let mut group = Overlay::new();
    writer.step(job.as_mut(), &mut group);
    let outcome = writer.commit(group);
    job.finish(outcome);
    // The result is already available. Waiting for it would panic on a thread of the runtime, where stores may be opened.
    answer.try_recv().unwrap_or(Err(Error::Closed))?
}

fn version(tx: &impl Read) -> Result<Option<u32>> {
    let bytes = tx.get(META, &VERSION_KEY.to_owned())?;
    bytes.map(|bytes| bytes.try_into().map(u32::from_le_bytes).map_err(|_| tx.corrupt(tables::META))).transpose()
}

fn set_version(tx: &mut WriteTx<'_>, version: u32) {
    tx.put(META, &VERSION_KEY.to_owned(), &version.to_le_bytes().to_vec());
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arc_swap::ArcSwap;
    use tokio::sync::Notify;

    use super::super::conformance::MemoryPort;
    use super::super::feed;
    use super::super::port::{Order, Port, Span};
    use super::*;
    use crate::base::clock::{ManualClock, Timestamp};
    use crate::base::random::SeededRandom;
    use crate::vocab::tables::TABLES;

    /// The table to which each test step appends its number.
    const TRAIL: Table<u64, Vec<u8>> = Table::new(tables::AUDIT);

    fn leave(tx: &mut WriteTx<'_>, mark: u8) -> Result<()> {
        let count = tx.list(TRAIL, &Span::default(), Order::Forward, 99)?.len() as u64;
        tx.put(TRAIL, &count, &vec![mark]);
        Ok(())
    }

    const ONE: &[Step] = &[];
    const FOUR: &[Step] = &[
        Step { to: 2, database_kind: DatabaseKind::Every, run: |tx| leave(tx, 2) },
        Step { to: 3, database_kind: DatabaseKind::Control, run: |tx| leave(tx, 3) },
        Step { to: 4, database_kind: DatabaseKind::Environment, run: |tx| leave(tx, 4) },
    ];
    const FAILING: &[Step] = &[
        Step { to: 2, database_kind: DatabaseKind::Every, run: |tx| leave(tx, 2) },
        Step {
            to: 3,
            database_kind: DatabaseKind::Every,
            run: |tx| {
                leave(tx, 3)?;
                Err(Error::Busy)
            },
        },
        Step { to: 4, database_kind: DatabaseKind::Every, run: |tx| leave(tx, 4) },
    ];

    /// Migrates the store behind `port` with these steps, as at startup.
    fn start(port: &Arc<MemoryPort>, steps: &'static [Step]) -> Result<()> {
        let newest = feed::newest(port.snapshot()?, DatabaseKind::Environment)?;
        let changed = Arc::new(TABLES.iter().map(|_| Notify::new()).collect());
        let clock = Arc::new(ManualClock::at(Timestamp(0)));
        let published = Arc::new(ArcSwap::from_pointee(newest));
        let mut writer = Writer::new(port.clone(), published, changed, clock, Arc::new(SeededRandom::new(1)));
        run(&mut writer, Path::new("live.redb"), DatabaseKind::Environment, steps)
    }

    fn state(port: &MemoryPort) -> (Option<u32>, Vec<u8>) {
        let tx = feed::newest(port.snapshot().expect("the data is readable"), DatabaseKind::Environment)
            .expect("the data is readable");
        let trail = tx.list(TRAIL, &Span::default(), Order::Forward, 99).expect("the data is readable");
        (version(&tx).expect("the data is readable"), trail.into_iter().flat_map(|(_, mark)| mark).collect())
    }

    #[test]
    fn a_new_file_starts_at_the_newest_version_without_a_step() {
        let port = Arc::new(MemoryPort::new());
        assert_eq!(start(&port, FOUR), Ok(()));
        assert_eq!(state(&port), (Some(4), vec![]));
    }

    #[test]
    fn unseen_steps_run_once_in_order_and_only_for_their_kind_of_file() {
        let port = Arc::new(MemoryPort::new());
        assert_eq!(start(&port, ONE), Ok(()));
        assert_eq!(state(&port), (Some(1), vec![]));
        assert_eq!(start(&port, &FOUR[..1]), Ok(()));
        assert_eq!(state(&port), (Some(2), vec![2]));
        for _ in 0..2 {
            assert_eq!(start(&port, FOUR), Ok(()));
            assert_eq!(state(&port), (Some(4), vec![2, 4]));
        }
    }

    #[test]
    fn a_file_of_a_newer_program_is_rejected_by_name_and_unchanged() {
        let port = Arc::new(MemoryPort::new());
        assert_eq!(start(&port, FOUR), Ok(()));
        let refusal = start(&port, ONE).expect_err("the operation is rejected");
        assert_eq!(refusal, Error::Newer { file: "live.redb".into(), found: 4, known: 1 });
        assert!(refusal.to_string().contains("live.redb"), "{refusal}");
        assert_eq!(state(&port), (Some(4), vec![]));
    }

    #[test]
    fn a_failed_step_keeps_the_previous_version_and_can_be_retried() {
        let port = Arc::new(MemoryPort::new());
        assert_eq!(start(&port, ONE), Ok(()));
        for _ in 0..2 {
            assert_eq!(start(&port, FAILING), Err(Error::Busy));
            assert_eq!(state(&port), (Some(2), vec![2]));
        }
        assert_eq!(start(&port, FOUR), Ok(()));
        assert_eq!(state(&port), (Some(4), vec![2, 4]));
    }

    #[test]
    fn the_steps_of_this_program_are_numbered_without_gaps_from_2() {
        assert!(STEPS.iter().map(|step| step.to).eq(2..2 + STEPS.len() as u32));
    }

    #[tokio::test]
    async fn a_store_may_be_opened_inside_the_runtime() {
        assert_eq!(start(&Arc::new(MemoryPort::new()), FOUR), Ok(()));
    }
}
