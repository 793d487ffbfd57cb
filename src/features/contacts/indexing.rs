//! Keeps the search index up to date with the contacts: follows the change feed, indexes the changed contacts, and commits them together
//! with the feed position.
//!
//! After a crash, indexing therefore resumes at the feed position in the index. Reading a change twice does no harm, and no change can be
//! skipped, because positions are assigned in order.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::engine::api::EnvironmentData;
use crate::engine::search::{Change, CommitMode, Document, Index, Rebuild, SearchError, TextKind};
use crate::engine::store::{self, Read, feed};
use crate::features::contact_records::fields::FieldValue;
use crate::features::contact_records::{ContactRow, visit_rows};
use crate::features::contact_sets::{self, Facet};
use crate::features::tags::TagNames;
use crate::vocab::contact_fields::SearchAs;
use crate::vocab::ids::ProjectId;
use crate::vocab::{limits, tables};

/// The name of the worker that runs [`step`].
pub const WORKER: &str = "search index";
/// The number of documents passed to the index in one call.
const DOCUMENTS_PER_BATCH: usize = 4_000;
/// The number of documents in one index commit while there is a backlog. Commits are costly, and no user waits for the first of a million
/// rows.
const DOCUMENTS_PER_COMMIT: usize = 200_000;
/// If one read of the feed yields at least this many documents, an import is probably running, so more documents will follow soon.
const DOCUMENTS_OF_A_RUSH: usize = 5_000;
/// The number of feed entries read in one call.
const ENTRIES_PER_READ: usize = 1_000;
/// The maximum number of commits with which a rebuilt index catches up with ongoing writes before it replaces the current index.
const CATCH_UP_COMMITS: usize = 20;
/// The number of feed entries deleted in one transaction.
const ENTRIES_FORGOTTEN: usize = 5_000;

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

/// The destination of documents: the index in use, or an index that is being built to replace it.
trait Target {
    fn position(&self) -> u64;
    fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError>;
    fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError>;
}

impl Target for Index {
    fn position(&self) -> u64 {
        self.position()
    }
    fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.apply(changes)
    }
    fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
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
    fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        self.commit(position, pace)
    }
}

/// Advances the index by one commit; returns whether more changes are waiting. Rebuilds the index if feed entries that it needs have been
/// deleted.
pub fn step(data: &EnvironmentData) -> Result<bool, Error> {
    // Ignore a poisoned mutex: it guards no data, and the index is always at its last commit.
    let turn = hold(&data.index_turn.moving);
    let before = data.search.position();
    if feed::is_forgotten(&data.store.read(), before)? {
        drop(turn);
        tracing::warn!(environment = %data.environment, "the search index has fallen behind the change feed; rebuilding it");
        return rebuild(data).map(|_| true);
    }
    let more = follow(|| data.store.read(), data.search.as_ref())?;
    let position = data.search.position();
    if !more && position == before {
        data.search.settle()?;
    }
    if data.store.follows() {
        return Ok(more);
    }
    // The indexes of other nodes of the cluster follow the same feed, so keep the entries that they may still need.
    let position = if data.store.is_replicated() { position.saturating_sub(limits::CLUSTER_FEED_KEPT) } else { position };
    let unneeded = match data.index_turn.needed_from.load(Ordering::SeqCst) {
        0 => position,
        needed_from => position.min(needed_from - 1),
    };
    let forget = move |tx: &mut store::WriteTx<'_>| feed::forget(tx, unneeded, ENTRIES_FORGOTTEN);
    data.store.write_blocking(forget)??;
    Ok(more)
}

fn hold(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While this value exists, the feed entries that a rebuild needs are not deleted.
struct FeedGuard<'w>(&'w EnvironmentData);

impl Drop for FeedGuard<'_> {
    fn drop(&mut self) {
        self.0.index_turn.needed_from.store(0, Ordering::SeqCst);
    }
}

/// Rebuilds the index from the rows and replaces the current index, which serves searches and follows the feed until then; returns the
/// number of contacts.
pub fn rebuild(data: &EnvironmentData) -> Result<u64, Error> {
    let _alone = hold(&data.index_turn.rebuilding);
    let (tx, _kept) = {
        // Hold the lock so that no feed entries are deleted between reading the position and registering that it is needed.
        let _turn = hold(&data.index_turn.moving);
        let tx = data.store.read();
        data.index_turn.needed_from.store(tx.feed_position() + 1, Ordering::SeqCst);
        (tx, FeedGuard(data))
    };
    let new = data.search.rebuild()?;
    let mut documents = 0;
    for project in contact_sets::projects(&tx)? {
        let all = contact_sets::set(&tx, project, Facet::All)?;
        if let (Some(first), Some(last)) = (all.min(), all.max()) {
            let change = feed::Change { scope: project.0, first, last, fresh: true };
            documents += index(&new, &tx, &change)? as u64;
        }
    }
    new.commit(tx.feed_position(), CommitMode::Calm)?;
    drop(tx);
    // Writes continued during the rebuild. Catch up a limited number of times, in case the writes never pause.
    for _ in 0..CATCH_UP_COMMITS {
        if !follow(|| data.store.read(), &new)? {
            break;
        }
    }
    // Hold the mutex so that the index in use does not advance and the new index can catch up with it.
    let _turn = hold(&data.index_turn.moving);
    while new.position() < data.search.position() {
        follow(|| data.store.read(), &new)?;
    }
    data.search.adopt(new)?;
    Ok(documents)
}

/// Follows the feed for one commit; returns whether more entries are waiting.
///
/// During an import, the next rows arrive as soon as the previous rows are indexed; they go into the same commit until it is full. Single
/// changes are committed immediately, because a user may be waiting for them.
fn follow(newest: impl Fn() -> store::ReadTx, target: &impl Target) -> Result<bool, Error> {
    let (mut position, mut documents) = (target.position(), 0);
    loop {
        let tx = newest();
        let before = documents;
        for (at, change) in feed::after(&tx, position, ENTRIES_PER_READ)? {
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
        let pace = if documents >= DOCUMENTS_OF_A_RUSH { CommitMode::Rush } else { CommitMode::Calm };
        target.commit(position, pace)?;
    }
    Ok(position < newest().feed_position())
}

/// Indexes the contacts in one feed entry; returns the number of documents written or deleted.
fn index(target: &impl Target, tx: &store::ReadTx, change: &feed::Change) -> Result<usize, Error> {
    let project = ProjectId::from_bytes(change.scope);
    let mut names = TagNames::new(tx, project);
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
    names: &mut TagNames<'_, store::ReadTx>,
    project: ProjectId,
    (first, last): (u32, u32),
    fresh: bool,
    batch: &mut Vec<Change>,
) -> store::Result<()> {
    let mut next = first;
    visit_rows(tx, project, first..=last, |number, row| {
        let contact = ContactRow::read(row).ok_or_else(|| tx.corrupt(tables::CONTACTS))?;
        gone(project, next..number, fresh, batch);
        next = number + 1;
        put(names, project, &contact, fresh, batch)?;
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    gone(project, next..last + 1, fresh, batch);
    Ok(())
}

/// Adds to `batch` a deletion for each of `numbers`, none of which has a contact. Adds none if the feed entry is `fresh`, because its
/// contacts were never indexed.
fn gone(project: ProjectId, numbers: std::ops::Range<u32>, fresh: bool, batch: &mut Vec<Change>) {
    if !fresh {
        batch.extend(numbers.map(|number| Change::Remove { scope: project.0, number }));
    }
}

fn put(
    names: &mut TagNames<'_, store::ReadTx>,
    project: ProjectId,
    contact: &ContactRow<'_>,
    fresh: bool,
    batch: &mut Vec<Change>,
) -> store::Result<()> {
    let mut document = Document::new(project.0, contact.id.number());
    document.push(TextKind::Address, contact.email);
    for (field, text) in contact.profile.iter() {
        match field.spec().search {
            Some(SearchAs::Name) => document.push(TextKind::Name, text),
            Some(SearchAs::Phone) => document.push(TextKind::Phone, text),
            Some(SearchAs::Value) => document.push(TextKind::Value, text),
            None => {}
        }
    }
    names.each(&contact.tags, |name| document.push(TextKind::Label, name))?;
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
            document.push(TextKind::Value, &text[..end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::*;
    use crate::engine::store::WriteTx;
    use crate::features::contact_records::{self, Contact};
    use crate::testing::TestApp;
    use crate::vocab::contact_status::Status;
    use crate::vocab::ids::ContactId;

    fn add(tx: &mut WriteTx<'_>, project: ProjectId) -> store::Result<()> {
        let number = contact_sets::next_number(tx, project, Facet::NextContact, 1)?;
        let contact = Contact {
            id: ContactId::numbered(tx.now(), number, tx.random()),
            status: Status::Subscribed,
            email: format!("p{number}@example.com"),
            profile: Default::default(),
            tags: Vec::new(),
            custom_fields: Default::default(),
            created_at: tx.now(),
            updated_at: tx.now(),
            unsubscribed_at: None,
        };
        let digest = contact_records::email_digest(&contact.email);
        contact_records::change(tx, project, |tx, changes| {
            changes.add(tx, &contact, digest);
            Ok(())
        })
    }

    #[test]
    fn an_index_is_rebuilt_during_constant_writes_while_the_current_one_stays_in_use() {
        let app = TestApp::new();
        let (data, project) = (app.data(), app.project);
        let (over, written, followed) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    data.store
                        .write_blocking(move |tx| add(tx, project))
                        .expect("the store works")
                        .expect("the contact is accepted");
                    written.fetch_add(1, Ordering::SeqCst);
                }
            });
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    step(data).expect("the indexing step succeeds");
                    followed.fetch_max(data.search.position(), Ordering::SeqCst);
                }
            });
            while written.load(Ordering::SeqCst) < 50 {
                std::thread::yield_now();
            }
            for _ in 0..3 {
                rebuild(data).expect("the index is rebuilt");
            }
            over.store(true, Ordering::SeqCst);
        });
        while step(data).expect("the indexing step succeeds") {}
        let found = data.search.matching(&project.0, "example.com").expect("the search succeeds");
        assert_eq!(found.len(), written.load(Ordering::SeqCst));
        assert!(followed.load(Ordering::SeqCst) > 0);
    }
}
