//! Sending domains: their signing keys, the DNS records that prove ownership, and the checks of those records.
//!
//! A domain is verified once the DNS has one of its DKIM keys: only the domain's owner can publish it. All other records improve delivery
//! and are recommended. A worker repeats the check: often while a domain is pending, daily afterwards.
//!
//! Invariant: a private key is on disk only sealed for its own domain and selector, and never in a response.

mod create;
mod dns_check;
mod dns_rules;
mod doctor_check;
mod installation;
mod model;
pub mod ops;
mod records;
mod reissue_keys;
mod sender;
mod store;
#[cfg(test)]
mod tests;
mod utm;
mod views;

pub use dns_check::step as check;
pub use doctor_check::{DomainReport, check_all};
pub use model::{KeyKind, Stream, Tracking};
pub use reissue_keys::{reissue, sealed};
pub use sender::{SendingDomain, SigningKey, for_sender, public_keys, usual_utm};
pub use utm::Utm;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;

/// Returns the account's domain with this name, or `NotFound`.
fn find(tx: &impl Read, account: AccountId, name: &str) -> Result<model::Domain, Failure> {
    let absent = || Failure::because(Code::NotFound, "No sending domain has this name; GET /v1/domains lists them.");
    store::find(tx, account, name)?.ok_or_else(absent)
}
