//! Recognizes the times in a prompt, in the notations of several languages.

use jiff::civil::Time;

use super::super::{FactKind, FactValue};
use super::facts::{Bound, Found};
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::tokens::Kind;

/// Recognizes a time or a range of times.
pub fn time(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    let led = prompt.end(List::TimeAt, at).filter(|end| *end > at);
    let start = led.unwrap_or(at);
    let is_led = led.is_some() || prompt.before(List::TimeAt, start).is_some();
    let is_day = |at: usize| prompt.is(List::Weekday, at) || prompt.is(List::ShortWeekday, at);
    let after_day =
        (start.saturating_sub(6)..start).any(is_day) || (start.saturating_sub(2)..start).any(|at| prompt.is(List::Month, at));
    let is_led = is_led || prompt.before(List::Between, start).is_some();
    let bound = if prompt.is(List::UntilWord, at) || prompt.before(List::UntilWord, start).is_some() {
        Bound::Until
    } else {
        Bound::None
    };
    let first = clock(prompt, start)?;
    // Two times with a word such as "and" between them are not a range: "11h and 15h".
    let is_pair = matches!(prompt.fold(first.end), "&" | "+" | "/")
        || prompt.is(List::And, first.end) && prompt.kind(first.end) == Kind::Word;
    let is_pair = is_pair && prompt.before(List::Between, start).is_none();
    if is_day_number(prompt, start, &first) {
        return None;
    }
    if let Some(to) = prompt.end(List::To, first.end).filter(|_| !is_pair) {
        let to = prompt.end(List::TimeAt, to).unwrap_or(to);
        if let Some(last) = clock(prompt, to) {
            let is_marked = first.is_marked || last.is_marked;
            let is_dash = prompt.fold(first.end) == "-";
            let is_between = prompt.before(List::Between, start).is_some();
            if (is_marked
                || (after_day || is_led) && is_dash
                || is_between
                || after_day && !prompt.is(List::And, first.end)
                || first.has_minutes && last.has_minutes)
                && !counts(prompt, last.end)
            {
                let is_and = prompt.is(List::And, first.end) || matches!(prompt.fold(first.end), "/" | "&" | "+");
                let hour = if last.is_pm
                    && !first.is_marked
                    && first.hour < 12
                    && first.hour <= last.hour - 12 + 12 * i8::from(last.hour < 12)
                    && !is_and
                {
                    first.hour + if last.hour >= 12 && first.hour < last.hour - 12 + 1 { 12 } else { 0 }
                } else {
                    first.hour
                };
                // An end before the start is in the afternoon: "10 to 4".
                let is_afternoon = !first.is_marked && !last.is_marked && last.hour < first.hour && last.hour > 0;
                let end =
                    if is_afternoon && last.hour + 12 > first.hour && first.hour <= 12 { last.hour + 12 } else { last.hour };
                let value = Some(FactValue::Clock { start: clamp(hour, first.minute)?, end: clamp(end, last.minute) });
                return Some(Found { kind: FactKind::Time, range: Range::of(at, last.end), value, bound });
            }
        }
    }
    let is_hours = is_number_of_hours(prompt, start, &first);
    let is_near = (start.saturating_sub(2)..start).any(is_day);
    if is_hours && !is_led && !is_near || first.hour == 24 && is_hours {
        return None;
    }
    let is_time = first.is_marked
        || (is_led && prompt.kind(first.end) != Kind::Word
            || first.has_minutes && (is_led || first.has_colon || prompt.before(List::Month, start).is_some()))
            && !counts(prompt, first.end);
    let is_named = prompt.kind(first.end) == Kind::Word && prompt.words.is_capital(first.end);
    let is_free =
        !is_named && is_led && !first.is_marked && !first.has_minutes && !counts(prompt, first.end) && is_hour_led(prompt, start);
    let value = Some(FactValue::Clock { start: clamp(first.hour, first.minute)?, end: None });
    (is_time && (first.is_marked || first.has_minutes) || is_free).then_some(Found {
        kind: FactKind::Time,
        range: Range::of(at, first.end),
        value,
        bound,
    })
}

/// Returns whether a number of hours with a unit starts at a word: "24 h". The unit in "meio dia" belongs to the name of a time.
fn is_number_of_hours(prompt: &Prompt<'_>, start: usize, clock: &Clock) -> bool {
    let is_number = prompt.kind(start) == Kind::Number;
    is_number && clock.is_marked && !clock.has_minutes && (start + 1..clock.end).any(|at| prompt.is(List::Unit, at))
}

/// Returns whether a number is a day of the month followed by a time: "lundi 15 à 6h30".
fn is_day_number(prompt: &Prompt<'_>, start: usize, clock: &Clock) -> bool {
    let is_day = start > 0 && (prompt.is(List::Weekday, start - 1) || prompt.is(List::ShortWeekday, start - 1));
    is_day && !clock.is_marked && prompt.fold(clock.end) == "a" && prompt.lexicon().code == "fr"
}

/// Returns whether the word before a number usually precedes hours, such as "at" in "at 10".
fn is_hour_led(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.before(List::TimeAt, at).is_some_and(|from| !prompt.is(List::FromWord, from) && !prompt.is(List::UntilWord, from))
}

/// Returns whether the words at an index show that the number before them is not a time: a currency, "percent", a duration, a word for
/// places, or a month.
fn counts(prompt: &Prompt<'_>, at: usize) -> bool {
    let lists = [List::Currency, List::Percent, List::Unit, List::Places, List::Month];
    lists.into_iter().any(|list| prompt.is(list, at))
}

fn clamp(hour: i8, minute: i8) -> Option<Time> {
    Time::new(if hour == 24 { 0 } else { hour }, minute, 0, 0).ok()
}

pub struct Clock {
    hour: i8,
    minute: i8,
    /// Whether a word or symbol marks the number as a time.
    is_marked: bool,
    is_pm: bool,
    has_minutes: bool,
    has_colon: bool,
    pub end: usize,
}

pub fn clock(prompt: &Prompt<'_>, at: usize) -> Option<Clock> {
    for (list, hour) in [(List::Noon, 12), (List::Midnight, 24)] {
        if let Some(end) = prompt.end(list, at) {
            return Some(Clock { hour, minute: 0, is_marked: true, is_pm: false, has_minutes: false, has_colon: false, end });
        }
    }
    if let Some(spoken) = spoken(prompt, at) {
        return Some(spoken);
    }
    if prompt.kind(at) != Kind::Number {
        return None;
    }
    let text = prompt.raw(at);
    let mut parts = text.split([':', '.']);
    let hour: i8 = parts.next()?.parse().ok().filter(|hour| (0..=24).contains(hour))?;
    let minutes = parts.next();
    let minute: i8 = minutes
        .map_or(Some(0), |minutes| minutes.parse().ok().filter(|_| minutes.len() == 2))
        .filter(|minute| (0..60).contains(minute))?;
    if parts.next().is_some() || text.contains([',', '\'']) {
        return None;
    }
    let mut found = Clock {
        hour,
        minute,
        is_marked: false,
        is_pm: false,
        has_minutes: minutes.is_some(),
        has_colon: text.contains(':'),
        end: at + 1,
    };
    if minutes.is_none() && prompt.fold(at + 1) == ":" && prompt.kind(at + 2) == Kind::Number {
        return None;
    }
    mark(prompt, &mut found);
    Some(found)
}

/// Reads the words after a time that mark it as a time: "am", "Uhr", "h 30", "CET".
fn mark(prompt: &Prompt<'_>, found: &mut Clock) {
    let after = found.end;
    if let Some(end) = prompt.end(List::Pm, after) {
        found.hour += if found.hour < 12 { 12 } else { 0 };
        (found.is_marked, found.is_pm, found.end) = (true, true, end);
    } else if let Some(end) = prompt.end(List::Am, after) {
        found.hour -= if found.hour == 12 { 12 } else { 0 };
        (found.is_marked, found.end) = (true, end);
    } else if let Some(end) = prompt.end(List::Hour, after) {
        (found.is_marked, found.end) = (true, end);
        let minute = prompt.raw(end).parse::<i8>().ok().filter(|minute| prompt.raw(end).len() == 2 && (0..60).contains(minute));
        if let Some(minute) = minute.filter(|_| {
            !found.has_minutes && (prompt.words.is_glued(end) || prompt.fold(after) == "h") && !prompt.is(List::Month, end + 1)
        }) {
            (found.minute, found.has_minutes, found.end) = (minute, true, end + 1);
        }
    }
    if found.is_marked
        && prompt.fold(found.end) == "."
        && prompt.fold(found.end - 1) == "m"
        && prompt.words.is_glued(found.end)
        && !prompt.words.is_capital(found.end + 1)
    {
        found.end += 1;
    }
    let is_zone = |end: &usize| {
        let text = prompt.text(Range::of(found.end, *end));
        text.chars().count() > 3 || !text.chars().any(char::is_lowercase)
    };
    if let Some(end) = prompt.end(List::Zone, found.end).filter(is_zone) {
        found.is_marked |= found.has_minutes;
        found.end = end;
    }
}

/// Recognizes "half past two" and "halb drei".
fn spoken(prompt: &Prompt<'_>, at: usize) -> Option<Clock> {
    let (start, back) = match (prompt.end(List::HalfPast, at), prompt.end(List::HalfTo, at)) {
        (Some(end), _) => (end, 0),
        (_, Some(end)) => (end, 1),
        _ => return None,
    };
    let hour = prompt.at(List::Numeral, start).map(|mark| mark.value as i8).max();
    let hour = hour.or_else(|| prompt.raw(start).parse().ok()).filter(|hour| (1..=12).contains(hour))?;
    Some(Clock {
        hour: hour - back,
        minute: 30,
        is_marked: true,
        is_pm: false,
        has_minutes: true,
        has_colon: false,
        end: start + 1,
    })
}
