//! Tests the pages of webhooks: creating a webhook, whose secret is shown once, testing, disabling and deleting it, and viewing and
//! repeating its deliveries.

use serde_json::json;

use crate::support::browser::Browser;
use crate::support::hook_sink::{HookSink, Reaction};
use crate::users::{OWNER, PASSWORD, member, owned, signed_in};
use crate::webhooks::settings;

const PATH: &str = "/test/settings/webhooks";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_created_by_a_form_and_its_secret_shown_once() {
    let server = owned(&settings(""));
    let url = "http://127.0.0.1:9/hook".to_owned();
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let page = browser.get(PATH).await;
    assert!(
        page.text.contains("Notify other systems immediately") && page.text.contains("/v1/webhooks"),
        "the empty state teaches"
    );
    let csrf = page.csrf().to_owned();

    // Input is kept, and an error is shown next to its field.
    for (name, value, said) in [
        ("url", "ftp://example.com/", "must be a URL that starts with https://"),
        ("event", "", "type"),
        ("headers", "X-Shop 7", "Enter each header on its own line"),
        ("headers", "Host: x", "this header is reserved"),
    ] {
        let mut fields = vec![("csrf", csrf.as_str()), ("act", "create"), ("description", "Tells \"the shop\"")];
        for (own, usual) in [("url", url.as_str()), ("event", "subscriber.added"), ("headers", "X-Shop: 7")] {
            match own == name {
                true if value.is_empty() => {}
                true => fields.push((own, value)),
                false => fields.push((own, usual)),
            }
        }
        let wrong = browser.post(PATH, &fields).await;
        assert_eq!(wrong.status, 400, "{name}: {}", wrong.text);
        let lower = wrong.text.to_lowercase();
        assert!(
            lower.contains(&said.to_lowercase()) && wrong.text.contains("Tells &quot;the shop&quot;"),
            "{name}: {}",
            wrong.text
        );
        assert_eq!(wrong.text.matches("data-wrong").count(), 1, "{name}: {}", wrong.text);
    }

    let fields = [
        ("csrf", csrf.as_str()),
        ("act", "create"),
        ("url", &url),
        ("description", "The shop"),
        ("event", "subscriber.added"),
        ("event", "subscriber.updated"),
        ("headers", "X-Shop: 7\r\nX-Word: a b"),
        ("standard", "yes"),
    ];
    let made = browser.post(PATH, &fields).await;
    assert!(!made.text.contains("value=\"The shop\""), "the form is empty again: {}", made.text);
    let secret = made.text.split("<code>whsec_").nth(1).and_then(|rest| rest.split('<').next()).expect("the secret").to_owned();
    let list = browser.get(PATH).await;
    assert!(!list.text.contains(&secret) && list.text.contains("The shop") && list.text.contains(">active<"));
    let id = list.text.split("/settings/webhooks/").nth(1).and_then(|rest| rest.split('"').next()).expect("a link").to_owned();
    let own = format!("{PATH}/{id}");
    let page = browser.get(&own).await;
    assert!(page.text.contains("href=\"/live/settings/webhooks\""), "the other data has no such webhook");
    for shown in ["X-Shop: ********\nX-Word: ********", "value=\"subscriber.added\" checked", "No deliveries yet"] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert!(!page.text.contains("value=\"subscriber.unsubscribed\" checked"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_tested_changed_and_deleted_by_forms() {
    let server = owned(&settings(""));
    let sink = HookSink::start(|_, number| match number {
        0 => Reaction::status(200),
        _ => Reaction::Answer(500, "", "<script>alert(1)</script>".into()),
    })
    .await;
    let (id, secret) = crate::webhooks::hook(&server.all(), &sink.url(), &["subscriber.added"]).await;
    let (url, own) = (sink.url(), format!("{PATH}/{id}"));
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let csrf = browser.get(&own).await.csrf().to_owned();

    let tested = browser.post(&own, &[("csrf", &csrf), ("act", "test")]).await;
    assert!(tested.text.contains("Test delivered") && tested.text.contains("returned 200"), "{}", tested.text);
    let tested = browser.post(&own, &[("csrf", &csrf), ("act", "test")]).await;
    assert!(tested.text.contains("Test failed") && tested.text.contains("returned 500"), "{}", tested.text);
    assert!(
        tested.text.contains("&lt;script&gt;alert(1)") && !tested.text.contains("<script>alert"),
        "what endpoints say is text"
    );
    // Saving the form with the shown value keeps the stored value.
    for text in ["X-Word: canary", "X-Word: ********"] {
        let kept = [("csrf", csrf.as_str()), ("act", "update"), ("url", &url), ("event", "email.clicked"), ("headers", text)];
        assert_eq!(browser.post(&own, &kept).await.location(), format!("{own}?done=update"));
    }
    let page = browser.get(&own).await;
    assert!(page.text.contains("X-Word: ********") && !page.text.contains("canary"), "{}", page.text);
    browser.post(&own, &[("csrf", &csrf), ("act", "test")]).await;
    assert_eq!(sink.got().last().and_then(|got| got.header("x-word")), Some("canary"));

    let failed = browser.get(&format!("{own}?status=failed")).await;
    assert!(failed.text.contains("webhook.test") && failed.text.contains(">test</span>"), "{}", failed.text);
    assert!(browser.get(&format!("{own}?status=pending")).await.text.contains("No matching deliveries"));

    let changed = [("csrf", csrf.as_str()), ("act", "update"), ("url", &url), ("event", "email.clicked"), ("headers", "")];
    assert_eq!(browser.post(&own, &changed).await.location(), format!("{own}?done=update"));
    let page = browser.get(&own).await;
    assert!(page.text.contains("value=\"email.clicked\" checked") && !page.text.contains("X-Word"), "{}", page.text);
    let wrong = browser.post(&own, &[("csrf", &csrf), ("act", "update"), ("url", "nowhere"), ("event", "email.clicked")]).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("value=\"nowhere\"") && wrong.text.contains("class=\"beside\""),
        "{}",
        wrong.text
    );

    let rotated = browser.post(&own, &[("csrf", &csrf), ("act", "rotate"), ("grace", "24")]).await;
    assert!(rotated.text.contains("<code>whsec_") && !rotated.text.contains(&secret), "{}", rotated.text);
    assert_eq!(browser.post(&own, &[("csrf", &csrf), ("act", "rotate"), ("grace", "many")]).await.status, 400);
    assert_eq!(browser.post(&own, &[("csrf", &csrf), ("act", "off")]).await.location(), format!("{own}?done=off"));
    assert!(browser.get(&own).await.text.contains("Turn on"));
    assert_eq!(browser.post(&own, &[("csrf", &csrf), ("act", "redeliver"), ("from", "2020-01-01T00:00")]).await.status, 400);
    assert_eq!(browser.post(&own, &[("csrf", &csrf), ("act", "nonsense")]).await.status, 400);
    let gone = browser.post(&own, &[("csrf", &csrf), ("act", "delete")]).await;
    assert_eq!(gone.location(), format!("{PATH}?done=delete"));
    assert_eq!(browser.get(&own).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_event_is_redelivered_alone_and_by_time_range() {
    let server = owned(&settings(""));
    let sink = HookSink::start(|_, number| Reaction::status(if number < 3 { 500 } else { 200 })).await;
    let client = server.all();
    let (id, _) = crate::webhooks::hook(&client, &sink.url(), &["subscriber.added"]).await;
    let project = client.project("Acme").await;
    client.contact(&project, "ada@example.com").await;
    sink.wait(3).await;
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let own = format!("{PATH}/{id}");
    let page = loop {
        let page = browser.get(&own).await;
        if page.text.contains("name=\"delivery\"") {
            break page;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(page.text.matches("<dt>Attempt ").count(), 3, "{}", page.text);
    let (csrf, delivery) = (page.csrf().to_owned(), page.value("delivery").to_owned());
    assert_eq!(
        browser.post(&own, &[("csrf", &csrf), ("act", "retry"), ("delivery", &delivery)]).await.location(),
        format!("{own}?done=retry")
    );
    sink.wait(4).await;
    let from = page.text.split("name=\"from\" type=\"datetime-local\" required value=\"").nth(1).expect("a field");
    let from = from.split('"').next().expect("its value").to_owned();
    let fields = [("csrf", csrf.as_str()), ("act", "redeliver"), ("from", &from), ("to", ""), ("all", "yes")];
    assert_eq!(browser.post(&own, &fields).await.location(), format!("{own}?done=redeliver"));
    sink.wait(5).await;
}

#[tokio::test]
async fn a_viewer_sees_no_forms_and_a_user_without_access_gets_an_error() {
    let server = owned(&settings(""));
    let owner = signed_in(&server, OWNER, "test").await;
    let hook = json!({ "url": "http://127.0.0.1:9/", "events": ["subscriber.added"] });
    let made = server.all().data("webhooks.create", hook).await;
    member(&server, &owner, "looks@example.com", json!({ "role": "custom", "permissions": ["webhook:read"] })).await;
    member(&server, &owner, "other@example.com", json!({ "role": "custom", "permissions": ["audience:read"] })).await;
    let own = format!("{PATH}/{}", made["id"].as_str().expect("an id"));
    let mut looks = Browser::new(&server);
    looks.sign_in_as("looks@example.com", PASSWORD, "/").await;
    for path in [PATH, own.as_str()] {
        let page = looks.get(path).await;
        assert!(page.status == 200 && !page.text.contains("name=\"act\""), "{path}");
    }
    let csrf = looks.get(PATH).await.csrf().to_owned();
    assert_eq!(looks.post(&own, &[("csrf", &csrf), ("act", "delete")]).await.status, 403);
    let mut other = Browser::new(&server);
    other.sign_in_as("other@example.com", PASSWORD, "/").await;
    for path in [PATH, own.as_str()] {
        assert_eq!(other.get(path).await.status, 403, "{path}");
    }
}
