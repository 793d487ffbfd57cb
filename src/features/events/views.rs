//! What became of events, as callers see it.

use schemars::JsonSchema;
use serde::Serialize;

use super::ingest::IngestOutcome;
use crate::vocab::ids::EventId;

/// What became of one event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEvent {
    /// Whether it was stored by this request.
    pub stored: bool,
    /// The event with this key: this one, or the one that was stored before.
    pub event_id: EventId,
    pub dedupe_key: Option<String>,
    /// True if an event with this key was stored before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub duplicate: bool,
}

impl RecordedEvent {
    /// What is told of a single event.
    pub fn of(outcome: &IngestOutcome, dedupe_key: Option<String>) -> Self {
        match outcome {
            IngestOutcome::Stored(event_id) => Self { stored: true, event_id: *event_id, dedupe_key, duplicate: false },
            IngestOutcome::Duplicate(first) => Self { stored: false, event_id: *first, dedupe_key, duplicate: true },
        }
    }
}

/// What became of one row of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventRowResult {
    pub stored: bool,
    /// If it was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    /// If it was stored and has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedupe_key: Option<String>,
    /// True if the row was skipped because its key was stored already, by an earlier row of this batch or before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub duplicate: bool,
}

impl EventRowResult {
    /// What is told of a row that was taken in.
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
    /// Its place in the request, from 0.
    pub index: usize,
    /// What is wrong and what was expected.
    pub error: String,
    /// The field at fault, like `identifiers.email`; empty if it is the whole row.
    pub field: String,
}
