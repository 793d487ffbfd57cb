//! The words for understanding edit instructions in each of the seven languages, read once from the assets.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;

use super::Target;
use crate::base::text::Color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::text::Phrases;
use crate::features::emails::composer::tokens::{Tokens, plain};
use crate::features::emails::document::Layout;

/// The vocabulary of one language for edits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    pub change: Phrases,
    pub remove: Phrases,
    pub add: Phrases,
    #[serde(rename = "move")]
    pub shift: Phrases,
    pub shorten: Phrases,
    pub lengthen: Phrases,
    pub swap: Phrases,
    pub translate: Phrases,
    /// Words between the old and the new value.
    pub to: Phrases,
    /// Conjunctions between two instructions.
    pub joiner: Phrases,
    pub subject: Phrases,
    pub preheader: Phrases,
    pub title: Phrases,
    pub eyebrow: Phrases,
    pub lead: Phrases,
    pub text: Phrases,
    pub sentence: Phrases,
    pub button: Phrases,
    pub link: Phrases,
    pub color: Phrases,
    pub background: Phrases,
    pub accent: Phrases,
    pub alt: Phrases,
    pub image: Phrases,
    pub coupon: Phrases,
    pub divider: Phrases,
    pub products: Phrases,
    pub quote: Phrases,
    pub list: Phrases,
    pub countdown: Phrases,
    pub social: Phrases,
    pub table: Phrases,
    pub heading: Phrases,
    pub story: Phrases,
    pub closing: Phrases,
    pub corners: Phrases,
    pub round: Phrases,
    pub sharp: Phrases,
    pub soft: Phrases,
    pub all: Phrases,
    pub ordinals: Vec<Phrases>,
    pub last: Phrases,
    pub up: Phrases,
    pub down: Phrases,
    pub top: Phrases,
    pub bottom: Phrases,
    pub before: Phrases,
    pub after: Phrases,
    /// Words between a part and the words that identify the part.
    pub containing: Phrases,
    pub formal: Phrases,
    pub informal: Phrases,
    pub emoji: Phrases,
    pub layout: Phrases,
    /// The names of the languages, by their codes.
    pub languages: BTreeMap<String, Phrases>,
    pub layouts: HashMap<Layout, Phrases>,
    pub colors: BTreeMap<String, Color>,
}

impl Vocabulary {
    pub fn of(language: Language) -> &'static Self {
        static ALL: OnceLock<BTreeMap<String, Vocabulary>> = OnceLock::new();
        let text = include_str!("../../../../../assets/composer/edits.toml");
        let all = ALL.get_or_init(|| toml::from_str(text).expect("a test parses every edit vocabulary"));
        all.get(language.code()).or_else(|| all.get("en")).expect("the table has English")
    }

    /// Returns how many words of an instruction are in this vocabulary.
    pub fn known(&self, words: &Tokens<'_>) -> usize {
        let verbs =
            [&self.change, &self.remove, &self.add, &self.shift, &self.shorten, &self.lengthen, &self.swap, &self.translate];
        let others = [&self.to, &self.text, &self.link, &self.color, &self.background, &self.accent, &self.corners, &self.emoji];
        let more =
            [&self.layout, &self.formal, &self.informal, &self.all, &self.last, &self.top, &self.bottom, &self.up, &self.down];
        let targets = self.targets().map(|(_, phrases)| phrases);
        let lists = verbs.into_iter().chain(others).chain(more).chain(targets);
        let in_lists = lists.map(|list| (0..words.len()).filter_map(|at| words.any(at, list)).sum::<usize>()).sum::<usize>();
        let is_color = |at: &usize| self.colors.keys().any(|name| plain(name) == words.fold(*at));
        in_lists + (0..words.len()).filter(is_color).count()
    }

    /// Returns the words for each target, with more specific targets first.
    pub fn targets(&self) -> [(Target, &Phrases); 20] {
        [
            (Target::Subject, &self.subject),
            (Target::Preheader, &self.preheader),
            (Target::Eyebrow, &self.eyebrow),
            (Target::Title, &self.title),
            (Target::Lead, &self.lead),
            (Target::Heading, &self.heading),
            (Target::Button, &self.button),
            (Target::Alt, &self.alt),
            (Target::Image, &self.image),
            (Target::Sentence, &self.sentence),
            (Target::Coupon, &self.coupon),
            (Target::Divider, &self.divider),
            (Target::Products, &self.products),
            (Target::Quote, &self.quote),
            (Target::List, &self.list),
            (Target::Countdown, &self.countdown),
            (Target::Social, &self.social),
            (Target::Table, &self.table),
            (Target::Story, &self.story),
            (Target::Closing, &self.closing),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_vocabulary() {
        for language in Language::SPOKEN {
            let words = Vocabulary::of(language);
            assert_eq!(words.ordinals.len(), 4, "{language:?}");
            assert!(words.colors.len() > 9, "{language:?}");
        }
    }
}
