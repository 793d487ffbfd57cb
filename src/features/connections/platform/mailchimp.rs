//! Mailchimp: pages by offset. The paths and parameters are those of Mailchimp's description of version 3.0.
//!
//! An offset skips contacts if earlier contacts are deleted in the meantime. Contacts are therefore sorted by sign-up, so that new ones come
//! last, and a page after a decrease of the total starts earlier. Contacts that are read twice change nothing.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{AccountPort, AudiencePort, ContactPage, ExternalAccount, Source, language, segment, set_country, set_field};
use crate::features::connections::client::Client;
use crate::features::connections::error::PlatformError;
use crate::features::contacts::jobs::ProviderSource;
use crate::features::contacts::jobs::provider::ExternalContact;
use crate::vocab::contact_status::Status;
use crate::vocab::limits;
use crate::vocab::providers::SourceKind;

/// A Mailchimp API key always has all rights of its user.
pub const SCOPES: &[(&str, &str)] = &[];

/// The maximum number of objects in a page.
const COUNT: usize = 1_000;

pub struct Mailchimp;

#[derive(Deserialize)]
struct Root {
    account_id: String,
    #[serde(default)]
    account_name: String,
}

#[derive(Deserialize)]
struct Lists {
    lists: Vec<List>,
}

#[derive(Deserialize)]
struct List {
    id: String,
    name: String,
    #[serde(default)]
    stats: ListStats,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListStats {
    member_count: Option<u64>,
    unsubscribe_count: Option<u64>,
    cleaned_count: Option<u64>,
}

#[derive(Deserialize)]
struct Segments {
    segments: Vec<Segment>,
}

#[derive(Deserialize)]
struct Segment {
    id: u64,
    name: String,
    member_count: Option<u64>,
    /// `static` for a tag.
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Members {
    members: Vec<Member>,
    total_items: u64,
}

#[derive(Deserialize)]
struct Member {
    email_address: String,
    status: String,
    #[serde(default)]
    merge_fields: BTreeMap<String, Value>,
    language: Option<String>,
    timestamp_signup: Option<String>,
    timestamp_opt: Option<String>,
    location: Option<Location>,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    country_code: Option<String>,
    timezone: Option<String>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

impl AccountPort for Mailchimp {
    async fn account(client: &Client<'_>) -> Result<ExternalAccount, PlatformError> {
        let root: Root = client.get("/3.0/", &[("fields", "account_id,account_name")]).await?;
        Ok(ExternalAccount { id: root.account_id, name: root.account_name })
    }
}

impl AudiencePort for Mailchimp {
    async fn sources(client: &Client<'_>) -> Result<Vec<Source>, PlatformError> {
        let query = [("count", "1000"), ("fields", "lists.id,lists.name,lists.stats")];
        let lists: Lists = client.get("/3.0/lists", &query).await?;
        let mut sources = Vec::new();
        for list in lists.lists.into_iter().take(limits::PROVIDER_SOURCES_REQUESTS_MAX) {
            let path = format!("/3.0/lists/{}/segments", segment(&list.id)?);
            let ListStats { member_count, unsubscribe_count, cleaned_count } = list.stats;
            let count = member_count.map(|members| members + unsubscribe_count.unwrap_or(0) + cleaned_count.unwrap_or(0));
            sources.push(Source { id: list.id.clone(), kind: SourceKind::Audience, name: list.name.clone(), count });
            let fields = "segments.id,segments.name,segments.member_count,segments.type";
            let segments: Segments = client.get(&path, &[("count", "1000"), ("fields", fields)]).await?;
            sources.extend(segments.segments.into_iter().map(|found| Source {
                id: format!("{}/{}", list.id, found.id),
                kind: if found.kind == "static" { SourceKind::Tag } else { SourceKind::Segment },
                name: format!("{}: {}", list.name, found.name),
                count: found.member_count,
            }));
            if sources.len() >= limits::PROVIDER_SOURCES_LISTED_MAX {
                break;
            }
        }
        sources.truncate(limits::PROVIDER_SOURCES_LISTED_MAX);
        Ok(sources)
    }

    async fn contacts(client: &Client<'_>, source: &ProviderSource, cursor: Option<&str>) -> Result<ContactPage, PlatformError> {
        let from = Cursor::parse(cursor)?;
        let (offset, count) = (from.offset.to_string(), COUNT.to_string());
        let mut query = vec![("count", count.as_str()), ("offset", offset.as_str())];
        let path = match (source.kind, source.id.split_once('/')) {
            (SourceKind::Audience, None) => {
                query.extend([("sort_field", "timestamp_signup"), ("sort_dir", "ASC")]);
                format!("/3.0/lists/{}/members", segment(&source.id)?)
            }
            (SourceKind::Segment | SourceKind::Tag, Some((list, part))) => {
                query.extend(["include_cleaned", "include_transactional", "include_unsubscribed"].map(|name| (name, "true")));
                format!("/3.0/lists/{}/segments/{}/members", segment(list)?, segment(part)?)
            }
            _ => return Err(PlatformError::Missing),
        };
        let page: Members = client.get(&path, &query).await?;
        let (read, total) = (page.members.len() as u64, page.total_items);
        let next = from.after(read, total).map(|cursor| cursor.to_text());
        Ok(ContactPage { contacts: page.members.into_iter().map(external).collect(), next, total: Some(total) })
    }
}

/// The start of a page: its offset, and the total at the time of the previous page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    offset: u64,
    total: u64,
}

impl Cursor {
    fn parse(text: Option<&str>) -> Result<Self, PlatformError> {
        let Some(text) = text else { return Ok(Self::default()) };
        let parsed = text.split_once(':').and_then(|(offset, total)| Some((offset.parse().ok()?, total.parse().ok()?)));
        let (offset, total) = parsed.ok_or_else(|| PlatformError::Malformed("the stored cursor is invalid".to_owned()))?;
        Ok(Self { offset, total })
    }

    fn to_text(self) -> String {
        format!("{}:{}", self.offset, self.total)
    }

    /// Returns the start of the page after a page with `read` contacts.
    fn after(self, read: u64, total: u64) -> Option<Self> {
        // The contacts that were deleted since the previous page may have been before this page.
        let deleted = self.total.saturating_sub(total);
        if deleted > 0 && self.offset > 0 {
            return Some(Self { offset: self.offset.saturating_sub(deleted), total });
        }
        let offset = self.offset + read;
        (read > 0 && offset < total).then_some(Self { offset, total })
    }
}

fn external(member: Member) -> ExternalContact {
    let status = match member.status.as_str() {
        "subscribed" => Some(Status::Subscribed),
        "unsubscribed" => Some(Status::Unsubscribed),
        "cleaned" => Some(Status::Bounced),
        // Pending members have not confirmed, transactional ones are only customers, and archived ones are not mailed.
        _ => None,
    };
    let tags = member.tags.into_iter().map(|tag| tag.name).collect();
    let mut external = ExternalContact { email: member.email_address, status, tags, ..ExternalContact::default() };
    external.profile.language = language(member.language);
    let location = member.location.unwrap_or_default();
    set_country(&mut external, location.country_code.filter(|code| !code.is_empty()));
    set_field(&mut external, "providerCreatedAt", member.timestamp_signup.map(Value::from));
    set_field(&mut external, "consentAt", member.timestamp_opt.map(Value::from));
    set_field(&mut external, "timezone", location.timezone.map(Value::from));
    for (name, value) in member.merge_fields {
        match (name.as_str(), value) {
            ("FNAME", Value::String(text)) => external.profile.first_name = Some(text),
            ("LNAME", Value::String(text)) => external.profile.last_name = Some(text),
            ("PHONE", Value::String(text)) => external.profile.phone = Some(text),
            ("COMPANY", Value::String(text)) => external.profile.company = Some(text),
            ("ADDRESS", Value::Object(mut address)) => {
                let mut text = |name: &str| address.remove(name).and_then(|value| value.as_str().map(str::to_owned));
                external.profile.city = text("city");
                let country = text("country").filter(|country| !country.is_empty());
                if country.is_some() {
                    set_country(&mut external, country);
                }
                for (part, field) in [("addr1", "address"), ("addr2", "address2"), ("state", "region"), ("zip", "zip")] {
                    let value = text(part).map(Value::from);
                    set_field(&mut external, field, value);
                }
            }
            (_, value) => set_field(&mut external, &name, Some(value)),
        }
    }
    external
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_after_deletions_starts_earlier() {
        let start = Cursor::parse(None).expect("the first page has no cursor");
        let second = start.after(1_000, 2_500).expect("there is a second page");
        assert_eq!(second.to_text(), "1000:2500");
        assert_eq!(Cursor::parse(Some("1000:2500")), Ok(second));
        let again = second.after(1_000, 2_490).expect("the page is read again");
        assert_eq!(again.to_text(), "990:2490", "ten members before the page may have been deleted");
        let third = again.after(1_000, 2_490).expect("there is a third page");
        assert_eq!((third.to_text().as_str(), third.after(500, 2_490)), ("1990:2490", None));
        assert_eq!(start.after(0, 10), None, "an empty page ends the source");
        assert!(Cursor::parse(Some("x")).is_err());
    }

    #[test]
    fn cleaned_is_bounced_and_pending_is_no_consent() {
        let status = |word: &str| {
            let member = json!({ "email_address": "ada@example.com", "status": word });
            external(serde_json::from_value(member).expect("the value has the documented form")).status
        };
        assert_eq!(
            ["subscribed", "unsubscribed", "cleaned", "pending", "transactional", "archived"].map(status),
            [Some(Status::Subscribed), Some(Status::Unsubscribed), Some(Status::Bounced), None, None, None]
        );
    }

    #[test]
    fn merge_fields_tags_and_language_are_mapped() {
        let member = json!({
            "email_address": "ada@example.com", "status": "subscribed", "language": "pt_PT", "tags": [{ "id": 7, "name": "vip" }],
            "timestamp_opt": "2026-01-02T03:04:05+00:00", "location": { "country_code": "PT", "timezone": "Europe/Lisbon" },
            "merge_fields": {
                "FNAME": "Ada", "LNAME": "", "SHOE": 38, "BIRTHDAY": "",
                "ADDRESS": { "addr1": "Rua 1", "city": "Porto", "state": "", "zip": "4000", "country": "PT" },
            },
        });
        let external = external(serde_json::from_value(member).expect("the value has the documented form"));
        let profile = &external.profile;
        assert_eq!(
            (profile.first_name.as_deref(), profile.city.as_deref(), profile.country.as_deref(), profile.language.as_deref()),
            (Some("Ada"), Some("Porto"), Some("PT"), Some("pt-PT"))
        );
        let names: Vec<&str> = external.custom_fields.keys().map(String::as_str).collect();
        assert_eq!((names, external.tags), (vec!["SHOE", "address", "consentAt", "timezone", "zip"], vec!["vip".to_owned()]));
    }
}
