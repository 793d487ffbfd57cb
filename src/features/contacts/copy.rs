//! Copies contacts to the live environment: a batch is read in one environment and merged by email in the other.
//!
//! The rules are those of an import: given values replace existing ones, and a contact that has unsubscribed stays unsubscribed.

use super::batch::{self, Batch, Counts, OnConflict};
use super::webhook_events::Source;
use super::write::ContactInput;
use crate::base::email::EmailAddress;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contact_records;
use crate::features::contact_sets::{self, Facet};
use crate::features::tags::{TagName, TagNames};
use crate::features::topics;
use crate::vocab::ids::{AccountId, ProjectId, TopicId};

/// A batch of contacts.
#[derive(Default)]
pub struct ContactsCopy {
    rows: Vec<(u32, ContactInput)>,
    /// The contacts' explicit choices of topics: the hash of the email, the topic, and the choice.
    choices: Vec<([u8; 16], TopicId, bool)>,
    /// The number after which the next batch starts; `None` at the end.
    pub next: Option<u32>,
}

/// Returns the number of contacts in a project.
pub fn count(tx: &impl Read, project: ProjectId) -> Result<u64> {
    contact_sets::count(tx, project, Facet::All)
}

impl ContactsCopy {
    /// Reads up to `limit` contacts with a number greater than `after`.
    pub fn read(tx: &impl Read, project: ProjectId, after: Option<u32>, limit: usize) -> Result<Self> {
        let all = contact_sets::set(tx, project, Facet::All)?;
        let from = after.map_or(Some(0), |after| after.checked_add(1));
        let mut numbers: Vec<u32> = from.into_iter().flat_map(|from| all.range(from..)).take(limit + 1).collect();
        let mut copy = Self::default();
        if numbers.len() > limit {
            numbers.truncate(limit);
            copy.next = numbers.last().copied();
        }
        let topics = topics::all(tx, project)?;
        let mut names = TagNames::new(tx, project);
        for number in numbers {
            let Some(contact) = contact_records::by_number(tx, project, number)? else { continue };
            let Ok(email) = EmailAddress::parse(&contact.email) else { continue };
            let digest = contact_records::email_digest_of(&email);
            for topic in &topics {
                let choice = topics::choice(tx, project, topic.id, number)?;
                copy.choices.extend(choice.map(|choice| (digest, topic.id, choice)));
            }
            let tags = names.of(&contact.tags)?;
            let input = ContactInput {
                email,
                profile: contact.profile,
                tags: tags.iter().filter_map(|name| TagName::parse(name).ok()).collect(),
                custom_fields: contact.custom_fields,
                status: Some(contact.status),
            };
            copy.rows.push((number, input));
        }
        Ok(copy)
    }

    /// Merges the contacts into a project; `topic` returns the copy of a topic.
    pub fn write(
        self,
        tx: &mut WriteTx<'_>,
        (account, project): (AccountId, ProjectId),
        source: Source,
        topic: impl Fn(TopicId) -> Option<TopicId>,
    ) -> Result<Counts> {
        let outcome = batch::apply(tx, (account, project), Batch::new(self.rows), (OnConflict::Upsert, &[]), source)?;
        for (digest, chosen, choice) in self.choices {
            let contact = contact_records::number_by_digest(tx, project, digest)?;
            if let (Some(contact), Some(topic)) = (contact, topic(chosen)) {
                topics::choose(tx, project, topic, contact, choice)?;
            }
        }
        Ok(outcome.counts)
    }
}
