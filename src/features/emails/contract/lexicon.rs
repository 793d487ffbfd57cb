//! The words and patterns of one language that the contract uses to read numbers, dates and times.

use std::collections::HashMap;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use super::text::words;

/// The languages that have a word table, most common first. Emails in other languages are read with the first table.
const TABLES: [(&str, &str); 9] = [
    ("en", include_str!("../../../../assets/contract/en.toml")),
    ("de", include_str!("../../../../assets/contract/de.toml")),
    ("fr", include_str!("../../../../assets/contract/fr.toml")),
    ("es", include_str!("../../../../assets/contract/es.toml")),
    ("it", include_str!("../../../../assets/contract/it.toml")),
    ("pt", include_str!("../../../../assets/contract/pt.toml")),
    ("nl", include_str!("../../../../assets/contract/nl.toml")),
    ("ar", include_str!("../../../../assets/contract/ar.toml")),
    ("he", include_str!("../../../../assets/contract/he.toml")),
];

/// The maximum number of words that are examined to recognize the language of a text.
const LANGUAGE_WORDS_MAX: usize = 200;

/// The words of a language, folded.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    months: Vec<Vec<String>>,
    weekdays: Vec<Vec<String>>,
    /// Names of weekdays that also have other meanings. They denote a day only next to a date.
    weekday_not: Vec<String>,
    pub numbers: HashMap<String, u32>,
    /// The word that joins the units and the tens in languages that put the units first: "und" in "fünfundzwanzig".
    tens_join: Option<String>,
    percent: Vec<String>,
    /// Phrases for 50 percent.
    half: Vec<String>,
    range: Vec<String>,
    of: Vec<String>,
    hour_before: Vec<String>,
    hour_after: Vec<String>,
    noon: Vec<String>,
    midnight: Vec<String>,
    pub today: Vec<String>,
    pub tomorrow: Vec<String>,
    code: Vec<String>,
    /// Words that make the number before them a discount.
    pub off: Vec<String>,
    pub offer_starts: Vec<String>,
    pub offer_ends: Vec<String>,
    /// Words directly before the deadline for orders, registrations or replies.
    pub order_by: Vec<String>,
    /// Words directly before the date of an event.
    pub event: Vec<String>,
    /// Words directly before the first day of a closure.
    pub closed: Vec<String>,
    /// Words directly before the day of a reopening.
    pub reopens: Vec<String>,
    /// Words directly before the first day of new prices.
    pub price_changes: Vec<String>,
    /// Words that cannot end a complete line.
    pub dangling: Vec<String>,
    pub stop: Vec<String>,
    pub negations: Vec<String>,
    /// Words that address someone informally.
    pub informal: Vec<String>,
    /// Words that address someone formally.
    pub formal: Vec<String>,
}

/// The patterns of a language. Text is folded before they are matched.
#[derive(Debug)]
pub struct Patterns {
    /// Days before their month: "25. und 26. Dezember".
    pub day_first: Regex,
    /// Days after their month: "December 17".
    pub month_first: Option<Regex>,
    /// A weekday at the end of the text.
    pub weekday_last: Regex,
    pub weekday: Regex,
    pub percent: Regex,
    pub half: Option<Regex>,
    pub clock: Regex,
    /// The first hour of a range: "2 to" in "2 to 5 pm".
    pub clock_before: Regex,
    /// An hour without a unit: "at 7".
    pub clock_bare: Option<Regex>,
    pub noon: Option<Regex>,
    pub midnight: Option<Regex>,
    pub number_word: Option<Regex>,
    pub today: Option<Regex>,
    pub tomorrow: Option<Regex>,
    /// A code after its label. This pattern matches the text as written.
    pub code: Regex,
}

/// A language with its words and patterns.
#[derive(Debug)]
pub struct Words {
    pub code: &'static str,
    pub table: Table,
    /// The patterns, which are compiled when text in this language is first read.
    patterns: OnceLock<Patterns>,
}

impl Words {
    /// Returns the words of the language with this primary subtag, or the English words if the language has no table.
    pub fn of(language: &str) -> &'static Self {
        static ALL: [OnceLock<Words>; TABLES.len()] = [const { OnceLock::new() }; TABLES.len()];
        let place = TABLES.iter().position(|(code, _)| *code == language).unwrap_or(0);
        ALL[place].get_or_init(|| {
            let (code, text) = TABLES[place];
            let mut table: Table = toml::from_str(text).expect("a test parses every table");
            table.fold();
            Words { code, table, patterns: OnceLock::new() }
        })
    }

    pub fn patterns(&self) -> &Patterns {
        self.patterns.get_or_init(|| Patterns::of(&self.table, self.code))
    }

    /// Returns the language of the text, judged by its common words; `None` if the language is unclear.
    pub fn language_of(folded: &str) -> Option<&'static Self> {
        let all: Vec<&str> = words(folded).take(LANGUAGE_WORDS_MAX).collect();
        let count = |code: &str| {
            let own = Self::of(code);
            all.iter().filter(|word| own.table.stop.iter().any(|stop| stop == *word)).count()
        };
        let mut counts: Vec<(usize, &str)> = TABLES.iter().map(|(code, _)| (count(code), *code)).collect();
        counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let [(first, code), (second, _), ..] = counts[..] else { return None };
        (first >= 2 && first > second).then(|| Self::of(code))
    }

    /// Returns whether the word names a month or a weekday in another language, but not in `own`.
    pub fn is_foreign_day(word: &str, own: &Self) -> bool {
        let names = |words: &Self| words.month(word).is_some() || words.weekday(word).is_some() && !words.is_vague_weekday(word);
        !names(own) && TABLES.iter().any(|(code, _)| names(Self::of(code)))
    }

    /// Returns the number, from 1, of the month with this name.
    pub fn month(&self, name: &str) -> Option<i8> {
        place(&self.table.months, name)
    }

    /// Returns the number of the weekday with this name, from 1 for Monday.
    pub fn weekday(&self, name: &str) -> Option<i8> {
        place(&self.table.weekdays, name)
    }

    /// Returns whether the name of this weekday also has another meaning.
    pub fn is_vague_weekday(&self, name: &str) -> bool {
        self.table.weekday_not.iter().any(|vague| vague == name)
    }

    pub fn is_stop(&self, word: &str) -> bool {
        self.table.stop.iter().any(|stop| stop == word)
    }
}

fn place(names: &[Vec<String>], name: &str) -> Option<i8> {
    names.iter().position(|forms| forms.iter().any(|form| form == name)).and_then(|at| i8::try_from(at + 1).ok())
}

impl Table {
    /// Folds the words that are compared with folded text, and adds the compound numbers, such as "twenty-five".
    fn fold(&mut self) {
        let lists = [
            &mut self.percent,
            &mut self.half,
            &mut self.range,
            &mut self.of,
            &mut self.hour_before,
            &mut self.hour_after,
            &mut self.noon,
            &mut self.midnight,
            &mut self.today,
            &mut self.tomorrow,
        ];
        let own = lists.into_iter().chain(self.months.iter_mut()).chain(self.weekdays.iter_mut());
        own.flatten().for_each(|word| *word = super::text::fold(word));
        let small = |low: u32, high: u32| self.numbers.iter().filter(move |(_, value)| (low..=high).contains(*value));
        let mut more = Vec::new();
        for (ten, tens) in small(20, 90).filter(|(_, tens)| *tens % 10 == 0) {
            for (unit, units) in small(1, 9) {
                more.push(match &self.tens_join {
                    Some(join) => (format!("{unit}{join}{ten}"), tens + units),
                    None => (format!("{ten}-{unit}"), tens + units),
                });
            }
        }
        self.numbers.extend(more);
    }
}

/// A number with optional thousands separators and up to two decimals.
pub const NUMBER: &str = r"(?:[0-9]{1,3}(?:[ '.,][0-9]{3})+(?:[.,][0-9]{1,2})?|[0-9]+(?:[.,][0-9]{1,2})?)";
const ORDINAL: &str = r"(?:st|nd|rd|th|er|e|o|a|°|\.)?";
/// The languages in which "am" or "pm" can follow an hour. In German, "am" is a preposition.
const HALF_DAY_LANGUAGES: [&str; 3] = ["en", "es", "pt"];
const HALF_DAY: &str = r"(?P<ap>am\b|pm\b|a\.\s?m\.?|p\.\s?m\.?)";
const NEVER: &str = r"(?P<ap>[^\s\S])";

impl Patterns {
    fn of(table: &Table, code: &str) -> Self {
        let half_day = |name: &str| {
            let pattern = if HALF_DAY_LANGUAGES.contains(&code) { HALF_DAY } else { NEVER };
            pattern.replace("<ap>", &format!("<{name}>"))
        };
        let months = any(table.months.iter().flatten());
        let weekdays = any(table.weekdays.iter().flatten());
        let range = any(table.range.iter());
        let join =
            format!(r"(?:\s*[-&+/,]\s*|\s+{range}\s+)(?:{weekdays}[,.]?\s+)?(?:the |den |dem |le |el |il |o |de |du |del )?");
        let of = match table.of.is_empty() {
            true => String::new(),
            false => format!(r"(?:{}\s+)?", any(table.of.iter())),
        };
        let (before, after) = (any(table.hour_before.iter()), any(table.hour_after.iter()));
        let after = if table.hour_after.is_empty() { r"h\b".to_owned() } else { format!(r"(?:{after}|h)\b") };
        let number_words = any(table.numbers.keys());
        let year = r"(?:,?\s+(?:de |del |of )?(?P<y>20[0-9]{2})\b)?";
        let percent = any(table.percent.iter());
        Self {
            day_first: regex(&format!(
                r"\b(?P<days>(?:[0-9]{{1,2}}{ORDINAL}{join})*[0-9]{{1,2}}){ORDINAL}\s*{of}(?P<m>{months})\b\.?{year}"
            )),
            month_first: (code == "en").then(|| {
                regex(&format!(
                    r"\b(?P<m>{months})\.?\s+(?:the )?(?P<days>[0-9]{{1,2}}(?:st|nd|rd|th)?\b(?:(?:\s*[-&+/]\s*|\s+{range}\s+)[0-9]{{1,2}}(?:st|nd|rd|th)?\b)*){year}"
                ))
            }),
            weekday_last: regex(&format!(r"\b(?P<w>{weekdays})[.,]?\s*(?:\(|the |den |dem |le |el |il |o |dia )?$")),
            weekday: regex(&format!(r"\b(?P<w>{weekdays})s?\b")),
            percent: regex(&format!(r"(?:\b(?P<n>{NUMBER})\s?(?:%|{percent}\b)|\b(?P<word>{number_words})\s+{percent}\b)")),
            half: list(&table.half),
            clock: regex(&format!(
                r"\b(?P<h>[0-9]{{1,2}})(?:(?::|\s?h\s?)(?P<m1>[0-5][0-9])\s*(?:{}|{after})?|\.(?P<m2>[0-5][0-9])\s*(?:{}|{after})|\s*(?:{}|{after}))",
                half_day("ap"),
                half_day("ap2"),
                half_day("ap3"),
            )),
            clock_before: regex(&format!(
                r"(?:^|[^0-9.,:])(?P<h>[0-9]{{1,2}})(?:[:.h](?P<m>[0-5][0-9]))?\s*(?:uhr|h)?(?:\s*[-/&]\s*|\s+{range}\s+)$"
            )),
            clock_bare: (!table.hour_before.is_empty())
                .then(|| regex(&format!(r"\b{before}\s+(?P<h>[0-9]{{1,2}})(?:\.(?P<m>[0-5][0-9]))?\b"))),
            noon: list(&table.noon),
            midnight: list(&table.midnight),
            number_word: (!table.numbers.is_empty()).then(|| regex(&format!(r"\b(?P<word>{number_words})\b"))),
            today: list(&table.today),
            tomorrow: list(&table.tomorrow),
            code: regex(&format!(
                r#"\b(?i:{})(?-i)[:\s]+["'„“”‚‘«]?(?P<code>[A-Z][A-Z0-9]{{2,}}(?:-[A-Z0-9]+)*)\b"#,
                any(table.code.iter())
            )),
        }
    }
}

/// Returns a pattern that matches any of these phrases. Without phrases, the pattern matches nothing.
fn any<'a>(phrases: impl Iterator<Item = &'a String>) -> String {
    let mut all: Vec<&String> = phrases.collect();
    if all.is_empty() {
        return "(?:[^\\s\\S])".to_owned();
    }
    // The first alternative that matches wins, so longer phrases come first.
    all.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    format!("(?:{})", all.into_iter().map(|phrase| regex::escape(phrase)).collect::<Vec<_>>().join("|"))
}

fn list(phrases: &[String]) -> Option<Regex> {
    (!phrases.is_empty()).then(|| regex(&format!(r"\b{}\b", any(phrases.iter()))))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a test compiles every pattern")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_read_and_its_patterns_compile() {
        for (code, _) in TABLES {
            let words = Words::of(code);
            assert_eq!(words.code, code);
            assert!(words.patterns().weekday.is_match(&words.table.weekdays[0][0]), "{code}");
            assert_eq!((words.table.months.len(), words.table.weekdays.len()), (12, 7), "{code}");
        }
        assert_eq!(Words::of("de").table.numbers.get("funfundzwanzig"), Some(&25));
        assert_eq!(Words::of("en").table.numbers.get("twenty-five"), Some(&25));
        assert_eq!(Words::of("pl").code, "en");
    }

    #[test]
    fn the_language_of_a_text_is_known_by_its_common_words() {
        let language = |text: &str| Words::language_of(text).map(|words| words.code);
        assert_eq!(language("wir haben am montag geschlossen und sind nicht da"), Some("de"));
        assert_eq!(language("nous sommes dans le jardin avec vous"), Some("fr"));
        assert_eq!(language("tide mug"), None);
    }
}
