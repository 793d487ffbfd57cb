//! Whether a recipient may be sent to now, by everything in the store: status, topic, suppression list.
//!
//! Checked again in the transaction of the handoff: a recipient who unsubscribed before it is not sent to, however long the message waited.

use super::merge_data::RecipientProfile;
use super::model::{Mailing, Skip};
use crate::base::email::EmailAddress;
use crate::engine::store::{Read, Result};
use crate::features::contacts::Status;
use crate::features::suppressions::{self, Digester};
use crate::features::topics::{self, Topic};

/// Returns why this recipient is skipped; `None` if it is not.
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
    let reason = suppressions::reason(tx, digester, mailing.account, &email.normalised())?;
    Ok(reason.filter(|reason| !mailing.transactional || reason.stops_transactional()).map(|_| Skip::Suppressed))
}

/// Returns why contacts with this status are skipped.
pub fn by_status(status: Status, transactional: bool) -> Option<Skip> {
    match status {
        Status::Bounced => Some(Skip::Bounced),
        Status::Unsubscribed if !transactional => Some(Skip::Unsubscribed),
        Status::NonSubscribed if !transactional => Some(Skip::NotSubscribed),
        Status::Subscribed | Status::Unsubscribed | Status::NonSubscribed => None,
    }
}
