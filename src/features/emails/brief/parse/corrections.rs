//! Finds values and clauses that a prompt withdraws: "20%, sorry, 25%".

use super::super::FactKind;
use super::classify::{Class, Fragment};
use super::facts::{self, Found};
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::roles;
use super::tokens::Kind;

/// The maximum number of corrections that are read. Prompts rarely have more than two.
const CORRECTIONS_MAX: usize = 20;

/// The withdrawn parts of a prompt.
#[derive(Debug, Default)]
pub struct Cuts {
    /// The ranges to leave out, in prompt order.
    pub gaps: Vec<Range>,
    /// The wrong values that must be replaced where they are, because other words follow them, each with the value that replaces it: "20%
    /// on all mugs, no, 25%".
    pub swaps: Vec<(Range, Range)>,
}

/// Finds the values and clauses that the prompt withdraws, and removes their facts from `reads`: "20%, sorry, 25%".
pub fn corrections(prompt: &Prompt<'_>, reads: &mut [Read]) -> Cuts {
    let mut cut = Vec::new();
    let mut swaps: Vec<(Range, Range)> = Vec::new();
    let mut all: Vec<Found> = reads.iter().flat_map(|read| read.found.clone()).collect();
    let fields = reads.iter().flat_map(|read| &read.pieces).filter(|piece| piece.class == Class::Field);
    for piece in fields {
        all.extend(
            (piece.range.from..piece.range.to)
                .filter_map(|at| facts::percentage(prompt, at).or_else(|| facts::money(prompt, at))),
        );
    }
    all.sort_by_key(|found| found.range.from);
    let mut done = 0;
    for mark in prompt.all(List::Correction, Range::of(0, prompt.words.len())).take(CORRECTIONS_MAX) {
        // A phrase inside a longer phrase is skipped: "No wait" contains "wait".
        if mark.from < done || prompt.end(List::Correction, mark.from) != Some(mark.to) {
            continue;
        }
        done = mark.to;
        // A phrase that also starts notes is a correction only before a value: "make it 9", but not "make it sound like me".
        let is_note = prompt.at(List::NoteStart, mark.from).any(|note| note.to >= mark.to);
        if is_note && !facts::has_value(prompt, Range::of(mark.to, mark.to + 2)) {
            continue;
        }
        // A phrase with a number contains the wrong value itself: "nicht 8 sondern 12 %".
        if (mark.from..mark.to).any(|at| prompt.kind(at) == Kind::Number) {
            cut.push(Range::of(mark.from, mark.to));
            continue;
        }
        let cuts = cut.len();
        if let Some((wrong, right, is_swap)) = correction(prompt, &all, Range::of(mark.from, mark.to)) {
            swaps.extend(is_swap.then_some((wrong, right)));
            let start = speaker_start(prompt, wrong.from).unwrap_or(wrong.from);
            cut.push(if is_swap { Range::of(mark.from, right.to) } else { Range::of(start, right.from) });
            forget_every(reads, wrong, right);
        }
        let own = Range::of(mark.from, mark.to);
        if cut.len() == cuts {
            cut.extend(replaced(prompt, &all, own).or_else(|| retraction(prompt, &all, own).filter(|_| own.len() > 1)));
        }
        if cut.len() == cuts && own.len() > 1 {
            cut.extend(taken_back(prompt, reads, &all, own));
        }
    }
    cut.dedup();
    for read in reads {
        let is_old = |found: &Found| found.kind == FactKind::Price && prompt.before(List::Old, found.range.from).is_some();
        let is_swapped = |found: &Found| swaps.iter().any(|(_, right)| *right == found.range);
        let is_wrong = |found: &Found| swaps.iter().any(|(wrong, _)| *wrong == found.range);
        read.found.retain(|found| {
            !is_wrong(found) && (is_old(found) || is_swapped(found) || !cut.iter().any(|gap| gap.overlaps(found.range)))
        });
    }
    Cuts { gaps: cut, swaps }
}

/// The maximum number of words that say who gave a wrong value: "Steve from the shop said".
const TELLER_WORDS_MAX: usize = 5;

/// Returns the start of the words that say who gave a wrong value: "Steve said".
fn speaker_start(prompt: &Prompt<'_>, wrong: usize) -> Option<usize> {
    let starts =
        |at: usize| at == 0 || prompt.kind(at - 1) == Kind::End || matches!(prompt.fold(at - 1), "." | "!" | "?" | ";" | ",");
    let start = (wrong.saturating_sub(TELLER_WORDS_MAX)..wrong).rev().find(|at| starts(*at))?;
    prompt.has(List::Says, Range::of(start, wrong)).then_some(start)
}

/// If a corrected weekday recurs every week, makes the weekday that replaces it recur too: "every Tuesday, no, Wednesday".
fn forget_every(reads: &mut [Read], wrong: Range, right: Range) {
    let all = || reads.iter().flat_map(|read| &read.found);
    if all().any(|found| found.range == wrong && found.kind == FactKind::Date && found.value.is_none()) {
        for found in reads.iter_mut().flat_map(|read| &mut read.found).filter(|found| found.range == right) {
            found.value = None;
        }
    }
}

/// The maximum number of words between a wrong value and the phrase that corrects it.
const WRONG_DISTANCE_MAX: usize = 6;

/// Returns the wrong value before a correction phrase, the right value after the phrase, and whether the right value must move to the
/// position of the wrong value, because other words follow the wrong value.
fn correction(prompt: &Prompt<'_>, all: &[Found], mark: Range) -> Option<(Range, Range, bool)> {
    // An ellipsis counts as one punctuation mark.
    let words = |from: usize, to: usize| (from..to).filter(|at| prompt.fold(*at) != "." || prompt.fold(at + 1) != ".").count();
    let is_before = |wrong: &Found| wrong.range.to <= mark.from;
    // The first value after the phrase is the right one: "for 3 months at half price, no sorry 2 months half price".
    let first = all.iter().find(|found| found.range.from >= mark.to);
    let has_wrong = |right: &Found| {
        let mut same = all.iter().filter(|found| found.kind == right.kind && is_before(found));
        same.any(|found| words(found.range.to, mark.from) <= WRONG_DISTANCE_MAX)
    };
    let is_joined = |right: &Found| (mark.to..right.range.from).all(|at| !ends_sentence(prompt, at));
    let kind = first.filter(|right| has_wrong(right) && is_joined(right)).map(|right| right.kind);
    for (index, wrong) in all.iter().enumerate().rev() {
        if kind.is_some_and(|kind| kind != wrong.kind) {
            continue;
        }
        // After a price and its old price, a correction replaces the price: "1.290 € statt 1.190 €. No, 1.250 €!".
        let is_old = |found: &Found| found.kind == FactKind::Price && prompt.before(List::Old, found.range.from).is_some();
        let has_new =
            index > 0 && all[index - 1].kind == wrong.kind && wrong.range.from.saturating_sub(all[index - 1].range.to) <= 2;
        if is_old(wrong) && has_new {
            continue;
        }
        let is_near = is_before(wrong)
            && if kind.is_some() { words(wrong.range.to, mark.from) } else { mark.from - wrong.range.to } <= WRONG_DISTANCE_MAX;
        if let Some(right) = right_value(prompt, &all[index + 1..], wrong, mark).filter(|_| is_near) {
            let is_spoken = |at: usize| prompt.kind(at) == Kind::Word && !prompt.is(List::And, at);
            let is_whole = (wrong.range.from..right.to).all(|at| !ends_sentence(prompt, at));
            let is_swap = (wrong.range.to..mark.from).any(is_spoken) && is_whole && right.from <= mark.to + 1;
            return Some((wrong.range, right, is_swap));
        }
    }
    None
}

/// Returns the value that replaces a wrong value: the next value of the same kind after the correction phrase. A date or a time must be in
/// the same sentence as the phrase.
fn right_value(prompt: &Prompt<'_>, later: &[Found], wrong: &Found, mark: Range) -> Option<Range> {
    let right = later
        .iter()
        .find(|right| right.range.from >= mark.to && right.kind == wrong.kind && right.range.from - mark.to <= 14)?
        .range;
    let is_day = matches!(wrong.kind, FactKind::Date | FactKind::Period | FactKind::Time);
    let is_near = !is_day || (mark.to + 1..right.from).all(|at| !ends_sentence(prompt, at));
    // "No" can also be a negation ("no booking"), so it corrects a value only if the wrong value is directly before it and the right value
    // directly after it.
    let denies = mark.to == mark.from + 1 && prompt.is(List::Not, mark.from);
    let signs = |from: usize, to: usize| (from..to).all(|at| prompt.kind(at) == Kind::Sign);
    // Between dates, "no" corrects only with punctuation before or after it: "Saturday and Sunday no Monday" excludes Monday instead.
    let is_apart = !matches!(wrong.kind, FactKind::Date | FactKind::Period) || wrong.range.to < mark.from || mark.to < right.from;
    let touches = || is_apart && signs(wrong.range.to, mark.from) && signs(mark.to, right.from);
    (is_near && (!denies || touches())).then_some(right)
}

fn ends_sentence(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.kind(at) == Kind::End || matches!(prompt.fold(at), "." | "!" | "?") && !prompt.words.is_glued(at + 1)
}

/// Returns a wrong value and the words between it and the bare number that replaces it: "900 bottles, no" in "900 bottles, no 600".
fn replaced(prompt: &Prompt<'_>, all: &[Found], mark: Range) -> Option<Range> {
    let last = (0..mark.from).rev().find(|at| prompt.kind(*at) != Kind::Sign)?;
    let wrong = all.iter().find(|found| found.range.to == last + 1 && prompt.kind(found.range.from) == Kind::Number)?;
    let is_apart = prompt.kind(mark.to + 1) != Kind::Word && all.iter().all(|found| found.range.from != mark.to);
    (prompt.kind(mark.to) == Kind::Number && is_apart).then(|| Range::of(wrong.range.from, mark.to))
}

/// Returns the range that a phrase such as "no wait" withdraws. If a value follows the phrase, the range contains the bare number before
/// the phrase: "20, no wait, 25%". Otherwise, it contains the clause with the value before the phrase, and nothing replaces the value:
/// "code TEN, no wait, that is last year's".
fn retraction(prompt: &Prompt<'_>, all: &[Found], mark: Range) -> Option<Range> {
    let is_sign = |at: usize| prompt.kind(at) == Kind::Sign;
    let last = (0..mark.from).rev().find(|at| !is_sign(*at))?;
    // One phrase can follow another: "No wait, make that".
    let mut to = mark.to;
    while let Some(next) = prompt.end(List::Correction, to + usize::from(prompt.fold(to) == ",")) {
        to = next;
    }
    let right = (to..prompt.words.len()).find(|at| !is_sign(*at)).filter(|right| {
        prompt.kind(*right) == Kind::Number || all.iter().any(|found| found.range.from <= *right && *right < found.range.to)
    });
    if let Some(right) = right {
        // The withdrawn range starts at the number before the phrase, or at the start of a range such as "25th to 28th".
        let number = |at: usize| {
            let at = if prompt.is(List::Ordinal, at) { at.checked_sub(1)? } else { at };
            (prompt.kind(at) == Kind::Number).then_some(at)
        };
        let mut start = number(last)?;
        while let Some(before) = start.checked_sub(2).filter(|_| prompt.is(List::To, start - 1)).and_then(number) {
            start = before;
        }
        return Some(Range::of(start, right));
    }
    let wrong = all.iter().find(|found| found.range.to == last + 1)?;
    let end = (mark.to..prompt.words.len())
        .find(|at| prompt.kind(*at) == Kind::End || matches!(prompt.fold(*at), "," | "." | "!" | "?" | ";"));
    Some(Range::of(clause_start(prompt, wrong.range.from), end.unwrap_or(prompt.words.len())))
}

/// Returns the start of the short clause that ends with a withdrawn value: "10% with STAY10". The whole clause is withdrawn, because it
/// would be incomplete without the value.
fn clause_start(prompt: &Prompt<'_>, value: usize) -> usize {
    let starts = |at: &usize| {
        *at == 0
            || ends_sentence(prompt, at - 1)
            || matches!(prompt.fold(at - 1), "," | ";" | ":" | "(" | "-") && !prompt.words.is_glued(at - 1)
            || prompt.fold(at - 1) == ","
    };
    (value.saturating_sub(TAKEN_BACK_WORDS_MAX)..=value).rev().find(starts).unwrap_or(value)
}

/// The maximum number of words before the value in a clause that a correction withdraws. A clause without a value can have two more words.
const TAKEN_BACK_WORDS_MAX: usize = 6;

/// Returns the clause that a correction without values withdraws, together with the correction phrase: "a fault of the bank - no, rubbish,
/// our fault". If no clause is withdrawn, returns only the phrase.
fn taken_back(prompt: &Prompt<'_>, reads: &[Read], all: &[Found], mark: Range) -> Option<Range> {
    let is_content = |piece: &Fragment| piece.class == Class::Content;
    let at = reads.iter().position(|read| read.sentence.range.contains(mark))?;
    let read = &reads[at];
    // A phrase that is the whole sentence is not a correction: "Sorry!!".
    let is_whole = (read.sentence.range.from..read.sentence.range.to)
        .all(|at| prompt.kind(at) == Kind::Sign || mark.from <= at && at < mark.to);
    if is_whole {
        return None;
    }
    let piece = read.pieces.iter().find(|piece| is_content(piece) && piece.range.contains(mark))?;
    // A word such as "désolé" at the end negates the words before it and corrects nothing: "les chiens non désolé".
    let is_last = (mark.to..read.sentence.range.to).all(|at| prompt.kind(at) == Kind::Sign);
    if is_last && piece.range.from < mark.from && roles::SORRY.contains(&prompt.fold(mark.to - 1)) {
        return None;
    }
    let before = read.sentence.fragments.iter().rev().find(|fragment| fragment.to <= mark.from);
    let before = before.or_else(|| reads[..at].last().and_then(|read| read.sentence.fragments.last()))?;
    let is_near = mark.from - before.to <= 1 && prompt.line_start(before.from) == prompt.line_start(mark.from);
    let is_soft = |kind: FactKind| matches!(kind, FactKind::Person | FactKind::Period | FactKind::Date | FactKind::Capacity);
    let is_fact = all.iter().any(|found| found.range.overlaps(*before) && !is_soft(found.kind));
    let takes = is_near && !is_fact && before.len() <= TAKEN_BACK_WORDS_MAX + 2;
    Some(if takes { Range::of(before.from, mark.to) } else { mark })
}
