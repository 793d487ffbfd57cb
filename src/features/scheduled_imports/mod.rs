//! Scheduled imports: contacts or customer events that are imported regularly (`assets/docs/scheduled-imports.md`).
//!
//! If the source is a file, a run checks whether the server has a newer version and, if so, fetches and stores it. A contact job then
//! imports the contacts, as for an uploaded file (`features/contacts/jobs`), or `events` imports the events. If the source is a platform, a
//! run is a contact job, like an import from a connection; later runs read only changes, until the source is changed. A failed run is
//! retried after a pause. After several failures in a row, the scheduled import is paused and shows the reason.
//!
//! Invariants: the transaction that starts a run's import also records the import in the run, so a run starts its import only once. A
//! version of a file, or a time up to which changes were read, counts as known only after the import has completed.

mod changes;
mod events;
mod file;
mod input;
pub mod model;
pub mod ops;
mod platform;
mod running;
mod store;

pub use store::ROW_CHECKS;
#[cfg(test)]
mod tests;
pub mod views;
pub mod worker;

use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::{self as rows, Read};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ScheduledImportId};

/// Returns up to `limit` scheduled imports, across all accounts, that are running or not paused, each with its account, ID, and name.
pub fn queued(tx: &impl Read, limit: usize) -> rows::Result<Vec<(AccountId, String, String)>> {
    let all = store::due(tx, Timestamp(i64::MAX - 1), limit)?;
    Ok(all.into_iter().map(|row| (row.account, row.id.to_string(), row.name)).collect())
}

/// Returns the account's scheduled import with this ID, or `NotFound`.
fn require(tx: &impl Read, account: AccountId, id: ScheduledImportId) -> Result<model::ScheduledImport, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no scheduled import with this ID.")
            .see("scheduled_imports.list", "GET /v1/scheduled-imports lists the scheduled imports")
    };
    store::find(tx, account, id)?.ok_or_else(absent)
}
