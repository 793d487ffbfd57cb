//! Sending domains: the keys that sign for them, the DNS records that prove them, and whether they are there.
//!
//! A domain is verified as soon as the DNS has one of its DKIM keys: only who controls the domain can put it there. Everything else
//! makes mail better and is recommended. A worker looks again: often while a domain waits, daily afterwards.
//!
//! Invariant: a private key is on disk only sealed for its own domain and selector, and in no answer at all.

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
pub mod worker;

pub use doctor_check::{DomainReport, check_all};
pub use model::{KeyKind, Stream};
pub use reissue_keys::{reissue, sealed};
pub use sender::{SendingDomain, for_sender, public_keys, usual_utm};
pub use utm::Utm;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;

/// The account's domain with this name, or the failure that says there is none.
fn find(tx: &impl Read, account: AccountId, name: &str) -> Result<model::Domain, Failure> {
    let absent = || Failure::because(Code::NotFound, "There is no such sending domain; GET /v1/domains lists those of this key.");
    store::find(tx, account, name)?.ok_or_else(absent)
}
