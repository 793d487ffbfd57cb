//! The recipient whom a token identifies, with the contact who has the recipient's address, if there is one.

use crate::base::email::EmailAddress;
use crate::engine::store::{Read, Result};
use crate::features::contact_records::{self, Contact};
use crate::features::sending::webhook_events::EventSubject;
use crate::features::sending::{self, Audience, Mailing, Recipient};
use crate::vocab::ids::{AccountId, EmailId, MailingId, ProjectId};

/// A recipient of a mailing, and the contact, if there is one.
#[derive(Clone, Debug)]
pub struct MessageRecipient {
    pub mailing: Mailing,
    /// The number of the recipient row in the mailing.
    pub number: u32,
    pub recipient: Recipient,
    /// The contact in the mailing's project, found by the row's address or, if the row has none, by its number; `None` if there is
    /// no such contact.
    pub contact: Option<Contact>,
}

impl MessageRecipient {
    /// Returns a recipient; returns `None` if the mailing or the recipient row no longer exists.
    pub fn find(tx: &impl Read, mailing: MailingId, number: u32) -> Result<Option<Self>> {
        match sending::by_id(tx, mailing)? {
            Some(mailing) => Self::of(tx, mailing, number),
            None => Ok(None),
        }
    }

    /// Like [`MessageRecipient::find`], for a mailing that is already loaded.
    pub fn of(tx: &impl Read, mailing: Mailing, number: u32) -> Result<Option<Self>> {
        let Some(recipient) = sending::recipient(tx, mailing.id, number)? else { return Ok(None) };
        let contact = match (mailing.project, &recipient.address) {
            (None, _) => None,
            (Some(project), Some(address)) => match EmailAddress::stored(&address.email) {
                Some(email) => contact_records::find_by_email(tx, project, &email.normalized())?,
                None => None,
            },
            (Some(project), None) if mailing.audience != Audience::Addresses => contact_records::by_number(tx, project, number)?,
            (Some(_), None) => None,
        };
        Ok(Some(Self { mailing, number, recipient, contact }))
    }

    /// Returns the recipient's address from the row or, if the row has none, from the contact. Returns `None` if the address was erased.
    pub fn email(&self) -> Option<&str> {
        let given = self.recipient.address.as_ref().map(|address| address.email.as_str());
        given.or(self.contact.as_ref().map(|contact| contact.email.as_str())).filter(|email| !email.is_empty())
    }

    /// Returns the recipient as the subject of a webhook event.
    pub fn subject(&self) -> EventSubject<'_> {
        let contact = self.contact.as_ref().map(|contact| contact.id);
        EventSubject { mailing: &self.mailing, sent_email: self.sent_email(), email: self.email(), contact }
    }

    /// Returns the ID of the email that the recipient received; returns `None` if the content was not a stored email.
    pub fn sent_email(&self) -> Option<EmailId> {
        self.mailing.translation_for(&self.recipient).email
    }

    /// Returns the mailing's account and, if the mailing has a project, the project.
    pub fn owner(&self) -> (AccountId, Option<ProjectId>) {
        (self.mailing.account, self.mailing.project)
    }

    /// Returns the project and address of a recipient who is not a contact in the project.
    pub fn noncontact(&self) -> Option<(ProjectId, EmailAddress)> {
        let (project, address) = (self.mailing.project?, self.recipient.address.as_ref()?);
        self.contact.is_none().then(|| EmailAddress::stored(&address.email))?.map(|email| (project, email))
    }

    /// Returns the contact with its account and project.
    pub fn contact(&self) -> Option<((AccountId, ProjectId), &Contact)> {
        Some(((self.mailing.account, self.mailing.project?), self.contact.as_ref()?))
    }
}
