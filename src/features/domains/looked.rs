//! All sending domains as the DNS has them now, for those who look after an installation. Nothing is written down.

use std::sync::Arc;

use super::model::{Domain, RecordStatus, Status};
use super::site::Site;
use super::{looking, store, views};
use crate::engine::api::{Engine, Failure};
use crate::vocab::environment::Environment;
use crate::vocab::limits::DOCTOR_DOMAINS_MAX;

/// A domain that was looked at.
pub struct Looked {
    pub name: String,
    pub is_verified: bool,
    /// Records that are not there as they should be.
    pub lacking: Vec<Lacking>,
}

/// A record that is not there as it should be.
pub struct Lacking {
    /// Its type, as DNS providers name it.
    pub kind: &'static str,
    pub name: String,
    pub status: &'static str,
}

/// Look at the domains of all accounts, or at the first ones of very many.
pub async fn look_at_all(engine: &Arc<Engine>, environment: Environment) -> Result<Vec<Looked>, Failure> {
    let site = Site::of(&engine.settings);
    let domains: Vec<Domain> = store::of_everybody(&engine.world(environment).store.read(), DOCTOR_DOMAINS_MAX)?;
    let mut all = Vec::with_capacity(domains.len());
    for mut domain in domains {
        let look = looking::look_at(&engine.dns, &domain, &site).await;
        domain.settle(look, engine.clock.now());
        let records = views::records(&domain, &site);
        let lacking = records.iter().filter(|record| record.remove_after.is_none() && record.status != RecordStatus::Verified);
        let lacking =
            lacking.map(|record| Lacking { kind: record.kind.word(), name: record.name.clone(), status: record.status.word() });
        all.push(Looked { is_verified: domain.status == Status::Verified, lacking: lacking.collect(), name: domain.name });
    }
    Ok(all)
}
