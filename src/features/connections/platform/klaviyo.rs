//! Klaviyo: JSON:API with cursors. The request and response formats are those of Klaviyo's OpenAPI description for the pinned revision.
//!
//! A suppression takes precedence over consent, because Klaviyo keeps the consent of suppressed profiles. A suppressed profile might not be
//! on any list, so the account's suppressed profiles are also offered as a source.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use url::Url;

use super::{AccountPort, AudiencePort, ChangesPort, ContactPage, ExternalAccount, Source, read_contact, segment};
use crate::base::clock::Timestamp;
use crate::features::connections::client::Client;
use crate::features::connections::error::PlatformError;
use crate::features::connections::fields::{Defaults, Fields, Mapping};
use crate::features::contacts::jobs::ProviderSource;
use crate::features::contacts::jobs::provider::{ExternalContact, ReadContact};
use crate::vocab::contact_status::Status;
use crate::vocab::limits;
use crate::vocab::providers::SourceKind;

/// The scope that a connection needs even if it only exports.
pub const ACCOUNT_SCOPE: (&str, &str) = ("accounts:read", "Show which account is connected.");

pub const SCOPES: &[(&str, &str)] = &[
    ACCOUNT_SCOPE,
    ("lists:read", "Show the lists that you can import, and read their contacts."),
    ("segments:read", "Show the segments that you can import, and read their contacts."),
    ("profiles:read", "Read the contacts of lists and segments, with their consent status."),
];

/// The scopes that only exports need.
pub const EXPORT_SCOPES: &[(&str, &str)] = &[
    ("templates:read", "Find the template that an earlier export created."),
    ("templates:write", "Create and update templates."),
    ("images:read", "Find the images that an earlier export uploaded. Needed only if exports upload images."),
    ("images:write", "Upload images. Needed only if exports upload images."),
];

/// The ID of the source with all suppressed profiles. Klaviyo's own IDs are shorter.
const SUPPRESSED: &str = "suppressed";
/// The filter for profiles that were suppressed at or after a time. The time is appended.
const SUPPRESSED_SINCE: &str = "greater-or-equal(subscriptions.email.marketing.suppression.timestamp,";

pub struct Klaviyo;

#[derive(Deserialize)]
struct Listed<T> {
    data: Vec<T>,
    #[serde(default)]
    links: Links,
}

#[derive(Default, Deserialize)]
struct Links {
    next: Option<String>,
}

#[derive(Deserialize)]
struct Named<A> {
    id: String,
    attributes: A,
}

#[derive(Deserialize)]
struct AccountAttributes {
    contact_information: ContactInformation,
}

#[derive(Deserialize)]
struct ContactInformation {
    organization_name: String,
}

#[derive(Deserialize)]
struct SetAttributes {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Profile {
    attributes: Attributes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attributes {
    email: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    phone_number: Option<String>,
    organization: Option<String>,
    title: Option<String>,
    locale: Option<String>,
    external_id: Option<String>,
    created: Option<String>,
    location: Option<Location>,
    properties: Option<BTreeMap<String, Value>>,
    subscriptions: Option<Subscriptions>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Location {
    address1: Option<String>,
    city: Option<String>,
    region: Option<String>,
    zip: Option<String>,
    country: Option<String>,
    timezone: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Subscriptions {
    email: Option<EmailSubscription>,
}

#[derive(Deserialize)]
struct EmailSubscription {
    marketing: Option<Marketing>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Marketing {
    consent: String,
    consent_timestamp: Option<String>,
    suppression: Option<Vec<Suppression>>,
    list_suppressions: Option<Vec<ListSuppression>>,
}

#[derive(Deserialize)]
struct Suppression {
    reason: String,
}

#[derive(Deserialize)]
struct ListSuppression {
    list_id: String,
}

impl AccountPort for Klaviyo {
    async fn account(client: &Client<'_>) -> Result<ExternalAccount, PlatformError> {
        let found: Listed<Named<AccountAttributes>> = client.get("/api/accounts", &[]).await?;
        let account =
            found.data.into_iter().next().ok_or_else(|| PlatformError::Malformed("the list of accounts is empty".to_owned()))?;
        Ok(ExternalAccount { id: account.id, name: account.attributes.contact_information.organization_name })
    }
}

impl AudiencePort for Klaviyo {
    async fn sources(client: &Client<'_>) -> Result<Vec<Source>, PlatformError> {
        let name = "Suppressed profiles".to_owned();
        let mut sources = vec![Source { id: SUPPRESSED.to_owned(), kind: SourceKind::Segment, name, count: None }];
        sources.extend(all(client, "/api/lists", ("fields[list]", "name"), SourceKind::List).await?);
        sources.extend(all(client, "/api/segments", ("fields[segment]", "name"), SourceKind::Segment).await?);
        sources.truncate(limits::PROVIDER_SOURCES_LISTED_MAX);
        Ok(sources)
    }

    async fn contacts(
        client: &Client<'_>,
        source: &ProviderSource,
        since: Option<Timestamp>,
        cursor: Option<&str>,
    ) -> Result<ContactPage, PlatformError> {
        if source.id == SUPPRESSED && source.kind == SourceKind::Segment {
            // The filter for suppressed profiles needs a time, so the first import uses 1970, which selects all suppressed profiles.
            let filter = format!("{SUPPRESSED_SINCE}{})", since.unwrap_or(Timestamp(0)));
            return profiles(client, "/api/profiles", (Some(&filter), cursor), &[]).await;
        }
        let set = match source.kind {
            SourceKind::List => "lists",
            SourceKind::Segment => "segments",
            SourceKind::Audience | SourceKind::Tag => return Err(PlatformError::Missing),
        };
        let path = format!("/api/{set}/{}/profiles", segment(&source.id)?);
        let filter = since.map(|since| format!("greater-or-equal(joined_group_at,{since})"));
        profiles(client, &path, (filter.as_deref(), cursor), &[&source.id]).await
    }
}

/// The filters for changed profiles. A time is appended to each filter. Klaviyo does not document whether a suppression counts as an
/// update, so there are separate filters for suppressions.
const CHANGES: [&str; 3] =
    ["greater-than(updated,", SUPPRESSED_SINCE, "greater-or-equal(subscriptions.email.marketing.list_suppressions.timestamp,"];

impl ChangesPort for Klaviyo {
    async fn changes(
        client: &Client<'_>,
        sources: &[ProviderSource],
        since: Timestamp,
        cursor: Option<&str>,
    ) -> Result<ContactPage, PlatformError> {
        // The cursor consists of the filter's number and Klaviyo's own cursor.
        let (number, own) = cursor.and_then(|cursor| cursor.split_once(':')).unwrap_or(("0", ""));
        let number: usize = number.parse().map_err(|_| PlatformError::Malformed("the stored cursor is invalid".to_owned()))?;
        let Some(front) = CHANGES.get(number) else { return Ok(ContactPage::default()) };
        let lists: Vec<&str> = sources.iter().map(|source| source.id.as_str()).collect();
        let (filter, own) = (format!("{front}{since})"), Some(own).filter(|own| !own.is_empty()));
        let page = profiles(client, "/api/profiles", (Some(&filter), own), &lists).await?;
        let following = (number + 1 < CHANGES.len()).then(|| format!("{}:", number + 1));
        Ok(ContactPage { next: page.next.map(|own| format!("{number}:{own}")).or(following), ..page })
    }
}

/// Reads a page of profiles. A profile that is suppressed on one of the lists is treated as unsubscribed.
async fn profiles(
    client: &Client<'_>,
    path: &str,
    (filter, cursor): (Option<&str>, Option<&str>),
    lists: &[&str],
) -> Result<ContactPage, PlatformError> {
    let mut query = vec![("additional-fields[profile]", "subscriptions"), ("page[size]", "100")];
    query.extend(filter.map(|filter| ("filter", filter)));
    query.extend(cursor.map(|cursor| ("page[cursor]", cursor)));
    let page: Listed<Box<RawValue>> = client.get(path, &query).await?;
    let next = next_cursor(&page.links)?;
    // A cursor that points to the same page would make the import loop forever.
    if next.is_some() && next.as_deref() == cursor {
        return Err(PlatformError::Malformed("the link to the next page points to the current page".to_owned()));
    }
    let contacts = page.data.iter().map(|raw| read(&client.mapping, raw, lists)).collect();
    Ok(ContactPage { contacts, next, total: None })
}

fn read(mapping: &Mapping, raw: &RawValue, lists: &[&str]) -> ReadContact {
    let profile: Profile = read_contact(raw, "/attributes/email")?;
    Ok(external(mapping, profile.attributes, lists))
}

#[cfg(any(test, fuzzing))]
pub fn read_page(mapping: &Mapping, body: &[u8]) -> Option<Vec<ReadContact>> {
    let page: Listed<Box<RawValue>> = serde_json::from_slice(body).ok()?;
    let _ = next_cursor(&page.links);
    Some(page.data.iter().map(|raw| read(mapping, raw, &["L1"])).collect())
}

async fn all(client: &Client<'_>, path: &str, fields: (&str, &str), kind: SourceKind) -> Result<Vec<Source>, PlatformError> {
    let (mut sources, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..limits::PROVIDER_SOURCES_REQUESTS_MAX / 2 {
        let mut query = vec![fields];
        query.extend(cursor.as_deref().map(|cursor| ("page[cursor]", cursor)));
        let page: Listed<Named<SetAttributes>> = client.get(path, &query).await?;
        sources.extend(page.data.into_iter().map(|set| {
            let name = set.attributes.name.unwrap_or_else(|| set.id.clone());
            Source { id: set.id, kind, name, count: None }
        }));
        cursor = next_cursor(&page.links)?;
        if cursor.is_none() || sources.len() >= limits::PROVIDER_SOURCES_LISTED_MAX {
            break;
        }
    }
    Ok(sources)
}

/// Returns the cursor from the link to the next page. Only the cursor is used, so a link to another server has no effect.
fn next_cursor(links: &Links) -> Result<Option<String>, PlatformError> {
    let Some(next) = &links.next else { return Ok(None) };
    let url = Url::parse(next)
        .map_err(|error| PlatformError::Malformed(format!("the link to the next page is not a valid URL: {error}")))?;
    let cursor = url.query_pairs().find(|(name, _)| name == "page[cursor]").map(|(_, value)| value.into_owned());
    cursor.map(Some).ok_or_else(|| PlatformError::Malformed("the link to the next page has no page[cursor]".to_owned()))
}

/// The fields that every Klaviyo account has, each with its contact field.
const FIELDS: Defaults = &[
    ("first_name", "firstName"),
    ("last_name", "lastName"),
    ("organization", "company"),
    ("phone_number", "phone"),
    ("locale", "language"),
    ("location.city", "city"),
    ("location.country", "country"),
    ("created", "customFields.providerCreatedAt"),
    ("consent_timestamp", "customFields.consentAt"),
    ("external_id", "customFields.externalId"),
    ("title", "customFields.title"),
    ("location.address1", "customFields.address"),
    ("location.region", "customFields.region"),
    ("location.zip", "customFields.zip"),
    ("location.timezone", "customFields.timezone"),
];

fn external(mapping: &Mapping, profile: Attributes, lists: &[&str]) -> ExternalContact {
    let marketing = profile.subscriptions.and_then(|subscriptions| subscriptions.email).and_then(|email| email.marketing);
    let marketing = marketing.unwrap_or_default();
    let (email, status) = (profile.email.unwrap_or_default(), status(&marketing, lists));
    let mut fields = Fields::new(mapping, FIELDS, ExternalContact { email, status, ..ExternalContact::default() });
    let location = profile.location.unwrap_or_default();
    // Klaviyo's own attributes take precedence over the account's properties with the same names.
    for (name, text) in [
        ("first_name", profile.first_name),
        ("last_name", profile.last_name),
        ("organization", profile.organization),
        ("phone_number", profile.phone_number),
        ("locale", profile.locale),
        ("location.city", location.city),
        ("location.country", location.country),
        ("created", profile.created),
        ("consent_timestamp", marketing.consent_timestamp),
        ("external_id", profile.external_id),
        ("title", profile.title),
        ("location.address1", location.address1),
        ("location.region", location.region),
        ("location.zip", location.zip),
        ("location.timezone", location.timezone),
    ] {
        fields.put(name, text);
    }
    for (name, value) in profile.properties.unwrap_or_default() {
        fields.put_own(&format!("properties.{name}"), &name, value);
    }
    fields.external
}

fn status(marketing: &Marketing, lists: &[&str]) -> Option<Status> {
    let reasons: Vec<&str> = marketing.suppression.iter().flatten().map(|suppression| suppression.reason.as_str()).collect();
    if reasons.iter().any(|reason| matches!(*reason, "UNSUBSCRIBE" | "SPAM_COMPLAINT" | "USER_SUPPRESSED")) {
        return Some(Status::Unsubscribed);
    }
    if !reasons.is_empty() {
        // An unknown reason is treated as a bounce, because any suppression means that the address must not be mailed.
        return Some(Status::Bounced);
    }
    if marketing.list_suppressions.iter().flatten().any(|suppression| lists.contains(&suppression.list_id.as_str())) {
        return Some(Status::Unsubscribed);
    }
    match marketing.consent.as_str() {
        "SUBSCRIBED" => Some(Status::Subscribed),
        "UNSUBSCRIBED" => Some(Status::Unsubscribed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(marketing: Value) -> Option<Status> {
        status(&serde_json::from_value(marketing).expect("the value has the documented form"), &["L1"])
    }

    #[test]
    fn a_suppression_beats_consent_and_only_consent_subscribes() {
        let of = |reason: &str| json!([{ "reason": reason, "timestamp": "2026-01-01T00:00:00Z" }]);
        for (marketing, expected) in [
            (json!({ "consent": "SUBSCRIBED" }), Some(Status::Subscribed)),
            (json!({ "consent": "UNSUBSCRIBED" }), Some(Status::Unsubscribed)),
            (json!({ "consent": "NEVER_SUBSCRIBED" }), None),
            (json!({}), None),
            (json!({ "consent": "SUBSCRIBED", "suppression": of("HARD_BOUNCE") }), Some(Status::Bounced)),
            (json!({ "consent": "SUBSCRIBED", "suppression": of("INVALID_EMAIL") }), Some(Status::Bounced)),
            (json!({ "consent": "SUBSCRIBED", "suppression": of("SPAM_COMPLAINT") }), Some(Status::Unsubscribed)),
            (json!({ "consent": "NEVER_SUBSCRIBED", "suppression": of("USER_SUPPRESSED") }), Some(Status::Unsubscribed)),
            (json!({ "consent": "SUBSCRIBED", "suppression": of("A_NEW_REASON") }), Some(Status::Bounced)),
            (
                json!({ "consent": "SUBSCRIBED", "list_suppressions": [{ "list_id": "L1", "reason": "UNSUBSCRIBE" }] }),
                Some(Status::Unsubscribed),
            ),
            (
                json!({ "consent": "SUBSCRIBED", "list_suppressions": [{ "list_id": "L2", "reason": "UNSUBSCRIBE" }] }),
                Some(Status::Subscribed),
            ),
            (json!({ "consent": "SUBSCRIBED", "suppression": null, "list_suppressions": null }), Some(Status::Subscribed)),
        ] {
            assert_eq!(read(marketing.clone()), expected, "{marketing}");
        }
    }

    #[test]
    fn only_the_cursor_of_the_next_page_is_used() {
        let of = |next: &str| next_cursor(&Links { next: Some(next.to_owned()) });
        assert_eq!(of("https://evil.example/x?page%5Bcursor%5D=bmV4dA%3D%3D"), Ok(Some("bmV4dA==".to_owned())));
        assert!(matches!(of("https://a.klaviyo.com/api/lists"), Err(PlatformError::Malformed(_))));
        assert_eq!(next_cursor(&Links { next: None }), Ok(None));
    }
}
