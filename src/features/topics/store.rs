//! The tables of topics and of contacts' choices, and all access to them.
//!
//! A contact's choice is stored as the contact's number in one of the topic's two sets: opted in or opted out. The number of a deleted
//! contact stays in these sets without effect, because numbers are never reused and every set is restricted to existing contacts before it
//! is used.

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Table, WriteTx};
use crate::features::contact_sets::{self, Facet, add_count};
use crate::vocab::ids::{ProjectId, TopicId};
use crate::vocab::{limits, tables};

const TOPICS: Table<(ProjectId, TopicId), Topic> = Table::new(tables::TOPICS);
const CHOICES: Table<(ProjectId, TopicId, u8, u16), Block> = Table::new(tables::TOPIC_BITS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(TOPICS), RowCheck::of(CHOICES)];

/// The part of a key in [`CHOICES`] for contacts who opted out.
const OUT: u8 = 0;
/// The part of a key in [`CHOICES`] for contacts who opted in.
const IN: u8 = 1;
/// The maximum number of blocks in the two sets of one topic.
const BLOCKS_MAX: usize = 2 * (u16::MAX as usize + 1);

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

/// Whether contacts who have neither opted in nor opted out are subscribed to a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopicDefault {
    /// Contacts are subscribed to the topic until they opt out.
    OptIn,
    /// Contacts are subscribed to the topic only after they opt in.
    #[default]
    OptOut,
}

/// Which contacts see a topic on their preferences page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopicVisibility {
    /// All contacts see the topic.
    Public,
    /// Contacts see the topic only if they are subscribed to it.
    #[default]
    Private,
}

pub fn find(tx: &impl Read, project: ProjectId, id: TopicId) -> Result<Option<Topic>> {
    tx.get(TOPICS, &(project, id))
}

/// Returns every topic of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Topic>> {
    let rows = tx.list(TOPICS, &TOPICS.under(&(project,)), Order::Forward, limits::TOPICS_PER_PROJECT_MAX)?;
    Ok(rows.into_iter().map(|(_, topic)| topic).collect())
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, topic: &Topic) -> Result<()> {
    tx.put(TOPICS, &(project, topic.id), topic);
    changed(tx, project)
}

/// Deletes a topic and all contacts' choices for it.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: TopicId) -> Result<()> {
    tx.delete(TOPICS, &(project, id));
    tx.delete_span(CHOICES, &CHOICES.under(&(project, id)), BLOCKS_MAX)?;
    changed(tx, project)
}

/// Increases the project's counter of topic changes, so that filters that use topics do not return outdated results from the cache.
fn changed(tx: &mut WriteTx<'_>, project: ProjectId) -> Result<()> {
    add_count(tx, project, Facet::Topics, 1)
}

/// Returns the choice of the contact with this number; `None` if the contact has not chosen.
pub fn choice(tx: &impl Read, project: ProjectId, id: TopicId, number: u32) -> Result<Option<bool>> {
    for (side, subscribed) in [(IN, true), (OUT, false)] {
        if bitmap::has(tx, CHOICES, |block| (project, id, side, block), number)? {
            return Ok(Some(subscribed));
        }
    }
    Ok(None)
}

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

/// Returns whether the contact with this number is subscribed to the topic, by choice or by the topic's default.
pub fn is_subscribed(tx: &impl Read, project: ProjectId, topic: &Topic, number: u32) -> Result<bool> {
    let chosen = choice(tx, project, topic.id, number)?;
    Ok(chosen.unwrap_or(topic.default_subscription == TopicDefault::OptIn))
}

/// Returns all contacts who are subscribed to the topic.
pub fn subscribers(tx: &impl Read, project: ProjectId, topic: &Topic) -> Result<RoaringBitmap> {
    among(tx, project, topic, contact_sets::set(tx, project, Facet::All)?)
}

/// Returns the contacts in `all` who are subscribed to the topic.
pub fn among(tx: &impl Read, project: ProjectId, topic: &Topic, all: RoaringBitmap) -> Result<RoaringBitmap> {
    let chosen = |side: u8| bitmap::load(tx, CHOICES, &(project, topic.id, side));
    Ok(match topic.default_subscription {
        TopicDefault::OptIn => all - chosen(OUT)?,
        TopicDefault::OptOut => all & chosen(IN)?,
    })
}
