//! Agents that request a key from a user: from the metadata to the key, and attacks on the flow.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, Reply, Server, missing, operation, python_with};
use super::users::{OWNER, anonymous, member, owned, signed_in};

const GRANT: &str = "urn:mailmill:agent-auth:grant-type:claim";

/// Responses of these operations have no envelope, so the contract is not checked.
async fn ask(server: &Server, id: &str, body: Value) -> Reply {
    anonymous(server).try_send(Call::new(operation(id), json!({})).json(body)).await.expect("an answer")
}

async fn register(server: &Server, scope: &str) -> (String, String) {
    let body = json!({ "type": "service_auth", "login_hint": OWNER, "agent_name": "Helper", "scope": scope });
    let reply = ask(server, "accounts.agent_identity", body).await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    let answer = reply.json();
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    (text(&answer["claim_token"]), text(&answer["claim"]["user_code"]))
}

async fn poll(server: &Server, token: &str) -> Reply {
    ask(server, "accounts.token", json!({ "grant_type": GRANT, "claim_token": token })).await
}

async fn poll_word(server: &Server, token: &str) -> String {
    let reply = poll(server, token).await;
    assert_eq!((reply.status, reply.header("cache-control")), (400, Some("no-store")));
    reply.json()["error"].as_str().expect("a word").to_owned()
}

async fn grant(owner: &Client, code: &str, permissions: &[&str]) -> Reply {
    let input = json!({ "code": code, "permissions": permissions, "environment": "test" });
    owner.call("accounts.approval_grant", input).await
}

#[tokio::test]
async fn an_agent_discovers_the_flow_and_gets_exactly_one_key() {
    let server = owned(&format!("{BOUNDLESS}\n[server]\nconnections_per_address_max = 1024\n"));
    let owner = signed_in(&server, OWNER, "test").await;
    let refused = anonymous(&server).call("projects.list", json!({})).await;
    let challenge = refused.header("www-authenticate").expect("a challenge").to_owned();
    let base = format!("http://{}", server.address());
    assert!(challenge.contains(&format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource\"")), "{challenge}");
    let resource = ask_get(&server, "accounts.resource_metadata").await;
    assert_eq!(resource["authorization_servers"], json!([base]));
    let metadata = ask_get(&server, "accounts.agent_metadata").await;
    assert_eq!(metadata["issuer"], base.as_str());
    assert_eq!(metadata["grant_types_supported"], json!(["authorization_code", "refresh_token", GRANT]));
    assert_eq!(metadata["agent_auth"]["identity_endpoint"], format!("{base}/agent/identity"));

    let (token, code) = register(&server, "audience:read email:read").await;
    assert_eq!(poll_word(&server, &token).await, "authorization_pending");
    assert_eq!(poll_word(&server, &token).await, "authorization_pending");
    let look = owner.data("accounts.approval_get", json!({ "code": code.to_lowercase().replace('-', " ") })).await;
    assert_eq!((look["approval"]["agentName"].as_str(), look["scopes"].as_array().map(Vec::len)), (Some("Helper"), Some(2)));
    assert_eq!(grant(&owner, &code, &["audience:read"]).await.status, 200);

    // Send a hundred polls at once.
    let polls = (0..100).map(|_| poll(&server, &token));
    let replies = futures_util::future::join_all(polls).await;
    let keys: Vec<&Reply> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert_eq!(keys.len(), 1);
    let others = replies.iter().filter(|reply| reply.status == 400 && reply.json()["error"] == "invalid_grant").count();
    assert_eq!(others, 99);
    let answer = keys[0].json();
    assert_eq!((answer["token_type"].as_str(), answer["scope"].as_str()), (Some("bearer"), Some("audience:read")));
    assert_eq!(answer["key_name"], "Helper");
    let agent = anonymous(&server).with_key(answer["access_token"].as_str());
    agent
        .call("campaigns.list", json!({ "projectId": super::support::NO_PROJECT }))
        .await
        .refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
    agent
        .call("contacts.list", json!({ "projectId": super::support::NO_PROJECT }))
        .await
        .refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");

    // The member sees the key and can revoke it.
    let list = owner.data("accounts.approval_list", json!({})).await;
    let first = &list["approvals"][0];
    assert_eq!((first["status"].as_str(), first["decidedBy"].as_str()), (Some("fetched"), Some(OWNER)));
    owner.data("accounts.approval_revoke", json!({ "id": first["id"] })).await;
    agent
        .call("contacts.list", json!({ "projectId": super::support::NO_PROJECT }))
        .await
        .refused(StatusCode::UNAUTHORIZED, "INVALID_API_KEY");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_third_party_client_reads_the_metadata_and_polls_until_it_gets_a_key() {
    let Some(python) = python_with("authlib, requests") else { return };
    let public = "[server]\npublic_url = \"https://mail.mill.example\"\n";
    let server = owned(&format!("{BOUNDLESS}\n{public}"));
    let owner = signed_in(&server, OWNER, "test").await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/agents/agent.py");
    let base = format!("http://{}", server.address());
    let mut agent = Command::new(python).args([script, &base, OWNER]).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(agent.stdout.take().expect("piped")).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON") };
    let code = next()["code"].as_str().expect("a code").to_owned();
    assert_eq!(next(), json!({ "refusal": "authorization_pending" }));
    assert_eq!(grant(&owner, &code, &["audience:read"]).await.status, 200);
    let got = next();
    assert_eq!(got["refusals"], json!(["authorization_pending"]), "{got}");
    assert_eq!((&got["token"]["token_type"], &got["token"]["scope"]), (&json!("bearer"), &json!("audience:read")), "{got}");
    assert!(agent.wait().expect("it ends").success());
    let client = anonymous(&server).with_key(got["token"]["access_token"].as_str());
    assert_eq!(
        client.call("contacts.list", json!({ "projectId": super::support::NO_PROJECT })).await.status,
        404,
        "the key works"
    );
}

async fn ask_get(server: &Server, id: &str) -> Value {
    anonymous(server).try_send(Call::new(operation(id), json!({}))).await.expect("an answer").json()
}

#[tokio::test]
async fn the_token_endpoint_accepts_forms_and_refuses_foreign_tokens() {
    let server = owned(BOUNDLESS);
    let (token, _) = register(&server, "").await;
    let form = serde_urlencoded::to_string([("grant_type", GRANT), ("claim_token", &token)]).expect("a form");
    let mut call = Call::new(operation("accounts.token"), json!({})).body("application/x-www-form-urlencoded", form);
    call.method = Method::POST;
    let reply = anonymous(&server).try_send(call).await.expect("an answer");
    assert_eq!(reply.json()["error"], "authorization_pending");
    for forged in ["", "x", "a.b.c", &token.replace('.', ""), &format!("{token}x")] {
        assert_eq!(poll_word(&server, forged).await, "invalid_grant", "{forged}");
    }
    // A session token is not an agent's token, and vice versa.
    let owner = signed_in(&server, OWNER, "test").await;
    assert_eq!(poll_word(&server, owner.key().expect("a token")).await, "invalid_grant");
    let agent = anonymous(&server).with_key(Some(&token));
    agent.call("accounts.session", json!({})).await.refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");
    let other = ask(&server, "accounts.token", json!({ "grant_type": "password", "claim_token": token })).await;
    assert_eq!((other.status, other.json()["error"].as_str()), (400, Some("unsupported_grant_type")));
    let broken = ask(&server, "accounts.token", json!(["x"])).await;
    assert_eq!((broken.status, broken.json()["error"].as_str()), (400, Some("invalid_request")));
}

#[tokio::test]
async fn registrations_are_checked_and_limited_to_ten_an_hour() {
    let server = owned(BOUNDLESS);
    let whole = json!({ "type": "service_auth", "login_hint": OWNER, "agent_name": "Helper", "scope": "audience:read" });
    for (field, value, word) in [
        ("type", "anonymous", "invalid_request"),
        ("login_hint", "no-address", "invalid_request"),
        ("agent_name", "", "invalid_request"),
        ("agent_name", "a\nc", "invalid_request"),
        ("agent_name", "a\u{202e}b", "invalid_request"),
        ("agent_name", "\u{2067}a\u{2069}", "invalid_request"),
        ("agent_name", "\u{200b}", "invalid_request"),
        ("scope", "audience:raed", "invalid_scope"),
    ] {
        let mut body = whole.clone();
        body[field] = value.into();
        let reply = ask(&server, "accounts.agent_identity", body).await;
        assert_eq!((reply.status, reply.json()["error"].as_str()), (400, Some(word)), "{field}: {}", reply.json());
    }
    for number in 0..10 {
        // The response does not reveal whether an account exists. Unknown fields are ignored, as at the other endpoints for agents.
        let mut body = whole.clone();
        body["extension"] = "x".into();
        body["login_hint"] = format!("unknown{number}@example.com").into();
        let reply = ask(&server, "accounts.agent_identity", body).await;
        assert_eq!(reply.status, 200);
        let claim = reply.json()["claim"].clone();
        assert_eq!((claim["expires_in"].as_u64(), claim["interval"].as_u64()), (Some(600), Some(5)));
        let code = claim["user_code"].as_str().expect("a code");
        assert_eq!(claim["verification_uri_complete"], format!("http://{}/agent?code={code}", server.address()));
    }
    let reply = ask(&server, "accounts.agent_identity", whole).await;
    assert_eq!(reply.status, 429);
    assert!(reply.number("retry-after") > 3000);
}

#[tokio::test]
async fn a_new_code_replaces_the_old_one_and_a_denial_is_final() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let (token, code) = register(&server, "").await;
    let renewed = ask(&server, "accounts.agent_claim", json!({ "claim_token": token })).await.json();
    let new = renewed["claim"]["user_code"].as_str().expect("a code").to_owned();
    assert_ne!(new, code);
    owner.call("accounts.approval_get", json!({ "code": code })).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    let look = owner.data("accounts.approval_get", json!({ "code": new })).await;
    owner.data("accounts.approval_deny", json!({ "id": look["approval"]["id"] })).await;
    assert_eq!(poll_word(&server, &token).await, "invalid_grant");
    let again = ask(&server, "accounts.agent_claim", json!({ "claim_token": token })).await;
    assert_eq!((again.status, again.json()["error"].as_str()), (400, Some("invalid_grant")));
    grant(&owner, &new, &["audience:read"]).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn no_one_grants_for_another_account_or_more_than_requested_or_owned() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let editor = member(&server, &owner, "editor@example.com", json!({ "role": "viewer" })).await;
    let (token, code) = register(&server, "audience:read").await;
    grant(&editor, &code, &["audience:read"]).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    grant(&owner, &code, &["audience:read", "email:send"]).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    grant(&owner, &code, &[]).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    assert_eq!(poll_word(&server, &token).await, "authorization_pending");
    let body = json!({ "type": "service_auth", "login_hint": "Editor@Example.com", "agent_name": "H", "scope": "email:send audience:read" });
    let answer = ask(&server, "accounts.agent_identity", body).await.json();
    let code = answer["claim"]["user_code"].as_str().expect("a code");
    grant(&editor, code, &["email:send"]).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    assert_eq!(grant(&editor, code, &["audience:read"]).await.status, 200);
}

#[tokio::test]
async fn codes_cannot_be_guessed() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let (_, code) = register(&server, "").await;
    for guess in ["BBBB-BBBB", "CCCC-CCCC", "DDDD-DDDD", "FFFF-FFFF", "GGGG-GGGG"] {
        let reply = owner.call("accounts.approval_get", json!({ "code": guess })).await;
        reply.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    }
    let reply = owner.call("accounts.approval_get", json!({ "code": code })).await;
    let reply = reply.refused(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMIT_EXCEEDED");
    assert!(reply.number("retry-after") > 500);
}

/// Runs a command line from the guide in a shell, unchanged.
fn run(line: &str, names: &[(&str, &str)]) -> Value {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).envs(names.iter().copied()).env("no_proxy", "*");
    let output = shell.output().expect("there is a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{line}\n{said}{}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guide_for_agents_is_correct_and_its_commands_run() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return missing("there is no curl");
    }
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let reply = anonymous(&server).try_send(Call::new(operation("accounts.agent_guide"), json!({}))).await.expect("an answer");
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/markdown; charset=utf-8")));
    let guide = String::from_utf8(reply.bytes.to_vec()).expect("text");
    let metadata = ask_get(&server, "accounts.agent_metadata").await;
    assert_eq!(metadata["service_documentation"], format!("http://{}/auth.md", server.address()));
    for scope in metadata["scopes_supported"].as_array().expect("scopes") {
        assert!(guide.contains(&format!("| `{}` |", scope.as_str().expect("a word"))), "{scope}");
    }
    let no_name = guide.split('{').skip(1).all(|rest| !rest.starts_with(|letter: char| letter.is_ascii_lowercase()));
    assert!(no_name, "a place was not filled in: {guide}");

    let lines: Vec<String> = guide
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("\n```"))
        .map(|(line, _)| line.replace("ada@example.com", OWNER))
        .collect();
    let [register, poll, renew, uses] = lines.as_slice() else { panic!("four lines: {lines:?}") };
    let registered = run(register, &[]);
    let token = registered["claim_token"].as_str().unwrap_or_else(|| panic!("a token: {registered}"));
    let claim = &registered["claim"];
    for name in ["user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval"] {
        assert!(!claim[name].is_null() && guide.contains(&format!("\"{name}\"")), "{name}: {claim}");
    }
    assert!(guide.contains(&format!("\"expires_in\": {},\n    \"interval\": {}", 600, claim["interval"])), "{claim}");
    let names = [("CLAIM_TOKEN", token)];
    assert_eq!(run(poll, &names)["error"], "authorization_pending");
    let renewed = run(renew, &names);
    let code = renewed["claim"]["user_code"].as_str().unwrap_or_else(|| panic!("a code: {renewed}"));
    assert_eq!(grant(&owner, code, &["audience:read", "email:read"]).await.status, 200);
    let fetched = run(poll, &names);
    let key = fetched["access_token"].as_str().unwrap_or_else(|| panic!("a key: {fetched}"));
    assert_eq!((&fetched["token_type"], &fetched["key_name"]), (&json!("bearer"), &json!("Shop helper")));
    assert_eq!(run(uses, &[("KEY", key)])["success"], true);
    assert_eq!(run(poll, &names)["error"], "invalid_grant");
}

/// Registers from this address, through a trusted proxy.
async fn register_from(server: &Server, address: &str, number: usize) -> Reply {
    let hint = format!("unknown{number}@example.com");
    let body = json!({ "type": "service_auth", "login_hint": hint, "agent_name": "Helper", "scope": "audience:read" });
    let call = Call::new(operation("accounts.agent_identity"), json!({})).json(body).header("x-forwarded-for", address);
    anonymous(server).try_send(call).await.expect("an answer")
}

#[tokio::test]
async fn an_ipv6_network_registers_as_one_address_and_cannot_use_up_all_registrations() {
    let server = owned(&format!("{BOUNDLESS}\n[server]\nbehind_proxy = true\n"));
    let mut passed = 0;
    for number in 0..14 {
        let reply = register_from(&server, &format!("2001:db8:1:1:{number}::1"), number).await;
        passed += usize::from(reply.status == 200);
    }
    assert_eq!(passed, 10, "one /64");
    for number in 0..210 {
        let reply = register_from(&server, &format!("2001:db8:2:{number}::1"), number + 100).await;
        assert_eq!(reply.status, if number < 200 { 200 } else { 429 }, "{number} of one /48: {}", reply.json());
    }
    assert_eq!(register_from(&server, "2001:db8:3::1", 1000).await.status, 200);
    assert_eq!(register_from(&server, "192.0.2.1", 1001).await.status, 200);
}

/// Creates a member who has granted a key that the agent has not fetched. Returns the member and the agent's token.
async fn granted_by(server: &Server, owner: &Client, email: &str) -> (Value, String) {
    let client = member(server, owner, email, json!({ "role": "editor" })).await;
    let body =
        json!({ "type": "service_auth", "login_hint": email, "agent_name": "Helper", "scope": "audience:read audience:write" });
    let answer = ask(server, "accounts.agent_identity", body).await.json();
    let code = answer["claim"]["user_code"].as_str().expect("a code");
    assert_eq!(grant(&client, code, &["audience:read", "audience:write"]).await.status, 200);
    let id = client.data("accounts.session", json!({})).await["userId"].clone();
    (id, answer["claim_token"].as_str().expect("a token").to_owned())
}

#[tokio::test]
async fn a_grant_of_a_removed_or_demoted_user_is_not_issued() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let (left, of_left) = granted_by(&server, &owner, "left@example.com").await;
    let (less, of_less) = granted_by(&server, &owner, "less@example.com").await;
    let (more, of_more) = granted_by(&server, &owner, "more@example.com").await;
    owner.data("accounts.member_remove", json!({ "id": left })).await;
    owner.data("accounts.member_update", json!({ "id": less, "role": "viewer" })).await;
    owner.data("accounts.member_update", json!({ "id": more, "role": "admin" })).await;
    assert_eq!(poll_word(&server, &of_left).await, "invalid_grant");
    assert_eq!(poll_word(&server, &of_less).await, "invalid_grant");
    assert_eq!(poll(&server, &of_more).await.status, 200, "who has it still gives it");
    // The request stays denied whatever changes later, and users see that no key was issued.
    owner.data("accounts.member_update", json!({ "id": less, "role": "editor" })).await;
    assert_eq!(poll_word(&server, &of_less).await, "invalid_grant");
    let list = owner.data("accounts.approval_list", json!({})).await;
    let list = list["approvals"].as_array().expect("a list");
    let mut statuses: Vec<&str> = list.iter().filter_map(|approval| approval["status"].as_str()).collect();
    // Entries of the same second have no order.
    statuses.sort_unstable();
    assert_eq!(statuses, ["denied", "denied", "fetched"]);
    let keys = owner.data("accounts.key_list", json!({})).await;
    assert_eq!(keys["keys"].as_array().map(Vec::len), Some(2), "the first start's, and this one");
}
