//! Scheduled imports: files at URLs whose contacts are imported regularly (`assets/docs/scheduled-imports.md`).
//!
//! A run fetches the file, unless the server has no newer version, and stores it. The file is then imported like an uploaded one
//! (`features/contacts/jobs`). The run ends with its import. A failed run is repeated after a pause; after several failures in a row, the
//! scheduled import is paused and shows the reason.
//!
//! Invariants: the transaction that starts the import of a fetched file also records the import in the run, so a run never imports a file
//! twice; and a version of a file counts as known only after its import has completed.

mod input;
pub mod model;
pub mod ops;
mod running;
mod store;
#[cfg(test)]
mod tests;
pub mod views;
pub mod worker;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ScheduledImportId};

/// Returns the account's scheduled import with this ID, or `NotFound`.
fn require(tx: &impl Read, account: AccountId, id: ScheduledImportId) -> Result<model::ScheduledImport, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no scheduled import with this ID.")
            .see("scheduled_imports.list", "GET /v1/scheduled-imports lists the scheduled imports")
    };
    store::find(tx, account, id)?.ok_or_else(absent)
}
