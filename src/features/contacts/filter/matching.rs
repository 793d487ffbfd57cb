//! Selects the contacts that match a filter now, computed or cached until a contact of the project changes.

use std::sync::Arc;

use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};

use super::check::Filter;
use super::plan;
use crate::base::clock::Timestamp;
use crate::engine::store::memo::MemoKey;
use crate::engine::store::{Read, ReadTx, Result};
use crate::features::contacts::store::{self, Facet};
use crate::vocab::ids::ProjectId;

impl Filter {
    /// Returns the numbers of the contacts that match.
    ///
    /// A condition on fields scans rows: with several threads on a snapshot, but with the writer's own thread inside a write, which blocks
    /// other writers. Where possible, call this before the write.
    pub fn select(&self, tx: &impl Read, project: ProjectId, now: Timestamp) -> Result<RoaringBitmap> {
        plan::select(tx, project, now, &self.root)
    }

    /// Like `select`, but cached.
    pub fn members(&self, tx: &ReadTx, project: ProjectId, now: Timestamp) -> Result<Arc<RoaringBitmap>> {
        let as_of = self.as_of(now);
        let key = self.key(tx, project, as_of)?;
        tx.memo().set(&key, || self.select(tx, project, as_of))
    }

    /// Returns the cached number of matching contacts.
    pub fn count(&self, tx: &ReadTx, project: ProjectId, now: Timestamp) -> Result<u64> {
        let key = self.key(tx, project, self.as_of(now))?;
        match tx.memo().length(&key) {
            Some(length) => Ok(length),
            None => Ok(self.members(tx, project, now)?.len()),
        }
    }

    /// Everything that the result depends on: the project, its revision, the filter, and the evaluation time.
    fn key(&self, tx: &ReadTx, project: ProjectId, as_of: Timestamp) -> Result<MemoKey> {
        let revision = store::count(tx, project, Facet::Revision)?;
        let mut digest = Sha256::new();
        digest.update(project.0);
        digest.update(revision.to_be_bytes());
        if self.uses_activity {
            digest.update(store::count(tx, project, Facet::Activity)?.to_be_bytes());
        }
        if self.uses_events {
            digest.update(store::count(tx, project, Facet::Events)?.to_be_bytes());
        }
        if self.uses_topics {
            digest.update(store::count(tx, project, Facet::Topics)?.to_be_bytes());
        }
        digest.update(self.digest);
        digest.update(as_of.0.to_be_bytes());
        Ok(digest.finalize().into())
    }
}
