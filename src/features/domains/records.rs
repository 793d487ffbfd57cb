//! The DNS records that a domain should have, with the names and values that users enter at their DNS provider.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::installation::{Installation, Relay};
use super::model::{Domain, DomainKey, Phase, Purpose};
use crate::base::clock::Timestamp;
use crate::engine::fetch::is_public;

/// The DNS label of a domain's return-path host.
pub const RETURN_LABEL: &str = "bounces";
/// The DNS label of a domain's host for tracked links.
pub const LINK_LABEL: &str = "links";

/// A DNS record that a domain should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredRecord {
    pub purpose: Purpose,
    pub kind: RecordType,
    pub name: String,
    pub value: String,
    pub priority: Option<u16>,
    /// Whether sending depends on this record.
    pub is_required: bool,
    /// When the record may be removed, if another key has replaced the record's key.
    pub retires_at: Option<Timestamp>,
}

/// The type of a DNS record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecordType {
    Txt,
    Cname,
    Mx,
}

impl RecordType {
    /// Returns the name of the record type, as DNS providers write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Txt => "TXT",
            Self::Cname => "CNAME",
            Self::Mx => "MX",
        }
    }
}

impl RequiredRecord {
    fn new(purpose: Purpose, kind: RecordType, name: String, value: String) -> Self {
        Self { purpose, kind, name, value, priority: None, is_required: false, retires_at: None }
    }
}

/// Returns the host name that receives the bounces for this domain.
pub fn return_host(domain: &Domain) -> String {
    format!("{RETURN_LABEL}.{}", domain.name)
}

/// Returns the host name inside this domain that branded links use.
pub fn link_host(domain: &Domain) -> String {
    format!("{LINK_LABEL}.{}", domain.name)
}

/// Returns the name of the DNS record that contains a public key.
pub fn key_name(domain: &Domain, key: &DomainKey) -> String {
    format!("{}._domainkey.{}", key.selector, domain.name)
}

/// Returns the DNS records that the domain should have: the records of its DKIM keys, then those for the return path, SPF, DMARC and
/// tracking. Whether the records for the return path, SPF and tracking are needed depends on the installation's settings and, for tracking,
/// also on the domain's.
pub fn required(domain: &Domain, installation: &Installation) -> Vec<RequiredRecord> {
    let mut records = Vec::new();
    let mut has_required = false;
    for key in &domain.keys {
        let name = key_name(domain, key);
        let mut record = RequiredRecord::new(Purpose::Dkim(key.selector.clone()), RecordType::Txt, name, key.record.clone());
        match key.phase {
            // One key is sufficient, and receivers must support RSA (RFC 8301 §3.1), so only the first record, which is for an RSA key, is
            // required.
            Phase::Pending | Phase::Signing => record.is_required = !std::mem::replace(&mut has_required, true),
            Phase::Retiring { until } => record.retires_at = Some(until),
        }
        records.push(record);
    }
    // If all domains share one bounce domain, the domain's own return-path host is not used.
    if let (None, Some(mail_host)) = (&installation.bounce_domain, &installation.mail_host) {
        let host = return_host(domain);
        let mut record = RequiredRecord::new(Purpose::ReturnPath, RecordType::Mx, host.clone(), mail_host.clone());
        record.priority = Some(10);
        records.push(record);
        records.push(RequiredRecord::new(Purpose::Spf, RecordType::Txt, host, spf(installation)));
    }
    let name = format!("_dmarc.{}", domain.name);
    records.push(RequiredRecord::new(Purpose::Dmarc, RecordType::Txt, name, "v=DMARC1; p=none".into()));
    if let (true, Some(host)) = (domain.tracking.branded, &installation.link_host) {
        records.push(RequiredRecord::new(Purpose::Tracking, RecordType::Cname, link_host(domain), host.clone()));
    }
    records
}

/// Returns the SPF record for the return path. The record allows the host in the return path's MX record, and each relay by its name or
/// address (RFC 7208 §5.3 and §5.6).
fn spf(installation: &Installation) -> String {
    let relays: String = installation.relays.iter().filter_map(mechanism).collect();
    format!("v=spf1 mx{relays} ~all")
}

/// Returns the SPF mechanism that allows a relay, with a leading space. A relay at a private address has no mechanism, because receivers
/// see the public address that the relay sends from, which only its operator knows.
fn mechanism(relay: &Relay) -> Option<String> {
    match relay {
        Relay::Name(name) => Some(format!(" a:{name}")),
        Relay::Address(address) if !is_public(*address) => None,
        Relay::Address(IpAddr::V4(address)) => Some(format!(" ip4:{address}")),
        Relay::Address(IpAddr::V6(address)) => Some(format!(" ip6:{address}")),
    }
}

/// Returns notes about a domain that result from the settings of this installation.
pub fn notes(domain: &Domain, installation: &Installation) -> Vec<String> {
    let mut notes = Vec::new();
    if installation.bounce_domain.is_none() && installation.mail_host.is_none() {
        notes.push(
            "Bounces need two more DNS records. To get them, ask the operator of the server to set server.public_url or \
             mail.hello_name to a public host name."
                .into(),
        );
    }
    if domain.tracking.branded && installation.link_host.is_none() {
        notes.push("Links cannot use the sending domain until server.public_url has a public host name.".into());
    }
    if installation.bounce_domain.is_none() && installation.mail_host.is_some() && !installation.relays.is_empty() {
        let relays: Vec<String> = installation.relays.iter().map(Relay::to_string).collect();
        notes.push(format!(
            "If the relay sends from hosts other than {}, add the SPF term that the relay's operator specifies, like \
             include:spf.relay.example, to the record at {}.",
            relays.join(" and "),
            return_host(domain),
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: for a relay with an IP address, the SPF record contained a term like `a:192.0.2.7`, which names a host that does
    /// not exist, so mail through the relay failed SPF.
    #[test]
    fn spf_allows_a_relay_by_its_address_and_omits_private_ones() {
        let record = |relays: &[&str]| {
            spf(&Installation { relays: relays.iter().map(|relay| Relay::of(relay)).collect(), ..Installation::default() })
        };
        assert_eq!(record(&[]), "v=spf1 mx ~all");
        assert_eq!(record(&["relay.example", "9.9.9.9"]), "v=spf1 mx a:relay.example ip4:9.9.9.9 ~all");
        assert_eq!(record(&["[2620:fe::fe]", "10.0.0.5", "127.0.0.1", "[::1]"]), "v=spf1 mx ip6:2620:fe::fe ~all");
    }
}
