//! Finds statements of a prompt that contradict each other. The email contains none of them, and the brief reports them.

use super::super::{FactKind, FactValue};
use super::classify::Class;
use super::dates;
use super::facts::Found;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;

/// Turns contradictory content into unclear text, and removes the facts in it.
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

/// Returns the sentences with a weekday that is wrong for their date, if another sentence has the date with the right weekday.
fn weekdays(prompt: &Prompt<'_>, reads: &[Read]) -> Vec<Range> {
    let all = || reads.iter().flat_map(|read| read.found.iter().map(move |found| (read.sentence.range, found)));
    let day = |value: &Option<FactValue>| match value {
        Some(FactValue::Days { first, .. }) => Some(first.day()),
        _ => None,
    };
    let wrong = all().filter(|(_, found)| dates::contradicts_weekday(prompt, found));
    let has_right =
        |own: Option<i8>| all().any(|(_, other)| day(&other.value) == own && !dates::contradicts_weekday(prompt, other));
    let full: Vec<_> = all().filter(|(_, found)| prompt.has(List::Month, found.range)).collect();
    let differs = |found: &Found| {
        let Some((weekday, day)) = dates::weekday_and_day(prompt, found) else { return false };
        let value = |other: &Found| match &other.value {
            Some(FactValue::Days { first, .. }) => Some((first.day(), first.weekday().to_monday_zero_offset())),
            _ => None,
        };
        full.iter().filter_map(|(_, other)| value(other)).any(|(other, own)| other == day && own != weekday)
    };
    let bare = all().filter(|(_, found)| differs(found)).map(|(range, _)| range).collect::<Vec<_>>();
    let wrong = wrong.filter(|(_, found)| has_right(day(&found.value))).map(|(range, _)| range);
    wrong.chain(bare).collect()
}

/// Returns the fragments that promise free delivery from different order values.
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
