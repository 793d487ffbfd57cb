//! Unsubscribing and choosing topics. Only this module applies recipients' own requests, whether they come from a page, an email client's
//! unsubscribe button, an email or a mail service.
//!
//! If a mailing has a topic and the recipient is a contact, the unsubscribe button of an email client unsubscribes from that topic, which
//! is the list in the sense of RFC 8058; the unsubscribe page also has a button to unsubscribe from all mail. Otherwise, unsubscribing
//! applies to all mail.

use super::bounces::{self, SuppressionList};
use super::pages::Choice;
use super::recipient::MessageRecipient;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contacts::{Source, subscription};
use crate::features::engagement::{self, Measure};
use crate::features::sending;
use crate::features::suppressions::{self, Reason};
use crate::features::topics::{self, Topic, TopicVisibility};
use crate::vocab::contact_status::Status;
use crate::vocab::ids::TopicId;

/// The mail that the recipient unsubscribes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The mailing's topic, if the topic still exists and the recipient is a contact; otherwise, all mail.
    List,
    Everything,
}

/// Returns the topic for [`Scope::List`]; returns `None` if this scope covers all mail.
pub fn list(tx: &impl Read, recipient: &MessageRecipient) -> Result<Option<Topic>> {
    let (Some(project), Some(topic), Some(_)) = (recipient.mailing.project, recipient.mailing.topic, &recipient.contact) else {
        return Ok(None);
    };
    topics::look_up(tx, project, topic)
}

/// Unsubscribes a recipient. A repeated unsubscribe changes no data and emits no event.
pub fn leave(
    tx: &mut WriteTx<'_>,
    suppressed: &SuppressionList,
    recipient: &MessageRecipient,
    scope: Scope,
    source: Source,
) -> Result<()> {
    // Only a reader of the message has the token, so the message was delivered.
    sending::evidence(tx, recipient.mailing.id, recipient.number, "unsubscribing")?;
    let topic = if scope == Scope::List { list(tx, recipient)? } else { None };
    let is_news = match (recipient.contact(), topic) {
        (Some((place, contact)), Some(topic)) => {
            let number = contact.id.number();
            let was_in = topics::is_subscribed(tx, place.1, &topic, number)?;
            topics::choose(tx, place.1, topic.id, number, false)?;
            if was_in {
                subscription::leave_topic(tx, place, contact, source);
            }
            was_in
        }
        (Some((place, contact)), None) => subscription::unsubscribe(tx, place, contact, source)?,
        // The recipient is not a contact, so unsubscribing adds the address to the suppression list.
        (None, _) if suppressed.has(tx, recipient)? => false,
        (None, _) => {
            suppressed.add(tx, recipient, (Reason::Unsubscribe, suppressions::Source::Recipient), None)?;
            true
        }
    };
    if is_news {
        note(tx, recipient)?;
    }
    Ok(())
}

/// Records the unsubscribe, once per message.
pub fn note(tx: &mut WriteTx<'_>, recipient: &MessageRecipient) -> Result<()> {
    let (id, number) = (recipient.mailing.id, recipient.number);
    let mut engagement = engagement::of(tx, id, number)?;
    if engagement.unsubscribed_at.is_none() {
        engagement.unsubscribed_at = Some(tx.now());
        engagement::save(tx, id, number, &engagement);
        bounces::count(tx, recipient, Measure::Unsubscribes)?;
    }
    Ok(())
}

/// Returns the active topics that a recipient can choose from: public topics, and private topics to which the recipient is subscribed.
pub fn choices(tx: &impl Read, recipient: &MessageRecipient) -> Result<Vec<Choice>> {
    let Some(((_, project), contact)) = recipient.contact() else { return Ok(Vec::new()) };
    let mut shown = Vec::new();
    for topic in topics::all(tx, project)? {
        let chosen = topics::is_subscribed(tx, project, &topic, contact.id.number())?;
        if topic.is_active && (topic.visibility == TopicVisibility::Public || chosen) {
            shown.push(topic_choice(topic, chosen));
        }
    }
    shown.sort_by(|(left, _), (right, _)| left.cmp(right));
    Ok(shown.into_iter().map(|(_, choice)| choice).collect())
}

fn topic_choice(topic: Topic, chosen: bool) -> ((u64, String), Choice) {
    let place = (topic.display_order, topic.name.clone());
    (place, Choice { id: topic.id, name: topic.name, description: topic.description, chosen })
}

/// Saves a recipient's choices: subscribes the recipient to the topics in `wanted`, and unsubscribes the recipient from all other topics on
/// the page. If `returns` is true, also resubscribes an unsubscribed recipient.
pub fn choose(tx: &mut WriteTx<'_>, recipient: &MessageRecipient, wanted: &[TopicId], returns: bool) -> Result<()> {
    let Some((place, contact)) = recipient.contact() else { return Ok(()) };
    sending::evidence(tx, recipient.mailing.id, recipient.number, "a choice of topics")?;
    for choice in choices(tx, recipient)? {
        let chosen = wanted.contains(&choice.id);
        if chosen != choice.chosen {
            topics::choose(tx, place.1, choice.id, contact.id.number(), chosen)?;
        }
    }
    if returns && contact.status == Status::Unsubscribed {
        subscription::resubscribe(tx, place.1, contact)?;
    }
    Ok(())
}
