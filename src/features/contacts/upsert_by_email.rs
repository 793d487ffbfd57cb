//! Finds or creates contacts by email.
//!
//! A contact created here is non-subscribed, because another system reported the contact, and the contact did not ask for mail.

use std::collections::HashMap;

use super::profile::ContactProfile;
use super::write::{self, ContactInput, FieldError, NewContactKey, WriteError};
use crate::base::email::EmailAddress;
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::features::contact_records::{self, Changes, Contact, email_index};
use crate::features::tags::TagNumbers;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ContactId, ProjectId};

/// Resolves email addresses to contacts in one project within one command, and collects the changes to contacts.
pub struct ContactResolver<'c> {
    changes: &'c mut Changes,
    /// The results of looking up many addresses together, by the hash of the address: the contact's number, or `None` if no contact
    /// has the address.
    known: HashMap<[u8; 16], Option<u32>>,
    /// The contacts created by this command, by the hash of the address. They are added to the email index only at the end of the command.
    created: HashMap<[u8; 16], u32>,
}

/// The checked data for a new contact.
pub struct NewContact {
    input: ContactInput,
    digest: [u8; 16],
}

/// Runs `act` with a resolver for a project's contacts. If `act` succeeds, writes the changes that it made.
pub fn resolve<T, E: From<Error>>(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    act: impl FnOnce(&mut WriteTx<'_>, &mut ContactResolver<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    contact_records::change(tx, project, |tx, changes| {
        act(tx, &mut ContactResolver { changes, known: HashMap::new(), created: HashMap::new() })
    })
}

/// Returns the data for a new contact after checking that its address and profile are valid.
pub fn new_contact(email: EmailAddress, profile: ContactProfile) -> std::result::Result<NewContact, FieldError> {
    let digest = contact_records::email_digest_of(&email);
    Ok(NewContact { input: profile.into_input(email, Status::NonSubscribed)?, digest })
}

/// Returns the hash that identifies an address in lookups.
pub fn address_digest(email: &EmailAddress) -> [u8; 16] {
    contact_records::email_digest_of(email)
}

impl ContactResolver<'_> {
    /// Looks up many addresses together, which is faster than separate lookups. `find` uses the results.
    pub fn look_up(&mut self, tx: &impl Read, mut digests: Vec<[u8; 16]>) -> Result<()> {
        digests.sort_unstable();
        digests.dedup();
        let numbers = email_index::find_all(tx, self.changes.project(), &digests)?;
        self.known = digests.into_iter().zip(numbers).collect();
        Ok(())
    }

    /// Returns the number of the contact whose address has this hash.
    pub fn find(&self, tx: &impl Read, digest: [u8; 16]) -> Result<Option<u32>> {
        match (self.created.get(&digest), self.known.get(&digest)) {
            (Some(number), _) => Ok(Some(*number)),
            (None, Some(known)) => Ok(*known),
            (None, None) => contact_records::number_by_digest(tx, self.changes.project(), digest),
        }
    }

    /// Creates a contact for an address that does not belong to a contact yet; returns the contact's number.
    pub fn add(&mut self, tx: &mut WriteTx<'_>, new_contact: NewContact) -> Result<u32> {
        let NewContact { input, digest } = new_contact;
        let project = self.changes.project();
        let number = write::next_number(tx, project)?;
        let key = NewContactKey::new(ContactId::numbered(tx.now(), number, tx.random()), digest);
        match write::create(tx, self.changes, &mut TagNumbers::new(project), &key, (input, &[])) {
            Ok(_) => {}
            Err(WriteError::Store(error)) => return Err(error),
            Err(WriteError::Field(_)) => unreachable!("only tags can be refused here, and a new contact has none"),
        }
        self.created.insert(digest, number);
        Ok(number)
    }

    /// Returns the contact before and after applying a profile; returns `None` if the contact does not exist or the profile changes
    /// nothing.
    pub fn becomes(
        &self,
        tx: &WriteTx<'_>,
        number: u32,
        profile: ContactProfile,
    ) -> Result<std::result::Result<Option<(Contact, Contact)>, FieldError>> {
        let Some(before) = contact_records::by_number(tx, self.changes.project(), number)? else { return Ok(Ok(None)) };
        let mut after = before.clone();
        if let Err(refusal) = profile.apply(&mut after) {
            return Ok(Err(refusal));
        }
        let changed = after.differs(&before);
        after.updated_at = tx.now();
        Ok(Ok(changed.then_some((before, after))))
    }

    pub fn replace(&mut self, tx: &mut WriteTx<'_>, (before, after): &(Contact, Contact)) {
        self.changes.replace(tx, before, after);
    }
}
