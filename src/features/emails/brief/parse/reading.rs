//! One parsed sentence of a prompt, and functions that read labels, greetings and time zones.

use super::classify::Fragment;
use super::clauses::Sentence;
use super::facts::Found;
use super::lexicon::{List, Mark, lexicons};
use super::prompt::{Prompt, Range};
use super::tokens::{Kind, Words};

/// A sentence with its classified pieces and the facts in it.
pub struct Read {
    pub sentence: Sentence,
    pub pieces: Vec<Fragment>,
    pub found: Vec<Found>,
}

/// Returns the end of a label such as "Body:" that the email does not print, or the start of the range if it has none.
pub fn label_end(prompt: &Prompt<'_>, range: Range) -> usize {
    let start = range.from;
    let range = Range::of(range.from + usize::from(matches!(prompt.fold(range.from), "(" | "[")), range.to);
    let lists = [List::LabelBody, List::LabelLink, List::LabelWhen, List::LabelWhere, List::LabelCode];
    let ends = lists
        .into_iter()
        .filter_map(|list| prompt.end(list, range.from))
        .filter(|end| *end < range.to && prompt.fold(*end) == ":");
    // A link can follow its label: "Link is https://…".
    let link = prompt.end(List::LabelLink, range.from).map(|end| prompt.end(List::LabelIs, end).unwrap_or(end));
    let link = link.filter(|link| *link < range.to && prompt.kind(*link) == Kind::Link);
    ends.max().map(|end| end + 1).max(link).unwrap_or(start)
}

/// The minimum number of words in a statement that follows a greeting with no punctuation between them.
const GREETED_WORDS_MIN: usize = 4;

/// Returns the position of a statement's first word after the prompt's greeting and introductory words.
pub fn filler_end(prompt: &Prompt<'_>, range: Range) -> usize {
    // A statement can follow a greeting without punctuation: "slt fermé …", "hello everyone our opening hours …".
    let greets = prompt.end(List::Greeting, range.from).filter(|_| range.from == 0);
    let greets = greets.map(|end| prompt.end(List::Readers, end).unwrap_or(end)).filter(|end| {
        let is_followed = prompt.kind(*end) == Kind::Word && !prompt.words.is_glued(*end) && end + GREETED_WORDS_MIN <= range.to;
        prompt.is(List::Filler, *end) || is_followed
    });
    let start = greets.unwrap_or(range.from);
    let end = prompt.end(List::Filler, start).filter(|end| prompt.fold(*end) != ":" || *end > start + 1).unwrap_or(start);
    let end = if prompt.fold(end) == "," { end + 1 } else { end };
    if end < range.to { end } else { range.from }
}

pub fn is_greeting(text: &str) -> bool {
    let words = Words::read(text);
    let end = (0..words.len()).rev().find(|at| words.fold(*at).chars().any(char::is_alphanumeric)).map_or(0, |last| last + 1);
    marks(&words).iter().any(|mark| mark.list == List::Greeting && mark.from == 0 && mark.to >= end)
}

/// Returns the time zone at the end of a time: "11 AM Pacific", "19:00 CET". Abbreviations of zones have no lowercase letters.
pub fn zone(text: &str) -> Option<&str> {
    let words = Words::read(text);
    let is_name = |text: &&str| text.chars().count() > 3 || !text.chars().any(char::is_lowercase);
    let zones = marks(&words).into_iter().filter(|mark| mark.list == List::Zone && mark.to == words.len());
    zones.map(|mark| words.slice(mark.from, mark.to)).find(is_name)
}

/// Returns the phrases in the text, in all languages.
pub fn marks(words: &Words<'_>) -> Vec<Mark> {
    let mut marks = Vec::new();
    lexicons().iter().enumerate().for_each(|(language, lexicon)| lexicon.mark(words, language as u8, &mut marks));
    marks
}
