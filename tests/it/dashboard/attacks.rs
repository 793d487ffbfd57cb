//! Attacks every page of the dashboard. The tests iterate over the table of pages, so that no page can be forgotten.
//!
//! All attacks use one server with every kind of object, and none may change anything there.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use mailmill::surfaces::dashboard::PAGES;
use mailmill::surfaces::dashboard::page::{Auth, Page as PageRow};
use scraper::{Html, Selector};
use serde_json::json;
use tokio::sync::OnceCell;

use crate::support::Server;
use crate::support::browser::{Browser, Page};
use crate::support::fixtures::{EVIL, Furnished, settings};
use crate::support::server::{BOUNDLESS, lasting};
use crate::users::{OWNER, PASSWORD, anonymous, member, owned, signed_in, six_digits};

/// Every page.
pub fn routes() -> impl Iterator<Item = &'static PageRow> {
    PAGES.iter()
}

/// Query strings for pages that show nothing without a query.
pub const QUERIES: &[(&str, &str)] = &[
    ("/{environment}/brands/{id}/picture", "?of=http%3A%2F%2F127.0.0.1%3A9%2Froastery.png"),
    ("/{environment}/emails/{id}/image", "?of=http%3A%2F%2F127.0.0.1%3A9%2Froastery.png"),
];

/// Returns a page's URL for an existing object.
pub fn address(there: &Furnished, route: &str, environment: &str) -> String {
    if route == "/oauth2/authorize" {
        return format!("{route}?{}", there.ids["authorize"]);
    }
    let query = QUERIES.iter().find(|(path, _)| *path == route).map_or("", |(_, query)| query);
    format!("{}{query}", there.path(route, environment))
}

struct Shared {
    server: Server,
    there: Furnished,
}

async fn shared() -> &'static Shared {
    static SHARED: OnceCell<Shared> = OnceCell::const_new();
    let make = async || {
        let server = lasting(&settings());
        let there = Furnished::new(&server, EVIL, "http://127.0.0.1:9").await;
        let owner = signed_in(&server, OWNER, "test").await;
        for (email, role) in [
            ("viewer@example.com", json!({ "role": "viewer" })),
            ("editor@example.com", json!({ "role": "editor" })),
            ("little@example.com", json!({ "role": "custom", "permissions": ["email:preview"] })),
        ] {
            member(&server, &owner, email, role).await;
        }
        anonymous(&server).data("accounts.sign_up", json!({ "email": OTHER_OWNER, "password": PASSWORD })).await;
        // The attacker has a brand, so that the pages search for objects in that brand.
        let wanted = json!({ "name": "Mine", "environment": "test", "permissions": ["all"] });
        let made = signed_in(&server, OTHER_OWNER, "test").await.data("accounts.key_create", wanted).await;
        anonymous(&server).with_key(made["key"].as_str()).project("Strange").await;
        Shared { server, there }
    };
    SHARED.get_or_init(make).await
}

/// The owner of another account.
const OTHER_OWNER: &str = "other@example.com";

async fn signed<'s>(server: &'s Server, email: &str) -> Browser<'s> {
    let mut browser = Browser::new(server);
    assert_eq!(browser.sign_in_as(email, PASSWORD, "/").await.status, 303, "{email}");
    browser
}

/// Returns whether the response is a page of the dashboard, not a file or untrusted HTML in a frame.
fn is_page(page: &Page) -> bool {
    let text = |name: &str| page.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"));
    text("content-type").starts_with("text/html") && !text("content-security-policy").starts_with("sandbox")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_in_every_field_is_text_on_every_page() {
    let Shared { server, there } = shared().await;
    let mut browser = signed(server, OWNER).await;
    let mut showing = BTreeSet::new();
    for route in routes().filter(|route| route.get.is_some()) {
        let path = if route.path == "/agent" {
            format!("/agent?code={}", there.ids["agent"])
        } else {
            address(there, route.path, "test")
        };
        let page = browser.get(&path).await;
        // One-time links are invalid or already used, and a picture that was never loaded does not exist.
        let may_miss = ["/setup/{token}", "/join/{token}", "/signup", "/{environment}/brands/{id}/picture"].contains(&route.path)
            || route.path.contains("/{provider}/")
            || ["/connections/shopify/callback", "/{environment}/settings/stores/complete"].contains(&route.path);
        assert!(page.status < 400 || (may_miss && page.status < 500), "{path}: {} {}", page.status, page.text);
        if !is_page(&page) {
            // Framed and downloaded content is confined by its own policy.
            let policy = page.headers.get("content-security-policy").map_or("", |value| value.to_str().expect("ASCII"));
            assert!(
                page.status == 303 || policy.contains("sandbox") || policy.contains("default-src 'none'"),
                "{path}: {policy}"
            );
            continue;
        }
        for raw in ["<script>alert", "<img src=x", "\"'>", "\"&#x27;>"] {
            assert!(!page.text.contains(raw), "{path} has {raw}: {}", page.text);
        }
        assert!(page.text.len() < 60_000, "{path} has {} bytes", page.text.len());
        if page.text.contains("&lt;script&gt;alert(1)&lt;/script&gt;") {
            showing.insert(route.path);
        }
    }
    println!("{} pages show the text: {showing:#?}", showing.len());
    assert!(showing.len() >= SHOWING_MIN, "{showing:#?}");
}

/// The minimum number of pages that show the text. Fewer pages would mean that the text was never stored.
const SHOWING_MIN: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_form_is_refused_without_its_token_with_another_token_and_from_another_site() {
    let Shared { server, there } = shared().await;
    let mut owner = signed(server, OWNER).await;
    let mut other = signed(server, "editor@example.com").await;
    let mut guest = Browser::new(server);
    let mut other_guest = Browser::new(server);
    let own = format!("http://{}", server.address());
    let others = other.get("/test/settings/security").await.csrf().to_owned();
    let other_guests = other_guest.get("/signin").await.csrf().to_owned();
    let guests = guest.get("/signin").await.csrf().to_owned();
    let owners = owner.get("/test/settings/security").await.csrf().to_owned();
    let mut tried = 0;
    for route in routes().filter(|route| route.post.is_some()) {
        let path = address(there, route.path, "test");
        // Public pages are also tried without a session.
        let mut visitors: Vec<(&mut Browser<'_>, &str, &str)> = vec![(&mut owner, &owners, &others)];
        if route.auth == Auth::Open {
            visitors.push((&mut guest, &guests, &other_guests));
        }
        for (browser, token, foreign) in visitors {
            for given in ["", "x", foreign, &token.replace(['0', '1', '2', '3'], "f"), &token[1..]] {
                let page = browser.post(&path, &[("csrf", given), ("act", "none")]).await;
                // Streamed forms have another content type.
                assert_eq!(page.status, if route.streams { 415 } else { 403 }, "{path} with the token {given}");
                if route.files.is_some() || route.streams {
                    let file = ("file", "a.csv", "text/csv", b"email\n".as_slice());
                    let page = browser.post_file(&path, &[("csrf", given), ("act", "none")], file).await;
                    assert_eq!(page.status, 403, "{path} with the token {given} and a file");
                }
            }
            let good = serde_urlencoded::to_string([("csrf", token), ("act", "none")]).expect("a form");
            for headers in [
                &[("sec-fetch-site", "cross-site")][..],
                &[("sec-fetch-site", "same-site")],
                &[("sec-fetch-site", "none")],
                &[("origin", "https://evil.example")],
                &[("origin", "null")],
                &[("sec-fetch-site", "cross-site"), ("origin", own.as_str())],
                &[("referer", own.as_str())],
                &[],
            ] {
                let page = browser.request(Method::POST, &path, headers, Some(good.clone())).await;
                assert_eq!(page.status, 403, "{path} {headers:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_response_can_be_framed_sniffed_or_cached() {
    let Shared { server, there } = shared().await;
    let mut owner = signed(server, OWNER).await;
    let mut guest = Browser::new(server);
    for route in routes() {
        let path = address(there, route.path, "test");
        let missing = path.replace(|letter: char| letter.is_ascii_digit(), "f");
        for page in [owner.get(&path).await, owner.get(&missing).await, guest.get(&path).await, owner.post(&path, &[]).await] {
            let text = |name: &str| page.headers.get(name).map_or("", |value| value.to_str().expect("ASCII"));
            assert_eq!(text("x-content-type-options"), "nosniff", "{path}: {:?}", page.headers);
            assert!(
                text("cache-control").contains("no-store") || text("cache-control").contains("private"),
                "{path}: {:?}",
                page.headers
            );
            if !text("content-type").starts_with("text/html") {
                continue;
            }
            let policy = text("content-security-policy");
            let outer = policy.contains("frame-ancestors 'none'");
            let inner =
                policy.starts_with("sandbox") && policy.contains("frame-ancestors 'self'") && !policy.contains("allow-scripts");
            assert!(outer || inner, "{path}: {policy}");
            assert!(outer != policy.contains("unsafe-inline"), "{path}: {policy}");
            assert!(!page.text.contains(" onclick=") && !page.text.contains("<script>"), "{path}");
            assert!(inner || !page.text.contains(" style=\""), "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_session_closed_pages_and_their_forms_are_refused() {
    let Shared { server, there } = shared().await;
    let mut guest = Browser::new(server);
    let token = guest.get("/signin").await.csrf().to_owned();
    for route in routes().filter(|route| route.auth == Auth::Closed) {
        let path = address(there, route.path, "test");
        if route.get.is_some() {
            let page = guest.get(&path).await;
            assert!(page.status == 303 && page.location().starts_with("/signin?next=%2F"), "{path}: {}", page.status);
        }
        if route.post.is_some() {
            let page = guest.post(&path, &[("csrf", &token), ("act", "delete")]).await;
            assert!(page.status == 303 && page.location().starts_with("/signin"), "{path}: {}", page.status);
        }
        let wrong = guest.request(Method::DELETE, &path, &[], None).await;
        assert_eq!(wrong.status, 405, "{path}");
    }
}

/// A form of a page: its target and its fields.
struct Form {
    action: String,
    fields: Vec<(String, String)>,
}

/// Returns every way to submit every form of a page.
fn forms(path: &str, text: &str) -> Vec<Form> {
    let html = Html::parse_document(text);
    let select = |selector: &str| Selector::parse(selector).expect("a selector");
    let mut forms = Vec::new();
    for form in html.select(&select("form[method=post]")) {
        let own = path.split('?').next().unwrap_or(path);
        let action = form.attr("action").map_or(own, |action| action).to_owned();
        let mut fields = Vec::new();
        for field in form.select(&select("input, textarea, select")) {
            let Some(name) = field.attr("name").filter(|name| *name != "csrf") else { continue };
            let value = match field.value().name() {
                "select" => {
                    let chosen = field.select(&select("option[value]")).next();
                    chosen.and_then(|option| option.attr("value")).unwrap_or_default().to_owned()
                }
                "textarea" => field.text().collect(),
                _ => field.attr("value").unwrap_or_default().to_owned(),
            };
            let value = if value.is_empty() { "something".to_owned() } else { value };
            fields.push((name.to_owned(), value));
        }
        let buttons: Vec<_> = form.select(&select("button[name]")).collect();
        for button in &buttons {
            let mut fields = fields.clone();
            fields.push((button.attr("name").expect("selected by it").into(), button.attr("value").unwrap_or_default().into()));
            forms.push(Form { action: action.clone(), fields });
        }
        if buttons.is_empty() {
            forms.push(Form { action, fields });
        }
    }
    forms
}

/// Pages about the user's own account, which every user has, and those that end the session.
const ONES_OWN: &[&str] = &[
    "/signout",
    "/confirm",
    "/signin",
    "/agent",
    "/oauth2/authorize",
    // Calls an operation with the user's own permissions.
    "/test/api/{operation}",
    "/{environment}/settings/security",
    "/{environment}/settings/approvals",
];

/// Returns whether submitting the form changes nothing: it previews a filter or an email, or exports data that the user can read.
fn only_looks(fields: &[(String, String)]) -> bool {
    let does = |(name, value): &(String, String)| match name.as_str() {
        "do" => !["save", "delete"].contains(&value.as_str()),
        "act" => ["export", "draw", "draw-all"].contains(&value.as_str()),
        _ => false,
    };
    fields.iter().any(does)
}

/// The statuses of a rejected request: for a missing permission, or for an invalid input or missing object if that is detected
/// first.
const REFUSALS: [u16; 5] = [400, 403, 404, 409, 415];

/// Submits a form of another user's page.
async fn send(browser: &mut Browser<'_>, csrf: &str, form: &Form) -> Page {
    let mut fields: Vec<(&str, &str)> = vec![("csrf", csrf)];
    fields.extend(form.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    browser.post(&form.action, &fields).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_role_sees_or_does_more_by_opening_a_url_directly() {
    let Shared { server, there } = shared().await;
    let mut owner = signed(server, OWNER).await;
    let mut tried = 0;
    for email in ["editor@example.com", "viewer@example.com", "little@example.com"] {
        let mut browser = signed(server, email).await;
        let csrf = browser.get("/test/settings/security").await.csrf().to_owned();
        for route in routes().filter(|route| route.auth == Auth::Closed && route.get.is_some()) {
            let path = address(there, route.path, "test");
            let seen = browser.get(&path).await;
            assert!([200, 303, 400, 403, 404, 409].contains(&seen.status), "{email} {path}: {} {}", seen.status, seen.text);
            if ONES_OWN.contains(&route.path) || email == "editor@example.com" {
                continue;
            }
            assert!(email != "little@example.com" || !seen.text.contains("alert(1)"), "{email} {path}: {}", seen.text);
            let page = owner.get(&path).await;
            let forms = if is_page(&page) { forms(&path, &page.text) } else { Vec::new() };
            for form in forms.iter().filter(|form| !ONES_OWN.contains(&form.action.as_str()) && !only_looks(&form.fields)) {
                let answer = send(&mut browser, &csrf, form).await;
                let said = || format!("{email} {} {:?}: {} {}", form.action, form.fields, answer.status, answer.location());
                assert!(REFUSALS.contains(&answer.status), "{}", said());
                tried += 1;
            }
        }
    }
    println!("{tried} forms were tried");
    assert!(tried > 20, "{tried}");
}

/// Returns the actions that a page offers: the buttons of its forms, and links styled as buttons.
fn offers(path: &str, text: &str) -> Vec<String> {
    let html = Html::parse_document(text);
    let select = |selector: &str| Selector::parse(selector).expect("a selector");
    let mut offers = Vec::new();
    for form in html.select(&select("main form[method=post]")) {
        let action = form.attr("action").unwrap_or(path).split('?').next().unwrap_or_default().to_owned();
        for button in form.select(&select("button:not([type=button])")) {
            let pressed =
                (button.attr("name").unwrap_or_default().to_owned(), button.attr("value").unwrap_or_default().to_owned());
            if !ONES_OWN.iter().any(|own| action.ends_with(own.trim_start_matches("/{environment}"))) && !only_looks(&[pressed]) {
                offers.push(format!("{path}: {}", button.text().collect::<String>()));
            }
        }
    }
    for link in html.select(&select("main a.button[href]")) {
        let href = link.attr("href").expect("selected by it").split(['?', '#']).next().unwrap_or_default();
        if ["/new", "/import", "/edit", "/launch"].iter().any(|ending| href.ends_with(ending)) {
            offers.push(format!("{path}: {}", link.text().collect::<String>()));
        }
    }
    offers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_not_offered_forbidden_actions() {
    let Shared { server, there } = shared().await;
    let menu = |text: &str| {
        let html = Html::parse_document(text);
        let links = Selector::parse(".menu nav a[href]").expect("a selector");
        html.select(&links).filter_map(|link| link.attr("href").map(ToOwned::to_owned)).collect::<Vec<_>>()
    };
    for (email, lines) in
        [(OWNER, 24), (OTHER_OWNER, 23), ("editor@example.com", 20), ("viewer@example.com", 20), ("little@example.com", 3)]
    {
        let mut browser = signed(server, email).await;
        let home = browser.get("/live/").await;
        let links = menu(&home.text);
        assert_eq!(links.len(), lines, "{email}: {links:?}");
        for link in links {
            assert_eq!(browser.get(&link).await.status, 200, "{email} {link}");
        }
        assert_eq!(home.text.contains("/settings/system"), email == OWNER, "{email}");
    }
    for email in ["viewer@example.com", "little@example.com"] {
        let mut browser = signed(server, email).await;
        let mut offered = Vec::new();
        for route in routes().filter(|route| route.auth == Auth::Closed && route.get.is_some()) {
            let path = address(there, route.path, "test");
            let page = browser.get(&path).await;
            if page.status == 200 && is_page(&page) && !ONES_OWN.contains(&route.path) {
                offered.extend(offers(&path, &page.text));
            }
        }
        assert!(offered.is_empty(), "{email}: {offered:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_another_account_is_not_found() {
    let Shared { server, there } = shared().await;
    let mut owner = signed(server, OWNER).await;
    let mut browser = signed(server, OTHER_OWNER).await;
    let csrf = browser.get("/test/settings/security").await.csrf().to_owned();
    // A program's request is in the URL itself and belongs to no account.
    let owned = routes().filter(|route| route.path != "/oauth2/authorize");
    for route in owned.filter(|route| route.auth == Auth::Closed && route.get.is_some()) {
        let path = address(there, route.path, "test");
        let seen = browser.get(&path).await;
        // A platform or an operation is not an object of an account.
        let is_object = |part: &str| part.starts_with('{') && !["{environment}", "{provider}", "{operation}"].contains(&part);
        let names_something = route.path.split('/').any(is_object);
        if names_something {
            assert_eq!(seen.status, 404, "{path}: {}", seen.text);
        }
        assert!(!seen.text.contains("alert(1)") && !seen.text.contains(OWNER), "{path}: {}", seen.text);
        let page = owner.get(&path).await;
        if !is_page(&page) || ONES_OWN.contains(&route.path) {
            continue;
        }
        for form in forms(&path, &page.text).iter().filter(|form| !ONES_OWN.contains(&form.action.as_str())) {
            let named = ["id", "brand", "contact", "image", "entry", "projectId"];
            let is_list = form.action == route.path.replace("{environment}", "test");
            if is_list && !form.fields.iter().any(|(name, _)| named.contains(&name.as_str())) {
                continue;
            }
            let answer = send(&mut browser, &csrf, form).await;
            assert!(
                REFUSALS.contains(&answer.status),
                "{} {:?}: {} {}",
                form.action,
                form.fields,
                answer.status,
                answer.location()
            );
        }
    }
    // The other environment does not show this environment's data either.
    for route in routes().filter(|route| route.path.starts_with("/{environment}/") && route.get.is_some()) {
        let account_wide = ["keys", "members", "security", "approvals", "audit", "system", "plan"];
        let path = address(there, route.path, "live");
        let seen = owner.get(&path).await;
        let names_something = route.path.replace("{environment}", "").replace("{provider}", "").contains('{');
        // The other account has no brand, which the pages about a brand's contacts report.
        assert!(!names_something || [200, 404].contains(&seen.status), "{path}: {}", seen.status);
        let is_wide = account_wide.iter().any(|word| path.contains(&format!("/settings/{word}")));
        assert!(is_wide || !seen.text.contains("alert(1)"), "{path}: {}", seen.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authenticator_and_recovery_codes_cannot_be_guessed() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let started = owner.data("accounts.totp_begin", json!({})).await;
    let secret = started["secret"].as_str().expect("a secret").to_owned();
    let confirmed = owner.data("accounts.totp_confirm", json!({ "code": six_digits(&secret, -1) })).await;
    let recovery = confirmed["recoveryCodes"].as_array().expect("codes");
    assert!(recovery.iter().all(|code| code.as_str().is_some_and(|code| code.len() >= 10)), "{confirmed}");
    // An attacker who knows the password guesses digits and recovery codes, through the API and through the page.
    let mut closed = 0;
    for guess in 0..30 {
        let code = if guess % 2 == 0 { format!("{guess:06}") } else { format!("AAAAA-{guess:05}") };
        let input = json!({ "email": OWNER, "password": PASSWORD, "code": code });
        let reply = anonymous(&server).call("accounts.login", input).await;
        match reply.status {
            401 => {}
            429 => {
                assert!(reply.number("retry-after") >= 1);
                closed += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert!(closed >= 10, "{closed}");
    let mut browser = Browser::new(&server);
    let csrf = browser.get("/signin").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("email", OWNER), ("password", PASSWORD), ("code", "000000")];
    let page = browser.post("/signin", &fields).await;
    assert_eq!(page.status, StatusCode::TOO_MANY_REQUESTS.as_u16(), "the page has no way around it: {}", page.text);
    assert!(!browser.cookies.contains_key("mailmill-session"));
    // Guessing is limited also when a signed-in user confirms the password.
    let mut closed = 0;
    for guess in 0..30 {
        let reply = owner.call("accounts.reauthenticate", json!({ "password": PASSWORD, "code": format!("{guess:06}") })).await;
        assert_ne!(reply.status, 200);
        closed += u32::from(reply.status == 429);
    }
    assert!(closed >= 10, "{closed}");
}
