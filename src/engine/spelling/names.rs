//! Decides whether an unknown word is a mistake or a name.
//!
//! Marketing text is full of names that are in no dictionary. Measurements (`tests/accuracy/spelling.rs`) showed that without these rules,
//! most findings in correct text would be names.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::suggestions::Candidate;
use super::tokens::{Token, TokenKind};

/// Names of companies and products, and marketing terms that dictionaries lack.
static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/spelling/names.txt"))
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .collect()
});

/// The maximum number of words to keep from the names given to [`Names::new`], and the maximum number of capitalized words to keep from the
/// text.
const NAMES_MAX: usize = 20_000;

/// English prefixes that form words that dictionaries do not list.
const PREFIXES: [&str; 22] = [
    "un", "re", "pre", "co", "non", "multi", "mini", "eco", "super", "anti", "over", "under", "micro", "mega", "ultra", "sub",
    "inter", "semi", "bio", "self", "cyber", "auto",
];

/// The words that count as names in one check.
pub(super) struct Names {
    own: HashSet<String>,
    /// The unknown capitalized words inside sentences, each with its number of occurrences.
    seen: HashMap<String, usize>,
}

/// The position and capitalization of an unknown word, which show whether it can be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Lower,
    /// Capitalized at the start of a sentence.
    Start,
    /// Capitalized in a heading in which all long words are capitalized.
    Heading,
    /// Capitalized inside a sentence, or at the start of a sentence if the next word is also capitalized.
    Name,
}

impl Names {
    /// Creates the set. `names` are names such as those of the brand, its company, its products and its people. A name can consist of
    /// several words.
    pub fn new(names: &[String]) -> Self {
        let words = names.iter().flat_map(|name| name.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’')));
        let own =
            words.filter(|word| !word.is_empty()).take(NAMES_MAX).map(|word| word.replace('’', "'").to_lowercase()).collect();
        Self { own, seen: HashMap::new() }
    }

    pub fn has(&self, lower: &str) -> bool {
        let stem = lower.strip_suffix("'s").unwrap_or(lower);
        [lower, stem].into_iter().any(|word| self.own.contains(word) || KNOWN.contains(word))
    }

    /// Counts an unknown capitalized word inside a sentence.
    pub fn note(&mut self, lower: &str) {
        if self.seen.len() < NAMES_MAX {
            *self.seen.entry(lower.to_owned()).or_default() += 1;
        }
    }

    /// Returns the confidence that the unknown word is a mistake, or `None` if it is more likely a name.
    pub fn judge(&self, token: &Token<'_>, position: Position, candidates: &[Candidate]) -> Option<f32> {
        let best = candidates.first()?;
        let length = token.lower.chars().count();
        let proper = best.word.chars().next().is_some_and(char::is_uppercase);
        let seen = self.seen.get(&token.lower).copied().unwrap_or(0);
        match position {
            // A lowercase word is unlikely to be a misspelled name ("moka", "Mona"), unless the name is well known ("wendesday",
            // "Wednesday").
            Position::Lower if proper && !WELL_KNOWN.contains(&best.word.as_str()) => None,
            Position::Lower if length <= 3 => (best.distance == 1 && length == 3).then_some(0.7),
            Position::Lower if length == 4 => (best.distance == 1).then_some(0.8),
            Position::Lower => Some(if best.distance == 1 { 0.95 } else { 0.85 }),
            // A word that is a name elsewhere in the email is a name at the start of a sentence too.
            Position::Start if seen > 0 || proper => None,
            Position::Start if length >= 9 => Some(0.8),
            Position::Start => (best.distance == 1 && length >= 5).then_some(0.75),
            Position::Heading if seen > 2 || proper => None,
            Position::Heading => (best.distance == 1 && length >= 6).then_some(0.7),
            Position::Name => None,
        }
    }

    /// Returns the confidence that an unknown capitalized German word is a misspelled noun, or `None` if it is more likely a name.
    pub fn judge_noun(&self, token: &Token<'_>, next_to_name: bool, candidates: &[Candidate]) -> Option<f32> {
        let best = candidates.first()?;
        let repeated = self.seen.get(&token.lower).is_some_and(|count| *count > 1);
        let near = best.distance == 1 && !best.word.contains(' ') && token.lower.chars().count() >= NOUN_CHARACTERS_MIN;
        (near && !next_to_name && !repeated).then_some(0.75)
    }
}

/// The minimum length of a misspelled noun; shorter unknown nouns are more often names.
const NOUN_CHARACTERS_MIN: usize = 7;

/// Returns the position and capitalization of a word among the tokens of its block.
pub(super) fn position(tokens: &[Token<'_>], at: usize, is_heading: bool) -> Position {
    let Some(token) = tokens.get(at).filter(|token| token.is_capitalized()) else { return Position::Lower };
    if is_heading {
        return Position::Heading;
    }
    let next = tokens.get(at + 1);
    // A capitalized word before another one is a name, even at the start of a sentence: "Karim Benzoma says".
    let before_name = next.is_some_and(|next| next.is_word() && next.is_capitalized() && next.spaced && !next.is_all_capitals());
    if token.starts_sentence && !before_name { Position::Start } else { Position::Name }
}

/// Returns whether all long words of a block, except those that start a sentence, are capitalized, and at least two of them are ordinary
/// words. Capitalization then does not indicate names.
pub(super) fn is_heading(tokens: &[Token<'_>], has: impl Fn(&str) -> bool) -> bool {
    let mut words = tokens.iter().filter(|token| token.is_word() && token.text.chars().count() > 3 && !token.starts_sentence);
    let ordinary = words.clone().filter(|token| has(&token.lower)).count();
    ordinary >= 2 && words.all(Token::is_capitalized)
}

/// Names of six letters or more that are always capitalized and often misspelled.
const WELL_KNOWN: [&str; 45] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "January",
    "February",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Christmas",
    "Thanksgiving",
    "Halloween",
    "Valentine's",
    "Easter",
    "America",
    "American",
    "Britain",
    "British",
    "Canadian",
    "Europe",
    "European",
    "Germany",
    "German",
    "Italian",
    "Japanese",
    "Mediterranean",
    "Portugal",
    "Portuguese",
    "Switzerland",
    "Australia",
    "Australian",
    "Netherlands",
    "Spanish",
    "French",
    "Chinese",
    "English",
    "California",
    "Caribbean",
    "Scandinavian",
    "Egyptian",
];

/// Returns whether the lowercase word is a day, a month or another well-known name.
pub(super) fn is_well_known(lower: &str) -> bool {
    let name = super::rules::capitalized(lower);
    WELL_KNOWN.contains(&name.as_str())
}

/// Returns the day, month or other well-known name that an unknown, capitalized English word probably misspells.
pub(super) fn well_known(lower: &str) -> Option<&'static str> {
    let length = lower.chars().count();
    if !(6..=15).contains(&length) {
        return None;
    }
    let near = |name: &&&str| {
        let name_lower = name.to_lowercase();
        let distance = super::suggestions::distance(lower, &name_lower);
        distance == 1 || distance == 2 && length >= 7 && name_lower.chars().next() == lower.chars().next()
    };
    WELL_KNOWN.iter().find(near).copied()
}

/// Returns whether the form of the word shows that it is correct even if no dictionary contains it: "iPhone", "NASA", "X".
pub(super) fn is_exempt(token: &Token<'_>) -> bool {
    token.kind != TokenKind::Word
        || token.is_all_capitals()
        || token.has_inner_capital() && !token.text.contains('\'')
        || token.text.chars().count() < 2
}

/// Returns whether the word is a compound of known words, such as "gymwear", or has a common prefix, such as "preorder".
pub(super) fn is_compound(word: &str, has: impl Fn(&str) -> bool) -> bool {
    for prefix in PREFIXES {
        if let Some(stem) = word.strip_prefix(prefix)
            && stem.chars().count() >= 5
            && has(stem)
        {
            return true;
        }
    }
    let length = word.chars().count();
    if !(8..=24).contains(&length) {
        return false;
    }
    (4..=length - 4).any(|cut| {
        let at = word.char_indices().nth(cut).map_or(0, |(at, _)| at);
        let (left, right) = word.split_at(at);
        has(left) && has(right)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn names_of_the_caller_count_with_all_their_words() {
        let names = Names::new(&["Åsa’s Kaffe".to_owned(), "Brühwarm".to_owned()]);
        for word in ["åsa's", "kaffe", "brühwarm", "brühwarm's", "klaviyo", "nespresso"] {
            assert!(names.has(word), "{word}");
        }
        assert!(!names.has("recieve"));
    }

    #[test]
    fn technical_abbreviations_are_known() {
        let names = Names::new(&[]);
        let known = "svg png gif jpeg webp faq sku api url html css utm cta roi kpi saas csv pdf crm seo";
        for word in known.split(' ') {
            assert!(names.has(word), "{word}");
        }
    }

    #[test]
    fn capitals_in_headings_are_not_names() {
        let has = |word: &str| ["today", "free", "delivery", "meet"].contains(&word);
        assert!(is_heading(&tokens("Meet Our Free Colection Today"), has));
        assert!(!is_heading(&tokens("Meet Karim Benzoma and his free delivery"), has));
        assert!(!is_heading(&tokens("Save on Staub and Zwilling"), has));
        assert_eq!(well_known("wensday"), Some("Wednesday"));
        assert_eq!(well_known("tomasz"), None);
    }

    #[test]
    fn the_position_depends_on_capitals_and_sentences() {
        let found = tokens("Karim Benzoma says hello. Wellcome to Parris");
        let at = |text: &str| found.iter().position(|token| token.text == text).expect("the word");
        for (word, expected) in [
            ("Karim", Position::Name),
            ("Benzoma", Position::Name),
            ("says", Position::Lower),
            ("Wellcome", Position::Start),
            ("Parris", Position::Name),
        ] {
            assert_eq!(position(&found, at(word), false), expected, "{word}");
        }
    }

    #[test]
    fn compounds_of_known_words_are_words() {
        let has = |word: &str| ["gymnast", "wear", "order", "receive"].contains(&word);
        assert!(is_compound("gymnastwear", has) && is_compound("preorder", has) && !is_compound("recieve", has));
    }
}
