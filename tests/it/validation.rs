//! Checks emails with the service as shipped: confined worker processes parse the HTML, even of hostile emails.

use std::io::{Read, Write};
use std::net::TcpListener;

use http::StatusCode;
use serde_json::{Value, json};

use super::sites;
use super::support::{Client, Server};

/// A site with one page; any other path is not found. Its thread ends with the tests.
fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let serve = move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 2048];
            let count = stream.read(&mut head).unwrap_or_default();
            let is_known = String::from_utf8_lossy(&head[..count]).split(' ').nth(1) == Some("/");
            let status = if is_known { "200 OK" } else { "404 Not Found" };
            let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n");
        }
    };
    std::thread::Builder::new().name("site".into()).spawn(serve).expect("a thread");
    format!("http://{address}/")
}

async fn check(client: &Client, check: &str, html: &str) -> Value {
    client.data(&format!("validation.{check}"), json!({ "html": html })).await
}

#[tokio::test]
async fn the_shipped_service_checks_an_email() {
    let server = Server::start(&sites::settings());
    let client = server.client("test", "email:validate");
    let url = site();
    let html = format!(
        "<!doctype html><html lang=en><head><title>News</title></head><body>\n<p style=\"border-radius:4px\">You will recieve it.</p>\n\
         <a href=\"{url}\">Our shop</a> <a href=\"{url}gone\">Old page</a> <a href=\"http://10.0.0.1/\">Inside</a>\n\
         <img src=\"{url}\" width=300></body></html>"
    );
    let links = check(&client, "links", &html).await;
    let statuses: Vec<&Value> = links["checkedLinks"].as_array().expect("a list").iter().map(|link| &link["status"]).collect();
    assert_eq!(statuses, ["ok", "broken", "blocked"]);
    assert_eq!(links["checkedLinks"][1]["occurrences"][0]["line"], 3);
    let all = check(&client, "all", &html).await;
    assert_eq!(all["metadata"]["checksIncomplete"], json!([]));
    assert_eq!(all["spelling"]["errors"][0]["word"], "recieve");
    assert_eq!(all["accessibility"]["findings"][0]["rule"], "image_alt");
    assert!(all["compatibility"]["metadata"]["clientsTested"].as_u64().is_some_and(|count| count > 30), "{all}");
    assert!(all["deliverability"]["prediction"]["category"].is_string(), "{all}");
}

#[tokio::test]
async fn hostile_emails_get_an_error_or_a_report_and_the_service_stays_up() {
    let server = Server::start(&sites::settings());
    let client = server.client("test", "email:validate");
    let hostile = [
        "<div>".repeat(100_000),
        "<a href=x>".repeat(50_000),
        format!("<p style=\"{}\">", "color:red;".repeat(50_000)),
        format!("<style>{}</style>", "@media screen{".repeat(50_000)),
        format!("<style>{}</style><p>", "a b c d e f>".repeat(40_000)),
        format!("<p {}>", "a=b ".repeat(100_000)),
        "<![CDATA[<!--[if mso]>".repeat(20_000),
        "&amp".repeat(200_000),
        format!("<p>{}", "a".repeat(900_000)),
        "<table><b>".repeat(20_000),
    ];
    for html in hostile {
        for name in ["links", "compatibility", "spelling", "deliverability"] {
            let reply = client.call(&format!("validation.{name}"), json!({ "html": html })).await;
            let is_sound = reply.status == StatusCode::OK || reply.status == StatusCode::BAD_REQUEST;
            assert!(is_sound, "{name} of {}…: {} {}", html.chars().take(40).collect::<String>(), reply.status, reply.error());
        }
    }
    assert_eq!(check(&client, "spelling", "<html lang=en><p>Hello, recieve it.").await["summary"]["totalErrors"], 1);
}

/// The support tables, changed so that the Gmail app supports videos.
fn newer_tables() -> Value {
    let mut tables: Value =
        serde_json::from_str(include_str!("../../assets/email_clients/caniemail.json")).expect("the tables are valid");
    tables["last_update_date"] = json!("2031-01-01T00:00:00.000Z");
    let features = tables["data"].as_array_mut().expect("a list of features");
    let video = features.iter_mut().find(|feature| feature["slug"] == "html-video").expect("the feature is in the tables");
    video["stats"]["gmail"]["ios"] = json!({ "2030-01": "y" });
    tables
}

fn with_tables(file: &std::path::Path) -> String {
    format!("{}\n[validation]\nclients = {:?}\n", sites::settings(), file.display().to_string())
}

#[tokio::test]
async fn a_newer_file_of_support_tables_replaces_the_embedded_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("caniemail.json");
    std::fs::write(&file, newer_tables().to_string()).expect("written");
    let input = json!({ "html": "<video src=\"https://example.com/a.mp4\" controls></video>", "clients": ["gmail.ios"] });
    let has_video = |report: &Value| report["clientIssues"].to_string().contains("html-video");
    let embedded = Server::start(&sites::settings());
    let report = embedded.client("test", "email:validate").data("validation.compatibility", input.clone()).await;
    assert!(has_video(&report), "{report}");
    let server = Server::start(&with_tables(&file));
    let report = server.client("test", "email:validate").data("validation.compatibility", input).await;
    assert!(!has_video(&report), "{report}");
    assert!(report["metadata"]["dataVersion"].as_str().is_some_and(|version| version.starts_with("2031-01-01")), "{report}");
}

#[test]
fn a_file_of_support_tables_that_cannot_be_used_stops_the_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("caniemail.json");
    let mut unknown = newer_tables();
    unknown["data"][0]["slug"] = json!("css-from-tomorrow");
    let cases = [
        (Some("[]".to_owned()), "not in the format of caniemail.json"),
        (Some("{".to_owned()), "not in the format of caniemail.json"),
        (Some(unknown.to_string()), "css-from-tomorrow"),
        (None, "No such file"),
    ];
    for (content, reason) in cases {
        match content {
            Some(content) => std::fs::write(&file, content).expect("written"),
            None => std::fs::remove_file(&file).expect("removed"),
        }
        let output = Server::stopped(&with_tables(&file)).serve_again();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains("validation.clients") && error.contains(reason), "{error}");
    }
}
