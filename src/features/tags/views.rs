//! A tag as the API returns it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::features::contact_sets::{self, Facet};
use crate::features::tags::Tag;
use crate::vocab::ids::{ProjectId, TagId};

/// A tag in a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TagView {
    pub id: TagId,
    pub name: String,
    /// The tag's color as `#RRGGBB`.
    pub color: Option<String>,
    pub description: Option<String>,
    /// The number of contacts that have the tag now, regardless of their status.
    pub subscriber_count: u64,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for TagView {
    const PLURAL: &'static str = "tags";
    const ARRAY_WHEN_PAGED: bool = true;
}

/// Returns the view of a tag with the current number of its contacts.
pub fn tag_view(tx: &impl Read, project: ProjectId, tag: Tag) -> Result<TagView> {
    let subscriber_count = contact_sets::count(tx, project, Facet::Tag(tag.number()))?;
    let Tag { id, name, color, description, created_at, updated_at } = tag;
    let (created_at, updated_at) = (WireTime(created_at), WireTime(updated_at));
    Ok(TagView { id, name, color, description, subscriber_count, created_at, updated_at })
}

impl TagView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        Self {
            id: TagId::parse("66f1a2b3000000015c3e9d71").expect("the ID has 24 hexadecimal characters"),
            name: "newsletter".into(),
            color: Some("#1A73E8".into()),
            description: Some("Signed up on the home page".into()),
            subscriber_count: 1_280,
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}
