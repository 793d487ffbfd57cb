//! Topics and the contacts' choices: their tables, and all access to them.
//!
//! It is part of contacts because filters can select the subscribers of a topic; `features/topics` defines what topics are and adds the
//! endpoints. A choice is a contact's number in one of the topic's two sets: opted in or opted out. The number of a deleted contact stays
//! in these sets without effect: numbers are never reused, and every set is restricted to existing contacts before it is used.

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::{self, Facet, add_count};
use crate::base::clock::Timestamp;
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::{Order, Read, Record, Result, Table, WriteTx};
use crate::vocab::ids::{ProjectId, TopicId};
use crate::vocab::{limits, tables};

const TOPICS: Table<(ProjectId, TopicId), Topic> = Table::new(tables::TOPICS);
const CHOICES: Table<(ProjectId, TopicId, u8, u16), Block> = Table::new(tables::TOPIC_BITS);

/// In [`CHOICES`]: opted out.
const OUT: u8 = 0;
/// In [`CHOICES`]: opted in.
const IN: u8 = 1;
/// The maximum number of blocks of both sets of one topic.
const BLOCKS_MAX: usize = 2 * (u16::MAX as usize + 1);

/// A topic as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topic {
    pub id: TopicId,
    pub name: String,
    pub description: Option<String>,
    pub default_subscription: TopicDefault,
    pub visibility: TopicVisibility,
    pub display_order: u64,
    pub is_active: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Topic {}

/// Whether a contact that has not chosen is subscribed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopicDefault {
    /// Subscribed: the contact gets the topic until it opts out.
    OptIn,
    /// Not subscribed: the contact gets the topic only once it opts in.
    #[default]
    OptOut,
}

/// Which contacts see a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopicVisibility {
    /// Contacts see it among their choices.
    Public,
    /// Contacts see it only if they are subscribed to it.
    #[default]
    Private,
}

/// Returns the topic with this id.
pub fn find(tx: &impl Read, project: ProjectId, id: TopicId) -> Result<Option<Topic>> {
    tx.get(TOPICS, &(project, id))
}

/// Returns every topic of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Topic>> {
    let rows = tx.list(TOPICS, &TOPICS.under(&(project,)), Order::Forward, limits::TOPICS_PER_PROJECT_MAX)?;
    Ok(rows.into_iter().map(|(_, topic)| topic).collect())
}

/// Saves a topic.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, topic: &Topic) -> Result<()> {
    tx.put(TOPICS, &(project, topic.id), topic);
    changed(tx, project)
}

/// Deletes a topic and all choices.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: TopicId) -> Result<()> {
    tx.delete(TOPICS, &(project, id));
    tx.delete_span(CHOICES, &CHOICES.under(&(project, id)), BLOCKS_MAX)?;
    changed(tx, project)
}

/// Records that the subscribers of topics may have changed.
fn changed(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<()> {
    add_count(tx, project, Facet::Topics, 1)
}

/// Returns the choice of the contact with this number; `None` if it has not chosen.
pub fn choice(tx: &impl Read, project: ProjectId, id: TopicId, number: u32) -> Result<Option<bool>> {
    for (side, subscribed) in [(IN, true), (OUT, false)] {
        if bitmap::has(tx, CHOICES, |block| (project, id, side, block), number)? {
            return Ok(Some(subscribed));
        }
    }
    Ok(None)
}

/// Stores a contact's choice.
pub fn choose(tx: &mut WriteTx<'_>, project: ProjectId, id: TopicId, number: u32, subscribed: bool) -> Result<()> {
    if choice(tx, project, id, number)? == Some(subscribed) {
        return Ok(());
    }
    let (to, from) = if subscribed { (IN, OUT) } else { (OUT, IN) };
    let number = RoaringBitmap::from_iter([number]);
    let leave = Delta { remove: number.clone(), ..Delta::default() };
    bitmap::apply(tx, CHOICES, |block| (project, id, from, block), &leave)?;
    let enter = Delta { add: number, ..Delta::default() };
    bitmap::apply(tx, CHOICES, |block| (project, id, to, block), &enter)?;
    changed(tx, project)
}

/// Returns whether the contact with this number gets this topic: by its choice, or else by the topic's default.
pub fn is_subscribed(tx: &impl Read, project: ProjectId, topic: &Topic, number: u32) -> Result<bool> {
    let chosen = choice(tx, project, topic.id, number)?;
    Ok(chosen.unwrap_or(topic.default_subscription == TopicDefault::OptIn))
}

/// Returns every contact that gets this topic.
pub fn subscribers(tx: &impl Read, project: ProjectId, topic: &Topic) -> Result<RoaringBitmap> {
    among(tx, project, topic, store::set(tx, project, Facet::All)?)
}

/// Returns those of `all` contacts that get this topic.
pub fn among(tx: &impl Read, project: ProjectId, topic: &Topic, all: RoaringBitmap) -> Result<RoaringBitmap> {
    let chosen = |side: u8| bitmap::load(tx, CHOICES, &(project, topic.id, side));
    Ok(match topic.default_subscription {
        TopicDefault::OptIn => all - chosen(OUT)?,
        TopicDefault::OptOut => all & chosen(IN)?,
    })
}
