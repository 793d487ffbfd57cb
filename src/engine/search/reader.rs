//! The last commit, ready for reading: the segments, and the mapping of their rows to document numbers. This module turns terms and ranges
//! of terms into sets of numbers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use roaring::RoaringBitmap;
use tantivy::index::SegmentId;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermStreamer;
use tantivy::{DocId, IndexReader, InvertedIndexReader, ReloadPolicy, SegmentReader};
use tantivy_fst::Automaton;

use super::SearchError;
use super::schema::{NUMBER, TERMS_FIELD};

/// The maximum number of terms read for one range in one segment. For words that are indexed with prefixes on all rungs (`tokens.rs`),
/// ranges are far smaller; the limit bounds the work if a project has hundreds of thousands of other words with the same prefix.
const RANGE_TERMS_MAX: usize = 100_000;
/// Up to this size, a set is collected as a list; a larger set is collected as bits.
const LIST_MAX: usize = 4_096;

/// Follows the commits of one generation.
pub(super) struct Reader {
    index: tantivy::Index,
    reader: IndexReader,
    snapshot: ArcSwap<Snapshot>,
}

impl Reader {
    pub(super) fn open(index: &tantivy::Index) -> Result<Self, SearchError> {
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let snapshot = Snapshot::of(&reader, &Snapshot::default())?;
        Ok(Self { index: index.clone(), reader, snapshot: ArcSwap::from_pointee(snapshot) })
    }

    /// Switches to the newest commit, or to the newest merge of its segments.
    pub(super) fn reload(&self) -> Result<(), SearchError> {
        self.reader.reload()?;
        let snapshot = Snapshot::of(&self.reader, &self.snapshot.load())?;
        self.snapshot.store(Arc::new(snapshot));
        Ok(())
    }

    /// Like [`Self::reload`], but has no effect if no merged segments are ready.
    pub(super) fn reload_if_merged(&self) -> Result<(), SearchError> {
        let ready: HashSet<SegmentId> = self.index.searchable_segment_ids()?.into_iter().collect();
        let shown = self.snapshot.load();
        if ready.len() == shown.segments.len() && shown.segments.iter().all(|segment| ready.contains(&segment.id)) {
            return Ok(());
        }
        self.reload()
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }
}

/// The segments of one commit.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) segments: Vec<Segment>,
    /// The highest number in any segment, plus one.
    numbers_end: u32,
}

impl Snapshot {
    fn of(reader: &IndexReader, before: &Snapshot) -> Result<Self, SearchError> {
        let known: HashMap<SegmentId, &Segment> = before.segments.iter().map(|segment| (segment.id, segment)).collect();
        let mut segments = Vec::new();
        for segment in reader.searcher().segment_readers() {
            let numbers = match known.get(&segment.segment_id()) {
                Some(known) => known.numbers.clone(),
                None => Numbers::read(segment)?,
            };
            let index = segment.inverted_index(TERMS_FIELD)?;
            segments.push(Segment { id: segment.segment_id(), reader: segment.clone(), index, numbers });
        }
        let numbers_end = segments.iter().map(|segment| segment.numbers.end(segment.reader.max_doc())).max().unwrap_or(0);
        Ok(Self { segments, numbers_end })
    }

    /// Creates an empty set with space for every number of this snapshot.
    pub(super) fn collect(&self) -> NumberCollector {
        NumberCollector { list: Vec::new(), bits: Vec::new(), bytes: self.numbers_end as usize / 8 + 1 }
    }
}

/// The document numbers of a segment's rows.
#[derive(Clone)]
enum Numbers {
    /// Row 0 has this number, and the numbers of the following rows increase by one, as after an import into an empty project.
    From(u32),
    Table(Arc<[u32]>),
}

impl Numbers {
    fn read(segment: &SegmentReader) -> Result<Self, SearchError> {
        let column = segment.fast_fields().u64(NUMBER)?.first_or_default_col(0);
        let first = if segment.max_doc() == 0 { 0 } else { column.get_val(0) as u32 };
        if (0..segment.max_doc()).all(|row| column.get_val(row) == u64::from(first) + u64::from(row)) {
            return Ok(Numbers::From(first));
        }
        Ok(Numbers::Table((0..segment.max_doc()).map(|row| column.get_val(row) as u32).collect()))
    }

    fn end(&self, rows: u32) -> u32 {
        match self {
            Numbers::From(first) => first.saturating_add(rows),
            Numbers::Table(table) => table.iter().max().map_or(0, |number| number.saturating_add(1)),
        }
    }
}

pub(super) struct Segment {
    id: SegmentId,
    reader: SegmentReader,
    index: Arc<InvertedIndexReader>,
    numbers: Numbers,
}

impl Segment {
    /// Adds the documents that contain `term`.
    pub(super) fn exact(&self, term: &[u8], into: &mut NumberCollector) -> Result<(), SearchError> {
        if let Some(info) = self.index.terms().get(term)? {
            self.add(&info, &mut None, into)?;
        }
        Ok(())
    }

    /// Adds the documents that contain a term starting with `prefix`.
    pub(super) fn range(&self, prefix: &[u8], into: &mut NumberCollector) -> Result<(), SearchError> {
        let mut end = prefix.to_vec();
        // The last byte of a prefix belongs to UTF-8 text, or is the class, which is at most `WORD_CHARS_MAX`, so it is never 0xff.
        *end.last_mut().expect("a prefix contains at least the scope") += 1;
        let terms = self.index.terms().range().ge(prefix).lt(&end).into_stream()?;
        self.each(terms, into)
    }

    /// Adds the documents that contain a term accepted by `automaton`.
    pub(super) fn accepted<A: Automaton>(&self, automaton: A, into: &mut NumberCollector) -> Result<(), SearchError>
    where
        A::State: Clone,
    {
        let terms = self.index.terms().search(automaton).into_stream()?;
        self.each(terms, into)
    }

    /// Adds the documents that contain any of the first [`RANGE_TERMS_MAX`] terms in `terms`.
    fn each<A: Automaton>(&self, mut terms: TermStreamer<'_, A>, into: &mut NumberCollector) -> Result<(), SearchError> {
        let mut postings = None;
        for _ in 0..RANGE_TERMS_MAX {
            if !terms.advance() {
                break;
            }
            self.add(terms.value(), &mut postings, into)?;
        }
        Ok(())
    }

    /// Adds the documents that contain all of `terms`.
    pub(super) fn all(&self, terms: &[Vec<u8>], into: &mut NumberCollector) -> Result<(), SearchError> {
        let mut infos = Vec::with_capacity(terms.len());
        for term in terms {
            match self.index.terms().get(term)? {
                Some(info) => infos.push(info),
                None => return Ok(()),
            }
        }
        infos.sort_by_key(|info| info.doc_freq);
        infos.dedup_by_key(|info| info.postings_range.start);
        // A term that every row contains excludes no document.
        let rows = self.reader.max_doc();
        let (first, rest) = infos.split_first().expect("a query has at least one group");
        if rest.iter().all(|info| info.doc_freq == rows) {
            return self.add(first, &mut None, into);
        }
        let mut found = Vec::with_capacity(first.doc_freq as usize);
        let mut block = self.index.read_block_postings_from_terminfo(first, IndexRecordOption::Basic)?;
        while !block.docs().is_empty() {
            found.extend_from_slice(block.docs());
            block.advance();
        }
        for info in rest.iter().filter(|info| info.doc_freq != rows) {
            retain_common(&mut found, self.index.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?);
        }
        self.add_rows(&found, into);
        Ok(())
    }

    /// Adds the documents that contain one term. `postings` is the cursor of the previous term, and is reused for this one.
    fn add(
        &self,
        info: &TermInfo,
        postings: &mut Option<BlockSegmentPostings>,
        into: &mut NumberCollector,
    ) -> Result<(), SearchError> {
        if let (Numbers::From(first), None) = (&self.numbers, self.reader.alive_bitset())
            && info.doc_freq == self.reader.max_doc()
        {
            into.add_range(*first, first + info.doc_freq);
            return Ok(());
        }
        let block = match postings {
            Some(block) => {
                self.index.reset_block_postings_from_terminfo(info, block)?;
                block
            }
            None => postings.insert(self.index.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?),
        };
        while !block.docs().is_empty() {
            self.add_rows(block.docs(), into);
            block.advance();
        }
        Ok(())
    }

    fn add_rows(&self, rows: &[DocId], into: &mut NumberCollector) {
        match (&self.numbers, self.reader.alive_bitset()) {
            (Numbers::From(first), None) => into.add(rows.iter().map(|row| first + row)),
            (Numbers::Table(table), None) => into.add(rows.iter().map(|row| table[*row as usize])),
            (Numbers::From(first), Some(alive)) => {
                into.add(rows.iter().filter(|row| alive.is_alive(**row)).map(|row| first + row));
            }
            (Numbers::Table(table), Some(alive)) => {
                into.add(rows.iter().filter(|row| alive.is_alive(**row)).map(|row| table[*row as usize]));
            }
        }
    }
}

/// Removes from `found` all rows that are not in `postings`. `found` is in ascending order.
fn retain_common(found: &mut Vec<DocId>, mut postings: BlockSegmentPostings) {
    // Skipping blocks is worthwhile only if most blocks contain no wanted row.
    if found.len() * 64 < postings.doc_freq() as usize {
        found.retain(|&row| {
            let at = postings.seek(row);
            postings.docs().get(at) == Some(&row)
        });
        return;
    }
    let mut kept = 0;
    let mut at = 0;
    while !postings.docs().is_empty() && at < found.len() {
        for &row in postings.docs() {
            while at < found.len() && found[at] < row {
                at += 1;
            }
            if at < found.len() && found[at] == row {
                found[kept] = row;
                kept += 1;
                at += 1;
            }
        }
        postings.advance();
    }
    found.truncate(kept);
}

/// A set of numbers while it is collected: a list if small, bits if large.
pub(super) struct NumberCollector {
    list: Vec<u32>,
    bits: Vec<u8>,
    bytes: usize,
}

impl NumberCollector {
    fn add(&mut self, numbers: impl Iterator<Item = u32>) {
        if self.bits.is_empty() {
            self.list.extend(numbers);
            if self.list.len() > LIST_MAX {
                let list = std::mem::take(&mut self.list);
                self.bits = vec![0; self.bytes];
                self.add(list.into_iter());
            }
            return;
        }
        for number in numbers {
            self.bits[number as usize / 8] |= 1 << (number % 8);
        }
    }

    fn add_range(&mut self, first: u32, end: u32) {
        if self.bits.is_empty() {
            self.bits = vec![0; self.bytes];
            let list = std::mem::take(&mut self.list);
            self.add(list.into_iter());
        }
        let whole = first.next_multiple_of(8).min(end)..(end & !7).max(first.next_multiple_of(8)).min(end);
        self.add(first..whole.start);
        if !whole.is_empty() {
            self.bits[whole.start as usize / 8..whole.end as usize / 8].fill(0xff);
        }
        self.add(whole.end..end);
    }

    pub(super) fn finish(mut self) -> RoaringBitmap {
        if !self.bits.is_empty() {
            return RoaringBitmap::from_lsb0_bytes(0, &self.bits);
        }
        self.list.sort_unstable();
        self.list.dedup();
        RoaringBitmap::from_sorted_iter(self.list).expect("the list is sorted above and has no duplicates")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collects_lists_ranges_and_bits_alike() {
        for (first, end) in [(0, 0), (0, 1), (3, 5), (3, 8), (8, 16), (5, 21), (7, 64), (0, 80)] {
            let mut set = NumberCollector { list: vec![90], bits: Vec::new(), bytes: 16 };
            set.add_range(first, end);
            let expected: RoaringBitmap = (first..end).chain([90]).collect();
            assert_eq!(set.finish(), expected, "{first}..{end}");
        }
        let mut set = NumberCollector { list: Vec::new(), bits: Vec::new(), bytes: 2_000 };
        set.add((0..10_000).rev().chain([7, 7]));
        assert_eq!(set.finish().len(), 10_000);
    }
}
