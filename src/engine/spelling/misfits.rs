//! Finds confused words by their word class: "cut it in halve" has a verb where only a noun fits.
//!
//! A word is reported only if it cannot be what its neighbors need, and if a word that it is often confused with can
//! (`assets/spelling/pairs.txt`).

use super::class_table::{ADJECTIVE, ADVERB, BASE_VERB, COMPARATIVE, ING_FORM, NOUN, OTHER, PARTICIPLE, PLURAL_NOUN, SUPERLATIVE};
use super::classes::flags;
use super::findings::FindingKind;
use super::pairs::meant_by;
use super::patterns::Hit;
use super::reading::{before, ends_phrase, is_auxiliary, is_modal, next_word};
use super::rules::{RuleHit, with_case_of};
use super::tokens::Token;

/// Returns the confused words of an English text that cannot be what their neighbors need.
pub(super) fn misfits<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    (0..tokens.len()).filter_map(|at| misfit(tokens, at)).collect()
}

fn misfit<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let token = next_word(tokens, at).filter(|token| !token.is_capitalized() && token.word_classes != 0)?;
    let mut meant = meant_by(&token.lower).peekable();
    meant.peek()?;
    let (possible, needed) = needs(tokens, at)?;
    if token.word_classes & possible != 0 || tokens.get(at + 1).is_some_and(|next| next.text == "-") {
        return None;
    }
    let fitting = meant.find(|meant| !meant.contains('\'') && flags(meant, false) & needed != 0 && flags(meant, false) & OTHER == 0)?;
    Some(RuleHit {
        hit: Hit { first: at, end: at + 1 },
        rule: "CONFUSED_CLASS",
        kind: FindingKind::Grammar,
        suggestions: vec![with_case_of(tokens.get(at..=at)?, fitting)],
        confidence: 0.75,
    })
}

/// Returns the classes that a word can have at this place, and those that a word which replaces it must have; `None` if its neighbors do
/// not show them.
fn needs(tokens: &[Token<'_>], at: usize) -> Option<(u16, u16)> {
    let nominal = NOUN | PLURAL_NOUN | ADJECTIVE | ING_FORM | COMPARATIVE | SUPERLATIVE | PARTICIPLE | ADVERB | OTHER;
    let after = ends_phrase(tokens, at + 1);
    match before(tokens, at) {
        "a" | "an" | "the" | "my" | "your" | "our" | "his" | "its" | "their" | "every" | "each" if after => Some((nominal, NOUN | PLURAL_NOUN)),
        "of" | "in" | "for" | "with" | "from" | "about" | "into" | "without" if after => Some((nominal, NOUN | PLURAL_NOUN)),
        "very" | "so" | "too" | "really" if after && is_auxiliary(before(tokens, at.saturating_sub(1))) => {
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
        for (text, meant) in [("She cut it in halve.", "half"), ("It is our advise.", "advice"), ("You can sale your bike.", "sell")] {
            let found: Vec<_> = misfits(&tokens(text)).into_iter().flat_map(|hit| hit.suggestions).collect();
            assert_eq!(found, [meant], "{text}");
        }
    }

    #[test]
    fn accepts_words_that_fit() {
        for text in ["She cut it in half.", "We advise you.", "You can sell it.", "The best of all.", "You can now see it.", "A will to live."] {
            assert_eq!(misfits(&tokens(text)), [], "{text}");
        }
    }
}
