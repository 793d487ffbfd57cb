//! Templates and drafts that exports create in connected accounts: one port, and an adapter per platform.
//!
//! This module does not know how an email is translated; it receives the HTML for the platform.

mod hubspot;
mod images;
mod klaviyo;
mod mailchimp;
mod publish;
mod store;

pub use publish::{Publication, Published, publish};
pub use store::{EarlierExport, earlier};

use std::future::Future;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::client::Client;
use super::error::PlatformError;
use super::model::Connection;
use crate::base::clock::Timestamp;
use crate::vocab::ids::EmailId;
use crate::vocab::providers::Provider;

/// What an export creates on a platform. The numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateKind {
    /// A template of Klaviyo's HTML editor.
    KlaviyoCode = 1,
    /// A template of Klaviyo whose regions its drag-and-drop editor changes.
    KlaviyoHybrid = 2,
    MailchimpTemplate = 3,
    /// A campaign that is not sent.
    MailchimpCampaign = 4,
    /// A coded email template.
    HubSpotTemplate = 5,
    /// A draft of a marketing email with its own coded template.
    HubSpotEmail = 6,
}

impl TemplateKind {
    pub const ALL: [Self; 6] = [
        Self::KlaviyoCode,
        Self::KlaviyoHybrid,
        Self::MailchimpTemplate,
        Self::MailchimpCampaign,
        Self::HubSpotTemplate,
        Self::HubSpotEmail,
    ];

    pub fn provider(self) -> Provider {
        match self {
            Self::KlaviyoCode | Self::KlaviyoHybrid => Provider::Klaviyo,
            Self::MailchimpTemplate | Self::MailchimpCampaign => Provider::Mailchimp,
            Self::HubSpotTemplate | Self::HubSpotEmail => Provider::HubSpot,
        }
    }

    /// Returns the name of the kind in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::KlaviyoCode => "html",
            Self::KlaviyoHybrid => "hybrid",
            Self::MailchimpTemplate | Self::HubSpotTemplate => "template",
            Self::MailchimpCampaign => "campaign",
            Self::HubSpotEmail => "email",
        }
    }
}

/// An email to create on a platform, in the platform's language.
#[derive(Clone, Debug)]
pub struct Draft {
    pub email: EmailId,
    pub version: u32,
    pub kind: TemplateKind,
    /// The name on the platform. It belongs to this email only, so that the result of a request without a response can be found by it.
    pub name: String,
    pub subject: String,
    pub preheader: String,
    pub html: String,
    pub text: String,
    /// Further members of the request that creates the object.
    pub options: Map<String, Value>,
    /// How many earlier objects of this email and kind cannot be updated any more.
    pub serial: u32,
}

/// The scopes that a key needs for exports, with their purpose. A Mailchimp API key always has all rights of its user.
pub fn scopes(provider: Provider) -> &'static [(&'static str, &'static str)] {
    match provider {
        Provider::Klaviyo => klaviyo::SCOPES,
        Provider::Mailchimp => &[],
        Provider::HubSpot => hubspot::SCOPES,
    }
}

/// An object on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Remote {
    id: String,
    /// The URL of its page on the platform.
    url: String,
}

/// An image to upload to a platform.
struct Image<'i> {
    /// The file name, which contains a digest of the content.
    name: String,
    content_type: &'static str,
    bytes: &'i [u8],
}

/// The capability of keeping templates or drafts, and their images.
trait TemplatePort {
    /// Finds the object with the name of the draft that was created at `since` or later.
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

    /// Returns the URL of an uploaded image of this name.
    fn find_image(client: &Client<'_>, image: &Image<'_>) -> impl Future<Output = Result<Option<String>, PlatformError>> + Send;

    /// Uploads an image; returns its URL.
    fn upload_image(client: &Client<'_>, image: &Image<'_>) -> impl Future<Output = Result<String, PlatformError>> + Send;
}

/// Calls a function of the port of the client's platform.
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
