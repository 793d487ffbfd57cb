//! Templates and drafts that exports create in connected accounts: a trait, and an adapter per platform that implements it.
//!
//! This module does not translate emails: it receives HTML that is already in the platform's merge language.

mod hubspot;
mod images;
mod klaviyo;
mod mailchimp;
mod publish;

pub use super::model::TemplateKind;
pub use super::store::exported::{EarlierExport, earlier};
pub use publish::{Publication, Published, publish};

use std::future::Future;

use serde_json::{Map, Value};

use super::client::Client;
use super::error::PlatformError;
use super::model::Connection;
use crate::base::clock::Timestamp;
use crate::engine::store::Error as StoreError;
use crate::vocab::ids::EmailId;

/// An email to create on a platform, in the platform's merge language.
#[derive(Clone, Debug)]
pub struct Draft {
    pub email: EmailId,
    pub version: u32,
    pub kind: TemplateKind,
    /// The name on the platform. The name is unique to this email, so that the object can be found by its name if the response to
    /// its creation was lost.
    pub name: String,
    pub subject: String,
    pub preheader: String,
    pub html: String,
    pub text: String,
    /// Additional JSON members in the bodies of the requests that create and update the object.
    pub options: Map<String, Value>,
    /// The number of earlier objects of this email and kind that can no longer be updated.
    pub serial: u32,
}

/// A template or draft on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Remote {
    id: String,
    /// The URL of the object's page on the platform.
    url: String,
}

struct Image<'i> {
    /// The file name, which contains a digest of the content.
    name: String,
    content_type: &'static str,
    bytes: &'i [u8],
}

/// Why a draft could not be written.
pub enum PublishError {
    Platform(PlatformError),
    Store(StoreError),
}

impl From<PlatformError> for PublishError {
    fn from(error: PlatformError) -> Self {
        Self::Platform(error)
    }
}

impl From<StoreError> for PublishError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Creates and updates templates or drafts on a platform, and uploads their images.
trait TemplatePort {
    /// Finds the object that has the draft's name and was created at `since` or later.
    fn find(
        client: &Client<'_>,
        draft: &Draft,
        since: Timestamp,
    ) -> impl Future<Output = Result<Option<String>, PlatformError>> + Send;

    /// Creates the object, possibly without content; returns its ID.
    fn create(client: &Client<'_>, draft: &Draft) -> impl Future<Output = Result<String, PlatformError>> + Send;

    /// Writes the draft to the object. Returns [`PlatformError::Missing`] if the object was deleted or sent.
    fn update(
        client: &Client<'_>,
        used: &Connection,
        draft: &Draft,
        id: &str,
    ) -> impl Future<Output = Result<Remote, PlatformError>> + Send;

    /// Returns the URL of the uploaded image with this name, if there is one.
    fn find_image(client: &Client<'_>, image: &Image<'_>) -> impl Future<Output = Result<Option<String>, PlatformError>> + Send;

    fn upload_image(client: &Client<'_>, image: &Image<'_>) -> impl Future<Output = Result<String, PlatformError>> + Send;
}

/// Calls a function of [`TemplatePort`] for the client's platform.
macro_rules! on_platform {
    ($client:ident, $function:ident($($argument:expr),*)) => {
        match $client.provider {
            Provider::Klaviyo => klaviyo::Klaviyo::$function($client, $($argument),*).await,
            Provider::Mailchimp => mailchimp::Mailchimp::$function($client, $($argument),*).await,
            Provider::HubSpot => hubspot::HubSpot::$function($client, $($argument),*).await,
        }
    };
}
use on_platform;
