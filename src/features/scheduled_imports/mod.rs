//! Scheduled imports: contacts or customer events that are imported regularly (`assets/docs/scheduled-imports.md`).
//!
//! A run of a file fetches it, unless the server has no newer version, and stores it. From then on, an import of contacts is a contact job
//! like that of an uploaded file (`features/contacts/jobs`), and `events` imports events. A run of a platform is a contact job like an import
//! from a connection; after the first one, it reads only changes. A failed run is repeated after a pause; after several failures in a row,
//! the scheduled import is paused and shows the reason.
//!
//! Invariants: one transaction starts the import of a run and records that the run has one, so a run never imports anything twice; and a
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
