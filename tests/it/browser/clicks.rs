//! Counts the clicks that a marketer needs for frequent tasks, from Home to the saved change, with what is visible on the pages.

use std::cell::Cell;

use serde_json::{Value, json};

use super::driver::{Driver, Tab};
use super::editor::saved;
use super::{at, driver, page_checks, sign_in};
use crate::support::Server;
use crate::support::fixtures::{Furnished, settings};
use crate::users::{OWNER, owned, signed_in};

/// A marketer with a mouse. Every click counts, including the clicks into fields.
struct Visitor<'t> {
    tab: &'t Tab<'t>,
    server: &'t Server,
    clicks: Cell<u32>,
}

impl Visitor<'_> {
    /// Opens Home, where each task starts.
    async fn start(&self) {
        self.tab.go(&at(self.server, "/test/")).await;
        self.clicks.set(0);
    }

    async fn click(&self, path: &str) {
        self.tab.click_path(path).await;
        self.clicks.set(self.clicks.get() + 1);
    }

    /// Clicks a page in the menu.
    async fn menu(&self, label: &str) {
        self.click(&format!("//nav[@aria-label='Pages']//a[normalize-space()='{label}']")).await;
    }

    /// Clicks a link or a button of the page.
    async fn press(&self, label: &str) {
        self.click(&format!("//main//*[(self::a or self::button) and not(@aria-hidden) and normalize-space()='{label}']")).await;
    }

    /// Clicks into a field and types.
    async fn fill(&self, selector: &str, text: &str) {
        self.tab.fill(selector, text).await;
        self.clicks.set(self.clicks.get() + 1);
    }

    /// Picks a color in a color field: one click opens the picker, and one chooses. Chromium draws the picker outside the page, where no
    /// test can click.
    async fn pick_color(&self, name: &str, color: &str) {
        let script = "const field = document.querySelector(`[name=\"${arguments[0]}\"]`); field.value = arguments[1]; \
                      for (const event of ['input', 'change']) field.dispatchEvent(new Event(event, { bubbles: true }));";
        self.tab.run(script, json!([name, color])).await;
        self.clicks.set(self.clicks.get() + 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frequent_tasks_take_few_clicks() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let server = owned(&settings());
    let (site, _) = crate::sites::serve("bakery");
    let there = Furnished::new(&server, "Fresh bread", &format!("http://{site}")).await;
    let owner = signed_in(&server, OWNER, "test").await;
    let key = json!({ "name": "Editor's", "environment": "test", "permissions": ["all"] });
    let key = owner.data("accounts.key_create", key).await;
    let owner = owner.with_key(key["key"].as_str());
    let brand = there.ids["brands"].clone();
    let email = owner.data("emails.create", json!({ "projectId": brand, "design": "launch" })).await;
    let id = email["id"].as_str().expect("an id").to_owned();
    let subject = email["subject"].as_str().expect("a subject").to_owned();
    let name = owner.data("projects.get", json!({ "projectId": brand })).await["name"].as_str().expect("a name").to_owned();

    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    sign_in(&tab, &server).await;
    let visitor = Visitor { tab: &tab, server: &server, clicks: Cell::new(0) };
    let mut counts = Vec::new();

    visitor.start().await;
    visitor.menu("Brands").await;
    visitor.press(&name).await;
    visitor.press("Details").await;
    visitor.fill("#address", "1 High Street, London N1 9GU").await;
    visitor.press("Save").await;
    tab.sees("Changes saved.").await;
    counts.push(("correct the postal address", visitor.clicks.get(), 5));

    visitor.start().await;
    visitor.menu("Brands").await;
    visitor.press(&name).await;
    visitor.press("Theme").await;
    visitor.pick_color("pick.palette.primary", "#0a5c36").await;
    visitor.press("Save").await;
    tab.sees("Theme saved.").await;
    counts.push(("change a color with the picker", visitor.clicks.get(), 6));

    visitor.start().await;
    visitor.menu("Emails").await;
    visitor.press(&subject).await;
    visitor.press("Edit").await;
    let image = |document: &Value| document["blocks"].to_string().matches("\"src\"").count();
    let before = owner.data("emails.get", json!({ "emailId": id })).await["document"].clone();
    visitor.click("//*[@data-id='hero-1']//*[contains(@class, 'title')]").await;
    visitor.click("//aside//button[.='Replace or edit image' or .='Choose image']").await;
    visitor.click("(//dialog//*[contains(@class, 'editor-library')]//button)[last()]").await;
    visitor.click("//dialog//button[.='Use image']").await;
    saved(&owner, &id, "the image", |document| *document != before && image(document) >= image(&before)).await;
    counts.push(("swap an image", visitor.clicks.get(), 7));

    visitor.start().await;
    visitor.menu("Emails").await;
    visitor.press(&subject).await;
    visitor.press("Edit").await;
    let before = owner.data("emails.get", json!({ "emailId": id })).await["document"].clone();
    visitor.click("//*[@data-id='hero-1']//*[contains(@class, 'title')]").await;
    visitor.click("//*[@data-id='hero-1']//button[@data-tool='down']").await;
    saved(&owner, &id, "the move", |document| document["blocks"][1]["id"] != before["blocks"][1]["id"]).await;
    counts.push(("move a block", visitor.clicks.get(), 5));

    visitor.start().await;
    visitor.menu("Brands").await;
    visitor.press(&name).await;
    visitor.press("Go live").await;
    visitor.press("Copy to live").await;
    tab.sees("Copied to live.").await;
    counts.push(("go live", visitor.clicks.get(), 4));

    for (task, clicks, max) in &counts {
        println!("{task}: {clicks} clicks");
        assert!(clicks <= max, "{task}: {clicks} clicks, expected at most {max}");
    }
    assert_eq!(page_checks::console(&tab).await, [""; 0]);
}
