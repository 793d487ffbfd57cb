//! The classes of English words: noun, verb form, adjective, and so on. A word can have several classes.
//!
//! A word in the table has the classes listed there. Other words get their classes from their ending, if the stem is in the table:
//! "teapots", "browsed". A long unknown lowercase word that ends in "s" counts as a plural: "baristas".

use super::class_table::{
    ADJECTIVE, ADVERB, BASE_VERB, COMPARATIVE, ING_FORM, NOUN, PARTICIPLE, PAST, PLURAL_NOUN, SUPERLATIVE, THIRD_PERSON,
    is_listed_verb, listed,
};
use super::inflection::{remove_ed, remove_ing, remove_s};

/// The names of classes in patterns, with their flags.
const NAMES: [(&str, u16); 11] = [
    ("noun", NOUN),
    ("nouns", PLURAL_NOUN),
    ("verb", BASE_VERB),
    ("verbs", THIRD_PERSON),
    ("past", PAST),
    ("participle", PARTICIPLE),
    ("ing", ING_FORM),
    ("adjective", ADJECTIVE),
    ("adverb", ADVERB),
    ("comparative", COMPARATIVE),
    ("superlative", SUPERLATIVE),
];

/// A condition on the classes of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class {
    flag: u16,
    /// Whether the word must have no other class.
    only: bool,
}

impl Class {
    /// Returns the class with this name, such as `noun` or `only-noun`.
    pub fn named(name: &str) -> Option<Self> {
        let (only, name) = name.strip_prefix("only-").map_or((false, name), |name| (true, name));
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, flag)| Self { flag: *flag, only })
    }

    /// Returns whether a word with the classes `flags` meets the condition.
    pub fn has(self, flags: u16) -> bool {
        if self.only { flags == self.flag } else { flags & self.flag != 0 }
    }

    /// Returns the class that results from adding "s" to a word of this class: plural noun, or verb in the third person.
    pub fn with_s(self) -> Option<Self> {
        let flag = match self.flag {
            NOUN => PLURAL_NOUN,
            BASE_VERB => THIRD_PERSON,
            _ => return None,
        };
        Some(Self { flag, only: self.only })
    }
}

/// Returns the classes of a lowercase word as flags; 0 if they are unknown. `has_capital` is true if the word is capitalized in the text,
/// like a name.
pub(super) fn flags(word: &str, has_capital: bool) -> u16 {
    if let Some(flags) = listed(word) {
        return flags;
    }
    if word.ends_with('s') && !word.ends_with("ss") {
        return match listed(&remove_s(word)) {
            Some(stem) => {
                (if stem & NOUN != 0 { PLURAL_NOUN } else { 0 }) | (if stem & BASE_VERB != 0 { THIRD_PERSON } else { 0 })
            }
            // New nouns such as "baristas" are frequent, but new verbs are not.
            None if !has_capital && word.len() >= NEW_PLURAL_BYTES_MIN => PLURAL_NOUN,
            None => 0,
        };
    }
    if word.ends_with("ed") && is_listed_verb(&remove_ed(word)) {
        return PAST | PARTICIPLE;
    }
    if word.ends_with("ing") && is_listed_verb(&remove_ing(word)) { ING_FORM } else { 0 }
}

/// The minimum length of an unknown word ending in "s" that counts as a plural; shorter words are often not plurals.
const NEW_PLURAL_BYTES_MIN: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_classes_that_a_grammar_lists() {
        for (word, class, expected) in [
            ("shoe", "only-noun", true),
            ("shoes", "only-nouns", true),
            ("ships", "nouns", true),
            ("ships", "verbs", true),
            ("includes", "only-verbs", true),
            ("include", "only-verb", true),
            ("started", "verb", false),
            ("bake", "verb", true),
            ("baking", "ing", true),
            ("newsletters", "only-nouns", true),
            ("baristas", "only-nouns", true),
            ("cheaper", "comparative", true),
            ("expensive", "adjective", true),
            ("because", "noun", false),
            ("qzx", "noun", false),
        ] {
            let class = Class::named(class).unwrap_or_else(|| panic!("{class} is a class"));
            assert_eq!(class.has(flags(word, false)), expected, "{word} {class:?}");
        }
        assert_eq!(Class::named("plural"), None);
    }
}
