//! A client that a code generator of others writes from `/openapi.json`: it loads every class, and creates a contact.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::run;
use crate::support::server::BOUNDLESS;
use crate::support::{Client, Server, missing};

/// A server with a project, and a folder with the server's OpenAPI document for a generated client.
struct Bench {
    server: Server,
    client: Client,
    project: String,
    folder: TempDir,
}

impl Bench {
    async fn new() -> Self {
        let server = Server::start(BOUNDLESS);
        let client = server.all();
        let project = client.project("Generated clients").await;
        let folder = tempfile::tempdir().expect("a temporary folder");
        // A generator waits only seconds for the document, which a busy machine can exceed.
        let document = client.call("system.openapi", json!({})).await;
        std::fs::write(folder.path().join("openapi.json"), document.bytes).expect("the file can be written");
        Self { server, client, project, folder }
    }

    /// Runs a program that creates the contact ada@example.com twice with one idempotency key, and prints both IDs as JSON.
    async fn creates_a_contact(&self, program: &mut Command) {
        let key = self.client.key().expect("a key");
        program.current_dir(self.folder.path()).env("MAILMILL_URL", format!("http://{}", self.server.address()));
        let said = run(program.env("MAILMILL_KEY", key).env("PROJECT", &self.project));
        let line = said.lines().find(|line| line.starts_with('[')).unwrap_or_else(|| panic!("no IDs: {said}"));
        let ids: Value = serde_json::from_str(line).expect("the IDs are JSON");
        let list = self.client.data("contacts.list", json!({ "projectId": self.project })).await;
        assert_eq!((&list["total"], &list["contacts"][0]["email"]), (&json!(1), &json!("ada@example.com")), "{list}");
        assert_eq!(ids, json!([list["contacts"][0]["id"], list["contacts"][0]["id"]]));
    }
}

/// Returns a program that `.ci/run` installs, if it is there.
fn tool(path: &str) -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("ci-tools").join(path);
    if !found.exists() {
        missing(&format!("{} is missing: .ci/run installs it", found.display()));
    }
    Some(found).filter(|found| found.exists())
}

/// Whether a program of the system is there.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        missing(&format!("there is no {program}: .ci/run installs it"));
    }
    found
}

/// Generates a client with these options, which must be those of the page `clients`, and runs a program that uses it.
async fn a_generated_client_creates_a_contact(options: &[&str], program: &mut Command) {
    let Some(generator) = tool("python/bin/openapi-generator-cli").filter(|_| has("java")) else { return };
    let bench = Bench::new().await;
    let mut generate = Command::new(generator);
    run(generate.current_dir(bench.folder.path()).args(["generate", "-i", "openapi.json"]).args(options));
    bench.creates_a_contact(program).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generated_php_client_creates_a_contact() {
    if has("php") {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/clients/generated.php");
        let options = ["-g", "php", "-o", "mailmill-php", "--name-mappings=_id=id_again"];
        a_generated_client_creates_a_contact(&options, Command::new("php").args([script, "mailmill-php/lib"])).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generated_python_client_creates_a_contact() {
    if let Some(python) = tool("python/bin/python") {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/clients/generated.py");
        let options = [
            "-g",
            "python",
            "-o",
            "mailmill-python",
            "--additional-properties=packageName=mailmill_api",
            "--name-mappings=_id=id_again",
        ];
        a_generated_client_creates_a_contact(&options, Command::new(python).args([script, "mailmill-python"])).await;
    }
}
