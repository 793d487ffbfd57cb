//! The documentation in the browser: every page in both themes and widths, the tabs of samples, the copy buttons and the search.

use serde_json::json;

use super::driver::{self, Driver, Tab};
use super::{at, page_checks};
use crate::support::Server;

/// Returns the addresses of all pages, from the list for language models.
async fn pages(tab: &Tab<'_>, server: &Server) -> Vec<String> {
    tab.go(&at(server, "/llms.txt")).await;
    let list = tab.run("return document.body.textContent", json!([])).await;
    let list = list.as_str().expect("a text").to_owned();
    let named = list.split(['(', ')']).filter_map(|part| Some(part.split_once("/docs/")?.1.strip_suffix(".md")?.to_owned()));
    named.map(|name| if name == "README" { "/docs".to_owned() } else { format!("/docs/{name}") }).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_the_documentation_is_accessible_in_both_themes_and_widths() {
    if !driver::is_there() {
        return;
    }
    let axe = page_checks::axe();
    let driver = Driver::start();
    let server = Server::start("");
    let tab = driver.browser().await;
    tab.wide(page_checks::WIDE).await;
    let mut wrong = Vec::new();
    let mut paths = pages(&tab, &server).await;
    assert!(paths.len() > 60, "{paths:?}");
    paths.extend(["/docs/search?q=domain".to_owned(), "/docs/search?q=zzzz".to_owned(), "/docs/nothing".to_owned()]);
    for path in paths {
        tab.go(&at(&server, &path)).await;
        wrong.extend(page_checks::console(&tab).await);
        wrong.extend(page_checks::names(&tab).await);
        wrong.extend(page_checks::width(&tab).await);
        // The pages of the reference have one structure, and axe needs ten seconds for the long ones.
        let is_checked = !path.starts_with("/docs/api/") || path == "/docs/api/tags";
        if let Some(axe) = axe.as_ref().filter(|_| is_checked) {
            for width in [page_checks::NARROW, page_checks::WIDE] {
                tab.wide(width).await;
                wrong.extend(page_checks::accessibility(&tab, axe).await);
            }
        }
        page_checks::keep_pictures(&tab, &path.replace(['?', '='], "-")).await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn samples_keep_their_language_and_the_search_finds_while_users_type() {
    if !driver::is_there() {
        return;
    }
    let driver = Driver::start();
    let server = Server::start("");
    let tab = driver.browser().await;
    tab.go(&at(&server, "/docs/api/tags")).await;
    let shown = "return [...document.querySelectorAll('.samples pre')].filter(one => one.offsetHeight).map(one => one.textContent.split(' ')[0])";
    let first = tab.run(shown, json!([])).await;
    assert!(first.as_array().expect("a list").iter().all(|word| word == "curl"), "{first}");
    tab.click("label[for=sample-1-3]").await;
    let changed = tab.run(shown, json!([])).await;
    let is_python = |word: &serde_json::Value| word.as_str().is_some_and(|word| word == "for" || word.starts_with("client."));
    assert!(changed.as_array().expect("a list").iter().all(is_python), "{changed}");
    tab.go(&at(&server, "/docs/api/topics")).await;
    let kept = tab.run(shown, json!([])).await;
    assert!(kept.as_array().expect("a list").iter().all(is_python), "{kept}");

    tab.fill("#q", "DKIM").await;
    tab.sees("Sending domains and deliverability").await;
    let url = tab.address().await;
    assert!(url.ends_with("/docs/api/topics"), "{url}");
    assert!(page_checks::console(&tab).await.is_empty());
}
