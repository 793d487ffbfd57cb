//! Reads the numbers, dates, times, amounts and codes in text, in the usual notations of a language.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::lexicon::{NUMBER, Words};
use super::text::fold;

/// A value mentioned in text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Percent(f64),
    Money {
        amount: f64,
        currency: Option<&'static str>,
    },
    /// A day of a month. For ambiguous notations such as "12/10", `other` is the day and month with the two numbers swapped.
    Day {
        day: i8,
        month: i8,
        year: Option<i16>,
        weekday: Option<i8>,
        other: Option<(i8, i8)>,
    },
    /// A weekday, from 1 for Monday.
    Weekday(i8),
    /// A time of day, in minutes after midnight. A `vague` time can also be twelve hours later.
    Clock {
        minutes: u16,
        vague: bool,
    },
    /// A number that may or may not be a time: it follows "at" or precedes a time.
    Hour {
        minutes: u16,
        vague: bool,
    },
    Number(f64),
    /// A number written in words.
    Worded(f64),
    /// The digits of a phone number.
    Phone(String),
    /// A word with letters and digits, or a word after a label such as "code".
    Mixed(String),
    Today,
    Tomorrow,
}

/// A value and the byte range of the folded text that mentions it. For a code after a label, the range is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    pub value: Value,
    pub range: Range<usize>,
}

static ISO: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\b(?P<y>20[0-9]{2})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})(?:t[0-9:+-]+z?)?\b"));
static DOTTED: LazyLock<Regex> = LazyLock::new(|| {
    let first = r"(?:(?P<d0>[0-9]{1,2})\.?(?:\s*[-+&/]\s*|\s+(?:und|bis|bis zum|to|e|et|y|en|tot)\s+))?";
    compile(&format!(r"\b{first}(?P<d>[0-9]{{1,2}})\.\s?(?P<m>[0-9]{{1,2}})\.(?:\s?(?P<y>20[0-9]{{2}})\b|(?P<y2>[0-9]{{2}})\b)?"))
});
static SLASHED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\b(?P<d>[0-9]{1,2})/(?P<m>[0-9]{1,2})(?:/(?P<y>20[0-9]{2}|[0-9]{2}))?\b"));
static PHONE: LazyLock<Regex> = LazyLock::new(|| compile(r"[+(]?\b[0-9][0-9 ()/.-]{5,}[0-9]\b"));
static MONEY: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"€|£|us\$|r\$|\$|¥|\b(?:chf|eur|usd|gbp|brl)";
    let names = "chf|eur|usd|gbp|brl|euros?|pounds?|quid|dollars?|francs?|franken|libras?|dolares|reais|pond|sterline";
    compile(&format!(r"(?:(?P<s>{before})\s?(?P<n>{NUMBER})|\b(?P<n2>{NUMBER})(?:,-|\.-)?\s?(?P<s2>€|£|\$|¥|(?:{names})\b))"))
});
static MIXED: LazyLock<Regex> = LazyLock::new(|| compile(r"\b(?:[0-9]+[a-z][a-z0-9]*|[a-z]+[0-9][a-z0-9]*)\b"));
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| compile(r"[0-9]{1,3}(?: [0-9]{3})+\b|[0-9]+(?:[.,'][0-9]+)*"));

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a test uses every pattern")
}

/// Returns the values that the text mentions, with their ranges.
pub fn read(text: &str, words: &Words) -> Vec<Mention> {
    let mut reader = Reader { text: fold(text), words, found: Vec::new() };
    reader.codes(text);
    reader.money();
    reader.percents();
    reader.days();
    reader.phones();
    reader.clocks();
    reader.words();
    reader.numbers();
    reader.found.sort_by_key(|mention| mention.range.start);
    reader.found
}

/// The text to read and the mentions found so far. `take` blanks the text that it reads, so that later patterns skip it.
struct Reader<'a> {
    text: String,
    words: &'a Words,
    found: Vec<Mention>,
}

impl Reader<'_> {
    fn find(&mut self, value: Value, range: Range<usize>) {
        self.found.push(Mention { value, range });
    }

    /// Records the values of the pattern's matches as mentions, and blanks the matches that have a value.
    fn take(&mut self, pattern: &Regex, value: impl Fn(&Captures<'_>, &str) -> Vec<Value>) {
        let mut taken = Vec::new();
        for captures in pattern.captures_iter(&self.text) {
            let range = captures.get(0).map_or(0..0, |whole| whole.range());
            let values = value(&captures, &self.text);
            if !values.is_empty() {
                self.found.extend(values.into_iter().map(|value| Mention { value, range: range.clone() }));
                taken.push(range);
            }
        }
        for range in taken {
            self.text.replace_range(range.clone(), &"\u{1}".repeat(range.len()));
        }
    }

    /// Reads codes after their label, such as "code BULLES", from the text as written.
    fn codes(&mut self, text: &str) {
        let words = self.words;
        for captures in words.patterns().code.captures_iter(text) {
            if let Some(code) = captures.name("code") {
                self.find(Value::Mixed(fold(code.as_str())), 0..0);
            }
        }
    }

    fn days(&mut self) {
        let words = self.words;
        let patterns = words.patterns();
        let weekday = |captures: &Captures<'_>, text: &str| {
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let found = patterns.weekday_last.captures(&text[..start]);
            // A weekday after a dash belongs to the last date, not to the first: "mon-wed (30.11.-2.12.)".
            let is_range = |found: &Captures<'_>| {
                let start = found.name("w").map_or(0, |own| own.start());
                text[..start].trim_end().ends_with(['-', '–'])
            };
            found.filter(|found| !is_range(found)).and_then(|found| words.weekday(&found["w"]))
        };
        self.take(&ISO, |captures, _| match (number_of(captures, "d"), number_of(captures, "m"), year_of(captures)) {
            (Some(day), Some(month), year) => day_of(day, month, year, None),
            _ => Vec::new(),
        });
        self.take(&patterns.day_first, |captures, text| {
            let (Some(month), year) = (words.month(&captures["m"]), year_of(captures)) else { return Vec::new() };
            days_of(&captures["days"], month, year, weekday(captures, text))
        });
        if let Some(month_first) = &patterns.month_first {
            self.take(month_first, |captures, text| {
                let (Some(month), year) = (words.month(&captures["m"]), year_of(captures)) else { return Vec::new() };
                let rest = captures.get(0).map_or("", |whole| &text[whole.end()..]);
                let is_hour = ["am", "pm", "a.m", "p.m", ":"].iter().any(|sign| rest.trim_start().starts_with(sign));
                let mut days = captures["days"].to_owned();
                // If "am", "pm" or a colon follows, the last number is an hour, not a day: "December 4 - 7 pm".
                if is_hour && let Some(last) = days.rfind(|c: char| !c.is_ascii_digit()) {
                    days.truncate(last);
                }
                days_of(&days, month, year, weekday(captures, text))
            });
        }
        self.take(&DOTTED, |captures, text| {
            let (Some(day), Some(month), year) = (number_of(captures, "d"), number_of(captures, "m"), year_of(captures)) else {
                return Vec::new();
            };
            let mut days = day_of(day, month, year, weekday(captures, text));
            if let Some(first) = number_of(captures, "d0").filter(|_| !days.is_empty()) {
                days.extend(day_of(first, month, year, None));
            }
            days
        });
        self.take(&SLASHED, |captures, text| {
            let (Some(one), Some(two), year) = (number_of(captures, "d"), number_of(captures, "m"), year_of(captures)) else {
                return Vec::new();
            };
            let weekday = weekday(captures, text);
            match (day_of(one, two, year, weekday).pop(), day_of(two, one, year, weekday).pop()) {
                (Some(Value::Day { day, month, year, weekday, .. }), Some(_)) => {
                    vec![Value::Day { day, month, year, weekday, other: Some((month, day)) }]
                }
                (Some(own), None) | (None, Some(own)) => vec![own],
                _ => Vec::new(),
            }
        });
    }

    fn phones(&mut self) {
        self.take(&PHONE, |captures, _| {
            let text = &captures[0];
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            let is_marked = text.starts_with(['+', '0', '(']);
            // Shorter runs of digits, such as "9.30 - 18.00", are times or dates.
            let is_long = digits.len() >= if is_marked { 7 } else { 9 };
            if is_long && digits.len() <= PHONE_DIGITS_MAX { vec![Value::Phone(digits)] } else { Vec::new() }
        });
    }

    fn percents(&mut self) {
        let words = self.words;
        self.take(&words.patterns().percent, |captures, _| {
            let number = captures.name("n").and_then(|number| parse_number(number.as_str()));
            let worded = captures.name("word").and_then(|word| words.table.numbers.get(word.as_str()));
            number.or(worded.map(|value| f64::from(*value))).map(Value::Percent).into_iter().collect()
        });
        if let Some(half) = &words.patterns().half {
            self.take(half, |_, _| vec![Value::Percent(50.0)]);
        }
    }

    fn money(&mut self) {
        self.take(&MONEY, |captures, _| {
            let text = |first: &str, second: &str| captures.name(first).or(captures.name(second)).map(|found| found.as_str());
            let amount = text("n", "n2").and_then(parse_number);
            let currency = text("s", "s2").and_then(currency);
            amount.map(|amount| Value::Money { amount, currency }).into_iter().collect()
        });
    }

    fn clocks(&mut self) {
        let words = self.words;
        let patterns = words.patterns();
        self.take(&patterns.clock, |captures, text| {
            let half_day = ["ap", "ap2", "ap3"].iter().find_map(|name| captures.name(name)).map(|found| found.as_str());
            let minute = number_of(captures, "m1").or(number_of(captures, "m2")).unwrap_or(0);
            let Some(minutes) = number_of(captures, "h").and_then(|hour| minutes(hour, minute, half_day)) else {
                return Vec::new();
            };
            let vague = half_day.is_none() && words.code == "en";
            let mut values = vec![Value::Clock { minutes, vague }];
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let first = patterns.clock_before.captures(&text[..start]);
            let hour = first.and_then(|first| Some((number_of(&first, "h")?, number_of(&first, "m").unwrap_or(0))));
            let earlier = hour.and_then(|(hour, minute)| self::minutes(hour, minute, None));
            values.extend(earlier.map(|minutes| Value::Hour { minutes, vague: half_day.is_some() }));
            values
        });
        for (pattern, minutes) in [(&patterns.noon, 720), (&patterns.midnight, 0)] {
            if let Some(pattern) = pattern {
                self.take(pattern, |captures, text| {
                    // French "après-midi" means the afternoon, not noon.
                    let before = captures.get(0).map_or("", |whole| &text[..whole.start()]);
                    let is_part = before.trim_end_matches(['-', '‑', ' ']).ends_with("apres");
                    if is_part { Vec::new() } else { vec![Value::Clock { minutes, vague: false }] }
                });
            }
        }
        let vague = words.code == "en";
        if let Some(bare) = &patterns.clock_bare {
            let hours: Vec<Mention> = bare
                .captures_iter(&self.text)
                .filter_map(|captures| {
                    let minutes = minutes(number_of(&captures, "h")?, number_of(&captures, "m").unwrap_or(0), None)?;
                    let range = captures.get(0)?.range();
                    Some(Mention { value: Value::Hour { minutes, vague }, range })
                })
                .collect();
            self.found.extend(hours);
        }
    }

    fn words(&mut self) {
        let words = self.words;
        let patterns = words.patterns();
        let day = |pattern: &Option<Regex>, value: Value, reader: &mut Self| {
            if let Some(pattern) = pattern {
                reader.take(pattern, |_, _| vec![value.clone()]);
            }
        };
        day(&patterns.today, Value::Today, self);
        day(&patterns.tomorrow, Value::Tomorrow, self);
        self.take(&patterns.weekday, |captures, _| {
            let known = Some(&captures["w"]).filter(|name| !words.is_vague_weekday(name));
            known.and_then(|name| words.weekday(name)).map(Value::Weekday).into_iter().collect()
        });
        self.take(&MIXED, |captures, _| {
            let text = &captures[0];
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
            // A number with its unit counts as a number: "14cm", "3x", "20th".
            match text[..digits].parse() {
                Ok(number) => vec![Value::Number(number)],
                Err(_) => vec![Value::Mixed(text.to_owned())],
            }
        });
        if let Some(pattern) = &patterns.number_word {
            self.take(pattern, |captures, _| {
                let value = words.table.numbers.get(&captures["word"]);
                value.map(|value| Value::Worded(f64::from(*value))).into_iter().collect()
            });
        }
    }

    fn numbers(&mut self) {
        self.take(&NUMBERS, |captures, _| parse_number(&captures[0]).map(Value::Number).into_iter().collect());
    }
}

/// The maximum number of digits in a phone number: 15 (ITU-T E.164) and the international prefix "00".
const PHONE_DIGITS_MAX: usize = 17;

fn number_of(captures: &Captures<'_>, name: &str) -> Option<i8> {
    captures.name(name)?.as_str().parse().ok()
}

fn year_of(captures: &Captures<'_>) -> Option<i16> {
    let year: i16 = captures.name("y").or(captures.name("y2"))?.as_str().parse().ok()?;
    Some(if year < 100 { 2000 + year } else { year })
}

fn day_of(day: i8, month: i8, year: Option<i16>, weekday: Option<i8>) -> Vec<Value> {
    let is_day = (1..=31).contains(&day) && (1..=12).contains(&month);
    if is_day { vec![Value::Day { day, month, year, weekday, other: None }] } else { Vec::new() }
}

/// Returns each day in a list such as "25. und 26". The weekday before the list belongs to the first day.
fn days_of(list: &str, month: i8, year: Option<i16>, weekday: Option<i8>) -> Vec<Value> {
    let numbers = list.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    let days = numbers.enumerate().flat_map(|(at, day)| day_of(day, month, year, weekday.filter(|_| at == 0)));
    days.collect()
}

/// Returns a time of day in minutes after midnight; `None` if the numbers are not a valid time.
fn minutes(hour: i8, minute: i8, half_day: Option<&str>) -> Option<u16> {
    let hour = match half_day.map(|half| half.starts_with('p')) {
        Some(true) if (1..12).contains(&hour) => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    let valid = (0..=24).contains(&hour) && (0..60).contains(&minute);
    valid.then(|| (u16::try_from(hour).unwrap_or(0) * 60 + u16::try_from(minute).unwrap_or(0)) % MINUTES_PER_DAY)
}

const MINUTES_PER_DAY: u16 = 24 * 60;

fn currency(symbol: &str) -> Option<&'static str> {
    let known = [
        ("EUR", ["€", "eur", "euro", "euros"].as_slice()),
        ("GBP", &["£", "gbp", "pound", "pounds", "quid", "libra", "libras", "pond", "sterline"]),
        ("CHF", &["chf", "franken", "franc", "francs"]),
        ("BRL", &["r$", "brl", "reais"]),
        ("JPY", &["¥"]),
    ];
    known.iter().find(|(_, names)| names.contains(&symbol)).map(|(code, _)| *code)
}

/// Parses a number in one of these notations: `1,299.50`, `1.299,50`, `1 800`, `19,90`.
pub fn parse_number(text: &str) -> Option<f64> {
    let digits = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let both = text.contains('.') && text.contains(',');
    let value = match text.rfind(['.', ',']) {
        Some(at) if text.len() - at - 1 != 3 || both => format!("{}.{}", digits(&text[..at]), digits(&text[at + 1..])),
        _ => digits(text),
    };
    value.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(language: &str, text: &str) -> Vec<Value> {
        let found = read(text, Words::of(language)).into_iter().map(|mention| mention.value);
        // A number without a unit can also be read as an hour. These tests ignore hours.
        found.filter(|value| !matches!(value, Value::Hour { .. })).collect()
    }

    fn day(day: i8, month: i8) -> Value {
        Value::Day { day, month, year: None, weekday: None, other: None }
    }

    fn clock(hour: u16, minute: u16) -> Value {
        Value::Clock { minutes: hour * 60 + minute, vague: false }
    }

    #[test]
    fn dates_are_read_in_the_spellings_of_each_language() {
        for (language, text, days) in [
            ("en", "17 December", vec![day(17, 12)]),
            ("en", "December 17th", vec![day(17, 12)]),
            ("en", "the 17th of Dec.", vec![day(17, 12)]),
            ("en", "November 27 to 30", vec![day(27, 11), day(30, 11)]),
            ("en", "27–30 November", vec![day(27, 11), day(30, 11)]),
            ("de", "am 25. und 26. Dezember", vec![day(25, 12), day(26, 12)]),
            ("de", "bis 15.12.", vec![day(15, 12)]),
            ("de", "vom 24.12. bis 1.1.", vec![day(24, 12), day(1, 1)]),
            ("fr", "les 5 et 6 décembre", vec![day(5, 12), day(6, 12)]),
            ("fr", "le 1er janvier", vec![day(1, 1)]),
            ("es", "del 20 al 29 de noviembre", vec![day(20, 11), day(29, 11)]),
            ("it", "1º marzo", vec![day(1, 3)]),
            ("pt", "3 de março", vec![day(3, 3)]),
            ("nl", "5 t/m 7 mei", vec![day(5, 5), day(7, 5)]),
            ("ar", "17 ديسمبر", vec![day(17, 12)]),
        ] {
            assert_eq!(values(language, text), days, "{language}: {text}");
        }
        let whole = values("en", "Sunday, 30 November 2026");
        assert!(matches!(whole[1], Value::Day { day: 30, month: 11, year: Some(2026), weekday: Some(7), .. }), "{whole:?}");
        let slashed = values("en", "12/10");
        assert!(matches!(slashed[0], Value::Day { other: Some((10, 12)), .. }), "{slashed:?}");
    }

    #[test]
    fn times_are_read_in_the_spellings_of_each_language() {
        for (language, text, times) in [
            ("en", "7pm", vec![clock(19, 0)]),
            ("en", "6.30 p.m.", vec![clock(18, 30)]),
            ("de", "18:30 Uhr", vec![clock(18, 30)]),
            ("de", "19 Uhr", vec![clock(19, 0)]),
            ("fr", "19 h 30", vec![clock(19, 30)]),
            ("fr", "10h-18h", vec![clock(10, 0), clock(18, 0)]),
            ("nl", "18.30 uur", vec![clock(18, 30)]),
            ("en", "noon", vec![clock(12, 0)]),
            ("it", "a mezzanotte", vec![clock(0, 0)]),
        ] {
            assert_eq!(values(language, text), times, "{language}: {text}");
        }
        let range = read("from 2 to 5 pm", Words::of("en"));
        assert!(range.iter().any(|mention| mention.value == Value::Hour { minutes: 120, vague: true }), "{range:?}");
        let bare = read("alle 20", Words::of("it"));
        assert!(bare.iter().any(|mention| matches!(mention.value, Value::Hour { minutes: 1200, .. })), "{bare:?}");
    }

    #[test]
    fn amounts_and_numbers_are_read() {
        let euros = |amount: f64| Value::Money { amount, currency: Some("EUR") };
        for (language, text, expected) in [
            ("en", "20% off", vec![Value::Percent(20.0)]),
            ("en", "twenty percent", vec![Value::Percent(20.0)]),
            ("de", "15 Prozent", vec![Value::Percent(15.0)]),
            ("de", "zum halben Preis", vec![Value::Percent(50.0)]),
            ("de", "1.299,50 €", vec![euros(1299.5)]),
            ("fr", "1 299,50 €", vec![euros(1299.5)]),
            ("nl", "€ 12,-", vec![euros(12.0)]),
            ("en", "£42", vec![Value::Money { amount: 42.0, currency: Some("GBP") }]),
            ("en", "sixty bowls, 14cm", vec![Value::Worded(60.0), Value::Number(14.0)]),
            ("fr", "1 800 bouteilles", vec![Value::Number(1800.0)]),
            ("en", "+31 10 555 0140", vec![Value::Phone("31105550140".into())]),
            ("en", "use WINTER20 now", vec![Value::Mixed("winter20".into())]),
            ("fr", "avec le code BULLES", vec![Value::Mixed("bulles".into())]),
        ] {
            assert_eq!(values(language, text), expected, "{language}: {text}");
        }
    }
}
