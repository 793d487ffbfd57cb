//! Turns texts into terms. A term is `scope · space · class · text`, so one dictionary serves every project and every kind of text, and a
//! range of it is "all words of this kind in this project with this prefix".
//!
//! A prefix search must not read a million terms. Words are therefore also indexed truncated to certain lengths, the [`RUNGS`], each a
//! class of its own; a prefix is then a short range on the next rung. *Plain* words come from a natural vocabulary with few different words
//! and are only on the first rungs ([`plain_rungs`]); longer ones are in class 0 as a whole. *Laddered* words (local parts of addresses,
//! anything with a digit) may all differ and are on every rung. A whole word ends with [`END`], a truncated one does not.
//!
//! Text inside a local part or a domain is found by its groups of three characters, from the second character on (text at the first one is
//! found as a prefix; the domains of [`PROVIDERS`] have no groups). Whether the groups are adjacent in the text is not checked.

use super::fold::{Folder, cut};
use super::{Document, Kind, Scope};

/// Prefix lengths, in characters, that are indexed in addition to whole words. They are closest for short prefixes, which many different
/// words share; each rung costs an import time and space.
pub(super) const RUNGS: [u8; 8] = [1, 2, 3, 5, 8, 13, 24, WORD_CHARS_MAX as u8];
/// Domains of large mail providers. Half of all addresses end in one of them, so their groups of characters would be among the longest
/// lists; a query searches these names itself instead.
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
/// Longer words are truncated: local parts have at most 64 characters, and no one types more of a word.
pub(super) const WORD_CHARS_MAX: usize = 64;
/// Longer texts are truncated; the first 512 characters of a name or a custom value are enough to find it.
const TEXT_CHARS_MAX: usize = 512;
/// The number of words indexed of one text.
const WORDS_MAX: usize = 48;
/// The class of plain whole words.
pub(super) const PLAIN: u8 = 0;
/// Digits in a group of a phone number: long enough that a few groups distinguish numbers, and people type the last four.
pub(super) const PHONE_GROUP: usize = 4;
/// Ends a whole word. Folded text has no control characters, so it cannot occur inside one.
pub(super) const END: u8 = 0;
/// Document numbers that share one key term. Removing a document looks up its key, then compares numbers; with one term for 64 documents
/// the keys cost almost no space in the dictionary.
pub(super) const KEY_SHIFT: u32 = 6;

/// The kind of a term; each has its own range of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Space {
    /// The part of an address before the `@`, whole.
    Local = b'L',
    /// The part of an address after the `@`, whole.
    Domain = b'D',
    /// Words of names, of local parts and of domains.
    Name = b'N',
    /// All digits of a phone number.
    Phone = b'P',
    Label = b'T',
    Value = b'V',
    /// Three characters inside a local part.
    InLocal = b'l',
    /// Three characters inside a domain.
    InDomain = b'd',
    /// Four digits inside a phone number, and its last three.
    InPhone = b'p',
    /// A key that finds a document by its number.
    Key = b'K',
}

/// The terms of many documents, concatenated. Reused for the next ones, so indexing allocates nothing per document.
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

/// Writes the terms of documents.
pub(super) struct Tokenizer {
    folder: Folder,
}

impl Tokenizer {
    pub(super) fn new() -> Self {
        Self { folder: Folder::new() }
    }

    /// Appends every term of `document` to `terms`.
    pub(super) fn write(&mut self, document: &Document, terms: &mut Terms) {
        let scope = &document.scope;
        terms.push(scope, Space::Key, 0, &key(document.number), false);
        for (kind, text) in document.pieces() {
            let text = self.folder.fold(text, TEXT_CHARS_MAX);
            match kind {
                Kind::Address => write_address(terms, scope, text),
                Kind::Name => write_words(terms, scope, Space::Name, text),
                Kind::Label => write_words(terms, scope, Space::Label, text),
                Kind::Value => write_words(terms, scope, Space::Value, text),
                Kind::Phone => write_phone(terms, scope, text),
            }
        }
    }
}

/// The text of the key term of the document `number`.
pub(super) fn key(number: u32) -> [u8; 4] {
    (number >> KEY_SHIFT).to_be_bytes()
}

/// `scope · space · class · text`, with or without [`END`].
pub(super) fn term(scope: &Scope, space: Space, class: u8, text: &[u8], end: bool) -> Vec<u8> {
    let mut terms = Terms::default();
    terms.push(scope, space, class, text, end);
    terms.bytes
}

/// The first rung with at least `chars` characters.
pub(super) fn rung(chars: usize) -> u8 {
    RUNGS.into_iter().find(|&rung| rung as usize >= chars).unwrap_or(WORD_CHARS_MAX as u8)
}

/// The words of folded text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(WORDS_MAX)
}

/// All groups of `size` adjacent characters.
pub(super) fn groups(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = text.char_indices().map(|(at, _)| at).skip(size).chain([text.len()]);
    // The chained end closes the last group; a text shorter than `size` has none.
    let count = text.chars().count().saturating_sub(size - 1);
    starts.zip(ends).take(count).map(|(start, end)| &text[start..end])
}

/// The digits of `text`.
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
        // Names in the local part. Numbers after them distinguish people and would make every word different; a word with its number is
        // found as text inside the local part.
        let names = words(local).filter(|word| word.len() < local.len()).map(|word| word.trim_end_matches(is_digit));
        for (nth, name) in names.enumerate().filter(|(_, name)| !name.is_empty() && !has_digit(name)) {
            // As a prefix, the first word is already found by the whole local part.
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
        // The first label is found as a prefix of the domain, and the last one says nothing about a person.
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

/// Writes only the whole word, because its prefixes are covered elsewhere.
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

/// The class of a whole word of `chars` characters.
fn class(space: Space, chars: usize, laddered: bool) -> u8 {
    if laddered || chars <= plain_rungs(space) { rung(chars) } else { PLAIN }
}

/// The number of rungs with plain words. The first rungs are one and two characters long, so this is also the length up to which one class
/// contains every word.
pub(super) fn plain_rungs(space: Space) -> usize {
    // Tags and the plain words of custom values are few enough to read all with the same first letter.
    if matches!(space, Space::Label | Space::Value) { 0 } else { 2 }
}

fn write_phone(terms: &mut Terms, scope: &Scope, text: &str) {
    let digits = digits(text);
    if digits.is_empty() {
        return;
    }
    terms.push(scope, Space::Phone, PLAIN, digits.as_bytes(), true);
    // The first digits as they are typed; from three on, the groups find them.
    for begun in 1..PHONE_GROUP.min(digits.len() + 1) - 1 {
        terms.push(scope, Space::Phone, begun as u8, &digits.as_bytes()[..begun], false);
    }
    // With its last digits as a shorter group, any three digits start a group.
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

    fn written(kind: Kind, text: &str) -> Vec<String> {
        let mut terms = Terms::default();
        Tokenizer::new().write(&Document::new([b'-'; 12], 70).with(kind, text), &mut terms);
        // The key comes first in every document.
        assert_eq!(terms.get(0)[14..], [0, 0, 0, 1]);
        (1..terms.len()).map(|at| terms.get(at)[12..].escape_ascii().to_string()).collect()
    }

    #[test]
    fn an_address_is_laddered_and_cut_into_groups() {
        let terms = written(Kind::Address, "Ann.Lee@x.io");
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
            |address| written(Kind::Address, address).into_iter().filter(|term| term.starts_with('N')).collect::<Vec<_>>();
        assert_eq!(names("ann.lee42@x.io"), [r"N\x00ann\x00", r"N\x01l", r"N\x02le", r"N\x00lee\x00"]);
        assert!(names("user000001@x.io").is_empty() && names("a1b2.7@x.io").is_empty());
    }

    #[test]
    fn a_phone_number_is_indexed_by_its_digits() {
        let terms = written(Kind::Phone, "+1 (555) 12");
        assert_eq!(terms[0], r"P\x00155512\x00");
        assert_eq!(&terms[1..3], [r"P\x011", r"P\x0215"]);
        assert_eq!(&terms[3..], [r"p\x001555", r"p\x005551", r"p\x005512", r"p\x00512"]);
        assert!(written(Kind::Phone, "none").is_empty());
    }

    #[test]
    fn texts_with_unusual_shapes_stay_bounded() {
        assert!(written(Kind::Value, &"ab ".repeat(5_000)).len() <= 2 * WORDS_MAX);
        assert!(written(Kind::Address, &"@".repeat(2_000)).len() < 3_000);
        assert!(written(Kind::Value, &"é1".repeat(2_000)).len() <= RUNGS.len());
        assert!(written(Kind::Name, "…—!").is_empty());
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
