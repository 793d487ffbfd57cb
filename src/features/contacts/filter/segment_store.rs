//! Saved filters: the table of segments and all access to it.
//!
//! It is part of contacts because lists and exports of contacts can be limited to a segment; `features/segments` adds the endpoints. A
//! filter is stored as the JSON that was given, so responses echo the input and new filter keywords need no migration.

use serde::{Deserialize, Serialize};

use super::check::Filter;
use super::tree::FilterTree;
use crate::base::clock::Timestamp;
use crate::base::text::fold;
use crate::engine::api::Failure;
use crate::engine::store::{Error, Order, Read, Record, Result, Table, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::{limits, tables};

const SEGMENTS: Table<(ProjectId, SegmentId), Segment> = Table::new(tables::SEGMENTS);

/// A segment as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub id: SegmentId,
    pub name: String,
    pub description: Option<String>,
    /// Invariant: the JSON of a [`FilterTree`] that was checked when it was saved.
    filters: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Segment {}

/// The input for a new segment.
pub struct NewSegment {
    pub id: SegmentId,
    pub name: String,
    pub description: Option<String>,
    pub filters: FilterTree,
}

impl Segment {
    /// Creates a segment. The caller has checked the filter.
    pub fn new(new: NewSegment, now: Timestamp) -> Self {
        let NewSegment { id, name, description, filters } = new;
        Self { id, name, description, filters: written(&filters), created_at: now, updated_at: now }
    }

    /// Replaces the filter. The caller has checked the new one.
    pub fn set_filters(&mut self, filters: &FilterTree) {
        self.filters = written(filters);
    }

    /// Returns the filter as given.
    pub fn filters(&self) -> Result<FilterTree> {
        serde_json::from_str(&self.filters).map_err(|_| Error::Corrupt(tables::SEGMENTS.info().name))
    }

    /// Returns the filter, ready to be evaluated.
    pub fn filter(&self) -> Result<Filter, Failure> {
        self.filters()?.check("filters").map_err(|refused| {
            // The filter was checked when it was saved. If limits have since been lowered, the operator needs to know.
            Failure::internal(format_args!("segment {}: {}", self.id, refused.detail.unwrap_or_default()))
        })
    }
}

fn written(filters: &FilterTree) -> String {
    serde_json::to_string(filters).expect("a filter tree is JSON")
}

/// Returns the segment with this id.
fn find(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<Option<Segment>> {
    tx.get(SEGMENTS, &(project, id))
}

/// Returns whether the project has this segment.
pub fn exists(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<bool> {
    Ok(find(tx, project, id)?.is_some())
}

/// Returns the segment with this id, or a not-found failure.
pub fn require(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<Segment, Failure> {
    let absent =
        || Failure::because(Code::NotFound, "The project has no segment with this id; GET /v1/segments lists its segments.");
    find(tx, project, id)?.ok_or_else(absent)
}

/// Returns every segment of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Segment>> {
    let rows = tx.list(SEGMENTS, &SEGMENTS.under(&(project,)), Order::Forward, limits::SEGMENTS_PER_PROJECT_MAX)?;
    Ok(rows.into_iter().map(|(_, segment)| segment).collect())
}

/// Returns the segment in `all` whose name looks the same to users.
pub fn named<'s>(all: &'s [Segment], name: &str) -> Option<&'s Segment> {
    let wanted = fold(name);
    all.iter().find(|segment| fold(&segment.name) == wanted)
}

/// Saves a segment.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, segment: &Segment) {
    tx.put(SEGMENTS, &(project, segment.id), segment);
}

/// Deletes a segment.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: SegmentId) {
    tx.delete(SEGMENTS, &(project, id));
}
