//! What webhooks are told of messages: of tests, and engagement events, which exist only for those who ask for them by name.
//!
//! A campaign brings them forth by the hundred thousand, so nothing is written unless a webhook asks, and asking costs one look.

use serde_json::{Value, json};

use super::model::{Kind, Mailing, Recipient};
use super::person;
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::{Read, Result, WriteTx};
use crate::vocab::ids::{AccountId, ContactId, ConversationId, EmailId, MailingId, ProjectId};
use crate::vocab::webhook_events::WebhookEvent;

/// Whom an event is about.
pub struct Whom<'a> {
    pub mailing: &'a Mailing,
    /// The address, unless it was erased.
    pub email: Option<&'a str>,
    pub contact: Option<ContactId>,
}

/// A test of an email.
pub struct Tested<'a> {
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub conversation: Option<ConversationId>,
    pub email: Option<EmailId>,
    pub recipient: &'a EmailAddress,
    pub message: MailingId,
}

/// Whether a webhook wants to know of this of a mailing's recipients. Tests are looked at by whoever wrote them.
pub fn is_wanted(tx: &impl Read, mailing: &Mailing, kind: WebhookEvent) -> Result<bool> {
    Ok(mailing.kind != Kind::Test && outbox::is_wanted(tx, mailing.account, kind)?)
}

/// Tell of it, if a webhook wants to know; `more` are the fields of this kind alone.
pub fn tell(tx: &mut WriteTx<'_>, kind: WebhookEvent, whom: &Whom<'_>, at: Timestamp, more: Value) -> Result<()> {
    let Whom { mailing, email, contact } = whom;
    if !is_wanted(tx, mailing, kind)? {
        return Ok(());
    }
    let send = if mailing.kind.is_group() { "batchId" } else { "sendId" };
    let mut data = json!({
        send: mailing.id, "projectId": mailing.project, "campaignId": mailing.kind.campaign(), "emailId": mailing.email,
        "conversationId": mailing.conversation, "subscriberId": contact, "email": email, "occurredAt": at.to_string(),
    });
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    let conversation = mailing.conversation.map(|id| id.to_string());
    outbox::emit(tx, NewEvent { kind, account: mailing.account, project: mailing.project, conversation, data });
    Ok(())
}

/// A test of an email is on its way to a recipient.
pub fn tested(tx: &mut WriteTx<'_>, of: Tested<'_>) {
    let Tested { account, project, conversation, email, recipient, message } = of;
    let data = json!({
        "conversationId": conversation, "recipient": recipient, "messageId": message, "sentAt": tx.now().to_string(),
        "emailId": email,
    });
    let conversation = conversation.map(|id| id.to_string());
    outbox::emit(tx, NewEvent { kind: WebhookEvent::EmailTestSent, account, project, conversation, data });
}

/// A recipient's mail server has accepted the message.
pub fn delivered(tx: &mut WriteTx<'_>, mailing: &Mailing, number: u32, recipient: &Recipient) -> Result<()> {
    let person = person::load(tx, mailing, number, recipient)?;
    let email = person.as_ref().map(|person| person.email.as_str());
    let contact = person.as_ref().and_then(|person| person.contact.as_ref()).map(|contact| contact.id);
    let at = tx.now();
    tell(tx, WebhookEvent::EmailDelivered, &Whom { mailing, email, contact }, at, json!({}))
}
