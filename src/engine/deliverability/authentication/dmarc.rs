//! Checks DMARC records (RFC 9989, formerly RFC 7489).

use super::{DmarcScope, Level, Lookup, Records, Report, Sending, Status, status, tag};
use crate::engine::deliverability::links::registrable;

pub(super) fn audit_dmarc(records: &Records, sending: &Sending, report: &mut Report) -> Status {
    let is_dmarc = |record: &&String| tag(record, "v").is_some_and(|version| version.eq_ignore_ascii_case("DMARC1"));
    let found: Vec<&String> = match &records.dmarc {
        Lookup::NotChecked => return Status::NotChecked,
        Lookup::Absent => Vec::new(),
        Lookup::Found(txt) => txt.iter().filter(is_dmarc).collect(),
    };
    let Some(record) = found.first() else {
        let remedy = format!(
            "Publish “v=DMARC1; p=none; rua=mailto:…” at _dmarc.{}. Gmail and Yahoo require DMARC from bulk senders.",
            records.domain
        );
        report.add("dmarc_missing", Level::Critical, "The domain has no DMARC record.", &remedy);
        return Status::Missing;
    };
    let before = report.problems.len();
    if found.len() > 1 {
        report.add(
            "dmarc_several",
            Level::Critical,
            "The domain has several DMARC records, so none applies.",
            "Keep only one record.",
        );
    }
    let (name, policy) = policy(record, records.dmarc_scope);
    audit_policy(record, name, &policy, report);
    audit_alignment(record, records, sending, report);
    report.dmarc_policy = Some(policy);
    status(report, before)
}

/// Returns the policy that applies to the domain of the From address, and the name of the tag that sets this policy. For a subdomain that
/// does not exist, the tag is `np`, or else `sp`, or else `p`. For any other subdomain, the tag is `sp`, or else `p` (RFC 9989, section
/// 4.7).
fn policy(record: &str, scope: DmarcScope) -> (&'static str, String) {
    let names: &[&'static str] = match scope {
        DmarcScope::Domain => &["p"],
        DmarcScope::Subdomain => &["sp", "p"],
        DmarcScope::AbsentSubdomain => &["np", "sp", "p"],
    };
    let found = names.iter().find_map(|name| Some((*name, tag(record, name)?)));
    found.map_or(("p", String::new()), |(name, value)| (name, value.to_ascii_lowercase()))
}

fn audit_policy(record: &str, name: &str, policy: &str, report: &mut Report) {
    let is_valid = |value: &str| ["none", "quarantine", "reject"].iter().any(|known| value.eq_ignore_ascii_case(known));
    // An invalid tag makes the whole record invalid, even if its policy does not apply here.
    let is_wrong = |name: &&str| tag(record, name).map_or(*name == "p", |value| !is_valid(value));
    if let Some(wrong) = ["p", "sp", "np"].into_iter().find(|name| is_wrong(name)) {
        let remedy = format!("Set “{wrong}=none”, “{wrong}=quarantine” or “{wrong}=reject”.");
        let text = format!("The tag “{wrong}” in the DMARC record is missing or invalid.");
        report.add("dmarc_policy_invalid", Level::Critical, &text, &remedy);
        return;
    }
    if policy != "none" {
        return;
    }
    let named = match name {
        "sp" => "The DMARC policy for subdomains",
        "np" => "The DMARC policy for subdomains that do not exist",
        _ => "The DMARC policy",
    };
    if tag(record, "rua").is_some_and(|address| !address.is_empty()) {
        let text = format!("{named} is “none”, so receivers take no action against messages that fail DMARC.");
        report.add("dmarc_policy_none", Level::Suggested, &text, &format!("Set “{name}=quarantine”."));
    } else {
        let text = format!("{named} is “none”, and the record has no report address, so DMARC has no effect.");
        report.add(
            "dmarc_no_effect",
            Level::Important,
            &text,
            "Add “rua=mailto:…”, read the reports, and then change the policy.",
        );
    }
}

fn audit_alignment(record: &str, records: &Records, sending: &Sending, report: &mut Report) {
    let aligned = |mode: &str, other: &str| {
        let is_strict = tag(record, mode).is_some_and(|value| value.eq_ignore_ascii_case("s"));
        let (from, other) = (records.domain.to_ascii_lowercase(), other.to_ascii_lowercase());
        if is_strict { from == other } else { registrable(&from) == registrable(&other) }
    };
    let dkim = sending.dkim_domain.as_deref().map(|domain| aligned("adkim", domain));
    let spf = sending.envelope_domain.as_deref().map(|domain| aligned("aspf", domain));
    if dkim == Some(false) && spf != Some(true) {
        let signer = sending.dkim_domain.as_deref().unwrap_or_default();
        let text = format!(
            "The signing domain {signer} is not aligned with {}, so its signature does not count for DMARC.",
            records.domain
        );
        report.add("dmarc_alignment", Level::Critical, &text, "Sign with the From domain.");
    }
}
