//! The languages of the composer and their phrase banks.
//!
//! A phrase bank is flat: each key, such as `sale.main.subject`, has a list of phrases. This module loads the phrases; `phrases` selects
//! and fills them.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::base::locale::LanguageTag;

/// A language with its own phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    En,
    De,
    Fr,
    Es,
    It,
    Pt,
    Nl,
    /// This language has only a few phrases; see `is_complete`.
    Ar,
    /// This language has only a few phrases; see `is_complete`.
    He,
}

impl Language {
    /// The languages in which the composer writes complete copy.
    pub const SPOKEN: [Self; 7] = [Self::En, Self::De, Self::Fr, Self::Es, Self::It, Self::Pt, Self::Nl];
    pub const ALL: [Self; 9] = [Self::En, Self::De, Self::Fr, Self::Es, Self::It, Self::Pt, Self::Nl, Self::Ar, Self::He];

    /// Returns the language of a tag, if the composer has phrases in that language.
    pub fn of(tag: &LanguageTag) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == tag.primary())
    }

    /// Returns the ISO 639-1 code of the language.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
            Self::It => "it",
            Self::Pt => "pt",
            Self::Nl => "nl",
            Self::Ar => "ar",
            Self::He => "he",
        }
    }

    pub fn tag(self) -> LanguageTag {
        LanguageTag::parse(self.code()).expect("every code in this match is an ISO 639-1 code")
    }

    pub fn english_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::De => "German",
            Self::Fr => "French",
            Self::Es => "Spanish",
            Self::It => "Italian",
            Self::Pt => "Portuguese",
            Self::Nl => "Dutch",
            Self::Ar => "Arabic",
            Self::He => "Hebrew",
        }
    }

    /// Returns whether the language has phrases for every purpose. Other languages have one set of phrases for all purposes, used with the
    /// brand's own text.
    pub fn is_complete(self) -> bool {
        Self::SPOKEN.contains(&self)
    }

    /// Returns whether the name of a day can replace a date in a phrase: "until Sunday". In other languages, a date needs an
    /// article, but the name of a day does not.
    pub fn names_days(self) -> bool {
        matches!(self, Self::En | Self::De | Self::Nl | Self::Es | Self::Pt)
    }

    /// Returns the words for the first person plural. Brands that speak in another grammatical person avoid these words if possible.
    pub fn first_person(self) -> &'static [&'static str] {
        match self {
            Self::En => &["we", "us", "our", "ours", "we're", "we've", "we'd", "we'll"],
            Self::De => &["wir", "uns", "unser", "unsere", "unserer", "unserem", "unseren"],
            Self::Fr => &["nous", "notre", "nos"],
            Self::Es => &["nosotros", "nos", "nuestra", "nuestro", "nuestras", "nuestros"],
            Self::It => &["noi", "ci", "nostra", "nostro", "nostri", "nostre"],
            Self::Pt => &["nós", "nos", "nossa", "nosso", "nossas", "nossos"],
            Self::Nl => &["wij", "we", "ons", "onze"],
            Self::Ar | Self::He => &[],
        }
    }

    fn copy(self) -> &'static str {
        match self {
            Self::En => include_str!("../../../../assets/composer/en.toml"),
            Self::De => include_str!("../../../../assets/composer/de.toml"),
            Self::Fr => include_str!("../../../../assets/composer/fr.toml"),
            Self::Es => include_str!("../../../../assets/composer/es.toml"),
            Self::It => include_str!("../../../../assets/composer/it.toml"),
            Self::Pt => include_str!("../../../../assets/composer/pt.toml"),
            Self::Nl => include_str!("../../../../assets/composer/nl.toml"),
            Self::Ar => include_str!("../../../../assets/composer/ar.toml"),
            Self::He => include_str!("../../../../assets/composer/he.toml"),
        }
    }
}

/// The notation of numbers, money and dates in a language.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// The pattern of a percentage, where `{n}` is the number.
    pub percent: String,
    /// The pattern of an offer, where `{saving}` is a percentage or an amount, optionally with "up to".
    pub offer: String,
    /// The pattern of a saving, where `{n}` is the percentage or the amount.
    pub saving: String,
    pub saving_up_to: String,
    /// The pattern of a percentage in a sentence, if it differs from `saving`: "il {n}".
    #[serde(default)]
    pub percent_saving: Option<String>,
    #[serde(default)]
    pub percent_saving_up_to: Option<String>,
    /// The pattern of a percentage offer in a sentence, if it differs from `offer`: "un {offer}", "uno sconto del {n}".
    #[serde(default)]
    pub percent_deal: Option<String>,
    #[serde(default)]
    pub percent_deal_up_to: Option<String>,
    #[serde(default)]
    pub amount_deal: Option<String>,
    #[serde(default)]
    pub amount_deal_up_to: Option<String>,
    /// The pattern of an offer with its scope, where `{offer}` is the offer and `{scope}` is the scope in the prompt's words.
    pub deal: String,
    /// The pattern of a sum of money, where `{n}` is the number and `{symbol}` is the currency symbol.
    pub money: String,
    pub decimal: String,
    pub thousands: String,
    pub date: String,
    pub date_year: String,
    pub day: String,
    pub day_year: String,
    pub time: String,
    pub time_full: String,
    /// The word for midnight, if the language writes midnight as a word.
    #[serde(default)]
    pub midnight: Option<String>,
    pub time_range: String,
    /// The pattern of a range of days.
    pub range: String,
    /// The form of the first day of a month: "1er".
    pub ordinal_first: String,
    pub months: Vec<String>,
    pub weekdays: Vec<String>,
}

/// The phrases of a language.
#[derive(Debug)]
pub struct Bank {
    pub format: Format,
    phrases: HashMap<String, Vec<String>>,
    /// The spellings of each region that differ from the bank's: `favorites` is `favourites` in GB.
    regions: HashMap<String, Vec<(String, String)>>,
    /// The notation of numbers and days in each region that differs from the language's.
    formats: HashMap<String, Format>,
}

impl Bank {
    pub fn of(language: Language) -> &'static Self {
        static ALL: [OnceLock<Bank>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
        let place = Language::ALL.iter().position(|other| *other == language).expect("the list has every language");
        ALL[place].get_or_init(|| Self::read(language.copy()))
    }

    fn read(text: &str) -> Self {
        let mut table: toml::Table = toml::from_str(text).expect("a test parses every phrase bank");
        let format = table.remove("format").expect("every phrase bank has a [format] table");
        let formats = formats(&format, table.remove("region_formats"));
        let format = format.try_into().expect("a test parses every phrase bank");
        let mut phrases = HashMap::new();
        let mut regions = HashMap::new();
        if let Some(toml::Value::Table(table)) = table.remove("regions") {
            for (region, spellings) in table {
                let toml::Value::Table(spellings) = spellings else { continue };
                let pairs = spellings.into_iter().map(|(word, other)| (word, other.as_str().unwrap_or_default().to_owned()));
                regions.insert(region, pairs.collect());
            }
        }
        collect("", &toml::Value::Table(table), &mut phrases);
        Self { format, phrases, regions, formats }
    }

    /// Returns the phrases for a key; empty if the bank has no phrases for the key.
    pub fn phrases(&self, place: &str) -> &[String] {
        self.phrases.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns the notation of numbers and days in a region.
    pub fn format(&self, region: Option<&str>) -> &Format {
        region.and_then(|region| self.formats.get(region)).unwrap_or(&self.format)
    }

    /// Returns the spellings of a region that differ from the bank's.
    pub fn spellings(&self, region: &str) -> &[(String, String)] {
        self.regions.get(region).map_or(&[], Vec::as_slice)
    }

    /// Returns the season that folded text names first. If several names start at the same position, the longest one takes precedence.
    pub fn season(&self, folded: &str) -> Option<String> {
        self.first_named(folded, "season.")
    }

    /// Returns the key of the button phrase that suits folded text about a link.
    pub fn action(&self, folded: &str) -> Option<String> {
        self.first_named(folded, "action.").map(|name| format!("action.{name}.button"))
    }

    /// Returns whether the text contains one of the words under a key.
    pub fn has_word(&self, place: &str, text: &str) -> bool {
        let folded = super::tokens::folded(text);
        self.phrases(place).iter().any(|word| named(&folded, word).is_some())
    }

    /// Returns the name of the table whose word occurs first in folded text. Only tables whose keys start with `prefix` are searched.
    fn first_named(&self, folded: &str, prefix: &str) -> Option<String> {
        let name = |place: &str| place.strip_prefix(prefix)?.strip_suffix(".words").map(str::to_owned);
        let found = self.phrases.iter().filter_map(|(place, words)| {
            let name = name(place)?;
            let at = words.iter().filter_map(|word| Some((named(folded, word)?, std::cmp::Reverse(word.len())))).min()?;
            Some((at, name))
        });
        found.min().map(|(_, name)| name)
    }

    pub fn seasons_in_any_language(folded: &str) -> Option<String> {
        Language::SPOKEN.into_iter().find_map(|language| Self::of(language).season(folded))
    }

    pub fn all(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.phrases.iter()
    }
}

/// Returns the byte position of a word in folded text. A `*` at the end of the word stands for any ending.
fn named(folded: &str, word: &str) -> Option<usize> {
    let bare = super::tokens::folded(word);
    folded.find(if word.ends_with('*') { bare.trim_end() } else { &bare })
}

/// Returns the notation of each region: the language's notation with the region's differences.
fn formats(format: &toml::Value, regions: Option<toml::Value>) -> HashMap<String, Format> {
    let Some(toml::Value::Table(regions)) = regions else { return HashMap::new() };
    let merged = |(region, own): (String, toml::Value)| {
        let mut table = format.as_table().cloned().unwrap_or_default();
        table.extend(own.as_table().cloned().unwrap_or_default());
        let format = toml::Value::Table(table).try_into().expect("a test parses every phrase bank");
        (region, format)
    };
    regions.into_iter().map(merged).collect()
}

fn collect(path: &str, value: &toml::Value, found: &mut HashMap<String, Vec<String>>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(name, value)| collect(&below(name), value, found)),
        toml::Value::Array(items) if items.iter().any(toml::Value::is_array) => {
            items.iter().enumerate().for_each(|(index, item)| collect(&below(&index.to_string()), item, found));
        }
        toml::Value::Array(items) => {
            found.insert(path.to_owned(), items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect());
        }
        toml::Value::String(text) => {
            found.insert(path.to_owned(), vec![text.clone()]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn complete_banks_have_phrases_for_the_same_keys() {
        let places = |language| Bank::of(language).all().map(|(place, _)| place.clone()).collect::<BTreeSet<_>>();
        let english = places(Language::En);
        assert!(english.len() > 300, "{}", english.len());
        for language in Language::SPOKEN {
            let own = places(language);
            let differing: Vec<_> = english.symmetric_difference(&own).collect();
            assert!(differing.is_empty(), "{language:?}: {differing:?}");
        }
    }

    #[test]
    fn every_key_has_phrases_and_brackets_are_closed() {
        for language in Language::ALL {
            for (place, phrases) in Bank::of(language).all() {
                assert!(!phrases.is_empty(), "{language:?} {place}");
                for phrase in phrases {
                    for (open, close) in [('{', '}'), ('[', ']')] {
                        assert_eq!(phrase.matches(open).count(), phrase.matches(close).count(), "{language:?} {place}: {phrase}");
                    }
                    assert_eq!(phrase.matches('[').count(), phrase.matches('|').count(), "{language:?} {place}: {phrase}");
                    assert_eq!(phrase.trim(), phrase, "{language:?} {place}");
                    assert!(!phrase.contains("  "), "{language:?} {place}: {phrase}");
                }
            }
        }
    }
}
