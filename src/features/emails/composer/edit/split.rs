//! Splits an instruction into its parts and reads each part.

use super::action::Action;
use super::forms;
use super::reader::{Bindings, Reader, Scene};
use super::vocabulary::{Intent, Slot, Vocabulary};
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::text;
use crate::features::emails::composer::tokens::{TokenKind, Tokens};
use crate::vocab::limits;

/// One part of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    pub text: String,
    /// The action that the part requests; `None` if the part is not understood.
    pub action: Option<Action>,
}

/// The maximum number of adjoining pieces that form one part: "the deadline is 14 December, not 16 December".
const JOINED_MAX: usize = 4;

/// Returns the language of an instruction: the language whose vocabulary contains the largest number of its words. In a tie, the email's
/// language takes precedence, then English.
pub fn language(prompt: &str, own: Language) -> Language {
    let words = Tokens::read(prompt);
    let known = |language: &Language| (Vocabulary::of(*language).known(&words), *language == own, *language == Language::En);
    Language::SPOKEN.into_iter().rev().max_by_key(known).unwrap_or(Language::En)
}

/// Splits an instruction into its parts.
pub fn clauses(prompt: &str, language: Language, scene: Scene<'_>) -> Vec<Clause> {
    let vocabulary = Vocabulary::of(language);
    let pieces = pieces(prompt, vocabulary);
    let read = |from: usize, to: usize| &prompt[pieces[from].0..pieces[to - 1].1];
    let mut found: Vec<Clause> = Vec::new();
    let mut verb: Option<String> = None;
    let mut at = 0;
    while at < pieces.len() && found.len() < limits::COMPOSER_LIST_MAX {
        // A relative clause belongs to the clause before it: "add a countdown, which ends tonight".
        let relative = |end: &usize| {
            let next = pieces.get(*end).map(|(from, to)| Tokens::read(&prompt[*from..*to]));
            next.is_some_and(|next| next.any(0, vocabulary.class("relative")).is_some())
        };
        let ends = at + 1..=pieces.len().min(at + JOINED_MAX);
        let ends = ends.clone().filter(|end| !relative(end)).chain(ends.filter(relative));
        let joined = ends.into_iter().find_map(|end| Some((end, understood(read(at, end), vocabulary, scene)?)));
        // A part can omit the verb of the part before it: "remove the coupon and the products".
        let carried = || {
            let text = format!("{} {}", verb.as_deref()?, read(at, at + 1));
            understood(&text, vocabulary, scene).filter(|understood| !understood.is_open).map(|understood| (at + 1, understood))
        };
        let starts = |from: usize, to: usize| {
            let text = read(from, to);
            understood(text, vocabulary, scene).is_some() || Reader::new(text, vocabulary, scene).starts_instruction()
        };
        match joined.or_else(carried) {
            Some((mut end, mut own)) => {
                while own.is_open && end < pieces.len() && !starts(end, end + 1) {
                    let Some(longer) =
                        understood(read(at, end + 1), vocabulary, scene).filter(|longer| longer.intent == own.intent)
                    else {
                        break;
                    };
                    (own, end) = (longer, end + 1);
                }
                let text = read(at, end).trim();
                verb = Reader::new(text, vocabulary, scene).verb().map(str::to_owned).or(verb);
                found.push(Clause { text: text.to_owned(), action: Some(own.action) });
                at = end;
            }
            None => {
                let reader = Reader::new(read(at, at + 1), vocabulary, scene);
                let is_empty = reader.is_filler(0, reader.words.len());
                let mut end = at + 1;
                while !is_empty && end < pieces.len() && !starts(end, end + 1) {
                    end += 1;
                }
                if !is_empty {
                    found.push(Clause { text: read(at, end).trim().to_owned(), action: None });
                }
                at = end;
            }
        }
    }
    found
}

/// A part of an instruction that fits a form.
struct Understood {
    intent: Intent,
    action: Action,
    /// Whether the part ends with unquoted text, which may continue after a comma.
    is_open: bool,
}

fn understood(text: &str, vocabulary: &'static Vocabulary, scene: Scene<'_>) -> Option<Understood> {
    let reader = Reader::new(text, vocabulary, scene);
    vocabulary.read_forms.iter().find_map(|form| {
        let bound = reader.matched(form)?;
        let is_open = ends_with_text(&bound) && !text.trim_end().ends_with(['"', '”', '“', '»', '«']);
        let action = forms::action(form.intent, &bound)?;
        Some(Understood { intent: form.intent, action, is_open })
    })
}

fn ends_with_text(bound: &Bindings<'_>) -> bool {
    bound.last().is_some_and(|(slot, _)| matches!(slot, Slot::Value | Slot::Label | Slot::Name))
}

/// Returns the byte ranges of the smallest pieces of a prompt: between commas, conjunctions and sentence ends outside quotation marks.
fn pieces(prompt: &str, vocabulary: &'static Vocabulary) -> Vec<(usize, usize)> {
    let words = Tokens::read(prompt);
    let quoted: Vec<(usize, usize)> = text::quotations(&words)
        .into_iter()
        .map(|(open, quote)| {
            let start = words.tokens[open].start;
            (start, words.tokens.get(open + 1).map_or(start, |token| token.start) + quote.len())
        })
        .collect();
    let is_quoted = |at: usize| quoted.iter().any(|(start, end)| (*start..=*end).contains(&words.tokens[at].start));
    let joiner = vocabulary.class("and");
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < words.len() {
        if is_quoted(at) {
            at += 1;
            continue;
        }
        let token = &words.tokens[at];
        let after_number = at > 0 && words.kind(at - 1) == TokenKind::Number && at + 1 < words.len();
        let ends = token.kind == TokenKind::End
            || matches!(token.fold.as_str(), ";" | ",")
            || (matches!(token.fold.as_str(), "." | "!" | "?") && !words.joined(at) && !after_number);
        let taken = words.any(at, joiner).filter(|_| at > 0);
        if ends {
            // A period can be part of new text, so the piece includes the period.
            found.push((start, if token.fold == "," || token.fold == ";" { token.start } else { token.end }));
            start = token.end;
        } else if let Some(taken) = taken {
            found.push((start, token.start));
            start = words.tokens[at + taken - 1].end;
        }
        at += taken.filter(|_| !ends).unwrap_or(1);
    }
    found.push((start, prompt.len()));
    found.retain(|(start, end)| start < end && !prompt[*start..*end].trim().is_empty());
    found
}
