//! Finds verbs in the wrong form: "have went", "did not created", "are connect", "I seen", "wanted learn".

use super::class_table::{ADJECTIVE, BASE_VERB, ING_FORM, NOUN, PARTICIPLE, PAST, PLURAL_NOUN, THIRD_PERSON};
use super::findings::FindingKind;
use super::inflection::{add_ed, add_ing, remove_ed, remove_ing, remove_s};
use super::patterns::Hit;
use super::reading::{before, has, is_modal, is_only_base, lower, next_word, noun_number, skip_adverbs, starts_clause, word};
use super::rules::{RuleHit, with_case_of};
use super::tokens::Token;

/// The base, the past tense and the participle of irregular verbs.
const IRREGULAR: [(&str, &str, &str); 93] = [
    ("be", "was", "been"),
    ("become", "became", "become"),
    ("begin", "began", "begun"),
    ("bend", "bent", "bent"),
    ("bind", "bound", "bound"),
    ("bite", "bit", "bitten"),
    ("blow", "blew", "blown"),
    ("break", "broke", "broken"),
    ("bring", "brought", "brought"),
    ("build", "built", "built"),
    ("buy", "bought", "bought"),
    ("catch", "caught", "caught"),
    ("choose", "chose", "chosen"),
    ("come", "came", "come"),
    ("deal", "dealt", "dealt"),
    ("dig", "dug", "dug"),
    ("do", "did", "done"),
    ("draw", "drew", "drawn"),
    ("drink", "drank", "drunk"),
    ("drive", "drove", "driven"),
    ("eat", "ate", "eaten"),
    ("fall", "fell", "fallen"),
    ("feed", "fed", "fed"),
    ("feel", "felt", "felt"),
    ("fight", "fought", "fought"),
    ("find", "found", "found"),
    ("fly", "flew", "flown"),
    ("forget", "forgot", "forgotten"),
    ("forgive", "forgave", "forgiven"),
    ("freeze", "froze", "frozen"),
    ("get", "got", "got"),
    ("give", "gave", "given"),
    ("go", "went", "gone"),
    ("grow", "grew", "grown"),
    ("hang", "hung", "hung"),
    ("hear", "heard", "heard"),
    ("hide", "hid", "hidden"),
    ("hold", "held", "held"),
    ("keep", "kept", "kept"),
    ("know", "knew", "known"),
    ("lay", "laid", "laid"),
    ("lead", "led", "led"),
    ("learn", "learned", "learned"),
    ("leave", "left", "left"),
    ("lend", "lent", "lent"),
    ("lose", "lost", "lost"),
    ("make", "made", "made"),
    ("mean", "meant", "meant"),
    ("meet", "met", "met"),
    ("overcome", "overcame", "overcome"),
    ("pay", "paid", "paid"),
    ("rebuild", "rebuilt", "rebuilt"),
    ("ride", "rode", "ridden"),
    ("ring", "rang", "rung"),
    ("rise", "rose", "risen"),
    ("run", "ran", "run"),
    ("say", "said", "said"),
    ("see", "saw", "seen"),
    ("seek", "sought", "sought"),
    ("sell", "sold", "sold"),
    ("send", "sent", "sent"),
    ("sew", "sewed", "sewn"),
    ("shake", "shook", "shaken"),
    ("shine", "shone", "shone"),
    ("shoot", "shot", "shot"),
    ("show", "showed", "shown"),
    ("sing", "sang", "sung"),
    ("sink", "sank", "sunk"),
    ("sit", "sat", "sat"),
    ("sleep", "slept", "slept"),
    ("speak", "spoke", "spoken"),
    ("spend", "spent", "spent"),
    ("spin", "spun", "spun"),
    ("stand", "stood", "stood"),
    ("steal", "stole", "stolen"),
    ("stick", "stuck", "stuck"),
    ("strike", "struck", "struck"),
    ("swear", "swore", "sworn"),
    ("sweep", "swept", "swept"),
    ("swim", "swam", "swum"),
    ("take", "took", "taken"),
    ("teach", "taught", "taught"),
    ("tear", "tore", "torn"),
    ("tell", "told", "told"),
    ("think", "thought", "thought"),
    ("throw", "threw", "thrown"),
    ("understand", "understood", "understood"),
    ("undo", "undid", "undone"),
    ("wake", "woke", "woken"),
    ("wear", "wore", "worn"),
    ("weave", "wove", "woven"),
    ("win", "won", "won"),
    ("write", "wrote", "written"),
];

/// Words that start an object. A word before them is therefore a verb: "have add the link".
const OBJECTS: [&str; 14] = ["the", "a", "an", "my", "your", "our", "his", "its", "their", "you", "us", "them", "it", "this"];

/// Verbs that need "to" before another verb.
const NEEDS_TO: [&str; 24] = [
    "want", "wants", "wanted", "need", "needs", "needed", "hope", "hopes", "hoped", "decide", "decided", "plan", "plans",
    "planned", "try", "tried", "love", "like", "choose", "agree", "agreed", "forget", "forgot", "learn",
];

/// Verbs after which another verb needs the ending "ing".
const NEEDS_ING: [&str; 11] = [
    "recommend",
    "recommends",
    "recommended",
    "suggest",
    "suggests",
    "suggested",
    "enjoy",
    "enjoys",
    "enjoyed",
    "avoid",
    "avoids",
];

/// Returns the verbs in English text that have the wrong form.
pub(super) fn wrong_forms<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let check = |at| {
        perfect(tokens, at)
            .or_else(|| after_modal(tokens, at))
            .or_else(|| passive(tokens, at))
            .or_else(|| participle_alone(tokens, at))
            .or_else(|| missing_to(tokens, at))
            .or_else(|| wrong_infinitive(tokens, at))
            .or_else(|| past_time(tokens, at))
    };
    (0..tokens.len()).filter_map(check).collect()
}

fn hit<'r>(tokens: &[Token<'_>], first: usize, end: usize, rule: &'static str, form: &str) -> Option<RuleHit<'r>> {
    let suggestions = vec![with_case_of(tokens.get(first..end)?, form)];
    Some(RuleHit { hit: Hit { first, end }, rule, kind: FindingKind::Grammar, suggestions, confidence: 0.8 })
}

fn participle_of(word: &str) -> String {
    let irregular = IRREGULAR.iter().find(|(base, past, _)| *base == word || *past == word);
    irregular.map_or_else(
        || if word.ends_with("ed") { word.to_owned() } else { add_ed(word) },
        |(.., participle)| (*participle).to_owned(),
    )
}

fn base_of(token: &Token<'_>) -> String {
    let word = token.lower.as_str();
    let irregular = IRREGULAR.iter().find(|(_, past, participle)| *past == word || *participle == word);
    match irregular {
        Some((base, ..)) => (*base).to_owned(),
        None if word.ends_with("ed") => remove_ed(word),
        None if has(token, ING_FORM) => remove_ing(word),
        None => remove_s(word),
    }
}

/// Returns whether the word is the past tense of a verb but not its participle, such as "went".
fn is_past_only(token: &Token<'_>) -> bool {
    IRREGULAR.iter().any(|(base, past, participle)| *past == token.lower && past != participle && past != base)
}

/// Returns whether the word is the participle of a verb but not its past tense, such as "gone".
fn is_participle_only(token: &Token<'_>) -> bool {
    IRREGULAR.iter().any(|(base, past, participle)| *participle == token.lower && past != participle && participle != base)
}

/// Finds a wrong form after "have": "have went", "have add", "has ever taste".
fn perfect<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let auxiliary = word(tokens, at)?;
    if !matches!(
        auxiliary.lower.as_str(),
        "have" | "has" | "had" | "haven't" | "hasn't" | "hadn't" | "we've" | "i've" | "you've" | "they've"
    ) {
        return None;
    }
    // In a question, the subject follows the auxiliary: "have you ever drew".
    let asks = auxiliary.starts_sentence && next_word(tokens, at + 1).is_some_and(|next| super::reading::is_pronoun(&next.lower));
    let verb_at = skip_adverbs(tokens, at + 1 + usize::from(asks));
    let verb = next_word(tokens, verb_at).filter(|verb| !verb.is_capitalized())?;
    let wrong_past = is_past_only(verb) && !(verb.lower == "saw" && has(verb, NOUN) && verb_at == at + 1);
    let contracted = auxiliary.lower.contains('\'');
    let adverbs = verb_at > at + 1 + usize::from(asks) && before(tokens, verb_at) != "only" && before(tokens, verb_at) != "just";
    let object = next_word(tokens, verb_at + 1).is_some_and(|next| OBJECTS.contains(&next.lower.as_str()));
    let base = is_only_base(verb) && !has(verb, PARTICIPLE)
        || verb.word_classes == BASE_VERB | NOUN && (adverbs || object || contracted);
    let excluded = matches!(before(tokens, at), "to" | "you" | "what") && !adverbs && !wrong_past
        || matches!(verb.lower.as_str(), "let" | "cost" | "be" | "help");
    (wrong_past || base && !excluded && !asks)
        .then(|| hit(tokens, verb_at, verb_at + 1, "PERFECT_FORM", &participle_of(&verb.lower)))?
}

/// Finds a wrong form after a modal verb or "do": "did not created".
fn after_modal<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let auxiliary = word(tokens, at)?;
    let does = matches!(auxiliary.lower.as_str(), "did" | "does" | "didn't" | "doesn't" | "don't");
    if !does && !is_modal(&auxiliary.lower)
        || matches!(auxiliary.lower.as_str(), "may" | "might" | "must" | "can" | "will") && auxiliary.is_capitalized()
    {
        return None;
    }
    let verb_at = skip_adverbs(tokens, at + 1);
    let verb = next_word(tokens, verb_at).filter(|verb| !verb.is_capitalized())?;
    if does && verb_at == at + 1 && !auxiliary.lower.contains('\'') {
        return None;
    }
    let ing = if does { 0 } else { ING_FORM };
    let finite = has(verb, PAST | PARTICIPLE | THIRD_PERSON | ing)
        && !has(verb, BASE_VERB | NOUN | PLURAL_NOUN)
        && (!has(verb, ADJECTIVE) || verb.lower.ends_with("ed"));
    // A word such as "offers" can be a plural noun, but directly after a modal verb it is a verb: "she can offers".
    let third = has(verb, THIRD_PERSON) && verb.word_classes & !(THIRD_PERSON | PLURAL_NOUN) == 0 && is_modal(&auxiliary.lower);
    let finite = finite || third && verb_at == at + 1 && !has(auxiliary, NOUN) | super::reading::is_pronoun(before(tokens, at));
    finite.then(|| hit(tokens, verb_at, verb_at + 1, "FORM_AFTER_MODAL", &base_of(verb)))?
}

/// Finds a base form or a past tense after "be": "are connect".
fn passive<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let be = word(tokens, at)?;
    if !matches!(
        be.lower.as_str(),
        "is" | "are"
            | "was"
            | "were"
            | "been"
            | "being"
            | "isn't"
            | "aren't"
            | "wasn't"
            | "weren't"
            | "be"
            | "we're"
            | "you're"
            | "they're"
            | "am"
            | "i'm"
    ) {
        return None;
    }
    let verb_at = skip_adverbs(tokens, at + 1);
    let verb = next_word(tokens, verb_at).filter(|verb| !verb.is_capitalized())?;
    // After "is" or "was", a base form can complete the subject, so it is correct: "all you need to do is click".
    let complement = matches!(be.lower.as_str(), "is" | "was")
        && !(noun_number_before(tokens, at) && verb_at == at + 1 && next_is_preposition(tokens, verb_at));
    let wrong_past = is_past_only(verb) && !matches!(verb.lower.as_str(), "broke" | "saw" | "rose" | "woke" | "wore");
    let wrong = wrong_past || is_only_base(verb) && !has(verb, PARTICIPLE) && !complement;
    (wrong && !matches!(verb.lower.as_str(), "let" | "be" | "do" | "go" | "please"))
        .then(|| hit(tokens, verb_at, verb_at + 1, "FORM_AFTER_BE", &participle_of(&verb.lower)))?
}

fn noun_number_before(tokens: &[Token<'_>], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|at| word(tokens, at))
        .is_some_and(|token| token.lower == "it" || noun_number(token).is_some() && !has(token, BASE_VERB))
}

fn next_is_preposition(tokens: &[Token<'_>], at: usize) -> bool {
    matches!(lower(tokens, at + 1), "in" | "on" | "with" | "by" | "for" | "from" | "as")
}

/// Finds a participle without "have": "I seen".
fn participle_alone<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let subject = word(tokens, at)?;
    let is_subject = matches!(subject.lower.as_str(), "i" | "we" | "they" | "he" | "she")
        || matches!(subject.lower.as_str(), "you" | "it") && starts_clause(tokens, at);
    let verb_at = skip_adverbs(tokens, at + 1);
    let verb = next_word(tokens, verb_at)?;
    let asks =
        matches!(before(tokens, at), "have" | "had" | "has" | "haven't" | "hasn't" | "hadn't" | "is" | "are" | "was" | "were");
    if !is_subject || asks || !is_participle_only(verb) {
        return None;
    }
    let past = IRREGULAR.iter().find(|(.., participle)| *participle == verb.lower).map(|(_, past, _)| *past)?;
    hit(tokens, verb_at, verb_at + 1, "PARTICIPLE_ALONE", past)
}

/// Finds a missing "to": "wanted learn".
fn missing_to<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let first = word(tokens, at)?;
    let verb = next_word(tokens, at + 1).filter(|verb| !verb.is_capitalized())?;
    // At the start of a sentence, "try use" can be two commands. In "a plan help", the first word is a noun. In both cases, no "to" is
    // missing.
    let is_verb = NEEDS_TO.contains(&first.lower.as_str())
        && !first.starts_sentence
        && (!has(first, NOUN | PLURAL_NOUN)
            || super::reading::is_pronoun(before(tokens, at))
            || before(tokens, at) == "to"
            || matches!(before(tokens, at), "always" | "ever"));
    let is_base = is_only_base(verb) && !has(verb, PARTICIPLE) && !matches!(verb.lower.as_str(), "be" | "let")
        || verb.lower == "be" && !matches!(first.lower.as_str(), "like" | "love");
    (is_verb && is_base).then(|| hit(tokens, at, at + 2, "TO_MISSING", &format!("{} to {}", first.lower, verb.lower)))?
}

/// Finds an infinitive where the form with "ing" is needed: "we recommend to place".
fn wrong_infinitive<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let first = word(tokens, at)?;
    let verb = next_word(tokens, at + 2)?;
    let infinitive =
        next_word(tokens, at + 1).is_some_and(|to| to.lower == "to") && has(verb, BASE_VERB) && !has(verb, ADJECTIVE);
    let is_wrong = infinitive && NEEDS_ING.contains(&first.lower.as_str());
    is_wrong.then(|| hit(tokens, at + 1, at + 3, "ING_FORM_NEEDED", &add_ing(&verb.lower)))?
}

/// Finds a verb in the present tense after an expression for a past time: "yesterday we open".
fn past_time<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let first = word(tokens, at).filter(|first| first.starts_sentence)?;
    let period = matches!(
        lower(tokens, at + 1),
        "week" | "month" | "year" | "night" | "summer" | "winter" | "spring" | "fall" | "autumn" | "weekend"
    );
    let length = match first.lower.as_str() {
        "yesterday" => 1,
        "last" if period => 2,
        _ => return None,
    };
    let subject = at + length + usize::from(lower(tokens, at + length) == ",");
    let verb_at = skip_adverbs(tokens, subject + 1);
    let verb = next_word(tokens, verb_at)?;
    let present = has(verb, BASE_VERB) && !has(verb, PAST | PARTICIPLE) && !super::reading::is_auxiliary(&verb.lower);
    let is_wrong = present && matches!(lower(tokens, subject), "we" | "i" | "they" | "you" | "he" | "she");
    let past = IRREGULAR
        .iter()
        .find(|(base, ..)| *base == verb.lower)
        .map_or_else(|| add_ed(&verb.lower), |(_, past, _)| (*past).to_owned());
    is_wrong.then(|| hit(tokens, verb_at, verb_at + 1, "PAST_NEEDED", &past))?
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_wrong_forms() {
        for (text, expected) in [
            ("We have went to Huila.", "gone"),
            ("Our chef has wrote a menu.", "written"),
            ("We have add a credit.", "added"),
            ("It is the best he has ever taste.", "tasted"),
            ("If you did not created an account, wait.", "create"),
            ("Make sure your cameras are connect to it.", "connected"),
            ("This week I seen a heron.", "saw"),
            ("Have you always wanted learn it?", "wanted to learn"),
            ("We recommend to place it here.", "placing"),
            ("She can offers more.", "offer"),
            ("Yesterday we open our shop.", "opened"),
            ("I am write to you today.", "written"),
        ] {
            let found: Vec<_> = wrong_forms(&tokens(text)).into_iter().flat_map(|hit| hit.suggestions).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn accepts_right_forms() {
        for text in [
            "We have gone home.",
            "We have help for you.",
            "All you need to do is click.",
            "What did arrive was small.",
            "You have access to it.",
            "Have you seen it?",
            "We want help.",
            "Things to have, things seen.",
            "You need proof.",
            "They will be ready.",
        ] {
            assert_eq!(wrong_forms(&tokens(text)), [], "{text}");
        }
    }
}
