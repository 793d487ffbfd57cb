//! Storefront: stores on other platforms that are connected to projects (`assets/docs/storefront.md`).
//!
//! A store's products become products of the brand, its customers and their consent become contacts, and its orders become customer events.
//!
//! - `sync` imports in steps that can be repeated: it subscribes to the webhooks, then reads the products and the customers. It runs after
//!   a store is connected, once a day, on request, and soon after a change that a webhook reports without details.
//! - `incoming` receives the store's webhooks: it checks the signature, and `apply` stores the effects in one transaction. The response is
//!   sent after the commit.
//! - `privacy` handles the platform's requests to export and erase data, which also arrive after a store is disconnected.
//! - `platform` has an adapter for each platform; `client` sends all requests to stores.
//!
//! Invariants: a webhook without a valid signature changes no products, contacts or events; a delayed webhook does not overwrite newer data
//! of a product or customer; an import from a store does not subscribe a contact who unsubscribed; keys are stored sealed, and no response,
//! log line or audit row contains them.

mod address;
mod apply;
mod client;
mod connecting;
mod customers;
mod incoming;
pub mod install;
mod keys;
mod model;
mod new_contacts;
pub mod ops;
mod platform;
mod privacy;
mod store;
mod sync;
#[cfg(test)]
mod tests;
pub mod views;
pub mod worker;

#[cfg(any(test, fuzzing))]
pub use client::read_response;
pub use platform::scopes;
#[cfg(any(test, fuzzing))]
pub use platform::{read_bodies, read_export};
pub use store::ROW_CHECKS;
pub use store::sealed;

use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{self as rows, Read};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, StoreId};

/// Returns up to `limit` connected stores of all accounts, each with its account, ID, and name.
pub fn connected(tx: &impl Read, limit: usize) -> rows::Result<Vec<(AccountId, String, String)>> {
    let mut connected = Vec::new();
    for (account, id) in store::due(tx, Timestamp(i64::MAX), limit)? {
        let found = store::find(tx, account, id)?.filter(|found| found.disconnected_at.is_none());
        connected.extend(found.map(|found| (account, id.to_string(), found.name)));
    }
    Ok(connected)
}

fn require(tx: &impl Read, account: AccountId, id: StoreId) -> Result<model::Store, Failure> {
    store::find(tx, account, id)?.filter(|found| found.disconnected_at.is_none()).ok_or_else(|| {
        Failure::because(Code::NotFound, "The account has no connected store with this ID.")
            .in_field("serverId")
            .see("storefront.list", "GET /v1/storefront/stores lists the connected stores")
    })
}

/// Returns the URL of the page on which users connect stores.
fn connect_url(engine: &Engine, environment: Environment) -> String {
    format!("{}/{environment}/settings/stores", engine.base_url())
}
