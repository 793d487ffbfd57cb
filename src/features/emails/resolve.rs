//! Which email is meant when it is to be sent: one that is ready, named by itself or by a conversation that has no other.

use serde_json::json;

use super::document::Block;
use super::model::{Email, Stage, State};
use super::{Finished, conversation_not_found, one_finished, require_email, store};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result as StoreResult};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConversationId, EmailId, ProjectId};
use crate::vocab::limits;

/// What mail clients show of an email before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    pub subject: String,
    pub preheader: String,
}

/// The email of the account that is meant, in its version in use; or why none is.
pub fn choose(
    tx: &impl Read,
    account: AccountId,
    conversation: Option<ConversationId>,
    email: Option<EmailId>,
    project: Option<ProjectId>,
) -> Result<Finished, Failure> {
    let email = match (conversation, email) {
        (None, None) => return Err(Failure::field("emailId", "name the email, or its conversation by conversationId")),
        (None, Some(id)) => require_email(tx, account, id, project)?,
        (Some(conversation), named) => in_conversation(tx, account, conversation, named, project)?,
    };
    match &email.stage {
        Stage::Ready => one_finished(tx, &email),
        Stage::Failed(reason) => {
            let detail = format!("The email could not be made: {reason}");
            Err(Failure::because(Code::WrongState, detail).with(json!({ "status": "failed", "emailId": email.id })))
        }
        Stage::Planned | Stage::Written | Stage::Rendered => Err(not_ready(email.conversation, "processing")),
    }
}

fn in_conversation(
    tx: &impl Read,
    account: AccountId,
    id: ConversationId,
    named: Option<EmailId>,
    project: Option<ProjectId>,
) -> Result<Email, Failure> {
    let conversation = store::conversation(tx, account, id)?;
    let conversation = conversation.filter(|found| project.is_none_or(|project| found.project == project));
    let conversation = conversation.ok_or_else(conversation_not_found)?;
    let mut emails = store::emails(tx, account, id)?;
    if let Some(named) = named {
        let found = emails.into_iter().find(|email| email.id == named);
        return found.ok_or_else(|| Failure::because(Code::NotFound, "emailId: the conversation has no such email."));
    }
    match (&conversation.state, emails.len()) {
        (State::Failed(reason), 0 | 1) => {
            let detail = format!("The emails could not be made: {reason}");
            Err(Failure::because(Code::WrongState, detail).with(json!({ "status": "failed", "conversationId": id })))
        }
        (_, 0) => Err(not_ready(id, conversation.state.word())),
        (_, 1) => Ok(emails.remove(0)),
        (_, many) => Err(ambiguous(tx, &emails, many)?),
    }
}

fn not_ready(conversation: ConversationId, word: &str) -> Failure {
    let detail = format!(
        "The email is not ready yet; ask GET /v1/projects/emails/{conversation}/status until it is, and then repeat this."
    );
    Failure::because(Code::WrongState, detail).with(json!({ "status": word, "conversationId": conversation }))
}

/// The failure that names every email there is to choose from.
fn ambiguous(tx: &impl Read, emails: &[Email], many: usize) -> Result<Failure, Failure> {
    let mut choices = Vec::with_capacity(many);
    for email in emails {
        let subject = store::version(tx, email.id, email.version)?.map(|version| version.subject);
        choices.push(json!({
            "emailId": email.id, "slot": email.slot + 1, "language": email.language, "subject": subject, "status": email.stage.word(),
        }));
    }
    let detail = format!("emailId: the conversation has {many} emails; name one of those in data.emails");
    Ok(Failure::because(Code::InvalidRequest, detail).with(json!({ "field": "emailId", "emails": choices })))
}

/// What mail clients show of an email before it is opened, if it is ready.
pub fn headline(tx: &impl Read, account: AccountId, email: EmailId) -> StoreResult<Option<Headline>> {
    let Some(email) = store::email(tx, account, email)?.filter(|email| email.version > 0) else { return Ok(None) };
    let version = store::version(tx, email.id, email.version)?;
    Ok(version.map(|version| Headline { subject: version.subject, preheader: version.preheader }))
}

/// Whether an edit of it was asked for that is not done yet.
pub fn is_being_edited(tx: &impl Read, email: EmailId) -> StoreResult<bool> {
    for id in store::open_edits(tx, limits::EDITS_WAITING_MAX)? {
        if store::any_edit(tx, id)?.is_some_and(|edit| edit.email == email) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an email names a postal address, as the law of most countries asks; `None` where it was handed in as HTML, which does not
/// say what its words are.
pub fn names_postal_address(tx: &impl Read, account: AccountId, id: EmailId) -> Result<Option<bool>, Failure> {
    let Some(email) = store::email(tx, account, id)? else { return Ok(None) };
    let document = super::generation::stages::document(tx, &email)?;
    let names = |block: &Block| matches!(block, Block::Footer(footer) if footer.address.is_some());
    Ok(document.map(|document| document.blocks.iter().any(names)))
}
