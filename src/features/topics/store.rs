//! The tables of topics and of choices, and all access to them.
//!
//! A choice is a contact's number in one of two sets of its topic: chosen in, chosen out. When a contact is deleted its number stays
//! behind in these sets and means nothing: numbers are never used again, and every set is cut to the contacts that exist before
//! anybody sees it.

use roaring::RoaringBitmap;

use super::model::{Topic, TopicDefault};
use crate::engine::store::bits::{self, Block, Delta};
use crate::engine::store::{Order, Read, Result, Table, WriteTx};
use crate::features::contacts;
use crate::features::contacts::Facet;
use crate::vocab::ids::{ProjectId, TopicId};
use crate::vocab::{limits, tables};

const TOPICS: Table<(ProjectId, TopicId), Topic> = Table::new(tables::TOPICS);
const CHOICES: Table<(ProjectId, TopicId, u8, u16), Block> = Table::new(tables::TOPIC_BITS);

/// In [`CHOICES`]: chosen out.
const OUT: u8 = 0;
/// In [`CHOICES`]: chosen in.
const IN: u8 = 1;
/// Blocks of both sets of one topic at their largest.
const BLOCKS_MAX: usize = 2 * (u16::MAX as usize + 1);

/// The topic with this id.
pub fn find(tx: &impl Read, project: ProjectId, id: TopicId) -> Result<Option<Topic>> {
    tx.get(TOPICS, &(project, id))
}

/// Every topic of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Topic>> {
    let rows = tx.list(TOPICS, &TOPICS.under(&(project,)), Order::Forward, limits::TOPICS_PER_PROJECT_MAX)?;
    Ok(rows.into_iter().map(|(_, topic)| topic).collect())
}

/// Put a topic.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, topic: &Topic) {
    tx.put(TOPICS, &(project, topic.id), topic);
}

/// Remove a topic and all choices about it.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: TopicId) -> Result<()> {
    tx.delete(TOPICS, &(project, id));
    tx.delete_span(CHOICES, &CHOICES.under(&(project, id)), BLOCKS_MAX).map(drop)
}

/// What the contact with this number chose; `None` as long as it has not.
pub fn choice(tx: &impl Read, project: ProjectId, id: TopicId, number: u32) -> Result<Option<bool>> {
    for (side, subscribed) in [(IN, true), (OUT, false)] {
        if bits::has(tx, CHOICES, |block| (project, id, side, block), number)? {
            return Ok(Some(subscribed));
        }
    }
    Ok(None)
}

/// Keep a contact's choice.
pub fn choose(tx: &mut WriteTx<'_>, project: ProjectId, id: TopicId, number: u32, subscribed: bool) -> Result<()> {
    if choice(tx, project, id, number)? == Some(subscribed) {
        return Ok(());
    }
    let (to, from) = if subscribed { (IN, OUT) } else { (OUT, IN) };
    let number = RoaringBitmap::from_iter([number]);
    let leave = Delta { remove: number.clone(), ..Delta::default() };
    bits::apply(tx, CHOICES, |block| (project, id, from, block), &leave)?;
    let enter = Delta { add: number, ..Delta::default() };
    bits::apply(tx, CHOICES, |block| (project, id, to, block), &enter)
}

/// Whether the contact with this number gets this topic: its choice, or else the topic's default.
pub fn is_subscribed(tx: &impl Read, project: ProjectId, topic: &Topic, number: u32) -> Result<bool> {
    let chosen = choice(tx, project, topic.id, number)?;
    Ok(chosen.unwrap_or(topic.default_subscription == TopicDefault::OptIn))
}

/// Every contact that gets this topic.
pub fn subscribers(tx: &impl Read, project: ProjectId, topic: &Topic) -> Result<RoaringBitmap> {
    let all = contacts::set(tx, project, Facet::All)?;
    let chosen = |side: u8| bits::load(tx, CHOICES, &(project, topic.id, side));
    Ok(match topic.default_subscription {
        TopicDefault::OptIn => all - chosen(OUT)?,
        TopicDefault::OptOut => all & chosen(IN)?,
    })
}
