//! Changes whether a contact may be mailed, at the contact's request or because the contact's mail server rejected a message.
//!
//! Repeating a change has no effect and emits no webhook event. Of these changes, only bounces are subject to [`Status::keeps`]. This file
//! does not depend on the channel through which a request arrived.

use super::webhook_events::{self, Action, Source};
use crate::engine::store::{Error, Result, WriteTx};
use crate::features::contact_records::{self, ChangeOrigin, Contact};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ProjectId};

/// Unsubscribes a contact. Returns whether the contact's status changed; emits a webhook event only if it did.
pub fn unsubscribe(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), contact: &Contact, source: Source) -> Result<bool> {
    let Some(after) = put(tx, place.1, contact, Status::Unsubscribed)? else { return Ok(false) };
    webhook_events::unsubscribed(tx, place, &after, Action::Unsubscribed, source);
    Ok(true)
}

/// Marks a contact as bounced. Returns whether the contact's status changed. An unsubscribed contact stays unsubscribed.
pub fn bounce(tx: &mut WriteTx<'_>, project: ProjectId, contact: &Contact) -> Result<bool> {
    if contact.status.keeps(Status::Bounced, ChangeOrigin::Incidental).is_some() {
        return Ok(false);
    }
    Ok(put(tx, project, contact, Status::Bounced)?.is_some())
}

/// Resubscribes an unsubscribed contact at the contact's own request. No webhook event is emitted (`assets/docs/contacts.md`).
pub fn resubscribe(tx: &mut WriteTx<'_>, project: ProjectId, contact: &Contact) -> Result<bool> {
    if contact.status != Status::Unsubscribed {
        return Ok(false);
    }
    Ok(put(tx, project, contact, Status::Subscribed)?.is_some())
}

/// Emits the event for a contact that unsubscribed from one topic. The topics feature stores the contact's choice.
pub fn leave_topic(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), contact: &Contact, source: Source) {
    webhook_events::unsubscribed(tx, place, contact, Action::TopicLeft, source);
}

fn put(tx: &mut WriteTx<'_>, project: ProjectId, before: &Contact, status: Status) -> Result<Option<Contact>> {
    let mut after = before.clone();
    after.set_status(status, tx.now());
    if !after.differs(before) {
        return Ok(None);
    }
    after.updated_at = tx.now();
    contact_records::change(tx, project, |tx, changes| {
        changes.replace(tx, before, &after);
        Ok::<_, Error>(())
    })?;
    Ok(Some(after))
}
