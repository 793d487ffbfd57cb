//! Tests the doctor on installations with different problems, before the service starts and while it runs.

use std::os::unix::fs::MetadataExt;
use std::process::Output;

use serde_json::json;

use super::peers::verify;
use super::support::Server;
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities};
use super::support::name_server::NameServer;
use super::support::server::BOUNDLESS;

/// Returns the output, after checking the exit code.
fn said(output: &Output, code: i32) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(code), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Returns the line about this subject.
fn line<'t>(text: &'t str, subject: &str) -> &'t str {
    let found = text.lines().find(|line| line.get(9..).is_some_and(|rest| rest.starts_with(&format!("{subject} "))));
    found.unwrap_or_else(|| panic!("nothing of {subject}: {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_asks_a_new_installation_to_set_a_transport() {
    let server = Server::start(BOUNDLESS);
    let text = said(&server.run(&["doctor"]), 1);
    let runs = format!("the service is running and listens on {}", server.address());
    assert!(
        line(&text, "ports").starts_with("good") && line(&text, "ports").contains(&runs),
        "not where the settings say: {text}"
    );
    assert!(line(&text, "folder").starts_with("good"), "{text}");
    let workers = line(&text, "workers");
    assert!(!workers.starts_with("PROBLEM") && workers.contains("active layers: no new privileges"), "{text}");
    assert!(workers.contains("resource limits, system call filter"), "{text}");
    assert!(line(&text, "transport").starts_with("PROBLEM"), "{text}");
    assert!(text.contains("Next (transport): Set [mail] relay = "), "{text}");
}

/// Regression test: as root, Chromium ran without its sandbox, and the doctor said that the processes were confined.
#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_says_whether_chromium_is_confined() {
    let is_root = std::fs::metadata("/proc/self").expect("there is a /proc").uid() == 0;
    let server = Server::start(&format!("{BOUNDLESS}\n[rendering]\nengine = \"chromium\"\n"));
    let text = said(&server.run(&["doctor"]), 1);
    let workers = line(&text, "workers");
    let off = "PROBLEM  workers";
    assert_eq!(
        (workers.starts_with(off), workers.contains("Chromium's sandbox (it does not work for root)")),
        (is_root, is_root),
        "{text}"
    );
    assert!(workers.contains("Chromium's sandbox"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_in_the_dns_and_what_does_not_answer_is_named() {
    let names = NameServer::start();
    let sink = MailSink::by(SinkCapabilities::default(), |_, _| SinkAction::Usual);
    let settings = |relay: &str| format!("{BOUNDLESS}\n[mail]\nrelay = [\"{relay}\"]\ndns = \"{}\"\n", names.address);
    let mut server = Server::start(&settings(&format!("smtp://{}", sink.address)));
    let client = server.client("live", "all");
    verify(&client, &names, "acme.example").await;
    let text = said(&server.run(&["doctor"]), 2);
    assert!(line(&text, "tls").starts_with("warning") && !text.contains("PROBLEM"), "{text}");
    client.data("domains.create", json!({ "domain": "waiting.example" })).await;
    let text = said(&server.run(&["doctor"]), 1);
    assert!(
        line(&text, "transport").starts_with("good") && line(&text, "transport").contains("accepts mail from this machine"),
        "{text}"
    );
    assert!(line(&text, "reverse dns").starts_with("- "), "{text}");
    assert!(line(&text, "acme.example").contains("verified"), "{text}");
    let waiting = line(&text, "waiting.example");
    assert!(
        waiting.starts_with("PROBLEM") && waiting.contains("TXT ") && waiting.contains("_domainkey.waiting.example (missing)"),
        "{text}"
    );
    assert!(text.contains("Next (waiting.example): "), "{text}");
    assert_eq!(sink.count(), 0, "nothing is sent");

    server.signal("TERM");
    server.wait();
    drop(sink);
    // Use free ports, because another program on this machine may use the default ports.
    server.set(&(settings("smtp://127.0.0.1:9") + "\n[server]\nhttp = \"127.0.0.1:0\"\nhttps = \"\"\n"));
    let text = said(&server.run(&["doctor"]), 1);
    assert!(line(&text, "transport").starts_with("PROBLEM") && text.contains("Next (transport): Check the host, port"), "{text}");
    assert!(text.contains("is free"), "the service does not run: {text}");
}

/// Exit code 2 means warnings only, so invalid settings must not exit with it.
#[test]
fn a_doctor_that_cannot_run_its_checks_reports_a_problem() {
    let server = Server::stopped("server.idle_seconds = 0");
    let output = server.run(&["doctor"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("server.idle_seconds"), "{output:?}");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}
