//! The main tasks of the pages for brands, emails, the audience and campaigns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tokio::time::Instant;

use super::driver::PATIENCE;
use super::tasks::{Scene, Task};
use crate::dashboard::home::{broken_file, imported};
use crate::support::hook_sink::{HookSink, Reaction};

/// TABLE: the main tasks of these pages.
pub const TASKS: &[(&str, Task)] = &[
    ("/{environment}/", |scene| Box::pin(home(scene))),
    ("/{environment}/brands/new", |scene| Box::pin(new_brand(scene))),
    ("/{environment}/brands/{id}", |scene| Box::pin(brand(scene))),
    ("/{environment}/brands/{id}/look", |scene| Box::pin(look(scene))),
    ("/{environment}/brands/{id}/details", |scene| Box::pin(details(scene))),
    ("/{environment}/brands/{id}/products", |scene| Box::pin(products(scene))),
    ("/{environment}/brands/{id}/changes", |scene| Box::pin(changes(scene))),
    ("/test/brands/{id}/go-live", |scene| Box::pin(go_live(scene))),
    ("/{environment}/brands/{id}/images", |scene| Box::pin(images(scene))),
    ("/{environment}/brands/{id}/knowledge", |scene| Box::pin(knowledge(scene))),
    ("/{environment}/brands/{id}/knowledge/{entry}", |scene| Box::pin(entry(scene))),
    ("/{environment}/brands/{id}/guidelines", |scene| Box::pin(guidelines(scene))),
    ("/{environment}/emails/new", |scene| Box::pin(new_email(scene))),
    ("/{environment}/emails/import", |scene| Box::pin(import_email(scene))),
    ("/{environment}/emails/{id}", |scene| Box::pin(email(scene))),
    ("/{environment}/emails/designs", |scene| Box::pin(designs(scene))),
    ("/{environment}/emails/{id}/document", |scene| Box::pin(document(scene))),
    ("/{environment}/emails/{id}/editor", |scene| Box::pin(reusable_block(scene))),
    ("/{environment}/emails/{id}/checks", |scene| Box::pin(checks(scene))),
    ("/{environment}/emails/{id}/previews", |scene| Box::pin(previews(scene))),
    ("/{environment}/emails/{id}/versions", |scene| Box::pin(versions(scene))),
    ("/{environment}/emails/{id}/try", |scene| Box::pin(try_email(scene))),
    ("/{environment}/emails/{id}/exports", |scene| Box::pin(exports(scene))),
    ("/{environment}/contacts/new", |scene| Box::pin(new_contact(scene))),
    ("/{environment}/contacts", |scene| Box::pin(contacts(scene))),
    ("/{environment}/contacts/{id}", |scene| Box::pin(contact(scene))),
    ("/{environment}/contacts/import", |scene| Box::pin(import_contacts(scene))),
    ("/{environment}/contacts/import/{id}", |scene| Box::pin(columns(scene))),
    ("/{environment}/tags", |scene| Box::pin(tags(scene))),
    ("/{environment}/topics", |scene| Box::pin(topics(scene))),
    ("/{environment}/segments/new", |scene| Box::pin(new_segment(scene))),
    ("/{environment}/segments/{id}", |scene| Box::pin(segment(scene))),
    ("/{environment}/segments", |scene| Box::pin(segments(scene))),
    ("/{environment}/suppressions", |scene| Box::pin(suppressions(scene))),
    ("/{environment}/campaigns/new", |scene| Box::pin(new_campaign(scene))),
    ("/{environment}/campaigns/{id}/edit", |scene| Box::pin(edit_campaign(scene))),
    ("/{environment}/campaigns/{id}/launch", |scene| Box::pin(launch(scene))),
    ("/{environment}/campaigns/{id}", |scene| Box::pin(campaign(scene))),
    ("/test/demo", |scene| Box::pin(demo(scene))),
    ("/test/api/{operation}", |scene| Box::pin(api_call(scene))),
];

async fn at(scene: &Scene<'_>, route: &str) {
    scene.open(&scene.there.path(route, "test")).await;
}

/// Reloads a page until it contains this text, because background work is in progress.
async fn comes(scene: &Scene<'_>, path: &str, wanted: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        scene.open(path).await;
        let text = scene.tab.text().await;
        if text.contains(wanted) {
            return;
        }
        assert!(Instant::now() < end, "{path} does not show \"{wanted}\":\n{text}");
    }
}

async fn home(scene: &Scene<'_>) {
    let client = scene.server.client("test", "all");
    imported(&client, &scene.there.ids["brands"], &broken_file()).await;
    let tab = scene.tab;
    scene.open("/test/").await;
    let said = "A contact import for Fresh bread failed.";
    tab.sees(said).await;
    tab.press_through("Dismiss").await;
    assert!(!tab.text().await.contains(said), "an acknowledged failure is not shown again");
}

async fn new_brand(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/brands").await;
    tab.press("Import a brand").await;
    tab.fill("#urls", "http://127.0.0.1:10").await;
    tab.fill("#name", "Browser's brand").await;
    tab.press("Import").await;
    tab.sees("Browser's brand").await;
}

async fn brand(scene: &Scene<'_>) {
    at(scene, "/{environment}/brands/{id}").await;
    scene.tab.press_through("Try again").await;
    // The website still does not exist, so the import fails again.
    scene.tab.sees("Try again").await;
}

async fn look(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/brands/{id}/look").await;
    tab.unfold("#url").await;
    tab.fill("#url", "https://example.com/logo.png").await;
    tab.press("Upload").await;
    tab.sees("Logos saved.").await;
    at(scene, "/{environment}/brands/{id}/look").await;
    tab.fill("#look-primary", "#0A5C36").await;
    let picked = "return document.querySelector('[name=\"pick.palette.primary\"]').value";
    if tab.scripts {
        assert_eq!(tab.run(picked, json!([])).await, "#0a5c36", "the picker follows the text field");
    }
    tab.press("Save").await;
    tab.sees("Theme saved.").await;
    assert_eq!(tab.run(picked, json!([])).await, "#0a5c36");
}

async fn details(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&format!("{}?focus=address#address", scene.there.path("/{environment}/brands/{id}/details", "test"))).await;
    let focused = tab.run("return document.activeElement.id", json!([])).await;
    assert_eq!(focused, "address", "the link leads to the field that fills the gap");
    tab.fill("#address", "1 High Street, London N1 9GU").await;
    tab.press("Save").await;
    tab.sees("Changes saved.").await;
    at(scene, "/{environment}/brands/{id}/details").await;
    assert_eq!(tab.run("return document.querySelector('#address').value", json!([])).await, "1 High Street, London N1 9GU");
}

/// Imports a website twice. The second time, its description has changed.
async fn changes(scene: &Scene<'_>) {
    let is_newer = Arc::new(AtomicBool::new(false));
    let newer = is_newer.clone();
    let site = HookSink::start(move |_, _| {
        let about = if newer.load(Ordering::Relaxed) { "Bread and cakes, baked twice a day." } else { "Bread, baked every morning." };
        let page = format!(
            "<html lang=en><head><title>Rye Corner</title><meta name=description content='{about}'></head><body><h1>Rye Corner</h1>\
             <p>We bake in the middle of town.</p></body></html>"
        );
        Reaction::Answer(200, "content-type: text/html\r\n", page)
    })
    .await;
    let client = scene.server.client("test", "all");
    let (project, state) = crate::sites::import(&client, json!({ "urls": [site.url()] })).await;
    assert_eq!(state["status"], "active", "{state}");
    is_newer.store(true, Ordering::Relaxed);
    let tab = scene.tab;
    scene.open(&format!("/test/brands/{project}")).await;
    scene.press_and_agree("Import again").await;
    comes(scene, &format!("/test/brands/{project}/changes"), "Bread and cakes, baked twice a day.").await;
    tab.press_through("Use all website values").await;
    tab.sees("Bread and cakes, baked twice a day.").await;
    scene.open(&format!("/test/brands/{project}/changes")).await;
    tab.sees("Nothing to review").await;
}

async fn products(scene: &Scene<'_>) {
    let tab = scene.tab;
    for name in ["Ember bowl", "Ember bowl – Acme"] {
        at(scene, "/{environment}/brands/{id}/products").await;
        tab.unfold("#name").await;
        tab.fill("#name", name).await;
        tab.fill("#price", "36").await;
        tab.fill("#before", "42").await;
        tab.fill("#currency", "GBP").await;
        tab.press("Add product").await;
        tab.sees("Product added.").await;
    }
    tab.click("input[aria-label='Select Ember bowl']").await;
    tab.click("input[aria-label='Select Ember bowl – Acme']").await;
    tab.press("Merge selected products").await;
    tab.sees("Products merged.").await;
    let boxes = tab.run("return document.querySelectorAll('input[name=selected]').length", json!([])).await;
    assert_eq!(boxes, 1);
}

async fn go_live(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/test/brands/{id}/go-live").await;
    tab.sees("Before you send").await;
    tab.press("Copy to live").await;
    tab.sees("Copied to live.").await;
    tab.press("Open the live brand").await;
    tab.sees("Fresh bread").await;
}

async fn images(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/brands/{id}/images").await;
    tab.unfold("#words-1").await;
    tab.fill("#words-1", "Our oven at night").await;
    tab.press("Save").await;
    tab.sees("Image details saved.").await;
}

async fn knowledge(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/brands/{id}/knowledge").await;
    tab.unfold("#title").await;
    tab.fill("#title", "How we deliver").await;
    tab.fill("#content", "By bicycle, every morning.").await;
    tab.press("Add entry").await;
    tab.sees("Entry added.").await;
}

async fn entry(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/brands/{id}/knowledge/{entry}").await;
    tab.fill("#content", "By van.").await;
    tab.press("Save").await;
    tab.sees("Entry saved.").await;
    at(scene, "/{environment}/brands/{id}/knowledge/{entry}").await;
    assert_eq!(tab.run("return document.querySelector('#content').value", json!([])).await, "By van.");
}

async fn guidelines(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/brands/{id}/guidelines").await;
    tab.fill("#designRules", "One button per email.").await;
    tab.press("Save").await;
    tab.sees("Guidelines saved.").await;
    at(scene, "/{environment}/brands/{id}/guidelines").await;
    assert_eq!(tab.run("return document.querySelector('#designRules').value", json!([])).await, "One button per email.");
}

async fn new_email(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&format!("/test/emails/new?brand={}", scene.there.ids["brands"])).await;
    tab.fill("#prompt", "Spring sale, 20% off everything until Sunday, code SPRING20").await;
    tab.press("Create email").await;
    tab.sees("Apply").await;
}

async fn import_email(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&format!("/test/emails/import?brand={}", scene.there.ids["brands"])).await;
    tab.fill("#source", "<html lang=en><head><title>Imported</title></head><body><h1>Imported</h1></body></html>").await;
    tab.click_path("//main//button[normalize-space()='Import']").await;
    tab.sees("Imported").await;
    tab.sees("Apply").await;
}

async fn email(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/emails/{id}").await;
    tab.fill("#prompt", "Make the button green").await;
    tab.press_through("Apply").await;
    comes(scene, &scene.there.path("/{environment}/emails/{id}/versions", "test"), "Version 2").await;
}

async fn designs(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "emails/designs").await;
    tab.click("button[aria-label=\"Use this design: Welcome\"]").await;
    tab.sees("Email created. Replace the text in brackets.").await;
}

async fn document(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/emails/{id}/document").await;
    if tab.scripts {
        tab.fill("#editor .editor-top input", "A subject of my own").await;
        tab.sees("Saving…").await;
        tab.sees("All changes saved").await;
    } else {
        tab.fill("#subject", "A subject of my own").await;
        tab.press_through("Save subject and preheader").await;
        tab.sees("Saved as version").await;
    }
    comes(scene, &scene.there.path("/{environment}/emails/{id}/versions", "test"), "A subject of my own").await;
}

async fn reusable_block(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/emails/{id}/document").await;
    let free = if tab.scripts { "#editor .eb:not(.eb-header):not(.eb-footer)" } else { ".block-form:has([value=keep])" };
    tab.element_at(free).await;
    if tab.scripts {
        tab.run("document.querySelector(arguments[0]).click()", json!([free])).await;
        tab.press("Save as a reusable block").await;
        tab.fill("dialog input[name=name]", "Ours").await;
        tab.click_path("//dialog//button[.='Save']").await;
        tab.sees("Saved as “Ours”.").await;
    } else {
        tab.click(&format!("{free} .insert:has([value=keep]) > summary")).await;
        tab.fill(&format!("{free} .insert:has([value=keep]) [name=name]"), "Ours").await;
        tab.click(&format!("{free} [value=keep]")).await;
        tab.sees("Block saved.").await;
    }
    of_brand(scene, "emails/designs").await;
    tab.click("button[value=delete]").await;
    tab.agree().await;
    tab.sees("Saved block deleted.").await;
}

/// Fixes a misspelled word, and ignores another finding.
async fn checks(scene: &Scene<'_>) {
    let tab = scene.tab;
    let client = scene.server.client("test", "all");
    let source = "<html lang=en><head><title>Garden</title></head><body><p>You will recieve our news about the garden.</p>\
                  <img src=\"https://example.com/a.png\" width=\"600\" height=\"300\"></body></html>";
    let project = &scene.there.ids["brands"];
    let made = client.data("emails.import_html", json!({ "projectId": project, "html": source })).await;
    let conversation = made["conversationId"].as_str().expect("an id").to_owned();
    let end = Instant::now() + PATIENCE;
    let email = loop {
        let status = client.data("emails.status", json!({ "conversationId": conversation })).await;
        if let Some(id) = status["result"]["emails"][0]["id"].as_str().filter(|_| status["status"] == "completed") {
            break id.to_owned();
        }
        assert!(Instant::now() < end, "the email is not ready: {status}");
    };
    let page = format!("/test/emails/{email}/checks");
    comes(scene, &page, "“recieve” is misspelled.").await;
    tab.press_through("Replace “recieve” with “receive”").await;
    tab.sees("Fixed in version 2.").await;
    comes(scene, &page, "has no alt attribute").await;
    assert!(!tab.text().await.contains("recieve"));
    tab.click_path("//li[contains(., 'has no alt attribute')]//button[normalize-space()='Ignore']").await;
    tab.sees("Finding ignored.").await;
    tab.press_through("Stop ignoring").await;
    tab.sees("Finding no longer ignored.").await;
}

/// Opens one device in full size, and compares it with another.
async fn previews(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/emails/{id}/previews").await;
    // Opening the page starts no preview; the button does.
    tab.sees("existing previews are reused.").await;
    tab.press_through("Preview common devices").await;
    tab.sees("Previews are simulations").await;
    // A busy machine draws the previews slowly.
    let end = Instant::now() + 2 * PATIENCE;
    while tab.text().await.contains("previews ready") {
        assert!(Instant::now() < end, "the previews are not ready");
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    tab.click(".devices h2 a").await;
    tab.sees("What this client changes").await;
    tab.click("#with option:nth-child(2)").await;
    tab.press_through("Show").await;
    tab.element_at(".two-up .full:nth-child(2)").await;
}

async fn versions(scene: &Scene<'_>) {
    let tab = scene.tab;
    comes(scene, &scene.there.path("/{environment}/emails/{id}/versions", "test"), "Version 2").await;
    tab.press_through("Restore this version").await;
    comes(scene, &scene.there.path("/{environment}/emails/{id}/versions", "test"), "Version 3").await;
}

async fn try_email(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/emails/{id}/try").await;
    tab.fill("#to", "me@example.com").await;
    tab.press("Send test").await;
    tab.sees("Test sent.").await;
    comes(scene, "/test/inbox", "me@example.com").await;
}

async fn exports(scene: &Scene<'_>) {
    at(scene, "/{environment}/emails/{id}/exports").await;
    scene.tab.click("button[aria-label=\"Export as HTML\"]").await;
    scene.tab.sees("Download").await;
}

/// Returns the path of a page about the brand's audience.
async fn of_brand(scene: &Scene<'_>, path: &str) {
    scene.open(&format!("/test/{path}?brand={}", scene.there.ids["brands"])).await;
}

async fn new_contact(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "contacts/new").await;
    tab.fill("#email", "browser@example.com").await;
    tab.press("Add contact").await;
    tab.sees("Contact added.").await;
    of_brand(scene, "contacts/new").await;
    tab.fill("#email", "browser@example.com").await;
    tab.press("Add contact").await;
    tab.element_at("main [data-wrong]").await;
    assert_eq!(tab.run("return document.querySelector('#email').value", json!([])).await, "browser@example.com");
}

async fn contacts(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "contacts").await;
    tab.fill("#search", "reader7@").await;
    if !tab.scripts {
        tab.press("Search").await;
    }
    tab.sees("reader7@example.com").await;
    of_brand(scene, "contacts").await;
    tab.unfold("#bulk_tag").await;
    tab.click("input[name=contact]").await;
    tab.fill("#bulk_tag", "chosen").await;
    tab.press("Add").await;
    tab.sees("1 contact updated").await;
    of_brand(scene, "tags").await;
    tab.sees("chosen").await;
}

async fn contact(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene
        .open(&format!("{}?brand={}", scene.there.path("/{environment}/contacts/{id}", "test"), scene.there.ids["brands"]))
        .await;
    tab.fill("#tag", "regular").await;
    tab.press("Add").await;
    tab.sees("regular").await;
}

async fn import_contacts(scene: &Scene<'_>) {
    let tab = scene.tab;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("people.csv");
    std::fs::write(&file, "Email,First name,Shoe size\nada@lovelace.example,Ada,38\nbob@builder.example,Bob,44\n")
        .expect("written");
    of_brand(scene, "contacts/import").await;
    tab.attach("#file", file.to_str().expect("UTF-8")).await;
    tab.press("Upload").await;
    tab.sees("Shoe size").await;
    tab.press_through("Import").await;
    comes(scene, &format!("/test/contacts?brand={}", scene.there.ids["brands"]), "ada@lovelace.example").await;
}

async fn columns(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene
        .open(&format!("{}?brand={}", scene.there.path("/{environment}/contacts/import/{id}", "test"), scene.there.ids["brands"]))
        .await;
    tab.sees("new@example.com").await;
    tab.choose("tbody tr:nth-child(1) select", "email").await;
    tab.press_through("Import").await;
    comes(scene, &format!("/test/contacts?brand={}&search=new@", scene.there.ids["brands"]), "new@example.com").await;
}

async fn tags(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "tags").await;
    tab.fill("#name-new", "from the browser").await;
    tab.press("Create tag").await;
    tab.sees("from the browser").await;
}

async fn topics(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "topics").await;
    tab.fill("#name-new", "News from the browser").await;
    tab.press("Create topic").await;
    tab.sees("News from the browser").await;
}

async fn new_segment(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "segments/new").await;
    tab.fill("#name", "Made in a browser").await;
    tab.fill(".rule:not(.group) input[name=value]", "ada@lovelace.example").await;
    tab.press("Create segment").await;
    tab.sees("Segment saved.").await;
}

async fn segment(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene
        .open(&format!("{}?brand={}", scene.there.path("/{environment}/segments/{id}", "test"), scene.there.ids["brands"]))
        .await;
    tab.fill("#name", "Renamed in a browser").await;
    tab.press("Save").await;
    tab.sees("Segment saved.").await;
    of_brand(scene, "segments").await;
    tab.sees("Renamed in a browser").await;
}

async fn segments(scene: &Scene<'_>) {
    let tab = scene.tab;
    of_brand(scene, "segments").await;
    tab.click("button[aria-label=\"Delete Made in a browser\"]").await;
    tab.agree().await;
    tab.misses("button[aria-label=\"Delete Made in a browser\"]").await;
    tab.sees("Renamed in a browser").await;
}

async fn suppressions(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/suppressions").await;
    tab.fill("#email", "never@example.com").await;
    tab.press("Suppress").await;
    tab.sees("never@example.com").await;
}

async fn new_campaign(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open(&format!("/test/campaigns/new?emailId={}", scene.there.ids["emails"])).await;
    tab.fill("#name", "Autumn").await;
    tab.fill("#from_name", "Acme").await;
    tab.fill("#from", "news@acme.example").await;
    tab.press("Save draft").await;
    tab.sees("Draft saved.").await;
}

/// Returns the path of the draft campaign.
async fn draft(scene: &Scene<'_>, part: &str) {
    scene.open(&format!("/test/campaigns/{}{part}", scene.there.ids["drafts"])).await;
}

async fn edit_campaign(scene: &Scene<'_>) {
    let tab = scene.tab;
    draft(scene, "/edit").await;
    tab.fill("#name", "Winter").await;
    tab.press("Save").await;
    tab.sees("Winter").await;
}

async fn launch(scene: &Scene<'_>) {
    let tab = scene.tab;
    draft(scene, "/launch").await;
    tab.click("button[value=send]").await;
    tab.agree().await;
    tab.sees("Sending started.").await;
}

async fn campaign(scene: &Scene<'_>) {
    let tab = scene.tab;
    at(scene, "/{environment}/campaigns/{id}").await;
    tab.press("View report").await;
    tab.sees("Opens and clicks by day").await;
}

async fn api_call(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/api/plan.get").await;
    tab.fill("#input", "{}").await;
    tab.press("Send request").await;
    tab.sees("Status 200").await;
}

async fn demo(scene: &Scene<'_>) {
    let tab = scene.tab;
    scene.open("/test/demo").await;
    tab.fill("#site", "http://127.0.0.1:9").await;
    tab.press("Start").await;
    // The website does not exist, so the demo reports this and can be run again.
    tab.sees("Run again").await;
}
