//! Selects the contacts that currently match a filter. The result is computed or, if the data that the filter reads is unchanged, taken
//! from a cache.

use std::sync::Arc;

use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};

use super::check::Filter;
use super::plan;
use crate::base::clock::Timestamp;
use crate::engine::store::memo::MemoKey;
use crate::engine::store::{Read, ReadTx, Result};
use crate::features::contact_sets::{self, Facet};
use crate::features::customer_events;
use crate::vocab::ids::ProjectId;

impl Filter {
    /// Returns the numbers of the contacts that match the filter.
    ///
    /// A condition on fields requires a scan of rows. On a snapshot, the scan can use several threads. In a write transaction, it uses only
    /// the writer's thread and blocks other writers. If possible, call this function before the write.
    pub fn select(&self, tx: &impl Read, project: ProjectId, now: Timestamp) -> Result<RoaringBitmap> {
        plan::select(tx, project, now, &self.root)
    }

    /// Returns the numbers of the matching contacts, from the cache if possible. Conditions that depend on time are evaluated as of the
    /// start of the current minute.
    pub fn members(&self, tx: &ReadTx, project: ProjectId, now: Timestamp) -> Result<Arc<RoaringBitmap>> {
        let as_of = self.as_of(now);
        let key = self.key(tx, project, as_of)?;
        tx.memo().set(&key, || self.select(tx, project, as_of))
    }

    /// Returns the number of matching contacts, from the cache if possible.
    pub fn count(&self, tx: &ReadTx, project: ProjectId, now: Timestamp) -> Result<u64> {
        let key = self.key(tx, project, self.as_of(now))?;
        match tx.memo().length(&key) {
            Some(length) => Ok(length),
            None => Ok(self.members(tx, project, now)?.len()),
        }
    }

    /// Returns the cache key: the project, the revisions of all data that the filter reads, the filter, and the evaluation time. Together,
    /// these determine the result.
    fn key(&self, tx: &ReadTx, project: ProjectId, as_of: Timestamp) -> Result<MemoKey> {
        let revision = contact_sets::count(tx, project, Facet::Revision)?;
        let mut digest = Sha256::new();
        digest.update(project.0);
        digest.update(revision.to_be_bytes());
        if self.uses_activity {
            digest.update(contact_sets::count(tx, project, Facet::Activity)?.to_be_bytes());
        }
        if self.uses_events {
            digest.update(customer_events::count(tx, project)?.to_be_bytes());
        }
        if self.uses_topics {
            digest.update(contact_sets::count(tx, project, Facet::Topics)?.to_be_bytes());
        }
        digest.update(self.digest);
        digest.update(as_of.0.to_be_bytes());
        Ok(digest.finalize().into())
    }
}
