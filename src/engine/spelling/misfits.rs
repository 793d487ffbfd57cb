//! Finds confused words by their word class: "our advise" has a verb where only a noun fits.
//!
//! A word is reported only if its classes do not fit its neighbors, but the classes of a word with which it is often confused do
//! (`assets/spelling/pairs.txt`).

use super::class_table::{
    ADJECTIVE, ADVERB, BASE_VERB, COMPARATIVE, ING_FORM, NOUN, OTHER, PARTICIPLE, PLURAL_NOUN, SUPERLATIVE,
};
use super::classes::flags;
use super::findings::FindingKind;
use super::pairs::meant_by;
use super::patterns::Hit;
use super::reading::{before, ends_phrase, is_modal, next_word};
use super::rules::{RuleHit, with_case_of};
use super::tokens::Token;

/// Verbs that emails also use as nouns, although the table of word classes does not list them as nouns: "a great find".
const ALSO_NOUNS: [&str; 27] = [
    "sleep", "thank", "read", "buy", "find", "feel", "win", "say", "know", "build", "ask", "reveal", "invite", "meet", "fix",
    "brew", "bake", "refresh", "upgrade", "download", "upload", "redeem", "pour", "swap", "listen", "send", "wait",
];

fn is_be(word: &str) -> bool {
    matches!(word, "is" | "are" | "was" | "were" | "be" | "it's" | "we're" | "you're" | "they're" | "i'm")
}

/// Returns each word in English text whose classes do not fit its neighbors, if it is often confused with a word whose classes fit.
pub(super) fn misfits<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    (0..tokens.len()).filter_map(|at| misfit(tokens, at)).collect()
}

fn misfit<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let token = next_word(tokens, at).filter(|token| !token.is_capitalized() && token.word_classes != 0)?;
    let mut meant = meant_by(&token.lower).peekable();
    meant.peek()?;
    let (possible, needed) = needs(tokens, at)?;
    if ALSO_NOUNS.contains(&token.lower.as_str())
        || token.word_classes & possible != 0
        || tokens.get(at + 1).is_some_and(|next| next.text == "-")
    {
        return None;
    }
    let fits = |meant: &&str| !meant.contains('\'') && flags(meant, false) & needed != 0 && flags(meant, false) & OTHER == 0;
    let core = tokens.get(at..=at)?;
    let suggestions: Vec<_> = meant.filter(fits).map(|meant| with_case_of(core, meant)).collect();
    if suggestions.is_empty() {
        return None;
    }
    Some(RuleHit {
        hit: Hit { first: at, end: at + 1 },
        rule: "CONFUSED_CLASS",
        kind: FindingKind::Grammar,
        suggestions,
        confidence: 0.75,
    })
}

/// Returns the classes that are possible at this position, and those that a replacement must have; `None` if the neighbors do not determine
/// them.
fn needs(tokens: &[Token<'_>], at: usize) -> Option<(u16, u16)> {
    let nominal = NOUN | PLURAL_NOUN | ADJECTIVE | ING_FORM | COMPARATIVE | SUPERLATIVE | PARTICIPLE | ADVERB | OTHER;
    let after = ends_phrase(tokens, at + 1);
    match before(tokens, at) {
        "a" | "an" | "the" | "my" | "your" | "our" | "his" | "its" | "their" | "every" | "each" if after => {
            Some((nominal, NOUN | PLURAL_NOUN))
        }
        "of" | "in" | "for" | "with" | "from" | "about" | "into" | "without" if after => Some((nominal, NOUN | PLURAL_NOUN)),
        "very" | "so" | "too" if after && is_be(before(tokens, at.saturating_sub(1))) => {
            Some((ADJECTIVE | ADVERB | PARTICIPLE | COMPARATIVE | OTHER, ADJECTIVE))
        }
        previous if is_modal(previous) || matches!(previous, "don't" | "doesn't" | "didn't") => {
            Some((BASE_VERB | ADVERB | OTHER | ADJECTIVE | PARTICIPLE, BASE_VERB))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_words_of_the_wrong_class() {
        for (text, meant) in [("It is our advise.", "advice"), ("You can sale your bike.", "sell")] {
            let found: Vec<_> = misfits(&tokens(text)).into_iter().flat_map(|hit| hit.suggestions).collect();
            assert!(found.iter().any(|found| *found == meant), "{text}: {found:?}");
        }
    }

    #[test]
    fn accepts_words_that_fit() {
        for text in [
            "She cut it in half.",
            "We advise you.",
            "You can sell it.",
            "The best of all.",
            "You can now see it.",
            "A will to live.",
            "The wait is over.",
        ] {
            assert_eq!(misfits(&tokens(text)), [], "{text}");
        }
    }
}
