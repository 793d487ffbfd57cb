//! The built-in inbox as somebody sees it who looks what was sent.

use serde_json::{Value, json};

use crate::delivery::until;
use crate::peers::verify;
use crate::people::owned;
use crate::support::browser::Browser;
use crate::support::name_server::NameServer;
use crate::support::server::BOUNDLESS;

const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";

fn send(from: &str, to: &str, subject: &str) -> Value {
    let template = "<!doctype html><html><head><title>x</title></head><body><p>Hello</p>\
                    <p><a href=\"https://shop.example/spring\">Shop</a></p><script>alert(1)</script></body></html>";
    json!({
        "recipientType": "email", "recipientEmail": to, "from": from, "fromName": "Acme", "subject": subject, "template": template,
        "transactional": true,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_found_shown_in_a_closed_frame_and_deleted() {
    let names = NameServer::start();
    let server = owned(&format!("{BOUNDLESS}\n[mail]\ndns = \"{}\"\n", names.address));
    let client = server.client("test", "all");
    verify(&client, &names, "acme.example").await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/inbox").await;
    let empty = browser.get("/test/inbox").await;
    assert!(empty.status == 200 && empty.text.contains("Nothing was sent yet") && empty.text.contains("curl "), "{}", empty.text);

    for (from, to, subject) in
        [("hello@acme.example", "ada@example.com", "Spring & more"), ("hello@other.example", "grace@example.com", EVIL)]
    {
        client.data("sending.send", send(from, to, subject)).await;
    }
    let listed = async || client.data("sending.inbox_list", json!({})).await;
    until(async || listed().await["total"] == 2).await;

    let list = browser.get("/test/inbox").await;
    assert!(list.text.contains("Spring &amp; more") && list.text.contains("&lt;script&gt;alert(1)"), "{}", list.text);
    assert!(!list.text.contains("<img src=x"), "{}", list.text);
    let found = browser.get("/test/inbox?search=ADA%40").await;
    assert!(found.text.contains("Spring &amp; more") && !found.text.contains("grace@"), "{}", found.text);
    assert!(browser.get("/test/inbox?search=nobody").await.text.contains("Nothing found for “nobody”"));
    assert!(browser.get("/live/inbox").await.text.contains("Nothing was sent yet"));

    let all = listed().await;
    let id = |to: &str| {
        let message = all["messages"].as_array().expect("a list").iter().find(|message| message["to"] == to);
        message.expect("it is there")["id"].as_str().expect("an id").to_owned()
    };
    let path = format!("/test/inbox/{}", id("ada@example.com"));
    let page = browser.get(&path).await;
    assert!(page.text.contains("<iframe class=\"mail\"") && page.text.contains("sandbox=\"allow-popups"), "{}", page.text);
    assert!(!page.text.contains("shop.example"), "what somebody wrote is in the frame only");
    assert_eq!(page.text.matches("tag good\">pass").count(), 2, "both signatures hold: {}", page.text);
    assert!(page.text.contains("rsa-sha256") && page.text.contains("ed25519-sha256"), "{}", page.text);
    let frame = browser.get(&format!("{path}/mail")).await;
    let policy = frame.headers["content-security-policy"].to_str().expect("ASCII");
    assert!(policy.starts_with("sandbox allow-popups ") && policy.contains("default-src 'none'"), "{policy}");
    assert!(!policy.contains("allow-scripts") && !policy.contains("allow-same-origin"), "{policy}");
    assert!(frame.text.contains("<base target=\"_blank\">") && frame.text.contains("Hello"), "{}", frame.text);
    assert!(browser.get(&format!("{path}?view=text")).await.text.contains("Hello"));
    assert!(browser.get(&format!("{path}?view=headers")).await.text.contains("List-Unsubscribe"), "all headers are listed");
    let source = browser.get(&format!("{path}/source")).await;
    assert!(
        source.headers["content-disposition"].to_str().expect("ASCII").starts_with("attachment") && source.text.contains("DKIM-")
    );
    let unsigned = browser.get(&format!("/test/inbox/{}", id("grace@example.com"))).await;
    assert!(
        unsigned.text.contains("is no verified sending domain") && !unsigned.text.contains("<script>alert"),
        "{}",
        unsigned.text
    );
    assert_eq!(browser.get(&path.replace("/test/", "/live/")).await.status, 404, "it is in the other world");

    let csrf = page.csrf().to_owned();
    assert_eq!(browser.post(&path, &[("csrf", &csrf), ("act", "delete")]).await.location(), "/test/inbox?done=deleted");
    assert_eq!(browser.get(&path).await.status, 404);
}
