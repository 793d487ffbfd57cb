//! Records a customer event.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::profile::ContactProfile;
use crate::features::customer_events::EventName;
use crate::features::events::ingest::{self, IngestOutcome};
use crate::features::events::input::{DedupeKey, EventIdentifiers, EventRow};
use crate::features::events::properties::Properties;
use crate::features::events::views::RecordedEvent;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EventId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct Record;

/// The event to record in a project.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordEvent {
    /// The project to record the event in.
    pub project_id: ProjectId,
    /// The event name, such as `purchase.completed`. If the name contains `refund`, `cancelled` or `canceled`, in uppercase or lowercase,
    /// the amount is treated as negative.
    pub name: EventName,
    pub identifiers: EventIdentifiers,
    /// Current data about the contact, in the same form as when updating a contact. Never changes the contact's status.
    pub profile: Option<ContactProfile>,
    /// The event's properties: at most 16 KB of JSON, 50 top-level properties, and 4 levels of objects and lists. The property `value` is
    /// an amount in major units, and `currency` is the ISO 4217 code of its currency. The default currency is USD.
    pub properties: Option<Properties>,
    /// When the event occurred: at most 90 days ago, and at most 5 minutes ahead of the service's clock. The default is the current time. A
    /// time without an offset is in UTC.
    pub occurred_at: Option<WireTime>,
    /// A key that identifies the event. A project stores only the first event with a given key, until that event is deleted.
    pub dedupe_key: Option<DedupeKey>,
}

impl Operation for Record {
    const SPEC: Spec = Spec::post("events.record", "/v1/events", needs(Permission::AudienceWrite))
        .summary("Record a customer event")
        .about(
            "The service stores the event with its contact for 90 days. An event with externalOrderId and a number in properties.value is \
                a conversion: it counts once per order, for the email that the contact last clicked in the five days before \
                occurredAt. The amount of an event whose name contains refund, cancelled or canceled is a refund and is \
             subtracted in full: from the email that its order is credited to or, if the service knows no payment with its \
             externalOrderId, from the email of the contact's last credited order. A refund may arrive before its order. Two equal \
                refunds with the same occurredAt count once, unless each has its own dedupeKey. Events never change whether a contact \
                may be mailed. If an event adds a contact or changes a profile, no webhook event is emitted.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = RecordEvent;
    type Output = Done<RecordedEvent>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "name": "purchase.completed",
            "identifiers": { "email": "ada@example.com", "externalOrderId": "order-1001" },
            "profile": { "firstName": "Ada", "customFields": { "plan": "pro" } },
            "properties": { "value": 49.9, "currency": "EUR", "items": ["tea", "cups"] },
            "dedupeKey": "order-1001:paid",
        });
        let event_id = EventId::parse("66f1a2b300000007a1b2c3d4").expect("the sample ID is valid");
        (input, Done(RecordedEvent::of(&IngestOutcome::Stored(event_id), Some("order-1001:paid".into()))))
    }
}

impl Command for Record {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: RecordEvent) -> Result<Self::Output, Failure> {
        let RecordEvent { project_id, name, identifiers, profile, properties, occurred_at, dedupe_key } = input;
        projects::require(tx, caller.account(), project_id)?;
        let notes = notes(identifiers.external_order_id.is_some(), properties.as_ref());
        let event = EventRow { name, identifiers, profile, properties, occurred_at, dedupe_key };
        let mut recorded = None;
        ingest::ingest(tx, project_id, vec![Ok(event)], |outcome| {
            let (outcome, key) = outcome?;
            recorded = Some(RecordedEvent { notes: notes.clone(), ..RecordedEvent::of(&outcome, key) });
            Ok(())
        })?;
        Ok(Done(recorded.expect("each event has one outcome")))
    }
}

/// Returns warnings about the amount of an event. The event is stored anyway, because properties can contain arbitrary JSON.
fn notes(is_order: bool, properties: Option<&Properties>) -> Vec<&'static str> {
    let Some(properties) = properties else { return Vec::new() };
    match (&properties.value, &properties.currency) {
        (None, _) if properties.has_other_value => {
            vec!["properties.value is not a number, so no revenue was recorded. Send a number, such as 49.90."]
        }
        (Some(_), None) if is_order => vec!["properties.currency is missing, so the amount is treated as USD."],
        _ => Vec::new(),
    }
}
