//! Applies the changes to a document that a language model requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::features::emails::document::{Email, Violation};

/// The model's response to an edit request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// One sentence that describes the changes or explains why no change is possible.
    pub summary: String,
    pub changes: Vec<Change>,
}

/// One change to a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    pub op: Operation,
    /// The field to `set`, such as `subject` or `blocks.intro.text`.
    #[serde(default)]
    pub path: Option<String>,
    /// The ID of the block to `remove` or `move`.
    #[serde(default)]
    pub id: Option<String>,
    /// The ID of the block after which to `insert` or `move` a block.
    #[serde(default)]
    pub after: Option<String>,
    /// The value to `set`, or the block to `insert`.
    #[serde(default)]
    pub value: Value,
}

/// The operation of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Set,
    Insert,
    Remove,
    Move,
}

/// Returns the JSON Schema of a patch.
pub fn schema() -> Value {
    let text_or_null = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string", "description": "What was changed, or why nothing can be, in one sentence." },
            "changes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "op": { "enum": ["set", "insert", "remove", "move"] },
                        "path": text_or_null,
                        "id": text_or_null,
                        "after": text_or_null,
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

/// Applies the changes, or returns all errors in the changes.
pub fn apply(document: &Email, changes: &[Change]) -> Result<Email, Vec<String>> {
    let json = changed(document.to_json(), changes)?;
    Email::from_json(&json).map_err(|violations| violations.iter().map(Violation::to_string).collect())
}

/// Applies the changes to a document that may break rules, or returns all errors in the changes.
pub fn changed(mut json: Value, changes: &[Change]) -> Result<Value, Vec<String>> {
    let mut errors = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        if let Err(error) = make(&mut json, change) {
            errors.push(format!("changes[{number}]: {error}"));
        }
    }
    if errors.is_empty() { Ok(json) } else { Err(errors) }
}

fn make(json: &mut Value, change: &Change) -> Result<(), String> {
    match change.op {
        Operation::Set => {
            let path = change.path.as_deref().ok_or("set needs a path")?;
            *field(json, path)? = change.value.clone();
        }
        Operation::Insert => {
            let place = place_after(json, change)?;
            blocks(json)?.insert(place, change.value.clone());
        }
        Operation::Remove => {
            let place = place_of(json, change.id.as_deref().ok_or("remove needs an id")?)?;
            blocks(json)?.remove(place);
        }
        Operation::Move => {
            let id = change.id.as_deref().ok_or("move needs an id")?;
            let place = place_of(json, id)?;
            if change.after.as_deref() == Some(id) {
                return Err("a block cannot be placed after itself".into());
            }
            let block = blocks(json)?.remove(place);
            // The block is removed first, because the removal shifts the positions of the following blocks.
            let to = match place_after(json, change) {
                Ok(to) => to,
                Err(error) => {
                    blocks(json)?.insert(place, block);
                    return Err(error);
                }
            };
            blocks(json)?.insert(to, block);
        }
    }
    Ok(())
}

fn blocks(json: &mut Value) -> Result<&mut Vec<Value>, String> {
    json.get_mut("blocks").and_then(Value::as_array_mut).ok_or_else(|| "the document has no blocks".into())
}

fn place_of(json: &mut Value, id: &str) -> Result<usize, String> {
    let found = blocks(json)?.iter().position(|block| block["id"] == id);
    found.ok_or_else(|| format!("the document has no block {id:?}"))
}

fn place_after(json: &mut Value, change: &Change) -> Result<usize, String> {
    let after = change.after.as_deref().ok_or("give in after the block to place the block after")?;
    Ok(place_of(json, after)? + 1)
}

/// Returns the value at a path of names, indexes, and IDs of list items.
fn field<'a>(json: &'a mut Value, path: &str) -> Result<&'a mut Value, String> {
    let unknown = || format!("the document has no field or block at the path {path:?}");
    let steps: Vec<&str> = path.split(['.', '[', ']']).filter(|step| !step.is_empty()).collect();
    let (last, first) = steps.split_last().ok_or_else(unknown)?;
    let mut at = json;
    for step in first {
        at = child(at, step).ok_or_else(unknown)?;
    }
    // An absent field can be set, because parsing the document later validates the field.
    if let Value::Object(fields) = at {
        return Ok(fields.entry(*last).or_insert(Value::Null));
    }
    child(at, last).ok_or_else(unknown)
}

fn child<'a>(json: &'a mut Value, step: &str) -> Option<&'a mut Value> {
    match json {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(items) => {
            let place = items.iter().position(|item| item["id"] == step).or_else(|| step.parse().ok())?;
            items.get_mut(place)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(json: Value) -> Change {
        serde_json::from_value(json).expect("the JSON is a valid change")
    }

    fn ids(email: &Email) -> Vec<String> {
        email.blocks.iter().map(|block| block.id().as_str().to_owned()).collect()
    }

    #[test]
    fn fields_are_set_and_blocks_are_inserted_moved_and_removed() {
        let before = Email::sample();
        let names = ids(&before);
        let after = apply(
            &before,
            &[
                change(json!({ "op": "set", "path": "subject", "value": "Another subject" })),
                change(json!({ "op": "insert", "after": names[0], "value": { "type": "text", "id": "new", "text": "Hello" } })),
                change(json!({ "op": "set", "path": "blocks.new.text", "value": "Hello **you**" })),
                change(json!({ "op": "move", "id": "new", "after": names[1] })),
                change(json!({ "op": "remove", "id": names[2] })),
            ],
        );
        let after = after.expect("the changes are valid");
        assert_eq!(after.subject.as_str(), "Another subject");
        let mut expected = names.clone();
        expected.remove(2);
        expected.insert(2, "new".into());
        assert_eq!(ids(&after), expected);
        assert_eq!(after.find("new").expect("the new block exists").1.id().as_str(), "new");
    }

    #[test]
    fn every_invalid_change_is_reported() {
        let errors = apply(
            &Email::sample(),
            &[
                change(json!({ "op": "set", "value": 1 })),
                change(json!({ "op": "remove", "id": "nowhere" })),
                change(json!({ "op": "insert", "value": {} })),
                change(json!({ "op": "set", "path": "blocks.nowhere.text", "value": "x" })),
            ],
        );
        let errors = errors.expect_err("the document has four errors");
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(
            errors[0].contains("needs a path") && errors[1].contains("nowhere") && errors[2].contains("to place the block after")
        );
    }

    #[test]
    fn an_invalid_document_is_rejected_with_the_path() {
        let errors = apply(&Email::sample(), &[change(json!({ "op": "set", "path": "hue", "value": "red" }))]);
        assert!(errors.expect_err("the field does not exist")[0].contains("hue"));
    }
}
