//! Tests managing members in a browser without scripts.

use serde_json::{Value, json};

use crate::support::browser::{Browser, Page};
use crate::support::server::BOUNDLESS;
use crate::support::{Client, Server};
use crate::users::{OWNER, PASSWORD, member, owned, set_up, signed_in};

/// Returns the member with this email.
async fn one(owner: &Client, email: &str) -> Value {
    let members = owner.data("accounts.member_list", json!({})).await;
    let found = members["members"].as_array().and_then(|all| all.iter().find(|one| one["email"] == email));
    found.expect("a member").clone()
}

async fn sent(browser: &mut Browser<'_>, fields: Vec<(&str, String)>) -> Page {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    browser.post("/test/settings/members", &fields).await
}

#[tokio::test]
async fn a_member_gets_the_role_custom_and_other_permissions_by_forms() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "vera@example.com", json!({ "role": "viewer" })).await;
    let id = one(&owner, "vera@example.com").await["id"].as_str().expect("an id").to_owned();
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let path = "/test/settings/members";
    assert!(browser.get(path).await.text.contains(&format!("href=\"{path}?member={id}#change\"")));
    let form = browser.get(&format!("{path}?member={id}")).await;
    let ticked = |text: &str, word: &str| text.contains(&format!("value=\"{word}\" checked"));
    assert!(form.text.contains("Role of Someone") && ticked(&form.text, "email:read"), "{}", form.text);
    let csrf = form.csrf().to_owned();
    let fields = |words: &[&'static str]| {
        let mut fields = vec![("csrf", csrf.clone()), ("act", "role".into()), ("id", id.clone()), ("role", "custom".into())];
        fields.extend(words.iter().map(|word| ("permission", (*word).to_owned())));
        fields
    };
    let none = sent(&mut browser, fields(&[])).await;
    assert!(none.status == 400 && none.text.contains("Role of Someone"), "{}", none.text);
    assert!(none.text.contains("<option value=\"custom\" selected>") && none.text.matches("data-wrong").count() == 1);
    for words in [&["domain:read", "email:read"][..], &["audience:read"]] {
        let done = sent(&mut browser, fields(words)).await;
        assert_eq!(done.location(), "/test/settings/members?done=role", "{}", done.text);
        let now = one(&owner, "vera@example.com").await;
        let mut held: Vec<&str> = now["permissions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        held.sort_unstable();
        assert_eq!((now["role"].as_str(), held.as_slice()), (Some("custom"), words));
    }
    let again = browser.get(&format!("{path}?member={id}")).await;
    assert!(ticked(&again.text, "audience:read") && !ticked(&again.text, "email:read"), "{}", again.text);
    // Users cannot change their own role or the owner's.
    let own = one(&owner, OWNER).await["id"].as_str().expect("an id").to_owned();
    assert!(!browser.get(&format!("{path}?member={own}")).await.text.contains("Role of "));
}

#[tokio::test]
async fn a_reset_link_is_created_after_the_password_is_confirmed() {
    let mut server = Server::stopped(BOUNDLESS);
    let Some(faults) = server.faults() else { return };
    server.serve();
    set_up(&server);
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "vera@example.com", json!({ "role": "viewer" })).await;
    let id = one(&owner, "vera@example.com").await["id"].as_str().expect("an id").to_owned();
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    faults.clock_off_by_ms(11 * 60 * 1000);
    let csrf = browser.get("/test/settings/members").await.csrf().to_owned();
    let reset = vec![("csrf", csrf), ("act", "reset".to_owned()), ("id", id.clone())];
    let asked = sent(&mut browser, reset.clone()).await;
    assert!(asked.text.contains("<h1>Confirm it's you</h1>"), "{}", asked.text);
    assert_eq!((asked.value("act"), asked.value("id")), ("reset", id.as_str()));
    let with = |password: &str| [reset.clone(), vec![("confirm-password", password.to_owned())]].concat();
    let wrong = sent(&mut browser, with("wrong horse battery")).await;
    assert!(wrong.status == 401 && wrong.value("id") == id && !wrong.text.contains("wrong horse"), "{}", wrong.text);
    let made = sent(&mut browser, with(PASSWORD)).await;
    assert!(made.status == 200 && made.text.contains("Link for vera@example.com"), "{}", made.text);
}
