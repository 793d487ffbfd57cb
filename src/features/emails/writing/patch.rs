//! The format in which a language model returns changes to a document.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::features::emails::document::Change;

/// The model's response to an edit request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// One sentence that describes the changes or explains why no change is possible.
    pub summary: String,
    /// One sentence for each part of the request that was not done, including the reason.
    #[serde(default)]
    pub skipped: Vec<String>,
    /// Whether the request asks to remove or replace facts in the email.
    #[serde(default)]
    pub drops_facts: bool,
    pub changes: Vec<Change>,
}

pub fn schema() -> Value {
    let text_or_null = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string", "description": "What was changed, or why nothing can be, in one sentence." },
            "skipped": skipped(),
            "drops_facts": { "type": "boolean", "description": "Whether the request asks to remove or replace facts." },
            "changes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": { "enum": ["set", "insert", "remove", "move", "duplicate"] },
                        "path": text_or_null,
                        "id": text_or_null,
                        "after": text_or_null,
                        "before": text_or_null,
                        "value": { "description": "JSON of the field or the block." },
                    },
                    "required": ["op"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["summary", "changes"],
        "additionalProperties": false,
    })
}

/// Returns the schema for the list of request parts that were not done.
pub fn skipped() -> Value {
    let about = "Each part of the request that was not done, with the reason, in one sentence.";
    json!({ "type": "array", "items": { "type": "string" }, "description": about })
}
