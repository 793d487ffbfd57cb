//! Checks the DNS records of a sender's domain: SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489), which authenticate its mail, and MX
//! (RFC 5321, RFC 7505) and BIMI.
//!
//! The caller looks up the records within its own time limit. A lookup that did not finish is [`Lookup::NotChecked`], which is never
//! reported as a problem.

use std::collections::HashSet;

use serde::Serialize;

use super::links::registrable;
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

/// The records of a sender's domain.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// The domain of the From address.
    pub domain: String,
    /// All TXT records of the domain that bounces return to.
    pub txt: Lookup<Vec<String>>,
    /// The TXT records at `_dmarc.<domain>`, or else at `_dmarc.<organizational domain>`.
    pub dmarc: Lookup<Vec<String>>,
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

/// The result of the checks of the records.
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

/// The maximum number of lookups in an SPF evaluation (RFC 7208, section 4.6.4).
const SPF_LOOKUPS_MAX: usize = 10;
/// The maximum number of SPF records that are read, because a hostile record could include others without end.
const SPF_RECORDS_MAX: usize = 40;
/// The minimum length of RSA keys. RFC 8301 requires 1,024 bits and recommends 2,048; receivers may reject shorter keys.
const RSA_BITS_MIN: usize = 2_048;

/// Checks records. `resolve` returns the TXT records of a domain that an SPF record includes.
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

/// Returns the status of a check: `Problem` if problems were added to the report after the first `before` ones.
fn status(report: &Report, before: usize) -> Status {
    if report.problems.len() > before { Status::Problem } else { Status::Ok }
}

fn is_spf(record: &&String) -> bool {
    let mut words = record.split_whitespace();
    words.next().is_some_and(|version| version.eq_ignore_ascii_case("v=spf1"))
}

fn audit_spf(records: &Records, sending: &Sending, resolve: &dyn Fn(&str) -> Lookup<Vec<String>>, report: &mut Report) -> Status {
    let found: Vec<&String> = match &records.txt {
        Lookup::NotChecked => return Status::NotChecked,
        Lookup::Absent => Vec::new(),
        Lookup::Found(txt) => txt.iter().filter(is_spf).collect(),
    };
    // Receivers check the domain that bounces return to.
    let domain = sending.envelope_domain.as_deref().unwrap_or(&records.domain);
    let Some(record) = found.first() else {
        let remedy = format!("Publish a TXT record such as “v=spf1 include:… ~all” at {domain}.");
        report.add("spf_missing", Level::Critical, &format!("{domain} has no SPF record."), &remedy);
        return Status::Missing;
    };
    let before = report.problems.len();
    if found.len() > 1 {
        let remedy = "Merge the SPF records into one. Several records are an error (RFC 7208, section 4.5).";
        report.add("spf_several", Level::Critical, &format!("{domain} has several SPF records."), remedy);
    }
    let record = record.to_ascii_lowercase();
    let has = |words: &[&str]| record.split_whitespace().any(|word| words.contains(&word));
    if has(&["+all", "all"]) {
        report.add(
            "spf_allows_all",
            Level::Critical,
            "The SPF record allows every server to send for the domain.",
            "Replace “+all” with “~all” or “-all”.",
        );
    } else if has(&["?all"]) {
        report.add(
            "spf_neutral",
            Level::Important,
            "The SPF record is neutral about unknown servers.",
            "Replace “?all” with “~all” or “-all”.",
        );
    } else if !has(&["-all", "~all"]) && !record.contains("redirect=") {
        report.add(
            "spf_open",
            Level::Important,
            "The SPF record has no rule for unknown servers.",
            "End the record with “~all” or “-all”.",
        );
    }
    if let Some(mechanism) = &sending.spf_mechanism
        && !record.split_whitespace().any(|word| word.trim_start_matches('+').eq_ignore_ascii_case(mechanism))
    {
        let text = format!("The SPF record does not contain “{mechanism}”, which covers the server that sends the mail.");
        report.add("spf_relay_missing", Level::Critical, &text, &format!("Add “{mechanism}” to the SPF record."));
    }
    let mut count = SpfCount { resolve, seen: HashSet::new(), lookups: 0, is_complete: true, absent: None };
    count.record(&record);
    report.spf_lookups = count.is_complete.then_some(count.lookups);
    if count.lookups > SPF_LOOKUPS_MAX {
        let text = format!("The SPF record requires {} DNS lookups; receivers stop after {SPF_LOOKUPS_MAX}.", count.lookups);
        report.add("spf_lookups", Level::Critical, &text, "Remove includes that no longer send for the domain.");
    }
    if let Some(absent) = count.absent {
        let text = format!("The SPF record includes {absent}, which has no SPF record, so SPF fails (RFC 7208, section 5.2).");
        report.add("spf_include_missing", Level::Critical, &text, &format!("Remove {absent} from the SPF record."));
    }
    status(report, before)
}

struct SpfCount<'a> {
    resolve: &'a dyn Fn(&str) -> Lookup<Vec<String>>,
    seen: HashSet<String>,
    lookups: usize,
    is_complete: bool,
    /// The first included domain without an SPF record.
    absent: Option<String>,
}

impl SpfCount<'_> {
    /// Counts the lookups of a record and of the records that it includes.
    fn record(&mut self, record: &str) {
        let mut waiting = vec![record.to_owned()];
        let mut read = 0;
        while let Some(record) = waiting.pop() {
            read += 1;
            if read > SPF_RECORDS_MAX {
                self.is_complete = false;
                return;
            }
            for term in record.split_whitespace().skip(1).take(100) {
                self.term(term, &mut waiting);
            }
        }
    }

    fn term(&mut self, term: &str, waiting: &mut Vec<String>) {
        let term = term.trim_start_matches(['+', '-', '~', '?']);
        let name = term.split([':', '=', '/']).next().unwrap_or_default();
        if !matches!(name, "include" | "a" | "mx" | "ptr" | "exists" | "redirect") {
            return;
        }
        self.lookups += 1;
        let Some(domain) = term.strip_prefix("include:").or_else(|| term.strip_prefix("redirect=")) else { return };
        // The value of a macro depends on the message.
        if domain.contains('%') {
            self.is_complete = false;
        } else if self.seen.insert(domain.to_owned()) && self.seen.len() <= SPF_RECORDS_MAX {
            match (self.resolve)(domain) {
                Lookup::Found(txt) if txt.iter().any(|record| is_spf(&record)) => {
                    waiting.extend(txt.iter().filter(is_spf).take(1).map(|record| record.to_ascii_lowercase()));
                }
                Lookup::Found(_) | Lookup::Absent => self.absent = self.absent.take().or(Some(domain.to_owned())),
                Lookup::NotChecked => self.is_complete = false,
            }
        }
    }
}

/// Returns the value of a tag in a list such as `v=DMARC1; p=none` (RFC 6376, section 3.2).
fn tag<'a>(record: &'a str, name: &str) -> Option<&'a str> {
    let mut tags = record.split(';').filter_map(|tag| tag.split_once('='));
    tags.find(|(found, _)| found.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Checks the keys of the domain that signs the mail.
fn audit_dkim(records: &Records, signer: &str, report: &mut Report) -> Status {
    let before = report.problems.len();
    let mut is_checked = false;
    let mut has_key = false;
    for selector in &records.selectors {
        let name = format!("{}._domainkey.{signer}", selector.name);
        match &selector.records {
            Lookup::NotChecked => continue,
            Lookup::Absent => {
                is_checked = true;
                let remedy = format!("Publish the DKIM key as a TXT record at {name}.");
                report.add("dkim_missing", Level::Critical, &format!("{name} has no DKIM key."), &remedy);
            }
            Lookup::Found(found) => {
                is_checked = true;
                has_key = true;
                audit_key(&name, found, report);
            }
        }
    }
    match (is_checked, has_key) {
        (false, _) => Status::NotChecked,
        (true, false) => Status::Missing,
        (true, true) => status(report, before),
    }
}

fn audit_key(name: &str, records: &[String], report: &mut Report) {
    let publish = format!("Publish the DKIM key at {name}, exactly as your mail service shows it.");
    if records.len() > 1 {
        let remedy = format!("Keep only one DKIM record at {name}.");
        report.add("dkim_several", Level::Important, &format!("{name} has several records."), &remedy);
    }
    let key = records.iter().find_map(|record| Some((record, tag(record, "p")?)));
    let Some((record, key)) = key else {
        report.add("dkim_invalid", Level::Critical, &format!("No TXT record at {name} contains a DKIM key."), &publish);
        return;
    };
    if key.is_empty() {
        let remedy = format!("Publish a new DKIM key, or stop signing with {name}.");
        report.add("dkim_revoked", Level::Critical, &format!("The DKIM key at {name} is revoked."), &remedy);
        return;
    }
    if tag(record, "k").is_some_and(|kind| kind.eq_ignore_ascii_case("ed25519")) {
        return;
    }
    let key: String = key.chars().filter(|c| !c.is_whitespace()).collect();
    let bytes = data_encoding::BASE64.decode(key.as_bytes()).ok();
    match bytes.as_deref().and_then(rsa_bits) {
        None => {
            report.add("dkim_invalid", Level::Critical, &format!("The DKIM key at {name} is not a valid RSA key."), &publish);
        }
        Some(bits) if bits < RSA_BITS_MIN => {
            let text = format!("The DKIM key at {name} has only {bits} bits.");
            report.add("dkim_short", Level::Important, &text, "Use a 2,048-bit key.");
        }
        Some(_) => {}
    }
    if tag(record, "t").is_some_and(|flags| flags.split(':').any(|flag| flag.trim() == "y")) {
        report.add("dkim_testing", Level::Suggested, &format!("The DKIM key at {name} is in test mode."), "Remove “t=y”.");
    }
}

/// Returns the length in bits of the modulus of an RSA key, encoded as SubjectPublicKeyInfo (RFC 5280) or RSAPublicKey (RFC 8017).
fn rsa_bits(key: &[u8]) -> Option<usize> {
    let (0x30, sequence, _) = element(key)? else { return None };
    let (kind, first, rest) = element(sequence)?;
    let modulus = if kind == 0x02 {
        first
    } else {
        let (0x03, bits, _) = element(rest)? else { return None };
        // The first byte of a DER bit string is the number of unused bits.
        let (0x30, inner, _) = element(bits.get(1..)?)? else { return None };
        let (0x02, modulus, _) = element(inner)? else { return None };
        modulus
    };
    let significant: &[u8] = modulus.get(modulus.iter().position(|byte| *byte != 0)?..)?;
    let first = significant.first()?;
    Some(significant.len() * 8 - first.leading_zeros() as usize)
}

/// Reads a DER element. Returns its tag, its content, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = if *first < 0x80 {
        (usize::from(*first), rest)
    } else {
        let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F)).filter(|(digits, _)| digits.len() <= 4)?;
        (digits.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*kind, content, rest))
}

fn audit_dmarc(records: &Records, sending: &Sending, report: &mut Report) -> Status {
    let is_dmarc = |record: &&String| tag(record, "v").is_some_and(|version| version.eq_ignore_ascii_case("DMARC1"));
    let found: Vec<&String> = match &records.dmarc {
        Lookup::NotChecked => return Status::NotChecked,
        Lookup::Absent => Vec::new(),
        Lookup::Found(txt) => txt.iter().filter(is_dmarc).collect(),
    };
    let Some(record) = found.first() else {
        let remedy =
            format!("Publish “v=DMARC1; p=none; rua=mailto:…” at _dmarc.{}. Gmail and Yahoo require DMARC.", records.domain);
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
    let policy = tag(record, "p").unwrap_or_default().to_ascii_lowercase();
    let has_reports = tag(record, "rua").is_some_and(|address| !address.is_empty());
    match policy.as_str() {
        "none" if !has_reports => {
            let text = "The DMARC policy is “none”, and the record has no report address, so DMARC has no effect.";
            report.add(
                "dmarc_no_effect",
                Level::Important,
                text,
                "Add “rua=mailto:…”, read the reports, and then change the policy.",
            );
        }
        "none" => report.add(
            "dmarc_policy_none",
            Level::Suggested,
            "The DMARC policy “none” takes no action against messages that fail.",
            "Change the DMARC policy to “quarantine”.",
        ),
        "quarantine" | "reject" => {}
        _ => report.add(
            "dmarc_policy_invalid",
            Level::Critical,
            "The DMARC record has no valid policy.",
            "Set “p=none”, “p=quarantine” or “p=reject”.",
        ),
    }
    audit_alignment(record, records, sending, report);
    report.dmarc_policy = Some(policy);
    status(report, before)
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
        let text = format!("The signing domain {signer} is not aligned with {}, so DMARC fails.", records.domain);
        report.add("dmarc_alignment", Level::Critical, &text, "Sign with the From domain, or relax “adkim”.");
    }
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
            let text =
                "The domain states that it receives no mail (null MX). Receivers may reject its mail (RFC 7505, section 4.2).";
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

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[&str]) -> Lookup<Vec<String>> {
        Lookup::Found(text.iter().map(|text| (*text).to_owned()).collect())
    }

    fn ids(records: &Records, sending: &Sending) -> Vec<&'static str> {
        let resolve = |domain: &str| if domain == "gone.example" { Lookup::Absent } else { found(&["v=spf1 -all"]) };
        audit(records, sending, &resolve).problems.iter().map(|problem| problem.id).collect()
    }

    fn records() -> Records {
        Records { domain: "shop.example.com".into(), ..Records::default() }
    }

    #[test]
    fn without_answers_nothing_is_a_problem() {
        let report = audit(&records(), &Sending::default(), &|_| Lookup::NotChecked);
        assert!(report.problems.is_empty());
        assert_eq!([report.spf, report.dkim, report.dmarc, report.mx, report.bimi], [Status::NotChecked; 5]);
        assert!(!report.is_checked());
    }

    #[test]
    fn faults_of_spf_are_found() {
        let spf = |txt: &[&str]| ids(&Records { txt: found(txt), ..records() }, &Sending::default());
        assert_eq!(spf(&["other", "v=spf1 ip4:192.0.2.1 -all"]), [""; 0]);
        assert_eq!(spf(&["other"]), ["spf_missing"]);
        assert_eq!(spf(&["v=spf1 -all", "v=spf1 ~all"]), ["spf_several"]);
        assert_eq!(spf(&["v=spf1 +all"]), ["spf_allows_all"]);
        assert_eq!(spf(&["v=spf1 ?all"]), ["spf_neutral"]);
        assert_eq!(spf(&["v=spf1 mx"]), ["spf_open"]);
        assert_eq!(spf(&["v=spf1 include:a.example include:gone.example ~all"]), ["spf_include_missing"]);
        let sending = Sending { spf_mechanism: Some("include:relay.example".into()), ..Sending::default() };
        let relay = |record: &str| ids(&Records { txt: found(&[record]), ..records() }, &sending);
        assert_eq!(relay("v=spf1 include:RELAY.example ~all"), [""; 0]);
        assert_eq!(relay("v=spf1 include:other.example ~all"), ["spf_relay_missing"]);
    }

    #[test]
    fn lookups_of_included_records_count_and_loops_end() {
        let resolve = |domain: &str| match domain {
            "a.example" => found(&["v=spf1 include:b.example include:c.example a mx -all"]),
            "b.example" => found(&["v=spf1 include:a.example exists:x.example ptr -all"]),
            "c.example" => found(&["v=spf1 redirect=d.example"]),
            _ => found(&["v=spf1 a mx a:x.example -all"]),
        };
        let records = Records { txt: found(&["v=spf1 include:a.example -all"]), ..records() };
        let report = audit(&records, &Sending::default(), &resolve);
        assert_eq!(report.spf_lookups, Some(12));
        assert_eq!(report.problems[0].id, "spf_lookups");
        let endless = std::cell::Cell::new(0);
        let resolve = |_: &str| {
            endless.set(endless.get() + 1);
            found(&[&format!("v=spf1 include:{}.example include:x{}.example -all", endless.get(), endless.get())])
        };
        assert_eq!(audit(&records, &Sending::default(), &resolve).spf_lookups, None);
        assert!(endless.get() <= SPF_RECORDS_MAX);
    }

    #[test]
    fn keys_are_measured() {
        let modulus = |bytes: usize| {
            let mut integer = vec![0x02, 0x82, ((bytes + 1) >> 8) as u8, (bytes + 1) as u8, 0x00];
            integer.extend(std::iter::repeat_n(0xFF, bytes));
            integer.extend([0x02, 0x03, 1, 0, 1]);
            let mut sequence = vec![0x30, 0x82, (integer.len() >> 8) as u8, integer.len() as u8];
            sequence.extend(integer);
            data_encoding::BASE64.encode(&sequence)
        };
        let key = |record: String| {
            let selector = Selector { name: "s1".into(), records: Lookup::Found(vec![record]) };
            ids(&Records { selectors: vec![selector], ..records() }, &Sending::default())
        };
        assert_eq!(key(format!("v=DKIM1; k=rsa; p={}", modulus(256))), [""; 0]);
        assert_eq!(key(format!("v=DKIM1; p={}", modulus(128))), ["dkim_short"]);
        assert_eq!(key("v=DKIM1; p=".into()), ["dkim_revoked"]);
        assert_eq!(key("v=DKIM1; p=AAAA".into()), ["dkim_invalid"]);
        assert_eq!(key("v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".into()), [""; 0]);
    }

    /// Regression test: the remedies named records of the From domain, where receivers do not look for them.
    #[test]
    fn missing_records_are_reported_where_receivers_look_for_them() {
        let selectors = vec![Selector { name: "s1".into(), records: Lookup::Absent }];
        let (dkim_domain, envelope_domain) = (Some("example.com".into()), Some("bounces.example.com".into()));
        let sending = Sending { dkim_domain, envelope_domain, ..Sending::default() };
        let report = audit(&Records { txt: Lookup::Absent, selectors, ..records() }, &sending, &|_| Lookup::Absent);
        let remedies: Vec<&str> = report.problems.iter().map(|problem| problem.remedy.as_str()).collect();
        let expected = [
            "Publish a TXT record such as “v=spf1 include:… ~all” at bounces.example.com.",
            "Publish the DKIM key as a TXT record at s1._domainkey.example.com.",
        ];
        assert_eq!(remedies, expected);
    }

    #[test]
    fn policy_alignment_mx_and_bimi_are_checked() {
        let dmarc = |record: &str, sending: &Sending| ids(&Records { dmarc: found(&[record]), ..records() }, sending);
        assert_eq!(dmarc("v=DMARC1; p=reject", &Sending::default()), [""; 0]);
        assert_eq!(dmarc("v=DMARC1; p=none", &Sending::default()), ["dmarc_no_effect"]);
        assert_eq!(dmarc("v=DMARC1; p=none; rua=mailto:a@b.example", &Sending::default()), ["dmarc_policy_none"]);
        let parent = Sending { dkim_domain: Some("example.com".into()), ..Sending::default() };
        assert_eq!(dmarc("v=DMARC1; p=reject", &parent), [""; 0]);
        assert_eq!(dmarc("v=DMARC1; p=reject; adkim=s", &parent), ["dmarc_alignment"]);
        assert_eq!(ids(&Records { dmarc: Lookup::Absent, ..records() }, &Sending::default()), ["dmarc_missing"]);
        let null = Records { mx: Lookup::Found(vec![(0, ".".into())]), ..records() };
        assert_eq!(ids(&null, &Sending::default()), ["mx_null"]);
        let bimi = Records { bimi: found(&["v=BIMI1; l=http://a.example/logo.svg"]), ..records() };
        assert_eq!(ids(&bimi, &Sending::default()), ["bimi_logo"]);
    }
}
