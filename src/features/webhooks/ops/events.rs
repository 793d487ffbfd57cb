//! List what webhooks can be told of.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, NoInput, Operation, Query, Spec, View, needs};
use crate::vocab::permissions::Permission;
use crate::vocab::webhook_events::WebhookEvent;

/// `webhooks.events`
pub struct Events;

/// What webhooks can be told of.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EventTypes {
    pub events: Vec<EventType>,
    pub total: usize,
}

/// A kind of event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventType {
    /// Its name, as `events` of a webhook takes it.
    #[serde(rename = "type")]
    pub kind: WebhookEvent,
    /// When it is emitted.
    pub description: &'static str,
    /// Whether it is emitted only where a webhook asks for it: engagement comes in numbers.
    pub opt_in: bool,
}

impl Operation for Events {
    const SPEC: Spec = Spec::get("webhooks.events", "/v1/webhooks/events", needs(Permission::WebhookRead))
        .summary("List event types")
        .about("All types that a webhook can ask for.");
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
    fn lists_the_nine_default_events_first_and_marks_the_opt_in_events() {
        let list = TestApp::new().get("/v1/webhooks/events").data();
        let events = list["events"].as_array().expect("a list");
        assert_eq!(list["total"], events.len());
        let marks: Vec<bool> = events.iter().map(|event| event["optIn"] == true).collect();
        assert_eq!(marks, [[false; 9].as_slice(), &[true; 5]].concat());
        assert_eq!(events[5]["type"], "subscriber.added");
    }
}
