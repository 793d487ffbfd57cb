//! The event types that webhooks can subscribe to.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A webhook event type. The numbers on disk follow the order of declaration, so add new types at the end.
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
    EmailDelivered,
    EmailOpened,
    EmailClicked,
    EmailBounced,
    EmailComplained,
}

/// The first opt-in event type. This type and those after it are frequent, so a webhook receives them only if it lists them.
const FIRST_OPT_IN: WebhookEvent = WebhookEvent::EmailDelivered;

/// All event types in the order of declaration, with the name in the API and a description of when the event is emitted.
#[rustfmt::skip]
const TABLE: [(WebhookEvent, &str, &str); 14] = [
    (WebhookEvent::EmailGenerationStarted,   "email.generation.started",   "Email generation started."),
    (WebhookEvent::EmailGenerationCompleted, "email.generation.completed", "Email generation completed."),
    (WebhookEvent::EmailGenerationFailed,    "email.generation.failed",    "Email generation failed."),
    (WebhookEvent::EmailTestSent,            "email.test.sent",            "A test email was sent through the API."),
    (WebhookEvent::ProjectImportStarted,     "project.import.started",     "A brand import started."),
    (WebhookEvent::SubscriberAdded,          "subscriber.added",           "A contact was created."),
    (WebhookEvent::SubscriberUpdated,        "subscriber.updated",         "A contact was updated."),
    (WebhookEvent::SubscriberUnsubscribed,   "subscriber.unsubscribed",    "A contact unsubscribed or was deleted."),
    (WebhookEvent::SubscriberBulkImported,   "subscriber.bulk_imported",   "A bulk import of contacts completed."),
    (WebhookEvent::EmailDelivered,           "email.delivered",            "A recipient's mail server accepted an email."),
    (WebhookEvent::EmailOpened,              "email.opened",               "A recipient opened an email for the first time."),
    (WebhookEvent::EmailClicked,             "email.clicked",              "A recipient clicked a link in an email."),
    (WebhookEvent::EmailBounced,             "email.bounced",              "An email was rejected or bounced."),
    (WebhookEvent::EmailComplained,          "email.complained",           "A recipient reported an email as spam."),
];

/// Event names that older clients use, but for which no events are sent. Webhooks may list these names.
const DROPPED: [&str; 7] = [
    "project.import.processing",
    "project.import.completed",
    "project.import.failed",
    "export.completed",
    "export.failed",
    "api_key.created",
    "api_key.revoked",
];

impl WebhookEvent {
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::EmailGenerationStarted; TABLE.len()];
        let mut index = 0;
        while index < TABLE.len() {
            all[index] = TABLE[index].0;
            index += 1;
        }
        all
    };

    /// Returns the event type's name in the API, like `subscriber.added`.
    pub const fn word(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns a sentence that describes when the event is emitted.
    pub const fn description(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// Returns whether the event is sent only to webhooks that list it.
    pub const fn is_opt_in(self) -> bool {
        self as u8 >= FIRST_OPT_IN as u8
    }
}

/// The error for text that is not the name of an event type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebhookEventError;

impl fmt::Display for WebhookEventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unknown event type; GET /v1/webhooks/events lists the event types.")
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
        crate::base::serde_str::deserialize(deserializer, "an event type, like subscriber.added")
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

/// An entry in the event list of a webhook: an event type, or a name that older clients use and for which no events are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subscription(&'static str);

impl Subscription {
    /// Returns the entry's name in the API.
    pub const fn word(self) -> &'static str {
        self.0
    }

    /// Returns the event type; `None` for a name for which no events are sent.
    pub fn kind(self) -> Option<WebhookEvent> {
        self.0.parse().ok()
    }

    fn words() -> impl Iterator<Item = &'static str> {
        WebhookEvent::ALL.into_iter().map(WebhookEvent::word).chain(DROPPED)
    }
}

impl From<WebhookEvent> for Subscription {
    fn from(kind: WebhookEvent) -> Self {
        Self(kind.word())
    }
}

impl FromStr for Subscription {
    type Err = WebhookEventError;

    fn from_str(given: &str) -> Result<Self, WebhookEventError> {
        Self::words().find(|word| *word == given).map(Self).ok_or(WebhookEventError)
    }
}

impl Serialize for Subscription {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Subscription {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::base::serde_str::deserialize(deserializer, "an event type, like subscriber.added")
    }
}

impl JsonSchema for Subscription {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Subscription".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Subscription::words().collect::<Vec<_>>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_declaration() {
        for (index, event) in WebhookEvent::ALL.into_iter().enumerate() {
            assert_eq!(event as usize, index, "{event}");
            assert_eq!(event.word().parse(), Ok(event));
            assert_eq!(serde_json::to_value(event).expect("an event type can be written as JSON"), event.word());
            assert!(event.description().ends_with('.'));
        }
        assert_eq!("subscriber.deleted".parse::<WebhookEvent>(), Err(WebhookEventError));
        assert_eq!(
            WebhookEvent::ALL.into_iter().filter(|event| !event.is_opt_in()).count(),
            9,
            "there are nine default event types"
        );
    }

    #[test]
    fn webhooks_can_subscribe_to_names_without_events() {
        assert_eq!("api_key.revoked".parse::<Subscription>().map(Subscription::kind), Ok(None));
        let kind = "email.opened".parse::<Subscription>().map(Subscription::kind);
        assert_eq!(kind, Ok(Some(WebhookEvent::EmailOpened)));
        assert_eq!("subscriber.deleted".parse::<Subscription>(), Err(WebhookEventError));
    }
}
