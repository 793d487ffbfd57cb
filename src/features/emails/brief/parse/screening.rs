//! Corrects the classes of pieces by what surrounds them: announcements of lists, words that the email must not contain, thanks, and
//! hearsay.

use super::super::ConstraintKind;
use super::classify::{Class, Fields, Piece};
use super::facts::has_value;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::tokens::{Kind, fold};

/// Turns the words before a list that only announce it into a topic: "three stories:".
pub fn introductions(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for at in 1..reads.len() {
        let starts =
            reads[at].sentence.item == Some(0) && reads[at - 1].sentence.item.is_none() && reads[at].sentence.is_line_start;
        let last = reads[at - 1].sentence.range.to - 1;
        if let Some(piece) =
            reads[at - 1].pieces.last_mut().filter(|piece| starts && prompt.fold(last) == ":" && piece.range.len() <= 7)
        {
            piece.class = if piece.class == Class::Content { Class::Topic } else { piece.class };
        }
    }
}

/// Turns content with a word that the email must not contain into unclear text, which a warning reports.
pub fn leave_out(prompt: &Prompt<'_>, fields: &Fields, pieces: &mut Vec<Piece>) {
    let words = fields.constraints.iter().filter(|constraint| constraint.kind == ConstraintKind::AvoidWord);
    let avoided: Vec<String> =
        words.filter_map(|constraint| constraint.value.as_deref().map(fold)).filter(|word| word.len() > 2).collect();
    let mut at = 0;
    while at < pieces.len() {
        let Piece { range, class } = pieces[at];
        let has_word = |range: Range| {
            let text = fold(prompt.text(range));
            avoided.iter().any(|word| text.contains(word.as_str()))
        };
        if class == Class::Content && has_word(range) {
            // "New trainer is Bella because Marcus left": only the reason has the word.
            let reason = (range.from + 1..range.to)
                .find(|at| prompt.is(List::Because, *at))
                .filter(|at| !has_word(Range::of(range.from, *at)));
            let start = reason.unwrap_or(range.from);
            pieces[at].range.to = start;
            pieces.insert(at + 1, Piece { range: Range::of(start, range.to), class: Class::Unclear });
            if start == range.from {
                pieces.remove(at);
            }
            at += 1;
        }
        at += 1;
    }
}

/// Separates thanks at the end of a line from the statement before them: "ask for Mel thx".
pub fn thanks(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let Some(piece) = read.pieces.last_mut().filter(|piece| piece.class == Class::Content) else { continue };
        let Range { from, to } = piece.range;
        let end = (from..to).rev().find(|at| prompt.kind(*at) != Kind::Sign).map_or(from, |last| last + 1);
        let is_last = prompt.kind(read.sentence.range.to) == Kind::End;
        let start = (from + 1..end).find(|at| prompt.at(List::Thanks, *at).any(|mark| mark.to == end));
        let Some(start) = start.filter(|_| is_last) else { continue };
        piece.range.to = start;
        read.pieces.push(Piece { range: Range::of(start, to), class: Class::Note });
    }
}

/// The maximum number of words before the verb in "Anja from accounts says".
const TELLER_WORDS_MAX: usize = 4;

/// Turns content into unclear text if it is another person's claim that the prompt denies or doubts: "Anja says the 20th but that is
/// wrong".
pub fn hearsay(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let Range { from, to } = read.sentence.range;
        let start = Range::of(from, (from + TELLER_WORDS_MAX + 1).min(to));
        let Some(says) = prompt.find(List::Says, start).filter(|says| says.from > from) else { continue };
        // "Please tell us", "we said"
        let common = [List::Common, List::Please, List::Readers, List::Finite, List::And, List::Not];
        let is_name = prompt.kind(says.from - 1) == Kind::Word && !common.into_iter().any(|list| prompt.is(list, says.from - 1));
        if !is_name {
            continue;
        }
        let rest = Range::of(says.to, to);
        // "Actually Sam says 15%?"
        let asks = prompt.sign("?", rest).is_some();
        let denies = asks || prompt.has(List::Not, rest) || prompt.has(List::Correction, rest);
        let is_corrected = prompt.all(List::Correction, rest).any(|mark| has_value(prompt, Range::of(mark.to, to)));
        if denies && !is_corrected {
            read.pieces.iter_mut().filter(|piece| piece.class == Class::Content).for_each(|piece| piece.class = Class::Unclear);
        }
    }
}
