//! Tests the dashboard in a browser: signing in, every page, forged forms, cookies, and hostile text.

mod agent;
pub mod attacks;
mod brands;
mod campaigns;
mod contacts;
mod domains;
mod emails;
pub mod home;
mod hooks;
mod inbox;
mod links;
mod mail_services;
mod members;
mod system;
mod webhooks;

use http::Method;
use serde_json::json;

use crate::support::browser::{Browser, Page};
use crate::support::server::BOUNDLESS;
use crate::users::{OWNER, PASSWORD, anonymous, owned};

const PAGES: [&str; 15] = [
    "/test/",
    "/live/campaigns",
    "/test/campaigns/new",
    "/test/settings/plan",
    "/test/brands",
    "/live/brands/new",
    "/test/emails",
    "/test/emails/new",
    "/live/emails/import",
    "/test/inbox",
    "/test/settings/keys",
    "/live/settings/approvals",
    "/test/settings/members",
    "/test/settings/security",
    "/live/settings/audit",
];

#[tokio::test]
async fn pages_require_sign_in_and_then_all_render() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    for path in PAGES {
        let page = browser.get(path).await;
        assert_eq!(page.status, 303, "{path}");
        assert!(page.location().starts_with("/signin?next=%2F"), "{}", page.location());
    }
    let signed = browser.sign_in("/test/settings/keys").await;
    assert_eq!((signed.status, signed.location()), (303, "/test/settings/keys"), "{}", signed.text);
    for path in PAGES.iter().chain(&["/agent", "/confirm"]) {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        let policy = page.headers["content-security-policy"].to_str().expect("ASCII");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"), "{policy}");
        assert_eq!(page.headers["cache-control"], "no-store");
        assert!(!page.text.contains("style=\"") && !page.text.contains(" onclick") && !page.text.contains("<script>"), "{path}");
        assert!(page.text.len() < 60_000);
    }
    assert_eq!(Browser::new(&server).get("/forgot").await.status, 200);
    assert_eq!(Browser::new(&server).get("/signup").await.status, 404);
}

#[tokio::test]
async fn a_session_is_new_at_every_sign_in_and_over_after_signing_out() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    // A planted cookie has no effect.
    browser.cookies.insert("mailmill-session".into(), "planted".into());
    assert_eq!(browser.get("/test/").await.status, 303);
    browser.cookies.clear();
    browser.sign_in("/").await;
    let first = browser.cookies["mailmill-session"].clone();
    assert!(first.len() >= 43, "256 bits");
    let mut thief = Browser::new(&server);
    thief.cookies.insert("mailmill-session".into(), first.clone());
    assert_eq!(thief.get("/test/").await.status, 200);
    let page = browser.get("/test/").await;
    let csrf = page.csrf().to_owned();
    browser.post("/signin", &[("csrf", &csrf), ("email", OWNER), ("password", PASSWORD)]).await;
    assert_ne!(browser.cookies["mailmill-session"], first);
    assert_eq!(thief.get("/test/").await.status, 303, "the one before is over");
    let page = browser.get("/test/").await;
    let kept = browser.cookies["mailmill-session"].clone();
    let csrf = page.csrf().to_owned();
    assert_eq!(browser.post("/signout", &[("csrf", &csrf)]).await.location(), "/signin?done=out");
    thief.cookies.insert("mailmill-session".into(), kept);
    assert_eq!(thief.get("/test/").await.status, 303);
}

/// Returns the form that creates a key, with this CSRF token.
fn new_key(csrf: &str) -> Vec<(&str, &str)> {
    let fields = [("act", "create"), ("name", "Shop"), ("environment", "test"), ("permission", "audience:read")];
    [("csrf", csrf)].into_iter().chain(fields).collect()
}

#[tokio::test]
async fn a_form_that_is_submitted_after_the_session_ended_is_kept_through_sign_in() {
    let server = owned(BOUNDLESS);
    let path = "/test/settings/keys";
    let mut browser = Browser::new(&server);
    browser.cookies.insert("mailmill-session".into(), "ended".into());
    let sign_in = |page: &Page, password: &'static str| {
        let carried = page.text.split("name=\"carried.").skip(1).filter_map(|rest| rest.split_once("\" value=\""));
        let carried = carried.map(|(name, rest)| (format!("carried.{name}"), rest.split('"').next().unwrap_or("").to_owned()));
        let own = [("csrf", page.csrf()), ("email", OWNER), ("password", password), ("next", path)];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let incomplete = page.text.contains("name=\"incomplete\"").then(|| ("incomplete".to_owned(), "yes".to_owned()));
        serde_urlencoded::to_string(own.into_iter().chain(carried).chain(incomplete).collect::<Vec<_>>()).expect("a form")
    };
    let own = [("sec-fetch-site", "same-origin")];
    let asked = browser.post(path, &new_key("old")).await;
    assert!(asked.status == 403 && asked.value("carried.name") == "Shop", "{}", asked.text);
    assert!(asked.text.contains("Sign in to continue with what you entered."), "{}", asked.text);
    let form = sign_in(&asked, "wrong horse battery");
    let asked = browser.request(Method::POST, "/signin", &own, Some(form)).await;
    let form = sign_in(&asked, PASSWORD);
    let kept = browser.request(Method::POST, "/signin", &own, Some(form)).await;
    assert!(kept.status == 200 && kept.text.contains("What you entered isn't saved yet."), "{}", kept.text);
    let values = ["act", "name", "environment", "permission"].map(|name| kept.value(name));
    assert_eq!(values, ["create", "Shop", "test", "audience:read"]);
    let made = browser.post(path, &new_key(kept.csrf())).await;
    assert!(made.text.contains("<code>sk_test_"), "{}", made.text);

    // A form with a secret is shown without the secret, and cannot be submitted like that.
    browser.cookies.insert("mailmill-session".into(), "ended".into());
    let secret = [new_key("old"), vec![("secret", "canary")]].concat();
    let asked = browser.post(path, &secret).await;
    let form = sign_in(&asked, PASSWORD);
    let kept = browser.request(Method::POST, "/signin", &own, Some(form)).await;
    assert!(kept.text.contains("Shop</textarea>") && !kept.text.contains("<button>Submit"), "{}", kept.text);
    assert!(!asked.text.contains("canary") && !kept.text.contains("canary"));
}

#[tokio::test]
async fn a_form_from_before_the_last_sign_in_shows_what_the_user_entered() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/settings/keys").await.csrf().to_owned();
    browser.cookies.remove("mailmill-session");
    browser.sign_in("/").await;
    let refused = browser.post("/test/settings/keys", &new_key(&csrf)).await;
    assert!(refused.status == 403 && refused.text.contains("Shop</textarea>"), "{}", refused.text);
}

#[tokio::test]
async fn an_older_browser_that_sends_only_its_origin_is_accepted() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/settings/keys").await.csrf().to_owned();
    let (host, own) = (server.address().to_string(), format!("http://{}", server.address()));
    let form = serde_urlencoded::to_string([("csrf", csrf.as_str())]).expect("a form");
    let page = browser.request(Method::POST, "/signout", &[("origin", own.as_str()), ("host", host.as_str())], Some(form)).await;
    assert_eq!(page.status, 303);
}

#[tokio::test]
async fn signing_in_redirects_to_our_own_pages_only() {
    let server = owned(BOUNDLESS);
    for next in ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\r\nx: y"] {
        let mut browser = Browser::new(&server);
        assert_eq!(browser.sign_in(next).await.location(), "/", "{next}");
        let query = serde_urlencoded::to_string([("next", next)]).expect("a query");
        assert_eq!(browser.get(&format!("/signin?{query}")).await.location(), "/", "{next}");
    }
}

#[tokio::test]
async fn an_unknown_path_is_a_page_for_browsers_and_json_for_programs() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    for path in ["/nothing-here", "/test/nothing/here"] {
        let seen = browser.get(path).await;
        assert!(seen.status == 404 && seen.text.contains("Page not found."), "{path}: {}", seen.text);
    }
    // An extra or missing trailing slash is corrected by a redirect that cannot lead to another host.
    for (path, meant) in [("/test", "/test/"), ("/test/contacts/?page=2", "/test/contacts?page=2"), ("/signin/", "/signin")] {
        let seen = browser.get(path).await;
        assert_eq!((seen.status, seen.location()), (308, meant));
    }
    for path in ["//evil.example/", "//evil.example", "/test/nothing/"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    // The API answers requests for API paths, whatever the client is.
    let program = browser.get("/v1/nothing-here").await;
    assert!(program.status == 404 && program.text.contains("RESOURCE_NOT_FOUND"), "{}", program.text);
    let metadata = browser.get("/.well-known/oauth-authorization-server").await;
    assert!(metadata.status == 200 && metadata.text.starts_with('{'), "{}", metadata.text);
}

#[tokio::test]
async fn text_in_a_url_stays_text() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let page = browser.get("/agent?code=%22%3E%3Cscript%3E").await;
    assert!(page.status == 404 && !page.text.contains("\"><script>"), "{}", page.text);
}

#[tokio::test]
async fn a_key_is_created_shown_once_and_revoked_by_forms() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/settings/keys").await.csrf().to_owned();
    let path = "/test/settings/keys";
    let wrong = browser.post(path, &[("csrf", &csrf), ("act", "create"), ("name", "Shop"), ("environment", "test")]).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("role=\"alert\"") && wrong.text.contains("value=\"Shop\""),
        "{}",
        wrong.text
    );
    // The user's choices are kept in both environments.
    let live = browser.post(path, &[("csrf", &csrf), ("act", "create"), ("name", ""), ("environment", "live")]).await;
    let chosen = |environment: &str| live.text.contains(&format!("value=\"{environment}\" required checked"));
    assert!(live.status == 400 && chosen("live") && !chosen("test"), "{}", live.text);
    let fields =
        [("csrf", csrf.as_str()), ("act", "create"), ("name", "Shop"), ("environment", "test"), ("permission", "audience:read")];
    let made = browser.post(path, &fields).await;
    let key =
        made.text.split("<code>sk_test_").nth(1).and_then(|rest| rest.split('<').next()).map(|rest| format!("sk_test_{rest}"));
    let key = key.unwrap_or_else(|| panic!("a key: {}", made.text));
    assert!(!made.text.contains("value=\"Shop\""), "the form is empty again: {}", made.text);
    let client = anonymous(&server).with_key(Some(&key));
    assert_eq!(client.call("contacts.list", json!({ "projectId": crate::support::NO_PROJECT })).await.status, 404);
    let list = browser.get(path).await;
    assert!(!list.text.contains(&key) && list.text.contains("Shop"));
    let id = list.value("id").to_owned();
    let revoked = browser.post(path, &[("csrf", &csrf), ("act", "revoke"), ("id", &id)]).await;
    assert_eq!(revoked.location(), "/test/settings/keys?done=revoked");
    assert_eq!(client.call("contacts.list", json!({ "projectId": crate::support::NO_PROJECT })).await.status, 401);
}

#[tokio::test]
async fn a_list_page_beyond_the_end_leads_to_an_existing_one() {
    let server = owned(BOUNDLESS);
    let project = server.client("test", "all").project("Acme").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let texts = format!("/test/brands/{project}/knowledge");
    for path in ["/test/brands", "/test/emails", "/test/inbox", "/test/contacts", "/test/tags", "/test/segments", &texts] {
        for number in ["0", "-1", "abc", "7", "99999999999999", "999999999999999999999999"] {
            let mut page = browser.get(&format!("{path}?search=x&page={number}")).await;
            if page.status == 303 {
                let to = page.location().to_owned();
                assert!(to.starts_with(path) && to.contains("search=x") && to.ends_with("page=1"), "{path} {number}: {to}");
                page = browser.get(&to).await;
            }
            assert_eq!(page.status, 200, "{path} {number}: {}", page.text);
        }
    }
}
