//! The results of recording events, as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::ingest::IngestOutcome;
use crate::vocab::ids::EventId;

/// The result of recording one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEvent {
    /// Whether this request stored the event.
    pub stored: bool,
    /// The ID of the stored event: of this event or, for a duplicate, of the earlier event with the same key.
    pub event_id: EventId,
    pub dedupe_key: Option<String>,
    /// True if an event with this key was already stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub duplicate: bool,
    /// Warnings about the amount of the event: the amount is not a number, or an order has no currency.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub notes: Vec<&'static str>,
}

impl RecordedEvent {
    /// Returns the result for an event that was recorded outside a batch.
    pub fn of(outcome: &IngestOutcome, dedupe_key: Option<String>) -> Self {
        let notes = Vec::new();
        match outcome {
            IngestOutcome::Stored(event_id) => Self { stored: true, event_id: *event_id, dedupe_key, duplicate: false, notes },
            IngestOutcome::Duplicate(first) => Self { stored: false, event_id: *first, dedupe_key, duplicate: true, notes },
        }
    }
}

/// The result for one row of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRowResult {
    pub stored: bool,
    /// The ID of the event; present if the row was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    /// The row's dedupeKey; present if the row was stored and has a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// True if the row was skipped because an event with its key was already stored, from an earlier row of this batch or from an earlier
    /// request.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub duplicate: bool,
}

impl EventRowResult {
    /// Returns the result for a row without errors.
    pub fn of(outcome: &IngestOutcome, dedupe_key: Option<String>) -> Self {
        match outcome {
            IngestOutcome::Stored(event_id) => Self { stored: true, event_id: Some(*event_id), dedupe_key, duplicate: false },
            IngestOutcome::Duplicate(_) => Self { duplicate: true, ..Self::default() },
        }
    }
}

/// A rejected row and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvalidEventRow {
    /// The position of the row in the request, starting at 0.
    pub index: usize,
    /// What is invalid and what was expected.
    pub error: String,
    /// The name of the invalid field, such as `identifiers.email`; empty if the whole row is invalid.
    pub field: String,
}
