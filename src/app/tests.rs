//! Tests the complete engine within the test process: API keys and their budgets, the setup link, backups, the separation of accounts and
//! environments, error messages, and the demo's website.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::demo;
use super::folder::Folder;
use super::open::OpenFolder;
use crate::base::clock::SystemClock;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody, Service};
use crate::engine::settings;
use crate::engine::tasks::Tasks;
use crate::features::system::backup;
use crate::features::{accounts, accounts::Welcome};
use crate::operations::OPERATIONS;
use crate::surfaces::dashboard::Dashboard;
use crate::vocab::settings::Settings;

fn standard() -> Settings {
    settings::load(settings::DEFAULT, None, &[], &[]).expect("the default settings are valid")
}

fn open(path: &Path, settings: Settings) -> OpenFolder {
    OpenFolder::open(Folder::open(path).expect("no other process uses the folder"), settings, Arc::new(SystemClock))
        .expect("the data folder can be opened")
}

const REMOTE: Peer = Peer::Network { address: std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), tls: false };

struct Client {
    api: Api,
}

impl Client {
    fn of(opened: &OpenFolder) -> Self {
        Self { api: Api::new(opened.engine.clone(), OPERATIONS) }
    }

    async fn send(&self, peer: Peer, method: Method, path: &str, headers: &[(http::HeaderName, &str)], body: &str) -> Reply {
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.clone(), value.parse().expect("the header value is ASCII"))).collect();
        let body = if body.is_empty() { Body::Empty } else { Body::Whole(Bytes::from(body.to_owned())) };
        self.api.call(Incoming { method, uri: path.parse().expect("the path is a valid URI"), headers, body, peer }).await
    }

    async fn operate(&self, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        json_of(self.send(Peer::Operator, method, path, &[(CONTENT_TYPE, "application/json")], &body).await)
    }

    async fn with_key(&self, key: &str, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
        let key = format!("Bearer {key}");
        let headers = [(AUTHORIZATION, key.as_str()), (CONTENT_TYPE, "application/json")];
        json_of(self.send(REMOTE, method, path, &headers, body).await)
    }
}

fn text_of(reply: &Reply) -> String {
    match &reply.body {
        ReplyBody::Whole(bytes) => String::from_utf8(bytes.to_vec()).expect("the response is UTF-8 text"),
        ReplyBody::Stream(_) => panic!("none of these responses is a stream"),
    }
}

fn json_of(reply: Reply) -> (StatusCode, Value) {
    (reply.status, serde_json::from_str(&text_of(&reply)).expect("the response is JSON"))
}

async fn key(client: &Client, environment: &str, permissions: &[&str]) -> (String, String) {
    let wanted = json!({ "name": "a key", "environment": environment, "permissions": permissions });
    let (status, made) = client.operate(Method::POST, "/admin/keys", &wanted).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let text = |name: &str| made["data"][name].as_str().expect("the field contains text").to_owned();
    (text("id"), text("key"))
}

#[tokio::test]
async fn a_key_works_until_it_is_revoked_also_after_a_restart() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let path = outer.path().join("data");
    let opened = open(&path, standard());
    let client = Client::of(&opened);
    let (id, text) = key(&client, "test", &["all"]).await;
    let (_, other) = key(&client, "test", &["all"]).await;
    assert_eq!(client.with_key(&text, Method::GET, "/v1/projects", "").await.0, StatusCode::OK);

    let (status, revoked) = client.operate(Method::DELETE, &format!("/admin/keys/{}", &id[..8]), &Value::Null).await;
    assert_eq!((status, revoked["data"]["requests"].as_u64()), (StatusCode::OK, Some(1)), "{revoked}");
    assert_eq!(client.with_key(&text, Method::GET, "/v1/projects", "").await.0, StatusCode::UNAUTHORIZED);
    let (status, again) = client.operate(Method::DELETE, &format!("/admin/keys/{id}"), &Value::Null).await;
    let times = (&again["data"]["revokedAt"], &revoked["data"]["revokedAt"]);
    assert!(status == StatusCode::OK && times.0 == times.1 && times.0.is_string(), "a repeat changes nothing: {again}");

    drop(client);
    opened.close();
    let opened = open(&path, standard());
    let client = Client::of(&opened);
    assert_eq!(client.with_key(&text, Method::GET, "/v1/projects", "").await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(client.with_key(&other, Method::GET, "/v1/projects", "").await.0, StatusCode::OK);
}

#[tokio::test]
async fn the_list_shows_usage_and_eight_characters_but_never_the_key() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let opened = open(&outer.path().join("data"), standard());
    let client = Client::of(&opened);
    let (id, text) = key(&client, "live", &["audience:read", "email:send"]).await;
    for _ in 0..3 {
        client.with_key(&text, Method::GET, "/v1/projects", "").await;
    }
    let (_, list) = client.operate(Method::GET, "/admin/keys", &Value::Null).await;
    let shown = &list["data"]["keys"][0];
    assert_eq!(shown["id"], id[..8], "{list}");
    assert_eq!((&shown["requests"], &shown["environment"]), (&json!(3), &json!("live")));
    assert_eq!(shown["permissions"], json!(["audience:read", "email:send"]));
    assert!(shown["lastUsedAt"].is_string() && !list.to_string().contains(&text));
}

#[tokio::test]
async fn all_keys_of_an_account_share_its_budget_also_later_ones() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let overrides = [("accounts.owner_plan", "standard"), ("plans.standard.budgets.general", "2")];
    let overrides = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let settings = settings::load(settings::DEFAULT, None, &[], &overrides).expect("the settings are valid");
    let opened = open(&outer.path().join("data"), settings);
    let client = Client::of(&opened);
    let (id, first) = key(&client, "test", &["all"]).await;
    assert_eq!(client.with_key(&first, Method::GET, "/v1/projects", "").await.0, StatusCode::OK);
    client.operate(Method::DELETE, &format!("/admin/keys/{id}"), &Value::Null).await;
    let (_, second) = key(&client, "live", &["all"]).await;
    assert_eq!(client.with_key(&second, Method::GET, "/v1/projects", "").await.0, StatusCode::OK);
    assert_eq!(client.with_key(&second, Method::GET, "/v1/projects", "").await.0, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn an_account_whose_plan_was_removed_from_the_settings_gets_503() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let path = outer.path().join("data");
    let opened = open(&path, standard());
    let client = Client::of(&opened);
    let (_, text) = key(&client, "test", &["all"]).await;
    drop(client);
    opened.close();
    let mut settings = standard();
    settings.plans.remove("unlimited");
    let opened = open(&path, settings);
    let (status, body) = Client::of(&opened).with_key(&text, Method::GET, "/v1/projects", "").await;
    assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("LIMITER_UNAVAILABLE")));
}

#[tokio::test]
async fn operator_operations_cannot_be_reached_over_the_network() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let opened = open(&outer.path().join("data"), standard());
    let client = Client::of(&opened);
    let (_, text) = key(&client, "test", &["all"]).await;
    for (method, path) in [(Method::GET, "/admin/keys"), (Method::POST, "/admin/setup"), (Method::POST, "/admin/backups")] {
        let (status, body) = client.with_key(&text, method, path, "").await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{body}");
    }
}

/// A simulated browser that opens dashboard pages and keeps its cookies.
struct Browser {
    dashboard: Dashboard,
    cookies: Vec<(String, String)>,
}

impl Browser {
    fn of(opened: &OpenFolder) -> Self {
        let tasks = Tasks::new(tokio::runtime::Handle::current());
        Self { dashboard: Dashboard::new(Api::new(opened.engine.clone(), OPERATIONS), tasks), cookies: Vec::new() }
    }

    async fn request(&mut self, method: Method, path: &str, form: &[(&str, &str)]) -> Reply {
        let mut headers = HeaderMap::new();
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        headers.insert(COOKIE, cookies.join("; ").parse().expect("the header value is ASCII"));
        headers.insert("sec-fetch-site", "same-origin".parse().expect("the header value is ASCII"));
        headers.insert(CONTENT_TYPE, "application/x-www-form-urlencoded".parse().expect("the header value is ASCII"));
        let body = Body::Whole(serde_urlencoded::to_string(form).expect("the form can be encoded").into());
        let request = Incoming { method, uri: path.parse().expect("the path is a valid URI"), headers, body, peer: REMOTE };
        let reply = self.dashboard.call(request).await;
        for cookie in reply.headers.get_all(SET_COOKIE) {
            let (name, rest) = cookie.to_str().expect("the header value is ASCII").split_once('=').expect("a cookie has a name");
            let value = rest.split(';').next().unwrap_or_default();
            self.cookies.retain(|(known, _)| known != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
        reply
    }

    async fn csrf(&mut self, path: &str) -> String {
        let page = text_of(&self.request(Method::GET, path, &[]).await);
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").expect("the page has a form");
        rest.split('"').next().expect("the value ends with a quotation mark").to_owned()
    }
}

fn location(reply: &Reply) -> &str {
    reply.headers.get(LOCATION).map_or("", |value| value.to_str().expect("the header value is ASCII"))
}

#[tokio::test]
async fn the_setup_link_creates_one_owner_and_signs_the_owner_in() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let opened = open(&outer.path().join("data"), standard());
    let client = Client::of(&opened);
    assert_eq!(accounts::is_untouched(&opened.engine), Ok(true));
    let Welcome { setup_path, test_key } =
        accounts::welcome(&opened.engine).await.expect("the setup link and the test key can be created");
    assert_eq!(client.with_key(test_key.expose(), Method::GET, "/v1/projects", "").await.0, StatusCode::OK);

    let (mut one, mut other) = (Browser::of(&opened), Browser::of(&opened));
    assert!(text_of(&one.request(Method::GET, "/setup/0123", &[]).await).contains("This link doesn't work"));
    let (csrf, others) = (one.csrf(&setup_path).await, other.csrf(&setup_path).await);
    let refused =
        one.request(Method::POST, &setup_path, &[("csrf", &csrf), ("email", "ada@example.com"), ("password", "short")]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    let page = text_of(&refused);
    assert!(page.contains("value=\"ada@example.com\"") && page.contains("too short"), "{page}");

    let owner = |csrf| [("csrf", csrf), ("email", "ada@example.com"), ("password", "correct horse battery")];
    let (once, again) = (owner(csrf.as_str()), owner(others.as_str()));
    let (once, again) =
        tokio::join!(one.request(Method::POST, &setup_path, &once), other.request(Method::POST, &setup_path, &again));
    let (winner, created, refused) = match once.status {
        StatusCode::SEE_OTHER => (&mut one, once, again),
        _ => (&mut other, again, once),
    };
    assert_eq!((created.status, refused.status), (StatusCode::SEE_OTHER, StatusCode::NOT_FOUND), "one owner is created");
    // The browser continues to the dashboard without signing in again.
    let mut to = location(&created).to_owned();
    let home = loop {
        assert!(!to.starts_with("/signin"), "{to}");
        let reply = winner.request(Method::GET, &to, &[]).await;
        if reply.status == StatusCode::OK {
            break text_of(&reply);
        }
        assert!(reply.status.is_redirection(), "{to}: {}", reply.status);
        to = location(&reply).to_owned();
    };
    assert!(home.contains("ada@example.com"), "{home}");
    assert!(text_of(&winner.request(Method::GET, &setup_path, &[]).await).contains("This link doesn't work"));
    let owner = json!({ "email": "eve@example.com", "password": "correct horse battery" });
    let (status, refused) = client.operate(Method::POST, "/admin/setup", &owner).await;
    assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("ALREADY_SET_UP")));
}

#[tokio::test]
async fn a_backup_is_restored_completely_and_a_changed_one_is_rejected() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let opened = open(&outer.path().join("data"), standard());
    let client = Client::of(&opened);
    let (_, text) = key(&client, "live", &["all"]).await;
    let import = r#"{"urls":["https://acme.example"]}"#;
    let (status, project) = client.with_key(&text, Method::POST, "/v1/projects/import", import).await;
    assert_eq!(status, StatusCode::CREATED, "{project}");
    let target = outer.path().join("backup");
    let to = json!({ "to": target.to_str().expect("the path is UTF-8 text") });
    let (status, made) = client.operate(Method::POST, "/admin/backups", &to).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let (status, again) = client.operate(Method::POST, "/admin/backups", &to).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "a backup is never overwritten: {again}");
    let rows = backup::verify(&target).expect("the backup is complete").rows();
    assert_eq!(made["data"]["rows"], rows);
    let names: std::collections::BTreeSet<_> = std::fs::read_dir(&target)
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder can be read").file_name())
        .collect();
    assert!(!names.contains(std::ffi::OsStr::new("master.key")), "{names:?}");
    drop(client);
    opened.close();

    let restored = outer.path().join("restored");
    std::fs::create_dir(&restored).expect("the folder can be created");
    backup::restore(&target, &restored).expect("the backup can be restored");
    std::fs::copy(outer.path().join("data/master.key"), restored.join("master.key")).expect("the file can be copied");
    std::fs::set_permissions(&restored, std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("the mode of the folder can be changed");
    let opened = open(&restored, standard());
    assert!(opened.engine.hold.is_on(), "a backup is detected by its rows, even if its files were copied by hand");
    let (_, list) = Client::of(&opened).with_key(&text, Method::GET, "/v1/projects", "").await;
    assert_eq!(list["data"]["projects"][0]["id"], project["data"]["projectId"], "{list}");
    opened.close();
    assert!(backup::restore(&target, &restored).is_err(), "a folder with data is never overwritten");

    let file = target.join("live.redb");
    std::fs::copy(target.join("test.redb"), &file).expect("the file can be copied");
    let refusal = backup::verify(&target).expect_err("the damaged backup is rejected").to_string();
    assert!(refusal.contains("live.redb"), "{refusal}");
    assert!(refusal.contains("contains the data of test.redb"), "{refusal}");
    let empty = outer.path().join("empty");
    std::fs::create_dir(&empty).expect("the folder can be created");
    assert!(backup::restore(&target, &empty).is_err());
    assert_eq!(std::fs::read_dir(&empty).expect("the folder exists").count(), 0, "a failed restore leaves no files behind");
}

#[tokio::test]
async fn a_project_is_visible_only_in_its_account_and_environment() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let opened = open(&outer.path().join("data"), standard());
    let client = Client::of(&opened);
    let (_, test) = key(&client, "test", &["project:write"]).await;
    let (_, live) = key(&client, "live", &["audience:read"]).await;
    let import = r#"{"urls":["https://www.acme.example","https://shop.acme.example"],"logoUrls":{"primary":"https://acme.example/l.png"}}"#;
    let (_, made) = client.with_key(&test, Method::POST, "/v1/projects/import", import).await;
    let id = made["data"]["projectId"].as_str().expect("the response contains an ID").to_owned();
    let (status, got) = client.with_key(&test, Method::GET, &format!("/v1/projects/{id}"), "").await;
    assert_eq!((status, &got["data"]["_id"], &got["data"]["name"]), (StatusCode::OK, &json!(id), &json!("acme.example")));
    assert_eq!(got["data"]["logoUrls"]["primary"], "https://acme.example/l.png");
    let (status, state) = client.with_key(&test, Method::GET, &format!("/v1/projects/import/{id}/status"), "").await;
    assert_eq!((status, &state["data"]["progress"]["percentage"]), (StatusCode::OK, &json!(0)));
    let (foreign, foreign_body) = client.with_key(&live, Method::GET, &format!("/v1/projects/{id}"), "").await;
    let (unknown, unknown_body) = client.with_key(&live, Method::GET, "/v1/projects/000000000000000000000000", "").await;
    assert_eq!((foreign, &foreign_body["error"]), (StatusCode::NOT_FOUND, &unknown_body["error"]));
    assert_eq!(foreign, unknown);
    for wrong in [r#"{"urls":[]}"#, r#"{"urls":["acme.example"]}"#, r#"{"urls":["https://a.example"],"name":""}"#] {
        let (status, body) = client.with_key(&test, Method::POST, "/v1/projects/import", wrong).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
    }
}

#[tokio::test]
async fn an_error_names_what_to_use_instead() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let opened = open(&outer.path().join("data"), standard());
    let client = Client::of(&opened);
    let (_, test) = key(&client, "test", &["project:write", "email:read"]).await;
    for (path, status, expected) in [
        ("/v1/system/hold", StatusCode::UNAUTHORIZED, "This operation requires a signed-in user, not an API key"),
        ("/v1/export/docx/000000000000000000000000", StatusCode::NOT_FOUND, "/v1/export/html/{conversationId}, "),
        ("/v1/nothing", StatusCode::NOT_FOUND, "This path does not exist; see /openapi.json."),
        ("/v1/emails/EMAIL", StatusCode::BAD_REQUEST, "emailId: must be an email ID with 24 hexadecimal characters"),
        ("/v1/emails/000000000000000000000000", StatusCode::NOT_FOUND, "GET /v1/projects/emails lists the generations"),
    ] {
        let (found, body) = client.with_key(&test, Method::GET, path, "").await;
        let error = body["error"].as_str().unwrap_or_default();
        assert!(found == status && error.contains(expected), "{path}: {found} {error}");
    }
    let (_, body) = client.with_key(&test, Method::POST, "/v1/projects/import", r#"{"urls": ["https://a.example"],}"#).await;
    assert!(body["error"].as_str().is_some_and(|error| error.contains("remove the comma before it")), "{body}");
}

#[test]
fn a_site_is_only_for_a_new_demo() {
    let outer = tempfile::tempdir().expect("a temporary folder can be created");
    let folder = Folder::open(&outer.path().join("demo")).expect("the folder can be opened");
    let site = || Some("https://acme.example".to_owned());
    assert!(demo::target(&folder, site()).is_ok());
    let problem = demo::target(&folder, Some("notaurl".into())).err().expect("a word is not a URL").to_string();
    assert!(problem.starts_with("--site: The URL does not start with https://"), "{problem}");
    std::fs::write(folder.store("control.redb"), "").expect("the file can be written");
    let problem = demo::target(&folder, site()).err().expect("the demo exists").to_string();
    assert!(problem.contains("cannot be changed") && problem.contains("--data"), "{problem}");
    assert!(demo::target(&folder, None).is_ok());
}
