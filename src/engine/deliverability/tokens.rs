//! Measures how much the words in an email resemble those of known spam, with the method of Robinson and Fisher.
//!
//! For each known token, the weights give the probability that mail with this token is spam. Fisher's method combines the probabilities
//! into two significance values: one for the hypothesis that the tokens come from legitimate mail, and one for the hypothesis that they
//! come from spam (G. Robinson, "A Statistical Approach to the Spam Problem", Linux Journal 107, 2003). If neither hypothesis is clearly
//! rejected, or both are, the verdict is `Unsure` and adds nothing to the spam score. Unknown tokens are neutral. Tokens are words and
//! pairs of words. Markup is not used, because the training corpus of 2002 contains little legitimate HTML.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::message::{Message, Word};

/// The shipped weights, sorted by hash. Each entry is the hash of a token (four bytes, little-endian) and its log-odds (one byte).
static WEIGHTS: &[u8] = include_bytes!("../../../assets/deliverability/tokens.weights");
static MODEL: LazyLock<Model> = LazyLock::new(|| Model::read(WEIGHTS));

/// The number of bytes in an entry of the weights.
const ENTRY_BYTES: usize = 5;
/// The log-odds that the largest byte value represents.
pub const LOG_ODDS_MAX: f64 = 8.0;
/// The minimum distance of a token's probability from 0.5. Tokens closer to 0.5 are ignored.
pub const DEVIATION_MIN: f64 = 0.2;
/// The maximum number of tokens that are combined. Fisher's method treats tokens as independent, so without a limit, long emails would
/// always produce extreme values.
pub const TOKENS_MAX: usize = 150;
/// The maximum number of words in an email that become tokens.
const WORDS_MAX: usize = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Legitimate,
    Unsure,
    Spam,
}

#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The decimal logarithm of the ratio of the two significance values. Positive values point to spam.
    pub strength: f64,
    /// The number of combined tokens.
    pub count: usize,
    /// Up to five words that point most clearly to spam.
    pub spam_words: Vec<String>,
}

/// The strength at or above which the evidence is clear: one hypothesis is ten times as plausible as the other.
pub const CLEAR: f64 = 1.0;
/// The minimum number of points that clear evidence of spam adds.
const CLEAR_POINTS: f64 = 1.5;
/// The points for each unit of the natural logarithm of the strength. Clear evidence of spam adds them to [`CLEAR_POINTS`]; clear evidence
/// of legitimate mail subtracts them from the spam score.
const POINTS: f64 = 2.5;
/// The maximum number of points that the tokens add.
const POINTS_MAX: f64 = 8.0;
/// The maximum number of points that the tokens subtract, so that ordinary words cannot outweigh every rule.
const RELIEF_MAX: f64 = 6.0;

impl Evidence {
    pub fn verdict(&self) -> Verdict {
        match self.strength {
            strength if strength >= CLEAR => Verdict::Spam,
            strength if strength <= -CLEAR => Verdict::Legitimate,
            _ => Verdict::Unsure,
        }
    }

    /// Returns the points that the evidence adds to the spam score: 0 if the evidence is not clear.
    pub fn points(&self) -> f64 {
        let points = POINTS * self.strength.abs().max(CLEAR).ln();
        match self.verdict() {
            Verdict::Spam => (CLEAR_POINTS + points).min(POINTS_MAX),
            Verdict::Unsure => 0.0,
            Verdict::Legitimate => -points.min(RELIEF_MAX),
        }
    }
}

/// The weights of known tokens.
#[derive(Clone, Debug, Default)]
pub struct Model {
    weights: HashMap<u32, i8>,
}

impl Model {
    pub fn read(bytes: &[u8]) -> Self {
        let entries = bytes.chunks_exact(ENTRY_BYTES).filter_map(|entry| match *entry {
            [a, b, c, d, weight] => Some((u32::from_le_bytes([a, b, c, d]), i8::from_le_bytes([weight]))),
            _ => None,
        });
        Self { weights: entries.collect() }
    }

    /// Returns the probability that mail with this token is spam, if the token is known.
    fn probability(&self, token: &str) -> Option<f64> {
        let log_odds = f64::from(*self.weights.get(&hash(token))?) / 127.0 * LOG_ODDS_MAX;
        Some(1.0 / (1.0 + (-log_odds).exp()))
    }

    /// Returns the evidence that an email's tokens give, with the weights of this model.
    pub fn evidence(&self, message: &Message) -> Evidence {
        let mut known: Vec<(f64, String)> =
            tokens(message).into_iter().filter_map(|token| Some((self.probability(&token)?, token))).collect();
        known.retain(|(probability, _)| (probability - 0.5).abs() >= DEVIATION_MIN);
        known.sort_by(|(one, a), (other, b)| (other - 0.5).abs().total_cmp(&(one - 0.5).abs()).then_with(|| a.cmp(b)));
        known.truncate(TOKENS_MAX);
        let is_word = |token: &str| !token.contains(' ') && !token.contains(':');
        let spam_words =
            known.iter().filter(|(probability, token)| *probability > 0.9 && is_word(token)).map(|(_, token)| token.clone());
        Evidence {
            strength: combine(known.iter().map(|(probability, _)| *probability)),
            count: known.len(),
            spam_words: spam_words.take(5).collect(),
        }
    }
}

/// Returns the evidence that an email's tokens give, with the shipped weights.
pub fn evidence(message: &Message) -> Evidence {
    MODEL.evidence(message)
}

/// Combines probabilities: returns the decimal logarithm of the ratio of the two significance values. The result is positive if the
/// probabilities point to spam, and negative if they point to legitimate mail.
fn combine(probabilities: impl Iterator<Item = f64>) -> f64 {
    let (mut spam, mut legitimate, mut count) = (0.0, 0.0, 0);
    for probability in probabilities {
        let probability = probability.clamp(1e-4, 1.0 - 1e-4);
        spam -= (1.0 - probability).ln();
        legitimate -= probability.ln();
        count += 1;
    }
    if count == 0 {
        return 0.0;
    }
    (chi_squared_tail(legitimate, count) - chi_squared_tail(spam, count)) / std::f64::consts::LN_10
}

/// Returns the natural logarithm of the probability that a chi-squared variable with `2 × count` degrees of freedom exceeds `2 × half`.
fn chi_squared_tail(half: f64, count: usize) -> f64 {
    // For an even number of degrees of freedom, this is e^-half × Σ half^i / i! for i below `count`. The largest term is factored out.
    let mut terms = Vec::with_capacity(count);
    let mut term = 0.0_f64;
    for index in 0..count {
        if index > 0 {
            term += half.max(f64::MIN_POSITIVE).ln() - (index as f64).ln();
        }
        terms.push(term);
    }
    let largest = terms.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
    (largest + sum.ln() - half).min(0.0)
}

/// Returns the distinct tokens of an email: the words and word pairs in the text and the subject. Tokens from the subject are also included
/// a second time, with a mark.
pub fn tokens(message: &Message) -> Vec<String> {
    let mut tokens = Vec::new();
    collect("", message.words.get(..WORDS_MAX.min(message.words.len())).unwrap_or_default(), &mut tokens);
    collect("", &message.subject_words, &mut tokens);
    collect("subject:", &message.subject_words, &mut tokens);
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn collect(mark: &str, words: &[Word], tokens: &mut Vec<String>) {
    let mut previous: Option<&str> = None;
    for word in words {
        let word = word.folded.as_str();
        if !is_token(word) {
            previous = None;
            continue;
        }
        if word.len() >= 3 {
            tokens.push(format!("{mark}{word}"));
        }
        if let Some(previous) = previous {
            tokens.push(format!("{mark}{previous} {word}"));
        }
        previous = Some(word);
    }
}

/// Returns whether a word can be evidence. Numbers, email addresses and long words cannot.
fn is_token(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    word.len() <= 24 && digits * 2 < word.chars().count() && !word.contains('@')
}

/// Returns the hash of a token (32-bit FNV-1a). The weights depend on it, so a change requires new weights.
pub fn hash(token: &str) -> u32 {
    token.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deliverability::message::Input;

    #[test]
    fn the_tail_of_chi_squared_matches_tables() {
        // These are the 5% critical values for 2, 10 and 100 degrees of freedom.
        for (point, count) in [(5.991, 1), (18.307, 5), (124.342, 50)] {
            assert!((chi_squared_tail(point / 2.0, count).exp() - 0.05).abs() < 1e-4);
        }
        assert!(chi_squared_tail(1e6, 150).is_finite());
    }

    #[test]
    fn evidence_is_symmetric_and_mixed_evidence_is_unsure() {
        let spam = combine([0.99, 0.95, 0.9].into_iter());
        assert!(spam > CLEAR && (spam + combine([0.01, 0.05, 0.1].into_iter())).abs() < 1e-9);
        assert!(combine([0.99, 0.01].into_iter()).abs() < 1e-9);
        assert_eq!(combine(std::iter::empty()), 0.0);
    }

    #[test]
    fn unknown_tokens_are_neutral() {
        let html = "<p>qwertzuiop asdfghjklo yxcvbnmqwe</p>";
        let found = evidence(&Message::of(&Input { html, ..Input::default() }));
        assert_eq!((found.count, found.verdict(), found.points()), (0, Verdict::Unsure, 0.0));
    }

    #[test]
    fn the_weights_are_sorted_different_and_small() {
        assert!(WEIGHTS.len() <= 150 * 1024 && WEIGHTS.len().is_multiple_of(ENTRY_BYTES));
        let hashes: Vec<_> =
            WEIGHTS.chunks_exact(ENTRY_BYTES).map(|entry| u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]])).collect();
        assert!(hashes.len() > 10_000 && hashes.is_sorted_by(|one, other| one < other));
    }
}
