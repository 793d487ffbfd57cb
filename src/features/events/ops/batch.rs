//! Records many customer events.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::api::{BodySize, Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::FieldError;
use crate::features::events::ingest::{self, IngestError, IngestOutcome};
use crate::features::events::input::EventRow;
use crate::features::events::views::{EventRowResult, InvalidEventRow};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EventId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Batch;

/// The events to record in one project.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventBatch {
    /// The project to record the events in.
    pub project_id: ProjectId,
    /// 1 to 500 events, each in the same form as when recording a single event, but without projectId. An invalid event is reported
    /// in the response and does not affect the other events.
    pub events: Rows,
}

/// The rows of the batch, each either parsed or with its own error.
pub struct Rows(Vec<Result<EventRow, FieldError>>);

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor)
    }
}

struct RowsVisitor;

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = Rows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Rows, A::Error> {
        let max = limits::EVENTS_PER_BATCH_MAX;
        let mut rows = Vec::new();
        while let Some(row) = items.next_element::<Box<RawValue>>()? {
            if rows.len() == max {
                return Err(A::Error::custom(format_args!(
                    "a batch can have at most {max} events; send the remaining events in another batch"
                )));
            }
            rows.push(EventRow::read(row.get()));
        }
        if rows.is_empty() {
            return Err(A::Error::custom("send at least one event"));
        }
        Ok(Rows(rows))
    }
}

impl JsonSchema for Rows {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EventRows".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let row = generator.subschema_for::<EventRow>();
        json_schema!({ "type": "array", "minItems": 1, "maxItems": limits::EVENTS_PER_BATCH_MAX, "items": row })
    }
}

/// The result of recording a batch of events.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEvents {
    /// The number of rows that were stored.
    pub accepted: usize,
    /// The number of rows that were skipped because their dedupeKey was already stored.
    pub duplicates: usize,
    /// One result for each row, in the same order as in the request.
    pub results: Vec<EventRowResult>,
    /// The rows that were rejected.
    pub invalid: Vec<InvalidEventRow>,
}

impl RecordedEvents {
    fn take(&mut self, outcome: &IngestOutcome, key: Option<String>) {
        match outcome {
            IngestOutcome::Stored(_) => self.accepted += 1,
            IngestOutcome::Duplicate(_) => self.duplicates += 1,
        }
        self.results.push(EventRowResult::of(outcome, key));
    }

    fn refuse(&mut self, refusal: FieldError) {
        let index = self.results.len();
        self.results.push(EventRowResult::default());
        self.invalid.push(InvalidEventRow { index, error: refusal.reason, field: refusal.field.into_owned() });
    }
}

impl Operation for Batch {
    const SPEC: Spec = Spec::post("events.batch", "/v1/events/batch", needs(Permission::AudienceWrite)).client("events.record_batch")
        .summary("Record up to 500 customer events")
        .about(
            "Events are processed in order, each like a single event. Set a dedupeKey on each event, so that repeating a batch stores no \
             event twice. Idempotency-Key is not supported.",
        )
        .body(BodySize::Bulk)
        .replay(Replay::Refused("Idempotency-Key is not supported for batches. Set a dedupeKey on each event instead."))
        .fails(&[Code::NotFound]);
    type Input = EventBatch;
    type Output = Done<RecordedEvents>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b",
            "events": [
                {
                    "name": "purchase.completed",
                    "identifiers": { "email": "ada@example.com", "externalOrderId": "order-1001" },
                    "properties": { "value": 49.9, "currency": "EUR" },
                    "dedupeKey": "order-1001:paid",
                },
                { "name": "cart.abandoned", "identifiers": { "email": "grace@example" } },
            ],
        });
        let mut result = RecordedEvents::default();
        let event_id = EventId::parse("66f1a2b300000007a1b2c3d4").expect("the sample ID is valid");
        result.take(&IngestOutcome::Stored(event_id), Some("order-1001:paid".into()));
        let reason = "The domain after the @ has no dot; enter it in full, like example.com.";
        result.refuse(FieldError::new("identifiers.email", reason));
        (input, Done(result))
    }
}

impl Command for Batch {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: EventBatch) -> Result<Self::Output, Failure> {
        projects::require(tx, caller.account(), input.project_id)?;
        let mut result = RecordedEvents::default();
        ingest::ingest(tx, input.project_id, input.events.0, |outcome| {
            match outcome {
                Ok((outcome, key)) => result.take(&outcome, key),
                Err(IngestError::Field(refusal) | IngestError::NoContact(refusal)) => result.refuse(refusal),
                Err(IngestError::Store(error)) => return Err(error.into()),
            }
            Ok(())
        })?;
        Ok(Done(result))
    }
}
