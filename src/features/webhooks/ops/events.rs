//! Lists the event types for webhooks.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, NoInput, Operation, Query, Spec, View, needs};
use crate::vocab::permissions::Permission;
use crate::vocab::webhook_events::WebhookEvent;

pub struct Events;

/// The event types that webhooks can subscribe to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventTypes {
    pub events: Vec<EventType>,
    pub total: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventType {
    /// The name of the event type, as used in the field `events` of a webhook.
    #[serde(rename = "type")]
    pub kind: WebhookEvent,
    /// When an event of this type is emitted.
    pub description: &'static str,
    /// Whether events of this type are emitted only if a webhook subscribes to them. This applies to engagement events, which are numerous.
    pub opt_in: bool,
}

impl Operation for Events {
    const SPEC: Spec = Spec::get("webhooks.events", "/v1/webhooks/events", needs(Permission::WebhookRead))
        .client("webhooks.event_types")
        .summary("List event types")
        .about("Lists all event types that a webhook can subscribe to.");
    type Input = NoInput;
    type Output = Counted<EventTypes>;

    fn example() -> (Value, Self::Output) {
        (json!({}), all())
    }
}

fn all() -> Counted<EventTypes> {
    let event = |kind: WebhookEvent| EventType { kind, description: kind.description(), opt_in: kind.is_opt_in() };
    let count = WebhookEvent::ALL.len();
    Counted { data: EventTypes { events: WebhookEvent::ALL.map(event).into(), total: count }, count }
}

impl Query for Events {
    fn run(_: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        Ok(all())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestApp;

    #[test]
    fn the_nine_default_events_come_first_and_opt_in_events_are_marked() {
        let list = TestApp::new().get("/v1/webhooks/events").data();
        let events = list["events"].as_array().expect("the value is a list");
        assert_eq!(list["total"], events.len());
        let marks: Vec<bool> = events.iter().map(|event| event["optIn"] == true).collect();
        assert_eq!(marks, [[false; 9].as_slice(), &[true; 5]].concat());
        assert_eq!(events[5]["type"], "subscriber.added");
    }
}
