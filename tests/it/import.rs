//! Tests a file import through the API that is interrupted by two `kill -9`: afterward counts, rows and the index agree with each
//! other and with the file.
//!
//! `IMPORT_ROWS` sets the number of rows: 60,000 by default, 1,000,000 for the full test.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server, operation};

const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(600);

/// A file, and the expected result of its import.
struct File {
    text: String,
    total: u64,
    created: u64,
    updated: u64,
    failed: u64,
    tagged: u64,
}

/// Every tenth row repeats an earlier contact with a different name, and every 97th row has no address.
fn file(rows: u64) -> File {
    let mut file = File { text: "email,first name,tags\n".into(), total: rows, created: 0, updated: 0, failed: 0, tagged: 0 };
    for row in 0..rows {
        let line = if row % 97 == 96 {
            file.failed += 1;
            writeln!(file.text, "no-address{row},X,")
        } else if row % 10 == 9 && (row / 10) % 97 != 96 && (row / 10) % 10 != 9 {
            file.updated += 1;
            writeln!(file.text, "P{}@Example.com,Again{row},", row / 10)
        } else {
            file.created += 1;
            let tag = if row % 3 == 0 { "third" } else { "other" };
            file.tagged += u64::from(row % 3 == 0);
            writeln!(file.text, "p{row}@example.com,Name{row},{tag}")
        };
        line.expect("writing to memory cannot fail");
    }
    file
}

fn form(project: &str, file: &str) -> Vec<u8> {
    let part = |name: &str| format!("--part\r\nContent-Disposition: form-data; name=\"{name}\"");
    format!("{}\r\n\r\n{project}\r\n{}; filename=\"f.csv\"\r\n\r\n{file}\r\n--part--\r\n", part("projectId"), part("file"))
        .into_bytes()
}

async fn status(client: &Client, id: &str) -> Value {
    client.data("contacts.import_status", json!({ "id": id })).await
}

/// Polls until the import has processed more than `rows` rows, or has ended.
async fn beyond(client: &Client, id: &str, rows: u64) -> Value {
    let looking = async {
        loop {
            let now = status(client, id).await;
            let over = now["completed_at"].is_string();
            if over || now["counts"]["total"].as_u64().expect("a count") > rows {
                return now;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.expect("the import continues")
}

/// Returns how many contacts a search finds once the index has caught up.
async fn found(client: &Client, project: &str, text: &str) -> u64 {
    let looking = async {
        loop {
            let input = json!({ "projectId": project, "search": text, "refresh": true, "limit": 1 });
            let reply = client.call("contacts.list", input).await;
            if reply.status == 200 {
                return reply.json()["data"]["total"].as_u64().expect("a total");
            }
            assert_eq!(reply.status, 503, "{}", reply.error());
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.expect("the index catches up")
}

/// Returns the emails of all rows, through an export.
async fn exported(client: &Client, project: &str) -> Vec<String> {
    let started = client.data("contacts.export", json!({ "projectId": project })).await;
    let input = json!({ "jobId": started["jobId"], "projectId": project });
    let looking = async {
        loop {
            let now = client.data("contacts.export_status", input.clone()).await;
            if let Some(url) = now["downloadUrl"].as_str() {
                return url.split_once("token=").expect("a token").1.to_owned();
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let token = tokio::time::timeout(PATIENCE, looking).await.expect("the export ends");
    let reply = client.call("contacts.export_download", json!({ "jobId": started["jobId"], "token": token })).await;
    let text = String::from_utf8(reply.bytes.to_vec()).expect("UTF-8");
    text.lines().skip(1).map(|line| line.split(',').nth(1).expect("an email").to_owned()).collect()
}

#[expect(clippy::disallowed_methods, reason = "how large a test is can only be said from outside")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_killed_twice_ends_like_an_uninterrupted_one() {
    let rows = std::env::var("IMPORT_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(60_000);
    let file = file(rows);
    let mut server = Server::start(BOUNDLESS);
    let key = server.key("test", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("import").await;
    let call =
        Call::new(operation("contacts.import"), json!({})).body("multipart/form-data; boundary=part", form(&project, &file.text));
    let started = client.send(call).await;
    assert_eq!(started.status, 201, "{}", started.error());
    let id = started.json()["data"]["id"].as_str().expect("an id").to_owned();

    let mut strikes = 0;
    for part in [0, 1] {
        let seen = beyond(&client, &id, rows / 2 * part).await;
        strikes += u64::from(seen["completed_at"].is_null());
        server.kill();
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
        let kept = status(&client, &id).await;
        assert!(kept["counts"]["total"].as_u64() >= seen["counts"]["total"].as_u64(), "{kept} forgets {seen}");
    }
    assert!(strikes > 0, "the file was too small to strike while it was imported");
    let done = beyond(&client, &id, u64::MAX - 1).await;
    let counts =
        json!({ "total": file.total, "created": file.created, "updated": file.updated, "skipped": 0, "failed": file.failed });
    assert_eq!((&done["status"], &done["counts"]), (&json!("completed"), &counts));
    let told = client.data("contacts.import_errors", json!({ "id": id, "limit": 1 })).await;
    assert_eq!(told["errors"][0]["row"], 98, "the headers are row 1");

    assert_eq!(client.total(json!({ "projectId": project })).await, file.created);
    assert_eq!(client.total(json!({ "projectId": project, "status": "subscribed" })).await, file.created);
    assert_eq!(client.total(json!({ "projectId": project, "tags": ["third"] })).await, file.tagged);
    assert_eq!(found(&client, &project, "example.com").await, file.created);
    assert_eq!(found(&client, &project, "third").await, file.tagged);
    let emails = exported(&client, &project).await;
    let distinct: BTreeSet<&String> = emails.iter().collect();
    assert_eq!((emails.len() as u64, distinct.len() as u64), (file.created, file.created));
}
