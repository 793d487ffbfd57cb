//! Webhooks: signed requests that report events to other systems (`assets/docs/webhooks.md`).
//!
//! The path of an event: a feature writes the event to the outbox, in the same transaction as its cause. `fanout` creates a delivery for
//! each webhook that subscribes to the event. `dispatch` makes up to three attempts for each delivery. Every step is stored before the next
//! one starts, so the work resumes after a crash, and no fourth attempt is made.
//!
//! This feature depends on other features only through their events, and no feature that emits events depends on this feature.

pub mod dispatch;
mod fanout;
mod headers;
pub mod model;
pub mod ops;
mod redelivery;
mod signature;
mod store;
#[cfg(test)]
mod tests;
mod validate;
pub mod views;
pub mod worker;

pub use store::ROW_CHECKS;
pub use store::{sealed, sweep};

use self::dispatch::attempt_log::retry_backoff;
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{self as rows, Read};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, WebhookId};
use crate::vocab::limits;
use crate::vocab::settings::Settings;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MINUTE_MS: i64 = 60 * 1000;

/// Returns the account's webhook with this ID. Fails with `NotFound` if it does not exist.
fn require(tx: &impl Read, account: AccountId, id: WebhookId) -> Result<model::Webhook, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no webhook with this ID.")
            .see("webhooks.list", "GET /v1/webhooks lists the webhooks")
    };
    store::find(tx, account, id)?.ok_or_else(absent)
}

/// Returns up to `limit` webhooks that have pending deliveries, from all accounts: the account, the ID, the URL, and the number of pending
/// deliveries. At most `limit` deliveries of each webhook are counted.
pub fn pending(tx: &impl Read, limit: usize) -> rows::Result<Vec<(AccountId, String, String, u64)>> {
    let mut pending = Vec::new();
    for ((account, id), _) in store::lanes(tx, None, limit)? {
        let deliveries = store::due(tx, (account, id), (Timestamp(i64::MIN), Timestamp(i64::MAX - 1)), limit)?.len() as u64;
        let url = store::find(tx, account, id)?.map(|found| found.url);
        pending.push((account, id.to_string(), url.unwrap_or_default(), deliveries));
    }
    Ok(pending)
}

/// Deletes a limited number of rows of deleted webhooks. Returns true if there may be more.
pub async fn clear(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if !store::is_untidy(&store.read())? {
        return Ok(false);
    }
    Ok(store.write(|tx| store::clear(tx, limits::SWEEP_ROWS)).await??)
}

/// The durations that determine which deliveries are deleted or rescheduled.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    /// How long deliveries are kept after they end.
    pub kept_ms: i64,
    /// A duration that is longer than any pause before an attempt. A due time that is further in the future was stored while the clock was
    /// wrong.
    pub due_within_ms: i64,
}

impl Upkeep {
    pub fn new(settings: &Settings) -> Self {
        let webhooks = &settings.webhooks;
        let kept_days = i64::try_from(webhooks.deliveries_kept_days.get()).unwrap_or(i64::MAX / DAY_MS);
        Self { kept_ms: kept_days * DAY_MS, due_within_ms: retry_backoff(webhooks).longest_ms() + MINUTE_MS }
    }
}
