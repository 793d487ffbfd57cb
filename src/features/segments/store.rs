//! The table of segments and all access to it.
//!
//! A filter is stored as the JSON of the caller's filter tree, so that responses return the same tree and new filter keywords need no
//! migration.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::text::fold;
use crate::engine::api::Failure;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Table, WriteTx};
use crate::features::filters::{Filter, FilterTree};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::{limits, tables};

const SEGMENTS: Table<(ProjectId, SegmentId), Segment> = Table::new(tables::SEGMENTS);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(SEGMENTS)];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    pub id: SegmentId,
    pub name: String,
    pub description: Option<String>,
    /// The filter as JSON. Invariant: it is a [`FilterTree`] that was checked when it was saved.
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
    /// Creates a segment with a filter that the caller has checked.
    pub fn new(new: NewSegment, now: Timestamp) -> Self {
        let NewSegment { id, name, description, filters } = new;
        Self { id, name, description, filters: written(&filters), created_at: now, updated_at: now }
    }

    /// Replaces the filter with a new filter that the caller has checked.
    pub fn set_filters(&mut self, filters: &FilterTree) {
        self.filters = written(filters);
    }

    /// Returns the filter as supplied by the caller.
    pub fn filters(&self) -> FilterTree {
        serde_json::from_str(&self.filters).expect("the filter was checked when the row was read")
    }

    /// Checks that the filter in a row is readable.
    fn checked(self, tx: &impl Read) -> Result<Self> {
        match serde_json::from_str::<FilterTree>(&self.filters) {
            Ok(_) => Ok(self),
            Err(_) => Err(tx.corrupt(tables::SEGMENTS)),
        }
    }

    /// Returns the checked filter, which can be evaluated.
    pub fn filter(&self) -> Result<Filter, Failure> {
        self.filters().check("filters").map_err(|refused| {
            // The filter was valid when it was saved, so a limit must have been lowered since. Report an internal error, so that the
            // operator notices.
            Failure::internal(format_args!("the stored filter of segment {} is not valid: {}", self.id, refused.text()))
        })
    }
}

fn written(filters: &FilterTree) -> String {
    serde_json::to_string(filters).expect("a filter tree can be written as JSON")
}

fn find(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<Option<Segment>> {
    tx.get(SEGMENTS, &(project, id))?.map(|segment| segment.checked(tx)).transpose()
}

pub fn exists(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<bool> {
    Ok(find(tx, project, id)?.is_some())
}

/// Returns the segment with this ID, or a not-found failure.
pub fn require(tx: &impl Read, project: ProjectId, id: SegmentId) -> Result<Segment, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The brand has no segment with this ID.")
            .see("segments.list", "GET /v1/segments lists the segments")
    };
    find(tx, project, id)?.ok_or_else(absent)
}

/// Returns every segment of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Segment>> {
    let rows = tx.list(SEGMENTS, &SEGMENTS.under(&(project,)), Order::Forward, limits::SEGMENTS_PER_PROJECT_MAX)?;
    rows.into_iter().map(|(_, segment)| segment.checked(tx)).collect()
}

/// Returns the segment in `all` with this name, ignoring case and Unicode form.
pub fn named<'s>(all: &'s [Segment], name: &str) -> Option<&'s Segment> {
    let wanted = fold(name);
    all.iter().find(|segment| fold(&segment.name) == wanted)
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, segment: &Segment) {
    tx.put(SEGMENTS, &(project, segment.id), segment);
}

pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: SegmentId) {
    tx.delete(SEGMENTS, &(project, id));
}
