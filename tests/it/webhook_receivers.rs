//! Tests receivers in other languages that were written only from `assets/docs/webhooks.md`, and the public Standard Webhooks
//! library: each verifies the signatures of deliveries over the raw body.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::support::{Server, missing, python_with};
use super::webhooks::settings;

/// A receiver process. It is killed when dropped.
struct Receiver {
    child: Child,
    input: ChildStdin,
    lines: BufReader<ChildStdout>,
    port: u16,
}

impl Receiver {
    fn start(interpreter: impl AsRef<Path>, file: &str) -> Self {
        let interpreter = interpreter.as_ref();
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples/receivers").join(file);
        let mut child = Command::new(interpreter)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", interpreter.display()));
        let input = child.stdin.take().expect("piped");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("it says its port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("{file} says {line:?}"));
        Self { child, input, lines, port }
    }

    /// Returns the receiver's report about the next delivery.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("it says something");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns whether this interpreter exists and accepts these arguments.
fn has(interpreter: &str, arguments: &[&str]) -> bool {
    let found = Command::new(interpreter).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// Delivers events with unusual characters to a receiver, which must accept each, and reject one with another secret.
async fn verifies(mut receiver: Receiver) {
    let server = Server::start(&settings(""));
    let client = server.all();
    let project = client.project("receivers").await;
    let wanted = json!({
        "url": format!("http://127.0.0.1:{}/", receiver.port), "events": ["subscriber.added"], "standardSignature": true,
    });
    let made = client.data("webhooks.create", wanted).await;
    writeln!(receiver.input, "{}", made["secret"].as_str().expect("a secret")).expect("it reads");
    for (number, tag) in ["plain", "Zoë & Søren", "北京", "🎉 \"quoted\" \\ back", "naïve </script>"].into_iter().enumerate()
    {
        let email = format!("r{number}@example.com");
        client.data("contacts.create", json!({ "projectId": project, "email": email, "tags": [tag] })).await;
        let said = receiver.next();
        assert_eq!((&said["good"], &said["data"]["tags"], &said["data"]["email"]), (&json!(true), &json!([tag]), &json!(email)));
    }
    client.data("webhooks.rotate_secret", json!({ "webhookId": made["id"], "graceHours": 0 })).await;
    client.data("contacts.create", json!({ "projectId": project, "email": "last@example.com" })).await;
    assert_eq!(receiver.next()["good"], false, "it does not know the new secret");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_in_python_verifies_every_delivery() {
    if !has("python3", &["-c", "import hmac"]) {
        return missing("there is no Python");
    }
    verifies(Receiver::start("python3", "plain.py")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_in_node_verifies_every_delivery() {
    if !has("node", &["--version"]) {
        return missing("there is no Node");
    }
    verifies(Receiver::start("node", "plain.js")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_public_library_of_standard_webhooks_verifies_every_delivery() {
    let Some(python) = python_with("standardwebhooks") else { return };
    verifies(Receiver::start(python, "standard.py")).await;
}
