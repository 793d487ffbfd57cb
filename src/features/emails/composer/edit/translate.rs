//! Translates the sentences that the composer wrote itself, and formats dates, times and prices in the target language. All other text
//! stays unchanged, because only a language model can translate it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::Value;

use super::add::named_language;
use super::reply::{ActionResult, Reply};
use super::resources::EditResources;
use super::texts::sentences;
use super::vocabulary::Vocabulary;
use crate::features::emails::brief::{self, FactValue};
use crate::features::emails::composer::format::{Money, Saving};
use crate::features::emails::composer::language::{Bank, Language};
use crate::features::emails::composer::phrases::{Facts, Phrasebook};
use crate::features::emails::composer::printed::NOT_WORDS;
use crate::features::emails::composer::rules::Rules;
use crate::features::emails::composer::text::folded;
use crate::features::emails::composer::tokens::plain;
use crate::features::emails::composer::voice::Voice;
use crate::features::emails::document::{Direction, Email};

/// The maximum number of unchanged sentences that a reply lists, and their maximum length in characters.
const KEPT_NAMED: usize = 6;
const KEPT_CHARACTERS: usize = 60;
/// The dates of an email are recognized from `DAYS_BEFORE` days before today to `DAYS_AFTER` days after today.
const DAYS_BEFORE: i64 = 60;
const DAYS_AFTER: i64 = 400;
/// The fields of a document that are not translated: names, codes, postal addresses and alternative text.
const NAMES: [&str; 6] = ["name", "code", "author", "sender", "address", "alt"];

/// Translates the email's standard phrases. All blocks and facts are kept.
pub fn translate(email: &mut Email, language: Language, means: &EditResources<'_>) -> ActionResult {
    let own = Language::of(&email.language).unwrap_or(Language::En);
    if own == language {
        return Err(Reply::new("is_language").with("language", named_language(language)));
    }
    let voice = Voice::of(means.brand, &Rules::default(), language);
    let exchange = Exchange { from: own, to: language, voice, means, email, written: OnceCell::new() };
    let (changed, count, kept) = exchange.run().ok_or_else(|| Reply::new("nothing_to_translate"))?;
    let direction = Direction::of(&language.tag());
    *email = Email { language: language.tag(), direction, ..changed };
    let done = Reply::new("translated").with("language", named_language(language)).text("count", count);
    let then = Reply::new("kept_texts").text("texts", super::quoted(&kept));
    Ok(Reply { then: (!kept.is_empty()).then(|| Box::new(then)), ..done })
}

/// Makes the email's standard phrases formal or informal.
pub fn formality(email: &mut Email, formal: bool, means: &EditResources<'_>) -> ActionResult {
    let own = Language::of(&email.language).unwrap_or(Language::En);
    let voice = Voice { formal, ..Voice::of(means.brand, &Rules::default(), own) };
    let exchange = Exchange { from: own, to: own, voice, means, email, written: OnceCell::new() };
    let changed = exchange.run().map(|(changed, ..)| changed).filter(|changed| changed != email);
    *email = changed.ok_or_else(|| Reply::new("same_form"))?;
    Ok(Reply::new(if formal { "formal" } else { "informal" }))
}

/// Returns whether a sentence is a complete phrase of the composer that contains no facts and is not a label.
pub fn is_own_phrase(sentence: &str, language: Language) -> bool {
    let found = Phrase::all(language).find(|phrase| phrase.gaps().next().is_none() && phrase.matched(sentence).is_some());
    found.is_some_and(|phrase| !phrase.place.starts_with("common.") && !phrase.place.starts_with("series."))
}

/// A phrase from a phrase bank in its informal or formal wording.
struct Phrase {
    place: &'static str,
    /// The position of the phrase among the phrases of its key.
    index: usize,
    /// The text in the formal or informal wording, without the conditions for its use.
    text: String,
    /// Whether the formal and the informal wording differ.
    has_forms: bool,
}

impl Phrase {
    /// Returns all phrases of a language in all their wordings. Word lists are excluded.
    fn all(language: Language) -> impl Iterator<Item = Self> {
        let places = Bank::of(language).all().filter(|(place, _)| !place.starts_with("words.") && !place.contains(".words"));
        places.flat_map(|(place, phrases)| {
            phrases.iter().enumerate().flat_map(move |(index, phrase)| {
                let forms = if phrase.contains('[') { 2 } else { 1 };
                (0..forms).map(move |form| Self {
                    place,
                    index,
                    text: unconditional(&formed(phrase, form == 1)),
                    has_forms: forms == 2,
                })
            })
        })
    }

    fn gaps(&self) -> impl Iterator<Item = &str> {
        gaps(&self.text)
    }

    /// Returns the value of each gap, if the text is this phrase with its gaps filled.
    fn matched<'t>(&self, text: &'t str) -> Option<Vec<(&str, &'t str)>> {
        let mut values = Vec::new();
        let mut rest = text;
        let mut parts = self.text.split('{');
        let first = parts.next()?;
        rest = &rest[prefix(rest, first)?..];
        for part in parts {
            let (name, literal) = part.split_once('}')?;
            let (start, end) = match literal {
                "" => (rest.len(), rest.len()),
                literal => (0..rest.len()).filter(|at| rest.is_char_boundary(*at) && *at > 0).find_map(|at| {
                    let taken = prefix(&rest[at..], literal)?;
                    Some((at, at + taken))
                })?,
            };
            let value = rest[..start].trim_matches('*').trim();
            // A value with bold marks inside contains more than one fact.
            if value.is_empty() || value.contains('*') {
                return None;
            }
            values.push((name, value));
            rest = rest[end..].trim_start_matches("**");
        }
        rest.is_empty().then_some(values)
    }
}

/// Returns the length of a literal at the start of the text, in bytes. Case, bold marks, and the kinds of spaces and apostrophes do not
/// matter.
fn prefix(text: &str, literal: &str) -> Option<usize> {
    let same = |c: char| match c {
        '\u{a0}' | '\u{202f}' => ' ',
        '’' => '\'',
        other => other.to_lowercase().next().unwrap_or(other),
    };
    let mut rest = text.char_indices().filter(|(_, c)| *c != '*');
    for c in literal.chars().filter(|c| *c != '*') {
        if rest.next().is_none_or(|(_, own)| same(own) != same(c)) {
            return None;
        }
    }
    Some(rest.next().map_or(text.len(), |(at, _)| at))
}

/// Returns the names of the gaps of a phrase, without prefixes such as `the:`.
fn gaps(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    names.map(|name| name.rsplit(':').next().unwrap_or(name))
}

/// Returns a phrase in its formal or informal wording.
fn formed(phrase: &str, formal: bool) -> String {
    let mut out = String::new();
    let mut rest = phrase;
    while let Some((head, (inside, tail))) = rest.split_once('[').and_then(|(head, tail)| Some((head, tail.split_once(']')?))) {
        let (informal, polite) = inside.split_once('|').unwrap_or((inside, ""));
        out.push_str(head);
        out.push_str(if formal { polite } else { informal });
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// Returns a phrase without the conditions for its use.
fn unconditional(phrase: &str) -> String {
    let mut rest = phrase;
    while rest.starts_with("{?") || rest.starts_with("{!") {
        rest = rest.split_once('}').map_or("", |(_, rest)| rest);
    }
    rest.to_owned()
}

/// Replaces the composer's phrases with their versions in another language or wording.
struct Exchange<'a> {
    from: Language,
    to: Language,
    voice: Voice,
    means: &'a EditResources<'a>,
    email: &'a Email,
    /// The days around today, keyed by the folded date as the composer writes it.
    written: OnceCell<BTreeMap<String, Date>>,
}

impl Exchange<'_> {
    /// Returns the changed email, the number of changed strings, and the first sentences that stay unchanged; `None` if nothing changes.
    fn run(&self) -> Option<(Email, usize, Vec<String>)> {
        let mut json = self.email.to_json();
        let (mut count, mut kept) = (0, Vec::new());
        self.visit(&mut json, "", &mut count, &mut kept);
        kept.truncate(KEPT_NAMED);
        let changed = Email::from_json(&json).ok().filter(|_| count > 0)?;
        Some((changed, count, kept))
    }

    fn visit(&self, value: &mut Value, key: &str, count: &mut usize, kept: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let new = match key {
                    "price" | "priceBefore" | "date" => self.value(text),
                    "cells" | "head" => self.value(text).or_else(|| self.prose(text, kept)),
                    _ => self.prose(text, kept),
                };
                if let Some(new) = new.filter(|new| new != text) {
                    *text = new;
                    *count += 1;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.visit(item, key, count, kept)),
            Value::Object(fields) => {
                let is_social = fields.get("type").is_some_and(|kind| kind == "social");
                for (name, value) in fields.iter_mut() {
                    let is_text = !NOT_WORDS.contains(&name.as_str()) && !NAMES.contains(&name.as_str()) && name != "style";
                    if is_text && !(is_social && name == "links") {
                        self.visit(value, name, count, kept);
                    }
                }
            }
            _ => {}
        }
    }

    /// Replaces the sentences in the text that are phrases of the composer. Adds the other sentences to `kept`.
    fn prose(&self, text: &str, kept: &mut Vec<String>) -> Option<String> {
        if let Some(whole) = self.phrase(text) {
            return Some(whole);
        }
        let mut out = text.to_owned();
        for line in text.split('\n') {
            if let Some(new) = self.phrase(line.trim()) {
                out = out.replacen(line.trim(), &new, 1);
                continue;
            }
            for sentence in sentences(line) {
                match self.phrase(sentence) {
                    Some(new) => out = out.replacen(sentence, &new, 1),
                    None if self.has_language(sentence) => {
                        let short: String = sentence.chars().take(KEPT_CHARACTERS).collect();
                        let cut = if short.len() < sentence.len() { "…" } else { "" };
                        let short = format!("{}{cut}", short.replace("**", "").trim());
                        if !kept.contains(&short) {
                            kept.push(short);
                        }
                    }
                    None => {}
                }
            }
        }
        (out != text).then_some(out)
    }

    /// Returns whether the text has words to translate: it is not a name, and contains a word of at least three letters.
    fn has_language(&self, text: &str) -> bool {
        let own = folded(&text.replace('*', ""));
        let names = self.means.brand.products.iter().map(|product| product.name.as_str()).chain(self.means.brand.name.as_deref());
        let is_name = names.into_iter().any(|name| folded(name) == own);
        let is_person = text.starts_with("**") && text.ends_with("**");
        !is_name && !is_person && own.split(' ').any(|word| word.chars().filter(|c| c.is_alphabetic()).count() > 2)
    }

    /// Returns the text in the target language or wording, if it is a phrase of the composer.
    fn phrase(&self, text: &str) -> Option<String> {
        let text = text.trim();
        let is_meant = |phrase: &Phrase| self.from != self.to || phrase.has_forms;
        let mut candidates: Vec<Phrase> =
            Phrase::all(self.from).filter(|phrase| is_meant(phrase) && phrase.matched(text).is_some()).collect();
        // The phrase with the most letters outside its gaps is most likely the one that the composer used.
        candidates.sort_by_key(|phrase| (std::cmp::Reverse(literal(&phrase.text)), phrase.place));
        let is_line = |place: &str| place.ends_with("headline") || place.ends_with("subject");
        let likely = candidates.iter().filter(|phrase| literal(&phrase.text) > 0 || is_line(phrase.place));
        likely.into_iter().find_map(|phrase| {
            let values = phrase.matched(text)?;
            let mut facts = Facts::new();
            for (name, value) in &values {
                let bare = name.rsplit(':').next().unwrap_or(name);
                facts.insert(known_gap(self.from, bare)?, self.fact(bare, value)?);
            }
            self.other(phrase, facts, text.contains("**"))
        })
    }

    /// Returns a phrase with the same key and the same gaps in the target language, filled with `facts`.
    fn other(&self, phrase: &Phrase, facts: Facts, is_markup: bool) -> Option<String> {
        let count = |text: &str| {
            let mut counts = BTreeMap::new();
            gaps(text).for_each(|gap| *counts.entry(gap.to_owned()).or_insert(0) += 1);
            counts
        };
        let own = count(&phrase.text);
        let all = Bank::of(self.to).phrases(phrase.place);
        let fits = |other: &&String| count(&unconditional(other)) == own;
        let same = all.get(phrase.index).into_iter().filter(fits).chain(all.iter().filter(fits)).next()?;
        let book = Phrasebook::new(self.to, None, self.voice, 0, facts);
        book.filled(&unconditional(same), is_markup)
    }

    /// Returns the value of a gap in the target language.
    fn fact(&self, gap: &str, value: &str) -> Option<String> {
        let brand = self.means.brand;
        let is_name = |name: &str| folded(name) == folded(value);
        let is_code = !value.contains(' ') && !value.chars().any(char::is_lowercase) && value.chars().any(char::is_alphabetic);
        let products = brand.products.iter().map(|product| product.name.as_str());
        if self.from == self.to
            || is_code
            || value.contains('@')
            || brand.name.as_deref().into_iter().chain(products).any(is_name)
        {
            return Some(value.to_owned());
        }
        let saving = |saving: &Saving| {
            let (from, to) = (&Bank::of(self.from).format, &Bank::of(self.to).format);
            let same = |text: &str| folded(text) == folded(value);
            match gap {
                "offer" if same(&from.offer(saving)) => Some(to.offer(saving)),
                "deal" if same(&from.deal(saving)) || same(&from.offer(saving)) => Some(to.deal(saving)),
                "saving" if same(&from.saving(saving)) => Some(to.saving(saving)),
                _ => None,
            }
        };
        match gap {
            "offer" | "deal" | "saving" => self.read(value).and_then(|found| match found {
                FactValue::Percent { percent } => {
                    [false, true].into_iter().find_map(|up_to| saving(&Saving::Percent { value: percent, up_to }))
                }
                FactValue::Money { amount, currency } => [false, true]
                    .into_iter()
                    .find_map(|up_to| saving(&Saving::Amount { value: Money { amount, currency: currency.clone() }, up_to })),
                _ => None,
            }),
            _ => self.value(value),
        }
    }

    /// Returns the day that the composer writes as this text.
    fn day(&self, text: &str) -> Option<Date> {
        let written = self.written.get_or_init(|| {
            let bank = Bank::of(self.from);
            let today = self.means.today;
            let formats = [None, Some("GB")].map(|region| bank.format(region));
            let days = (-DAYS_BEFORE..DAYS_AFTER).rev().filter_map(|ahead| today.checked_add(ahead.days()).ok());
            days.flat_map(|day| {
                formats
                    .iter()
                    .flat_map(move |format| [format.day(day, today), format.date(day, today)])
                    .map(move |text| (folded(&text), day))
            })
            .collect()
        });
        written.get(&folded(text)).copied()
    }

    /// Returns the value that the text states, if the text states only one.
    fn read(&self, text: &str) -> Option<FactValue> {
        if let Some(first) = self.day(text) {
            return Some(FactValue::Days { first, last: None });
        }
        let brief = brief::parse(text, self.means.brand, Some(&self.from.tag()), self.means.today);
        let mut values = brief.facts.into_iter().filter_map(|fact| fact.value);
        values.next().filter(|_| values.next().is_none())
    }

    /// Returns a date, time, percentage or price in the format of the target language, if the text states nothing else.
    fn value(&self, text: &str) -> Option<String> {
        let text = text.trim_matches('*').trim();
        let today = self.means.today;
        let (from, to) = (&Bank::of(self.from).format, &Bank::of(self.to).format);
        if self.from == self.to {
            return None;
        }
        let read = self.read(text)?;
        let words = plain(text);
        let allowed = |name: &String| plain(name);
        let names: Vec<String> = from.months.iter().chain(&from.weekdays).map(allowed).collect();
        let has_weekday = from.weekdays.iter().any(|name| words.contains(&plain(name)));
        // Text with other words is not converted, because these words would be lost.
        let small = Vocabulary::of(self.from).class("date_words");
        let is_known = |word: &str| names.iter().any(|name| name == word) || small.iter().any(|own| own.concat() == word);
        let mut worded = words.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        if !worded.all(is_known) {
            return None;
        }
        Some(match read {
            FactValue::Days { first, last: None } if has_weekday => to.date(first, today),
            FactValue::Days { first, last: None } => to.day(first, today),
            FactValue::Days { first, last: Some(last) } => to.days(first, last, today),
            FactValue::Clock { start, end: None } => to.time(start),
            FactValue::Clock { start, end: Some(end) } => to.times(start, end),
            FactValue::Percent { percent } => to.percent(percent),
            FactValue::Money { amount, currency } => to.amount(amount, &currency),
            FactValue::Count { .. } => return None,
        })
    }
}

/// Returns the number of letters in a phrase outside its gaps.
fn literal(text: &str) -> usize {
    let outside = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, literal)| literal));
    outside.map(|part| part.chars().filter(|c| c.is_alphabetic()).count()).sum()
}

/// Returns the name of a gap as a `'static` string, which phrase books need; `None` if no phrase has this gap.
fn known_gap(language: Language, name: &str) -> Option<&'static str> {
    let phrases = Bank::of(language).all().flat_map(|(_, phrases)| phrases);
    phrases.flat_map(|phrase| gaps(phrase)).find(|own| *own == name)
}
