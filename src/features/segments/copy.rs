//! Copies the segments of a project to another project or store.

use serde_json::Value;

use super::store::{self, NewSegment, Segment};
use crate::base::text::fold;
use crate::engine::store::{Read, Result, Value as Stored, WriteTx};
use crate::features::filters::FilterTree;
use crate::vocab::ids::{CopyIds, ProjectId, SegmentId};
use crate::vocab::limits;

pub struct SegmentCopy(Segment);

impl SegmentCopy {
    pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Self>> {
        Ok(store::all(tx, project)?.into_iter().map(Self).collect())
    }

    pub fn id(&self) -> SegmentId {
        self.0.id
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the IDs of the campaigns that the filter refers to.
    pub fn campaigns(&self) -> Vec<String> {
        let mut found = Vec::new();
        if let Ok(mut json) = serde_json::to_value(self.0.filters()) {
            translate(&mut json, "", &mut |field: &str, id: &str| {
                if field == "campaignId" {
                    found.push(id.to_owned());
                }
                Some(id.to_owned())
            });
        }
        found
    }

    /// Returns the encoded segment, so that the caller can detect whether the segment has changed.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        self.0.encode(&mut content);
        content
    }

    /// Returns the copy of this segment in a project: an earlier copy or, if there is none, a segment with the same name.
    fn copy_in(&self, tx: &impl Read, project: ProjectId, ids: CopyIds) -> Result<Option<Segment>> {
        let mut all = store::all(tx, project)?;
        let copied = ids.of(self.0.id);
        let found = all.iter().position(|other| other.id == copied);
        let found = found.or_else(|| all.iter().position(|other| fold(&other.name) == fold(&self.0.name)));
        Ok(found.map(|index| all.swap_remove(index)))
    }

    /// Returns the ID for the copy in a project, and whether the project already has a segment with this ID.
    pub fn target(&self, tx: &impl Read, project: ProjectId, ids: CopyIds) -> Result<(SegmentId, bool)> {
        let known = self.copy_in(tx, project, ids)?;
        Ok(known.map_or((ids.of(self.0.id), false), |other| (other.id, true)))
    }

    /// Returns whether a project already has a copy with the same name, description and filter.
    pub fn is_same_in(&self, tx: &impl Read, project: ProjectId, ids: CopyIds) -> Result<bool> {
        let Some(known) = self.copy_in(tx, project, ids)? else { return Ok(false) };
        Ok(known.name == self.0.name && known.description == self.0.description && known.filters() == self.0.filters())
    }

    /// Returns whether a project has reached the maximum number of segments.
    pub fn is_full(tx: &impl Read, project: ProjectId) -> Result<bool> {
        Ok(store::all(tx, project)?.len() >= limits::SEGMENTS_PER_PROJECT_MAX)
    }

    /// Writes the copy to a project. `id` maps the ID of a tag, topic or campaign in the filter to the ID of its copy. Returns false if the
    /// filter refers to an object without a copy.
    pub fn write(
        self,
        tx: &mut WriteTx<'_>,
        project: ProjectId,
        target: SegmentId,
        id: impl Fn(&str) -> Option<String>,
    ) -> Result<bool> {
        let tree = self.0.filters();
        let Ok(mut json) = serde_json::to_value(&tree) else { return Ok(false) };
        if !translate(&mut json, "", &mut |_, original| id(original)) {
            return Ok(false);
        }
        let Ok(filters) = serde_json::from_value::<FilterTree>(json) else { return Ok(false) };
        let new = NewSegment { id: target, name: self.0.name, description: self.0.description, filters };
        let now = tx.now();
        store::save(tx, project, &Segment::new(new, now));
        Ok(true)
    }
}

/// The fields of a filter that contain IDs of tags, topics and campaigns.
const REFERENCES: [&str; 5] = ["tags", "excludeTags", "topics", "excludeTopics", "campaignId"];

/// Replaces the IDs of tags, topics and campaigns with the IDs of their copies; returns false if one of the objects has no copy.
fn translate(json: &mut Value, field: &str, id: &mut impl FnMut(&str, &str) -> Option<String>) -> bool {
    match json {
        Value::String(text) if REFERENCES.contains(&field) => match id(field, text) {
            Some(copy) => {
                *text = copy;
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().all(|item| translate(item, field, id)),
        Value::Object(fields) => fields.iter_mut().all(|(name, value)| name == "customFields" || translate(value, name, id)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_become_those_of_the_copies() {
        let mut copy = |_: &str, id: &str| (id == "a").then(|| "b".to_owned());
        let mut translated = |mut json: Value| translate(&mut json, "", &mut copy).then_some(json);
        let tree = json!({ "tags": ["a"], "groups": [{ "excludeTopics": ["a"], "customFields": { "plan": ["a"] } }] });
        let expected = json!({ "tags": ["b"], "groups": [{ "excludeTopics": ["b"], "customFields": { "plan": ["a"] } }] });
        assert_eq!(translated(tree), Some(expected));
        assert_eq!(translated(json!({ "tags": ["x"] })), None);
        assert_eq!(translated(json!({ "activity": [{ "campaignId": "c" }] })), None);
    }
}
