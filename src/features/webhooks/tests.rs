//! Tests webhook deliveries in one process, from the event to the end of the last attempt: which rows are stored, and which are
//! deleted.

mod emitting;

use std::sync::Arc;

use serde_json::{Value, json};

use super::dispatch::attempt_log::{self, EndedAttempt, Rules, StartedAttempt};
use super::model::{AttemptOutcome, Delivery, DeliveryStatus, End};
use super::store::DeliveryWriter;
use super::{Upkeep, store};
use crate::base::clock::Timestamp;
use crate::engine::outbox;
use crate::engine::store::Result;
use crate::engine::store::key::Key;
use crate::testing::TestApp;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{DeliveryId, WebhookId};
use crate::vocab::limits;
use crate::vocab::tables;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

struct World {
    app: TestApp,
    hook: WebhookId,
}

impl World {
    fn new() -> Self {
        let app = TestApp::new();
        let hook = hook(&app, json!({ "url": "https://a.example/", "events": ["subscriber.added"] }));
        Self { app, hook }
    }

    /// Sweeps up to ten rows, with the retention period `kept_ms`. Returns whether there may be more.
    fn sweep(&self, kept_ms: i64) -> bool {
        let upkeep = Upkeep { kept_ms, ..Upkeep::new(&self.app.engine().settings) };
        self.write(move |tx| super::sweep(tx, upkeep, 10))
    }

    /// Creates a contact, and the deliveries for its event.
    fn contact(&self, email: &str) -> Value {
        let made = self.app.post_in("/v1/contacts", json!({ "email": email })).data();
        self.fan_out();
        made
    }

    fn fan_out(&self) {
        while self.app.wait(super::fanout::step(self.app.engine(), Environment::Test)).expect("the step succeeds") {}
    }

    fn write<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut crate::engine::store::WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.app.data().store.write_blocking(act).expect("the store works").expect("the write succeeds")
    }

    /// Starts the due attempts as if the service had just restarted.
    fn begin_restarted(&self) -> Vec<StartedAttempt> {
        let now = self.app.engine().clock.now();
        let key = (self.app.account(), self.hook);
        let due = store::due(&self.app.read(), key, (Timestamp(0), now), 99).expect("the data is readable");
        let rules = Rules { started_at: now, ..*self.rules() };
        self.write(move |tx| attempt_log::begin(tx, &due, &rules))
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::new(Rules::new(&self.app.engine().settings.webhooks, self.app.engine().started_at))
    }

    fn begin(&self) -> Vec<StartedAttempt> {
        let now = self.app.engine().clock.now();
        let key = (self.app.account(), self.hook);
        let due = store::due(&self.app.read(), key, (Timestamp(0), now), 99).expect("the data is readable");
        let rules = self.rules();
        self.write(move |tx| attempt_log::begin(tx, &due, &rules))
    }

    fn settle(&self, delivery: DeliveryId, verdict: AttemptOutcome) {
        let end = End {
            at: self.app.engine().clock.now(),
            duration_ms: 5,
            status_code: Some(200),
            response: "canary".into(),
            error: None,
        };
        let ended = [EndedAttempt { key: (self.app.account(), self.hook), delivery, end, verdict }];
        let rules = self.rules();
        self.write(move |tx| attempt_log::settle(tx, &ended, &rules));
    }

    fn deliveries(&self) -> Vec<Delivery> {
        store::deliveries(&self.app.read(), self.hook, None, 0, 99).expect("the data is readable")
    }

    fn state(&self) -> super::model::EndpointState {
        store::state(&self.app.read(), (self.app.account(), self.hook)).expect("the data is readable")
    }
}

fn hook(app: &TestApp, body: Value) -> WebhookId {
    let made = app.post("/v1/webhooks", body).data();
    made["id"].as_str().and_then(WebhookId::parse).expect("the value is an ID")
}

// Regression: the fan-out failed repeatedly at a damaged event, and no later event was delivered.
#[test]
fn a_damaged_event_does_not_block_later_events() {
    let world = World::new();
    world.app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
    let damaged = outbox::queued(&world.app.read(), 2).expect("the data is readable")[0];
    world.write(move |tx| {
        tx.put_bytes(tables::OUTBOX, damaged.to_bytes(), vec![0xFF]);
        Ok(())
    });
    world.app.clock.advance_ms(1_000);
    world.contact("grace@example.com");
    let deliveries = world.deliveries();
    assert!(deliveries.len() == 1 && deliveries[0].event != damaged, "{deliveries:?}");
    assert!(outbox::queued(&world.app.read(), 1).expect("the data is readable").is_empty());
    let range = (Timestamp(0), world.app.engine().clock.now());
    let kept = outbox::between(&world.app.read(), range, None, 99).expect("the damaged event is skipped");
    assert!(kept.iter().any(|(id, _)| *id == deliveries[0].event), "{kept:?}");
}

#[test]
fn an_event_is_delivered_once_to_each_active_webhook_that_subscribes() {
    let world = World::new();
    let other = hook(&world.app, json!({ "url": "https://b.example/", "events": ["email.test.sent"] }));
    let off = hook(&world.app, json!({ "url": "https://c.example/", "events": ["subscriber.added"], "active": false }));
    world.contact("ada@example.com");
    world.fan_out();
    assert_eq!((world.deliveries().len(), world.state().kept(DeliveryStatus::Pending)), (1, 1));
    for hook in [other, off] {
        assert!(store::deliveries(&world.app.read(), hook, None, 0, 9).expect("the data is readable").is_empty());
    }
}

#[test]
fn a_service_that_keeps_crashing_uses_up_one_attempt() {
    let world = World::new();
    world.contact("ada@example.com");
    assert_eq!(world.begin_restarted().len(), 1, "the first attempt starts immediately");
    world.app.clock.advance_ms(limits::WEBHOOK_ATTEMPT_LOST_MS);
    assert!(world.begin_restarted().is_empty(), "the interruption of the attempt is recorded");
    for _ in 0..20 {
        world.app.clock.advance_ms(60_000);
        assert!(world.begin_restarted().is_empty());
    }
    assert_eq!(world.deliveries()[0].attempts.len(), 1);
    world.app.clock.advance_ms(limits::WEBHOOK_STEADY_MS);
    assert_eq!(world.begin().len(), 1, "this attempt has run for longer than its limit");
}

#[test]
fn a_started_delivery_is_not_started_again_until_its_attempt_is_lost() {
    let world = World::new();
    world.contact("ada@example.com");
    let started = world.begin();
    assert_eq!((started.len(), started[0].number), (1, 1));
    assert!(world.begin().is_empty());
    world.app.clock.advance_ms(limits::WEBHOOK_ATTEMPT_LOST_MS);
    assert!(world.begin().is_empty(), "the attempt counts as made, and the next attempt comes after a pause");
    assert_eq!(world.deliveries()[0].attempts.len(), 1);
    world.app.clock.advance_ms(10_000);
    assert_eq!(world.begin()[0].number, 2);
    world.settle(started[0].delivery.id, AttemptOutcome::Success);
    let state = world.state();
    assert_eq!((state.successes, state.kept(DeliveryStatus::Success), state.kept(DeliveryStatus::Pending)), (1, 1, 0));
    assert!(store::lanes(&world.app.read(), None, 9).expect("the data is readable").is_empty(), "no more deliveries are due");
}

#[test]
fn deliveries_of_a_disabled_webhook_are_canceled_and_erased_events_are_not_delivered() {
    let world = World::new();
    let path = format!("/v1/webhooks/{}", world.hook);
    world.contact("ada@example.com");
    world.app.patch(&path, json!({ "active": false })).data();
    assert!(world.begin().is_empty());
    assert_eq!(world.deliveries()[0].status, DeliveryStatus::Cancelled);

    world.app.patch(&path, json!({ "active": true })).data();
    let contact = world.contact("bob@example.com");
    let started = world.begin().remove(0);
    world.app.delete_in(&format!("/v1/contacts/{}", contact["id"].as_str().expect("the value is an ID"))).data();
    while world
        .app
        .wait(crate::features::tracking::erase(world.app.engine(), Environment::Test))
        .expect("the erasure step succeeds")
    {}
    world.fan_out();
    world.settle(started.delivery.id, AttemptOutcome::Success);
    let kept = store::delivery(&world.app.read(), world.hook, started.delivery.id)
        .expect("the data is readable")
        .expect("the record is kept");
    assert_eq!(
        (kept.status, kept.attempts[0].end.as_ref().map(|end| end.response.as_str())),
        (DeliveryStatus::Cancelled, Some(""))
    );
}

#[test]
fn expired_deliveries_are_deleted_and_leave_the_lists_and_the_counts() {
    let world = World::new();
    let upkeep = Upkeep::new(&world.app.engine().settings);
    let path = format!("/v1/webhooks/{}", world.hook);
    let total = |query: &str| world.app.get(&format!("{path}/deliveries?limit=1{query}")).data()["total"].clone();
    for (number, verdict) in [(0, AttemptOutcome::Success), (1, AttemptOutcome::Gone), (2, AttemptOutcome::Success)] {
        world.contact(&format!("r{number}@example.com"));
        let started = world.begin().remove(0);
        world.settle(started.delivery.id, verdict);
        world.write(move |tx| store::forgive(tx, (started.delivery.account, started.delivery.webhook)));
        world.app.clock.advance_ms(DAY_MS);
    }
    assert_eq!([total(""), total("&status=success"), total("&status=failed")], [3, 2, 1]);
    // A delivery's ID contains its time only to the second, so the oldest delivery is deleted a second after its retention period ends.
    world.app.clock.advance_ms(upkeep.kept_ms - 3 * DAY_MS);
    assert!(!world.write(move |tx| super::sweep(tx, upkeep, 10)));
    assert_eq!(total(""), 3, "the oldest event is exactly as old as the retention");
    world.app.clock.advance_ms(1_000);
    assert!(!world.write(move |tx| super::sweep(tx, upkeep, 10)));
    assert_eq!([total(""), total("&status=success"), total("&status=failed")], [2, 1, 1]);
    world.app.clock.advance_ms(2 * DAY_MS);
    assert!(world.write(move |tx| super::sweep(tx, upkeep, 1)), "a step that reaches its limit returns that there may be more");
    assert_eq!(total(""), 1);
    assert!(world.write(move |tx| super::sweep(tx, upkeep, 1)));
    assert!(!world.write(move |tx| super::sweep(tx, upkeep, 1)));
    assert_eq!((total(""), world.state().kept_total(), world.deliveries().len()), (json!(0), 0, 0));
    let view = world.app.get(&path).data();
    assert_eq!((&view["successCount"], &view["failureCount"]), (&json!(2), &json!(1)), "past results stay in the statistics");
}

#[test]
fn the_oldest_of_many_deliveries_are_listed_too() {
    let world = World::new();
    world.contact("ada@example.com");
    world.fan_out();
    let first = world.deliveries().remove(0);
    let now = world.app.engine().clock.now();
    let many = limits::WEBHOOK_DELIVERIES_SCANNED_MAX;
    world.write(move |tx| {
        let ids: Vec<_> = (0..many).map(|_| DeliveryId::make(now.plus_ms(10_000), tx.random())).collect();
        let mut writer = DeliveryWriter::open(tx);
        for id in ids {
            writer.put(None, &Delivery { id, ..first.clone() })?;
        }
        writer.close();
        Ok(())
    });
    let page = |offset: usize| world.app.get(&format!("/v1/webhooks/{}/deliveries?limit=2&offset={offset}", world.hook)).data();
    let oldest = page(many - 1);
    assert_eq!((&oldest["total"], oldest["deliveries"].as_array().map(Vec::len)), (&json!(many + 1), Some(2)));
    assert_eq!(page(many)["deliveries"][0], oldest["deliveries"][1]);
    assert_eq!(page(many + 1)["deliveries"], json!([]));
}

#[test]
fn a_delivery_that_waits_longer_than_its_event_is_kept_fails_visibly() {
    let world = World::new();
    world.contact("ada@example.com");
    world.app.clock.advance_ms(limits::OUTBOX_KEPT_MS);
    assert!(!world.sweep(DAY_MS));
    assert_eq!(
        world.state().kept(DeliveryStatus::Pending),
        1,
        "the event can still be delivered, and is not deleted before the delivery has ended"
    );
    world.app.clock.advance_ms(1_000);
    assert!(!world.sweep(DAY_MS));
    let delivery = world.deliveries().remove(0);
    assert_eq!((delivery.status, delivery.note.as_deref()), (DeliveryStatus::Failed, Some(store::FORGOTTEN)));
    let state = world.state();
    assert_eq!((state.failures, state.kept(DeliveryStatus::Failed), state.kept(DeliveryStatus::Pending)), (1, 1, 0));
    assert!(store::lanes(&world.app.read(), None, 9).expect("the data is readable").is_empty(), "no more deliveries are due");
    world.app.clock.advance_ms(DAY_MS + 1_000);
    assert!(!world.sweep(DAY_MS));
    assert!(world.deliveries().is_empty());
}

#[test]
fn a_temporarily_wrong_clock_delays_nothing() {
    // The clock is fast by ten years, by a day, or by an hour, as with a wrong time zone.
    for wrong_ms in [3_650 * DAY_MS, DAY_MS, DAY_MS / 24] {
        let world = World::new();
        world.app.clock.advance_ms(wrong_ms);
        world.contact("ada@example.com");
        let started = world.begin().remove(0);
        world.settle(started.delivery.id, AttemptOutcome::Gone);
        world.contact("bob@example.com");
        assert!(world.state().health.is_paused(world.app.engine().clock.now()));
        world.app.clock.advance_ms(-wrong_ms);
        assert!(!world.state().health.is_paused(world.app.engine().clock.now()));
        assert!(world.begin().is_empty(), "the delivery is due when the clock reaches the due time again");
        assert!(!world.sweep(5 * DAY_MS));
        assert_eq!(world.begin().len(), 1);
    }
}

#[test]
fn rows_of_a_deleted_webhook_are_deleted() {
    let world = World::new();
    world.contact("ada@example.com");
    let started = world.begin().remove(0);
    world.contact("bob@example.com");
    world.app.delete(&format!("/v1/webhooks/{}", world.hook)).data();
    world.settle(started.delivery.id, AttemptOutcome::Success);
    while world.app.wait(super::clear(world.app.engine(), Environment::Test)).expect("the deletion step succeeds") {}
    assert!(world.deliveries().is_empty());
    assert_eq!(world.state(), Default::default(), "an attempt in flight leaves no data either");
    assert!(store::lanes(&world.app.read(), None, 9).expect("the data is readable").is_empty());
}

#[test]
fn days_beyond_the_statistics_are_deleted() {
    let world = World::new();
    for _ in 0..limits::WEBHOOK_STATS_DAYS + 3 {
        let now = world.app.engine().clock.now();
        world.contact(&format!("r{}@example.com", now.0));
        let started = world.begin().remove(0);
        world.settle(started.delivery.id, AttemptOutcome::Success);
        world.app.clock.advance_ms(DAY_MS);
    }
    let now = world.app.engine().clock.now();
    let days =
        store::days(&world.app.read(), world.app.account(), now, 10 * limits::WEBHOOK_STATS_DAYS).expect("the data is readable");
    assert_eq!(days.len(), limits::WEBHOOK_STATS_DAYS as usize);
}

#[test]
fn a_redelivery_sends_missed_events_but_not_those_that_arrived() {
    let world = World::new();
    let path = format!("/v1/webhooks/{}", world.hook);
    world.contact("ada@example.com");
    let started = world.begin().remove(0);
    world.settle(started.delivery.id, AttemptOutcome::Success);
    world.app.patch(&path, json!({ "active": false })).data();
    world.contact("bob@example.com");
    world.app.patch(&path, json!({ "active": true })).data();
    world.app.clock.advance_ms(5_000);
    let redeliver = |body: Value| world.app.post(&format!("{path}/redeliver"), body);
    let from = "2026-01-01T00:00:00Z";
    assert_eq!(redeliver(json!({ "from": from })).data()["status"], "processing");
    assert_eq!(redeliver(json!({ "from": from })).refusal().1, "WRONG_STATE", "only one redelivery runs at a time");
    while world.app.wait(super::redelivery::step(world.app.engine(), Environment::Test)).expect("the redelivery step succeeds") {}
    let done = world.app.get(&path).data()["redelivery"].clone();
    assert_eq!((&done["status"], &done["queued"]), (&json!("completed"), &json!(1)));
    for started in world.begin() {
        world.settle(started.delivery.id, AttemptOutcome::Success);
    }
    redeliver(json!({ "from": from, "all": true })).data();
    while world.app.wait(super::redelivery::step(world.app.engine(), Environment::Test)).expect("the redelivery step succeeds") {}
    assert_eq!(world.app.get(&path).data()["redelivery"]["queued"], 2);
    assert_eq!(world.deliveries().len(), 4);
    for (range, field) in [
        (json!({ "from": "2025-12-01" }), "from: "),
        (json!({ "from": "2026-01-01T00:00:09Z" }), "from: "),
        (json!({ "from": from, "to": "2025-12-31T23:59:59Z" }), "to: "),
    ] {
        assert!(redeliver(range.clone()).refusal().2.starts_with(field), "{range}");
    }
}
