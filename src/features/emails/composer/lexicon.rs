//! The words for understanding prompts in each of the seven languages, read once from the assets.
//!
//! This module contains only the words; `understand` uses them.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::Deserializer;

use super::language::Language;
use super::tokens::Tokens;
use crate::features::emails::document::{Layout, Purpose};

/// A phrase as folded words, where `*` stands for any ending or beginning of a word.
pub type Phrase = Vec<String>;

/// Phrases with the same meaning.
#[derive(Clone, Debug, Default)]
pub struct Phrases(pub Vec<Phrase>);

impl std::ops::Deref for Phrases {
    type Target = [Phrase];

    fn deref(&self) -> &[Phrase] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Phrases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::<String>::deserialize(deserializer)?;
        Ok(Self(list.iter().map(|phrase| read(phrase)).collect()))
    }
}

/// Parses a phrase from a word list. A `*` belongs to the word that it touches.
fn read(phrase: &str) -> Phrase {
    let bare = |word: &str| super::tokens::plain(word.trim_matches('*'));
    let word = |word: &str| match (word.starts_with('*'), word.ends_with('*')) {
        (true, _) => format!("*{}", bare(word)),
        (false, true) => format!("{}*", bare(word)),
        (false, false) => bare(word),
    };
    phrase.split_whitespace().map(word).collect()
}

/// The vocabulary of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lexicon {
    /// The most common words of the language, which identify it.
    pub common: Phrases,
    /// Words that start an instruction.
    pub verbs: Phrases,
    /// Words about the email itself. A sentence with such a word is an instruction.
    pub meta: Phrases,
    pub mention: Phrases,
    /// The conjunction that introduces reported statements: "that".
    pub clause: Phrases,
    pub announce: Phrases,
    /// Words for the recipients of the email.
    pub readers: Phrases,
    pub email: Phrases,
    pub series: Phrases,
    /// The numerals from one to twelve.
    pub numbers: Phrases,
    pub percent: Phrases,
    pub up_to: Phrases,
    pub off: Phrases,
    pub over: Phrases,
    pub scope: Phrases,
    pub everything: Phrases,
    pub shipping: Phrases,
    pub code: Phrases,
    /// Words that can stand between "code" and the code.
    pub code_fill: Phrases,
    pub until: Phrases,
    pub start: Phrases,
    pub range: Phrases,
    pub months: Vec<Phrases>,
    pub weekdays: Vec<Phrases>,
    /// Phrases that contain the name of a day but do not mean a day.
    pub weekday_not: Phrases,
    pub next: Phrases,
    pub today: Phrases,
    pub tomorrow: Phrases,
    /// The words "in", "days" and "day", and then the corresponding words for weeks.
    pub days_later: Vec<Phrases>,
    pub weekend: Phrases,
    pub month_end: Phrases,
    pub noon: Phrases,
    /// Words that follow an hour, such as "Uhr".
    pub hour: Phrases,
    pub am: Phrases,
    pub pm: Phrases,
    pub about: Phrases,
    pub new: Phrases,
    pub launch_of: Phrases,
    pub determiners: Phrases,
    /// Words that end a name or topic.
    pub phrase_ends: Phrases,
    pub event: Phrases,
    pub venue_label: Phrases,
    pub venue_at: Phrases,
    pub order: Phrases,
    pub total: Phrases,
    pub subject: Phrases,
    pub audience: Phrases,
    pub audience_of: Phrases,
    /// Words for an audience that are also suitable in copy addressed to that audience.
    pub dear: Phrases,
    pub formal: Phrases,
    pub informal: Phrases,
    pub emoji: Phrases,
    pub no_emoji: Phrases,
    pub short: Phrases,
    pub quote: Phrases,
    pub quote_by: Phrases,
    /// The pattern for "in German", where `{}` is the language.
    pub in_language: String,
    pub languages: BTreeMap<String, Phrases>,
    pub layouts: HashMap<Layout, Phrases>,
    pub purposes: HashMap<Purpose, Phrases>,
    pub seasons: BTreeMap<String, Phrases>,
    /// Finite verbs. Only words that contain a finite verb are a sentence.
    pub finite: Phrases,
    /// Generic nouns, such as "product".
    pub generic: Phrases,
    /// Separable verbs, whose prefix is at the end of a main clause: "um ziehen".
    pub separable: Phrases,
    pub years: Phrases,
    pub tonight: Phrases,
    /// Words for a company's rooms for visitors, such as "shop".
    pub places: Phrases,
    /// Words that precede the order deadline for timely delivery.
    pub order_by: Phrases,
    pub occasions: HashMap<Occasion, Phrases>,
}

/// An occasion for an email that is more specific than the purpose. Each occasion has its own phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    LastChance,
    /// The offer is free shipping.
    #[serde(skip)]
    FreeShipping,
    Tips,
    BackInStock,
    Thanks,
    Apology,
    Maintenance,
    Moving,
    Hours,
    Closed,
    Prices,
    Job,
    Report,
}

impl Occasion {
    /// The occasions of announcements, in order of precedence.
    pub const ANNOUNCED: [Self; 10] = [
        Self::BackInStock,
        Self::Thanks,
        Self::Apology,
        Self::Maintenance,
        Self::Moving,
        Self::Hours,
        Self::Closed,
        Self::Prices,
        Self::Job,
        Self::Report,
    ];

    /// Returns the occasion's job in the phrase banks.
    pub fn job(self) -> &'static str {
        match self {
            Self::LastChance => "sale.last",
            Self::FreeShipping => "shipping.main",
            Self::Tips => "tips.main",
            Self::BackInStock => "stock.main",
            Self::Thanks => "thanks.main",
            Self::Apology => "apology.main",
            Self::Maintenance => "maintenance.main",
            Self::Moving => "moving.main",
            Self::Hours => "hours.main",
            Self::Closed => "closed.main",
            Self::Prices => "prices.main",
            Self::Job => "job.main",
            Self::Report => "report.main",
        }
    }
}

/// Returns how clearly words for a purpose indicate that purpose: "cart" is unambiguous, "offer" is not.
pub fn weight(purpose: Purpose) -> usize {
    match purpose {
        Purpose::CartReminder | Purpose::Receipt | Purpose::ReviewRequest | Purpose::Referral | Purpose::WinBack => 6,
        Purpose::Welcome | Purpose::Event => 5,
        Purpose::Launch => 4,
        Purpose::Sale | Purpose::Newsletter => 3,
        Purpose::Seasonal | Purpose::Announcement => 2,
    }
}

/// Returns the lexicon of a language. Languages without a lexicon use the English lexicon.
pub fn of(language: Language) -> &'static Lexicon {
    static ALL: OnceLock<Vec<Lexicon>> = OnceLock::new();
    let all = ALL.get_or_init(|| Language::SPOKEN.iter().map(|language| load(*language)).collect());
    let place = Language::SPOKEN.iter().position(|other| *other == language);
    &all[place.unwrap_or(0)]
}

fn load(language: Language) -> Lexicon {
    toml::from_str(language.understanding()).expect("a test parses every word list")
}

/// Returns the language of a prompt: the language whose words and letters match the prompt best. `own` gets a small extra score.
pub fn language_of(words: &Tokens<'_>, own: Language) -> Language {
    let score = |language: Language| {
        let lexicon = of(language);
        let sample = 0..words.len().min(PROMPT_SAMPLE);
        let in_list = |phrases: &Phrases| sample.clone().filter(|at| words.any(*at, phrases).is_some()).count();
        let letters = words.text.chars().take(PROMPT_SAMPLE * 6).filter(|c| letters(language).contains(*c)).count();
        let lists = [&lexicon.verbs, &lexicon.readers, &lexicon.audience_of, &lexicon.determiners, &lexicon.hour];
        let days = lexicon.months.iter().chain(&lexicon.weekdays);
        let hints = lists.into_iter().chain(days).map(in_list).sum::<usize>();
        let purposes = lexicon.purposes.values().map(in_list).sum::<usize>();
        4 * in_list(&lexicon.common) + 2 * letters.min(4) + 2 * hints + purposes + 2 * usize::from(language == own)
    };
    Language::SPOKEN.into_iter().max_by_key(|language| (score(*language), *language == own)).unwrap_or(own)
}

/// Returns the characters that occur only in this language, or far more often than in other languages.
fn letters(language: Language) -> &'static str {
    match language {
        Language::De => "ßäöüÄÖÜ„",
        Language::Fr => "êèçœàÊÈÇÀ",
        Language::Es => "ñ¿¡Ñ",
        Language::It => "ìòù",
        Language::Pt => "ãõÃÕ",
        Language::En | Language::Nl | Language::Ar | Language::He => "",
    }
}

/// The number of words that are enough to recognize the language of a prompt.
const PROMPT_SAMPLE: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_list_is_complete() {
        for language in Language::SPOKEN {
            let lexicon = of(language);
            assert_eq!((lexicon.months.len(), lexicon.weekdays.len(), lexicon.numbers.len()), (12, 7, 12), "{language:?}");
            assert!(Purpose::ALL.iter().all(|purpose| lexicon.purposes.contains_key(purpose)), "{language:?}");
            assert_eq!(lexicon.days_later.len(), 2, "{language:?}");
            assert!(lexicon.days_later.iter().all(|words| words.len() == 3), "{language:?}");
            assert!(lexicon.in_language.contains("{}"), "{language:?}");
        }
    }

    #[test]
    fn the_language_of_a_prompt_follows_from_its_common_words() {
        for (prompt, language) in [
            ("Write a welcome email for our new customers", Language::En),
            ("Schreibe eine E-Mail zum Sommerfest für unsere Kunden", Language::De),
            ("Écris un e-mail pour annoncer notre nouvelle collection", Language::Fr),
            ("Escribe un correo para anunciar nuestra nueva colección", Language::Es),
            ("Scrivi una mail per annunciare la nostra nuova collezione", Language::It),
            ("Escreva um e-mail para anunciar a nossa nova coleção", Language::Pt),
            ("Schrijf een e-mail om onze nieuwe collectie aan te kondigen", Language::Nl),
            ("Freundliche Erinnerung an den Warenkorb", Language::De),
            ("Mail an inaktive Abonnenten", Language::De),
            ("20%", Language::En),
        ] {
            assert_eq!(language_of(&Tokens::read(prompt), Language::En), language, "{prompt}");
        }
    }
}
