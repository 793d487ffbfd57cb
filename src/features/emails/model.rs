//! Types and rules of conversations and their emails. Pure.
//!
//! A conversation is one request for emails: a prompt or imported HTML. It has an email for every slot of its series in every language. An
//! email is a row with its state; its versions are immutable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::language_model::Usage;
use crate::engine::store::Record;
use crate::features::projects::PageText;
use crate::vocab::ids::{AccountId, BlobId, ConversationId, EditId, EmailId, ProjectId};

/// The name of the built-in composer, where a model is named.
pub const COMPOSER: &str = "composer";

/// One request for emails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub project: ProjectId,
    pub wanted: GenerationRequest,
    pub state: State,
    /// The subject of the emails in a few words; set when they are planned.
    pub title: Option<String>,
    /// The series, if there is more than one email.
    pub plan: Option<Plan>,
    /// Selects one of the many possible emails of the composer.
    pub seed: u64,
    pub usage: Usage,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Conversation {}

/// The parameters of a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationRequest {
    pub prompt: String,
    /// [`COMPOSER`], or the name of the language model.
    pub model: String,
    /// The languages of each email, the original first.
    pub languages: Vec<String>,
    /// The number of emails; inferred from the prompt if absent.
    pub count: Option<u8>,
    /// Images to use.
    pub images: Vec<String>,
    /// The conversation whose emails serve as a pattern.
    pub reference: Option<ConversationId>,
    /// Whether pages that the prompt links to may be read.
    pub web: bool,
    /// Texts of the pages that the prompt links to, once they are read.
    pub pages: Vec<PageText>,
    pub visibility: Visibility,
    pub source: Source,
}

/// The source of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// It is written from the prompt.
    Prompt,
    /// It is imported HTML.
    Html,
}

/// Who may see the emails without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// No one.
    #[default]
    Private,
    /// Anyone who has the link.
    Unlisted,
    /// Anyone.
    Public,
}

/// The state of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Accepted, waiting to start.
    Pending,
    /// Planned: its emails have rows.
    Processing,
    Completed,
    /// The reason, as text for users.
    Failed(String),
}

impl State {
    /// Returns the status in the API.
    pub fn word(&self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Processing => "processing",
            State::Completed => "completed",
            State::Failed(_) => "failed",
        }
    }

    /// Returns why it failed.
    pub fn reason(&self) -> Option<&str> {
        if let State::Failed(reason) = self { Some(reason) } else { None }
    }

    /// Returns whether the state is final.
    pub fn is_final(&self) -> bool {
        matches!(self, State::Completed | State::Failed(_))
    }
}

/// A planned series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    pub slots: Vec<PlannedSlot>,
}

/// One email of a series, before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSlot {
    /// The purpose of this email.
    pub purpose: String,
    /// Days after the first one.
    pub send_offset_days: i32,
}

/// One email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Email {
    pub id: EmailId,
    pub conversation: ConversationId,
    pub project: ProjectId,
    /// The slot in the series, from 0.
    pub slot: u8,
    /// BCP 47.
    pub language: String,
    /// Days after the first one of the series.
    pub send_offset_days: Option<i32>,
    pub stage: Stage,
    /// The number of times that the current stage was started. A stage that is interrupted repeatedly fails.
    pub attempts: u8,
    /// The number of the current version; 0 before the first.
    pub version: u32,
    /// The number of versions so far, including deleted ones.
    pub versions: u32,
    pub favorite: bool,
    /// Copied from its conversation.
    pub visibility: Visibility,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Email {}

/// The stage of an email's first version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It has a slot and nothing else.
    Planned,
    /// Its document is written and checked; or it is imported HTML, waiting for its instruction.
    Written,
    /// Its HTML, MJML and text exist.
    Rendered,
    /// It has its screenshots, if they could be rendered.
    Ready,
    /// The reason, as text for users.
    Failed(String),
}

impl Stage {
    /// Returns the status in the API.
    pub fn word(&self) -> &'static str {
        match self {
            Stage::Planned | Stage::Written | Stage::Rendered => "processing",
            Stage::Ready => "ready",
            Stage::Failed(_) => "failed",
        }
    }

    /// Returns whether the stage is final.
    pub fn is_final(&self) -> bool {
        matches!(self, Stage::Ready | Stage::Failed(_))
    }
}

/// One version of an email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    pub number: u32,
    pub origin: Origin,
    /// The document as JSON; `None` for imported HTML.
    pub document: Option<String>,
    pub subject: String,
    pub preheader: String,
    /// Warnings for users of the email.
    pub warnings: Vec<String>,
    pub pictures: VersionScreenshots,
    pub facts: Facts,
    pub created_at: Timestamp,
}

impl Record for Version {}

/// The origin of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    Generated,
    Imported,
    /// An edit: its prompt, and the caller's name for it.
    Edited {
        prompt: String,
        label: Option<String>,
    },
    /// The restoration of an earlier version.
    Restored {
        number: u32,
    },
}

/// The screenshots of a version that could be rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionScreenshots {
    /// The whole email, at the width of a desktop client.
    pub screenshot: Option<BlobId>,
    /// The upper part, small.
    pub thumbnail: Option<BlobId>,
}

/// Counted properties of an email.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub images: u32,
    pub buttons: u32,
    /// The number of characters of its text.
    pub length: u32,
    /// As `#RRGGBB`, the most used first.
    pub colors: Vec<String>,
}

/// The texts that are stored beside a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Html = 0,
    Mjml = 1,
    Text = 2,
}

/// An edit that may continue after its request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub id: EditId,
    pub email: EmailId,
    pub account: AccountId,
    pub prompt: String,
    pub label: Option<String>,
    pub state: EditState,
    /// What was changed, as text for users.
    pub done: Vec<String>,
    /// The number of times that it was started.
    pub attempts: u8,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Edit {}

/// The state of an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EditState {
    Pending,
    Processing,
    /// It created this version.
    Completed(u32),
    /// The reason, as text for users.
    Failed(String),
}

impl EditState {
    /// Returns the status in the API.
    pub fn word(&self) -> &'static str {
        match self {
            EditState::Pending => "pending",
            EditState::Processing => "processing",
            EditState::Completed(_) => "completed",
            EditState::Failed(_) => "failed",
        }
    }
}
