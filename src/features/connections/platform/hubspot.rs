//! HubSpot: the contacts in a list are read in batches of 100, in three steps: their IDs, their properties, and their subscription
//! statuses. The request and response formats are those of HubSpot's API descriptions for the pinned version.
//!
//! Membership in a list is not consent: only a subscription status can state consent. Contacts who unsubscribed leave the lists whose
//! filter requires consent, so an additional source contains the contacts who unsubscribed from all email or bounced.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{AccountPort, AudiencePort, ChangesPort, ContactPage, ExternalAccount, Source, read_contact, segment};
use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::features::connections::client::{Client, NOT_FOUND};
use crate::features::connections::error::PlatformError;
use crate::features::connections::fields::{Defaults, Fields, Mapping};
use crate::features::contacts::jobs::ProviderSource;
use crate::features::contacts::jobs::provider::{ExternalContact, ReadContact, UnreadableContact};
use crate::vocab::contact_status::Status;
use crate::vocab::limits;
use crate::vocab::providers::SourceKind;

pub const SCOPES: &[(&str, &str)] = &[
    ("crm.lists.read", "Show the lists that you can import, and read their contacts."),
    ("crm.objects.contacts.read", "Read the contacts of lists."),
    ("communication_preferences.statuses.batch.read", "Read who subscribed and who unsubscribed."),
];

/// The scopes that only exports need.
pub const EXPORT_SCOPES: &[(&str, &str)] = &[
    ("content", "Create and update coded templates and drafts of marketing emails."),
    ("files", "Upload images. Needed only if exports upload images."),
];

/// The ID of the source with all contacts who unsubscribed from all email, or bounced. HubSpot's own IDs are numbers.
const SUPPRESSED: &str = "suppressed";
/// HubSpot's object type ID for contacts.
const CONTACTS: &str = "0-1";
/// The maximum number of objects in a batch.
const BATCH: usize = 100;
/// The maximum number of members on a page of a list.
const MEMBERS: usize = 250;
/// The maximum number of contacts that a search returns on all its pages.
const SEARCHED_MAX: usize = 10_000;
/// The property with the time of a contact's last change.
const MODIFIED: &str = "lastmodifieddate";
/// The properties from which contact fields and statuses are read.
const PROPERTIES: [&str; 16] = [
    "email",
    "firstname",
    "lastname",
    "company",
    "phone",
    "city",
    "country",
    "hs_language",
    "createdate",
    "jobtitle",
    "address",
    "state",
    "zip",
    "lifecyclestage",
    "hs_email_optout",
    "hs_email_hard_bounce_reason_enum",
];

pub struct HubSpot;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    portal_id: u64,
    ui_domain: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lists {
    lists: Vec<List>,
    has_more: bool,
    offset: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    list_id: String,
    name: String,
    processing_type: String,
    #[serde(default)]
    additional_properties: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Memberships {
    results: Vec<Membership>,
    total: Option<u64>,
    #[serde(default)]
    paging: Paging,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Membership {
    record_id: String,
    membership_timestamp: Option<String>,
}

/// The link to the next page in a response.
#[derive(Default, Deserialize)]
pub struct Paging {
    pub next: Option<Next>,
}

#[derive(Deserialize)]
pub struct Next {
    pub after: String,
}

#[derive(Deserialize)]
struct Batch<T> {
    results: Vec<T>,
    #[serde(default)]
    errors: Vec<BatchError>,
}

/// Why some inputs of a batch have no result.
#[derive(Deserialize)]
struct BatchError {
    category: String,
    #[serde(default)]
    context: ErrorContext,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorContext {
    ids: Vec<String>,
}

impl<T> Batch<T> {
    /// Returns the results if every input that exists has a result; otherwise fails. An input may no longer exist, because a list can still
    /// contain a deleted contact.
    fn existing(self, inputs: usize) -> Result<Vec<T>, PlatformError> {
        let deleted: usize =
            self.errors.iter().filter(|error| error.category == NOT_FOUND).map(|error| error.context.ids.len()).sum();
        self.complete(inputs.saturating_sub(deleted))
    }

    /// Returns the results if every input has a result; otherwise fails. HubSpot omits inputs that it could not read, and the import must
    /// not conclude that the omitted contacts made no choice.
    fn complete(self, inputs: usize) -> Result<Vec<T>, PlatformError> {
        match self.results.len() {
            results if results < inputs => {
                Err(PlatformError::Unavailable(format!("the batch contains only {results} of {inputs} results")))
            }
            _ => Ok(self.results),
        }
    }
}

#[derive(Deserialize)]
struct Contact {
    properties: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Property {
    name: String,
    /// Whether HubSpot defined the property, so that every account has it.
    #[serde(default)]
    hubspot_defined: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statuses {
    subscriber_id_string: String,
    statuses: Vec<SubscriptionStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WideStatuses {
    subscriber_id_string: String,
    wide_statuses: Vec<SubscriptionStatus>,
}

#[derive(Deserialize)]
struct SubscriptionStatus {
    status: String,
}

impl AccountPort for HubSpot {
    async fn account(client: &Client<'_>) -> Result<ExternalAccount, PlatformError> {
        let details: Details = client.get("/account-info/2026-03/details", &[]).await?;
        Ok(ExternalAccount { id: details.portal_id.to_string(), name: format!("{} ({})", details.portal_id, details.ui_domain) })
    }
}

impl AudiencePort for HubSpot {
    async fn sources(client: &Client<'_>) -> Result<Vec<Source>, PlatformError> {
        let name = "Unsubscribed and bounced contacts".to_owned();
        let suppressed = Source { id: SUPPRESSED.to_owned(), kind: SourceKind::Segment, name, count: None };
        let (mut sources, mut offset) = (vec![suppressed], 0);
        for _ in 0..limits::PROVIDER_SOURCES_REQUESTS_MAX {
            let body = json!({
                "query": "", "objectTypeId": CONTACTS, "count": 500, "offset": offset, "listIds": [], "processingTypes": [],
                "additionalProperties": ["hs_list_size"],
            });
            let page: Lists = client.get_by_post("/crm/lists/2026-03/search", &[], &body).await?;
            sources.extend(page.lists.into_iter().map(|list| Source {
                // Dynamic lists follow a filter. HubSpot's users call them segments.
                kind: if list.processing_type == "DYNAMIC" { SourceKind::Segment } else { SourceKind::List },
                count: list.additional_properties.get("hs_list_size").and_then(|size| size.parse().ok()),
                id: list.list_id,
                name: list.name,
            }));
            if !page.has_more || page.offset <= offset || sources.len() >= limits::PROVIDER_SOURCES_LISTED_MAX {
                break;
            }
            offset = page.offset;
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
        if !matches!(source.kind, SourceKind::List | SourceKind::Segment) {
            return Err(PlatformError::Missing);
        }
        if source.id == SUPPRESSED {
            let conditions = [
                json!({ "propertyName": "hs_email_optout", "operator": "EQ", "value": "true" }),
                json!({ "propertyName": "hs_email_hard_bounce_reason_enum", "operator": "HAS_PROPERTY" }),
            ];
            // A search needs a time, so the first import searches for changes since 1970, which finds every suppressed contact.
            return search(client, &conditions, since.unwrap_or(Timestamp(0)), cursor).await;
        }
        let path = format!("/crm/lists/2026-03/{}/memberships", segment(&source.id)?);
        // If `since` is set, most members of a page are skipped, so request the largest possible pages.
        let limit = if since.is_some() { MEMBERS } else { BATCH }.to_string();
        let mut query = vec![("limit", limit.as_str())];
        query.extend(cursor.map(|cursor| ("after", cursor)));
        let page: Memberships = client.get(&path, &query).await?;
        let next = page.paging.next.map(|next| next.after);
        if next.is_some() && next.as_deref() == cursor {
            return Err(PlatformError::Malformed("the link to the next page points to the current page".to_owned()));
        }
        let joined = |membership: &Membership| match (since, membership.membership_timestamp.as_deref().and_then(time)) {
            (Some(since), Some(joined)) => since <= joined,
            _ => true,
        };
        let ids: Vec<String> =
            page.results.into_iter().filter(|one| joined(one)).map(|membership| membership.record_id).collect();
        let total = page.total.filter(|_| since.is_none());
        Ok(ContactPage { contacts: read(client, &ids).await?, next, total })
    }
}

#[derive(Deserialize)]
struct Found {
    results: Vec<FoundContact>,
    #[serde(default)]
    paging: Paging,
}

#[derive(Deserialize)]
struct FoundContact {
    id: String,
    properties: BTreeMap<String, Option<String>>,
}

impl ChangesPort for HubSpot {
    async fn changes(
        client: &Client<'_>,
        _: &[ProviderSource],
        since: Timestamp,
        cursor: Option<&str>,
    ) -> Result<ContactPage, PlatformError> {
        search(client, &[], since, cursor).await
    }
}

/// Searches for contacts that have changed since a given time and, if `conditions` is not empty, meet at least one of the conditions. A
/// search returns at most [`SEARCHED_MAX`] contacts; to get further contacts, the next search starts at the time of the last returned
/// contact's change. The cursor consists of the start time of the search in milliseconds and HubSpot's own cursor.
async fn search(
    client: &Client<'_>,
    conditions: &[Value],
    since: Timestamp,
    cursor: Option<&str>,
) -> Result<ContactPage, PlatformError> {
    let malformed = |what: &str| PlatformError::Malformed(what.to_owned());
    let start = since.0.to_string();
    let (from, after) = cursor.and_then(|cursor| cursor.split_once(':')).unwrap_or((start.as_str(), "0"));
    let changed = json!({ "propertyName": MODIFIED, "operator": "GTE", "value": from });
    let groups: Vec<Value> = match conditions {
        [] => vec![json!({ "filters": [changed] })],
        conditions => conditions.iter().map(|own| json!({ "filters": [changed, own] })).collect(),
    };
    let body = json!({
        "filterGroups": groups, "sorts": [MODIFIED], "properties": [MODIFIED], "limit": BATCH, "after": after,
    });
    let page: Found = client.get_by_post("/crm/objects/2026-03/contacts/search", &[], &body).await?;
    let last = page.results.last().and_then(|found| time(found.properties.get(MODIFIED)?.as_deref()?));
    let next = match page.paging.next {
        None => None,
        Some(next) if next.after == after => return Err(malformed("the link to the next page points to the current page")),
        Some(next) if next.after.parse().is_ok_and(|after: usize| after + BATCH <= SEARCHED_MAX) => {
            Some(format!("{from}:{}", next.after))
        }
        Some(_) => match last.map(|last| last.0.to_string()) {
            Some(last) if last != from => Some(format!("{last}:0")),
            _ => return Err(malformed("more than 10,000 contacts changed at the same time")),
        },
    };
    let ids: Vec<String> = page.results.into_iter().map(|found| found.id).collect();
    Ok(ContactPage { contacts: read(client, &ids).await?, next, total: None })
}

fn time(text: &str) -> Option<Timestamp> {
    text.parse::<WireTime>().ok().map(|time| time.0)
}

/// Reads contacts by ID.
async fn read(client: &Client<'_>, ids: &[String]) -> Result<Vec<ReadContact>, PlatformError> {
    let mut all = Vec::with_capacity(ids.len());
    for ids in ids.chunks(BATCH) {
        let inputs: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
        let own = client.own_properties.get_or_try_init(|| own_properties(client)).await?;
        let properties: Vec<&str> = PROPERTIES.into_iter().chain(own.iter().map(String::as_str)).collect();
        let body = json!({ "inputs": inputs, "properties": properties, "propertiesWithHistory": [] });
        let contacts: Batch<Box<RawValue>> = client.get_by_post("/crm/objects/2026-03/contacts/batch/read", &[], &body).await?;
        let named = |raw: Box<RawValue>| named(&raw);
        let contacts: Vec<Result<(String, Contact), UnreadableContact>> =
            contacts.existing(ids.len())?.into_iter().filter_map(named).collect();
        let choices = Choices::read(client, contacts.iter().flatten().map(|(email, _)| email.as_str()).collect()).await?;
        let external = |(email, contact): (String, Contact)| external(&client.mapping, email, contact.properties, &choices);
        all.extend(contacts.into_iter().map(|contact| contact.map(external)));
    }
    Ok(all)
}

/// Reads a contact and its email address. Returns `None` for a contact without an address, which cannot be imported.
fn named(raw: &RawValue) -> Option<Result<(String, Contact), UnreadableContact>> {
    match read_contact::<Contact>(raw, "/properties/email") {
        Ok(contact) => {
            let email = contact.properties.get("email").cloned().flatten().filter(|email| !email.trim().is_empty())?;
            Some(Ok((email, contact)))
        }
        Err(unreadable) => Some(Err(unreadable)),
    }
}

#[cfg(any(test, fuzzing))]
pub fn read_page(mapping: &Mapping, body: &[u8]) -> Option<Vec<ReadContact>> {
    let page: Batch<Box<RawValue>> = serde_json::from_slice(body).ok()?;
    let _ = serde_json::from_slice::<Found>(body).map(|page| page.results.len());
    let external = |(email, contact): (String, Contact)| external(mapping, email, contact.properties, &Choices::default());
    Some(page.results.iter().filter_map(|raw| named(raw)).map(|contact| contact.map(external)).collect())
}

/// Fuzz target: parses HubSpot's responses that contain contacts' choices, and checks that a choice to unsubscribe takes precedence.
#[cfg(any(test, fuzzing))]
pub fn read_choices(body: &[u8]) {
    let some = serde_json::from_slice::<Batch<Statuses>>(body).map(|batch| batch.results).unwrap_or_default();
    let all = serde_json::from_slice::<Batch<WideStatuses>>(body).map(|batch| batch.results).unwrap_or_default();
    let choices = Choices::of(some, all);
    for email in &choices.unsubscribed {
        assert_eq!(choices.status(email, false, false), Some(Status::Unsubscribed), "{email}");
    }
}

/// Returns the names of the account's custom contact properties, up to the maximum number of custom fields of a contact.
async fn own_properties(client: &Client<'_>) -> Result<Vec<String>, PlatformError> {
    let all: Batch<Property> = client.get("/crm/properties/2026-03/contacts", &[]).await?;
    let own = all.results.into_iter().filter(|property| !property.hubspot_defined).map(|property| property.name);
    Ok(own.take(limits::CUSTOM_FIELDS_MAX).collect())
}

/// The contacts' choices about receiving emails, by lowercase address.
#[derive(Default)]
struct Choices {
    subscribed: BTreeSet<String>,
    /// The contacts who unsubscribed from at least one subscription type or from all email.
    unsubscribed: BTreeSet<String>,
}

impl Choices {
    async fn read(client: &Client<'_>, emails: Vec<&str>) -> Result<Self, PlatformError> {
        if emails.is_empty() {
            return Ok(Self::default());
        }
        let (query, body) = ([("channel", "EMAIL")], json!({ "inputs": emails }));
        let path = "/communication-preferences/2026-03/statuses/batch";
        let some: Batch<Statuses> = client.get_by_post(&format!("{path}/read"), &query, &body).await?;
        let all: Batch<WideStatuses> = client.get_by_post(&format!("{path}/unsubscribe-all/read"), &query, &body).await?;
        Ok(Self::of(some.complete(emails.len())?, all.complete(emails.len())?))
    }

    fn of(some: Vec<Statuses>, all: Vec<WideStatuses>) -> Self {
        let mut choices = Self::default();
        let has = |statuses: &[SubscriptionStatus], word: &str| statuses.iter().any(|status| status.status == word);
        for Statuses { subscriber_id_string, statuses } in some {
            let email = subscriber_id_string.to_lowercase();
            if has(&statuses, "UNSUBSCRIBED") {
                choices.unsubscribed.insert(email.clone());
            }
            if has(&statuses, "SUBSCRIBED") {
                choices.subscribed.insert(email);
            }
        }
        for WideStatuses { subscriber_id_string, wide_statuses } in all {
            if has(&wide_statuses, "UNSUBSCRIBED") {
                choices.unsubscribed.insert(subscriber_id_string.to_lowercase());
            }
        }
        choices
    }

    fn status(&self, email: &str, opted_out: bool, bounced: bool) -> Option<Status> {
        let email = email.to_lowercase();
        // It is unknown which kind of mail a subscription type covers, so ending any subscription counts as unsubscribing from all mail.
        if opted_out || self.unsubscribed.contains(&email) {
            return Some(Status::Unsubscribed);
        }
        if bounced {
            return Some(Status::Bounced);
        }
        self.subscribed.contains(&email).then_some(Status::Subscribed)
    }
}

/// The contact fields for the properties that every account has.
const FIELDS: Defaults = &[
    ("firstname", "firstName"),
    ("lastname", "lastName"),
    ("company", "company"),
    ("phone", "phone"),
    ("city", "city"),
    ("country", "country"),
    ("hs_language", "language"),
    ("createdate", "customFields.providerCreatedAt"),
    ("jobtitle", "customFields.title"),
    ("address", "customFields.address"),
    ("state", "customFields.region"),
    ("zip", "customFields.zip"),
    ("lifecyclestage", "customFields.lifecycleStage"),
];

fn external(
    mapping: &Mapping,
    email: String,
    mut properties: BTreeMap<String, Option<String>>,
    choices: &Choices,
) -> ExternalContact {
    let mut take = |name: &str| properties.remove(name).flatten().filter(|text| !text.trim().is_empty());
    let opted_out = take("hs_email_optout").as_deref() == Some("true");
    let bounced = take("hs_email_hard_bounce_reason_enum").is_some();
    let status = choices.status(&email, opted_out, bounced);
    let mut fields = Fields::new(mapping, FIELDS, ExternalContact { status, email, ..ExternalContact::default() });
    for (name, _) in FIELDS {
        fields.put(name, take(name));
    }
    for (name, value) in properties {
        if let Some(value) = value.filter(|_| !name.starts_with("hs_") && name != MODIFIED && name != "email") {
            fields.put_own(&name, &name, value.into());
        }
    }
    fields.external
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_with_fewer_results_than_inputs_is_read_again() {
        let batch = || Batch { results: vec![1, 2], errors: Vec::new() };
        assert_eq!(batch().complete(2), Ok(vec![1, 2]));
        assert!(matches!(batch().complete(3), Err(PlatformError::Unavailable(_))));
    }

    #[test]
    fn being_on_a_list_is_no_consent_and_a_refusal_beats_everything() {
        let set = |emails: &[&str]| emails.iter().map(|email| (*email).to_owned()).collect::<BTreeSet<_>>();
        let choices = Choices {
            subscribed: set(&["yes@example.com", "both@example.com"]),
            unsubscribed: set(&["no@example.com", "both@example.com"]),
        };
        for (email, opted_out, bounced, expected) in [
            ("Yes@example.com", false, false, Some(Status::Subscribed)),
            ("none@example.com", false, false, None),
            ("no@example.com", false, false, Some(Status::Unsubscribed)),
            ("both@example.com", false, false, Some(Status::Unsubscribed)),
            ("no@example.com", false, true, Some(Status::Unsubscribed)),
            ("yes@example.com", true, true, Some(Status::Unsubscribed)),
            ("yes@example.com", false, true, Some(Status::Bounced)),
        ] {
            assert_eq!(choices.status(email, opted_out, bounced), expected, "{email}");
        }
    }
}
