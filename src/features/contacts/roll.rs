//! Contacts by their addresses for callers that make some on the way: whom an address belongs to, and a contact for one that has none.
//!
//! A contact made here can be mailed by nobody: it was named by somebody else and never asked for mail.

use std::collections::HashMap;

use super::emails;
use super::intake::{self, Birth, Denied, Refusal, Statement};
use super::model::{Contact, Status};
use super::profile::Profile;
use super::store::{self, Changes};
use super::tags::Numbers;
use crate::base::email::EmailAddress;
use crate::engine::store::{Error, Read, Result, WriteTx};
use crate::vocab::ids::{ContactId, ProjectId};

/// The addresses of one project, and what one command does with its contacts.
pub struct Roll<'c> {
    changes: &'c mut Changes,
    /// Whose the addresses are that were asked for at once.
    known: HashMap<[u8; 16], Option<u32>>,
    /// Those that were made here: they are not in the index before the command is done.
    born: HashMap<[u8; 16], u32>,
}

/// A contact that can be made: everything about it is checked.
pub struct Newcomer {
    statement: Statement,
    digest: [u8; 16],
}

/// Call the roll of a project; what `act` does with its contacts is written when it has succeeded.
pub fn call<T, E: From<Error>>(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    act: impl FnOnce(&mut WriteTx<'_>, &mut Roll<'_>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    store::change(tx, project, |tx, changes| act(tx, &mut Roll { changes, known: HashMap::new(), born: HashMap::new() }))
}

/// Everything that can be said against a new contact with this address and profile.
pub fn newcomer(email: EmailAddress, profile: Profile) -> std::result::Result<Newcomer, Refusal> {
    let digest = store::email_digest_of(&email);
    Ok(Newcomer { statement: profile.statement(email, Status::NonSubscribed)?, digest })
}

/// What an address is looked up by.
pub fn address_digest(email: &EmailAddress) -> [u8; 16] {
    store::email_digest_of(email)
}

impl Roll<'_> {
    /// Look up many addresses at once, which takes less than one after the other.
    pub fn look_up(&mut self, tx: &impl Read, mut digests: Vec<[u8; 16]>) -> Result<()> {
        digests.sort_unstable();
        digests.dedup();
        let numbers = emails::find_all(tx, self.changes.project(), &digests)?;
        self.known = digests.into_iter().zip(numbers).collect();
        Ok(())
    }

    /// The number of the contact whose address has this digest.
    pub fn find(&self, tx: &impl Read, digest: [u8; 16]) -> Result<Option<u32>> {
        match (self.born.get(&digest), self.known.get(&digest)) {
            (Some(number), _) => Ok(Some(*number)),
            (None, Some(known)) => Ok(*known),
            (None, None) => store::number_by_digest(tx, self.changes.project(), digest),
        }
    }

    /// Make a contact whose address has none.
    pub fn add(&mut self, tx: &mut WriteTx<'_>, newcomer: Newcomer) -> Result<u32> {
        let Newcomer { statement, digest } = newcomer;
        let project = self.changes.project();
        let number = intake::next_number(tx, project)?;
        let birth = Birth { id: ContactId::numbered(tx.now(), number, tx.random()), digest };
        match intake::create(tx, self.changes, &mut Numbers::new(project), &birth, (statement, &[])) {
            Ok(_) => {}
            Err(Denied::Store(error)) => return Err(error),
            Err(Denied::Row(_)) => unreachable!("only tags can be refused here, and a newcomer has none"),
        }
        self.born.insert(digest, number);
        Ok(number)
    }

    /// What a contact becomes by a profile; `None` if it stays as it is.
    pub fn becomes(
        &self,
        tx: &WriteTx<'_>,
        number: u32,
        profile: Profile,
    ) -> Result<std::result::Result<Option<(Contact, Contact)>, Refusal>> {
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
