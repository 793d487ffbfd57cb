//! Tests the DNS record checks.

use super::spf::SPF_RECORDS_MAX;
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
    let own = spf(&["v=spf1 include:SHOP.example.com ~all"]);
    assert_eq!(own, ["spf_loop"]);
    assert_eq!(spf(&["v=spf1 mx redirect=shop.example.com"]), ["spf_loop"]);
    assert_eq!(spf(&["v=spf1 mx ~all redirect=shop.example.com"]), [""; 0], "receivers ignore the redirect");
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
    let twice = Records { txt: found(&["v=spf1 include:d.example include:e.example include:d.example -all"]), ..records.clone() };
    let report = audit(&twice, &Sending::default(), &resolve);
    assert_eq!(report.spf_lookups, Some(12), "receivers evaluate each include, even of a domain included before");
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
    assert_eq!(key(format!("v=DKIM1; t=y; p={}", modulus(256))), ["dkim_testing"]);
    let ed25519 = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    assert_eq!(key(ed25519.into()), [""; 0]);
    assert_eq!(key(format!("{ed25519}; t=s:y")), ["dkim_testing"]);
}

/// Regression test: the remedies told users to publish records at the From domain, where receivers do not look for them.
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
    assert_eq!(dmarc("v=DMARC1; p=reject; sp=perhaps", &Sending::default()), ["dmarc_policy_invalid"]);
    let parent = Sending { dkim_domain: Some("example.com".into()), ..Sending::default() };
    assert_eq!(dmarc("v=DMARC1; p=reject", &parent), [""; 0]);
    assert_eq!(dmarc("v=DMARC1; p=reject; adkim=s", &parent), ["dmarc_alignment"]);
    assert_eq!(ids(&Records { dmarc: Lookup::Absent, ..records() }, &Sending::default()), ["dmarc_missing"]);
    let null = Records { mx: Lookup::Found(vec![(0, ".".into())]), ..records() };
    assert_eq!(ids(&null, &Sending::default()), ["mx_null"]);
    let bimi = Records { bimi: found(&["v=BIMI1; l=http://a.example/logo.svg"]), ..records() };
    assert_eq!(ids(&bimi, &Sending::default()), ["bimi_logo"]);
}

#[test]
fn a_subdomain_without_a_record_has_the_policy_for_subdomains() {
    use DmarcScope::{AbsentSubdomain, Domain, Subdomain};
    let whole = "v=DMARC1; p=reject; sp=quarantine; np=none; rua=mailto:a@b.example";
    for (scope, record, policy, problem) in [
        (Domain, whole, "reject", None),
        (Subdomain, whole, "quarantine", None),
        (AbsentSubdomain, whole, "none", Some("The DMARC policy for subdomains that do not exist is “none”,")),
        (Subdomain, "v=DMARC1; p=reject; np=none", "reject", None),
        (AbsentSubdomain, "v=DMARC1; p=reject; sp=none", "none", Some("The DMARC policy for subdomains is “none”,")),
        (AbsentSubdomain, "v=DMARC1; p=reject", "reject", None),
    ] {
        let records = Records { dmarc: found(&[record]), dmarc_scope: scope, ..records() };
        let report = audit(&records, &Sending::default(), &|_| Lookup::Absent);
        assert_eq!(report.dmarc_policy.as_deref(), Some(policy), "{scope:?} {record}");
        let text = report.problems.first().map(|problem| problem.text.as_str());
        assert!(text.map_or(problem.is_none(), |text| problem.is_some_and(|start| text.starts_with(start))), "{text:?}");
    }
}
