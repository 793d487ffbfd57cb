//! Writing emails: what a writer gets, and the two writers behind it.
//!
//! The composer is built in and writes at once; a language model is asked. Both answer with a checked document or with a reason
//! that a person can act on. How drafts become emails, and what survives a restart, is the business of `generation`.

mod built_in;
mod imported;
pub mod material;
mod model;
pub mod patch;

pub use built_in::language;

use std::sync::Arc;

use jiff::civil::Date;

use super::document::Email as Document;
use super::imported::ImportedEmail;
use super::model::{COMPOSER, GenerationRequest, Plan};
use crate::engine::api::Engine;
use crate::engine::language_model::{Client, Usage};
use material::Material;

/// What one email is to be.
#[derive(Clone, Debug)]
pub struct Brief {
    pub wanted: GenerationRequest,
    /// The series, if it is one of several.
    pub plan: Option<Plan>,
    /// Its place in the series.
    pub slot: usize,
    /// BCP 47.
    pub language: String,
    /// The email whose structure is taken as a pattern.
    pub pattern: Option<Document>,
    /// The same email in the conversation's first language.
    pub original: Option<Document>,
    pub seed: u64,
    /// What the date is while this is written.
    pub today: Date,
}

/// What was planned for a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSeries {
    pub title: String,
    /// None for a single email.
    pub plan: Option<Plan>,
}

/// A written email.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub document: Document,
    /// What whoever uses it should know.
    pub warnings: Vec<String>,
}

/// A change that somebody wants.
#[derive(Clone, Debug)]
pub struct EditRequest {
    pub document: Document,
    pub prompt: String,
    /// What the email was made from.
    pub brief: Brief,
    /// What the date is while this is asked.
    pub today: Date,
}

/// What an edit comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct EditResult {
    pub document: Document,
    /// What was done, in words for people.
    pub done: Vec<String>,
}

/// A change that somebody wants of an email that was handed in as HTML.
#[derive(Clone, Debug)]
pub struct ImportedEditRequest {
    pub imported: ImportedEmail,
    pub prompt: String,
    /// What the date is while this is asked.
    pub today: Date,
}

/// What an edit of such an email comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEditResult {
    pub imported: ImportedEmail,
    /// What was done, in words for people.
    pub done: Vec<String>,
}

/// A writer.
pub enum Writer {
    Composer,
    Model(Arc<Client>),
}

impl Writer {
    /// The writer of this name. The configured model may be another one than when the conversation was opened.
    pub fn named(name: &str, engine: &Engine) -> Result<Self, String> {
        if name == COMPOSER {
            return Ok(Self::Composer);
        }
        match engine.language_model.as_ref().filter(|client| client.model() == name) {
            Some(client) => Ok(Self::Model(client.clone())),
            None => Err(format!("The model {name:?} is not configured any more; ask again without naming it.")),
        }
    }

    /// The writer that is used where none is named.
    pub fn preferred(engine: &Engine) -> Self {
        engine.language_model.as_ref().map_or(Self::Composer, |client| Self::Model(client.clone()))
    }

    /// Decide how many emails a conversation has, what each is for, and when it is sent.
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

    /// Write one email.
    pub async fn write(&self, brief: Brief, material: Arc<Material>) -> (Result<Draft, String>, Usage) {
        match self {
            Self::Composer => {
                let composing = tokio::task::spawn_blocking(move || built_in::write(&brief, &material));
                (composing.await.unwrap_or_else(|_| Err("The composer failed; the log says how.".into())), Usage::default())
            }
            Self::Model(client) => model::write(client, &brief, &material).await,
        }
    }

    /// Change an email as its owner asks.
    pub async fn edit(&self, wish: EditRequest, material: Arc<Material>) -> (Result<EditResult, String>, Usage) {
        match self {
            Self::Composer => {
                let editing = tokio::task::spawn_blocking(move || built_in::edit(&wish, &material));
                (editing.await.unwrap_or_else(|_| Err("The composer failed; the log says how.".into())), Usage::default())
            }
            Self::Model(client) => model::edit(client, &wish.document, &wish.prompt, &material).await,
        }
    }

    /// Change an email that was handed in as HTML as its owner asks.
    pub async fn edit_imported(
        &self,
        wish: ImportedEditRequest,
        material: Arc<Material>,
    ) -> (Result<ImportedEditResult, String>, Usage) {
        match self {
            Self::Composer => {
                let editing = tokio::task::spawn_blocking(move || built_in::edit_imported(&wish, &material));
                (editing.await.unwrap_or_else(|_| Err("The composer failed; the log says how.".into())), Usage::default())
            }
            Self::Model(client) => imported::edit(client, &wish, &material).await,
        }
    }
}
