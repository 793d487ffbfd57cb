//! Tests the pages for sending domains: adding a domain, its records and their state in DNS, tracking, new keys, and deleting the domain.

use crate::support::browser::Browser;
use crate::support::server::BOUNDLESS;
use crate::users::owned;

const PATH: &str = "/test/domains";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_domain_is_added_checked_changed_and_deleted_by_forms() {
    let server = owned(&format!("{BOUNDLESS}\n[server]\npublic_url = \"https://mail.mill.example\"\n"));
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let page = browser.get(PATH).await;
    assert!(page.text.contains("Send from your own domain") && page.text.contains("/v1/domains"), "the empty state teaches");
    let csrf = page.csrf().to_owned();
    let wrong = browser.post(PATH, &[("csrf", &csrf), ("act", "create"), ("domain", "no domain<")]).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("value=\"no domain&lt;\"") && wrong.text.contains("class=\"beside\""),
        "{}",
        wrong.text
    );
    let made = browser.post(PATH, &[("csrf", &csrf), ("act", "create"), ("domain", "Acme.example")]).await;
    assert_eq!(made.location(), "/test/domains/acme.example?done=create");
    let page = browser.get(made.location()).await;
    for shown in [
        "_domainkey.acme.example",
        "v=DKIM1; k=rsa",
        "v=DKIM1; k=ed25519",
        "_dmarc.acme.example",
        "data-copy=\"v=DMARC1",
        ">required<",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let own = "/test/domains/acme.example";
    let verified = browser.post(own, &[("csrf", &csrf), ("act", "verify")]).await;
    assert_eq!(verified.location(), "/test/domains/acme.example?done=verify");
    assert!(browser.get(own).await.text.contains(">unreachable<"), "no server responds there");

    let fields =
        [("csrf", csrf.as_str()), ("act", "tracking"), ("clicks", "yes"), ("branded", "yes"), ("utm", "yes"), ("source", "news")];
    assert_eq!(browser.post(own, &fields).await.location(), "/test/domains/acme.example?done=tracking");
    let page = browser.get(own).await;
    assert!(
        page.text.contains("name=\"clicks\" value=\"yes\" checked")
            && !page.text.contains("name=\"opens\" value=\"yes\" checked")
    );
    assert!(page.text.contains("value=\"news\"") && page.text.contains("CNAME"), "{}", page.text);
    let long = "x".repeat(500);
    let wrong = browser.post(own, &[("csrf", &csrf), ("act", "tracking"), ("utm", "yes"), ("source", &long)]).await;
    assert!(wrong.status == 400 && wrong.text.contains(&long) && wrong.text.contains("role=\"alert\""), "{}", wrong.text);

    assert_eq!(
        browser.post(own, &[("csrf", &csrf), ("act", "rotate")]).await.location(),
        "/test/domains/acme.example?done=rotate"
    );
    assert_eq!(browser.post(own, &[("csrf", &csrf), ("act", "nonsense")]).await.status, 400);
    let both = [("csrf", csrf.as_str()), ("act", "setup"), ("domain", "teas.example"), ("from_name", "Teas"), ("root", "yes")];
    assert_eq!(browser.post(PATH, &both).await.location(), "/test/domains/send.teas.example?done=setup");
    let list = browser.get(PATH).await;
    assert!(
        ["acme.example", "send.teas.example", "notify.teas.example"].iter().all(|name| list.text.contains(name)),
        "{}",
        list.text
    );
    assert_eq!(browser.post(own, &[("csrf", &csrf), ("act", "delete")]).await.location(), "/test/domains?done=delete");
    assert_eq!(browser.get(own).await.status, 404);
}
