//! The types of conversations and their emails, and the rules for them as pure functions.
//!
//! A conversation is one request for emails: a prompt, a brief, a document or imported HTML. The plan of a generation creates an email for
//! each slot of the series and each language. An email is a row that contains its state. Its versions are separate rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::brief::Brief;
use super::finding::Finding;
use crate::base::clock::Timestamp;
use crate::base::json_bytes;
use crate::engine::hold::HoldNumber;
use crate::engine::language_model::Usage;
use crate::engine::store::Record;
use crate::features::checks::model::EmailChecks;
use crate::features::projects::PageText;
use crate::vocab::ids::{AccountId, BlobId, ConversationId, EditId, EmailId, KeyId, ProjectId, UserId};
pub use crate::vocab::settings::COMPOSER;
use crate::vocab::settings::OnFailure;

/// One request for emails, and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub project: ProjectId,
    pub wanted: GenerationRequest,
    pub state: State,
    /// The title, taken from the plan or, for imported HTML and documents, from the first subject. `None` until the emails are planned or
    /// created.
    pub title: Option<String>,
    /// The series, if there is more than one email.
    pub plan: Option<Plan>,
    /// The seed with which the composer chooses between the emails that it could write.
    pub seed: u64,
    pub usage: Usage,
    /// The number of the last hold before the request.
    pub hold_number: HoldNumber,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Conversation {}

/// The parameters of a generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenerationRequest {
    /// The request or, for imported HTML, the instruction, in the user's words; empty if there is none.
    pub prompt: String,
    /// The brief that the user provided or that was read from the prompt. `None` until the prompt is read; always `None` for imported HTML
    /// and documents.
    #[serde(with = "json_bytes")]
    pub brief: Option<Brief>,
    /// The model that writes the emails: [`COMPOSER`], or the name of the language model.
    pub model: String,
    /// What happens if the model cannot write.
    pub on_failure: OnFailure,
    /// The languages in which each email is generated. The original is written in the first language.
    pub languages: Vec<String>,
    /// The number of emails. If absent, it is inferred from the prompt.
    pub count: Option<u8>,
    pub images: Vec<String>,
    /// The conversation whose emails serve as a reference for style.
    pub reference: Option<ConversationId>,
    /// Whether pages that the prompt links to may be read.
    pub web: bool,
    /// The content of the pages that the prompt links to, once the pages have been read.
    pub pages: Vec<PageText>,
    pub visibility: Visibility,
    pub source: Source,
}

impl GenerationRequest {
    /// Returns the topic of the emails on one line: the first line of the prompt or, without a prompt, the subject or the first fact of the
    /// brief.
    pub fn topic(&self) -> &str {
        let brief = self.brief.as_ref();
        let subject = brief.and_then(|brief| brief.subject.as_ref().map(|subject| subject.text.as_str()));
        let fact = brief.and_then(|brief| brief.facts.first()).map(|fact| fact.text.as_str());
        self.prompt.lines().next().or(subject).or(fact).unwrap_or_default()
    }
}

/// The source of an email's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// The content is written from the prompt.
    Prompt,
    /// The content is imported HTML.
    Html,
    /// The content is a document that a user supplied.
    Document,
}

/// Who may see the emails without an API key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "EmailVisibility")]
pub enum Visibility {
    /// The emails have no public page.
    #[default]
    Private,
    /// Anyone who has the signed link may see the emails.
    Unlisted,
    /// Anyone may see the emails.
    Public,
}

/// The state of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// The request was accepted and waits to start.
    Pending,
    /// The emails are planned and stored, and are being generated.
    Processing,
    Completed,
    /// The generation failed. Contains the reason, worded for users.
    Failed(String),
}

impl State {
    /// Returns the name of the status in the API.
    pub fn word(&self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Processing => "processing",
            State::Completed => "completed",
            State::Failed(_) => "failed",
        }
    }

    /// Returns why the conversation failed; `None` in any other state.
    pub fn reason(&self) -> Option<&str> {
        if let State::Failed(reason) = self { Some(reason) } else { None }
    }

    pub fn is_final(&self) -> bool {
        matches!(self, State::Completed | State::Failed(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    pub slots: Vec<PlannedSlot>,
}

/// One email in a series, before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSlot {
    pub purpose: String,
    /// The number of days from the first email in the series to this email.
    pub send_offset_days: i32,
}

/// An email in one slot and language of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Email {
    pub id: EmailId,
    pub conversation: ConversationId,
    pub project: ProjectId,
    /// The email's slot in the series, starting at 0.
    pub slot: u8,
    /// The language of the email, as a BCP 47 tag.
    pub language: String,
    /// The number of days from the first email in the series to this email; `None` if the email is not part of a series.
    pub send_offset_days: Option<i32>,
    pub stage: Stage,
    /// The number of times that the current stage was started. A stage that is interrupted repeatedly fails.
    pub attempts: u8,
    /// The number of the current version; 0 before the first version.
    pub version: u32,
    /// The number of versions so far, including deleted ones.
    pub versions: u32,
    pub favorite: bool,
    /// The visibility, copied from the conversation.
    pub visibility: Visibility,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Email {}

/// The stage of an email's first version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The email has a slot but no content yet.
    Planned,
    /// The document is written and checked. For imported HTML, the instruction is still to be applied.
    Written,
    /// The HTML, MJML and text exist.
    Rendered,
    /// The email is ready, with screenshots if they could be rendered.
    Ready,
    /// The email could not be generated. Contains the reason, worded for users.
    Failed(String),
}

impl Stage {
    /// Returns the name of the status in the API.
    pub fn word(&self) -> &'static str {
        match self {
            Stage::Planned | Stage::Written | Stage::Rendered => "processing",
            Stage::Ready => "ready",
            Stage::Failed(_) => "failed",
        }
    }

    pub fn is_final(&self) -> bool {
        matches!(self, Stage::Ready | Stage::Failed(_))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    pub number: u32,
    pub origin: Origin,
    /// The document as JSON; `None` for imported HTML.
    pub document: Option<String>,
    pub subject: String,
    pub preheader: String,
    /// The conversation's brief when the version was created.
    #[serde(with = "json_bytes")]
    pub brief: Option<Brief>,
    /// The name of the writer: [`COMPOSER`] or a language model; `None` if the text was imported or a user wrote it.
    pub written_by: Option<String>,
    #[serde(with = "json_bytes")]
    pub warnings: Vec<Finding>,
    pub pictures: VersionScreenshots,
    pub facts: Facts,
    pub created_at: Timestamp,
}

impl Record for Version {}

/// How a version was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    Generated,
    Imported,
    /// An edit created the version. Contains the prompt and the caller's name for the version.
    Edited {
        prompt: String,
        label: Option<String>,
    },
    /// Restoring an earlier version created the version.
    Restored {
        number: u32,
    },
    /// A user or program wrote or changed the document without a prompt.
    Manual {
        by: Author,
        /// The time of the first autosave that is combined in this version; `None` if the version is not an autosave.
        autosaved_since: Option<Timestamp>,
    },
}

/// Who saved a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Author {
    User(UserId),
    Key(KeyId),
}

/// The screenshots of a version. A screenshot that was not rendered is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionScreenshots {
    /// The screenshot of the whole email, at the width of a desktop client.
    pub screenshot: Option<BlobId>,
    /// A small screenshot of the upper part of the email.
    pub thumbnail: Option<BlobId>,
}

/// The measured properties of an email, such as its length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    pub images: u32,
    pub buttons: u32,
    /// The length of the email's text: in words for an email with a document, in characters for imported HTML.
    pub length: u32,
    /// The main colors as `#RRGGBB`.
    pub colors: Vec<String>,
}

/// The result of the checks of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionChecks {
    #[serde(with = "json_bytes")]
    pub checks: EmailChecks,
    pub checked_at: Timestamp,
}

impl Record for VersionChecks {}

/// Who ignored a finding, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IgnoredFinding {
    pub by: Author,
    pub at: Timestamp,
}

impl Record for IgnoredFinding {}

/// The formats of a version that are stored in their own rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Html = 0,
    Mjml = 1,
    Text = 2,
}

/// An edit of an email. The edit may still be running after the response to its request is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub id: EditId,
    pub email: EmailId,
    pub account: AccountId,
    pub prompt: String,
    /// The model that the request names, if any.
    pub model: Option<String>,
    pub label: Option<String>,
    pub state: EditState,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the prompt that were not applied, each with the reason.
    pub not_done: Vec<String>,
    /// The number of times that the edit was started.
    pub attempts: u8,
    /// The number of the last hold before the request.
    pub hold_number: HoldNumber,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Edit {}

/// A version as HTML, MJML and plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    pub html: String,
    /// The MJML; `None` for imported HTML.
    pub mjml: Option<String>,
    pub text: String,
}

/// An edit that was previewed but has not been saved yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PreviewedEdit {
    pub id: EditId,
    pub prompt: String,
    /// The number of the version that the edit changes.
    pub base: u32,
    /// The version that the edit creates. Its number, origin, brief and time are set when it is saved.
    pub version: Version,
    pub texts: Texts,
    /// The language of the new version, as a BCP 47 tag.
    pub language: String,
    /// The brief with the changes that the prompt makes to it; `None` if there are no changes.
    #[serde(with = "json_bytes")]
    pub brief: Option<Brief>,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the prompt that were not applied, each with the reason.
    pub not_done: Vec<String>,
}

impl Record for PreviewedEdit {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EditState {
    Pending,
    Processing,
    /// The edit created the version with this number.
    Completed(u32),
    /// The edit failed. Contains the reason, worded for users.
    Failed(String),
}

impl EditState {
    /// Returns the name of the status in the API.
    pub fn word(&self) -> &'static str {
        match self {
            EditState::Pending => "pending",
            EditState::Processing => "processing",
            EditState::Completed(_) => "completed",
            EditState::Failed(_) => "failed",
        }
    }
}
