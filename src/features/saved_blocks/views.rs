//! Saved blocks as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::SavedBlock;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Listed};
use crate::vocab::ids::SavedBlockId;

/// A block that users saved for use in other emails.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedBlockView {
    pub id: SavedBlockId,
    pub name: String,
    /// The block, without IDs. Insert it with PATCH /v1/emails/{emailId}/document.
    pub block: Value,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for SavedBlockView {
    const PLURAL: &'static str = "blocks";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl SavedBlockView {
    pub fn new(saved: SavedBlock) -> Result<Self, Failure> {
        Ok(Self {
            id: saved.id,
            name: saved.name,
            block: serde_json::from_str(&saved.block).map_err(Failure::internal)?,
            created_at: WireTime(saved.created_at),
            updated_at: WireTime(saved.updated_at),
        })
    }

    pub fn sample() -> Self {
        Self {
            id: SavedBlockId::parse("66f1a2b3d4e5f60718293a4f").expect("the sample ID is valid"),
            name: "Opening hours".into(),
            block: json!({ "type": "text", "text": "Open **Monday to Friday**" }),
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}
