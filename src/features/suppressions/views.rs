//! A row of the suppression list as callers see it.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Reason, Source, Suppression};
use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;

/// An address that is not mailed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuppressionView {
    /// The address in small letters; absent if all that was known of its owner was erased.
    pub email: Option<String>,
    pub reason: Reason,
    pub source: Source,
    /// What a mail server said, or what somebody noted.
    pub note: Option<String>,
    pub created_at: WireTime,
}

impl Listed for SuppressionView {
    const PLURAL: &'static str = "suppressions";
    const ARRAY_WHEN_PAGED: bool = false;
}

impl From<Suppression> for SuppressionView {
    fn from(row: Suppression) -> Self {
        let Suppression { reason, source, email, note, created_at } = row;
        Self { email, reason, source, note, created_at: WireTime(created_at) }
    }
}

impl SuppressionView {
    /// An example for the documents.
    pub fn sample() -> Self {
        Self {
            email: Some("ada@example.com".into()),
            reason: Reason::Manual,
            source: Source::Api,
            note: Some("Asked us by telephone".into()),
            created_at: WireTime::sample(),
        }
    }
}
