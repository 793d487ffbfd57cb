//! Sending domains: their signing keys, the DNS records that prove ownership, and the checks of those records.
//!
//! A domain is verified when DNS contains one of its current DKIM keys, because only the domain's owner can publish a key there. The other
//! records are recommended. A worker repeats the check, more often while a domain is waiting for its records; `Domain::pause` determines
//! the interval.
//!
//! A domain's keys are created in pairs of an RSA key and an Ed25519 key, and are stored sealed in the domain's row in the table `domains`;
//! `key_pairs.rs` creates and seals both keys. `POST /v1/domains/{domain}/rotate` creates new keys. `model.rs` moves each key through its
//! phases: pending until DNS contains the key, then signing, then retiring for a week after a newer key has started to sign.
//!
//! Invariant: a private key is stored on disk only in sealed form, for its own domain and selector, and is never in a response.

mod dns_check;
mod dns_rules;
mod doctor_check;
mod ensure;
mod installation;
mod key_pairs;
mod model;
pub mod ops;
mod records;
mod reissue_keys;
mod sender;
mod store;
#[cfg(test)]
mod tests;
mod utm;
pub mod views;
pub mod worker;

pub use doctor_check::{DomainReport, check_all};
pub use model::{KeyKind, Stream};
pub use reissue_keys::{reissue, sealed};
pub use sender::{SendingDomain, added_for, for_sender, public_keys, usual_utm, verified_for};
pub use store::ROW_CHECKS;
pub use utm::Utm;

use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;

pub fn verified(tx: &impl Read, account: AccountId) -> Result<Vec<String>, Failure> {
    let all = store::all(tx, account)?.into_iter().filter(|domain| domain.status == model::Status::Verified);
    Ok(all.map(|domain| domain.name).collect())
}

/// Returns the account's domain with this name; fails with `NotFound` if there is none.
fn find(tx: &impl Read, account: AccountId, name: &str) -> Result<model::Domain, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The account has no sending domain with this name.")
            .see("domains.list", "GET /v1/domains lists the domains")
    };
    store::find(tx, account, name)?.ok_or_else(absent)
}
