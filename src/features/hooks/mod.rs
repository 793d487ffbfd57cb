//! Incoming webhooks: URLs to which other systems (Zapier, Make, n8n, forms) send contacts and customer events as JSON or as a form
//! (`assets/docs/incoming-webhooks.md`).
//!
//! The secret in the URL selects the webhook. `mapping` takes the values of the webhook's fields from the body; `intake` stores a contact or
//! an event by the same rules as the API, and records a delivery with the verdict. The response is sent after the commit.
//!
//! Invariants: a body never resubscribes a contact who unsubscribed or bounced; and a delivery contains no values of the body, only IDs and
//! names of fields.

mod input;
mod intake;
mod mapping;
mod model;
pub mod ops;
mod store;
#[cfg(test)]
mod tests;
pub mod views;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, HookId};

/// Returns the account's incoming webhook with this ID, or `NotFound`.
fn require(tx: &impl Read, account: AccountId, id: HookId) -> Result<model::Hook, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no incoming webhook with this ID.")
            .see("hooks.list", "GET /v1/incoming-webhooks lists the incoming webhooks")
    };
    store::find(tx, account, id)?.ok_or_else(absent)
}
