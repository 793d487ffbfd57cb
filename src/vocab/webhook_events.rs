//! What other systems can be told about.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A kind of event that webhooks can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WebhookEvent {
    EmailGenerationStarted,
    EmailGenerationCompleted,
    EmailGenerationFailed,
    EmailTestSent,
    ProjectImportStarted,
    SubscriberAdded,
    SubscriberUpdated,
    SubscriberUnsubscribed,
    SubscriberBulkImported,
}

/// All kinds in the order of their declaration: the word on the wire, and when it is emitted.
#[rustfmt::skip]
const TABLE: [(WebhookEvent, &str, &str); 9] = [
    (WebhookEvent::EmailGenerationStarted,   "email.generation.started",   "Generation of emails has started."),
    (WebhookEvent::EmailGenerationCompleted, "email.generation.completed", "Generation of emails has completed."),
    (WebhookEvent::EmailGenerationFailed,    "email.generation.failed",    "Generation of emails has failed."),
    (WebhookEvent::EmailTestSent,            "email.test.sent",            "A test email was sent through the API."),
    (WebhookEvent::ProjectImportStarted,     "project.import.started",     "The import of a project has started."),
    (WebhookEvent::SubscriberAdded,          "subscriber.added",           "A contact was created."),
    (WebhookEvent::SubscriberUpdated,        "subscriber.updated",         "A contact was updated."),
    (WebhookEvent::SubscriberUnsubscribed,   "subscriber.unsubscribed",    "A contact unsubscribed or was deleted."),
    (WebhookEvent::SubscriberBulkImported,   "subscriber.bulk_imported",   "A bulk import of contacts has completed."),
];

impl WebhookEvent {
    /// All kinds, in the order of the interface's table.
    pub const ALL: [Self; 9] = {
        let mut all = [Self::EmailGenerationStarted; 9];
        let mut index = 0;
        while index < TABLE.len() {
            all[index] = TABLE[index].0;
            index += 1;
        }
        all
    };

    /// The word on the wire, like `subscriber.added`.
    pub const fn word(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// When it is emitted, as one sentence.
    pub const fn description(self) -> &'static str {
        TABLE[self as usize].2
    }
}

/// The text is not the word of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookEventError;

impl fmt::Display for WebhookEventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("There is no such event type; GET /v1/webhooks/events lists them.")
    }
}

impl std::error::Error for WebhookEventError {}

impl FromStr for WebhookEvent {
    type Err = WebhookEventError;

    fn from_str(given: &str) -> Result<Self, WebhookEventError> {
        Self::ALL.into_iter().find(|event| event.word() == given).ok_or(WebhookEventError)
    }
}

impl fmt::Display for WebhookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for WebhookEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for WebhookEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::base::parsed::deserialize(deserializer, "an event type as text, like subscriber.added")
    }
}

impl JsonSchema for WebhookEvent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "WebhookEvent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": WebhookEvent::ALL.map(WebhookEvent::word) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_declaration() {
        for (index, event) in WebhookEvent::ALL.into_iter().enumerate() {
            assert_eq!(event as usize, index, "{event}");
            assert_eq!(event.word().parse(), Ok(event));
            assert_eq!(serde_json::to_value(event).expect("text"), event.word());
            assert!(event.description().ends_with('.'));
        }
        assert_eq!("subscriber.deleted".parse::<WebhookEvent>(), Err(WebhookEventError));
    }
}
