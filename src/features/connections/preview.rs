//! Reads an import's first contacts, to show their fields and what the import would change.

use tokio::time::Instant;

use super::client::Client;
use super::error::PlatformError;
use super::platform::{self, Part};
use crate::features::contacts::jobs::ProviderSource;
use crate::features::contacts::jobs::provider::ReadContact;
use crate::vocab::limits;

/// The first contacts of an import.
pub struct First {
    pub contacts: Vec<ReadContact>,
    /// Whether `contacts` contains all the contacts in the sources.
    pub is_complete: bool,
}

pub async fn first(client: &Client<'_>, sources: &[ProviderSource]) -> Result<First, PlatformError> {
    let (started, mut contacts) = (Instant::now(), Vec::new());
    let is_enough =
        |read: usize| read >= limits::PROVIDER_PREVIEW_CONTACTS_MAX || started.elapsed() >= limits::PROVIDER_PREVIEW_TIME;
    for source in sources {
        let mut cursor: Option<String> = None;
        loop {
            if is_enough(contacts.len()) {
                return Ok(First { contacts, is_complete: false });
            }
            let mut page = platform::contacts(client.provider, client, Part::Source(source, None), cursor.as_deref()).await?;
            contacts.append(&mut page.contacts);
            if contacts.len() > limits::PROVIDER_PREVIEW_CONTACTS_MAX {
                contacts.truncate(limits::PROVIDER_PREVIEW_CONTACTS_MAX);
                return Ok(First { contacts, is_complete: false });
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
    }
    Ok(First { contacts, is_complete: true })
}
