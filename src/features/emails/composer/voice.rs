//! How an email speaks: familiar or formal, as whom, with emoji or without. From the brand, unless the prompt asks otherwise.

use super::understand::ParsedPrompt;
use crate::features::projects::brand::{Brand, BrandFormality, BrandPerson};

/// Choices that the phrases follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    pub formal: bool,
    pub person: BrandPerson,
    pub emoji: bool,
    pub sentences: Sentences,
}

/// How long the brand's sentences are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentences {
    Short,
    Any,
    Long,
}

/// Below this many words per sentence a brand is terse.
const SHORT_BELOW: f32 = 10.0;
/// Above this many words per sentence a brand takes its time.
const LONG_ABOVE: f32 = 18.0;

impl Voice {
    pub fn of(brand: &Brand, understood: &ParsedPrompt, language: super::language::Language) -> Self {
        let voice = &brand.voice;
        let formal = understood.formal.unwrap_or_else(|| match voice.formality {
            Some(BrandFormality::Formal) => true,
            Some(BrandFormality::Casual) => false,
            // Who has not been heard yet is addressed as most companies of the language do.
            Some(BrandFormality::Neutral) | None => formal_by_default(language),
        });
        let sentences = match voice.sentence_words {
            _ if understood.short => Sentences::Short,
            Some(words) if words < SHORT_BELOW => Sentences::Short,
            Some(words) if words > LONG_ABOVE => Sentences::Long,
            Some(_) | None => Sentences::Any,
        };
        let emoji = understood.emoji.unwrap_or(voice.emoji);
        Self { formal, person: voice.person.unwrap_or(BrandPerson::We), emoji, sentences }
    }
}

fn formal_by_default(language: super::language::Language) -> bool {
    use super::language::Language;
    matches!(language, Language::De | Language::Fr)
}
