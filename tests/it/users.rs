//! Tests users: signing in for a token, roles, sessions, authenticator apps and links, and attacks on all of these.

use data_encoding::BASE64URL_NOPAD;
use http::StatusCode;
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, NO_PROJECT, Server, operation};

pub const OWNER: &str = "owner@example.com";
pub const PASSWORD: &str = "correct horse battery";

/// Starts a server with an owner.
pub fn owned(settings: &str) -> Server {
    let server = Server::start(settings);
    set_up(&server);
    server
}

/// Creates a server's owner.
pub fn set_up(server: &Server) {
    let output = server.run_with_input(&["setup", "--email", OWNER, "--password-file", "-"], PASSWORD.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns a client without a session.
pub fn anonymous(server: &Server) -> Client {
    Client::new(server.address(), None)
}

/// Returns a client with a user's session, for this environment.
pub async fn signed_in(server: &Server, email: &str, environment: &str) -> Client {
    let input = json!({ "email": email, "password": PASSWORD, "environment": environment });
    let data = anonymous(server).data("accounts.login", input).await;
    anonymous(server).with_key(data["token"].as_str())
}

/// Returns a signed-in member with this role.
pub async fn member(server: &Server, owner: &Client, email: &str, role: Value) -> Client {
    let mut input = json!({ "email": email });
    input.as_object_mut().expect("an object").extend(role.as_object().cloned().expect("an object"));
    let link = owner.data("accounts.member_invite", input).await;
    let token = link["link"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link").to_owned();
    anonymous(server).data("accounts.join", json!({ "token": token, "name": "Someone", "password": PASSWORD })).await;
    signed_in(server, email, "test").await
}

pub fn six_digits(secret: &str, step_offset: i64) -> String {
    use mailmill::base::clock::Clock;
    let now = mailmill::base::clock::SystemClock.now().seconds() + 30 * step_offset;
    let secret = totp_rs::Secret::try_from_base32(secret).expect("base32");
    totp_rs::Builder::new().with_secret(secret).build_noncompliant().generate(now as u64).to_string()
}

#[tokio::test]
async fn a_token_works_until_its_user_signs_out() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let state = owner.data("accounts.session", json!({})).await;
    assert_eq!(
        (state["email"].as_str(), state["role"].as_str(), state["environment"].as_str()),
        (Some(OWNER), Some("owner"), Some("test"))
    );
    // Outside the operations about users, only this operation of the API accepts session tokens.
    let keys = server.all();
    let project = keys.project("Acme").await;
    keys.contact(&project, "ada@example.com").await;
    let left = owner.data("contacts.unsubscribe", json!({ "projectId": project, "email": "ada@example.com" })).await;
    assert_eq!(left["success"], true);
    owner.call("projects.list", json!({})).await.refused(StatusCode::UNAUTHORIZED, "INVALID_API_KEY");
    // A token of the other environment does not find the object.
    let live = signed_in(&server, OWNER, "live").await;
    live.call("contacts.unsubscribe", json!({ "projectId": project, "email": "ada@example.com" }))
        .await
        .refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    owner.data("accounts.logout", json!({})).await;
    owner.call("accounts.session", json!({})).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
    let gone = owner.call("contacts.unsubscribe", json!({ "projectId": project, "email": "ada@example.com" })).await;
    gone.refused(StatusCode::UNAUTHORIZED, "INVALID_API_KEY");
    live.data("accounts.session", json!({})).await;
}

#[tokio::test]
async fn forged_tokens_and_keys_do_not_sign_in() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let token = owner.key().expect("a token").to_owned();
    let parts: Vec<&str> = token.split('.').collect();
    let encode = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
    let body = BASE64URL_NOPAD.decode(parts[1].as_bytes()).expect("our own");
    let none = encode(br#"{"alg":"none","typ":"at+jwt"}"#);
    let mut forever: Value = serde_json::from_slice(&body).expect("JSON");
    forever["exp"] = json!(9_999_999_999_i64);
    let forever = encode(forever.to_string().as_bytes());
    for forged in [
        format!("{none}.{}.", parts[1]),
        format!("{none}.{}.{}", parts[1], parts[2]),
        format!("{}.{forever}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        server.key("test", "all"),
        "x".repeat(5_000),
    ] {
        let forger = anonymous(&server).with_key(Some(&forged));
        forger.call("accounts.session", json!({})).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
    }
}

#[tokio::test]
async fn all_sign_in_failures_look_alike_and_many_attempts_must_wait() {
    let server = owned(BOUNDLESS);
    let anonymous = anonymous(&server);
    let refusal = async |email: &str, password: &str| {
        let reply = anonymous.call("accounts.login", json!({ "email": email, "password": password })).await;
        let reply = reply.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
        (reply.error(), reply.header("www-authenticate").map(str::to_owned))
    };
    let unknown = refusal("unknown@example.com", PASSWORD).await;
    assert_eq!(refusal(OWNER, "wrong horse battery").await, unknown);
    assert_eq!(refusal("no email at all", "x").await, unknown);
    assert_eq!(refusal(OWNER, &"x".repeat(10_000)).await, unknown);
    // After the tenth attempt, the user must wait one second, after the next two, and so on. On a slow machine, an attempt may come
    // so late that it is not refused.
    let mut wait = None;
    for _ in 0..12 {
        let reply = anonymous.call("accounts.login", json!({ "email": OWNER, "password": "wrong horse battery" })).await;
        if reply.status == 429 {
            wait = Some(reply.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED").number("retry-after"));
            break;
        }
        reply.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    }
    let wait = u64::try_from(wait.expect("tries are braked")).expect("a time");
    assert!((1..=60).contains(&wait), "no lock is long: {wait}");
    // The wait is the subject of this test.
    tokio::time::sleep(std::time::Duration::from_secs(wait)).await;
    anonymous.data("accounts.login", json!({ "email": OWNER, "password": PASSWORD })).await;
}

/// Guesses a password until one attempt is refused with 429.
async fn guess_until_closed(server: &Server) {
    for _ in 0..12 {
        let input = json!({ "email": OWNER, "password": "wrong horse battery" });
        if anonymous(server).call("accounts.login", input).await.status == 429 {
            return;
        }
    }
    panic!("tries are limited");
}

#[tokio::test]
async fn a_crash_does_not_reset_the_guess_limit() {
    let mut server = owned(BOUNDLESS);
    let input = json!({ "email": OWNER, "password": "wrong horse battery" });
    let mut tries = 0;
    // Regression test: the first nine attempts need no wait, and with a crash after each of them, no attempt ever needed one.
    loop {
        let reply = anonymous(&server).call("accounts.login", input.clone()).await;
        if reply.status == 429 {
            break;
        }
        reply.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
        tries += 1;
        assert!(tries <= 12, "a crash after each try makes all tries free");
        if tries % 3 == 0 {
            server.kill();
            server.serve();
        }
    }
}

#[tokio::test]
async fn a_clock_set_back_ten_minutes_locks_out_no_one() {
    const TEN_MINUTES: i64 = 10 * 60 * 1_000;
    let mut server = Server::stopped(BOUNDLESS);
    let Some(faults) = server.faults() else { return };
    server.serve();
    set_up(&server);
    let owner = signed_in(&server, OWNER, "test").await;
    let started = owner.data("accounts.totp_begin", json!({})).await;
    let secret = started["secret"].as_str().expect("a secret").to_owned();
    owner.data("accounts.totp_confirm", json!({ "code": six_digits(&secret, 0) })).await;
    guess_until_closed(&server).await;
    faults.clock_off_by_ms(-TEN_MINUTES);
    // The announced wait has passed.
    let wait = anonymous(&server).call("accounts.login", json!({ "email": OWNER, "password": PASSWORD })).await;
    let wait = if wait.status == 429 { wait.number("retry-after") } else { 0 };
    assert!(wait <= 60, "{wait} s");
    tokio::time::sleep(std::time::Duration::from_secs(u64::try_from(wait).expect("a time"))).await;
    let code = six_digits(&secret, -20);
    anonymous(&server).data("accounts.login", json!({ "email": OWNER, "password": PASSWORD, "code": code })).await;
    owner.data("accounts.session", json!({})).await;
}

#[tokio::test]
async fn a_role_limits_a_user_and_changes_apply_at_once() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let viewer = member(&server, &owner, "viewer@example.com", json!({ "role": "viewer" })).await;
    let input = json!({ "projectId": NO_PROJECT, "email": "ada@example.com" });
    let reply = viewer.call("contacts.unsubscribe", input.clone()).await;
    reply.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    for (id, input) in [
        ("accounts.member_list", json!({})),
        ("accounts.member_invite", json!({ "email": "x@example.com", "role": "admin" })),
        ("accounts.key_list", json!({})),
        ("accounts.key_create", json!({ "name": "x", "environment": "live", "permissions": ["all"] })),
        ("accounts.audit_list", json!({})),
    ] {
        viewer.call(id, input).await.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    }
    let members = owner.data("accounts.member_list", json!({})).await;
    let find = |email: &str| {
        members["members"].as_array().and_then(|all| all.iter().find(|one| one["email"] == email)).expect("a member")["id"]
            .clone()
    };
    let (own, other) = (find(OWNER), find("viewer@example.com"));
    owner.data("accounts.member_update", json!({ "id": other, "role": "editor" })).await;
    viewer.call("contacts.unsubscribe", input.clone()).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    owner.data("accounts.member_update", json!({ "id": other, "role": "custom", "permissions": ["audience:read"] })).await;
    viewer.call("contacts.unsubscribe", input).await.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    for (id, input) in
        [("accounts.member_update", json!({ "id": own, "role": "viewer" })), ("accounts.member_remove", json!({ "id": own }))]
    {
        owner.call(id, input).await.refused(StatusCode::CONFLICT, "WRONG_STATE");
    }
    let refused = owner.call("accounts.member_update", json!({ "id": other, "role": "owner" })).await;
    refused.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    owner.data("accounts.member_remove", json!({ "id": other })).await;
    viewer.call("accounts.session", json!({})).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
    let back = json!({ "email": "viewer@example.com", "password": PASSWORD });
    anonymous(&server).call("accounts.login", back).await.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
}

#[tokio::test]
async fn an_authenticator_app_is_required_and_its_codes_work_once() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let started = owner.data("accounts.totp_begin", json!({})).await;
    let secret = started["secret"].as_str().expect("a secret");
    // The app has no effect until it is confirmed.
    signed_in(&server, OWNER, "test").await;
    let wrong = owner.call("accounts.totp_confirm", json!({ "code": "000000" })).await;
    wrong.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    let first = six_digits(secret, -1);
    let confirmed = owner.data("accounts.totp_confirm", json!({ "code": first })).await;
    let recovery = confirmed["recoveryCodes"].as_array().expect("codes").clone();
    let login = async |code: Option<&str>| {
        let input = json!({ "email": OWNER, "password": PASSWORD, "code": code });
        anonymous(&server).call("accounts.login", input).await
    };
    login(None).await.refused(StatusCode::UNAUTHORIZED, "SECOND_FACTOR_REQUIRED");
    login(Some(&first)).await.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    let code = six_digits(secret, 0);
    assert_eq!(login(Some(&code)).await.status, 200);
    login(Some(&code)).await.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    let spare = recovery[0].as_str().expect("a code").to_lowercase();
    assert_eq!(login(Some(&spare)).await.status, 200);
    login(Some(&spare)).await.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    owner.data("accounts.totp_remove", json!({})).await;
    assert_eq!(login(None).await.status, 200);
}

#[tokio::test]
async fn recovery_codes_are_counted_and_new_ones_replace_the_old() {
    let server = owned(BOUNDLESS);
    let mut browser = super::support::browser::Browser::new(&server);
    browser.sign_in("/").await;
    let owner = signed_in(&server, OWNER, "test").await;
    owner.call("accounts.recovery_codes", json!({})).await.refused(StatusCode::CONFLICT, "WRONG_STATE");
    assert_eq!(owner.data("accounts.session", json!({})).await["recoveryCodesLeft"], Value::Null);
    let started = owner.data("accounts.totp_begin", json!({})).await;
    owner.call("accounts.recovery_codes", json!({})).await.refused(StatusCode::CONFLICT, "WRONG_STATE");
    let code = six_digits(started["secret"].as_str().expect("a secret"), 0);
    let old = owner.data("accounts.totp_confirm", json!({ "code": code })).await["recoveryCodes"].clone();
    let login = async |code: &Value| {
        let input = json!({ "email": OWNER, "password": PASSWORD, "code": code });
        anonymous(&server).call("accounts.login", input).await
    };
    assert_eq!(login(&old[0]).await.json()["data"]["session"]["recoveryCodesLeft"], 9);
    let path = "/test/settings/security";
    let page = browser.get(path).await;
    assert!(page.text.contains("You have 9 recovery codes left"), "{}", page.text);
    let renewed = browser.post(path, &[("csrf", page.csrf()), ("act", "codes")]).await;
    let new = renewed.text.split("<li><code>").nth(1).and_then(|rest| rest.split('<').next()).expect("a code").to_owned();
    assert!(renewed.text.contains("The old ones no longer work"), "{}", renewed.text);
    assert_eq!(owner.data("accounts.session", json!({})).await["recoveryCodesLeft"], 10);
    login(&old[1]).await.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    assert_eq!(login(&json!(new)).await.status, 200);
}

#[tokio::test]
async fn a_password_cannot_be_the_email_or_a_common_one() {
    const LONG: &str = "Ada.Lovelace.1815@example.com";
    let server = owned(&BOUNDLESS.replace("[accounts]", "[accounts]\nsign_up = true"));
    let owner = signed_in(&server, OWNER, "test").await;
    let invited = owner.data("accounts.member_invite", json!({ "email": LONG, "role": "viewer" })).await;
    let token = |link: &Value| link["link"].as_str().and_then(|link| link.rsplit('/').next()).expect("a link").to_owned();
    let join = token(&invited);
    for wrong in [LONG, "ada.lovelace.1815@EXAMPLE.com", "ADA.lovelace.1815", "aaaaaaaaaaaaaaaa", "Password1234", "123456789012"]
    {
        let refused = |reply: super::support::Reply| {
            let reply = reply.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
            assert_eq!(reply.json()["data"]["field"], "password", "{wrong}: {}", reply.json());
        };
        refused(anonymous(&server).call("accounts.sign_up", json!({ "email": LONG, "password": wrong })).await);
        refused(anonymous(&server).call("accounts.join", json!({ "token": join, "password": wrong })).await);
    }
    anonymous(&server).data("accounts.join", json!({ "token": join, "password": PASSWORD })).await;
    let mine = signed_in(&server, LONG, "test").await;
    let change = json!({ "current": PASSWORD, "password": LONG });
    mine.call("accounts.password", change).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    let id = mine.data("accounts.session", json!({})).await["userId"].clone();
    let reset = token(&owner.data("accounts.member_reset", json!({ "id": id })).await);
    let input = json!({ "token": reset, "password": "ada.lovelace.1815" });
    anonymous(&server).call("accounts.reset", input).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    anonymous(&server).data("accounts.reset", json!({ "token": reset, "password": "a wholly new password" })).await;
    // Create the owner with the setup command.
    let fresh = Server::start(BOUNDLESS);
    let output = fresh.run_with_input(&["setup", "--email", LONG, "--password-file", "-"], LONG.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("your email"), "{said}");
}

#[tokio::test]
async fn a_password_reset_link_works_once_and_ends_all_sessions() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let output = server.run(&["reset-link", "--email", OWNER]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let link = String::from_utf8(output.stdout).expect("a link");
    let token = link.trim().rsplit('/').next().expect("a token").to_owned();
    let reset =
        async |password: &str| anonymous(&server).call("accounts.reset", json!({ "token": token, "password": password })).await;
    reset("short").await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    assert_eq!(reset("a wholly new password").await.status, 200);
    reset("another new password").await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    owner.call("accounts.session", json!({})).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
    let old = anonymous(&server).call("accounts.login", json!({ "email": OWNER, "password": PASSWORD })).await;
    old.refused(StatusCode::UNAUTHORIZED, "SIGN_IN_FAILED");
    anonymous(&server).data("accounts.login", json!({ "email": OWNER, "password": "a wholly new password" })).await;
}

#[tokio::test]
async fn sign_up_is_closed_unless_enabled_and_accounts_do_not_see_each_other() {
    let closed = owned(BOUNDLESS);
    let founder = json!({ "email": "new@example.com", "password": PASSWORD });
    anonymous(&closed).call("accounts.sign_up", founder.clone()).await.refused(StatusCode::FORBIDDEN, "SIGN_UP_CLOSED");
    let open = owned(&BOUNDLESS.replace("[accounts]", "[accounts]\nsign_up = true"));
    anonymous(&open).data("accounts.sign_up", founder.clone()).await;
    anonymous(&open).call("accounts.sign_up", founder).await.refused(StatusCode::CONFLICT, "NAME_TAKEN");
    let (owner, other) = (signed_in(&open, OWNER, "test").await, signed_in(&open, "new@example.com", "test").await);
    let members = other.data("accounts.member_list", json!({})).await;
    assert_eq!(members["members"].as_array().map(Vec::len), Some(1));
    assert!(other.data("accounts.key_list", json!({})).await["keys"].as_array().expect("keys").is_empty());
    let made = other.data("accounts.key_create", json!({ "name": "Mine", "environment": "test", "permissions": ["all"] })).await;
    let client = anonymous(&open).with_key(made["key"].as_str());
    client.project("Other").await;
    assert_eq!(open.all().data("projects.list", json!({})).await["total"], 0, "the other account's brand is not seen");
    let id = made["id"].as_str().expect("an id");
    owner.call("accounts.key_revoke", json!({ "id": id })).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    other.data("accounts.key_revoke", json!({ "id": id })).await;
    client.call("projects.list", json!({})).await.refused(StatusCode::UNAUTHORIZED, "INVALID_API_KEY");
    let log = owner.data("accounts.audit_list", json!({})).await;
    assert!(!log.to_string().contains("new@example.com"), "{log}");
}

#[tokio::test]
async fn sessions_survive_a_restart_and_ended_ones_stay_ended() {
    let mut server = owned(BOUNDLESS);
    server.set(&format!("{BOUNDLESS}\n[server]\npublic_url = \"https://mail.example.com\"\n"));
    server.signal("TERM");
    server.wait();
    server.serve();
    let (one, two) = (signed_in(&server, OWNER, "test").await, signed_in(&server, OWNER, "test").await);
    let sessions = one.data("accounts.session_list", json!({})).await;
    let other =
        sessions["sessions"].as_array().and_then(|all| all.iter().find(|one| one["current"] == false)).expect("the other");
    one.data("accounts.session_end", json!({ "id": other["id"] })).await;
    server.kill();
    server.serve();
    let (one, two) = (anonymous(&server).with_key(one.key()), anonymous(&server).with_key(two.key()));
    one.data("accounts.session", json!({})).await;
    two.call("accounts.session", json!({})).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
}

#[tokio::test]
async fn user_operations_are_closed_to_keys_and_visitors() {
    use mailmill::engine::api::Access;
    let server = owned(BOUNDLESS);
    let personal =
        mailmill::operations::OPERATIONS.iter().filter(|entry| matches!(entry.spec.access, Access::Person | Access::Manager));
    let with_key = server.all();
    for entry in personal {
        let (input, _) = (entry.example)(&super::support::contract::ENVELOPE);
        for client in [&anonymous(&server), &with_key] {
            let reply = client.send(Call::new(operation(entry.spec.id), input.clone())).await;
            reply.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
        }
    }
}

#[tokio::test]
async fn an_ipv6_network_shares_one_guess_limit() {
    let server = owned(&format!("{BOUNDLESS}\n[server]\nbehind_proxy = true\n"));
    let mut refusals = 0;
    for number in 0..20 {
        let input = json!({ "email": format!("unknown{number}@example.com"), "password": PASSWORD });
        let call = Call::new(operation("accounts.login"), input).header("x-forwarded-for", format!("2001:db8::{number}"));
        refusals += usize::from(anonymous(&server).send(call).await.status == 429);
    }
    assert!(refusals >= 5, "{refusals} of 20");
}

#[tokio::test]
async fn the_log_names_former_members_and_no_one_else() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let admin = member(&server, &owner, "admin@example.com", json!({ "role": "admin" })).await;
    let key = json!({ "name": "Theirs", "environment": "test", "permissions": ["audience:read"] });
    admin.data("accounts.key_create", key).await;
    let id = admin.data("accounts.session", json!({})).await["userId"].clone();
    owner.data("accounts.member_remove", json!({ "id": id })).await;
    let log = owner.data("accounts.audit_list", json!({})).await;
    let entries = log["entries"].as_array().expect("entries");
    let of = |operation: &str| {
        let entry = entries.iter().find(|entry| entry["operation"] == operation).unwrap_or_else(|| panic!("{operation}: {log}"));
        (entry["by"].as_str().expect("a word"), entry["who"].as_str())
    };
    assert_eq!(of("accounts.key_create"), ("former_member", Some("admin@example.com")));
    assert_eq!(of("accounts.join"), ("former_member", Some("admin@example.com")));
    assert_eq!(of("accounts.member_remove"), ("member", Some(OWNER)));
    let mut browser = super::support::browser::Browser::new(&server);
    browser.sign_in("/").await;
    let page = browser.get("/test/settings/audit").await;
    assert!(page.text.contains("<bdi>admin@example.com</bdi> (former member)"), "{}", page.text);
    assert!(!page.text.contains("the server operator"), "{}", page.text);
}
