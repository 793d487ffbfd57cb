//! A segment as the API returns it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::store::Segment;
use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Listed};
use crate::engine::store::ReadTx;
use crate::features::filters::FilterTree;
use crate::vocab::ids::{ProjectId, SegmentId};

/// A saved filter for contacts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SegmentView {
    pub id: SegmentId,
    pub name: String,
    pub description: Option<String>,
    /// The filter as supplied by the caller.
    pub filters: FilterTree,
    /// The number of contacts that match the filter now, regardless of their status; absent if the request skips the count.
    pub count: Option<u64>,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for SegmentView {
    const PLURAL: &'static str = "segments";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// Returns the view of a segment with the current number of its contacts.
pub fn segment_view(tx: &ReadTx, project: ProjectId, segment: Segment, now: Timestamp) -> Result<SegmentView, Failure> {
    let count = segment.filter()?.count(tx, project, now)?;
    with_count(segment, Some(count))
}

/// Returns the view of a segment with the number of its contacts, if given.
pub fn with_count(segment: Segment, count: Option<u64>) -> Result<SegmentView, Failure> {
    let filters = segment.filters();
    let Segment { id, name, description, created_at, updated_at, .. } = segment;
    Ok(SegmentView { id, name, description, filters, count, created_at: WireTime(created_at), updated_at: WireTime(updated_at) })
}

impl SegmentView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let filters = json!({
            "match": "all",
            "status": "subscribed",
            "fields": [{ "key": "plan", "mode": "is", "values": ["pro", "team"] }],
            "groups": [{
                "match": "any",
                "fields": [{ "key": "createdAt", "mode": "date_after", "values": ["2026-01-31"] }],
            }],
        });
        Self {
            id: SegmentId::parse("66f1a2b3e5f60718293a4b5c").expect("the ID has 24 hexadecimal characters"),
            name: "Paying readers".into(),
            description: None,
            filters: serde_json::from_value(filters).expect("the example is a filter tree"),
            count: Some(318),
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}
