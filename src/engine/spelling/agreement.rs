//! Finds verbs that do not agree with their subjects: "each packet come", "spaces is limited", "everyone who have".

use super::findings::FindingKind;
use super::inflection::{add_s, remove_s};
use super::patterns::Hit;
use super::reading::{
    NounPhrase, Number, before, is_quantity, lower, next_word, noun_number, noun_phrases, sentence_start, skip_adverbs,
    starts_clause, verb_number, word,
};
use super::rules::{RuleHit, with_case_of};
use super::tokens::Token;

const RULE: &str = "SUBJECT_VERB_AGREEMENT";

/// Pronouns that need the third person singular.
const SINGULAR_PRONOUNS: [&str; 14] = [
    "he",
    "she",
    "it",
    "everyone",
    "someone",
    "anyone",
    "nobody",
    "everybody",
    "somebody",
    "nothing",
    "everything",
    "something",
    "anything",
    "anybody",
];

/// Words after which "you" is a subject.
const BEFORE_YOU: [&str; 14] = [
    "what",
    "anything",
    "everything",
    "all",
    "whatever",
    "whenever",
    "when",
    "where",
    "if",
    "that",
    "as",
    "than",
    "because",
    "once",
];

/// Nouns for groups. British English can treat them as plural: "our team are".
const GROUPS: [&str; 18] = [
    "team",
    "family",
    "company",
    "band",
    "crew",
    "club",
    "government",
    "public",
    "crowd",
    "committee",
    "audience",
    "council",
    "class",
    "jury",
    "brand",
    "board",
    "community",
    "panel",
];

/// Returns the verbs in English text that do not agree with their subjects.
pub(super) fn disagreements<'r>(tokens: &[Token<'_>], language: &str) -> Vec<RuleHit<'r>> {
    let british = language.eq_ignore_ascii_case("en-gb");
    let check = |at| {
        let (verb, number, certain) = pronoun(tokens, at)
            .or_else(|| noun(tokens, at, british))
            .or_else(|| relative(tokens, at))
            .or_else(|| there(tokens, at))
            .or_else(|| joined(tokens, at))
            .or_else(|| question(tokens, at))?;
        report(tokens, verb, number, certain)
    };
    (0..tokens.len()).filter_map(check).collect()
}

/// Returns the finding for the verb at `at`. The finding suggests the form of the verb that has the grammatical number `number`.
fn report<'r>(tokens: &[Token<'_>], at: usize, number: Number, certain: bool) -> Option<RuleHit<'r>> {
    let verb = tokens.get(at..=at)?;
    let written = lower(tokens, at);
    let (stem, not) = written.strip_suffix("n't").map_or((written, ""), |stem| (stem, "n't"));
    let form = match (number, stem) {
        (Number::Singular, "are") => "is".to_owned(),
        (Number::Singular, "were") => "was".to_owned(),
        (Number::Singular, _) => add_s(stem),
        (Number::Plural, "does") => "do".to_owned(),
        (Number::Plural, _) => remove_s(stem),
    };
    Some(RuleHit {
        hit: Hit { first: at, end: at + 1 },
        rule: RULE,
        kind: FindingKind::Grammar,
        suggestions: vec![with_case_of(verb, &format!("{form}{not}"))],
        confidence: if certain { 0.8 } else { 0.7 },
    })
}

/// Finds the verb after a pronoun: "it take", "we wants". Returns its position, the grammatical number it needs, and whether it is
/// certainly a verb.
fn pronoun(tokens: &[Token<'_>], at: usize) -> Option<(usize, Number, bool)> {
    let subject = word(tokens, at)?.lower.as_str();
    let verb_at = skip_adverbs(tokens, at + 1);
    let (number, certain) = verb_number(tokens, verb_at)?;
    let verb = lower(tokens, verb_at);
    if matches!(verb, "were" | "weren't") || tokens.get(verb_at)?.text.contains('-') {
        return None;
    }
    let clause = starts_clause(tokens, at)
        || matches!(before(tokens, at), "before" | "after" | "than") && matches!(subject, "he" | "she" | "everyone" | "someone");
    let joined = matches!(before(tokens, at), "and" | "or" | "nor") && !clause;
    let wrong = match subject {
        _ if SINGULAR_PRONOUNS.contains(&subject) => number == Number::Plural && (clause || is_pair_joined(tokens, at, subject)),
        "we" | "they" => number == Number::Singular && !joined && !matches!(before(tokens, at), "of" | "between"),
        "i" => number == Number::Singular && verb != "was" && verb != "wasn't" && !joined,
        "you" => number == Number::Singular && (clause || BEFORE_YOU.contains(&before(tokens, at))),
        _ => false,
    };
    let needed = if number == Number::Singular { Number::Plural } else { Number::Singular };
    wrong.then_some((verb_at, needed, certain))
}

/// Returns whether "and" joins the clause of the pronoun to another clause: "it is quick and it have".
fn is_pair_joined(tokens: &[Token<'_>], at: usize, subject: &str) -> bool {
    matches!(subject, "he" | "she" | "it")
        && before(tokens, at) == "and"
        && super::reading::has_verb(tokens, sentence_start(tokens, at), at - 1)
}

/// Finds the verb after a noun phrase: "each packet come".
fn noun(tokens: &[Token<'_>], at: usize, british: bool) -> Option<(usize, Number, bool)> {
    if !(starts_clause(tokens, at) || before(tokens, at) == "and" && joins_clauses(tokens, at)) {
        return None;
    }
    noun_phrases(tokens, at).into_iter().find_map(|phrase| {
        let (verb_at, through) = verb_after(tokens, phrase)?;
        let (number, certain) = verb_number(tokens, verb_at)?;
        let head = lower(tokens, phrase.head);
        let bare = !phrase.has_determiner && phrase.head == at;
        let unclear = is_quantity(head) && lower(tokens, phrase.head + 1) == "of"
            || matches!(before(tokens, at), "how" | "what" | "which" | "whatever")
            || through && phrase.number == Number::Plural && lower(tokens, phrase.head + 1) != "of"
            || british && GROUPS.contains(&head)
            || matches!(before(tokens, phrase.head + 1), "and")
            || !certain && super::reading::has(tokens.get(phrase.head)?, super::class_table::ADJECTIVE)
            || number == Number::Singular && !certain && bare
            || !phrase.has_determiner && phrase.number == Number::Singular
            || bare
                && super::reading::has(tokens.get(at)?, super::class_table::THIRD_PERSON | super::class_table::BASE_VERB)
                && !certain
            || through && !matches!(lower(tokens, verb_at), "is" | "are" | "was" | "were" | "has" | "have");
        // "Were" is never reported, because it can be a subjunctive: "if the day were longer".
        let wrong = number != phrase.number && !unclear && lower(tokens, verb_at) != "were";
        wrong.then_some((verb_at, phrase.number, certain && !through))
    })
}

/// Returns whether the words before "and" are a clause, and the words after it are another clause with its own subject.
fn joins_clauses(tokens: &[Token<'_>], at: usize) -> bool {
    let start = sentence_start(tokens, at);
    let previous = at.checked_sub(2).and_then(|at| tokens.get(at));
    super::reading::has_verb(tokens, start, at - 1)
        && previous.is_some_and(|previous| previous.is_word() && noun_number(previous).is_none())
}

/// Returns the position of a phrase's verb, and whether other nouns are between the phrase and the verb: "the color of the shoes are".
fn verb_after(tokens: &[Token<'_>], phrase: NounPhrase) -> Option<(usize, bool)> {
    let next = phrase.head + 1;
    if !matches!(lower(tokens, next), "of" | "for" | "in" | "on" | "with" | "from") || !phrase.has_determiner {
        return Some((skip_adverbs(tokens, next), false));
    }
    let inner = noun_phrases(tokens, next + 1)
        .into_iter()
        .find(|inner| verb_number(tokens, inner.head + 1).is_some_and(|(_, certain)| certain));
    Some((inner?.head + 1, true))
}

/// Finds the verb of a relative clause: "a mill which have", "bugs that was", "everyone who have".
fn relative(tokens: &[Token<'_>], at: usize) -> Option<(usize, Number, bool)> {
    let relative = next_word(tokens, at)?;
    if !matches!(relative.lower.as_str(), "who" | "which" | "that") {
        return None;
    }
    let head_at = at.checked_sub(1)?;
    let head = word(tokens, head_at)?;
    let everyone = matches!(
        head.lower.as_str(),
        "everyone" | "someone" | "anyone" | "something" | "anything" | "everything" | "nobody" | "person"
    );
    let number = if everyone { Number::Singular } else { noun_number(head)? };
    let verb_at = skip_adverbs(tokens, at + 1);
    let (verb, certain) = verb_number(tokens, verb_at)?;
    // The pronoun can refer to an earlier noun: "one of the things that makes", "a team of experts who has", "people in the team who have".
    let start = sentence_start(tokens, at);
    let distance = if everyone { 2 } else { 7 };
    let from = start.max(head_at.saturating_sub(distance));
    let is_attached = |at: usize| {
        matches!(lower(tokens, at), "of" | "in" | "with" | "for" | "from" | "and" | "at" | "on" | "one" | "among" | "by" | "to")
    };
    let lots = matches!(lower(tokens, head_at.saturating_sub(2)), "lots" | "alot" | "lot")
        || matches!(lower(tokens, head_at.saturating_sub(3)), "lots" | "alot" | "lot");
    if !everyone && !lots && (from..head_at).any(is_attached) {
        let determined = matches!(before(tokens, head_at), "a" | "an" | "each" | "every");
        let adjective = matches!(lower(tokens, head_at.saturating_sub(2)), "a" | "an" | "each" | "every");
        if !(number == Number::Singular
            && (determined || adjective)
            && !(from..head_at).any(|at| tokens.get(at).and_then(noun_number) == Some(Number::Plural)))
        {
            return None;
        }
    }
    // After "that", an uncertain verb can be a noun, as in "the fact that support is free", or a subjunctive.
    let subjunctive = relative.lower == "that" && !everyone && number == Number::Singular && !certain;
    let is_wrong = verb != number && !subjunctive && lower(tokens, verb_at) != "were" && !is_quantity(&head.lower);
    is_wrong.then_some((verb_at, number, certain))
}

/// Finds the verb after "what" or "who" as the subject of a question: "what make this soap different".
fn question(tokens: &[Token<'_>], at: usize) -> Option<(usize, Number, bool)> {
    let subject =
        word(tokens, at).filter(|subject| subject.starts_sentence && matches!(subject.lower.as_str(), "what" | "who"))?;
    let (number, _) = verb_number(tokens, at + 1)?;
    let verb = next_word(tokens, at + 1).filter(|verb| !super::reading::is_auxiliary(&verb.lower))?;
    let asks = !subject.new_line && super::reading::has(verb, super::class_table::BASE_VERB);
    (number == Number::Plural && asks).then_some((at + 1, Number::Singular, false))
}

/// Finds a verb that "and" joins to a verb in the third person: "the app tracks your time and send reminders".
fn joined(tokens: &[Token<'_>], at: usize) -> Option<(usize, Number, bool)> {
    let and = next_word(tokens, at).filter(|and| and.lower == "and")?;
    let verb = next_word(tokens, at + 1)?;
    let object = next_word(tokens, at + 2)?;
    // Only a word that is certainly a verb is reported: one that can only be a base form.
    if and.starts_sentence
        || !super::reading::is_only_base(verb)
        || verb.is_capitalized()
        || super::reading::is_auxiliary(&object.lower)
    {
        return None;
    }
    let start = sentence_start(tokens, at);
    let third = (start..at).rev().find(|at| {
        let object = matches!(lower(tokens, at + 1), "the" | "a" | "an" | "your" | "our" | "all" | "every" | "its" | "their");
        let is_third = |token: &Token<'_>| {
            token.word_classes == super::class_table::THIRD_PERSON
                || object && super::reading::has(token, super::class_table::THIRD_PERSON)
        };
        tokens.get(*at).is_some_and(is_third)
    })?;
    let between = tokens.get(third + 1..at)?;
    let other_verb = between.iter().any(|token| {
        super::reading::is_auxiliary(&token.lower)
            || super::reading::has(token, super::class_table::BASE_VERB) && !super::reading::has(token, super::class_table::NOUN)
            || matches!(
                token.lower.as_str(),
                "to" | "help"
                    | "let"
                    | "and"
                    | "you"
                    | "that"
                    | "who"
                    | "which"
                    | "them"
                    | "us"
                    | "it"
                    | "how"
                    | "what"
                    | "when"
                    | "make"
            )
    });
    // The subject of the first verb must be a singular noun, a name, or "it", "he" or "she".
    let subject = third.checked_sub(1).and_then(|at| word(tokens, at))?;
    let singular = noun_number(subject) == Some(Number::Singular)
        || matches!(subject.lower.as_str(), "it" | "he" | "she")
        || subject.is_capitalized();
    (singular && !other_verb && !between.iter().any(|token| matches!(token.text, ":" | ";" | "–" | "—"))).then_some((
        at + 1,
        Number::Singular,
        false,
    ))
}

/// Finds the verb after "there": "there is twelve lessons".
fn there(tokens: &[Token<'_>], at: usize) -> Option<(usize, Number, bool)> {
    let there = word(tokens, at)?;
    let verb = next_word(tokens, at + 1)?;
    // Contractions such as "here's" are not reported, because "here's three" is common.
    if !matches!(there.lower.as_str(), "there" | "here")
        || !matches!(verb.lower.as_str(), "is" | "was" | "are" | "were" | "isn't" | "wasn't" | "aren't")
    {
        return None;
    }
    let singular = matches!(verb.lower.as_str(), "is" | "was" | "isn't" | "wasn't");
    let mut position = skip_adverbs(tokens, at + 2);
    for _ in 0..4 {
        let token = tokens.get(position).filter(|token| token.spaced && !token.new_line)?;
        if is_quantity(&token.lower)
            || matches!(token.lower.as_str(), "more" | "less" | "plenty" | "to" | "for" | "in" | "no one" | "such")
        {
            return None;
        }
        let next_is_noun = next_word(tokens, position + 1).is_some_and(|next| noun_number(next).is_some());
        match token.lower.as_str() {
            "a" | "an" | "one" | "another" if singular => return None,
            "many" | "several" | "two" | "three" | "few" if singular => return Some((at + 1, Number::Plural, true)),
            _ => {}
        }
        match noun_number(token) {
            Some(Number::Plural) if singular && !next_is_noun => return Some((at + 1, Number::Plural, true)),
            Some(Number::Singular) if !next_is_noun => {
                let one = matches!(before(tokens, position), "a" | "an" | "one" | "another");
                return (!singular && one && lower(tokens, position + 1) != "and" && lower(tokens, position + 1) != ",")
                    .then_some((at + 1, Number::Singular, true));
            }
            Some(_) if !next_is_noun => return None,
            _ => position += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        disagreements(&tokens(text), "en-US").into_iter().flat_map(|hit| hit.suggestions).collect()
    }

    #[test]
    fn finds_verbs_that_do_not_agree() {
        for (text, expected) in [
            ("Each packet come with seeds.", "comes"),
            ("Parking is free but spaces is limited.", "are"),
            ("If that is late, it take five days.", "takes"),
            ("Small changes adds up.", "add"),
            ("Nobody teach it.", "teaches"),
            ("We wants to win.", "want"),
            ("It is run by a mill which have grown.", "has"),
            ("Thank you to everyone who have reported one.", "has"),
            ("There is twelve short lessons.", "are"),
            ("Your existing appointments has been moved.", "have"),
            ("The quality of our products are high.", "is"),
            ("Our support team are here.", "is"),
            ("What make this soap different?", "makes"),
            ("Here is three tips for you.", "are"),
            ("Anyone who order today gets a gift.", "orders"),
            ("The app tracks your time and send reminders.", "sends"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn accepts_verbs_that_agree() {
        for text in [
            "Each packet comes with seeds.",
            "Let your team decide.",
            "We recommend that he come early.",
            "A number of shoes are here.",
            "The book and the film are out.",
            "One of the things that makes us proud.",
            "There is a box of candles.",
            "Watch each packet come alive.",
            "All you need to do is click.",
            "People in the team who have time.",
            "If it were easy, we would sell it.",
            "Selling shoes is fun.",
            "The app helps you track your time and send reminders.",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
