//! Finds statements in a prompt that contradict each other, and marks them as unclear.

use super::super::{FactKind, FactValue};
use super::classify::Class;
use super::dates;
use super::facts::Found;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;

/// Marks contradictory content as unclear, and removes the facts in it.
pub fn mark(prompt: &Prompt<'_>, reads: &mut [Read]) {
    let unclear: Vec<Range> = weekdays(prompt, reads).into_iter().chain(minimums(prompt, reads)).collect();
    for read in reads {
        for piece in read.pieces.iter_mut().filter(|piece| piece.class == Class::Content) {
            if unclear.iter().any(|range| range.overlaps(piece.range)) {
                piece.class = Class::Unclear;
            }
        }
        let pieces = &read.pieces;
        let is_unclear = |range: Range| pieces.iter().any(|piece| piece.class == Class::Unclear && piece.range.overlaps(range));
        read.found.retain(|found| !is_unclear(found.range));
    }
}

/// Returns the sentences in which a weekday contradicts another date in the prompt. Such a sentence contains
/// - a date with the wrong weekday, although the prompt also mentions this date with the right weekday or without one; or
/// - a weekday and a day without a month, such as "Sunday the 9th", although the prompt mentions at least one date on a 9th, and none of
///   these dates is a Sunday.
fn weekdays(prompt: &Prompt<'_>, reads: &[Read]) -> Vec<Range> {
    let all = || reads.iter().flat_map(|read| read.found.iter().map(move |found| (read.sentence.range, found)));
    let date = |found: &Found| match &found.value {
        Some(FactValue::Days { first, .. }) => Some(*first),
        _ => None,
    };
    // If a date lacks its month, only the days are compared, because the month in its value is a guess.
    let is_same = |own: &Found, other: &Found| {
        let (Some(first), Some(second)) = (date(own), date(other)) else { return false };
        let has_guess = dates::lacks_month(prompt, own) || dates::lacks_month(prompt, other);
        first.day() == second.day() && (has_guess || first.month() == second.month())
    };
    let wrong = all().filter(|(_, found)| dates::contradicts_weekday(prompt, found));
    let has_right = |own: &Found| all().any(|(_, other)| is_same(own, other) && !dates::contradicts_weekday(prompt, other));
    let full: Vec<_> = all().filter(|(_, found)| prompt.has(List::Month, found.range)).collect();
    let differs = |found: &Found| {
        let Some((weekday, day)) = dates::weekday_and_day(prompt, found) else { return false };
        let same_day = full.iter().filter_map(|(_, other)| date(other)).filter(|other| other.day() == day);
        let weekdays: Vec<i8> = same_day.map(|other| other.weekday().to_monday_zero_offset()).collect();
        !weekdays.is_empty() && !weekdays.contains(&weekday)
    };
    let bare = all().filter(|(_, found)| differs(found)).map(|(range, _)| range).collect::<Vec<_>>();
    let wrong = wrong.filter(|(_, found)| has_right(found)).map(|(range, _)| range);
    wrong.chain(bare).collect()
}

/// Returns the fragments that promise free delivery, if they state different minimum order values.
fn minimums(prompt: &Prompt<'_>, reads: &[Read]) -> Vec<Range> {
    let mut found = Vec::new();
    for read in reads {
        for price in read.found.iter().filter(|found| found.kind == FactKind::Price) {
            let fragment = read.sentence.fragments.iter().copied().find(|fragment| fragment.contains(price.range));
            let is_free = |range: &Range| {
                prompt.has(List::Free, *range)
                    && prompt.has(List::Delivery, *range)
                    && prompt.before(List::Minimum, price.range.from).is_some()
            };
            found.extend(fragment.filter(is_free).map(|fragment| (fragment, price.value.clone())));
        }
    }
    let differs = found.iter().any(|(_, value)| *value != found[0].1);
    if differs { found.into_iter().map(|(fragment, _)| fragment).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    fn unclear(prompt: &str) -> Vec<String> {
        let brief = parse(prompt, &Brand::default(), None, date(2027, 2, 22));
        brief.unclear.into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn a_wrong_weekday_is_unclear_if_the_date_is_mentioned_again() {
        let wrong = "The workshop is on Saturday 14 March at 18:00.";
        for again in ["Places for 14 March cost 20 euro.", "See you on Sunday the 14th!"] {
            assert_eq!(unclear(&format!("{wrong} {again}")), [wrong], "{again}");
        }
        assert_eq!(unclear("The fair is on Sunday the 14th. The workshop is on 14 April."), ["The fair is on Sunday the 14th."]);
    }

    /// Regression test: a date on the same day of another month made these dates unclear.
    #[test]
    fn dates_in_different_months_do_not_contradict_each_other() {
        for prompt in [
            "The first workshop is on Saturday 14 March at 18:00. The second workshop is on Wednesday 14 April at 18:00.",
            "The fair is on Sunday the 14th. The first workshop is on 14 March. The second workshop is on 14 April.",
            "The fair is on Sunday 14/03. The workshop is on 14 April.",
        ] {
            let found = unclear(prompt);
            assert!(found.is_empty(), "{prompt}: {found:?}");
        }
    }
}
