//! Extracts event details and opening hours from statements that only list them, so that a table can show them.

use jiff::civil::Date;

use super::content::Content;
use super::language::Bank;
use super::sections::Writer;
use super::text::{capital, folded, own_place};
use crate::features::emails::brief::{Fact, FactKind, FactRole, FactValue, Goal};

/// The maximum number of words, besides the date, in a row of opening hours.
const NOTE_WORDS_MAX: usize = 6;
/// The minimum number of rows in a table of opening hours. A single day needs no table.
const ROWS_MIN: usize = 2;

/// A weekday without a date can be the second day of an event only if it is at most this many days after the first day.
const NEXT_DAYS: i32 = 6;

/// The maximum number of words in the address after the name of a place.
const ADDRESS_WORDS_MAX: usize = 8;
/// The number of characters between the name of a place and its address: a comma and a space.
const ADDRESS_GAP: u32 = 2;

impl Content<'_> {
    /// Returns the words before a statement's colon, if it has one, and the remaining text, split at commas. Commas inside brackets and
    /// inside facts, such as dates, do not split the text.
    pub fn parts(&self, at: usize) -> (Option<String>, Vec<String>) {
        let text = self.text(at);
        let text = text.trim_end_matches('.');
        let (head, rest) = text.split_once(": ").map_or((None, text), |(head, rest)| (Some(head.to_owned()), rest));
        let facts: Vec<String> =
            self.facts_in(at).into_iter().map(|at| self.text(at)).filter(|text| text.contains(", ")).collect();
        // The commas inside facts are protected: each is replaced by a null character.
        let kept = facts.iter().fold(rest.to_owned(), |text, fact| text.replace(fact.as_str(), &fact.replace(", ", "\0")));
        let mut depth = 0_i32;
        let kept: String = kept
            .split_inclusive(", ")
            .map(|part| {
                depth += part.matches('(').count() as i32 - part.matches(')').count() as i32;
                if depth > 0 { part.replace(", ", "\0") } else { part.to_owned() }
            })
            .collect();
        let mut parts: Vec<String> = Vec::new();
        for part in kept.split(", ").map(|part| part.trim().replace('\0', ", ")) {
            // A list of numbers such as "25, 50 or 100 euros" is one part.
            match parts.last_mut() {
                Some(last)
                    if is_bare_number(last.rsplit(' ').next())
                        && is_bare_number(part.split(' ').next())
                        && lists_numbers(&part, Bank::of(self.language)) =>
                {
                    last.push_str(", ");
                    last.push_str(&part);
                }
                _ => parts.push(part),
            }
        }
        (head, parts)
    }

    /// Returns the place of an event with its address, as written in the statement that contains the event's date or time: "The Net Loft,
    /// Back Road West, St Ives".
    pub fn venue(&self) -> Option<String> {
        let addressed = || {
            let (place, at) = self.addressed_place()?;
            Some(format!("{}, {}", own_place(place.text.trim(), self.language), self.text(at).trim_end_matches('.')))
        };
        self.statements.iter().find_map(|at| self.venue_in(*at)).or_else(addressed)
    }

    /// Returns whether guests can attend the event without a reservation.
    pub fn needs_no_booking(&self) -> bool {
        let bank = Bank::of(self.language);
        self.statements.iter().any(|at| bank.has_word("words.no_booking", &self.text(*at)))
    }

    /// Returns the place that the request names and the index of the next statement, if that statement contains only the address of the
    /// place: "Invite everyone to our shop, Market Street 12."
    fn addressed_place(&self) -> Option<(&Fact, usize)> {
        let is_address = |text: &str| {
            let words = text.split(' ').count();
            (2..=ADDRESS_WORDS_MAX).contains(&words)
                && text.starts_with(char::is_uppercase)
                && text.contains(|c: char| c.is_ascii_digit())
        };
        self.brief.facts.iter().filter(|fact| fact.kind == FactKind::Place && fact.story.is_none()).find_map(|place| {
            let end = place.span?.end;
            let follows = |at: &usize| {
                let start = self.fact(*at).span.map_or(0, |span| span.start);
                start.checked_sub(end) == Some(ADDRESS_GAP) && self.facts_in(*at).is_empty() && is_address(&self.text(*at))
            };
            Some((place, self.statements.iter().copied().find(follows)?))
        })
    }

    /// Returns the time in the statement that contains the place of an event: "4-8pm, at The Net Loft".
    pub fn venue_time(&self) -> Option<&Fact> {
        let at = self.statements.iter().find(|at| self.venue_in(**at).is_some())?;
        let facts = self.facts_in(*at).into_iter().map(|at| self.fact(at));
        facts.into_iter().find(|fact| fact.kind == FactKind::Time && fact.role == Some(FactRole::Event))
    }

    fn venue_in(&self, at: usize) -> Option<String> {
        let facts: Vec<&Fact> = self.facts_in(at).into_iter().map(|at| self.fact(at)).collect();
        let is_dated = |fact: &&Fact| fact.role == Some(FactRole::Event) && fact.value.is_some();
        if !facts.iter().any(is_dated) {
            return None;
        }
        let (_, parts) = self.parts(at);
        let places = Bank::of(self.language).phrases("words.places");
        let has_fact = |part: &str| facts.iter().any(|fact| part.contains(fact.text.trim()));
        let first = |part: &str| folded(part.split(' ').next().unwrap_or_default());
        let starts = |part: &str| part.contains(' ') && places.iter().any(|word| folded(word) == first(part));
        let names = |part: &str| facts.iter().any(|fact| fact.kind == FactKind::Place && part.contains(fact.text.trim()));
        // A part with a value, such as the time in "at 7 at the inn", is not used as a whole. Below, the venue is extracted from such
        // parts.
        let is_free = |part: &str| !facts.iter().any(|fact| fact.value.is_some() && part.contains(fact.text.trim()));
        let is_address = |part: &&String| part.starts_with(char::is_uppercase) && !has_fact(part);
        let joined = |name: &str, own: usize| {
            let address = parts[own + 1..].iter().take_while(is_address).cloned();
            std::iter::once(capital(own_place(name, self.language))).chain(address).collect::<Vec<_>>().join(", ")
        };
        if let Some(own) = parts.iter().position(|part| is_free(part) && starts(part) && (names(part) || !has_fact(part))) {
            // The preposition before a name is removed: "at The Net Loft". Before other words, it stays: "in the lane".
            let part = &parts[own];
            let (_, name) = part.split_once(' ').unwrap_or(("", part));
            return Some(joined(if name.starts_with(char::is_uppercase) { name } else { part }, own));
        }
        // An address can follow the place: "at 7 at our shop, Market Street, Leipzig", "at the shop on Walcot Street".
        let place = facts.iter().find(|fact| fact.kind == FactKind::Place)?.text.trim();
        let start = |part: &str| part.rfind(&format!(" {place}")).map(|at| at + 1).or(part.starts_with(place).then_some(0));
        let (own, whole) = parts.iter().enumerate().find_map(|(own, part)| Some((own, &part[start(part)?..])))?;
        let rest = whole[place.len()..].trim();
        let is_near = (starts(rest) || names(rest))
            && rest.split_once(' ').is_some_and(|(_, name)| name.starts_with(char::is_uppercase))
            && rest.split(' ').count() <= ADDRESS_WORDS_MAX
            && is_free(rest);
        let is_followed = || rest.is_empty() && parts.get(own + 1).is_some_and(|next| is_address(&next));
        (is_near || is_followed()).then(|| joined(whole, own))
    }

    /// Returns whether `shown`, the folded text of a table or an email, contains everything that a statement says: all its facts, and all
    /// its other words except common words and the name of the event.
    pub fn is_covered(&self, at: usize, shown: &str) -> bool {
        let facts: Vec<&Fact> = self.facts_in(at).into_iter().map(|at| self.fact(at)).collect();
        let is_address = || self.addressed_place().is_some_and(|(_, address)| address == at);
        if is_address() && shown.contains(folded(self.text(at).trim_end_matches('.')).trim()) {
            return true;
        }
        let is_shown = |fact: &&Fact| self.is_said(fact, shown);
        if facts.is_empty() || !facts.iter().all(is_shown) {
            return false;
        }
        let name = self.brief.event.as_ref().map(|event| event.name.text.clone());
        let venue = self.venue_in(at).filter(|venue| shown.contains(folded(venue).trim()));
        let known = facts.iter().map(|fact| fact.text.clone()).chain(name).chain(venue);
        let mut known: Vec<String> = known.map(|text| folded(&text)).filter(|text| !text.trim().is_empty()).collect();
        known.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let rest = known.iter().fold(folded(&self.text(at)), |text, own| text.replacen(own.as_str(), " ", 1));
        let bank = Bank::of(self.language);
        let is_small = |word: &str| {
            ["words.common", "words.only", "words.places"]
                .into_iter()
                .any(|place| bank.phrases(place).iter().any(|own| folded(own).trim() == word))
        };
        rest.split_whitespace().all(|word| is_small(word) || shown.contains(&format!(" {word} ")))
    }

    /// Returns the statements of a notice that only state what happens on a day, such as "Closed 25 Dec - 3 Jan", each with the day and the
    /// remaining text.
    pub fn day_notes(&self) -> Vec<(usize, usize, String)> {
        let is_day = |at: &usize| matches!(self.fact(*at).value, Some(FactValue::Days { .. }));
        let note = |at: &usize| {
            let facts = self.facts_in(*at);
            let mut days = facts.iter().copied().filter(is_day);
            let (day, None) = (days.next()?, days.next()) else { return None };
            let text = self.text(*at);
            let (before, after) = text.split_once(self.text(day).as_str())?;
            let trim = |part: &str| part.trim_matches([' ', ',', ':', '.', '–', '-']).to_owned();
            let parts: Vec<String> = [trim(before), trim(after)].into_iter().filter(|part| !part.is_empty()).collect();
            let rest = parts.join(", ");
            let words = rest.split_whitespace().count();
            ((1..=NOTE_WORDS_MAX).contains(&words)).then(|| (*at, day, capital(&rest)))
        };
        self.statements.iter().filter_map(note).collect()
    }
}

impl Content<'_> {
    /// Returns whether a date is only a weekday with a time and follows another day of the same event, also with a time: "Friday 5 March
    /// 9pm to Saturday 6am".
    pub fn is_second_day(&self, fact: &Fact, day: Date) -> bool {
        let facts = &self.brief.facts;
        let Some(at) = facts.iter().position(|other| std::ptr::eq(other, fact)).filter(|at| *at >= 2) else { return false };
        let is_time = |at: usize| facts.get(at).is_some_and(|fact| fact.kind == FactKind::Time);
        let is_near = match &facts[at - 2].value {
            Some(FactValue::Days { first, last: None }) => {
                first.until(day).is_ok_and(|span| (1..=NEXT_DAYS).contains(&span.get_days()))
            }
            _ => false,
        };
        let is_event = [at - 2, at].into_iter().all(|at| facts[at].role == Some(FactRole::Event));
        let is_named = !fact.text.contains(|c: char| c.is_ascii_digit());
        is_near && is_event && is_named && is_time(at - 1) && is_time(at + 1)
    }

    /// Returns the rows of a statement that lists opening hours, each with its day and the text after the day: "Monday closed,
    /// Tuesday to Friday 10–6".
    pub fn listed_hours(&self, at: usize) -> Option<Vec<(String, String)>> {
        let facts: Vec<String> = self
            .facts_in(at)
            .into_iter()
            .filter(|at| matches!(self.fact(*at).kind, FactKind::Date | FactKind::Period))
            .map(|at| self.text(at))
            .collect();
        let (_, parts) = self.parts(at);
        let row = |part: &String| {
            let day = facts.iter().filter(|day| part.starts_with(day.as_str())).max_by_key(|day| day.len())?;
            let rest = part[day.len()..].trim_matches([' ', ':', '–', '-', '=']);
            (!rest.is_empty()).then(|| (capital(day), capital(rest)))
        };
        let rows: Vec<(String, String)> = parts.iter().map_while(row).collect();
        (rows.len() == parts.len() && rows.len() >= ROWS_MIN).then_some(rows)
    }
}

impl Writer<'_> {
    /// Returns the rows of opening hours in date order: each day with its hours or a note. Also returns the positions of the statements
    /// that the rows replace. Both lists are empty for a single day, which needs no table.
    pub fn hours(&self) -> (Vec<(String, String)>, Vec<usize>) {
        let content = self.content;
        if self.goal != Goal::OpeningHours {
            return (Vec::new(), Vec::new());
        }
        let facts = &content.brief.facts;
        let first = |at: usize| match &facts[at].value {
            Some(FactValue::Days { first, .. }) => Some(*first),
            _ => None,
        };
        let mut rows = Vec::new();
        for at in content.loose.iter().copied() {
            let Some(day) = first(at) else { continue };
            let next = content.loose.iter().copied().find(|other| *other > at);
            let time = next.filter(|next| facts[*next].kind == FactKind::Time).and_then(|next| content.shown(&facts[next]));
            rows.extend(time.map(|time| (day, at, time)));
        }
        if rows.len() < ROWS_MIN {
            let list = content.statements.iter().find_map(|at| content.listed_hours(*at).map(|rows| (rows, vec![*at])));
            return list.unwrap_or_default();
        }
        let notes = content.day_notes();
        let replaced = notes.iter().map(|(at, ..)| *at).collect();
        rows.extend(notes.into_iter().filter_map(|(_, day, note)| Some((first(day)?, day, note))));
        rows.sort_by_key(|(day, ..)| *day);
        (rows.into_iter().filter_map(|(_, at, text)| Some((capital(&content.shown(&facts[at])?), text))).collect(), replaced)
    }
}

impl Writer<'_> {
    /// Returns the rows of the regular weekly opening hours: the position of the hours in the brief, the weekdays, and the hours. Empty for
    /// a single row, which needs no table.
    pub fn weekly_hours(&self) -> Vec<(usize, String, String)> {
        let content = self.content;
        let facts = &content.brief.facts;
        let is_weekly = |fact: &Fact| {
            let text = folded(&fact.text);
            let is_day = matches!(fact.kind, FactKind::Date | FactKind::Period) && fact.value.is_none() && fact.story.is_none();
            is_day && content.format.weekdays.iter().any(|name| text.contains(folded(name).trim()))
        };
        let row = |at: &usize| {
            let time = at + 1;
            let hours = facts.get(time).filter(|_| is_weekly(&facts[*at]))?;
            let is_range = matches!(hours.value, Some(FactValue::Clock { end: Some(_), .. }));
            let is_row = is_range && content.loose.contains(&time);
            is_row.then(|| Some((time, capital(&content.shown(&facts[*at])?), content.shown(hours)?))).flatten()
        };
        let rows: Vec<(usize, String, String)> = content.loose.iter().filter_map(row).collect();
        if rows.len() < ROWS_MIN { Vec::new() } else { rows }
    }
}

fn is_bare_number(word: Option<&str>) -> bool {
    word.is_some_and(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()))
}

/// Returns whether a part of a statement continues a list of numbers: "50 or 100 euros".
fn lists_numbers(part: &str, bank: &Bank) -> bool {
    part.split(' ').nth(1).is_none_or(|word| bank.phrases("words.and").iter().any(|and| and == &word.to_lowercase()))
}
