//! Reads the brief from a prompt by rules, without a language model.
//!
//! The prompt is split into sentences and fragments (`clauses`). Each fragment is text for the recipients or a note to the writer
//! (`classify`). The typed facts are read from the fragments (`facts`, `dates`, `names`), and the words around a fact give it its role
//! (`roles`). All words are in the word lists of each language (`lexicon`, `assets/brief`).

mod classify;
mod clauses;
mod collect;
mod dates;
mod facts;
mod lexicon;
mod names;
mod prompt;
mod roles;
mod statement;
#[cfg(test)]
mod tests;
mod words;

use jiff::civil::Date;

use super::{Brief, Span};
use crate::base::locale::LanguageTag;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// Reads a prompt. Without `language`, the brief has the language that the prompt asks for or is written in. Days such as "Sunday" are
/// relative to `today`.
pub fn parse(prompt: &str, brand: &Brand, language: Option<&LanguageTag>, today: Date) -> Brief {
    let end = prompt.char_indices().nth(limits::PROMPT_CHARACTERS_MAX).map_or(prompt.len(), |(end, _)| end);
    collect::brief(&prompt[..end], brand, language, today)
}

/// What a character of the prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Fact,
    /// Text that the email prints as it is, such as the subject.
    Copy,
    Instruction,
    Unclear,
}

/// Returns the class of every character of the prompt, as adjoining spans in order. Signs and spaces between parts belong to the part
/// before them.
pub fn coverage(brief: &Brief, prompt: &str) -> Vec<(Span, Class)> {
    let length = prompt.chars().count();
    let mut classes: Vec<Option<Class>> = vec![None; length];
    let mut paint = |span: Option<Span>, class: Class| {
        let Some(Span { start, end }) = span else { return };
        let (start, end) = ((start as usize).min(length), (end as usize).min(length));
        classes[start.min(end)..end].fill(Some(class));
    };
    brief.instructions.iter().chain(&brief.tone).chain(&brief.audience).for_each(|part| paint(part.span, Class::Instruction));
    brief.constraints.iter().for_each(|constraint| paint(constraint.span, Class::Instruction));
    brief.unclear.iter().for_each(|part| paint(part.span, Class::Unclear));
    brief.stories.iter().for_each(|story| paint(story.text.span, Class::Copy));
    brief.facts.iter().for_each(|fact| paint(fact.span, Class::Fact));
    let copies = [&brief.subject, &brief.preheader, &brief.headline].into_iter().flatten();
    copies.for_each(|part| paint(part.span, Class::Copy));
    paint(brief.cta.as_ref().and_then(|cta| cta.label.as_ref()?.span), Class::Copy);
    paint(brief.signature.as_ref().and_then(|signature| signature.span), Class::Copy);
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
