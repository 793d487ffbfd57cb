//! The authorization of programs that connect to the MCP server (OAuth 2.1): the official SDK, repeats, races and attacks.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use futures_util::future::join_all;
use http::{Method, StatusCode};
use mailmill::base::secret::sha256;
use mailmill::vocab::limits;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};

use super::{Scenario, base, initialize, list_tools, open, post};
use crate::support::client::Call;
use crate::support::server::BOUNDLESS;
use crate::support::{Client, Reply, Server, operation};
use crate::users::{OWNER, anonymous, member, owned, set_up, signed_in};

/// A program's request for a user's consent.
struct Program {
    client_id: String,
    redirect_uri: String,
    verifier: String,
}

impl Program {
    async fn new(server: &Server) -> Self {
        let redirect_uri = "http://127.0.0.1:4000/callback".to_owned();
        let registered =
            send(server, "accounts.client_register", json!({ "client_name": "Agent", "redirect_uris": [redirect_uri] })).await;
        assert_eq!(registered.status, 201, "{}", registered.json());
        let client_id = registered.json()["client_id"].as_str().expect("an id").to_owned();
        Self { client_id, redirect_uri, verifier: HEXLOWER.encode(&[7; 32]) }
    }

    fn parameters(&self) -> Value {
        json!({
            "response_type": "code", "client_id": self.client_id, "redirect_uri": self.redirect_uri, "state": "a state",
            "code_challenge": BASE64URL_NOPAD.encode(&sha256(self.verifier.as_bytes())), "code_challenge_method": "S256",
            "scope": "audience:read campaign:read",
        })
    }

    /// Grants the request, and returns the code.
    async fn code(&self, owner: &Client) -> String {
        self.code_for(owner, &["audience:read"]).await
    }

    async fn code_for(&self, owner: &Client, permissions: &[&str]) -> String {
        let input = json!({ "request": self.parameters(), "permissions": permissions, "environment": "test" });
        let granted = owner.data("accounts.authorization_grant", input).await;
        let to = url::Url::parse(granted["redirectTo"].as_str().expect("a URL")).expect("a URL");
        let values: std::collections::HashMap<_, _> = to.query_pairs().into_owned().collect();
        assert_eq!(values["state"], "a state");
        assert!(values["iss"].starts_with("http"), "the issuer is named");
        values["code"].clone()
    }

    async fn exchange(&self, server: &Server, code: &str, other: Value) -> Reply {
        let mut input = json!({
            "grant_type": "authorization_code", "code": code, "client_id": self.client_id, "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        });
        input.as_object_mut().expect("an object").extend(other.as_object().cloned().expect("an object"));
        send(server, "accounts.token", input).await
    }

    async fn refresh(&self, server: &Server, token: &str) -> Reply {
        let input = json!({ "grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id });
        send(server, "accounts.token", input).await
    }

    async fn refresh_with(&self, server: &Server, token: &str, scope: &str) -> Reply {
        let input = json!({ "grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id, "scope": scope });
        send(server, "accounts.token", input).await
    }
}

/// Responses of these operations have no envelope, so the contract is not checked.
async fn send(server: &Server, id: &str, body: Value) -> Reply {
    anonymous(server).try_send(Call::new(operation(id), json!({})).json(body)).await.expect("an answer")
}

fn token(reply: &Reply, name: &str) -> String {
    assert_eq!(reply.status, 200, "{}", reply.json());
    reply.json()[name].as_str().expect("a token").to_owned()
}

fn refused(reply: &Reply) {
    assert_eq!((reply.status, reply.json()["error"].as_str()), (400, Some("invalid_grant")), "{}", reply.json());
}

async fn works(server: &Server, access: &str) -> bool {
    post(server, Some(access), &[], &initialize()).await.status == 200
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_knows_only_the_url_connects_with_the_users_consent() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    server.all().project("Acme").await;
    let Some(mut scenario) = Scenario::start("oauth", &base(&server), "", &json!({})) else { return };
    let asked = scenario.next();
    let page = url::Url::parse(asked["authorize"].as_str().expect("a URL")).expect("a URL");
    assert_eq!(page.path(), "/oauth2/authorize");
    let request: serde_json::Map<String, Value> =
        page.query_pairs().map(|(name, value)| (name.into_owned(), Value::from(value.into_owned()))).collect();
    assert_eq!(request["resource"], format!("{}/mcp", base(&server)));
    let details = owner.data("accounts.authorization_get", request.clone().into()).await;
    assert_eq!((details["program"].as_str(), details["returnsTo"].as_str()), (Some("SDK test"), Some("127.0.0.1")));
    let input = json!({ "request": request, "permissions": ["email:read", "audience:read"], "environment": "test" });
    let granted = owner.data("accounts.authorization_grant", input).await;
    scenario.say(granted["redirectTo"].as_str().expect("a URL"));
    let result = scenario.next();
    scenario.end();
    assert_eq!(result["first"], "UnauthorizedError");
    assert_eq!(result["tokens"]["scope"], "audience:read email:read");
    assert!(result["tokens"]["refresh_token"] != result["renewed"]["refresh_token"], "{result}");
    assert_eq!((&result["tools"], &result["brands"]), (&result["toolsAgain"], &json!(1)));
    // The key of the program is in the list, and revoking it ends the access at once.
    let access = result["renewed"]["access_token"].as_str().expect("a token").to_owned();
    assert!(works(&server, &access).await);
    let keys = owner.data("accounts.key_list", json!({})).await;
    let own = keys["keys"].as_array().expect("keys").iter().find(|key| key["name"] == "SDK test").expect("the key").clone();
    owner.data("accounts.key_revoke", json!({ "id": own["id"] })).await;
    assert!(!works(&server, &access).await);
}

#[tokio::test]
async fn codes_and_tokens_work_once_for_their_program_and_resource() {
    // Tokens are valid for one address, so the server has a fixed public URL: its port changes when it restarts.
    let mut server = owned(&format!("{BOUNDLESS}\n[server]\npublic_url = \"https://mail.mill.example\"\n"));
    let owner = signed_in(&server, OWNER, "test").await;
    let request = Program::new(&server).await;
    let code = request.code(&owner).await;
    for wrong in [
        json!({ "code_verifier": HEXLOWER.encode(&[8; 32]) }),
        json!({ "code_verifier": "" }),
        json!({ "redirect_uri": "http://127.0.0.1:4001/callback" }),
        json!({ "resource": "https://other.example/mcp" }),
        json!({ "client_id": Program::new(&server).await.client_id }),
        json!({ "code": "mm_code_unknown" }),
    ] {
        refused(&request.exchange(&server, &code, wrong).await);
    }
    let tokens = request.exchange(&server, &code, json!({})).await;
    let (access, refresh) = (token(&tokens, "access_token"), token(&tokens, "refresh_token"));
    assert_eq!((tokens.json()["scope"].as_str(), tokens.header("cache-control")), (Some("audience:read"), Some("no-store")));
    assert!(works(&server, &access).await);
    // The audience of the token is the MCP server, not the API; a refresh token is not an access token.
    let api = anonymous(&server).with_key(Some(&access));
    api.call("projects.list", json!({})).await.refused(StatusCode::UNAUTHORIZED, "INVALID_API_KEY");
    assert!(!works(&server, &refresh).await);
    // Tokens survive a restart.
    server.kill();
    server.serve();
    let renewed = request.refresh(&server, &refresh).await;
    assert!(works(&server, &token(&renewed, "access_token")).await);

    // A second use of a code also ends the access.
    let owner = signed_in(&server, OWNER, "test").await;
    let code = request.code(&owner).await;
    let access = token(&request.exchange(&server, &code, json!({})).await, "access_token");
    assert!(works(&server, &access).await);
    refused(&request.exchange(&server, &code, json!({})).await);
    assert!(!works(&server, &access).await);

    // A program can end its own access, but not that of another program.
    let code = request.code(&owner).await;
    let tokens = request.exchange(&server, &code, json!({})).await;
    let (access, refresh) = (token(&tokens, "access_token"), token(&tokens, "refresh_token"));
    let revoke = async |client: &str| {
        send(&server, "accounts.token_revoke", json!({ "token": refresh, "client_id": client })).await.status
    };
    assert_eq!(revoke("other").await, 200);
    assert!(works(&server, &access).await);
    assert_eq!(revoke(&request.client_id).await, 200);
    assert!(!works(&server, &access).await);
    // Of a hundred simultaneous exchanges, one succeeds; the others are second uses, so the access ends.
    let code = request.code(&owner).await;
    let all = (0..100).map(|_| request.exchange(&server, &code, json!({})));
    let (done, others): (Vec<_>, Vec<_>) = join_all(all).await.into_iter().partition(|reply| reply.status == 200);
    assert_eq!((done.len(), others.len()), (1, 99));
    others.iter().for_each(refused);
    assert!(!works(&server, &token(&done[0], "access_token")).await);
}

/// Regression test: when two processes of a program refreshed at the same time, one got a 404 in the API's format, and both lost their
/// access.
#[tokio::test]
async fn a_program_that_refreshes_twice_at_once_keeps_its_access_and_a_late_repeat_ends_it() {
    let mut server = Server::stopped(&format!("{BOUNDLESS}\n[server]\npublic_url = \"https://mail.mill.example\"\n"));
    let Some(faults) = server.faults() else { return };
    server.serve();
    set_up(&server);
    let owner = signed_in(&server, OWNER, "test").await;
    let request = Program::new(&server).await;
    let tokens = request.exchange(&server, &request.code(&owner).await, json!({})).await;
    let refresh = token(&tokens, "refresh_token");
    let all = join_all((0..4).map(|_| request.refresh(&server, &refresh))).await;
    let access: Vec<String> = all.iter().map(|reply| token(reply, "access_token")).collect();
    for access in &access {
        assert!(works(&server, access).await);
    }
    for reply in &all {
        token(&request.refresh(&server, &token(reply, "refresh_token")).await, "access_token");
    }
    let newest = request.refresh(&server, &refresh).await;
    assert!(works(&server, &token(&newest, "access_token")).await, "the grace period is not over");
    // Another program cannot use the token in the grace period.
    let other = Program::new(&server).await;
    refused(&other.refresh(&server, &refresh).await);
    assert!(works(&server, &token(&newest, "access_token")).await);

    faults.clock_off_by_ms(limits::REFRESH_GRACE_MS + 1_000);
    let late = join_all((0..4).map(|_| request.refresh(&server, &refresh))).await;
    late.iter().for_each(refused);
    assert!(!works(&server, &token(&newest, "access_token")).await);
    refused(&request.refresh(&server, &token(&newest, "refresh_token")).await);
}

#[tokio::test]
async fn a_refresh_can_narrow_the_scope_but_not_widen_it() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let request = Program::new(&server).await;
    let code = request.code_for(&owner, &["audience:read", "campaign:read"]).await;
    let refresh = token(&request.exchange(&server, &code, json!({})).await, "refresh_token");
    for wider in ["audience:read email:send", "everything"] {
        let reply = request.refresh_with(&server, &refresh, wider).await;
        assert_eq!((reply.status, reply.json()["error"].as_str()), (400, Some("invalid_scope")), "{}", reply.json());
        assert!(reply.json()["error_description"].as_str().is_some_and(|text| text.starts_with("scope: ")), "{}", reply.json());
    }
    let narrow = request.refresh_with(&server, &refresh, "audience:read").await;
    assert_eq!(narrow.json()["scope"], "audience:read", "the refused requests have not used up the token");
    let tools = async |access: &str| {
        let session = open(&server, access).await;
        let listed = post(&server, Some(access), &[("mcp-session-id", &session)], &list_tools()).await;
        let text = String::from_utf8_lossy(&listed.bytes).into_owned();
        (text.contains("\"contacts_list\""), text.contains("\"campaigns_list\""))
    };
    assert_eq!(tools(&token(&narrow, "access_token")).await, (true, false));
    // The refresh token still carries all permissions that the user granted.
    let whole = request.refresh(&server, &token(&narrow, "refresh_token")).await;
    assert_eq!(whole.json()["scope"], "audience:read campaign:read");
    assert_eq!(tools(&token(&whole, "access_token")).await, (true, true));
    assert_eq!(tools(&token(&narrow, "access_token")).await, (true, false), "the earlier token still works, for less");
}

#[tokio::test]
async fn a_repeated_parameter_is_refused() {
    let server = owned(BOUNDLESS);
    let post = async |content_type: &str, body: &str| {
        let call = Call::new(operation("accounts.token"), json!({})).body(content_type, body.to_owned());
        anonymous(&server).try_send(Call { method: Method::POST, ..call }).await.expect("an answer")
    };
    let form = "application/x-www-form-urlencoded";
    for (content_type, body) in [
        (form, "grant_type=refresh_token&refresh_token=a&refresh_token=b&client_id=c"),
        (form, "grant_type=refresh_token&refresh_token=a&client_id=c&client_id=c"),
        ("application/json", r#"{ "grant_type": "refresh_token", "refresh_token": "a", "refresh_token": "b" }"#),
        ("application/json", r#"[{ "grant_type": "refresh_token" }]"#),
    ] {
        let reply = post(content_type, body).await;
        assert_eq!((reply.status, reply.json()["error"].as_str()), (400, Some("invalid_request")), "{body}: {}", reply.json());
    }
    let reply = post(form, "grant_type=refresh_token&refresh_token=a&client_id=c&other=1&scope=").await;
    assert_eq!(reply.json()["error"], "invalid_grant", "other parameters and those without a value are ignored");
}

/// The HTTPS server of a program's maker, with the program's metadata document.
struct Maker {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    /// The server's certificate in PEM.
    certificate: String,
}

impl Maker {
    fn start() -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a certificate");
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let (address, asked) = (listener.local_addr().expect("bound"), Arc::new(Mutex::new(Vec::new())));
        let seen = asked.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
                let mut stream = StreamOwned::new(ServerConnection::new(config.clone()).expect("a session"), stream);
                let mut bytes = [0; 4_096];
                // A client may close the connection early.
                let Ok(count) = stream.read(&mut bytes) else { continue };
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
                let document = json!({
                    "client_id": format!("https://{address}/client.json"), "client_name": "Published agent",
                    "redirect_uris": ["http://127.0.0.1:4000/callback"], "token_endpoint_auth_method": "none",
                });
                let (head, body) = match path.as_str() {
                    "/client.json" => ("200 OK", document.to_string()),
                    "/moved.json" => ("302 Found\r\nLocation: /client.json", String::new()),
                    _ => ("404 Not Found", String::new()),
                };
                seen.lock().expect("no panic").push(path);
                let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        };
        std::thread::Builder::new().name("maker".into()).spawn(serve).expect("a thread");
        Self { address, asked, certificate: made.cert.pem() }
    }
}

#[tokio::test]
async fn a_program_signs_in_with_a_client_id_metadata_document() {
    let maker = Maker::start();
    let mut server = Server::stopped(&format!("{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n"));
    let roots = server.data().with_file_name("roots.pem");
    std::fs::write(&roots, &maker.certificate).expect("written");
    server.set_environment(vec![("SSL_CERT_FILE", roots)]);
    server.serve();
    set_up(&server);
    let owner = signed_in(&server, OWNER, "test").await;
    let program = |path: &str| Program {
        client_id: format!("https://{}{path}", maker.address),
        redirect_uri: "http://127.0.0.1:4000/callback".to_owned(),
        verifier: HEXLOWER.encode(&[7; 32]),
    };
    let request = program("/client.json");
    let details = owner.data("accounts.authorization_get", request.parameters()).await;
    assert_eq!((&details["program"], &details["host"]), (&json!("Published agent"), &json!("127.0.0.1")));
    let tokens = request.exchange(&server, &request.code(&owner).await, json!({})).await;
    assert!(works(&server, &token(&tokens, "access_token")).await);
    token(&request.refresh(&server, &token(&tokens, "refresh_token")).await, "access_token");

    // Redirects are not followed. The error states this.
    for (path, text) in [("/moved.json", "which is not allowed"), ("/absent.json", "status 404")] {
        maker.asked.lock().expect("no panic").clear();
        let reply = owner.call("accounts.authorization_get", program(path).parameters()).await;
        let reply = reply.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
        let error = reply.json()["error"].as_str().expect("text").to_owned();
        assert!(error.starts_with("client_id: ") && error.contains(text), "{error}");
        assert_eq!(*maker.asked.lock().expect("no panic"), [path]);
    }
}

#[tokio::test]
async fn consent_is_limited_to_the_request_and_to_the_users_permissions() {
    let server = owned(BOUNDLESS);
    let owner = signed_in(&server, OWNER, "test").await;
    let viewer = member(&server, &owner, "viewer@example.com", json!({ "role": "viewer" })).await;
    let request = Program::new(&server).await;
    let grant = async |client: &Client, change: Value, permissions: Value| {
        let mut parameters = request.parameters();
        parameters.as_object_mut().expect("an object").extend(change.as_object().cloned().expect("an object"));
        let input = json!({ "request": parameters, "permissions": permissions, "environment": "test" });
        client.call("accounts.authorization_grant", input).await
    };
    for (change, field) in [
        (json!({ "response_type": "token" }), "response_type"),
        (json!({ "code_challenge_method": "plain" }), "code_challenge_method"),
        (json!({ "code_challenge": "short" }), "code_challenge"),
        (json!({ "redirect_uri": "https://evil.example/callback" }), "redirect_uri"),
        (json!({ "redirect_uri": "http://127.0.0.1:4000/other" }), "redirect_uri"),
        (json!({ "client_id": "mm_client_forged" }), "client_id"),
        (json!({ "client_id": "https://127.0.0.1/client.json" }), "client_id"),
        (json!({ "resource": "https://other.example/mcp" }), "resource"),
        (json!({ "scope": "everything" }), "scope"),
    ] {
        let reply = grant(&owner, change, json!(["audience:read"])).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
        assert_eq!(reply.json()["data"]["field"], field);
    }
    // Another port of a loopback address is accepted, because programs listen on a free one.
    assert_eq!(
        grant(&owner, json!({ "redirect_uri": "http://127.0.0.1:4999/callback" }), json!(["audience:read"])).await.status,
        200
    );
    grant(&owner, json!({}), json!(["email:send"])).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    grant(&owner, json!({}), json!([])).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    let more = json!({ "scope": "audience:write" });
    grant(&viewer, more, json!(["audience:write"])).await.refused(StatusCode::BAD_REQUEST, "INVALID_REQUEST");
    anonymous(&server)
        .call("accounts.authorization_get", request.parameters())
        .await
        .refused(StatusCode::UNAUTHORIZED, "NOT_SIGNED_IN");

    // A user who has left can grant nothing more: neither a code nor a refresh token works.
    let code = request.code(&viewer).await;
    let tokens = request.exchange(&server, &request.code(&viewer).await, json!({})).await;
    let (access, refresh) = (token(&tokens, "access_token"), token(&tokens, "refresh_token"));
    let of_owner = token(&request.exchange(&server, &request.code(&owner).await, json!({})).await, "access_token");
    assert!(works(&server, &access).await);
    let members = owner.data("accounts.member_list", json!({})).await;
    let all = members["members"].as_array().expect("members");
    let id = all.iter().find(|member| member["email"] == "viewer@example.com").expect("the viewer")["id"].clone();
    owner.data("accounts.member_remove", json!({ "id": id })).await;
    refused(&request.exchange(&server, &code, json!({})).await);
    refused(&request.refresh(&server, &refresh).await);
    // The access that the user granted before also ends immediately. The access that others granted stays.
    assert!(!works(&server, &access).await);
    assert!(works(&server, &of_owner).await);
    let keys = owner.data("accounts.key_list", json!({})).await;
    let revoked = keys["keys"].as_array().expect("keys").iter().filter(|key| key["revokedAt"].is_string()).count();
    assert_eq!(revoked, 1, "{keys}");
}

#[tokio::test]
async fn the_metadata_lists_what_the_server_supports() {
    let server = Server::start(BOUNDLESS);
    let get = async |id: &str| {
        let reply = anonymous(&server).try_send(Call::new(operation(id), json!({}))).await.expect("an answer");
        reply.json()
    };
    let resource = get("accounts.tool_metadata").await;
    assert_eq!(resource["resource"], format!("{}/mcp", base(&server)));
    assert_eq!(resource["authorization_servers"], json!([base(&server)]));
    let metadata = get("accounts.agent_metadata").await;
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(metadata["client_id_metadata_document_supported"], true);
    assert_eq!(metadata["registration_endpoint"], format!("{}/oauth2/register", base(&server)));
    let wrong = send(&server, "accounts.client_register", json!({ "redirect_uris": ["javascript:alert(1)"] })).await;
    assert_eq!((wrong.status, wrong.json()["error"].as_str()), (400, Some("invalid_client_metadata")));
    let description = wrong.json()["error_description"].as_str().expect("text").to_owned();
    assert!(description.starts_with("redirect_uris must not contain javascript:alert(1); use an https URI"), "{description}");
}
