//! Finds the words of a stated fact that the email leaves out. A statement can be shortened or reworded, so the contract accepts it
//! with most of its words; a warning then reports the missing words.

use std::collections::HashSet;

use super::facts::states;
use super::lexicon::Words;
use super::reading::Reading;
use super::text::{alike, fold, words};
use crate::features::emails::brief::{Brief, Fact, FactKind};
use crate::features::emails::finding::{Finding, FindingKind};

/// The minimum number of consecutive missing words that a warning reports.
const ROW_WORDS_MIN: usize = 2;

/// Returns a warning for each statement of the brief that the email shortens.
pub fn check(email: &Reading, brief: &Brief) -> Vec<Finding> {
    let is_statement = |fact: &&Fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition) && fact.value.is_none();
    let all: HashSet<&str> = email.outline.passages.iter().flat_map(|passage| words(&passage.folded)).collect();
    let statements = brief.facts.iter().filter(is_statement);
    statements.filter(|fact| states(email, fact)).filter_map(|fact| shortened(email, fact, &all)).collect()
}

fn shortened(email: &Reading, fact: &Fact, all: &HashSet<&str>) -> Option<Finding> {
    let is_address = |word: &str| word.contains("://") || word.starts_with("www.") || word.contains('@');
    let written: Vec<&str> = fact.text.split_whitespace().filter(|word| !is_address(word)).collect();
    // A statement in another language is translated.
    if Words::language_of(&fold(&written.join(" "))).is_some_and(|own| own.code != email.words.code) {
        return None;
    }
    let is_value = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) || email.words.month(word).is_some() || email.words.weekday(word).is_some()
    };
    let is_content = |word: &&str| !email.words.is_stop(word) && !is_value(word) && word.chars().count() > 2;
    let is_said = |word: &str| all.contains(word) || all.iter().any(|own| alike(own, word));
    // The current run of words that the email lacks and the longest such run: the number of words, and the indexes of the first and
    // the last one.
    let (mut row, mut longest) = ((0, 0, 0), (0, 0, 0));
    for (at, word) in written.iter().enumerate() {
        for word in words(&fold(word)).filter(is_content) {
            row = match row {
                _ if is_said(word) => (0, 0, 0),
                (0, ..) => (1, at, at),
                (count, first, _) => (count + 1, first, at),
            };
            if row.0 > longest.0 {
                longest = row;
            }
        }
    }
    let (count, first, last) = longest;
    if count < ROW_WORDS_MIN {
        return None;
    }
    let missing = written[first..=last].join(" ");
    let missing = missing.trim_matches(|c: char| !c.is_alphanumeric());
    let message = format!("The email leaves out {missing:?} from {:?}. Add it, or ignore this warning.", fact.text);
    Some(Finding::new(FindingKind::Unclear, message).about(&fact.text, fact.span))
}
