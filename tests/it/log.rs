//! Tests the debug log: it has a line for every decision, and contains neither secrets nor full addresses.

use http::StatusCode;
use serde_json::json;

use super::delivery::{audience, campaign, email, until, with_relay};
use super::support::Server;
use super::support::csv_host::CsvHost;
use super::support::hook_sink::HookSink;
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use super::support::stores::woocommerce::{WOO_KEY, WOO_SECRET, WooCommerce};
use super::users::{OWNER, PASSWORD, anonymous, set_up};

/// A relay that rejects one recipient and repeats the address in its reply, as many servers do.
fn relay() -> MailSink {
    MailSink::at("127.0.0.1:0".parse().expect("an address"), SinkCapabilities::default(), false, |talk, now| {
        if now == SmtpStage::Recipient && talk.recipient.starts_with("<r1@example.com>") {
            return SinkAction::Say("550 5.1.1 <r1@example.com> no such user".to_owned());
        }
        SinkAction::Usual
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_debug_log_has_every_decision_and_no_secrets_or_addresses() {
    let (sink, hooks) = (relay(), HookSink::content().await);
    let settings = with_relay(&sink).replace("level = \"warn\"", "level = \"debug\"")
        + "[webhooks]\nallow_http = true\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n";
    let server = Server::start(&settings);
    set_up(&server);
    let key = server.key("live", "all");
    let client = anonymous(&server).with_key(Some(&key));
    let project = audience(&client, 3).await;
    let hook = json!({ "url": hooks.url(), "events": ["subscriber.added"], "customHeaders": { "X-Word": "canary-header" } });
    let hook = client.data("webhooks.create", hook).await;
    client.contact(&project, "new@example.com").await;
    hooks.wait(1).await;
    let conversation = email(&client, &project).await;
    let campaign = campaign(&client, &project, &conversation, "Log").await;
    until(async || client.data("campaigns.get", json!({ "id": campaign })).await["status"] == "sent").await;
    let file = CsvHost::start();
    file.offer("email,first name\nada@example.com,Ada\n", "");
    let url = format!("{}?signature=canary-query", file.url());
    let file = json!({ "projectId": project, "name": "File", "url": url, "status": "subscribed" });
    let file = client.data("scheduled_imports.create", file).await;
    until(async || !client.data("scheduled_imports.get", json!({ "id": file["id"] })).await["lastRun"].is_null()).await;
    let shop = WooCommerce::start(Vec::new(), Vec::new());
    let keys = json!({
        "projectId": project, "storefrontStoreUrl": shop.url(), "consumerKey": WOO_KEY, "consumerSecret": WOO_SECRET,
    });
    client.data("storefront.connect", keys).await;
    until(async || client.data("storefront.list", json!({})).await["stores"][0]["sync"]["stage"] == "idle").await;
    let wrong = json!({ "email": OWNER, "password": "canary-password" });
    anonymous(&server).call("accounts.login", wrong).await.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    let right = json!({ "email": OWNER, "password": PASSWORD });
    let token = anonymous(&server).data("accounts.login", right).await["token"].as_str().expect("a token").to_owned();

    let log = server.log();
    let has = |parts: &[&str]| log.lines().any(|line| parts.iter().all(|part| line.contains(part)));
    for parts in [
        ["request", "operation=\"contacts.create\"", "status=201", "by=\"key "].as_slice(),
        &["request", "operation=\"accounts.login\"", "status=401", "code=\"SIGN_IN_FAILED\""],
        &["planned", "to=\"queued\""],
        &["delivery", "to=\"sent\"", "reason=\"250"],
        &["delivery", "to=\"failed\"", "reason=\"550 5.1.1\""],
        &["mailing", "to=\"finished\""],
        &["webhook delivery", "status=200", "verdict=Success", "attempt=1"],
        &["scheduled import", "decision=\"started\""],
        &["scheduled import", "decision=\"imported\"", "failures=0"],
        &["import from a store", "stage=\"products\"", "decision=\"read\""],
    ] {
        assert!(has(parts), "no line has {parts:?}:\n{log}");
    }
    let secret = hook["secret"].as_str().expect("shown once");
    let canaries = ["canary-password", "canary-header", "canary-query"];
    for hidden in [&key, &token, secret, PASSWORD, WOO_KEY, WOO_SECRET, OWNER, "@example.com"].into_iter().chain(canaries) {
        let line = log.lines().find(|line| line.contains(hidden));
        assert_eq!(line, None, "{hidden} is in the log");
    }
}
