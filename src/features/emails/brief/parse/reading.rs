//! The results of parsing one sentence of a prompt.

use super::classify::Piece;
use super::clauses::Sentence;
use super::facts::Found;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::tokens::Kind;

/// A sentence with its classified pieces and the facts in it.
pub struct Read {
    pub sentence: Sentence,
    pub pieces: Vec<Piece>,
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
