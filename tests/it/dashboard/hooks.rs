//! Tests the pages about incoming webhooks: the URL that is shown once, deliveries, and errors next to their fields.

use crate::support::browser::Browser;
use crate::support::server::BOUNDLESS;
use crate::users::owned;

const PATH: &str = "/test/settings/incoming";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incoming_webhook_is_created_used_changed_and_deleted_by_forms() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let client = server.all();
    client.project("Acme").await;
    let page = browser.get(PATH).await;
    assert!(page.text.contains("Receive contacts and events"), "{}", page.text);
    let csrf = page.csrf().to_owned();
    let wrong =
        [("csrf", csrf.as_str()), ("act", "create"), ("kind", "contacts"), ("name", "News"), ("mapping", "city = a\nstatus")];
    let wrong = browser.post(PATH, &wrong).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"mapping-wrong\""), "{}", wrong.text);
    assert!(wrong.text.contains("city = a\nstatus") && wrong.text.contains("value=\"News\""), "{}", wrong.text);
    let right =
        [("csrf", csrf.as_str()), ("act", "create"), ("kind", "contacts"), ("name", "News"), ("mapping", "email = data.mail")];
    let made = browser.post(PATH, &right).await;
    assert!(made.text.contains("News created") && made.text.contains("/v1/hooks/"), "{}", made.text);
    let list = browser.get(PATH).await;
    assert!(list.text.contains("0 accepted, 0 rejected"), "{}", list.text);
    let id = list.text.split("/settings/incoming/").nth(1).and_then(|rest| rest.split('"').next()).expect("a link").to_owned();
    let own = format!("{PATH}/{id}");
    assert!(!browser.get(&own).await.text.contains("data-copy"), "the URL is shown once");
    let saved = [("csrf", csrf.as_str()), ("act", "update"), ("name", "Form"), ("mapping", "email = mail"), ("consent", "Form")];
    assert_eq!(browser.post(&own, &saved).await.location(), format!("{own}?done=update"));
    let shown = browser.get(&own).await;
    assert!(shown.text.contains("<h1>Form</h1>") && shown.text.contains("email = mail"), "{}", shown.text);
    let tested = browser.post(&own, &[("csrf", &csrf), ("act", "test"), ("body", "{\"mail\":\"ada\"}")]).await;
    assert!(tested.text.contains("Test failed") && tested.text.contains("<code>email</code>"), "{}", tested.text);
    let tested = browser.post(&own, &[("csrf", &csrf), ("act", "test"), ("body", "no JSON")]).await;
    assert!(tested.status == 400 && tested.text.contains("id=\"body-wrong\""), "{}", tested.text);
    let signed = [saved.as_slice(), &[("signature_header", "Typeform-Signature"), ("signature_secret", "key")]].concat();
    assert_eq!(browser.post(&own, &signed).await.location(), format!("{own}?done=update"));
    let kept = [saved.as_slice(), &[("signature_header", "Typeform-Signature")]].concat();
    assert_eq!(browser.post(&own, &kept).await.location(), format!("{own}?done=update"));
    assert!(browser.get(&own).await.text.contains("checked in the header <code>Typeform-Signature</code>"));
    let renewed = browser.post(&own, &[("csrf", &csrf), ("act", "url")]).await;
    assert!(renewed.text.contains("New URL") && renewed.text.contains("data-copy"), "{}", renewed.text);
    assert_eq!(browser.post(&own, &[("csrf", &csrf), ("act", "off")]).await.location(), format!("{own}?done=off"));
    let deleted = browser.post(&own, &[("csrf", &csrf), ("act", "delete")]).await;
    assert_eq!(deleted.location(), format!("{PATH}?done=delete"));
    assert!(browser.get(PATH).await.text.contains("Receive contacts and events"));
}
