//! Tests that each field in the table of contact fields works in each place that reads the table.

use std::collections::BTreeSet;

use mailmill::vocab::contact_fields::{CONTACT_FIELDS, ProfileField, ProfileSpec};
use serde_json::{Value, json};

use super::delivery::until;
use super::support::browser::Browser;
use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, operation};
use super::users::owned;

fn specs() -> impl Iterator<Item = &'static ProfileSpec> {
    ProfileField::ALL.iter().map(|field| field.spec())
}

/// An input with every profile field.
fn with_profile(mut input: Value) -> Value {
    for spec in specs() {
        input[spec.key] = spec.sample.into();
    }
    input
}

fn assert_profile(contact: &Value, place: &str) {
    for spec in specs() {
        assert_eq!(contact[spec.key], spec.sample, "{place}: {} in {contact}", spec.key);
    }
}

async fn by_email(client: &Client, project: &str, email: &str) -> Value {
    let filters = json!({ "fields": [{ "key": "email", "mode": "is", "values": [email] }] });
    let found = client.data("segments.preview", json!({ "projectId": project, "filters": filters })).await;
    assert_eq!(found["count"], 1, "{email}");
    found["contacts"][0].clone()
}

/// The contacts that [`write`] makes.
const CONTACTS: u64 = 6;

#[tokio::test(flavor = "multi_thread")]
async fn the_api_writes_reads_filters_searches_merges_imports_and_exports_every_profile_field() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let project = client.project("Acme").await;
    write(&client, &project).await;
    export(&client, &project).await;
    find(&client, &project).await;
    merge(&client, &project).await;
}

/// Writes contacts with every profile field in every way.
async fn write(client: &Client, project: &str) {
    // Create, read, update and clear the fields.
    let input = with_profile(json!({ "projectId": project, "email": "create@example.com" }));
    assert_profile(&client.data("contacts.create", input).await, "contacts.create");
    let id = client.contact(project, "update@example.com").await;
    let patch = with_profile(json!({ "projectId": project, "id": id }));
    assert_profile(&client.data("contacts.update", patch.clone()).await, "contacts.update");
    let cleared = specs().fold(json!({ "projectId": project, "id": id }), |mut input, spec| {
        input[spec.key] = Value::Null;
        input
    });
    let empty = client.data("contacts.update", cleared).await;
    assert!(specs().all(|spec| empty[spec.key].is_null()), "{empty}");
    client.data("contacts.update", patch).await;
    assert_profile(&client.data("contacts.get", json!({ "projectId": project, "id": id })).await, "contacts.get");

    // Write the fields with bulk writes and customer events.
    let rows = json!([with_profile(json!({ "email": "bulk@example.com" }))]);
    let done = client.data("contacts.bulk", json!({ "projectId": project, "subscribers": rows })).await;
    assert_eq!(done["success"], 1, "{done}");
    assert_profile(&by_email(client, project, "bulk@example.com").await, "contacts.bulk");
    let event = json!({
        "projectId": project, "name": "login", "identifiers": { "email": "event@example.com" }, "profile": with_profile(json!({})),
    });
    client.data("events.record", event).await;
    assert_profile(&by_email(client, project, "event@example.com").await, "events.record");

    // Import files: columns are mapped explicitly, or recognized by their usual headers.
    let samples = || specs().map(|spec| format!("\"{}\"", spec.sample)).collect::<Vec<_>>().join(",");
    let coded: Vec<String> = specs().enumerate().map(|(at, _)| format!("c{at}")).collect();
    let map = specs().zip(&coded).fold(json!({ "email": "e" }), |mut map, (spec, header)| {
        map[spec.key] = header.as_str().into();
        map
    });
    let mapped = format!("e,{}\nmap@example.com,{}\n", coded.join(","), samples());
    import(client, project, &mapped, Some(map)).await;
    assert_profile(&by_email(client, project, "map@example.com").await, "an import with a column map");
    let labels: Vec<&str> = specs().map(|spec| spec.label).collect();
    let labeled = format!("Email,{}\nlabel@example.com,{}\n", labels.join(","), samples());
    import(client, project, &labeled, None).await;
    assert_profile(&by_email(client, project, "label@example.com").await, "an import by headers");
}

/// An export has every column, and an import reads it back.
async fn export(client: &Client, project: &str) {
    let started = client.data("contacts.export", json!({ "projectId": project })).await;
    let job = json!({ "projectId": project, "jobId": started["jobId"] });
    until(async || client.data("contacts.export_status", job.clone()).await["status"] == "completed").await;
    let link = client.data("contacts.export_status", job).await["downloadUrl"].as_str().expect("a link").to_owned();
    let mut call = Call::new(operation("system.health"), json!({}));
    call.target = link[link.find("/v1/").expect("a path")..].to_owned();
    let file = client.try_send(call).await.expect("the server answers");
    let file = String::from_utf8(file.bytes.to_vec()).expect("UTF-8");
    let columns: Vec<&str> = CONTACT_FIELDS.iter().map(|field| field.column).collect();
    assert_eq!(file.lines().next(), Some(columns.join(",").as_str()));
    let other = client.project("Other").await;
    import(client, &other, &file, None).await;
    assert_profile(&by_email(client, &other, "create@example.com").await, "an import of an export");
}

/// Filters, the field catalog and search find the contacts by every field.
async fn find(client: &Client, project: &str) {
    let catalog = client.data("contacts.field_catalog", json!({ "projectId": project })).await;
    for spec in specs() {
        let filters =
            |mode: &str| json!({ "fields": [{ "key": spec.key, "mode": mode, "values": [spec.sample.to_uppercase()] }] });
        for (mode, count) in [("is", CONTACTS), ("contains", CONTACTS), ("is_not", 0)] {
            let found = client.data("segments.preview", json!({ "projectId": project, "filters": filters(mode) })).await;
            assert_eq!(found["count"], count, "{} {mode}", spec.key);
        }
        let entry = catalog["entries"].as_array().expect("entries").iter().find(|entry| entry["key"] == spec.key);
        assert_eq!(entry.map(|entry| (&entry["label"], &entry["fillRate"])), Some((&json!(spec.label), &json!(1.0))));
        if spec.search.is_some() {
            let input = json!({ "projectId": project, "search": spec.sample, "refresh": true });
            assert_eq!(client.total(input).await, CONTACTS, "search for {}", spec.key);
        }
    }
}

/// A message fills in every field.
async fn merge(client: &Client, project: &str) {
    let template: Vec<String> = specs().map(|spec| format!("{{{{ {} }}}}", spec.key)).collect();
    let send = json!({
        "recipientType": "email", "recipientEmail": "create@example.com", "from": "news@example.com", "projectId": project,
        "subject": template.join("|"), "template": "<p>Hello</p>",
    });
    client.data("sending.send", send).await;
    let expected = specs().map(|spec| spec.sample).collect::<Vec<_>>().join("|");
    let inbox = json!({ "to": "create@example.com" });
    until(async || client.data("sending.inbox_list", inbox.clone()).await["total"] == 1).await;
    let listed = client.data("sending.inbox_list", inbox).await;
    assert!(listed.to_string().contains(&expected), "{expected} in {listed}");
}

/// Imports a file and waits until it is done.
async fn import(client: &Client, project: &str, file: &str, map: Option<Value>) {
    let part = |name: &str, text: &str| format!("--part\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
    let map = map.map(|map| part("columnMap", &map.to_string())).unwrap_or_default();
    let body = format!(
        "{}{map}--part\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.csv\"\r\n\r\n{file}\r\n--part--\r\n",
        part("projectId", project)
    );
    let call = Call::new(operation("contacts.import"), json!({})).body("multipart/form-data; boundary=part", body);
    let started = client.send(call).await.json()["data"].take();
    let id = json!({ "id": started["id"] });
    until(async || client.data("contacts.import_status", id.clone()).await["completed_at"].is_string()).await;
    let done = client.data("contacts.import_status", id).await;
    assert_eq!((&done["status"], &done["counts"]["failed"]), (&json!("completed"), &json!(0)), "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_show_and_save_every_profile_field() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let project = client.project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/contacts").await;
    let page = browser.get("/test/contacts/new").await;
    let input = |spec: &ProfileSpec, value: &str| {
        format!("name=\"{}\" maxlength=\"{}\" value=\"{value}\"", spec.key, spec.characters_max)
    };
    assert!(specs().all(|spec| page.text.contains(&input(spec, ""))), "{}", page.text);
    let csrf = page.csrf().to_owned();
    let mut fields = vec![("csrf", csrf.as_str()), ("email", "ada@example.com")];
    fields.extend(specs().map(|spec| (spec.key, spec.sample)));
    let path = browser.post("/test/contacts/new", &fields).await.location().to_owned();
    let page = browser.get(&path).await;
    assert!(specs().all(|spec| page.text.contains(&input(spec, spec.sample))), "{}", page.text);
    assert_profile(&by_email(&client, &project, "ada@example.com").await, "the form for a new contact");
    fields[1] = ("act", "save");
    for spec in specs() {
        let one: Vec<(&str, &str)> = fields.iter().copied().filter(|(name, _)| *name != spec.key).collect();
        assert_eq!(browser.post(&path, &one).await.status, 303, "{}", spec.key);
        assert!(by_email(&client, &project, "ada@example.com").await[spec.key].is_null(), "{} is cleared", spec.key);
    }
    browser.post(&path, &fields).await;
    assert_profile(&by_email(&client, &project, "ada@example.com").await, "the contact's page");

    // Check the choices in the segment form and in the import form.
    let segment = browser.get("/test/segments/new").await.text;
    for field in CONTACT_FIELDS.iter().filter(|field| field.filterable) {
        assert!(segment.contains(&format!("<option value=\"{}\"", field.key)), "{} in the segment form", field.key);
    }
    let csrf = browser.get("/test/contacts/import").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("projectId", project.as_str()), ("hold", "true")];
    let headers = CONTACT_FIELDS.iter().map(|field| field.column).collect::<Vec<_>>().join(",");
    let file = format!("{headers}\n{}\n", CONTACT_FIELDS.iter().map(|_| "x").collect::<Vec<_>>().join(","));
    let kept = browser.post_file("/test/contacts/import", &fields, ("file", "f.csv", "text/csv", file.as_bytes())).await;
    let columns = browser.get(kept.location()).await.text;
    for field in CONTACT_FIELDS {
        let chosen = columns.contains(&format!("<option value=\"{}\" selected>{}</option>", field.key, field.label));
        assert_eq!(chosen, field.importable, "{} in the import form", field.key);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_openapi_document_names_every_field_wherever_it_names_one() {
    let server = owned(BOUNDLESS);
    let document = server.client("test", "all").call("system.openapi", json!({})).await.json();
    let profile: BTreeSet<&str> = specs().map(|spec| spec.key).collect();
    let mut lists = 0;
    let mut check = |names: BTreeSet<&str>| {
        if names.contains("lastName") {
            assert!(names.is_superset(&profile), "{names:?}");
            lists += 1;
        }
    };
    let mut open = vec![&document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(entries) => {
                if let Some(properties) = entries.get("properties").and_then(Value::as_object) {
                    check(properties.keys().map(String::as_str).collect());
                }
                if let Some(choices) = entries.get("enum").and_then(Value::as_array) {
                    check(choices.iter().filter_map(Value::as_str).collect());
                }
                open.extend(entries.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    // Check the schemas of all inputs with contact fields, of the contact itself, and of filter keys.
    assert!(lists >= 7, "only {lists} places");
}
