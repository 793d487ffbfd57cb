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
    /// The only email in the conversation to export; all of the conversation's emails if absent.
    pub email_id: Option<EmailId>,
    /// If given, the conversation must belong to this project.
    pub project_id: Option<ProjectId>,
}

/// Where a platform's export goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ExportDestination")]
pub enum Destination {
    /// A file to download, which needs no account on the platform.
    File,
}

/// The exported files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailExport {
    pub conversation_id: ConversationId,
    /// The files, in the order of the emails.
    pub files: Vec<FileView>,
    /// The duration of the export in milliseconds.
    pub execution_time: u64,
    #[schemars(extend("enum" = ["html", "mjml", "png", "pdf", "platform_a", "platform_b", "platform_c"]))]
    pub export_type: &'static str,
}

/// An exported file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    pub filename: String,
    /// The file's URL. Anyone who has the URL can open the file.
    pub url: String,
    #[schemars(extend("enum" = ["html", "mjml", "png", "pdf"]))]
    pub format: &'static str,
    pub email_id: EmailId,
    /// The merge fields that were removed because the platform has no counterpart; absent if there are none.
    pub untranslated: Option<Vec<String>>,
    /// When the link expires.
    pub expires_at: WireTime,
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
                expires_at: WireTime::sample(),
            }],
            execution_time: 12,
            export_type: word,
        }
    }
}
