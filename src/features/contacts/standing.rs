//! Whether a contact may be mailed, as others change it: the contact's own word, or its mail server's.
//!
//! Each change is made once, told at most once, and asked of the rules of [`Status::keeps`]. It does not know how the word came in.

use super::model::{Ask, Contact, Status};
use super::notices::{self, Action, Source};
use super::store;
use crate::engine::store::{Error, Result, WriteTx};
use crate::vocab::ids::{AccountId, ProjectId};

/// The contact does not want mail any more. Says whether that is news; only news are told.
pub fn unsubscribe(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), contact: &Contact, source: Source) -> Result<bool> {
    let Some(after) = put(tx, place.1, contact, Status::Unsubscribed)? else { return Ok(false) };
    notices::unsubscribed(tx, place, &after, Action::Unsubscribed, source);
    Ok(true)
}

/// The contact's address does not take mail. Says whether that is news. An unsubscribed contact stays unsubscribed.
pub fn bounce(tx: &mut WriteTx<'_>, project: ProjectId, contact: &Contact) -> Result<bool> {
    if contact.status.keeps(Status::Bounced, Ask::Incidental).is_some() {
        return Ok(false);
    }
    Ok(put(tx, project, contact, Status::Bounced)?.is_some())
}

/// Resubscribe a contact who had unsubscribed, on the contact's own request. No webhook event exists for this
/// (`assets/docs/contacts.md`).
pub fn resubscribe(tx: &mut WriteTx<'_>, project: ProjectId, contact: &Contact) -> Result<bool> {
    if contact.status != Status::Unsubscribed {
        return Ok(false);
    }
    Ok(put(tx, project, contact, Status::Subscribed)?.is_some())
}

/// The contact has left one topic. The choice itself is kept by topics.
pub fn leave_topic(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), contact: &Contact, source: Source) {
    notices::unsubscribed(tx, place, contact, Action::TopicLeft, source);
}

fn put(tx: &mut WriteTx<'_>, project: ProjectId, before: &Contact, status: Status) -> Result<Option<Contact>> {
    let mut after = before.clone();
    after.set_status(status, tx.now());
    if !after.differs(before) {
        return Ok(None);
    }
    after.updated_at = tx.now();
    store::change(tx, project, |tx, changes| {
        changes.replace(tx, before, &after);
        Ok::<_, Error>(())
    })?;
    Ok(Some(after))
}
