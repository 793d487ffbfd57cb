//! Tests an agent's request for a key in a browser: the user's choices are kept until the request is granted.

use serde_json::{Value, json};

use crate::support::browser::{Browser, Page};
use crate::support::client::Call;
use crate::support::fixtures::consent_request;
use crate::support::server::BOUNDLESS;
use crate::support::{Server, operation};
use crate::users::{OWNER, PASSWORD, anonymous, owned, set_up, signed_in};

/// Creates an agent's request for these permissions; returns its code.
async fn asked(server: &Server, scope: &str) -> String {
    let body = json!({ "type": "service_auth", "login_hint": OWNER, "agent_name": "Shop helper", "scope": scope });
    let call = Call::new(operation("accounts.agent_identity"), json!({})).json(body);
    let answer = anonymous(server).try_send(call).await.expect("an answer").json();
    answer["claim"]["user_code"].as_str().unwrap_or_else(|| panic!("a code: {answer}")).to_owned()
}

/// Returns the selected values of the fields with this name.
fn chosen(page: &Page, name: &str) -> Vec<String> {
    let front = format!("name=\"{name}\" value=\"");
    let fields = page.text.split(&front).skip(1).filter_map(|rest| rest.split_once('"'));
    fields
        .filter(|(_, rest)| rest.split('>').next().is_some_and(|rest| rest.contains("checked")))
        .map(|(value, _)| value.to_owned())
        .collect()
}

async fn newest(server: &Server) -> Value {
    let owner = signed_in(server, OWNER, "test").await;
    owner.data("accounts.approval_list", json!({})).await["approvals"][0].clone()
}

#[tokio::test]
async fn choices_are_kept_when_the_password_is_requested() {
    let mut server = Server::stopped(BOUNDLESS);
    let Some(faults) = server.faults() else { return };
    server.serve();
    set_up(&server);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    // The sign-in is too old for granting permissions that allow sending mail.
    faults.clock_off_by_ms(11 * 60 * 1000);
    let all = "audience:read audience:write email:read email:write email:send email:validate email:preview domain:read \
               domain:write campaign:read campaign:write project:write webhook:read webhook:write";
    let code = asked(&server, all).await;
    let form = browser.get(&format!("/agent?code={code}")).await;
    assert_eq!((chosen(&form, "permission").len(), chosen(&form, "environment")), (14, vec!["test".to_owned()]));
    let csrf = form.csrf().to_owned();
    let front = [("csrf", csrf.as_str()), ("code", &code), ("act", "grant"), ("environment", "live")];
    let more = all.split(' ').map(|permission| ("permission", permission));
    let everything: Vec<(&str, &str)> = front.into_iter().chain(more).collect();
    let confirm = browser.post("/agent", &everything).await;
    assert!(confirm.location().starts_with("/confirm?next="), "even all of them fit: {}", confirm.location());
    let little: Vec<(&str, &str)> = front.into_iter().chain([("permission", "email:send")]).collect();
    let confirm = browser.post("/agent", &little).await;
    let proof = browser.get(confirm.location()).await;
    let next = proof.value("next").replace("&amp;", "&").replace("&#x2f;", "/");
    let back = browser.post("/confirm", &[("csrf", proof.csrf()), ("next", &next), ("password", PASSWORD)]).await;
    assert_eq!((back.status, back.location()), (303, next.as_str()));
    let again = browser.get(back.location()).await;
    assert_eq!(chosen(&again, "permission"), ["email:send"]);
    assert_eq!(chosen(&again, "environment"), ["live"]);
    let granted = browser.post("/agent", &little).await;
    assert!(granted.text.contains("<h1>Access granted</h1>"), "{}", granted.text);
    let approval = newest(&server).await;
    assert_eq!((&approval["granted"], &approval["environment"]), (&json!(["email:send"]), &json!("live")));
}

#[tokio::test]
async fn an_error_in_the_form_keeps_the_choices() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let code = asked(&server, "audience:read email:read").await;
    let form = browser.get(&format!("/agent?code={code}")).await;
    let csrf = form.csrf().to_owned();
    let nothing = [("csrf", csrf.as_str()), ("code", &code), ("act", "grant"), ("environment", "live")];
    let wrong = browser.post("/agent", &nothing).await;
    assert!(wrong.status == 400 && wrong.text.contains("Select at least one permission, or deny the request."), "{}", wrong.text);
    assert_eq!((chosen(&wrong, "permission").len(), chosen(&wrong, "environment")), (0, vec!["live".to_owned()]));
}

#[tokio::test]
async fn a_link_from_elsewhere_can_only_remove_permissions() {
    let server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let code = asked(&server, "audience:read email:read").await;
    for more in
        ["environment=live", "environment=live&scope=audience:read", "scope=audience:read,email:send&environment=live&mark=00"]
    {
        let form = browser.get(&format!("/agent?code={code}&{more}")).await;
        assert_eq!(chosen(&form, "environment"), ["test"], "{more}");
        assert!(!chosen(&form, "permission").contains(&"email:send".to_owned()), "{more}");
    }
    let form = browser.get(&format!("/agent?code={code}&scope=audience:read")).await;
    assert_eq!(chosen(&form, "permission"), ["audience:read"]);
}

/// Returns the hidden fields of a consent page, and the user's decision.
fn decision<'a>(query: &'a [(String, String)], csrf: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let fields = query.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    [("csrf", csrf)].into_iter().chain(fields).chain(more.iter().copied()).collect()
}

#[tokio::test]
async fn a_program_is_allowed_or_denied_and_the_browser_returns_to_it() {
    let mut server = Server::stopped(BOUNDLESS);
    let Some(faults) = server.faults() else { return };
    server.serve();
    set_up(&server);
    let request = consent_request(&server, "Assistant").await;
    let path = format!("/oauth2/authorize?{request}");
    let query: Vec<(String, String)> = serde_urlencoded::from_str(&request).expect("a query");
    let mut browser = Browser::new(&server);
    // The user signs in, and then sees the request.
    let asked = browser.get(&path).await;
    assert!(asked.location().starts_with("/signin?next=%2Foauth2%2Fauthorize"), "{}", asked.location());
    browser.sign_in("/").await;
    let page = browser.get(&path).await;
    assert!(page.text.contains("Assistant") && page.text.contains("127.0.0.1"), "{}", page.text);
    assert_eq!((chosen(&page, "permission").len(), chosen(&page, "environment")), (2, vec!["test".to_owned()]));
    let csrf = page.csrf().to_owned();

    let denied = browser.post("/oauth2/authorize", &decision(&query, &csrf, &[("act", "deny")])).await;
    let back = |page: &Page, start: &str| {
        page.text.replace("&#x2f;", "/").contains(&format!("url=http://127.0.0.1:4000/callback?{start}"))
    };
    assert!(back(&denied, "error=access_denied"), "{}", denied.text);
    let little = [("act", "grant"), ("environment", "live"), ("permission", "audience:read")];
    let granted = browser.post("/oauth2/authorize", &decision(&query, &csrf, &little)).await;
    assert!(back(&granted, "code=mm_code_"), "{}", granted.text);

    // Permissions that send email need the password again; the choices are kept.
    faults.clock_off_by_ms(11 * 60 * 1000);
    let grave = [("act", "grant"), ("environment", "live"), ("permission", "email:send")];
    let confirm = browser.post("/oauth2/authorize", &decision(&query, &csrf, &grave)).await;
    assert!(confirm.location().starts_with("/confirm?next="), "{}", confirm.location());
    let proof = browser.get(confirm.location()).await;
    let next = proof.value("next").replace("&amp;", "&").replace("&#x2f;", "/");
    let back = browser.post("/confirm", &[("csrf", proof.csrf()), ("next", &next), ("password", PASSWORD)]).await;
    let again = browser.get(back.location()).await;
    assert_eq!(
        (chosen(&again, "permission"), chosen(&again, "environment")),
        (vec!["email:send".to_owned()], vec!["live".to_owned()])
    );

    // An invalid request leads to an error page without a link to the program.
    let wrong = browser.get(&path.replace("127.0.0.1%3A4000", "evil.example")).await;
    assert!(wrong.status == 400 && !wrong.text.contains("evil.example"), "{}", wrong.text);
}
