//! Writes emails: the input of a writer, and the two writers.
//!
//! The built-in composer writes immediately; a language model is called through its API. Both return a checked document, or a reason for
//! the failure that a user can act on. `generation` stores drafts as emails and continues after restarts.

mod built_in;
mod imported;
pub mod material;
mod model;
pub mod patch;

pub use built_in::language;
pub use model::KnownAddresses;

use std::sync::Arc;

use jiff::civil::Date;

use super::contract::{self, Finding, FindingKind, Terms};
use super::document::Email as Document;
use super::imported::ImportedEmail;
use super::model::{COMPOSER, GenerationRequest, Plan};
use crate::engine::api::Engine;
use crate::engine::language_model::{Client, Usage};
use material::Material;

/// The specification of one email to write.
#[derive(Clone, Debug)]
pub struct Brief {
    pub wanted: GenerationRequest,
    /// The series, if there are several emails.
    pub plan: Option<Plan>,
    /// The email's slot in the series.
    pub slot: usize,
    /// The language to write in, as a BCP 47 tag.
    pub language: String,
    /// The email whose structure serves as a pattern.
    pub pattern: Option<Document>,
    /// The email in the conversation's first language, to translate.
    pub original: Option<Document>,
    pub seed: u64,
    /// The date on which the email is written.
    pub today: Date,
}

impl Brief {
    /// Returns everything in a document that breaks the contract of the brief; nothing if there is no brief.
    pub fn breaches(&self, document: &Document, material: &Material) -> Vec<Finding> {
        self.check(document, &self.wanted.prompt, material)
    }

    /// Returns what users should know about a document: where it breaks the contract, and the unclear text that it does not contain.
    pub fn warnings(&self, document: &Document, material: &Material) -> Vec<Finding> {
        let unclear = self.terms(&self.wanted.prompt, material).map(|terms| contract::unclear(document, &terms));
        self.breaches(document, material).into_iter().chain(unclear.unwrap_or_default()).collect()
    }

    /// Returns what users should know about an edited document. Users know what they have added themselves.
    pub fn warnings_of_edit(&self, document: &Document, material: &Material) -> Vec<Finding> {
        self.warnings(document, material).into_iter().filter(|finding| !finding.kind.binds_edits()).collect()
    }

    /// Returns where an edit breaks the contract. An edit may remove facts and add what its instruction says, but invent nothing.
    pub fn breaches_of_edit(&self, before: &Document, after: &Document, prompt: &str, material: &Material) -> Vec<Finding> {
        let prompt = format!("{}\n{prompt}", self.wanted.prompt);
        let old = self.check(before, &prompt, material);
        let is_new = |finding: &Finding| !old.iter().any(|known| (known.kind, &known.text) == (finding.kind, &finding.text));
        let found = self.check(after, &prompt, material);
        found.into_iter().filter(|finding| finding.kind.binds_edits() && is_new(finding)).collect()
    }

    fn check(&self, document: &Document, prompt: &str, material: &Material) -> Vec<Finding> {
        let Some(terms) = self.terms(prompt, material) else { return Vec::new() };
        let mut found = contract::check(document, &terms);
        if self.plan.is_some() {
            // The emails of a series share the facts of their brief.
            found.retain(|finding| !matches!(finding.kind, FindingKind::FactMissing | FindingKind::TextMissing));
        }
        found
    }

    /// A translation is checked against the brief of its original.
    fn terms<'a>(&'a self, prompt: &'a str, material: &'a Material) -> Option<Terms<'a>> {
        self.wanted.brief.as_ref().map(|brief| Terms { brief, prompt, material, today: self.today })
    }
}

/// The plan of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSeries {
    pub title: String,
    /// The plan of the series; `None` for a single email.
    pub plan: Option<Plan>,
}

/// A written email.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub document: Document,
    pub warnings: Vec<Finding>,
}

/// A requested edit.
#[derive(Clone, Debug)]
pub struct EditRequest {
    pub document: Document,
    pub prompt: String,
    /// The input that the email was written from.
    pub brief: Brief,
    /// The date of the request.
    pub today: Date,
}

/// The result of an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct EditResult {
    pub document: Document,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
}

/// A requested edit of imported HTML.
#[derive(Clone, Debug)]
pub struct ImportedEditRequest {
    pub imported: ImportedEmail,
    pub prompt: String,
    /// The date of the request.
    pub today: Date,
}

/// The result of an edit of imported HTML.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEditResult {
    pub imported: ImportedEmail,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
}

/// A writer of emails: the composer or a language model.
pub enum Writer {
    Composer,
    Model(Arc<Client>),
}

impl Writer {
    /// Returns the writer with this name. The configured model may have changed since the conversation was created.
    pub fn named(name: &str, engine: &Engine) -> Result<Self, String> {
        if name == COMPOSER {
            return Ok(Self::Composer);
        }
        match engine.language_model.as_ref().filter(|client| client.model() == name) {
            Some(client) => Ok(Self::Model(client.clone())),
            None => Err(format!("The language model {name:?} is no longer configured. Repeat the request without model.")),
        }
    }

    /// Returns the default writer.
    pub fn preferred(engine: &Engine) -> Self {
        engine.language_model.as_ref().map_or(Self::Composer, |client| Self::Model(client.clone()))
    }

    /// Plans the number of emails in a conversation, and the purpose and send date of each.
    pub async fn plan(
        &self,
        wanted: &GenerationRequest,
        material: &Material,
        language: &str,
        seed: u64,
        today: Date,
    ) -> (Result<PlannedSeries, String>, Usage) {
        match self {
            Self::Composer => (Ok(built_in::plan(wanted, material, language, seed, today)), Usage::default()),
            Self::Model(client) => model::plan(client, wanted, material).await,
        }
    }

    /// Writes one email.
    pub async fn write(&self, brief: Brief, material: Arc<Material>) -> (Result<Draft, String>, Usage) {
        match self {
            Self::Composer => {
                let composing = tokio::task::spawn_blocking(move || built_in::write(&brief, &material));
                (
                    composing.await.unwrap_or_else(|_| Err("The composer failed. See the log for the cause.".into())),
                    Usage::default(),
                )
            }
            Self::Model(client) => model::write(client, &brief, &material).await,
        }
    }

    /// Edits an email.
    pub async fn edit(&self, wish: EditRequest, material: Arc<Material>) -> (Result<EditResult, String>, Usage) {
        match self {
            Self::Composer => {
                let editing = tokio::task::spawn_blocking(move || built_in::edit(&wish, &material));
                (
                    editing.await.unwrap_or_else(|_| Err("The composer failed. See the log for the cause.".into())),
                    Usage::default(),
                )
            }
            Self::Model(client) => model::edit(client, &wish, &material).await,
        }
    }

    /// Edits an email that was imported as HTML.
    pub async fn edit_imported(
        &self,
        wish: ImportedEditRequest,
        material: Arc<Material>,
    ) -> (Result<ImportedEditResult, String>, Usage) {
        match self {
            Self::Composer => {
                let editing = tokio::task::spawn_blocking(move || built_in::edit_imported(&wish, &material));
                (
                    editing.await.unwrap_or_else(|_| Err("The composer failed. See the log for the cause.".into())),
                    Usage::default(),
                )
            }
            Self::Model(client) => imported::edit(client, &wish, &material).await,
        }
    }
}
