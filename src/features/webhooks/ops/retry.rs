//! Redelivers one event.

use serde_json::{Value, json};

use super::delivery::{DeliveryRef, find};
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::model::DeliveryStatus;
use crate::features::webhooks::store::{self, DeliveryWriter};
use crate::features::webhooks::views::{DeliveryView, delivery_view};
use crate::features::webhooks::{fanout, model};
use crate::vocab::codes::Code;
use crate::vocab::ids::DeliveryId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Retry;

impl Operation for Retry {
    const SPEC: Spec = Spec::post(
        "webhooks.retry",
        "/v1/webhooks/{webhookId}/deliveries/{deliveryId}/retry",
        needs(Permission::WebhookWrite),
    )
    .client("webhooks.deliveries.retry")
    .summary("Redeliver an event")
    .about(
        "Creates a new delivery of the same event, with up to three new attempts and the same event ID and body. Events are kept \
                 for seven days. Fails while a delivery of the event is pending.",
    )
    .replay(Replay::Keyed)
    .fails(&[Code::NotFound, Code::WrongState, Code::OnHold, Code::LimitReached]);
    type Input = DeliveryRef;
    type Output = Created<DeliveryView>;

    fn example() -> (Value, Self::Output) {
        let first = DeliveryView::sample();
        let made = DeliveryView {
            id: DeliveryId::parse("66f1a2b3000000047a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            status: DeliveryStatus::Pending,
            attempts: 0,
            last_attempt_at: None,
            next_attempt_at: Some(first.created_at),
            response: None,
            redelivery_of: Some(first.id),
            attempt_log: Vec::new(),
            completed_at: None,
            ..DeliveryView::sample()
        };
        (json!({ "webhookId": "66f1a2b3000000017a1b2c3d", "deliveryId": first.id }), Created(made))
    }
}

impl Command for Retry {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: DeliveryRef) -> Result<Self::Output, Failure> {
        let (webhook, delivery) = find(tx, caller.account(), &input)?;
        if caller.engine.hold.is_on() {
            return Err(Code::OnHold.into());
        }
        let refuse = |detail: &'static str, status: DeliveryStatus| {
            Failure::because(Code::WrongState, detail).with(json!({ "status": status }))
        };
        if delivery.is_test() {
            let failure = refuse("Test deliveries cannot be redelivered.", delivery.status);
            return Err(failure.see("webhooks.test", "POST /v1/webhooks/{webhookId}/test sends another test"));
        }
        if !webhook.active {
            return Err(refuse("The webhook is disabled; enable the webhook first.", delivery.status));
        }
        let known = store::deliveries_of(tx, webhook.id, delivery.event)?;
        if let Some(pending) = known.iter().find(|known| known.status == DeliveryStatus::Pending) {
            return Err(refuse("A delivery of this event is already pending; wait until it ends.", pending.status));
        }
        let Some(event) = fanout::event_of(tx, &delivery)? else {
            return Err(refuse("The event cannot be redelivered because it expired or was erased.", delivery.status));
        };
        let mut writer = DeliveryWriter::open(tx);
        let made = fanout::repeat(&mut writer, &webhook, (delivery.event, &event), &known)?;
        writer.close();
        let made = made.ok_or_else(|| {
            let detail = format!("An event can be redelivered at most {} times.", limits::WEBHOOK_REPEATS_MAX);
            Failure::because(Code::LimitReached, detail)
        })?;
        let made: Option<model::Delivery> = store::delivery(tx, webhook.id, made)?;
        let made = made.ok_or_else(|| Failure::internal("a delivery that was just created is missing; report this bug"))?;
        Ok(Created(delivery_view(&made)))
    }
}
