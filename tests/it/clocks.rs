//! The machine's clock jumps forward and back while a campaign is sent, scheduled, waits for quota or for local times: every recipient gets
//! one message, and none waits for a time set by a wrong clock.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::campaigns::{Stage, act, becomes, in_ms, kept, logs, settings, stats};
use super::delivery::{CONNECTIONS, Report, audience, campaign, email, statuses, taken, until, with_relay};
use super::support::client::Call;
use super::support::mail_sink::{MailSink, SinkAction, SinkCapabilities, SmtpStage};
use super::support::{Client, Server, operation};

const HOUR_MS: i64 = 60 * 60 * 1_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const RECIPIENTS: usize = 400;
const PER_SECOND: u32 = 150;
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
/// A recipient whose server defers once, while the clock is days ahead.
const LATER: &str = "<r150@example.com>";

/// A relay that defers one recipient once.
fn relay() -> MailSink {
    let mut put_off = false;
    MailSink::at("127.0.0.1:0".parse().expect("an address"), SinkCapabilities::default(), false, move |talk, now| {
        if now == SmtpStage::Recipient && talk.recipient.starts_with(LATER) && !put_off {
            put_off = true;
            return SinkAction::Say("451 4.2.0 Later".to_owned());
        }
        SinkAction::Usual
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_jump_during_a_campaign_loses_and_repeats_no_one() {
    let sink = relay();
    let slower = with_relay(&sink).replace("recipients_per_second = 1_000_000", &format!("recipients_per_second = {PER_SECOND}"));
    let mut server = Server::stopped(&slower);
    let Some(faults) = server.faults() else { return };
    server.serve();
    let client = server.client("live", "all");
    let project = audience(&client, RECIPIENTS).await;
    let conversation = email(&client, &project).await;
    let id = campaign(&client, &project, &conversation, "Jumps").await;
    let mut jumps = Vec::new();
    for (least, days) in [(20, -3), (70, 1), (110, 400), (250, 0)] {
        until(async || sink.count() >= least).await;
        faults.clock_off_by_ms(days * DAY_MS);
        jumps.push(format!("{days:+} days after {least} messages"));
    }
    until(async || sink.count() >= RECIPIENTS - 1).await;
    // The message was deferred while the clock was more than a year ahead. Now the clock is correct again.
    let soon = DAY_MS * 2;
    until(async || {
        let waiting = logs(&client, &id, Some("deferred")).await;
        let [row] = waiting.as_slice() else { return false };
        let next: jiff::Timestamp = row["next_attempt_at"].as_str().expect("a time").parse().expect("a time");
        let now: jiff::Timestamp = in_ms(0).parse().expect("a time");
        next.as_millisecond() - now.as_millisecond() < soon
    })
    .await;
    faults.clock_off_by_ms(HOUR_MS);
    becomes(&client, &id, "sent").await;
    let mut report = Report::default();
    report.add(&statuses(&client, &id).await, &taken(&sink, 0));
    println!("the clock jumps: {}", jumps.join(", "));
    report.print();
    report.hold(CONNECTIONS);
    assert_eq!((report.sent, report.unknown), (RECIPIENTS as u64, 0));
}

/// Returns how many messages each recipient has received.
async fn copies(client: &Client) -> BTreeMap<String, u64> {
    let mut copies = BTreeMap::new();
    let mut offset = 0;
    loop {
        let page = client.data("sending.inbox_list", json!({ "limit": 100, "offset": offset })).await;
        let messages = page["messages"].as_array().expect("a list");
        for message in messages {
            *copies.entry(message["to"].to_string()).or_default() += 1;
        }
        offset += messages.len();
        if messages.is_empty() {
            return copies;
        }
    }
}

async fn schedule(client: &Client, id: &str, at: String) {
    let scheduled = client.data("campaigns.schedule", json!({ "id": id, "scheduledAt": at })).await;
    assert_eq!(scheduled["status"], "scheduled", "{scheduled}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduled_campaign_starts_once_however_the_clock_jumps() {
    let mut server = Server::stopped(&settings(1_000));
    let Some(faults) = server.faults() else { return };
    server.serve();
    let key = server.key("test", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 6).await;

    // A clock jump makes the campaign due, and another jump makes it not due again.
    let jumped = stage.campaign(&client).await;
    schedule(&client, &jumped, in_ms(HOUR_MS)).await;
    faults.clock_off_by_ms(2 * HOUR_MS);
    becomes(&client, &jumped, "sent").await;
    faults.clock_off_by_ms(0);

    // The clock goes back to before the start time; later, the start time comes.
    let late = stage.campaign(&client).await;
    schedule(&client, &late, in_ms(8_000)).await;
    faults.clock_off_by_ms(-HOUR_MS);
    tokio::time::sleep(Duration::from_millis(9_500)).await;
    assert_eq!(act(&client, "get", &late).await["status"], "scheduled", "on its clock it is an hour early");
    faults.clock_off_by_ms(0);
    becomes(&client, &late, "sent").await;

    // Repeat the test with a kill in between.
    let killed = stage.campaign(&client).await;
    schedule(&client, &killed, in_ms(HOUR_MS)).await;
    server.kill();
    faults.clock_off_by_ms(2 * HOUR_MS);
    server.serve();
    client = Client::new(server.address(), Some(key.clone()));
    becomes(&client, &killed, "sent").await;
    server.kill();
    faults.clock_off_by_ms(0);
    server.serve();
    client = Client::new(server.address(), Some(key));
    for id in [&jumped, &late, &killed] {
        assert_eq!(act(&client, "get", id).await["status"], "sent");
    }
    let copies = copies(&client).await;
    println!("3 campaigns to 6 readers, scheduled, the clock jumping: {copies:?}");
    assert!(copies.len() == 6 && copies.values().all(|copies| *copies == 3), "{copies:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recipients_who_wait_for_local_time_survive_a_kill_and_get_it_on_time() {
    let mut server = Server::stopped(&settings(1_000));
    let Some(faults) = server.faults() else { return };
    server.serve();
    let key = server.key("test", "all");
    let mut client = Client::new(server.address(), Some(key.clone()));
    let stage = Stage::new(&client).await;
    let somewhere = |name: &str, zone: &str| {
        let fields = json!({ "timezone": zone });
        json!({ "email": format!("{name}@example.com"), "firstName": name, "customFields": fields })
    };
    let contacts = [("tokyo", "Asia/Tokyo"), ("london", "UTC"), ("newyork", "Etc/GMT+5"), ("honolulu", "Pacific/Honolulu")];
    stage.contacts(&client, contacts.into_iter().map(|(name, zone)| somewhere(name, zone)).collect()).await;
    let id = stage.campaign(&client).await;
    let input = json!({ "id": id, "scheduledAt": in_ms(2_500), "timezoneMode": "recipient" });
    client.data("campaigns.schedule", input).await;
    let delivered = async |client: &Client| logs(client, &id, Some("delivered")).await.len();
    let waiting = async |client: &Client| -> Vec<Value> {
        let rows = logs(client, &id, Some("deferred")).await;
        rows.iter().map(|row| json!([row["to_email"], row["next_attempt_at"]])).collect()
    };
    until(async || delivered(&client).await == 2).await;
    let before = waiting(&client).await;
    assert_eq!(before.len(), 2, "New York and Honolulu wait: {before:?}");
    for (hours, there) in [(0, 2), (6, 3), (11, 4)] {
        server.kill();
        faults.clock_off_by_ms(hours * HOUR_MS);
        server.serve();
        client = Client::new(server.address(), Some(key.clone()));
        until(async || delivered(&client).await == there).await;
        let left = waiting(&client).await;
        assert_eq!(left, before[there - 2..], "who is left waits for the same time as before");
        println!("killed, and {hours} h later: {there} have it, {left:?} wait");
    }
    let sent = becomes(&client, &id, "sent").await;
    assert_eq!(kept(&client, &sent["batchId"]).await, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mail_held_by_a_quota_continues_the_next_day_or_when_there_is_room() {
    let few = settings(1_000).replace("daily_emails = 1_000_000", "daily_emails = 5");
    let mut server = Server::stopped(&few);
    let Some(faults) = server.faults() else { return };
    server.serve();
    let key = server.key("test", "all");
    let client = Client::new(server.address(), Some(key.clone()));
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 14).await;
    // Start at noon, so that the test does not reach the end of a day by accident.
    let now: jiff::Timestamp = in_ms(0).parse().expect("a time");
    let noon = DAY_MS / 2 - now.as_millisecond().rem_euclid(DAY_MS) + DAY_MS;
    faults.clock_off_by_ms(noon);
    let id = stage.campaign(&client).await;
    act(&client, "send", &id).await;
    becomes(&client, &id, "throttled").await;
    assert_eq!(stats(&client, &id).await["totalSent"], 5);
    faults.clock_off_by_ms(noon + DAY_MS);
    until(async || stats(&client, &id).await["totalSent"] == 10).await;
    becomes(&client, &id, "throttled").await;
    // A larger plan applies from the next start, even to waiting mailings.
    server.set(&settings(1_000));
    server.kill();
    server.serve();
    let client = Client::new(server.address(), Some(key));
    let sent = becomes(&client, &id, "sent").await;
    let copies = copies(&client).await;
    println!("5 a day: 5 on the first day, 10 by the second, all of 14 with a larger plan");
    assert_eq!((kept(&client, &sent["batchId"]).await, copies.len()), (14, 14), "{copies:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_sent_by_a_wrong_clock_still_record_opens_by_people() {
    let mut server = Server::stopped(&settings(1_000));
    let Some(faults) = server.faults() else { return };
    server.serve();
    let client = server.all();
    let stage = Stage::new(&client).await;
    stage.crowd(&client, 1).await;
    let id = stage.campaign(&client).await;
    faults.clock_off_by_ms(DAY_MS);
    act(&client, "send", &id).await;
    let sent = becomes(&client, &id, "sent").await;
    faults.clock_off_by_ms(0);
    let inbox = client.data("sending.inbox_list", json!({ "sendId": sent["batchId"] })).await;
    let message = client.data("sending.inbox_get", json!({ "id": inbox["messages"][0]["id"] })).await;
    let html = message["html"].as_str().expect("HTML");
    let pixel = html.split_once("/t/o/").and_then(|(_, rest)| rest.split_once(".gif")).expect("a pixel").0;
    let call = Call::new(operation("tracking.open"), json!({ "token": format!("{pixel}.gif") })).header("user-agent", BROWSER);
    assert_eq!(client.with_key(None).try_send(call).await.expect("it answers").status, 200);
    until(async || stats(&client, &id).await["uniqueOpens"] == 1).await;
    println!("sent a day ahead, opened by a person: {}", stats(&client, &id).await["uniqueOpens"]);
}
