//! Sending domains as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::installation::Installation;
use super::model::{Domain, RecordStatus, Status, Stream, Tracking};
use super::records::{self, RecordType};
use super::utm::Utm;
use crate::engine::api::response::WireTime;

/// The region that the API returns for every domain: this installation sends all mail.
const REGION: &str = "local";

/// A sending domain, as the API returns it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DomainView {
    /// The domain name, in ASCII and lowercase.
    pub domain: String,
    /// Always `local`, because this installation sends the mail.
    pub region: String,
    pub status: Status,
    /// Whether mail can be sent from the domain.
    pub is_verified: bool,
    /// Why the domain is not verified, or a problem that may soon affect its verification.
    pub status_reason: Option<String>,
    /// The DNS records to add for the domain.
    pub dns_records: Vec<RecordView>,
    /// Other notes about the domain's DNS records.
    pub notes: Vec<String>,
    pub tracking_settings: Tracking,
    /// The default UTM parameters for links in mail from the domain, unless a campaign or send sets different ones. Absent if there
    /// are no defaults.
    pub utm: Option<Utm>,
    /// The kind of mail that the domain is for, if it was created as a subdomain of a root domain.
    pub stream: Option<Stream>,
    /// Whether the domain signs for From addresses at the root domain.
    pub vanity_root_from: bool,
    /// The sender's name that is stored with the domain.
    pub from_name: Option<String>,
    /// Whether the domain has been verified before and has new keys that are waiting for their DNS records.
    pub rotating: bool,
    /// When the domain's DNS records were last checked.
    pub checked_at: Option<WireTime>,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

/// A record to add to DNS.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordView {
    #[serde(rename = "type")]
    pub kind: RecordType,
    /// The full name of the record.
    pub name: String,
    pub value: String,
    /// The priority of an MX record.
    pub priority: Option<u16>,
    /// The purpose of the record: `dkim`, `return_path`, `spf`, `dmarc` or `tracking`.
    pub purpose: RecordPurpose,
    /// Whether sending requires this record. Records that are not required are recommended. One of the two DKIM records is
    /// sufficient.
    pub required: bool,
    pub status: RecordStatus,
    /// For `mismatch`, the values that were found instead of the required value; for `unreachable`, the error.
    pub found: Vec<String>,
    /// When the record may be removed, because another key has replaced the record's key.
    pub remove_after: Option<WireTime>,
}

/// The purpose of a DNS record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecordPurpose {
    /// Receivers verify signatures with this record.
    Dkim,
    /// Bounces return to this host.
    ReturnPath,
    /// States which servers may send with this return path.
    Spf,
    /// States how receivers should treat mail that forges the domain.
    Dmarc,
    /// Links use this host.
    Tracking,
}

impl From<&super::model::Purpose> for RecordPurpose {
    fn from(purpose: &super::model::Purpose) -> Self {
        use super::model::Purpose;
        match purpose {
            Purpose::Dkim(_) => Self::Dkim,
            Purpose::ReturnPath => Self::ReturnPath,
            Purpose::Spf => Self::Spf,
            Purpose::Dmarc => Self::Dmarc,
            Purpose::Tracking => Self::Tracking,
        }
    }
}

pub fn records(domain: &Domain, installation: &Installation) -> Vec<RecordView> {
    let view = |wanted: records::RequiredRecord| {
        let finding = domain.finding(&wanted.purpose, &wanted.value);
        RecordView {
            kind: wanted.kind,
            purpose: (&wanted.purpose).into(),
            name: wanted.name,
            value: wanted.value,
            priority: wanted.priority,
            required: wanted.is_required,
            status: finding.map_or(RecordStatus::Pending, |finding| finding.status),
            found: finding.map_or_else(Vec::new, |finding| finding.found.clone()),
            remove_after: wanted.retires_at.map(WireTime),
        }
    };
    records::required(domain, installation).into_iter().map(view).collect()
}

pub fn domain_view(domain: &Domain, installation: &Installation) -> DomainView {
    let mut notes = records::notes(domain, installation);
    notes.extend(domain.notes.iter().cloned());
    DomainView {
        domain: domain.name.clone(),
        region: REGION.into(),
        status: domain.status,
        is_verified: domain.status == Status::Verified,
        status_reason: domain.reason.clone(),
        dns_records: records(domain, installation),
        notes,
        tracking_settings: domain.tracking,
        utm: domain.utm.clone(),
        stream: domain.stream,
        vanity_root_from: domain.signs_for_root,
        from_name: domain.from_name.clone(),
        rotating: domain.is_rotating() && domain.verified_at.is_some(),
        checked_at: domain.checked_at.map(WireTime),
        created_at: WireTime(domain.created_at),
        updated_at: WireTime(domain.updated_at),
    }
}

impl DomainView {
    pub fn sample() -> Self {
        let record = |kind, name: &str, value: &str, purpose, required| RecordView {
            kind,
            name: format!("{name}.acme.example"),
            value: value.into(),
            priority: (kind == RecordType::Mx).then_some(10),
            purpose,
            required,
            status: RecordStatus::Verified,
            found: Vec::new(),
            remove_after: None,
        };
        Self {
            domain: "acme.example".into(),
            region: REGION.into(),
            status: Status::Verified,
            is_verified: true,
            status_reason: None,
            dns_records: vec![
                record(RecordType::Txt, "mm1-8f2a6c._domainkey", "v=DKIM1; k=rsa; p=MIIBIjANBgkqh…", RecordPurpose::Dkim, true),
                record(RecordType::Txt, "mm2-8f2a6c._domainkey", "v=DKIM1; k=ed25519; p=11qYAYKx…", RecordPurpose::Dkim, false),
                record(RecordType::Mx, "bounces", "mail.acme.example", RecordPurpose::ReturnPath, false),
                record(RecordType::Txt, "bounces", "v=spf1 mx ~all", RecordPurpose::Spf, false),
                record(RecordType::Txt, "_dmarc", "v=DMARC1; p=none", RecordPurpose::Dmarc, false),
            ],
            notes: Vec::new(),
            tracking_settings: Tracking::default(),
            utm: None,
            stream: None,
            vanity_root_from: false,
            from_name: None,
            rotating: false,
            checked_at: Some(WireTime::sample()),
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}
