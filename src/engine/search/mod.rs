//! The full-text index of one environment.
//!
//! The index contains documents, each identified by a number within a scope. A search finds the numbers of the documents that match a text;
//! the text may consist of incomplete words or parts of email addresses, and have small typing errors. The index is derived data: the code
//! that stores the documents feeds every change in order, and each commit records its feed position. An index that is lost or damaged
//! starts empty at position 0 and is fed again.
//!
//! Only this folder uses tantivy.
//!
//! On disk, an index is a folder of *generations*, each a separate tantivy index, and a file `CURRENT` with the name of the generation in
//! use. A rebuild fills the next generation while the current one serves searches; then a rename replaces `CURRENT`. So `CURRENT` always
//! names a complete generation, and each generation has its own position.

mod directory;
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

/// Identifies the object to which documents belong, such as a project. A search covers one scope.
pub type Scope = [u8; 12];

/// The kind of a piece of text, which determines how the text is tokenized, matched and ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    Address,
    /// A personal name, or a part of one.
    Name,
    Phone,
    /// The name of a tag.
    Label,
    /// The value of a custom field.
    Value,
}

/// The searchable text of one document.
#[derive(Clone, Debug)]
pub struct Document {
    pub scope: Scope,
    /// The document's number. Sets of numbers are bitmaps up to the highest number, so numbers should be dense within a scope.
    pub number: u32,
    // One buffer holds all the text of a document, because an import creates millions of documents.
    text: String,
    pieces: Vec<(TextKind, u32)>,
}

impl Document {
    pub fn new(scope: Scope, number: u32) -> Self {
        Self { scope, number, text: String::new(), pieces: Vec::new() }
    }

    /// Returns the document with an additional piece of text.
    pub fn with(mut self, kind: TextKind, text: &str) -> Self {
        self.push(kind, text);
        self
    }

    pub fn push(&mut self, kind: TextKind, text: &str) {
        self.text.push_str(text);
        self.pieces.push((kind, self.text.len() as u32));
    }

    /// Returns the pieces of text of the document, in the order in which they were added.
    pub fn pieces(&self) -> impl Iterator<Item = (TextKind, &str)> {
        let mut start = 0;
        self.pieces.iter().map(move |&(kind, end)| (kind, &self.text[std::mem::replace(&mut start, end as usize)..end as usize]))
    }
}

#[derive(Clone, Debug)]
pub enum Change {
    /// Adds a document whose number is certainly not in the index, so no document needs to be removed.
    Add(Document),
    /// Adds a document, and removes any existing document with the same number.
    Replace(Document),
    /// Removes the document with this number, if there is one.
    Remove { scope: Scope, number: u32 },
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

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The memory for documents that are not on disk yet, in bytes; at least 30 MB.
    pub writer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        // This value equals the default setting. With it, an import of a million contacts leaves about thirty segments, and even a small
        // machine has enough memory.
        Self { writer_bytes: 48 << 20 }
    }
}

/// Whether many changes follow a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitMode {
    /// Many more changes follow, so the merging of segments is postponed where possible.
    Rush,
    /// No further changes are expected.
    Calm,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The numbers of the documents on the requested page, best matches first; equally good matches in descending order of their numbers.
    pub numbers: Vec<u32>,
    /// The total number of matching documents.
    pub total: u64,
}

#[derive(Debug)]
pub enum SearchError {
    /// A file or folder could not be read or written.
    Io(std::io::Error),
    Engine(tantivy::TantivyError),
    /// The files on disk are not an index of this version.
    Damaged(String),
    /// The index writer accepts no changes: the disk hangs, or a failed write could not be undone.
    Stalled,
    /// The generation is no longer in use.
    Retired,
    /// A rebuilt index has not caught up with the index that it would replace.
    Behind {
        /// The feed position of the rebuilt index.
        rebuilt: u64,
        /// The feed position of the current index.
        present: u64,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Io(error) => write!(f, "the files of the search index cannot be read or written: {error}"),
            SearchError::Engine(error) => write!(f, "the search engine failed: {error}"),
            SearchError::Damaged(what) => write!(f, "the search index cannot be used ({what}); it is rebuilt automatically"),
            SearchError::Stalled => f.write_str("the writer of the search index is not accepting changes"),
            SearchError::Retired => f.write_str("this generation of the search index is no longer in use"),
            SearchError::Behind { rebuilt, present } => {
                write!(f, "the rebuilt search index is at feed position {rebuilt}, but the current index is already at {present}")
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

pub struct Index {
    dir: IndexDir,
    options: Options,
    present: ArcSwap<Generation>,
    /// Held while changes are applied or committed, or while the generation is replaced; searches never lock it.
    feeding: Mutex<()>,
    position: watch::Sender<u64>,
}

impl Index {
    /// Opens the index in the folder `dir`, which is created if it is missing. An index that is damaged, or was written by a version with
    /// different tokenization, is removed and replaced by an empty index at position 0.
    pub fn open(dir: &Path, options: Options) -> Result<Index, SearchError> {
        let dir = IndexDir::open(dir)?;
        let present = dir.open_present(&options)?;
        let position = watch::Sender::new(present.position());
        Ok(Index { dir, options, present: ArcSwap::from_pointee(present), feeding: Mutex::new(()), position })
    }

    /// Returns the feed position of the last durable commit.
    pub fn position(&self) -> u64 {
        *self.position.borrow()
    }

    /// Applies `changes`, which become visible with the next commit. After an error, all changes since the last commit are dropped, and the
    /// feed must continue from [`Index::position`].
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        let _feeding = self.feed();
        self.present.load().apply(changes)
    }

    /// Makes all applied changes durable and visible, records that they cover the feed up to `position`, and then wakes the callers of
    /// [`Index::caught_up`]. After an error, the index is in the state of the last durable commit.
    pub fn commit(&self, position: u64) -> Result<(), SearchError> {
        self.commit_at(position, CommitMode::Calm)
    }

    /// Like [`Index::commit`], with a [`CommitMode`].
    pub fn commit_at(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let present = self.present.load();
        let result = present.commit(position, pace);
        // The position is also sent after an error: if a commit became durable but could not be opened, its changes must not be fed again.
        self.position.send_replace(present.position());
        result
    }

    /// Waits until the index contains the feed up to `position`; returns false if `timeout` passes first.
    pub async fn caught_up(&self, position: u64, timeout: Duration) -> bool {
        let mut positions = self.position.subscribe();
        let reached = positions.wait_for(|reached| *reached >= position);
        matches!(tokio::time::timeout(timeout, reached).await, Ok(Ok(_)))
    }

    /// Starts merges that were postponed, and switches to segments that have been merged, which frees the space of the old segments. Call
    /// this when there are no changes; it costs nothing if there is nothing to merge.
    pub fn settle(&self) -> Result<(), SearchError> {
        let _feeding = self.feed();
        self.present.load().settle()
    }

    /// Deletes all documents and returns to position 0.
    pub fn clear(&self) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let empty = self.dir.create_next(&self.options)?;
        self.replace(empty)
    }

    /// Starts a new index alongside this one, which continues to serve searches and accept changes. If a rebuild is dropped, only its
    /// folder remains, and is deleted when the index is next opened.
    pub fn rebuild(&self) -> Result<Rebuild, SearchError> {
        Ok(Rebuild(self.dir.create_next(&self.options)?))
    }

    /// Puts the rebuilt index into use. The rebuilt index must have been fed at least as far as this one, so that a caller who waited for a
    /// position never finds fewer documents than before.
    pub fn adopt(&self, rebuild: Rebuild) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let (rebuilt, present) = (rebuild.position(), self.position());
        if rebuilt < present {
            return Err(SearchError::Behind { rebuilt, present });
        }
        self.replace(rebuild.0)
    }

    /// Finds the documents of `scope` that match `text` and are in `allowed`. Returns the page of up to `limit` matches that starts at
    /// `offset`, and the total number of matches.
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

    /// Returns the numbers of all documents of `scope` that match `text`. Text that contains no letters or digits matches no document.
    pub fn matching(&self, scope: &Scope, text: &str) -> Result<RoaringBitmap, SearchError> {
        query::matching(&self.present.load().snapshot(), scope, text)
    }

    fn feed(&self) -> std::sync::MutexGuard<'_, ()> {
        // A poisoned lock can be used, because the mutex protects no data: each generation is at its last commit, whatever the previous
        // lock holder did.
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
    /// Returns the feed position of the last commit to the new index.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Applies `changes`, like [`Index::apply`].
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.0.apply(changes)
    }

    /// Makes all applied changes durable, and records that the index contains the feed up to `position`.
    pub fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        self.0.commit(position, pace)
    }
}
