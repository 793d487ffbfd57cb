//! Restores one brand from the continuous backup into the running installation.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use http::StatusCode;
use mailmill::base::clock::{Clock, SystemClock, Timestamp};
use serde_json::{Value, json};

use super::continuous_backup::{Vault, catch_up, settings};
use super::installation::said;
use super::support::browser::Browser;
use super::support::fixtures::until;
use super::support::object_store::ObjectStore;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};
use super::users::{OWNER, member, set_up, signed_in};

/// Waits until the backup has everything up to now, and returns a moment after that and before everything that follows.
async fn moment(client: &Client) -> Timestamp {
    catch_up(client).await;
    let now = SystemClock.now();
    tokio::time::sleep(Duration::from_millis(5)).await;
    now
}

/// Returns a brand's contacts by email.
async fn contacts(client: &Client, project: &str) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    loop {
        let input = json!({ "projectId": project, "limit": 100, "offset": all.len(), "refresh": true });
        let page = client.data("contacts.list", input).await["contacts"].as_array().cloned().expect("a list");
        if page.is_empty() {
            return all;
        }
        all.extend(page.into_iter().map(|contact| (contact["email"].as_str().expect("an email").to_owned(), contact)));
    }
}

async fn restore(owner: &Client) -> Value {
    owner.data("restores.get", json!({})).await["restore"].clone()
}

/// Waits until the restore has this status.
async fn wait_for(owner: &Client, status: &str) -> Value {
    until(async || {
        let restore = restore(owner).await;
        assert!(status == "failed" || restore["status"] != "failed", "{restore}");
        (restore["status"] == status).then_some(restore)
    })
    .await
}

fn counts(restore: &Value, kind: &str) -> (u64, u64, u64) {
    let all = restore["result"]["restored"].as_array().expect("counts");
    let one = all.iter().find(|one| one["kind"] == kind).cloned().unwrap_or_default();
    let number = |name: &str| one[name].as_u64().unwrap_or_default();
    (number("created"), number("updated"), number("unchanged"))
}

/// Returns the names of temporary folders in the data folder.
fn left(server: &Server) -> Vec<String> {
    let entries = fs::read_dir(server.data()).expect("the folder is readable");
    let names = entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("restore-")).collect()
}

/// Creates a brand with one object of each kind; returns its ID.
async fn brand(client: &Client, name: &str) -> String {
    let project = client.project(name).await;
    let with = |mut input: Value| {
        input["projectId"] = project.as_str().into();
        input
    };
    client.data("projects.update", with(json!({ "tagline": "Good tea" }))).await;
    client.data("projects.products_add", with(json!({ "name": "Ember bowl", "price": "36", "currency": "GBP" }))).await;
    client.data("projects.knowledge_add", with(json!({ "title": "Delivery", "content": "Within two days." }))).await;
    client.data("projects.images_add", with(json!({ "url": "https://acme.example/a.jpg" }))).await;
    let block = json!({ "type": "text", "text": "Daily from 9 to 5." });
    client.data("saved_blocks.create", with(json!({ "name": "Opening hours", "block": block }))).await;
    let tag = client.data("tags.create", with(json!({ "name": "VIP", "color": "#1A73E8" }))).await["id"].clone();
    let topic = client.data("topics.create", with(json!({ "name": "Offers", "defaultSubscription": "opt_in" }))).await;
    let filters = json!({ "tags": [tag], "topics": [topic["id"]] });
    client.data("segments.create", with(json!({ "name": "Fans", "filters": filters }))).await;
    for (email, tags) in [("ada", json!(["VIP"])), ("bob", json!([])), ("cy", json!(["VIP"])), ("dora", json!([]))] {
        let input = with(json!({ "email": format!("{email}@example.com"), "firstName": email, "tags": tags }));
        client.data("contacts.create", input).await;
    }
    let ada = contacts(client, &project).await["ada@example.com"]["id"].clone();
    let choice = json!({ "projectId": project, "id": topic["id"], "subscriberId": ada });
    client.data("contacts.topic_unsubscribe", choice).await;
    let started = client.data("emails.generate", with(json!({ "prompt": "Welcome, 10% off with HELLO10" }))).await;
    until(async || {
        let status = client.data("emails.status", json!({ "conversationId": started["conversationId"] })).await;
        (status["status"] == "completed").then_some(())
    })
    .await;
    project
}

/// Deletes objects of the brand by mistake. Meanwhile, Bob unsubscribes, Cy is deleted by mistake, and Dora unsubscribes and is erased.
async fn damage(client: &Client, owner: &Client, project: &str) {
    let of = json!({ "projectId": project });
    for (id, list, field) in [
        ("segments.delete", "segments.list", "segments"),
        ("topics.delete", "topics.list", "topics"),
        ("tags.delete", "tags.list", "tags"),
    ] {
        let found = client.data(list, of.clone()).await[field][0]["id"].clone();
        client.data(id, json!({ "projectId": project, "id": found })).await;
    }
    let products = client.data("projects.products_list", of.clone()).await;
    let product = products["products"][0]["id"].clone();
    client.data("projects.products_remove", json!({ "projectId": project, "productId": product })).await;
    client.data("projects.images_remove", json!({ "projectId": project, "imageUrl": "https://acme.example/a.jpg" })).await;
    client.data("projects.update", json!({ "projectId": project, "tagline": "Bad tea" })).await;
    let all = contacts(client, project).await;
    for email in ["bob@example.com", "dora@example.com"] {
        client.data("contacts.unsubscribe", json!({ "projectId": project, "email": email })).await;
    }
    for email in ["cy@example.com", "dora@example.com"] {
        client.data("contacts.delete", json!({ "projectId": project, "id": all[email]["id"] })).await;
    }
    client.contact(project, "eve@example.com").await;
    // Dora's erasure runs in the background, and adds the hash of the address to the suppressions.
    until(async || {
        let status = owner.data("system.status", json!({})).await;
        let mut queues = status["queues"].as_array().expect("queues").iter();
        let erasures = queues.find(|queue| queue["name"] == "Deleted contacts to erase" && queue["environment"] == "live");
        (erasures.expect("the queue")["waiting"] == 0).then_some(())
    })
    .await;
}

async fn requests_without_a_restorable_state_fail(server: &Server, owner: &Client, project: &str, before: Timestamp) {
    let editor = member(server, owner, "editor@example.com", json!({ "role": "editor" })).await;
    editor.call("restores.start", json!({})).await.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    let early = owner.call("restores.start", json!({ "at": "2020-01-01" })).await;
    assert!(early.error().contains("the backup contains no state as of"), "{}", early.error());
    early.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    owner.call("restores.start", json!({ "at": "2100-01-01" })).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    let apply = owner.call("restores.apply", json!({ "projectId": project })).await;
    apply.refused(StatusCode::CONFLICT, "WRONG_STATE");
    owner.data("restores.start", json!({ "at": before.to_string(), "projectId": "0123456789abcdef01234567" })).await;
    let failed = wait_for(owner, "failed").await;
    assert!(failed["error"].as_str().is_some_and(|error| error.contains("there was no brand")), "{failed}");
    until(async || left(server).is_empty().then_some(())).await;
}

/// Restores the state of this time, and waits until a brand can be chosen.
async fn prepare(owner: &Client, at: Timestamp) -> Value {
    owner.data("restores.start", json!({ "at": at.to_string() })).await;
    wait_for(owner, "ready").await
}

async fn apply(owner: &Client, input: Value) -> Value {
    owner.data("restores.apply", input).await;
    wait_for(owner, "completed").await
}

async fn the_preview_lists_what_is_missing(owner: &Client, project: &str, ready: &Value) {
    let mut brands = ready["brands"].as_array().expect("brands").iter();
    let listed = brands.find(|brand| brand["projectId"] == project).expect("the brand");
    assert_eq!((&listed["contacts"], &listed["contactsNow"], &listed["exists"]), (&json!(4), &json!(3), &json!(true)));
    let preview = owner.data("restores.preview", json!({ "projectId": project })).await;
    let missing = |kind: &str| {
        let one = preview["kinds"].as_array().expect("kinds").iter().find(|one| one["kind"] == kind).expect("the kind");
        (one["missing"].as_u64(), one["existing"].as_u64())
    };
    for kind in ["tags", "topics", "segments", "products", "images"] {
        assert_eq!(missing(kind), (Some(1), Some(0)), "{kind}: {preview}");
    }
    for kind in ["brand", "knowledge", "emails"] {
        assert_eq!(missing(kind), (Some(0), Some(1)), "{kind}: {preview}");
    }
    let expected = json!({ "inBackup": 4, "missing": 0, "existing": 2, "deleted": 1, "erased": 1 });
    assert_eq!(preview["contacts"], expected);
}

/// Brings back what is missing, on the page.
async fn apply_in_the_dashboard(server: &Server, owner: &Client, project: &str) -> Value {
    let mut browser = Browser::new(server);
    browser.sign_in("/").await;
    let page = browser.get("/live/settings/system/restore").await;
    assert!(page.text.contains(&format!("?brand={project}")), "{}", page.text);
    let (live, brands) = (page.text.find("<div id=\"progress\">"), page.text.find("Choose a brand"));
    assert!(live.is_some() && live < brands, "the part that renews itself contains the list of brands: {}", page.text);
    let path = format!("/live/settings/system/restore?brand={project}");
    let page = browser.get(&path).await;
    for shown in ["Restore Acme", "Also restore 1 contact that has been deleted", "because the person had unsubscribed"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let csrf = page.csrf().to_owned();
    let sent = browser.post(&path, &[("csrf", &csrf), ("act", "apply"), ("mode", "missing"), ("contacts", "yes")]).await;
    assert_eq!((sent.status, sent.location()), (303, "/live/settings/system/restore"), "{}", sent.text);
    let done = wait_for(owner, "completed").await;
    let page = browser.get("/live/settings/system/restore").await;
    assert!(
        page.text.contains("The brand is restored.") && page.text.contains("1 contact stays deleted, because"),
        "{}",
        page.text
    );
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_brand_comes_back_and_people_who_left_stay_away() {
    let Some(store) = ObjectStore::start() else { return };
    let server = Server::start(&settings(&store, "brand"));
    set_up(&server);
    let owner = signed_in(&server, OWNER, "live").await;
    let client = server.client("live", "all");
    let (project, other) = (brand(&client, "Acme").await, brand(&client, "Other").await);
    let of = json!({ "projectId": project });
    let (then, before) = (contacts(&client, &project).await, moment(&client).await);
    damage(&client, &owner, &project).await;
    let (damaged, untouched) = (contacts(&client, &project).await, contacts(&client, &other).await);
    requests_without_a_restorable_state_fail(&server, &owner, &project, before).await;
    let ready = prepare(&owner, before).await;
    the_preview_lists_what_is_missing(&owner, &project, &ready).await;
    assert_eq!(contacts(&client, &project).await, damaged, "a preview changes nothing");
    // What is missing comes back, except the contacts that were deleted.
    let done = apply_in_the_dashboard(&server, &owner, &project).await;
    for kind in ["tags", "topics", "segments", "products", "images"] {
        assert_eq!(counts(&done, kind), (1, 0, 0), "{kind}: {done}");
    }
    assert_eq!(counts(&done, "contacts"), (0, 1, 1), "Ada gets her tag back: {done}");
    assert_eq!((&done["result"]["contactsLeftDeleted"], &done["result"]["contactsLeftErased"]), (&json!(1), &json!(1)));
    let now = contacts(&client, &project).await;
    assert_eq!(now.keys().collect::<Vec<_>>(), ["ada@example.com", "bob@example.com", "eve@example.com"]);
    let [ada, ada_then] = [&now, &then].map(|all| (&all["ada@example.com"]["tags"], &all["ada@example.com"]["id"]));
    assert_eq!(ada, ada_then);
    assert_eq!(now["bob@example.com"]["status"], "unsubscribed");
    let segments = client.data("segments.list", of.clone()).await;
    let preview = json!({ "projectId": project, "filters": segments["segments"][0]["filters"] });
    let count = client.data("segments.preview", preview).await;
    assert_eq!(count["count"], 0, "Ada has the tag, and is still unsubscribed from the topic");
    assert_eq!(client.data("projects.get", of.clone()).await["brand"]["tagline"], "Bad tea", "what exists stays");
    // Restore the brand's values, and the contacts that were deleted by mistake.
    prepare(&owner, before).await;
    let done = apply(&owner, json!({ "projectId": project, "mode": "replace", "deletedContacts": true })).await;
    assert_eq!((counts(&done, "brand"), counts(&done, "contacts").0), ((0, 1, 0), 1), "{done}");
    let now = contacts(&client, &project).await;
    assert_eq!((&now["cy@example.com"]["status"], &now["cy@example.com"]["tags"]), (&json!("subscribed"), &json!(["VIP"])));
    assert_eq!(now["bob@example.com"]["status"], "unsubscribed");
    assert!(!now.contains_key("dora@example.com") && now.contains_key("eve@example.com"), "{:?}", now.keys());
    assert_eq!(client.data("projects.get", of.clone()).await["brand"]["tagline"], "Good tea");
    // Restore the brand as a second brand next to the first.
    prepare(&owner, before).await;
    let done = apply(&owner, json!({ "projectId": project, "mode": "copy", "deletedContacts": true })).await;
    let copy = done["result"]["targetProjectId"].as_str().expect("an ID").to_owned();
    assert_ne!(copy, project);
    let there = contacts(&client, &copy).await;
    assert_eq!(there.keys().collect::<Vec<_>>(), ["ada@example.com", "bob@example.com", "cy@example.com"]);
    assert_eq!(there["bob@example.com"]["status"], "unsubscribed", "Bob has unsubscribed from the brand since then");
    assert_eq!(client.data("emails.list", json!({ "projectId": copy })).await["total"], 1);
    assert_eq!(contacts(&client, &project).await, now, "the first brand does not change");
    assert_eq!(contacts(&client, &other).await, untouched, "other brands do not change");
    until(async || left(&server).is_empty().then_some(())).await;
}

/// The number of contacts of the lost brand that have no other attributes.
const PEOPLE: usize = 6_000;

/// A brand as it was, and the installation after a restore of an earlier time, which has lost the brand.
struct LostBrand {
    server: Server,
    /// The backup.
    url: String,
    project: String,
    /// When the brand was complete.
    at: Timestamp,
    contacts: BTreeMap<String, Value>,
    lists: Vec<Value>,
    _folder: tempfile::TempDir,
}

async fn lists(client: &Client, project: &str) -> Vec<Value> {
    let mut lists = Vec::new();
    for id in ["segments.list", "tags.list", "topics.list", "emails.list", "projects.products_list", "projects.knowledge_list"] {
        lists.push(client.data(id, json!({ "projectId": project })).await);
    }
    lists
}

async fn lost_brand() -> LostBrand {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let url = outer.path().join("target").to_str().expect("UTF-8").to_owned();
    let with_backup = format!("{BOUNDLESS}\n[backup]\nurl = \"{url}\"\ninterval_seconds = 1\n");
    let mut first = Server::start(&with_backup);
    set_up(&first);
    let client = first.client("live", "all");
    client.project("Before").await;
    let empty = moment(&client).await;
    let project = brand(&client, "Acme").await;
    for chunk in 0..PEOPLE / 1_000 {
        let rows: Vec<Value> = (0..1_000).map(|number| json!({ "email": format!("p{chunk}-{number}@example.com") })).collect();
        client.data("contacts.bulk", json!({ "projectId": project, "subscribers": rows })).await;
    }
    let at = moment(&client).await;
    let (contacts, lists) = (contacts(&client, &project).await, lists(&client, &project).await);
    // The whole installation goes back to a time before the brand.
    let vault = Vault::new(&first, url.clone());
    let copy = vault.restore(&first, &["--at", &empty.to_string()]);
    first.signal("TERM");
    assert!(first.wait().success(), "{}", first.log());
    let server = Server::stopped(&with_backup);
    fs::rename(&copy, server.data()).expect("the folder can be moved");
    LostBrand { server, url, project, at, contacts, lists, _folder: outer }
}

/// Runs `mailmill restore URL --brand ID` without `--yes`.
async fn preview_on_the_command_line(lost: &LostBrand, client: &Client) {
    let at = lost.at.to_string();
    let preview = lost.server.run(&["restore", &lost.url, "--brand", &lost.project, "--at", &at]);
    let text = said(&preview);
    assert!(preview.status.success() && text.contains("does not exist now") && text.contains("Nothing was changed"), "{text}");
    let line = text.lines().find(|line| line.starts_with("contacts")).expect("the line");
    let expected = (PEOPLE + 4).to_string();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["contacts", &expected, &expected, "0"]);
    let absent = client.call("projects.get", json!({ "projectId": lost.project })).await;
    absent.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    let other = lost.server.run(&["restore", "s3://elsewhere/x", "--brand", &lost.project]);
    assert!(said(&other).contains("the service's own backup"), "{}", said(&other));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_brand_comes_back_under_its_ids_even_if_the_server_is_killed() {
    let mut lost = lost_brand().await;
    let stopped = lost.server.run(&["restore", &lost.url, "--brand", &lost.project]);
    assert!(said(&stopped).contains("no service is running"), "{}", said(&stopped));
    lost.server.serve();
    let key = lost.server.key("live", "all");
    let client = Client::new(lost.server.address(), Some(key.clone()));
    catch_up(&client).await;
    preview_on_the_command_line(&lost, &client).await;
    let owner = signed_in(&lost.server, OWNER, "live").await;
    owner.data("restores.apply", json!({ "projectId": lost.project })).await;
    let progress = until(async || {
        let now = restore(&owner).await;
        (counts(&now, "contacts").0 > 0).then_some(now)
    })
    .await;
    lost.server.kill();
    let so_far = counts(&progress, "contacts").0;
    println!("killed after {so_far} of {} contacts ({})", PEOPLE + 4, progress["status"]);
    assert!(!left(&lost.server).is_empty() || progress["status"] == "completed", "the folder of the killed process");
    lost.server.serve();
    let owner = signed_in(&lost.server, OWNER, "live").await;
    let client = Client::new(lost.server.address(), Some(key));
    let done = wait_for(&owner, "completed").await;
    assert_eq!(counts(&done, "contacts"), (PEOPLE as u64 + 4, 0, 0), "each contact is counted once: {done}");
    for kind in ["brand", "knowledge", "images", "products", "blocks", "tags", "topics", "segments", "emails"] {
        assert_eq!(counts(&done, kind), (1, 0, 0), "{kind}: {done}");
    }
    let back = contacts(&client, &lost.project).await;
    for (email, contact) in &lost.contacts {
        for field in ["id", "createdAt", "status", "tags", "firstName"] {
            assert_eq!(back[email][field], contact[field], "{field} of {email}");
        }
    }
    assert_eq!(back.len(), lost.contacts.len());
    let ids = |lists: &[Value]| lists.iter().map(ids_of).collect::<Vec<_>>();
    assert_eq!(ids(&lists(&client, &lost.project).await), ids(&lost.lists));
    let new = client.contact(&lost.project, "new@example.com").await;
    assert!(!lost.contacts.values().any(|contact| contact["id"] == new.as_str()), "a new contact gets a new ID");
    until(async || left(&lost.server).is_empty().then_some(())).await;
}

/// Returns all IDs in a response, in order.
fn ids_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(ids_of).collect(),
        Value::Object(fields) => {
            let own = fields.get("id").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(ids_of)).collect()
        }
        _ => Vec::new(),
    }
}

/// A restart ends a restore that waits for a choice; a backup of another installation is not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_ends_a_waiting_restore_and_a_foreign_backup_is_rejected() {
    let outer = tempfile::tempdir().expect("a temporary folder");
    let target = outer.path().join("target");
    let url = target.to_str().expect("UTF-8").to_owned();
    let with_backup = format!("{BOUNDLESS}\n[backup]\nurl = \"{url}\"\ninterval_seconds = 1\n");
    let mut server = Server::start(&with_backup.replace("level = \"warn\"", "level = \"debug\""));
    set_up(&server);
    let owner = signed_in(&server, OWNER, "live").await;
    let client = server.client("live", "all");
    let project = client.project("Acme").await;
    catch_up(&client).await;
    owner.data("restores.start", json!({})).await;
    wait_for(&owner, "ready").await;
    let is_logged = |line: &str| line.contains("restore of a brand") && line.contains("state=\"ready\"");
    assert!(server.log().lines().any(is_logged), "{}", server.log());
    assert_eq!(left(&server).len(), 1);
    server.kill();
    server.serve();
    let owner = signed_in(&server, OWNER, "live").await;
    let failed = wait_for(&owner, "failed").await;
    assert!(failed["error"].as_str().is_some_and(|error| error.contains("The service restarted")), "{failed}");
    until(async || left(&server).is_empty().then_some(())).await;
    owner.data("restores.start", json!({})).await;
    wait_for(&owner, "ready").await;
    owner.data("restores.discard", json!({})).await;
    assert_eq!(restore(&owner).await, Value::Null);
    until(async || left(&server).is_empty().then_some(())).await;
    // Another installation has another key.
    let other = Server::start(&with_backup);
    set_up(&other);
    let foreign = signed_in(&other, OWNER, "live").await;
    let rejected = foreign.call("restores.start", json!({ "projectId": project })).await;
    assert!(rejected.error().contains("different master key"), "{}", rejected.error());
    rejected.refused(StatusCode::CONFLICT, "WRONG_STATE");
    // Regression: the error named the field `at`, which the request does not have.
    fs::remove_dir_all(target.join("snapshots")).expect("the snapshots can be deleted");
    let rejected = owner.call("restores.start", json!({})).await;
    assert!(rejected.error().contains("no complete snapshot"), "{}", rejected.error());
    rejected.refused(StatusCode::CONFLICT, "WRONG_STATE");
    let without = Server::start(BOUNDLESS);
    set_up(&without);
    let plain = signed_in(&without, OWNER, "live").await;
    plain.call("restores.start", json!({})).await.refused(StatusCode::CONFLICT, "WRONG_STATE");
}
