//! Decides whether a message may be sent to a recipient now, based on the contact's status, the topic and the suppression list.
//!
//! The handoff transaction repeats this check, so a recipient who unsubscribes while a campaign message is waiting does not receive it.
//! Transactional messages still reach unsubscribed contacts.

use super::merge_data::RecipientProfile;
use super::model::{Mailing, Skip};
use crate::base::email::EmailAddress;
use crate::engine::store::{Read, Result};
use crate::features::suppressions::{self, Digester};
use crate::features::topics::{self, Topic};
use crate::vocab::contact_status::Status;

/// Returns why this recipient is skipped, or `None` if a message may be sent.
pub fn skip_reason(
    tx: &impl Read,
    digester: &Digester,
    mailing: &Mailing,
    topic: Option<&Topic>,
    profile: &RecipientProfile,
) -> Result<Option<Skip>> {
    let Ok(email) = EmailAddress::parse(&profile.email) else { return Ok(Some(Skip::InvalidAddress)) };
    if let Some(contact) = &profile.contact {
        if let Some(skip) = by_status(contact.status, mailing.transactional) {
            return Ok(Some(skip));
        }
        if let (Some(topic), Some(project), false) = (topic, mailing.project, mailing.transactional)
            && !topics::is_subscribed(tx, project, topic, contact.id.number())?
        {
            return Ok(Some(Skip::TopicUnsubscribed));
        }
    }
    let reason = suppressions::reason(tx, digester, mailing.account, &email.normalized())?;
    Ok(reason.filter(|reason| !mailing.transactional || reason.stops_transactional()).map(|_| Skip::Suppressed))
}

/// Returns why contacts with this status are skipped, or `None` if messages may be sent to them.
pub fn by_status(status: Status, transactional: bool) -> Option<Skip> {
    match status {
        Status::Bounced => Some(Skip::Bounced),
        Status::Unsubscribed if !transactional => Some(Skip::Unsubscribed),
        Status::NonSubscribed if !transactional => Some(Skip::NotSubscribed),
        Status::Subscribed | Status::Unsubscribed | Status::NonSubscribed => None,
    }
}
