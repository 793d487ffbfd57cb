//! Segments: saved conditions on contacts.
//!
//! The conditions themselves, the table they are kept in and who meets them belong to contacts, whose lists and exports can be limited
//! to a segment; here are the endpoints on top of that. A segment has no members of its own: whoever meets its condition now is in it.
//!
//! To count may mean to walk over every contact, so it is done on a snapshot before a segment is written, never in the writer.

pub mod ops;
mod views;

use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::ReadTx;
use crate::features::contacts::filter::FilterTree;
use crate::features::contacts::filter::segment_store::{self, Segment};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};

/// Refuse a name that another of these segments has.
fn check_name(others: &[Segment], name: &str, own: Option<SegmentId>) -> Result<(), Failure> {
    match segment_store::named(others, name) {
        Some(segment) if Some(segment.id) != own => {
            let detail = format!("name: the segment \"{}\" has this name; choose another or change that segment", segment.name);
            Err(Failure::because(Code::NameTaken, detail).with(serde_json::json!({ "id": segment.id })))
        }
        _ => Ok(()),
    }
}

/// How many contacts meet a filter that a caller gives; refuses one that makes no sense or names tags or topics the project does not have.
fn count_given(tx: &ReadTx, project: ProjectId, filters: &FilterTree, now: Timestamp) -> Result<u64, Failure> {
    let filter = filters.check("filters")?;
    filter.check_names(tx, project, "filters")?;
    Ok(filter.count(tx, project, now)?)
}
