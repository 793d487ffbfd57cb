//! Checks whether the DNS records of a domain are published, on request and on a schedule.

use std::sync::Arc;

use futures_util::future::{join, join_all};

use super::dns_rules::{self, RecordCheck};
use super::installation::Installation;
use super::model::{DnsCheck, Domain, Finding, Purpose, RecordStatus, Status};
use super::records::{self, RequiredRecord};
use super::store;
use crate::base::domain::parents;
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::dns::{Dns, DnsLookupError, MaxAge};
use crate::engine::store::WriteTx;
use crate::vocab::environment::Environment;
use crate::vocab::ids::AccountId;
use crate::vocab::limits::{DMARC_LEVELS_MAX, DOMAIN_FOUND_CHARACTERS_MAX, DOMAIN_FOUND_SHOWN_MAX, DOMAINS_AT_ONCE};

/// Queries DNS for every record of a domain, in parallel.
pub async fn check(dns: &Dns, domain: &Domain, installation: &Installation) -> DnsCheck {
    let wanted = records::required(domain, installation);
    let checks = join_all(wanted.iter().map(|record| check_record(dns, domain, record, installation)));
    let (verdicts, own_texts) = join(checks, dns.txt(&domain.name, MaxAge::Fresh)).await;
    let mut wants_exact_signer = None;
    let mut findings = Vec::new();
    for (record, ((status, found), dmarc)) in wanted.into_iter().zip(verdicts) {
        wants_exact_signer = wants_exact_signer.or(dmarc.map(|dmarc| dmarc.wants_exact_signer));
        let found = found.iter().take(DOMAIN_FOUND_SHOWN_MAX).map(|text| shortened(text, DOMAIN_FOUND_CHARACTERS_MAX)).collect();
        findings.push(Finding { purpose: record.purpose, wanted: record.value, status, found });
    }
    let has_return_path = |finding: &Finding| finding.purpose == Purpose::ReturnPath && finding.status == RecordStatus::Verified;
    let mut notes = Vec::new();
    let returns_elsewhere = installation.bounce_domain.is_some() || findings.iter().any(has_return_path);
    if let Some(spf) = own_texts.ok().and_then(|texts| texts.into_iter().find(|text| dns_rules::is_spf(text)))
        && !returns_elsewhere
    {
        let spf = shortened(&spf, DOMAIN_FOUND_CHARACTERS_MAX);
        notes.push(format!(
            "Until the return path is verified, bounces return to the From address, so the SPF record of {} (\"{spf}\") must \
             allow the servers that send its mail.",
            domain.name
        ));
    }
    DnsCheck { findings, wants_exact_signer, notes }
}

async fn check_record(
    dns: &Dns,
    domain: &Domain,
    record: &RequiredRecord,
    installation: &Installation,
) -> (RecordCheck, Option<dns_rules::Dmarc>) {
    let texts = || dns.txt(&record.name, MaxAge::Fresh);
    let verdict = match &record.purpose {
        Purpose::Dkim(_) => dns_rules::dkim(&record.value, texts().await),
        Purpose::ReturnPath => dns_rules::return_path(&record.value, dns.mx(&record.name, MaxAge::Fresh).await),
        Purpose::Spf => dns_rules::spf(&record.value, !installation.relays.is_empty(), texts().await),
        Purpose::Dmarc => return dmarc(dns, &domain.name).await,
        Purpose::Tracking => tracking(dns, record).await,
    };
    (verdict, None)
}

/// Checks the DMARC record of the domain or, if it has none, of the nearest parent domain that has one, such as the organizational
/// domain.
async fn dmarc(dns: &Dns, name: &str) -> (RecordCheck, Option<dns_rules::Dmarc>) {
    let mut own = None;
    for domain in std::iter::once(name).chain(parents(name)).take(DMARC_LEVELS_MAX) {
        match dns.txt(&format!("_dmarc.{domain}"), MaxAge::Fresh).await {
            Ok(texts) => match dns_rules::dmarc(&texts) {
                Some(dmarc) => return ((RecordStatus::Verified, Vec::new()), Some(dmarc)),
                None => {
                    own.get_or_insert((RecordStatus::Mismatch, texts));
                }
            },
            Err(answer @ DnsLookupError::Unreachable(_)) => return (dns_rules::unavailable(&answer), None),
            Err(_) => {}
        }
    }
    (own.unwrap_or((RecordStatus::Missing, Vec::new())), None)
}

/// Checks a link host: it must be an alias of this installation's host, or resolve to one of that host's addresses, for example because the
/// name server flattens aliases.
async fn tracking(dns: &Dns, record: &RequiredRecord) -> RecordCheck {
    let target = dns.cname(&record.name, MaxAge::Fresh).await;
    if target.as_deref() == Ok(record.value.as_str()) {
        return (RecordStatus::Verified, Vec::new());
    }
    let (own, ours) = join(dns.addresses(&record.name, MaxAge::Fresh), dns.addresses(&record.value, MaxAge::Fresh)).await;
    match (target, own) {
        (_, Ok(own)) if ours.is_ok_and(|ours| own.iter().any(|address| ours.contains(address))) => {
            (RecordStatus::Verified, Vec::new())
        }
        (Ok(target), _) => (RecordStatus::Mismatch, vec![target]),
        (Err(_), Ok(own)) => (RecordStatus::Mismatch, own.iter().map(ToString::to_string).collect()),
        (Err(answer), Err(_)) => dns_rules::unavailable(&answer),
    }
}

/// Saves the result of a check. If the domain was changed during the check, findings for records that no longer apply have no effect.
pub fn save_check(tx: &mut WriteTx<'_>, account: AccountId, name: &str, check: DnsCheck) -> Result<Option<Domain>, Failure> {
    let Some(before) = store::find(tx, account, name)? else { return Ok(None) };
    let mut domain = before.clone();
    domain.apply_check(check, tx.now());
    if domain.status == Status::Failed && before.status != Status::Failed {
        let reason = domain.reason.as_deref().unwrap_or_default();
        tracing::warn!(domain = name, reason, "a sending domain failed its verification");
    }
    store::save(tx, account, Some(&before), &domain);
    Ok(Some(domain))
}

/// Checks the domains whose next check is due; returns true if there may be more.
pub async fn step(engine: &Arc<Engine>, environment: Environment) -> Result<bool, Failure> {
    let data = engine.data(environment).clone();
    let due = store::due(&data.store.read(), engine.clock.now(), DOMAINS_AT_ONCE)?;
    let more = due.len() == DOMAINS_AT_ONCE;
    let installation = Installation::of(&engine.settings);
    let checks = due.iter().map(|(_, domain)| check(&engine.dns, domain, &installation));
    let checks = join_all(checks).await;
    for ((account, domain), check) in due.into_iter().zip(checks) {
        data.store.write(move |tx| save_check(tx, account, &domain.name, check)).await??;
    }
    Ok(more)
}

fn shortened(text: &str, characters_max: usize) -> String {
    text.chars().take(characters_max).collect()
}
