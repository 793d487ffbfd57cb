//! Edits emails according to prompts. The transaction that stores the new version also marks the edit as done.
//!
//! An edit is first stored as a row, even if a request is waiting for the result, so that the edit survives a restart. Previews and import
//! instructions have no such row.

use std::sync::Arc;

use super::brief::Brief;
use super::document::Email as Document;
use super::finding::{Finding, FindingKind};
use super::generation::context::{StageContext, brief, date, document};
use super::imported::{self, ImportedEmail};
use super::model::{Conversation, Edit, EditState, Email, Facts, Origin, PreviewedEdit, Stage, Texts, Version};
use super::outputs::{self, RenderedTexts, Screenshots};
use super::views::{EditedEmail, EmailView};
use super::writing::material::{self, Material};
use super::writing::{Brief as WritingBrief, EditRequest, EditResult, ImportedEditRequest, ImportedEditResult, Writer};
use super::{checking, postal_address, store, versions};
use crate::base::clock::Timestamp;
use crate::base::locale::LanguageTag;
use crate::base::optional::remove_nulls;
use crate::engine::api::Failure;
use crate::engine::hold;
use crate::engine::language_model::Usage;
use crate::engine::render::imported_html::ImportedHtml;
use crate::engine::render::pixels::RenderError;
use crate::engine::store::{self as rows, Read, WriteTx};
use crate::features::checks::model::EmailChecks;
use crate::features::models::Payer;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, EditId, ProjectId};
use crate::vocab::limits;

/// The result of an edit before it is stored.
enum EditOutcome {
    Made(Box<NewVersion>, Usage),
    /// No version was created. Contains the reason, worded for users, and the model usage.
    Nothing(String, Usage),
}

/// A version of an email before it is stored.
pub struct NewVersion {
    subject: String,
    preheader: String,
    /// The document as JSON; `None` for imported HTML.
    document: Option<String>,
    /// The name of the writer: the composer or a language model; `None` if the text was imported or a user wrote it.
    written_by: Option<String>,
    /// The language of the version. A translation changes it.
    language: String,
    texts: Texts,
    facts: Facts,
    warnings: Vec<Finding>,
    painted: Screenshots,
    /// Descriptions of the changes, for users.
    pub done: Vec<String>,
    /// The parts of the prompt that were not applied, each with the reason.
    not_done: Vec<String>,
    /// The brief with the changes that the prompt makes to it; `None` if there are no changes.
    brief: Option<Brief>,
    /// The result of the checks that send no requests; `None` if these checks have not run.
    checks: Option<EmailChecks>,
}

impl NewVersion {
    /// Returns the email with the content of this version, as a preview with this ID.
    pub fn shown(self, tx: &impl Read, project: ProjectId, email: EmailView, preview: EditId) -> rows::Result<EditedEmail> {
        let texts = postal_address::in_texts(tx, project, self.texts)?;
        let json = self.document.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let document = json.map(|mut json| {
            remove_nulls(&mut json);
            json
        });
        let email = EmailView {
            subject: self.subject,
            preheader: self.preheader,
            language: self.language,
            html: texts.html,
            text: texts.text,
            warnings: self.warnings,
            written_by: self.written_by,
            ..email
        };
        Ok(EditedEmail { email, document, done: self.done, not_done: self.not_done, preview_id: Some(preview) })
    }

    /// Returns this version as a previewed edit.
    fn previewed(&self, id: EditId, prompt: &str, base: u32) -> PreviewedEdit {
        let version = Version {
            number: 0,
            origin: Origin::Edited { prompt: prompt.to_owned(), label: None },
            document: self.document.clone(),
            subject: self.subject.clone(),
            preheader: self.preheader.clone(),
            brief: None,
            written_by: self.written_by.clone(),
            warnings: self.warnings.clone(),
            pictures: Default::default(),
            facts: self.facts.clone(),
            created_at: Timestamp(0),
        };
        PreviewedEdit {
            id,
            prompt: prompt.to_owned(),
            base,
            version,
            texts: self.texts.clone(),
            language: self.language.clone(),
            brief: self.brief.clone(),
            done: self.done.clone(),
            not_done: self.not_done.clone(),
        }
    }

    pub fn new(document: &Document, written_by: Option<String>, drawn: RenderedTexts, painted: Screenshots) -> Self {
        Self {
            subject: document.subject.as_str().to_owned(),
            preheader: document.preheader.as_str().to_owned(),
            document: Some(document.to_json().to_string()),
            written_by,
            language: document.language.as_str().to_owned(),
            texts: drawn.texts,
            facts: drawn.facts,
            warnings: drawn.warnings,
            painted,
            done: Vec::new(),
            not_done: Vec::new(),
            brief: None,
            checks: None,
        }
    }

    /// Returns a version in which this HTML replaces the imported HTML.
    pub fn of_html(imported_html: ImportedHtml, before: &Version, language: String, painted: Screenshots) -> Self {
        Self {
            subject: before.subject.clone(),
            preheader: imported::preheader(&imported_html),
            document: None,
            written_by: before.written_by.clone(),
            language,
            facts: imported::facts(&imported_html),
            warnings: imported::warnings(&imported_html),
            texts: Texts { html: imported_html.html, mjml: None, text: imported_html.text },
            painted,
            done: Vec::new(),
            not_done: Vec::new(),
            brief: None,
            checks: None,
        }
    }

    /// Stores the version as the email's newest version and returns its number.
    pub fn keep(mut self, tx: &mut WriteTx<'_>, account: AccountId, email: &mut Email, origin: Origin) -> rows::Result<u32> {
        let checks = self.checks.take();
        let (version, texts) = self.into_version(tx, email, origin);
        let number = versions::add(tx, account, email, version, texts)?;
        if let Some(checks) = checks {
            checking::keep_first(tx, account, email, checks);
        }
        Ok(number)
    }

    /// Stores the version in place of the email's current version and returns its number.
    pub fn replace(self, tx: &mut WriteTx<'_>, account: AccountId, email: &mut Email, origin: Origin) -> rows::Result<u32> {
        let (version, texts) = self.into_version(tx, email, origin);
        versions::replace(tx, account, email, version, texts)
    }

    fn into_version(self, tx: &mut WriteTx<'_>, email: &mut Email, origin: Origin) -> (Version, Texts) {
        email.language = self.language;
        let version = Version {
            number: 0,
            origin,
            document: self.document,
            written_by: self.written_by,
            subject: self.subject,
            preheader: self.preheader,
            warnings: self.warnings,
            pictures: self.painted.keep(tx),
            facts: self.facts,
            // `versions::add` sets the number, the brief and the time.
            brief: None,
            created_at: Timestamp(0),
        };
        (version, self.texts)
    }
}

pub async fn work(context: &StageContext, id: EditId) -> Result<(), Failure> {
    let Some(edit) = claim(context, id).await? else { return Ok(()) };
    let email = store::email(&context.data.store.read(), edit.account, edit.email)?;
    let nothing = |reason: &str| EditOutcome::Nothing(reason.to_owned(), Usage::default());
    let Some(email) = email else {
        return end(context, edit, None, nothing("The email no longer exists.")).await;
    };
    if email.stage != Stage::Ready {
        let reason =
            "Only finished emails can be edited. Wait until the email is ready or, if its generation failed, generate it again.";
        return end(context, edit, Some(email), nothing(reason)).await;
    }
    let outcome = match attempt(context, edit.account, &email, &edit.prompt, edit.model.as_deref(), Pictures::Drawn).await? {
        (Ok(made), usage) => EditOutcome::Made(Box::new(made), usage),
        (Err(reason), usage) => EditOutcome::Nothing(reason, usage),
    };
    end(context, edit, Some(email), outcome).await
}

/// Claims an edit for processing. Returns `None` if the edit no longer exists or was started too many times.
async fn claim(context: &StageContext, id: EditId) -> Result<Option<Edit>, Failure> {
    let claim = move |tx: &mut WriteTx<'_>| -> Result<Option<Edit>, rows::Error> {
        let Some(mut edit) = store::any_edit(tx, id)? else {
            store::close_edit(tx, id);
            return Ok(None);
        };
        edit.attempts += 1;
        edit.updated_at = tx.now();
        let is_hopeless = edit.attempts > limits::EMAIL_ATTEMPTS_MAX;
        edit.state = match is_hopeless {
            true => EditState::Failed("The edit was interrupted repeatedly. Try again.".into()),
            false => EditState::Processing,
        };
        if is_hopeless {
            store::close_edit(tx, id);
        }
        store::save_edit(tx, &edit);
        Ok((!is_hopeless).then_some(edit))
    };
    Ok(context.data.store.write(claim).await??)
}

/// The result of an attempt to edit or generate an email, or the reason for its failure (worded for users), and the model usage.
type AttemptResult<T> = (Result<T, String>, Usage);

/// Whether an attempt renders the screenshots of the new version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    Drawn,
    LeftOut,
}

/// Returns the version that a prompt would create, with the ID of the preview. Stores the preview and the model usage.
pub async fn preview(
    context: &StageContext,
    account: AccountId,
    email: &Email,
    prompt: &str,
    model: Option<&str>,
) -> Result<Result<(EditId, NewVersion), String>, Failure> {
    let (made, usage) = attempt(context, account, email, prompt, model, Pictures::LeftOut).await?;
    let id = EditId::make(context.engine.clock.now(), context.engine.random.as_ref());
    let previewed = made.as_ref().ok().map(|made| made.previewed(id, prompt, email.version));
    let (email, conversation) = (email.id, email.conversation);
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        if usage != Usage::default()
            && let Some(mut conversation) = store::conversation(tx, account, conversation)?
        {
            conversation.usage = conversation.usage.plus(usage);
            store::save_conversation(tx, account, &conversation);
        }
        if let Some(previewed) = previewed {
            store::save_previewed(tx, email, &previewed);
        }
        Ok(())
    };
    context.data.store.write(keep).await??;
    Ok(made.map(|made| (id, made)))
}

/// Saves the result of a previewed edit as the email's newest version, and records the edit as completed.
pub fn save_previewed(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    mut email: Email,
    id: EditId,
    label: Option<String>,
) -> Result<(), Failure> {
    let previewed = store::previewed(tx, email.id)?.filter(|previewed| previewed.id == id).ok_or_else(|| {
        Failure::because(Code::EditFailed, "The email has no unsaved preview with this ID. Preview the edit again.")
    })?;
    if previewed.base != email.version {
        return Err(versions::conflict(&email));
    }
    store::delete_previewed(tx, email.id);
    let PreviewedEdit { prompt, version, texts, language, brief, done, not_done, .. } = previewed;
    if let Some(brief) = brief
        && versions::owns_brief(tx, account, &email)?
        && let Some(mut conversation) = store::conversation(tx, account, email.conversation)?
    {
        conversation.wanted.brief = Some(brief);
        store::save_conversation(tx, account, &conversation);
    }
    email.language = language;
    let origin = Origin::Edited { prompt: prompt.clone(), label: label.clone() };
    let number = versions::add(tx, account, &mut email, Version { origin, ..version }, texts)?;
    store::request_screenshots(tx, account, email.id);
    let edit = Edit {
        id,
        email: email.id,
        account,
        prompt,
        model: None,
        label,
        state: EditState::Completed(number),
        done,
        not_done,
        attempts: 0,
        hold_number: hold::last_number(tx)?,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    store::save_edit(tx, &edit);
    Ok(())
}

/// Creates a new version of an email from a prompt, or returns why the prompt cannot be applied. `model` names the model to use; `None`
/// means the model that the conversation requested.
pub async fn attempt(
    context: &StageContext,
    account: AccountId,
    email: &Email,
    prompt: &str,
    model: Option<&str>,
    pictures: Pictures,
) -> Result<AttemptResult<NewVersion>, Failure> {
    let tx = context.data.store.read();
    let conversation = store::conversation(&tx, account, email.conversation)?;
    let conversation =
        conversation.ok_or_else(|| Failure::internal("the conversation of an email is missing; report this bug"))?;
    let material: Arc<Material> = material::gather(&tx, account, email.project, &conversation.wanted)?.into();
    let document = document(&tx, email)?;
    let brief = brief(&tx, account, &conversation, email)?;
    let old = store::version(&tx, email.id, email.version)?.map(|version| version.warnings).unwrap_or_default();
    drop(tx);
    let payer = Payer { account, project: email.project, environment: context.data.environment };
    let on_failure = context.engine.settings.language_model.on_failure;
    let name = model.unwrap_or(&conversation.wanted.model);
    let writer = Writer::named_or_default(name, &context.engine, payer, on_failure);
    let (prompt, today) = (prompt.to_owned(), date(context.engine.clock.now()));
    let (edited, usage) = match document {
        Some(document) => {
            let wish = EditRequest { document, prompt: prompt.clone(), brief: brief.clone(), today };
            let (edited, usage) = writer.edit(wish, material.clone()).await;
            match edited {
                Ok(edited) => {
                    let warnings = warnings(brief, &edited, &prompt, &material, old);
                    (written(context, account, conversation, edited, warnings, pictures).await, usage)
                }
                Err(reason) => (Ok(Err(reason)), usage),
            }
        }
        None => {
            let (imported_html, imported) = match opened(context, email).await? {
                Ok(opened) => opened,
                Err(reason) => return Ok((Err(reason), Usage::default())),
            };
            let (edited, usage) =
                writer.edit_imported(ImportedEditRequest { imported: imported.clone(), prompt, today }, material).await;
            match edited {
                Ok(edited) => (revised(context, (account, email), &imported_html, &imported, edited, pictures).await, usage),
                Err(reason) => (Ok(Err(reason)), usage),
            }
        }
    };
    Ok((edited?, usage))
}

/// Returns the warnings about an edited document: the warnings of the contract, based on the brief with the user's changes, and the earlier
/// notes that still apply.
fn warnings(mut brief: WritingBrief, edited: &EditResult, prompt: &str, material: &Material, old: Vec<Finding>) -> Vec<Finding> {
    brief.wanted.brief = edited.brief.clone().or(brief.wanted.brief);
    let mut warnings = brief.warnings_of_edit(&edited.document, prompt, material);
    let holds = |finding: &Finding| finding.kind == FindingKind::Note && edited.notes.contains(&finding.message);
    warnings.extend(old.into_iter().filter(holds));
    warnings
}

/// Renders and checks a changed document.
async fn written(
    context: &StageContext,
    account: AccountId,
    conversation: Conversation,
    edited: super::writing::EditResult,
    warnings: Vec<Finding>,
    pictures: Pictures,
) -> Result<Result<NewVersion, String>, Failure> {
    let EditResult { mut document, written_by, done, not_done, brief, .. } = edited;
    if let Some((_, brand)) = projects::brand(&context.data.store.read(), account, conversation.project)? {
        postal_address::follow(&mut document, &brand);
    }
    let project = conversation.project;
    let (store, own) = (context.data.store.clone(), document.clone());
    let drawing = tokio::task::spawn_blocking(move || outputs::render_texts(&store.read(), account, &conversation, &own));
    let mut drawn = drawing.await.map_err(Failure::internal)??;
    let html = postal_address::in_markup(&context.data.store.read(), project, drawn.texts.html.clone())?;
    let (painted, more) = screenshots(context, &html, pictures).await?;
    let subject = Some(document.subject.as_str().to_owned());
    let checks = checks(context, (account, project), subject, &html, pictures).await?;
    drawn.warnings = warnings.into_iter().chain(drawn.warnings).chain(more).collect();
    Ok(Ok(NewVersion { done, not_done, brief, checks, ..NewVersion::new(&document, Some(written_by), drawn, painted) }))
}

async fn screenshots(context: &StageContext, html: &str, pictures: Pictures) -> Result<(Screenshots, Vec<Finding>), Failure> {
    match pictures {
        Pictures::Drawn => outputs::render_screenshots(&context.engine, html).await,
        Pictures::LeftOut => Ok(Default::default()),
    }
}

/// Runs the checks that send no requests, unless the version is only a preview.
async fn checks(
    context: &StageContext,
    (account, project): (AccountId, ProjectId),
    subject: Option<String>,
    html: &str,
    pictures: Pictures,
) -> Result<Option<EmailChecks>, Failure> {
    match pictures {
        Pictures::Drawn => checking::first(context, account, project, subject, html).await.map(Some),
        Pictures::LeftOut => Ok(None),
    }
}

/// Returns the HTML of an imported email and the parts of the HTML that can be changed.
async fn opened(context: &StageContext, email: &Email) -> Result<Result<(ImportedHtml, ImportedEmail), String>, Failure> {
    let tx = context.data.store.read();
    let html = versions::texts(&tx, email.id, email.version)?.html;
    let version = store::version(&tx, email.id, email.version)?;
    drop(tx);
    let imported_html = match context.engine.pixels.clean_html(&html).await {
        Ok(imported_html) => imported_html,
        Err(fault) => return retry_if_busy(fault).map(Err),
    };
    let subject = version.map(|version| version.subject).unwrap_or_default();
    let language = email.language.parse().unwrap_or_else(|_| LanguageTag::parse("en").expect("the language tag en is valid"));
    let imported = ImportedEmail::new(&subject, language, imported_html.outline.clone());
    Ok(Ok((imported_html, imported)))
}

/// Applies the changes to imported HTML, sanitizes the result in the same way as an import, and checks it.
async fn revised(
    context: &StageContext,
    (account, email): (AccountId, &Email),
    before: &ImportedHtml,
    old: &ImportedEmail,
    edited: ImportedEditResult,
    pictures: Pictures,
) -> Result<Result<NewVersion, String>, Failure> {
    let ImportedEditResult { imported, written_by, done, not_done } = edited;
    let (subject, preheader) = (imported.subject.clone(), imported.preheader());
    let imported_html = match context.engine.pixels.revise_html(&before.html, imported.changes()).await {
        Ok(imported_html) => imported_html,
        Err(fault) => return retry_if_busy(fault).map(Err),
    };
    if imported_html.html == before.html && subject == old.subject {
        return Ok(Err(
            "Nothing was changed: the result is identical to the current email. If you expected a change, rephrase the prompt."
                .to_owned(),
        ));
    }
    let (painted, more) = screenshots(context, &imported_html.html, pictures).await?;
    let checks = checks(context, (account, email.project), Some(subject.clone()), &imported_html.html, pictures).await?;
    let warnings = imported::warnings(&imported_html).into_iter().chain(more).collect();
    Ok(Ok(NewVersion {
        subject,
        preheader,
        document: None,
        written_by: Some(written_by),
        language: email.language.clone(),
        facts: imported::facts(&imported_html),
        texts: Texts { html: imported_html.html, mjml: None, text: imported_html.text },
        warnings,
        painted,
        done,
        not_done,
        brief: None,
        checks,
    }))
}

/// Returns the reason why the HTML cannot be processed, or a failure if the edit should be retried later.
fn retry_if_busy(fault: RenderError) -> Result<String, Failure> {
    match fault {
        RenderError::Busy => Err(Failure::because(Code::Unavailable, fault.to_string()).after_seconds(1)),
        fault => Ok(fault.to_string()),
    }
}

/// Stores the result and ends the edit. If the email has changed in the meantime, the new version is discarded and the edit stays queued,
/// so that it is repeated on the current version.
async fn end(context: &StageContext, edit: Edit, seen: Option<Email>, outcome: EditOutcome) -> Result<(), Failure> {
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let Some(mut edit) = store::any_edit(tx, edit.id)?.filter(|found| found.state == EditState::Processing) else {
            return Ok(());
        };
        let email = store::email(tx, edit.account, edit.email)?;
        let usage = match &outcome {
            EditOutcome::Made(_, usage) | EditOutcome::Nothing(_, usage) => *usage,
        };
        if let Some(email) = &email
            && let Some(mut conversation) = store::conversation(tx, edit.account, email.conversation)?
        {
            conversation.usage = conversation.usage.plus(usage);
            let is_current = seen.as_ref().is_some_and(|seen| seen.version == email.version);
            if let EditOutcome::Made(made, _) = &outcome
                && let Some(brief) = made.brief.clone().filter(|_| is_current)
                && versions::owns_brief(tx, edit.account, email)?
            {
                conversation.wanted.brief = Some(brief);
            }
            store::save_conversation(tx, edit.account, &conversation);
        }
        edit.updated_at = tx.now();
        edit.state = match (outcome, email, seen) {
            (EditOutcome::Made(made, _), Some(mut email), Some(seen)) => {
                if email.version != seen.version {
                    return Ok(());
                }
                edit.done.clone_from(&made.done);
                edit.not_done.clone_from(&made.not_done);
                let origin = Origin::Edited { prompt: edit.prompt.clone(), label: edit.label.clone() };
                EditState::Completed(made.keep(tx, edit.account, &mut email, origin)?)
            }
            (EditOutcome::Nothing(reason, _), ..) => EditState::Failed(reason),
            (EditOutcome::Made(..), ..) => EditState::Failed("The email no longer exists.".into()),
        };
        store::close_edit(tx, edit.id);
        store::save_edit(tx, &edit);
        Ok(())
    };
    Ok(context.data.store.write(keep).await??)
}
