//! The inputs and results of exports in the API.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::api::response::WireTime;
use crate::vocab::ids::{ConversationId, EmailId, ProjectId};

/// The emails to export.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportEmails {
    pub conversation_id: ConversationId,
    /// The only email to export. If absent, all finished emails of the conversation are exported.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
}

/// Where the result of an export for a platform goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ExportDestination")]
pub enum Destination {
    /// A file to download, which needs no account on the platform.
    File,
}

/// Where an email's images are hosted after an export into an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImageHosting {
    /// Images stay at their current URLs.
    #[default]
    Hosted,
    /// PNG, JPEG and GIF images are uploaded to the platform.
    Upload,
}

/// The exported files, or the templates and drafts that an export created on a platform.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailExport {
    pub conversation_id: ConversationId,
    /// The files, or the templates and drafts on the platform, in the order of the emails.
    pub files: Vec<FileView>,
    /// The duration of the export in milliseconds.
    pub execution_time: u64,
    #[schemars(extend("enum" = ["html", "mjml", "png", "pdf", "platform_a", "platform_b", "platform_c"]))]
    pub export_type: &'static str,
}

/// An exported file, or a template or draft on a platform.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    /// The name of the file, or of the template or draft on the platform.
    pub filename: String,
    /// The file's URL, which anyone can open, or the URL of the template or draft on the platform.
    pub url: String,
    #[schemars(extend("enum" = ["html", "mjml", "png", "pdf"]))]
    pub format: &'static str,
    pub email_id: EmailId,
    /// The merge fields that were removed because the platform does not support them; absent if there are none.
    pub untranslated: Option<Vec<String>>,
    /// When the link expires; absent for templates and drafts on a platform.
    pub expires_at: Option<WireTime>,
    /// The template or draft that the export created or updated on the platform; absent for files.
    pub platform: Option<PlatformObject>,
}

/// A template or draft on a platform.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlatformObject {
    /// The ID of the template or draft on the platform. For a HubSpot coded template, the ID is the template's path.
    pub id: String,
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["html", "hybrid", "template", "campaign", "email"]))]
    pub kind: &'static str,
    /// Whether this export created the template or draft. If false, this export updated the result of an earlier export.
    pub created: bool,
    /// The URLs of the images that could not be uploaded and stay at these URLs; absent if there are none.
    pub left_images: Option<Vec<String>>,
}

impl EmailExport {
    /// Returns an example for the documentation.
    pub fn sample(format: super::Format) -> Self {
        let word = format.word();
        let file = "https://mail.example.com/v1/files/66f1a2b3d4e5f60718293a50?token=1767398400.5d41";
        Self {
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid"),
            files: vec![FileView {
                filename: format!("welcome-to-acme-1-en.{word}"),
                url: file.into(),
                format: word,
                email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
                untranslated: None,
                expires_at: Some(WireTime::sample()),
                platform: None,
            }],
            execution_time: 12,
            export_type: word,
        }
    }
}
