//! Webhooks: signed requests that report events to other systems (`assets/docs/webhooks.md`).
//!
//! The way of an event: a feature writes it into the outbox, in the transaction of its cause. `fanout` makes a delivery of it for each
//! webhook that asks for it. `dispatch` makes up to three attempts of each delivery. Every step is in the store before the next
//! begins, so that nothing is lost and nothing attempted a fourth time, whenever the process ends.
//!
//! It knows other features by their events alone, and none that makes events knows it.

pub mod dispatch;
mod fanout;
mod headers;
mod model;
pub mod ops;
mod redelivery;
mod signature;
mod store;
#[cfg(test)]
mod tests;
mod validate;
mod views;
pub mod worker;

pub use store::{sealed, sweep};

use self::dispatch::attempt_log::retry_backoff;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, WebhookId};
use crate::vocab::limits;
use crate::vocab::settings::Settings;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MINUTE_MS: i64 = 60 * 1000;

/// The account's webhook with this id, or the failure that says there is none.
fn require(tx: &impl Read, account: AccountId, id: WebhookId) -> Result<model::Webhook, Failure> {
    let absent = || Failure::because(Code::NotFound, "There is no webhook with this id; GET /v1/webhooks lists them.");
    store::find(tx, account, id)?.ok_or_else(absent)
}

/// Clear away a little of what deleted webhooks have left; true if there may be more.
pub async fn clear(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    if !store::is_untidy(&store.read())? {
        return Ok(false);
    }
    Ok(store.write(|tx| store::clear(tx, limits::SWEEP_ROWS)).await??)
}

/// By which times deliveries are swept.
#[derive(Clone, Copy, Debug)]
pub struct Upkeep {
    /// For how long they are kept after their end.
    pub kept_ms: i64,
    /// Longer than any pause before an attempt: what is due later was made so by a clock that went wrong.
    pub due_within_ms: i64,
}

impl Upkeep {
    /// Those of the settings.
    pub fn new(settings: &Settings) -> Self {
        let webhooks = &settings.webhooks;
        let kept_days = i64::try_from(webhooks.deliveries_kept_days.get()).unwrap_or(i64::MAX / DAY_MS);
        Self { kept_ms: kept_days * DAY_MS, due_within_ms: retry_backoff(webhooks).longest_ms() + MINUTE_MS }
    }
}
