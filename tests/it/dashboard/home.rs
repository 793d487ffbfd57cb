//! Home, plan and limits, and key usage in a browser without scripts.

use http::Method;
use serde_json::json;

use crate::campaigns::{Stage, act, becomes};
use crate::delivery::until;
use crate::support::browser::Browser;
use crate::support::client::Call;
use crate::support::server::BOUNDLESS;
use crate::support::{Client, operation};
use crate::users::{OWNER, PASSWORD, member, owned, signed_in};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn home_guides_new_users_and_then_shows_sending_health() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let first = browser.get("/test/").await;
    assert!(first.text.contains("0 of 4 done") && first.text.contains("/v1/projects/import"), "{}", first.text);
    // On this server, live mail has no transport and requires a verified domain.
    let live = browser.get("/live/").await;
    assert!(live.text.contains("Live sending isn&#x27;t set up.") && live.text.contains("of 5 done"), "{}", live.text);
    assert!(live.text.contains("Emails go to real recipients."), "{}", live.text);
    assert!(!first.text.contains("real recipients") && first.text.contains("Test data. Emails stay in the built-in inbox."));

    let stage = Stage::new(&client).await;
    stage.crowd(&client, 3).await;
    let second = browser.get("/test/").await;
    assert!(second.text.contains("3 of 4 done") && second.text.contains("href=\"/test/campaigns/new\""), "{}", second.text);

    let id = stage.campaign(&client).await;
    act(&client, "send", &id).await;
    becomes(&client, &id, "sent").await;
    let then = browser.get("/test/").await;
    assert!(!then.text.contains("Get started") && then.text.contains("Last 30 days"), "{}", then.text);
    assert!(then.text.contains("Emails sent by day") && then.text.contains("Show as table"), "{}", then.text);
    assert!(then.text.contains(&format!("/test/campaigns/{id}/report")), "{}", then.text);
    let told = client.data("sending.timeline", json!({ "days": 2 })).await;
    assert_eq!((told["summary"]["sent"].as_u64(), told["summary"]["deliveredRate"].as_f64()), (Some(3), Some(100.0)));
    let report = client.data("campaigns.report", json!({ "id": id })).await;
    let sent: u64 = report["days"].as_array().expect("days").iter().map(|day| day["sent"].as_u64().expect("a number")).sum();
    assert_eq!(sent, 3, "{report}");
}

#[tokio::test]
async fn pages_tell_that_live_mail_stays_here_in_development_mode() {
    let server = owned(&format!("{BOUNDLESS}\n[mail]\ndevelopment = true\n"));
    let mut browser = Browser::new(&server);
    browser.sign_in("/live/").await;
    let home = browser.get("/live/").await;
    let told = "Live data in development mode. Emails stay in the built-in inbox.";
    assert!(home.text.contains(told) && !home.text.contains("real recipients"), "{}", home.text);
}

#[tokio::test]
async fn home_shows_what_it_could_not_read_and_offers_no_forbidden_actions() {
    let mut none = BOUNDLESS.to_owned();
    let at = none.find("campaigns = ").expect("a budget");
    none.replace_range(at..at + none[at..].find('\n').expect("a line"), "campaigns = 0");
    let server = owned(&none);
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let home = browser.get("/test/").await;
    assert!(home.status == 200 && home.text.contains("Part of this page couldn't be loaded."), "{}", home.text);

    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "writer@example.com", json!({ "role": "custom", "permissions": ["email:read", "email:write"] }))
        .await;
    let mut browser = Browser::new(&server);
    browser.sign_in_as("writer@example.com", PASSWORD, "/test/").await;
    let home = browser.get("/test/").await;
    assert!(home.text.contains("0 of 1 done") && !home.text.contains("couldn't be loaded"), "{}", home.text);
}

#[tokio::test]
async fn a_page_with_its_files_is_small() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let page = browser.get("/test/contacts").await;
    let mut bytes = page.text.len();
    for (ending, most) in [(".css", 9_000), (".js", 3_500)] {
        let named = page.text.split('"').find(|part| part.starts_with("/assets/dashboard-") && part.ends_with(ending));
        let path = named.expect("a file").to_owned();
        let plain = browser.get(&path).await;
        let packed = browser.request(Method::GET, &path, &[("accept-encoding", "br, gzip")], None).await;
        assert_eq!(
            (plain.headers.get("content-encoding"), &packed.headers["content-encoding"]),
            (None, &"gzip".parse().expect("ASCII"))
        );
        let length: usize = packed.headers["content-length"].to_str().expect("ASCII").parse().expect("a number");
        assert!(length < most && length < plain.text.len(), "{path}: {length}");
        bytes += length;
    }
    assert!(bytes < 60_000, "{bytes}");
}

/// Imports this file into a project and waits until the job ends, whether it succeeds or fails. Returns the job's ID.
pub async fn imported(client: &Client, project: &str, file: &[u8]) -> String {
    let part = |name: &str| format!("--part\r\ncontent-disposition: form-data; name=\"{name}\"");
    let head = format!("{}\r\n\r\n{project}\r\n{}; filename=\"a.csv\"\r\n\r\n", part("projectId"), part("file"));
    let body = [head.as_bytes(), file, b"\r\n--part--\r\n"].concat();
    let call = Call::new(operation("contacts.import"), json!({})).body("multipart/form-data; boundary=part", body);
    let started = client.send(call).await.json()["data"].clone();
    let id = started["id"].as_str().expect("an id").to_owned();
    until(async || {
        let status = client.data("contacts.import_status", json!({ "id": id })).await;
        matches!(status["status"].as_str(), Some("completed" | "failed"))
    })
    .await;
    id
}

/// Returns a file whose import fails.
pub fn broken_file() -> Vec<u8> {
    [b"email\n\"".to_vec(), vec![b'x'; mailmill::vocab::limits::CONTACT_IMPORT_ROW_BYTES_MAX + 1]].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_import_is_shown_until_dismissed_or_repeated() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let project = client.project("Acme").await;
    let import = async |file: &[u8]| imported(&client, &project, file).await;
    let broken = broken_file();
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let said = "A contact import for Acme failed.";
    assert!(!browser.get("/test/").await.text.contains(said));
    let id = import(&broken).await;
    let home = browser.get("/test/").await;
    assert!(
        home.text.contains(said) && home.text.contains(&format!("/test/contacts/import/{id}?brand={project}")),
        "{}",
        home.text
    );
    let csrf = home.csrf().to_owned();
    let seen = browser.post("/test/", &[("csrf", &csrf), ("job", &id)]).await;
    assert_eq!((seen.status, seen.location()), (303, "/test/"), "{}", seen.text);
    assert!(!browser.get("/test/").await.text.contains(said));
    import(&broken).await;
    assert!(browser.get("/test/").await.text.contains(said), "what fails again is shown again");
    import(b"email\nada@example.com\n").await;
    assert!(!browser.get("/test/").await.text.contains(said), "a later import is what counts");
    assert_eq!(browser.post("/test/", &[("csrf", &csrf), ("job", "nonsense")]).await.status, 400);
}

#[tokio::test]
async fn the_owner_has_no_sending_limit_until_the_plan_is_changed() {
    let mut server = owned("[accounts]\nsign_up = true\n[plans.standard]\ndaily_emails = 4_321\n");
    let mut browser = Browser::new(&server);
    browser.sign_in("/live/settings/plan").await;
    let page = browser.get("/live/settings/plan").await;
    assert!(page.text.contains("<strong>unlimited</strong>") && page.text.contains("sent, no limit"), "{}", page.text);
    assert!(page.text.contains("Not configured") && page.text.contains("5,000,000"), "{}", page.text);
    assert!(browser.get("/test/settings/plan").await.text.contains("Built-in inbox"));

    // Change the plan of this account on the page.
    let client = server.client("live", "all");
    let plan = client.data("sending.plan", json!({})).await;
    assert_eq!(plan["daily"].get("limit").filter(|limit| !limit.is_null()), None, "{plan}");
    let id = page.text.split("name=\"id\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an ID").to_owned();
    let csrf = page.csrf().to_owned();
    let done = browser.post("/live/settings/plan", &[("csrf", &csrf), ("id", &id), ("plan", "standard")]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let page = browser.get(done.location()).await;
    assert!(page.text.contains("Plan changed.") && page.text.contains("of 4,321"), "{}", page.text);
    assert!(page.text.contains("500 per 60 seconds"), "{}", page.text);
    assert!(!browser.get("/live/settings/plan?done=other").await.text.contains("Plan changed."));
    assert_eq!(client.data("sending.plan", json!({})).await["daily"]["limit"], 4_321, "the next request follows the new plan");

    // Change plans through the API, which an account that signed up may not do.
    let owner = signed_in(&server, OWNER, "live").await;
    let refused = owner.call("accounts.account_plan", json!({ "id": id, "plan": "gold" })).await;
    let refused = refused.refused(http::StatusCode::BAD_REQUEST, "INVALID_REQUEST").json();
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("enterprise, standard, unlimited")), "{refused}");
    let grace = json!({ "email": "grace@example.com", "password": PASSWORD });
    Client::new(server.address(), None).data("accounts.sign_up", grace).await;
    let other = signed_in(&server, "grace@example.com", "live").await;
    other.call("accounts.account_list", json!({})).await.refused(http::StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    let raise = json!({ "id": id, "plan": "unlimited" });
    other.call("accounts.account_plan", raise).await.refused(http::StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    let list = owner.data("accounts.account_list", json!({})).await;
    let [own, signed_up] = [&list["accounts"][0], &list["accounts"][1]];
    assert_eq!((&own["isOwn"], &own["plan"]), (&json!(true), &json!("standard")), "{list}");
    assert_eq!((&signed_up["owner"], &signed_up["plan"]), (&json!("grace@example.com"), &json!("standard")), "{list}");

    // Change plans on the command line, while the server runs and while it is stopped.
    let run = |server: &super::super::support::Server, arguments: &[&str]| {
        let output = server.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let said = run(&server, &["accounts", "plan", "enterprise", "--owner", "grace@example.com"]);
    assert!(said.lines().any(|line| line.contains("enterprise") && line.contains("grace@example.com")), "{said}");
    assert_eq!(owner.data("accounts.account_list", json!({})).await["accounts"][1]["plan"], "enterprise");
    server.signal("TERM");
    server.wait();
    run(&server, &["accounts", "plan", "unlimited"]);
    let said = run(&server, &["accounts", "list"]);
    assert!(said.lines().any(|line| line.contains("unlimited") && line.contains(OWNER)), "{said}");
    let wrong = server.run(&["accounts", "plan", "gold"]);
    assert!(
        !wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("the settings have no plan named \"gold\"")
    );
}

#[tokio::test]
async fn the_use_of_a_key_is_charted_by_day() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    for _ in 0..3 {
        client.data("projects.list", json!({})).await;
    }
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/settings/keys").await;
    let page = browser.get("/test/settings/keys").await;
    assert!(page.text.contains("3 requests in the last 30 days"), "{}", page.text);
    let rest = page.text.split("?usage=").nth(1).expect("a link");
    let id = rest.split('#').next().expect("an id");
    let chart = browser.get(&format!("/test/settings/keys?usage={id}")).await;
    assert!(chart.text.contains("Requests by day") && chart.text.contains("Requests total: 3."), "{}", chart.text);
    let other = browser.get("/test/settings/keys?usage=%3Cb%3E").await;
    assert!(other.status == 200 && !other.text.contains("Requests by day"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recipient_activity_is_shown_by_day_and_by_link() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let stage = Stage::new(&client).await;
    let reader = |name: &str| json!({ "email": format!("{name}@simulator.mailmill.example"), "firstName": name });
    stage.contacts(&client, ["click", "open", "soft-bounce", "complaint", "hard-bounce"].map(reader).into_iter().collect()).await;
    let id = stage.campaign(&client).await;
    act(&client, "send", &id).await;
    becomes(&client, &id, "sent").await;
    until(async || {
        let stats = act(&client, "stats", &id).await;
        let many = |name: &str| stats[name].as_u64().unwrap_or(0);
        many("uniqueClicks") == 1 && many("uniqueOpens") == 2 && many("bounces") == 2 && many("complaints") == 1
    })
    .await;
    let paid = json!({
        "projectId": stage.project, "name": "purchase.completed",
        "identifiers": { "email": "click@simulator.mailmill.example", "externalOrderId": "order-1" },
        "properties": { "value": 49.9, "currency": "EUR" },
    });
    client.data("events.record", paid).await;

    let report = client.data("campaigns.report", json!({ "id": id })).await;
    assert_eq!(report["links"], json!([{ "url": "https://acme.example/teas", "clicks": 1 }]));
    let summed = |days: &serde_json::Value, name: &str| -> u64 {
        days.as_array().expect("days").iter().map(|day| day[name].as_u64().expect("a number")).sum()
    };
    let timeline = client.data("sending.timeline", json!({})).await;
    assert_eq!(timeline["days"].as_array().map(Vec::len), Some(30));
    for days in [&report["days"], &timeline["days"]] {
        let told = ["sent", "failed", "bounced", "complained", "opened", "clicked"].map(|name| summed(days, name));
        assert_eq!(told, [4, 1, 2, 1, 2, 1], "{days}");
        let revenue = days.as_array().into_iter().flatten().rev().find_map(|day| day["revenue"].get(0)).expect("an order");
        assert_eq!(*revenue, json!({ "currency": "EUR", "conversions": 1, "revenue": 49.9 }));
    }
    let month = client.data("sending.metrics", json!({})).await;
    assert_eq!(month["monthly"], json!({ "sent": 4, "delivered": 3, "bounced": 2, "complained": 1 }));

    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let home = browser.get("/test/").await;
    assert!(home.text.contains("Revenue by day in EUR") && home.text.contains("EUR 49.90"), "{}", home.text);
    let page = browser.get(&format!("/test/campaigns/{id}/report")).await;
    assert!(page.text.contains("https://acme.example/teas") && page.text.contains("Revenue total: EUR 49.90."), "{}", page.text);
}
