//! Turns the short clauses of hurried prompts into sentences: "3 min, closes 10 Dec" becomes "It takes 3 minutes. It closes on 10 Dec."
//!
//! The patterns and the sentences are in the word lists of each language. A statement changes only if one of its clauses fits a pattern and
//! all others are sentences already. Otherwise, the clauses may depend on each other, and the statement keeps its words.

use super::lexicon::{Lexicon, List};
use super::reading::marks;
use super::tokens::Words;
use crate::base::text::capitalized;

/// The maximum number of clauses in a statement. Longer lists are printed as they are.
const CLAUSES_MAX: usize = 8;
/// The minimum number of words in a clause that has a verb and can be a sentence.
const SENTENCE_WORDS_MIN: usize = 3;

/// Returns a statement with its missing subject added, and with its short clauses written as sentences.
pub fn completed(lexicon: &Lexicon, text: &str) -> String {
    let text = &lexicon.with_subject(text);
    let bare = text.trim_end_matches(['.', '!']);
    let clauses: Vec<&str> = bare.split(", ").collect();
    let is_cut = |clause: &&str| clause.matches('(').count() != clause.matches(')').count();
    let is_open = bare.contains([';', '"', '“', '„', '?']) || clauses.iter().any(is_cut);
    if bare.is_empty() || is_open || clauses.len() > CLAUSES_MAX {
        return text.to_owned();
    }
    let fitted: Vec<Option<String>> = clauses.iter().map(|clause| lexicon.sentence(clause.trim())).collect();
    let is_whole =
        |(clause, fitted): (&&str, &Option<String>)| fitted.is_some() || !clause.contains(": ") && is_sentence(lexicon, clause);
    if fitted.iter().all(Option::is_none) || !clauses.iter().zip(&fitted).all(is_whole) {
        return text.to_owned();
    }
    let sentences = clauses.iter().zip(fitted).map(|(clause, fitted)| fitted.unwrap_or_else(|| capitalized(clause)));
    let sentences: Vec<String> = sentences.map(|own| own.trim().to_owned()).filter(|own| !own.is_empty()).collect();
    // If no sentence is left, the statement stays as it is, because it can be the only statement of the email.
    if sentences.is_empty() {
        return text.to_owned();
    }
    let end = if text.ends_with('!') { "!" } else { "." };
    format!("{}{end}", sentences.join(". "))
}

/// Returns whether a clause can be a separate sentence: it has a verb after its first word, and does not depend on another clause.
fn is_sentence(lexicon: &Lexicon, clause: &str) -> bool {
    let words = Words::read(clause);
    let marks = marks(&words);
    let is = |list: List, at: usize| {
        marks.iter().any(|mark| {
            mark.list == list && mark.from == at && lexicon.code == super::lexicon::lexicons()[usize::from(mark.language)].code
        })
    };
    let depends =
        [List::And, List::Or, List::That, List::Because, List::Question, List::With].into_iter().any(|list| is(list, 0));
    words.len() >= SENTENCE_WORDS_MIN && !depends && (1..words.len()).any(|at| is(List::Finite, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::brief::parse::lexicon::lexicons;

    fn written(language: &str, text: &str) -> String {
        completed(lexicons().iter().find(|lexicon| lexicon.code == language).expect("a language"), text)
    }

    #[test]
    fn short_clauses_become_sentences() {
        for (language, text, own) in [
            (
                "en",
                "3 minutes, win one of 5 tea boxes, closes 10 December.",
                "It takes 3 minutes. Win one of 5 tea boxes. It closes on 10 December.",
            ),
            ("en", "We are closed next week, back on Thursday 9am.", "We are closed next week. We are back on Thursday 9am."),
            ("en", "14 days valid.", "It is valid for 14 days."),
            ("en", "Only 30 places.", "There are only 30 places."),
            ("en", "Sign up at https://a.example/b.", "Sign up at https://a.example/b."),
            ("en", "The next class is full, 12 seats.", "The next class is full. There are 12 seats."),
            ("de", "Beginn 18 Uhr, 12 Plätze, Eintritt frei.", "Beginn um 18 Uhr. Es gibt 12 Plätze. Der Eintritt ist frei."),
        ] {
            assert_eq!(written(language, text), own);
        }
    }

    #[test]
    fn statements_whose_clauses_depend_on_each_other_keep_their_words() {
        for text in [
            "Our chef, back on Thursday, cooks for you.",
            "If you order now, 14 days valid.",
            "The mug, the bowl, 12 seats.",
            "Bring a coat, which is warm, and 12 seats.",
        ] {
            assert_eq!(written("en", text), text);
        }
    }
}
