//! The platforms: a trait for each capability, and an adapter per platform that implements the traits. This module chooses the adapter.

pub mod hubspot;
mod klaviyo;
mod mailchimp;

use std::future::Future;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::client::Client;
#[cfg(any(test, fuzzing))]
use super::client::message;
use super::error::PlatformError;
#[cfg(any(test, fuzzing))]
use super::fields::Mapping;
use crate::base::clock::Timestamp;
use crate::features::contacts::jobs::ProviderSource;
use crate::features::contacts::jobs::provider::{ReadContact, UnreadableContact};
use crate::vocab::limits;
use crate::vocab::providers::{Provider, SourceKind};

/// Reads the account to which the credentials belong, which also tests the credentials.
trait AccountPort {
    fn account(client: &Client<'_>) -> impl Future<Output = Result<ExternalAccount, PlatformError>> + Send;
}

/// Lists the sets of contacts in an account, and reads their contacts page by page.
trait AudiencePort {
    fn sources(client: &Client<'_>) -> impl Future<Output = Result<Vec<Source>, PlatformError>> + Send;

    /// Reads the page of `source` that starts at `cursor`, or the first page. If a time is given, the page may omit contacts that have
    /// neither joined the source nor changed since then.
    fn contacts(
        client: &Client<'_>,
        source: &ProviderSource,
        since: Option<Timestamp>,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<ContactPage, PlatformError>> + Send;
}

/// Reads an account's changed contacts, for platforms whose sources report only which contacts joined.
trait ChangesPort {
    /// Reads the page that starts at `cursor`, or the first page, of the contacts that have changed since the given time.
    fn changes(
        client: &Client<'_>,
        sources: &[ProviderSource],
        since: Timestamp,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<ContactPage, PlatformError>> + Send;
}

/// A set of contacts that an import reads.
#[derive(Clone, Copy, Debug)]
pub enum Part<'s> {
    /// A source's contacts. If a time is given, contacts that have neither joined the source nor changed since then may be left out.
    Source(&'s ProviderSource, Option<Timestamp>),
    /// The account's contacts that have changed since a time, regardless of their source.
    Changes(&'s [ProviderSource], Timestamp),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalAccount {
    pub id: String,
    pub name: String,
}

/// A set of contacts on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    /// The number of contacts, if the platform states it.
    pub count: Option<u64>,
}

#[derive(Debug, Default)]
pub struct ContactPage {
    pub contacts: Vec<ReadContact>,
    /// The start of the next page; `None` if this is the last page.
    pub next: Option<String>,
    /// The number of contacts in the source, if the platform states it.
    pub total: Option<u64>,
}

pub async fn account(provider: Provider, client: &Client<'_>) -> Result<ExternalAccount, PlatformError> {
    match provider {
        Provider::Klaviyo => klaviyo::Klaviyo::account(client).await,
        Provider::Mailchimp => mailchimp::Mailchimp::account(client).await,
        Provider::HubSpot => hubspot::HubSpot::account(client).await,
    }
}

pub async fn sources(provider: Provider, client: &Client<'_>) -> Result<Vec<Source>, PlatformError> {
    let listed = async {
        match provider {
            Provider::Klaviyo => klaviyo::Klaviyo::sources(client).await,
            Provider::Mailchimp => mailchimp::Mailchimp::sources(client).await,
            Provider::HubSpot => hubspot::HubSpot::sources(client).await,
        }
    };
    within(limits::PROVIDER_SOURCES_TIME, listed).await
}

/// Limits the total time of several requests.
async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, PlatformError>>) -> Result<T, PlatformError> {
    let slow = |_| {
        Err(PlatformError::Unavailable(format!("the platform did not complete its responses within {} seconds", limit.as_secs())))
    };
    timeout(limit, work).await.unwrap_or_else(slow)
}

pub async fn contacts(
    provider: Provider,
    client: &Client<'_>,
    part: Part<'_>,
    cursor: Option<&str>,
) -> Result<ContactPage, PlatformError> {
    match (provider, part) {
        (Provider::Klaviyo, Part::Source(source, since)) => klaviyo::Klaviyo::contacts(client, source, since, cursor).await,
        (Provider::Mailchimp, Part::Source(source, since)) => mailchimp::Mailchimp::contacts(client, source, since, cursor).await,
        (Provider::HubSpot, Part::Source(source, since)) => hubspot::HubSpot::contacts(client, source, since, cursor).await,
        (Provider::Klaviyo, Part::Changes(sources, since)) => klaviyo::Klaviyo::changes(client, sources, since, cursor).await,
        (Provider::HubSpot, Part::Changes(sources, since)) => hubspot::HubSpot::changes(client, sources, since, cursor).await,
        // Mailchimp's sources also report which members changed.
        (Provider::Mailchimp, Part::Changes(..)) => Ok(ContactPage::default()),
    }
}

/// Returns whether an account's changes are read in addition to the sources.
pub fn has_changes(provider: Provider) -> bool {
    match provider {
        Provider::Klaviyo | Provider::HubSpot => true,
        Provider::Mailchimp => false,
    }
}

/// Returns the scope that is needed to read the account. HubSpot's endpoint for accounts needs none.
pub fn account_scope(provider: Provider) -> Option<(&'static str, &'static str)> {
    (provider == Provider::Klaviyo).then_some(klaviyo::ACCOUNT_SCOPE)
}

/// Returns the scopes that a key needs, each with its purpose, for the page that creates connections.
pub fn scopes(provider: Provider) -> &'static [(&'static str, &'static str)] {
    match provider {
        Provider::Klaviyo => klaviyo::SCOPES,
        Provider::Mailchimp => mailchimp::SCOPES,
        Provider::HubSpot => hubspot::SCOPES,
    }
}

/// Returns the additional scopes that a key needs for exports, each with its purpose.
pub fn export_scopes(provider: Provider) -> &'static [(&'static str, &'static str)] {
    match provider {
        Provider::Klaviyo => klaviyo::EXPORT_SCOPES,
        Provider::Mailchimp => mailchimp::SCOPES,
        Provider::HubSpot => hubspot::EXPORT_SCOPES,
    }
}

/// Fuzz target: parses the body as a page of contacts from each platform.
#[cfg(any(test, fuzzing))]
pub fn read_pages(body: &[u8]) -> Vec<ReadContact> {
    let mapping = Mapping::recording(Default::default());
    let pages = [klaviyo::read_page(&mapping, body), mailchimp::read_page(&mapping, body), hubspot::read_page(&mapping, body)];
    pages.into_iter().flatten().flatten().collect()
}

/// Fuzz target: parses a body both as a HubSpot response that contains contacts' choices and as an error response. Returns the error's
/// description.
#[cfg(any(test, fuzzing))]
pub fn read_response(body: &[u8]) -> String {
    hubspot::read_choices(body);
    message(body)
}

/// Parses one contact of a page. Contacts are parsed separately, so that one contact in an undocumented format does not prevent the import
/// of the others. `email` is the JSON pointer to the contact's address.
fn read_contact<T: DeserializeOwned>(raw: &RawValue, email: &str) -> Result<T, UnreadableContact> {
    serde_json::from_str(raw.get()).map_err(|_| {
        let value = serde_json::from_str::<Value>(raw.get()).unwrap_or_default();
        let address = value.pointer(email).and_then(Value::as_str).filter(|address| !address.trim().is_empty());
        UnreadableContact(address.map(|address| address.trim().chars().take(254).collect()))
    })
}

/// Returns the ID for use as a path segment. The platforms' IDs consist of letters, digits, hyphens and underscores, so an ID with other
/// characters is reported as [`PlatformError::Missing`].
pub fn segment(id: &str) -> Result<&str, PlatformError> {
    let is_plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_plain { Ok(id) } else { Err(PlatformError::Missing) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_contact_that_cannot_be_read_keeps_only_its_address() {
        let read = |text: &str| {
            let raw: Box<RawValue> = serde_json::from_str(text).expect("the text is JSON");
            read_contact::<BTreeMap<String, String>>(&raw, "/email")
        };
        assert!(read(r#"{"email":"ada@example.com"}"#).is_ok());
        let address = Some("ada@example.com".to_owned());
        assert_eq!(read(r#"{"email":"ada@example.com","phone":7}"#), Err(UnreadableContact(address)));
        assert_eq!(read(r#"["secret"]"#), Err(UnreadableContact(None)));
    }

    #[tokio::test]
    async fn requests_that_never_end_are_ended_by_the_common_limit() {
        let endless = std::future::pending::<Result<(), PlatformError>>();
        let ended = within(Duration::from_millis(1), endless).await;
        assert!(matches!(ended, Err(PlatformError::Unavailable(_))), "{ended:?}");
        assert_eq!(within(Duration::from_secs(60), async { Ok(7) }).await, Ok(7));
    }
}
