//! Finds or creates contacts by email.
//!
//! A contact created here is non-subscribed: another system reported it, and it never asked for mail.

use std::collections::HashMap;

use super::email_index;
use super::model::{Contact, Status};
use super::profile::ContactProfile;
use super::store::{self, Changes};
use super::tags::TagNumbers;
use super::write::{self, ContactInput, FieldError, NewContactKey, WriteError};
use crate::base::email::EmailAddress;
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::vocab::ids::{ContactId, ProjectId};

/// Resolves addresses to contacts of one project within one command, and collects the changes.
pub struct ContactResolver<'c> {
    changes: &'c mut Changes,
    /// The contacts of the addresses that were looked up together.
    known: HashMap<[u8; 16], Option<u32>>,
    /// Contacts created here. They are in the index only once the command is done.
    created: HashMap<[u8; 16], u32>,
}

/// A contact that can be created, with checked fields.
pub struct NewContact {
    input: ContactInput,
    digest: [u8; 16],
}

/// Resolves contacts of a project. The changes that `act` makes are written once it succeeds.
pub fn resolve<T, E: From<Error>>(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    act: impl FnOnce(&mut WriteTx<'_>, &mut ContactResolver<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    store::change(tx, project, |tx, changes| {
        act(tx, &mut ContactResolver { changes, known: HashMap::new(), created: HashMap::new() })
    })
}

/// Checks everything that could make a new contact with this address and profile invalid.
pub fn new_contact(email: EmailAddress, profile: ContactProfile) -> std::result::Result<NewContact, FieldError> {
    let digest = store::email_digest_of(&email);
    Ok(NewContact { input: profile.into_input(email, Status::NonSubscribed)?, digest })
}

/// Returns the key to look up an address by.
pub fn address_digest(email: &EmailAddress) -> [u8; 16] {
    store::email_digest_of(email)
}

impl ContactResolver<'_> {
    /// Looks up many addresses together, which is faster than one by one.
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
            (None, None) => store::number_by_digest(tx, self.changes.project(), digest),
        }
    }

    /// Creates a contact for an address that has none.
    pub fn add(&mut self, tx: &mut WriteTx<'_>, new_contact: NewContact) -> Result<u32> {
        let NewContact { input, digest } = new_contact;
        let project = self.changes.project();
        let number = write::next_number(tx, project)?;
        let key = NewContactKey { id: ContactId::numbered(tx.now(), number, tx.random()), digest };
        match write::create(tx, self.changes, &mut TagNumbers::new(project), &key, (input, &[])) {
            Ok(_) => {}
            Err(WriteError::Store(error)) => return Err(error),
            Err(WriteError::Field(_)) => unreachable!("only tags can be refused here, and a new contact has none"),
        }
        self.created.insert(digest, number);
        Ok(number)
    }

    /// Returns the contact before and after applying a profile; `None` if nothing changes.
    pub fn becomes(
        &self,
        tx: &WriteTx<'_>,
        number: u32,
        profile: ContactProfile,
    ) -> Result<std::result::Result<Option<(Contact, Contact)>, FieldError>> {
        let Some(before) = store::by_number(tx, self.changes.project(), number)? else { return Ok(Ok(None)) };
        let mut after = before.clone();
        if let Err(refusal) = profile.apply(&mut after) {
            return Ok(Err(refusal));
        }
        let changed = after.differs(&before);
        after.updated_at = tx.now();
        Ok(Ok(changed.then_some((before, after))))
    }

    /// Replaces a contact with its changed version.
    pub fn replace(&mut self, tx: &mut WriteTx<'_>, (before, after): &(Contact, Contact)) {
        self.changes.replace(tx, before, after);
    }
}
