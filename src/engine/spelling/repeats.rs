//! Finds words that occur twice in a row, wrong English articles, and the word "I" in lowercase.

use super::findings::FindingKind;
use super::patterns::Hit;
use super::rules::{RuleHit, Rules};
use super::tokens::{Token, TokenKind};

/// A repeated pair of these words is a mistake: "in the in the", "de votre de votre".
const FUNCTION_WORDS: [&str; 59] = [
    "the", "a", "an", "of", "to", "in", "on", "for", "with", "at", "by", "from", "and", "or", "is", "are", "you", "your", "our",
    "we", "it", "this", "will", "be", "der", "die", "das", "den", "dem", "mit", "von", "für", "auf", "bei", "aus", "deine",
    "deiner", "unsere", "unserer", "de", "des", "du", "le", "la", "les", "dans", "pour", "sur", "votre", "notre", "vos", "nos",
    "el", "los", "las", "para", "con", "nuestra", "nuestro",
];

/// German articles that are also relative pronouns: "das Buch, das das Leben ändert".
const GERMAN_ARTICLES: [&str; 5] = ["das", "der", "die", "den", "dem"];

/// Returns the words and pairs of words that occur twice in a row.
pub(super) fn repeats<'r>(tokens: &[Token<'_>], rules: Option<&Rules>) -> Vec<RuleHit<'r>> {
    let mut found: Vec<RuleHit<'_>> = Vec::new();
    for at in 1..tokens.len() {
        let hit = repeat_at(tokens, at, rules)
            .map(|first| (first, at + 1))
            .or_else(|| pair_at(tokens, at).map(|first| (first, at + 1)))
            .or_else(|| compound_at(tokens, at).map(|first| (first, at + 1)));
        let Some((first, end)) = hit else { continue };
        if found.last().is_some_and(|last| last.hit.end > first) {
            continue;
        }
        let mut half = String::new();
        for token in tokens.get(first..first + (end - first) / 2).unwrap_or_default() {
            half.extend(Some(' ').filter(|_| token.spaced && !half.is_empty()));
            half.push_str(token.text);
        }
        let suggestions = vec![half];
        found.push(RuleHit {
            hit: Hit { first, end },
            rule: "REPEATED_WORD",
            kind: FindingKind::Repeat,
            suggestions,
            confidence: 0.95,
        });
    }
    found
}

fn repeat_at(tokens: &[Token<'_>], at: usize, rules: Option<&Rules>) -> Option<usize> {
    let (token, previous) = (tokens.get(at)?, tokens.get(at.checked_sub(1)?)?);
    let same = token.is_word() && previous.is_word() && token.lower == previous.lower && token.spaced && !token.new_line;
    // Repeated names ("Duran Duran"), words that occur three times ("ha ha ha") and single letters ("Size S S") are intended.
    let meant = token.is_capitalized() && previous.is_capitalized() && !token.is_all_capitals()
        || token.text.chars().count() < 2 && token.text != "a"
        || neighbor(tokens, at + 1).is_some_and(|next| next.lower == token.lower)
        || at.checked_sub(2).and_then(|at| tokens.get(at)).is_some_and(|before| before.lower == token.lower)
        // Some words are correct twice in a row: at the end of a clause ("what it is is simple"), or in a compound tense ("had had"). But
        // no sentence starts with "das das".
        || rules.is_some_and(|rules| rules.is_repeatable(&token.lower))
            && !(previous.starts_sentence && GERMAN_ARTICLES.contains(&token.lower.as_str()));
    (same && !meant).then_some(at - 1)
}

fn neighbor<'t, 'a>(tokens: &'t [Token<'a>], at: usize) -> Option<&'t Token<'a>> {
    tokens.get(at).filter(|token| token.is_word() && token.spaced)
}

/// Finds a repeated compound such as "hand-made hand-made" whose last word is token `at`.
fn compound_at(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let six = tokens.get(at.checked_sub(5)?..=at)?;
    let [a, first, b, c, second, d] = six else { return None };
    let hyphens = [first, second].iter().all(|hyphen| hyphen.text == "-" && !hyphen.spaced);
    let same = a.is_word() && b.is_word() && a.lower == c.lower && b.lower == d.lower && c.spaced && !c.new_line;
    (hyphens && same && ![b, d].iter().any(|word| word.spaced)).then_some(at - 5)
}

/// Finds a repeated pair such as "in the in the" whose last word is token `at`.
fn pair_at(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let four = tokens.get(at.checked_sub(3)?..=at)?;
    let [a, b, c, d] = four else { return None };
    let linked = four.iter().all(Token::is_word) && [b, c, d].iter().all(|token| token.spaced && !token.new_line);
    let functional = [a, b].iter().all(|token| FUNCTION_WORDS.contains(&token.lower.as_str()));
    (linked && functional && a.lower == c.lower && b.lower == d.lower && a.lower != b.lower).then_some(at - 3)
}

/// The contractions of "I", in lowercase.
const CONTRACTIONS_OF_I: [&str; 4] = ["i'm", "i've", "i'll", "i'd"];

/// Verbs and adverbs that follow "I".
const AFTER_I: [&str; 22] = [
    "am", "was", "have", "had", "will", "would", "can", "could", "do", "did", "love", "want", "know", "think", "hope", "need",
    "just", "also", "never", "always", "really", "wanted",
];

/// Returns each lowercase "I", unless the whole text has no capitals.
pub(super) fn lowercase_i<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    if !tokens.iter().any(Token::is_capitalized) {
        return Vec::new();
    }
    let check = |(at, token): (usize, &Token<'_>)| {
        let is_pronoun = token.text == "i" && neighbor(tokens, at + 1).is_some_and(|next| AFTER_I.contains(&next.lower.as_str()))
            || CONTRACTIONS_OF_I.contains(&token.text);
        (is_pronoun && token.is_word()).then(|| RuleHit {
            hit: Hit { first: at, end: at + 1 },
            rule: "SMALL_I",
            kind: FindingKind::Spelling,
            suggestions: vec![super::rules::capitalized(token.text)],
            confidence: 0.96,
        })
    };
    tokens.iter().enumerate().filter_map(check).collect()
}

/// The starts of words that begin with a vowel letter but a consonant sound.
const CONSONANT_SOUNDS: [&str; 26] = [
    "uni", "use", "usa", "usi", "usu", "uti", "eu", "ewe", "one", "once", "ubi", "ura", "uke", "ute", "ure", "uto", "ufo", "oui",
    "u-", "uk", "us", "ui", "ux", "url", "usb", "user",
];

/// The starts of words that match one in [`CONSONANT_SOUNDS`] but begin with a vowel sound.
const VOWEL_SOUNDS: [&str; 11] =
    ["unin", "unim", "unid", "unidentified", "unissued", "usher", "us-based?", "urat?", "ushe", "uniron", "unig"];

/// The starts of words with a silent "h".
const SILENT_H: [&str; 7] = ["hour", "honest", "honor", "honour", "heir", "hors", "herb"];

/// Words before which "a" is a letter or a grade, not an article.
const NOT_AFTER_ARTICLE: [&str; 16] =
    ["a", "an", "and", "or", "is", "in", "of", "at", "as", "on", "it", "are", "if", "i", "un", "el"];

/// Returns wrong articles: "a hour", "an user".
pub(super) fn articles<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let check = |(at, pair): (usize, &[Token<'_>])| {
        let [article, next] = pair else { return None };
        let linked = next.spaced && !next.new_line && article.is_word();
        // Inside a sentence, an uppercase "A" is a letter, not an article: "Series A is", "vitamin A".
        let letter = article.text == "A" && !article.starts_sentence && !next.is_all_capitals();
        if !linked || letter {
            return None;
        }
        let (right, wrong) = match article.lower.as_str() {
            "a" => ("an", needs_an(next) == Some(true) && !NOT_AFTER_ARTICLE.contains(&next.lower.as_str())),
            "an" => ("a", needs_an(next) == Some(false)),
            _ => return None,
        };
        let shouts = article.text == "AN" || article.text == "A" && !article.starts_sentence;
        let suggestion = match (shouts, article.is_capitalized()) {
            (true, _) => right.to_uppercase(),
            (false, true) => super::rules::capitalized(right),
            (false, false) => right.to_owned(),
        };
        wrong.then(|| RuleHit {
            hit: Hit { first: at, end: at + 1 },
            rule: "A_OR_AN",
            kind: FindingKind::Grammar,
            suggestions: vec![suggestion],
            confidence: if next.is_capitalized() { 0.8 } else { 0.9 },
        })
    };
    tokens.windows(2).enumerate().filter_map(check).collect()
}

/// Returns whether the article before this word must be "an"; `None` if both articles are in use.
fn needs_an(next: &Token<'_>) -> Option<bool> {
    let first = next.text.chars().next()?;
    if next.kind == TokenKind::Number {
        let digits = next.text.split(['.', ',']).next().unwrap_or_default();
        // Numbers that start with 8, and the numbers 11 and 18, need "an". Before a number such as 1,100, both are in use: "a one thousand"
        // and "an eleven hundred".
        return match next.text.contains(',') && digits.len() < 3 && digits != "8" {
            true => None,
            false => Some(first == '8' || digits == "11" || digits == "18"),
        };
    }
    if next.kind != TokenKind::Word || !first.is_ascii_alphabetic() {
        return None;
    }
    let first = first.to_ascii_lowercase();
    if next.is_all_capitals() {
        let letters = next.text.chars().count();
        return match first {
            // Abbreviations such as "AI", "API" and "EU" are read as letters. A long word, or one such as "ONE-TIME", is not.
            'a' | 'i' => Some(true),
            // Words that start with "EUR" are not judged: "EURO" and "EUROPE" are read as words, but "EUR" is also read as letters.
            'e' if next.lower.starts_with("eur") => None,
            'e' | 'o' => (!CONSONANT_SOUNDS.iter().any(|start| *start != "eu" && next.lower.starts_with(start)) && letters <= 4)
                .then_some(true),
            // Abbreviations are read as letters ("an SMS") or as words ("a SIM"), so both articles are accepted.
            'f' | 'h' | 'l' | 'm' | 'n' | 'r' | 's' | 'x' | 'u' => None,
            _ => Some(false),
        };
    }
    if next.text.chars().count() < 2 {
        return None;
    }
    let starts = |words: &[&str]| words.iter().any(|start| next.lower.starts_with(start));
    match first {
        'a' | 'i' => Some(true),
        'e' | 'o' | 'u' if starts(&CONSONANT_SOUNDS) && !starts(&VOWEL_SOUNDS) => Some(false),
        'e' | 'o' | 'u' => Some(true),
        'h' if starts(&SILENT_H) => (!next.lower.starts_with("herb")).then_some(true),
        // Both "a historic" and "an historic" are in use, and the "h" can be silent in words of French or Spanish origin.
        'h' if next.lower.starts_with("hist") || next.lower.starts_with("hotel") || next.is_capitalized() => None,
        // The start of a name can be read as a letter: "an Nvidia card".
        'f' | 'l' | 'm' | 'n' | 'r' | 's' | 'x' if next.is_capitalized() => None,
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_repeated_words_and_pairs() {
        for (text, expected) in [
            ("Get the the offer", 1),
            ("in the in the shop", 1),
            ("merci de votre de votre confiance", 1),
            ("mit der mit der Karte", 1),
            ("de la casa de la abuela", 0),
            ("Bora Bora awaits", 0),
            ("ha ha ha", 0),
            ("Sale sale", 1),
            ("the\nthe", 0),
            ("yes, yes", 0),
            ("well-well known", 0),
            ("take a a look", 1),
            ("our hand-made hand-made plates", 1),
        ] {
            assert_eq!(repeats(&tokens(text), None).len(), expected, "{text}");
        }
    }

    #[test]
    fn finds_the_pronoun_i_without_its_capital() {
        for (text, expected) in
            [("Hi, i am Anna and i'm new.", 2), ("I am Anna.", 0), ("hi, i am all in lower case", 0), ("Option i has a lid.", 0)]
        {
            assert_eq!(lowercase_i(&tokens(text)).len(), expected, "{text}");
        }
    }

    #[test]
    fn finds_wrong_articles() {
        for text in [
            "a hour",
            "an user",
            "a amazing offer",
            "an new shop",
            "an unique gift",
            "a eco-friendly bag",
            "an one-time code",
            "a AI tool",
            "a 8 % rate",
            "a 11-day trip",
            "an 20% discount",
            "A easy start",
            "a Italian shop",
            "an European tour",
            "A EASY START",
            "a honest",
        ] {
            assert_eq!(articles(&tokens(text)).len(), 1, "{text}");
        }
    }

    #[test]
    fn accepts_right_articles() {
        for text in [
            "an hour",
            "a user",
            "a unique gift",
            "an umbrella",
            "a European tour",
            "a one-time code",
            "an AI tool",
            "an 8 % rate",
            "a 1,100 list",
            "a 20% discount",
            "an SMS",
            "a SIM card",
            "an FAQ",
            "an Nvidia card",
            "an X-ray",
            "from A to Z",
            "vitamin A improves",
            "option a or b",
            "an herb",
            "a herb",
            "an 18-hour day",
            "an 80s look",
            "a UK shop",
            "an unusual gift",
            "an uninteresting thing",
            "a USB cable",
            "Plan A is",
            "an honor",
            "an heirloom",
            "a ONE-TIME OFFER",
            "an eco bag",
            "an hourly rate",
            "a historic day",
            "an historic day",
            "a usable tool",
        ] {
            assert_eq!(articles(&tokens(text)), [], "{text}");
        }
    }
}
