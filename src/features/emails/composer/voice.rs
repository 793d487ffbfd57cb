//! The voice of an email: familiar or formal, in which grammatical person, with or without emoji. From the brand, unless the prompt says
//! otherwise.

use super::understand::ParsedPrompt;
use crate::features::projects::brand::{Brand, BrandFormality, BrandPerson};

/// The choices that phrases follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    pub formal: bool,
    pub person: BrandPerson,
    pub emoji: bool,
    pub sentences: Sentences,
}

/// The length of the brand's sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentences {
    Short,
    Any,
    Long,
}

/// A brand with fewer words per sentence writes tersely.
const SHORT_BELOW: f32 = 10.0;
/// A brand with more words per sentence writes at length.
const LONG_ABOVE: f32 = 18.0;

impl Voice {
    pub fn of(brand: &Brand, understood: &ParsedPrompt, language: super::language::Language) -> Self {
        let voice = &brand.voice;
        let formal = understood.formal.unwrap_or_else(|| match voice.formality {
            Some(BrandFormality::Formal) => true,
            Some(BrandFormality::Casual) => false,
            // For an unknown voice, use the form that most companies use in the language.
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
