//! The versions of an email. The HTML, MJML and text of a version do not change after the first rendering. Its brief, screenshots and
//! warnings can change.

use serde_json::json;

use super::brief::Brief;
use super::model::{Email, Part, Texts, Version, VersionScreenshots};
use super::store;
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result, WriteTx, blobs};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, BlobId, EmailId};
use crate::vocab::limits;

pub fn texts(tx: &impl Read, email: EmailId, number: u32) -> Result<Texts> {
    Ok(Texts {
        html: store::text(tx, email, number, Part::Html)?.unwrap_or_default(),
        mjml: store::text(tx, email, number, Part::Mjml)?,
        text: store::text(tx, email, number, Part::Text)?.unwrap_or_default(),
    })
}

pub fn save_texts(tx: &mut WriteTx<'_>, email: EmailId, number: u32, texts: Texts) {
    store::save_text(tx, email, number, Part::Html, texts.html);
    if let Some(mjml) = texts.mjml {
        store::save_text(tx, email, number, Part::Mjml, mjml);
    }
    store::save_text(tx, email, number, Part::Text, texts.text);
}

/// Returns whether an edit of the email may change the brief of its conversation: only if the conversation has no other email, because the
/// emails in a series and the translations of an email share a brief.
pub fn owns_brief(tx: &impl Read, account: AccountId, email: &Email) -> Result<bool> {
    Ok(store::emails(tx, account, email.conversation)?.len() == 1)
}

/// Returns the brief of the email's conversation.
pub fn brief(tx: &impl Read, account: AccountId, email: &Email) -> Result<Option<Brief>> {
    Ok(store::conversation(tx, account, email.conversation)?.and_then(|conversation| conversation.wanted.brief))
}

/// Adds a version to an email as the current version, and sets the version's number, brief and time. The version is checked in the
/// background.
pub fn add(tx: &mut WriteTx<'_>, account: AccountId, email: &mut Email, version: Version, texts: Texts) -> Result<u32> {
    let number = email.versions + 1;
    let brief = brief(tx, account, email)?;
    store::save_version(tx, email.id, &Version { number, brief, created_at: tx.now(), ..version });
    save_texts(tx, email.id, number, texts);
    email.version = number;
    email.versions = number;
    email.updated_at = tx.now();
    store::save_email(tx, account, email);
    store::request_checks(tx, account, email.id);
    forget_oldest(tx, email)?;
    Ok(number)
}

/// Adds a version with [`add`], then deletes the previous version, which the new version replaces. The number still increases, so that
/// clients notice the change.
pub fn replace(tx: &mut WriteTx<'_>, account: AccountId, email: &mut Email, version: Version, texts: Texts) -> Result<u32> {
    let previous = email.version;
    let number = add(tx, account, email, version, texts)?;
    if let Some(old) = store::version(tx, email.id, previous)? {
        delete(tx, email.id, &old)?;
    }
    Ok(number)
}

/// If there are more than [`limits::EMAIL_VERSIONS_MAX`] versions, deletes the oldest version other than the original.
fn forget_oldest(tx: &mut WriteTx<'_>, email: &Email) -> Result<()> {
    if email.versions <= limits::EMAIL_VERSIONS_MAX {
        return Ok(());
    }
    let versions = store::versions(tx, email.id)?;
    match versions.iter().rev().nth(1) {
        Some(oldest) if versions.len() > limits::EMAIL_VERSIONS_MAX as usize => delete(tx, email.id, oldest),
        _ => Ok(()),
    }
}

/// Deletes a version and its screenshots.
fn delete(tx: &mut WriteTx<'_>, email: EmailId, old: &Version) -> Result<()> {
    store::delete_version(tx, email, old.number);
    let kept: Vec<BlobId> = store::versions(tx, email)?.iter().flat_map(|version| files(&version.pictures)).collect();
    let now = tx.now();
    // A restored version shares the screenshots of the version that it was restored from, so shared files are kept.
    for file in files(&old.pictures).filter(|file| !kept.contains(file)) {
        blobs::expire(tx, file, now)?;
    }
    Ok(())
}

fn files(pictures: &VersionScreenshots) -> impl Iterator<Item = BlobId> + use<> {
    [pictures.screenshot, pictures.thumbnail].into_iter().flatten()
}

/// Returns the failure for a change to a version that is no longer current.
pub fn conflict(email: &Email) -> Failure {
    let detail = format!(
        "Your change was not saved, because version {} is now the current version of the email. Load this version, \
         and make the change again.",
        email.version
    );
    Failure::because(Code::VersionConflict, detail)
        .see("emails.get", "GET /v1/emails/{emailId} returns the current version")
        .with(json!({ "version": email.version }))
}
