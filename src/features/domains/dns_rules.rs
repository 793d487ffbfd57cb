//! Compares DNS records with those that a domain needs. All functions are pure.

use super::model::RecordStatus;
use crate::engine::mail::dns::{DnsLookupError, DnsResult, MailServer};

/// The result of a comparison: the status, and either the values found (if they differ from the required value) or the error (if the lookup
/// failed).
pub type RecordCheck = (RecordStatus, Vec<String>);

/// Returns the result for a DNS lookup that returned no records to compare.
pub fn unavailable(answer: &DnsLookupError) -> RecordCheck {
    match answer {
        DnsLookupError::Unreachable(cause) => (RecordStatus::Unreachable, vec![cause.clone()]),
        DnsLookupError::NoSuchName | DnsLookupError::NoSuchRecord | DnsLookupError::NotAName => {
            (RecordStatus::Missing, Vec::new())
        }
    }
}

/// Checks a DKIM record: it must contain the domain's key, and no tag that prevents the use of the key.
pub fn dkim(wanted: &str, answer: DnsResult<Vec<String>>) -> RecordCheck {
    let texts = match answer {
        Ok(texts) => texts,
        Err(answer) => return unavailable(&answer),
    };
    // RFC 6376 does not define the result for several records, and some receivers use only the first, so several records are a mismatch.
    match texts.as_slice() {
        [text] if is_same_key(wanted, text) => (RecordStatus::Verified, Vec::new()),
        _ => (RecordStatus::Mismatch, texts),
    }
}

fn is_same_key(wanted: &str, found: &str) -> bool {
    let kind = |text: &str| tag(text, "k").map_or_else(|| "rsa".to_owned(), |kind| kind.to_ascii_lowercase());
    let version = tag(found, "v");
    let hashes = tag(found, "h").is_none_or(|hashes| hashes.split(':').any(|hash| hash.trim() == "sha256"));
    let services =
        tag(found, "s").is_none_or(|services| services.split(':').any(|service| matches!(service.trim(), "*" | "email")));
    let key = |text: &str| tag(text, "p").map(|key| key.split_ascii_whitespace().collect::<String>());
    version.is_none_or(|version| version == "DKIM1")
        && kind(wanted) == kind(found)
        && key(wanted) == key(found)
        && hashes
        && services
}

/// Returns the value of a tag in a list like `v=DKIM1; p=…`.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split(';').filter_map(|part| part.split_once('=')).find(|(own, _)| own.trim() == name).map(|(_, value)| value.trim())
}

/// Checks the return-path host: one of its MX records must name the expected host.
pub fn return_path(wanted: &str, answer: DnsResult<Vec<MailServer>>) -> RecordCheck {
    match answer {
        Ok(servers) if servers.iter().any(|server| server.host == wanted) => (RecordStatus::Verified, Vec::new()),
        Ok(servers) => {
            (RecordStatus::Mismatch, servers.iter().map(|server| format!("{} {}", server.preference, server.host)).collect())
        }
        Err(answer) => unavailable(&answer),
    }
}

/// Checks the SPF record: there must be exactly one, and it must allow the expected sender. If mail is sent through relays, any record that
/// allows a sender is accepted, because only the operators of the relays know the sending hosts.
pub fn spf(wanted: &str, has_relays: bool, answer: DnsResult<Vec<String>>) -> RecordCheck {
    let texts = match answer {
        Ok(texts) => texts,
        Err(answer) => return unavailable(&answer),
    };
    let records: Vec<String> = texts.into_iter().filter(|text| is_spf(text)).collect();
    let [record] = records.as_slice() else {
        return if records.is_empty() { (RecordStatus::Missing, records) } else { (RecordStatus::Mismatch, records) };
    };
    let allowed = allowed(record);
    let is_enough = match has_relays {
        true => !allowed.is_empty(),
        false => self::allowed(wanted).iter().all(|term| allowed.contains(term)),
    };
    if is_enough { (RecordStatus::Verified, Vec::new()) } else { (RecordStatus::Mismatch, records) }
}

pub fn is_spf(text: &str) -> bool {
    text.split_ascii_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("v=spf1"))
}

/// Returns the terms in an SPF record that allow senders.
fn allowed(record: &str) -> Vec<String> {
    let terms = record.split_ascii_whitespace().skip(1).map(|term| term.to_ascii_lowercase());
    let terms = terms.map(|term| term.strip_prefix('+').map_or(term.clone(), str::to_owned));
    terms.filter(|term| !term.starts_with(['-', '~', '?']) && term != "all" && !term.starts_with("exp=")).collect()
}

/// The parts of a DMARC record that matter for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dmarc {
    /// Whether DMARC requires the signing domain to equal the domain of the From address (strict alignment).
    pub wants_exact_signer: bool,
}

/// Returns the DMARC record among these TXT records, if there is exactly one and it is valid.
pub fn dmarc(texts: &[String]) -> Option<Dmarc> {
    let is_one =
        |text: &&String| text.split(';').next().is_some_and(|first| first.split_whitespace().collect::<String>() == "v=DMARC1");
    let mut records = texts.iter().filter(is_one);
    let record = records.next().filter(|_| records.next().is_none())?;
    let policy = tag(record, "p").map(str::to_ascii_lowercase);
    let is_valid = match policy.as_deref() {
        Some("none" | "quarantine" | "reject") => true,
        // A record without a known policy is still valid if it requests reports.
        _ => tag(record, "rua").is_some_and(|address| !address.is_empty()),
    };
    is_valid.then(|| Dmarc { wants_exact_signer: tag(record, "adkim").is_some_and(|mode| mode.eq_ignore_ascii_case("s")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    const KEY: &str = "v=DKIM1; k=rsa; p=MIIBIjANBg";

    #[test]
    fn a_key_matches_in_every_notation() {
        for found in [KEY, "k=rsa;p=MIIB IjAN\tBg", "v=DKIM1;p=MIIBIjANBg;", "p=MIIBIjANBg; h=sha1:sha256; s=email; t=s; n=mine"]
        {
            assert_eq!(dkim(KEY, Ok(texts(&[found]))).0, RecordStatus::Verified, "{found}");
        }
        for found in
            ["v=DKIM1; p=", "v=DKIM1; k=ed25519; p=MIIBIjANBg", "v=DKIM2; p=MIIBIjANBg", "p=MIIBIjANBg; h=sha1", "p=other"]
        {
            assert_eq!(dkim(KEY, Ok(texts(&[found]))), (RecordStatus::Mismatch, texts(&[found])), "{found}");
        }
        assert_eq!(dkim(KEY, Ok(texts(&[KEY, "p=other"]))).0, RecordStatus::Mismatch);
        assert_eq!(dkim(KEY, Err(DnsLookupError::NoSuchName)), (RecordStatus::Missing, Vec::new()));
        assert_eq!(dkim(KEY, Err(DnsLookupError::Unreachable("why".into()))), (RecordStatus::Unreachable, texts(&["why"])));
    }

    #[test]
    fn spf_must_be_one_record_that_allows_the_sender() {
        let wanted = "v=spf1 mx ~all";
        for (found, has_relays, status) in [
            (vec!["v=spf1 mx -all"], false, RecordStatus::Verified),
            (vec!["other", "V=SPF1 +MX ip4:192.0.2.1 ~all"], false, RecordStatus::Verified),
            (vec!["v=spf1 ip4:192.0.2.1 -all"], false, RecordStatus::Mismatch),
            (vec!["v=spf1 include:spf.relay.example ~all"], true, RecordStatus::Verified),
            (vec!["v=spf1 -all"], true, RecordStatus::Mismatch),
            (vec!["v=spf1 mx", "v=spf1 a"], false, RecordStatus::Mismatch),
            (vec!["v=spf10 mx"], false, RecordStatus::Missing),
        ] {
            assert_eq!(spf(wanted, has_relays, Ok(texts(&found))).0, status, "{found:?}");
        }
    }

    #[test]
    fn any_valid_dmarc_record_is_accepted() {
        let relaxed = Some(Dmarc { wants_exact_signer: false });
        for (found, read) in [
            ("v=DMARC1; p=none", relaxed),
            ("v=DMARC1;p=reject;rua=mailto:a@acme.example", relaxed),
            (" v = DMARC1 ; p = Quarantine ; adkim = s", Some(Dmarc { wants_exact_signer: true })),
            ("v=DMARC1; rua=mailto:a@acme.example", relaxed),
            ("v=DMARC1", None),
            ("v=DMARC1; p=maybe", None),
            ("p=none; v=DMARC1", None),
            ("v=spf1 -all", None),
        ] {
            assert_eq!(dmarc(&texts(&[found])), read, "{found}");
        }
        assert_eq!(dmarc(&texts(&["v=DMARC1; p=none", "v=DMARC1; p=reject"])), None);
    }

    #[test]
    fn the_return_path_must_point_here() {
        let server = |host: &str| MailServer { preference: 10, host: host.into() };
        assert_eq!(
            return_path("mx.mill.example", Ok(vec![server("a.example"), server("mx.mill.example")])).0,
            RecordStatus::Verified
        );
        assert_eq!(
            return_path("mx.mill.example", Ok(vec![server("a.example")])),
            (RecordStatus::Mismatch, texts(&["10 a.example"]))
        );
    }
}
