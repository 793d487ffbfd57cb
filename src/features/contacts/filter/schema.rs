//! Rules between the parts of a condition, for the schema of a filter: the rules of `check.rs` that a schema can express. It cannot require
//! that the first of two values precedes the second, or count conditions across nested groups.

use schemars::Schema;
use serde_json::{Value, json};

use crate::features::contacts::model::Status;
use crate::vocab::limits;

const DATE_MODES: [&str; 3] = ["date_after", "date_before", "date_on"];
const NUMBER_MODES: [&str; 4] = ["number_gt", "number_gte", "number_lt", "number_lte"];
const TEXT_MODES: [&str; 6] = ["is", "is_not", "starts_with", "ends_with", "contains", "not_contains"];
const TEXT_FIELDS: [&str; 6] = ["email", "firstName", "lastName", "phone", "country", "language"];
const TIMES: [&str; 2] = ["createdAt", "updatedAt"];
/// Integers beyond this are not exact.
const NUMBER_MAX: i64 = 9_007_199_254_740_991;

/// A field name that is not only whitespace.
fn name() -> Value {
    json!({ "maxLength": limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX, "pattern": r"^[\s\S]*\S[\s\S]*$" })
}

/// Nested groups: each has a condition or a group.
pub fn groups(schema: &mut Schema) {
    let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) else { return };
    let lists = ["groups", "tags", "excludeTags", "topics", "excludeTopics", "fields", "activity", "events"];
    let mut choices: Vec<Value> =
        lists.map(|list| json!({ "required": [list], "properties": { list: { "minItems": 1 } } })).into();
    choices.push(json!({ "required": ["customFields"], "properties": { "customFields": { "minProperties": 1 } } }));
    for word in ["status", "validationStatus"] {
        choices.push(json!({ "required": [word], "properties": { word: { "type": "string" } } }));
    }
    items.insert("anyOf".to_owned(), choices.into());
}

/// Custom fields by name, each with at least one value.
pub fn custom_fields(schema: &mut Schema) {
    schema.insert("propertyNames".to_owned(), name());
    let values = schema.get_mut("additionalProperties").and_then(Value::as_object_mut);
    if let Some(values) = values {
        values.insert("minItems".to_owned(), 1.into());
        values.insert("maxItems".to_owned(), limits::SEGMENT_VALUES_PER_CONDITION_MAX.into());
    }
}

/// A condition on one field: the modes its key allows, and the values each mode takes.
pub fn field(schema: &mut Schema) {
    let known = [TEXT_FIELDS.as_slice(), &TIMES, &["status", "customFields."]].concat();
    let custom = json!({ "allOf": [name(), { "not": { "enum": known } }] });
    let exactly = |count: u8, item: &Value| json!({ "minItems": count, "maxItems": count, "items": item });
    let date = json!({ "type": "string", "anyOf": [{ "format": "date" }, { "format": "date-time" }] });
    let number = json!({ "type": "number", "minimum": -NUMBER_MAX, "maximum": NUMBER_MAX });
    let statuses = json!({ "items": { "enum": Status::ALL.map(Status::word) } });
    let one = |key: &Value, modes: &[&str], values: Value| json!({ "properties": { "key": key, "mode": { "enum": modes }, "values": values } });
    let dated = json!({ "anyOf": [{ "enum": TIMES }, custom] });
    let textual = json!({ "anyOf": [{ "enum": TEXT_FIELDS }, custom] });
    let choices = [
        one(&textual, &TEXT_MODES, json!({ "minItems": 1 })),
        one(&json!({ "const": "status" }), &["is", "is_not"], statuses),
        one(&dated, &DATE_MODES, exactly(1, &date)),
        one(&dated, &["date_between"], exactly(2, &date)),
        one(&custom, &NUMBER_MODES, exactly(1, &number)),
        one(&custom, &["number_between"], exactly(2, &number)),
    ];
    schema.insert("anyOf".to_owned(), json!(choices));
}

/// A condition on activity: `within` and `before` count back, `between` has two ends.
pub fn activity(schema: &mut Schema) {
    let days = limits::SEGMENT_ACTIVITY_DAYS_MAX;
    let choices = [back(&["within", "before"], "hours", days * 24), back(&["within", "before"], "days", days)];
    let choices = choices.into_iter().chain([ends(&["between"]), neither(&["never"])]);
    schema.insert("anyOf".to_owned(), choices.collect());
}

/// A condition on events: like activity, with its own modes.
pub fn event(schema: &mut Schema) {
    let days = limits::EVENT_KEPT_DAYS;
    let choices = [back(&["within", "not_within"], "hours", days * 24), back(&["within", "not_within"], "days", days)];
    let choices = choices.into_iter().chain([ends(&["between", "not_between"]), neither(&["ever", "never"])]);
    schema.insert("anyOf".to_owned(), choices.collect());
}

fn back(modes: &[&str], unit: &str, max: u32) -> Value {
    let absent = json!({ "type": "null" });
    json!({
        "required": ["unit", "amount"],
        "properties": {
            "mode": { "enum": modes }, "unit": { "const": unit }, "amount": { "type": "integer", "maximum": max },
            "from": absent, "to": absent,
        },
    })
}

fn ends(modes: &[&str]) -> Value {
    let (given, absent) = (json!({ "type": "string" }), json!({ "type": "null" }));
    json!({
        "required": ["from", "to"],
        "properties": { "mode": { "enum": modes }, "from": given, "to": given, "unit": absent, "amount": absent },
    })
}

fn neither(modes: &[&str]) -> Value {
    let absent = json!({ "type": "null" });
    json!({ "properties": { "mode": { "enum": modes }, "from": absent, "to": absent, "unit": absent, "amount": absent } })
}
