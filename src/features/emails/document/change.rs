//! Changes to a document. Users, programs and language models edit an email block by block with these changes.

use std::collections::HashSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::check::NOT_A_FOOTER;
use super::{Email, Violation, ViolationKind};
use crate::vocab::limits;

/// One change to a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DocumentChange")]
pub struct Change {
    pub op: ChangeKind,
    /// The field to `set`, such as `subject` or `blocks.intro.text`, or the block to replace, such as `blocks.intro`, where `intro` is the
    /// ID of a block.
    #[serde(default)]
    pub path: Option<String>,
    /// The ID of the block to `remove`, `move` or `duplicate`. Blocks in columns have IDs, too.
    #[serde(default)]
    pub id: Option<String>,
    /// The ID of the block after which to `insert` or `move` a block.
    #[serde(default)]
    pub after: Option<String>,
    /// The ID of the block before which to `insert` or `move` a block, instead of `after`.
    #[serde(default)]
    pub before: Option<String>,
    /// The value to `set`, or the block to `insert`. A block without an ID gets an unused ID. Null removes an optional field.
    #[serde(default)]
    pub value: Value,
}

/// The effect of a change on the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DocumentChangeKind")]
pub enum ChangeKind {
    /// Replaces a field or a block.
    Set,
    Insert,
    Remove,
    Move,
    /// Inserts a copy of a block directly after the original.
    Duplicate,
}

/// An error in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeError {
    /// The index of the invalid change in the list.
    pub index: usize,
    /// The invalid field of the change; empty if the change as a whole is invalid.
    pub field: &'static str,
    /// The violation in the changed document; its path is empty if the change cannot be applied.
    pub violation: Violation,
    /// The ID of the block with the violation.
    pub block: Option<String>,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.field.is_empty() { "" } else { "." };
        write!(f, "changes[{}]{dot}{}: {}", self.index, self.field, self.violation)
    }
}

/// Why a change cannot be applied: its invalid field, and the problem with its remedy.
type Refusal = (&'static str, String);

impl Email {
    /// Returns the document with these changes applied, or the errors in the changes. The changes are applied in order, and the result is
    /// checked.
    pub fn changed(&self, changes: &[Change]) -> Result<Self, Vec<ChangeError>> {
        let json = changed(self.to_json(), changes)?;
        Self::from_json(&json).map_err(|found| attribute(self.to_json(), changes, &json, found))
    }
}

/// Applies the changes to a document without checking the result. Returns an error for each change that cannot be applied.
pub fn changed(mut json: Value, changes: &[Change]) -> Result<Value, Vec<ChangeError>> {
    let mut errors = Vec::new();
    for (index, change) in changes.iter().enumerate() {
        if let Err((field, problem)) = make(&mut json, change) {
            let violation = Violation { path: String::new(), kind: ViolationKind::Rejected, problem };
            errors.push(ChangeError { index, field, violation, block: None });
        }
    }
    if errors.is_empty() { Ok(json) } else { Err(errors) }
}

/// Returns the violations in the changed document, each with the change that introduced it.
fn attribute(mut json: Value, changes: &[Change], last: &Value, found: Vec<Violation>) -> Vec<ChangeError> {
    let key = |json: &Value, violation: &Violation| (block_at(json, &violation.path), within_block(&violation.path));
    let mut states: Vec<HashSet<(Option<String>, String)>> = Vec::new();
    for change in changes {
        // The caller has already applied these changes without errors.
        let _ = make(&mut json, change);
        let violations = Email::from_json(&json).err().unwrap_or_default();
        states.push(violations.iter().map(|violation| key(&json, violation)).collect());
    }
    let error = |violation: Violation| {
        let key = key(last, &violation);
        let before = states.iter().rposition(|state| !state.contains(&key));
        let index = before.map_or(0, |before| before + 1).min(changes.len().saturating_sub(1));
        let (field, violation) = blame(&changes[index], violation);
        ChangeError { index, field, block: key.0, violation }
    };
    found.into_iter().map(error).collect()
}

/// Returns the field of a change that caused the violation, and the violation with a message that fits the change.
fn blame(change: &Change, violation: Violation) -> (&'static str, Violation) {
    let path = change.path.as_deref().unwrap_or_default();
    let last = steps(path).last().unwrap_or_default();
    let rejected = |problem: &str| Violation { path: String::new(), kind: ViolationKind::Rejected, problem: problem.to_owned() };
    match change.op {
        ChangeKind::Set if violation.problem.starts_with(&format!("unknown field `{last}`")) => ("path", violation),
        // If the path of the violation ends with `.type`, the new type itself is invalid. Otherwise, the type exists, but the block's other
        // fields do not fit it.
        ChangeKind::Set if last == "type" && !violation.path.ends_with(".type") => {
            ("path", rejected("the block cannot have this type; remove the block and insert another"))
        }
        ChangeKind::Set | ChangeKind::Insert => ("value", violation),
        ChangeKind::Remove if violation.problem.starts_with(NOT_A_FOOTER) => {
            ("id", rejected("the footer cannot be removed, because it contains the unsubscribe link; change its fields instead"))
        }
        ChangeKind::Remove | ChangeKind::Move | ChangeKind::Duplicate => ("", violation),
    }
}

/// Returns the ID of the innermost block at a path such as `blocks[3].columns[0].blocks[1].text`.
fn block_at(json: &Value, path: &str) -> Option<String> {
    let mut at = json;
    let mut id = None;
    for step in steps(path) {
        at = match step.parse::<usize>() {
            Ok(index) => at.get(index)?,
            Err(_) => at.get(step)?,
        };
        id = at.get("id").and_then(Value::as_str).map(str::to_owned).or(id);
    }
    id
}

/// Returns the part of a path after a block's index. This part stays the same when the block moves.
fn within_block(path: &str) -> String {
    match path.strip_prefix("blocks[").and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest.to_owned(),
        None => path.to_owned(),
    }
}

fn make(json: &mut Value, change: &Change) -> Result<(), Refusal> {
    match change.op {
        ChangeKind::Set => {
            let path = change
                .path
                .as_deref()
                .ok_or_else(|| missing("path", "the `set` operation requires a path, such as `subject` or `blocks.intro`"))?;
            let mut value = change.value.clone();
            let place = block_path(path).and_then(|id| find(json, id).map(|place| (place, id)));
            if let Some((place, id)) = place {
                if let Some(fields) = value.as_object_mut() {
                    fields.entry("id").or_insert_with(|| id.into());
                }
                let at = place.index();
                // The old block is removed before the new block gets its IDs, so that the new block can reuse the IDs of the old block.
                list(json, place)[at] = Value::Null;
                name_blocks(json, &mut value);
                list(json, place)[at] = value;
                return Ok(());
            }
            *field(json, path)? = value;
        }
        ChangeKind::Insert => {
            let mut block = change.value.clone();
            if !block.is_object() {
                return Err((
                    "value",
                    "the `insert` operation requires a block, such as {\"type\": \"text\", \"text\": \"Hello\"}".into(),
                ));
            }
            let (place, at) = target(json, change)?;
            name_blocks(json, &mut block);
            list(json, place).insert(at, block);
        }
        ChangeKind::Remove => {
            let (place, _) = named(json, change, "the `remove` operation requires the ID of a block")?;
            list(json, place).remove(place.index());
        }
        ChangeKind::Duplicate => {
            let (place, _) = named(json, change, "the `duplicate` operation requires the ID of a block")?;
            let mut copy = list(json, place)[place.index()].clone();
            forget_names(&mut copy);
            name_blocks(json, &mut copy);
            list(json, place).insert(place.index() + 1, copy);
        }
        ChangeKind::Move => {
            let (place, id) = named(json, change, "the `move` operation requires the ID of a block")?;
            for (field, other) in [("after", &change.after), ("before", &change.before)] {
                if other.as_ref() == Some(id) {
                    return Err((field, "a block cannot be placed next to itself; use the ID of a different block".into()));
                }
            }
            let block = list(json, place).remove(place.index());
            // The block is removed before the target is determined, because the removal shifts the positions of the following blocks.
            match target(json, change) {
                Ok((to, at)) => list(json, to).insert(at, block),
                Err(error) => {
                    list(json, place).insert(place.index(), block);
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

fn missing(field: &'static str, problem: &str) -> Refusal {
    (field, problem.to_owned())
}

/// Where a block is in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The block with this index.
    Block(usize),
    /// In a column: the indexes of the block with the columns, of the column, and of the block in the column.
    Cell(usize, usize, usize),
}

impl Place {
    /// Returns the block's index in the list that contains it.
    fn index(self) -> usize {
        match self {
            Self::Block(index) | Self::Cell(_, _, index) => index,
        }
    }
}

fn items<'a>(json: &'a Value, name: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    json.get(name).and_then(Value::as_array).into_iter().flatten().enumerate()
}

fn find(json: &Value, id: &str) -> Option<Place> {
    for (block, value) in items(json, "blocks") {
        if value["id"] == id {
            return Some(Place::Block(block));
        }
        for (column, cells) in items(value, "columns") {
            if let Some((cell, _)) = items(cells, "blocks").find(|(_, cell)| cell["id"] == id) {
                return Some(Place::Cell(block, column, cell));
            }
        }
    }
    None
}

/// Returns the list that contains the block at this place.
fn list(json: &mut Value, place: Place) -> &mut Vec<Value> {
    let list = match place {
        Place::Block(_) => &mut json["blocks"],
        Place::Cell(block, column, _) => &mut json["blocks"][block]["columns"][column]["blocks"],
    };
    list.as_array_mut().expect("a place is in a list of blocks")
}

/// Returns the place and the ID of the block that the change names.
fn named<'a>(json: &Value, change: &'a Change, without: &str) -> Result<(Place, &'a String), Refusal> {
    let id = change.id.as_ref().ok_or_else(|| missing("id", without))?;
    find(json, id).map(|place| (place, id)).ok_or_else(|| unknown("id", id))
}

fn unknown(field: &'static str, id: &str) -> Refusal {
    (field, format!("the document has no block {id:?}; use the ID of one of its blocks"))
}

/// Returns the list and the index at which the change inserts a block.
fn target(json: &Value, change: &Change) -> Result<(Place, usize), Refusal> {
    match (change.after.as_deref(), change.before.as_deref()) {
        (Some(after), None) => {
            let place = find(json, after).ok_or_else(|| unknown("after", after))?;
            Ok((place, place.index() + 1))
        }
        (None, Some(before)) => {
            let place = find(json, before).ok_or_else(|| unknown("before", before))?;
            Ok((place, place.index()))
        }
        (None, None) => Err(missing("after", "is missing; set `after` or `before` to the ID of the neighboring block")),
        (Some(_), Some(_)) => Err(missing("before", "is set together with `after`; set only one of them")),
    }
}

/// Gives unused IDs, such as `text-3`, to a block and the blocks in its columns if they have none.
pub fn name_blocks(json: &Value, block: &mut Value) {
    let mut taken: HashSet<String> = HashSet::new();
    for (_, value) in items(json, "blocks") {
        taken.extend(value["id"].as_str().map(str::to_owned));
        for (_, cells) in items(value, "columns") {
            taken.extend(items(cells, "blocks").filter_map(|(_, cell)| cell["id"].as_str().map(str::to_owned)));
        }
    }
    each_block(block, &mut |block| {
        let Some(kind) = block.get("type").and_then(Value::as_str).map(str::to_owned) else { return };
        if block.get("id").is_none_or(Value::is_null) {
            let free = (1..).map(|number| format!("{kind}-{number}")).find(|id| !taken.contains(id));
            block.insert("id".into(), free.expect("some number is not used").into());
        }
        taken.extend(block.get("id").and_then(Value::as_str).map(str::to_owned));
    });
}

/// Removes the IDs of a block and of the blocks in its columns.
pub fn forget_names(block: &mut Value) {
    each_block(block, &mut |block| _ = block.remove("id"));
}

/// Visits a block and the blocks in its columns.
fn each_block(block: &mut Value, visit: &mut dyn FnMut(&mut serde_json::Map<String, Value>)) {
    if let Some(fields) = block.as_object_mut() {
        visit(fields);
    }
    let columns = block.get_mut("columns").and_then(Value::as_array_mut).into_iter().flatten();
    let cells = columns.filter_map(|column| column.get_mut("blocks")?.as_array_mut()).flatten();
    // Limit the number of cells, because the lists of an unchecked document can have any length.
    for cell in cells.take(limits::EMAIL_COLUMNS_MAX * limits::EMAIL_COLUMN_BLOCKS_MAX) {
        if let Some(fields) = cell.as_object_mut() {
            visit(fields);
        }
    }
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty())
}

/// Returns the ID in a path that names a block, such as `blocks.intro`.
fn block_path(path: &str) -> Option<&str> {
    path.strip_prefix("blocks.").filter(|id| !id.contains(['.', '[']))
}

/// Returns the value at a path that consists of field names, indexes, and IDs of list items.
fn field<'a>(json: &'a mut Value, path: &str) -> Result<&'a mut Value, Refusal> {
    let unknown = || ("path", format!("the document has no field or block at the path {path:?}; correct the path"));
    let mut steps: Vec<&str> = steps(path).collect();
    let last = steps.pop().ok_or_else(unknown)?;
    let cell = match steps.as_slice() {
        ["blocks", id, ..] => find(json, id).filter(|place| matches!(place, Place::Cell(..))),
        _ => None,
    };
    let mut at = match cell {
        Some(place) => {
            steps.drain(..2);
            &mut list(json, place)[place.index()]
        }
        None => json,
    };
    for step in steps {
        at = child(at, step).ok_or_else(unknown)?;
    }
    // An absent field can be set, because parsing the document later validates the field.
    if let Value::Object(fields) = at {
        return Ok(fields.entry(last).or_insert(Value::Null));
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
    use serde_json::json;

    use super::*;

    fn change(json: Value) -> Change {
        serde_json::from_value(json).expect("the JSON is a valid change")
    }

    fn applied(changes: &[Value]) -> Result<Email, Vec<ChangeError>> {
        Email::sample().changed(&changes.iter().cloned().map(change).collect::<Vec<_>>())
    }

    fn ids(email: &Email) -> Vec<String> {
        email.blocks.iter().map(|block| block.id().as_str().to_owned()).collect()
    }

    fn cells(email: &Email) -> Vec<String> {
        email.blocks.iter().flat_map(|block| block.cells()).map(|cell| cell.id().as_str().to_owned()).collect()
    }

    #[test]
    fn fields_are_set_and_blocks_are_inserted_moved_and_removed() {
        let names = ids(&Email::sample());
        let after = applied(&[
            json!({ "op": "set", "path": "subject", "value": "Another subject" }),
            json!({ "op": "insert", "after": names[0], "value": { "type": "text", "id": "new", "text": "Hello" } }),
            json!({ "op": "set", "path": "blocks.new.text", "value": "Hello **you**" }),
            json!({ "op": "move", "id": "new", "after": names[1] }),
            json!({ "op": "remove", "id": names[2] }),
            json!({ "op": "set", "path": "style.primary", "value": "#123456" }),
        ]);
        let after = after.expect("the changes are valid");
        assert_eq!(after.subject.as_str(), "Another subject");
        let mut expected = names.clone();
        expected.remove(2);
        expected.insert(2, "new".into());
        assert_eq!(ids(&after), expected);
        assert_eq!(after.to_json()["style"]["primary"], "#123456");
    }

    #[test]
    fn blocks_are_inserted_before_others_duplicated_and_replaced() {
        let names = ids(&Email::sample());
        let after = applied(&[
            json!({ "op": "insert", "before": names[1], "value": { "type": "divider" } }),
            json!({ "op": "duplicate", "id": "coupon" }),
            json!({ "op": "set", "path": "blocks.coupon", "value": { "type": "text", "text": "No code" } }),
            json!({ "op": "move", "id": "coupon", "before": "divider-1" }),
        ]);
        let after = after.expect("the changes are valid");
        assert_eq!(ids(&after)[..3], [names[0].clone(), "coupon".into(), "divider-1".into()]);
        assert_eq!(after.to_json()["blocks"][1]["text"], "No code");
        assert_eq!(after.find("coupon-1").expect("the copy exists").1.id().as_str(), "coupon-1");
    }

    #[test]
    fn blocks_in_columns_are_changed_like_other_blocks() {
        let after = applied(&[
            json!({ "op": "set", "path": "blocks.left-text.text", "value": "On the day you order." }),
            json!({ "op": "insert", "before": "left-title", "value": { "type": "divider" } }),
            json!({ "op": "duplicate", "id": "services" }),
            json!({ "op": "remove", "id": "right-text" }),
        ]);
        let after = after.expect("the changes are valid");
        let expected = ["divider-1", "left-title", "left-text", "right-title"];
        assert_eq!(cells(&after)[..4], expected);
        let copies = ["divider-2", "heading-1", "text-1", "heading-2", "text-2"];
        assert_eq!(cells(&after)[4..], copies);
        assert!(after.to_json().to_string().contains("On the day you order."));
    }

    #[test]
    fn every_invalid_change_is_reported_with_its_field() {
        let errors = applied(&[
            json!({ "op": "set", "value": 1 }),
            json!({ "op": "remove", "id": "nowhere" }),
            json!({ "op": "insert", "value": {} }),
            json!({ "op": "insert", "after": "hero", "value": "text" }),
            json!({ "op": "insert", "after": "hero", "before": "hero", "value": {} }),
            json!({ "op": "set", "path": "blocks.nowhere.text", "value": "x" }),
            json!({ "op": "move", "id": "coupon", "after": "coupon" }),
        ]);
        let errors = errors.expect_err("every change is invalid");
        let actual: Vec<(usize, &str)> = errors.iter().map(|error| (error.index, error.field)).collect();
        let expected = [(0, "path"), (1, "id"), (2, "after"), (3, "value"), (4, "before"), (5, "path"), (6, "after")];
        assert_eq!(actual, expected, "{errors:?}");
        assert!(errors[0].to_string().starts_with("changes[0].path: the `set` operation requires a path"), "{}", errors[0]);
    }

    #[test]
    fn a_violation_names_the_change_that_caused_it_and_its_block() {
        let errors = applied(&[
            json!({ "op": "set", "path": "subject", "value": "Fine" }),
            json!({ "op": "set", "path": "blocks.coupon.title", "value": "" }),
            json!({ "op": "move", "id": "coupon", "after": "header" }),
            json!({ "op": "set", "path": "preheader", "value": "{% x %}" }),
            json!({ "op": "remove", "id": "footer" }),
        ]);
        let errors = errors.expect_err("the document has three errors");
        let actual: Vec<(usize, &str, Option<&str>)> =
            errors.iter().map(|error| (error.index, error.violation.path.as_str(), error.block.as_deref())).collect();
        assert_eq!(actual[0], (3, "preheader", None), "{errors:?}");
        assert_eq!(actual[1], (1, "blocks[1].title", Some("coupon")), "{errors:?}");
        assert_eq!(actual[2].0, 4, "{errors:?}");
        assert_eq!(errors.len(), 3);
    }

    #[test]
    fn an_unknown_field_is_rejected_with_its_path() {
        let errors = applied(&[json!({ "op": "set", "path": "hue", "value": "red" })]).expect_err("the field does not exist");
        assert_eq!((errors[0].index, errors[0].field, errors[0].violation.path.as_str()), (0, "path", "hue"));
    }
}
