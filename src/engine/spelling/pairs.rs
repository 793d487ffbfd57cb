//! Finds confused words, such as "form" instead of "from", by the words next to them.
//!
//! `pairs.txt` lists the confused words. `pairs.counts` contains how often each of them occurs next to another word in books: "hear from"
//! is common, "hear form" is not. The points for the other word are the natural logarithm of the ratio of the counts, summed over both
//! neighbors. `tests/accuracy/training/pairs.rs` writes the counts.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::findings::FindingKind;
use super::patterns::Hit;
use super::rules::{RuleHit, with_case_of};
use super::tokens::{Token, TokenKind};
use super::word_hash::{HASH_BYTES, hash_of};

/// The ID of this rule in findings.
const RULE: &str = "CONFUSED_WORD";

/// The maximum number of points by which one neighbor may favor the written word. If a neighbor favors it more, the other word is not
/// suggested.
const AGAINST_MAX: f64 = 1.0;

/// The number that is added to each count, so it is also the count of two words in a row that are unknown. The counts come from a corpus of
/// about a trillion words.
pub const COUNT_MIN: u64 = 60_000;

/// The logarithms of counts are stored as whole numbers of steps. This is the number of steps per point.
pub const STEPS: f64 = 16.0;

/// Contractions, each with two words: the left neighbors of "it's" are counted like those of "it", and its right neighbors like those of
/// "is".
const CONTRACTIONS: [(&str, (&str, &str)); 5] = [
    ("it's", ("it", "is")),
    ("you're", ("you", "are")),
    ("they're", ("they", "are")),
    ("who's", ("who", "is")),
    ("we're", ("we", "are")),
];

/// The sorted hashes of two words in a row, followed by one byte for each hash: the logarithm of the count of these words.
static COUNTS: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/pairs.counts"));

/// For each word, the words that it can be confused with, and the points that a finding requires.
type Pairs = HashMap<&'static str, Vec<(&'static str, f64)>>;

static PAIRS: LazyLock<Pairs> = LazyLock::new(|| {
    let mut pairs = Pairs::new();
    for (written, meant, points) in lines() {
        pairs.entry(written).or_default().push((meant, points));
    }
    pairs
});

fn lines() -> impl Iterator<Item = (&'static str, &'static str, f64)> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/pairs.txt"));
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut parts = line.split(' ');
        Some((parts.next()?, parts.next()?, parts.next()?.parse().ok()?))
    })
}

/// Returns all words in `pairs.txt`. A contraction is replaced by its two words.
pub fn words() -> impl Iterator<Item = &'static str> {
    lines().flat_map(|(written, meant, _)| [written, meant]).flat_map(|word| {
        let (first, last) = ends(word);
        [first, last]
    })
}

fn ends(word: &str) -> (&str, &str) {
    CONTRACTIONS.iter().find(|(contraction, _)| *contraction == word).map_or((word, word), |(_, ends)| *ends)
}

/// Returns the hash under which the count of two words in a row is stored.
pub fn hash(first: &str, second: &str) -> [u8; HASH_BYTES] {
    hash_of(first.bytes().chain([b' ']).chain(second.bytes()))
}

/// Returns the stored logarithm of how often the two words occur in a row; 0 for a pair without a stored count.
fn points(first: &str, second: &str) -> f64 {
    let (hashes, steps) = halves();
    let found = hashes.binary_search(&hash(first, second)).ok().and_then(|at| steps.get(at));
    f64::from(found.copied().unwrap_or_default()) / STEPS
}

fn halves() -> (&'static [[u8; HASH_BYTES]], &'static [u8]) {
    let count = COUNTS.len() / (HASH_BYTES + 1);
    let (hashes, steps) = COUNTS.split_at(count * HASH_BYTES);
    (hashes.as_chunks().0, steps)
}

/// Returns the words that a word can be confused with.
pub(super) fn meant_by(word: &str) -> impl Iterator<Item = &'static str> {
    PAIRS.get(word).into_iter().flatten().map(|(meant, _)| *meant)
}

/// Returns the confused words in English text.
pub(super) fn confused<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    (0..tokens.len()).filter_map(|at| confused_at(tokens, at)).collect()
}

fn confused_at<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let token = tokens.get(at).filter(|token| token.is_word())?;
    let others = PAIRS.get(token.lower.as_str())?;
    // A capitalized word inside a sentence is part of a name or a heading.
    if token.is_capitalized() && !token.starts_sentence && !token.is_all_capitals() {
        return None;
    }
    let before = at.checked_sub(1).filter(|_| !token.starts_sentence).and_then(|at| tokens.get(at));
    let before = before.filter(|_| token.spaced && !token.new_line);
    let after = tokens.get(at + 1).filter(|next| next.spaced && !next.new_line);
    // In a compound such as "years-long", the neighbors belong to the whole compound, not to the word.
    let hyphen = |at: usize| tokens.get(at).is_some_and(|token| token.text == "-" && !token.spaced);
    if hyphen(at + 1) || at.checked_sub(1).is_some_and(hyphen) {
        return None;
    }
    // If a number or a merge field is next to the word, there is not enough evidence, and the word is not reported.
    if [before, after].iter().flatten().any(|neighbor| matches!(neighbor.kind, TokenKind::Code | TokenKind::Number)) {
        return None;
    }
    // A neighboring name is not evidence: "to May 15".
    let named = |token: &Token<'_>| {
        token.is_capitalized() && !token.starts_sentence && token.lower != "i" && !token.lower.starts_with("i'")
    };
    let word = |token: &Token<'_>| (token.is_word() && !named(token)).then(|| token.lower.clone());
    let (before, after) = (before.and_then(word), after.and_then(word));
    let evidence = |meant: &str| {
        let ((first, last), (other_first, other_last)) = (ends(&token.lower), ends(meant));
        let left = before.as_ref().map_or(0.0, |word| points(word, other_first) - points(word, first));
        let right = after.as_ref().map_or(0.0, |word| points(other_last, word) - points(last, word));
        (left.min(right) >= -AGAINST_MAX).then_some(left + right)
    };
    let found = others.iter().filter_map(|(meant, needed)| {
        let evidence = evidence(meant)?;
        (evidence >= *needed).then_some((*meant, evidence - needed))
    });
    let (meant, surplus) = found.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(RuleHit {
        hit: Hit { first: at, end: at + 1 },
        rule: RULE,
        kind: FindingKind::Grammar,
        suggestions: vec![with_case_of(tokens.get(at..=at)?, meant)],
        confidence: if surplus >= 2.0 { 0.85 } else { 0.75 },
    })
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_confused_words_by_their_neighbors() {
        for (text, meant) in [
            ("We love to hear form you.", "from"),
            ("It is quiet simple to start.", "quite"),
            ("Let me give you some advise on sizes.", "advice"),
            ("You are apart of something big.", "part"),
        ] {
            let found = confused(&tokens(text));
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].suggestions, [meant], "{text}");
        }
    }

    #[test]
    fn accepts_the_right_word() {
        for text in ["Fill in the form below.", "A quiet room.", "We advise you to wait.", "It sets them apart.", "Form Studio"] {
            assert_eq!(confused(&tokens(text)), [], "{text}");
        }
    }

    #[test]
    fn the_counts_are_sorted_and_cover_the_pairs() {
        let (hashes, steps) = halves();
        assert_eq!(hashes.len(), steps.len());
        assert!(hashes.is_sorted_by(|one, other| one < other));
        assert!(points("from", "the") > points("form", "the"));
        assert!(PAIRS.len() >= 100 && lines().all(|(_, _, points)| points >= 4.0));
    }
}
