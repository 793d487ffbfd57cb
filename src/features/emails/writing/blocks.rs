//! The second step of writing with a language model: the model writes the blocks of the outline, a few per request. Each request has a
//! small schema.

use serde_json::{Map, Value, json};

use super::outline::PlannedBlock;
use crate::engine::language_model::AnswerSchema;
use crate::features::emails::document::block_schema;
use crate::vocab::limits::SCHEMA_CHARACTERS_MAX;

/// Divides the blocks into requests: each has at most `at_once` blocks and a schema of limited length.
pub fn batches(blocks: &[PlannedBlock], at_once: usize) -> Vec<&[PlannedBlock]> {
    let mut batches = Vec::new();
    let mut start = 0;
    for end in 1..=blocks.len() {
        let is_full = end - start == at_once || end == blocks.len();
        if is_full || schema(&blocks[start..=end]).schema.to_string().len() > SCHEMA_CHARACTERS_MAX {
            batches.push(&blocks[start..end]);
            start = end;
        }
    }
    batches
}

/// Returns the schema of a response with these blocks: an object with a property for each block.
pub fn schema(blocks: &[PlannedBlock]) -> AnswerSchema {
    let (mut properties, mut definitions) = (Map::new(), Map::new());
    for block in blocks {
        let mut fields = block_schema(&block.kind).cloned().unwrap_or_default();
        if let Some(Value::Object(shared)) = fields.as_object_mut().and_then(|fields| fields.remove("$defs")) {
            definitions.extend(shared);
        }
        properties.insert(block.id.clone(), fields);
    }
    let required: Vec<&String> = properties.keys().collect();
    let mut schema = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
    AnswerSchema { name: "write_blocks", about: "The fields of each block.", schema }
}

/// Reads the blocks of a response and adds their IDs and types.
pub fn read(json: &Value, blocks: &[PlannedBlock]) -> Result<Vec<Value>, Vec<String>> {
    let mut errors = Vec::new();
    let mut read = Vec::new();
    for block in blocks {
        match json.get(&block.id).cloned() {
            Some(Value::Object(fields)) => read.push(named(fields, block)),
            _ => errors.push(format!("{} is missing; write the fields of this {} block", block.id, block.kind)),
        }
    }
    if errors.is_empty() { Ok(read) } else { Err(errors) }
}

fn named(mut fields: Map<String, Value>, block: &PlannedBlock) -> Value {
    fields.insert("id".into(), json!(block.id));
    fields.insert("type".into(), json!(block.kind));
    let columns = fields.get_mut("columns").and_then(Value::as_array_mut).into_iter().flatten();
    for (column, value) in columns.enumerate() {
        let cells = value.get_mut("blocks").and_then(Value::as_array_mut).into_iter().flatten();
        for (place, cell) in cells.filter_map(Value::as_object_mut).enumerate() {
            cell.entry("id").or_insert_with(|| json!(format!("{}-{}-{}", block.id, column + 1, place + 1)));
        }
    }
    fields.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::document::CONTENT_KINDS;

    fn planned(kind: &str, number: usize) -> PlannedBlock {
        PlannedBlock { id: format!("{kind}-{number}"), kind: kind.to_owned(), says: "x".into() }
    }

    #[test]
    fn every_block_fits_into_a_request_of_its_own() {
        for kind in CONTENT_KINDS {
            let length = schema(&[planned(kind, 1)]).schema.to_string().len();
            assert!(length <= SCHEMA_CHARACTERS_MAX, "{kind}: {length}");
        }
    }

    #[test]
    fn batches_keep_the_order_and_both_limits() {
        let blocks: Vec<PlannedBlock> =
            CONTENT_KINDS.iter().cycle().take(38).enumerate().map(|(number, kind)| planned(kind, number)).collect();
        for at_once in [1, 3, 12, 40] {
            let batches = batches(&blocks, at_once);
            assert_eq!(batches.concat(), blocks);
            for batch in &batches {
                assert!(!batch.is_empty() && batch.len() <= at_once);
                assert!(batch.len() == 1 || schema(batch).schema.to_string().len() <= SCHEMA_CHARACTERS_MAX);
            }
        }
        assert!(batches(&[], 3).is_empty());
    }

    #[test]
    fn cells_of_columns_get_names() {
        let answer = json!({ "pair-1": { "columns": [{ "blocks": [{ "type": "text", "text": "a" }, { "type": "divider" }] }] } });
        let read = read(&answer, &[PlannedBlock { kind: "columns".into(), ..planned("pair", 1) }]).expect("the block is there");
        assert_eq!(read[0]["columns"][0]["blocks"][1]["id"], "pair-1-1-2");
        assert_eq!((&read[0]["type"], &read[0]["id"]), (&json!("columns"), &json!("pair-1")));
    }
}
