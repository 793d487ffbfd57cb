//! Predicts how mailbox providers judge an email, from its content and the DNS records of the sender's domain.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};
use url::Url;

use super::links::check::is_own;
use super::source::CheckedEmail;
use crate::base::domain::registrable;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::deliverability::authentication::{self, DmarcScope, Lookup, Records, Report, Selector, Sending};
use crate::engine::deliverability::message::Input;
use crate::engine::deliverability::result::{Analysis, analyze};
use crate::engine::mail::dns::{Dns, DnsLookupError, DnsResult, MailServer, MaxAge};
use crate::features::checks::CheckContext;
use crate::features::{domains, projects};
use crate::vocab::limits;

/// The sender and the subject of the email.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    pub subject: Option<String>,
    pub from_name: Option<String>,
    pub from_email: Option<EmailAddress>,
}

/// The maximum number of SPF records that are looked up. Evaluating a correct record takes at most ten lookups.
const SPF_RECORDS_MAX: usize = 12;
/// The label of the subdomain that receives bounces for a domain of this installation.
const RETURN_LABEL: &str = "bounces";

/// Predicts how providers judge an email. Returns `None` if the check does not finish in time.
pub async fn check(context: &CheckContext, email: &CheckedEmail, envelope: Envelope) -> Result<Option<Analysis>, Failure> {
    let start = Instant::now();
    let envelope = completed(context, email, envelope).await?;
    let report = match &envelope.from_email {
        Some(from) => Some(records(context, from).await?),
        None => None,
    };
    judge(context, email, envelope, report, start).await
}

/// Predicts how providers judge an email. The prediction uses the email's content and subject and the default sender of its project, but no
/// DNS records.
pub async fn content(context: &CheckContext, email: &CheckedEmail) -> Result<Option<Analysis>, Failure> {
    let start = Instant::now();
    let envelope = completed(context, email, Envelope::default()).await?;
    judge(context, email, envelope, None, start).await
}

async fn judge(
    context: &CheckContext,
    email: &CheckedEmail,
    envelope: Envelope,
    report: Option<Report>,
    start: Instant,
) -> Result<Option<Analysis>, Failure> {
    let html = with_public_hosts(context, email).await?;
    let address = match email.project {
        Some(project) => context.read(move |tx| Ok(projects::postal_address(tx, project)?)).await?,
        None => None,
    };
    let work = tokio::task::spawn_blocking(move || {
        let Envelope { subject, from_name, from_email } = &envelope;
        let input = Input {
            html: &html,
            subject: subject.as_deref(),
            from_name: from_name.as_deref(),
            from_email: from_email.as_ref().map(EmailAddress::as_str),
            postal_address: address.as_deref(),
        };
        analyze(&input, report)
    });
    let Ok(done) = tokio::time::timeout(limits::DELIVERABILITY_TIME, work).await else { return Ok(None) };
    let mut analysis = done.map_err(Failure::internal)?;
    analysis.metadata.processing_time = start.elapsed().as_millis() as f64;
    Ok(Some(analysis))
}

/// Returns the email's HTML after replacing the hosts of this service, and hosts in networks that the operator has allowed, with public
/// hosts of the same length. The original hosts depend on the installation's settings, so they must not affect the email's score.
async fn with_public_hosts(context: &CheckContext, email: &CheckedEmail) -> Result<Arc<String>, Failure> {
    let (fetch, base) = (&context.engine.fetch, context.engine.base_url());
    // The inspection is cached. If it fails, the HTML is used unchanged.
    let Ok(inspection) = email.inspect(context).await else { return Ok(email.html.clone()) };
    let own = inspection.links.uses.iter().filter(|one| is_own(fetch, base, &one.url));
    let mut origins: Vec<String> =
        own.filter_map(|one| Some(Url::parse(&one.url).ok()?.origin().ascii_serialization())).collect();
    origins.sort();
    origins.dedup();
    // A longer origin can start with a shorter one, so longer origins come first.
    origins.reverse();
    let mut html = email.html.as_ref().clone();
    for origin in origins {
        if let Some(name) = public_origin(origin.len()) {
            html = html.replace(&origin, &name);
        }
    }
    Ok(Arc::new(html))
}

/// Returns a public origin with this length in bytes, if the length allows one.
fn public_origin(length: usize) -> Option<String> {
    let letters = length.checked_sub("https://.com".len()).filter(|letters| *letters > 0)?;
    let label: String = "shop".chars().cycle().take(letters).collect();
    Some(format!("https://{label}.com"))
}

/// Completes the envelope: a missing subject is replaced with the stored email's subject, and a missing sender with the default sender of
/// the email's project.
async fn completed(context: &CheckContext, email: &CheckedEmail, envelope: Envelope) -> Result<Envelope, Failure> {
    let Envelope { subject, mut from_name, mut from_email } = envelope;
    let subject = subject.or_else(|| email.subject.clone());
    if let Some(project) = email.project.filter(|_| from_email.is_none()) {
        let account = context.account;
        let found = context.read(move |tx| Ok(projects::find(tx, account, project)?)).await?;
        if let Some(sender) = found.and_then(|project| project.sender) {
            from_email = EmailAddress::parse(&sender.from).ok();
            from_name = from_name.or(sender.from_name);
        }
    }
    Ok(Envelope { subject, from_name, from_email })
}

/// Looks up and checks the DNS records of a sender's domain.
async fn records(context: &CheckContext, from: &EmailAddress) -> Result<Report, Failure> {
    let end = Instant::now() + limits::VALIDATION_DNS_TIME;
    let domain = from.domain_ascii().to_ascii_lowercase();
    let account = context.account;
    let keys = context.read(move |tx| domains::public_keys(tx, account)).await?;
    let (signer, selectors) = signer(&domain, &keys);
    let dns = &context.engine.dns;
    let organization = registrable(&domain).unwrap_or(&domain).to_owned();
    // Bounces of messages from this service go to a separate host, whose SPF record is checked.
    let return_host = signer.as_ref().map(|signer| format!("{RETURN_LABEL}.{signer}"));
    let spf_domain = return_host.clone().unwrap_or_else(|| domain.clone());
    let [own_dmarc, org_dmarc] = [&domain, &organization].map(|name| format!("_dmarc.{name}"));
    let bimi = format!("default._bimi.{domain}");
    let names: Vec<String> =
        selectors.iter().map(|selector| format!("{selector}._domainkey.{}", signer.as_deref().unwrap_or_default())).collect();
    let (txt, own, org, mx, bimi, found) = tokio::join!(
        txt(dns, &spf_domain, end),
        txt(dns, &own_dmarc, end),
        txt(dns, &org_dmarc, end),
        timeout_at(end, dns.mx(&domain, MaxAge::Cached)),
        txt(dns, &bimi, end),
        futures_util::future::join_all(names.iter().map(|name| txt(dns, name, end))),
    );
    let is_own = own == Lookup::NotChecked || has_dmarc(&own) || organization == domain;
    let dmarc_scope = match &mx {
        _ if is_own => DmarcScope::Domain,
        Ok(Err(DnsLookupError::NoSuchName)) => DmarcScope::AbsentSubdomain,
        _ => DmarcScope::Subdomain,
    };
    let has_shared_bounces = signer.is_some() && context.engine.settings.mail.bounce_domain.is_some();
    let records = Records {
        domain,
        txt: if has_shared_bounces { Lookup::NotChecked } else { txt },
        dmarc: if is_own { own } else { org },
        dmarc_scope,
        selectors: selectors.into_iter().zip(found).map(|(name, records)| Selector { name, records }).collect(),
        mx: exchangers(mx.ok()),
        bimi,
    };
    let included = included(dns, &records.txt, end).await;
    let sending = Sending { spf_mechanism: None, envelope_domain: return_host, dkim_domain: signer };
    Ok(authentication::audit(&records, &sending, &|name| included.get(name).cloned().unwrap_or_default()))
}

/// Returns whether a DMARC record is among the records at a domain's DMARC name. If all records there have another purpose, such as those
/// of a wildcard, the record of the organizational domain applies (RFC 9989, section 4.10.1).
fn has_dmarc(records: &Lookup<Vec<String>>) -> bool {
    let is_dmarc = |text: &String| text.trim_start().to_ascii_lowercase().starts_with("v=dmarc1");
    matches!(records, Lookup::Found(texts) if texts.iter().any(is_dmarc))
}

/// Returns the account's domain that signs emails from this From domain, and the selectors of that domain's keys. `keys` are the record
/// names and values of the account's keys.
fn signer(from: &str, keys: &[(String, String)]) -> (Option<String>, Vec<String>) {
    let named = keys.iter().filter_map(|(name, _)| name.split_once("._domainkey."));
    let aligned: Vec<(&str, &str)> = named.filter(|(_, domain)| registrable(domain) == registrable(from)).collect();
    let exact = aligned.iter().find(|(_, domain)| *domain == from).or(aligned.first());
    let Some((_, domain)) = exact else { return (None, Vec::new()) };
    let selectors = aligned.iter().filter(|(_, other)| other == domain).map(|(selector, _)| (*selector).to_owned()).collect();
    (Some((*domain).to_owned()), selectors)
}

/// Looks up the SPF records that a record includes, directly or through other records, up to the maximum number.
async fn included(dns: &Dns, first: &Lookup<Vec<String>>, end: Instant) -> HashMap<String, Lookup<Vec<String>>> {
    let mut found: HashMap<String, Lookup<Vec<String>>> = HashMap::new();
    let mut waiting = match first {
        Lookup::Found(texts) => includes(texts),
        Lookup::Absent | Lookup::NotChecked => Vec::new(),
    };
    while !waiting.is_empty() && found.len() < SPF_RECORDS_MAX {
        waiting.retain(|name| !found.contains_key(name));
        waiting.truncate(SPF_RECORDS_MAX - found.len());
        let answers = futures_util::future::join_all(waiting.iter().map(|name| txt(dns, name, end))).await;
        let mut next = Vec::new();
        for (name, answer) in std::mem::take(&mut waiting).into_iter().zip(answers) {
            if let Lookup::Found(texts) = &answer {
                next.extend(includes(texts));
            }
            found.insert(name, answer);
        }
        waiting = next;
    }
    found
}

/// Returns the domains that SPF records include or redirect to.
fn includes(texts: &[String]) -> Vec<String> {
    let records = texts.iter().map(|text| text.to_ascii_lowercase()).filter(|text| text.starts_with("v=spf1"));
    let terms = records.flat_map(|record| record.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let domain = |term: String| {
        let term = term.trim_start_matches(['+', '-', '~', '?']);
        let domain = term.strip_prefix("include:").or_else(|| term.strip_prefix("redirect="))?;
        (!domain.contains('%')).then(|| domain.to_owned())
    };
    let mut found: Vec<String> = terms.filter_map(domain).collect();
    found.sort();
    found.dedup();
    found
}

async fn txt(dns: &Dns, name: &str, end: Instant) -> Lookup<Vec<String>> {
    answer(timeout_at(end, dns.txt(name, MaxAge::Cached)).await.ok())
}

fn exchangers(result: Option<DnsResult<Vec<MailServer>>>) -> Lookup<Vec<(u16, String)>> {
    answer(result.map(|found| found.map(|servers| servers.into_iter().map(|server| (server.preference, server.host)).collect())))
}

/// Converts the result of a DNS query; `None` means that the query did not finish in time.
fn answer<T>(result: Option<DnsResult<T>>) -> Lookup<T> {
    match result {
        Some(Ok(found)) => Lookup::Found(found),
        Some(Err(DnsLookupError::NoSuchName | DnsLookupError::NoSuchRecord | DnsLookupError::NotAName)) => Lookup::Absent,
        Some(Err(DnsLookupError::Unreachable(_))) | None => Lookup::NotChecked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_address_is_replaced_by_a_name_of_the_same_length() {
        for origin in ["http://127.0.0.1", "http://127.0.0.1:8080", "https://[fd00::1]:8443"] {
            let name = public_origin(origin.len()).expect("the origin is long enough");
            assert_eq!(name.len(), origin.len(), "{name}");
            assert!(Url::parse(&name).is_ok_and(|url| url.host_str().is_some_and(|host| host.ends_with(".com"))), "{name}");
        }
        assert_eq!(public_origin(8), None);
    }

    #[test]
    fn included_domains_are_found_once_and_without_macros() {
        let texts = [
            "v=spf1 include:b.example +include:A.example ?include:b.example redirect=c.example include:%{d}.x -all",
            "include:no",
        ];
        assert_eq!(includes(&texts.map(str::to_owned)), ["a.example", "b.example", "c.example"]);
    }

    #[test]
    fn a_domain_of_the_account_signs_for_its_subdomains() {
        let keys: Vec<(String, String)> =
            ["a._domainkey.acme.example", "b._domainkey.acme.example", "c._domainkey.news.acme.example"]
                .map(|name| (name.to_owned(), String::new()))
                .to_vec();
        assert_eq!(signer("acme.example", &keys), (Some("acme.example".into()), vec!["a".into(), "b".into()]));
        assert_eq!(signer("news.acme.example", &keys), (Some("news.acme.example".into()), vec!["c".into()]));
        assert_eq!(signer("other.example", &keys), (None, Vec::new()));
    }
}
