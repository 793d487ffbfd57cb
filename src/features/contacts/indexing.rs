//! Keeping the search index in step with the contacts: follow the change feed, index what it names, commit with its position.
//!
//! The index's commit and the position in it are one act, so after a crash the follower goes on exactly where the index is. A change
//! read twice does no harm; one left out cannot happen, because positions are taken in order.

use std::sync::PoisonError;

use crate::engine::api::World;
use crate::engine::search::{Change, Document, Index, Kind, Pace, Rebuild, SearchError};
use crate::engine::store::{self, feed};
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;

use super::fields::FieldValue;
use super::model::ContactRow;
use super::store::visit_rows;
use super::tags::Names;

/// Documents handed to the index at once.
const DOCUMENTS_PER_BATCH: usize = 4_000;
/// Documents in one commit of the index while there is much to do: commits cost, and nobody waits for the first of a million rows.
const DOCUMENTS_PER_COMMIT: usize = 200_000;
/// So many documents at one look are an import: more are on their way.
const DOCUMENTS_OF_A_RUSH: usize = 5_000;
/// Entries of the feed looked at in one go.
const ENTRIES_PER_LOOK: usize = 1_000;
/// Entries of the feed forgotten in one transaction.
const ENTRIES_FORGOTTEN: usize = 5_000;

/// What can go wrong.
#[derive(Debug)]
pub enum Error {
    Store(store::Error),
    Search(SearchError),
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<SearchError> for Error {
    fn from(error: SearchError) -> Self {
        Self::Search(error)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Store(error) => write!(f, "{error}"),
            Error::Search(error) => write!(f, "{error}"),
        }
    }
}

/// Where documents go: the index in use, or one that is being built beside it.
trait Target {
    fn position(&self) -> u64;
    fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError>;
    fn commit(&self, position: u64, pace: Pace) -> Result<(), SearchError>;
}

impl Target for Index {
    fn position(&self) -> u64 {
        self.position()
    }
    fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.apply(changes)
    }
    fn commit(&self, position: u64, pace: Pace) -> Result<(), SearchError> {
        self.commit_at(position, pace)
    }
}

impl Target for Rebuild {
    fn position(&self) -> u64 {
        self.position()
    }
    fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.apply(changes)
    }
    fn commit(&self, position: u64, pace: Pace) -> Result<(), SearchError> {
        self.commit(position, pace)
    }
}

/// Take the index one commit further; true if there is more to do.
pub fn step(world: &World) -> Result<bool, Error> {
    // The turn guards no data of its own: the index stands at its last commit whatever its last mover did.
    let _turn = world.index_turn.lock().unwrap_or_else(PoisonError::into_inner);
    let tx = world.store.read();
    let before = world.search.position();
    if feed::is_forgotten(&tx, before)? {
        tracing::warn!(environment = %world.environment, "the search index is behind the change feed and is built anew");
        return build_anew(world).map(|_| true);
    }
    drop(tx);
    let more = follow(|| world.store.read(), world.search.as_ref())?;
    let position = world.search.position();
    if !more && position == before {
        world.search.settle()?;
    }
    let forget = move |tx: &mut store::WriteTx<'_>| feed::forget(tx, position, ENTRIES_FORGOTTEN);
    world.store.write_blocking(forget)??;
    Ok(more)
}

/// Build the index anew from the rows and put it in the place of the present one, which answers until then; says how many
/// contacts it has.
pub fn rebuild(world: &World) -> Result<u64, Error> {
    let _turn = world.index_turn.lock().unwrap_or_else(PoisonError::into_inner);
    build_anew(world)
}

/// Invariant: the caller has the turn, so nobody forgets entries of the feed that the new index still needs.
fn build_anew(world: &World) -> Result<u64, Error> {
    let tx = world.store.read();
    let new = world.search.rebuild()?;
    let mut documents = 0;
    for project in super::store::projects(&tx)? {
        let all = super::store::set(&tx, project, super::store::Facet::All)?;
        if let (Some(first), Some(last)) = (all.min(), all.max()) {
            let change = feed::Change { scope: project.0, first, last, fresh: true };
            documents += index(&new, &tx, &change)? as u64;
        }
    }
    new.commit(tx.feed_position(), Pace::Calm)?;
    // Writes went on meanwhile: follow them until none is left that this index has not seen.
    while follow(|| world.store.read(), &new)? {}
    world.search.adopt(new)?;
    Ok(documents)
}

/// Follow the feed for one commit; true if there is more.
///
/// While an import runs, its next rows are there as soon as the last ones are indexed: they go into the same commit, until it has
/// as many as it may. Single changes are committed at once, because somebody may wait for them.
fn follow(newest: impl Fn() -> store::ReadTx, target: &impl Target) -> Result<bool, Error> {
    let (mut position, mut documents) = (target.position(), 0);
    loop {
        let tx = newest();
        let before = documents;
        for (at, change) in feed::after(&tx, position, ENTRIES_PER_LOOK)? {
            documents += index(target, &tx, &change)?;
            position = at;
            if documents >= DOCUMENTS_PER_COMMIT {
                break;
            }
        }
        if documents - before < DOCUMENTS_OF_A_RUSH || documents >= DOCUMENTS_PER_COMMIT {
            break;
        }
    }
    if position > target.position() {
        let pace = if documents >= DOCUMENTS_OF_A_RUSH { Pace::Rush } else { Pace::Calm };
        target.commit(position, pace)?;
    }
    Ok(position < newest().feed_position())
}

/// Index the contacts one entry of the feed names; says how many.
fn index(target: &impl Target, tx: &store::ReadTx, change: &feed::Change) -> Result<usize, Error> {
    let project = ProjectId::from_bytes(change.scope);
    let mut names = Names::new(tx, project);
    let mut batch = Vec::with_capacity(DOCUMENTS_PER_BATCH.min((change.last - change.first) as usize + 1));
    let mut documents = 0;
    let mut start = change.first;
    loop {
        let last = change.last.min(start.saturating_add(DOCUMENTS_PER_BATCH as u32 - 1));
        collect(tx, &mut names, project, (start, last), change.fresh, &mut batch)?;
        documents += batch.len();
        target.apply(std::mem::take(&mut batch))?;
        if last == change.last {
            return Ok(documents);
        }
        start = last + 1;
    }
}

fn collect(
    tx: &store::ReadTx,
    names: &mut Names<'_, store::ReadTx>,
    project: ProjectId,
    (first, last): (u32, u32),
    fresh: bool,
    batch: &mut Vec<Change>,
) -> store::Result<()> {
    let mut next = first;
    visit_rows(tx, project, first..=last, |number, row| {
        let contact = ContactRow::read(row)?;
        gone(project, next..number, fresh, batch);
        next = number + 1;
        put(names, project, &contact, fresh, batch)?;
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    gone(project, next..last + 1, fresh, batch);
    Ok(())
}

/// Numbers without a contact. Those of a fresh run were never indexed.
fn gone(project: ProjectId, numbers: std::ops::Range<u32>, fresh: bool, batch: &mut Vec<Change>) {
    if !fresh {
        batch.extend(numbers.map(|number| Change::Remove { scope: project.0, number }));
    }
}

fn put(
    names: &mut Names<'_, store::ReadTx>,
    project: ProjectId,
    contact: &ContactRow<'_>,
    fresh: bool,
    batch: &mut Vec<Change>,
) -> store::Result<()> {
    let mut document = Document::new(project.0, contact.id.number());
    document.push(Kind::Address, contact.email);
    for name in [contact.first_name, contact.last_name].into_iter().flatten() {
        document.push(Kind::Name, name);
    }
    if let Some(phone) = contact.phone {
        document.push(Kind::Phone, phone);
    }
    names.each(&contact.tags, |name| document.push(Kind::Label, name))?;
    let mut room = limits::CUSTOM_FIELDS_INDEXED_CHARACTERS_MAX;
    for value in contact.custom_fields.values() {
        push_value(&mut document, value, &mut room);
    }
    batch.push(if fresh { Change::Add(document) } else { Change::Replace(document) });
    Ok(())
}

fn push_value(document: &mut Document, value: &FieldValue, room: &mut usize) {
    match value {
        FieldValue::List(items) => items.iter().for_each(|item| push_value(document, item, room)),
        FieldValue::Map(entries) => entries.values().for_each(|item| push_value(document, item, room)),
        value => {
            let Some(text) = value.as_text() else { return };
            let end = text.char_indices().nth(*room).map_or(text.len(), |(end, _)| end);
            *room = room.saturating_sub(text.chars().count());
            document.push(Kind::Value, &text[..end]);
        }
    }
}
