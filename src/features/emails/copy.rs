//! Copies emails: reads a finished conversation from one store and writes it to another.
//!
//! Only the current version of each email is copied. If an email differs from its existing copy, the new content is stored as a new version
//! of the copy, so users keep their own versions.

use super::model::{Conversation, Email, Part, Stage, Texts, Version, VersionScreenshots};
use super::{store, versions};
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{Read, ReadTx, Result, Value, WriteTx};
use crate::vocab::ids::{AccountId, BlobId, ConversationId, CopyIds, ProjectId};

/// A conversation with the current version of each finished email.
pub struct ConversationCopy {
    conversation: Conversation,
    emails: Vec<EmailCopy>,
}

struct EmailCopy {
    email: Email,
    version: Version,
    texts: Texts,
    screenshot: Option<(Head, Vec<u8>)>,
    thumbnail: Option<(Head, Vec<u8>)>,
}

/// Returns the IDs of a project's conversations, newest first.
pub fn conversations(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<Vec<ConversationId>> {
    let mut ids = Vec::new();
    store::visit_conversations(tx, account, project, |conversation| {
        ids.push(conversation.id);
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(ids)
}

/// Returns the number of emails that [`ConversationCopy::read`] returns for a conversation.
pub fn count(tx: &impl Read, account: AccountId, id: ConversationId) -> Result<u64> {
    let is_final = store::conversation(tx, account, id)?.is_some_and(|found| found.state.is_final());
    let ready = |email: &&Email| email.stage == Stage::Ready;
    Ok(if is_final { store::emails(tx, account, id)?.iter().filter(ready).count() as u64 } else { 0 })
}

pub fn exists(tx: &impl Read, account: AccountId, id: ConversationId) -> Result<bool> {
    Ok(store::conversation(tx, account, id)?.is_some())
}

impl ConversationCopy {
    /// Reads a conversation. Returns `None` if it is not finished or none of its emails is ready.
    pub fn read(tx: &ReadTx, account: AccountId, id: ConversationId) -> Result<Option<Self>> {
        let Some(conversation) = store::conversation(tx, account, id)?.filter(|found| found.state.is_final()) else {
            return Ok(None);
        };
        let mut emails = Vec::new();
        for email in store::emails(tx, account, id)?.into_iter().filter(|email| email.stage == Stage::Ready) {
            let Some(version) = store::version(tx, email.id, email.version)? else { continue };
            emails.push(EmailCopy {
                texts: versions::texts(tx, email.id, email.version)?,
                screenshot: file(tx, version.pictures.screenshot)?,
                thumbnail: file(tx, version.pictures.thumbnail)?,
                version,
                email,
            });
        }
        Ok((!emails.is_empty()).then_some(Self { conversation, emails }))
    }

    pub fn count(&self) -> usize {
        self.emails.len()
    }

    /// Returns the content of the emails as bytes, which are compared to detect changes.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        for copy in &self.emails {
            copy.email.encode(&mut content);
            copy.version.encode(&mut content);
            for text in [Some(&copy.texts.html), copy.texts.mjml.as_ref(), Some(&copy.texts.text)] {
                content.extend_from_slice(text.map_or("", String::as_str).as_bytes());
            }
        }
        content
    }

    /// Returns whether the store contains the copy of the conversation.
    pub fn is_in(&self, tx: &impl Read, account: AccountId, ids: CopyIds) -> Result<bool> {
        exists(tx, account, ids.of(self.conversation.id))
    }

    /// Writes the copies of the conversation and its emails to a project. Returns the number of emails with new content. An unfinished
    /// existing copy is left unchanged, and 0 is returned.
    pub fn write(self, tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, ids: CopyIds) -> Result<u64> {
        let Self { mut conversation, emails } = self;
        conversation.id = ids.of(conversation.id);
        if store::conversation(tx, account, conversation.id)?.is_some_and(|known| !known.state.is_final()) {
            return Ok(0);
        }
        conversation.project = project;
        conversation.wanted.reference = conversation.wanted.reference.map(|reference| ids.of(reference));
        store::keep(tx, account, &conversation);
        let mut changed = 0;
        for (place, copy) in emails.into_iter().enumerate() {
            changed += u64::from(write_email(tx, account, &conversation, (place as u16, ids), copy)?);
        }
        Ok(changed)
    }
}

/// Writes an email and returns whether its content is new.
fn write_email(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    conversation: &Conversation,
    (place, ids): (u16, CopyIds),
    copy: EmailCopy,
) -> Result<bool> {
    let EmailCopy { email, version, texts, screenshot, thumbnail } = copy;
    let id = ids.of(email.id);
    let known = store::email(tx, account, id)?;
    let is_same = match &known {
        Some(known) => {
            let current = store::version(tx, id, known.version)?;
            current.is_some_and(|current| current.document == version.document && current.subject == version.subject)
                && store::text(tx, id, known.version, Part::Html)?.as_ref() == Some(&texts.html)
        }
        None => false,
    };
    let (number, count) = known.as_ref().map_or((0, 0), |known| (known.version, known.versions));
    let mut copied = Email {
        id,
        conversation: conversation.id,
        project: conversation.project,
        version: number,
        versions: count,
        attempts: 0,
        updated_at: tx.now(),
        ..email
    };
    match known {
        // An existing copy keeps its position in the conversation.
        Some(_) => store::save_email(tx, account, &copied),
        None => store::place(tx, account, place, &copied),
    }
    if !is_same {
        let mut keep = |file: Option<(Head, Vec<u8>)>| file.map(|(head, bytes)| blobs::put(tx, head, &bytes));
        let pictures = VersionScreenshots { screenshot: keep(screenshot), thumbnail: keep(thumbnail) };
        if pictures == VersionScreenshots::default() {
            // The original had no screenshots yet when it was copied, so the copy needs its own.
            store::request_screenshots(tx, account, id);
        }
        versions::add(tx, account, &mut copied, Version { pictures, ..version }, texts)?;
    }
    Ok(!is_same)
}

fn file(tx: &ReadTx, id: Option<BlobId>) -> Result<Option<(Head, Vec<u8>)>> {
    let Some(id) = id else { return Ok(None) };
    let Some(head) = blobs::head(tx, id)? else { return Ok(None) };
    Ok(blobs::bytes(tx, id)?.map(|bytes| (head, bytes)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::TestApp;
    use crate::vocab::environment::Environment;
    use crate::vocab::ids::EmailId;

    /// Regression test: an email that was copied to the live environment within seconds of an edit had no screenshots there.
    #[test]
    fn a_copy_without_screenshots_is_queued_for_them() {
        let app = TestApp::new();
        let made = app.post_in("/v1/emails", json!({})).data();
        let text = |name: &str| made[name].as_str().expect("the field is a string");
        let id = EmailId::parse(text("id")).expect("the ID is valid");
        let conversation = ConversationId::parse(text("conversationId")).expect("the ID is valid");
        let (account, ids) = (app.account(), CopyIds::OtherEnvironment);
        let copy = ConversationCopy::read(&app.read(), account, conversation).expect("the store works");
        let copy = copy.expect("the email is ready");
        let project = ProjectId::from_bytes([9; 12]);
        let live = app.engine().data(Environment::Live).store.clone();
        let write = move |tx: &mut WriteTx<'_>| copy.write(tx, account, project, ids);
        assert_eq!(app.wait(live.write(write)).expect("the store works").expect("the write succeeds"), 1);
        assert_eq!(store::open_screenshots(&live.read(), 10).expect("the store works"), [(account, ids.of(id))]);
    }
}
