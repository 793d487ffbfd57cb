//! Saved conditions: the table of segments and all access to it.
//!
//! It lives with contacts because lists and exports of contacts can be limited to a segment; `features/segments` gives segments
//! their endpoints on top of it. A filter is kept as the JSON it was given as: what is echoed is what was said, and a filter that
//! learns new words needs no migration.

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

/// A segment as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub id: SegmentId,
    pub name: String,
    pub description: Option<String>,
    /// Invariant: the JSON of a [`FilterTree`] that was checked when it was put.
    filters: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Segment {}

/// What is said of a segment when it is made.
pub struct NewSegment {
    pub id: SegmentId,
    pub name: String,
    pub description: Option<String>,
    pub filters: FilterTree,
}

impl Segment {
    /// A segment made now. The caller has checked the filter.
    pub fn new(new: NewSegment, now: Timestamp) -> Self {
        let NewSegment { id, name, description, filters } = new;
        Self { id, name, description, filters: written(&filters), created_at: now, updated_at: now }
    }

    /// Give it another filter, which the caller has checked.
    pub fn set_filters(&mut self, filters: &FilterTree) {
        self.filters = written(filters);
    }

    /// The filter as it was given.
    pub fn filters(&self) -> Result<FilterTree> {
        serde_json::from_str(&self.filters).map_err(|_| Error::Corrupt(tables::SEGMENTS.info().name))
    }

    /// The filter, ready to be evaluated.
    pub fn filter(&self) -> Result<Filter, Failure> {
        self.filters()?.check("filters").map_err(|refused| {
            // A filter that was checked when it was saved: if limits have shrunk since, that is for the operator to know.
            Failure::internal(format_args!("segment {}: {}", self.id, refused.detail.unwrap_or_default()))
        })
    }
}

fn written(filters: &FilterTree) -> String {
    serde_json::to_string(filters).expect("a filter tree is JSON")
}

/// The segment with this id.
fn find(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<Option<Segment>> {
    tx.get(SEGMENTS, &(project, id))
}

/// Whether the project has this segment.
pub fn exists(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<bool> {
    Ok(find(tx, project, id)?.is_some())
}

/// The segment with this id, or the failure that says there is none.
pub fn require(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<Segment, Failure> {
    let absent =
        || Failure::because(Code::NotFound, "The project has no segment with this id; GET /v1/segments lists its segments.");
    find(tx, project, id)?.ok_or_else(absent)
}

/// Every segment of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Segment>> {
    let rows = tx.list(SEGMENTS, &SEGMENTS.under(&(project,)), Order::Forward, limits::SEGMENTS_PER_PROJECT_MAX)?;
    Ok(rows.into_iter().map(|(_, segment)| segment).collect())
}

/// The segment whose name is the same to people, among `all`.
pub fn named<'s>(all: &'s [Segment], name: &str) -> Option<&'s Segment> {
    let wanted = fold(name);
    all.iter().find(|segment| fold(&segment.name) == wanted)
}

/// Put a segment.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, segment: &Segment) {
    tx.put(SEGMENTS, &(project, segment.id), segment);
}

/// Remove a segment.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: SegmentId) {
    tx.delete(SEGMENTS, &(project, id));
}
