//! Tests the pages about mail services: setup, the URL that is shown once, the test event, and errors next to their fields.

use crate::support::browser::Browser;
use crate::support::server::BOUNDLESS;
use crate::users::owned;

const PATH: &str = "/test/settings/mail-services";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_service_is_added_tested_changed_and_deleted_by_forms() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let page = browser.get(PATH).await;
    for text in ["Receive bounces and complaints", "smtp://USER:PASSWORD@smtp.postmarkapp.com:587", "X-PM-Metadata-mailmill"] {
        assert!(page.text.contains(text), "{text}: {}", page.text);
    }
    let csrf = page.csrf().to_owned();
    let wrong = [("csrf", csrf.as_str()), ("act", "create"), ("service", "resend"), ("secret", "canary-1"), ("name", "News")];
    let wrong = browser.post(PATH, &wrong).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"secret-wrong\"") && wrong.text.contains("whsec_"), "{}", wrong.text);
    assert!(wrong.text.contains("value=\"News\"") && !wrong.text.contains("canary-1"), "a secret is not filled in again");
    let made = browser.post(PATH, &[("csrf", &csrf), ("act", "create"), ("service", "mailgun"), ("name", "News")]).await;
    assert!(made.text.contains("Mailgun added") && made.text.contains("/feedback/"), "{}", made.text);
    assert!(made.text.contains("HTTP webhook signing key"), "it says what is left to do: {}", made.text);
    let list = browser.get(PATH).await;
    assert!(!list.text.contains("/feedback/") && list.text.contains("Mailgun: News"), "the URL is shown once: {}", list.text);
    let id =
        list.text.split("/settings/mail-services/").nth(1).and_then(|rest| rest.split('"').next()).expect("a link").to_owned();
    let own = format!("{PATH}/{id}");
    let tested = browser.post(&own, &[("csrf", &csrf), ("act", "test")]).await;
    assert!(
        tested.text.contains("Test failed") && tested.text.contains("Events are rejected until you enter"),
        "{}",
        tested.text
    );
    let saved = browser.post(&own, &[("csrf", &csrf), ("act", "update"), ("secret", "key-canary-2"), ("name", "News")]).await;
    assert_eq!(saved.location(), format!("{own}?done=update"));
    let tested = browser.post(&own, &[("csrf", &csrf), ("act", "test")]).await;
    assert!(tested.text.contains("Test passed") && !tested.text.contains("canary"), "{}", tested.text);
    let renewed = browser.post(&own, &[("csrf", &csrf), ("act", "url")]).await;
    assert!(renewed.text.contains("New URL") && renewed.text.contains("/feedback/"), "{}", renewed.text);
    let deleted = browser.post(&own, &[("csrf", &csrf), ("act", "delete")]).await;
    assert_eq!(deleted.location(), format!("{PATH}?done=delete"));
    assert!(browser.get(PATH).await.text.contains("Receive bounces and complaints"));
}
