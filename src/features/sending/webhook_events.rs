//! Webhook events about messages: events for test sends, and engagement events for webhooks that subscribe to them.
//!
//! A campaign can cause hundreds of thousands of engagement events, so they are written only if a webhook subscribes to them. The check
//! costs one read.

use serde_json::{Value, json};

use super::merge_data;
use super::model::{Mailing, MailingKind, Recipient};
use crate::base::clock::Timestamp;
use crate::engine::outbox::{self, NewEvent};
use crate::engine::store::{Read, Result, WriteTx};
use crate::vocab::ids::{ContactId, EmailId};
use crate::vocab::webhook_events::WebhookEvent;

/// The recipient to whom an event relates.
pub struct EventSubject<'a> {
    pub mailing: &'a Mailing,
    /// The email that the recipient received, if it is a stored email.
    pub sent_email: Option<EmailId>,
    /// The recipient's address, unless it was erased.
    pub email: Option<&'a str>,
    pub contact: Option<ContactId>,
}

/// Returns whether a webhook subscribes to this kind of event. Returns false for test sends, because only their authors read them.
pub fn is_wanted(tx: &impl Read, mailing: &Mailing, kind: WebhookEvent) -> Result<bool> {
    Ok(mailing.kind != MailingKind::Test && outbox::is_wanted(tx, mailing.account, kind)?)
}

/// Emits the event if a webhook subscribes to it. `more` contains the fields that are specific to the kind of event.
pub fn emit(tx: &mut WriteTx<'_>, kind: WebhookEvent, subject: &EventSubject<'_>, at: Timestamp, more: Value) -> Result<()> {
    let EventSubject { mailing, sent_email, email, contact } = subject;
    if !is_wanted(tx, mailing, kind)? {
        return Ok(());
    }
    let send = if mailing.kind.is_group() { "batchId" } else { "sendId" };
    let mut data = json!({
        send: mailing.id, "projectId": mailing.project, "campaignId": mailing.kind.campaign(), "emailId": sent_email,
        "conversationId": mailing.conversation, "subscriberId": contact, "email": email, "occurredAt": at.to_string(),
    });
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    let conversation = mailing.conversation.map(|id| id.to_string());
    outbox::emit(tx, NewEvent { kind, account: mailing.account, project: mailing.project, conversation, data });
    Ok(())
}

/// Emits the event for a test send.
pub fn email_tested(tx: &mut WriteTx<'_>, mailing: &Mailing, recipient: &Recipient) {
    let Mailing { account, project, conversation, .. } = *mailing;
    let address = recipient.address.as_ref().map(|address| &address.email);
    let data = json!({
        "conversationId": conversation, "recipient": address, "messageId": mailing.id, "sentAt": tx.now().to_string(),
        "emailId": mailing.translation_for(recipient).email,
    });
    let conversation = conversation.map(|id| id.to_string());
    outbox::emit(tx, NewEvent { kind: WebhookEvent::EmailTestSent, account, project, conversation, data });
}

/// Emits the event for a message that the next mail server accepted.
pub fn delivered(tx: &mut WriteTx<'_>, mailing: &Mailing, number: u32, recipient: &Recipient) -> Result<()> {
    let profile = merge_data::load(tx, mailing, number, recipient)?;
    let email = profile.as_ref().map(|profile| profile.email.as_str());
    let contact = profile.as_ref().and_then(|profile| profile.contact.as_ref()).map(|contact| contact.id);
    let at = tx.now();
    let sent_email = mailing.translation_for(recipient).email;
    emit(tx, WebhookEvent::EmailDelivered, &EventSubject { mailing, sent_email, email, contact }, at, json!({}))
}
