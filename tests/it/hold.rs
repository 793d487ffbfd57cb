//! Tests the hold on sending: a restored or copied folder sends no waiting work, and contacts no other service, until a user resumes
//! sending.
//!
//! Regression test: after a restore of a backup made during a campaign, 494 recipients got a second message.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mailmill::base::clock::{Clock, SystemClock, Timestamp};
use serde_json::{Value, json};

use super::delivery::{audience, campaign, draft, email, taken, until};
use super::installation::said;
use super::support::browser::Browser;
use super::support::hook_sink::{HookSink, Reaction};
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use super::support::server::BOUNDLESS;
use super::support::{Client, Server};
use super::users::{OWNER, owned, set_up, signed_in};

const RECIPIENTS: usize = 120;
const CONNECTIONS: usize = 4;
/// A pause that is longer than any dispatcher, worker or webhook retry needs.
const QUIET: Duration = Duration::from_secs(4);
/// The time until the scheduled campaign starts, in which even a busy machine makes a backup.
const START_AFTER_MS: i64 = 15_000;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn settings(sink: &MailSink) -> String {
    let address = sink.address;
    format!(
        "{BOUNDLESS}\n[outbound]\nallow_networks = [\"127.0.0.0/8\"]\n[webhooks]\nallow_http = true\nfirst_retry_seconds = 1\n\
         second_retry_seconds = 2\n[mail]\nrelay = [\"smtp://{address}\"]\nconnections = {CONNECTIONS}\nrequire_verified_domain = false\n"
    )
}

/// A relay that accepts messages and takes a long time to reply.
fn stuck() -> MailSink {
    let address = "127.0.0.1:0".parse().expect("an address");
    let wait = |_: &_, now| if now == SmtpStage::Dot { SinkAction::Wait(Duration::from_secs(60)) } else { SinkAction::Usual };
    MailSink::at(address, SinkCapabilities::default(), false, wait)
}

/// A service in the middle of a campaign, with a second campaign scheduled and a webhook delivery that waits for its next attempt.
struct Busy {
    server: Server,
    key: String,
    campaign: String,
    /// The start time of the scheduled campaign.
    starts_at: Timestamp,
    hooks: HookSink,
    webhook: String,
    /// The server of a file that is imported regularly. It never responds, so the import is always due.
    files: HookSink,
}

impl Busy {
    async fn start(sink: &MailSink) -> Self {
        let server = Server::start(&settings(sink));
        set_up(&server);
        let key = server.key("live", "all");
        let client = Client::new(server.address(), Some(key.clone()));
        let project = audience(&client, RECIPIENTS).await;
        let conversation = email(&client, &project).await;
        let hooks = HookSink::start(|_, _| Reaction::status(500)).await;
        let url = format!("http://{}/", hooks.address);
        let made = client.data("webhooks.create", json!({ "url": url, "events": ["subscriber.added"] })).await;
        let webhook = made["id"].as_str().expect("an id").to_owned();
        let scheduled = draft(&client, &project, &conversation, "Later").await;
        let starts_at = SystemClock.now().plus_ms(START_AFTER_MS);
        client.data("campaigns.schedule", json!({ "id": scheduled, "scheduledAt": starts_at.to_string() })).await;
        let files = HookSink::start(|_, _| Reaction::Silence).await;
        let import = json!({ "projectId": project, "name": "Shop", "url": files.url(), "status": "subscribed" });
        client.data("scheduled_imports.create", import).await;
        files.wait(1).await;
        let campaign = campaign(&client, &project, &conversation, "Now").await;
        until(async || sink.count() == CONNECTIONS).await;
        client.contact(&project, "late@example.com").await;
        until(async || hooks.got().len() == 1).await;
        Self { server, key, campaign, starts_at, hooks, webhook, files }
    }

    /// Waits until the scheduled campaign would have started, if sending were not on hold.
    async fn quiet(&self) {
        let rest_ms = self.starts_at.ms_since(SystemClock.now()).max(0) as u64;
        tokio::time::sleep(Duration::from_millis(rest_ms) + QUIET).await;
    }

    fn backup(&self) -> std::path::PathBuf {
        let target = self.server.data().with_file_name("backup");
        let output = self.server.run(&["backup", "--to", target.to_str().expect("UTF-8")]);
        assert!(output.status.success(), "{}", said(&output));
        target
    }

    /// Restores the backup into the data folder of a server that was never started.
    fn restore_into(&self, other: &Server, backup: &Path, more: &[&str]) {
        let key = self.server.data().join("master.key");
        let mut arguments = vec!["restore", backup.to_str().expect("UTF-8"), "--master-key", key.to_str().expect("UTF-8")];
        arguments.extend(more);
        let output = other.run(&arguments);
        assert!(output.status.success(), "{}", said(&output));
    }
}

async fn send(client: &Client, to: &str) -> Value {
    let html = "<p>Your code is 7. <a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>";
    let input = json!({
        "recipientType": "email", "recipientEmail": to, "from": "news@example.com", "subject": "Code", "template": html,
    });
    client.data("sending.send", input).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restored_folder_sends_nothing_until_it_is_resumed() {
    let sink = stuck();
    let mut busy = Busy::start(&sink).await;
    let saved = busy.backup();
    busy.server.kill();
    let (attempts, fetches) = (busy.hooks.got().len(), busy.files.got().len());
    let fresh = MailSink::usual();
    let mut restored = Server::stopped(&settings(&fresh));
    busy.restore_into(&restored, &saved, &[]);
    restored.serve();
    assert!(restored.log().contains("sending is on hold"), "{}", restored.log());
    busy.quiet().await;
    let contacts = || (fresh.count(), busy.hooks.got().len(), busy.files.got().len());
    assert_eq!(contacts(), (0, attempts, fetches), "no other service is contacted automatically");

    // The API shows the waiting work, and how much may be sent twice.
    let live = signed_in(&restored, OWNER, "live").await;
    let hold = live.data("installation.hold", json!({})).await;
    assert!(hold["reason"].as_str().is_some_and(|reason| reason.contains("restored from the backup made at 20")), "{hold}");
    let names: Vec<&str> =
        hold["campaigns"].as_array().expect("a list").iter().filter_map(|campaign| campaign["name"].as_str()).collect();
    assert_eq!(names, ["Now", "Later"], "{hold}");
    let waiting = hold["campaigns"][0]["recipients"].as_u64().expect("a number");
    assert!((RECIPIENTS - 2 * CONNECTIONS..RECIPIENTS).contains(&(waiting as usize)), "{hold}");
    let notice = hold["notice"].as_str().expect("words").to_owned();
    assert!(
        notice.contains(&format!("{waiting} recipients, the messages of 1 scheduled campaign, and 1 webhook delivery")),
        "{hold}"
    );
    let mut other: Vec<_> = hold["other"].as_array().expect("a list").iter().map(|item| &item["kind"]).collect();
    other.sort_by_key(|kind| kind.to_string());
    assert_eq!(other, ["scheduledImport", "webhook"], "{hold}");
    assert!(live.data("system.status", json!({})).await["hold"]["reason"].is_string());
    assert!(said(&restored.run(&["doctor"])).contains("sending has been on hold since"));

    // The dispatchers of incoming mail, the continuous backup, and the mail and webhooks of two environments run during a hold.
    let client = Client::new(restored.address(), Some(busy.key.clone()));
    let dispatchers =
        async |client: &Client| client.call("system.ready", json!({})).await.json()["data"]["checks"]["dispatchers"].clone();
    assert_eq!(dispatchers(&client).await, json!({ "ok": true, "running": 6, "restarts": 0, "onHold": true }));

    // Requests and direct sends work. Requests that would resume old work are rejected with a clear message.
    send(&client, "new@example.com").await;
    until(async || fresh.count() == 1).await;
    client.data("campaigns.pause", json!({ "id": busy.campaign })).await;
    client.call("campaigns.resume", json!({ "id": busy.campaign })).await.refused(http::StatusCode::CONFLICT, "ON_HOLD");
    let from = "2026-01-01T00:00:00Z";
    let range = json!({ "webhookId": busy.webhook, "from": from });
    assert!(client.call("webhooks.redeliver", range).await.json()["code"] == "ON_HOLD");
    // The hold continues after a restart.
    restored.kill();
    restored.serve();
    tokio::time::sleep(QUIET).await;
    assert_eq!(contacts(), (1, attempts, fetches));

    let shown = said(&restored.run(&["resume"]));
    assert!(shown.contains(&notice[..40]) && shown.contains("still on hold"), "{shown}");
    let resumed = restored.run(&["resume", "--yes"]);
    assert!(resumed.status.success() && said(&resumed).contains("Sending resumed"), "{}", said(&resumed));
    let client = Client::new(restored.address(), Some(busy.key.clone()));
    assert_eq!(dispatchers(&client).await["onHold"], false);
    client.data("campaigns.resume", json!({ "id": busy.campaign })).await;
    // The server sends the rest of the first campaign, the whole second campaign, and the direct send.
    let all = waiting as usize + RECIPIENTS + 1 + 1;
    until(async || fresh.count() == all).await;
    until(async || busy.hooks.got().len() > attempts && busy.files.got().len() > fetches).await;
    assert_eq!(taken(&fresh, 0)["new@example.com"], 1);
    assert!(said(&restored.run(&["resume"])).contains("not on hold"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_may_restore_without_a_hold() {
    let sink = stuck();
    let mut busy = Busy::start(&sink).await;
    let saved = busy.backup();
    busy.server.kill();
    let fresh = MailSink::usual();
    let mut restored = Server::stopped(&settings(&fresh));
    busy.restore_into(&restored, &saved, &["--resume"]);
    restored.serve();
    until(async || fresh.count() >= RECIPIENTS - 2 * CONNECTIONS).await;
    assert!(said(&restored.run(&["resume"])).contains("not on hold"));
}

/// The clock of a restored machine may be wrong. If it is behind, old work must not be sent; if it is ahead and then corrected, new work
/// must not be held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hold_keeps_old_work_and_lets_new_work_run_whatever_the_clock_is() {
    let sink = stuck();
    let mut busy = Busy::start(&sink).await;
    let saved = busy.backup();
    busy.server.kill();
    let fresh = MailSink::usual();
    for (first, then) in [(-DAY_MS, 0), (DAY_MS, 0)] {
        let before = fresh.count();
        let mut restored = Server::stopped(&settings(&fresh));
        let Some(faults) = restored.faults() else { return };
        busy.restore_into(&restored, &saved, &[]);
        faults.clock_off_by_ms(first);
        restored.serve();
        busy.quiet().await;
        assert_eq!(fresh.count(), before, "{first}: nothing is sent by itself");
        let client = Client::new(restored.address(), Some(busy.key.clone()));
        send(&client, "first@example.com").await;
        until(async || fresh.count() == before + 1).await;
        faults.clock_off_by_ms(then);
        send(&client, "second@example.com").await;
        until(async || fresh.count() == before + 2).await;
        tokio::time::sleep(QUIET).await;
        assert_eq!(fresh.count(), before + 2, "{then}: the rest still waits");
    }
}

/// A schedule from before the hold waits until the hold ends. A schedule that is set during the hold applies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_scheduled_during_a_hold_starts_on_time() {
    let sink = stuck();
    let mut busy = Busy::start(&sink).await;
    let saved = busy.backup();
    busy.server.kill();
    let fresh = MailSink::usual();
    let mut restored = Server::stopped(&settings(&fresh));
    busy.restore_into(&restored, &saved, &[]);
    restored.serve();
    let client = Client::new(restored.address(), Some(busy.key.clone()));
    let live = signed_in(&restored, OWNER, "live").await;
    let waiting = live.data("installation.hold", json!({})).await;
    assert_eq!(waiting["campaigns"][1]["name"], "Later", "{waiting}");
    let later = waiting["campaigns"][1]["id"].clone();
    // The old start time no longer applies.
    busy.quiet().await;
    assert_eq!(client.data("campaigns.get", json!({ "id": later })).await["status"], "scheduled");
    assert_eq!(fresh.count(), 0);
    let at = SystemClock.now().plus_ms(START_AFTER_MS).to_string();
    client.data("campaigns.reschedule", json!({ "id": later, "scheduledAt": at })).await;
    until(async || fresh.count() == RECIPIENTS + 1).await;
    let hold = live.data("installation.hold", json!({})).await;
    let names: Vec<&str> = hold["campaigns"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["Now"], "{hold}");
}

fn copy(from: &Server, to: &Server) {
    let status = Command::new("cp").args(["-a"]).arg(from.data()).arg(to.data()).status().expect("there is a cp");
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_started_copy_is_on_hold_and_the_original_and_a_moved_folder_are_not() {
    let sink = stuck();
    let mut busy = Busy::start(&sink).await;
    busy.server.kill();
    let fresh = MailSink::usual();
    let (mut copied, mut knowing, mut moved) =
        (Server::stopped(&settings(&fresh)), Server::stopped(&settings(&fresh)), Server::stopped(&settings(&fresh)));
    copy(&busy.server, &copied);
    copy(&busy.server, &knowing);
    fs::rename(busy.server.data(), moved.data()).expect("moved");
    let unasked = Server::stopped(&format!("{}\n[data]\nhold_copies = false\n", settings(&fresh)));
    copy(&copied, &unasked);
    assert!(said(&unasked.run(&["resume"])).contains("not on hold"), "the setting says so");
    copied.serve();
    busy.quiet().await;
    assert_eq!(fresh.count(), 0, "a copy sends nothing by itself");
    let live = signed_in(&copied, OWNER, "live").await;
    let hold = live.data("installation.hold", json!({})).await;
    assert!(hold["reason"].as_str().is_some_and(|reason| reason.contains("is a copy")), "{hold}");
    let resumed = live.data("installation.resume", json!({})).await;
    assert_eq!(
        (&resumed["onHold"], &resumed["notice"]),
        (&json!(false), &hold["notice"]),
        "the response says what may be sent twice"
    );
    assert_eq!(live.data("installation.resume", json!({})).await["since"], json!(null), "a repeat changes nothing");
    until(async || fresh.count() > RECIPIENTS).await;
    copied.kill();
    let before = fresh.count();
    knowing.serve_with(&["--resume"]);
    assert!(said(&knowing.run(&["resume"])).contains("not on hold"));
    until(async || fresh.count() > before).await;
    knowing.kill();
    let before = fresh.count();
    moved.serve();
    assert!(!moved.log().contains("on hold"), "{}", moved.log());
    until(async || fresh.count() > before).await;
}

/// Reads, the dashboard, and links in sent mail all work during a hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dashboard_shows_a_hold_and_a_user_ends_it_there() {
    let mut server = owned(BOUNDLESS);
    let client = server.all();
    let project = client.project("shop").await;
    client.contact(&project, "ada@example.com").await;
    let html = "<p>Hi. <a href=\"https://example.com/a\">Read</a> <a href=\"{{ unsubscribe_url }}\">Unsubscribe</a></p>";
    let input = json!({
        "recipientType": "email", "recipientEmail": "ada@example.com", "from": "news@example.com", "subject": "Hi", "template": html,
        "projectId": project, "transactional": false,
    });
    client.data("sending.send", input).await;
    let mut link = String::new();
    until(async || {
        let inbox = client.data("sending.inbox_list", json!({})).await;
        let Some(id) = inbox["messages"][0]["id"].as_str() else { return false };
        let raw = client.call("sending.inbox_html", json!({ "id": id })).await;
        let text = String::from_utf8_lossy(&raw.bytes).into_owned();
        link = text
            .split("href=\"")
            .filter_map(|rest| rest.split('"').next())
            .find(|at| at.contains("/u/"))
            .unwrap_or_default()
            .into();
        !link.is_empty()
    })
    .await;
    server.signal("TERM");
    server.wait();
    let mut copied = Server::stopped(BOUNDLESS);
    copy(&server, &copied);
    copied.serve();
    let mut browser = Browser::new(&copied);
    let path = format!("/{}", link.splitn(4, '/').nth(3).expect("a path"));
    let page = browser.get(&path).await;
    assert_eq!(page.status, 200, "{path}: {}", page.text);
    browser.sign_in("/").await;
    for environment in ["live", "test"] {
        let home = browser.get(&format!("/{environment}/")).await;
        assert!(home.text.contains("scheduled is on hold: this data folder is a copy"), "{}", home.text);
    }
    let system = browser.get("/live/settings/system").await;
    assert!(system.text.contains("Resume sending") && system.text.contains("may be sent a second time"), "{}", system.text);
    let csrf = system.csrf().to_owned();
    // Only the button resumes sending.
    let unknown = browser.post("/live/settings/system", &[("csrf", &csrf), ("act", "restart")]).await;
    assert!(unknown.status == 400 && unknown.text.contains("unknown action"), "{}", unknown.text);
    let done = browser.post("/live/settings/system", &[("csrf", &csrf), ("act", "resume")]).await;
    assert_eq!(done.status, 303, "{}", done.text);
    let system = browser.get(done.location()).await;
    assert!(system.text.contains("Sending resumed.") && !system.text.contains("Resume sending"), "{}", system.text);
    assert!(!browser.get("/live/").await.text.contains("on hold"));
}
