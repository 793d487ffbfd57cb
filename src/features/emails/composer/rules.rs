//! The constraints that a brief sets on its email.

use crate::base::text::Color;
use crate::features::emails::brief::{Brief, ConstraintKind};
use crate::features::emails::document::Layout;

/// The minimum length, in characters, of the stem that remains after a plural "s" is removed. Shorter words keep their "s".
const AVOIDED_STEM_MIN: usize = 4;

/// The constraints of a brief in the form that the composer uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub no_images: bool,
    pub no_products: bool,
    pub no_exclamation: bool,
    pub one_button: bool,
    pub emoji: Option<bool>,
    pub formal: Option<bool>,
    pub words_max: Option<usize>,
    /// Words that the email must not contain, in lowercase.
    pub avoided: Vec<String>,
    pub layout: Option<Layout>,
    pub color: Option<Color>,
    /// The number of products that the brief prescribes.
    pub products: Option<usize>,
    /// The number of emails that the brief prescribes for the series.
    pub emails: Option<usize>,
}

impl Rules {
    pub fn of(brief: &Brief) -> Self {
        let mut rules = Self::default();
        for constraint in &brief.constraints {
            let value = constraint.value.as_deref().map(str::trim).unwrap_or_default();
            match constraint.kind {
                ConstraintKind::NoImages => rules.no_images = true,
                ConstraintKind::NoProducts => rules.no_products = true,
                ConstraintKind::NoExclamation => rules.no_exclamation = true,
                ConstraintKind::OneButton => rules.one_button = true,
                ConstraintKind::NoEmoji => rules.emoji = Some(false),
                ConstraintKind::Emoji => rules.emoji = Some(true),
                ConstraintKind::Formal => rules.formal = Some(true),
                ConstraintKind::Informal => rules.formal = Some(false),
                ConstraintKind::WordLimit => rules.words_max = value.parse().ok(),
                ConstraintKind::AvoidWord if !value.is_empty() => rules.avoided.push(value.to_lowercase()),
                ConstraintKind::AvoidWord => {}
                ConstraintKind::Emails => rules.emails = value.parse().ok(),
                ConstraintKind::Products => rules.products = value.parse().ok(),
                ConstraintKind::Layout => rules.layout = layout(value),
                ConstraintKind::Color => rules.color = value.parse().ok(),
                ConstraintKind::PlainLayout => {
                    rules.no_images = true;
                    rules.layout = rules.layout.or(Some(Layout::Letter));
                }
            }
        }
        rules.formal = rules.formal.or_else(|| super::address_form::form_of(brief));
        rules
    }

    /// Returns whether the text contains none of the avoided words.
    pub fn allow(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.avoided.iter().all(|word| !text.contains(word.as_str()))
    }

    /// Returns whether a product may be shown: its name contains no avoided word, in the singular or plural, written as one word or as
    /// several.
    pub fn allow_product(&self, name: &str) -> bool {
        let words: Vec<String> = name.split_whitespace().map(joined).collect();
        let is_named = |avoided: &str| {
            let runs = (0..words.len()).flat_map(|from| (from + 1..=words.len()).map(move |to| (from, to)));
            runs.into_iter().any(|(from, to)| singular(&words[from..to].concat()) == avoided)
        };
        self.avoided.iter().map(|word| singular(&joined(word)).to_owned()).all(|word| word.is_empty() || !is_named(&word))
    }
}

/// Returns the letters and digits of the text in lowercase, so that "tea pots" is found in "Teapots".
fn joined(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns a word without its plural "s".
fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|stem| stem.chars().count() >= AVOIDED_STEM_MIN).unwrap_or(word)
}

fn layout(name: &str) -> Option<Layout> {
    Layout::ALL.into_iter().find(|layout| format!("{layout:?}").eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_hidden_by_whole_words_of_their_names() {
        let rules = |word: &str| Rules { avoided: vec![word.to_owned()], ..Rules::default() };
        assert!(!rules("tea pots").allow_product("Clay Teapot") && !rules("teapot").allow_product("Clay Tea Pots"));
        assert!(!rules("tea").allow_product("Tea Towel") && !rules("towels").allow_product("Tea Towel"));
        assert!(rules("tea").allow_product("Steamer") && rules("pot").allow_product("Spotted Mug"));
    }
}
