//! Looks up the words of a block, and decides which unknown words are mistakes.

use super::Checker;
use super::dictionaries::Dictionary;
use super::findings::FindingKind;
use super::languages::code;
use super::names::{Position, is_compound, is_exempt, is_heading, is_well_known, position, well_known};
use super::patterns::Hit;
use super::rules::{RuleHit, capitalized};
use super::suggestions::{Candidate, SUGGESTIONS_MAX};
use super::tokens::Token;

/// The ID of the rule for words that no dictionary contains.
const RULE: &str = "UNKNOWN_WORD";

/// The maximum number of words used to decide whether a block is in another language.
const FOREIGN_SAMPLE: usize = 100;

impl Checker<'_> {
    /// Records unknown capitalized words inside sentences, which count as names in the whole email.
    pub(super) fn note_names(&mut self, tokens: &[Token<'_>], language: &str) {
        let Some(dictionary) = self.languages.dictionary(language) else { return };
        let heading = is_heading(tokens, |word| dictionary.has(word));
        for (at, token) in tokens.iter().enumerate() {
            if !is_exempt(token) && position(tokens, at, heading) == Position::Name && !dictionary.has(token.text) {
                self.names.note(&token.lower);
            }
        }
    }

    pub(super) fn unknown_words(
        &mut self,
        tokens: &[Token<'_>],
        language: &str,
        dictionary: &Dictionary,
    ) -> Vec<RuleHit<'static>> {
        let heading = is_heading(tokens, |word| dictionary.has(word));
        let mut found = Vec::new();
        if self.is_foreign(tokens, language, dictionary) {
            return found;
        }
        for (at, token) in tokens.iter().enumerate() {
            if is_exempt(token) || self.is_known(token, language, dictionary) || in_known_compound(tokens, at, dictionary) {
                continue;
            }
            let place = position(tokens, at, heading);
            let english = code(language) == "en";
            if let Some(name) = name_of(tokens, at, language, dictionary) {
                found.push(hit(at, vec![name], 0.8));
                continue;
            }
            // A compound of two words is correct, unless it is one letter away from another word: "everthing" is a misspelled
            // "everything", not a compound of "ever" and "thing".
            let is_near = |candidates: &[Candidate]| candidates.iter().any(|one| one.distance == 1 && !one.word.contains(' '));
            if english
                && is_compound(&token.lower, |part| dictionary.has(part))
                && !self.suggester.candidates(dictionary, &token.lower).is_some_and(is_near)
            {
                continue;
            }
            if place == Position::Name && !nouns_have_capitals(language) {
                continue;
            }
            if in_compound(tokens, at) && token.text.chars().count() < COMPOUND_PART_MIN {
                continue;
            }
            let Some(candidates) = self.suggester.candidates(dictionary, &token.lower) else {
                // After the maximum number of searches for suggestions, lowercase words are reported without suggestions, and other words
                // are not reported.
                if place == Position::Lower {
                    found.push(hit(at, Vec::new(), 0.5));
                }
                continue;
            };
            let judged = if nouns_have_capitals(language) && token.is_capitalized() {
                let next_to_name = neighbors(tokens, at)
                    .any(|token| token.is_capitalized() && !token.starts_sentence && !dictionary.has(&token.lower))
                    || at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| BEFORE_NAMES.contains(&&*token.lower));
                self.names.judge_noun(token, next_to_name, candidates)
            } else {
                self.names.judge(token, place, candidates)
            };
            if let Some(confidence) = judged {
                let words = candidates.iter().take(SUGGESTIONS_MAX).map(|candidate| candidate.word.clone());
                let suggestions = words.map(|word| if token.is_capitalized() { capitalized(&word) } else { word }).collect();
                found.push(hit(at, suggestions, confidence));
            }
        }
        found
    }

    /// Returns whether so many words are unknown that the text is probably in another language.
    fn is_foreign(&mut self, tokens: &[Token<'_>], language: &str, dictionary: &Dictionary) -> bool {
        let words: Vec<_> =
            tokens.iter().filter(|token| !is_exempt(token) && !token.is_capitalized()).take(FOREIGN_SAMPLE).collect();
        let unknown = words.iter().filter(|token| !self.is_known(token, language, dictionary)).count();
        unknown >= 3 && unknown * 3 >= words.len()
    }

    /// Returns whether a dictionary or a list of names contains the word.
    fn is_known(&mut self, token: &Token<'_>, language: &str, dictionary: &Dictionary) -> bool {
        let has = |dictionary: &Dictionary| {
            let stem = token.text.strip_suffix("'s").filter(|_| code(language) == "en");
            dictionary.has(token.text)
                || stem.is_some_and(|stem| dictionary.has(stem))
                || token.is_capitalized() && dictionary.has(&token.lower)
                || has_clitics(&token.lower, language, |stem| dictionary.has(stem))
                || is_german_form(&token.lower, language, |word| dictionary.has(word))
                || elided(&token.lower, language).is_some_and(|rest| dictionary.has(rest) || dictionary.has(&capitalized(rest)))
        };
        has(dictionary)
            || self.names.has(&token.lower)
            || self.languages.variant(language).is_some_and(|variant| has(&variant))
            || self.languages.others_have(language, token.text)
    }
}

/// Returns the name that an unknown word probably stands for: the word is the name in lowercase, or a misspelling of it.
fn name_of(tokens: &[Token<'_>], at: usize, language: &str, dictionary: &Dictionary) -> Option<String> {
    let token = tokens.get(at)?;
    let english = code(language) == "en";
    if token.is_capitalized() {
        return well_known(&token.lower).filter(|_| english).map(str::to_owned);
    }
    let name = capitalized(&token.lower);
    let is_name = english && is_well_known(&token.lower)
        || nouns_have_capitals(language) && !in_compound(tokens, at) && dictionary.has(&name);
    // Some brands write everything in lowercase, so a capital must occur somewhere in the block.
    (is_name && tokens.iter().any(Token::is_capitalized)).then_some(name)
}

/// German prepositions that are usually followed by an article. Without one, a name follows: "von Hirschkogel".
const BEFORE_NAMES: [&str; 5] = ["von", "bei", "nach", "aus", "zu"];

/// Returns the words before and after a token.
fn neighbors<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> impl Iterator<Item = &'t Token<'a>> {
    [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| tokens.get(at)).filter(|token| token.is_word())
}

/// The minimum length at which an unknown part of a hyphenated compound is reported; shorter parts, as in "sous-vide", are too often
/// foreign words.
const COMPOUND_PART_MIN: usize = 6;

/// Returns whether a hyphen joins the word to another word.
fn in_compound(tokens: &[Token<'_>], at: usize) -> bool {
    let hyphen = |token: Option<&Token<'_>>| token.is_some_and(|token| token.text == "-" && !token.spaced);
    let joined = |token: Option<&Token<'_>>| token.is_some_and(|token| token.is_word() && !token.spaced);
    let before = at.checked_sub(1).is_some_and(|at| hyphen(tokens.get(at))) && joined(tokens.get(at));
    before || hyphen(tokens.get(at + 1)) && joined(tokens.get(at + 2))
}

/// Returns whether the language capitalizes all nouns, so that a capital does not indicate a name.
fn nouns_have_capitals(language: &str) -> bool {
    matches!(code(language).as_str(), "de" | "lb")
}

fn hit(at: usize, suggestions: Vec<String>, confidence: f32) -> RuleHit<'static> {
    RuleHit { hit: Hit { first: at, end: at + 1 }, rule: RULE, kind: FindingKind::Spelling, suggestions, confidence }
}

/// Returns the word after an elision: "offre" in "l'offre".
fn elided<'t>(word: &'t str, language: &str) -> Option<&'t str> {
    if !matches!(code(language).as_str(), "fr" | "it" | "ca") {
        return None;
    }
    word.split_once('\'').map(|(_, rest)| rest).filter(|rest| rest.chars().count() > 1)
}

/// Returns whether the word is a German form that dictionaries lack: a word with a shortened "es", such as "geht's", or the participle of a
/// regular verb, such as "gedimmt" from "dimmen".
fn is_german_form(word: &str, language: &str, has: impl Fn(&str) -> bool) -> bool {
    if code(language) != "de" {
        return false;
    }
    let is_short = word.strip_suffix("'s").is_some_and(|stem| SHORTENED_ES.contains(&stem) || is_german_verb(stem, &has));
    let stem = word.strip_prefix("ge").and_then(|rest| rest.strip_suffix('t')).filter(|stem| stem.chars().count() >= 3);
    is_short
        || stem
            .is_some_and(|stem| has(&format!("{stem}en")) || stem.strip_suffix('e').is_some_and(|stem| has(&format!("{stem}en"))))
}

/// Words after which German shortens "es" to "'s", in addition to the verbs that [`is_german_verb`] recognizes by their infinitive.
const SHORTENED_ES: [&str; 28] = [
    "gibt", "ist", "war", "wird", "hat", "kann", "soll", "will", "muss", "darf", "wie", "wenn", "ob", "was", "wo", "so", "wer",
    "dass", "du", "er", "sie", "ich", "wir", "nimmt", "weiß", "sieht", "fällt", "läuft",
];

/// Returns whether the word is a form of a German verb: "geht" from "gehen", "mach" from "machen".
fn is_german_verb(word: &str, has: impl Fn(&str) -> bool) -> bool {
    let stems = [Some(word), word.strip_suffix('t'), word.strip_suffix('e')];
    has(word) && stems.into_iter().flatten().any(|stem| has(&format!("{stem}en")))
}

/// The pronouns that Spanish attaches to verbs.
const CLITICS: [&str; 11] = ["me", "te", "se", "nos", "os", "lo", "la", "los", "las", "le", "les"];

/// Returns whether the word is a Spanish verb with one or two attached pronouns, such as "suscríbete" and "dándoselo".
fn has_clitics(word: &str, language: &str, has: impl Fn(&str) -> bool + Copy) -> bool {
    if code(language) != "es" {
        return false;
    }
    let plain = |stem: &str| stem.replace('á', "a").replace('é', "e").replace('í', "i").replace('ó', "o").replace('ú', "u");
    let stems = |word: &str| -> Vec<String> {
        let stems = CLITICS.iter().filter_map(|clitic| word.strip_suffix(clitic));
        stems.filter(|stem| stem.chars().count() >= 2).map(str::to_owned).collect()
    };
    let ends_like_verb = |stem: &str| stem.ends_with(['a', 'e', 'á', 'é', 'í', 'r', 'o', 'd', 'n', 'i']);
    let once = stems(word);
    once.iter()
        .chain(once.iter().flat_map(|stem| stems(stem)).collect::<Vec<_>>().iter())
        .any(|stem| ends_like_verb(stem) && (has(stem) || has(&plain(stem))))
}

/// Returns whether the word is part of a hyphenated compound that the dictionary contains as a whole, such as "vis-à-vis".
fn in_known_compound(tokens: &[Token<'_>], at: usize, dictionary: &Dictionary) -> bool {
    let joins = |at: usize| {
        let hyphen = tokens.get(at).is_some_and(|token| token.text == "-" && !token.spaced);
        hyphen && tokens.get(at + 1).is_some_and(|token| token.is_word() && !token.spaced)
    };
    let mut first = at;
    while first >= 2 && at - first < 6 && joins(first - 1) && tokens.get(first - 2).is_some_and(Token::is_word) {
        first -= 2;
    }
    let mut last = at;
    while last - at < 6 && joins(last + 1) {
        last += 2;
    }
    if first == last {
        return false;
    }
    let compound: String = tokens.get(first..=last).unwrap_or_default().iter().map(|token| token.text).collect();
    dictionary.has(&compound) || dictionary.has(&compound.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn german_contractions_and_participles_are_known() {
        let has = |word: &str| matches!(word, "geht" | "gehen" | "schnell" | "dimmen" | "haken" | "arbeiten");
        for word in ["geht's", "gibt's", "gedimmt", "gehakt", "gearbeitet"] {
            assert!(is_german_form(word, "de", has), "{word}");
        }
        for word in ["gehts", "schnell's", "getimmt", "get", "geht'"] {
            assert!(!is_german_form(word, "de", has), "{word}");
        }
        assert!(!is_german_form("gedimmt", "en", has));
    }
}
