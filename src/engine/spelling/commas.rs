//! Finds missing commas after introductory words and clauses of English sentences: "However we", "If you have questions our team will
//! help".

use super::class_table::{ADVERB, BASE_VERB, NOUN, PARTICIPLE, PLURAL_NOUN, THIRD_PERSON};
use super::findings::FindingKind;
use super::patterns::Hit;
use super::reading::{has, is_auxiliary, is_modal, is_pronoun, lower, next_word, verb_number, word};
use super::rules::RuleHit;
use super::tokens::{Token, TokenKind};

const RULE: &str = "COMMA_AFTER_INTRODUCTION";

/// Adverbs that need a comma after them at the start of a sentence.
const ADVERBS: [&str; 16] = [
    "however",
    "unfortunately",
    "therefore",
    "additionally",
    "furthermore",
    "moreover",
    "meanwhile",
    "luckily",
    "sadly",
    "fortunately",
    "nevertheless",
    "consequently",
    "thankfully",
    "anyway",
    "otherwise",
    "hopefully",
];

/// Phrases that need a comma after them at the start of a sentence.
const PHRASES: [&str; 11] = [
    "for example",
    "in addition",
    "as a result",
    "of course",
    "as always",
    "in fact",
    "for instance",
    "on the other hand",
    "first of all",
    "in other words",
    "as a thank you",
];

/// Words that start a subordinate clause before the main clause, and "unlike", which starts a phrase in the same place.
const SUBORDINATORS: [&str; 11] =
    ["if", "when", "whenever", "although", "though", "because", "while", "unless", "once", "unlike", "as"];

/// Returns the places in English text where a comma is missing.
pub(super) fn missing_commas<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let check = |at: usize| {
        let token = word(tokens, at).filter(|token| token.starts_sentence && token.is_capitalized())?;
        let end = adverb(tokens, at, &token.lower).or_else(|| clause(tokens, at, &token.lower))?;
        let (first, second) = (tokens.get(end - 1)?, tokens.get(end)?);
        let suggestions = vec![format!("{}, {}", first.text, second.text)];
        Some(RuleHit {
            hit: Hit { first: end - 1, end: end + 1 },
            rule: RULE,
            kind: FindingKind::Grammar,
            suggestions,
            confidence: 0.7,
        })
    };
    (0..tokens.len()).filter_map(check).collect()
}

/// Returns the position of the word after an introductory adverb or phrase that lacks a comma.
fn adverb(tokens: &[Token<'_>], at: usize, first: &str) -> Option<usize> {
    let is_phrase = |phrase: &&str| phrase.split(' ').enumerate().all(|(offset, part)| lower(tokens, at + offset) == part);
    let length = match ADVERBS.contains(&first) {
        true => 1,
        false => PHRASES.iter().find(|phrase| is_phrase(phrase)).map(|phrase| phrase.split(' ').count())?,
    };
    let next = next_word(tokens, at + length)?;
    let is_subject = is_pronoun(&next.lower)
        || is_determiner(&next.lower)
        || matches!(next.lower.as_str(), "it's" | "we're" | "you're" | "they're" | "i'm" | "there" | "we've" | "i've");
    let manner =
        first == "however" && matches!(lower(tokens, at + length + 1), "like" | "want" | "prefer" | "choose" | "feel" | "wish");
    (is_subject && !manner).then_some(at + length)
}

fn is_determiner(word: &str) -> bool {
    matches!(word, "our" | "your" | "the" | "my" | "their" | "his" | "her" | "its" | "this" | "these")
}

/// Returns the position of the main clause after an introductory subordinate clause, if the sentence has no comma.
fn clause(tokens: &[Token<'_>], at: usize, first: &str) -> Option<usize> {
    let second = next_word(tokens, at + 1)?;
    if !SUBORDINATORS.contains(&first) || is_auxiliary(&second.lower) {
        return None;
    }
    let end = (at + 1..tokens.len()).find(|at| {
        tokens.get(*at).is_some_and(|token| {
            token.new_line
                || token.starts_sentence
                || token.kind == TokenKind::Mark && matches!(token.text, "." | "!" | "?" | ":" | ";" | "–" | "—" | "(")
        })
    });
    let end = end.unwrap_or(tokens.len());
    let sentence = tokens.get(at..end)?;
    // Sentences with a comma, questions such as "When will you", and short fragments are not checked.
    if sentence.iter().any(|token| token.text == ",") || lower(tokens, end) == "?" || sentence.len() < 7 {
        return None;
    }
    // Except for "unlike", a subject must follow the first word: "if you have questions", but "unlike other mats".
    let plain = first == "unlike";
    let has_clause = !plain && is_subject_start(&second.lower);
    if !has_clause && !plain {
        return None;
    }
    (at + 3 + usize::from(has_clause)..end.checked_sub(1)?).find(|at| starts_main_clause(tokens, *at, plain))
}

fn is_subject_start(word: &str) -> bool {
    is_pronoun(word)
        || is_determiner(word)
        || matches!(word, "you've" | "you're" | "it's" | "we've" | "they're" | "a" | "an" | "something" | "anyone" | "someone")
}

/// Returns whether a new clause with its own verb starts at `at`.
fn starts_main_clause(tokens: &[Token<'_>], at: usize, plain: bool) -> bool {
    let (Some(previous), Some(token)) = (at.checked_sub(1).and_then(|at| word(tokens, at)), next_word(tokens, at)) else {
        return false;
    };
    let passive = has(previous, PARTICIPLE) && at.checked_sub(2).is_some_and(|at| is_auxiliary(lower(tokens, at)));
    let closes = has(previous, NOUN | PLURAL_NOUN | THIRD_PERSON)
        || passive
        || previous.word_classes & ADVERB != 0
        || is_object(&previous.lower)
        || previous.is_capitalized();
    let joins = matches!(
        previous.lower.as_str(),
        "and"
            | "or"
            | "that"
            | "than"
            | "as"
            | "but"
            | "what"
            | "how"
            | "where"
            | "when"
            | "if"
            | "to"
            | "of"
            | "for"
            | "with"
            | "in"
            | "on"
            | "from"
            | "at"
            | "by"
            | "about"
            | "like"
    );
    if !closes || joins {
        return false;
    }
    if matches!(token.lower.as_str(), "please" | "simply") && next_word(tokens, at + 1).is_some_and(|next| has(next, BASE_VERB)) {
        return true;
    }
    if matches!(token.lower.as_str(), "we'll" | "we're" | "you'll" | "it'll" | "they'll" | "i'll" | "it's") {
        return true;
    }
    let verb_follows = |at: usize| {
        next_word(tokens, at).is_some_and(|next| is_modal(&next.lower) || is_auxiliary(&next.lower))
            || verb_number(tokens, at).is_some_and(|(_, certain)| certain)
    };
    if is_pronoun(&token.lower) {
        return verb_follows(at + 1)
            && (plain || next_word(tokens, at + 1).is_some_and(|next| is_modal(&next.lower) || is_auxiliary(&next.lower)));
    }
    is_determiner(&token.lower)
        && !is_object(&previous.lower)
        && (1..4).any(|offset| verb_follows(at + 1 + offset))
        && has(previous, NOUN | PLURAL_NOUN)
        && (!has(previous, BASE_VERB | THIRD_PERSON) || at.checked_sub(2).is_some_and(|at| is_before_noun(lower(tokens, at))))
}

/// Returns whether a noun can follow this word.
fn is_before_noun(word: &str) -> bool {
    is_determiner(word) || matches!(word, "a" | "an" | "any" | "more" | "some" | "no" | "further" | "other" | "every" | "all")
}

fn is_object(word: &str) -> bool {
    matches!(word, "it" | "them" | "us" | "me" | "him" | "this" | "that" | "these" | "those" | "one")
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_missing_commas() {
        for (text, expected) in [
            ("However we only bought forty bags.", "However, we"),
            ("For example you can save today.", "example, you"),
            ("If you have any questions our docs have answers.", "questions, our"),
            ("If you do not like it we will refund you.", "it, we"),
            ("Unlike other mats it has no smell.", "mats, it"),
            ("When your order arrives please check the box.", "arrives, please"),
        ] {
            let found: Vec<_> = missing_commas(&tokens(text)).into_iter().flat_map(|hit| hit.suggestions).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn accepts_commas_and_sentences_that_need_none() {
        for text in [
            "However, we only bought forty bags.",
            "However you like it.",
            "If you like the coffee you bought, buy more.",
            "When will you arrive with our order?",
            "As a member you save.",
            "While supplies last and stock remains in our store.",
        ] {
            assert_eq!(missing_commas(&tokens(text)), [], "{text}");
        }
    }
}
