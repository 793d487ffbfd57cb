//! Recognizes chats in a prompt: lines that start with the name of the person who wrote the line, usually after a time.

use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::tokens::Kind;

/// The maximum number of words in a bracketed time: `[16/11/2026, 07:58:12]`.
const STAMP_WORDS_MAX: usize = 10;

/// The maximum number of words in the name of a person in a chat.
const NAME_WORDS_MAX: usize = 3;

/// The minimum number of lines in a chat without times.
const LINES_MIN: usize = 3;

/// If the prompt contains a chat, returns the range of the time and the name at the start of each of its lines, in order. Lines without
/// times are a chat only if at least two people write them, and one of these people writes at least two lines.
pub fn speakers(prompt: &Prompt<'_>) -> Vec<Range> {
    let starts = (0..prompt.words.len()).filter(|at| *at == 0 || prompt.kind(at - 1) == Kind::End);
    let found: Vec<(bool, usize, Range)> = starts.filter_map(|at| speaker(prompt, at)).collect();
    let stamped = found.iter().filter(|(is_stamped, ..)| *is_stamped).count();
    let names: Vec<&str> = found.iter().map(|(_, name, _)| prompt.fold(*name)).collect();
    let different = names.iter().collect::<std::collections::BTreeSet<_>>().len();
    let is_chat = stamped >= 2 || names.len() >= LINES_MIN && different >= 2 && different < names.len();
    found.into_iter().filter(|_| is_chat).map(|(.., range)| range).collect()
}

/// Recognizes the start of a line of a chat. Returns three values: whether the line has a time; the index of the name; and the range from
/// the start of the line through the colon.
fn speaker(prompt: &Prompt<'_>, start: usize) -> Option<(bool, usize, Range)> {
    let from = if prompt.fold(start) == ">" { start + 1 } else { start };
    let stamp = (prompt.fold(from) == "[")
        .then(|| prompt.sign("]", Range::of(from, from + STAMP_WORDS_MAX)))
        .flatten()
        .filter(|close| (from..*close).any(|at| prompt.kind(at) == Kind::Number && prompt.fold(at).contains(':')));
    let name = stamp.map_or(from, |close| close + 1);
    let end = (name + 1..=name + NAME_WORDS_MAX).find(|at| prompt.fold(*at) == ":")?;
    let labels = [
        List::LabelSubject,
        List::LabelPreheader,
        List::LabelHeadline,
        List::LabelButton,
        List::LabelLink,
        List::LabelBody,
        List::LabelSign,
        List::LabelAudience,
        List::LabelTone,
        List::LabelNote,
        List::LabelWhen,
        List::LabelWhere,
        List::LabelCode,
        List::Header,
    ];
    let is_word = (name..end).all(|at| prompt.kind(at) == Kind::Word);
    let is_name = stamp.is_some()
        || prompt.words.is_capital(name)
            && !labels.iter().any(|list| prompt.is(*list, name))
            && !prompt.at(List::Weekday, name).any(|mark| mark.to == end);
    (is_word && is_name).then(|| (stamp.is_some(), name, Range::of(start, end + 1)))
}
