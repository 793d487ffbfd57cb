//! Deletes contacts, and queues the erasure of all other data about them.

use super::erasure;
use super::webhook_events::{self, Action, Source};
use crate::base::email::EmailAddress;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contact_records::{self, Changes, Contact};
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::tables;

/// Deletes an existing contact, and emits the webhook event.
pub fn delete(tx: &mut WriteTx<'_>, place: (AccountId, ProjectId), contact: &Contact, source: Source) -> Result<()> {
    contact_records::change(tx, place.1, |tx, changes| remove(tx, changes, place.0, contact))?;
    webhook_events::unsubscribed(tx, place, contact, Action::Deleted, source);
    Ok(())
}

/// Deletes an existing contact as one of several changes. The caller emits the webhook event.
pub fn remove(tx: &mut WriteTx<'_>, changes: &mut Changes, account: AccountId, contact: &Contact) -> Result<()> {
    let email = EmailAddress::stored(&contact.email).ok_or_else(|| tx.corrupt(tables::CONTACTS))?;
    erasure::ask(tx, account, changes.project(), contact);
    changes.remove(tx, contact, contact_records::email_digest(&email.normalized()))
}
