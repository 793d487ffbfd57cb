//! The results of events, as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::ingest::IngestOutcome;
use crate::vocab::ids::EventId;

/// The result for one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEvent {
    /// Whether it was stored by this request.
    pub stored: bool,
    /// The event with this key: this one, or the one that was already stored.
    pub event_id: EventId,
    pub dedupe_key: Option<String>,
    /// True if an event with this key was already stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub duplicate: bool,
}

impl RecordedEvent {
    /// Returns the result for a single event.
    pub fn of(outcome: &IngestOutcome, dedupe_key: Option<String>) -> Self {
        match outcome {
            IngestOutcome::Stored(event_id) => Self { stored: true, event_id: *event_id, dedupe_key, duplicate: false },
            IngestOutcome::Duplicate(first) => Self { stored: false, event_id: *first, dedupe_key, duplicate: true },
        }
    }
}

/// The result for one row of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRowResult {
    pub stored: bool,
    /// Present if the row was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    /// Present if the row was stored and has a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// True if the row was skipped because its key was already stored, by an earlier row of this batch or before.
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

/// Why a row was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvalidEventRow {
    /// Its position in the request, from 0.
    pub index: usize,
    /// What is wrong and what was expected.
    pub error: String,
    /// The invalid field, like `identifiers.email`; empty if the whole row is invalid.
    pub field: String,
}
