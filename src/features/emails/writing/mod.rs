//! Writes emails: the input of a writer, and the two writers.
//!
//! The built-in composer writes immediately. A language model is called through its API. Both return a valid document, or the reason for
//! the failure, for users. `generation` stores drafts as emails and continues after restarts.

mod blocks;
mod brief_update;
mod briefing;
mod built_in;
mod imported;
pub mod material;
mod model;
mod outline;
pub mod patch;
mod patterns;
#[cfg(test)]
mod tests;

pub use built_in::language;
pub use model::KnownAddresses;

use std::sync::Arc;

use jiff::civil::Date;

use super::brief::Brief as TypedBrief;
use super::contract::{self, Terms};
use super::document::Email as Document;
use super::finding::{Finding, FindingKind};
use super::imported::ImportedEmail;
use super::model::{COMPOSER, GenerationRequest, Plan};
use crate::engine::api::Engine;
use crate::engine::language_model::{Client, Usage};
use crate::features::models::{MeteredModel, Payer};
use crate::vocab::settings::OnFailure;
use material::Material;

/// The input for writing one email.
#[derive(Clone, Debug)]
pub struct Brief {
    pub wanted: GenerationRequest,
    /// The plan of the series, if there is one.
    pub plan: Option<Plan>,
    /// The index of the email in the plan of the series, starting at 0.
    pub slot: usize,
    /// The language to write in, as a BCP 47 tag.
    pub language: String,
    /// The email on which the new email is modeled, from the reference conversation.
    pub pattern: Option<Document>,
    /// For a translation: the email in the conversation's first language.
    pub original: Option<Document>,
    /// The other emails in the series in this language; `None` if there is no series, or if an email in the series is not finished.
    pub others: Option<Vec<Document>>,
    /// The prompts of the edits that created the email's stored versions.
    pub edits: Vec<String>,
    pub seed: u64,
    /// The date of the conversation's creation, in UTC.
    pub today: Date,
}

impl Brief {
    /// Returns the document's violations of the brief's contract, and the words in it that the brand avoids. Returns no findings if there
    /// is no brief.
    pub fn breaches(&self, document: &Document, material: &Material) -> Vec<Finding> {
        let terms = self.terms(&self.wanted.prompt, material);
        let avoided = terms.map(|terms| contract::avoided_by_brand(document, &terms)).unwrap_or_default();
        self.check(document, &self.wanted.prompt, material).into_iter().chain(avoided).collect()
    }

    /// Returns the warnings about a document: the violations of the contract, text of unclear meaning that the document leaves out,
    /// statements that it shortens or prints in another language, and values that are probably mistakes or have no unit.
    pub fn warnings(&self, document: &Document, material: &Material) -> Vec<Finding> {
        self.warnings_of_edit(document, "", material)
    }

    /// Adds the warnings of the contract to a draft. These warnings replace the composer's warnings about the same text.
    fn checked(&self, mut draft: Draft, material: &Material) -> Draft {
        let mut found = self.warnings(&draft.document, material);
        let is_new = |warning: &Finding| {
            let same = |other: &Finding| other.text == warning.text || other.span.is_some() && other.span == warning.span;
            warning.text.is_none() || !found.iter().any(same)
        };
        draft.warnings.retain(is_new);
        if let Some(terms) = self.terms(&self.wanted.prompt, material) {
            let own = contract::without_stated(&draft.document, terms.today, draft.warnings);
            let own = own.into_iter().map(|warning| contract::with_remedy(&draft.document, &terms, warning));
            found.extend(own);
            if self.plan.is_none() {
                found.extend(contract::remains(&draft.document, &terms, &found));
            }
            draft.warnings = found;
        }
        draft
    }

    /// Returns the warnings about an edited document. An edit may add values from its instruction. For a direct change, `instruction` is
    /// empty.
    pub fn warnings_of_edit(&self, document: &Document, instruction: &str, material: &Material) -> Vec<Finding> {
        let prompt = self.prompts(instruction);
        let doubts = self.terms(&self.wanted.prompt, material).map(|terms| contract::doubts(document, &terms));
        self.check(document, &prompt, material).into_iter().chain(doubts.unwrap_or_default()).collect()
    }

    /// Returns the violations of the contract that an edit causes. An edit may remove facts and add values from its instruction, but must
    /// not invent values.
    pub fn breaches_of_edit(&self, before: &Document, after: &Document, prompt: &str, material: &Material) -> Vec<Finding> {
        let prompt = self.prompts(prompt);
        let old = self.check(before, &prompt, material);
        let is_new = |finding: &Finding| !old.iter().any(|known| (known.kind, &known.text) == (finding.kind, &finding.text));
        let found = self.check(after, &prompt, material);
        found.into_iter().filter(|finding| finding.kind.binds_edits() && is_new(finding)).collect()
    }

    /// Returns the facts from the brief that the first document states and the second does not.
    pub fn lost(&self, before: &Document, after: &Document, material: &Material) -> Vec<String> {
        let Some(terms) = self.terms(&self.wanted.prompt, material) else { return Vec::new() };
        let missing = |document: &Document| {
            let found = contract::check(document, &terms).into_iter().filter(|finding| finding.kind == FindingKind::FactMissing);
            found.filter_map(|finding| finding.text).collect::<Vec<String>>()
        };
        let known = missing(before);
        missing(after).into_iter().filter(|text| !known.contains(text)).collect()
    }

    fn check(&self, document: &Document, prompt: &str, material: &Material) -> Vec<Finding> {
        let Some(terms) = self.terms(prompt, material) else { return Vec::new() };
        let mut found = contract::check(document, &terms);
        if self.plan.is_some() {
            // The emails in a series share the facts of their brief, so a fact is lost only if no email contains it.
            let is_missing = |finding: &Finding| matches!(finding.kind, FindingKind::FactMissing | FindingKind::TextMissing);
            let others: Option<Vec<Vec<Finding>>> =
                self.others.as_ref().map(|others| others.iter().map(|other| contract::check(other, &terms)).collect());
            let same = |one: &Finding, other: &Finding| (one.kind, &one.text) == (other.kind, &other.text);
            let is_lost = |finding: &Finding| {
                let all = |others: &Vec<Vec<Finding>>| others.iter().all(|own| own.iter().any(|other| same(finding, other)));
                others.as_ref().is_some_and(all)
            };
            found.retain(|finding| !is_missing(finding) || is_lost(finding));
        }
        found
    }

    /// Returns the text from which the email may take values: the prompt, the prompts of the edits so far, and a new instruction.
    fn prompts(&self, instruction: &str) -> String {
        let edits = self.edits.iter().map(String::as_str);
        std::iter::once(self.wanted.prompt.as_str()).chain(edits).chain([instruction]).collect::<Vec<_>>().join("\n")
    }

    /// Returns the terms of the contract; `None` if there is no brief. A translation has the terms of its original.
    fn terms<'a>(&'a self, prompt: &'a str, material: &'a Material) -> Option<Terms<'a>> {
        self.wanted.brief.as_ref().map(|brief| Terms { brief, prompt, material, today: self.today })
    }
}

/// The title of a conversation and the plan of its emails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSeries {
    pub title: String,
    /// The plan of the series; `None` for a single email.
    pub plan: Option<Plan>,
}

/// A document from a writer, with the warnings about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub document: Document,
    /// The name of the writer: `composer` or the name of a language model.
    pub written_by: String,
    pub warnings: Vec<Finding>,
}

#[derive(Clone, Debug)]
pub struct EditRequest {
    pub document: Document,
    pub prompt: String,
    /// The input that the email was written from.
    pub brief: Brief,
    /// The date of the request.
    pub today: Date,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EditResult {
    pub document: Document,
    /// The name of the editor: the composer or a language model.
    pub written_by: String,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the instruction that were not applied, each with the reason.
    pub not_done: Vec<String>,
    /// The brief with the changes that the prompt makes to it; `None` if there are no changes, or if a language model made the edit.
    pub brief: Option<TypedBrief>,
    /// The composer's warnings that apply to the changed document.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ImportedEditRequest {
    pub imported: ImportedEmail,
    pub prompt: String,
    /// The date of the request.
    pub today: Date,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEditResult {
    pub imported: ImportedEmail,
    /// The name of the editor: the composer or a language model.
    pub written_by: String,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the instruction that were not applied, each with the reason.
    pub not_done: Vec<String>,
}

/// A writer of emails: the composer or a language model.
pub struct Writer {
    model: Option<MeteredModel>,
    on_failure: OnFailure,
    /// The error message if the requested model is no longer configured.
    missing: Option<String>,
}

impl Writer {
    /// Returns the writer with this name. If the model is no longer configured, the writer returns an error or uses the composer, depending
    /// on `on_failure`.
    pub fn named(name: &str, engine: &Engine, payer: Payer, on_failure: OnFailure) -> Self {
        let model = engine.models.find(name).map(|client| MeteredModel::new(client.clone(), engine, payer));
        let missing = (model.is_none() && name != COMPOSER)
            .then(|| format!("The language model {name:?} is no longer configured. Repeat the request without the model field."));
        Self { model, on_failure, missing }
    }

    #[cfg(test)]
    pub fn composer() -> Self {
        Self { model: None, on_failure: OnFailure::Fail, missing: None }
    }

    /// Returns a writer that uses a language model without counting the usage.
    pub fn unmetered(client: Arc<Client>) -> Self {
        Self { model: Some(MeteredModel::unmetered(client)), on_failure: OnFailure::Fail, missing: None }
    }

    /// Returns the writer with this name. If the model is no longer configured, returns the default writer.
    pub fn named_or_default(name: &str, engine: &Engine, payer: Payer, on_failure: OnFailure) -> Self {
        let is_known = engine.models.names().contains(&name);
        let name = if is_known { name } else { engine.models.default_name() };
        Self::named(name, engine, payer, on_failure)
    }

    /// Returns the brief for a prompt. If the composer writes, returns `rules`, the brief of the rule-based parser.
    pub async fn brief(&self, prompt: &str, rules: TypedBrief, material: &Material) -> (Result<TypedBrief, String>, Usage) {
        let (made, usage) = match &self.model {
            Some(model) => reasoned(briefing::make(model, prompt, &rules, material).await),
            None => (self.not_written(), Usage::default()),
        };
        match self.fallback(made) {
            Ok(Written::ByModel(brief)) => (Ok(brief), usage),
            Ok(Written::ByComposer { .. }) => (Ok(rules), usage),
            Err(reason) => (Err(reason), usage),
        }
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
        let (planned, usage) = match &self.model {
            Some(model) => reasoned(model::plan(model, wanted, material).await),
            None => (self.not_written(), Usage::default()),
        };
        match self.fallback(planned) {
            Ok(Written::ByModel(planned)) => (Ok(planned), usage),
            Ok(Written::ByComposer { .. }) => (Ok(built_in::plan(wanted, material, language, seed, today)), usage),
            Err(reason) => (Err(reason), usage),
        }
    }

    /// Writes one email and checks it against its brief.
    pub async fn write(&self, brief: Brief, material: Arc<Material>) -> (Result<Draft, String>, Usage) {
        let (draft, usage) = self.draft(brief.clone(), material.clone()).await;
        (draft.map(|draft| brief.checked(draft, &material)), usage)
    }

    async fn draft(&self, brief: Brief, material: Arc<Material>) -> (Result<Draft, String>, Usage) {
        let (drafted, usage) = match &self.model {
            Some(model) => reasoned(model::write(model, &brief, &material).await),
            None => (self.not_written(), Usage::default()),
        };
        match self.fallback(drafted) {
            Ok(Written::ByModel(draft)) => (Ok(draft), usage),
            Ok(Written::ByComposer { instead_of }) => {
                let mut draft = compose(move || built_in::write(&brief, &material)).await;
                if let (Ok(draft), Some(reason)) = (&mut draft, instead_of) {
                    draft.warnings.push(Finding::note(fallback_warning("The built-in composer wrote this email", &reason)));
                }
                (draft, usage)
            }
            Err(reason) => (Err(reason), usage),
        }
    }

    pub async fn edit(&self, wish: EditRequest, material: Arc<Material>) -> (Result<EditResult, String>, Usage) {
        let (edited, usage) = match &self.model {
            Some(model) => reasoned(model::edit(model, &wish, &material).await),
            None => (self.not_written(), Usage::default()),
        };
        match self.fallback(edited) {
            Ok(Written::ByModel(edited)) => (Ok(edited), usage),
            Ok(Written::ByComposer { instead_of }) => {
                let mut edited = compose(move || built_in::edit(&wish, &material)).await;
                if let (Ok(edited), Some(reason)) = (&mut edited, instead_of) {
                    edited.done.push(fallback_warning("The built-in composer made this edit", &reason));
                }
                (edited, usage)
            }
            Err(reason) => (Err(reason), usage),
        }
    }

    pub async fn edit_imported(
        &self,
        wish: ImportedEditRequest,
        material: Arc<Material>,
    ) -> (Result<ImportedEditResult, String>, Usage) {
        let (edited, usage) = match &self.model {
            Some(model) => reasoned(imported::edit(model, &wish, &material).await),
            None => (self.not_written(), Usage::default()),
        };
        match self.fallback(edited) {
            Ok(Written::ByModel(edited)) => (Ok(edited), usage),
            Ok(Written::ByComposer { instead_of }) => {
                let mut edited = compose(move || built_in::edit_imported(&wish, &material)).await;
                if let (Ok(edited), Some(reason)) = (&mut edited, instead_of) {
                    edited.done.push(fallback_warning("The built-in composer made this edit", &reason));
                }
                (edited, usage)
            }
            Err(reason) => (Err(reason), usage),
        }
    }

    /// Returns the error of a writer without a model: why the requested model is missing, or `None` if no model was requested.
    fn not_written<T>(&self) -> Result<T, Option<String>> {
        Err(self.missing.clone())
    }

    /// Decides whether the model's result is used, the composer writes instead, or the request fails.
    fn fallback<T>(&self, result: Result<T, Option<String>>) -> Result<Written<T>, String> {
        match (result, self.on_failure) {
            (Ok(written), _) => Ok(Written::ByModel(written)),
            (Err(Some(reason)), OnFailure::Fail) => Err(reason),
            (Err(instead_of), _) => Ok(Written::ByComposer { instead_of }),
        }
    }
}

/// The result of a model, or the decision to use the composer.
enum Written<T> {
    ByModel(T),
    /// The composer writes. `instead_of` states why the requested model did not write; `None` if no model was requested.
    ByComposer {
        instead_of: Option<String>,
    },
}

fn reasoned<T>((result, usage): (Result<T, String>, Usage)) -> (Result<T, Option<String>>, Usage) {
    (result.map_err(Some), usage)
}

fn fallback_warning(done: &str, reason: &str) -> String {
    format!("{done} because the language model failed: {reason}")
}

/// Runs the composer on a thread for blocking tasks.
async fn compose<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    let composing = tokio::task::spawn_blocking(work).await;
    composing.unwrap_or_else(|_| Err("The composer failed. Try again; the operator can find the cause in the log.".into()))
}
