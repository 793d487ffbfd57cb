//! Redelivers events from a time range, in bounded steps. Each step stores its progress, so the work resumes after a crash.

use super::fanout;
use super::model::{DeliveryStatus, Redelivery};
use super::store::{self, DeliveryWriter, WebhookKey};
use crate::engine::api::{Engine, Failure};
use crate::engine::outbox;
use crate::engine::store::{Result, WriteTx};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// Advances every active redelivery. Returns true if more work may be possible immediately.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    // While sending is on hold, no delivery is attempted, so redeliveries would only fill the queue.
    if engine.hold.is_on() {
        return Ok(false);
    }
    let store = &engine.data(environment).store;
    let (mut after, mut more) = (None, false);
    while let Some((key, _)) = store::next_redelivery(&store.read(), after)? {
        more |= store.write(move |tx| proceed(tx, key)).await??;
        after = Some(key);
    }
    Ok(more)
}

fn proceed(tx: &mut WriteTx<'_>, key: WebhookKey) -> Result<bool> {
    let under_way = store::redelivery(tx, key)?.filter(|redelivery| redelivery.completed_at.is_none());
    let Some(mut redelivery) = under_way else { return Ok(false) };
    let Some(webhook) = store::find(tx, key.0, key.1)? else { return Ok(false) };
    let now = tx.now();
    // Redeliveries fill at most half of the queue, so that the other half remains free for new events.
    let room = (limits::WEBHOOK_PENDING_MAX / 2).saturating_sub(store::state(tx, key)?.kept(DeliveryStatus::Pending));
    let limit = limits::WEBHOOK_EVENTS_PER_STEP.min(usize::try_from(room).unwrap_or(usize::MAX));
    if limit == 0 && webhook.active {
        return Ok(false);
    }
    let events = outbox::between(tx, (redelivery.from, redelivery.to), redelivery.after, limit)?;
    let wanted = |redelivery: &Redelivery, event: &outbox::Event| {
        event.account == webhook.account
            && webhook.wants(event.kind)
            && !event.is_erased()
            && (redelivery.from..=redelivery.to).contains(&event.created_at)
    };
    let mut writer = DeliveryWriter::open(tx);
    for (id, event) in &events {
        redelivery.after = Some(*id);
        if !wanted(&redelivery, event) {
            continue;
        }
        let known = store::deliveries_of(writer.tx, webhook.id, *id)?;
        let is_open = known.iter().any(|delivery| delivery.status == DeliveryStatus::Pending);
        let has_arrived = known.iter().any(|delivery| delivery.status == DeliveryStatus::Success);
        if !is_open && (redelivery.all || !has_arrived) && fanout::repeat(&mut writer, &webhook, (*id, event), &known)?.is_some()
        {
            redelivery.queued += 1;
        }
    }
    writer.close();
    let more = events.len() == limit && webhook.active;
    if !more {
        redelivery.completed_at = Some(now);
    }
    store::save_redelivery(tx, key, &redelivery);
    Ok(more)
}
