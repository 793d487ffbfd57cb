//! Links to join and to new passwords by mail, where the settings give a way for it.

use std::time::Duration;

use crate::delivery::until;
use crate::people::{OWNER, owned};
use crate::support::browser::Browser;
use crate::support::mail_sink::{Deed, MailSink, Offers};
use crate::support::server::BOUNDLESS;

/// The link in the newest letter.
fn link(sink: &MailSink, front: &str) -> String {
    let letter = sink.letters().pop().expect("a letter");
    let text = String::from_utf8_lossy(&letter.body).replace("=\r\n", "");
    let (_, rest) = text.split_once(front).unwrap_or_else(|| panic!("no {front} in {text}"));
    format!("{front}{}", rest.split_whitespace().next().expect("it ends"))
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_mailed_to_members_only_and_work() {
    let sink = MailSink::by(Offers::default(), |_, _| Deed::Usual);
    let mail = format!("[mail]\nrelay = [\"smtp://{}\"]\n", sink.address);
    let settings = BOUNDLESS.replace("[accounts]\n", "[accounts]\nmail_from = \"mailmill@example.com\"\n") + &mail;
    let server = owned(&settings);
    let mut browser = Browser::new(&server);
    let csrf = browser.get("/forgot").await.csrf().to_owned();
    for email in ["nobody@example.com", OWNER] {
        let asked = browser.post("/forgot", &[("csrf", &csrf), ("email", email)]).await;
        assert_eq!((asked.status, asked.location()), (303, "/forgot?done=asked"), "the same for everybody");
    }
    until(async || sink.count() == 1).await;
    let path = link(&sink, "/reset/");
    let csrf = browser.get(&path).await.csrf().to_owned();
    let chosen = browser.post(&path, &[("csrf", &csrf), ("password", "another horse battery")]).await;
    assert_eq!(chosen.location(), "/signin?done=reset", "{}", chosen.text);
    let csrf = browser.get("/signin").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("email", OWNER), ("password", "another horse battery")];
    assert_eq!(browser.post("/signin", &fields).await.status, 303);

    let members = "/test/settings/members";
    let csrf = browser.get(members).await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("act", "invite"), ("email", "bob@example.com"), ("role", "viewer")];
    let invited = browser.post(members, &fields).await;
    assert!(invited.text.contains("It was mailed to them"), "{}", invited.text);
    let path = link(&sink, "/join/");
    assert_eq!(Browser::new(&server).get(&path).await.status, 200);

    // More links than anybody needs are not sent.
    let mut stranger = Browser::new(&server);
    let csrf = stranger.get("/forgot").await.csrf().to_owned();
    for _ in 0..6 {
        stranger.post("/forgot", &[("csrf", &csrf), ("email", OWNER)]).await;
    }
    until(async || sink.count() == 4).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(sink.count(), 4, "one of before, the invitation, and two more for the owner");
}

#[tokio::test]
async fn without_a_way_for_mail_the_page_says_whom_to_ask() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    let page = browser.get("/forgot").await;
    assert!(page.text.contains("No mail is sent") && !page.text.contains("<form"), "{}", page.text);
}
