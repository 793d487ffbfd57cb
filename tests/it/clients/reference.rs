//! The samples of the API reference for Node.js and Python: they have the types of the packages, and they run.

use std::fs;
use std::process::Command;

use mailmill::engine::api::Entry;
use mailmill::operations::OPERATIONS;
use serde_json::{Value, json};

use super::{Installed, has_npm, run, tools};
use crate::campaigns::Stage;
use crate::docs::{self, NO_PLATFORMS};
use crate::sites;
use crate::support::{Client, Server, python_with};

/// The IDs in the samples of two objects that the tests create. The other objects of the samples do not exist.
const PROJECT: &str = "66f1a2b3d4e5f60718293a4b";
const CONTACT: &str = "66f1a2b30000000a5c3e9d71";

/// Returns the text with each line after `indent`.
fn indented(text: &str, indent: &str) -> String {
    text.lines().map(|line| format!("{indent}{line}\n")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_sample_has_the_types_of_the_package() {
    let Some(tools) = tools().filter(|_| has_npm()) else { return };
    let installed = Installed::node();
    let samples = docs::samples(&Client::new(installed.server.address(), None), "```js tab=Node").await;
    let head = "import { Mailmill } from \"mailmill\";\nconst mailmill = new Mailmill();\n\
                declare const file: Blob;\ndeclare const projectId: string;\n";
    let functions = samples.iter().map(|sample| format!("export async function sample() {{\n{}}}\n", indented(sample, "  ")));
    let functions = functions.enumerate().map(|(number, text)| text.replacen("sample()", &format!("sample{number}()"), 1));
    fs::write(installed.path("samples.mts"), head.to_owned() + &functions.collect::<String>()).expect("the file can be written");
    let mut compiler = Command::new("node");
    compiler.current_dir(installed.folder.path()).arg(tools.join("node_modules/typescript/bin/tsc"));
    compiler.args(["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "--typeRoots"]);
    run(compiler.arg(tools.join("node_modules/@types")).arg("samples.mts"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_python_sample_has_the_types_of_the_package() {
    let Some(python) = python_with("httpx, mypy, pip") else { return };
    let installed = Installed::python(&python);
    let samples = docs::samples(&Client::new(installed.server.address(), None), "```python tab=Python").await;
    let head = "import pathlib\nfrom mailmill import Mailmill\nclient = Mailmill()\n\
                file = pathlib.Path(\"contacts.csv\").open(\"rb\")\nproject_id = \"66f1a2b3c4d5e6f708192a3b\"\n";
    let functions = samples.iter().enumerate();
    let functions = functions.map(|(number, sample)| format!("def sample{number}() -> None:\n{}", indented(sample, "    ")));
    fs::write(installed.path("samples.py"), head.to_owned() + &functions.collect::<String>()).expect("the file can be written");
    let mut checker = Command::new(&python);
    checker.args(["-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir"]).arg(installed.path("types"));
    run(checker.arg(installed.path("samples.py")).env("MYPYPATH", installed.path("site")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_sample_runs() {
    if !has_npm() {
        return;
    }
    let installed = Installed::node();
    let script = include_str!("../../samples/clients/reference.mjs");
    fs::write(installed.path("reference.mjs"), script).expect("the file can be written");
    run_samples(&installed, "```js tab=Node", "mailmill.", Command::new("node").arg("reference.mjs")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_python_sample_runs() {
    let Some(python) = python_with("httpx, mypy, pip") else { return };
    let installed = Installed::python(&python);
    let script = include_str!("../../samples/clients/reference.py");
    fs::write(installed.path("reference.py"), script).expect("the file can be written");
    let mut program = Command::new(&python);
    program.args(["-B", "reference.py"]).env("PYTHONPATH", installed.path("site"));
    run_samples(&installed, "```python tab=Python", "client.", &mut program).await;
}

/// Runs the samples of a language with `program`, on a server with a project, contacts and a campaign. A sample fails unless it works, or
/// the operation declares the error and the error is about an object that does not exist or does not allow the change.
async fn run_samples(installed: &Installed, fence: &str, client_name: &str, program: &mut Command) {
    let server = Server::start(&format!("{}{NO_PLATFORMS}", sites::settings()));
    let client = server.all();
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 3).await;
    stage.campaign(&client).await;
    let contact = client.contact(&stage.project, "reader@example.com").await;
    let samples = docs::samples(&Client::new(server.address(), None), fence).await;
    let mut samples: Vec<(&Entry, String)> = samples
        .into_iter()
        .map(|sample| (operation_of(&sample, client_name), sample.replace(PROJECT, &stage.project).replace(CONTACT, &contact)))
        .collect();
    // Samples that delete come last, because the other samples need the objects.
    samples.sort_by_key(|(entry, _)| entry.spec.verb.name() == "DELETE");
    let texts: Vec<&str> = samples.iter().map(|(_, sample)| sample.as_str()).collect();
    let input = json!({ "samples": texts, "projectId": stage.project });
    fs::write(installed.path("samples.json"), input.to_string()).expect("the file can be written");
    let key = client.key().expect("a key");
    program.current_dir(installed.folder.path()).env("MAILMILL_URL", format!("http://{}", server.address()));
    let said = run(program.env("MAILMILL_KEY", key));
    let outcomes: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(outcomes.len(), samples.len(), "{said}");
    let wrong: Vec<String> = samples
        .iter()
        .zip(&outcomes)
        .filter(|((entry, _), outcome)| !is_right(entry, outcome))
        .map(|((_, sample), outcome)| match outcome["fault"].as_str() {
            Some(fault) => format!("{sample}\n{fault}"),
            None => format!("{sample}\n{outcome}"),
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), samples.len(), wrong.join("\n\n"));
    let works = outcomes.iter().filter(|outcome| **outcome == json!({})).count();
    println!("{works} of {} samples work; the objects of the others do not exist", samples.len());
    // All lists work, and the samples that create something in the project.
    assert!(works * 5 > samples.len(), "{works} of {}", samples.len());
}

/// Returns the operation that a sample calls: `mailmill.contacts.bulkChanges(` and `client.contacts.bulk_changes(` name it.
fn operation_of(sample: &str, client_name: &str) -> &'static Entry {
    let call = sample.split_once(client_name).and_then(|(_, rest)| rest.split('(').next());
    let call = call.unwrap_or_else(|| panic!("there is no call in {sample}"));
    let mut name = String::new();
    for character in call.chars() {
        if character.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    let found = OPERATIONS.iter().find(|entry| entry.spec.client_name() == Some(&*name));
    found.unwrap_or_else(|| panic!("no operation has the name {name}: {sample}"))
}

fn is_right(entry: &Entry, outcome: &Value) -> bool {
    let (Some(status), Some(code)) = (outcome["status"].as_u64(), outcome["code"].as_str()) else {
        return outcome["fault"].is_null();
    };
    let is_declared =
        entry.spec.codes().iter().any(|declared| declared.info().wire == code && u64::from(declared.info().status) == status);
    // A platform that cannot be reached is a 503. Some operations are for signed-in users only.
    let is_for_users =
        status == 403 && outcome["message"].as_str().is_some_and(|message| message.contains("A Mailmill API key cannot"));
    is_declared && (matches!(status, 404 | 409 | 410 | 413 | 503) || is_for_users)
}
