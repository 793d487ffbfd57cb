//! Contacts, imports, segments, tags, topics and suppressions in a browser without scripts.

use serde_json::{Value, json};

use crate::delivery::until;
use crate::support::browser::{Browser, Page};
use crate::support::server::BOUNDLESS;
use crate::support::{Client, Server};
use crate::users::{OWNER, PASSWORD, member, owned, signed_in};

const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
const PAGES: [&str; 9] = [
    "/test/contacts",
    "/test/contacts/new",
    "/test/contacts/import",
    "/test/segments",
    "/test/segments/new",
    "/test/tags",
    "/test/topics",
    "/test/suppressions",
    "/live/contacts",
];

/// Creates a brand and signs in.
async fn scene(server: &Server) -> (Client, String, Browser<'_>) {
    let client = server.client("test", "all");
    let project = client.project("Acme").await;
    let mut browser = Browser::new(server);
    browser.sign_in("/test/contacts").await;
    (client, project, browser)
}

/// Submits a form on the page at `path` and follows the redirect.
async fn submit(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)]) -> Page {
    let csrf = browser.get(path).await.csrf().to_owned();
    let all: Vec<(&str, &str)> = [("csrf", csrf.as_str())].into_iter().chain(fields.iter().copied()).collect();
    let sent = browser.post(path, &all).await;
    if sent.status != 303 {
        return sent;
    }
    let to = sent.location().to_owned();
    let page = browser.get(&to).await;
    assert_eq!(page.status, 200, "{to}: {}", page.text);
    page
}

fn has(page: &Page, part: &str) {
    assert!(page.text.contains(part), "no {part:?} in {}", page.text);
}

fn lacks(page: &Page, part: &str) {
    assert!(!page.text.contains(part), "{part:?} in {}", page.text);
}

fn id(made: &Value) -> String {
    made["id"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_pages_explain_the_next_step() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    for path in PAGES {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        has(&page, "<pre><code>curl ");
    }
    has(&browser.get("/test/contacts").await, "Add your first brand");
    server.client("test", "all").project("Acme").await;
    for path in ["/test/contacts", "/test/segments", "/test/tags", "/test/topics", "/test/suppressions"] {
        let page = browser.get(path).await;
        has(&page, "class=\"empty\"");
        has(&page, "<pre><code>curl ");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_contact_is_added_found_changed_and_erased() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    let wrong = [("email", "ada"), ("firstName", "Ada"), ("field", "plan"), ("value", "pro")];
    let page = submit(&mut browser, "/test/contacts/new", &wrong).await;
    assert_eq!(page.status, 400);
    for part in ["id=\"email-wrong\"", "value=\"Ada\"", "value=\"pro\""] {
        has(&page, part);
    }
    let right = [("email", "ada@example.com"), ("firstName", "Ada"), ("tags", "vip, new"), ("field", "plan"), ("value", "pro")];
    let page = submit(&mut browser, "/test/contacts/new", &right).await;
    for part in ["Contact added.", "ada@example.com", "vip", "value=\"pro\"", "<strong>Added</strong>"] {
        has(&page, part);
    }
    let again = submit(&mut browser, "/test/contacts/new", &right).await;
    assert_eq!(again.status, 409, "{}", again.text);
    has(&again, "id=\"email-wrong\"");

    client.contact(&project, "bob@example.com").await;
    let list = client.data("contacts.list", json!({ "projectId": project, "search": "bob", "refresh": true })).await;
    assert_eq!(list["total"], 1);
    let found = browser.get("/test/contacts?search=ada").await;
    has(&found, "ada@example.com");
    // A name may have a hundred characters without a space.
    has(&found, "<td class=\"wraps\">Ada ");
    lacks(&found, "bob@example.com");
    lacks(&browser.get("/test/contacts?tag=vip").await, "bob@example.com");
    has(&browser.get("/test/contacts?search=unknown").await, "No matching contacts");

    let listed = client.data("contacts.list", json!({ "projectId": project, "tags": "vip" })).await;
    let path = format!("/test/contacts/{}", id(&listed["contacts"][0]));
    let topic = id(&client.data("topics.create", json!({ "projectId": project, "name": "News" })).await);
    let save = [("act", "save"), ("lastName", "Lovelace"), ("country", "XX"), ("field", "plan"), ("value", "free")];
    let page = submit(&mut browser, &path, &save).await;
    assert_eq!(page.status, 400);
    has(&page, "id=\"country-wrong\"");
    has(&page, "value=\"Lovelace\"");
    let save = [("act", "save"), ("lastName", "Lovelace"), ("country", "gb"), ("field", "plan"), ("value", "free")];
    has(&submit(&mut browser, &path, &save).await, "value=\"GB\"");
    for (fields, part) in [
        ([("act", "tag"), ("tag", "extra")], "Remove the tag extra"),
        ([("act", "untag"), ("name", "vip")], "Tag removed."),
        ([("act", "topic-off"), ("topic", topic.as_str())], "not subscribed, set for this contact"),
        ([("act", "status"), ("status", "unsubscribed")], "<strong>Unsubscribed</strong>"),
    ] {
        has(&submit(&mut browser, &path, &fields).await, part);
    }
    let contact = client.data("contacts.get", json!({ "id": id(&listed["contacts"][0]), "projectId": project })).await;
    assert_eq!((&contact["tags"], &contact["customFields"]), (&json!(["new", "extra"]), &json!({ "plan": "free" })));
    for unknown in [format!("{path}?done=x"), "/test/contacts?done=x".to_owned()] {
        lacks(&browser.get(&unknown).await, "class=\"notice\" role=\"status\"");
    }
    assert_eq!(submit(&mut browser, &path, &[("lastName", "Byron")]).await.status, 400);
    let kept = browser.get(&format!("{path}/data")).await;
    assert!(kept.headers["content-disposition"].to_str().expect("ASCII").starts_with("attachment"), "{:?}", kept.headers);
    has(&kept, "\"profile\"");
    let unsure = submit(&mut browser, &path, &[("act", "erase")]).await;
    assert_eq!(unsure.status, 400);
    has(&submit(&mut browser, &path, &[("act", "erase"), ("sure", "yes")]).await, "1 contact deleted");
    assert_eq!(browser.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_contacts_are_changed_exported_and_deleted() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    let mut rows = Vec::new();
    for name in ["ada", "bob", "eve"] {
        rows.push(format!("{} {name}@example.com", client.contact(&project, &format!("{name}@example.com")).await));
    }
    let unselected = submit(&mut browser, "/test/contacts", &[("act", "tag"), ("bulk_tag", "vip"), ("which", "chosen")]).await;
    assert_eq!(unselected.status, 400);
    has(&unselected, "Select at least one contact");
    let fields = [("act", "tag"), ("bulk_tag", "vip"), ("which", "chosen"), ("contact", &rows[0]), ("contact", &rows[1])];
    has(&submit(&mut browser, "/test/contacts", &fields).await, "2 contacts updated");
    let tagged = async || client.data("contacts.list", json!({ "projectId": project, "tags": "vip" })).await["total"].clone();
    assert_eq!(tagged().await, 2);

    let all = [("act", "status"), ("bulk_status", "non-subscribed"), ("which", "all"), ("tag", "vip")];
    let job = submit(&mut browser, "/test/contacts", &all).await;
    has(&job, "id=\"progress\"");
    let counted = json!({ "projectId": project, "status": "non-subscribed" });
    until(async || client.data("contacts.list", counted.clone()).await["total"] == 2).await;

    let csrf = browser.get("/test/contacts").await.csrf().to_owned();
    let export = [("csrf", csrf.as_str()), ("act", "export"), ("which", "chosen"), ("contact", rows[2].as_str())];
    let started = browser.post("/test/contacts", &export).await.location().to_owned();
    assert!(started.starts_with("/test/contacts/jobs/export/"), "{started}");
    until(async || browser_get(&server, &started).await.text.contains("Download CSV")).await;
    let page = browser.get(&started).await;
    let link = page.text.split("href=\"/v1/").nth(1).and_then(|rest| rest.split('"').next()).expect("a link").to_owned();
    let file = browser.get(&format!("/v1/{}", link.replace("&amp;", "&"))).await;
    assert!(file.text.contains("eve@example.com") && !file.text.contains("ada@example.com"), "{}", file.text);

    let unsure = submit(&mut browser, "/test/contacts", &[("act", "delete"), ("which", "all")]).await;
    assert_eq!(unsure.status, 400);
    submit(&mut browser, "/test/contacts", &[("act", "delete"), ("which", "all"), ("sure", "yes")]).await;
    until(async || client.data("contacts.list", json!({ "projectId": project })).await["total"] == 0).await;
}

async fn browser_get(server: &Server, path: &str) -> Page {
    let mut browser = Browser::new(server);
    browser.sign_in("/").await;
    browser.get(path).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_uploaded_its_columns_mapped_and_its_rows_imported() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    let csrf = browser.get("/test/contacts/import").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("projectId", project.as_str()), ("hold", "true")];
    let empty = browser.post_file("/test/contacts/import", &fields, ("file", "people.csv", "text/csv", b"")).await;
    assert_eq!(empty.status, 400, "{}", empty.text);
    has(&empty, "The file is empty");
    let csv = "E-Mail;Name;Shoe\nada@example.com;Ada Lovelace;38\nno-address;No;1\n\"<script>alert(1)</script>@x\";<b>;9\n";
    let foreign = [("csrf", "x"), ("projectId", project.as_str()), ("hold", "true")];
    let refused = browser.post_file("/test/contacts/import", &foreign, ("file", "p.csv", "text/csv", csv.as_bytes())).await;
    assert_eq!(refused.status, 403);
    let kept = browser.post_file("/test/contacts/import", &fields, ("file", EVIL, "text/csv", csv.as_bytes())).await;
    assert_eq!(kept.status, 303, "{}", kept.text);
    let path = kept.location().to_owned();
    let columns = browser.get(&path).await;
    for part in ["Match your columns", "Ada Lovelace", "value=\"email\" selected", "value=\"name\" selected", "value=\"Shoe\""] {
        has(&columns, part);
    }
    lacks(&columns, "<script>alert");
    lacks(&columns, "<img src=x");
    let header =
        |name: &'static str, field: &'static str, custom: &'static str| [("header", name), ("column", field), ("custom", custom)];
    let twice: Vec<_> = [header("E-Mail", "email", ""), header("Name", "email", "")].concat();
    let wrong = submit(&mut browser, &path, &twice).await;
    assert_eq!(wrong.status, 400);
    has(&wrong, "Two columns are imported as “Email”");
    let mut right = [header("E-Mail", "email", ""), header("Name", "name", ""), header("Shoe", "custom", "shoe size")].concat();
    right.extend([("delimiter", ";"), ("existing", "upsert"), ("tags", "fair"), ("status", "non-subscribed")]);
    submit(&mut browser, &path, &right).await;
    until(async || browser_get(&server, &path).await.text.contains("Import more contacts")).await;
    let done = browser.get(&path).await;
    has(&done, "The email address has no @");
    lacks(&done, "<script>alert");
    has(&browser.get(&format!("{path}/errors.csv")).await, "no-address");
    let ada = client.data("contacts.list", json!({ "projectId": project })).await["contacts"][0].clone();
    assert_eq!(
        (&ada["lastName"], &ada["tags"], &ada["status"]),
        (&json!("Lovelace"), &json!(["fair"]), &json!("non-subscribed"))
    );
    assert_eq!(ada["customFields"], json!({ "shoe size": "38" }));
    has(&browser.get("/test/contacts/import").await, "Recent imports, exports, and changes");
    // A second click shows the progress.
    has(&submit_again(&mut browser, &path, &right, &csrf).await, "New contacts");
}

async fn submit_again(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)], csrf: &str) -> Page {
    let all: Vec<(&str, &str)> = [("csrf", csrf)].into_iter().chain(fields.iter().copied()).collect();
    let to = browser.post(path, &all).await.location().to_owned();
    browser.get(&to).await
}

/// Returns the fields of a filter row as its form sends them.
fn row<'f>(
    depth: &'f str,
    combine: &'f str,
    what: &'f str,
    name: &'f str,
    mode: &'f str,
    value: &'f str,
) -> Vec<(&'f str, &'f str)> {
    let more = [("more", ""), ("unit", "days"), ("campaign", "")];
    let first = [("depth", depth), ("combine", combine), ("what", what), ("name-of", name), ("mode", mode), ("value", value)];
    first.into_iter().chain(more).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_is_created_counted_saved_and_deleted() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    for (email, plan) in [("ada@example.com", "pro"), ("bob@example.com", "free")] {
        let contact = json!({ "projectId": project, "email": email, "customFields": { "plan": plan }, "tags": ["t"] });
        client.data("contacts.create", contact).await;
    }
    let path = "/test/segments/new";
    let start = browser.get(path).await;
    has(&start, "Add condition");
    has(&start, "<option value=\"plan\">");
    let press = |act: &'static str, rows: Vec<Vec<(&'static str, &'static str)>>| -> Vec<(&'static str, &'static str)> {
        rows.concat().into_iter().chain([("do", act), ("name", "Payers")]).collect()
    };
    let group = || row("0", "all", "", "", "", "");
    let added = submit(&mut browser, path, &press("add:0", vec![group()])).await;
    assert_eq!(added.text.matches("name=\"what\" aria-label").count(), 1);
    has(&added, "value=\"Payers\"");
    let changed = submit(&mut browser, path, &press("redraw", vec![group(), row("1", "", "status", "", "contains", "")])).await;
    has(&changed, "<option value=\"is\" selected>is</option>");
    let wrong = submit(&mut browser, path, &press("count", vec![group(), row("1", "", "tag", "", "is", "nope")])).await;
    has(&wrong, "The tag “nope” doesn&#x27;t exist");
    let wrong =
        submit(&mut browser, path, &press("count", vec![group(), row("1", "", "custom", "plan", "number_gt", "x")])).await;
    has(&wrong, "is-wrong");
    let rows = || vec![group(), row("1", "", "custom", "plan", "is", "pro, team"), row("1", "", "tag", "", "is", "t")];
    let counted = submit(&mut browser, path, &press("count", rows())).await;
    has(&counted, "<strong>1</strong> contact<");
    has(&counted, "ada@example.com");
    let nameless: Vec<_> = rows().concat().into_iter().chain([("do", "save"), ("name", "")]).collect();
    let refused = submit(&mut browser, path, &nameless).await;
    assert_eq!(refused.status, 400);
    has(&refused, "name-wrong");
    let saved = submit(&mut browser, path, &press("save", rows())).await;
    has(&saved, "Segment saved.");
    has(&saved, "value=\"pro, team\"");
    assert_eq!(submit(&mut browser, path, &press("save", rows())).await.status, 409, "the name is taken");
    let listed = client.data("segments.list", json!({ "projectId": project })).await;
    let segment = &listed["segments"][0];
    assert_eq!((&segment["name"], &segment["count"]), (&json!("Payers"), &json!(1)));
    let own = format!("/test/segments/{}", id(segment));
    has(&submit(&mut browser, &own, &press("save", vec![group(), row("1", "", "opened", "", "never", "")])).await, "saved");
    let after = client.data("segments.get", json!({ "id": id(segment), "projectId": project })).await;
    assert_eq!((&after["count"], &after["filters"]["activity"][0]["mode"]), (&json!(2), &json!("never")));
    has(&browser.get("/test/segments").await, "data-load=");
    has(&browser.get("/test/segments?count=1").await, "data-label=\"Contacts\">2</td>");
    has(&browser.get(&format!("/test/contacts?segment={}", id(segment))).await, "ada@example.com");
    has(&submit(&mut browser, &own, &[("do", "delete")]).await, "Segment deleted.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_of_topic_subscribers_is_created_counted_and_changed() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    let mut contacts = Vec::new();
    for email in ["ada@example.com", "bob@example.com", "cyd@example.com"] {
        contacts.push(id(&client.data("contacts.create", json!({ "projectId": project, "email": email })).await));
    }
    let mut topics = Vec::new();
    for name in ["News", "Offers"] {
        topics.push(id(&client.data("topics.create", json!({ "projectId": project, "name": name })).await));
    }
    let chosen = |contact: &str| json!({ "id": topics[0], "subscriberId": contact, "projectId": project });
    client.data("contacts.topic_subscribe", chosen(&contacts[0])).await;
    let path = "/test/segments/new";
    let group = || row("0", "all", "", "", "", "");
    let rows = |act: &'static str, mode, value| {
        [group(), row("1", "", "topic", "", mode, value)]
            .concat()
            .into_iter()
            .chain([("do", act), ("name", "Readers")])
            .collect::<Vec<_>>()
    };
    let drawn = submit(&mut browser, path, &rows("redraw", "contains", "vip")).await;
    has(&drawn, "is subscribed to</option>");
    has(&drawn, &format!("<option value=\"{}\">News</option>", topics[0]));
    has(&submit(&mut browser, path, &rows("count", "is", &topics[0])).await, "<strong>1</strong> contact<");
    has(&submit(&mut browser, path, &rows("count", "is_not", &topics[0])).await, "<strong>2</strong> contacts<");
    // A new topic choice changes the count at once.
    client.data("contacts.topic_subscribe", chosen(&contacts[1])).await;
    has(&submit(&mut browser, path, &rows("count", "is", &topics[0])).await, "<strong>2</strong> contacts<");
    has(&submit(&mut browser, path, &rows("save", "is_not", &topics[0])).await, "Segment saved.");
    let listed = client.data("segments.list", json!({ "projectId": project })).await;
    let own = format!("/test/segments/{}", id(&listed["segments"][0]));
    has(&browser.get(&own).await, &format!("<option value=\"{}\" selected>News</option>", topics[0]));

    // The API allows several topics in one condition; the form keeps them together. A deleted topic has no subscribers.
    let both = json!({ "projectId": project, "id": id(&listed["segments"][0]), "filters": { "topics": topics } });
    assert_eq!(client.data("segments.update", both).await["count"], 2);
    has(&browser.get(&own).await, "selected>News or Offers</option>");
    client.data("topics.delete", json!({ "id": topics[1], "projectId": project })).await;
    has(&browser.get(&own).await, "selected>News or a deleted topic</option>");
    has(&submit(&mut browser, path, &rows("count", "is", &topics[1])).await, "The brand has no topic with the ID");
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_topics_and_suppressions_are_created_changed_and_deleted() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    client.contact(&project, "ada@example.com").await;
    has(&submit(&mut browser, "/test/tags", &[("act", "create"), ("name", "vip"), ("description", "Best")]).await, "vip");
    let taken = submit(&mut browser, "/test/tags", &[("act", "create"), ("name", "VIP"), ("description", "kept")]).await;
    assert_eq!(taken.status, 409);
    has(&taken, "value=\"kept\"");
    let tag = id(&client.data("tags.list", json!({ "projectId": project })).await["tags"][0]);
    let rename = [("act", "update"), ("id", tag.as_str()), ("name", "gold"), ("colored", "yes"), ("color", "#ff0000")];
    let renamed = submit(&mut browser, "/test/tags", &rename).await;
    has(&renamed, "gold");
    has(&renamed, "fill=\"#FF0000\"");
    has(&submit(&mut browser, "/test/tags", &[("act", "delete"), ("id", &tag)]).await, "No tags yet");

    let make = [("act", "create"), ("name", "News"), ("default", "opt_in"), ("visibility", "public"), ("order", "x")];
    let wrong = submit(&mut browser, "/test/topics", &make).await;
    assert_eq!(wrong.status, 400);
    has(&wrong, "displayOrder-wrong");
    let make = [("act", "create"), ("name", "News"), ("default", "opt_in"), ("visibility", "public"), ("order", "1")];
    has(&submit(&mut browser, "/test/topics", &make).await, "1 of 1 contact subscribed");
    let topic = id(&client.data("topics.list", json!({ "projectId": project })).await["topics"][0]);
    let change =
        [("act", "update"), ("id", topic.as_str()), ("name", "Updates"), ("default", "opt_out"), ("visibility", "private")];
    let changed = submit(&mut browser, "/test/topics", &change).await;
    has(&changed, "inactive");
    has(&changed, "0 of 1 contact subscribed");
    has(&submit(&mut browser, "/test/topics", &[("act", "delete"), ("id", &topic)]).await, "Topic deleted.");

    let wrong = submit(&mut browser, "/test/suppressions", &[("act", "add"), ("email", "ada"), ("note", "by phone")]).await;
    assert_eq!(wrong.status, 400);
    has(&wrong, "value=\"by phone\"");
    let add = [("act", "add"), ("email", "Ada@example.com"), ("note", "by phone"), ("given", "manual")];
    has(&submit(&mut browser, "/test/suppressions", &add).await, "ada@example.com");
    has(&browser.get("/test/suppressions?search=ada%40example.com").await, "by phone");
    has(&browser.get("/test/suppressions?search=ada").await, "Enter a complete address");
    has(&browser.get("/test/suppressions?search=ada%40").await, "Enter a complete address");
    let contact = client.data("contacts.list", json!({ "projectId": project })).await["contacts"][0].clone();
    has(&browser.get(&format!("/test/contacts/{}", id(&contact))).await, "is on the suppression list");
    let remove = [("act", "remove"), ("email", "ada@example.com")];
    has(&submit(&mut browser, "/test/suppressions", &remove).await, "No suppressed addresses");
}

#[tokio::test(flavor = "multi_thread")]
async fn user_input_is_shown_as_text_and_brands_are_separate() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    let name: String = EVIL.chars().take(50).collect();
    let other = client.project(&name).await;
    let fields = json!({ name.as_str(): EVIL });
    let contact =
        json!({ "projectId": other, "email": "ada@example.com", "firstName": EVIL, "tags": [name], "customFields": fields });
    let contact = id(&client.data("contacts.create", contact).await);
    let tag = id(&client.data("tags.list", json!({ "projectId": other })).await["tags"][0]);
    client.data("tags.update", json!({ "id": tag, "projectId": other, "description": EVIL })).await;
    client.data("topics.create", json!({ "projectId": other, "name": EVIL, "description": EVIL })).await;
    let filters = json!({ "tags": [tag], "fields": [{ "key": name, "mode": "is", "values": [EVIL] }] });
    let segment = json!({ "projectId": other, "name": EVIL, "description": EVIL, "filters": filters });
    let segment = id(&client.data("segments.create", segment).await);
    client.data("suppressions.create", json!({ "email": "ada@example.com", "note": EVIL })).await;
    let event = json!({ "projectId": other, "name": name, "identifiers": { "email": "ada@example.com" }, "properties": { "what": EVIL, "value": EVIL } });
    client.data("events.record", event).await;
    let of = format!("brand={other}");
    for path in [
        format!("/test/contacts?{of}"),
        format!("/test/contacts?{of}&search=%3Cscript%3Ealert(1)"),
        format!("/test/contacts/{contact}?{of}"),
        format!("/test/contacts/new?{of}"),
        format!("/test/segments?{of}"),
        format!("/test/segments/{segment}?{of}"),
        format!("/test/tags?{of}"),
        format!("/test/topics?{of}"),
        "/test/suppressions".into(),
    ] {
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        has(&page, "&lt;script&gt;");
        lacks(&page, "<script>alert");
        lacks(&page, "<img src=x");
        assert!(page.text.len() < 60_000, "{path} has {} bytes", page.text.len());
    }
    // The last brand used is shown, and other brands' contacts are not found.
    has(&browser.get("/test/contacts").await, "ada@example.com");
    lacks(&browser.get(&format!("/test/contacts?brand={project}")).await, &contact);
    assert_eq!(browser.get(&format!("/test/contacts/{contact}?brand={project}")).await.status, 404);
    // A link from elsewhere may omit the brand.
    has(&browser.get(&format!("/test/contacts/{contact}")).await, "ada@example.com");
    assert_eq!(browser.get("/test/contacts/66f1a2b30000000a5c3e9d71").await.status, 404);
    assert_eq!(browser.get("/test/contacts?brand=0123456789abcdef01234567").await.status, 404);
    assert_eq!(browser.get("/test/contacts/nonsense").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_changes_nothing_and_a_user_without_access_sees_nothing() {
    let server = owned(BOUNDLESS);
    let (client, project, _) = scene(&server).await;
    let contact = client.contact(&project, "ada@example.com").await;
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "viewer@example.com", json!({ "role": "viewer" })).await;
    member(&server, &owner, "other@example.com", json!({ "role": "custom", "permissions": ["webhook:read"] })).await;
    for (email, sees) in [("viewer@example.com", 200), ("other@example.com", 403)] {
        let mut browser = Browser::new(&server);
        let csrf = browser.get("/signin").await.csrf().to_owned();
        browser.post("/signin", &[("csrf", &csrf), ("email", email), ("password", PASSWORD)]).await;
        for path in PAGES.iter().filter(|path| path.starts_with("/test")) {
            // A form that the user could not submit is not shown.
            let sees = if *path == "/test/contacts/new" { 403 } else { sees };
            assert_eq!(browser.get(path).await.status, sees, "{email} {path}");
        }
        let csrf = browser.get("/test/").await.csrf().to_owned();
        let row = format!("{contact} ada@example.com");
        for (path, fields) in [
            ("/test/contacts", vec![("act", "delete"), ("sure", "yes"), ("contact", row.as_str())]),
            ("/test/contacts/new", vec![("email", "eve@example.com")]),
            ("/test/tags", vec![("act", "create"), ("name", "x")]),
            ("/test/topics", vec![("act", "create"), ("name", "x")]),
            ("/test/segments/new", vec![("do", "save"), ("name", "x")]),
            ("/test/suppressions", vec![("act", "add"), ("email", "ada@example.com")]),
        ] {
            let all: Vec<_> = [("csrf", csrf.as_str())].into_iter().chain(fields).collect();
            assert_eq!(browser.post(path, &all).await.status, 403, "{email} {path}");
        }
    }
    assert_eq!(client.data("contacts.list", json!({ "projectId": project })).await["total"], 1);
}

/// Create more brands than fit on one page of the list.
const BRANDS: usize = 101;

#[tokio::test(flavor = "multi_thread")]
async fn a_brand_older_than_the_list_goes_back_has_all_its_pages() {
    let server = owned(BOUNDLESS);
    let (client, oldest, mut browser) = scene(&server).await;
    for number in 1..=BRANDS {
        client.project(&format!("Brand {number}")).await;
    }
    let contact = client.contact(&oldest, "ada@example.com").await;
    let segment = id(&client.data("segments.create", json!({ "projectId": oldest, "name": "All contacts" })).await);
    let export = client.data("contacts.export", json!({ "projectId": oldest })).await;
    let export = export["jobId"].as_str().expect("an id").to_owned();
    browser.cookies.remove("mailmill-brand");
    for page in ["contacts", "contacts/new", "contacts/import", "segments", "segments/new", "tags", "topics"] {
        let page = browser.get(&format!("/test/{page}?brand={oldest}")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        has(&page, &format!("<option value=\"{oldest}\" selected>Acme</option>"));
        browser.cookies.remove("mailmill-brand");
    }
    // Links from elsewhere may omit the brand.
    for (path, part) in [
        (format!("/test/contacts/{contact}"), "ada@example.com"),
        (format!("/test/contacts/{contact}/data"), "ada@example.com"),
        (format!("/test/segments/{segment}"), "All contacts"),
        (format!("/test/contacts/jobs/export/{export}"), "Contact export"),
    ] {
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        has(&page, part);
        browser.cookies.remove("mailmill-brand");
    }
    // This brand is now the last brand used.
    browser.get(&format!("/test/contacts?brand={oldest}")).await;
    has(&browser.get("/test/contacts").await, "ada@example.com");
    for path in ["contacts", "segments"] {
        let missing = browser.get(&format!("/test/{path}/66f1a2b3e5f60718293a4b5c")).await;
        assert_eq!(missing.status, 404, "{}", missing.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_a_field_is_shown_once_next_to_it() {
    let server = owned(BOUNDLESS);
    let (client, project, mut browser) = scene(&server).await;
    let contact = format!("/test/contacts/{}", client.contact(&project, "ada@example.com").await);
    client.data("topics.create", json!({ "projectId": project, "name": "News" })).await;
    client.data("tags.create", json!({ "projectId": project, "name": "vip" })).await;
    let long = "x".repeat(2_000);
    for (path, fields, id) in [
        ("/test/contacts/new", vec![("email", "ada")], "email-wrong"),
        ("/test/contacts/new", vec![("email", "bob@example.com"), ("country", "XX")], "country-wrong"),
        (contact.as_str(), vec![("act", "save"), ("country", "XX")], "country-wrong"),
        (contact.as_str(), vec![("act", "erase")], "sure-wrong"),
        ("/test/suppressions", vec![("act", "add"), ("email", "ada")], "email-wrong"),
        ("/test/suppressions", vec![("act", "add"), ("email", "bob@example.com"), ("note", long.as_str())], "note-wrong"),
        ("/test/topics", vec![("act", "create"), ("name", "Offers"), ("order", "x")], "displayOrder-wrong"),
    ] {
        let page = submit(&mut browser, path, &fields).await;
        assert_eq!(page.status, 400, "{path}: {}", page.text);
        has(&page, &format!("id=\"{id}\""));
        assert_eq!(page.text.matches("data-wrong").count(), 1, "{path} {fields:?}: {}", page.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_shown_in_plain_words() {
    let server = owned(BOUNDLESS);
    let (_, _, mut browser) = scene(&server).await;
    let unknown = browser.get("/test/contacts?brand=66f1a2b3e5f60718293a4b5c").await;
    assert_eq!(unknown.status, 404);
    has(&unknown, "This brand doesn&#x27;t exist.");
    let tag = [("act", "create"), ("name", "vip")];
    submit(&mut browser, "/test/tags", &tag).await;
    let again = submit(&mut browser, "/test/tags", &tag).await;
    has(&again, "id=\"name-wrong\"");
    lacks(&again, "name: ");
    let deaf = submit(&mut browser, "/test/settings/webhooks", &[("act", "create"), ("url", "https://example.com/hook")]).await;
    has(&deaf, "Select at least one event.");
    for page in [unknown, again, deaf] {
        assert!(page.status >= 400);
        lacks(&page, "GET /v1");
    }
}
