//! Tests scheduled imports of the shipped program with a server on loopback: a kill during an import, and the pages.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::browser::Browser;
use super::support::csv_host::CsvHost;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};
use super::users::owned;

const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_secs(300);

fn settings() -> String {
    format!("{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n")
}

/// Polls the scheduled import until `done` accepts it.
async fn until(client: &Client, id: &str, done: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = client.data("scheduled_imports.get", json!({ "id": id })).await;
        if done(&now) {
            return now;
        }
        assert!(Instant::now() < deadline, "{now}");
        tokio::time::sleep(PAUSE).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_of_a_file_is_imported_once_despite_kills() {
    const ROWS: usize = 60_000;
    let host = CsvHost::start();
    let rows: String = (0..ROWS).map(|number| format!("c{number}@example.com,Ada {number}\n")).collect();
    host.offer(&format!("email,first name\n{rows}"), "\"v1\"");
    let mut server = Server::start(&settings());
    let mut client = server.all();
    let project = client.project("Acme").await;
    let input = json!({ "projectId": project, "name": "Shop", "url": host.url(), "status": "subscribed" });
    let id = client.data("scheduled_imports.create", input).await["id"].as_str().expect("an ID").to_owned();
    server.kill();
    server.serve();
    client = client.at(server.address());
    let running = until(&client, &id, |now| now["state"] == "running").await;
    let import = running["importId"].as_str().expect("an import").to_owned();
    server.kill();
    server.serve();
    client = client.at(server.address());
    let done = until(&client, &id, |now| !now["lastRun"].is_null()).await;
    let run = &done["lastRun"];
    assert_eq!((&run["result"], &run["created"], &run["importId"]), (&json!("imported"), &json!(ROWS), &json!(import)), "{done}");
    let listed = client.data("contacts.list", json!({ "projectId": project, "limit": 1 })).await;
    assert_eq!(listed["total"], json!(ROWS));
    client.data("scheduled_imports.run", json!({ "id": id })).await;
    until(&client, &id, |now| now["lastRun"]["result"] == "unchanged").await;
    assert_eq!(host.sent().last(), Some(&304));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_row_of_a_file_becomes_one_event_despite_kills() {
    const ROWS: usize = 20_000;
    let host = CsvHost::start();
    let rows: String = (0..ROWS).map(|number| format!("visit,c{}@example.com,{number}\n", number % 1_000)).collect();
    host.offer(&format!("name,email,properties.page\n{rows}"), "\"v1\"");
    let mut server = Server::start(&settings());
    let mut client = server.all();
    let project = client.project("Acme").await;
    let input = json!({ "projectId": project, "name": "Visits", "url": host.url(), "target": "events" });
    let id = client.data("scheduled_imports.create", input).await["id"].as_str().expect("an ID").to_owned();
    for _ in 0..2 {
        until(&client, &id, |now| now["state"] == "running" || !now["lastRun"].is_null()).await;
        server.kill();
        server.serve();
        client = client.at(server.address());
    }
    let done = until(&client, &id, |now| !now["lastRun"].is_null()).await;
    let run = &done["lastRun"];
    assert_eq!((&run["result"], &run["created"], &run["failed"]), (&json!("imported"), &json!(ROWS), &json!(0)), "{done}");
    let listed = client.data("contacts.list", json!({ "projectId": project, "limit": 1 })).await;
    assert_eq!((&listed["total"], &listed["contacts"][0]["status"]), (&json!(1_000), &json!("non-subscribed")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduled_import_is_created_changed_paused_and_deleted_by_forms() {
    const PATH: &str = "/test/contacts/scheduled-imports";
    let host = CsvHost::start();
    host.refuse(404);
    let server = owned(&settings());
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let client = server.all();
    client.project("Acme").await;
    let page = browser.get(PATH).await;
    assert!(page.text.contains("Import a file regularly"), "{}", page.text);
    let csrf = page.csrf().to_owned();
    let url = host.url();
    let form = |url: &str, act: &str, mapping: &str| {
        [("csrf", csrf.as_str()), ("act", act), ("name", "Shop"), ("every", "24"), ("status", "non-subscribed")]
            .into_iter()
            .chain([("url", url), ("mapping", mapping)])
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect::<Vec<_>>()
    };
    async fn post(browser: &mut Browser<'_>, path: &str, form: &[(String, String)]) -> super::support::browser::Page {
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        browser.post(path, &form).await
    }
    let wrong = post(&mut browser, PATH, &form("contacts.csv", "create", "")).await;
    assert!(
        wrong.status == 400 && wrong.text.contains("id=\"url-wrong\"") && wrong.text.contains("value=\"Shop\""),
        "{}",
        wrong.text
    );
    let wrong = post(&mut browser, PATH, &form(&url, "create", "mail = a")).await;
    assert!(wrong.status == 400 && wrong.text.contains("id=\"mapping-wrong\""), "{}", wrong.text);
    let own = post(&mut browser, PATH, &form(&url, "create", "")).await.location().to_owned();
    let id = own.rsplit('/').next().expect("an ID").to_owned();
    until(&client, &id, |now| now["lastRun"]["result"] == "failed").await;
    let shown = browser.get(&own).await;
    assert!(shown.text.contains("status 404. Check the URL."), "{}", shown.text);
    host.offer("mail,plan\nada@example.com,pro\n", "");
    let mapping = "email = mail\ncustomFields.plan = plan";
    assert_eq!(post(&mut browser, &own, &form(&url, "update", mapping)).await.location(), format!("{own}?done=update"));
    until(&client, &id, |now| now["lastRun"]["created"] == 1).await;
    let shown = browser.get(&own).await;
    assert!(shown.text.contains("1 new") && shown.text.contains("customFields.plan = plan"), "{}", shown.text);
    let act = |act: &str| vec![("csrf".to_owned(), csrf.clone()), ("act".to_owned(), act.to_owned())];
    assert_eq!(post(&mut browser, &own, &act("off")).await.location(), format!("{own}?done=off"));
    assert!(browser.get(&own).await.text.contains("Resume schedule"));
    assert_eq!(post(&mut browser, &own, &act("run")).await.location(), format!("{own}?done=run"));
    until(&client, &id, |now| now["lastRun"]["result"] == "unchanged").await;
    assert_eq!(post(&mut browser, &own, &act("delete")).await.location(), format!("{PATH}?done=delete"));
    assert!(browser.get(PATH).await.text.contains("Import a file regularly"));
}
