//! The table of English words with their classes.
//!
//! `english.classes` contains the words of the Brill tagger's lexicon, which was derived from edited English text. The script `classes.mjs`
//! writes `english.classes`, whose license is in `classes.license.txt`.

use super::word_hash::{HASH_BYTES, hash_of};

/// The sorted hashes of all words, followed by two bytes of flags for each word.
static CLASSES: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/english.classes"));

pub(super) const NOUN: u16 = 1;
pub(super) const PLURAL_NOUN: u16 = 2;
pub(super) const BASE_VERB: u16 = 4;
pub(super) const THIRD_PERSON: u16 = 8;
pub(super) const PAST: u16 = 16;
pub(super) const PARTICIPLE: u16 = 32;
pub(super) const ING_FORM: u16 = 64;
pub(super) const ADJECTIVE: u16 = 128;
pub(super) const ADVERB: u16 = 256;
pub(super) const OTHER: u16 = 512;
pub(super) const COMPARATIVE: u16 = 1024;
pub(super) const SUPERLATIVE: u16 = 2048;

/// Returns whether the word is in the table as the base form of a verb.
pub(super) fn is_listed_verb(word: &str) -> bool {
    listed(word).is_some_and(|flags| flags & BASE_VERB != 0)
}

/// Returns the classes of a word in the table, as flags.
pub(super) fn listed(word: &str) -> Option<u16> {
    let count = CLASSES.len() / (HASH_BYTES + 2);
    let (hashes, flags) = CLASSES.split_at(count * HASH_BYTES);
    let hash = hash_of(word.bytes());
    let at = hashes.as_chunks::<HASH_BYTES>().0.binary_search(&hash).ok()?;
    flags.as_chunks::<2>().0.get(at).map(|flags| u16::from_be_bytes(*flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_sorted() {
        let count = CLASSES.len() / (HASH_BYTES + 2);
        let hashes = CLASSES[..count * HASH_BYTES].as_chunks::<HASH_BYTES>().0;
        assert!(count > 40_000 && hashes.is_sorted_by(|one, other| one < other));
    }
}
