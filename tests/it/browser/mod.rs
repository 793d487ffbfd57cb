//! The dashboard in a real Chromium: every page is checked, and each page's main task is done, with scripts and without.
//!
//! `SHOTS=folder cargo test --test it browser::every_page` saves screenshots of all pages.

mod clicks;
mod docs;
mod driver;
mod editor;
mod page_checks;
mod tasks;
mod work;

use mailmill::surfaces::dashboard::page::Auth;
use serde_json::json;

use self::driver::{Driver, Tab};
use crate::dashboard::attacks::{address, routes};
use crate::support::Server;
use crate::support::fixtures::{EVIL, Furnished, settings};
use crate::support::hook_sink::HookSink;
use crate::support::platforms::Platforms;
use crate::support::stores::shopify::Shopify;
use crate::users::{OWNER, PASSWORD, owned};

/// Returns a URL on a server.
fn at(server: &Server, path: &str) -> String {
    format!("http://{}{path}", server.address())
}

async fn sign_in(tab: &Tab<'_>, server: &Server) {
    tab.go(&at(server, "/signin")).await;
    tab.fill("#email", OWNER).await;
    tab.fill("#password", PASSWORD).await;
    tab.click("main button").await;
    tab.sees("Sign out").await;
}

/// Returns whether the page is a full page rather than a framed document, a download or an image. The setup page is excluded
/// because it has its own test: its link stops working once there is an owner.
fn is_shown(route: &str) -> bool {
    route != "/setup/{token}"
        && ![
            "/frame",
            "/preview",
            "/mail",
            "/picture",
            "/source",
            "/text",
            "/editor",
            "/image",
            "/{design}",
            "/callback",
            "/complete",
        ]
        .iter()
        .any(|end| route.ends_with(end))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_valid_with_data_and_without_in_both_themes() {
    if !driver::is_there() {
        return;
    }
    let axe = page_checks::axe();
    let driver = Driver::start();
    let (empty, full) = (owned(&settings()), owned(&settings()));
    let (site, _) = crate::sites::serve("bakery");
    let there = Furnished::new(&full, "Fresh bread, every morning", &format!("http://{site}")).await;
    let mut wrong = Vec::new();
    for (server, name) in [(&full, "full"), (&empty, "empty")] {
        let tab = driver.browser().await;
        tab.wide(page_checks::WIDE).await;
        for closed in [false, true] {
            if closed {
                sign_in(&tab, server).await;
            }
            for route in routes().filter(|route| route.get.is_some() && is_shown(route.path)) {
                // Pages about an object need the server with all objects. Public pages are opened before signing in.
                let names_something = route.path.replace("{environment}", "").contains('{');
                if (route.auth == Auth::Closed) != closed || (names_something && name == "empty") {
                    continue;
                }
                let path = address(&there, route.path, "test");
                tab.go(&at(server, &path)).await;
                wrong.extend(page_checks::console(&tab).await);
                wrong.extend(page_checks::width(&tab).await);
                wrong.extend(page_checks::names(&tab).await);
                if let Some(axe) = &axe {
                    wrong.extend(page_checks::accessibility(&tab, axe).await);
                }
                page_checks::keep_pictures(&tab, &format!("{name}{}", route.path.replace(['{', '}'], ""))).await;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_setup_page_of_a_new_installation_creates_the_owner_and_signs_them_in() {
    if !driver::is_there() {
        return;
    }
    let axe = page_checks::axe();
    let driver = Driver::start();
    let server = Server::start(&settings());
    let (log, start) = (server.log(), at(&server, "/setup/"));
    let link = log.split_whitespace().find(|word| word.starts_with(&start)).expect("the first start prints the setup link");
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    tab.go(link).await;
    let mut wrong = page_checks::console(&tab).await;
    wrong.extend(page_checks::width(&tab).await);
    wrong.extend(page_checks::names(&tab).await);
    if let Some(axe) = &axe {
        wrong.extend(page_checks::accessibility(&tab, axe).await);
    }
    page_checks::keep_pictures(&tab, "setup").await;
    tab.fill("#email", OWNER).await;
    tab.fill("#password", PASSWORD).await;
    tab.press("Create owner").await;
    tab.sees("Sign out").await;
    tab.go(link).await;
    tab.sees("This link doesn't work").await;
    wrong.extend(page_checks::console(&tab).await);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Browsers keep the page of a submitted form in memory, so its button must work again after the user has gone back to the form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_button_works_again_after_going_back() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let server = owned(&settings());
    let tab = driver.browser().await;
    sign_in(&tab, &server).await;
    tab.go(&at(&server, "/test/brands/new")).await;
    let press = "const done = arguments[0], button = document.querySelector('[data-busy]'); \
                 button.form.addEventListener('submit', (event) => event.preventDefault()); \
                 button.form.noValidate = true; button.click(); \
                 setTimeout(() => done([button.disabled, button.textContent]), 200);";
    assert_eq!(tab.run_until_done(press).await, json!([true, "Starting…"]));
    // A browser dispatches this event for a page that it has kept in memory.
    let back = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); \
                const button = document.querySelector('[data-busy]'); return [button.disabled, button.textContent];";
    assert_eq!(tab.run(back, json!([])).await, json!([false, "Import"]));
}

/// Otherwise, a double click could create two keys, or two campaigns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_double_click_sends_a_form_once() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let server = owned(&settings());
    let tab = driver.browser().await;
    sign_in(&tab, &server).await;
    tab.go(&at(&server, "/test/settings/keys")).await;
    let press = "const done = arguments[0], form = document.querySelector('main form:has([name=permission])'); \
                 form.noValidate = true; let sent = 0; \
                 addEventListener('submit', (event) => { sent += event.defaultPrevented ? 0 : 1; event.preventDefault(); }); \
                 const button = form.querySelector('[name=act]'); button.click(); button.click(); setTimeout(() => done(sent), 200);";
    assert_eq!(tab.run_until_done(press).await, json!(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stored_markup_is_never_executed() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let server = owned(&settings());
    let there = Furnished::new(&server, EVIL, "http://127.0.0.1:9").await;
    let tab = driver.browser().await;
    sign_in(&tab, &server).await;
    let mut wrong = Vec::new();
    for route in routes().filter(|route| route.get.is_some()) {
        let path = match route.path {
            "/agent" => format!("/agent?code={}", there.ids["agent"]),
            other => address(&there, other, "test"),
        };
        tab.go(&at(&server, &path)).await;
        assert_eq!(tab.dialog().await, None, "{path}");
        // Framed content is confined by its own policy, and its images do not exist.
        let said = page_checks::console(&tab).await;
        if is_shown(route.path) {
            wrong.extend(said);
            wrong.extend(page_checks::width(&tab).await);
        }
        let foreign = tab.run("return document.querySelectorAll('main img[src=\"x\"], main script').length", json!([])).await;
        assert_eq!(foreign, 0, "{path}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Performs every page's main task in one browser, then checks the console output.
async fn do_all(scripts: bool) {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let url = Platforms::start(30).url();
    let shop = Shopify::start().url();
    let platforms = format!(
        "[connections]\nklaviyo_url = \"{url}\"\nmailchimp_url = \"{url}\"\nhubspot_url = \"{url}\"\nshopify_url = \"{shop}\"\n"
    );
    let server = owned(&format!("{}{platforms}", settings()));
    let there = Furnished::new(&server, "Fresh bread", "http://127.0.0.1:9").await;
    let sink = HookSink::content().await;
    let mut tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    tab.let_scripts_run(scripts).await;
    sign_in(&tab, &server).await;
    let mut wrong = Vec::new();
    for (route, task) in tasks::TASKS.iter().chain(work::TASKS).chain(&[tasks::LAST]) {
        println!("{route}");
        task(&tasks::Scene { tab: &tab, server: &server, there: &there, sink: &sink }).await;
        wrong.extend(page_checks::console(&tab).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_main_task_is_done_with_scripts() {
    do_all(true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_main_task_is_done_without_scripts() {
    do_all(false).await;
}

#[test]
fn every_page_with_a_form_has_a_main_task() {
    let missing: Vec<&str> = routes()
        .filter(|route| route.auth == Auth::Closed && route.post.is_some() && route.path != "/confirm")
        .map(|route| route.path)
        .filter(|path| !tasks::TASKS.iter().chain(work::TASKS).chain(&[tasks::LAST]).any(|(known, _)| known == path))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
