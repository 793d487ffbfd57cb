//! Parses the days and times in a prompt, in words, in figures or relative to today, and determines whether they are a start or an end.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::Prompt;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::tokens::{Kind, number};

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    pub hour: u8,
    pub minute: u8,
}

/// The days and times of a prompt.
#[derive(Clone, Debug, Default)]
pub struct Dates {
    pub starts: Option<Date>,
    pub ends: Option<Date>,
    pub on: Option<Date>,
    pub time: Option<Clock>,
    pub time_end: Option<Clock>,
    /// Whether the days are a weekend.
    pub is_weekend: bool,
    pub notes: Vec<String>,
}

/// A day in a prompt, and the words that express the day.
struct FoundDate {
    date: Date,
    /// The first day of a range in one expression: "3–5 December".
    first: Option<Date>,
    from: usize,
    to: usize,
}

/// The maximum number of days read from one prompt.
const DAYS_MAX: usize = 8;

pub fn read(prompt: &Prompt<'_>) -> Dates {
    let mut dates = Dates::default();
    let mut found: Vec<FoundDate> = Vec::new();
    let mut at = 0;
    while at < prompt.words.len() && found.len() < DAYS_MAX {
        match day(prompt, at, &mut dates.notes) {
            Some(day) => {
                at = day.to.max(at + 1);
                found.push(day);
            }
            None => at += 1,
        }
    }
    sort(prompt, &found, &mut dates);
    times(prompt, &mut dates);
    dates
}

/// Classifies each day as a start, an end or another day, by the words before the day and between two days.
fn sort(prompt: &Prompt<'_>, found: &[FoundDate], dates: &mut Dates) {
    for (index, day) in found.iter().enumerate() {
        if let Some(first) = day.first {
            if !precedes(prompt, day.from, &prompt.lexicon.until) {
                dates.starts.get_or_insert(first);
                dates.is_weekend = prompt.words.any(day.to.saturating_sub(1), &prompt.lexicon.weekend).is_some()
                    || prompt.words.before(day.to, &prompt.lexicon.weekend).is_some();
            }
            dates.ends.get_or_insert(day.date);
            continue;
        }
        let follows = index > 0 && is_range(prompt, found[index - 1].to, day.from);
        let leads = found.get(index + 1).is_some_and(|next| is_range(prompt, day.to, next.from));
        match () {
            () if follows || precedes(prompt, day.from, &prompt.lexicon.until) => dates.ends.get_or_insert(day.date),
            () if leads || precedes(prompt, day.from, &prompt.lexicon.start) => dates.starts.get_or_insert(day.date),
            () => dates.on.get_or_insert(day.date),
        };
    }
}

/// Returns whether there is only "to" or a dash between two positions.
fn is_range(prompt: &Prompt<'_>, from: usize, to: usize) -> bool {
    let words = prompt.words;
    let skipped =
        |at: usize| words.any(at, &prompt.lexicon.determiners).is_some() || matches!(words.fold(at), "le" | "al" | "el");
    let inner: Vec<usize> = (from..to).filter(|at| !skipped(*at)).collect();
    match inner.as_slice() {
        [at] => matches!(words.fold(*at), "-" | "–" | "—") || words.any(*at, &prompt.lexicon.range).is_some(),
        [at, _] => words.any(*at, &prompt.lexicon.range) == Some(2),
        _ => false,
    }
}

/// Returns whether one of the phrases precedes an index, optionally with an article or preposition between them.
fn precedes(prompt: &Prompt<'_>, at: usize, phrases: &[Vec<String>]) -> bool {
    let small = |at: usize| prompt.words.kind(at) == Kind::Word && prompt.words.fold(at).len() <= 3;
    let mut place = at;
    for _ in 0..3 {
        if prompt.words.before(place, phrases).is_some() {
            return true;
        }
        if place == 0 || !(small(place - 1) || prompt.words.fold(place - 1) == "'") {
            return false;
        }
        place -= 1;
    }
    false
}

/// Returns the day that is expressed by the words from this position on.
fn day(prompt: &Prompt<'_>, at: usize, notes: &mut Vec<String>) -> Option<FoundDate> {
    let words = prompt.words;
    let one = |(date, to): (Date, usize)| FoundDate { date, first: None, from: at, to };
    if let Some((weekday, taken)) = weekday(prompt, at) {
        // In "Friday, 27 November", the date takes precedence over the weekday.
        let mut next = at + taken;
        while matches!(words.fold(next), "," | "the" | "den" | "dem" | "le" | "el" | "il" | "der") {
            next += 1;
        }
        if let Some(found) = written(prompt, next, notes) {
            return Some(FoundDate { from: at, ..found });
        }
        let is_next = words.before(at, &prompt.lexicon.next).is_some() || words.any(at + taken, &prompt.lexicon.next).is_some();
        return Some(one((coming(prompt.today, weekday, is_next), at + taken)));
    }
    written(prompt, at, notes).or_else(|| weekend(prompt, at)).or_else(|| relative(prompt, at).map(one))
}

/// Parses "this weekend" as Saturday and Sunday.
fn weekend(prompt: &Prompt<'_>, at: usize) -> Option<FoundDate> {
    let taken = prompt.words.any(at, &prompt.lexicon.weekend)?;
    let is_next = prompt.words.before(at, &prompt.lexicon.next).is_some();
    let sunday = coming(prompt.today, Weekday::Sunday, is_next);
    Some(FoundDate { date: sunday, first: sunday.yesterday().ok(), from: at, to: at + taken })
}

/// Returns the day of the week at this word and its length in words, unless it is part of a name such as Black Friday.
fn weekday(prompt: &Prompt<'_>, at: usize) -> Option<(Weekday, usize)> {
    let mut weekdays = prompt.lexicon.weekdays.iter().enumerate();
    let (place, taken) = weekdays.find_map(|(place, names)| Some((place, prompt.words.any(at, names)?)))?;
    let not = &prompt.lexicon.weekday_not;
    if prompt.words.any(at.saturating_sub(1), not).is_some() || prompt.words.any(at, not).is_some() {
        return None;
    }
    Some((Weekday::from_monday_zero_offset(i8::try_from(place).ok()?).ok()?, taken))
}

/// Returns the next occurrence of a weekday from today on, or in the following week for "next".
fn coming(today: Date, weekday: Weekday, next_week: bool) -> Date {
    let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days()).unwrap_or(today);
    let offset = i64::from(weekday.to_monday_zero_offset());
    let this = monday.checked_add(offset.days()).unwrap_or(today);
    if next_week || this < today { this.checked_add(7.days()).unwrap_or(this) } else { this }
}

/// Parses a day in figures or with the name of its month.
fn written(prompt: &Prompt<'_>, at: usize, notes: &mut Vec<String>) -> Option<FoundDate> {
    let words = prompt.words;
    let one = |(date, to): (Date, usize)| FoundDate { date, first: None, from: at, to };
    if words.kind(at) == Kind::Number {
        return iso(prompt, at)
            .or_else(|| points(prompt, at))
            .or_else(|| slashes(prompt, at, notes))
            .map(one)
            .or_else(|| day_month(prompt, at));
    }
    // Parses "November 27" and "November 27–29".
    let month = month(prompt, at)?;
    let day = small_number(prompt, at + 1)?;
    let mut to = at + 2;
    if matches!(words.fold(to), "st" | "nd" | "rd" | "th") {
        to += 1;
    }
    let last = matches!(words.fold(to), "-" | "–" | "to").then(|| small_number(prompt, to + 1)).flatten();
    if last.is_some() {
        to += 2;
    }
    let (year, to) = year(prompt, to);
    let date = date(prompt.today, year, month, day)?;
    let last = last.and_then(|last| self::date(prompt.today, year, month, last));
    Some(match last {
        Some(last) => FoundDate { date: last, first: Some(date), from: at, to },
        None => FoundDate { date, first: None, from: at, to },
    })
}

/// Parses a day before its month: "27 November", "27. bis 29. November", "1er décembre", "27 de noviembre de 2026".
fn day_month(prompt: &Prompt<'_>, at: usize) -> Option<FoundDate> {
    let words = prompt.words;
    let first = small_number(prompt, at)?;
    let after = |mut to: usize| {
        while matches!(words.fold(to), "." | "st" | "nd" | "rd" | "th" | "er" | "º" | "°" | "ste" | "e" | "o") {
            to += 1;
        }
        to
    };
    let mut to = after(at + 1);
    let mut last = None;
    let dash = matches!(words.fold(to), "-" | "–" | "—");
    let range = if dash { Some(1) } else { words.any(to, &prompt.lexicon.range) };
    if let Some(taken) = range {
        let next = to + taken + usize::from(matches!(words.fold(to + taken), "al" | "le" | "el" | "zum"));
        if let Some(day) = small_number(prompt, next) {
            last = Some(day);
            to = after(next + 1);
        }
    }
    while matches!(words.fold(to), "of" | "de" | "d" | "di" | "'" | "van") {
        to += 1;
    }
    let month = month(prompt, to)?;
    let (year, to) = year(prompt, to + 1);
    let start = date(prompt.today, year, month, first)?;
    match last.and_then(|last| date(prompt.today, year, month, last)) {
        Some(last) if last > start => Some(FoundDate { date: last, first: Some(start), from: at, to }),
        _ => Some(FoundDate { date: start, first: None, from: at, to }),
    }
}

fn month(prompt: &Prompt<'_>, at: usize) -> Option<i8> {
    let place = prompt.lexicon.months.iter().position(|names| prompt.words.any(at, names).is_some())?;
    i8::try_from(place + 1).ok()
}

fn small_number(prompt: &Prompt<'_>, at: usize) -> Option<i8> {
    let is_number = prompt.words.kind(at) == Kind::Number;
    prompt.words.raw(at).parse().ok().filter(|day| is_number && (1..=31).contains(day))
}

/// Parses a year after a day, optionally after "de" or a comma.
fn year(prompt: &Prompt<'_>, at: usize) -> (Option<i16>, usize) {
    let read = |at: usize| prompt.words.raw(at).parse().ok().filter(|year| (2000..=2100).contains(year));
    match read(at) {
        Some(year) => (Some(year), at + 1),
        None if matches!(prompt.words.fold(at), "," | "de" | "del") => {
            read(at + 1).map_or((None, at), |year| (Some(year), at + 2))
        }
        None => (None, at),
    }
}

/// Returns a day in the given year or, without a year, the day's next occurrence.
fn date(today: Date, year: Option<i16>, month: i8, day: i8) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, day).ok();
    }
    let this = Date::new(today.year(), month, day).ok().filter(|date| *date >= today);
    // February 29 exists only in leap years, so up to eight later years are tried.
    this.or_else(|| (1..=8).find_map(|later| Date::new(today.year() + later, month, day).ok()))
}

/// Parses a date in ISO 8601: 2026-11-27.
fn iso(prompt: &Prompt<'_>, at: usize) -> Option<(Date, usize)> {
    let words = prompt.words;
    let dashes = words.fold(at + 1) == "-" && words.fold(at + 3) == "-" && words.joined(at) && words.joined(at + 2);
    if !dashes || words.raw(at).len() != 4 {
        return None;
    }
    Some((words.slice(at, at + 5).parse().ok()?, at + 5))
}

/// Parses a date with periods: 27.11. or 27.11.2026.
fn points(prompt: &Prompt<'_>, at: usize) -> Option<(Date, usize)> {
    let raw = prompt.words.raw(at);
    let mut parts = raw.split('.');
    let (day, month) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let year = parts.next().and_then(|year| year.parse::<i16>().ok()).map(|year| if year < 100 { year + 2000 } else { year });
    let ends_with_point = prompt.words.fold(at + 1) == "." && prompt.words.joined(at);
    // "bis 24.12" contains a day, but "24.12 €" does not.
    let told = prompt.language == Language::De && precedes(prompt, at, &prompt.lexicon.until);
    let priced = super::money::money_at(prompt, at).is_some() || prompt.words.any(at + 1, &prompt.lexicon.hour).is_some();
    if (year.is_none() && !ends_with_point && !told) || priced {
        return None;
    }
    Some((date(prompt.today, year, month, day)?, at + 1 + usize::from(ends_with_point && year.is_none())))
}

/// Parses 27/11 or 11/27, with or without a year. If both readings are possible, the month comes first in English prompts.
fn slashes(prompt: &Prompt<'_>, at: usize, notes: &mut Vec<String>) -> Option<(Date, usize)> {
    let words = prompt.words;
    if words.fold(at + 1) != "/" || !words.joined(at) || !words.joined(at + 1) {
        return None;
    }
    let (first, second) = (small_number(prompt, at)?, small_number(prompt, at + 2)?);
    let month_first = if first > 12 { false } else { second > 12 || prompt.language == Language::En };
    let (month, day) = if month_first { (first, second) } else { (second, first) };
    let with_year = words.fold(at + 3) == "/" && words.joined(at + 2);
    let year = with_year.then(|| words.raw(at + 4).parse::<i16>().ok()).flatten();
    let year = year.map(|year| if year < 100 { year + 2000 } else { year });
    let to = if year.is_some() { at + 5 } else { at + 3 };
    let date = date(prompt.today, year, month, day)?;
    if first <= 12 && second <= 12 && first != second {
        notes.push(format!(
            "The date {} was interpreted as {date}. If you mean a different day, write the month as a word.",
            words.slice(at, to)
        ));
    }
    Some((date, to))
}

/// Parses a day relative to today: "today", "tomorrow", "in 3 days", "the end of the month".
fn relative(prompt: &Prompt<'_>, at: usize) -> Option<(Date, usize)> {
    let (words, lexicon, today) = (prompt.words, prompt.lexicon, prompt.today);
    if let Some(taken) = words.any(at, &lexicon.month_end) {
        return Some((today.last_of_month(), at + taken));
    }
    if let Some(taken) = words.any(at, &lexicon.today) {
        return Some((today, at + taken));
    }
    if let Some(taken) = words.any(at, &lexicon.tomorrow) {
        return Some((today.tomorrow().ok()?, at + taken));
    }
    for (phrases, days) in lexicon.days_later.iter().zip([1, 7]) {
        let [before, many, one] = phrases.0.as_slice() else { continue };
        let Some(taken) = words.matches(at, before) else { continue };
        let number_at = at + taken;
        let count = number(words.raw(number_at)).filter(|_| words.kind(number_at) == Kind::Number);
        let spelt = || lexicon.numbers.iter().position(|word| words.matches(number_at, word).is_some()).map(|at| at as f64 + 1.0);
        let Some(count) = count.or_else(spelt).filter(|count| (1.0..=366.0).contains(count)) else { continue };
        let unit = words.matches(number_at + 1, many).or_else(|| words.matches(number_at + 1, one));
        if let Some(unit) = unit {
            return Some((today.checked_add((count as i64 * days).days()).ok()?, number_at + 1 + unit));
        }
    }
    None
}

/// Parses the first time of day in a prompt and, for a period, its end.
fn times(prompt: &Prompt<'_>, dates: &mut Dates) {
    let words = prompt.words;
    let Some((at, clock, to)) = (0..words.len()).find_map(|at| time(prompt, at).map(|(clock, to)| (at, clock, to))) else {
        return;
    };
    // In "from 6 to 9 pm", only the second number has a suffix.
    let is_dash = |at: usize| matches!(words.fold(at), "-" | "–" | "—") || words.any(at, &prompt.lexicon.range) == Some(1);
    let bare = |at: usize| words.raw(at).parse::<u8>().ok().filter(|hour| words.kind(at) == Kind::Number && *hour < 24);
    if at >= 2
        && is_dash(at - 1)
        && let Some(hour) = bare(at - 2).filter(|_| time(prompt, at - 2).is_none())
    {
        let hour = if clock.hour >= 12 && hour < 12 && hour + 12 < clock.hour { hour + 12 } else { hour };
        (dates.time, dates.time_end) = (Some(Clock { hour, minute: 0 }), Some(clock));
        return;
    }
    dates.time = Some(clock);
    if is_dash(to) {
        dates.time_end = time(prompt, to + 1).map(|(clock, _)| clock);
    }
}

/// Returns whether a time of day starts at this word.
pub fn is_time(prompt: &Prompt<'_>, at: usize) -> bool {
    time(prompt, at).is_some()
}

/// Parses a time of day, such as "18:30", "6 pm", "18 Uhr", "18h30" or "noon".
fn time(prompt: &Prompt<'_>, at: usize) -> Option<(Clock, usize)> {
    let (words, lexicon) = (prompt.words, prompt.lexicon);
    if let Some(taken) = words.any(at, &lexicon.noon) {
        return Some((Clock { hour: 12, minute: 0 }, at + taken));
    }
    if words.kind(at) != Kind::Number {
        return None;
    }
    let raw = words.raw(at);
    let (mut hour, mut minute, mut to, mut marked) = match raw.split_once(['.', ',']) {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse::<u8>().ok()?, minute.parse::<u8>().ok()?, at + 1, false),
        Some(_) => return None,
        None => (raw.parse::<u8>().ok()?, 0, at + 1, false),
    };
    let minutes = |text: &str| text.parse::<u8>().ok().filter(|_| text.len() == 2);
    if words.fold(to) == ":" && words.joined(at) {
        minute = minutes(words.raw(to + 1))?;
        (to, marked) = (to + 2, true);
    } else if let Some(text) = words.fold(to).strip_prefix('h') {
        // Parses "18h", "18h30", and "18 h 30" with spaces.
        match (minutes(text), text.is_empty()) {
            (Some(value), _) => (minute, to, marked) = (value, to + 1, true),
            (None, true) => {
                (to, marked) = (to + 1, true);
                if let Some(value) = minutes(words.raw(to)).filter(|_| words.kind(to) == Kind::Number) {
                    (minute, to) = (value, to + 1);
                }
            }
            (None, false) => {}
        }
    }
    if let Some(taken) = words.any(to, &lexicon.pm) {
        hour = if hour < 12 { hour + 12 } else { hour };
        (to, marked) = (to + taken, true);
    } else if let Some(taken) = words.any(to, &lexicon.am) {
        hour %= 12;
        (to, marked) = (to + taken, true);
    } else if let Some(taken) = words.any(to, &lexicon.hour) {
        (to, marked) = (to + taken, true);
    }
    (marked && hour < 24 && minute < 60).then_some((Clock { hour, minute }, to))
}
