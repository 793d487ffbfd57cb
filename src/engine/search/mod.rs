//! The full-text index of one environment.
//!
//! It keeps documents, each a number within a scope, and finds their numbers by text: while it is being typed, inside email
//! addresses, with small typing errors. It is derived data: whoever owns the documents feeds every change in order, each commit
//! records how far the feed has been taken in, and an index that is lost or damaged starts empty at position 0 and is fed again.
//!
//! It knows nothing of contacts, projects or the store. Only this folder names tantivy.
//!
//! On disk an index is a folder of *generations*, each a tantivy index of its own, and a file `CURRENT` that names the one in
//! use. A rebuild fills the next generation while the present one answers, then `CURRENT` is replaced by a rename: at any moment
//! it names a complete generation, and each generation carries its own position.

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

/// Whom documents belong to; a search sees one scope.
pub type Scope = [u8; 12];

/// What kind of text a piece is; decides how it is cut, matched and weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An email address.
    Address,
    /// A personal name, or a part of one.
    Name,
    /// A telephone number.
    Phone,
    /// The name of a tag.
    Label,
    /// The value of a custom field.
    Value,
}

/// The searchable texts of one document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Whom it belongs to.
    pub scope: Scope,
    /// Its number. Sets of numbers are bitmaps as long as the highest one, so numbers should be dense within a scope.
    pub number: u32,
    // One buffer for all texts: an import makes millions of these.
    text: String,
    pieces: Vec<(Kind, u32)>,
}

impl Document {
    /// A document without texts.
    pub fn new(scope: Scope, number: u32) -> Self {
        Self { scope, number, text: String::new(), pieces: Vec::new() }
    }

    /// The same document with one more text.
    pub fn with(mut self, kind: Kind, text: &str) -> Self {
        self.push(kind, text);
        self
    }

    /// Add a text.
    pub fn push(&mut self, kind: Kind, text: &str) {
        self.text.push_str(text);
        self.pieces.push((kind, self.text.len() as u32));
    }

    /// Its texts, in the order they were added.
    pub fn pieces(&self) -> impl Iterator<Item = (Kind, &str)> {
        let mut start = 0;
        self.pieces.iter().map(move |&(kind, end)| (kind, &self.text[std::mem::replace(&mut start, end as usize)..end as usize]))
    }
}

/// A change to the documents.
#[derive(Clone, Debug)]
pub enum Change {
    /// A document whose number is surely not in the index: nothing has to be removed for it.
    Add(Document),
    /// A document that takes the place of the one with its number, if there is one.
    Replace(Document),
    /// The document with this number, if there is one, goes.
    Remove {
        /// Whom it belongs to.
        scope: Scope,
        /// Its number.
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

/// How an index works.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory for documents that are taken in and not yet written out. At least 30 MB.
    pub writer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        // As the built-in settings: an import of a million leaves some thirty segments, and a small machine has room for it.
        Self { writer_bytes: 48 << 20 }
    }
}

/// What follows a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitMode {
    /// Much more is on its way: merging of segments waits, as far as it can.
    Rush,
    /// Nothing is known to follow.
    Calm,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The numbers of the wanted page, best first; of equally good ones the highest number first.
    pub numbers: Vec<u32>,
    /// How many documents match in all.
    pub total: u64,
}

/// Why the index could not do what was asked.
#[derive(Debug)]
pub enum SearchError {
    /// A file or folder could not be read or written.
    Io(std::io::Error),
    /// The engine underneath failed.
    Engine(tantivy::TantivyError),
    /// What is on disk is not an index that this version wrote.
    Damaged(String),
    /// The indexing thread takes nothing in: the disk hangs, or a failed write could not be undone. [`Index::clear`] or opening
    /// again helps.
    Stalled,
    /// The generation is no longer in use.
    Retired,
    /// A rebuilt index has not caught up with the one it shall replace.
    Behind {
        /// Position of the rebuilt index.
        rebuilt: u64,
        /// Position of the present one.
        present: u64,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchError::Io(error) => write!(f, "the search index cannot reach its files: {error}"),
            SearchError::Engine(error) => write!(f, "the search engine failed: {error}"),
            SearchError::Damaged(what) => write!(f, "the search index is damaged: {what}"),
            SearchError::Stalled => f.write_str("the indexing thread takes nothing in"),
            SearchError::Retired => f.write_str("this generation of the search index is no longer in use"),
            SearchError::Behind { rebuilt, present } => {
                write!(f, "the rebuilt search index stands at {rebuilt}, the present one already at {present}")
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
    /// Held while changes are taken in, committed, or the generation is exchanged; searches never take it.
    feeding: Mutex<()>,
    position: watch::Sender<u64>,
}

impl Index {
    /// Open the index in the folder `dir`, which is made if it is not there. An index that is damaged, or was written by a
    /// version that cut words differently, is put away and an empty one at position 0 opened.
    pub fn open(dir: &Path, options: Options) -> Result<Index, SearchError> {
        let dir = IndexDir::open(dir)?;
        let present = dir.open_present(&options)?;
        let position = watch::Sender::new(present.position());
        Ok(Index { dir, options, present: ArcSwap::from_pointee(present), feeding: Mutex::new(()), position })
    }

    /// The feed position that the last durable commit contains.
    pub fn position(&self) -> u64 {
        *self.position.borrow()
    }

    /// Take `changes` in. They count from the next commit on. After an error all changes since the last commit are dropped, and
    /// the feed goes on from [`Index::position`].
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        let _feeding = self.feed();
        self.present.load().apply(changes)
    }

    /// Make everything taken in durable and visible, as the feed up to `position`, then wake those who wait for it. After an
    /// error the index stands as at the commit before.
    pub fn commit(&self, position: u64) -> Result<(), SearchError> {
        self.commit_at(position, CommitMode::Calm)
    }

    /// The same at a [`CommitMode`].
    pub fn commit_at(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let present = self.present.load();
        let result = present.commit(position, pace);
        // Also after an error: a commit that became durable but could not be opened must not be fed again.
        self.position.send_replace(present.position());
        result
    }

    /// Wait until the index contains the feed up to `position`; false if `timeout` passes before.
    pub async fn caught_up(&self, position: u64, timeout: Duration) -> bool {
        let mut positions = self.position.subscribe();
        let reached = positions.wait_for(|reached| *reached >= position);
        matches!(tokio::time::timeout(timeout, reached).await, Ok(Ok(_)))
    }

    /// For quiet times: begin the merging that waited while there was a rush, and use the merged segments that have become ready
    /// since, which gives the space of the old ones back. Costs nothing where there is neither.
    pub fn settle(&self) -> Result<(), SearchError> {
        let _feeding = self.feed();
        self.present.load().settle()
    }

    /// Forget everything and stand at position 0.
    pub fn clear(&self) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let empty = self.dir.create_next(&self.options)?;
        self.replace(empty)
    }

    /// Begin a new index beside this one, which goes on answering and taking changes. A rebuild that is dropped leaves nothing
    /// behind but a folder, which the next opening clears.
    pub fn rebuild(&self) -> Result<Rebuild, SearchError> {
        Ok(Rebuild(self.dir.create_next(&self.options)?))
    }

    /// Use the rebuilt index from now on. It must have been fed at least as far as this one, so that no one who waited for a
    /// position finds less than before.
    pub fn adopt(&self, rebuild: Rebuild) -> Result<(), SearchError> {
        let _feeding = self.feed();
        let (rebuilt, present) = (rebuild.position(), self.position());
        if rebuilt < present {
            return Err(SearchError::Behind { rebuilt, present });
        }
        self.replace(rebuild.0)
    }

    /// The documents of `scope` that match `text` and are `allowed`: the page of `limit` from `offset` on, and the total.
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
        // The mutex protects no data of its own: each generation stands at its last commit whatever its last user did.
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

/// A new index that is being filled while the present one is in use.
pub struct Rebuild(Generation);

impl Rebuild {
    /// The feed position that its last commit contains.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Take `changes` in, as [`Index::apply`] does.
    pub fn apply(&self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.0.apply(changes)
    }

    /// Make everything taken in durable, as the feed up to `position`.
    pub fn commit(&self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        self.0.commit(position, pace)
    }
}
