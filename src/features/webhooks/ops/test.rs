//! Sends a test to a webhook's endpoint and returns the endpoint's response.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::WebhookRef;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::dispatch::attempt::{self, SigningSecret};
use crate::features::webhooks::dispatch::attempt_log::{self, EndedAttempt, Rules, StartedAttempt};
use crate::features::webhooks::model::{self, AttemptOutcome};
use crate::features::webhooks::store::DeliveryWriter;
use crate::features::webhooks::{fanout, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, DeliveryId, EventId, WebhookId};
use crate::vocab::permissions::Permission;

/// The value of a test delivery's event type. It is not an event type, so that a test cannot be mistaken for an event.
const TEST_TYPE: &str = "webhook.test";

pub struct Test;

/// The result of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookTested {
    /// Whether the endpoint responded with a 2xx status in time.
    pub success: bool,
    /// The status of the endpoint's response; absent if there was no response.
    pub status_code: Option<u16>,
    /// The duration of the attempt in milliseconds.
    pub response_time: u32,
    /// Why the test failed; absent if it succeeded.
    pub error: Option<String>,
    /// The ID of the test delivery, which is listed among the webhook's other deliveries.
    pub delivery_id: DeliveryId,
    pub event_id: EventId,
}

impl Operation for Test {
    const SPEC: Spec = Spec::post("webhooks.test", "/v1/webhooks/{webhookId}/test", needs(Permission::WebhookWrite))
        .summary("Send a test event")
        .about(
            "Makes one attempt, signed like any other attempt, with the header X-Service-Test and the type webhook.test. This also \
             works for disabled or paused webhooks. The response contains the endpoint's response. The call itself succeeds \
             even if the test fails.",
        )
        .fails(&[Code::NotFound]);
    type Input = WebhookRef;
    type Output = Done<WebhookTested>;

    fn example() -> (Value, Self::Output) {
        let tested = WebhookTested {
            success: true,
            status_code: Some(200),
            response_time: 84,
            error: None,
            delivery_id: DeliveryId::parse("66f1a2b3000000057a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            event_id: EventId::parse("66f1a2b3000000067a1b2c3d").expect("the ID has 24 hexadecimal characters"),
        };
        (json!({ "webhookId": "66f1a2b3000000017a1b2c3d" }), Done(tested))
    }
}

impl Async for Test {
    async fn run(context: Context, input: WebhookRef) -> Result<Self::Output, Failure> {
        let (engine, account) = (context.engine.clone(), context.caller.account());
        let started = context.write(&Self::SPEC, move |tx| begin(tx, account, input.webhook_id)).await?;
        let (end, verdict) = attempt::make(&engine, &started, SigningSecret::Newest).await;
        let delivery = started.delivery;
        let tested = WebhookTested {
            success: verdict == AttemptOutcome::Success,
            status_code: end.status_code,
            response_time: end.duration_ms,
            error: end.error.clone(),
            delivery_id: delivery.id,
            event_id: delivery.event,
        };
        let rules = Rules::new(&engine.settings.webhooks, engine.started_at);
        let ended = [EndedAttempt { key: (account, delivery.webhook), delivery: delivery.id, end, verdict }];
        context.data().store.write(move |tx| attempt_log::settle(tx, &ended, &rules)).await??;
        Ok(Done(tested))
    }
}

fn begin(tx: &mut WriteTx<'_>, account: AccountId, id: WebhookId) -> Result<StartedAttempt, Failure> {
    let webhook = require(tx, account, id)?;
    let now = tx.now();
    let event = EventId::make(now, tx.random());
    let body = fanout::test_body(event, TEST_TYPE, &webhook, now);
    let mut delivery = model::Delivery::new(DeliveryId::make(now, tx.random()), &webhook, event, TEST_TYPE, now);
    delivery.test_body = Some(body.clone());
    let number = delivery.begin(now).expect("a new delivery has attempts left");
    let mut writer = DeliveryWriter::open(tx);
    writer.put(None, &delivery)?;
    writer.close();
    Ok(StartedAttempt { webhook, delivery, number, body: body.into() })
}
