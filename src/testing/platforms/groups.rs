//! The interest groups in the simulated Mailchimp audience: one category, "Topics", with two groups.

use serde_json::{Value, json};

use super::missing;

/// Returns the groups that a member chose.
pub fn chosen(number: usize) -> Value {
    json!({ "91a1": number.is_multiple_of(2), "91a2": false })
}

/// Answers a request for the categories, or for the groups of a category.
pub fn answer(rest: &[&str]) -> (u16, Value) {
    let group = |id: &str, name: &str| json!({ "category_id": "a1493", "list_id": "a1b2c3", "id": id, "name": name });
    match rest {
        [] => {
            let category = json!({ "list_id": "a1b2c3", "id": "a1493", "title": "Topics", "type": "checkboxes" });
            (200, json!({ "list_id": "a1b2c3", "categories": [category], "total_items": 1 }))
        }
        ["a1493", "interests"] => {
            let interests = [group("91a1", "Gardening"), group("91a2", "Music")];
            (200, json!({ "list_id": "a1b2c3", "category_id": "a1493", "interests": interests, "total_items": 2 }))
        }
        _ => missing(),
    }
}
