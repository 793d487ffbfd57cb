//! A sending domain and its rules: when the domain is verified, when it is checked again, and how its keys change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::utm::Utm;
use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::vocab::limits;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The domain name, in ASCII and lowercase.
    pub name: String,
    /// The DKIM keys of the domain, oldest first.
    pub keys: Vec<DomainKey>,
    pub tracking: Tracking,
    /// The default UTM parameters for links, if any.
    pub utm: Option<Utm>,
    /// The kind of mail that the domain is for, if it was created as a subdomain of a root domain.
    pub stream: Option<Stream>,
    /// Whether the domain signs for From addresses at the root domain.
    pub signs_for_root: bool,
    pub from_name: Option<String>,
    pub status: Status,
    /// The reason for the status, worded for users.
    pub reason: Option<String>,
    /// The number of consecutive checks of a verified domain that found none of its DKIM records.
    pub misses: u8,
    /// When the domain started to wait for its records.
    pub waiting_since: Timestamp,
    /// The number of checks since `waiting_since`.
    pub checks: u32,
    pub verified_at: Option<Timestamp>,
    pub checked_at: Option<Timestamp>,
    /// When the domain is checked again.
    pub next_check: Option<Timestamp>,
    /// The results of the last check, one for each record.
    pub findings: Vec<Finding>,
    /// Whether the DMARC record requires the signing domain to equal the From domain.
    pub wants_exact_signer: bool,
    /// Other notes for users about the domain.
    pub notes: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Domain {}

/// The verification status of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DomainStatus")]
pub enum Status {
    /// The domain's DKIM records are not in DNS yet.
    Pending,
    /// Mail from the domain is signed.
    Verified,
    /// The domain's DKIM records did not appear, or disappeared.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainKey {
    pub selector: String,
    pub kind: KeyKind,
    /// The private key in DER format, sealed with the context that [`place`] returns.
    pub sealed: Vec<u8>,
    /// The content of the TXT record with the public key.
    pub record: String,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyKind {
    Rsa,
    Ed25519,
}

impl KeyKind {
    /// Both kinds of keys, in the order of their records.
    pub const ALL: [Self; 2] = [Self::Rsa, Self::Ed25519];
}

/// The phase in the life of a DKIM key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The DNS record of the key has not been seen yet, so the key does not sign.
    Pending,
    /// The key signs mail.
    Signing,
    /// A newer key has replaced this key. Its DNS record must stay until the given time, because mail that the key signed may still be in
    /// transit.
    Retiring { until: Timestamp },
}

/// What is tracked in mail sent from a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DomainTracking")]
pub struct Tracking {
    #[serde(rename = "openTracking")]
    pub opens: bool,
    #[serde(rename = "clickTracking")]
    pub clicks: bool,
    /// Whether links use a host name inside the sending domain.
    #[serde(rename = "brandedTracking")]
    pub branded: bool,
}

impl Default for Tracking {
    fn default() -> Self {
        Self { opens: true, clicks: true, branded: false }
    }
}

/// The kind of mail that a subdomain of a root domain sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "MailStream")]
pub enum Stream {
    /// Single messages that recipients are waiting for.
    Transactional,
    /// Newsletters and offers.
    Marketing,
}

impl Stream {
    /// Returns the label that precedes the root domain in the name of the subdomain.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Transactional => "notify",
            Self::Marketing => "send",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// The record of the DKIM key with this selector.
    Dkim(String),
    ReturnPath,
    Spf,
    Dmarc,
    Tracking,
}

/// How a record in DNS compares with the required one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordStatus {
    /// The record has not been checked yet.
    Pending,
    /// The record matches.
    Verified,
    /// The record does not exist.
    Missing,
    /// A different record exists.
    Mismatch,
    /// The DNS lookup failed.
    Unreachable,
}

impl RecordStatus {
    /// Returns a description of the status.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Verified => "verified",
            Self::Missing => "missing",
            Self::Mismatch => "a different record exists",
            Self::Unreachable => "the DNS lookup failed",
        }
    }
}

/// The result of a check for one DNS record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub purpose: Purpose,
    /// The required value of the record at the time of the check.
    pub wanted: String,
    pub status: RecordStatus,
    /// The values that were found instead of the required value, or the error.
    pub found: Vec<String>,
}

/// The results of checking the DNS records of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsCheck {
    pub findings: Vec<Finding>,
    /// Whether DMARC requires strict alignment; `None` if the DMARC record could not be read.
    pub wants_exact_signer: Option<bool>,
    pub notes: Vec<String>,
}

/// Returns the context for sealing a private key. Each key has its own context, so the sealed key of one domain cannot be used for
/// another domain.
pub fn place(account: crate::vocab::ids::AccountId, domain: &str, selector: &str) -> Vec<u8> {
    format!("domains/{account}/{domain}/{selector}").into_bytes()
}

impl Domain {
    /// Creates a domain whose records are not published yet.
    pub fn new(name: String, keys: Vec<DomainKey>, now: Timestamp) -> Self {
        Self {
            name,
            keys,
            tracking: Tracking::default(),
            utm: None,
            stream: None,
            signs_for_root: false,
            from_name: None,
            status: Status::Pending,
            reason: None,
            misses: 0,
            waiting_since: now,
            checks: 0,
            verified_at: None,
            checked_at: None,
            next_check: Some(now.plus_ms(limits::DOMAIN_CHECK_INTERVAL_MS)),
            findings: Vec::new(),
            wants_exact_signer: false,
            notes: Vec::new(),
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns the keys to sign mail with: the keys in the signing phase whose records the last check found. If it found none of these
    /// records, returns all keys in the signing phase, because the DNS response may have been wrong.
    pub fn signing_keys(&self) -> impl Iterator<Item = &DomainKey> {
        let signs = |key: &&DomainKey| key.phase == Phase::Signing;
        let any_seen = self.keys.iter().filter(signs).any(|key| self.is_seen(key));
        self.keys.iter().filter(signs).filter(move |key| !any_seen || self.is_seen(key))
    }

    /// Returns whether the last check found the record of this key.
    fn is_seen(&self, key: &DomainKey) -> bool {
        self.key_status(key) == RecordStatus::Verified
    }

    fn key_status(&self, key: &DomainKey) -> RecordStatus {
        let own = |finding: &&Finding| matches!(&finding.purpose, Purpose::Dkim(selector) if *selector == key.selector);
        self.findings.iter().find(own).map_or(RecordStatus::Pending, |finding| finding.status)
    }

    /// Returns whether new keys are waiting for their DNS records.
    pub fn is_rotating(&self) -> bool {
        self.keys.iter().any(|key| key.phase == Phase::Pending)
    }

    /// Returns the last finding for a record, if the record's required value has not changed since.
    pub fn finding(&self, purpose: &Purpose, wanted: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.purpose == *purpose && finding.wanted == wanted)
    }

    /// Returns whether the last check found the record for this purpose.
    pub fn has(&self, purpose: &Purpose) -> bool {
        self.findings.iter().any(|finding| finding.purpose == *purpose && finding.status == RecordStatus::Verified)
    }

    /// Restarts verification at a user's request, if the domain failed without ever being verified.
    pub fn restart_verification(&mut self, now: Timestamp) {
        if self.status == Status::Failed && self.verified_at.is_none() {
            self.status = Status::Pending;
            self.waiting_since = now;
            self.checks = 0;
        }
    }

    /// Adds new keys; the current keys continue to sign until the records of the new keys are seen.
    pub fn add_keys(&mut self, keys: Vec<DomainKey>, now: Timestamp) {
        self.keys.extend(keys);
        self.waiting_since = now;
        self.checks = 0;
        self.next_check = Some(now.plus_ms(limits::DOMAIN_CHECK_INTERVAL_MS));
        self.updated_at = now;
    }

    /// Replaces all keys of the domain, because their private keys cannot be opened. The domain signs no mail until a record of the new
    /// keys is seen.
    pub fn replace_lost_keys(&mut self, keys: Vec<DomainKey>, now: Timestamp) {
        self.keys.clear();
        self.findings.clear();
        self.status = Status::Pending;
        self.reason =
            Some("The domain's DKIM keys were lost with the master key; add the DNS records of its new keys.".to_owned());
        self.verified_at = None;
        self.add_keys(keys, now);
    }

    pub fn apply_check(&mut self, check: DnsCheck, now: Timestamp) {
        self.findings = check.findings;
        self.notes = check.notes;
        self.wants_exact_signer = check.wants_exact_signer.unwrap_or(self.wants_exact_signer);
        self.checked_at = Some(now);
        self.checks = self.checks.saturating_add(1);
        self.advance_keys(now);
        let before = self.status;
        self.update_status(now);
        if self.status != before {
            self.updated_at = now;
        }
        self.next_check = self.pause(now).map(|pause| now.plus_ms(pause));
    }

    /// For each kind, starts signing with the newest key whose record was found, and retires the older keys that sign. Deletes retired keys
    /// whose records no longer need to stay in DNS.
    fn advance_keys(&mut self, now: Timestamp) {
        for kind in KeyKind::ALL {
            let newest = (0..self.keys.len())
                .rev()
                .find(|&place| self.keys[place].kind == kind && self.is_seen(&self.keys[place]))
                .filter(|&place| !matches!(self.keys[place].phase, Phase::Retiring { .. }));
            let Some(newest) = newest else { continue };
            for place in 0..=newest {
                let key = &mut self.keys[place];
                match (key.kind == kind, place == newest, key.phase) {
                    (true, true, _) => key.phase = Phase::Signing,
                    (true, false, Phase::Signing) => {
                        key.phase = Phase::Retiring { until: now.plus_ms(limits::DOMAIN_KEY_RETIRES_MS) };
                    }
                    _ => {}
                }
            }
        }
        self.keys.retain(|key| !matches!(key.phase, Phase::Retiring { until } if until <= now));
    }

    fn update_status(&mut self, now: Timestamp) {
        let current: Vec<RecordStatus> =
            self.keys.iter().filter(|key| !matches!(key.phase, Phase::Retiring { .. })).map(|key| self.key_status(key)).collect();
        if current.contains(&RecordStatus::Verified) {
            self.status = Status::Verified;
            self.verified_at.get_or_insert(now);
            self.misses = 0;
            self.reason = None;
            return;
        }
        if current.contains(&RecordStatus::Unreachable) {
            self.reason = Some("The DNS lookup failed and will be repeated.".into());
            return;
        }
        match self.status {
            Status::Verified => {
                self.misses = self.misses.saturating_add(1);
                let gone = "The DKIM records are no longer in DNS";
                if self.misses >= limits::DOMAIN_MISSES_MAX {
                    self.status = Status::Failed;
                    self.reason = Some(format!("{gone}, so the domain is no longer verified; add them again."));
                } else {
                    self.reason = Some(format!("{gone}; add them again soon, or the domain will no longer be verified."));
                }
            }
            Status::Pending if now.ms_since(self.waiting_since) >= limits::DOMAIN_VERIFICATION_MS => {
                self.status = Status::Failed;
                self.reason =
                    Some("The DKIM records did not appear within three days; add them and verify the domain again.".into());
            }
            Status::Pending => self.reason = Some("The DKIM records have not been found in DNS yet.".into()),
            Status::Failed => {}
        }
    }

    /// Returns how many milliseconds to wait until the next check; `None` if only a user can request one.
    fn pause(&self, now: Timestamp) -> Option<i64> {
        let waited = now.ms_since(self.waiting_since);
        let growing = || {
            let doublings = self.checks.min(20);
            (limits::DOMAIN_CHECK_INTERVAL_MS << doublings).min(limits::DOMAIN_CHECK_INTERVAL_MS_MAX)
        };
        match self.status {
            Status::Verified if self.misses > 0 => Some(limits::DOMAIN_MISS_PAUSE_MS),
            Status::Verified if self.is_rotating() && waited < limits::DOMAIN_VERIFICATION_MS => Some(growing()),
            Status::Pending => Some(growing()),
            Status::Verified => Some(limits::DOMAIN_DAILY_MS),
            // A domain that was once verified may recover, so the checks continue.
            Status::Failed if self.verified_at.is_some() => Some(limits::DOMAIN_DAILY_MS),
            Status::Failed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_767_225_600_000);
    const MINUTE_MS: i64 = 60_000;

    fn key(selector: &str, kind: KeyKind) -> DomainKey {
        DomainKey { selector: selector.into(), kind, sealed: Vec::new(), record: selector.into(), phase: Phase::Pending }
    }

    fn domain() -> Domain {
        Domain::new("acme.example".into(), vec![key("r1", KeyKind::Rsa), key("e1", KeyKind::Ed25519)], START)
    }

    fn check(found: &[(&str, RecordStatus)]) -> DnsCheck {
        let finding = |(selector, status): &(&str, RecordStatus)| Finding {
            purpose: Purpose::Dkim((*selector).into()),
            wanted: (*selector).into(),
            status: *status,
            found: Vec::new(),
        };
        DnsCheck { findings: found.iter().map(finding).collect(), wants_exact_signer: None, notes: Vec::new() }
    }

    fn selectors(domain: &Domain) -> Vec<&str> {
        domain.signing_keys().map(|key| key.selector.as_str()).collect()
    }

    use RecordStatus::{Mismatch, Missing, Unreachable, Verified};

    #[test]
    fn one_published_key_verifies_a_domain_and_only_published_keys_sign() {
        let mut domain = domain();
        domain.apply_check(check(&[("r1", Missing), ("e1", Mismatch)]), START);
        assert_eq!((domain.status, selectors(&domain).len()), (Status::Pending, 0));
        domain.apply_check(check(&[("r1", Verified), ("e1", Missing)]), START.plus_ms(MINUTE_MS));
        assert_eq!((domain.status, selectors(&domain)), (Status::Verified, vec!["r1"]));
        domain.apply_check(check(&[("r1", Verified), ("e1", Verified)]), START.plus_ms(2 * MINUTE_MS));
        assert_eq!(selectors(&domain), ["r1", "e1"]);
        assert_eq!(domain.next_check, Some(START.plus_ms(2 * MINUTE_MS + limits::DOMAIN_DAILY_MS)));
    }

    #[test]
    fn a_pending_domain_is_checked_less_and_less_often_and_fails_after_three_days() {
        let mut domain = domain();
        let (mut pauses, mut now) = (Vec::new(), START);
        while let Some(next) = domain.next_check {
            pauses.push(next.ms_since(now));
            now = next;
            domain.apply_check(check(&[("r1", Missing), ("e1", Missing)]), now);
        }
        assert_eq!(domain.status, Status::Failed);
        assert!(pauses.is_sorted() && pauses.len() < 40, "{pauses:?}");
        assert!(now.ms_since(START) >= limits::DOMAIN_VERIFICATION_MS);
        domain.restart_verification(now);
        domain.apply_check(check(&[("r1", Missing), ("e1", Verified)]), now);
        assert_eq!((domain.status, domain.reason.as_deref()), (Status::Verified, None));
    }

    #[test]
    fn a_failed_dns_lookup_changes_nothing() {
        let mut domain = domain();
        domain.apply_check(check(&[("r1", Verified), ("e1", Verified)]), START);
        for hours in 1..100 {
            domain.apply_check(check(&[("r1", Unreachable), ("e1", Missing)]), START.plus_ms(hours * 60 * MINUTE_MS));
        }
        assert_eq!(domain.status, Status::Verified);
        assert_eq!(selectors(&domain), ["r1", "e1"]);
    }

    #[test]
    fn missing_records_fail_a_domain_after_several_checks_and_returning_ones_restore_it() {
        let mut domain = domain();
        let (here, gone) = ([("r1", Verified), ("e1", Verified)], [("r1", Missing), ("e1", Missing)]);
        domain.apply_check(check(&here), START);
        domain.apply_check(check(&gone), START.plus_ms(MINUTE_MS));
        assert_eq!((domain.status, selectors(&domain).len()), (Status::Verified, 2), "a single check may be wrong");
        assert_eq!(domain.next_check, Some(START.plus_ms(MINUTE_MS + limits::DOMAIN_MISS_PAUSE_MS)));
        for miss in 1..limits::DOMAIN_MISSES_MAX {
            domain.apply_check(check(&gone), START.plus_ms(MINUTE_MS * (1 + i64::from(miss))));
        }
        assert_eq!(domain.status, Status::Failed);
        assert!(domain.reason.as_deref().is_some_and(|reason| reason.contains("no longer in DNS")));
        domain.apply_check(check(&here), START.plus_ms(90 * MINUTE_MS));
        assert_eq!((domain.status, domain.reason.as_deref()), (Status::Verified, None));
    }

    #[test]
    fn new_keys_take_over_once_seen_and_old_ones_retire_later() {
        let mut domain = domain();
        domain.apply_check(check(&[("r1", Verified), ("e1", Verified)]), START);
        domain.add_keys(vec![key("r2", KeyKind::Rsa), key("e2", KeyKind::Ed25519)], START);
        let all = |r2, e2| check(&[("r1", Verified), ("e1", Verified), ("r2", r2), ("e2", e2)]);
        domain.apply_check(all(Missing, Missing), START);
        assert_eq!(selectors(&domain), ["r1", "e1"]);
        domain.apply_check(all(Verified, Missing), START);
        assert_eq!(selectors(&domain), ["e1", "r2"]);
        domain.apply_check(all(Verified, Verified), START);
        assert_eq!((selectors(&domain), domain.is_rotating()), (vec!["r2", "e2"], false));
        assert_eq!(domain.keys.len(), 4);
        domain.apply_check(all(Verified, Verified), START.plus_ms(limits::DOMAIN_KEY_RETIRES_MS));
        assert_eq!(domain.keys.len(), 2);
    }
}
