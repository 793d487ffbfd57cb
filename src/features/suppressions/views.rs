//! A row of the suppression list as the API returns it.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Reason, Source, Suppression};
use crate::engine::api::Listed;
use crate::engine::api::response::WireTime;

/// A suppressed address.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuppressionView {
    /// The address in lowercase; absent if the recipient's data was erased.
    pub email: Option<String>,
    pub reason: Reason,
    pub source: Source,
    /// The mail server's reply, or a note written by a user.
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
    /// Returns an example for the documentation.
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
