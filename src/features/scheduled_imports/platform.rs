//! Starts a run's import from a platform.

use super::changes::begin;
use super::model::{Known, PlatformSource, ScheduledImport, Work};
use crate::engine::api::Failure;
use crate::engine::store::Store;
use crate::features::connections::{ImportPlan, start_with};
use crate::vocab::limits;

/// Starts an import of the platform's changes since the last completed import, or of everything if there was none.
pub async fn start(store: &Store, row: ScheduledImport, source: PlatformSource) -> Result<(), Failure> {
    let PlatformSource { provider, connection, sources, consent_mode, fields, tag } = source;
    // Let the next import overlap this one, because the platform's clock may be slow and its search may find changes late. A change that is
    // read twice is applied only once.
    let until = row.due_at.plus_ms(-limits::SCHEDULED_IMPORT_OVERLAP_MS);
    let reads = Known { changes_until: Some(until), ..Known::default() };
    let (account, since) = (row.account, row.known.changes_until);
    let plan = ImportPlan { project: row.project, sources, consent_mode, fields, since, tag };
    begin(store, row, reads, move |tx| Ok(Work::Contacts(start_with(tx, account, (provider, connection), plan)?.id))).await
}
