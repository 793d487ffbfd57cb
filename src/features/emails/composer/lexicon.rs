//! The words by which prompts are understood, for each of the seven languages. Read once from the assets.
//!
//! It knows words, not what to make of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use serde::Deserialize;
use serde::de::Deserializer;

use super::language::Language;
use super::tokens::Tokens;
use crate::features::emails::document::{Layout, Purpose};

/// A phrase as folded words, each perhaps with `*` for any ending or any beginning.
pub type Phrase = Vec<String>;

/// Phrases that mean the same.
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

/// A phrase of an asset as words. A `*` belongs to the word it touches.
fn read(phrase: &str) -> Phrase {
    let bare = |word: &str| super::tokens::plain(word.trim_matches('*'));
    let word = |word: &str| match (word.starts_with('*'), word.ends_with('*')) {
        (true, _) => format!("*{}", bare(word)),
        (false, true) => format!("{}*", bare(word)),
        (false, false) => bare(word),
    };
    phrase.split_whitespace().map(word).collect()
}

/// Everything known of one language's words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lexicon {
    /// The commonest words, by which the language is known.
    pub common: Phrases,
    /// Words with which people begin to tell what to do.
    pub verbs: Phrases,
    /// Words about the email itself: a sentence with one is an instruction.
    pub meta: Phrases,
    pub mention: Phrases,
    /// The word between telling and what is told: "that".
    pub clause: Phrases,
    pub announce: Phrases,
    /// Those who will read the email, as the prompt calls them.
    pub readers: Phrases,
    pub email: Phrases,
    pub series: Phrases,
    /// One to twelve.
    pub numbers: Phrases,
    pub percent: Phrases,
    pub up_to: Phrases,
    pub off: Phrases,
    pub over: Phrases,
    pub scope: Phrases,
    pub everything: Phrases,
    pub shipping: Phrases,
    pub code: Phrases,
    /// Words between "code" and the code.
    pub code_fill: Phrases,
    pub until: Phrases,
    pub start: Phrases,
    pub range: Phrases,
    pub months: Vec<Phrases>,
    pub weekdays: Vec<Phrases>,
    /// Phrases with a day's name that mean no day.
    pub weekday_not: Phrases,
    pub next: Phrases,
    pub today: Phrases,
    pub tomorrow: Phrases,
    /// "in", "days", "day"; then the same for weeks.
    pub days_later: Vec<Phrases>,
    pub weekend: Phrases,
    pub month_end: Phrases,
    pub noon: Phrases,
    /// Words after an hour.
    pub hour: Phrases,
    pub am: Phrases,
    pub pm: Phrases,
    pub about: Phrases,
    pub new: Phrases,
    pub launch_of: Phrases,
    pub determiners: Phrases,
    /// Words at which a name or topic ends.
    pub phrase_ends: Phrases,
    pub event: Phrases,
    pub venue_label: Phrases,
    pub venue_at: Phrases,
    pub order: Phrases,
    pub total: Phrases,
    pub subject: Phrases,
    pub audience: Phrases,
    pub audience_of: Phrases,
    /// Words for an audience that its members like to hear.
    pub dear: Phrases,
    pub formal: Phrases,
    pub informal: Phrases,
    pub emoji: Phrases,
    pub no_emoji: Phrases,
    pub short: Phrases,
    pub quote: Phrases,
    pub quote_by: Phrases,
    /// How one says "in German": `{}` is the language.
    pub in_language: String,
    pub languages: BTreeMap<String, Phrases>,
    pub layouts: HashMap<Layout, Phrases>,
    pub purposes: HashMap<Purpose, Phrases>,
    pub seasons: BTreeMap<String, Phrases>,
    /// Verbs that make a sentence of some words.
    pub finite: Phrases,
    /// Nouns that name nothing: "product".
    pub generic: Phrases,
    /// Verbs whose first part stands at the end of a main clause: "um ziehen".
    pub separable: Phrases,
    pub years: Phrases,
    pub tonight: Phrases,
    /// Rooms of a company to which it invites: "shop".
    pub places: Phrases,
    /// Words before the last day on which orders arrive in time.
    pub order_by: Phrases,
    pub occasions: HashMap<Occasion, Phrases>,
}

/// What an email tells of, where that is closer than its purpose. Each has its own phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occasion {
    LastChance,
    /// An offer of its own.
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
    /// Those of announcements, the surest first.
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

    /// Its job in the phrase banks.
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

/// How surely a word of a purpose means it: "cart" can hardly mean anything else, "offer" can.
pub fn weight(purpose: Purpose) -> usize {
    match purpose {
        Purpose::CartReminder | Purpose::Receipt | Purpose::ReviewRequest | Purpose::Referral | Purpose::WinBack => 6,
        Purpose::Welcome | Purpose::Event => 5,
        Purpose::Launch => 4,
        Purpose::Sale | Purpose::Newsletter => 3,
        Purpose::Seasonal | Purpose::Announcement => 2,
    }
}

/// The words of a language. Languages without words of their own share those of English.
pub fn of(language: Language) -> &'static Lexicon {
    static ALL: OnceLock<Vec<Lexicon>> = OnceLock::new();
    let all = ALL.get_or_init(|| Language::SPOKEN.iter().map(|language| load(*language)).collect());
    let place = Language::SPOKEN.iter().position(|other| *other == language);
    &all[place.unwrap_or(0)]
}

fn load(language: Language) -> Lexicon {
    toml::from_str(language.understanding()).expect("a test reads every word list")
}

/// The language in which a prompt is written: whose words it has most of. Where two have as many, it is `own`.
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

/// Letters that only this language of the seven has, or that it has far more often.
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

/// Words of a prompt that are enough to know its language.
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
    fn prompts_are_known_by_their_common_words() {
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
