//! Redelivers events from a time range.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::model::Redelivery;
use crate::features::webhooks::views::{RedeliveryView, redelivery_view};
use crate::features::webhooks::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Redeliver;

/// The webhook, the time range, and whether to include events that have already arrived.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedeliverRange {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
    /// The start of the range: at most seven days ago, because events are kept for seven days.
    pub from: WireTime,
    /// The end of the range. If absent, the current time.
    pub to: Option<WireTime>,
    /// Whether to include events that have already arrived. The default is false.
    pub all: Option<bool>,
}

impl Operation for Redeliver {
    const SPEC: Spec = Spec::post("webhooks.redeliver", "/v1/webhooks/{webhookId}/redeliver", needs(Permission::WebhookWrite))
        .summary("Redeliver events from a time range")
        .about(
            "Creates a new delivery for each event in the range that the webhook subscribes to, unless the event has arrived or has a \
             pending delivery. With `all`, events that have arrived are also redelivered. Events that occurred while the webhook was \
             disabled are included. Opt-in events are stored only while a webhook subscribes to them. The work runs in the background; the \
             webhook's redelivery shows its progress. A webhook can have only one redelivery at a time.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState, Code::OnHold]);
    type Input = RedeliverRange;
    type Output = Done<RedeliveryView>;

    fn example() -> (Value, Self::Output) {
        let (from, to) = (WireTime::sample(), WireTime(WireTime::sample().0.plus_ms(3_600_000)));
        let view = RedeliveryView { status: "processing", from, to, queued: 0, started_at: to, completed_at: None };
        (json!({ "webhookId": "66f1a2b3000000017a1b2c3d", "from": from, "to": to }), Done(view))
    }
}

impl Command for Redeliver {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: RedeliverRange) -> Result<Self::Output, Failure> {
        let webhook = require(tx, caller.account(), input.webhook_id)?;
        if caller.engine.hold.is_on() {
            return Err(Code::OnHold.into());
        }
        let (now, key) = (tx.now(), (webhook.account, webhook.id));
        let (from, to) = (input.from.0, input.to.map_or(now, |to| to.0).min(now));
        if from < now.plus_ms(-limits::OUTBOX_KEPT_MS) {
            return Err(Failure::field("from", "events are kept for seven days; set a later time"));
        }
        if from > now {
            return Err(Failure::field("from", "this time is in the future; set a time in the past"));
        }
        if from > to {
            return Err(Failure::field("to", "the end of the range is before its start; set a time after `from`"));
        }
        if !webhook.active {
            return Err(Failure::because(Code::WrongState, "The webhook is disabled; enable the webhook first."));
        }
        if store::redelivery(tx, key)?.is_some_and(|redelivery| redelivery.completed_at.is_none()) {
            return Err(Failure::because(Code::WrongState, "A redelivery is already running; wait until it finishes."));
        }
        let all = input.all.unwrap_or(false);
        let redelivery = Redelivery { from, to, all, after: None, queued: 0, started_at: now, completed_at: None };
        store::save_redelivery(tx, key, &redelivery);
        Ok(Done(redelivery_view(&redelivery)))
    }
}
