//! Home, plan and limits, and the use of keys as somebody sees them in a browser without scripts.

use serde_json::json;

use crate::campaigns::{Stage, act, becomes};
use crate::people::owned;
use crate::support::browser::Browser;
use crate::support::server::BOUNDLESS;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn home_leads_newcomers_on_and_then_tells_how_sending_does() {
    let server = owned(BOUNDLESS);
    let client = server.client("test", "all");
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/").await;
    let first = browser.get("/test/").await;
    assert!(first.text.contains("0 of 4 done") && first.text.contains("/v1/projects/import"), "{}", first.text);
    // Live mail has no way out here, and needs a domain.
    let live = browser.get("/live/").await;
    assert!(live.text.contains("no way out yet") && live.text.contains("of 5 done"), "{}", live.text);

    let stage = Stage::new(&client).await;
    stage.crowd(&client, 3).await;
    let second = browser.get("/test/").await;
    assert!(second.text.contains("3 of 4 done") && second.text.contains("href=\"/test/campaigns/new\""), "{}", second.text);

    let id = stage.campaign(&client).await;
    act(&client, "send", &id).await;
    becomes(&client, &id, "sent").await;
    let then = browser.get("/test/").await;
    assert!(!then.text.contains("First steps") && then.text.contains("The last 30 days"), "{}", then.text);
    assert!(then.text.contains("Messages sent by day") && then.text.contains("As a table"), "{}", then.text);
    assert!(then.text.contains(&format!("/test/campaigns/{id}/report")), "{}", then.text);
    let told = client.data("sending.timeline", json!({ "days": 2 })).await;
    assert_eq!((told["summary"]["sent"].as_u64(), told["summary"]["deliveredRate"].as_f64()), (Some(3), Some(100.0)));
    let report = client.data("campaigns.report", json!({ "id": id })).await;
    let sent: u64 = report["days"].as_array().expect("days").iter().map(|day| day["sent"].as_u64().expect("a number")).sum();
    assert_eq!(sent, 3, "{report}");
}

#[tokio::test]
async fn plan_and_limits_are_the_numbers_that_hold() {
    let settings = "[plans.standard]\ndaily_emails = 4_321\n";
    let server = owned(settings);
    let mut browser = Browser::new(&server);
    browser.sign_in("/live/settings/plan").await;
    let page = browser.get("/live/settings/plan").await;
    assert!(page.text.contains("of 4,321") && page.text.contains("500 in 60 s"), "{}", page.text);
    assert!(page.text.contains("nothing yet") && page.text.contains("5,000,000"), "{}", page.text);
    assert!(browser.get("/test/settings/plan").await.text.contains("the built-in inbox"));
}

#[tokio::test]
async fn the_use_of_a_key_is_drawn_by_day() {
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
    assert!(chart.text.contains("Requests by day") && chart.text.contains("Requests in all: 3."), "{}", chart.text);
    let other = browser.get("/test/settings/keys?usage=%3Cb%3E").await;
    assert!(other.status == 200 && !other.text.contains("Requests by day"));
}
