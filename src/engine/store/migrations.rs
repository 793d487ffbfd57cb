//! Bringing older files up to date, one numbered step after the other, each in one transaction with the new number.

use std::path::Path;

use super::port::Overlay;
use super::tx::{Read, Table, WriteTx};
use super::writer::{self, Writer};
use super::{Error, Result};
use crate::vocab::tables::{self, Realm};

const META: Table<String, Vec<u8>> = Table::new(tables::META);
const VERSION_KEY: &str = "schema-version";

/// One step from version `to - 1` to `to`.
pub struct Step {
    pub to: u32,
    /// Which files it concerns; the others only take the number.
    pub realm: Realm,
    pub run: fn(&mut WriteTx<'_>) -> Result<()>,
}

/// Every step since version 1, oldest first.
pub const STEPS: &[Step] = &[];

/// Run the steps that `file` has not seen; refuse a file from a newer program.
pub fn run(writer: &mut Writer, file: &Path, realm: Realm, steps: &'static [Step]) -> Result<()> {
    let known = steps.last().map_or(1, |step| step.to);
    let found = step(writer, move |tx| Ok(version(tx)?.unwrap_or(0)))?;
    if found > known {
        return Err(Error::Newer { file: file.to_path_buf(), found, known });
    }
    if found == 0 {
        // A new file begins at the newest version: there is nothing to bring up to date.
        return step(writer, move |tx| {
            set_version(tx, known);
            Ok(())
        });
    }
    for due in steps.iter().filter(|step| step.to > found) {
        tracing::info!(file = %file.display(), to = due.to, "bringing the data file up to date");
        step(writer, move |tx| {
            if due.realm.is_in(realm) {
                (due.run)(tx)?;
            }
            set_version(tx, due.to);
            Ok(())
        })?;
    }
    Ok(())
}

/// Run one command in the writer before its thread exists.
fn step<T: Send + 'static>(
    writer: &mut Writer,
    command: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (mut job, mut answer) = writer::job(command);
    let mut group = Overlay::new();
    writer.step(job.as_mut(), &mut group);
    let outcome = writer.commit(&group);
    job.finish(outcome);
    // The answer is here already. Waiting for it would panic in a thread of the runtime, where stores may well be opened.
    answer.try_recv().unwrap_or(Err(Error::Closed))?
}

fn version(tx: &impl Read) -> Result<Option<u32>> {
    let bytes = tx.get(META, &VERSION_KEY.to_owned())?;
    bytes.map(|bytes| bytes.try_into().map(u32::from_le_bytes).map_err(|_| Error::Corrupt("meta"))).transpose()
}

fn set_version(tx: &mut WriteTx<'_>, version: u32) {
    tx.put(META, &VERSION_KEY.to_owned(), &version.to_le_bytes().to_vec());
}
