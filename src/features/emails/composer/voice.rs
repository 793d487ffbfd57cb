//! Chooses the voice of an email. The brand determines the voice, unless the brief requests a different voice.

use super::rules::Rules;
use crate::features::projects::brand::{Brand, BrandFormality, BrandPerson};

/// The form of address, the grammatical person, the use of emoji and the preferred sentence length of an email.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    pub formal: bool,
    pub person: BrandPerson,
    pub emoji: bool,
    pub sentences: Sentences,
}

/// The preferred length of sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sentences {
    Short,
    Any,
    Long,
}

/// The number of words per sentence below which a brand's sentences count as short.
const SHORT_BELOW: f32 = 10.0;
/// The number of words per sentence above which a brand's sentences count as long.
const LONG_ABOVE: f32 = 18.0;

impl Voice {
    pub fn of(brand: &Brand, rules: &Rules, language: super::language::Language) -> Self {
        let voice = &brand.voice;
        let formal = rules.formal.unwrap_or_else(|| match voice.formality {
            Some(BrandFormality::Formal) => true,
            Some(BrandFormality::Casual) => false,
            // If the brand is neither formal nor casual, the email uses the form of address that most companies use in the email's
            // language.
            Some(BrandFormality::Neutral) | None => formal_by_default(language),
        });
        let sentences = match voice.sentence_words {
            _ if rules.words_max.is_some() => Sentences::Short,
            Some(words) if words < SHORT_BELOW => Sentences::Short,
            Some(words) if words > LONG_ABOVE => Sentences::Long,
            Some(_) | None => Sentences::Any,
        };
        let emoji = rules.emoji.unwrap_or(voice.emoji);
        Self { formal, person: voice.person.unwrap_or(BrandPerson::We), emoji, sentences }
    }
}

fn formal_by_default(language: super::language::Language) -> bool {
    use super::language::Language;
    matches!(language, Language::De | Language::Fr)
}
