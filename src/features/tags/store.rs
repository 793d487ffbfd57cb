//! The tables of tags, and all access to them. The API uses the names of tags; contacts and sets store the tags' numbers.
//!
//! Numbers are never reused, so the number of a deleted tag can be ignored where contacts and sets still contain it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::text::{Name, fold};
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Table, WriteTx};
use crate::features::contact_sets::{self, Facet};
use crate::vocab::ids::{ProjectId, TagId};
use crate::vocab::{limits, tables};

const TAGS: Table<(ProjectId, u32), Tag> = Table::new(tables::TAGS);
const BY_NAME: Table<(ProjectId, String), u32> = Table::new(tables::TAGS_BY_NAME);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(TAGS), RowCheck::of(BY_NAME)];

pub type TagName = Name<{ limits::TAG_NAME_CHARACTERS_MAX }>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    pub id: TagId,
    pub name: String,
    /// The tag's color as `#RRGGBB`.
    pub color: Option<String>,
    pub description: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Tag {}

impl Tag {
    /// Returns the tag's number, which contacts and sets store.
    pub fn number(&self) -> u32 {
        self.id.number()
    }
}

/// Returns the number of the tag with this name, ignoring case.
pub fn number(tx: &impl Read, project: ProjectId, name: &str) -> Result<Option<u32>> {
    tx.get(BY_NAME, &(project, fold(name)))
}

pub fn by_number(tx: &impl Read, project: ProjectId, number: u32) -> Result<Option<Tag>> {
    tx.get(TAGS, &(project, number))
}

/// Returns the tag with this ID, if it exists.
pub fn by_id(tx: &impl Read, project: ProjectId, id: TagId) -> Result<Option<Tag>> {
    Ok(by_number(tx, project, id.number())?.filter(|tag| tag.id == id))
}

/// Returns every tag of a project, oldest first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Tag>> {
    let rows = tx.list(TAGS, &TAGS.under(&(project,)), Order::Forward, limits::TAGS_PER_PROJECT_MAX)?;
    Ok(rows.into_iter().map(|(_, tag)| tag).collect())
}

/// Saves a tag and its entry in the index of names. `before` is the tag's previous state.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, before: Option<&Tag>, tag: &Tag) {
    if let Some(before) = before {
        tx.delete(BY_NAME, &(project, fold(&before.name)));
    }
    tx.put(TAGS, &(project, tag.number()), tag);
    tx.put(BY_NAME, &(project, fold(&tag.name)), &tag.number());
}

/// Creates a tag whose name is not in use. Returns `None` if the project has reached the maximum number of tags.
pub fn create(tx: &mut WriteTx<'_>, project: ProjectId, name: &str) -> Result<Option<Tag>> {
    let count = contact_sets::count(tx, project, Facet::Tags)?;
    if count >= limits::TAGS_PER_PROJECT_MAX as u64 {
        return Ok(None);
    }
    contact_sets::add_count(tx, project, Facet::Tags, 1)?;
    let number = contact_sets::next_number(tx, project, Facet::NextTag, 1)?;
    let now = tx.now();
    let id = TagId::numbered(now, number, tx.random());
    let tag = Tag { id, name: name.to_owned(), color: None, description: None, created_at: now, updated_at: now };
    save(tx, project, None, &tag);
    Ok(Some(tag))
}

/// Restores a tag from a backup. The tag keeps its ID only if the project has never assigned the tag's number, because numbers are never
/// reused; otherwise, a new tag with the same name is created. Returns `None` if the project has reached the maximum number of tags.
pub fn create_again(tx: &mut WriteTx<'_>, project: ProjectId, tag: &Tag) -> Result<Option<Tag>> {
    let next = contact_sets::count(tx, project, Facet::NextTag)?;
    let Some(ahead) = u64::from(tag.number()).checked_sub(next) else { return create(tx, project, &tag.name) };
    if contact_sets::count(tx, project, Facet::Tags)? >= limits::TAGS_PER_PROJECT_MAX as u64 {
        return Ok(None);
    }
    contact_sets::add_count(tx, project, Facet::Tags, 1)?;
    contact_sets::next_number(tx, project, Facet::NextTag, ahead as u32 + 1)?;
    save(tx, project, None, tag);
    Ok(Some(tag.clone()))
}

/// Deletes a tag and its set of contacts. The tag's number stays in contact rows, where it is ignored, until a contact needs the space for
/// another tag.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, tag: &Tag) -> Result<()> {
    tx.delete(TAGS, &(project, tag.number()));
    tx.delete(BY_NAME, &(project, fold(&tag.name)));
    contact_sets::add_count(tx, project, Facet::Tags, -1)?;
    contact_sets::drop_set(tx, project, Facet::Tag(tag.number()))
}

/// Converts tag names to numbers, looking up each name once and creating unknown tags.
pub struct TagNumbers {
    project: ProjectId,
    known: HashMap<String, u32>,
}

/// The error for a project that has reached the maximum number of tags.
#[derive(Debug, PartialEq, Eq)]
pub struct TagLimitReached;

impl TagNumbers {
    pub fn new(project: ProjectId) -> Self {
        Self { project, known: HashMap::new() }
    }

    /// Returns the numbers of `names`, without duplicates.
    pub fn of<'n>(
        &mut self,
        tx: &mut WriteTx<'_>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<std::result::Result<Vec<u32>, TagLimitReached>> {
        let mut numbers = Vec::new();
        for name in names {
            let folded = fold(name);
            let number = match self.known.get(&folded) {
                Some(number) => *number,
                None => {
                    let number = match number(tx, self.project, name)? {
                        Some(number) => number,
                        None => match create(tx, self.project, name)? {
                            Some(tag) => tag.number(),
                            None => return Ok(Err(TagLimitReached)),
                        },
                    };
                    self.known.insert(folded, number);
                    number
                }
            };
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        Ok(Ok(numbers))
    }
}

/// Converts tag numbers to names, looking up each number once. Numbers of deleted tags have no name.
pub struct TagNames<'t, R> {
    tx: &'t R,
    project: ProjectId,
    known: HashMap<u32, Option<String>>,
}

impl<'t, R: Read> TagNames<'t, R> {
    pub fn new(tx: &'t R, project: ProjectId) -> Self {
        Self { tx, project, known: HashMap::new() }
    }

    pub fn of(&mut self, numbers: &[u32]) -> Result<Vec<String>> {
        let mut names = Vec::with_capacity(numbers.len());
        self.each(numbers, |name| names.push(name.to_owned()))?;
        Ok(names)
    }

    /// Calls `show` with the name of each tag in `numbers`.
    pub fn each(&mut self, numbers: &[u32], mut show: impl FnMut(&str)) -> Result<()> {
        for number in numbers {
            let name = match self.known.entry(*number) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(by_number(self.tx, self.project, *number)?.map(|tag| tag.name)),
            };
            if let Some(name) = name {
                show(name);
            }
        }
        Ok(())
    }
}
