//! Tests imported emails on the shipped program: importing HTML and a message, editing by prompts, viewing, restoring and
//! exporting.

use std::time::Duration;

use serde_json::{Value, json};

use super::support::client::Call;
use super::support::{Client, operation, shared};

const NEWSLETTER: &str = include_str!("../samples/imported-html/newsletter.html");
const LOOK: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(300);

/// Returns the newsletter as a message, with a different subject and wrapped lines.
fn message() -> String {
    let mut body = String::new();
    for line in NEWSLETTER.lines() {
        let mut length = 0;
        for letter in line.bytes() {
            let piece =
                if letter == b'=' || !letter.is_ascii() { format!("={letter:02X}") } else { char::from(letter).to_string() };
            if length + piece.len() > 70 {
                body.push_str("=\r\n");
                length = 0;
            }
            length += piece.len();
            body.push_str(&piece);
        }
        body.push_str("\r\n");
    }
    format!(
        "From: Canal Teas <news@teas.example>\r\nSubject: =?utf-8?q?Tea_f=C3=BCr_you?=\r\nMIME-Version: 1.0\r\n\
         Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n{body}"
    )
}

/// Returns the emails of an import when it has ended.
async fn emails(client: &Client, started: Value) -> Vec<Value> {
    let id = started["conversationId"].as_str().expect("an id").to_owned();
    let looking = async {
        loop {
            let status = client.data("emails.status", json!({ "conversationId": id })).await;
            if status["status"] == "completed" || status["status"] == "failed" {
                return status;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let status = tokio::time::timeout(PATIENCE, looking).await.expect("an import ends");
    assert_eq!(status["status"], "completed", "{status}");
    status["result"]["emails"].as_array().expect("emails").clone()
}

/// Returns the target of a link; its content type is not in any declaration.
async fn file(client: &Client, url: &str) -> Vec<u8> {
    let (id, token) = url.rsplit_once("/v1/files/").and_then(|(_, rest)| rest.split_once("?token=")).expect("a link to a file");
    let call = Call::new(operation("system.file"), json!({ "fileId": id, "token": token }));
    let reply = client.try_send(call).await.expect("the server answers");
    assert_eq!(reply.status, 200);
    reply.bytes.to_vec()
}

/// Edits an email. If the response arrives before the end of the edit, as on a busy machine, waits and adds what the edit has done.
async fn edited(client: &Client, email: &Value, prompt: &str) -> Value {
    let first = client.data("emails.edit", json!({ "emailId": email["id"], "prompt": prompt })).await;
    if first["status"] != "processing" {
        return first;
    }
    let waiting = async {
        loop {
            let input = json!({ "emailId": email["id"], "editId": first["editId"] });
            let status = client.data("emails.edit_status", input).await;
            if status["status"] == "completed" {
                return status;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    let status = tokio::time::timeout(PATIENCE, waiting).await.expect("an edit ends");
    let mut email = client.data("emails.get", json!({ "emailId": email["id"] })).await;
    for part in ["done", "notDone"] {
        email[part] = status[part].clone();
    }
    email
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_email_is_edited_restored_and_exported() {
    let client = shared().client();
    let project = client.project("edits").await;
    let htmls = json!([{ "name": "a.html", "source": NEWSLETTER }, { "name": "b.eml", "source": message() }]);
    let started = client.data("emails.import_html", json!({ "projectId": project, "htmls": htmls })).await;
    let conversation = started["conversationId"].clone();
    let all = emails(&client, started).await;
    assert_eq!((&all[0]["subject"], &all[1]["subject"]), (&json!("Autumn teas are here"), &json!("Tea für you")));
    for email in &all {
        assert_eq!(email["preheader"], "Three new blends, and free shipping until Sunday.");
        let changed = edited(&client, email, "Change 20% to 25%, make the button green and remove the image").await;
        assert_eq!((&changed["version"], &changed["status"]), (&json!(2), &json!("ready")));
        let html = changed["html"].as_str().expect("text");
        assert!(html.contains("<strong>save 25%</strong>") && html.contains("#2E7D32") && !html.contains("pot.jpg"), "{html}");
        assert!(changed["text"].as_str().is_some_and(|text| text.contains("save 25% on all of them")), "{}", changed["text"]);
        assert!(changed["screenshotUrl"].is_string(), "{}", changed["warnings"]);
        let restored = client.data("emails.restore", json!({ "emailId": email["id"], "version": 1 })).await;
        assert_eq!((&restored["version"], &restored["html"]), (&json!(3), &email["html"]));
        let again = client.call("emails.edit", json!({ "emailId": email["id"], "prompt": "Translate it into German" })).await;
        assert_eq!((again.status, again.code()), (409, "EDIT_FAILED".to_owned()), "{}", again.error());
        assert!(again.error().contains("imported as HTML"), "{}", again.error());
    }
    let last = edited(&client, &all[0], "Change the subject to \"Tea, again\"").await;
    assert_eq!((&last["subject"], &last["version"]), (&json!("Tea, again"), &json!(4)));
    for (format, start) in [("html", "<!doctype html>".as_bytes()), ("png", b"\x89PNG".as_slice())] {
        let wanted = json!({ "conversationId": conversation, "emailId": all[0]["id"] });
        let export = client.data(&format!("exports.{format}"), wanted).await;
        let file = file(&client, export["files"][0]["url"].as_str().expect("a link")).await;
        assert!(file.starts_with(start), "{format}: {} bytes", file.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_given_with_an_import_is_its_first_edit() {
    let client = shared().client();
    let project = client.project("first edits").await;
    let wanted = json!({
        "projectId": project, "html": NEWSLETTER, "instruction": "Change the headline to \"Warm up\"", "generateMedia": true,
    });
    let all = emails(&client, client.data("emails.import_html", wanted).await).await;
    assert_eq!(all[0]["version"], 2);
    assert!(all[0]["html"].as_str().is_some_and(|html| html.contains(">Warm up</td>")));
    let versions = client.data("emails.versions", json!({ "emailId": all[0]["id"] })).await;
    let told: Vec<(&Value, bool)> = versions["versions"]
        .as_array()
        .expect("versions")
        .iter()
        .map(|version| (&version["origin"], version["screenshotUrl"].is_string()))
        .collect();
    assert_eq!(told, [(&json!("edited"), true), (&json!("imported"), true)], "{}", all[0]["warnings"]);
    let wanted = json!({ "projectId": project, "html": NEWSLETTER, "instruction": "flibbertigibbet", "generateMedia": true });
    let all = emails(&client, client.data("emails.import_html", wanted).await).await;
    let warnings = all[0]["warnings"].to_string();
    assert_eq!((&all[0]["version"], &all[0]["status"]), (&json!(1), &json!("ready")));
    assert!(warnings.contains("was not applied") && warnings.contains("No image was generated"), "{warnings}");
}
