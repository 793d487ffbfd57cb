//! Incoming webhooks: URLs to which other systems (Zapier, Make, n8n, forms) send contacts and customer events as JSON or as a form
//! (`assets/docs/incoming-webhooks.md`).
//!
//! The secret in the URL selects the webhook. `signature` checks signed requests. `mapping` extracts the values of the webhook's fields
//! from the body. `receiving` stores a contact or an event by the same rules as the API and records a delivery with the outcome. The
//! response is sent after the commit.
//!
//! Invariants: a body never resubscribes a contact who unsubscribed, bounced or is suppressed; a delivery may contain the name of a field
//! and a reason, but no text from the body; the secret in the URL is stored only as a hash; and the secret for signatures is stored only in
//! sealed form.

mod input;
mod mapping;
pub mod model;
pub mod ops;
mod receiving;
mod signature;
mod store;
#[cfg(test)]
mod tests;
pub mod views;

#[cfg(any(test, fuzzing))]
pub use mapping::read_bodies;
pub use mapping::{event, event_fields_pattern, is_event_field, no_event_field};
pub use store::ROW_CHECKS;
pub use store::sealed;

use crate::engine::access::url_token::UrlToken;
use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, HookId, kinds};

/// The token in the URL of an incoming webhook.
type Token = UrlToken<kinds::Hook>;

/// Returns the account's incoming webhook with this ID, or `NotFound`.
fn require(tx: &impl Read, account: AccountId, id: HookId) -> Result<model::Hook, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no incoming webhook with this ID.")
            .see("hooks.list", "GET /v1/incoming-webhooks lists the incoming webhooks")
    };
    store::find(tx, account, id)?.ok_or_else(absent)
}
