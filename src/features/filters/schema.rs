//! Schema rules for how the fields of a filter condition can be combined. The schema contains only those rules in `check.rs` that it can
//! express. For example, a schema cannot require that one value precedes another, or count conditions across nested groups.

use schemars::Schema;
use serde_json::{Value, json};

use crate::vocab::contact_fields::{CONTACT_FIELDS, ContactField};
use crate::vocab::contact_status::Status;
use crate::vocab::limits;

const DATE_MODES: [&str; 3] = ["date_after", "date_before", "date_on"];
const NUMBER_MODES: [&str; 4] = ["number_gt", "number_gte", "number_lt", "number_lte"];
const TEXT_MODES: [&str; 6] = ["is", "is_not", "starts_with", "ends_with", "contains", "not_contains"];
/// The largest integer that a double-precision number can represent exactly and distinguish from the next integer.
const NUMBER_MAX: i64 = 9_007_199_254_740_991;

/// Returns the keys of the filterable contact fields that `is_meant` accepts.
fn keys(is_meant: fn(&ContactField) -> bool) -> Vec<&'static str> {
    CONTACT_FIELDS.iter().filter(|field| field.filterable && is_meant(field)).map(|field| field.key).collect()
}

/// Returns the schema of a field name, which must contain a character other than whitespace.
fn name() -> Value {
    json!({ "maxLength": limits::CUSTOM_FIELD_KEY_CHARACTERS_MAX, "pattern": r"^[\s\S]*\S[\s\S]*$" })
}

/// Adds the rule that every nested group has at least one condition or group.
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

/// Adds the rules for custom fields: each has a name and at least one value.
pub fn custom_fields(schema: &mut Schema) {
    schema.insert("propertyNames".to_owned(), name());
    let values = schema.get_mut("additionalProperties").and_then(Value::as_object_mut);
    if let Some(values) = values {
        values.insert("minItems".to_owned(), 1.into());
        values.insert("maxItems".to_owned(), limits::SEGMENT_VALUES_PER_CONDITION_MAX.into());
    }
}

/// Adds the rules for a condition on one field: the modes that its key allows, and the values that each mode requires.
pub fn field(schema: &mut Schema) {
    let mut known = keys(|_| true);
    let listed: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
    if let Some(key) = schema.pointer_mut("/properties/key").and_then(Value::as_object_mut) {
        let names = listed.join(", ");
        let description = format!("{names}, or the name of a custom field, with or without the prefix `customFields.`.");
        key.insert("description".to_owned(), description.into());
    }
    known.push("customFields.");
    let custom = json!({ "allOf": [name(), { "not": { "enum": known } }] });
    let exactly = |count: u8, item: &Value| json!({ "minItems": count, "maxItems": count, "items": item });
    let date = json!({ "type": "string", "anyOf": [{ "format": "date" }, { "format": "date-time" }] });
    let number = json!({ "type": "number", "minimum": -NUMBER_MAX, "maximum": NUMBER_MAX });
    let statuses = json!({ "items": { "enum": Status::ALL.map(Status::word) } });
    let one = |key: &Value, modes: &[&str], values: Value| json!({ "properties": { "key": key, "mode": { "enum": modes }, "values": values } });
    let dated = json!({ "anyOf": [{ "enum": keys(ContactField::is_time) }, custom] });
    let textual = json!({ "anyOf": [{ "enum": keys(ContactField::is_text) }, custom] });
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

/// Adds the rules for a condition on activity: `within` and `before` require a number of hours or days, `between` requires two times, and
/// `never` allows no parameters.
pub fn activity(schema: &mut Schema) {
    let days = limits::SEGMENT_ACTIVITY_DAYS_MAX;
    let choices = [back(&["within", "before"], "hours", days * 24), back(&["within", "before"], "days", days)];
    let choices = choices.into_iter().chain([ends(&["between"]), neither(&["never"])]);
    schema.insert("anyOf".to_owned(), choices.collect());
}

/// Adds the rules for a condition on events: `within` and `not_within` require a number of hours or days, `between` and `not_between`
/// require two times, and the other modes allow no parameters.
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
