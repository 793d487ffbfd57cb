//! Checks the DNS records of sending domains for `mailmill doctor`, up to a maximum number of domains, without storing the results.

use std::sync::Arc;

use super::installation::Installation;
use super::model::{Domain, RecordStatus, Status};
use super::{dns_check, store, views};
use crate::engine::api::{Engine, Failure};
use crate::vocab::environment::Environment;
use crate::vocab::limits::DOCTOR_DOMAINS_MAX;

/// A domain, and those of its DNS records that could not be verified.
pub struct DomainReport {
    pub name: String,
    pub is_verified: bool,
    /// The records that are missing or wrong, or whose lookup failed.
    pub missing: Vec<MissingRecord>,
}

/// A DNS record that is missing or wrong, or whose lookup failed.
pub struct MissingRecord {
    /// The type of the record, as DNS providers write it.
    pub kind: &'static str,
    pub name: String,
    pub status: &'static str,
}

/// Checks the domains of all accounts, up to a maximum number.
pub async fn check_all(engine: &Arc<Engine>, environment: Environment) -> Result<Vec<DomainReport>, Failure> {
    let installation = Installation::of(&engine.settings);
    let domains: Vec<Domain> = store::of_all_accounts(&engine.data(environment).store.read(), DOCTOR_DOMAINS_MAX)?;
    let mut all = Vec::with_capacity(domains.len());
    for mut domain in domains {
        let check = dns_check::check(&engine.dns, &domain, &installation).await;
        domain.apply_check(check, engine.clock.now());
        let records = views::records(&domain, &installation);
        let missing = records.iter().filter(|record| record.remove_after.is_none() && record.status != RecordStatus::Verified);
        let missing = missing.map(|record| MissingRecord {
            kind: record.kind.word(),
            name: record.name.clone(),
            status: record.status.word(),
        });
        all.push(DomainReport { is_verified: domain.status == Status::Verified, missing: missing.collect(), name: domain.name });
    }
    Ok(all)
}
