//! Turns text into terms. A term is `scope · space · class · text`, so one dictionary serves every project and every kind of text, and one
//! range of the dictionary contains "all words of this kind in this project with this prefix".
//!
//! A prefix search must not read a million terms. Each word is therefore indexed several times: whole, and as prefixes of fixed lengths,
//! the [`RUNGS`]. The class of a term is the length of its rung, or 0. A query for a prefix reads a short range of the shortest rung that
//! is at least as long as the prefix. *Plain* words, which come from a natural vocabulary with few different words, have prefixes only on
//! the first rungs ([`plain_rungs`]); a whole plain word that is longer than those rungs is in class 0. *Laddered* words (local parts of
//! addresses, words with a digit), which may all differ, have prefixes on all rungs. A whole word ends with [`END`]; a prefix does not.
//!
//! Text inside a local part or a domain is found by its trigrams, starting at the second character (text at the first character is found as
//! a prefix; the domains in [`PROVIDERS`] have no trigrams). A match does not check that the trigrams are adjacent.

use super::fold::{Folder, cut};
use super::{Document, Scope, TextKind};

/// The prefix lengths, in characters, that are indexed in addition to whole words. They are closest together for short prefixes, which many
/// different words share. Each rung makes imports slower and the index larger.
pub(super) const RUNGS: [u8; 8] = [1, 2, 3, 5, 8, 13, 24, WORD_CHARS_MAX as u8];
/// Domains of large mail providers. Many addresses are in these domains, so the lists of documents for their trigrams would be among the
/// longest. Instead, a query searches for the names of these domains directly.
pub(super) const PROVIDERS: [&str; 16] = [
    "gmail.com",
    "googlemail.com",
    "yahoo.com",
    "hotmail.com",
    "outlook.com",
    "live.com",
    "msn.com",
    "icloud.com",
    "me.com",
    "aol.com",
    "gmx.de",
    "gmx.net",
    "web.de",
    "t-online.de",
    "mail.ru",
    "qq.com",
];
/// The maximum length of a word; longer words are truncated. Local parts have at most 64 characters, and longer words are rare in names.
pub(super) const WORD_CHARS_MAX: usize = 64;
/// The maximum length of text; longer text is truncated. The first 512 characters of a name or a custom value are enough to find a contact
/// by it.
const TEXT_CHARS_MAX: usize = 512;
/// The maximum number of words indexed for one piece of text.
const WORDS_MAX: usize = 48;
/// The class of plain whole words.
pub(super) const PLAIN: u8 = 0;
/// The number of digits in each group by which a phone number is indexed. A few groups of this length distinguish numbers, and users often
/// type the last four digits.
pub(super) const PHONE_GROUP: usize = 4;
/// The byte that ends a whole word. Folded text has no control characters, so this byte cannot occur inside a word.
pub(super) const END: u8 = 0;
/// The number of bits by which a document number is shifted to get its key term, so that 64 documents share a key term. Removing a document
/// looks up its key term, then compares numbers; with one term for 64 documents, the keys use almost no space in the dictionary.
pub(super) const KEY_SHIFT: u32 = 6;

/// The kind of a term; each kind has its own range in the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Space {
    /// The complete part of an address before the `@`.
    Local = b'L',
    /// The complete part of an address after the `@`.
    Domain = b'D',
    /// Words in names, local parts and domains.
    Name = b'N',
    /// All digits of a phone number.
    Phone = b'P',
    Label = b'T',
    Value = b'V',
    /// Trigrams inside a local part.
    InLocal = b'l',
    /// Trigrams inside a domain.
    InDomain = b'd',
    /// Groups of four digits inside a phone number, and its last three digits.
    InPhone = b'p',
    /// Keys that find a document by its number.
    Key = b'K',
}

/// The terms of many documents, concatenated. The buffers are reused.
#[derive(Default)]
pub(super) struct Terms {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Terms {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, scope: &Scope, space: Space, class: u8, text: &[u8], end: bool) {
        self.bytes.extend_from_slice(scope);
        self.bytes.extend_from_slice(&[space as u8, class]);
        self.bytes.extend_from_slice(text);
        if end {
            self.bytes.push(END);
        }
        self.ends.push(self.bytes.len() as u32);
    }
}

pub(super) struct Tokenizer {
    folder: Folder,
}

impl Tokenizer {
    pub(super) fn new() -> Self {
        Self { folder: Folder::new() }
    }

    /// Appends the terms of `document` to `terms`.
    pub(super) fn write(&mut self, document: &Document, terms: &mut Terms) {
        let scope = &document.scope;
        terms.push(scope, Space::Key, 0, &key(document.number), false);
        for (kind, text) in document.pieces() {
            let text = self.folder.fold(text, TEXT_CHARS_MAX);
            match kind {
                TextKind::Address => write_address(terms, scope, text),
                TextKind::Name => write_words(terms, scope, Space::Name, text),
                TextKind::Label => write_words(terms, scope, Space::Label, text),
                TextKind::Value => write_words(terms, scope, Space::Value, text),
                TextKind::Phone => write_phone(terms, scope, text),
            }
        }
    }
}

/// Returns the text of the key term for the document with this `number`.
pub(super) fn key(number: u32) -> [u8; 4] {
    (number >> KEY_SHIFT).to_be_bytes()
}

/// Builds the term `scope · space · class · text`, with or without [`END`].
pub(super) fn term(scope: &Scope, space: Space, class: u8, text: &[u8], end: bool) -> Vec<u8> {
    let mut terms = Terms::default();
    terms.push(scope, space, class, text, end);
    terms.bytes
}

/// Returns the shortest prefix length in [`RUNGS`] that is at least `chars`, or else the maximum length of a word.
pub(super) fn rung(chars: usize) -> u8 {
    RUNGS.into_iter().find(|&rung| rung as usize >= chars).unwrap_or(WORD_CHARS_MAX as u8)
}

/// Returns the words of folded text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(WORDS_MAX)
}

/// Returns all groups of `size` adjacent characters.
pub(super) fn groups(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = text.char_indices().map(|(at, _)| at).skip(size).chain([text.len()]);
    // The end position added by `chain` closes the last group; if the text is shorter than `size`, there are no groups.
    let count = text.chars().count().saturating_sub(size - 1);
    starts.zip(ends).take(count).map(|(start, end)| &text[start..end])
}

pub(super) fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).take(WORD_CHARS_MAX).collect()
}

fn write_address(terms: &mut Terms, scope: &Scope, text: &str) {
    let text = text.trim();
    let (local, domain) = text.rsplit_once('@').unwrap_or((text, ""));
    let local = cut(local, WORD_CHARS_MAX);
    if !local.is_empty() {
        write_word(terms, scope, Space::Local, local, true);
        for group in groups(local, 3).skip(1) {
            terms.push(scope, Space::InLocal, 0, group.as_bytes(), false);
        }
        // Index the names in the local part without trailing numbers, which distinguish contacts and would make every word different. A
        // name with its number is found as text inside the local part.
        let names = words(local).filter(|word| word.len() < local.len()).map(|word| word.trim_end_matches(is_digit));
        for (nth, name) in names.enumerate().filter(|(_, name)| !name.is_empty() && !has_digit(name)) {
            // The prefixes of the first word are already found through the complete local part.
            if nth == 0 && local.starts_with(name) { write_whole(terms, scope, name) } else { write_name(terms, scope, name) }
        }
    }
    if !domain.is_empty() {
        write_word(terms, scope, Space::Domain, cut(domain, WORD_CHARS_MAX), has_digit(domain));
        if !PROVIDERS.contains(&domain) {
            for group in groups(domain, 3).skip(1) {
                terms.push(scope, Space::InDomain, 0, group.as_bytes(), false);
            }
        }
        // The first label is found as a prefix of the domain, and the last label does not help to find a contact.
        if let Some((rest, _)) = domain.rsplit_once('.') {
            words(rest).filter(|word| !rest.starts_with(word)).for_each(|word| write_name(terms, scope, word));
        }
    }
}

fn write_name(terms: &mut Terms, scope: &Scope, word: &str) {
    write_word(terms, scope, Space::Name, word, has_digit(word));
}

fn write_words(terms: &mut Terms, scope: &Scope, space: Space, text: &str) {
    words(text).for_each(|word| write_word(terms, scope, space, cut(word, WORD_CHARS_MAX), has_digit(word)));
}

/// Writes only the complete word, because its prefixes are already indexed as prefixes of the local part.
fn write_whole(terms: &mut Terms, scope: &Scope, word: &str) {
    terms.push(scope, Space::Name, class(Space::Name, char_count(word), false), word.as_bytes(), true);
}

fn write_word(terms: &mut Terms, scope: &Scope, space: Space, word: &str, laddered: bool) {
    let chars = char_count(word);
    let rungs = if laddered { RUNGS.len() } else { plain_rungs(space) };
    for rung in RUNGS.into_iter().take(rungs).take_while(|&rung| (rung as usize) < chars) {
        terms.push(scope, space, rung, cut_bytes(word, rung as usize), false);
    }
    terms.push(scope, space, class(space, chars, laddered), word.as_bytes(), true);
}

/// Returns the class of a whole word with `chars` characters.
fn class(space: Space, chars: usize, laddered: bool) -> u8 {
    if laddered || chars <= plain_rungs(space) { rung(chars) } else { PLAIN }
}

/// Returns the number of rungs that contain prefixes of plain words. The first rungs are one and two characters long, so this number is
/// also the length up to which one class contains every word.
pub(super) fn plain_rungs(space: Space) -> usize {
    // There are few tags and few plain words in custom values, so all that start with a given letter can be read.
    if matches!(space, Space::Label | Space::Value) { 0 } else { 2 }
}

fn write_phone(terms: &mut Terms, scope: &Scope, text: &str) {
    let digits = digits(text);
    if digits.is_empty() {
        return;
    }
    terms.push(scope, Space::Phone, PLAIN, digits.as_bytes(), true);
    // Index the first one and two digits separately, so that they match while the number is typed. Three or more digits match the groups.
    for length in 1..PHONE_GROUP.min(digits.len() + 1) - 1 {
        terms.push(scope, Space::Phone, length as u8, &digits.as_bytes()[..length], false);
    }
    // The last digits are added as a shorter group, so that any three digits are the start of a group.
    let last = &digits[digits.len().saturating_sub(PHONE_GROUP - 1)..];
    for group in groups(&digits, PHONE_GROUP).chain([last]) {
        terms.push(scope, Space::InPhone, PLAIN, group.as_bytes(), false);
    }
}

fn has_digit(word: &str) -> bool {
    word.contains(is_digit)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

pub(super) fn char_count(word: &str) -> usize {
    if word.is_ascii() { word.len() } else { word.chars().count() }
}

fn cut_bytes(word: &str, chars: usize) -> &[u8] {
    if word.is_ascii() { &word.as_bytes()[..chars.min(word.len())] } else { cut(word, chars).as_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: TextKind, text: &str) -> Vec<String> {
        let mut terms = Terms::default();
        Tokenizer::new().write(&Document::new([b'-'; 12], 70).with(kind, text), &mut terms);
        // The key is the first term of every document.
        assert_eq!(terms.get(0)[14..], [0, 0, 0, 1]);
        (1..terms.len()).map(|at| terms.get(at)[12..].escape_ascii().to_string()).collect()
    }

    #[test]
    fn an_address_is_laddered_and_cut_into_groups() {
        let terms = written(TextKind::Address, "Ann.Lee@x.io");
        for expected in [r"L\x01a", r"L\x05ann.l", r"L\x08ann.lee\x00", r"N\x00ann\x00", r"N\x00lee\x00", r"lN\x00"] {
            let there = terms.iter().any(|term| term == expected);
            assert_eq!(there, !expected.starts_with("lN"), "{expected} in {terms:?}");
        }
        assert!(terms.contains(&r"l\x00nn.".to_owned()) && !terms.contains(&r"l\x00ann".to_owned()));
        assert!(terms.contains(&r"D\x00x.io\x00".to_owned()) && terms.contains(&r"d\x00.io".to_owned()));
    }

    #[test]
    fn names_in_a_local_part_lose_their_numbers() {
        let names =
            |address| written(TextKind::Address, address).into_iter().filter(|term| term.starts_with('N')).collect::<Vec<_>>();
        assert_eq!(names("ann.lee42@x.io"), [r"N\x00ann\x00", r"N\x01l", r"N\x02le", r"N\x00lee\x00"]);
        assert!(names("user000001@x.io").is_empty() && names("a1b2.7@x.io").is_empty());
    }

    #[test]
    fn a_phone_number_is_indexed_by_its_digits() {
        let terms = written(TextKind::Phone, "+1 (555) 12");
        assert_eq!(terms[0], r"P\x00155512\x00");
        assert_eq!(&terms[1..3], [r"P\x011", r"P\x0215"]);
        assert_eq!(&terms[3..], [r"p\x001555", r"p\x005551", r"p\x005512", r"p\x00512"]);
        assert!(written(TextKind::Phone, "none").is_empty());
    }

    #[test]
    fn texts_with_unusual_shapes_stay_bounded() {
        assert!(written(TextKind::Value, &"ab ".repeat(5_000)).len() <= 2 * WORDS_MAX);
        assert!(written(TextKind::Address, &"@".repeat(2_000)).len() < 3_000);
        assert!(written(TextKind::Value, &"é1".repeat(2_000)).len() <= RUNGS.len());
        assert!(written(TextKind::Name, "…—!").is_empty());
    }

    #[test]
    fn one_class_contains_all_words_as_short_as_the_plain_rungs() {
        assert!((1..=plain_rungs(Space::Name)).all(|chars| rung(chars) as usize == chars));
    }

    #[test]
    fn groups_are_of_characters() {
        assert_eq!(groups("äbcd", 3).collect::<Vec<_>>(), ["äbc", "bcd"]);
        assert_eq!(groups("ab", 3).count(), 0);
    }
}
