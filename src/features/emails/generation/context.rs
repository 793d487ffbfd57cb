//! The context of stages and edits, and the input for writing an email.

use std::sync::Arc;

use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::store::Read;
use crate::features::emails::document::Email as Document;
use crate::features::emails::model::{Conversation, Email, Origin, Stage, Version};
use crate::features::emails::store;
use crate::features::emails::writing::Brief;
use crate::vocab::ids::AccountId;

#[derive(Clone)]
pub struct StageContext {
    pub engine: Arc<Engine>,
    pub data: Arc<EnvironmentData>,
}

/// Returns the UTC date of a timestamp.
pub fn date(now: Timestamp) -> jiff::civil::Date {
    let moment = jiff::Timestamp::from_millisecond(now.0).expect("the clock returns a time that the calendar can represent");
    moment.to_zoned(jiff::tz::TimeZone::UTC).date()
}

/// Returns the input for writing an email.
pub fn brief(tx: &impl Read, account: AccountId, conversation: &Conversation, email: &Email) -> Result<Brief, Failure> {
    Ok(Brief {
        wanted: conversation.wanted.clone(),
        plan: conversation.plan.clone(),
        slot: usize::from(email.slot),
        language: email.language.clone(),
        pattern: pattern(tx, account, conversation, email)?,
        original: original(tx, account, email)?,
        others: others(tx, account, conversation, email)?,
        edits: edits(tx, email)?,
        seed: conversation.seed,
        today: date(conversation.created_at),
    })
}

/// Returns the document that serves as a reference for the email: the last email in the reference conversation at the email's slot or, if
/// that slot is empty, at the nearest earlier slot.
fn pattern(tx: &impl Read, account: AccountId, conversation: &Conversation, email: &Email) -> Result<Option<Document>, Failure> {
    let Some(reference) = conversation.wanted.reference else { return Ok(None) };
    let others = store::emails(tx, account, reference)?;
    let fits = others.iter().rev().find(|other| other.slot <= email.slot && other.version > 0);
    fits.map_or(Ok(None), |other| document(tx, other))
}

/// Returns the document of the email's original: the email in the same slot and the conversation's first language. Returns `None` if the
/// email is itself the original.
fn original(tx: &impl Read, account: AccountId, email: &Email) -> Result<Option<Document>, Failure> {
    let emails = store::emails(tx, account, email.conversation)?;
    let first = emails.iter().find(|other| other.slot == email.slot).filter(|first| first.id != email.id);
    first.map_or(Ok(None), |first| document(tx, first))
}

/// Returns the documents of the other emails in the series in the email's language. Returns `None` if the email is not part of a series, if
/// an email in the series is not finished, or if an edit has translated the email into another language.
fn others(
    tx: &impl Read,
    account: AccountId,
    conversation: &Conversation,
    email: &Email,
) -> Result<Option<Vec<Document>>, Failure> {
    let is_written = email.stage == Stage::Ready && conversation.wanted.languages.contains(&email.language);
    if conversation.plan.is_none() || !is_written {
        return Ok(None);
    }
    let emails = store::emails(tx, account, email.conversation)?;
    let others = || emails.iter().filter(|other| other.slot != email.slot && other.language == email.language);
    if others().any(|other| !other.stage.is_final()) {
        return Ok(None);
    }
    let mut documents = Vec::new();
    for other in others() {
        documents.extend(document(tx, other)?);
    }
    Ok(Some(documents))
}

/// Returns the prompts of the edits that created the email's stored versions, newest first.
fn edits(tx: &impl Read, email: &Email) -> Result<Vec<String>, Failure> {
    let versions = store::versions(tx, email.id)?.into_iter();
    let prompt = |version: Version| if let Origin::Edited { prompt, .. } = version.origin { Some(prompt) } else { None };
    Ok(versions.filter_map(prompt).collect())
}

/// Returns the document of an email's current version.
pub fn document(tx: &impl Read, email: &Email) -> Result<Option<Document>, Failure> {
    let text = store::version(tx, email.id, email.version)?.and_then(|version| version.document);
    text.map(|text| serde_json::from_str(&text)).transpose().map_err(Failure::internal)
}
