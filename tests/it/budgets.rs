//! Tests request budgets (`assets/docs/rate-limits.md`).

use http::StatusCode;
use mailmill::engine::api::Entry;
use mailmill::vocab::rates::RouteGroup;
use serde_json::{Value, json};

use super::support::browser::Browser;
use super::support::client::Call;
use super::support::{Client, NO_PROJECT, Server, example, keyed, operation};
use super::users::owned;

fn settings(general: u32, imports: u32) -> String {
    format!(
        "[accounts]\nowner_plan = \"small\"\n[log]\nlevel = \"warn\"\n[plans.small]\nrecipients_per_second = 1\ndaily_emails = 0\n\
         monthly_emails = 0\n[plans.small.budgets]\ngeneral = {general}\nsending = 0\nemails = 0\ncampaigns = 0\n\
         imports = {imports}\n"
    )
}

fn call(entry: &'static Entry) -> Call {
    Call::new(entry, example(entry, NO_PROJECT))
}

fn of(group: RouteGroup) -> Vec<&'static Entry> {
    keyed().filter(|entry| entry.spec.rate == group).collect()
}

async fn list(client: &Client) -> super::support::Reply {
    client.call("projects.list", json!({})).await
}

fn now() -> i64 {
    std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs() as i64
}

#[tokio::test]
async fn a_budget_is_shared_by_all_keys_and_returned_in_headers() {
    let server = Server::start(&settings(5, 1));
    let (one, two) = (server.all(), server.client("live", "project:write,audience:read,email:read"));
    let started = now();
    for (used, client) in [&one, &two, &one, &two, &one].into_iter().enumerate() {
        let reply = list(client).await;
        assert_eq!(reply.status, 200);
        assert_eq!((reply.number("x-ratelimit-limit"), reply.number("x-ratelimit-remaining")), (5, 4 - used as i64));
        assert!((started + 60..=now() + 61).contains(&reply.number("x-ratelimit-reset")));
    }
    for client in [&one, &two] {
        let reply = list(client).await.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED");
        assert_eq!(reply.error(), "Rate limit exceeded");
        let seconds = reply.number("retry-after");
        assert!((1..=60).contains(&seconds));
        assert_eq!(reply.json()["retryAfter"], seconds);
        assert_eq!((reply.number("x-ratelimit-limit"), reply.number("x-ratelimit-remaining")), (5, 0));
        assert!((reply.number("x-ratelimit-reset") - now() - seconds).abs() <= 2);
    }
    // Each group has its own budget, and a new key does not get a new budget.
    assert_eq!(list(&server.all()).await.status, 429);
    if let Some(entry) = of(RouteGroup::Imports).first() {
        assert_ne!(one.send(call(entry)).await.status, 429, "{}", entry.spec.id);
        one.send(call(entry)).await.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED");
    }
}

#[tokio::test]
async fn programs_and_users_do_not_use_up_each_others_budgets() {
    let server = owned(&settings(5, 1));
    let client = server.all();
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let mut views = 0;
    while browser.get("/test/contacts").await.status == 200 {
        views += 1;
        assert!(views < 100, "what people may ask ends, too");
    }
    assert!(views > 5, "{views}");
    assert_eq!(list(&client).await.number("x-ratelimit-remaining"), 4);
    let server = owned(&settings(5, 1));
    let client = server.all();
    while list(&client).await.status == 200 {}
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    assert_eq!(browser.get("/test/contacts").await.status, 200);
}

/// If a form is refused because of its rate, or because the session has ended, the page still shows the user's entries.
#[tokio::test]
async fn a_refused_form_keeps_what_the_user_entered() {
    let server = owned(&settings(5, 1));
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get("/test/tags").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("act", "create"), ("name", "Kept <b>")];
    while browser.get("/test/contacts").await.status == 200 {}
    let refused = browser.post("/test/tags", &fields).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(refused.text.contains("\nKept &lt;b&gt;</textarea>") && refused.text.contains("Try again"), "{}", refused.text);
    assert_eq!((refused.value("act"), refused.value("name")), ("create", "Kept &lt;b&gt;"));

    browser.cookies.remove("mailmill-session").expect("a session");
    let fields = [fields.as_slice(), &[("apiSecret", "hidden-secret")]].concat();
    let ended = browser.post("/test/tags", &fields).await;
    assert_eq!(ended.status, 403, "{}", ended.text);
    assert!(ended.value("carried.name") == "Kept &lt;b&gt;" && !ended.text.contains("hidden-secret"), "{}", ended.text);
    assert_eq!(ended.value("next"), "/test/tags");
    let form = serde_urlencoded::to_string(&fields).expect("a form");
    let foreign = browser.request(http::Method::POST, "/test/tags", &[("sec-fetch-site", "cross-site")], Some(form)).await;
    assert_eq!(foreign.status, 303, "the entries of another site's form are not shown");
}

#[tokio::test]
async fn every_operation_is_refused_when_its_budget_is_zero() {
    let server = Server::start(&settings(0, 0));
    let client = server.all();
    for entry in keyed() {
        let reply = client.send(call(entry)).await.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED");
        assert_eq!((reply.number("x-ratelimit-limit"), reply.number("x-ratelimit-remaining")), (0, 0), "{}", entry.spec.id);
    }
    let health = client.call("system.health", json!({})).await;
    assert_eq!((health.status, health.header("x-ratelimit-limit")), (200, None), "public operations count against nothing");
}

#[tokio::test]
async fn valid_and_invalid_requests_count() {
    let server = Server::start(&settings(4, 1));
    let client = server.all();
    let create = operation("contacts.create");
    let wrong = client.send(call(create).json(json!({ "projectId": 7 }))).await;
    assert_eq!((wrong.status, wrong.number("x-ratelimit-remaining")), (400, 3));
    let barred = server.client("test", "email:read").send(call(create)).await;
    assert_eq!((barred.status, barred.number("x-ratelimit-remaining")), (403, 2));
    let first = client.send(call(create).header("idempotency-key", "k")).await;
    let again = client.send(call(create).header("idempotency-key", "k")).await;
    assert_eq!((first.number("x-ratelimit-remaining"), again.number("x-ratelimit-remaining")), (1, 0));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    // Replayed responses also count.
    let spent = client.send(call(create).header("idempotency-key", "k")).await;
    spent.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED");
}

#[tokio::test]
async fn a_refusal_is_not_stored_for_replay() {
    let mut server = Server::start(&settings(0, 1));
    let client = server.all();
    let create = operation("contacts.create");
    let refused = client.send(call(create).header("idempotency-key", "later")).await;
    refused.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED");
    server.signal("TERM");
    assert!(server.wait().success());
    server.set(&settings(100, 1));
    server.serve();
    let client = server.all();
    let reply = client.send(call(create).header("idempotency-key", "later")).await;
    assert_eq!((reply.status, reply.header("idempotent-replayed")), (404, None));
}

#[tokio::test]
async fn an_account_without_its_plan_gets_an_error_about_the_missing_limits() {
    let mut server = Server::start(&settings(10, 1));
    let key = server.key("test", "all");
    server.signal("TERM");
    assert!(server.wait().success());
    // Simulate that the operator removed the plan from the settings.
    server.set(&settings(10, 1).replace("small", "other"));
    server.serve();
    let client = Client::new(server.address(), Some(key));
    for entry in keyed() {
        let reply = client.send(call(entry)).await.refused(StatusCode::SERVICE_UNAVAILABLE, "LIMITER_UNAVAILABLE");
        assert_eq!(reply.header("retry-after"), Some("1"), "{}", entry.spec.id);
        assert_eq!(reply.json().get("retryAfter"), None::<&Value>, "{}", entry.spec.id);
    }
}
