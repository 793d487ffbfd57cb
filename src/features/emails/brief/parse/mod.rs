//! Reads the brief from a prompt. Uses rules, not a language model.
//!
//! First, dictated punctuation and spelled-out numbers are replaced with punctuation marks and digits (`spoken`). The prompt is split into
//! sentences and fragments (`clauses`). Each fragment is classified as text for the recipients or as a note to the writer (by `classify`,
//! `labels` and `constraints`, and by `note_model` if the rules miss a note; `talk` and `screening` correct the classes). Words in requests
//! that would otherwise be lost are reported (`residue`). The typed facts are read from the fragments (`facts`, `dates`, `times`, `names`,
//! `prices`), and the words around a fact determine its role (`roles`). Short clauses become sentences (`sentences`). Nearly all words that
//! the rules use are in the word lists of each language (`lexicon`, `assets/brief`).

mod asides;
mod chat;
mod classify;
mod clauses;
mod collect;
mod constraints;
mod contradictions;
mod corrections;
mod dates;
mod day_names;
mod facts;
mod labels;
#[cfg(test)]
mod leaks;
mod lexicon;
mod lists;
mod names;
mod note_model;
mod parts;
mod patterns;
mod prices;
mod prompt;
mod reading;
mod relative_days;
mod requests;
mod residue;
mod roles;
mod screening;
mod sentences;
mod signing;
mod spoken;
mod statement;
mod talk;
#[cfg(test)]
mod tests;
mod times;
mod tokens;

pub use clauses::ABBREVIATIONS;
pub use reading::{is_greeting, zone};

use jiff::civil::Date;

use super::{Brief, Span};
use crate::base::locale::LanguageTag;
use crate::features::emails::merge_words;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// Reads a prompt. Without `language`, the brief has the language that the prompt asks for or is written in. Days such as "Sunday"
/// are relative to `today`.
pub fn parse(prompt: &str, brand: &Brand, language: Option<&LanguageTag>, today: Date) -> Brief {
    let end = prompt.char_indices().nth(limits::PROMPT_CHARACTERS_MAX).map_or(prompt.len(), |(end, _)| end);
    let hidden = merge_words::hidden(&prompt[..end]);
    merge_words::show(&collect::brief(&hidden, brand, language, today))
}

/// How the parser uses a character of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Fact,
    /// Text that the email prints unchanged, such as the subject.
    Copy,
    Instruction,
    Unclear,
}

/// Returns the class of every character of the prompt, as adjoining spans in order. Punctuation and spaces between parts have the class
/// of the part before them.
pub fn coverage(brief: &Brief, prompt: &str) -> Vec<(Span, Class)> {
    let length = prompt.chars().count();
    let mut classes: Vec<Option<Class>> = vec![None; length];
    for (Span { start, end }, class) in spans(brief) {
        let (start, end) = ((start as usize).min(length), (end as usize).min(length));
        classes[start.min(end)..end].fill(Some(class));
    }
    let mut before = classes.iter().flatten().next().copied().unwrap_or(Class::Unclear);
    let mut spans: Vec<(Span, Class)> = Vec::new();
    for (at, class) in classes.into_iter().enumerate() {
        before = class.unwrap_or(before);
        match spans.last_mut().filter(|(_, last)| *last == before) {
            Some((span, _)) => span.end = at as u32 + 1,
            None => spans.push((Span { start: at as u32, end: at as u32 + 1 }, before)),
        }
    }
    spans
}

/// Returns the spans of a brief with their classes. Where spans overlap, the last one takes precedence.
fn spans(brief: &Brief) -> impl Iterator<Item = (Span, Class)> + '_ {
    let instructions = brief.instructions.iter().chain(&brief.tone).chain(&brief.audience).map(|part| part.span);
    let instructions = instructions.chain(brief.constraints.iter().map(|constraint| constraint.span));
    let copies = [&brief.subject, &brief.preheader, &brief.headline].into_iter().flatten().map(|part| part.span);
    let label = brief.cta.iter().filter_map(|cta| cta.label.as_ref()).map(|part| part.span);
    let copies = copies.chain(label).chain(brief.signature.iter().map(|signature| signature.span));
    instructions
        .map(|span| (span, Class::Instruction))
        .chain(brief.unclear.iter().map(|part| (part.span, Class::Unclear)))
        .chain(brief.stories.iter().map(|story| (story.text.span, Class::Copy)))
        .chain(brief.facts.iter().map(|fact| (fact.span, Class::Fact)))
        .chain(copies.map(|span| (span, Class::Copy)))
        .filter_map(|(span, class)| Some((span?, class)))
}
