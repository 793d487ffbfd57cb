//! Finds words that the email leaves out of the brief's statements. The contract considers a statement present if the email contains most
//! of its words. This check then warns about the longest run of missing words.

use std::collections::HashSet;

use super::facts::states;
use super::lexicon::Words;
use super::reading::Reading;
use super::text::{alike, fold, words};
use crate::features::emails::brief::{Brief, Fact, FactKind};
use crate::features::emails::finding::{Finding, FindingKind};

/// The minimum number of consecutive missing words that a warning reports.
const ROW_WORDS_MIN: usize = 2;

/// Returns a warning for each statement in the brief from which the email omits several consecutive words.
pub fn check(email: &Reading, brief: &Brief) -> Vec<Finding> {
    let is_statement = |fact: &&Fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition) && fact.value.is_none();
    let all: HashSet<&str> = email.outline.passages.iter().flat_map(|passage| words(&passage.folded)).collect();
    let statements = brief.facts.iter().filter(is_statement);
    statements.filter(|fact| states(email, fact)).filter_map(|fact| shortened(email, fact, &all)).collect()
}

/// Returns a warning for each statement in the brief that the email prints in a language other than the email's. A statement that names a
/// month or a weekday in another language counts as partly in that language.
pub fn foreign(email: &Reading, brief: &Brief) -> Vec<Finding> {
    let is_statement = |fact: &&Fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition);
    let statements: Vec<&Fact> = brief.facts.iter().filter(is_statement).collect();
    let is_other = |text: &str| Words::language_of(text).is_some_and(|own| own.code != email.words.code);
    let names_day = |text: &str| {
        let is_day = |word: &str| word.chars().count() >= DAY_LETTERS_MIN && Words::is_foreign_day(word, email.words);
        words(text).any(is_day)
    };
    let all = fold(&statements.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join("\n"));
    // Related languages share common words, so a statement that contains a common word of the email's language is reported only if it names
    // a month or a weekday in another language.
    let is_all_other = is_other(&all) && names_day(&all);
    let is_foreign = |fact: &&Fact| {
        let folded = fold(&fact.text);
        let is_mixed = words(&folded).any(|word| email.words.is_stop(word));
        names_day(&folded) || !is_mixed && (is_other(&folded) || is_all_other && words(&folded).count() >= FOREIGN_WORDS_MIN)
    };
    let found = statements.into_iter().filter(is_foreign).filter(|fact| email.states(&fact.text));
    let report = |fact: &Fact| {
        let message = format!("{:?} does not seem to be in the email's language. Translate this text.", fact.text);
        Finding::note(message).about(&fact.text, fact.span)
    };
    found.map(report).collect()
}

/// The minimum number of letters in a month or weekday name of another language. Shorter names are often other words.
const DAY_LETTERS_MIN: usize = 5;

/// The minimum number of words in a statement whose language is inferred from all statements in the brief together. Shorter statements are
/// usually names.
const FOREIGN_WORDS_MIN: usize = 3;

fn shortened(email: &Reading, fact: &Fact, all: &HashSet<&str>) -> Option<Finding> {
    let is_address = |word: &str| word.contains("://") || word.starts_with("www.") || word.contains('@');
    let written: Vec<&str> = fact.text.split_whitespace().filter(|word| !is_address(word)).collect();
    // A statement in another language is translated, so its words cannot be compared.
    if Words::language_of(&fold(&written.join(" "))).is_some_and(|own| own.code != email.words.code) {
        return None;
    }
    let is_value = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) || email.words.month(word).is_some() || email.words.weekday(word).is_some()
    };
    let is_content = |word: &&str| !email.words.is_stop(word) && !is_value(word) && word.chars().count() > 2;
    let is_said = |word: &str| all.contains(word) || all.iter().any(|own| alike(own, word));
    // The current and the longest run of words that the email lacks: the number of words and the indexes of the first and last.
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
    let message =
        format!("The email omits {missing:?} from the statement {:?}. Add these words, or ignore this warning.", fact.text);
    Some(Finding::new(FindingKind::Unclear, message).about(&fact.text, fact.span))
}
