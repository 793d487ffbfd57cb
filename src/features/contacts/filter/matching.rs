//! Who meets a condition now: computed, or remembered for as long as no contact of the project changes.

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
    /// The numbers of the contacts that meet this condition.
    ///
    /// A condition on fields walks over rows: on a snapshot with several threads; inside a write with the writer's own, which others
    /// wait for, so ask before the write where that is possible.
    pub fn select(&self, tx: &impl Read, project: ProjectId, now: Timestamp) -> Result<RoaringBitmap> {
        plan::select(tx, project, now, &self.root)
    }

    /// The same, remembered.
    pub fn members(&self, tx: &ReadTx, project: ProjectId, now: Timestamp) -> Result<Arc<RoaringBitmap>> {
        let as_of = self.as_of(now);
        let key = self.key(tx, project, as_of)?;
        tx.memo().set(&key, || self.select(tx, project, as_of))
    }

    /// How many contacts meet this condition, remembered.
    pub fn count(&self, tx: &ReadTx, project: ProjectId, now: Timestamp) -> Result<u64> {
        let key = self.key(tx, project, self.as_of(now))?;
        match tx.memo().length(&key) {
            Some(length) => Ok(length),
            None => Ok(self.members(tx, project, now)?.len()),
        }
    }

    /// All that the answer depends on: whose contacts, in which revision, which condition, as of when.
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
