//! Recognizes the dates in a prompt, in the notations of several languages.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::super::{FactKind, FactValue, Goal};
use super::facts::{Bound, Found, is_dotted_day};
use super::lexicon::{List, lexicons};
use super::prompt::{Prompt, Range};
use super::roles;
use super::times::{clock, time};
use super::tokens::Kind;

/// Words for "every" and "always" before a weekday.
pub const EVERY: [&str; 18] = [
    "ao", "aos", "immer", "jeden", "jede", "jeweils", "elke", "altijd", "ogni", "sempre", "todos", "cada", "every", "always",
    "siempre", "toujours", "chaque", "tous",
];

/// Words for "also" before a weekday. If hours follow the weekday, it recurs every week: "im Dez. auch Mo 10-16 offen".
const ALSO: [&str; 7] = ["also", "auch", "aussi", "tambien", "anche", "tambem", "ook"];

/// The number of hours in a day. A greater number before the end of a range of hours is a day of the month: "sab 27 até 18h".
const HOURS: i8 = 24;

/// Words for "before" that follow a weekday: "the Friday before".
const BEFORE: [&str; 9] = ["before", "beforehand", "vorher", "davor", "zuvor", "avant", "antes", "prima", "ervoor"];

/// The parts of a date that the prompt contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    weekday: Option<u8>,
    day: Option<i8>,
    month: Option<i8>,
    year: Option<i16>,
    /// The number of days from today, for a relative day such as "tomorrow".
    offset: Option<i32>,
    /// Whether only the month is known.
    is_vague: bool,
}

/// Whether the words before a day mark it as a date.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    /// A preposition or article precedes the day: "the 2nd", "am 7.", "le 27".
    Led,
    Plain,
}

/// Recognizes a date or a range of dates.
pub fn date(prompt: &Prompt<'_>, at: usize, today: Date) -> Option<Found> {
    let (bound, start) = bound(prompt, at);
    let strength = if start > at || led(prompt, start) { Strength::Led } else { Strength::Plain };
    let is_us = prompt.words.is_american;
    if let Some(found) = list(prompt, start, bound, today, at) {
        return Some(found);
    }
    if let Some(end) = choice(prompt, start, is_us) {
        return Some(Found { kind: FactKind::Date, range: Range::of(at, end), value: None, bound });
    }
    if let Some((first, last, end)) = range(prompt, start, strength, is_us) {
        let last = resolve(last, today, None)?;
        let first =
            resolve(Parts { year: first.year, ..first }, today, Some(last)).filter(|first| *first <= last).unwrap_or(last);
        // Two days with "and" between them are a period only if they are consecutive: "5 and 7 December" is two days.
        let middle = (start..end).any(|at| prompt.is(List::And, at));
        let are_two = middle && first.until(last).is_ok_and(|span| span.get_days() > 1);
        let value = (!are_two).then_some(FactValue::Days { first, last: Some(last) });
        return Some(Found { kind: FactKind::Period, range: Range::of(at, end), value, bound });
    }
    let (parts, end) = single(prompt, start, strength, is_us)?;
    // Weekdays with "to" between them recur every week, so the second weekday is not a date: "tues to sat".
    let is_weekday = parts == Parts { weekday: parts.weekday, ..Parts::default() };
    let to = if bound == Bound::Until { Some(at) } else { prompt.before(List::To, at) };
    if is_weekday && to.is_some_and(|to| prompt.is(List::To, to) && prompt.before(List::ShortWeekday, to).is_some()) {
        return None;
    }
    // A weekday in the plural, after "every", or next to a word for "closed" recurs every week: "mondays", "jeden Sonntag", "Montag
    // Ruhetag", "fermé le lundi".
    let has_article = start > 1 && matches!(prompt.fold(start - 1), "le" | "il");
    let is_every = is_plural(prompt, end - 1)
        || has_article && prompt.before(List::CueClosed, start - 1).is_some()
        || start > 0 && EVERY.contains(&prompt.fold(start - 1))
        || start == at && (prompt.is(List::CueClosed, end) || is_opening(prompt, end));
    // A weekday with additional opening hours also recurs every week.
    let is_additional = start > 0 && ALSO.contains(&prompt.fold(start - 1)) && has_hours(prompt, end);
    if is_weekday && (is_every || is_additional || is_in_timetable(prompt, start, end)) {
        return Some(Found { kind: FactKind::Date, range: Range::of(at, end), value: None, bound });
    }
    // In "Order by the Friday before", the weekday depends on another date, so its own date is unknown here.
    if is_weekday && BEFORE.contains(&prompt.fold(end)) && (prompt.kind(end + 1) != Kind::Number) {
        return Some(Found { kind: FactKind::Date, range: Range::of(at, end), value: None, bound });
    }
    // A weekday with "last" is in the past ("last Friday", "vendredi dernier"), unless "of" follows ("the last Friday of November").
    let is_past = is_weekday && prompt.end(List::Of, end).is_none();
    if let Some((from, end)) = past(prompt, start, end).filter(|_| is_past) {
        let value = resolve(parts, today, None).and_then(|next| next.checked_sub(7.days()).ok());
        let value = value.map(|first| FactValue::Days { first, last: None });
        return Some(Found { kind: FactKind::Date, range: Range::of(at.min(from), end), value, bound });
    }
    let kind = if parts.is_vague && bound == Bound::None && parts.month.is_some() { FactKind::Period } else { FactKind::Date };
    let value = resolve(parts, today, None).map(|first| {
        let last = (parts.is_vague && parts.month.is_some()).then(|| first.last_of_month());
        FactValue::Days { first, last }
    });
    Some(Found { kind, range: Range::of(at, end), value: value.filter(|_| !parts.is_vague || kind == FactKind::Period), bound })
}

/// Returns the range of a weekday with "last" before or after it.
fn past(prompt: &Prompt<'_>, start: usize, end: usize) -> Option<(usize, usize)> {
    let before = prompt.before(List::Past, start).map(|from| (from, end));
    before.or_else(|| prompt.end(List::Past, end).map(|end| (start, end)))
}

fn is_plural(prompt: &Prompt<'_>, at: usize) -> bool {
    let is_plural = prompt.fold(at).ends_with('s') && prompt.fold(at).len() > 4;
    // The Spanish weekdays from Monday to Friday have the same form in the singular and the plural.
    let has_one_form = matches!(prompt.fold(at), "lunes" | "martes" | "miercoles" | "jueves" | "viernes");
    is_plural && (!has_one_form || at > 0 && prompt.fold(at - 1) == "los")
}

/// Returns whether the weekday of a date is wrong for its day and month.
pub fn contradicts_weekday(prompt: &Prompt<'_>, found: &Found) -> bool {
    let Some(FactValue::Days { first, last: None }) = &found.value else { return false };
    let named = prompt.all(List::Weekday, found.range).chain(prompt.all(List::ShortWeekday, found.range)).next();
    let has_day = (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
    has_day && named.is_some_and(|mark| mark.value as i8 != first.weekday().to_monday_zero_offset())
}

/// Returns whether a date has a day but no month: "the 9th", "Sunday the 9th".
pub fn lacks_month(prompt: &Prompt<'_>, found: &Found) -> bool {
    let has_number = (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
    // The month can be a number: "9.5.", "9/5".
    let is_numeric = (found.range.from..found.range.to)
        .any(|at| prompt.kind(at) == Kind::Number && prompt.raw(at).contains('.') || prompt.fold(at) == "/");
    has_number && !is_numeric && !prompt.has(List::Month, found.range)
}

/// Returns the weekday and the day of a date without a month: "Sunday the 9th".
pub fn weekday_and_day(prompt: &Prompt<'_>, found: &Found) -> Option<(i8, i8)> {
    let Some(FactValue::Days { first, last: None }) = &found.value else { return None };
    let named = prompt.all(List::Weekday, found.range).next()?;
    lacks_month(prompt, found).then_some((named.value as i8, first.day()))
}

/// Returns the bound that the words at an index express, and the index where the date starts.
fn bound(prompt: &Prompt<'_>, at: usize) -> (Bound, usize) {
    if let Some(end) = prompt.end(List::UntilWord, at) {
        return (Bound::Until, skip_article(prompt, end));
    }
    if let Some(end) = prompt.end(List::FromWord, at) {
        return (Bound::From, skip_article(prompt, end));
    }
    (Bound::None, prompt.end(List::OnWord, at).or_else(|| prompt.end(List::Between, at)).unwrap_or(at))
}

fn skip_article(prompt: &Prompt<'_>, at: usize) -> usize {
    prompt.end(List::OnWord, at).or_else(|| prompt.end(List::Article, at)).unwrap_or(at)
}

fn led(prompt: &Prompt<'_>, at: usize) -> bool {
    [List::OnWord, List::UntilWord, List::FromWord, List::Between].into_iter().any(|list| prompt.before(list, at).is_some())
}

/// Recognizes two dates with a word for "to" between them. One of the dates can lack its month.
fn range(prompt: &Prompt<'_>, at: usize, strength: Strength, is_us: bool) -> Option<(Parts, Parts, usize)> {
    let first = spoken_day(prompt, at).or_else(|| single(prompt, at, Strength::Led, is_us));
    let (mut first, middle) = first.or_else(|| bare_day(prompt, at))?;
    let mut to = prompt.end(List::To, middle)?;
    if prompt.fold(to) == "-" {
        to += 1;
    }
    to = prompt.end(List::OnWord, to).unwrap_or(to);
    // The last date is parsed independently of the first: "dal 6 gennaio al 28 febbraio", "vom 21. Dezember bis zum 3.1."
    let (last, end) = single(prompt, to, Strength::Led, is_us).or_else(|| bare_day(prompt, to))?;
    let is_month_first = first.month.is_some() && last.month.is_none() && last.day.is_some();
    let last = if is_month_first { Parts { month: first.month, ..last } } else { last };
    if first.month.is_none() {
        first.month = last.month;
    }
    let has_ordinals = prompt.fold(middle - 1) == "." && prompt.fold(end - 1) == "." && first.month.is_none();
    let is_and = prompt.is(List::And, middle)
        && prompt.before(List::OnWord, at).is_some()
        && first.month.is_none()
        && !is_counted(prompt, end);
    let are_days = first.day.is_some() && last.day.is_some() && (first.month.is_some() || has_ordinals || is_and);
    let is_led = strength == Strength::Led || last.month.is_some() || has_ordinals;
    let is_other = [List::Hour, List::Am, List::Pm, List::Currency, List::Street].into_iter().any(|list| prompt.is(list, end));
    (are_days && is_led && !is_other).then_some((first, last, end))
}

/// Recognizes a list of days ("7., 9. und 14. Dezember") or of weekdays ("Montag und Dienstag").
fn list(prompt: &Prompt<'_>, at: usize, bound: Bound, today: Date, from: usize) -> Option<Found> {
    if let (Some(_), second) = (weekday_only(prompt, at), prompt.end(List::To, at + 1)) {
        let end = second.filter(|second| weekday_only(prompt, *second).is_some()).map(|second| second + 1);
        if let Some(end) = end.filter(|end| prompt.kind(*end) != Kind::Number || time(prompt, *end).is_some()) {
            let recurs =
                prompt.is(List::And, at + 1) || matches!(prompt.fold(at + 1), "+" | "&" | "/") || recurs(prompt, from, end);
            // A range of short names, such as "du mar au ven", means that these weekdays recur every week, except in a sale.
            let recurs = recurs || prompt.is(List::ShortWeekday, at) && roles::goal(prompt) != Some(Goal::Sale);
            let value = (!recurs).then(|| weekdays(prompt, at, end - 1, today)).flatten();
            let kind = if value.is_some() { FactKind::Period } else { FactKind::Date };
            return Some(Found { kind, range: Range::of(from, end), value, bound });
        }
    }
    let (first, _) = bare_day(prompt, at)?;
    let (mut next, mut days) = (at, 0);
    // Whether each day has its weekday and directly follows the previous day: "vr 4 za 5 zo 6 dec".
    let mut is_named_row = true;
    while let Some((own, end)) = bare_day(prompt, next) {
        let follows = |at: usize| bare_day(prompt, at).is_some_and(|(other, _)| other.day == own.day.map(|day| day + 1));
        let is_comma = prompt.fold(end) == ",";
        let joint = if is_comma { Some(end + 1) } else { prompt.end(List::And, end) };
        days += 1;
        is_named_row &= own.weekday.is_some();
        // In some prompts, only spaces separate the days.
        let Some(joint) = joint.or_else(|| follows(end).then_some(end)) else { break };
        is_named_row &= follows(joint) && (is_comma || joint == end);
        next = joint;
    }
    let is_list = days >= 3 || days == 2 && is_named_row;
    let (last, end) = day_and_month(prompt, weekday(prompt, next).1, false).filter(|_| is_list)?;
    let first = resolve(Parts { day: first.day, ..last }, today, None)?;
    let last = resolve(last, today, None)?;
    let value = Some(FactValue::Days { first: first.min(last), last: Some(last) });
    Some(Found { kind: FactKind::Date, range: Range::of(from, end), value, bound })
}

/// Returns the end of two alternative days: "22 or 23 December".
fn choice(prompt: &Prompt<'_>, at: usize, is_us: bool) -> Option<usize> {
    let (_, end) = day_and_month(prompt, at, is_us).or_else(|| bare_day(prompt, at))?;
    let second = prompt.end(List::Or, end)?;
    let (last, end) = day_and_month(prompt, weekday(prompt, second).1, is_us)?;
    last.month.is_some().then_some(end)
}

/// Returns whether weekdays recur every week: "every" precedes them, hours or a month follow them, or their names are abbreviated.
fn recurs(prompt: &Prompt<'_>, from: usize, end: usize) -> bool {
    let is_every = from > 0 && EVERY.contains(&prompt.fold(from - 1));
    is_every
        || has_hours(prompt, end)
        || prompt.is(List::ShortWeekday, from)
        || prompt.end(List::PartOf, end).is_some_and(|at| prompt.is(List::Month, at))
}

/// Returns whether a weekday with hours starts a line below another line that starts with a weekday: "Mon-Fri 9-5", "Sat 9-1".
fn is_in_timetable(prompt: &Prompt<'_>, at: usize, end: usize) -> bool {
    let is_day = |at: usize| prompt.is(List::Weekday, at) || prompt.is(List::ShortWeekday, at);
    let above = at.checked_sub(1).map(|above| prompt.line_start(above));
    prompt.line_start(at) == at && above.is_some_and(is_day) && has_hours(prompt, end)
}

/// Returns whether a range of hours follows a weekday in a prompt about opening hours with several weekdays: "mon-fri 8-5 sat 9-1".
fn is_opening(prompt: &Prompt<'_>, end: usize) -> bool {
    let count = |list| prompt.all(list, Range::of(0, prompt.words.len())).count();
    let is_about_hours = || matches!(roles::goal(prompt), Some(Goal::OpeningHours | Goal::Closing));
    is_range_of_hours(prompt, end) && count(List::Weekday) + count(List::ShortWeekday) > 1 && is_about_hours()
}

/// Returns whether a range of hours follows within three words.
pub fn has_hours(prompt: &Prompt<'_>, end: usize) -> bool {
    (end..end + 3).find(|at| time(prompt, *at).is_some()).is_some_and(|at| is_range_of_hours(prompt, at))
}

fn is_range_of_hours(prompt: &Prompt<'_>, at: usize) -> bool {
    time(prompt, at).is_some_and(|time| matches!(time.value, Some(FactValue::Clock { end: Some(_), .. })))
}

/// Returns the next date with the weekday at the index `first`, and the next date after it with the weekday at the index `last`.
fn weekdays(prompt: &Prompt<'_>, first: usize, last: usize, today: Date) -> Option<FactValue> {
    let day = |at: usize, from: Date| {
        let weekday = weekday_only(prompt, at)?;
        resolve(Parts { weekday: Some(weekday as u8), ..Parts::default() }, from, None)
    };
    let start = day(first, today)?;
    Some(FactValue::Days { first: start, last: Some(day(last, start)?) })
}

fn weekday_only(prompt: &Prompt<'_>, at: usize) -> Option<u16> {
    let is_short = |at: usize| prompt.at(List::ShortWeekday, at).find(|mark| mark.to == at + 1);
    let is_joined = |at: usize| matches!(prompt.fold(at), "+" | "&" | "-" | "/");
    let is_first = prompt.end(List::To, at + 1).is_some_and(|other| is_short(other).is_some());
    let is_last = prompt.before(List::To, at).is_some_and(|to| to > 0 && is_short(to - 1).is_some());
    let has_partner = is_first
        || is_last
        || is_joined(at + 1) && is_short(at + 2).is_some()
        || at > 1 && is_joined(at - 1) && is_short(at - 2).is_some();
    if let Some(mark) = is_short(at).filter(|_| has_partner) {
        return Some(mark.value);
    }
    let is_day = prompt.before(List::NotDay, at + 1).is_none();
    prompt.at(List::Weekday, at).find(|mark| mark.to == at + 1 && is_day).map(|mark| mark.value)
}

/// Recognizes a weekday and the day in words: "samedi douze".
fn spoken_day(prompt: &Prompt<'_>, at: usize) -> Option<(Parts, usize)> {
    let (weekday, start) = weekday(prompt, at);
    let mark = prompt.at(List::Numeral, start).filter(|mark| (1..=31).contains(&mark.value)).max_by_key(|mark| mark.to)?;
    weekday.is_some().then_some((Parts { weekday, day: Some(mark.value as i8), ..Parts::default() }, mark.to))
}

/// Recognizes the number of a day without a month, optionally after a weekday.
fn bare_day(prompt: &Prompt<'_>, at: usize) -> Option<(Parts, usize)> {
    let (weekday, at) = weekday(prompt, at);
    let day = day(prompt, at)?;
    let end = after_ordinal(prompt, at + 1);
    Some((Parts { weekday, day: Some(day), ..Parts::default() }, end))
}

fn day(prompt: &Prompt<'_>, at: usize) -> Option<i8> {
    let is_plain = prompt.kind(at) == Kind::Number && prompt.raw(at).len() <= 2;
    is_plain.then(|| prompt.raw(at).parse().ok()).flatten().filter(|day| (1..=31).contains(day))
}

fn month(prompt: &Prompt<'_>, at: usize) -> Option<(i8, usize)> {
    // Outside English, the month follows the day, so "mar" before a number is Tuesday: "mar 9".
    let is_day = prompt.lexicon().code != "en" && prompt.fold(at) == "mar" && prompt.kind(at + 1) == Kind::Number;
    if is_day && !(at > 0 && (prompt.kind(at - 1) == Kind::Number || prompt.is(List::Of, at - 1))) {
        return None;
    }
    let mark = prompt.at(List::Month, at).max_by_key(|mark| mark.to)?;
    let is_short = prompt.raw(at).chars().count() <= 4;
    let period =
        usize::from(is_short && prompt.fold(mark.to) == "." && prompt.words.is_glued(mark.to) && !ends_line(prompt, mark.to + 1));
    Some((mark.value as i8 + 1, mark.to + period))
}

fn ends_line(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.kind(at) == Kind::End || prompt.words.is_capital(at) && !prompt.is(List::Month, at)
}

fn weekday(prompt: &Prompt<'_>, at: usize) -> (Option<u8>, usize) {
    if prompt.before(List::NotDay, at + 1).is_some() || prompt.is(List::NotDay, at) {
        return (None, at);
    }
    let full = prompt.at(List::Weekday, at).max_by_key(|mark| mark.to);
    let Some(mark) = full.or_else(|| prompt.at(List::ShortWeekday, at).max_by_key(|mark| mark.to)) else { return (None, at) };
    let mut end = mark.to;
    if matches!(prompt.fold(end), "," | ".") {
        end += 1;
    }
    end = prompt.end(List::OnWord, end).filter(|end| prompt.kind(*end) == Kind::Number).unwrap_or(end);
    (Some(mark.value as u8), end)
}

/// Skips the suffix of an ordinal number: "1st", "1.", "1er", "1º".
fn after_ordinal(prompt: &Prompt<'_>, at: usize) -> usize {
    let is_mark = prompt.words.is_glued(at) && (prompt.is(List::Ordinal, at) || matches!(prompt.fold(at), "º" | "°" | "ª"));
    let is_period = prompt.fold(at) == "." && prompt.words.is_glued(at);
    let continues = !prompt.words.is_capital(at + 1) || prompt.is(List::Month, at + 1);
    if is_mark || is_period && continues && prompt.kind(at + 1) != Kind::End { at + 1 } else { at }
}

fn year(prompt: &Prompt<'_>, at: usize) -> (Option<i16>, usize) {
    let start = if matches!(prompt.fold(at), "," | ".") { at + 1 } else { at };
    let start = prompt.end(List::Of, start).unwrap_or(start);
    let year = prompt.raw(start).parse::<i16>().ok().filter(|year| prompt.raw(start).len() == 4 && (1990..2100).contains(year));
    year.map_or((None, at), |year| (Some(year), start + 1))
}

/// Recognizes a single date, with or without its weekday. Returns its parts and the index after its last word.
fn single(prompt: &Prompt<'_>, at: usize, strength: Strength, is_us: bool) -> Option<(Parts, usize)> {
    let (weekday, start) = weekday(prompt, at);
    let with_day = day_and_month(prompt, start, is_us);
    if let Some((parts, end)) = with_day {
        return Some((Parts { weekday, ..parts }, end));
    }
    // The date can follow its weekday in brackets: "Freitag (13.11.)".
    let in_brackets = || day_and_month(prompt, start + 1, is_us).filter(|(_, end)| prompt.fold(*end) == ")");
    if let Some((parts, end)) = weekday.filter(|_| prompt.fold(start) == "(").and_then(|_| in_brackets()) {
        return Some((Parts { weekday, ..parts }, end + 1));
    }
    if let Some(found) = named(prompt, at) {
        return Some(found);
    }
    // The day can be an ordinal number in words: "Wednesday the seventh".
    let ordinal = prompt.end(List::Article, start).unwrap_or(start);
    let mark = prompt.at(List::DayOrdinal, ordinal).filter(|mark| mark.value > 0).max_by_key(|mark| mark.to);
    if let (Some(_), Some(mark)) = (weekday, mark) {
        return Some((Parts { weekday, day: Some(mark.value as i8), ..Parts::default() }, mark.to));
    }
    let is_short = prompt.at(List::Weekday, at).next().is_none();
    if let (Some(_), Some(day)) = (weekday, day(prompt, start)) {
        let end = after_ordinal(prompt, start + 1);
        // A number after a comma, or with a unit after a plural weekday, is not a day: "on Tuesdays, 10 min".
        if prompt.fold(start - 1) == "," && end == start + 1 || is_plural(prompt, at) && prompt.is(List::Unit, end) {
            return None;
        }
        let is_article = at > 0 && prompt.fold(at - 1) == "le";
        let is_time = !is_article && end == start + 1 && time(prompt, start).is_some();
        let is_hour = !is_article && day <= HOURS;
        let is_clock = is_time
            || prompt.is(List::Hour, end)
            || prompt.is(List::Am, end)
            || prompt.is(List::Pm, end)
            || is_short && is_hour && prompt.end(List::To, end).is_some_and(|next| clock(prompt, next).is_some());
        if !is_clock && !prompt.is(List::Currency, end) && !prompt.is(List::Percent, end) {
            return Some((Parts { weekday, day: Some(day), ..Parts::default() }, end));
        }
    }
    // The short forms of French weekdays are also nouns: "le jeu" is a game.
    let is_noun = is_short && matches!(prompt.fold(at), "jeu" | "mer" | "mar") && prompt.kind(start) != Kind::Number;
    if weekday.is_some()
        && !is_noun
        && prompt.before(List::NotDay, at + 1).is_none()
        && (!is_short || strength == Strength::Led || prompt.kind(start) == Kind::Number)
    {
        let end = prompt.at(List::Weekday, at).chain(prompt.at(List::ShortWeekday, at)).map(|mark| mark.to).max()?;
        return Some((Parts { weekday, ..Parts::default() }, end));
    }
    lone_day(prompt, at, strength).or_else(|| vague(prompt, at, strength))
}

/// Recognizes a day with its month, in either order or in digits.
fn day_and_month(prompt: &Prompt<'_>, at: usize, is_us: bool) -> Option<(Parts, usize)> {
    let with_year = |day: i8, month: i8, end: usize| {
        let (year, end) = year(prompt, end);
        (Parts { day: Some(day), month: Some(month), year, ..Parts::default() }, end)
    };
    if let Some(day) = day(prompt, at) {
        let middle = after_ordinal(prompt, at + 1);
        let middle = prompt.end(List::Of, middle).unwrap_or(middle);
        if let Some((month, end)) = month(prompt, middle) {
            return Some(with_year(day, month, end));
        }
        if prompt.fold(at + 1) == "/" && prompt.words.is_glued(at + 1) {
            return slashed(prompt, at, is_us);
        }
    }
    if let Some(mark) = prompt.at(List::Numeral, at).filter(|mark| (1..=31).contains(&mark.value)).max_by_key(|mark| mark.to) {
        let middle = prompt.end(List::Of, mark.to).unwrap_or(mark.to);
        if let Some((month, end)) = month(prompt, middle) {
            return Some(with_year(mark.value as i8, month, end));
        }
    }
    if let Some((month, middle)) = month(prompt, at) {
        let middle = prompt.end(List::OnWord, middle).filter(|middle| day(prompt, *middle).is_some()).unwrap_or(middle);
        if let Some(day) = day(prompt, middle) {
            let end = after_ordinal(prompt, middle + 1);
            if !prompt.is(List::Percent, end) && !prompt.is(List::Currency, end) {
                return Some(with_year(day, month, end));
            }
        }
    }
    dotted(prompt, at)
}

/// Recognizes a date with periods: "24.12.", "24.12.2026", "1.1.27".
fn dotted(prompt: &Prompt<'_>, at: usize) -> Option<(Parts, usize)> {
    let text = prompt.raw(at);
    // A number directly after "v" is a version, not a date: "V4.2".
    let is_version = at > 0 && prompt.fold(at - 1) == "v" && prompt.words.is_glued(at);
    if prompt.kind(at) != Kind::Number || text.contains([',', ':', '\'']) || is_version {
        return None;
    }
    let mut parts = text.split('.');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next());
    let (day, month) = (day.parse::<i8>().ok()?, month.parse::<i8>().ok()?);
    // The third part must have the length of a year: "1.4.2" is a version number, not a date.
    let is_year = year.is_none_or(|year| matches!(year.len(), 2 | 4));
    let is_date = (1..=31).contains(&day) && (1..=12).contains(&month) && is_year && parts.next().is_none();
    let is_unit = prompt.is(List::Currency, at + 1) || prompt.is(List::Percent, at + 1) || prompt.is(List::Hour, at + 1);
    let period = prompt.fold(at + 1) == "." && prompt.words.is_glued(at + 1);
    let next_year = prompt.raw(at + 2).parse::<i16>().ok().filter(|year| period && (1990..2100).contains(year));
    if !is_date || is_unit || !period && year.is_none() && !is_dotted_day(prompt, at) {
        return None;
    }
    let year = match year {
        Some(year) => Some(year.parse::<i16>().ok().map(|year| if year < 100 { year + 2000 } else { year })?),
        None => next_year,
    };
    // A period that ends a sentence is not part of a date with a year.
    let end = if next_year.is_some() { at + 3 } else { at + 1 + usize::from(period && year.is_none()) };
    Some((Parts { day: Some(day), month: Some(month), year, ..Parts::default() }, end))
}

fn slashed(prompt: &Prompt<'_>, at: usize, is_us: bool) -> Option<(Parts, usize)> {
    let (first, second) = (prompt.raw(at).parse::<i8>().ok()?, prompt.raw(at + 2).parse::<i8>().ok()?);
    let (day, month) = if is_us || second > 12 { (second, first) } else { (first, second) };
    let (day, month) = if month > 12 { (month, day) } else { (day, month) };
    let fits = (1..=31).contains(&day) && (1..=12).contains(&month) && prompt.words.is_glued(at + 2);
    let year = (prompt.fold(at + 3) == "/").then(|| prompt.raw(at + 4).parse::<i16>().ok()).flatten();
    let year = year.map(|year| if year < 100 { year + 2000 } else { year });
    let end = if year.is_some() { at + 5 } else { at + 3 };
    fits.then_some((Parts { day: Some(day), month: Some(month), year, ..Parts::default() }, end))
}

/// Recognizes named days, such as holidays, and relative days, such as "tomorrow".
fn named(prompt: &Prompt<'_>, at: usize) -> Option<(Parts, usize)> {
    if let Some(mark) = prompt.at(List::NamedDay, at).max_by_key(|mark| mark.to) {
        let (month, day) = lexicons()[usize::from(mark.language)].day(mark.value);
        return Some((Parts { day: Some(day), month: Some(month), ..Parts::default() }, mark.to));
    }
    let offsets = [(List::Today, 0), (List::Tomorrow, 1), (List::Yesterday, -1)];
    offsets.into_iter().find_map(|(list, days)| {
        let end = prompt.end(list, at)?;
        Some((Parts { offset: Some(days), ..Parts::default() }, end))
    })
}

/// Recognizes a day without a month: "the 2nd", "am 7.", "le 27", "dia 23".
fn lone_day(prompt: &Prompt<'_>, at: usize, strength: Strength) -> Option<(Parts, usize)> {
    // Three numbers in a row are a phone number: "au 03 81 55 50 41".
    let is_phone = prompt.kind(at + 1) == Kind::Number && prompt.kind(at + 2) == Kind::Number;
    let day = day(prompt, at).filter(|_| !is_phone)?;
    let end = after_ordinal(prompt, at + 1);
    let is_ordinal = end > at + 1;
    // In French, a lone number after "au" can be an extension, a room or a channel: "Reservation au 9".
    let is_bare_au = prompt.lexicon().code == "fr" && at > 0 && prompt.fold(at - 1) == "au";
    let has_start = || (at.saturating_sub(5)..at).any(|at| prompt.kind(at) == Kind::Number || prompt.fold(at) == "jusqu");
    if is_bare_au && !has_start() {
        return None;
    }
    let noun = if is_ordinal { end } else { at + 1 };
    let is_counted = is_counted(prompt, noun);
    let is_apart = prompt.kind(noun) != Kind::Word
        || prompt.is(List::And, noun)
        || is_ordinal && strength == Strength::Led
        || prompt.is(List::OnWord, noun)
        || prompt.is(List::FromWord, noun)
        || prompt.is(List::TimeAt, noun)
        || prompt.is(List::For, noun)
        || prompt.is(List::CueClosed, noun)
        || prompt.is(List::To, noun);
    let led = strength == Strength::Led && prompt.before(List::OnWord, at).is_some();
    let glued = prompt.words.is_glued(noun) && matches!(prompt.fold(noun), "-" | "x" | ":" | "/" | "%");
    let bound =
        prompt.before(List::FromWord, at).or_else(|| prompt.before(List::UntilWord, at)).is_some_and(|from| from + 2 <= at);
    let is_apart = is_apart || bound && prompt.lexicon().code != "en";
    let is_article = prompt.before(List::Article, at).is_some() || led || bound || at > 0 && prompt.is(List::OnWord, at - 1);
    if is_ordinal && (prompt.is(List::CueClosed, end) || prompt.is(List::CueClosed, at)) {
        return Some((Parts { day: Some(day), ..Parts::default() }, end));
    }
    (is_article && (is_apart || is_ordinal) && !is_counted && !glued)
        .then_some((Parts { day: Some(day), ..Parts::default() }, end))
}

/// Returns whether the number before a word counts something other than days.
fn is_counted(prompt: &Prompt<'_>, at: usize) -> bool {
    let lists = [List::Hour, List::Am, List::Pm, List::Currency, List::Percent, List::Unit, List::Places, List::Email];
    lists.into_iter().any(|list| prompt.is(list, at))
}

/// Recognizes a month, or a part of it.
fn vague(prompt: &Prompt<'_>, at: usize, strength: Strength) -> Option<(Parts, usize)> {
    let part = prompt.end(List::PartOf, at);
    let (found, end) = month(prompt, part.unwrap_or(at))?;
    let is_led = part.is_some() || strength == Strength::Led || prompt.before(List::PartOf, at).is_some();
    let (year, end) = year(prompt, end);
    let is_month = is_led || year.is_some();
    is_month.then_some((Parts { month: Some(found), day: Some(1), year, is_vague: true, ..Parts::default() }, end))
}

/// Returns the date that the parts denote: the latest possible one up to `until` or, without `until`, the next one or a recent one.
fn resolve(parts: Parts, today: Date, until: Option<Date>) -> Option<Date> {
    if let Some(days) = parts.offset {
        return today.checked_add(days.days()).ok();
    }
    let weekday = parts.weekday.and_then(|weekday| Weekday::from_monday_zero_offset(weekday as i8).ok());
    let Some(day) = parts.day else {
        return weekday.and_then(|weekday| today.tomorrow().ok()?.checked_sub(1.days()).ok()?.nth_weekday(1, weekday).ok());
    };
    if let (Some(month), Some(year)) = (parts.month, parts.year) {
        return Date::new(year, month, day).ok();
    }
    let near = until.unwrap_or(today);
    let mut dates: Vec<Date> = Vec::new();
    for year in [near.year() - 1, near.year(), near.year().saturating_add(1)] {
        let months = parts.month.map_or_else(|| (1..=12).collect::<Vec<i8>>(), |month| vec![month]);
        dates.extend(months.into_iter().filter_map(|month| Date::new(year, month, day).ok()));
    }
    if let Some(until) = until {
        return dates.into_iter().filter(|date| *date <= until).max();
    }
    // A date with a month can be up to 45 days in the past; an older date is read as a date in the next year. A month alone stands for its
    // first day, so it can be 30 days older.
    let past = if parts.is_vague { 75 } else { 45 };
    let oldest = if parts.month.is_some() { today.checked_sub(past.days()).ok()? } else { today };
    let fitting = |date: &&Date| **date >= oldest && weekday.is_none_or(|weekday| date.weekday() == weekday);
    // "Saturday the 14th", written on Monday the 16th, is in the past, because the next Saturday that is a 14th is months away.
    if let (None, Some(weekday)) = (parts.month, weekday) {
        let is_last = |date: &&Date| {
            **date < today && date.weekday() == weekday && date.checked_add(14.days()).is_ok_and(|next| next >= today)
        };
        let is_soon = |date: &Date| {
            *date >= today && date.weekday() == weekday && today.checked_add(45.days()).is_ok_and(|last| *date <= last)
        };
        if let Some(past) = dates.iter().find(is_last).filter(|_| !dates.iter().any(is_soon)) {
            return Some(*past);
        }
    }
    let future = dates.iter().filter(|date| **date >= oldest).min().copied();
    dates
        .iter()
        .filter(fitting)
        .min()
        .copied()
        .filter(|date| parts.month.is_none() || date.checked_sub(400.days()).is_ok_and(|back| back <= today))
        .or(future)
}
