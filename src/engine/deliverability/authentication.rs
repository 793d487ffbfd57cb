//! Checks the DNS records of a sender's domain: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 9989), which authenticate the domain's mail,
//! as well as MX (RFC 5321, RFC 7505) and BIMI.
//!
//! The caller looks up the records within its own time limit. A lookup that did not finish is [`Lookup::NotChecked`], which is not reported
//! as a problem.

mod dkim;
mod dmarc;
mod spf;
#[cfg(test)]
mod tests;

use serde::Serialize;

use self::dkim::audit_dkim;
use self::dmarc::audit_dmarc;
use self::spf::audit_spf;
use super::observations::Level;

/// The result of a DNS query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Lookup<T> {
    Found(T),
    /// The name does not exist, or has no such record.
    Absent,
    /// The lookup failed or timed out, or there is no network.
    #[default]
    NotChecked,
}

/// A DKIM selector and the TXT records at `<selector>._domainkey.<signing domain>`.
#[derive(Clone, Debug, Default)]
pub struct Selector {
    pub name: String,
    pub records: Lookup<Vec<String>>,
}

/// How the DMARC record relates to the domain of the From address. The relation determines which policy applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DmarcScope {
    /// The domain has its own record.
    #[default]
    Domain,
    /// The domain has no record of its own, so the record of its organizational domain applies.
    Subdomain,
    /// Like `Subdomain`, but the domain does not exist in DNS.
    AbsentSubdomain,
}

/// The records of a sender's domain.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The domain of the From address.
    pub domain: String,
    /// All TXT records of the envelope sender's domain, to which bounces return.
    pub txt: Lookup<Vec<String>>,
    /// The TXT records at `_dmarc.<domain>`, or else at `_dmarc.<organizational domain>`.
    pub dmarc: Lookup<Vec<String>>,
    pub dmarc_scope: DmarcScope,
    pub selectors: Vec<Selector>,
    /// The MX records: preference and host.
    pub mx: Lookup<Vec<(u16, String)>>,
    /// The TXT records at `default._bimi.<domain>`.
    pub bimi: Lookup<Vec<String>>,
}

/// How the email is sent.
#[derive(Clone, Debug, Default)]
pub struct Sending {
    /// The mechanism that the SPF record must contain, such as `include:relay.example`, if a relay sends the mail.
    pub spf_mechanism: Option<String>,
    /// The domain of the envelope sender, which SPF authenticates.
    pub envelope_domain: Option<String>,
    /// The `d=` of the DKIM signature.
    pub dkim_domain: Option<String>,
}

/// The state of one kind of record.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityRecordStatus")]
pub enum Status {
    #[serde(rename = "ok")]
    Ok,
    #[serde(rename = "problem")]
    Problem,
    #[serde(rename = "missing")]
    Missing,
    #[serde(rename = "not checked")]
    NotChecked,
}

/// A problem with the records.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(rename = "DeliverabilityRecordProblem")]
pub struct Problem {
    pub id: &'static str,
    pub level: Level,
    pub text: String,
    pub remedy: String,
}

/// The result of checking the records.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeliverabilityAuthentication")]
pub struct Report {
    pub domain: String,
    pub spf: Status,
    /// The number of DNS lookups that a receiver needs to evaluate the SPF record. At most 10 are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spf_lookups: Option<usize>,
    pub dkim: Status,
    pub dmarc: Status,
    /// The policy that applies to the domain: the value of `p` or, for a subdomain without its own record, the value of `np` or `sp` if the
    /// record has these tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dmarc_policy: Option<String>,
    pub mx: Status,
    pub bimi: Status,
    pub problems: Vec<Problem>,
}

impl Report {
    /// Returns whether at least one lookup succeeded.
    pub fn is_checked(&self) -> bool {
        [self.spf, self.dkim, self.dmarc, self.mx, self.bimi].iter().any(|status| *status != Status::NotChecked)
    }

    fn add(&mut self, id: &'static str, level: Level, text: &str, remedy: &str) {
        let (text, remedy) = (text.to_owned(), remedy.to_owned());
        self.problems.push(Problem { id, level, text, remedy });
    }
}

/// Checks the records. `resolve` returns the TXT records of a domain that an SPF record includes or redirects to.
pub fn audit(records: &Records, sending: &Sending, resolve: &dyn Fn(&str) -> Lookup<Vec<String>>) -> Report {
    let mut report = Report {
        domain: records.domain.clone(),
        spf: Status::NotChecked,
        spf_lookups: None,
        dkim: Status::NotChecked,
        dmarc: Status::NotChecked,
        dmarc_policy: None,
        mx: Status::NotChecked,
        bimi: Status::NotChecked,
        problems: Vec::new(),
    };
    report.spf = audit_spf(records, sending, resolve, &mut report);
    report.dkim = audit_dkim(records, sending.dkim_domain.as_deref().unwrap_or(&records.domain), &mut report);
    report.dmarc = audit_dmarc(records, sending, &mut report);
    report.mx = audit_mx(records, &mut report);
    report.bimi = audit_bimi(records, &mut report);
    report
}

/// Returns the status of a check: `Problem` if the report now has more than `before` problems, and `Ok` otherwise.
fn status(report: &Report, before: usize) -> Status {
    if report.problems.len() > before { Status::Problem } else { Status::Ok }
}

/// Returns the value of a tag in a list such as `v=DMARC1; p=none` (RFC 6376, section 3.2).
fn tag<'a>(record: &'a str, name: &str) -> Option<&'a str> {
    let mut tags = record.split(';').filter_map(|tag| tag.split_once('='));
    tags.find(|(found, _)| found.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn audit_mx(records: &Records, report: &mut Report) -> Status {
    match &records.mx {
        Lookup::NotChecked => Status::NotChecked,
        Lookup::Absent => {
            report.add(
                "mx_missing",
                Level::Important,
                "The domain has no MX record, so replies may fail.",
                "Publish an MX record.",
            );
            Status::Missing
        }
        // An MX record with an empty host means that the domain accepts no mail (RFC 7505).
        Lookup::Found(hosts) if hosts.iter().any(|(_, host)| host.trim_end_matches('.').is_empty()) => {
            let text = "The domain states that it receives no mail (null MX). Receivers may reject mail from it (RFC 7505, section 4.2).";
            report.add("mx_null", Level::Critical, text, "Send from a domain that receives mail.");
            Status::Problem
        }
        Lookup::Found(_) => Status::Ok,
    }
}

fn audit_bimi(records: &Records, report: &mut Report) -> Status {
    match &records.bimi {
        Lookup::NotChecked => Status::NotChecked,
        Lookup::Absent => Status::Missing,
        Lookup::Found(found) => {
            let before = report.problems.len();
            let record =
                found.iter().find(|record| tag(record, "v").is_some_and(|version| version.eq_ignore_ascii_case("BIMI1")));
            let Some(record) = record else { return Status::Missing };
            if !tag(record, "l").is_some_and(|logo| logo.is_empty() || logo.starts_with("https://")) {
                report.add(
                    "bimi_logo",
                    Level::Suggested,
                    "The BIMI record has no https URL of a logo.",
                    "Add “l=https://…/logo.svg”.",
                );
            }
            if report.dmarc_policy.as_deref().is_some_and(|policy| policy == "none") {
                let text = "BIMI has no effect while the DMARC policy is “none”.";
                report.add("bimi_policy", Level::Suggested, text, "Change the DMARC policy to “quarantine” or “reject”.");
            }
            status(report, before)
        }
    }
}
