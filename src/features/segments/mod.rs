//! Segments: saved filters on contacts.
//!
//! The filters, their table and the matching contacts belong to the contacts feature, whose lists and exports can be limited to a segment;
//! this feature adds the endpoints. A segment has no stored members: it contains whatever contacts match its filter now.
//!
//! Counting may scan every contact, so it is done on a snapshot before a segment is written, never in the writer.

pub mod ops;
mod views;

pub use views::SegmentView;

use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::ReadTx;
use crate::features::contacts::filter::FilterTree;
use crate::features::contacts::filter::segment_store::{self, Segment};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};

/// Rejects a name that another of these segments has.
fn check_name(others: &[Segment], name: &str, own: Option<SegmentId>) -> Result<(), Failure> {
    match segment_store::named(others, name) {
        Some(segment) if Some(segment.id) != own => {
            let detail = format!(
                "name: the segment \"{}\" already has this name; choose another name or change that segment",
                segment.name
            );
            Err(Failure::because(Code::NameTaken, detail).with(serde_json::json!({ "id": segment.id })))
        }
        _ => Ok(()),
    }
}

/// Counts the contacts that match a filter given by a caller; rejects an invalid filter and one with tags or topics that the project does
/// not have.
fn count_given(tx: &ReadTx, project: ProjectId, filters: &FilterTree, now: Timestamp) -> Result<u64, Failure> {
    let filter = filters.check("filters")?;
    filter.check_names(tx, project, "filters")?;
    Ok(filter.count(tx, project, now)?)
}
