//! Tests of all documentation pages: links, sizes and completeness.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join;
use http::{HeaderMap, StatusCode, Uri};
use scraper::{Html, Selector};

use super::WithDocs;
use super::site::{Document, Site};
use crate::engine::api::Entry;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::ReplyBody;
use crate::operations::OPERATIONS;
use crate::surfaces::dashboard::PAGES;
use crate::surfaces::docs_links::address;
use crate::testing::{START, TestApp};
use crate::vocab::codes::CODES;

fn site() -> Site {
    Site::new(OPERATIONS, "http://127.0.0.1:8080", START, |file| file.text.to_owned())
}

fn text(document: &Document) -> String {
    String::from_utf8_lossy(&document.body()).into_owned()
}

fn for_clients() -> impl Iterator<Item = (&'static str, &'static Entry)> {
    OPERATIONS.iter().filter_map(|entry| Some((entry.spec.client_name()?, entry)))
}

/// Returns whether the path belongs to a dashboard page or an operation.
fn is_served(path: &str) -> bool {
    let fits = |pattern: &str| {
        let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
        pattern.len() == path.len() && pattern.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
    };
    PAGES.iter().any(|page| fits(page.path)) || OPERATIONS.iter().any(|entry| fits(entry.spec.path))
}

/// Returns the parsed HTML pages with their paths.
fn parsed(site: &Site) -> Vec<(String, Html)> {
    let pages = site.documents.iter().filter(|(_, document)| document.content_type.starts_with("text/html"));
    pages.map(|(path, document)| (path.clone(), Html::parse_document(&text(document)))).collect()
}

fn values(page: &Html, selector: &str, name: &str) -> Vec<String> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).filter_map(|element| element.attr(name).map(str::to_owned)).collect()
}

/// Returns the URL of every element with an ID: the page's path, with the ID as the fragment.
fn anchors(pages: &[(String, Html)]) -> BTreeSet<String> {
    let all = pages.iter().flat_map(|(path, page)| values(page, "[id]", "id").into_iter().map(move |id| format!("{path}#{id}")));
    all.collect()
}

#[test]
fn every_link_and_anchor_leads_to_something() {
    let site = site();
    let pages = parsed(&site);
    let anchors = anchors(&pages);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, page) in &pages {
        let links = [values(page, "a", "href"), values(page, "img", "src"), values(page, "link[rel=alternate]", "href")].concat();
        for link in links.iter().filter(|link| !link.contains("://")) {
            count += 1;
            let whole = if link.starts_with('#') { format!("{path}{link}") } else { link.clone() };
            let is_right = match whole.contains('#') {
                true => anchors.contains(&whole),
                false => site.document(&whole).is_some() || is_served(&whole),
            };
            if !is_right {
                wrong.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(count > 3_000 && wrong.is_empty(), "{count} {wrong:#?}");
}

#[test]
fn pages_are_small_and_have_a_title_and_a_description() {
    let site = site();
    let html: Vec<_> = site.documents.iter().filter(|(_, document)| document.content_type.starts_with("text/html")).collect();
    assert!(html.len() > 60, "{}", html.len());
    let largest = html.iter().max_by_key(|(_, document)| document.body().len()).expect("there are pages");
    let (bytes, packed) = (largest.1.body().len(), largest.1.packed.len());
    println!("the largest of {} pages is {}: {bytes} bytes, {packed} compressed", html.len(), largest.0);
    for (path, document) in html {
        let text = text(document);
        assert!(document.packed.len() < 60_000, "{path} has {} bytes compressed", document.packed.len());
        assert!(text.contains("<h1 ") && text.matches("<h1 ").count() == 1 && !text.contains("<title> "), "{path}");
        assert!(text.contains("<meta name=\"description\""), "{path} has no description");
    }
}

#[test]
fn every_operation_and_every_error_code_is_documented() {
    let site = site();
    let anchors = anchors(&parsed(&site));
    for (name, entry) in for_clients() {
        let url = address(name);
        assert!(anchors.contains(&url), "{url}");
        let path = url.split('#').next().expect("a path");
        let page = text(site.document(path).expect("the page of the resource"));
        assert!(page.contains(&format!("<code>{} {}</code>", entry.spec.verb.name(), entry.spec.path)), "{name}");
        assert!(page.contains(&format!("href=\"/test/api/{name}\"")), "{name}");
    }
    for info in CODES {
        let anchor = format!("/docs/errors#{}", info.wire.to_ascii_lowercase());
        assert!(anchors.contains(&anchor), "{anchor}");
    }
}

#[test]
fn every_page_is_listed_for_language_models_as_markdown() {
    let site = site();
    let list = text(site.document("/llms.txt").expect("the list"));
    for (path, _) in site.documents.iter().filter(|(path, _)| path.ends_with(".md")) {
        assert!(list.contains(&format!("(http://127.0.0.1:8080{path})")), "{path}");
    }
    let tutorial = site.document("/docs/tutorial.md").expect("the tutorial");
    assert!(tutorial.body().starts_with(b"# ") && tutorial.content_type.starts_with("text/markdown"));
}

#[test]
fn samples_of_schedules_have_a_future_time() {
    let site = site();
    let page = text(site.document("/docs/api/campaigns").expect("the page"));
    let future = crate::base::day::date(crate::base::day::of(START) + 365);
    // Two operations on the page have a start time, each in four samples: for curl, Node, Python and the command line.
    assert_eq!(page.matches(&format!("{future}T09:30")).count(), 8, "{future}");
}

#[test]
fn commands_contain_the_address_of_the_service() {
    let site = Site::new(OPERATIONS, "https://mail.example.com", START, |file| file.text.to_owned());
    for path in ["/docs/api-tutorial", "/docs/api/contacts"] {
        let page = text(site.document(path).expect("the page"));
        assert!(page.contains("https://mail.example.com/v1/") && !page.contains("http://127.0.0.1:8080/v1/"), "{path}");
    }
}

#[test]
fn a_search_finds_the_section_and_its_query_is_escaped() {
    let site = site();
    let page = site.search_page("contact <b>");
    assert!(!page.contains("contact <b>"), "{page}");
    assert!(site.search_page("add domain").contains("/docs/sending-domains#1-add-the-domain"));
}

#[test]
fn pages_are_rendered_before_the_first_request_and_contain_the_url_that_is_known_then() {
    let app = TestApp::new();
    let api = Api::new(app.engine().clone(), OPERATIONS);
    let docs = WithDocs::new(api.clone(), api);
    let (path, headers) = (Uri::from_static("/docs/api-tutorial"), HeaderMap::new());
    // A request can arrive after the listener starts and before the URL is known.
    assert_eq!(app.wait(docs.reply(&path, &headers)).status, StatusCode::OK);
    app.engine().set_base_url("https://mail.example.com".into());
    // A request that arrives during rendering receives the complete page.
    let ((), reply) = app.wait(join(docs.render_ahead(), docs.reply(&path, &headers)));
    let ReplyBody::Whole(page) = reply.body else { panic!("the page is sent whole") };
    let page = String::from_utf8_lossy(&page);
    assert!(page.contains("https://mail.example.com/v1/") && page.trim_end().ends_with("</html>"), "{page}");
    let ahead = docs.site.rendered().expect("the documentation is rendered");
    assert_eq!(app.wait(docs.reply(&path, &headers)).status, StatusCode::OK);
    assert!(docs.site.rendered().is_some_and(|now| Arc::ptr_eq(&ahead, &now)), "a request does not render the pages again");
}
