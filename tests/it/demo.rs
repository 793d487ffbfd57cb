//! Tests the demo as a new user sees it: on the command line with the made-up shop, and on the dashboard.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::campaigns::in_ms;
use super::support::browser::Browser;
use super::support::server::{BOUNDLESS, PROGRAM};
use super::support::{Client, Server};
use super::users::{OWNER, owned};

/// A running demo. It is killed when dropped.
struct Demo {
    child: Child,
    /// The demo's output up to the awaited line.
    said: String,
}

impl Demo {
    /// Starts the demo and reads its output until a line contains `end`.
    fn until(folder: &Path, end: &str) -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(["demo", "--http", "127.0.0.1:0", "--data"]).arg(folder).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut said = String::new();
        // The loop always ends, because a demo that fails prints the reason.
        while !said.contains(end) && out.read_line(&mut said).expect("text") > 0 {}
        assert!(said.contains(end), "{said}");
        // The remaining output is read, so that a full pipe cannot block the demo.
        std::thread::Builder::new()
            .name("demo's words".into())
            .spawn(move || out.lines().for_each(drop))
            .expect("a thread starts");
        Self { child, said }
    }

    /// Returns the text between two other texts.
    fn between(&self, front: &str, back: char) -> &str {
        let (_, rest) = self.said.split_once(front).unwrap_or_else(|| panic!("no {front}: {}", self.said));
        rest.split(back).next().expect("it ends")
    }

    fn address(&self) -> SocketAddr {
        self.between("http://", '/').parse().expect("an address")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn the_demo_leads_from_a_website_to_revenue_and_keeps_running() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let data = folder.path().join("demo");
    let demo = Demo::until(&data, "Ctrl-C");
    for step in ["Brand ", "Emails ", "Contacts   121 ", "Campaign ", "Inbox ", "Clicks ", "Revenue ", "Next week "] {
        assert!(demo.said.contains(&format!("\n  {step}")), "{step}: {}", demo.said);
    }
    let (address, key) = (demo.address(), demo.between("Bearer ", '\'').to_owned());
    let client = Client::new(address, Some(key));
    let projects = client.data("projects.list", json!({})).await;
    let campaigns = client.data("campaigns.list", json!({ "projectId": projects["projects"][0]["id"] })).await;
    assert_eq!(campaigns["total"], 2, "{campaigns}");
    let sent = campaigns["campaigns"].as_array().expect("a list").iter().find(|one| one["status"] == "sent");
    let sent = sent.unwrap_or_else(|| panic!("one campaign is sent: {campaigns}"));
    assert!(sent.get("completedAt").is_none(), "full mailboxes are still retried: {sent}");
    let stats = client.data("campaigns.stats", json!({ "id": sent["id"] })).await;
    assert!(stats["uniqueClicks"].as_u64() >= Some(10) && stats["conversion"]["revenue"].as_f64() > Some(100.0), "{stats}");
    assert_eq!((&stats["queued"], &stats["deferred"]), (&json!(0), &json!(2)), "{stats}");
    let deferred = client.data("campaigns.logs", json!({ "id": sent["id"], "status": "deferred" })).await;
    assert_eq!(deferred["emails"].as_array().map(Vec::len), Some(2), "{deferred}");
    spreads(&client, &sent["id"]).await;
    let password = demo.between("with the password ", '\n').to_owned();
    let input = json!({ "email": "you@example.com", "password": password, "environment": "test" });
    Client::new(address, None).data("accounts.login", input).await;
    let message = client.data("sending.inbox_list", json!({ "to": "you@example.com" })).await;
    assert_eq!(message["total"], 1, "{message}");
    drop(demo);
    let again = Demo::until(&data, "remove the folder");
    assert!(again.said.contains("is running again") && !again.said.contains("Brand "), "{}", again.said);
}

/// The readers' actions cover several days and many hours. Most are on the first day, and none is in the future.
async fn spreads(client: &Client, campaign: &Value) {
    let report = client.data("campaigns.report", json!({ "id": campaign })).await;
    let days = report["days"].as_array().expect("days");
    let on = |field: &str| days.iter().filter(|day| day[field].as_u64() > Some(0)).count();
    assert!(on("sent") == 1 && on("opened") >= 3 && on("clicked") >= 2, "{report}");
    let with_orders = days.iter().filter(|day| day["revenue"].as_array().is_some_and(|revenue| !revenue.is_empty())).count();
    assert!(with_orders >= 2, "{report}");
    let opened: Vec<u64> = days.iter().map(|day| day["opened"].as_u64().expect("a number")).collect();
    assert!(opened[..2].iter().sum::<u64>() > opened[2..].iter().sum(), "interest fades: {opened:?}");

    let rows = client.data("campaigns.logs", json!({ "id": campaign, "status": "opened", "limit": 100 })).await;
    let rows = rows["emails"].as_array().expect("rows");
    let at = |row: &Value| row["opened_at"].as_str().expect("a time").parse::<jiff::Timestamp>().expect("a time");
    let now: jiff::Timestamp = in_ms(0).parse().expect("a time");
    let hours: BTreeSet<i64> = rows.iter().map(|row| at(row).as_second() / 3_600).collect();
    assert!(hours.len() >= 15 && rows.iter().all(|row| at(row) < now), "{hours:?}");
}

async fn followed_to_its_end(browser: &mut Browser<'_>) -> String {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let page = browser.get("/test/demo").await;
        assert_eq!(page.status, 200, "{}", page.text);
        if !page.text.contains("data-live") {
            return page.text;
        }
        assert!(page.text.contains("http-equiv=\"refresh\""), "without scripts it continues too");
        assert!(tokio::time::Instant::now() < deadline, "{}", page.text);
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn the_dashboard_runs_the_same_demo_and_shows_why_it_failed() {
    let settings = format!("{BOUNDLESS}\n[server]\ndemo_shop = true\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n");
    let server = owned(&settings);
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/demo").await;
    let csrf = browser.get("/test/demo").await.csrf().to_owned();
    assert_eq!(browser.get("/live/demo").await.status, 404, "it makes test data");
    let started = browser.post("/test/demo", &[("csrf", &csrf), ("site", "http://127.0.0.1:9/")]).await;
    assert_eq!((started.status, started.location()), (303, "/test/demo"));
    let stuck = followed_to_its_end(&mut browser).await;
    assert!(stuck.contains("role=\"alert\"") && stuck.contains("couldn&#x27;t be read"), "{stuck}");
    browser.post("/test/demo", &[("csrf", &csrf), ("site", "")]).await;
    let well = followed_to_its_end(&mut browser).await;
    assert!(well.contains("Everything is ready") && well.contains("Leaf &amp; Stone") && well.contains(OWNER), "{well}");
    let path = well.split("href=\"").find(|rest| rest.starts_with("/test/inbox/")).and_then(|rest| rest.split('"').next());
    assert!(browser.get(path.expect("a link to the message")).await.text.contains("iframe"));
}

#[tokio::test]
async fn without_the_shop_a_website_is_required_and_no_shop_is_served() {
    let server: Server = owned(BOUNDLESS);
    let mut browser = Browser::new(&server);
    browser.sign_in("/test/demo").await;
    let csrf = browser.get("/test/demo").await.csrf().to_owned();
    let refused = browser.post("/test/demo", &[("csrf", &csrf), ("site", "")]).await;
    assert!(refused.status == 400 && refused.text.contains("Enter the URL of a website"), "{}", refused.text);
    assert_eq!(browser.get("/demo-shop/").await.status, 404);
}
