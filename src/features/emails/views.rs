//! Conversations and emails as the API returns them (`assets/docs/emails.md`).

use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::brief::Brief;
use super::finding::Finding;
use super::model::{Conversation, Edit, EditState, Email, Facts, Origin, Part, Stage, Version};
use super::ops::page::share_url;
use super::{checking, postal_address, store};
use crate::base::optional::remove_nulls;
use crate::base::secret::sha256;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, Failure, Listed};
use crate::engine::language_model::Usage;
use crate::engine::store::ReadTx;
use crate::vocab::ids::{AccountId, BlobId, ConversationId, EditId, EmailId, ProjectId};
use crate::vocab::settings::OnFailure;

/// An email in one language, with the outputs and warnings of its current version.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailView {
    pub id: EmailId,
    /// The email's ID, equal to `id`.
    pub email_id: EmailId,
    pub conversation_id: ConversationId,
    pub project_id: ProjectId,
    /// The ID of the email's current version.
    pub message_id: String,
    /// The email's slot in the series, starting at 0.
    pub slot_idx: u8,
    /// The email's slot in the series, starting at 1.
    pub slot: u8,
    /// The ID of the slot in the series. All languages and versions of the email share this ID.
    pub slot_uuid: String,
    /// The language of the email, as a BCP 47 tag.
    pub language: String,
    #[schemars(extend("enum" = ["processing", "ready", "failed"]))]
    pub status: &'static str,
    pub subject: String,
    pub preheader: String,
    /// The email's HTML; empty until the email is rendered.
    pub html: String,
    /// The email's plain-text part; empty until the email is rendered.
    pub text: String,
    /// The planned number of days between the first email in the series and this email. Absent if there is no series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_offset_days: Option<i32>,
    /// The URL of a screenshot of the whole email, 600 CSS pixels wide, with two image pixels per CSS pixel.
    pub screenshot_url: Option<String>,
    /// The URL of the screenshot, equal to `screenshotUrl`.
    pub screenshot_full_url: Option<String>,
    pub thumbnail_url: Option<String>,
    /// The URL of a page that shows the email without an API key; absent if the email is private.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_url: Option<String>,
    /// The writer of the current version: `composer`, or the name of a language model. Absent if the text was imported or a user wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
    /// Warnings about the email, for users. A warning about missing text can contain the change that adds the text.
    pub warnings: Vec<Finding>,
    /// Why the generation failed; absent if it did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub favorite: bool,
    /// The number of the current version.
    pub version: u32,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

/// An email with its document and its series.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailDetails {
    #[serde(flatten)]
    pub email: EmailView,
    /// The email's document: typed blocks, from which all outputs are rendered. Absent for imported HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// The prompt of the conversation; empty if there is none. The spans of the brief and of the warnings refer to it.
    pub prompt: String,
    /// The brief of the conversation. Absent for imported HTML, and for emails that were created from a design or a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<Brief>,
    /// The emails in the conversation, including this email, sorted by slot, then by language.
    pub series: Vec<SiblingView>,
}

/// An email in the same conversation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiblingView {
    pub email_id: EmailId,
    /// The email's slot in the series, starting at 1.
    pub slot: u8,
    /// The language of the email, as a BCP 47 tag.
    pub language: String,
    #[schemars(extend("enum" = ["processing", "ready", "failed"]))]
    pub status: &'static str,
}

/// A conversation in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    pub conversation_id: ConversationId,
    /// The title of the emails or, for imported HTML, the first subject. Until the emails are planned, the start of the prompt or of the
    /// brief.
    pub title: String,
    pub subject: Option<String>,
    pub preview_text: Option<String>,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed"]))]
    pub status: &'static str,
    pub screenshot_url: Option<String>,
    pub thumbnail_url: Option<String>,
    /// The number of emails, with each language counted separately; 0 until the emails are planned.
    pub email_count: usize,
    /// Whether one of the emails is a favorite.
    pub favorite: bool,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for ConversationView {
    const PLURAL: &'static str = "emails";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// The status of a conversation and its emails.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GenerationStatus {
    pub conversation_id: ConversationId,
    pub project_id: ProjectId,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed"]))]
    pub status: &'static str,
    pub progress: GenerationProgress,
    /// The title of the emails or, for imported HTML, the first subject. Until the emails are planned, the start of the prompt or of the
    /// brief.
    pub title: String,
    /// The prompt or, for imported HTML, the instruction; empty if there is none.
    pub prompt: String,
    /// The brief that the emails are written from. Absent until the prompt is read, and for emails that are imported or created from a
    /// design or a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<Brief>,
    /// The model that the request names or, if it names none, the default model. For emails that are created from a design or a document,
    /// `composer`, the built-in composer.
    pub model: String,
    /// What happens if the model cannot write: the generation fails, or the built-in composer writes the emails. Each email's `writtenBy`
    /// names its writer.
    pub on_failure: OnFailure,
    pub created_at: WireTime,
    pub updated_at: WireTime,
    /// Why the generation failed; absent if it did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The emails, including emails that are still being generated. Absent until the emails are planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultView>,
}

/// The progress of a generation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GenerationProgress {
    #[schemars(extend("enum" = ["waiting", "writing", "rendering", "completed", "failed"]))]
    pub stage: &'static str,
    /// The number of the current step, starting at 1. Planning takes one step. Each email then takes three steps: it is written, rendered,
    /// and captured in screenshots.
    pub step: usize,
    /// The number of steps. This is an estimate until the emails are planned.
    pub steps: usize,
    /// The progress as a percentage from 0 to 100.
    pub percentage: u8,
}

/// The emails in a conversation. `subject`, `previewText`, `html`, `stats` and the screenshot URLs are taken from the first email.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultView {
    pub subject: String,
    pub preview_text: String,
    pub html: String,
    /// The emails, sorted by slot, then by language.
    pub emails: Vec<EmailView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_plan: Option<SeriesPlan>,
    pub screenshot_url: Option<String>,
    pub screenshot_full_url: Option<String>,
    pub stats: EmailStats,
    pub languages: Vec<String>,
    /// The usage of language models for the emails and their edits.
    pub usage: UsageView,
}

/// The plan of a series of emails.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeriesPlan {
    pub name: String,
    pub count: usize,
    /// The ID of the theme that all emails in the series share.
    pub theme_id: String,
    pub slots: Vec<SlotView>,
}

/// A planned email in a series.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlotView {
    pub slot_idx: usize,
    /// The purpose of the email.
    pub purpose: String,
    pub send_offset_days: i32,
}

/// The measured properties of an email, such as its length.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailStats {
    pub image_count: u32,
    pub button_count: u32,
    /// The length of the email's text: in words for an email with a document, in characters for imported HTML.
    pub estimated_length: u32,
    /// The email's main colors as `#RRGGBB`.
    pub colors: Vec<String>,
}

/// The usage of a language model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    pub calls: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The total response time of the model's calls, in milliseconds.
    pub milliseconds: u64,
    /// The cost of the usage, in the currency of the configured prices.
    pub cost: f64,
}

/// One version of an email.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    pub version: u32,
    #[schemars(extend("enum" = ["generated", "imported", "edited", "restored", "manual"]))]
    pub origin: &'static str,
    /// The prompt of the edit that created the version, or the description of an automatic fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The number of the earlier version that was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_version: Option<u32>,
    pub subject: String,
    pub screenshot_url: Option<String>,
    pub thumbnail_url: Option<String>,
    /// Whether this version is the email's current version.
    pub current: bool,
    pub created_at: WireTime,
}

impl Listed for VersionView {
    const PLURAL: &'static str = "versions";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// An email after an edit.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditedEmail {
    #[serde(flatten)]
    pub email: EmailView,
    /// The changed document of a preview. Absent for imported HTML or if the edit was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Value>,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the prompt that were not applied, each with the reason and, in some cases, a similar prompt that works.
    pub not_done: Vec<String>,
    /// The ID of a preview. To save the returned email, use this ID as `editId` in POST /v1/emails/{emailId}/edits/{editId}/save. Absent if
    /// the edit was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview_id: Option<EditId>,
}

/// An edit of an email. The edit may still be running when this object is returned.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditView {
    pub edit_id: EditId,
    pub email_id: EmailId,
    pub conversation_id: ConversationId,
    #[schemars(extend("enum" = ["pending", "processing", "completed", "failed"]))]
    pub status: &'static str,
    #[schemars(extend("enum" = ["waiting", "editing", "completed", "failed"]))]
    pub stage: &'static str,
    pub created_at: WireTime,
    pub updated_at: WireTime,
    /// The milliseconds to wait before the next poll.
    pub poll_after_ms: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Always false if present: a failed edit makes no changes, because a version is either created completely or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes_may_have_been_saved: Option<bool>,
    /// The requested change, in the user's words.
    pub prompt: String,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the prompt that were not applied, each with the reason and, in some cases, a similar prompt that works.
    pub not_done: Vec<String>,
    /// The email, once the edit is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<EmailView>,
}

/// Builds the API's views of emails, with links that the engine signs.
pub struct Viewer<'a> {
    pub engine: &'a Engine,
    pub tx: &'a ReadTx,
    pub account: AccountId,
}

impl Viewer<'_> {
    fn link(&self, file: Option<BlobId>) -> Option<String> {
        file.map(|file| self.engine.file_link(file).0)
    }

    fn text(&self, email: &Email, part: Part) -> Result<String, Failure> {
        Ok(store::text(self.tx, email.id, email.version, part)?.unwrap_or_default())
    }

    /// Returns the warnings about a version: the warnings of the contract and of the checks, and a warning if the email needs the brand's
    /// address and the brand has none.
    fn warnings(&self, email: &Email, version: Option<Version>, text: &str) -> Result<Vec<Finding>, Failure> {
        let mut warnings = version.map(|version| version.warnings).unwrap_or_default();
        if postal_address::is_missing(self.tx, email.project, text)? {
            warnings.push(Finding::note(postal_address::MISSING));
        }
        let found = checking::warnings(self.tx, email, &warnings)?;
        warnings.extend(found);
        Ok(warnings)
    }

    /// Returns the view of an email's current version.
    pub fn email(&self, email: &Email) -> Result<EmailView, Failure> {
        let version = store::version(self.tx, email.id, email.version)?;
        let pictures = version.as_ref().map(|version| version.pictures.clone()).unwrap_or_default();
        let text_of = |of: fn(&Version) -> &String| version.as_ref().map(of).cloned().unwrap_or_default();
        let (html, text) = (self.text(email, Part::Html)?, self.text(email, Part::Text)?);
        Ok(EmailView {
            id: email.id,
            email_id: email.id,
            conversation_id: email.conversation,
            project_id: email.project,
            message_id: format!("{}-{}", email.id, email.version),
            slot_idx: email.slot,
            slot: email.slot + 1,
            slot_uuid: slot_uuid(email.conversation, email.slot),
            language: email.language.clone(),
            status: email.stage.word(),
            subject: text_of(|version| &version.subject),
            preheader: text_of(|version| &version.preheader),
            html: postal_address::in_markup(self.tx, email.project, html)?,
            send_offset_days: email.send_offset_days,
            screenshot_url: self.link(pictures.screenshot),
            screenshot_full_url: self.link(pictures.screenshot),
            thumbnail_url: self.link(pictures.thumbnail),
            share_url: share_url(self.engine, self.account, email.id, email.visibility),
            written_by: version.as_ref().and_then(|version| version.written_by.clone()),
            warnings: self.warnings(email, version, &text)?,
            text: postal_address::in_text(self.tx, email.project, text)?,
            error: if let Stage::Failed(reason) = &email.stage { Some(reason.clone()) } else { None },
            favorite: email.favorite,
            version: email.version,
            created_at: WireTime(email.created_at),
            updated_at: WireTime(email.updated_at),
        })
    }

    /// Returns the view of an email with its document and series.
    pub fn details(&self, email: &Email) -> Result<EmailDetails, Failure> {
        let document = store::version(self.tx, email.id, email.version)?.and_then(|version| version.document);
        let mut document: Option<Value> =
            document.map(|text| serde_json::from_str(&text)).transpose().map_err(Failure::internal)?;
        document.iter_mut().for_each(remove_nulls);
        let sibling = |other: Email| SiblingView {
            email_id: other.id,
            slot: other.slot + 1,
            status: other.stage.word(),
            language: other.language,
        };
        let series = store::emails(self.tx, self.account, email.conversation)?.into_iter().map(sibling).collect();
        let wanted = store::conversation(self.tx, self.account, email.conversation)?.map(|conversation| conversation.wanted);
        let (prompt, brief) = wanted.map(|wanted| (wanted.prompt, wanted.brief)).unwrap_or_default();
        Ok(EmailDetails { email: self.email(email)?, document, prompt, brief, series })
    }

    /// Returns the view of a conversation's status.
    pub fn status(&self, conversation: &Conversation) -> Result<GenerationStatus, Failure> {
        let emails = store::emails(self.tx, self.account, conversation.id)?;
        Ok(GenerationStatus {
            conversation_id: conversation.id,
            project_id: conversation.project,
            status: conversation.state.word(),
            progress: progress(conversation, &emails),
            title: title(conversation),
            prompt: conversation.wanted.prompt.clone(),
            brief: conversation.wanted.brief.clone(),
            model: conversation.wanted.model.clone(),
            on_failure: conversation.wanted.on_failure,
            created_at: WireTime(conversation.created_at),
            updated_at: WireTime(conversation.updated_at),
            error: conversation.state.reason().map(str::to_owned),
            result: if emails.is_empty() { None } else { Some(self.result(conversation, &emails)?) },
        })
    }

    fn result(&self, conversation: &Conversation, emails: &[Email]) -> Result<ResultView, Failure> {
        let views = emails.iter().map(|email| self.email(email)).collect::<Result<Vec<_>, _>>()?;
        let first = views.first().expect("the caller passes at least one email");
        let facts = store::version(self.tx, emails[0].id, emails[0].version)?.map(|version| version.facts).unwrap_or_default();
        let Usage { calls, input_tokens, output_tokens, milliseconds, micro_cost } = conversation.usage;
        Ok(ResultView {
            subject: first.subject.clone(),
            preview_text: first.preheader.clone(),
            html: first.html.clone(),
            screenshot_url: first.screenshot_url.clone(),
            screenshot_full_url: first.screenshot_full_url.clone(),
            emails: views,
            series_plan: conversation.plan.as_ref().map(|plan| SeriesPlan {
                name: plan.name.clone(),
                count: plan.slots.len(),
                theme_id: conversation.id.to_string(),
                slots: plan
                    .slots
                    .iter()
                    .enumerate()
                    .map(|(slot_idx, slot)| SlotView {
                        slot_idx,
                        purpose: slot.purpose.clone(),
                        send_offset_days: slot.send_offset_days,
                    })
                    .collect(),
            }),
            stats: stats(facts),
            languages: conversation.wanted.languages.clone(),
            usage: UsageView { calls, input_tokens, output_tokens, milliseconds, cost: micro_cost as f64 / 1e6 },
        })
    }

    /// Returns the view of a conversation in a list.
    pub fn conversation(&self, conversation: &Conversation) -> Result<ConversationView, Failure> {
        let emails = store::emails(self.tx, self.account, conversation.id)?;
        let version = match emails.first() {
            Some(email) => store::version(self.tx, email.id, email.version)?,
            None => None,
        };
        let pictures = version.as_ref().map(|version| version.pictures.clone()).unwrap_or_default();
        Ok(ConversationView {
            conversation_id: conversation.id,
            title: title(conversation),
            subject: version.as_ref().map(|version| version.subject.clone()),
            preview_text: version.as_ref().map(|version| version.preheader.clone()),
            status: conversation.state.word(),
            screenshot_url: self.link(pictures.screenshot),
            thumbnail_url: self.link(pictures.thumbnail),
            email_count: emails.len(),
            favorite: emails.iter().any(|email| email.favorite),
            created_at: WireTime(conversation.created_at),
            updated_at: WireTime(conversation.updated_at),
        })
    }

    /// Returns the view of an email version.
    pub fn version(&self, email: &Email, version: &Version) -> VersionView {
        let (origin, prompt, label, restored_version) = match &version.origin {
            Origin::Generated => ("generated", None, None, None),
            Origin::Imported => ("imported", None, None, None),
            Origin::Edited { prompt, label } => ("edited", Some(prompt.clone()), label.clone(), None),
            Origin::Restored { number } => ("restored", None, None, Some(*number)),
            Origin::Manual { .. } => ("manual", None, None, None),
        };
        VersionView {
            version: version.number,
            origin,
            prompt,
            label,
            restored_version,
            subject: version.subject.clone(),
            screenshot_url: self.link(version.pictures.screenshot),
            thumbnail_url: self.link(version.pictures.thumbnail),
            current: version.number == email.version,
            created_at: WireTime(version.created_at),
        }
    }

    /// Returns the view of an edit, with the email once the edit is done.
    pub fn edit(&self, edit: &Edit, email: &Email) -> Result<EditView, Failure> {
        let (stage, poll_after_ms) = match edit.state {
            EditState::Pending => ("waiting", POLL_AFTER_MS),
            EditState::Processing => ("editing", POLL_AFTER_MS),
            EditState::Completed(_) => ("completed", 0),
            EditState::Failed(_) => ("failed", 0),
        };
        let error = if let EditState::Failed(reason) = &edit.state { Some(reason.clone()) } else { None };
        Ok(EditView {
            edit_id: edit.id,
            email_id: edit.email,
            conversation_id: email.conversation,
            status: edit.state.word(),
            stage,
            created_at: WireTime(edit.created_at),
            updated_at: WireTime(edit.updated_at),
            poll_after_ms,
            changes_may_have_been_saved: error.as_ref().map(|_| false),
            error,
            prompt: edit.prompt.clone(),
            done: edit.done.clone(),
            not_done: edit.not_done.clone(),
            result: if matches!(edit.state, EditState::Completed(_)) { Some(self.email(email)?) } else { None },
        })
    }
}

/// The recommended interval between polls of an edit, in milliseconds.
const POLL_AFTER_MS: u32 = 1000;

fn stats(facts: Facts) -> EmailStats {
    EmailStats { image_count: facts.images, button_count: facts.buttons, estimated_length: facts.length, colors: facts.colors }
}

/// The subject of an imported email that has neither a subject nor a name. If it is the first email of a conversation, the conversation has
/// the same title.
pub const UNTITLED: &str = "Untitled";

/// Returns the title of a conversation or, if there is none yet, the start of its prompt or brief.
pub fn title(conversation: &Conversation) -> String {
    const CHARACTERS_MAX: usize = 80;
    conversation.title.clone().unwrap_or_else(|| conversation.wanted.topic().chars().take(CHARACTERS_MAX).collect())
}

fn progress(conversation: &Conversation, emails: &[Email]) -> GenerationProgress {
    let steps = |email: &Email| match email.stage {
        Stage::Planned => 0,
        Stage::Written => 1,
        Stage::Rendered => 2,
        Stage::Ready | Stage::Failed(_) => 3,
    };
    let done: usize = emails.iter().map(steps).sum();
    let stage = match &conversation.state {
        super::model::State::Pending => "waiting",
        super::model::State::Completed => "completed",
        super::model::State::Failed(_) => "failed",
        super::model::State::Processing if emails.iter().any(|email| email.stage == Stage::Planned) => "writing",
        super::model::State::Processing => "rendering",
    };
    let all = 3 * emails.len();
    let wanted = &conversation.wanted;
    let expected = usize::from(wanted.count.unwrap_or(1)) * wanted.languages.len().max(1);
    let steps = 1 + if emails.is_empty() { 3 * expected } else { all };
    // Planning is done once there are emails.
    let step = if emails.is_empty() { 1 } else { (done + 2).min(steps) };
    let percentage = match conversation.state.is_final() {
        true => 100,
        // A finished plan counts as five percent of the progress.
        false if all > 0 => 5 + 90 * done / all,
        false => 0,
    };
    GenerationProgress { stage, step, steps, percentage: percentage as u8 }
}

/// Returns the UUID (version 8, RFC 9562) of a slot in a series. It is derived from the conversation's ID and the slot, so it never
/// changes.
pub fn slot_uuid(conversation: ConversationId, slot: u8) -> String {
    let mut name = conversation.0.to_vec();
    name.push(slot);
    let mut bytes: [u8; 16] = sha256(&name)[..16].try_into().expect("a SHA-256 digest has at least 16 bytes");
    bytes[6] = bytes[6] & 0x0F | 0x80;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let digits = HEXLOWER.encode(&bytes);
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}
