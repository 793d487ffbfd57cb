//! Copies segments to the live environment: they are read in one environment and written in the other.

use serde_json::Value;

use super::store::{self, NewSegment, Segment};
use crate::base::text::fold;
use crate::engine::store::{Read, Result, Value as Stored, WriteTx};
use crate::features::filters::FilterTree;
use crate::vocab::ids::{ProjectId, SegmentId};

/// A segment to copy.
pub struct SegmentCopy(Segment);

impl SegmentCopy {
    /// Returns the segments of a project.
    pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Self>> {
        Ok(store::all(tx, project)?.into_iter().map(Self).collect())
    }

    pub fn id(&self) -> SegmentId {
        self.0.id
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns bytes that differ when the segment differs.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        self.0.encode(&mut content);
        content
    }

    /// Returns the ID for the copy in a project, and whether the project already has this segment: an earlier copy or, if there is
    /// none, a segment with the same name.
    pub fn target(&self, tx: &impl Read, project: ProjectId) -> Result<(SegmentId, bool)> {
        let all = store::all(tx, project)?;
        let copied = self.0.id.copied();
        let named = all
            .iter()
            .find(|other| other.id == copied)
            .or_else(|| all.iter().find(|other| fold(&other.name) == fold(&self.0.name)));
        Ok(named.map_or((copied, false), |other| (other.id, true)))
    }

    /// Writes the copy to a project. `id` maps the ID of a tag or topic in the filter to the ID of its copy. Returns false if the filter
    /// refers to an object without a copy, such as a campaign.
    pub fn write(
        self,
        tx: &mut WriteTx<'_>,
        project: ProjectId,
        target: SegmentId,
        id: impl Fn(&str) -> Option<String>,
    ) -> Result<bool> {
        let tree = self.0.filters()?;
        let Ok(mut json) = serde_json::to_value(&tree) else { return Ok(false) };
        if !translate(&mut json, "", &id) {
            return Ok(false);
        }
        let Ok(filters) = serde_json::from_value::<FilterTree>(json) else { return Ok(false) };
        let new = NewSegment { id: target, name: self.0.name, description: self.0.description, filters };
        let now = tx.now();
        store::save(tx, project, &Segment::new(new, now));
        Ok(true)
    }
}

/// The fields of a filter that contain IDs of tags and topics.
const REFERENCES: [&str; 4] = ["tags", "excludeTags", "topics", "excludeTopics"];

/// Replaces IDs with those of the copies; returns false if there is no copy.
fn translate(json: &mut Value, field: &str, id: &impl Fn(&str) -> Option<String>) -> bool {
    match json {
        Value::String(text) if REFERENCES.contains(&field) => match id(text) {
            Some(copy) => {
                *text = copy;
                true
            }
            None => false,
        },
        Value::Array(items) => items.iter_mut().all(|item| translate(item, field, id)),
        Value::Object(fields) => {
            fields.iter_mut().all(|(name, value)| name != "campaignId" && (name == "customFields" || translate(value, name, id)))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_become_those_of_the_copies() {
        let copy = |id: &str| (id == "a").then(|| "b".to_owned());
        let translated = |mut json: Value| translate(&mut json, "", &copy).then_some(json);
        let tree = json!({ "tags": ["a"], "groups": [{ "excludeTopics": ["a"], "customFields": { "plan": ["a"] } }] });
        let expected = json!({ "tags": ["b"], "groups": [{ "excludeTopics": ["b"], "customFields": { "plan": ["a"] } }] });
        assert_eq!(translated(tree), Some(expected));
        assert_eq!(translated(json!({ "tags": ["x"] })), None);
        assert_eq!(translated(json!({ "activity": [{ "campaignId": "a" }] })), None);
    }
}
