//! Finds the news of an announcement as a title: the prompt's own sentence, shortened if it is too long for a subject.
//!
//! German and Dutch clauses after "that" become main clauses only if the word order is certain.

use super::Prompt;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::tokens::{Kind, Tokens};
use crate::features::emails::document::Purpose;

/// The news of an announcement, in the prompt's words.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    pub title: String,
    /// The part of the news that the title omits, if any.
    pub more: Option<String>,
}

/// The maximum length of a title. Email clients cut longer titles.
const TITLE_CHARACTERS_MAX: usize = 60;
/// The minimum length of a title that is a part of a sentence. A shorter part would not be informative.
const TITLE_CHARACTERS_MIN: usize = 16;
/// Dutch verbs that stand before the infinitive at the end of a clause.
const DUTCH_AUXILIARIES: [&str; 12] =
    ["zal", "zullen", "gaat", "gaan", "heeft", "hebben", "is", "zijn", "wordt", "worden", "kan", "kunnen"];

/// Returns the news of an announcement: its first statement, split if it is too long for a title.
pub fn news(prompt: &Prompt<'_>, purpose: Purpose, statements: &[String]) -> Option<News> {
    let statement = statements.first().filter(|_| purpose == Purpose::Announcement)?;
    let whole = statement.trim_end_matches('.');
    let fits = |text: &str| (TITLE_CHARACTERS_MIN..=TITLE_CHARACTERS_MAX).contains(&text.chars().count());
    if whole.chars().count() <= TITLE_CHARACTERS_MAX {
        return Some(News { title: whole.to_owned(), more: None });
    }
    for mark in [": ", " – ", " — ", "; "] {
        if let Some((title, rest)) = whole.split_once(mark).filter(|(title, _)| fits(title)) {
            return Some(News { title: title.to_owned(), more: Some(super::ended(&super::capital(rest))) });
        }
    }
    let more = Some(statement.clone());
    if let Some((title, _)) = whole.match_indices(", ").map(|(at, _)| whole.split_at(at)).filter(|(title, _)| fits(title)).last()
    {
        return Some(News { title: title.to_owned(), more });
    }
    // Cut at the last word that fits, but not directly after an article or preposition.
    let words = Tokens::read(whole);
    let room = |at: &usize| words.slice(0, *at).chars().count() < TITLE_CHARACTERS_MAX;
    let hangs = |at: usize| {
        words.kind(at) != Kind::Word
            || words.any(at, &prompt.lexicon.determiners).is_some()
            || words.any(at, &prompt.lexicon.phrase_ends).is_some()
    };
    let mut end = (1..words.len()).take_while(room).last()?;
    while end > 1 && hangs(end - 1) {
        end -= 1;
    }
    Some(News { title: format!("{}…", words.slice(0, end)), more })
}

/// Converts a clause after "that" to a sentence; returns `None` if the word order is uncertain.
pub fn main_clause(prompt: &Prompt<'_>, clause: &str) -> Option<String> {
    let words = Tokens::read(clause);
    let is_simple = words.len() > 1 && !clause.contains(',');
    match prompt.language {
        Language::De | Language::Nl if !is_simple => None,
        Language::De => turned(prompt, &words, german_subject(prompt, &words)?, words.len() - 1),
        Language::Nl => {
            let last = words.len() - 1;
            let verb = if DUTCH_AUXILIARIES.contains(&words.fold(last - 1)) { last - 1 } else { last };
            turned(prompt, &words, dutch_subject(prompt, &words)?, verb)
        }
        Language::En | Language::Fr | Language::Es | Language::It | Language::Pt | Language::Ar | Language::He => {
            Some(clause.to_owned())
        }
    }
}

/// Moves the verb of a clause from the end to directly after the subject. A separable prefix stays at the end.
fn turned(prompt: &Prompt<'_>, words: &Tokens<'_>, subject: usize, verb: usize) -> Option<String> {
    let is_verb = words.kind(verb) == Kind::Word && words.raw(verb).starts_with(char::is_lowercase) && verb >= subject;
    let ending = words.fold(verb);
    if !is_verb
        || !(ending.ends_with('t') || ending.ends_with('n') || ending.ends_with("nd") || DUTCH_AUXILIARIES.contains(&ending))
    {
        return None;
    }
    let parts = prompt.lexicon.separable.iter().find(|parts| parts.concat() == ending);
    let particle = parts.and_then(|parts| parts.first()).map_or(0, String::len);
    let raw = words.raw(verb);
    let (particle, bare) = raw.get(..particle).zip(raw.get(particle..)).unwrap_or(("", raw));
    let rest = [words.slice(subject, verb), words.slice(verb + 1, words.len()), particle];
    let rest: Vec<&str> = rest.into_iter().filter(|part| !part.is_empty()).collect();
    Some(format!("{} {bare} {}", words.slice(0, subject), rest.join(" ")).trim_end().to_owned())
}

/// Returns the end of the subject of a German clause: a pronoun, or an article with its noun and a following name.
fn german_subject(prompt: &Prompt<'_>, words: &Tokens<'_>) -> Option<usize> {
    if matches!(words.fold(0), "wir" | "ich" | "es" | "sie" | "man" | "ihr" | "du") {
        return Some(1);
    }
    words.any(0, &prompt.lexicon.determiners)?;
    let capital = |at: usize| words.kind(at) == Kind::Word && words.raw(at).starts_with(char::is_uppercase);
    let is_time = |at: usize| {
        matches!(words.fold(at), "ende" | "anfang" | "mitte")
            || prompt.lexicon.months.iter().chain(&prompt.lexicon.weekdays).any(|names| words.any(at, names).is_some())
    };
    let noun = (1..words.len().min(4)).find(|at| capital(*at))?;
    Some((noun + 1..words.len()).find(|at| !capital(*at) || is_time(*at)).unwrap_or(noun + 1))
}

/// Returns the end of the subject of a Dutch clause: a pronoun, or an article with the noun directly before a preposition.
fn dutch_subject(prompt: &Prompt<'_>, words: &Tokens<'_>) -> Option<usize> {
    if matches!(words.fold(0), "we" | "wij" | "ik" | "er" | "ze") {
        return Some(1);
    }
    words.any(0, &prompt.lexicon.determiners)?;
    let leads = |at: usize| matches!(words.fold(at), "op" | "per" | "vanaf" | "in" | "met" | "voor" | "weer" | "tot" | "naar");
    (2..words.len().min(5)).find(|at| leads(*at) || *at + 1 == words.len())
}
