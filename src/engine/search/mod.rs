//! The full-text index of one environment.
//!
//! It stores documents, each a number within a scope, and finds their numbers by text: while it is being typed, inside email addresses, and
//! with small typing errors. It is derived data: the owner of the documents feeds every change in order, each commit records its feed
//! position, and an index that is lost or damaged starts empty at position 0 and is fed again.
//!
//! Only this folder uses tantivy.
//!
//! On disk an index is a folder of *generations*, each a tantivy index of its own, and a file `CURRENT` with the name of the one in use. A
//! rebuild fills the next generation while the current one serves searches, then `CURRENT` is replaced by a rename: it always names a
//! complete generation, and each generation has its own position.

mod fold;
mod generation;
mod query;
mod reader;
mod schema;
#[cfg(test)]
mod tests;
mod tokens;
mod typo;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use roaring::RoaringBitmap;
use tokio::sync::watch;

use generation::{Generation, IndexDir};

/// The owner of documents; a search covers one scope.
pub type Scope = [u8; 12];

/// The kind of a text; decides how it is tokenized, matched and ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An email address.
    Address,
    /// A personal name, or a part of one.
    Name,
    /// A phone number.
    Phone,
    /// The name of a tag.
    Label,
    /// The value of a custom field.
    Value,
}

/// The searchable texts of one document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The owner of the document.
    pub scope: Scope,
    /// The document's number. Sets of numbers are bitmaps up to the highest one, so numbers should be dense within a scope.
    pub number: u32,
    // One buffer for all texts: an import creates millions of documents.
    text: String,
    pieces: Vec<(Kind, u32)>,
}

impl Document {
    /// A document without texts.
    pub fn new(scope: Scope, number: u32) -> Self {
        Self { scope, number, text: String::new(), pieces: Vec::new() }
    }

    /// The same document with an additional text.
    pub fn with(mut self, kind: Kind, text: &str) -> Self {
        self.push(kind, text);
        self
    }

    /// Adds a text.
    pub fn push(&mut self, kind: Kind, text: &str) {
        self.text.push_str(text);
        self.pieces.push((kind, self.text.len() as u32));
    }

    /// Its texts, in the order of their addition.
    pub fn pieces(&self) -> impl Iterator<Item = (Kind, &str)> {
        let mut start = 0;
        self.pieces.iter().map(move |&(kind, end)| (kind, &self.text[std::mem::replace(&mut start, end as usize)..end as usize]))
    }
}

/// A change to the documents.
#[derive(Clone, Debug)]
pub enum Change {
    /// A document whose number is certainly not in the index: nothing needs to be removed for it.
    Add(Document),
    /// A document that replaces the one with its number, if there is one.
    Replace(Document),
    /// Removes the document with this number, if there is one.
    Remove {
        /// The owner of the document.
        scope: Scope,
        /// The document's number.
        number: u32,
    },
}

impl Change {
    fn address(&self) -> (Scope, u32) {
        match self {
            Change::Add(document) | Change::Replace(document) => (document.scope, document.number),
            Change::Remove { scope, number } => (*scope, *number),
        }
    }

    fn into_document(self) -> Option<Document> {
        match self {
            Change::Add(document) | Change::Replace(document) => Some(document),
            Change::Remove { .. } => None,
        }
    }
}

/// The options of an index.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory for documents that are not written to disk yet. At least 30 MB.
    pub writer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        // The same as the built-in settings: an import of a million leaves some thirty segments, and a small machine has enough memory for
        // it.
        Self { writer_bytes: 48 << 20 }
    }
}

/// What is expected after a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitMode {
    /// Many more changes follow: merging of segments waits where possible.
    Rush,
    /// No further changes are expected.
    Calm,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The numbers of the requested page, best first; equally good ones in descending order.
    pub numbers: Vec<u32>,
    /// The total number of matching documents.
    pub total: u64,
}

/// An error of the index.
#[derive(Debug)]
pub enum SearchError {
    /// A file or folder could not be read or written.
    Io(std::io::Error),
    /// Tantivy failed.
    Engine(tantivy::TantivyError),
    /// The files on disk are not an index of this version.
    Damaged(String),
    /// The indexing thread accepts nothing: the disk hangs, or a failed write could not be undone. [`Index::clear`] or reopening helps.
    Stalled,
    /// The generation is no longer in use.
    Retired,
    /// A rebuilt index has not caught up with the one that it replaces.
    Behind {
        /// The position of the rebuilt index.
        rebuilt: u64,
        /// The position of the current one.
        present: u64,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Io(error) => write!(f, "the search index cannot reach its files: {error}"),
            SearchError::Engine(error) => write!(f, "the search engine failed: {error}"),
            SearchError::Damaged(what) => write!(f, "the search index is damaged: {what}"),
            SearchError::Stalled => f.write_str("the indexing thread does not accept changes"),
            SearchError::Retired => f.write_str("this generation of the search index is no longer in use"),
            SearchError::Behind { rebuilt, present } => {
                write!(f, "the rebuilt search index is at {rebuilt}, the current one already at {present}")
            }
        }
    }
}

impl std::error::Error for SearchError {}

impl From<std::io::Error> for SearchError {
    fn from(error: std::io::Error) -> Self {
        SearchError::Io(error)
    }
}

impl From<tantivy::TantivyError> for SearchError {
    fn from(error: tantivy::TantivyError) -> Self {
        SearchError::Engine(error)
    }
}

/// The open index of one environment.
pub struct Index {
    dir: IndexDir,
    options: Options,
    present: ArcSwap<Generation>,
    /// Held while changes are applied or committed, or the generation is replaced; searches never lock it.
    feeding: Mutex<()>,
    position: watch::Sender<u64>,
}

impl Index {
    /// Opens the index in the folder `dir`, which is created if missing. An index that is damaged, or was written by a version with other
    /// tokenization, is removed and replaced by an empty one at position 0.
    pub fn open(dir: &Path, options: Options) -> Result<Index, SearchError> {
        let dir = IndexDir::open(dir)?;
        let present = dir.open_present(&options)?;
        let position = watch::Sender::new(present.position());
        Ok(Index { dir, options, present: ArcSwap::from_pointee(present), feeding: Mutex::new(()), position })
    }

    /// The feed position of the last durable commit.
    pub fn position(&self) -> u64 {
        *self.position.borrow()
    }

    /// Applies `changes`. They become visible with the next commit. After an error all changes since the last commit are dropped, and the
    /// feed continues from [`Index::position`].
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        let _feeding = self.feed();
        self.present.load().apply(changes)
    }

    /// Makes all applied changes durable and visible, as the feed up to `position`, then wakes waiters. After an error the index is in the
    /// state of the previous commit.
    pub fn commit(&self, position: u64) -> Result<(), SearchError> {
        self.commit_at(position, CommitMode::Calm)
    }

    /// [`Index::commit`] with a [`CommitMode`].
    pub fn commit_at(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let present = self.present.load();
        let result = present.commit(position, pace);
        // Also after an error: a commit that became durable but could not be opened must not be fed again.
        self.position.send_replace(present.position());
        result
    }

    /// Waits until the index contains the feed up to `position`; returns false if `timeout` passes first.
    pub async fn caught_up(&self, position: u64, timeout: Duration) -> bool {
        let mut positions = self.position.subscribe();
        let reached = positions.wait_for(|reached| *reached >= position);
        matches!(tokio::time::timeout(timeout, reached).await, Ok(Ok(_)))
    }

    /// Call this in quiet times: starts merges that were postponed, and switches to segments merged since, which frees the space of the old
    /// ones. Free if there are none.
    pub fn settle(&self) -> Result<(), SearchError> {
        let _feeding = self.feed();
        self.present.load().settle()
    }

    /// Deletes everything and returns to position 0.
    pub fn clear(&self) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let empty = self.dir.create_next(&self.options)?;
        self.replace(empty)
    }

    /// Starts a new index beside this one, which continues to serve searches and accept changes. A dropped rebuild leaves only a folder,
    /// which the next opening deletes.
    pub fn rebuild(&self) -> Result<Rebuild, SearchError> {
        Ok(Rebuild(self.dir.create_next(&self.options)?))
    }

    /// Puts the rebuilt index into use. It must have been fed at least as far as this one, so that a caller who waited for a position never
    /// finds less than before.
    pub fn adopt(&self, rebuild: Rebuild) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let (rebuilt, present) = (rebuild.position(), self.position());
        if rebuilt < present {
            return Err(SearchError::Behind { rebuilt, present });
        }
        self.replace(rebuild.0)
    }

    /// The documents of `scope` that match `text` and are `allowed`: the page of `limit` items from `offset`, and the total.
    pub fn search(
        &self,
        scope: &Scope,
        text: &str,
        allowed: &RoaringBitmap,
        offset: usize,
        limit: usize,
    ) -> Result<Hits, SearchError> {
        query::ranked(&self.present.load().snapshot(), scope, text, allowed, (offset, limit))
    }

    /// The numbers of all documents of `scope` that match `text`. A text without a letter or digit matches none.
    pub fn matching(&self, scope: &Scope, text: &str) -> Result<RoaringBitmap, SearchError> {
        query::matching(&self.present.load().snapshot(), scope, text)
    }

    fn feed(&self) -> std::sync::MutexGuard<'_, ()> {
        // The mutex protects no data of its own: each generation is at its last commit whatever its last user did.
        self.feeding.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn replace(&self, next: Generation) -> Result<(), SearchError> {
        self.dir.set_current(next.name())?;
        self.position.send_replace(next.position());
        let before = self.present.swap(Arc::new(next));
        before.retire();
        self.dir.remove(before.name());
        Ok(())
    }
}

/// A new index that is being filled while the current one is in use.
pub struct Rebuild(Generation);

impl Rebuild {
    /// The feed position of its last commit.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Applies `changes`, like [`Index::apply`].
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.0.apply(changes)
    }

    /// Makes all applied changes durable, as the feed up to `position`.
    pub fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        self.0.commit(position, pace)
    }
}
