//! Reads the structure of English sentences: where clauses start, and which nouns and verbs agree.

use super::class_table::{
    ADJECTIVE, ADVERB, BASE_VERB, COMPARATIVE, ING_FORM, NOUN, OTHER, PARTICIPLE, PAST, PLURAL_NOUN, SUPERLATIVE, THIRD_PERSON,
};
use super::tokens::{Token, TokenKind};

/// Whether a noun or a verb is singular or plural.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Singular,
    Plural,
}

/// A noun and the preceding words that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NounPhrase {
    /// The position of the noun.
    pub head: usize,
    pub number: Number,
    /// Whether a word such as "a" or "the" comes first.
    pub has_determiner: bool,
}

const SINGULAR_DETERMINERS: [&str; 8] = ["a", "an", "each", "every", "another", "this", "that", "one"];
const PLURAL_DETERMINERS: [&str; 8] = ["these", "those", "many", "several", "few", "both", "all", "most"];
const OTHER_DETERMINERS: [&str; 9] = ["the", "my", "your", "our", "his", "her", "its", "their", "no"];

/// Words that join clauses, or after which a clause starts.
const CLAUSE_WORDS: [&str; 22] = [
    "but", "so", "because", "that", "if", "when", "while", "since", "until", "unless", "whether", "although", "though",
    "whenever", "wherever", "what", "how", "why", "where", "once", "whatever", "as",
];

/// Words that end a noun phrase.
const PHRASE_ENDS: [&str; 38] = [
    "and", "or", "of", "to", "in", "on", "for", "with", "at", "by", "from", "who", "which", "whose", "whom", "the", "a", "an",
    "my", "your", "our", "his", "her", "its", "their", "we", "you", "they", "he", "she", "it", "i", "than", "about", "like",
    "these", "those", "each",
];

/// Adverbs that can be between a subject and its verb.
const MIDDLE_ADVERBS: [&str; 26] = [
    "also",
    "always",
    "never",
    "often",
    "usually",
    "still",
    "now",
    "really",
    "only",
    "just",
    "already",
    "sometimes",
    "almost",
    "actually",
    "currently",
    "quickly",
    "truly",
    "even",
    "finally",
    "automatically",
    "certainly",
    "probably",
    "rarely",
    "simply",
    "ever",
    "not",
];

/// Words for quantities. After such a word and "of", the verb agrees with the next noun: "a number of shoes are here".
const QUANTITIES: [&str; 30] = [
    "lot",
    "number",
    "majority",
    "variety",
    "range",
    "couple",
    "rest",
    "half",
    "third",
    "quarter",
    "percent",
    "pair",
    "handful",
    "group",
    "series",
    "minority",
    "part",
    "bunch",
    "team",
    "host",
    "set",
    "selection",
    "collection",
    "dozen",
    "bit",
    "total",
    "mix",
    "plenty",
    "share",
    "array",
];

/// Words that express a demand, after which a verb is in its base form: "we ask that he come".
const DEMANDS: [&str; 16] = [
    "suggest",
    "recommend",
    "insist",
    "ask",
    "asks",
    "demand",
    "require",
    "requires",
    "important",
    "essential",
    "vital",
    "request",
    "propose",
    "suggests",
    "crucial",
    "demands",
];

/// Objects that show that the word before them is a verb.
const OBJECTS: [&str; 31] = [
    "the",
    "a",
    "an",
    "my",
    "your",
    "our",
    "his",
    "its",
    "their",
    "this",
    "these",
    "those",
    "every",
    "each",
    "you",
    "us",
    "them",
    "it",
    "me",
    "him",
    "everyone",
    "everything",
    "itself",
    "yourself",
    "that",
    "how",
    "up",
    "down",
    "out",
    "away",
    "off",
];

pub(super) fn word<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<&'t Token<'a>> {
    tokens.get(at).filter(|token| token.is_word())
}

/// Returns the word at `at` if only a space separates it from the word before it.
pub(super) fn next_word<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<&'t Token<'a>> {
    word(tokens, at).filter(|token| token.spaced && !token.new_line)
}

pub(super) fn lower<'t>(tokens: &'t [Token<'_>], at: usize) -> &'t str {
    tokens.get(at).map_or("", |token| token.lower.as_str())
}

/// Returns the token before `at` in lowercase, or an empty string.
pub(super) fn before<'t>(tokens: &'t [Token<'_>], at: usize) -> &'t str {
    at.checked_sub(1).map_or("", |at| lower(tokens, at))
}

pub(super) fn has(token: &Token<'_>, classes: u16) -> bool {
    token.word_classes & classes != 0
}

/// Returns whether the word can only be the base form of a verb. Base forms that are also participles, such as "come", count.
pub(super) fn is_only_base(token: &Token<'_>) -> bool {
    // The table contains wrong classes for "come" and "become", because of mistakes in its source.
    let come = matches!(token.lower.as_str(), "come" | "become");
    (come || token.word_classes & !PARTICIPLE == BASE_VERB)
        && !matches!(token.lower.as_str(), "found" | "lay" | "fell" | "felt" | "at")
}

/// Returns whether a finite verb is among the tokens from `start` to `end`.
pub(super) fn has_verb(tokens: &[Token<'_>], start: usize, end: usize) -> bool {
    tokens.get(start..end).unwrap_or_default().iter().any(|token| {
        token.is_word()
            && (is_auxiliary(&token.lower)
                || token.word_classes == THIRD_PERSON
                || is_only_base(token)
                || token.word_classes & !PARTICIPLE == PAST)
    })
}

pub(super) fn is_auxiliary(word: &str) -> bool {
    let contracted = ["'re", "'ve", "'ll", "'d", "n't", "'m"].iter().any(|end| word.ends_with(end));
    contracted
        || matches!(word, "it's" | "that's" | "there's" | "here's" | "he's" | "she's" | "what's")
        || is_modal(word)
        || be_have_do(word).is_some()
}

pub(super) fn is_modal(word: &str) -> bool {
    matches!(
        word,
        "can"
            | "could"
            | "will"
            | "would"
            | "should"
            | "may"
            | "might"
            | "must"
            | "cannot"
            | "can't"
            | "won't"
            | "couldn't"
            | "wouldn't"
            | "shouldn't"
    )
}

/// Returns the grammatical number of a form of "be", "have" or "do".
fn be_have_do(word: &str) -> Option<Number> {
    match word.strip_suffix("n't").unwrap_or(word) {
        "is" | "was" | "has" | "does" => Some(Number::Singular),
        "are" | "were" | "have" | "do" => Some(Number::Plural),
        _ => None,
    }
}

/// The maximum number of tokens that are read backward to find the start of a sentence. Without this limit, text without end marks would
/// take quadratic time.
const SENTENCE_TOKENS_MAX: usize = 60;

/// Returns the position of the first token of the sentence that contains the token at `at`.
pub(super) fn sentence_start(tokens: &[Token<'_>], at: usize) -> usize {
    (at.saturating_sub(SENTENCE_TOKENS_MAX)..=at)
        .rev()
        .find(|at| tokens.get(*at).is_some_and(|token| token.starts_sentence || token.new_line))
        .unwrap_or(at.saturating_sub(SENTENCE_TOKENS_MAX))
}

/// Returns whether a clause with its own subject can start at `at`.
pub(super) fn starts_clause(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(token) = word(tokens, at) else { return false };
    if token.starts_sentence || token.new_line {
        return true;
    }
    let demands = || (at.saturating_sub(5)..at).any(|at| DEMANDS.contains(&lower(tokens, at)));
    match before(tokens, at) {
        "and" | "or" => lower(tokens, at.saturating_sub(2)) == "," && has_verb(tokens, sentence_start(tokens, at), at - 1),
        "," => {
            let start = sentence_start(tokens, at);
            starts_with_introduction(tokens, start, at - 1) || has_condition(tokens, start, at - 1)
        }
        // After "as", only a pronoun starts a clause: in "as a member", "as" is a preposition.
        "as" => is_pronoun(&token.lower),
        previous => CLAUSE_WORDS.contains(&previous) && !demands(),
    }
}

pub(super) fn is_pronoun(word: &str) -> bool {
    matches!(word, "i" | "you" | "we" | "they" | "he" | "she" | "it")
}

/// Returns whether a comma ends a condition inside the sentence: "She said that if you wait,".
fn has_condition(tokens: &[Token<'_>], start: usize, comma: usize) -> bool {
    let first_comma = (start..comma).rev().find(|at| lower(tokens, *at) == ",").unwrap_or(start);
    (first_comma..comma)
        .any(|at| matches!(lower(tokens, at), "if" | "when") && matches!(before(tokens, at), "that" | "," | "and" | "but"))
}

/// Returns whether the words from `start` to the first comma of a sentence are an introduction: "This week,".
fn starts_with_introduction(tokens: &[Token<'_>], start: usize, comma: usize) -> bool {
    let only = !(start..comma).any(|at| lower(tokens, at) == ",");
    let first = lower(tokens, start);
    let introduces = CLAUSE_WORDS.contains(&first)
        || tokens.get(start).is_some_and(|token| token.word_classes & !ADJECTIVE == ADVERB)
        || matches!(
            first,
            "in" | "on"
                | "at"
                | "for"
                | "with"
                | "after"
                | "before"
                | "during"
                | "from"
                | "to"
                | "this"
                | "last"
                | "next"
                | "every"
                | "without"
                | "today"
                | "now"
                | "yes"
                | "no"
                | "unlike"
                | "like"
                | "despite"
                | "until"
                | "by"
                | "please"
                | "anyway"
        );
    only && introduces
}

/// Returns the noun phrases that can start at `at`, shortest first: "the family", "the family mill".
pub(super) fn noun_phrases(tokens: &[Token<'_>], at: usize) -> Vec<NounPhrase> {
    let mut found = Vec::new();
    let first = lower(tokens, at);
    let required = match first {
        _ if SINGULAR_DETERMINERS.contains(&first) => Some(Number::Singular),
        _ if PLURAL_DETERMINERS.contains(&first) => Some(Number::Plural),
        _ => None,
    };
    let has_determiner = required.is_some() || OTHER_DETERMINERS.contains(&first);
    let start = at + usize::from(has_determiner);
    // A phrase has at most five words before its noun.
    for position in start..start + 6 {
        let token = if position == at { word(tokens, position) } else { next_word(tokens, position) };
        let Some(token) = token.filter(|token| {
            let lower = token.lower.as_str();
            !CLAUSE_WORDS.contains(&lower) && !PHRASE_ENDS.contains(&lower) && !is_auxiliary(lower)
        }) else {
            break;
        };
        // A word that ends with "-ing" can be a verb form with an object instead of a part of the phrase: "holding town halls is".
        if position == at && !has_determiner && has(token, ING_FORM) {
            break;
        }
        let number = noun_number(token).filter(|number| required.is_none_or(|required| required == *number));
        if let Some(number) = number {
            found.push(NounPhrase { head: position, number, has_determiner });
        }
        let modifies = has(token, NOUN | PLURAL_NOUN | ADJECTIVE | PARTICIPLE | ING_FORM | COMPARATIVE | SUPERLATIVE)
            || token.word_classes == ADVERB;
        if !modifies {
            break;
        }
    }
    found
}

/// Returns the grammatical number of a word if it is a noun.
pub(super) fn noun_number(token: &Token<'_>) -> Option<Number> {
    let name = token.is_capitalized() && !token.starts_sentence;
    let lower = token.lower.as_str();
    if name || UNCLEAR.contains(&lower) || PHRASE_ENDS.contains(&lower) || CLAUSE_WORDS.contains(&lower) || is_auxiliary(lower) {
        return None;
    }
    // A word that the table lacks is most likely a noun.
    if token.word_classes == 0 && token.lower.len() > 2 && !token.lower.contains('\'') && !token.lower.ends_with(['s', 't']) {
        return Some(Number::Singular);
    }
    if has(token, OTHER) && lower != "need" {
        return None;
    }
    match (has(token, NOUN), has(token, PLURAL_NOUN)) {
        (true, false) if !token.lower.ends_with('s') || token.lower.ends_with("ss") => Some(Number::Singular),
        (false, true) => Some(Number::Plural),
        _ => None,
    }
}

/// Nouns that are used with singular and plural verbs, and words that are rarely nouns.
const UNCLEAR: [&str; 53] = [
    "two",
    "three",
    "four",
    "five",
    "ten",
    "news",
    "series",
    "species",
    "means",
    "people",
    "police",
    "data",
    "media",
    "staff",
    "sheep",
    "fish",
    "deer",
    "sales",
    "headquarters",
    "works",
    "politics",
    "kids'",
    "percent",
    "others",
    "thanks",
    "you",
    "one",
    "all",
    "much",
    "many",
    "more",
    "less",
    "most",
    "few",
    "i",
    "any",
    "some",
    "none",
    "what",
    "first",
    "second",
    "next",
    "last",
    "that",
    "this",
    "here",
    "there",
    "out",
    "up",
    "back",
    "not",
    "no",
    "now",
];

/// Returns the grammatical number of a verb, and whether the word is certainly a verb.
pub(super) fn verb_number(tokens: &[Token<'_>], at: usize) -> Option<(Number, bool)> {
    let token = next_word(tokens, at)?;
    if let Some(number) = be_have_do(&token.lower) {
        return Some((number, true));
    }
    // A part of a compound, such as "well-known" or "set-up", is not a verb.
    if token.is_capitalized() || tokens.get(at + 1).is_some_and(|next| next.text == "-" && !next.spaced) {
        return None;
    }
    let classes = token.word_classes;
    let number = match (classes & THIRD_PERSON != 0, classes & BASE_VERB != 0) {
        (true, false) => Number::Singular,
        (false, true) => Number::Plural,
        _ => return None,
    };
    if classes == THIRD_PERSON || is_only_base(token) && number == Number::Plural {
        return Some((number, true));
    }
    // For these common verbs, the table also has rare classes, which are ignored.
    let common = matches!(token.lower.as_str(), "say" | "go" | "order" | "need" | "open" | "get" | "want" | "needs");
    if !common && classes & !(THIRD_PERSON | BASE_VERB | NOUN | PLURAL_NOUN) != 0 {
        return None;
    }
    let object = next_word(tokens, at + 1).is_some_and(|next| OBJECTS.contains(&next.lower.as_str()));
    let after_pronoun = next_word(tokens, at - 1)
        .is_some_and(|subject| matches!(subject.lower.as_str(), "i" | "we" | "they" | "he" | "she" | "it"))
        || word(tokens, at - 1).is_some_and(|subject| subject.starts_sentence && is_pronoun(&subject.lower));
    let follows = matches!(
        before(tokens, at),
        "who" | "always" | "never" | "often" | "usually" | "really" | "also" | "sometimes" | "rarely"
    );
    (object || after_pronoun || follows).then_some((number, false))
}

/// Skips adverbs that can be between a subject and its verb.
pub(super) fn skip_adverbs(tokens: &[Token<'_>], mut at: usize) -> usize {
    for _ in 0..2 {
        if next_word(tokens, at).is_some_and(|token| MIDDLE_ADVERBS.contains(&token.lower.as_str())) {
            at += 1;
        }
    }
    at
}

/// Returns whether a noun phrase ends before the token at `at`, because the token is not a word that the preceding noun could describe.
pub(super) fn ends_phrase(tokens: &[Token<'_>], at: usize) -> bool {
    let Some(next) = tokens.get(at) else { return true };
    if next.kind == TokenKind::Mark {
        return matches!(next.text, "." | "," | "!" | "?" | ";" | ":" | ")") && !next.spaced;
    }
    let stops = matches!(
        next.lower.as_str(),
        "of" | "in"
            | "on"
            | "for"
            | "with"
            | "from"
            | "at"
            | "by"
            | "to"
            | "and"
            | "or"
            | "that"
            | "which"
            | "who"
            | "away"
            | "ago"
            | "we"
            | "you"
            | "they"
            | "i"
            | "it"
            | "the"
            | "your"
            | "our"
            | "a"
            | "before"
            | "after"
            | "until"
            | "when"
            | "if"
            | "so"
            | "than"
            | "per"
            | "as"
            | "because"
            | "while"
            | "worth"
    );
    next.new_line || next.is_word() && (stops || is_auxiliary(&next.lower))
}

pub(super) fn is_quantity(word: &str) -> bool {
    QUANTITIES.contains(&word)
}

pub(super) fn is_number(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Number
}
