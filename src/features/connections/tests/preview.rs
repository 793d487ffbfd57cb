//! Tests of import previews and field mappings.

use serde_json::{Value, json};

use super::{PLATFORMS, app, connect, progress, work};
use crate::testing::TestApp;
use crate::testing::platforms::{KLAVIYO_KEY, Platforms};

/// Each platform's names for the first name field and the shoe size field.
const FIELDS: [(&str, &str); 3] = [("first_name", "properties.shoe"), ("FNAME", "SHOE"), ("firstname", "shoe")];

fn input((provider, _, source, kind): (&str, &str, &str, &str), fields: Value) -> Value {
    json!({ "provider": provider, "sources": [{ "id": source, "type": kind, "name": "Everyone" }], "fieldMap": fields })
}

fn preview(app: &TestApp, input: &Value) -> Value {
    app.post_in("/v1/contacts/imports/provider/preview", input.clone()).data()
}

#[test]
fn a_preview_counts_what_the_import_then_does_and_stores_nothing() {
    let peer = Platforms::start(100);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    for (number, status) in [(0, "subscribed"), (6, "subscribed"), (16, "unsubscribed"), (8, "subscribed")] {
        let contact = json!({ "email": format!("person{number}@example.com"), "status": status, "firstName": "Old" });
        app.post_in("/v1/contacts", contact).data();
    }
    let input = input(PLATFORMS[0], json!({}));
    let shown = preview(&app, &input);
    let counts =
        ["read", "created", "updated", "skipped", "failed", "excluded"].map(|name| shown[name].as_u64().expect("a number"));
    assert_eq!((counts, &shown["isComplete"]), ([100, 87, 3, 0, 0, 10], &json!(true)), "{shown}");
    // Ten of a hundred contacts unsubscribed and ten complained. One of these twenty contacts had unsubscribed before.
    assert_eq!(shown["unsubscribed"], 19);
    let contacts = shown["contacts"].as_array().expect("a list");
    let known = contacts.iter().find(|one| one["email"] == "person0@example.com").expect("a changed contact comes first");
    assert_eq!((&known["result"], &known["status"]), (&json!("updated"), &json!("subscribed")));
    assert!(known["changes"].as_array().expect("a list").contains(&json!("firstName")), "{known}");
    let fields = shown["fields"].as_array().expect("a list");
    let shoe = fields.iter().find(|field| field["name"] == "properties.shoe").expect("the field is listed");
    assert_eq!((&shoe["to"], &shoe["sample"]), (&json!("customFields.shoe"), &json!("0")));
    assert_eq!(app.get_in("/v1/contacts?limit=1").data()["total"], 4, "nothing was stored");
    let mut whole = input.clone();
    whole["consentMode"] = json!("subscribed-only");
    let id = app.post_in("/v1/contacts/imports/provider", whole).data()["id"].as_str().expect("an ID").to_owned();
    work(&app);
    let done = progress(&app, &id);
    assert_eq!((&done["counts"]["created"], &done["counts"]["updated"]), (&json!(87), &json!(3)), "{done}");
    let again = preview(&app, &input);
    assert_eq!((&again["created"], &again["updated"], &again["skipped"]), (&json!(0), &json!(0), &json!(90)), "{again}");
}

#[test]
fn a_preview_of_a_large_source_reads_a_part() {
    let peer = Platforms::start(2_500);
    let app = app(&peer);
    connect(&app, "mailchimp", PLATFORMS[1].1);
    let shown = preview(&app, &input(PLATFORMS[1], json!({})));
    assert_eq!((&shown["read"], &shown["isComplete"]), (&json!(2_000), &json!(false)));
    assert_eq!(shown["contacts"].as_array().expect("a list").len(), 20);
}

#[test]
fn fields_become_what_the_user_chose() {
    for (platform, (name, shoe)) in PLATFORMS.into_iter().zip(FIELDS) {
        let peer = Platforms::start(3);
        let app = app(&peer);
        connect(&app, platform.0, platform.1);
        let mut map = json!({});
        (map[name], map[shoe]) = (Value::Null, json!("company"));
        let input = input(platform, map);
        let fields = preview(&app, &input)["fields"].as_array().expect("a list").clone();
        let to = |name: &str| fields.iter().find(|field| field["name"] == name).map(|field| field["to"].clone());
        assert_eq!((to(name), to(shoe)), (Some(Value::Null), Some(json!("company"))), "{fields:?}");
        app.post_in("/v1/contacts/imports/provider", input).data();
        work(&app);
        let contacts = app.get_in("/v1/contacts").data();
        let last = contacts["contacts"].as_array().expect("a list").iter().find(|one| one["email"] == "person2@example.com");
        let last = last.expect("the contact was imported");
        let size = if platform.0 == "platform_c" { "38" } else { "2" };
        assert_eq!((&last["company"], &last["firstName"]), (&json!(size), &Value::Null), "{last}");
        assert_eq!(last["customFields"].get("shoe"), None, "{last}");
    }
}

#[test]
fn a_wrong_mapping_is_refused_with_the_remedy() {
    let peer = Platforms::start(1);
    let app = app(&peer);
    connect(&app, "klaviyo", KLAVIYO_KEY);
    for path in ["/v1/contacts/imports/provider", "/v1/contacts/imports/provider/preview"] {
        let refused = app.post_in(path, input(PLATFORMS[0], json!({ "title": "email" })));
        let said = refused.refusal().2;
        assert!(said.starts_with("fieldMap.title: contacts have no such field; use firstName"), "{said}");
    }
}
