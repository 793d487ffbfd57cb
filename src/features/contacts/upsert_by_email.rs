//! Find or create contacts by email: the contact that an address belongs to, or a new one.
//!
//! A contact created here is not subscribed: another system named it, and it never asked for mail.

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

/// Resolves addresses of one project to contacts within one command, and collects the changes to them.
pub struct ContactResolver<'c> {
    changes: &'c mut Changes,
    /// The contacts of the addresses that were looked up together.
    known: HashMap<[u8; 16], Option<u32>>,
    /// Contacts created here: they are not in the index until the command is done.
    created: HashMap<[u8; 16], u32>,
}

/// A contact that can be created: its fields are checked.
pub struct NewContact {
    input: ContactInput,
    digest: [u8; 16],
}

/// Resolve contacts of a project; the changes that `act` makes are written once it succeeds.
pub fn resolve<T, E: From<Error>>(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    act: impl FnOnce(&mut WriteTx<'_>, &mut ContactResolver<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    store::change(tx, project, |tx, changes| {
        act(tx, &mut ContactResolver { changes, known: HashMap::new(), created: HashMap::new() })
    })
}

/// Everything that can be said against a new contact with this address and profile.
pub fn new_contact(email: EmailAddress, profile: ContactProfile) -> std::result::Result<NewContact, FieldError> {
    let digest = store::email_digest_of(&email);
    Ok(NewContact { input: profile.into_input(email, Status::NonSubscribed)?, digest })
}

/// What an address is looked up by.
pub fn address_digest(email: &EmailAddress) -> [u8; 16] {
    store::email_digest_of(email)
}

impl ContactResolver<'_> {
    /// Look up many addresses at once, which takes less than one after the other.
    pub fn look_up(&mut self, tx: &impl Read, mut digests: Vec<[u8; 16]>) -> Result<()> {
        digests.sort_unstable();
        digests.dedup();
        let numbers = email_index::find_all(tx, self.changes.project(), &digests)?;
        self.known = digests.into_iter().zip(numbers).collect();
        Ok(())
    }

    /// The number of the contact whose address has this digest.
    pub fn find(&self, tx: &impl Read, digest: [u8; 16]) -> Result<Option<u32>> {
        match (self.created.get(&digest), self.known.get(&digest)) {
            (Some(number), _) => Ok(Some(*number)),
            (None, Some(known)) => Ok(*known),
            (None, None) => store::number_by_digest(tx, self.changes.project(), digest),
        }
    }

    /// Make a contact whose address has none.
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

    /// What a contact becomes by a profile; `None` if it stays as it is.
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

    /// Replace a contact by what it becomes.
    pub fn replace(&mut self, tx: &mut WriteTx<'_>, (before, after): &(Contact, Contact)) {
        self.changes.replace(tx, before, after);
    }
}
