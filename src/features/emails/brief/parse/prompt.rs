//! A prompt, with its words and the phrases of the word lists that it contains.

use std::collections::BTreeMap;

use super::super::Span;
use super::lexicon::{Lexicon, List, Mark, lexicons};
use super::tokens::{Kind, Words};
use crate::features::projects::brand::Brand;

/// The phrases of a second language are recognized in the whole prompt only if its common words weigh at least this share of the weight of
/// the main language's common words.
const LANGUAGE_SHARE_MIN: f32 = 0.5;

/// The maximum number of words and punctuation marks in a quotation, including its quotation marks.
const QUOTE_WORDS_MAX: usize = 25;

/// A half-open range of word indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub from: usize,
    pub to: usize,
}

impl Range {
    pub fn of(from: usize, to: usize) -> Self {
        Self { from, to: to.max(from) }
    }

    pub fn is_empty(self) -> bool {
        self.from >= self.to
    }

    pub fn len(self) -> usize {
        self.to - self.from
    }

    pub fn contains(self, other: Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

pub struct Prompt<'a> {
    pub words: Words<'a>,
    /// For each word, the phrases that start at it.
    marks: Vec<Vec<Mark>>,
    /// For each word, a bit set of the lists that have a phrase starting at it.
    present: Vec<[u64; 3]>,
    /// The index of the main language in [`lexicons`].
    pub language: u8,
    local: Local,
    /// For each word, the index of the first word of its line.
    lines: Vec<usize>,
    /// A bit set of the lists that have a phrase anywhere in the prompt.
    anywhere: [u64; 3],
}

impl<'a> Prompt<'a> {
    pub fn read(text: &'a str, brand: &Brand) -> Self {
        Self::read_with(text, brand, true)
    }

    /// Reads a part of a prompt. Determines its language only from its common words and the brand's language.
    #[cfg(test)]
    pub fn read_part(text: &'a str, brand: &Brand) -> Self {
        Self::read_with(text, brand, false)
    }

    fn read_with(text: &'a str, brand: &Brand, is_whole: bool) -> Self {
        let words = Words::read(text);
        let mut found = Vec::new();
        for (language, lexicon) in lexicons().iter().enumerate() {
            lexicon.mark(&words, language as u8, &mut found);
        }
        let mut counts = counts(&words, &found, brand);
        if is_whole && counts.iter().copied().fold(0.0, f32::max) < EVIDENCE_WEIGHT_MAX {
            evidence(&words, &found).into_iter().zip(&mut counts).for_each(|(more, count)| *count += more);
        }
        let language = (0..counts.len()).rev().max_by(|a, b| counts[*a].total_cmp(&counts[*b])).unwrap_or(0);
        let is_spoken = |other: u8| {
            let other = usize::from(other);
            other == language || counts[other] >= 2.0 && counts[other] >= counts[language] * LANGUAGE_SHARE_MIN
        };
        let local = Local::of(&words, &found);
        let mut marks = vec![Vec::new(); words.len() + 1];
        let mut present = vec![[0; 3]; words.len() + 1];
        let mut anywhere = [0; 3];
        for mark in found {
            // The short name of a weekday can be an ordinary word in another language: "di" is short for Tuesday in German and Dutch, and
            // means "of" in Italian.
            if mark.list == List::ShortWeekday && local.is_foreign(mark.from, language) && !local.speaks(mark, language) {
                continue;
            }
            if is_spoken(mark.language) || is_international(mark) || is_day(&words, mark) || local.speaks(mark, language) {
                let (part, bit) = bit(mark.list);
                present[mark.from][part] |= bit;
                anywhere[part] |= bit;
                marks[mark.from].push(mark);
            }
        }
        let mut start = 0;
        let lines = (0..words.len()).map(|at| {
            if at > 0 && words.kind(at - 1) == Kind::End {
                start = at;
            }
            start
        });
        let lines = lines.collect();
        Self { words, marks, present, language: language as u8, local, lines, anywhere }
    }

    /// Returns whether most words in a range are in sentences in a language other than the prompt's main language and `language`.
    pub fn is_foreign(&self, range: Range, language: &str) -> bool {
        let others = |at: &usize| {
            let other = self.local.other(*at, usize::from(self.language));
            other.is_some_and(|other| lexicons()[other].code != language)
        };
        (range.from..range.to).filter(others).count() * 2 > range.len()
    }

    pub fn line_start(&self, at: usize) -> usize {
        self.lines.get(at).copied().unwrap_or(at)
    }

    /// Returns whether a phrase of a list is anywhere in the prompt.
    pub fn mentions(&self, list: List) -> bool {
        let (part, bit) = bit(list);
        self.anywhere[part] & bit != 0
    }

    pub fn lexicon(&self) -> &'static Lexicon {
        &lexicons()[usize::from(self.language)]
    }

    /// Returns the phrases of a list that start at a word.
    pub fn at(&self, list: List, at: usize) -> impl Iterator<Item = Mark> + '_ {
        let marks = if self.is(list, at) { self.marks.get(at) } else { None };
        marks.into_iter().flatten().copied().filter(move |mark| mark.list == list)
    }

    /// Returns the end of the longest phrase of a list that starts at a word.
    pub fn end(&self, list: List, at: usize) -> Option<usize> {
        self.at(list, at).map(|mark| mark.to).max()
    }

    pub fn is(&self, list: List, at: usize) -> bool {
        let (part, bit) = bit(list);
        self.present.get(at).is_some_and(|present| present[part] & bit != 0)
    }

    /// Returns the first phrase of a list inside a range: the longest of those that start at the same word.
    pub fn find(&self, list: List, range: Range) -> Option<Range> {
        (range.from..range.to).find_map(|at| {
            let ends = self.at(list, at).map(|mark| mark.to).filter(|to| *to <= range.to);
            ends.max().map(|to| Range::of(at, to))
        })
    }

    /// Returns the phrases of a list inside a range.
    pub fn all(&self, list: List, range: Range) -> impl Iterator<Item = Mark> + '_ {
        (range.from..range.to).flat_map(move |at| self.at(list, at)).filter(move |mark| mark.to <= range.to)
    }

    /// Returns the phrases inside a range.
    pub fn marks(&self, range: Range) -> impl Iterator<Item = Mark> + '_ {
        let known = self.marks.get(range.from..range.to.min(self.marks.len())).unwrap_or_default();
        known.iter().flatten().copied().filter(move |mark| mark.to <= range.to)
    }

    pub fn has(&self, list: List, range: Range) -> bool {
        self.find(list, range).is_some()
    }

    /// Returns the start of the longest phrase of a list that ends directly before a word and has at most six words.
    pub fn before(&self, list: List, at: usize) -> Option<usize> {
        (at.saturating_sub(6)..at).find(|from| self.at(list, *from).any(|mark| mark.to == at))
    }

    pub fn text(&self, range: Range) -> &'a str {
        self.words.slice(range.from, range.to)
    }

    pub fn span(&self, range: Range) -> Span {
        self.words.span(range.from, range.to)
    }

    pub fn fold(&self, at: usize) -> &str {
        self.words.fold(at)
    }

    pub fn kind(&self, at: usize) -> Kind {
        self.words.kind(at)
    }

    pub fn raw(&self, at: usize) -> &'a str {
        self.words.raw(at)
    }

    /// Returns whether a word names a position in a list and is an adverb, so that no noun follows it: "firstly".
    pub fn position_adverb(&self, at: usize) -> bool {
        let word = self.fold(at);
        at > 0 && self.is(List::Position, at) && ["ly", "ment", "mente", "ens"].iter().any(|end| word.ends_with(end))
    }

    /// Returns the range without punctuation marks such as commas at its ends. Keeps quotation marks, opening brackets at its start, and
    /// closing brackets at its end.
    pub fn trim(&self, range: Range) -> Range {
        let Range { mut from, mut to } = range;
        let is_start = |at: usize| {
            self.kind(at) == Kind::End
                || matches!(
                    self.fold(at),
                    "," | ";" | ":" | "." | "-" | "!" | "?" | ">" | "=" | "*" | "•" | "→" | ")" | "]" | "|" | "/"
                )
        };
        let is_end = |at: usize| {
            self.kind(at) == Kind::End || matches!(self.fold(at), "," | ";" | ":" | "-" | ">" | "=" | "*" | "•" | "(" | "[" | "|")
        };
        while from < to && is_start(from) {
            from += 1;
        }
        while from < to && is_end(to - 1) {
            to -= 1;
        }
        Range { from, to }
    }

    /// Returns the index of a punctuation mark's first occurrence in a range.
    pub fn sign(&self, sign: &str, range: Range) -> Option<usize> {
        (range.from..range.to).find(|at| self.fold(*at) == sign)
    }

    /// Returns the index of the quotation mark that ends the quotation starting at a word; `None` if there is none before `to`.
    pub fn quote_end(&self, at: usize, to: usize) -> Option<usize> {
        if !self.is_quote(at) {
            return None;
        }
        (at + 2..to.min(at + QUOTE_WORDS_MAX)).find(|end| self.is_quote(*end))
    }

    /// Returns whether a word is a quotation mark: a double one, or a single one that is not an apostrophe.
    pub fn is_quote(&self, at: usize) -> bool {
        self.fold(at) == "\""
    }
}

/// Returns the position of a list in a bit set: the index of the `u64`, and the mask of the bit.
fn bit(list: List) -> (usize, u64) {
    (list as usize / 64, 1 << (list as usize % 64))
}

/// The minimum weight of a language's common words in a sentence of that language.
const SENTENCE_WEIGHT_MIN: f32 = 1.5;

/// The minimum number of long common words in a sentence that is certainly in another language.
const OTHER_WORDS_MIN: u16 = 2;

/// The languages of the sentences of a prompt. Colleagues from several countries can contribute to one prompt.
struct Local {
    /// For each word, the index of its sentence or quotation.
    sentences: Vec<usize>,
    /// For each sentence, the weight of the common words of each language.
    counts: Vec<Vec<f32>>,
    /// For each sentence, the number of common words of each language that have more than two letters.
    long: Vec<Vec<u16>>,
}

impl Local {
    fn of(words: &Words<'_>, marks: &[Mark]) -> Self {
        let mut count = 0;
        let ends = |at: usize| words.kind(at) == Kind::End || matches!(words.fold(at), "." | "!" | "?" | ";" | "\"" | "(" | ")");
        let sentences: Vec<usize> = (0..=words.len())
            .map(|at| {
                count += usize::from(at > 0 && ends(at - 1));
                count
            })
            .collect();
        let mut counts = vec![vec![0.0; lexicons().len()]; count + 1];
        let mut long = vec![vec![0; lexicons().len()]; count + 1];
        for mark in marks.iter().filter(|mark| matches!(mark.list, List::Common | List::Weekday)) {
            let (sentence, language, weight) = (sentences[mark.from], usize::from(mark.language), weight(words, *mark));
            counts[sentence][language] += weight;
            long[sentence][language] += u16::from(weight > 1.0);
        }
        Self { sentences, counts, long }
    }

    /// Returns whether the sentence of a word is in a language other than the main one.
    fn is_foreign(&self, at: usize, main: usize) -> bool {
        let counts = &self.counts[self.sentences[at]];
        let most = counts.iter().copied().fold(0.0, f32::max);
        most >= SENTENCE_WEIGHT_MIN && most > counts[main] * 2.0 && counts.iter().filter(|own| **own >= most).count() == 1
    }

    /// Returns the index of the language of a word's sentence if it is certainly not the main language.
    fn other(&self, at: usize, main: usize) -> Option<usize> {
        let (counts, long) = (&self.counts[self.sentences[at]], &self.long[self.sentences[at]]);
        let is_most = |other: &usize| counts.iter().all(|own| *own <= counts[*other]);
        let other = (0..counts.len()).find(|other| long[*other] >= OTHER_WORDS_MIN && is_most(other))?;
        self.is_foreign(at, main).then_some(other)
    }

    /// Returns whether the sentence of a phrase is in the phrase's language and not in the main one.
    fn speaks(&self, mark: Mark, main: usize) -> bool {
        let counts = &self.counts[self.sentences[mark.from]];
        let own = counts[usize::from(mark.language)];
        own >= SENTENCE_WEIGHT_MIN && own > counts[main] * 2.0 && counts.iter().filter(|other| **other >= own).count() == 1
    }
}

/// Returns whether a phrase is the full name of a month or weekday, which is understood in prompts of any language. Portuguese weekdays
/// are excluded, because they are ordinal numbers in other languages.
fn is_day(words: &Words<'_>, mark: Mark) -> bool {
    let is_long = words.fold(mark.from).chars().count() >= 4;
    let is_weekday = mark.list == List::Weekday && lexicons()[usize::from(mark.language)].code != "pt";
    is_long && (mark.list == List::Month || is_weekday)
}

/// Returns whether a phrase is understood in prompts of any language.
fn is_international(mark: Mark) -> bool {
    use List as L;
    let is_label = matches!(
        mark.list,
        L::LabelSubject | L::LabelPreheader | L::LabelHeadline | L::LabelButton | L::LabelLink | L::LabelBody | L::LabelSign
    );
    is_label
        || matches!(
            mark.list,
            L::Greeting
                | L::Closing
                | L::InLanguage
                | L::Please
                | L::Attack
                | L::Language
                | L::Header
                | L::NoImages
                | L::NoEmoji
                | L::Zone
                | L::Currency
                | L::Percent
                | L::OpenAbbreviation
        )
}

/// The weight of the brand's language: more than that of a short word that two languages share, such as "an".
const BRAND_WEIGHT: f32 = 1.25;

/// Returns the weight of each language's common words in the prompt. The brand's first language starts with [`BRAND_WEIGHT`].
fn counts(words: &Words<'_>, marks: &[Mark], brand: &Brand) -> Vec<f32> {
    let own = brand.languages.first().map_or("en", String::as_str);
    let mut counts: Vec<f32> =
        lexicons().iter().map(|lexicon| if own.split('-').next() == Some(lexicon.code) { BRAND_WEIGHT } else { 0.0 }).collect();
    // A word of up to two letters after a number is a unit, not a word of a language: "8 am".
    let is_unit = |mark: &Mark| mark.from > 0 && words.kind(mark.from - 1) == Kind::Number && words.fold(mark.from).len() <= 2;
    for mark in marks.iter().filter(|mark| mark.list == List::Common && !is_unit(mark)) {
        counts[usize::from(mark.language)] += weight(words, *mark);
    }
    counts
}

/// If a prompt's common words weigh less than this in every language, other words and letters also count as evidence of the language.
const EVIDENCE_WEIGHT_MAX: f32 = 4.5;

/// The weight of a word that only one language's lists contain, and of a word with a letter that only one language uses.
const EVIDENCE_WEIGHT: f32 = 1.0;

/// The weight of a month's name that only one language has: more than the weight of the brand's language.
const MONTH_WEIGHT: f32 = 1.5;

/// The minimum number of letters in a word that is evidence of a language.
const EVIDENCE_LETTERS_MIN: usize = 4;

/// Letters that only one of the languages uses, or uses far more often than the others.
const LETTERS: [(&str, &[char]); 5] = [
    ("de", &['ß', 'ä', 'ö', 'ü']),
    ("fr", &['ê', 'è', 'î', 'œ', 'û', 'ë']),
    ("es", &['ñ', '¿', '¡']),
    ("pt", &['ã', 'õ']),
    ("it", &['ì', 'ò']),
];

/// Returns the weight of each language in a short prompt, based on words and letters that only one language has, such as names of months.
fn evidence(words: &Words<'_>, marks: &[Mark]) -> Vec<f32> {
    use List as L;
    let mut counts = vec![0.0; lexicons().len()];
    let mut owners: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut months: Vec<(usize, usize)> = Vec::new();
    let lists = [
        L::Month,
        L::Weekday,
        L::Tomorrow,
        L::Today,
        L::Goal,
        L::Readers,
        L::Places,
        L::Free,
        L::Delivery,
        L::CueClosed,
        L::CueReopens,
        L::CueEvent,
        L::CueOrder,
        L::CueOffer,
        L::Invite,
        L::Write,
        L::Noon,
        L::Venue,
        L::Hour,
    ];
    let is_long =
        |mark: &Mark| (mark.from..mark.to).map(|at| words.fold(at).chars().count()).sum::<usize>() >= EVIDENCE_LETTERS_MIN;
    let is_number = |at: usize| words.kind(at) == Kind::Number;
    for mark in marks.iter().filter(|mark| lists.contains(&mark.list) && is_long(mark)) {
        *owners.entry((mark.from, mark.to)).or_default() |= 1 << mark.language;
        months.extend((mark.list == L::Month).then_some((mark.from, mark.to)));
    }
    // The short name of a weekday is evidence only before a number: "sam. 5".
    for mark in
        marks.iter().filter(|mark| mark.list == L::ShortWeekday && is_number(mark.to + usize::from(words.fold(mark.to) == ".")))
    {
        *owners.entry((mark.from, mark.to)).or_default() |= 1 << mark.language;
    }
    for (range, own) in owners.into_iter().filter(|(_, own)| own.is_power_of_two()) {
        let language = own.trailing_zeros() as usize;
        counts[language] += match lexicons()[language].code {
            // English words such as "brunch" and "workshop" occur in prompts of other languages too.
            "en" => EVIDENCE_WEIGHT / 2.0,
            _ if months.contains(&range) => MONTH_WEIGHT,
            _ => EVIDENCE_WEIGHT,
        };
    }
    for (code, letters) in LETTERS {
        let language = lexicons().iter().position(|lexicon| lexicon.code == code);
        let count = (0..words.len()).filter(|at| words.raw(*at).to_lowercase().contains(letters)).count();
        language.into_iter().for_each(|language| counts[language] += EVIDENCE_WEIGHT * count.min(LETTER_WORDS_MAX) as f32);
    }
    counts
}

/// The maximum number of words whose letters are evidence of a language: names such as "Müller" and "Crème" occur in other languages too.
const LETTER_WORDS_MAX: usize = 2;

/// Returns the weight of a common word. Words of three or more letters weigh more, because they are rarely shared between languages.
fn weight(words: &Words<'_>, mark: Mark) -> f32 {
    if words.fold(mark.from).chars().count() > 2 { 1.5 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: short prompts without common words were read as English, so a French email printed "6 December".
    #[test]
    fn the_language_of_a_short_prompt_is_known_by_its_names_and_letters() {
        for (text, code) in [
            ("Marché de Noël, samedi 6 décembre, 10h", "fr"),
            ("Soldes -20 %, fin dimanche 6 décembre", "fr"),
            ("Konzert Samstag 6. Dezember 19 Uhr", "de"),
            ("Weihnachtsmarkt Sonntag 18.30, Getränke", "de"),
            ("Rebajas -20 %, domingo 6 diciembre", "es"),
            ("Concerto sabato 6 giugno ore 21", "it"),
            ("Concerto sábado 6 dezembro 21h", "pt"),
            ("Uitverkoop -20 %, zondag 6 december", "nl"),
            ("Sale -20 %, Sunday 6 December", "en"),
        ] {
            assert_eq!(Prompt::read(text, &Brand::default()).lexicon().code, code, "{text}");
        }
    }
}
