//! Records the usage of keys: requests are counted in memory, and a background task writes the counts in one transaction at intervals.

use std::sync::Arc;

use super::store;
use crate::engine::api::{Engine, Failure};
use crate::engine::store as engine_store;

/// Writes the requests counted since the last flush. If the write fails, the counts are kept for the next flush.
pub async fn flush(engine: &Arc<Engine>) -> Result<(), Failure> {
    let used: Vec<_> = engine.keys.all().into_iter().filter_map(|grant| grant.usage.take().map(|taken| (grant, taken))).collect();
    if used.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = used.iter().map(|(grant, (requests, last))| (grant.id, *requests, *last)).collect();
    let write = move |tx: &mut engine_store::WriteTx<'_>| {
        rows.into_iter().try_for_each(|(key, requests, last)| store::add_usage(tx, key, requests, last))
    };
    let written = engine.control.write(write).await.and_then(|result| result);
    if written.is_err() {
        used.iter().for_each(|(grant, (requests, last))| grant.usage.give_back(*requests, *last));
    }
    Ok(written?)
}
