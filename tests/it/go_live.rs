//! Going live: copying a brand from the test environment to the live environment, once and again.

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::Client;
use crate::support::browser::Browser;
use crate::support::fixtures::until;
use crate::support::server::BOUNDLESS;
use crate::users::{OWNER, member, owned, signed_in};

/// Returns the counts of a kind: created, updated, unchanged.
fn counts(report: &Value, kind: &str) -> (u64, u64, u64) {
    let all = report["copied"].as_array().expect("counts");
    let one = all.iter().find(|one| one["kind"] == kind).cloned().unwrap_or_default();
    let number = |name: &str| one[name].as_u64().unwrap_or_default();
    (number("created"), number("updated"), number("unchanged"))
}

/// Creates a brand with one object of each kind; returns its ID.
async fn brand(test: &Client) -> String {
    let project = test.project("Acme").await;
    let with = |mut input: Value| {
        input["projectId"] = project.as_str().into();
        input
    };
    test.data("projects.update", with(json!({ "tagline": "Good tea", "defaultSender": { "from": "news@acme.example" } }))).await;
    test.data(
        "projects.products_add",
        with(json!({ "name": "Ember bowl", "price": "36", "priceBefore": "42", "currency": "GBP" })),
    )
    .await;
    test.data("projects.knowledge_add", with(json!({ "title": "Delivery", "content": "Within two days." }))).await;
    let block = json!({ "name": "Opening hours", "block": { "type": "text", "text": "Daily from 9 to 5." } });
    test.data("saved_blocks.create", with(block)).await;
    let tag = test.data("tags.create", with(json!({ "name": "VIP", "color": "#1A73E8" }))).await["id"].clone();
    let topic =
        test.data("topics.create", with(json!({ "name": "Offers", "defaultSubscription": "opt_in" }))).await["id"].clone();
    let filters = json!({ "tags": [tag], "topics": [topic] });
    test.data("segments.create", with(json!({ "name": "Fans", "filters": filters }))).await;
    for (email, tags) in [("ada@example.com", json!(["VIP"])), ("bob@example.com", json!([]))] {
        test.data("contacts.create", with(json!({ "email": email, "tags": tags }))).await;
    }
    test.data("contacts.unsubscribe", with(json!({ "email": "bob@example.com" }))).await;
    let started = test.data("emails.generate", with(json!({ "prompt": "Welcome, 10% off with HELLO10" }))).await;
    until(async || {
        let status = test.data("emails.status", json!({ "conversationId": started["conversationId"] })).await;
        (status["status"] == "completed").then_some(())
    })
    .await;
    project
}

#[tokio::test]
async fn a_brand_goes_live_and_a_second_run_updates_without_duplicates() {
    let server = owned(BOUNDLESS);
    let (test, live) = (server.client("test", "all"), server.client("live", "all"));
    let owner = signed_in(&server, OWNER, "test").await;
    let project = brand(&test).await;
    let go_live = async |more: Value| {
        let mut input = json!({ "projectId": project });
        input.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        owner.data("go_live.copy", input).await
    };
    let first = go_live(json!({})).await;
    for kind in ["brand", "products", "knowledge", "blocks", "tags", "topics", "segments", "emails"] {
        assert_eq!(counts(&first, kind), (1, 0, 0), "{kind}: {first}");
    }
    assert_eq!(counts(&first, "contacts"), (0, 0, 0), "contacts are copied only on request");
    let id = first["liveProjectId"].as_str().expect("an id").to_owned();
    assert_ne!(id, project, "an id exists in only one environment");
    let of = json!({ "projectId": id });
    let copied = live.data("projects.get", of.clone()).await;
    assert_eq!((&copied["brand"]["tagline"], &copied["brand"]["products"][0]["priceBefore"]), (&json!("Good tea"), &json!("42")));
    assert_eq!((&copied["defaultSender"]["from"], &copied["status"]), (&json!("news@acme.example"), &json!("active")));
    assert_eq!(live.total(of.clone()).await, 0);
    assert_eq!(live.data("saved_blocks.list", of.clone()).await["blocks"][0]["name"], "Opening hours");
    let emails = live.data("emails.list", of.clone()).await;
    let conversation = emails["emails"][0]["conversationId"].clone();
    let email = live.data("emails.status", json!({ "conversationId": conversation })).await["result"]["emails"][0].clone();
    assert!(email["html"].to_string().contains("HELLO10") && email["screenshotUrl"].is_string(), "{email}");
    // The segment refers to the live tag and topic.
    let all = go_live(json!({ "contacts": true })).await;
    assert_eq!((counts(&all, "contacts"), &all["contactsAfter"]), ((2, 0, 0), &json!(null)));
    for kind in ["brand", "products", "knowledge", "blocks", "tags", "topics", "segments", "emails"] {
        assert_eq!(counts(&all, kind), (0, 0, 1), "{kind}: {all}");
    }
    // A request that continues after the last contact reports all that was copied, and does not copy everything else again.
    let continued = go_live(json!({ "contacts": true, "contactsAfter": u32::MAX })).await;
    assert_eq!((&continued["copied"], &continued["contactsAfter"]), (&all["copied"], &json!(null)));
    let segments = live.data("segments.list", of.clone()).await;
    let preview = json!({ "projectId": id, "filters": segments["segments"][0]["filters"] });
    assert_eq!(live.data("segments.preview", preview).await["count"], 1, "only Ada has the tag");
    let statuses = live.data("contacts.list", json!({ "projectId": id, "search": "bob", "refresh": true })).await;
    assert_eq!(statuses["contacts"][0]["status"], "unsubscribed");
    // Live edits stay as long as the test version has not changed.
    live.data("projects.update", json!({ "projectId": id, "tagline": "Live tea" })).await;
    go_live(json!({})).await;
    assert_eq!(live.data("projects.get", of.clone()).await["brand"]["tagline"], "Live tea");
    test.data("projects.update", json!({ "projectId": project, "address": "1 High Street" })).await;
    let again = go_live(json!({ "contacts": true })).await;
    assert_eq!((counts(&again, "brand"), counts(&again, "emails")), ((0, 1, 0), (0, 0, 1)));
    assert_eq!(counts(&again, "contacts"), (0, 0, 2));
    let (projects, emails) = (live.data("projects.list", json!({})).await, live.data("emails.list", of.clone()).await);
    assert_eq!((&projects["total"], &emails["total"]), (&json!(1), &json!(1)), "nothing is duplicated");
    let email = live.data("emails.status", json!({ "conversationId": conversation })).await["result"]["emails"][0].clone();
    assert!(email["html"].to_string().contains("1 High Street"), "the footer follows the live brand");
    let listed = owner.data("go_live.checklist", json!({ "projectId": project })).await;
    let steps: Vec<(&Value, &Value)> =
        listed["steps"].as_array().expect("steps").iter().map(|step| (&step["id"], &step["done"])).collect();
    assert_eq!(steps[..2], [(&json!("domain"), &json!(false)), (&json!("address"), &json!(true))], "{listed}");
    assert_eq!(listed["liveProjectId"], id.as_str());
}

#[tokio::test]
async fn only_the_owner_and_admins_go_live_and_a_live_brand_of_the_site_is_not_replaced_unasked() {
    let server = owned(BOUNDLESS);
    let (test, live) = (server.client("test", "all"), server.client("live", "all"));
    let owner = signed_in(&server, OWNER, "test").await;
    let import = json!({ "urls": ["http://127.0.0.1/shop"], "name": "Acme" });
    let project = test.data("projects.import", import.clone()).await["projectId"].clone();
    let twin = live.data("projects.import", import).await["projectId"].clone();
    let input = json!({ "projectId": project });
    test.call("go_live.copy", input.clone()).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
    let editor = member(&server, &owner, "editor@example.com", json!({ "role": "editor" })).await;
    editor.call("go_live.copy", input.clone()).await.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    let refused = owner.call("go_live.copy", input.clone()).await.refused(StatusCode::CONFLICT, "BRAND_EXISTS");
    assert_eq!(refused.json()["data"]["projectId"], twin);
    test.data("projects.update", json!({ "projectId": project, "tagline": "From test" })).await;
    let report = owner.data("go_live.copy", json!({ "projectId": project, "liveProjectId": twin })).await;
    assert_eq!((&report["liveProjectId"], counts(&report, "brand")), (&twin, (0, 1, 0)));
    assert_eq!(live.data("projects.get", json!({ "projectId": twin })).await["brand"]["tagline"], "From test");
    // Later copies update the chosen live brand without naming it again.
    assert_eq!(owner.data("go_live.copy", input).await["liveProjectId"], twin);
    owner.call("go_live.copy", json!({ "projectId": twin })).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn empty_live_pages_lead_to_the_page_that_copies() {
    let server = owned(BOUNDLESS);
    let project = brand(&server.client("test", "all")).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    for path in ["brands", "emails", "contacts", "segments", "topics"] {
        let page = browser.get(&format!("/live/{path}")).await;
        assert!(page.text.contains("href=\"/test/go-live\""), "{path}: {}", page.text);
    }
    let choice = browser.get("/test/go-live").await;
    assert!(choice.status == 200 || choice.location() == format!("/test/brands/{project}/go-live"), "{}", choice.text);
    let path = format!("/test/brands/{project}/go-live");
    let page = browser.get(&path).await;
    assert!(page.text.contains("Verify your domain") && page.text.contains("Add a postal address"), "{}", page.text);
    let done = browser.post(&path, &[("csrf", page.csrf()), ("contacts", "yes")]).await;
    assert!(done.status == 200 && done.text.contains("Copied to live."), "{}", done.text);
    let brands = browser.get("/live/brands").await;
    assert!(brands.text.contains("Acme") && !brands.text.contains("href=\"/test/go-live\""), "{}", brands.text);
    // The pages of a live brand that has nothing yet lead there, too.
    let other = server.client("live", "all").project("Other").await;
    for path in ["products", "images", "knowledge"].map(|part| format!("brands/{other}/{part}")) {
        let page = browser.get(&format!("/live/{path}")).await;
        assert!(page.text.contains("href=\"/test/go-live\""), "{path}: {}", page.text);
    }
    let campaign = browser.get(&format!("/live/campaigns/new?brand={other}")).await;
    assert!(campaign.text.contains("href=\"/test/go-live\""), "{}", campaign.text);
}

/// The question whether to replace a live brand must not reset the choice to copy contacts.
#[tokio::test]
async fn the_choice_to_copy_contacts_survives_the_question_about_a_live_brand() {
    let server = owned(BOUNDLESS);
    let (test, live) = (server.client("test", "all"), server.client("live", "all"));
    let import = json!({ "urls": ["http://127.0.0.1/shop"], "name": "Acme" });
    let project = test.data("projects.import", import.clone()).await["projectId"].as_str().expect("an id").to_owned();
    live.data("projects.import", import).await;
    test.data("contacts.create", json!({ "projectId": project, "email": "ada@example.com" })).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let path = format!("/test/brands/{project}/go-live");
    let page = browser.get(&path).await;
    let checked = "name=\"contacts\" value=\"yes\" checked";
    assert!(page.text.contains("name=\"contacts\"") && !page.text.contains(checked), "{}", page.text);
    let asked = browser.post(&path, &[("csrf", page.csrf()), ("contacts", "yes")]).await;
    assert!(asked.text.contains("Replace Acme in live") && asked.text.contains(checked), "{}", asked.text);
}
