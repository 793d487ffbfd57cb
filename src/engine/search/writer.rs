//! One generation of the index on disk: its writer, its commits and their feed positions.
//!
//! Invariant: the feed position is the payload of tantivy's own commit file, which is replaced by one rename. So documents and position
//! always change together, even in a power cut.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, UserOperation};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, IndexSettings, IndexWriter, SegmentReader};

use super::directory::{CloseOnDrop, WriterDirectory};
use super::reader::Reader;
use super::schema::{Batch, Entry, NUMBER, TERMS_FIELD, schema};
use super::tokens::{KEY_SHIFT, Space, Terms, Tokenizer, key, term};
use super::{Change, CommitMode, Document, Options, Scope, SearchError};

/// The maximum number of documents that are passed to the indexing threads at once. Large batches make the transfer cheap.
const BATCH_DOCUMENTS: usize = 512;
/// The size limit of a batch. Without it, a batch could exceed the memory budget, which tantivy checks only between batches.
const BATCH_BYTES: usize = 1_000_000;
/// The number of indexing threads. Indexing takes half of an import's time.
const INDEXING_THREADS: usize = 2;
/// The number of batches in flight: several, so that the caller and the indexing threads do not wait for each other after every batch.
const BATCHES: usize = 6;
/// How long to wait for a batch to return. The indexing threads pause this long only if the disk hangs.
const BATCH_PATIENCE: Duration = Duration::from_secs(120);

pub(super) struct Writer {
    path: PathBuf,
    /// The memory budget of tantivy's writer, in bytes.
    memory: usize,
    /// The running writer; `None` while it cannot be restarted after a failure, for example because no file descriptor was left.
    running: Option<RunningWriter>,
    tokenizer: Tokenizer,
    spare: Receiver<Terms>,
    home: SyncSender<Terms>,
    position: u64,
    /// Whether the last commit was made in a rush, so that merging was postponed.
    rushed: bool,
}

impl Writer {
    /// Opens the generation in the existing folder `path`; if the folder has no index files, creates them. Fails if any file is damaged.
    pub(super) fn open(path: &Path, options: &Options) -> Result<(Self, Reader), SearchError> {
        let directory = WriterDirectory::open(path)?;
        let closing = directory.close_on_drop();
        let index = if tantivy::Index::exists(&directory).map_err(tantivy::TantivyError::from)? {
            tantivy::Index::open(directory)?
        } else {
            // No documents are stored, so the document store has only a few bytes and needs no dedicated thread.
            let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
            tantivy::Index::create(directory, schema(), settings)?
        };
        if index.schema() != schema() {
            return Err(SearchError::Damaged("the index has different fields than this version expects".to_owned()));
        }
        let damaged = index.validate_checksum()?;
        if !damaged.is_empty() {
            let names: Vec<String> = damaged.iter().map(|path| path.display().to_string()).collect();
            return Err(SearchError::Damaged(format!("these files have wrong checksums: {}", names.join(", "))));
        }
        let position = committed_position(&index)?;
        let memory = options.writer_bytes;
        let reader = Reader::open(&index)?;
        let running = Some(RunningWriter::start(&index, closing, memory)?);
        let (home, spare) = batches();
        let path = path.to_owned();
        Ok((Self { path, memory, running, tokenizer: Tokenizer::new(), spare, home, position, rushed: false }, reader))
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Applies `changes`, which are durable and visible after the next commit. After an error, all changes since the last commit are
    /// dropped.
    pub(super) fn apply(&mut self, changes: Vec<Change>) -> Result<(), SearchError> {
        self.start_again()?;
        self.try_apply(changes).inspect_err(|_| self.drop_uncommitted())
    }

    /// Makes all applied changes durable, together with `position`. After an error, the index is in the state of the last durable commit.
    pub(super) fn commit(&mut self, position: u64, pace: CommitMode) -> Result<(), SearchError> {
        self.writer()?.set_merge_policy(Box::new(merge_policy(pace)));
        self.rushed = pace == CommitMode::Rush;
        self.try_commit(position).inspect_err(|_| self.drop_uncommitted())
    }

    /// Starts the postponed merges, if any, with a commit, because tantivy looks for merges at each commit.
    pub(super) fn settle(&mut self) -> Result<(), SearchError> {
        self.start_again()?;
        if self.rushed { self.commit(self.position, CommitMode::Calm) } else { Ok(()) }
    }

    fn writer(&mut self) -> Result<&mut IndexWriter<Entry>, SearchError> {
        self.running.as_mut().map(|running| &mut running.writer).ok_or(SearchError::Stalled)
    }

    /// If a failure has stopped the writer, restarts it from the last commit. Call this only between commits, because uncommitted changes
    /// are lost.
    fn start_again(&mut self) -> Result<(), SearchError> {
        if self.running.is_none() {
            let directory = WriterDirectory::open(&self.path)?;
            let closing = directory.close_on_drop();
            let index = tantivy::Index::open(directory)?;
            self.position = committed_position(&index)?;
            self.running = Some(RunningWriter::start(&index, closing, self.memory)?);
            // Batches in flight to the previous writer do not return, so new batches are created.
            (self.home, self.spare) = batches();
            self.rushed = false;
            tracing::info!(position = self.position, "the writer of the search index was restarted from the last commit");
        }
        Ok(())
    }

    fn try_apply(&mut self, changes: Vec<Change>) -> Result<(), SearchError> {
        let (documents, outdated) = settle(changes);
        if !outdated.is_empty() {
            // All outdated documents are removed in one operation, however many there are, because each operation is applied to every
            // segment at commit.
            self.writer()?.delete_query(Box::new(StaleDocuments(Arc::new(outdated))))?;
        }
        let mut documents = documents.as_slice();
        while !documents.is_empty() {
            documents = self.send(documents)?;
        }
        Ok(())
    }

    /// Passes one batch of documents, from the start of `documents`, to the indexing threads; returns the rest.
    fn send<'a>(&mut self, documents: &'a [Document]) -> Result<&'a [Document], SearchError> {
        let mut terms = self.spare.recv_timeout(BATCH_PATIENCE).map_err(|_| SearchError::Stalled)?;
        let mut ranges: Vec<(u32, u32)> = Vec::with_capacity(BATCH_DOCUMENTS);
        for document in documents.iter().take(BATCH_DOCUMENTS) {
            let first = terms.len() as u32;
            self.tokenizer.write(document, &mut terms);
            ranges.push((first, terms.len() as u32));
            if terms.bytes() >= BATCH_BYTES {
                break;
            }
        }
        let (sent, left) = documents.split_at(ranges.len());
        let batch = Arc::new(Batch { terms, home: self.home.clone() });
        let entries = sent.iter().zip(ranges).map(|(document, (first, end))| {
            UserOperation::Add(Entry { batch: batch.clone(), first, end, number: document.number })
        });
        self.writer()?.run(entries)?;
        Ok(left)
    }

    fn try_commit(&mut self, position: u64) -> Result<(), SearchError> {
        let mut prepared = self.writer()?.prepare_commit()?;
        prepared.set_payload(&position.to_string());
        prepared.commit()?;
        self.position = position;
        Ok(())
    }

    /// Replaces the writer with one that starts from the last commit. Tantivy's own rollback is not used, because after it, a merge of the
    /// previous writer could still replace the commit of the new one.
    fn drop_uncommitted(&mut self) {
        // A writer holds the lock of the index until it is dropped.
        self.running = None;
        // The commit may have become durable before it failed, so its position is read again.
        if let Err(error) = self.start_again() {
            tracing::warn!(%error, "the writer of the search index could not be restarted from the last commit; the next change tries again");
        }
    }
}

/// A tantivy writer. The fields are dropped in the order of their declaration, so the directory stays open until the indexing threads have
/// ended.
struct RunningWriter {
    writer: IndexWriter<Entry>,
    _closing: CloseOnDrop,
}

impl RunningWriter {
    /// Starts a writer on the last commit of `index`; `closing` closes the directory of `index`.
    fn start(index: &tantivy::Index, closing: CloseOnDrop, memory: usize) -> Result<Self, SearchError> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(INDEXING_THREADS)
            .num_merge_threads(1)
            .memory_budget_per_thread(memory / INDEXING_THREADS)
            .build();
        let writer = index.writer_with_options(options)?;
        pass_committed(&writer)?;
        // Delete the files of a failed commit, because the next commit may use their names again.
        if let Err(error) = writer.garbage_collect_files().wait() {
            tracing::warn!(%error, "unused files of the search index could not be deleted");
        }
        writer.set_merge_policy(Box::new(merge_policy(CommitMode::Calm)));
        Ok(Self { writer, _closing: closing })
    }
}

/// Creates the channel from which batches are taken and to which they return.
fn batches() -> (SyncSender<Terms>, Receiver<Terms>) {
    let (home, spare) = sync_channel(BATCHES);
    for _ in 0..BATCHES {
        home.try_send(Terms::default()).expect("the channel has a slot for each batch");
    }
    (home, spare)
}

/// Skips the operation number of the last commit.
///
/// A writer gives its first operation the number of the commit from which it starts. If that operation is a deletion, a merge that starts
/// before the next commit treats the deletion as a part of the earlier commit. If that commit has deleted other documents, the merge skips
/// the deletion, and the deleted documents come back.
fn pass_committed(writer: &IndexWriter<Entry>) -> tantivy::Result<()> {
    let nothing: [UserOperation<Entry>; 0] = [];
    writer.run(nothing).map(drop)
}

fn committed_position(index: &tantivy::Index) -> Result<u64, SearchError> {
    match index.load_metas()?.payload {
        Some(payload) => {
            payload.parse().map_err(|_| SearchError::Damaged(format!("a commit has an invalid feed position: {payload}")))
        }
        None => Ok(0),
    }
}

/// Returns the policy for merging segments. Single changes create segments of one document, and an import creates segments of 100,000
/// documents: in both cases, few segments must remain, without frequent rewriting of the large ones. During an import, merging would
/// compete for the processor, so merging waits until there are so many segments that searches would become noticeably slower.
fn merge_policy(pace: CommitMode) -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(if pace == CommitMode::Rush { 32 } else { 6 });
    policy.set_min_layer_size(400);
    // Segments whose sizes are within a factor of 5.6 are merged with each other. The factor is less than the 6 segments of a merge, so
    // that the result is not merged again soon.
    policy.set_level_log_size(2.5);
    policy.set_max_docs_before_merge(4_000_000);
    policy.set_del_docs_ratio_before_merge(0.3);
    policy
}

/// Returns the documents to add, and the numbers whose existing documents must be removed. If a number has several changes, the last one
/// applies.
fn settle(changes: Vec<Change>) -> (Vec<Document>, BTreeMap<Scope, Vec<u32>>) {
    if changes.iter().all(|change| matches!(change, Change::Add(_))) {
        let added = |change| if let Change::Add(document) = change { Some(document) } else { None };
        return (changes.into_iter().filter_map(added).collect(), BTreeMap::new());
    }
    let mut last: HashMap<(Scope, u32), usize> = HashMap::with_capacity(changes.len());
    for (at, change) in changes.iter().enumerate() {
        last.insert(change.address(), at);
    }
    let mut documents = Vec::new();
    let mut outdated: BTreeMap<Scope, Vec<u32>> = BTreeMap::new();
    for (at, change) in changes.into_iter().enumerate() {
        let (scope, number) = change.address();
        if !matches!(change, Change::Add(_)) {
            outdated.entry(scope).or_default().push(number);
        }
        if last[&(scope, number)] == at {
            documents.extend(change.into_document());
        }
    }
    for numbers in outdated.values_mut() {
        numbers.sort_unstable();
        numbers.dedup();
    }
    (documents, outdated)
}

/// A query that selects documents by scope and number.
#[derive(Clone, Debug)]
struct StaleDocuments(Arc<BTreeMap<Scope, Vec<u32>>>);

impl StaleDocuments {
    fn documents(&self, segment: &SegmentReader) -> tantivy::Result<Vec<DocId>> {
        let index = segment.inverted_index(TERMS_FIELD)?;
        let numbers = segment.fast_fields().u64(NUMBER)?.first_or_default_col(0);
        let mut documents = Vec::new();
        for (scope, outdated) in self.0.iter() {
            for group in outdated.chunk_by(|left, right| left >> KEY_SHIFT == right >> KEY_SHIFT) {
                let Some(info) = index.terms().get(term(scope, Space::Key, 0, &key(group[0]), false))? else { continue };
                let mut block = index.read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
                while !block.docs().is_empty() {
                    let dead = |doc: &&DocId| group.binary_search(&(numbers.get_val(**doc) as u32)).is_ok();
                    documents.extend(block.docs().iter().filter(dead));
                    block.advance();
                }
            }
        }
        documents.sort_unstable();
        Ok(documents)
    }
}

impl Query for StaleDocuments {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for StaleDocuments {
    /// Returns no documents: a deletion calls only [`Weight::for_each_no_score`].
    fn scorer(&self, _: &SegmentReader, _: f32) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(EmptyScorer))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(tantivy::TantivyError::InvalidArgument("this query does not compute scores".to_owned()))
    }

    fn for_each_no_score(&self, segment: &SegmentReader, callback: &mut dyn FnMut(&[DocId])) -> tantivy::Result<()> {
        callback(&self.documents(segment)?);
        Ok(())
    }
}
