//! Conversations and the emails they bring forth: types and rules. Pure.
//!
//! A conversation is one request for emails: a prompt, or HTML that was handed in. Its emails stand in places: every slot of the
//! series in every language. An email is a row that says how far it is, and its versions, which never change once they are made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::language_model::Usage;
use crate::engine::store::Record;
use crate::features::projects::PageText;
use crate::vocab::ids::{AccountId, BlobId, ConversationId, EditId, EmailId, ProjectId};

/// The name of the built-in composer, wherever a model is named.
pub const COMPOSER: &str = "composer";

/// One request for emails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub project: ProjectId,
    pub wanted: GenerationRequest,
    pub state: State,
    /// What the emails are about, in a few words; known once they are planned.
    pub title: Option<String>,
    /// The series, if there is more than one email.
    pub plan: Option<Plan>,
    /// Which of many possible emails the composer writes.
    pub seed: u64,
    pub usage: Usage,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Conversation {}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationRequest {
    pub prompt: String,
    /// [`COMPOSER`], or the name of the language model.
    pub model: String,
    /// In these languages each, the first one being the original.
    pub languages: Vec<String>,
    /// How many emails; to be inferred from the prompt if absent.
    pub count: Option<u8>,
    /// Pictures to be used.
    pub images: Vec<String>,
    /// The conversation whose emails are taken as a pattern.
    pub reference: Option<ConversationId>,
    /// Whether pages that the prompt links to may be read.
    pub web: bool,
    /// Texts of pages that the prompt links to, once they were read.
    pub pages: Vec<PageText>,
    pub visibility: Visibility,
    pub source: Source,
}

/// Where the content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// It is written.
    Prompt,
    /// It was handed in as HTML.
    Html,
}

/// Who may see the emails without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Nobody.
    #[default]
    Private,
    /// Whoever has a link.
    Unlisted,
    /// Everybody.
    Public,
}

/// How far a conversation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Accepted, waiting for its turn.
    Pending,
    /// Planned: its emails have rows.
    Processing,
    Completed,
    /// Why, in words for people.
    Failed(String),
}

impl State {
    /// The word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Processing => "processing",
            State::Completed => "completed",
            State::Failed(_) => "failed",
        }
    }

    /// Why it failed.
    pub fn reason(&self) -> Option<&str> {
        if let State::Failed(reason) = self { Some(reason) } else { None }
    }

    /// Whether nothing more will happen.
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
    /// What this one is for.
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
    /// The place in the series, from 0.
    pub slot: u8,
    /// BCP 47.
    pub language: String,
    /// Days after the first one of the series.
    pub send_offset_days: Option<i32>,
    pub stage: Stage,
    /// How often a stage was begun; a stage that is interrupted again and again is given up.
    pub attempts: u8,
    /// The number of the version in use; 0 before the first.
    pub version: u32,
    /// How many versions there have been.
    pub versions: u32,
    pub favorite: bool,
    /// As its conversation has it.
    pub visibility: Visibility,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Email {}

/// How far the first version of an email is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It has a place and nothing else.
    Planned,
    /// Its document is there, checked; or the HTML that was handed in, to be changed as was asked with it.
    Written,
    /// Its HTML, MJML and text are there.
    Rendered,
    /// It has its pictures, as far as they can be drawn.
    Ready,
    /// Why, in words for people.
    Failed(String),
}

impl Stage {
    /// The word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Stage::Planned | Stage::Written | Stage::Rendered => "processing",
            Stage::Ready => "ready",
            Stage::Failed(_) => "failed",
        }
    }

    /// Whether nothing more will happen.
    pub fn is_final(&self) -> bool {
        matches!(self, Stage::Ready | Stage::Failed(_))
    }
}

/// One version of an email.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    pub number: u32,
    pub origin: Origin,
    /// The document as JSON; none where the email was handed in as HTML.
    pub document: Option<String>,
    pub subject: String,
    pub preheader: String,
    /// What whoever uses it should know.
    pub warnings: Vec<String>,
    pub pictures: VersionScreenshots,
    pub facts: Facts,
    pub created_at: Timestamp,
}

impl Record for Version {}

/// How a version came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    Generated,
    Imported,
    /// By an edit: its prompt, and what its caller calls it.
    Edited {
        prompt: String,
        label: Option<String>,
    },
    /// By taking up an earlier one again.
    Restored {
        number: u32,
    },
}

/// Screenshots of a version, as far as they were drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionScreenshots {
    /// The whole of it, at the width of a desktop client.
    pub screenshot: Option<BlobId>,
    /// The upper part, small.
    pub thumbnail: Option<BlobId>,
}

/// What can be counted in an email.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub images: u32,
    pub buttons: u32,
    /// Characters of its text.
    pub length: u32,
    /// As `#RRGGBB`, the most used first.
    pub colors: Vec<String>,
}

/// The texts of a version that are kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Html = 0,
    Mjml = 1,
    Text = 2,
}

/// An edit that goes on after its request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub id: EditId,
    pub email: EmailId,
    pub account: AccountId,
    pub prompt: String,
    pub label: Option<String>,
    pub state: EditState,
    /// What was done, in words for people.
    pub done: Vec<String>,
    /// How often it was begun.
    pub attempts: u8,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Edit {}

/// How far an edit is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EditState {
    Pending,
    Processing,
    /// It made this version.
    Completed(u32),
    /// Why, in words for people.
    Failed(String),
}

impl EditState {
    /// The word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            EditState::Pending => "pending",
            EditState::Processing => "processing",
            EditState::Completed(_) => "completed",
            EditState::Failed(_) => "failed",
        }
    }
}
