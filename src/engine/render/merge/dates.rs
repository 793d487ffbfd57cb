//! Formats dates with the month and day names of a language. The long names come from the composer's copy files.
//!
//! The template sets the format of a date. Only `%B`, `%b` (or `%h`), `%A` and `%a` depend on the language.

use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use serde::Deserialize;

/// A language whose month and day names are known: an index into [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(usize);

struct Row {
    /// The language subtag, such as `de`.
    code: &'static str,
    /// The composer's copy file, which contains the long names.
    copy: &'static str,
    months_short: [&'static str; 12],
    /// The short names of the days, starting with Monday.
    weekdays_short: [&'static str; 7],
}

const LANGUAGES: usize = 7;

/// TABLE: the languages whose dates can be formatted, with the short names of their months and days. English is first.
static TABLE: [Row; LANGUAGES] = [
    Row {
        code: "en",
        copy: include_str!("../../../../assets/composer/en.toml"),
        months_short: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
        weekdays_short: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    },
    Row {
        code: "de",
        copy: include_str!("../../../../assets/composer/de.toml"),
        months_short: ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."],
        weekdays_short: ["Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa.", "So."],
    },
    Row {
        code: "fr",
        copy: include_str!("../../../../assets/composer/fr.toml"),
        months_short: ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
        weekdays_short: ["lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."],
    },
    Row {
        code: "es",
        copy: include_str!("../../../../assets/composer/es.toml"),
        months_short: ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
        weekdays_short: ["lun", "mar", "mié", "jue", "vie", "sáb", "dom"],
    },
    Row {
        code: "it",
        copy: include_str!("../../../../assets/composer/it.toml"),
        months_short: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
        weekdays_short: ["lun", "mar", "mer", "gio", "ven", "sab", "dom"],
    },
    Row {
        code: "pt",
        copy: include_str!("../../../../assets/composer/pt.toml"),
        months_short: ["jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."],
        weekdays_short: ["seg.", "ter.", "qua.", "qui.", "sex.", "sáb.", "dom."],
    },
    Row {
        code: "nl",
        copy: include_str!("../../../../assets/composer/nl.toml"),
        months_short: ["jan.", "feb.", "mrt.", "apr.", "mei", "jun.", "jul.", "aug.", "sep.", "okt.", "nov.", "dec."],
        weekdays_short: ["ma", "di", "wo", "do", "vr", "za", "zo"],
    },
];

/// The long month and day names of a language.
#[derive(Debug, Deserialize)]
struct Names {
    months: Vec<String>,
    /// The names of the days, starting with Monday.
    weekdays: Vec<String>,
}

impl Language {
    /// Returns the language of a tag such as `de-CH`, if the language is known.
    pub fn of(tag: &str) -> Option<Self> {
        let code = tag.split(['-', '_']).next().unwrap_or_default();
        TABLE.iter().position(|row| row.code.eq_ignore_ascii_case(code)).map(Self)
    }

    /// Returns English, the default for templates without a language.
    pub fn english() -> Self {
        Self(0)
    }

    fn names(self) -> &'static Names {
        static ALL: [OnceLock<Names>; LANGUAGES] = [const { OnceLock::new() }; LANGUAGES];
        ALL[self.0].get_or_init(|| {
            // Only the section `[format]` is parsed, because the file is long.
            let (_, format) = TABLE[self.0].copy.split_once("[format]\n").expect("a test checks that every row is valid");
            let format = format.split("\n[").next().unwrap_or_default();
            toml::from_str(format).expect("a test checks that every row is valid")
        })
    }

    /// Writes a date in the template's format. Returns `None` if the format is invalid.
    pub fn write(self, form: &str, moment: DateTime) -> Option<String> {
        // The library writes only English names.
        let form = if self == Self::english() { form.to_owned() } else { self.in_words(form, moment) };
        strtime::format(&form, moment).ok()
    }

    /// Returns the format with the names of this date filled in.
    fn in_words(self, form: &str, moment: DateTime) -> String {
        let mut out = String::with_capacity(form.len() + 16);
        let mut rest = form;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            // Flags and a width may precede the letter after the percent sign.
            let end = after.find(|c: char| !c.is_ascii_digit() && !"-_^#".contains(c)).unwrap_or(after.len());
            let (flags, c) = (&after[..end], after[end..].chars().next());
            match c.and_then(|c| self.word(c, moment)) {
                Some(word) if flags.contains('^') => out.push_str(&word.to_uppercase()),
                Some(word) => out.push_str(word),
                None => {
                    out.push('%');
                    out.push_str(flags);
                    out.extend(c);
                }
            }
            rest = &after[end + c.map_or(0, char::len_utf8)..];
        }
        out.push_str(rest);
        out
    }

    fn word(self, c: char, moment: DateTime) -> Option<&'static str> {
        let month = usize::try_from(moment.month() - 1).unwrap_or(0);
        let weekday = usize::try_from(moment.weekday().to_monday_zero_offset()).unwrap_or(0);
        Some(match c {
            'B' => &self.names().months[month],
            'A' => &self.names().weekdays[weekday],
            'b' | 'h' => TABLE[self.0].months_short[month],
            'a' => TABLE[self.0].weekdays_short[weekday],
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(language: &str, form: &str) -> String {
        let moment = jiff::civil::date(2026, 3, 7).at(9, 5, 0, 0);
        Language::of(language).expect("the language is known").write(form, moment).expect("the date format is valid")
    }

    #[test]
    fn months_and_days_have_the_names_of_the_language() {
        for (language, expected) in [
            ("en-GB", "Saturday 7 March 2026, Sat Mar"),
            ("de", "Samstag 7 März 2026, Sa. März"),
            ("fr_CA", "samedi 7 mars 2026, sam. mars"),
            ("es-MX", "sábado 7 marzo 2026, sáb mar"),
            ("it", "sabato 7 marzo 2026, sab mar"),
            ("pt-BR", "sábado 7 março 2026, sáb. mar."),
            ("NL", "zaterdag 7 maart 2026, za mrt."),
        ] {
            assert_eq!(written(language, "%A %-d %B %Y, %a %b"), expected, "{language}");
        }
        assert_eq!(Language::of("ja"), None);
    }

    #[test]
    fn only_names_are_translated() {
        assert_eq!(written("de", "100%% %^B %d.%m.%y %H:%M %h"), "100% MÄRZ 07.03.26 09:05 März");
        assert!(Language::of("de").expect("the language is known").write("%Q%", DateTime::default()).is_none());
    }

    #[test]
    fn every_language_names_all_months_and_days() {
        for (place, row) in TABLE.iter().enumerate() {
            let names = Language(place).names();
            assert_eq!((names.months.len(), names.weekdays.len()), (12, 7), "{}", row.code);
        }
    }
}
