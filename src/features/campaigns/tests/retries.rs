//! Tests of a campaign's status while messages to some of its recipients are deferred, and of starts that fail.

use std::time::Duration;

use tokio::runtime::Handle;

use super::*;
use crate::engine::runner;
use crate::engine::store::Error;
use crate::engine::store::key::Key;
use crate::engine::tasks::{Stage, Tasks};
use crate::features::installation::held_work;
use crate::features::sending::Counts;
use crate::vocab::tables;
use crate::workers::WORKERS;

/// Plans and sends until the counts satisfy `holds` and the mailing waits or has ended.
fn deliver(studio: &Studio, path: &str, holds: impl Fn(&Counts) -> bool) {
    let app = &studio.app;
    while app.wait(sending::plan(app.engine(), Environment::Test)).expect("planning succeeds") {}
    let batch = app.get(path).data()["batchId"].as_str().and_then(MailingId::parse).expect("the campaign has a batch ID");
    app.wait(async {
        let tasks = Tasks::new(Handle::current());
        runner::start(&tasks, app.engine(), WORKERS.iter().filter(|worker| worker.name == "sending"));
        let rests = async {
            loop {
                let tx = app.read();
                let mailing = sending::by_id(&tx, batch).expect("the store is readable").expect("the mailing exists");
                let is_waiting = matches!(mailing.state, State::Waiting { .. });
                if holds(&sending::counts(&tx, batch).expect("the store is readable")) && (is_waiting || mailing.state.is_final())
                {
                    break;
                }
                drop(tx);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), rests).await.expect("sending pauses within the timeout");
        tasks.raise(Stage::Draining);
        let joined = tasks.join(Duration::from_secs(20)).await;
        assert!(joined.panicked.is_empty() && joined.cut.is_empty(), "{joined:?}");
    });
}

#[test]
fn a_campaign_is_sent_once_every_recipient_was_tried_and_complete_when_the_last_retry_is() {
    let studio = Studio::new();
    for name in ["deferred+a", "delivered+b"] {
        studio.contact(&format!("{name}@simulator.mailmill.example"), json!({ "firstName": name }));
    }
    let path = studio.draft();
    studio.act(&path, "send").data();
    deliver(&studio, &path, |counts| counts.sent == 1 && counts.deferred == 1);
    let sent = studio.app.get(&path).data();
    assert_eq!((&sent["status"], &sent["completedAt"]), (&json!("sent"), &Value::Null), "a retry is left: {sent}");
    let stats = studio.app.get(&format!("{path}/stats")).data();
    assert_eq!((&stats["totalSent"], &stats["deferred"], &stats["queued"]), (&json!(1), &json!(1), &json!(0)), "{stats}");
    // The campaign cannot be sent a second time, and its retries can be canceled.
    let (status, code, error) = refused(studio.act(&path, "send"));
    assert!((status, code.as_str()) == (409, "WRONG_STATE") && error.contains("has already been sent"), "{error}");
    assert_eq!(studio.act(&path, "pause").data()["status"], "paused");
    studio.work();
    assert_eq!(studio.status(&path), "paused");
    studio.act(&path, "resume").data();

    studio.app.clock.advance_ms(HOUR_MS);
    deliver(&studio, &path, |counts| counts.sent == 2);
    studio.work();
    let complete = studio.app.get(&path).data();
    assert!(complete["status"] == "sent" && complete["completedAt"].is_string(), "{complete}");
    assert_eq!(studio.app.get(&format!("{path}/stats")).data()["deferred"], 0);
    assert_eq!(refused(studio.act(&path, "cancel")).0, 409, "nothing is left to stop");
}

#[test]
fn a_hold_lists_a_campaign_with_its_retries() {
    let studio = Studio::new();
    for name in ["deferred+a", "delivered+b"] {
        studio.contact(&format!("{name}@simulator.mailmill.example"), json!({ "firstName": name }));
    }
    let path = studio.draft();
    studio.act(&path, "send").data();
    deliver(&studio, &path, |counts| counts.sent == 1 && counts.deferred == 1);
    studio.app.put_on_hold();
    let hold = held_work::view(studio.app.engine(), None).expect("the stores can be read");
    let campaigns: Vec<_> = hold.campaigns.iter().map(|campaign| (campaign.recipients, campaign.retries)).collect();
    assert_eq!(campaigns, [(1, 1)]);
    let counts: Vec<_> = hold.environments.iter().map(|held| (held.campaigns, held.recipients, held.retries)).collect();
    assert_eq!(counts, [(0, 0, 0), (1, 1, 1)], "only the test environment has a retry");
}

// Regression test: on a restored copy, the dry run of a scheduled campaign did not say that the original installation might have sent the
// campaign.
#[test]
fn the_dry_run_of_a_held_campaign_says_that_it_may_be_sent_twice() {
    let studio = Studio::new();
    studio.contact("delivered@simulator.mailmill.example", json!({ "firstName": "Ada" }));
    let (held, draft) = (studio.draft(), studio.draft());
    let at = json!({ "scheduledAt": "2026-06-01T09:00:00Z" });
    studio.app.post(&format!("{held}/schedule"), at.clone()).data();
    studio.app.put_on_hold();
    let warned = |path: &str| {
        let dry_run = studio.app.get(&format!("{path}/dry-run")).data();
        dry_run["warnings"].as_array().expect("a list").iter().any(|warning| warning["code"] == "ON_HOLD")
    };
    assert!(warned(&held) && !warned(&draft));
    studio.app.post(&format!("{held}/reschedule"), at).data();
    assert!(!warned(&held), "the new start time is a decision of the user");
}

#[test]
fn canceling_a_sent_campaign_stops_its_retries() {
    let studio = Studio::new();
    studio.contact("deferred@simulator.mailmill.example", json!({ "firstName": "Ada" }));
    let path = studio.draft();
    studio.act(&path, "send").data();
    deliver(&studio, &path, |counts| counts.deferred == 1);
    assert_eq!(studio.status(&path), "sent");
    let cancelled = studio.act(&path, "cancel").data();
    assert!(cancelled["status"] == "cancelled" && cancelled["completedAt"].is_string(), "{cancelled}");
    studio.app.clock.advance_ms(HOUR_MS);
    deliver(&studio, &path, |counts| counts.open() == 0);
    let stats = studio.app.get(&format!("{path}/stats")).data();
    assert_eq!((&stats["totalSent"], &stats["deferred"], &stats["skipped"]), (&json!(0), &json!(0), &json!(1)), "{stats}");
}

/// If each recipient's time zone determines the start, a campaign whose mailing waits for deferred recipients is not `sent`, because some
/// of these recipients may not have reached their start time.
#[test]
fn a_campaign_on_recipients_own_clocks_is_not_sent_before_all_of_them_show_the_time() {
    let studio = Studio::new();
    let until = Timestamp(1_767_300_000_000);
    let (campaign, mailing) = with_mailing(&studio, State::Waiting { reason: WaitReason::Deferred, until });
    let local = sending::LocalTime { wall: until, zone: "Europe/Berlin".into() };
    let next = sync::synced(&campaign, &Mailing { local: Some(local), ..mailing }).unwrap_or(campaign);
    assert_eq!(next.status.word(), "sending");
}

/// Regression test: the worker stopped at the first campaign with an error, and started no campaign that was due later.
#[test]
fn a_damaged_campaign_does_not_keep_others_from_starting() {
    let studio = Studio::new();
    let (damaged, sound) = (studio.made(|_| {}), studio.draft());
    for (path, at) in [(path(&damaged), "2026-01-01T09:00Z"), (sound.clone(), "2026-01-01T10:00Z")] {
        studio.app.post(&format!("{path}/schedule"), json!({ "scheduledAt": at })).data();
    }
    let id = CampaignId::parse(damaged["id"].as_str().expect("the field is a string")).expect("the ID is valid");
    let account = studio.app.account();
    let damage = move |tx: &mut WriteTx<'_>| {
        tx.put_bytes(tables::CAMPAIGNS, (account, id).to_bytes(), vec![0xFF]);
        Ok::<_, Error>(())
    };
    studio.app.data().store.write_blocking(damage).expect("the store can be written").expect("the write succeeds");
    studio.app.clock.advance_ms(24 * HOUR_MS);
    let worked = studio.app.wait(worker::step(studio.app.engine().clone(), Environment::Test));
    assert!(worked.is_err(), "the damage is reported");
    assert_eq!(studio.status(&sound), "sending");
}
