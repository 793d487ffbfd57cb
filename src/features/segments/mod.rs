//! Segments: saved filters on contacts.
//!
//! A segment does not store its contacts: it contains all contacts that currently match its filter.
//!
//! Counting can require a scan of every contact. The count is therefore computed on a snapshot before a segment is written, never in the
//! writer.

pub mod copy;
pub mod ops;
mod store;
pub mod views;

pub use store::require;

use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::ReadTx;
use crate::features::filters::FilterTree;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};

use store::Segment;

/// Returns an error if one of the segments in `others`, except the segment `own`, already has this name.
fn check_name(others: &[Segment], name: &str, own: Option<SegmentId>) -> Result<(), Failure> {
    match store::named(others, name) {
        Some(segment) if Some(segment.id) != own => {
            let detail =
                format!("a segment named \"{}\" already exists; choose a different name or change that segment", segment.name);
            Err(Failure::because(Code::NameTaken, detail).in_field("name").with(serde_json::json!({ "id": segment.id })))
        }
        _ => Ok(()),
    }
}

/// Returns the number of contacts that match a filter given by a caller. Returns an error if the filter is invalid or contains tags or
/// topics that the project does not have.
fn count_given(tx: &ReadTx, project: ProjectId, filters: &FilterTree, now: Timestamp) -> Result<u64, Failure> {
    let filter = filters.check("filters")?;
    filter.check_names(tx, project, "filters")?;
    Ok(filter.count(tx, project, now)?)
}
