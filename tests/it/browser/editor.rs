//! The editor in a real Chromium: with the mouse, with the keyboard, with two editors at once, and without scripts.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::driver::{Driver, PATIENCE, Tab};
use super::{at, driver, page_checks, sign_in};
use crate::support::fixtures::{Furnished, settings, until};
use crate::support::{Client, Server};
use crate::users::{OWNER, owned, signed_in};

/// A server with an email made from a design, and its owner.
struct Scene {
    server: Server,
    owner: Client,
    id: String,
}

impl Scene {
    async fn new(design: &str) -> Self {
        let server = owned(&settings());
        let there = Furnished::new(&server, "Fresh bread", "http://127.0.0.1:9").await;
        let owner = signed_in(&server, OWNER, "test").await;
        let brand = there.ids["brands"].clone();
        let key = json!({ "name": "Editor's", "environment": "test", "permissions": ["all"] });
        let key = owner.data("accounts.key_create", key).await;
        let owner = owner.with_key(key["key"].as_str());
        let email = owner.data("emails.create", json!({ "projectId": brand, "design": design })).await;
        Self { server, owner, id: email["id"].as_str().expect("an id").to_owned() }
    }

    async fn open(&self, tab: &Tab<'_>) {
        tab.go(&at(&self.server, &format!("/test/emails/{}/document", self.id))).await;
    }

    async fn email(&self) -> Value {
        self.owner.data("emails.get", json!({ "emailId": self.id })).await
    }

    /// Waits until the saved document satisfies a condition.
    async fn saved(&self, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        saved(&self.owner, &self.id, what, is_right).await
    }
}

/// Waits until the saved document of an email satisfies a condition, and returns the email.
pub async fn saved(client: &Client, id: &str, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let email = client.data("emails.get", json!({ "emailId": id })).await;
        if is_right(&email["document"]) {
            return email;
        }
        assert!(Instant::now() < end, "not saved: {what}: {}", email["document"]);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// Returns the types of the blocks.
fn kinds(document: &Value) -> Vec<String> {
    let blocks = document["blocks"].as_array().expect("blocks");
    blocks.iter().map(|block| block["type"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Selects a block.
async fn pick(tab: &Tab<'_>, id: &str) {
    let script = "const block = document.querySelector(`[data-id=\"${arguments[0]}\"]`); block.scrollIntoView({ block: 'center' }); \
                  block.click();";
    tab.element_at(&format!("[data-id=\"{id}\"]")).await;
    tab.run(script, json!([id])).await;
}

/// Drags the coupon by its handle to the lower edge of the hero, with the mouse or by touch.
async fn drag_coupon_below_hero(tab: &Tab<'_>, pointer: &str) {
    let places = "const box = (what) => document.querySelector(what).getBoundingClientRect(); \
                  document.querySelector('[data-id=hero-1]').scrollIntoView({ block: 'center' }); \
                  const from = box('[data-id=coupon-1] .eb-handle'), to = box('[data-id=hero-1]'); \
                  return [from.x + 5, from.y + 5, to.x + 40, to.bottom - 4].map(Math.round);";
    let place = tab.run(places, json!([])).await;
    tab.drag(pointer, (&place[0], &place[1]), (&place[2], &place[3])).await;
}

const ENTER: &str = "\u{e007}";
const CONTROL: &str = "\u{e009}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_and_blocks_are_edited_with_the_mouse() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let scene = Scene::new("sale").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    tab.fill("[data-id=hero-1] .title", "Everything must go").await;
    scene.saved("the title", |document| document["blocks"][1]["title"] == "Everything must go").await;
    // A merge field is inserted at the cursor.
    tab.run("document.querySelector('[data-id=hero-1] .ProseMirror').focus()", json!([])).await;
    tab.press("Merge field").await;
    tab.choose("dialog select[name=field]", "first_name").await;
    tab.fill("dialog input[name=other]", "there").await;
    tab.click_path("//dialog//button[.='Insert']").await;
    let field = "{{ first_name | default(\"there\") }}";
    let is_there = |document: &Value| document["blocks"][1]["text"].as_str().is_some_and(|text| text.contains(field));
    scene.saved("the merge field", is_there).await;
    // Buttons move, duplicate and delete a block.
    pick(&tab, "coupon-1").await;
    tab.click("[data-id=coupon-1] [data-tool=up]").await;
    scene.saved("the move up", |document| kinds(document)[1] == "coupon").await;
    tab.click("[data-id=coupon-1] [data-tool=duplicate]").await;
    scene.saved("the copy", |document| kinds(document)[1..3] == ["coupon", "coupon"]).await;
    tab.click("[data-id=coupon-2] [data-tool=delete]").await;
    scene.saved("the deletion", |document| kinds(document)[1..3] == ["coupon", "hero"]).await;
    // Dragging moves a block.
    pick(&tab, "coupon-1").await;
    drag_coupon_below_hero(&tab, "mouse").await;
    scene.saved("the drag", |document| kinds(document)[1..3] == ["hero", "coupon"]).await;
    // The palette inserts a block, whose sample text typing replaces.
    pick(&tab, "hero-1").await;
    tab.click("[data-id=hero-1] > .eb-insert").await;
    tab.click_path("//dialog//button[.='Heading']").await;
    tab.keys(&["A", "sk"]).await;
    let email = scene.saved("the heading", |document| document["blocks"][2]["text"] == "Ask").await;
    assert!(email["version"].as_u64() > Some(5));
    // The side panel changes the properties that are not text.
    tab.click_path("//aside//select/option[.='Title']").await;
    scene.saved("the size", |document| document["blocks"][2]["level"] == "title").await;
    // The preview shows the saved email.
    tab.press("Phone").await;
    tab.element_at("iframe.mail[src*='dark=no']").await;
    tab.press("Dark").await;
    tab.element_at("iframe.mail[src*='dark=yes']").await;
    tab.run("scrollTo(0, 0)", json!([])).await;
    tab.press("Plain text").await;
    tab.sees("Everything must go").await;
    assert_eq!(page_checks::console(&tab).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn table_cells_are_edited_in_place_and_a_lost_fact_is_added_with_one_click() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let mut scene = Scene::new("event").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    tab.element_at("[data-id=table-1] td .ProseMirror").await;
    tab.run("document.querySelectorAll('[data-id=table-1] td .ProseMirror')[1].focus()", json!([])).await;
    tab.chord(&[CONTROL, "a"]).await;
    tab.keys(&["Friday at 7"]).await;
    let block = |document: &Value, kind: &str| {
        let mut blocks = document["blocks"].as_array().expect("blocks").iter();
        blocks.find(|block| block["type"] == kind).cloned().unwrap_or_default()
    };
    let email = scene.saved("the cell", |document| block(document, "table")["rows"][0]["cells"][1] == "Friday at 7").await;
    // A wrong code in an email with a brief leads to a warning that adds the right one.
    let prompt = "10% off the first order with HELLO10";
    let wanted = json!({ "projectId": email["projectId"], "prompt": prompt, "languages": ["en"], "count": 1 });
    let started = scene.owner.data("emails.generate", wanted).await;
    let written = until(async || {
        let status = json!({ "conversationId": started["conversationId"] });
        let status = scene.owner.data("emails.status", status).await;
        (status["status"] == "completed").then(|| status["result"]["emails"][0]["id"].clone())
    });
    let id = written.await;
    scene.id = id.as_str().expect("an id").to_owned();
    let coupon = block(&scene.email().await["document"], "coupon");
    let path = format!("blocks.{}.code", coupon["id"].as_str().expect("the email has a coupon"));
    let operations = json!([{ "op": "set", "path": path, "value": "HELLO99" }]);
    scene.owner.data("emails.document_update", json!({ "emailId": id, "operations": operations })).await;
    scene.open(&tab).await;
    tab.click_path("//ul[@class='editor-warnings']//button[@aria-label='Add it: HELLO10']").await;
    scene.saved("the code", |document| document.to_string().contains("HELLO10")).await;
    assert_eq!(page_checks::console(&tab).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_and_blocks_are_edited_by_touch_on_a_phone() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let scene = Scene::new("sale").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    tab.wide(page_checks::NARROW).await;
    tab.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true, "maxTouchPoints": 5 })).await;
    scene.open(&tab).await;
    // A tap into a text starts typing.
    tab.tap("[data-id=hero-1] .title").await;
    tab.chord(&[CONTROL, "a"]).await;
    tab.keys(&["By touch"]).await;
    scene.saved("the title", |document| document["blocks"][1]["title"] == "By touch").await;
    // Taps select and move a block.
    tab.tap("[data-id=coupon-1] .eb-body").await;
    tab.tap("[data-id=coupon-1] [data-tool=up]").await;
    scene.saved("the move up", |document| kinds(document)[1] == "coupon").await;
    // A finger drags a block by its handle.
    drag_coupon_below_hero(&tab, "touch").await;
    scene.saved("the drag", |document| kinds(document)[1..3] == ["hero", "coupon"]).await;
    assert_eq!(page_checks::width(&tab).await, [""; 0]);
    assert_eq!(page_checks::console(&tab).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_and_blocks_are_edited_with_the_keyboard() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let scene = Scene::new("blank").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    tab.element_at("[data-id=text-1] .ProseMirror").await;
    tab.run("document.querySelector('[data-id=text-1] .ProseMirror').focus()", json!([])).await;
    tab.chord(&[CONTROL, "a"]).await;
    tab.keys(&["Plain "]).await;
    tab.chord(&[CONTROL, "b"]).await;
    tab.keys(&["bold"]).await;
    tab.chord(&[CONTROL, "b"]).await;
    tab.keys(&[" end", ENTER, "Next *star*"]).await;
    scene.saved("the text", |document| document["blocks"][2]["text"] == "Plain **bold** end\n\nNext \\*star\\*").await;
    // Undo and redo work with the keyboard.
    tab.chord(&[CONTROL, "z"]).await;
    scene.saved("the undo", |document| !document["blocks"][2]["text"].as_str().unwrap_or_default().contains("star")).await;
    tab.chord(&[CONTROL, "y"]).await;
    scene.saved("the redo", |document| document["blocks"][2]["text"].as_str().unwrap_or_default().contains("star")).await;
    // A block is moved with its button, and the focus stays on the block.
    tab.run("document.querySelector('[data-id=text-1]').focus()", json!([])).await;
    tab.run("document.querySelector('[data-id=text-1] [data-tool=up]').focus()", json!([])).await;
    tab.keys(&[ENTER]).await;
    scene.saved("the move", |document| kinds(document)[1] == "text").await;
    let focused = tab.run("return document.activeElement.closest('.eb')?.dataset.id", json!([])).await;
    assert_eq!(focused, "text-1");
    // The link dialog links the selected words.
    tab.run("document.querySelector('[data-id=text-1] .ProseMirror').focus()", json!([])).await;
    tab.chord(&[CONTROL, "a"]).await;
    tab.keys(&["words"]).await;
    tab.chord(&[CONTROL, "a"]).await;
    tab.chord(&[CONTROL, "k"]).await;
    tab.fill("dialog input[name=href]", "https://acme.example/a").await;
    tab.keys(&[ENTER]).await;
    scene.saved("the link", |document| document["blocks"][1]["text"] == "[words](https://acme.example/a)").await;
    assert_eq!(page_checks::console(&tab).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invalid_link_is_reported_and_the_rest_is_saved_after_its_correction() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let scene = Scene::new("sale").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    pick(&tab, "button-1").await;
    let field = "aside input[type=text]";
    tab.fill(field, "nowhere").await;
    tab.keys(&[ENTER]).await;
    tab.sees("Not saved. Link: ").await;
    assert!(tab.has("[data-id=button-1].wrong").await);
    tab.fill(field, "https://acme.example/sale").await;
    tab.keys(&[ENTER]).await;
    scene.saved("the link", |document| document.to_string().contains("https://acme.example/sale")).await;
    tab.sees("All changes saved").await;
    assert!(!tab.has(".eb.wrong").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_editors_at_once_get_a_notice_and_choose() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let scene = Scene::new("blank").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    tab.element_at("[data-id=heading-1] .eb-line").await;
    let other = async |text: &str| {
        let operations = json!([{ "op": "set", "path": "preheader", "value": text }]);
        scene.owner.data("emails.document_update", json!({ "emailId": scene.id, "operations": operations })).await;
    };
    other("From the other").await;
    tab.fill("[data-id=heading-1] .eb-line", "Mine").await;
    tab.sees("This email was saved elsewhere in the meantime.").await;
    assert_eq!(scene.email().await["preheader"], "From the other");
    tab.press("Keep my changes").await;
    let email = scene.saved("mine", |document| document["blocks"][1]["text"] == "Mine").await;
    assert_ne!(email["preheader"], "From the other");
    other("Once more").await;
    tab.fill("[data-id=heading-1] .eb-line", "Lost").await;
    tab.sees("This email was saved elsewhere in the meantime.").await;
    tab.press_through("Reload").await;
    tab.element_at("[data-id=heading-1] .eb-line").await;
    let shown = tab.run("return document.querySelector('[data-id=heading-1] .eb-line').value", json!([])).await;
    assert_eq!((shown, &scene.email().await["preheader"]), (json!("Mine"), &json!("Once more")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_do_the_same_without_scripts() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let scene = Scene::new("sale").await;
    let mut tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    tab.let_scripts_run(false).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    tab.fill("#subject", "Without scripts").await;
    tab.press_through("Save subject and preheader").await;
    scene.saved("the subject", |document| document["subject"] == "Without scripts").await;
    tab.fill("#b-hero-1-title", "A title").await;
    tab.press_through("Save hero").await;
    scene.saved("the title", |document| document["blocks"][1]["title"] == "A title").await;
    let act = |id: &str, act: &str| format!("//section[@id='b-{id}']//button[@value='{act}']");
    tab.click_path(&act("coupon-1", "up")).await;
    scene.saved("the move", |document| kinds(document)[1] == "coupon").await;
    scene.open(&tab).await;
    tab.click_path(&act("coupon-1", "duplicate")).await;
    scene.saved("the copy", |document| kinds(document)[1..3] == ["coupon", "coupon"]).await;
    scene.open(&tab).await;
    tab.click_path(&act("coupon-2", "remove")).await;
    scene.saved("the deletion", |document| kinds(document)[1..3] == ["coupon", "hero"]).await;
    scene.open(&tab).await;
    tab.unfold("#b-hero-1-insert").await;
    tab.choose("#b-hero-1-insert", "divider").await;
    tab.click_path(&act("hero-1", "insert")).await;
    scene.saved("the divider", |document| kinds(document)[3] == "divider").await;
    scene.open(&tab).await;
    tab.fill("#b-button-1-href", "nowhere").await;
    tab.press_through("Save button").await;
    tab.sees("Link: ").await;
    let kept = tab.run("return document.querySelector('#b-button-1-href').value", json!([])).await;
    assert_eq!(kept, "nowhere");
    // A form that is based on an older version is refused.
    let other = json!([{ "op": "set", "path": "preheader", "value": "From the other" }]);
    scene.owner.data("emails.document_update", json!({ "emailId": scene.id, "operations": other })).await;
    tab.fill("#b-button-1-href", "https://acme.example/").await;
    tab.press_through("Save button").await;
    tab.sees("is now the current version of the email").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_editor_is_accessible_in_both_themes() {
    if !driver::is_there() {
        return;
    }
    let Some(axe) = page_checks::axe() else { return };
    let driver = Driver::start();
    let scene = Scene::new("event").await;
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &scene.server).await;
    scene.open(&tab).await;
    pick(&tab, "list-1").await;
    let mut wrong = page_checks::accessibility(&tab, &axe).await;
    wrong.extend(page_checks::names(&tab).await);
    wrong.extend(page_checks::width(&tab).await);
    tab.click("[data-id=list-1] > .eb-insert").await;
    wrong.extend(page_checks::accessibility(&tab, &axe).await);
    page_checks::keep_pictures(&tab, "editor").await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
