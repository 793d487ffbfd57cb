//! Evaluates a filter for one contact, without a store. Tests use it as the reference for the planner.

use super::activity::ActivityTest;
use super::check::{Field, FieldTest, Filter, Node};
use super::compare::RowValue;
use super::event::EventTest;
use super::tree::Validation;
use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Result};
use crate::features::contact_records::Contact;
use crate::features::contact_records::activity::Activity;
use crate::features::contact_records::fields::FieldValue;
use crate::features::{tags, topics};
use crate::vocab::ids::{ProjectId, TagId, TopicId};

/// The data about one contact that a filter can test.
#[derive(Clone, Copy, Debug)]
pub struct ContactFacts<'a> {
    pub contact: &'a Contact,
    /// The contact's tags, excluding deleted tags.
    pub tags: &'a [TagId],
    /// The topics that the contact is subscribed to.
    pub topics: &'a [TopicId],
    /// All activity recorded for the contact.
    pub activity: &'a [Activity],
    /// All events reported for the contact.
    pub events: &'a [EventFact],
    pub now: Timestamp,
}

/// The data of an event that filters test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFact {
    /// The name of the event, folded.
    pub name: String,
    pub at: Timestamp,
}

/// Returns the IDs of a contact's tags, excluding deleted tags.
pub fn tag_ids(tx: &impl Read, project: ProjectId, contact: &Contact) -> Result<Vec<TagId>> {
    let mut ids = Vec::with_capacity(contact.tags.len());
    for number in &contact.tags {
        ids.extend(tags::by_number(tx, project, *number)?.map(|tag| tag.id));
    }
    Ok(ids)
}

/// Returns the IDs of the topics that a contact is subscribed to.
pub fn topic_ids(tx: &impl Read, project: ProjectId, contact: &Contact) -> Result<Vec<TopicId>> {
    let mut ids = Vec::new();
    for topic in topics::all(tx, project)? {
        if topics::is_subscribed(tx, project, &topic, contact.id.number())? {
            ids.push(topic.id);
        }
    }
    Ok(ids)
}

impl Filter {
    pub fn matches(&self, facts: &ContactFacts<'_>) -> bool {
        self.root.holds(facts)
    }
}

impl Node {
    fn holds(&self, facts: &ContactFacts<'_>) -> bool {
        match self {
            Node::All(nodes) => nodes.iter().all(|node| node.holds(facts)),
            Node::Any(nodes) => nodes.iter().any(|node| node.holds(facts)),
            Node::Tagged(ids) => ids.iter().any(|id| facts.tags.contains(id)),
            Node::Untagged(ids) => !ids.iter().any(|id| facts.tags.contains(id)),
            Node::Topics(ids) => ids.iter().any(|id| facts.topics.contains(id)),
            Node::NoTopics(ids) => !ids.iter().any(|id| facts.topics.contains(id)),
            Node::Status(statuses) => statuses.contains(&facts.contact.status),
            Node::Validation(wanted) => *wanted == Validation::Unknown,
            Node::Created(period) => period.contains(facts.contact.created_at),
            Node::Updated(period) => period.contains(facts.contact.updated_at),
            Node::Field(test) => test.holds(facts.contact),
            Node::Activity(test) => test.holds(facts),
            Node::Event(test) => test.holds(facts),
        }
    }
}

impl FieldTest {
    fn holds(&self, contact: &Contact) -> bool {
        let text = |text: Option<&String>| text.is_some_and(|text| self.test.holds(RowValue::Text(text.as_bytes())));
        let found = match &self.field {
            Field::Email => text(Some(&contact.email)),
            Field::Profile(field) => text(contact.profile.get(*field)),
            Field::Custom(name) => match contact.custom_fields.get(name) {
                Some(FieldValue::List(items)) => items.iter().any(|item| self.value_holds(item)),
                Some(value) => self.value_holds(value),
                None => false,
            },
        };
        found != self.negated
    }

    fn value_holds(&self, value: &FieldValue) -> bool {
        let piece = match value {
            FieldValue::Bool(flag) => RowValue::Bool(*flag),
            FieldValue::Whole(number) => RowValue::Whole(*number),
            FieldValue::Number(number) => RowValue::Number(*number),
            FieldValue::Text(text) => RowValue::Text(text.as_bytes()),
            FieldValue::Null | FieldValue::List(_) | FieldValue::Map(_) => return false,
        };
        self.test.holds(piece)
    }
}

impl EventTest {
    fn holds(&self, facts: &ContactFacts<'_>) -> bool {
        let period = self.period(facts.now);
        facts.events.iter().any(|event| event.name == self.name && period.contains(event.at)) == self.wanted
    }
}

impl ActivityTest {
    fn holds(&self, facts: &ContactFacts<'_>) -> bool {
        let (period, wanted) = self.period(facts.now);
        let counts = |activity: &Activity| {
            activity.action == self.action
                && (self.campaign.is_none() || activity.campaign == self.campaign)
                && period.contains(activity.at)
        };
        facts.activity.iter().any(counts) == wanted
    }
}
