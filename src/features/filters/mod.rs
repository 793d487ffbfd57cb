//! Filters on contacts: the filter tree used in segments, exports and bulk changes, and the selection of contacts that match it.
//!
//! A request contains a [`FilterTree`]. [`FilterTree::check`] converts the tree to a [`Filter`] or reports the first error with its path.
//! [`Filter::select`] returns the matching contacts, and [`Filter::matches`] checks one contact. `compare.rs` defines how values are
//! compared. `plan.rs` and `scan.rs` search many contacts.
//!
//! This feature does not depend on who may see the contacts or how activity is recorded (see `contact_records::activity` and
//! `customer_events`).

mod activity;
mod check;
mod compare;
mod evaluate;
mod event;
mod matching;
mod plan;
mod probe;
mod row;
mod scan;
mod schema;
#[cfg(test)]
mod tests;
mod tree;

pub use check::Filter;
pub use evaluate::{ContactFacts, EventFact, tag_ids, topic_ids};
pub use tree::{
    ActivityCondition, ActivityMode, EventCondition, EventMode, FieldCondition, FilterTree, Match, Mode, Operand, Unit,
    Validation,
};

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::{tags, topics};
use crate::vocab::ids::ProjectId;

impl Filter {
    /// Returns an error if the filter mentions a tag or topic that the project does not have. Called only for filters in requests. In
    /// stored filters, a tag that was deleted later matches no contacts, and a topic that was deleted later has no subscribers.
    pub fn check_names(&self, tx: &impl Read, project: ProjectId, path: &str) -> Result<(), Failure> {
        let (tagged, subscribed) = self.names();
        for id in tagged {
            if tags::by_id(tx, project, id)?.is_none() {
                let failure = Failure::field(path, format_args!("the brand has no tag with the ID {id}"));
                return Err(failure.see("tags.list", "GET /v1/tags lists the tags"));
            }
        }
        for id in subscribed {
            if topics::look_up(tx, project, id)?.is_none() {
                let failure = Failure::field(path, format_args!("the brand has no topic with the ID {id}"));
                return Err(failure.see("topics.list", "GET /v1/topics lists the topics"));
            }
        }
        Ok(())
    }
}
