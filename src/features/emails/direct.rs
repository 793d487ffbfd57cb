//! Emails that users and programs write and change block by block, without a prompt.

use serde_json::json;

use super::document::{Change, ChangeError, Email as Document, Violation};
use super::edits::NewVersion;
use super::finding::Finding;
use super::generation::context::{brief, document};
use super::model::{Author, Conversation, Email, Origin, Source, Stage, Version};
use super::outputs::{self, RenderedTexts};
use super::writing::material::gather;
use super::{store, versions};
use crate::engine::api::{Failure, Principal};
use crate::engine::store::{Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

/// A changed document with its HTML, MJML and text, before it is stored.
pub struct Changed {
    pub document: Document,
    pub drawn: RenderedTexts,
}

/// Applies the changes to the current document of an email. If `version` is given, it must be the number of the email's current version.
pub fn change(
    tx: &impl Read,
    account: AccountId,
    email: &Email,
    changes: &[Change],
    version: Option<u32>,
) -> Result<Changed, Failure> {
    if email.stage != Stage::Ready {
        let detail =
            "Only finished emails can be edited. Wait until the email is ready or, if its generation failed, generate it again.";
        return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": email.stage.word() })));
    }
    if version.is_some_and(|version| version != email.version) {
        return Err(versions::conflict(email));
    }
    let document = document(tx, email)?.ok_or_else(|| {
        Failure::because(Code::EditFailed, "The email was imported as HTML, so it has no document. Edit it with a prompt.")
            .see("emails.edit", "POST /v1/emails/{emailId}/edit applies a prompt")
    })?;
    let document = document.changed(changes).map_err(refused)?;
    let conversation = store::conversation(tx, account, email.conversation)?;
    let conversation =
        conversation.ok_or_else(|| Failure::internal("the conversation of an email is missing; report this bug"))?;
    let brief = brief(tx, account, &conversation, email)?;
    let material = gather(tx, account, email.project, &conversation.wanted)?;
    let mut changed = render(tx, account, &conversation, document)?;
    let drawn = std::mem::take(&mut changed.drawn.warnings);
    changed.drawn.warnings = brief.warnings(&changed.document, &material).into_iter().chain(drawn).collect();
    Ok(changed)
}

/// Renders a document and adds a warning if text of a starter design has not been replaced yet.
pub fn render(tx: &impl Read, account: AccountId, conversation: &Conversation, document: Document) -> Result<Changed, Failure> {
    let mut drawn = outputs::render_texts(tx, account, conversation, &document)?;
    if conversation.wanted.source == Source::Document {
        drawn.warnings.extend(not_replaced(&drawn.texts.text));
    }
    Ok(Changed { document, drawn })
}

/// Returns a warning if the plain text still contains bracketed text. In starter designs, users must replace all text in brackets.
fn not_replaced(text: &str) -> Option<Finding> {
    const CHARACTERS_MAX: usize = 80;
    let ends = |part: &str| part.split_once(']').map(|(inside, _)| inside.trim().replace('\n', " "));
    let open: Vec<String> = text.split('[').skip(1).filter_map(ends).collect();
    let first = open.iter().find(|inside| !inside.is_empty() && inside.chars().count() <= CHARACTERS_MAX)?;
    let others = if open.len() > 1 { format!(" and {} more", open.len() - 1) } else { String::new() };
    let message =
        format!("The email still contains text in brackets: [{first}]{others}. Replace the text before you send the email.");
    Some(Finding::note(message))
}

/// Returns the failure for invalid changes. Its message describes the first error, and its data contains all errors.
fn refused(errors: Vec<ChangeError>) -> Failure {
    let fields = |error: &ChangeError| {
        let Violation { path, kind, problem } = &error.violation;
        json!({
            "operation": error.index, "field": error.field, "path": path, "block": error.block, "kind": kind, "problem": problem,
        })
    };
    let all: Vec<_> = errors.iter().map(fields).collect();
    let first = errors.first().expect("changes that are refused have an error");
    let dot = if first.field.is_empty() { "" } else { "." };
    let field = format!("operations[{}]{dot}{}", first.index, first.field);
    Failure::field(&field, &first.violation).with(json!({ "errors": all }))
}

/// Returns the failure for an invalid document in the field `document`.
pub fn invalid(found: &[Violation]) -> Failure {
    let first = found.first().expect("an invalid document has a violation");
    let separator = if first.path.is_empty() { "" } else { "." };
    Failure::field(&format!("document{separator}{}", first.path), &first.problem).with(json!({ "errors": found }))
}

/// Stores a changed document as the email's newest version, without screenshots. An autosave replaces the current version if the current
/// version is a recent autosave by the same author.
pub fn save(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    email: &mut Email,
    changed: Changed,
    by: Author,
    is_autosave: bool,
) -> Result<u32, Failure> {
    let last = store::version(tx, email.id, email.version)?;
    let written_by = last.as_ref().and_then(|version| version.written_by.clone());
    let new = NewVersion::new(&changed.document, written_by, changed.drawn, Default::default());
    store::request_screenshots(tx, account, email.id);
    let since = match last.map(|version| version.origin) {
        Some(Origin::Manual { by: last, autosaved_since: Some(since) }) if is_autosave && last == by => {
            Some(since).filter(|since| tx.now().ms_since(*since) < limits::EMAIL_AUTOSAVES_MS)
        }
        _ => None,
    };
    let origin = Origin::Manual { by, autosaved_since: is_autosave.then(|| since.unwrap_or(tx.now())) };
    Ok(match since {
        Some(_) => new.replace(tx, account, email, origin)?,
        None => new.keep(tx, account, email, origin)?,
    })
}

pub fn author(principal: &Principal) -> Result<Author, Failure> {
    match principal {
        Principal::User(who) => Ok(Author::User(who.user.id)),
        Principal::Key(key) => Ok(Author::Key(key.id)),
        Principal::Anonymous | Principal::Operator => {
            Err(Failure::internal("an operation on emails was called without a user or an API key; report this bug"))
        }
    }
}

/// Stores a document as the first version of a new email.
pub fn begin(tx: &mut WriteTx<'_>, account: AccountId, email: &Email, changed: Changed, by: Author) {
    let Changed { document, drawn } = changed;
    let version = Version {
        number: 1,
        origin: Origin::Manual { by, autosaved_since: None },
        subject: document.subject.as_str().to_owned(),
        preheader: document.preheader.as_str().to_owned(),
        brief: None,
        document: Some(document.to_json().to_string()),
        written_by: None,
        warnings: drawn.warnings,
        pictures: Default::default(),
        facts: drawn.facts,
        created_at: tx.now(),
    };
    store::save_version(tx, email.id, &version);
    versions::save_texts(tx, email.id, 1, drawn.texts);
    store::place(tx, account, 0, email);
    store::request_screenshots(tx, account, email.id);
    store::request_checks(tx, account, email.id);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_brackets_is_reported() {
        let warning = not_replaced("Hello [name],\nuntil [the\nlast day] [x]").expect("the text has brackets");
        assert!(warning.message.contains("[name] and 2 more. Replace"), "{warning:?}");
        assert_eq!((not_replaced("Hello"), not_replaced("a [ b"), not_replaced("[]")), (None, None, None));
    }
}
