//! Versions of an email: made whole in one transaction, never changed afterwards.

use super::model::{Email, Part, Version, VersionScreenshots};
use super::store;
use crate::engine::store::{Read, Result, WriteTx, blobs};
use crate::vocab::ids::{AccountId, BlobId, EmailId};
use crate::vocab::limits;

/// What a version looks like in each form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub html: String,
    /// None where the email was handed in as HTML.
    pub mjml: Option<String>,
    pub text: String,
}

/// The texts of a version.
pub fn texts(tx: &impl Read, email: EmailId, number: u32) -> Result<Texts> {
    Ok(Texts {
        html: store::text(tx, email, number, Part::Html)?.unwrap_or_default(),
        mjml: store::text(tx, email, number, Part::Mjml)?,
        text: store::text(tx, email, number, Part::Text)?.unwrap_or_default(),
    })
}

/// Keep the texts of a version.
pub fn save_texts(tx: &mut WriteTx<'_>, email: EmailId, number: u32, texts: Texts) {
    store::save_text(tx, email, number, Part::Html, texts.html);
    if let Some(mjml) = texts.mjml {
        store::save_text(tx, email, number, Part::Mjml, mjml);
    }
    store::save_text(tx, email, number, Part::Text, texts.text);
}

/// Add a version to an email, to be the one in use; its number and time are given here.
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

/// Drop what is beyond [`limits::EMAIL_VERSIONS_MAX`]: the oldest behind the first, which is what everything began with.
fn forget_oldest(tx: &mut WriteTx<'_>, email: &Email) -> Result<()> {
    let Some(number) = email.versions.checked_sub(limits::EMAIL_VERSIONS_MAX).map(|surplus| surplus + 1).filter(|n| *n > 1)
    else {
        return Ok(());
    };
    let Some(old) = store::version(tx, email.id, number)? else { return Ok(()) };
    store::delete_version(tx, email.id, number);
    let kept: Vec<BlobId> = store::versions(tx, email.id)?.iter().flat_map(|version| files(&version.pictures)).collect();
    let now = tx.now();
    // A version that was taken up again shares its pictures.
    for file in files(&old.pictures).filter(|file| !kept.contains(file)) {
        blobs::expire(tx, file, now)?;
    }
    Ok(())
}

fn files(pictures: &VersionScreenshots) -> impl Iterator<Item = BlobId> + use<> {
    [pictures.screenshot, pictures.thumbnail].into_iter().flatten()
}
