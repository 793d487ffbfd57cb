//! Mailchimp: contacts are read in pages by offset. The paths and parameters come from Mailchimp's API description for version 3.0.
//!
//! If earlier contacts are deleted in the meantime, the next offset skips contacts. Each page therefore starts with the last contact of the
//! previous page. If the page starts with another contact, the import goes back by one page. The members of an audience are sorted by
//! sign-up time, so that new members come last; a request cannot sort the members of a segment.
//!
//! The groups that members chose, such as topics, become tags. A member has only the IDs of its groups, so the names of the groups are read
//! first.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{AccountPort, AudiencePort, ContactPage, ExternalAccount, Source, read_contact, segment};
use crate::base::clock::Timestamp;
use crate::features::connections::client::{Client, GroupTags};
use crate::features::connections::error::PlatformError;
use crate::features::connections::fields::{Defaults, Fields, Mapping};
use crate::features::contacts::jobs::ProviderSource;
use crate::features::contacts::jobs::provider::{ExternalContact, ReadContact};
use crate::vocab::contact_status::Status;
use crate::vocab::limits;
use crate::vocab::providers::SourceKind;

/// No scopes, because a Mailchimp API key always has all permissions of its user.
pub const SCOPES: &[(&str, &str)] = &[];

/// The maximum number of objects on a page.
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
    /// The kind of segment; `static` for a tag.
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Categories {
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Category {
    id: String,
    title: String,
}

#[derive(Deserialize)]
struct Groups {
    interests: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Members {
    members: Vec<Box<RawValue>>,
    total_items: u64,
}

impl Members {
    fn ids(&self) -> Vec<String> {
        let ids = self.members.iter().map(|raw| serde_json::from_str::<MemberId>(raw.get()).map(|found| found.id));
        ids.map(Result::unwrap_or_default).collect()
    }
}

#[derive(Deserialize)]
struct MemberId {
    id: String,
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
    /// Whether the member is in a group, by group ID.
    interests: Option<BTreeMap<String, bool>>,
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

    async fn contacts(
        client: &Client<'_>,
        source: &ProviderSource,
        since: Option<Timestamp>,
        cursor: Option<&str>,
    ) -> Result<ContactPage, PlatformError> {
        let mut query = Vec::new();
        let since = since.map(|since| since.to_string());
        let path = match (source.kind, source.id.split_once('/')) {
            (SourceKind::Audience, None) => {
                query.extend([("sort_field", "timestamp_signup"), ("sort_dir", "ASC")]);
                query.extend(since.as_deref().map(|since| ("since_last_changed", since)));
                format!("/3.0/lists/{}/members", segment(&source.id)?)
            }
            // Requests cannot filter a segment's members by time, so each run reads all of them.
            (SourceKind::Segment | SourceKind::Tag, Some((list, part))) => {
                query.extend(["include_cleaned", "include_transactional", "include_unsubscribed"].map(|name| (name, "true")));
                format!("/3.0/lists/{}/segments/{}/members", segment(list)?, segment(part)?)
            }
            _ => return Err(PlatformError::Missing),
        };
        let groups = groups(client, source.id.split('/').next().unwrap_or_default()).await?;
        let read = async |from: &Cursor| {
            let (offset, count) = (from.offset.to_string(), COUNT.to_string());
            let own = [("count", count.as_str()), ("offset", offset.as_str())];
            client.get::<Members>(&path, &[query.as_slice(), &own].concat()).await
        };
        let mut from = Cursor::parse(cursor)?;
        let mut page = read(&from).await?;
        let mut ids = page.ids();
        let earlier = from.before(&ids);
        let is_repeat = earlier.is_some();
        if let Some(earlier) = earlier {
            from = earlier;
            page = read(&from).await?;
            ids = page.ids();
        }
        let contacts = page.members.iter().skip(from.repeated(&ids, is_repeat));
        let contacts = contacts.map(|raw| contact(&client.mapping, &groups, raw)).collect();
        let next = from.after(&ids, page.total_items, is_repeat).map(|cursor| cursor.to_text());
        Ok(ContactPage { contacts, next, total: Some(page.total_items) })
    }
}

/// The position of a page in a source, and what is known about the previous page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cursor {
    offset: u64,
    /// The ID of the last member of the previous page, which this page should start with.
    last: Option<String>,
    /// Whether the previous page was read again. If so, this page is accepted even if it starts with another member, because members
    /// without a fixed order could otherwise keep the import from advancing.
    follows_repeat: bool,
}

impl Cursor {
    fn parse(text: Option<&str>) -> Result<Self, PlatformError> {
        let Some(text) = text else { return Ok(Self::default()) };
        let invalid = || PlatformError::Malformed("the stored cursor is invalid".to_owned());
        let (offset, last) = text.split_once(':').ok_or_else(invalid)?;
        let (last, follows_repeat) = last.strip_suffix(":again").map_or((last, false), |last| (last, true));
        Ok(Self { offset: offset.parse().map_err(|_| invalid())?, last: Some(last.to_owned()), follows_repeat })
    }

    fn to_text(&self) -> String {
        let again = if self.follows_repeat { ":again" } else { "" };
        format!("{}:{}{again}", self.offset, self.last.as_deref().unwrap_or_default())
    }

    /// If this page, with the members `ids`, shows that earlier members were deleted or moved, returns the start of an earlier page to read
    /// instead.
    fn before(&self, ids: &[String]) -> Option<Self> {
        let starts_as_expected = self.last.is_none() || ids.first() == self.last.as_ref();
        let earlier = || Self { offset: self.offset.saturating_sub(COUNT as u64 - 1), ..self.clone() };
        (!starts_as_expected && !self.follows_repeat).then(earlier)
    }

    /// Returns how many of the page's first members belong to previous pages: those up to the last member of the previous page.
    fn repeated(&self, ids: &[String], is_repeat: bool) -> usize {
        match ids.iter().position(|id| Some(id) == self.last.as_ref()) {
            Some(index) if index == 0 || is_repeat => index + 1,
            _ => 0,
        }
    }

    /// Returns the start of the page after the page with the members `ids`.
    fn after(&self, ids: &[String], total: u64, is_repeat: bool) -> Option<Self> {
        let end = self.offset + ids.len() as u64;
        let last = ids.last().filter(|_| end < total)?;
        let next = Self { offset: end - 1, last: Some(last.clone()), follows_repeat: is_repeat };
        // If a page only repeats the last member although there are more members, the source ends here: the next page would be
        // the same.
        (next.offset > self.offset || next.last != self.last).then_some(next)
    }
}

/// Returns the tags for the groups of an audience. The client reads them once.
async fn groups(client: &Client<'_>, list: &str) -> Result<Arc<GroupTags>, PlatformError> {
    let mut known = client.group_tags.lock().await;
    if let Some(found) = known.get(list) {
        return Ok(found.clone());
    }
    let path = format!("/3.0/lists/{}/interest-categories", segment(list)?);
    let query = [("count", "1000"), ("fields", "categories.id,categories.title")];
    let Categories { categories } = client.get(&path, &query).await?;
    let mut tags = GroupTags::new();
    for Category { id, title } in categories.into_iter().take(limits::PROVIDER_SOURCES_REQUESTS_MAX) {
        let path = format!("{path}/{}/interests", segment(&id)?);
        let Groups { interests } = client.get(&path, &[("count", "1000"), ("fields", "interests.id,interests.name")]).await?;
        for Group { id, name } in interests {
            tags.insert(id, format!("{title}: {name}").chars().take(limits::TAG_NAME_CHARACTERS_MAX).collect());
        }
    }
    let tags = Arc::new(tags);
    known.insert(list.to_owned(), tags.clone());
    Ok(tags)
}

fn contact(mapping: &Mapping, groups: &GroupTags, raw: &RawValue) -> ReadContact {
    read_contact(raw, "/email_address").map(|member| external(mapping, groups, member))
}

#[cfg(any(test, fuzzing))]
pub fn read_page(mapping: &Mapping, body: &[u8]) -> Option<Vec<ReadContact>> {
    let page: Members = serde_json::from_slice(body).ok()?;
    let (ids, from) = (page.ids(), Cursor::default());
    let _ = (from.repeated(&ids, false), from.after(&ids, page.total_items, false));
    let groups: GroupTags = [("g1".to_owned(), "Topics: Art".to_owned())].into();
    Some(page.members.iter().map(|raw| contact(mapping, &groups, raw)).collect())
}

/// The contact fields for common merge fields and for other fields of members.
const FIELDS: Defaults = &[
    ("FNAME", "firstName"),
    ("LNAME", "lastName"),
    ("PHONE", "phone"),
    ("COMPANY", "company"),
    ("ADDRESS.city", "city"),
    ("ADDRESS.country", "country"),
    ("ADDRESS.addr1", "customFields.address"),
    ("ADDRESS.addr2", "customFields.address2"),
    ("ADDRESS.state", "customFields.region"),
    ("ADDRESS.zip", "customFields.zip"),
    ("language", "language"),
    ("location.country_code", "country"),
    ("location.timezone", "customFields.timezone"),
    ("timestamp_signup", "customFields.providerCreatedAt"),
    ("timestamp_opt", "customFields.consentAt"),
];

fn external(mapping: &Mapping, groups: &GroupTags, member: Member) -> ExternalContact {
    let status = match member.status.as_str() {
        "subscribed" => Some(Status::Subscribed),
        "unsubscribed" => Some(Status::Unsubscribed),
        "cleaned" => Some(Status::Bounced),
        // Pending members have not confirmed their subscription, transactional members are only customers, and archived members are not
        // mailed.
        _ => None,
    };
    let chosen = member.interests.into_iter().flatten().filter(|(_, is_in)| *is_in);
    let chosen = chosen.filter_map(|(id, _)| groups.get(&id).cloned());
    let tags = member.tags.into_iter().map(|tag| tag.name).chain(chosen).collect();
    let external = ExternalContact { email: member.email_address, status, tags, ..ExternalContact::default() };
    let mut fields = Fields::new(mapping, FIELDS, external);
    let location = member.location.unwrap_or_default();
    for (name, text) in [
        ("language", member.language),
        ("location.country_code", location.country_code),
        ("location.timezone", location.timezone),
        ("timestamp_signup", member.timestamp_signup),
        ("timestamp_opt", member.timestamp_opt),
    ] {
        fields.put(name, text);
    }
    for (name, value) in member.merge_fields {
        match (name.as_str(), value) {
            ("ADDRESS", Value::Object(address)) => {
                for (part, value) in address {
                    fields.put(&format!("ADDRESS.{part}"), Some(value));
                }
            }
            (name, value) => fields.put(name, Some(value)),
        }
    }
    fields.external
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_that_does_not_start_with_the_last_member_is_read_from_earlier() {
        let ids = |numbers: std::ops::Range<u64>| numbers.map(|number| number.to_string()).collect::<Vec<_>>();
        let start = Cursor::parse(None).expect("the first page has no cursor");
        let first = ids(0..1_000);
        assert_eq!((start.before(&first), start.repeated(&first, false)), (None, 0));
        let second = start.after(&first, 2_500, false).expect("there is a second page");
        assert_eq!(second.to_text(), "999:999");
        assert_eq!(Cursor::parse(Some("999:999")), Ok(second.clone()));
        let expected = ids(999..1_999);
        assert_eq!((second.before(&expected), second.repeated(&expected, false)), (None, 1), "the first member is a repetition");
        // Ten members were deleted, so the members of the previous page are found ten places earlier.
        let earlier = second.before(&ids(1_009..2_009)).expect("the page is read from earlier");
        assert_eq!(earlier.offset, 0);
        let again = ids(10..1_010);
        assert_eq!(earlier.repeated(&again, true), 990, "only the ten members after the last one are new");
        let next = earlier.after(&again, 2_490, true).expect("there are more members");
        assert_eq!((next.to_text().as_str(), next.before(&ids(0..3))), ("999:1009:again", None));
        assert_eq!(next.repeated(&["0".to_owned(), "1009".to_owned()], false), 0, "no member without a fixed order is left out");
        assert!(second.before(&[]).is_some(), "the end of the source may have moved to an earlier place");
        assert_eq!(start.after(&[], 10, false), None, "an empty page ends the source");
        assert_eq!(second.after(&["999".to_owned()], 2_500, false), None, "a page with only the last member ends the source");
        assert_eq!(second.after(&expected[..500], 1_499, false), None);
        assert!(Cursor::parse(Some("x")).is_err());
    }

    #[test]
    fn cleaned_is_bounced_and_pending_is_no_consent() {
        let status = |word: &str| {
            let member = json!({ "email_address": "ada@example.com", "status": word });
            let member = serde_json::from_value(member).expect("the value has the documented form");
            external(&Mapping::default(), &GroupTags::new(), member).status
        };
        assert_eq!(
            ["subscribed", "unsubscribed", "cleaned", "pending", "transactional", "archived"].map(status),
            [Some(Status::Subscribed), Some(Status::Unsubscribed), Some(Status::Bounced), None, None, None]
        );
    }

    #[test]
    fn merge_fields_tags_groups_and_language_are_mapped() {
        let member = json!({
            "email_address": "ada@example.com", "status": "subscribed", "language": "pt_PT", "tags": [{ "id": 7, "name": "vip" }],
            "interests": { "g1": true, "g2": false, "g3": true },
            "timestamp_opt": "2026-01-02T03:04:05+00:00", "location": { "country_code": "PT", "timezone": "Europe/Lisbon" },
            "merge_fields": {
                "FNAME": "Ada", "LNAME": "", "SHOE": 38, "BIRTHDAY": "",
                "ADDRESS": { "addr1": "Rua 1", "city": "Porto", "state": "", "zip": "4000", "country": "PT" },
            },
        });
        let groups: GroupTags =
            [("g1", "Topics: Art"), ("g2", "Topics: Music")].map(|(id, tag)| (id.to_owned(), tag.to_owned())).into();
        let member = serde_json::from_value(member).expect("the value has the documented form");
        let external = external(&Mapping::default(), &groups, member);
        let profile = &external.profile;
        assert_eq!(
            (profile.first_name.as_deref(), profile.city.as_deref(), profile.country.as_deref(), profile.language.as_deref()),
            (Some("Ada"), Some("Porto"), Some("PT"), Some("pt-PT"))
        );
        let names: Vec<&str> = external.custom_fields.keys().map(String::as_str).collect();
        assert_eq!(
            (names, external.tags),
            (vec!["SHOE", "address", "consentAt", "timezone", "zip"], vec!["vip".to_owned(), "Topics: Art".to_owned()])
        );
    }
}
