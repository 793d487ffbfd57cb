//! Filters on contacts: the filter tree of segments, lists and exports, and the contacts that match it.
//!
//! A request contains a [`FilterTree`]. [`FilterTree::check`] converts it to a [`Filter`] or reports the first error with its path.
//! [`Filter::select`] returns the matching contacts, and [`Filter::matches`] checks one contact. `compare.rs` defines how values are
//! compared; `plan.rs` and `scan.rs` search a million contacts.
//!
//! This module does not know who may see the contacts or how activity is recorded; see `contacts::activity` and
//! `contacts::customer_events`.

mod activity;
mod check;
mod compare;
mod evaluate;
mod event;
mod matching;
mod plan;
mod row;
mod scan;
mod schema;
pub mod segment_store;
#[cfg(test)]
mod tests;
mod tree;

pub use check::Filter;
pub use compare::Period;
pub use evaluate::{ContactFacts, EventFact, tag_ids, topic_ids};
pub use tree::{
    Action, ActivityCondition, ActivityMode, EventCondition, EventMode, FieldCondition, FilterTree, Match, Mode, Operand, Unit,
    Validation,
};

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::contacts::{tags, topics};
use crate::vocab::ids::ProjectId;

impl Filter {
    /// Rejects tags and topics that the project does not have. Called when a filter is given, not later: a tag deleted since then has no
    /// contacts, and a topic deleted since then has no subscribers.
    pub fn check_names(&self, tx: &impl Read, project: ProjectId, path: &str) -> Result<(), Failure> {
        let (tagged, subscribed) = self.names();
        for id in tagged {
            if tags::by_id(tx, project, id)?.is_none() {
                let detail = format_args!("the project has no tag with the id {id}; GET /v1/tags lists them");
                return Err(Failure::field(path, detail));
            }
        }
        for id in subscribed {
            if topics::find(tx, project, id)?.is_none() {
                let detail = format_args!("the project has no topic with the id {id}; GET /v1/topics lists them");
                return Err(Failure::field(path, detail));
            }
        }
        Ok(())
    }
}
