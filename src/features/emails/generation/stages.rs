//! Runs the stages of a conversation and of its emails.

use std::sync::Arc;

use serde_json::json;

use super::context::{self, StageContext, date, document};
use crate::base::clock::Timestamp;
use crate::base::locale::LanguageTag;
use crate::engine::api::Failure;
use crate::engine::language_model::Usage;
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::{self as rows, WriteTx};
use crate::features::checks::model::EmailChecks;
use crate::features::emails::brief;
use crate::features::emails::checking;
use crate::features::emails::edits;
use crate::features::emails::finding::{Finding, FindingKind};
use crate::features::emails::model::{
    Conversation, Email, Facts, GenerationRequest, Origin, Source, Stage, State, Version, VersionScreenshots,
};
use crate::features::emails::ops::generate::no_brand;
use crate::features::emails::outputs;
use crate::features::emails::postal_address;
use crate::features::emails::store;
use crate::features::emails::versions;
use crate::features::emails::writing::material::{self, Material};
use crate::features::emails::writing::{self, Draft, PlannedSeries, Writer};
use crate::features::models::Payer;
use crate::features::projects::{self, PageText};
use crate::vocab::ids::{AccountId, ConversationId, EmailId};
use crate::vocab::limits;
use crate::vocab::webhook_events::WebhookEvent;

/// Returns whether a stage of this email can start. A translation waits for its original.
pub fn can_advance(email: &Email, all: &[Email]) -> bool {
    let original = |other: &&Email| other.slot == email.slot;
    let waits = email.stage == Stage::Planned
        && all.iter().find(original).is_some_and(|original| original.id != email.id && original.stage == Stage::Planned);
    !email.stage.is_final() && !waits
}

/// Plans the emails of a conversation and creates a row for each email.
pub async fn plan(context: &StageContext, account: AccountId, conversation: Conversation) -> Result<(), Failure> {
    let now = context.engine.clock.now();
    let mut conversation = conversation;
    conversation.wanted.pages = read_pages(context, &conversation).await;
    let material = gather(context, account, &conversation).await?;
    let today = date(conversation.created_at);
    let wanted = &mut conversation.wanted;
    let languages = match (wanted.languages.is_empty(), &wanted.brief) {
        (true, Some(brief)) => vec![brief.language.as_str().to_owned()],
        (true, None) => vec![writing::language(&wanted.prompt, &material, today)],
        (false, _) => wanted.languages.clone(),
    };
    let writer = writer(context, account, &conversation);
    let wanted = &mut conversation.wanted;
    // The import of the brand may have failed after the request was accepted.
    let failed = projects::import_failure(&context.data.store.read(), account, conversation.project)?;
    let is_prompt = wanted.source == Source::Prompt;
    let (briefed, brief_usage) = match failed {
        Some(reason) if is_prompt => (Err(no_brand(&reason)), Usage::default()),
        _ if is_prompt && wanted.brief.is_none() => {
            let language = LanguageTag::parse(&languages[0]).ok();
            let rules = brief::parse(&wanted.prompt, &material.brand, language.as_ref(), today);
            let (made, usage) = writer.brief(&wanted.prompt, rules, &material).await;
            (made.map(|brief| wanted.brief = Some(brief)), usage)
        }
        _ => (Ok(()), Usage::default()),
    };
    let (id, wanted) = (conversation.id, conversation.wanted.clone());
    let (planned, usage) = match briefed {
        Ok(()) => writer.plan(&wanted, &material, &languages[0], conversation.seed, date(now)).await,
        Err(reason) => (Err(reason), Usage::default()),
    };
    let usage = usage.plus(brief_usage);
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let Some(mut conversation) = store::conversation(tx, account, id)?.filter(|found| found.state == State::Pending) else {
            return Ok(());
        };
        conversation.usage = conversation.usage.plus(usage);
        (conversation.wanted.pages, conversation.wanted.brief) = (wanted.pages, wanted.brief);
        conversation.updated_at = tx.now();
        match planned {
            Ok(planned) => begin(tx, account, conversation, planned, languages),
            Err(reason) => end(tx, account, conversation, State::Failed(reason)),
        }
        Ok(())
    };
    Ok(context.data.store.write(keep).await??)
}

fn begin(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    mut conversation: Conversation,
    planned: PlannedSeries,
    languages: Vec<String>,
) {
    let slots = planned.plan.as_ref().map_or(1, |plan| plan.slots.len());
    let mut place = 0;
    for slot in 0..slots {
        for language in &languages {
            let days = planned.plan.as_ref().map(|plan| plan.slots[slot].send_offset_days);
            let email = new_email(tx, &conversation, slot as u8, language, days);
            store::place(tx, account, place, &email);
            place += 1;
        }
    }
    conversation.wanted.languages = languages;
    conversation.title = Some(planned.title);
    conversation.plan = planned.plan;
    conversation.state = State::Processing;
    store::save_conversation(tx, account, &conversation);
}

/// Reads the first pages that the prompt links to if web mode is on. Pages that cannot be read are omitted.
async fn read_pages(context: &StageContext, conversation: &Conversation) -> Vec<PageText> {
    let GenerationRequest { prompt, web, .. } = &conversation.wanted;
    let mut pages = Vec::new();
    if *web {
        let links = material::links_in(prompt).into_iter().filter_map(|link| link.parse().ok());
        for link in links.take(limits::PROMPT_PAGES_MAX) {
            pages.extend(projects::fetch_page(&context.engine, &link).await);
        }
    }
    pages
}

pub fn new_email(
    tx: &WriteTx<'_>,
    conversation: &Conversation,
    slot: u8,
    language: &str,
    send_offset_days: Option<i32>,
) -> Email {
    Email {
        id: EmailId::make(tx.now(), tx.random()),
        conversation: conversation.id,
        project: conversation.project,
        slot,
        language: language.to_owned(),
        send_offset_days,
        stage: Stage::Planned,
        attempts: 0,
        version: 0,
        versions: 0,
        favorite: false,
        visibility: conversation.wanted.visibility,
        created_at: tx.now(),
        updated_at: tx.now(),
    }
}

/// Ends a conversation: in one transaction, stores its state, emits the event that reports the end, and removes the conversation from the
/// queue.
fn end(tx: &mut WriteTx<'_>, account: AccountId, mut conversation: Conversation, state: State) {
    let (id, project) = (conversation.id, conversation.project);
    let (kind, data) = match &state {
        State::Failed(reason) => {
            (WebhookEvent::EmailGenerationFailed, json!({ "conversationId": id, "projectId": project, "error": reason }))
        }
        _ => {
            let count = conversation.plan.as_ref().map_or(1, |plan| plan.slots.len());
            let languages = &conversation.wanted.languages;
            let data = json!({ "conversationId": id, "projectId": project, "count": count, "languages": languages });
            (WebhookEvent::EmailGenerationCompleted, data)
        }
    };
    let is_generation = conversation.wanted.source == Source::Prompt;
    conversation.state = state;
    conversation.updated_at = tx.now();
    store::save_conversation(tx, account, &conversation);
    store::close(tx, account, id);
    // No event is emitted for imported emails, because no event reported their start either.
    if is_generation {
        outbox::emit(tx, NewEvent { kind, account, project: Some(project), conversation: Some(id.to_string()), data });
    }
}

/// Finishes a conversation when all its emails are finished. The conversation has failed if all its emails have failed.
pub async fn finish(context: &StageContext, account: AccountId, id: ConversationId) -> Result<(), Failure> {
    let lost = lost_in_series(context, account, id).await?;
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let Some(conversation) = store::conversation(tx, account, id)?.filter(|found| !found.state.is_final()) else {
            return Ok(());
        };
        for (email, warnings) in lost {
            if let Some(mut version) = store::version(tx, email.id, email.version)? {
                let same =
                    |one: &Finding, other: &Finding| one.text == other.text || one.span.is_some() && one.span == other.span;
                let is_new = |warning: &Finding| !version.warnings.iter().any(|known| same(known, warning));
                let new: Vec<Finding> = warnings.into_iter().filter(is_new).collect();
                version.warnings.extend(new);
                store::save_version(tx, email.id, &version);
            }
        }
        let emails = store::emails(tx, account, id)?;
        let reason = |email: &Email| if let Stage::Failed(reason) = &email.stage { Some(reason.clone()) } else { None };
        let state = match emails.iter().any(|email| email.stage == Stage::Ready) {
            true => State::Completed,
            false => State::Failed(
                emails.iter().find_map(reason).unwrap_or_else(|| "No emails were planned. Generate the emails again.".into()),
            ),
        };
        end(tx, account, conversation, state);
        Ok(())
    };
    Ok(context.data.store.write(keep).await??)
}

/// Returns warnings about facts that are missing from every email in a series. In each language, the first finished email gets the
/// warnings.
async fn lost_in_series(
    context: &StageContext,
    account: AccountId,
    id: ConversationId,
) -> Result<Vec<(Email, Vec<Finding>)>, Failure> {
    let found = store::conversation(&context.data.store.read(), account, id)?;
    let is_open = |found: &Conversation| found.plan.is_some() && !found.state.is_final();
    let Some(conversation) = found.filter(is_open) else { return Ok(Vec::new()) };
    let material = gather(context, account, &conversation).await?;
    let tx = context.data.store.read();
    let emails = store::emails(&tx, account, id)?;
    let mut lost = Vec::new();
    for language in &conversation.wanted.languages {
        let first = emails.iter().find(|email| email.language == *language && email.stage == Stage::Ready);
        if let Some(first) = first
            && let Some(document) = document(&tx, first)?
        {
            let warnings = context::brief(&tx, account, &conversation, first)?.warnings(&document, &material);
            let is_lost = |warning: &Finding| matches!(warning.kind, FindingKind::FactMissing | FindingKind::TextMissing);
            lost.push((first.clone(), warnings.into_iter().filter(is_lost).collect()));
        }
    }
    Ok(lost)
}

/// The result of a stage before it is stored.
enum StageOutput {
    Draft(Box<Draft>, Usage),
    Texts(Box<outputs::RenderedTexts>),
    Pictures(outputs::Screenshots, Vec<Finding>, Box<EmailChecks>),
    /// The screenshots of an imported email, and either the version that the instruction created or the reason why there is none.
    Adapted {
        painted: outputs::Screenshots,
        warnings: Vec<Finding>,
        edited: Result<Box<edits::NewVersion>, String>,
        prompt: String,
        usage: Usage,
    },
    /// The email cannot be generated. Contains the reason, worded for users, and the model usage.
    Nothing(String, Usage),
}

/// Runs the next stage of an email.
pub async fn advance(
    context: &StageContext,
    account: AccountId,
    conversation: Conversation,
    email: Email,
) -> Result<(), Failure> {
    let (id, stage) = (email.id, email.stage.clone());
    let claimed = stage.clone();
    let is_imported = conversation.wanted.source == Source::Html;
    let claim = move |tx: &mut WriteTx<'_>| -> Result<bool, rows::Error> {
        let Some(mut email) = store::email(tx, account, id)?.filter(|found| found.stage == claimed) else { return Ok(false) };
        email.attempts += 1;
        let is_hopeless = email.attempts > limits::EMAIL_ATTEMPTS_MAX;
        if is_hopeless && claimed == Stage::Written && is_imported {
            // The import is completed even if work on the instruction is interrupted repeatedly.
            forgo_instruction(tx, &mut email)?;
        } else if is_hopeless {
            email.stage =
                Stage::Failed("The work on this email was interrupted repeatedly. Generate or import the email again.".into());
        }
        store::save_email(tx, account, &email);
        Ok(!is_hopeless)
    };
    if !context.data.store.write(claim).await?? {
        return Ok(());
    }
    let made = match stage {
        Stage::Planned => write(context, account, &conversation, &email).await?,
        Stage::Written if conversation.wanted.source == Source::Html => adapt(context, account, &conversation, &email).await?,
        Stage::Written => render(context, account, conversation, email).await?,
        Stage::Rendered => draw(context, account, &email).await?,
        Stage::Ready | Stage::Failed(_) => return Ok(()),
    };
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let Some(email) = store::email(tx, account, id)?.filter(|found| found.stage == stage) else { return Ok(()) };
        keep(tx, account, email, made)
    };
    Ok(context.data.store.write(keep).await??)
}

/// Stores the result of a stage together with the email's new state.
fn keep(tx: &mut WriteTx<'_>, account: AccountId, mut email: Email, made: StageOutput) -> Result<(), rows::Error> {
    email.attempts = 0;
    email.updated_at = tx.now();
    match made {
        StageOutput::Draft(draft, usage) => {
            count(tx, account, email.conversation, usage)?;
            email.version = 1;
            email.versions = 1;
            email.stage = Stage::Written;
            let brief = versions::brief(tx, account, &email)?;
            store::save_version(tx, email.id, &first_version(*draft, brief, tx.now()));
        }
        StageOutput::Texts(drawn) => {
            if let Some(mut version) = store::version(tx, email.id, email.version)? {
                version.facts = drawn.facts;
                version.warnings.extend(drawn.warnings);
                store::save_version(tx, email.id, &version);
            }
            versions::save_texts(tx, email.id, email.version, drawn.texts);
            email.stage = Stage::Rendered;
        }
        StageOutput::Pictures(painted, warnings, checks) => {
            checking::keep_first(tx, account, &email, *checks);
            let pictures = painted.keep(tx);
            if let Some(mut version) = store::version(tx, email.id, email.version)? {
                version.pictures = pictures;
                version.warnings.extend(warnings);
                store::save_version(tx, email.id, &version);
            }
            email.stage = Stage::Ready;
        }
        StageOutput::Adapted { painted, warnings, edited, prompt, usage } => {
            count(tx, account, email.conversation, usage)?;
            let pictures = painted.keep(tx);
            if let Some(mut version) = store::version(tx, email.id, email.version)? {
                version.pictures = pictures;
                version.warnings.extend(warnings);
                let failed = edited.as_ref().err();
                version.warnings.extend(failed.map(|reason| Finding::note(format!("The instruction was not applied: {reason}"))));
                store::save_version(tx, email.id, &version);
            }
            store::request_checks(tx, account, email.id);
            email.stage = Stage::Ready;
            if let Ok(made) = edited {
                made.keep(tx, account, &mut email, Origin::Edited { prompt, label: None })?;
            }
        }
        StageOutput::Nothing(reason, usage) => {
            count(tx, account, email.conversation, usage)?;
            email.stage = Stage::Failed(reason);
        }
    }
    store::save_email(tx, account, &email);
    Ok(())
}

fn first_version(draft: Draft, brief: Option<brief::Brief>, now: Timestamp) -> Version {
    let Draft { document, written_by, warnings } = draft;
    Version {
        number: 1,
        origin: Origin::Generated,
        subject: document.subject.as_str().to_owned(),
        preheader: document.preheader.as_str().to_owned(),
        brief,
        document: Some(document.to_json().to_string()),
        written_by: Some(written_by),
        warnings,
        pictures: VersionScreenshots::default(),
        facts: Facts::default(),
        created_at: now,
    }
}

/// Adds model usage to the conversation's total.
fn count(tx: &mut WriteTx<'_>, account: AccountId, id: ConversationId, usage: Usage) -> Result<(), rows::Error> {
    if usage != Usage::default()
        && let Some(mut conversation) = store::conversation(tx, account, id)?
    {
        conversation.usage = conversation.usage.plus(usage);
        store::save_conversation(tx, account, &conversation);
    }
    Ok(())
}

async fn gather(context: &StageContext, account: AccountId, conversation: &Conversation) -> Result<Arc<Material>, Failure> {
    let (project, wanted) = (conversation.project, conversation.wanted.clone());
    let store = context.data.store.clone();
    let gathering = tokio::task::spawn_blocking(move || material::gather(&store.read(), account, project, &wanted));
    gathering.await.map_err(Failure::internal)?.map(Arc::new)
}

/// Returns the writer that a conversation requests.
fn writer(context: &StageContext, account: AccountId, conversation: &Conversation) -> Writer {
    let payer = Payer { account, project: conversation.project, environment: context.data.environment };
    Writer::named(&conversation.wanted.model, &context.engine, payer, conversation.wanted.on_failure)
}

async fn write(
    context: &StageContext,
    account: AccountId,
    conversation: &Conversation,
    email: &Email,
) -> Result<StageOutput, Failure> {
    let writer = writer(context, account, conversation);
    let material = gather(context, account, conversation).await?;
    let brief = context::brief(&context.data.store.read(), account, conversation, email)?;
    let (draft, usage) = writer.write(brief, material.clone()).await;
    Ok(match draft {
        Ok(mut draft) => {
            postal_address::follow(&mut draft.document, &material.brand);
            StageOutput::Draft(Box::new(draft), usage)
        }
        Err(reason) => StageOutput::Nothing(reason, usage),
    })
}

async fn render(
    context: &StageContext,
    account: AccountId,
    conversation: Conversation,
    email: Email,
) -> Result<StageOutput, Failure> {
    let store = context.data.store.clone();
    let rendering = tokio::task::spawn_blocking(move || {
        let tx = store.read();
        let document = document(&tx, &email)?;
        let document =
            document.ok_or_else(|| Failure::internal("the document of a written email is missing; report this bug"))?;
        outputs::render_texts(&tx, account, &conversation, &document)
    });
    Ok(StageOutput::Texts(Box::new(rendering.await.map_err(Failure::internal)??)))
}

/// Gives up on the instruction of an imported email, adds a warning, and continues with the unchanged email.
fn forgo_instruction(tx: &mut WriteTx<'_>, email: &mut Email) -> Result<(), rows::Error> {
    if let Some(mut version) = store::version(tx, email.id, email.version)? {
        version.warnings.push(Finding::note(
            "The instruction was not applied because the work was interrupted repeatedly. To apply it, edit the email with the instruction \
             as the prompt.",
        ));
        store::save_version(tx, email.id, &version);
    }
    (email.stage, email.attempts) = (Stage::Rendered, 0);
    Ok(())
}

/// Renders the screenshots of an imported email and applies its instruction.
async fn adapt(
    context: &StageContext,
    account: AccountId,
    conversation: &Conversation,
    email: &Email,
) -> Result<StageOutput, Failure> {
    let html = versions::texts(&context.data.store.read(), email.id, email.version)?.html;
    let (painted, warnings) = outputs::render_screenshots(&context.engine, &html).await?;
    let prompt = conversation.wanted.prompt.clone();
    let (edited, usage) = edits::attempt(context, account, email, &prompt, None, edits::Pictures::Drawn).await?;
    Ok(StageOutput::Adapted { painted, warnings, edited: edited.map(Box::new), prompt, usage })
}

/// Renders the missing screenshots of an email's current version. If the email has changed in the meantime, the result is discarded and the
/// email stays queued.
pub async fn screenshots(context: &StageContext, account: AccountId, id: EmailId) -> Result<(), Failure> {
    let email = store::email(&context.data.store.read(), account, id)?;
    let drawn = match &email {
        Some(email) => draw(context, account, email).await?,
        None => StageOutput::Pictures(Default::default(), Vec::new(), Box::default()),
    };
    let keep = move |tx: &mut WriteTx<'_>| -> Result<(), rows::Error> {
        let current = store::email(tx, account, id)?;
        if current.as_ref().map(|email| email.version) != email.as_ref().map(|email| email.version) {
            return Ok(());
        }
        if let Some(email) = current
            && let Some(mut version) = store::version(tx, id, email.version)?
            && let StageOutput::Pictures(painted, warnings, checks) = drawn
        {
            if store::checks(tx, id, email.version)?.is_none() {
                checking::keep_first(tx, account, &email, *checks);
            }
            version.pictures = painted.keep(tx);
            version.warnings.extend(warnings);
            store::save_version(tx, id, &version);
        }
        store::close_screenshots(tx, account, id);
        Ok(())
    };
    Ok(context.data.store.write(keep).await??)
}

async fn draw(context: &StageContext, account: AccountId, email: &Email) -> Result<StageOutput, Failure> {
    let tx = context.data.store.read();
    let html = postal_address::in_markup(&tx, email.project, versions::texts(&tx, email.id, email.version)?.html)?;
    drop(tx);
    let subject = store::version(&context.data.store.read(), email.id, email.version)?.map(|version| version.subject);
    let (drawn, checks) = tokio::join!(
        outputs::render_screenshots(&context.engine, &html),
        checking::first(context, account, email.project, subject, &html),
    );
    let (painted, warnings) = drawn?;
    Ok(StageOutput::Pictures(painted, warnings, Box::new(checks?)))
}
