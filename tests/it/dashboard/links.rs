//! Tests emailed invitation and password-reset links, with a configured mail transport.

use std::time::Duration;

use crate::delivery::until;
use serde_json::json;

use crate::support::browser::{Browser, Page};
use crate::support::client::Call;
use crate::support::mail_sink::{MailSink, SinkAction, SinkCapabilities};
use crate::support::operation;
use crate::support::server::BOUNDLESS;
use crate::users::{OWNER, PASSWORD, anonymous, owned, signed_in};

/// Returns the link in the newest email.
fn link(sink: &MailSink, front: &str) -> String {
    let message = sink.messages().pop().expect("a message");
    let text = String::from_utf8_lossy(&message.body).replace("=\r\n", "");
    let (_, rest) = text.split_once(front).unwrap_or_else(|| panic!("no {front} in {text}"));
    format!("{front}{}", rest.split_whitespace().next().expect("it ends"))
}

/// Checks that the page reports an invalid link, and has no form.
fn is_dead(page: &Page) {
    assert!(page.status == 404 && page.text.contains("This link does not work"), "{}", page.text);
    assert!(!page.text.contains("name=\"password\""), "{}", page.text);
}

#[tokio::test]
async fn a_wrong_link_fails_at_once_and_opening_a_valid_one_does_not_use_it_up() {
    let server = owned(BOUNDLESS);
    for path in ["/join/0123456789abcdefghijABCDEFGHIJ01", "/reset/0123456789abcdefghijABCDEFGHIJ01", "/join/%00", "/reset/x"] {
        is_dead(&Browser::new(&server).get(path).await);
    }
    let owner = signed_in(&server, OWNER, "test").await;
    let invited = owner.data("accounts.member_invite", json!({ "email": "bob@example.com", "role": "viewer" })).await;
    let link = invited["link"].as_str().expect("a link");
    let path = &link[link.find("/join/").expect("the path")..];
    let mut bob = Browser::new(&server);
    bob.get(path).await;
    let csrf = bob.get(path).await.csrf().to_owned();
    let joined = bob.post(path, &[("csrf", &csrf), ("password", PASSWORD)]).await;
    assert_eq!(joined.status, 303, "{}", joined.text);
    is_dead(&Browser::new(&server).get(&path.replace("/join/", "/reset/")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_are_mailed_to_members_only_and_work() {
    let sink = MailSink::by(SinkCapabilities::default(), |_, _| SinkAction::Usual);
    let mail = format!("[mail]\nrelay = [\"smtp://{}\"]\n", sink.address);
    let settings = BOUNDLESS.replace("[accounts]\n", "[accounts]\nmail_from = \"mailmill@example.com\"\n") + &mail;
    let server = owned(&settings);
    let mut browser = Browser::new(&server);
    let csrf = browser.get("/forgot").await.csrf().to_owned();
    for email in ["unknown@example.com", OWNER] {
        let asked = browser.post("/forgot", &[("csrf", &csrf), ("email", email)]).await;
        assert_eq!((asked.status, asked.location()), (303, "/forgot?done=asked"), "the same for every email");
    }
    until(async || sink.count() == 1).await;
    let path = link(&sink, "/reset/");
    let csrf = browser.get(&path).await.csrf().to_owned();
    let chosen = browser.post(&path, &[("csrf", &csrf), ("password", "another horse battery")]).await;
    assert_eq!(chosen.location(), "/signin?done=reset", "{}", chosen.text);
    is_dead(&browser.get(&path).await);
    let csrf = browser.get("/signin").await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("email", OWNER), ("password", "another horse battery")];
    assert_eq!(browser.post("/signin", &fields).await.status, 303);

    let members = "/test/settings/members";
    let csrf = browser.get(members).await.csrf().to_owned();
    let fields = [("csrf", csrf.as_str()), ("act", "invite"), ("email", "bob@example.com"), ("role", "viewer")];
    let invited = browser.post(members, &fields).await;
    assert!(invited.text.contains("The link was emailed to "), "{}", invited.text);
    let path = link(&sink, "/join/");
    let mut bob = Browser::new(&server);
    let csrf = bob.get(&path).await.csrf().to_owned();
    let joined = bob.post(&path, &[("csrf", &csrf), ("name", "Bob"), ("password", PASSWORD)]).await;
    assert_eq!((joined.status, joined.location()), (303, "/"), "{}", joined.text);
    assert_eq!(bob.get("/test/").await.status, 200, "in at once");
    let again = Browser::new(&server).post(&path, &[("csrf", &csrf), ("password", PASSWORD)]).await;
    assert_ne!(again.status, 303, "and the link is used up");
    is_dead(&Browser::new(&server).get(&path).await);

    // Requests beyond the limit are not sent.
    let mut anonymous = Browser::new(&server);
    let csrf = anonymous.get("/forgot").await.csrf().to_owned();
    for _ in 0..6 {
        anonymous.post("/forgot", &[("csrf", &csrf), ("email", OWNER)]).await;
    }
    until(async || sink.count() == 4).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(sink.count(), 4, "one of before, the invitation, and two more for the owner");
}

#[tokio::test]
async fn a_user_without_an_account_gets_through_sign_up_to_the_request_of_their_agent() {
    let server = owned(&BOUNDLESS.replace("[accounts]\n", "[accounts]\nsign_up = true\n"));
    let email = "new@example.com";
    let body = json!({ "type": "service_auth", "login_hint": email, "agent_name": "Shop helper", "scope": "audience:read" });
    let asked = anonymous(&server).try_send(Call::new(operation("accounts.agent_identity"), json!({})).json(body)).await;
    let asked = asked.expect("an answer").json();
    let code = asked["claim"]["user_code"].as_str().expect("a code");

    let mut browser = Browser::new(&server);
    let request = format!("/agent?code={code}");
    let to_sign_in = browser.get(&request).await;
    assert_eq!(to_sign_in.status, 303);
    let sign_in = browser.get(to_sign_in.location()).await.text;
    let (_, rest) = sign_in.split_once("href=\"/signup").expect("a link to sign-up");
    let sign_up = format!("/signup{}", rest.split('"').next().expect("it ends"));
    let page = browser.get(&sign_up).await;
    let (csrf, next) = (page.csrf().to_owned(), page.value("next").to_owned());
    let fields = [("csrf", csrf.as_str()), ("next", &next), ("email", email), ("password", "short")];
    let wrong = browser.post("/signup", &fields).await;
    assert_eq!((wrong.status, wrong.value("next")), (400, next.as_str()), "{}", wrong.text);
    let fields = [("csrf", csrf.as_str()), ("next", &next), ("email", email), ("password", PASSWORD)];
    let made = browser.post("/signup", &fields).await;
    assert_eq!((made.status, made.location()), (303, request.as_str()), "{}", made.text);
    assert!(browser.get(&request).await.text.contains("Shop helper"));

    // Redirects to other sites are ignored.
    let page = Browser::new(&server).get("/signup?next=//evil.example").await;
    assert!(!page.text.contains("evil.example"), "{}", page.text);
}

#[tokio::test]
async fn without_a_mail_transport_the_page_says_whom_to_ask() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    let page = browser.get("/forgot").await;
    assert!(page.text.contains("No email is sent") && !page.text.contains("<form"), "{}", page.text);
}
