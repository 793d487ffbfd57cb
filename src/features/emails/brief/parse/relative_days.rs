//! Corrects days without a month or number, based on the prompt's other dates.

use jiff::ToSpan;
use jiff::civil::Date;

use super::super::{FactKind, FactValue, Goal};
use super::dates;
use super::facts::{Bound, Found};
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::roles;
use super::tokens::Kind;

pub fn correct(prompt: &Prompt<'_>, reads: &mut [Read]) {
    carry_months(prompt, reads);
    forget_relative(prompt, reads);
    forget_recurring(prompt, reads);
    forget_reasons(prompt, reads);
    go_back(prompt, reads);
}

/// Removes the date of a named day that is the reason for a deadline in the same sentence: "So that it arrives before Christmas
/// Eve, order by 6 December".
fn forget_reasons(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let is_deadline = |found: &Found| {
            let has_number = (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
            has_number && found.bound == Bound::Until && found.value.is_some()
        };
        let Some(deadline) = read.found.iter().find(|found| is_deadline(found)).map(|found| found.range.from) else { continue };
        let is_reason =
            |found: &Found| found.bound == Bound::Until && prompt.has(List::NamedDay, found.range) && found.range.to <= deadline;
        read.found.iter_mut().filter(|found| is_reason(found)).for_each(|found| found.value = None);
    }
}

/// Removes the dates of recurring weekdays. A weekday recurs if the prompt is a job offer and a start date follows the weekday ("a teacher
/// for Wednesdays 7pm, from 6 January"), or if the prompt names a weekday on which something happens every month ("the box comes every
/// first Thursday of the month. Skip a box before Tuesday noon").
fn forget_recurring(prompt: &Prompt<'_>, reads: &mut [Read]) {
    let has_number = |found: &Found| (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
    let is_weekday = |found: &Found| {
        !has_number(found)
            && prompt.has(List::Weekday, found.range)
            && matches!(found.value, Some(FactValue::Days { last: None, .. }))
    };
    let is_monthly = |found: &Found| {
        let before = Range::of(found.range.from.saturating_sub(2), found.range.from);
        let is_counted = prompt.has(List::DayOrdinal, before) || prompt.has(List::Position, before);
        is_weekday(found) && is_counted && (before.from..before.to).any(|at| dates::EVERY.contains(&prompt.fold(at)))
    };
    let recurs = reads.iter().flat_map(|read| &read.found).any(is_monthly);
    let is_dated =
        reads.iter().flat_map(|read| &read.found).any(|found| found.value.is_some() && is_date(found) && has_number(found));
    for read in reads {
        for at in 0..read.found.len() {
            let starts = |next: &Found| next.bound == Bound::From && has_number(next) && is_date(next);
            let is_followed = hiring(prompt) && read.found[at].bound == Bound::None && read.found[at + 1..].iter().any(starts);
            if is_weekday(&read.found[at]) && (is_followed || recurs && !is_dated) {
                read.found[at].value = None;
            }
        }
    }
}

/// The maximum number of words between a weekday and a verb in the past tense that belongs to it.
const VERB_WORDS_MAX: usize = 7;

/// Words that, before a weekday, show that a past action was meant for that day and did not happen on it: "ordered for Saturday",
/// "verschoben auf Samstag".
const MEANT_FOR: [&str; 17] =
    ["for", "fur", "pour", "para", "per", "voor", "auf", "a", "au", "al", "to", "naar", "ab", "from", "des", "desde", "vanaf"];

/// Moves the weekday of a past action back by a week: "everyone who collected a cake on Saturday", "die Sa. den Stollen abgeholt haben".
fn go_back(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let fragments = read.sentence.fragments.clone();
        for found in &mut read.found {
            let fragment = fragments.iter().find(|fragment| fragment.contains(found.range)).copied();
            let is_past = is_lone_weekday(prompt, found)
                && fragment.is_some_and(|fragment| happened(prompt, fragment, found.range))
                && !prompt.has(List::Past, found.range);
            if let Some(FactValue::Days { first, last: None }) = found.value.as_mut().filter(|_| is_past) {
                *first = first.checked_sub(7.days()).unwrap_or(*first);
            }
        }
    }
}

/// Returns whether a date is a single weekday without a number or a bound.
fn is_lone_weekday(prompt: &Prompt<'_>, found: &Found) -> bool {
    let has_number = (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
    let is_weekday = prompt.has(List::Weekday, found.range) || prompt.has(List::ShortWeekday, found.range);
    found.kind == FactKind::Date && found.bound == Bound::None && is_weekday && !has_number
}

/// Returns whether a verb in the past tense is near a day in a fragment, without another verb or a comma between them.
fn happened(prompt: &Prompt<'_>, fragment: Range, day: Range) -> bool {
    let is_meant = |at: usize| MEANT_FOR.contains(&prompt.fold(at));
    if day.from > 0 && is_meant(day.from - 1) || is_meant(day.from) {
        return false;
    }
    let near = Range::of(day.from.saturating_sub(VERB_WORDS_MAX).max(fragment.from), (day.to + VERB_WORDS_MAX).min(fragment.to));
    prompt.all(List::PastVerb, near).any(|verb| {
        // A period can follow an abbreviated weekday: "Sa. den Stollen abgeholt haben".
        let after = day.to + usize::from(prompt.fold(day.to) == "." && prompt.words.is_glued(day.to));
        let between = if verb.to <= day.from { Range::of(verb.to, day.from) } else { Range::of(after, verb.from) };
        // The parts of a verb can surround the day: "haben am Samstag abgeholt".
        let is_around = verb.from < day.from && day.to < verb.to;
        is_around || !(between.from..between.to).any(|at| prompt.is(List::Finite, at) || prompt.kind(at) == Kind::Sign)
    })
}

fn is_date(found: &Found) -> bool {
    matches!(found.kind, FactKind::Date | FactKind::Period)
}

fn hiring(prompt: &Prompt<'_>) -> bool {
    roles::goal(prompt) == Some(Goal::Hiring)
}

/// Moves a weekday to its first occurrence after the date that precedes it in the sentence: "from Friday the 27th until Monday".
pub fn follow(prompt: &Prompt<'_>, found: &mut [Found]) {
    let mut before: Option<Date> = None;
    let mut period: Option<(Date, Date)> = None;
    let names_day = |range: Range| prompt.has(List::Weekday, range) || prompt.has(List::ShortWeekday, range);
    for own in found {
        let Some(FactValue::Days { first, last }) = &mut own.value else { continue };
        let has_number = (own.range.from..own.range.to).any(|at| prompt.kind(at) == Kind::Number);
        match before {
            _ if has_number => {
                before = Some(last.unwrap_or(*first));
                period = last.map(|last| (*first, last));
            }
            // A weekday after a range of dates is a day in that range: "4 to 6 December, music on Saturday".
            Some(_) if last.is_none() && names_day(own.range) && within(period, *first).is_some() => {
                *first = within(period, *first).unwrap_or(*first);
            }
            Some(before) if *first < before && last.is_none() && names_day(own.range) => {
                *first = before.nth_weekday(1, first.weekday()).unwrap_or(*first);
            }
            _ => {}
        }
    }
}

/// Returns the day in a range of dates that has the same weekday as `day`; `None` if there is no such day or the range is longer than a
/// week.
fn within(period: Option<(Date, Date)>, day: Date) -> Option<Date> {
    let (first, last) = period.filter(|(first, last)| first.until(*last).is_ok_and(|span| span.get_days() < 7))?;
    let found = first.checked_sub(1.days()).ok()?.nth_weekday(1, day.weekday()).ok()?;
    (found <= last).then_some(found)
}

/// Moves a day without a month to its first occurrence after the last preceding date that has a month: "Tournament on 20 March, moved
/// to the 27th if it rains".
fn carry_months(prompt: &Prompt<'_>, reads: &mut [Read]) {
    let mut last: Option<Date> = None;
    let mut days: Vec<Date> = Vec::new();
    for found in reads.iter_mut().flat_map(|read| &mut read.found) {
        let Some(FactValue::Days { first, last: end }) = &mut found.value else { continue };
        let mut numbers = (found.range.from..found.range.to).filter(|at| prompt.kind(*at) == Kind::Number);
        let (number, second) = (numbers.next(), numbers.next());
        let names_month = prompt.has(List::Month, found.range) || number.is_some_and(|at| prompt.raw(at).contains('.'));
        if second.is_some() || names_month {
            last = number.map(|_| *first).or(last);
            days.extend(last);
            continue;
        }
        let names_weekday = prompt.has(List::Weekday, found.range) || prompt.has(List::ShortWeekday, found.range);
        // The number in "nur bis 13" can be an hour.
        let is_ordinal = prompt.lexicon().code != "de" || prompt.text(found.range).contains('.');
        let is_day = number.is_some() && end.is_none() && is_ordinal;
        let Some(near) = last.filter(|last| is_day && *first < *last) else { continue };
        // If an earlier date is on the same day of the month, a day without a month means that date: "Orders close on 10 December … it's
        // the 10th".
        let same = days.iter().find(|day| day.day() == first.day()).copied();
        // A deadline can be earlier than the date that precedes it in the prompt.
        let is_deadline = found.bound == Bound::Until;
        let own = near.with().day(first.day()).build().ok();
        let next = || near.first_of_month().checked_add(1.months()).ok()?.with().day(first.day()).build().ok();
        let moved = same.or(own.filter(|own| is_deadline || *own >= near)).or_else(next).unwrap_or(*first);
        // If the prompt names a weekday, move the day only if its weekday stays the same. In "Orders until Saturday 20 March, collection on
        // Thursday the 25th", both 25 February and 25 March can be Thursdays.
        if !names_weekday || moved.weekday() == first.weekday() {
            *first = moved;
        }
    }
}

/// Removes the dates of weekdays that are probably relative to a later date in the prompt: "The box is packed on Monday 30 November. Change
/// the address before Friday".
fn forget_relative(prompt: &Prompt<'_>, reads: &mut [Read]) {
    let has_number = |found: &Found| (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
    let first = |found: &Found| match &found.value {
        Some(FactValue::Days { first, .. }) => Some(*first),
        _ => None,
    };
    let numbered = reads.iter().flat_map(|read| &read.found).filter(|found| has_number(found));
    let Some(latest) = numbered.filter_map(first).max() else { return };
    for found in reads.iter_mut().flat_map(|read| &mut read.found) {
        let is_led = found.bound == Bound::Until || prompt.fold(found.range.from) == "le";
        let is_weekday = is_led && prompt.has(List::Weekday, found.range) && !has_number(found);
        let is_far = |own: Date| own.until(latest).is_ok_and(|span| span.get_days() >= 7);
        if is_weekday && !matches!(found.value, Some(FactValue::Days { last: Some(_), .. })) && first(found).is_some_and(is_far) {
            found.value = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{Date, date};

    use crate::features::emails::brief::parse::parse;
    use crate::features::emails::brief::{FactKind, FactRole, FactValue};
    use crate::features::projects::brand::Brand;

    /// Returns the dates in a prompt that was written on 22 February 2027, in order.
    fn days(prompt: &str) -> Vec<Option<Date>> {
        let brief = parse(prompt, &Brand::default(), None, date(2027, 2, 22));
        let day = |value: &Option<FactValue>| match value {
            Some(FactValue::Days { first, .. }) => Some(*first),
            _ => None,
        };
        let dates = brief.facts.iter().filter(|fact| matches!(fact.kind, FactKind::Date | FactKind::Period));
        dates.map(|fact| day(&fact.value)).collect()
    }

    #[test]
    fn a_day_without_a_month_follows_the_date_before_it() {
        for (prompt, last) in [
            ("The tournament is on 20 March. If it rains we move to the 27th.", date(2027, 3, 27)),
            ("The dinner is on 16 April. Please book by the 14th.", date(2027, 4, 14)),
        ] {
            assert_eq!(days(prompt).last(), Some(&Some(last)), "{prompt}");
        }
    }

    #[test]
    fn a_weekday_before_a_later_date_has_no_date() {
        for prompt in [
            "Your next box is packed on Monday 29 March. Change the address before Friday.",
            "The practice is closed from 8 to 12 March. Order your prescriptions by the Friday before.",
        ] {
            assert_eq!(days(prompt).last(), Some(&None), "{prompt}");
        }
        assert_eq!(days("The sale ends on Friday."), [Some(date(2027, 2, 26))]);
    }

    #[test]
    fn holidays_are_not_the_next_weekday() {
        assert!(days("Abrimos por las mañanas, viernes santo cerrado.").iter().all(Option::is_none));
    }

    /// Regression tests: if only spaces separated several days, the email stated only the last day, and "5a feira" was read as a number.
    #[test]
    fn days_in_a_row_are_a_period_and_portuguese_weekdays_have_numbers() {
        let periods = |prompt: &str, language: &str| {
            let language = crate::base::locale::LanguageTag::parse(language).expect("a language");
            let brief = parse(prompt, &Brand::default(), Some(&language), date(2026, 11, 17));
            brief.facts.into_iter().filter_map(|fact| fact.value).collect::<Vec<_>>()
        };
        let days = |first: i8, last: Option<i8>| FactValue::Days {
            first: date(2026, 12, first),
            last: last.map(|last| date(2026, 12, last)),
        };
        assert_eq!(periods("Wijnproeverij vr za zo (4 5 6 dec) alleen in de winkel.", "nl"), [days(4, Some(6))]);
        assert_eq!(periods("Portes ouvertes à la cave sam 5 dim 6 dec.", "fr"), [days(5, Some(6))]);
        assert_eq!(periods("Open studio Sat 5, Sat 12 Dec.", "en").len(), 2, "two days are no period");
        let with_weekday = periods("Portes ouvertes sam 5 dim 6 dec à la cave, balade dans les vignes dim 11h.", "fr");
        assert_eq!(with_weekday[..2], [days(5, Some(6)), days(6, None)], "a short weekday after a period is one of its days");
        assert_eq!(periods("Encomendas até 5a feira 17/12.", "pt"), [days(17, None)]);
        let noon = FactValue::Clock { start: jiff::civil::time(12, 0, 0, 0), end: None };
        assert_eq!(periods("Encomendas até 5a feira 17/12 ao meio dia.", "pt"), [days(17, None), noon]);
        assert_eq!(periods("Levantar a encomenda na loja sab 26 até 18h.", "pt")[0], days(26, None));
    }

    /// Regression test: the weekday in "im Dez. auch Mo 10-16 offen" was read as the next Monday.
    #[test]
    fn a_weekday_of_additional_opening_hours_has_no_date() {
        for prompt in [
            "Der Laden in Kiel ist im Dezember auch Mo 10-16 Uhr offen.",
            "In December the shop is also open, also Mon 10-16.",
            "En décembre, la boutique est ouverte aussi lundi 10h-16h.",
        ] {
            assert_eq!(days(prompt).last(), Some(&None), "{prompt}");
        }
        assert_eq!(days("The open studio is on Monday 10-16."), [Some(date(2027, 3, 1))]);
    }

    /// Regression test: "SAT 9-1" in a list of opening hours was read as the next Saturday.
    #[test]
    fn a_weekday_in_a_timetable_has_no_date() {
        assert_eq!(days("Our new hours:\nMON-FRI 8.30-6.30\nSAT 9-1\nThe lunch closure is gone."), [None, None]);
        assert_eq!(days("Our open studio:\nSAT 9-1\nThere is cake for everyone."), [Some(date(2027, 2, 27))]);
    }

    /// Regression test: the weekday in "die Sa. den Stollen abgeholt haben" was read as the next Saturday.
    #[test]
    fn the_weekday_of_a_past_action_is_in_the_past() {
        for prompt in [
            "Entschuldigung an alle, die Sa. den Stollen abgeholt haben: es war leider der falsche.",
            "Wir haben am Samstag den falschen Stollen verkauft, das tut uns leid.",
            "We are sorry that you got the wrong cake on Saturday.",
            "Nous avons vendu samedi le mauvais gâteau, nous sommes désolés.",
            "El sábado vendimos el pan equivocado, perdón a todos los clientes.",
            "Sabato abbiamo venduto il pane sbagliato, ci scusiamo con i clienti.",
            "Zaterdag was de stol de verkeerde, het spijt ons.",
        ] {
            assert_eq!(days(prompt).first(), Some(&Some(date(2027, 2, 20))), "{prompt}");
        }
        for prompt in [
            "Everyone who ordered can collect the cake on Saturday.",
            "If you ordered a cake for Saturday, it is ready at noon.",
            "Der Stollen wurde auf Samstag verschoben.",
        ] {
            assert_eq!(days(prompt).first(), Some(&Some(date(2027, 2, 27))), "{prompt}");
        }
    }

    /// Regression test: the end of an event became the deadline for replies.
    #[test]
    fn a_day_with_a_time_after_another_time_ends_the_event() {
        for (prompt, language) in [
            (
                "Sleep Out 2027, our charity event. Friday 5 March 9pm to Saturday 6am, Hampden Park. Register by 31 January.",
                "en",
            ),
            ("Einladung zum Nachtlauf. Freitag 5. März 21 Uhr bis Samstag 6 Uhr im Stadtpark. Anmeldung bis 31. Januar.", "de"),
            ("Invitation à notre soirée. Vendredi 5 mars 21h jusqu'à samedi 6h au parc. Inscription avant le 31 janvier.", "fr"),
        ] {
            let language = crate::base::locale::LanguageTag::parse(language).expect("a language");
            let brief = parse(prompt, &Brand::default(), Some(&language), date(2026, 11, 16));
            let end = FactValue::Days { first: date(2027, 3, 6), last: None };
            let role = brief.facts.iter().find(|fact| fact.value.as_ref() == Some(&end)).and_then(|fact| fact.role);
            assert_eq!(role, Some(FactRole::Event), "{prompt}: {:?}", brief.facts);
        }
    }
}
