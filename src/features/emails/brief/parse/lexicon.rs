//! The word lists of the parser, one file per language, and the search for their phrases in a prompt.
//!
//! A phrase is a sequence of words. `*` at the end of a word stands for any ending, `*` at its start for any beginning, `_` for one word,
//! `#` for a number, and `..` for up to four words. `a|b` stands for either word, and `?` marks a word that may be absent.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;

use super::super::Goal;
use super::lists::LISTS;
pub use super::lists::List;
use super::patterns::Pattern;
use super::tokens::{Kind, Words, fold};

/// The languages, each with its code and its word lists.
const FILES: [(&str, &str); 9] = [
    ("en", include_str!("../../../../../assets/brief/en.toml")),
    ("de", include_str!("../../../../../assets/brief/de.toml")),
    ("fr", include_str!("../../../../../assets/brief/fr.toml")),
    ("es", include_str!("../../../../../assets/brief/es.toml")),
    ("it", include_str!("../../../../../assets/brief/it.toml")),
    ("pt", include_str!("../../../../../assets/brief/pt.toml")),
    ("nl", include_str!("../../../../../assets/brief/nl.toml")),
    ("ar", include_str!("../../../../../assets/brief/ar.toml")),
    ("he", include_str!("../../../../../assets/brief/he.toml")),
];

/// The maximum number of words that `..` stands for.
const GAP_WORDS_MAX: usize = 4;

/// One alternative for a word in a phrase.
#[derive(Debug, Clone)]
enum WordPattern {
    Word(String),
    Start(String),
    End(String),
    One,
    Number,
    Gap,
}

impl WordPattern {
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Word(own) => word == own,
            Self::Start(own) => word.starts_with(own.as_str()),
            Self::End(own) => word.ends_with(own.as_str()),
            Self::One => true,
            Self::Number => word.starts_with(|c: char| c.is_ascii_digit()),
            Self::Gap => false,
        }
    }
}

#[derive(Debug, Clone)]
struct Slot {
    pieces: Vec<WordPattern>,
    is_optional: bool,
}

#[derive(Debug)]
struct Phrase {
    list: List,
    /// The index of the month, weekday, numeral, position, named day, language or purpose that the phrase names, or 0.
    value: u16,
    slots: Vec<Slot>,
}

/// The phrases of one language, grouped by their first word.
#[derive(Debug, Default)]
struct Index {
    /// The phrases by their first word.
    by_word: HashMap<String, Vec<Phrase>>,
    /// Phrases whose first word can have any ending, grouped by the first two letters of that word.
    by_start: HashMap<String, Vec<Phrase>>,
    /// Phrases whose first word cannot be looked up, such as `*word`, `_` and `#`.
    open: Vec<Phrase>,
}

#[derive(Debug, Deserialize)]
struct File {
    months: Vec<Vec<String>>,
    weekdays: Vec<Vec<String>>,
    short_weekdays: Vec<Vec<String>>,
    numerals: Vec<Vec<String>>,
    /// The ordinal numbers of the days of a month. The first row is empty, so that the index is the day.
    ordinals: Vec<Vec<String>>,
    /// The words for the positions in a list, from the first.
    positions: Vec<Vec<String>>,
    /// Days with a name, by month and day: "12-24".
    named_days: BTreeMap<String, Vec<String>>,
    languages: BTreeMap<String, Vec<String>>,
    goals: BTreeMap<String, Vec<String>>,
    /// Typing errors and short forms, each with its replacement in the email.
    rewrite: HashMap<String, String>,
    /// Patterns of short clauses, with the sentences that replace them.
    #[serde(default)]
    sentences: Vec<(String, String)>,
    /// Patterns for the starts of statements that lack a subject, with the starts that replace them.
    #[serde(default)]
    openers: Vec<(String, String)>,
    #[serde(flatten)]
    lists: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// The word lists of one language.
#[derive(Debug)]
pub struct Lexicon {
    pub code: &'static str,
    index: Index,
    days: Vec<(i8, i8)>,
    months: Vec<String>,
    weekdays: Vec<String>,
    languages: Vec<String>,
    goals: Vec<Goal>,
    rewrite: HashMap<String, String>,
    sentences: Vec<Pattern>,
    openers: Vec<Pattern>,
    /// The words of [`List::Spelling`]: each word folded, and as it is written in the list.
    spelling: Vec<(String, String)>,
}

/// A phrase from a list that occurs in a prompt as the words `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub list: List,
    pub from: usize,
    pub to: usize,
    pub value: u16,
    /// The index of the language in [`lexicons`].
    pub language: u8,
}

pub fn lexicons() -> &'static [Lexicon] {
    static ALL: OnceLock<Vec<Lexicon>> = OnceLock::new();
    ALL.get_or_init(|| FILES.iter().map(|(code, text)| Lexicon::read(code, text)).collect())
}

impl Lexicon {
    fn read(code: &'static str, text: &str) -> Self {
        let file: File = toml::from_str(text).expect("a test parses every word list");
        let mut index = Index::default();
        for (list, rows) in [
            (List::Month, &file.months),
            (List::Weekday, &file.weekdays),
            (List::ShortWeekday, &file.short_weekdays),
            (List::Numeral, &file.numerals),
            (List::DayOrdinal, &file.ordinals),
            (List::Position, &file.positions),
        ] {
            rows.iter().enumerate().for_each(|(value, row)| index.add(list, value, row));
        }
        let mut days = Vec::new();
        for (value, (day, row)) in file.named_days.iter().enumerate() {
            let (month, day) = day.split_once('-').unwrap_or_default();
            days.push((month.parse().unwrap_or(1), day.parse().unwrap_or(1)));
            index.add(List::NamedDay, value, row);
        }
        file.languages.values().enumerate().for_each(|(value, row)| index.add(List::Language, value, row));
        let mut goals = Vec::new();
        for (value, (goal, row)) in file.goals.iter().enumerate() {
            goals.push(serde_json::from_value(serde_json::Value::from(goal.as_str())).unwrap_or(Goal::Announcement));
            index.add(List::Goal, value, row);
        }
        for (key, list) in LISTS {
            let (table, name) = key.split_once('.').unwrap_or_default();
            let row = file.lists.get(table).and_then(|table| table.get(name));
            index.add(*list, 0, row.map_or(&[][..], Vec::as_slice));
        }
        let words = file.lists.get("words").and_then(|table| table.get("spelling")).into_iter().flatten();
        let spelling = words.map(|word| (fold(word), word.clone())).collect();
        let day_names = file
            .weekdays
            .iter()
            .chain(&file.short_weekdays)
            .chain(&file.months)
            .flatten()
            .map(|name: &String| regex::escape(name));
        let day_names: Vec<String> = day_names.collect();
        let sentences = file.sentences.iter().map(|(clause, own)| Pattern::clause(clause, own, &day_names)).collect();
        let openers = file.openers.iter().map(|(start, own)| Pattern::opener(start, own)).collect();
        let names = |rows: Vec<Vec<String>>| rows.into_iter().filter_map(|row| row.into_iter().next()).collect();
        let (months, weekdays) = (names(file.months), names(file.weekdays));
        let languages = file.languages.into_keys().collect();
        Self { code, spelling, index, days, months, weekdays, rewrite: file.rewrite, sentences, openers, languages, goals }
    }

    /// Returns the name of a month in lowercase; `value` is 0 for January.
    pub fn month(&self, value: u16) -> Option<&str> {
        self.months.get(usize::from(value)).map(String::as_str)
    }

    /// Returns the name of a weekday in lowercase; `value` is 0 for Monday.
    pub fn weekday(&self, value: u16) -> Option<&str> {
        self.weekdays.get(usize::from(value)).map(String::as_str)
    }

    /// Returns the month and day of a named day.
    pub fn day(&self, value: u16) -> (i8, i8) {
        self.days.get(usize::from(value)).copied().unwrap_or((1, 1))
    }

    /// Returns the replacement for a typing error or short form that is written in lowercase.
    pub fn rewritten(&self, word: &str) -> Option<&str> {
        self.rewrite.get(word).map(String::as_str)
    }

    /// Returns the correct spelling of a lowercase word that lacks a letter or has two letters swapped.
    pub fn spelled(&self, word: &str) -> Option<&str> {
        let own = fold(word);
        let is_plain = own.is_ascii() && own.len() >= 5 && own.bytes().all(|byte| byte.is_ascii_lowercase());
        let found = self.spelling.iter().filter(|_| is_plain).find(|(right, _)| misspells(own.as_bytes(), right.as_bytes()));
        found.map(|(_, written)| written.as_str())
    }

    /// Returns a statement with the subject that its start lacks: "We need a barista" for "Need a barista".
    pub fn with_subject(&self, text: &str) -> String {
        self.openers.iter().find_map(|opener| opener.open(text)).unwrap_or_else(|| text.to_owned())
    }

    /// Returns the sentence that replaces a short clause.
    pub fn sentence(&self, clause: &str) -> Option<String> {
        self.sentences.iter().find_map(|pattern| pattern.apply(clause))
    }

    pub fn language(&self, value: u16) -> &str {
        self.languages.get(usize::from(value)).map_or("en", String::as_str)
    }

    pub fn goal(&self, value: u16) -> Goal {
        self.goals.get(usize::from(value)).copied().unwrap_or(Goal::Announcement)
    }

    /// Adds to `marks` the phrases of this language that the prompt contains. Abbreviations and misspelled words match too: "thank ppl".
    pub fn mark(&self, words: &Words<'_>, language: u8, marks: &mut Vec<Mark>) {
        self.mark_as(&|at| words.fold(at), words, language, marks);
        let written: Vec<Option<String>> = (0..words.len()).map(|at| self.written(words, at)).collect();
        if written.iter().any(Option::is_some) {
            let known = marks.clone();
            let fold = |at: usize| written.get(at).and_then(Option::as_deref).unwrap_or_else(|| words.fold(at));
            let mut more = Vec::new();
            self.mark_as(&fold, words, language, &mut more);
            marks.extend(more.into_iter().filter(|mark| !known.contains(mark)));
        }
    }

    /// Returns the folded word that an abbreviation or a misspelled word stands for; `None` for any other word, and for an abbreviation of
    /// several words.
    fn written(&self, words: &Words<'_>, at: usize) -> Option<String> {
        let raw = words.raw(at).to_lowercase();
        let own = self.rewritten(&raw).or_else(|| self.spelled(&raw)).filter(|_| words.kind(at) == Kind::Word)?;
        Some(fold(own)).filter(|own| own != words.fold(at) && own.chars().all(char::is_alphabetic))
    }

    fn mark_as<'w>(&self, fold: &impl Fn(usize) -> &'w str, words: &Words<'_>, language: u8, marks: &mut Vec<Mark>) {
        for at in 0..words.len() {
            let word = fold(at);
            let whole = self.index.by_word.get(word).into_iter().flatten();
            let known = whole.chain(self.index.by_start.get(start(word)).into_iter().flatten());
            for phrase in known.chain(&self.index.open) {
                if let Some(to) = fits(words, fold, at, &phrase.slots, true) {
                    marks.push(Mark { list: phrase.list, from: at, to, value: phrase.value, language });
                }
            }
        }
    }
}

impl Index {
    fn add(&mut self, list: List, value: usize, row: &[String]) {
        for text in row {
            let slots = slots(text);
            // If a phrase starts with optional words, also index it without the first of them, without the first two, and so on.
            let starts = slots.iter().take_while(|slot| slot.is_optional).count();
            (0..=starts.min(slots.len().saturating_sub(1))).for_each(|at| self.add_from(list, value, &slots[at..]));
        }
    }

    fn add_from(&mut self, list: List, value: usize, slots: &[Slot]) {
        let Some(first) = slots.first() else { return };
        for piece in &first.pieces {
            let mut slots = slots.to_vec();
            slots[0] = Slot { pieces: vec![piece.clone()], is_optional: false };
            let phrase = Phrase { list, value: value as u16, slots };
            match piece {
                WordPattern::Word(word) => self.by_word.entry(word.clone()).or_default().push(phrase),
                WordPattern::Start(word) if word.chars().count() >= 2 => {
                    self.by_start.entry(start(word).to_owned()).or_default().push(phrase);
                }
                _ => self.open.push(phrase),
            }
        }
    }
}

/// Returns whether a word is `right` with two neighboring letters swapped or one inner letter missing. The first letter must match.
fn misspells(own: &[u8], right: &[u8]) -> bool {
    let Some(first) = own.iter().zip(right).position(|(own, right)| own != right).filter(|first| *first > 0) else {
        return false;
    };
    if own.len() == right.len() {
        let is_swapped = own.get(first + 1) == Some(&right[first]) && right.get(first + 1) == Some(&own[first]);
        return is_swapped && own[first + 2..] == right[first + 2..];
    }
    own.len() + 1 == right.len() && own[first..] == right[first + 1..]
}

fn start(word: &str) -> &str {
    word.char_indices().nth(2).map_or(word, |(end, _)| &word[..end])
}

/// Parses a phrase of a word list. Splits the phrase into words in the same way as a prompt.
fn slots(text: &str) -> Vec<Slot> {
    let mut slots = Vec::new();
    for item in text.split_whitespace() {
        let (item, is_optional) =
            item.strip_suffix('?').filter(|item| !item.is_empty()).map_or((item, false), |item| (item, true));
        let alternatives: Vec<&str> = item.split('|').filter(|word| !word.is_empty()).collect();
        if let [single] = alternatives[..]
            && !matches!(single, "_" | "#" | "..")
            && !single.contains('*')
        {
            let words = Words::read(single);
            let parts = (0..words.len()).filter(|at| words.len() == 1 || !words.is_joint(*at));
            slots.extend(parts.map(|at| Slot { pieces: vec![WordPattern::Word(words.fold(at).to_owned())], is_optional }));
            continue;
        }
        slots.push(Slot { pieces: alternatives.into_iter().map(piece).collect(), is_optional });
    }
    slots
}

fn piece(word: &str) -> WordPattern {
    match word {
        "_" => WordPattern::One,
        "#" => WordPattern::Number,
        ".." => WordPattern::Gap,
        _ => match (word.strip_prefix('*'), word.strip_suffix('*')) {
            (Some(end), _) if !end.is_empty() => WordPattern::End(fold(end)),
            (_, Some(start)) if !start.is_empty() => WordPattern::Start(fold(start)),
            _ => WordPattern::Word(fold(word)),
        },
    }
}

/// Returns the end of the phrase `slots` if it starts at word `at`; `None` otherwise. `fold` returns the form of a word that is compared
/// with the phrase.
fn fits<'w>(words: &Words<'_>, fold: &impl Fn(usize) -> &'w str, at: usize, slots: &[Slot], is_first: bool) -> Option<usize> {
    let Some((slot, rest)) = slots.split_first() else { return Some(at) };
    let mut at = at;
    if !is_first && words.is_joint(at) {
        let is_wanted = slot.pieces.iter().any(|piece| matches!(piece, WordPattern::Word(word) if word == fold(at)));
        while !is_wanted && words.is_joint(at) {
            at += 1;
        }
    }
    if slot.pieces.iter().any(|piece| matches!(piece, WordPattern::Gap)) {
        return (0..=GAP_WORDS_MAX)
            .take_while(|skipped| (at..at + skipped).all(|at| !ends(words, at)))
            .find_map(|skipped| fits(words, fold, at + skipped, rest, false));
    }
    let is_here = at < words.len() && words.kind(at) != Kind::End && slot.pieces.iter().any(|piece| piece.fits(fold(at)));
    let taken = if is_here { fits(words, fold, at + 1, rest, false) } else { None };
    taken.or_else(|| if slot.is_optional { fits(words, fold, at, rest, is_first) } else { None })
}

/// Returns whether a sentence can end at a word.
fn ends(words: &Words<'_>, at: usize) -> bool {
    words.kind(at) == Kind::End || matches!(words.fold(at), "" | "." | "!" | "?" | ";")
}

/// Returns whether a phrase names the kind of an email rather than its topic.
pub fn names_kind(mark: Mark) -> bool {
    use Goal as G;
    let goal = goal_of(mark);
    !matches!(
        goal,
        G::Sale
            | G::Seasonal
            | G::Event
            | G::Recall
            | G::Voucher
            | G::Hiring
            | G::Closing
            | G::OpeningHours
            | G::Survey
            | G::Review
    )
}

pub fn goal_of(mark: Mark) -> Goal {
    lexicons()[usize::from(mark.language)].goal(mark.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_every_list_and_no_other() {
        for (code, text) in FILES {
            let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert_eq!((file.months.len(), file.weekdays.len(), file.short_weekdays.len()), (12, 7, 7), "{code}");
            let own: Vec<String> =
                file.lists.iter().flat_map(|(table, lists)| lists.keys().map(move |name| format!("{table}.{name}"))).collect();
            for key in &own {
                assert!(LISTS.iter().any(|(known, _)| known == key), "{code}: {key}");
            }
            for (key, _) in LISTS {
                assert!(own.iter().any(|own| own == key), "{code} lacks {key}");
            }
            for goal in file.goals.keys() {
                let value = serde_json::Value::from(goal.as_str());
                assert!(serde_json::from_value::<Goal>(value).is_ok(), "{code}: {goal}");
            }
        }
    }

    #[test]
    fn phrases_match_with_gaps_alternatives_and_optional_words() {
        for (phrase, text, end) in [
            ("keep it|this short", "keep it short", Some(3)),
            ("don't make", "don’t make it", Some(4)),
            ("make .. sound", "make it not sound good", Some(4)),
            ("very? warm", "warm", Some(1)),
            ("dank*", "Danksagung", Some(1)),
            ("*mail", "Störungsmail", Some(1)),
            ("no emoji", "no fun", None),
        ] {
            let words = Words::read(text);
            assert_eq!(fits(&words, &|at| words.fold(at), 0, &slots(phrase), true), end, "{phrase} in {text}");
        }
    }
}
