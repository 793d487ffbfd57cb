//! The tables of conversations and emails, and all functions that access the tables.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::model::{Conversation, Edit, Email, IgnoredFinding, Part, PreviewedEdit, Version, VersionChecks};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, ConversationId, EditId, EmailId, ProjectId};
use crate::vocab::tables;

const CONVERSATIONS: Table<(AccountId, ConversationId), Conversation> = Table::new(tables::CONVERSATIONS);
const BY_PROJECT: Table<(ProjectId, ConversationId), ()> = Table::new(tables::CONVERSATIONS_BY_PROJECT);
const QUEUE: Table<(ConversationId, AccountId), ()> = Table::new(tables::CONVERSATION_QUEUE);
const EMAILS: Table<(AccountId, EmailId), Email> = Table::new(tables::EMAILS);
const BY_CONVERSATION: Table<(ConversationId, u16, EmailId), ()> = Table::new(tables::EMAILS_BY_CONVERSATION);
const VERSIONS: Table<(EmailId, u32), Version> = Table::new(tables::EMAIL_VERSIONS);
const TEXTS: Table<(EmailId, u32, u8), Vec<u8>> = Table::new(tables::EMAIL_TEXTS);
const SCREENSHOT_QUEUE: Table<(AccountId, EmailId), ()> = Table::new(tables::EMAIL_SCREENSHOT_QUEUE);
const CHECKS: Table<(EmailId, u32), VersionChecks> = Table::new(tables::EMAIL_CHECKS);
const CHECK_QUEUE: Table<(AccountId, EmailId), ()> = Table::new(tables::EMAIL_CHECK_QUEUE);
const IGNORED: Table<(EmailId, String), IgnoredFinding> = Table::new(tables::IGNORED_FINDINGS);
const EDITS: Table<EditId, Edit> = Table::new(tables::EMAIL_EDITS);
const EDIT_QUEUE: Table<EditId, ()> = Table::new(tables::EMAIL_EDIT_QUEUE);
const PREVIEWED: Table<EmailId, PreviewedEdit> = Table::new(tables::EMAIL_PREVIEWED_EDITS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[
    RowCheck::of(CONVERSATIONS),
    RowCheck::of(BY_PROJECT),
    RowCheck::of(QUEUE),
    RowCheck::of(EMAILS),
    RowCheck::of(BY_CONVERSATION),
    RowCheck::of(VERSIONS),
    RowCheck::of(TEXTS),
    RowCheck::of(SCREENSHOT_QUEUE),
    RowCheck::of(CHECKS),
    RowCheck::of(CHECK_QUEUE),
    RowCheck::of(IGNORED),
    RowCheck::of(EDITS),
    RowCheck::of(EDIT_QUEUE),
    RowCheck::of(PREVIEWED),
];

/// Stores a new conversation and adds it to the queue.
pub fn open(tx: &mut WriteTx<'_>, account: AccountId, conversation: &Conversation) {
    tx.put(QUEUE, &(conversation.id, account), &());
    keep(tx, account, conversation);
}

/// Stores a conversation and adds it to the list of its project, but not to the queue.
pub fn keep(tx: &mut WriteTx<'_>, account: AccountId, conversation: &Conversation) {
    tx.put(BY_PROJECT, &(conversation.project, conversation.id), &());
    save_conversation(tx, account, conversation);
}

pub fn save_conversation(tx: &mut WriteTx<'_>, account: AccountId, conversation: &Conversation) {
    tx.put(CONVERSATIONS, &(account, conversation.id), conversation);
}

/// Removes a finished conversation from the queue.
pub fn close(tx: &mut WriteTx<'_>, account: AccountId, conversation: ConversationId) {
    tx.delete(QUEUE, &(conversation, account));
}

/// Returns up to `limit` queued conversations, oldest first.
pub fn open_conversations(tx: &impl Read, limit: usize) -> Result<Vec<(ConversationId, AccountId)>> {
    Ok(tx.list(QUEUE, &Span::default(), Order::Forward, limit)?.into_iter().map(|(key, ())| key).collect())
}

/// Returns the account's conversation with this ID.
pub fn conversation(tx: &impl Read, account: AccountId, id: ConversationId) -> Result<Option<Conversation>> {
    tx.get(CONVERSATIONS, &(account, id))
}

/// Visits the project's conversations, newest first, until `visitor` breaks.
pub fn visit_conversations(
    tx: &impl Read,
    account: AccountId,
    project: ProjectId,
    mut visitor: impl FnMut(Conversation) -> Result<ControlFlow<()>>,
) -> Result<()> {
    for ((_, id), ()) in tx.list(BY_PROJECT, &BY_PROJECT.under(&(project,)), Order::Backward, usize::MAX)? {
        if let Some(found) = conversation(tx, account, id)?
            && visitor(found)?.is_break()
        {
            break;
        }
    }
    Ok(())
}

/// Returns the number of the project's queued and running conversations.
pub fn waiting(tx: &impl Read, project: ProjectId) -> Result<usize> {
    let mut waiting = 0;
    for (id, account) in open_conversations(tx, usize::MAX)? {
        waiting += usize::from(conversation(tx, account, id)?.is_some_and(|found| found.project == project));
    }
    Ok(waiting)
}

/// Stores an email at a position in its conversation.
pub fn place(tx: &mut WriteTx<'_>, account: AccountId, place: u16, email: &Email) {
    tx.put(BY_CONVERSATION, &(email.conversation, place, email.id), &());
    save_email(tx, account, email);
}

pub fn save_email(tx: &mut WriteTx<'_>, account: AccountId, email: &Email) {
    tx.put(EMAILS, &(account, email.id), email);
}

/// Returns the account's email with this ID.
pub fn email(tx: &impl Read, account: AccountId, id: EmailId) -> Result<Option<Email>> {
    tx.get(EMAILS, &(account, id))
}

/// Returns the emails in a conversation, in order.
pub fn emails(tx: &impl Read, account: AccountId, conversation: ConversationId) -> Result<Vec<Email>> {
    let places = tx.list(BY_CONVERSATION, &BY_CONVERSATION.under(&(conversation,)), Order::Forward, usize::MAX)?;
    let mut emails = Vec::with_capacity(places.len());
    for ((_, _, id), ()) in places {
        emails.extend(email(tx, account, id)?);
    }
    Ok(emails)
}

pub fn save_version(tx: &mut WriteTx<'_>, email: EmailId, version: &Version) {
    tx.put(VERSIONS, &(email, version.number), version);
}

pub fn version(tx: &impl Read, email: EmailId, number: u32) -> Result<Option<Version>> {
    tx.get(VERSIONS, &(email, number))
}

/// Deletes a version, its HTML, MJML and text, and the result of its checks.
pub fn delete_version(tx: &mut WriteTx<'_>, email: EmailId, number: u32) {
    tx.delete(VERSIONS, &(email, number));
    tx.delete(CHECKS, &(email, number));
    for part in [Part::Html, Part::Mjml, Part::Text] {
        tx.delete(TEXTS, &(email, number, part as u8));
    }
}

/// Returns the stored versions of an email, newest first.
pub fn versions(tx: &impl Read, email: EmailId) -> Result<Vec<Version>> {
    let versions = tx.list(VERSIONS, &VERSIONS.under(&(email,)), Order::Backward, usize::MAX)?;
    Ok(versions.into_iter().map(|(_, version)| version).collect())
}

/// Stores one format of a version, such as its HTML.
pub fn save_text(tx: &mut WriteTx<'_>, email: EmailId, number: u32, part: Part, text: String) {
    tx.put(TEXTS, &(email, number, part as u8), &text.into_bytes());
}

/// Returns one format of a version, such as its HTML.
pub fn text(tx: &impl Read, email: EmailId, number: u32, part: Part) -> Result<Option<String>> {
    let bytes = tx.get(TEXTS, &(email, number, part as u8))?;
    Ok(bytes.map(|bytes| String::from_utf8(bytes).expect("only `save_text` writes these rows, and a `String` is UTF-8")))
}

/// Adds an email to the queue for screenshots.
pub fn request_screenshots(tx: &mut WriteTx<'_>, account: AccountId, email: EmailId) {
    tx.put(SCREENSHOT_QUEUE, &(account, email), &());
}

/// Removes an email from the queue for screenshots.
pub fn close_screenshots(tx: &mut WriteTx<'_>, account: AccountId, email: EmailId) {
    tx.delete(SCREENSHOT_QUEUE, &(account, email));
}

/// Returns up to `limit` emails that wait for screenshots.
pub fn open_screenshots(tx: &impl Read, limit: usize) -> Result<Vec<(AccountId, EmailId)>> {
    Ok(tx.list(SCREENSHOT_QUEUE, &Span::default(), Order::Forward, limit)?.into_iter().map(|(key, ())| key).collect())
}

/// Stores the result of the checks of a version.
pub fn save_checks(tx: &mut WriteTx<'_>, email: EmailId, number: u32, checks: &VersionChecks) {
    tx.put(CHECKS, &(email, number), checks);
}

/// Returns the result of the checks of a version; `None` if the version has not been checked.
pub fn checks(tx: &impl Read, email: EmailId, number: u32) -> Result<Option<VersionChecks>> {
    tx.get(CHECKS, &(email, number))
}

/// Adds an email to the queue for checks.
pub fn request_checks(tx: &mut WriteTx<'_>, account: AccountId, email: EmailId) {
    tx.put(CHECK_QUEUE, &(account, email), &());
}

/// Removes an email from the queue for checks.
pub fn close_checks(tx: &mut WriteTx<'_>, account: AccountId, email: EmailId) {
    tx.delete(CHECK_QUEUE, &(account, email));
}

/// Returns whether an email is in the queue for checks.
pub fn awaits_checks(tx: &impl Read, account: AccountId, email: EmailId) -> Result<bool> {
    Ok(tx.get(CHECK_QUEUE, &(account, email))?.is_some())
}

/// Returns up to `limit` emails that wait for checks.
pub fn open_checks(tx: &impl Read, limit: usize) -> Result<Vec<(AccountId, EmailId)>> {
    Ok(tx.list(CHECK_QUEUE, &Span::default(), Order::Forward, limit)?.into_iter().map(|(key, ())| key).collect())
}

/// Records that users ignore a finding.
pub fn ignore_finding(tx: &mut WriteTx<'_>, email: EmailId, finding: &str, ignored: &IgnoredFinding) {
    tx.put(IGNORED, &(email, finding.to_owned()), ignored);
}

/// Records that users no longer ignore a finding.
pub fn notice_finding(tx: &mut WriteTx<'_>, email: EmailId, finding: &str) {
    tx.delete(IGNORED, &(email, finding.to_owned()));
}

/// Returns the ignored findings of an email, keyed by the finding's ID.
pub fn ignored_findings(tx: &impl Read, email: EmailId) -> Result<BTreeMap<String, IgnoredFinding>> {
    let rows = tx.list(IGNORED, &IGNORED.under(&(email,)), Order::Forward, usize::MAX)?;
    Ok(rows.into_iter().map(|((_, id), ignored)| (id, ignored)).collect())
}

/// Stores a new edit and adds it to the queue.
pub fn open_edit(tx: &mut WriteTx<'_>, edit: &Edit) {
    tx.put(EDIT_QUEUE, &edit.id, &());
    save_edit(tx, edit);
}

pub fn save_edit(tx: &mut WriteTx<'_>, edit: &Edit) {
    tx.put(EDITS, &edit.id, edit);
}

/// Removes a finished edit from the queue.
pub fn close_edit(tx: &mut WriteTx<'_>, edit: EditId) {
    tx.delete(EDIT_QUEUE, &edit);
}

/// Returns the account's edit with this ID.
pub fn edit(tx: &impl Read, account: AccountId, id: EditId) -> Result<Option<Edit>> {
    Ok(tx.get(EDITS, &id)?.filter(|edit| edit.account == account))
}

/// Returns up to `limit` queued edits, oldest first.
pub fn open_edits(tx: &impl Read, limit: usize) -> Result<Vec<EditId>> {
    Ok(tx.list(EDIT_QUEUE, &Span::default(), Order::Forward, limit)?.into_iter().map(|(id, ())| id).collect())
}

/// Returns the edit with this ID, regardless of its account.
pub fn any_edit(tx: &impl Read, id: EditId) -> Result<Option<Edit>> {
    tx.get(EDITS, &id)
}

/// Stores a previewed edit in place of the email's earlier previewed edit.
pub fn save_previewed(tx: &mut WriteTx<'_>, email: EmailId, edit: &PreviewedEdit) {
    tx.put(PREVIEWED, &email, edit);
}

pub fn delete_previewed(tx: &mut WriteTx<'_>, email: EmailId) {
    tx.delete(PREVIEWED, &email);
}

/// Returns the email's latest previewed edit, unless the edit was saved.
pub fn previewed(tx: &impl Read, email: EmailId) -> Result<Option<PreviewedEdit>> {
    tx.get(PREVIEWED, &email)
}
