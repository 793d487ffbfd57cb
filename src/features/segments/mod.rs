//! Segments: saved filters for contacts.
//!
//! A segment does not store its contacts: it contains all contacts that currently match its filter.
//!
//! Counting can require a scan of every contact. The count is therefore computed on a snapshot before a segment is written, never inside
//! the write transaction.

pub mod copy;
pub mod ops;
mod store;
pub mod views;

pub use store::ROW_CHECKS;
pub use store::require;

use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::{Read, ReadTx, Result as StoreResult, WriteTx};
use crate::features::filters::FilterTree;
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::limits;

use store::{NewSegment, Segment};

/// Returns whether the project has a segment with this name, ignoring case.
pub fn has_name(tx: &impl Read, project: ProjectId, name: &str) -> StoreResult<bool> {
    Ok(store::named(&store::all(tx, project)?, name).is_some())
}

/// Adds a segment with a filter that the caller has checked. Fails if the name is taken or the project has reached the maximum number of
/// segments.
pub fn add(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    (name, description): (String, Option<String>),
    filters: FilterTree,
) -> Result<Segment, Failure> {
    let others = store::all(tx, project)?;
    check_name(&others, &name, None)?;
    if others.len() >= limits::SEGMENTS_PER_PROJECT_MAX {
        let detail = format!("A brand can have at most {} segments. Delete a segment first.", limits::SEGMENTS_PER_PROJECT_MAX);
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let new = NewSegment { id: SegmentId::make(tx.now(), tx.random()), name, description, filters };
    let segment = Segment::new(new, tx.now());
    store::save(tx, project, &segment);
    Ok(segment)
}

/// Returns an error if one of the segments in `others`, except the segment with the ID `own`, already has this name.
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

/// Returns the number of contacts that match a filter supplied by a caller. Returns an error if the filter is invalid or contains tags or
/// topics that the project does not have.
fn count_given(tx: &ReadTx, project: ProjectId, filters: &FilterTree, now: Timestamp) -> Result<u64, Failure> {
    let filter = filters.check("filters")?;
    filter.check_names(tx, project, "filters")?;
    Ok(filter.count(tx, project, now)?)
}
