//! Versions of an email: created in one transaction, never changed afterwards.

use super::model::{Email, Part, Version, VersionScreenshots};
use super::store;
use crate::engine::store::{Read, Result, WriteTx, blobs};
use crate::vocab::ids::{AccountId, BlobId, EmailId};
use crate::vocab::limits;

/// A version in each text format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub html: String,
    /// `None` for imported HTML.
    pub mjml: Option<String>,
    pub text: String,
}

/// Returns the texts of a version.
pub fn texts(tx: &impl Read, email: EmailId, number: u32) -> Result<Texts> {
    Ok(Texts {
        html: store::text(tx, email, number, Part::Html)?.unwrap_or_default(),
        mjml: store::text(tx, email, number, Part::Mjml)?,
        text: store::text(tx, email, number, Part::Text)?.unwrap_or_default(),
    })
}

/// Stores the texts of a version.
pub fn save_texts(tx: &mut WriteTx<'_>, email: EmailId, number: u32, texts: Texts) {
    store::save_text(tx, email, number, Part::Html, texts.html);
    if let Some(mjml) = texts.mjml {
        store::save_text(tx, email, number, Part::Mjml, mjml);
    }
    store::save_text(tx, email, number, Part::Text, texts.text);
}

/// Adds a version to an email as its current one, and sets its number and time.
pub fn add(tx: &mut WriteTx<'_>, account: AccountId, email: &mut Email, version: Version, texts: Texts) -> Result<u32> {
    let number = email.versions + 1;
    store::save_version(tx, email.id, &Version { number, created_at: tx.now(), ..version });
    save_texts(tx, email.id, number, texts);
    email.version = number;
    email.versions = number;
    email.updated_at = tx.now();
    store::save_email(tx, account, email);
    forget_oldest(tx, email)?;
    Ok(number)
}

/// Deletes versions beyond [`limits::EMAIL_VERSIONS_MAX`]: the oldest ones except the first, which is the original.
fn forget_oldest(tx: &mut WriteTx<'_>, email: &Email) -> Result<()> {
    let Some(number) = email.versions.checked_sub(limits::EMAIL_VERSIONS_MAX).map(|surplus| surplus + 1).filter(|n| *n > 1)
    else {
        return Ok(());
    };
    let Some(old) = store::version(tx, email.id, number)? else { return Ok(()) };
    store::delete_version(tx, email.id, number);
    let kept: Vec<BlobId> = store::versions(tx, email.id)?.iter().flat_map(|version| files(&version.pictures)).collect();
    let now = tx.now();
    // A restored version shares its screenshots.
    for file in files(&old.pictures).filter(|file| !kept.contains(file)) {
        blobs::expire(tx, file, now)?;
    }
    Ok(())
}

fn files(pictures: &VersionScreenshots) -> impl Iterator<Item = BlobId> + use<> {
    [pictures.screenshot, pictures.thumbnail].into_iter().flatten()
}
