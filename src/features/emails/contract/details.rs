//! Finds the words of a stated fact that the email leaves out. A statement can be shortened or said in other words, so the contract accepts
//! it with most of its words; a warning then reports the others.

use super::facts::states;
use super::lexicon::Words;
use super::reading::Reading;
use super::text::{alike, fold, words};
use crate::features::emails::brief::{Brief, Fact, FactKind};
use crate::features::emails::finding::{Finding, FindingKind};

/// The minimum number of words in a row that are reported.
const ROW_WORDS_MIN: usize = 2;

/// Returns a warning for each statement of the brief that the email shortens.
pub fn check(email: &Reading, brief: &Brief) -> Vec<Finding> {
    let is_statement = |fact: &&Fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition) && fact.value.is_none();
    let all: Vec<&str> = email.outline.passages.iter().flat_map(|passage| words(&passage.folded)).collect();
    let statements = brief.facts.iter().filter(is_statement);
    statements.filter_map(|fact| shortened(email, fact, &all)).collect()
}

fn shortened(email: &Reading, fact: &Fact, all: &[&str]) -> Option<Finding> {
    let is_address = |word: &&str| word.contains("://") || word.starts_with("www.") || word.contains('@');
    let text = fact.text.split_whitespace().filter(|word| !is_address(word)).collect::<Vec<_>>().join(" ");
    let folded = fold(&text);
    // A statement in another language is translated.
    if Words::language_of(&folded).is_some_and(|own| own.code != email.words.code) {
        return None;
    }
    let is_value = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) || email.words.month(word).is_some() || email.words.weekday(word).is_some()
    };
    let content = words(&folded).filter(|word| !email.words.is_stop(word) && !is_value(word) && word.chars().count() > 2);
    let (mut row, mut longest): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for word in content {
        if all.iter().any(|own| alike(own, word)) {
            row.clear();
            continue;
        }
        row.push(word);
        if row.len() > longest.len() {
            longest.clone_from(&row);
        }
    }
    if longest.len() < ROW_WORDS_MIN || !states(email, fact) {
        return None;
    }
    let message = format!("The email does not say {:?} of {:?}. Add it, or ignore this warning.", longest.join(" "), fact.text);
    Some(Finding::new(FindingKind::Unclear, message).about(&fact.text, fact.span))
}
