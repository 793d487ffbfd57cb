//! The documentation as the program serves it, and its commands, run against the program.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use http::StatusCode;
use mailmill::operations::OPERATIONS;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::Instant;

use super::sites;
use super::support::client::Call;
use super::support::{Client, Reply, Server, missing, operation};

const PATIENCE: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(200);

/// Requests a page of the documentation.
async fn get(client: &Client, path: &str, headers: &[(&'static str, &str)]) -> Reply {
    let mut call = Call { target: path.to_owned(), ..Call::new(operation("system.live"), json!({})) };
    for (name, value) in headers {
        call = call.header(name, *value);
    }
    client.try_send(call).await.expect("the server answers")
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.bytes.to_vec()).expect("text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_public_cached_and_compressed() {
    let server = Server::start("");
    let client = Client::new(server.address(), None);
    for (path, content_type) in [
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/", "text/html; charset=utf-8"),
        ("/docs/tutorial", "text/html; charset=utf-8"),
        ("/docs/api/contacts", "text/html; charset=utf-8"),
        ("/docs/tutorial.md", "text/markdown; charset=utf-8"),
        ("/docs/changelog", "text/html; charset=utf-8"),
        ("/docs/pictures/email.svg", "image/svg+xml"),
        ("/llms.txt", "text/plain; charset=utf-8"),
    ] {
        let reply = get(&client, path, &[]).await;
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(content_type)), "{path}");
        assert!(reply.header("set-cookie").is_none() && reply.header("content-security-policy").is_some(), "{path}");
        let etag = reply.header("etag").expect("an ETag").to_owned();
        let known = get(&client, path, &[("if-none-match", &etag)]).await;
        assert_eq!((known.status, known.bytes.len()), (304, 0), "{path}");
        let packed = get(&client, path, &[("accept-encoding", "gzip")]).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
        assert!(packed.bytes.len() < 60_000, "{path}: {}", packed.bytes.len());
    }
    let missing = get(&client, "/docs/nothing", &[]).await;
    assert!(missing.status == StatusCode::NOT_FOUND && text(&missing).contains("Page not found"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_search_works_without_scripts() {
    let server = Server::start("");
    let client = Client::new(server.address(), None);
    let home = text(&get(&client, "/docs", &[]).await);
    assert!(home.contains("action=\"/docs/search\"") && home.contains("name=\"q\""));
    let found = text(&get(&client, "/docs/search?q=unsubscribe+contact", &[]).await);
    assert!(found.contains("/docs/api/contacts#unsubscribe"), "{found}");
    let typo = text(&get(&client, "/docs/search?q=webhoks", &[]).await);
    assert!(typo.contains("href=\"/docs/webhooks"), "{typo}");
    let evil = text(&get(&client, "/docs/search?q=%3Cscript%3Ealert(1)%3C/script%3E", &[]).await);
    assert!(!evil.contains("<script>alert"), "{evil}");
}

/// Runs a command of a page in a folder with a file of contacts; returns the status and the response.
fn run(command: &str, key: &str, folder: &Path) -> (u16, Value) {
    let command = command.replacen("curl", "curl --silent --max-time 60 --write-out '\\n%{http_code}'", 1);
    let output =
        Command::new("sh").args(["-c", &command]).env("MAILMILL_KEY", key).current_dir(folder).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (body, status) =
        said.rsplit_once('\n').unwrap_or_else(|| panic!("{command}\n{}", String::from_utf8_lossy(&output.stderr)));
    (status.trim().parse().expect("a status"), serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Returns the commands in the blocks of a page that start with `fence`. A command continues after a line that ends with a backslash.
pub fn commands(page: &str, fence: &str) -> Vec<String> {
    let start = format!("{fence}\n");
    let blocks = page.split(&start).skip(1).filter_map(|rest| rest.split_once("\n```"));
    let mut all = Vec::new();
    for (block, _) in blocks {
        let mut command = String::new();
        for line in block.lines() {
            command.push_str(line);
            command.push('\n');
            // The body of a request can have several lines in single quotes.
            let is_open = command.replace("'\\''", "").matches('\'').count() % 2 == 1;
            if !line.ends_with('\\') && !is_open {
                all.push(std::mem::take(&mut command).trim_end().to_owned());
            }
        }
    }
    all
}

/// Returns a page of the documentation as Markdown.
pub async fn markdown(client: &Client, name: &str) -> String {
    text(&get(client, &format!("/docs/{name}.md"), &[]).await)
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("contacts.csv"), "email,firstName\nada@example.com,Ada\n").expect("a file");
    folder
}

/// Settings with which requests to platforms reach no server.
pub const NO_PLATFORMS: &str = "[connections]\nklaviyo_url = \"http://127.0.0.1:9\"\nmailchimp_url = \"http://127.0.0.1:9\"\n\
                            hubspot_url = \"http://127.0.0.1:9\"\nshopify_url = \"http://127.0.0.1:9\"\n";

fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !found {
        missing("there is no curl");
    }
    found
}

/// Stores the IDs in a response under the placeholders that the page uses for them.
fn learn(words: &mut Vec<(&'static str, String)>, command: &str, data: &Value) {
    let mut keep = |word, value: &Value| {
        if let Some(value) = value.as_str() {
            words.push((word, value.to_owned()));
        }
    };
    if command.contains("/projects/import ") {
        keep("PROJECT", &data["projectId"]);
    } else if command.contains("/emails/generate ") {
        keep("CONVERSATION", &data["conversationId"]);
    } else if command.contains("/emails/") && command.contains("/status") {
        keep("EMAIL", &data["result"]["emails"][0]["id"]);
    } else if command.contains("/v1/campaigns ") {
        keep("CAMPAIGN", &data["id"]);
    } else if command.contains("/v1/inbox ") {
        keep("MESSAGE", &data["messages"][0]["id"]);
    } else if command.contains("/v1/inbox/") {
        let links = data["links"].to_string();
        let token = links.split("/t/c/").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        keep("TOKEN", &token.into());
    }
}

/// Returns whether the command must be repeated, because the page says to wait for this response.
fn waits(command: &str, data: &Value) -> bool {
    let is_status = command.contains("/status ");
    let is_done = matches!(data["status"].as_str(), Some("active" | "completed"));
    let is_empty = command.contains("/v1/inbox ") && data["messages"].as_array().is_some_and(Vec::is_empty);
    let is_uncounted = command.contains("/stats ") && data["uniqueClicks"] == 0;
    (is_status && !is_done) || is_empty || is_uncounted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tutorial_with_the_api_runs_from_its_first_command_to_its_last() {
    if !has_curl() {
        return;
    }
    let server = Server::start(&sites::settings());
    let key = server.all().key().expect("a key").to_owned();
    let client = Client::new(server.address(), None);
    let page = markdown(&client, "api-tutorial").await;
    let (site, _) = sites::serve("bakery");
    let folder = folder();
    let mut words: Vec<(&str, String)> = vec![("https://example.com", format!("http://{site}"))];
    let all = commands(&page, "```sh");
    assert!(all.len() > 15, "{all:#?}");
    for command in all {
        let filled = words.iter().rev().fold(command.clone(), |text, (word, value)| text.replace(word, value));
        let started = Instant::now();
        let (status, response) = loop {
            let (status, response) = run(&filled, &key, folder.path());
            if !waits(&filled, &response["data"]) || started.elapsed() > PATIENCE {
                break (status, response);
            }
            tokio::time::sleep(LOOK).await;
        };
        let expected = if filled.contains("/t/c/") { 302..=302 } else { 200..=201 };
        assert!(expected.contains(&status), "{filled}\n{status} {response}");
        learn(&mut words, &command, &response["data"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_curl_commands_of_the_guides_run() {
    if !has_curl() {
        return;
    }
    let server = Server::start(&sites::settings());
    let owner = server.all();
    let key = owner.key().expect("a key").to_owned();
    let project = owner.project("Guides").await;
    let client = Client::new(server.address(), None);
    let folder = folder();
    let mut url = String::new();
    for name in ["incoming-webhooks", "revenue", "scheduled-imports", "webhooks-guide"] {
        let all = commands(&markdown(&client, name).await, "```sh");
        assert!(!all.is_empty(), "{name}");
        for command in all {
            let filled = command.replace("PROJECT", &project).replace("\"$URL\"", &url).replace("'URL'", &url);
            let (status, response) = run(&filled, &key, folder.path());
            assert!((200..=202).contains(&status), "{filled}\n{status} {response}");
            if command.contains("/v1/incoming-webhooks ") {
                url = response["data"]["url"].as_str().expect("a URL").to_owned();
            }
        }
    }
}

/// A page with code needs a test that runs the code: the page's name is then added here.
#[test]
fn the_code_of_every_page_is_in_a_test() {
    const RUN: [&str; 9] = [
        "api-tutorial",
        "clients",
        "command-line",
        "incoming-webhooks",
        "node",
        "python",
        "revenue",
        "scheduled-imports",
        "webhooks-guide",
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/docs");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be read").path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".md")) else { continue };
        let page = std::fs::read_to_string(&path).expect("the page can be read");
        if ["\n```sh\n", "\n```js\n", "\n```python\n"].iter().any(|fence| page.contains(fence)) {
            found.push(name.to_owned());
        }
    }
    found.sort_unstable();
    assert_eq!(found, RUN);
}

/// Returns the pages of the reference as Markdown.
pub async fn reference(client: &Client) -> Vec<String> {
    let list = text(&get(client, "/llms.txt", &[]).await);
    let mut pages = Vec::new();
    for path in list.split(['(', ')']).filter(|part| part.contains("/docs/api/") && part.ends_with(".md")) {
        let path = path.split_once("/docs/").map(|(_, rest)| format!("/docs/{rest}")).expect("a path");
        pages.push(text(&get(client, &path, &[]).await));
    }
    pages
}

/// Returns the samples of a language from the pages of the reference, one for each operation.
pub async fn samples(client: &Client, fence: &str) -> Vec<String> {
    let start = format!("{fence}\n");
    let pages = reference(client).await;
    let blocks = pages.iter().flat_map(|page| page.split(&start).skip(1).filter_map(|rest| rest.split_once("\n```")));
    let samples: Vec<String> = blocks.map(|(block, _)| block.to_owned()).collect();
    assert_eq!(samples.len(), operations_of_clients());
    samples
}

/// Returns the number of operations that API clients can call.
fn operations_of_clients() -> usize {
    OPERATIONS.iter().filter(|entry| entry.spec.client_name().is_some()).count()
}

/// Every sample is a request that the service understands: it finds the operation and accepts the fields. The objects of most samples do
/// not exist.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_curl_sample_of_the_reference_is_understood() {
    if !has_curl() {
        return;
    }
    let server = Server::start(&format!("{}{NO_PLATFORMS}", sites::settings()));
    let folder = folder();
    let owner = server.all();
    let key = owner.key().expect("a key").to_owned();
    let project = owner.project("Samples").await;
    let client = Client::new(server.address(), None);
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in reference(&client).await {
        for command in commands(&page, "```sh tab=curl") {
            count += 1;
            let filled = in_project(&command, &project).replace("--output FILE", "--output /dev/null");
            let (status, response) = run(&filled, &key, folder.path());
            let is_understood = matches!(status, 200..=202 | 302 | 404 | 409 | 410 | 413 | 503)
                || (status == 403
                    && response["error"].as_str().is_some_and(|error| error.starts_with("A Mailmill API key cannot")));
            if !is_understood {
                wrong.push(format!("{filled}\n{status} {response}"));
            }
        }
    }
    assert_eq!(count, operations_of_clients());
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Returns the command with the ID of a project that exists.
fn in_project(command: &str, project: &str) -> String {
    let mut filled = command.to_owned();
    for before in ["\"projectId\": \"", "projectId=", "/v1/projects/", "/v1/projects/import/"] {
        let Some(at) = filled.find(before).map(|at| at + before.len()) else { continue };
        let is_id = filled.len() >= at + 24 && filled.as_bytes()[at..at + 24].iter().all(u8::is_ascii_hexdigit);
        if is_id {
            filled.replace_range(at..at + 24, project);
        }
    }
    filled
}
