//! Tests the process: starting, stopping, starting a second process, and administration while it runs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::support::server::{BOUNDLESS, PROGRAM};
use super::support::{Client, Server};

const CONTINUE: [u8; 25] = *b"HTTP/1.1 100 Continue\r\n\r\n";

#[tokio::test]
async fn a_started_request_is_answered_before_the_shutdown() {
    let mut server = Server::start(BOUNDLESS);
    let key = server.key("test", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let project = client.project("drain").await;
    let body = json!({ "projectId": project, "email": "last@example.com" }).to_string();
    let (front, back) = body.split_at(body.len() / 2);
    let mut connection = TcpStream::connect(server.address()).expect("it listens");
    connection.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
    let head = format!(
        "POST /v1/contacts HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).expect("sent");
    // The server has accepted the request when it asks for the body.
    let mut asked = [0; CONTINUE.len()];
    connection.read_exact(&mut asked).expect("it answers");
    assert_eq!(asked, CONTINUE, "{}", String::from_utf8_lossy(&asked));
    connection.write_all(front.as_bytes()).expect("sent");
    server.signal("TERM");
    tokio::time::sleep(Duration::from_millis(300)).await;
    connection.write_all(back.as_bytes()).expect("sent");
    let mut reply = String::new();
    connection.read_to_string(&mut reply).expect("it answers and closes");
    assert!(reply.starts_with("HTTP/1.1 201"), "{reply}");
    assert!(server.wait().success(), "a requested stop is not a failure");
    assert!(!server.log().contains("still in use"), "the stores are closed: {}", server.log());
    server.serve();
    let client = Client::new(server.address(), Some(key));
    assert_eq!(client.total(json!({ "projectId": project })).await, 1);
}

#[tokio::test]
async fn a_second_process_on_the_same_folder_is_refused_with_the_reason() {
    let server = Server::start(BOUNDLESS);
    let second = server.serve_again();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && second.stdout.is_empty(), "{said}");
    assert!(said.contains("data") && said.contains("--data") && said.lines().count() <= 3, "{said}");
    assert_eq!(server.all().call("projects.list", json!({})).await.status, 200, "the first one is not disturbed");
}

#[tokio::test]
async fn keys_are_created_listed_and_revoked_while_it_runs_and_while_it_does_not() {
    let mut server = Server::stopped(BOUNDLESS);
    let before = server.key("live", "audience:read");
    server.serve();
    let during = server.key("test", "all");
    assert!(before.starts_with("sk_live_") && during.starts_with("sk_test_"));
    for key in [&before, &during] {
        let reply = Client::new(server.address(), Some(key.clone())).call("projects.list", json!({})).await;
        assert_ne!(reply.status, 401);
    }
    let listed = |server: &Server| String::from_utf8(server.run(&["keys", "list"]).stdout).expect("text");
    let running = listed(&server);
    assert!(running.contains("audience:read") && !running.contains(&before) && !running.contains(&during), "{running}");
    let ids: Vec<String> = running.lines().skip(1).filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    server.signal("TERM");
    assert!(server.wait().success());
    assert!(ids.iter().all(|id| listed(&server).contains(id)));
    for id in &ids {
        assert!(server.run(&["keys", "revoke", id]).status.success(), "{id}");
    }
    server.serve();
    for key in [before, during] {
        let reply = Client::new(server.address(), Some(key)).call("projects.list", json!({})).await;
        assert_eq!(reply.status, 401, "a key revoked while the server was down stays revoked");
    }
}

#[tokio::test]
async fn files_on_disk_are_accessible_to_the_owner_only() {
    let server = Server::start(BOUNDLESS);
    server.key("test", "all");
    let mut folders = vec![server.data()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable").map(|entry| entry.expect("readable")) {
            let mode = entry.metadata().expect("it is there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} can be reached by others: {mode:o}", entry.path().display());
            if entry.file_type().expect("it has one").is_dir() {
                folders.push(entry.path());
            }
            seen += 1;
        }
    }
    assert!(seen >= 5);
}

#[tokio::test]
async fn the_published_document_is_the_one_that_tests_check_replies_against() {
    let server = Server::start(BOUNDLESS);
    let reply = Client::new(server.address(), None).call("system.openapi", json!({})).await;
    let mut published = reply.json();
    assert_eq!((published["openapi"].as_str(), published["info"]["version"].as_str()), (Some("3.1.0"), Some("1.0.0")));
    let mut known = super::support::contract::document().clone();
    published["servers"] = Value::Null;
    known["servers"] = Value::Null;
    assert!(published == known);
    let printed: Value = serde_json::from_slice(&server.run(&["openapi"]).stdout).expect("the command prints JSON");
    assert_eq!(printed["paths"], known["paths"]);
}

#[tokio::test]
async fn an_unknown_setting_stops_the_start_and_names_the_nearest() {
    let server = Server::stopped("[server]\nidle_secnds = 5\n");
    let output = server.serve_again();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("idle_secnds") && said.contains("idle_seconds"), "{said}");
}

/// Regression test: Docker Compose passes unset variables as empty ones, and the program refused to start.
#[test]
fn empty_variables_of_the_command_line_count_as_unset() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(PROGRAM);
    command.current_dir(&folder).env_clear().env("MAILMILL_DATA", "").env("MAILMILL_CONFIG", "").env("MAILMILL_LOG__LEVEL", "");
    let made = command.args(["keys", "create", "--env", "test", "--name", "n", "--permissions", "all"]).output();
    let made = made.expect("the program runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(folder.path().join("data").join("test.redb").exists(), "the default folder is used");
}
