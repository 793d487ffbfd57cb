//! Splits a prompt into lines, sentences and fragments.

use super::chat;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::tokens::Kind;

/// Abbreviations whose period can be inside a sentence, in several languages.
pub const ABBREVIATIONS: [&str; 49] = [
    "dr", "mr", "mrs", "ms", "prof", "st", "nr", "no", "tel", "ca", "inkl", "incl", "approx", "esp", "vs", "bzw", "evtl", "ggf",
    "zzgl", "exkl", "fr", "hr", "str", "av", "sr", "sra", "dott", "sig", "fl", "art", "p", "e", "g", "i", "z", "b", "d", "a",
    "m", "ev", "min", "max", "gg", "ggü", "jr", "op", "vol", "kg", "std",
];

/// A sentence of the prompt, or a line without a period.
#[derive(Clone, Debug)]
pub struct Sentence {
    pub range: Range,
    /// The parts between commas, colons, brackets and dashes.
    pub fragments: Vec<Range>,
    /// The position, from 0, of the list item that contains the sentence.
    pub item: Option<u8>,
    /// Whether the sentence starts a line or an item.
    pub is_line_start: bool,
    pub chat: Chat,
}

/// The role of a sentence in a chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chat {
    /// The sentence is not part of a chat.
    #[default]
    None,
    /// The sentence consists of the name of the person who wrote the line, usually with the time before it.
    Speaker,
    Line,
}

/// Returns the sentences of a prompt in order. Together, the sentences contain every word except list bullets and numbers.
pub fn sentences(prompt: &Prompt<'_>) -> Vec<Sentence> {
    let items = items(prompt);
    let speakers = chat::speakers(prompt);
    let mut sentences: Vec<Sentence> = Vec::new();
    let mut item = None;
    let mut from = 0;
    while from <= prompt.words.len() {
        let to = (from..prompt.words.len()).find(|at| prompt.kind(*at) == Kind::End).unwrap_or(prompt.words.len());
        if let Ok(found) = speakers.binary_search_by_key(&from, |speaker| speaker.from) {
            let speaker = &speakers[found];
            push(prompt, *speaker, None, &mut true, &mut sentences);
            sentences.iter_mut().rev().take(1).for_each(|sentence| sentence.chat = Chat::Speaker);
            let (first, rest) = (sentences.len(), Range::of(speaker.to, to));
            split(prompt, rest, None, &mut true, &mut sentences);
            sentences[first..].iter_mut().for_each(|sentence| sentence.chat = Chat::Line);
            item = None;
            from = to + 1;
            continue;
        }
        let mut start = bullet_end(prompt, from, to);
        let is_bullet = start > from && prompt.fold(start - 1) != ">";
        let mut is_line_start = true;
        let starts_item = items.iter().any(|item| item.at >= start && item.at < to);
        if start < to && !is_bullet && !starts_item && items.iter().all(|item| item.at < start) && prompt.fold(from) != ">" {
            item = None;
        }
        if is_bullet && !starts_item {
            item = Some(item.map_or(0, |item: u8| item.saturating_add(1)));
        }
        let first = start;
        for next in items.iter().filter(|item| item.at >= first && item.at < to) {
            split(prompt, Range::of(start, next.at), item, &mut is_line_start, &mut sentences);
            item = Some(next.index);
            start = next.end;
            is_line_start = true;
        }
        split(prompt, Range::of(start, to), item, &mut is_line_start, &mut sentences);
        from = to + 1;
    }
    sentences
}

/// The number of a list item: the words `at..end`.
struct Item {
    at: usize,
    end: usize,
    index: u8,
}

/// Returns the numbers of the lists in a prompt: `1.`, `2)`, `(3)`, `A)`, `first:`. A list has at least two items, which are numbered in
/// order from the first.
fn items(prompt: &Prompt<'_>) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    let mut run: Vec<Item> = Vec::new();
    let mut at = 0;
    while at < prompt.words.len() {
        let is_open = !run.is_empty() || at > 0 && matches!(prompt.fold(at - 1), ":" | ".");
        let Some((index, end)) = enumerator(prompt, at).or_else(|| inline(prompt, at).filter(|_| is_open)) else {
            at += 1;
            continue;
        };
        if index == 0 {
            keep(&mut found, &mut run);
        }
        if usize::from(index) == run.len() {
            run.push(Item { at, end, index });
            at = end;
        } else {
            at += 1;
        }
    }
    keep(&mut found, &mut run);
    found
}

fn keep(found: &mut Vec<Item>, run: &mut Vec<Item>) {
    if run.len() >= 2 {
        found.append(run);
    }
    run.clear();
}

/// Recognizes a list number inside a line, such as "2.".
fn inline(prompt: &Prompt<'_>, at: usize) -> Option<(u8, usize)> {
    let is_number = prompt.kind(at) == Kind::Number && prompt.raw(at).len() == 1 && !prompt.words.is_glued(at);
    let is_marked = prompt.fold(at + 1) == "." && prompt.words.is_glued(at + 1) && prompt.kind(at + 2) == Kind::Word;
    let is_other = prompt.is(List::Month, at + 2)
        || prompt.is(List::To, at + 2)
        || prompt.before(List::Article, at).is_some()
        || prompt.before(List::OnWord, at).is_some();
    value(prompt, at).filter(|_| is_number && is_marked && !is_other).map(|index| (index, at + 2))
}

/// Recognizes the list number that starts at a word. Returns the item's index in the list, and the end of the number.
fn enumerator(prompt: &Prompt<'_>, at: usize) -> Option<(u8, usize)> {
    let is_first = at == 0 || prompt.kind(at - 1) == Kind::End || bullet_end(prompt, prompt.line_start(at), at + 1) == at;
    if prompt.words.is_glued(at) && !is_first {
        return None;
    }
    let is_open = prompt.fold(at) == "(";
    let number = if is_open { at + 1 } else { at };
    if let Some((index, end)) = position(prompt, at).filter(|_| !is_open) {
        let starts = is_first || prompt.position_adverb(at) && matches!(prompt.fold(at - 1), "." | ";" | ":" | ",");
        let is_marked = matches!(prompt.fold(end), ":" | "," | ")")
            || prompt.fold(end) == "/" && prompt.words.is_glued(end) && !prompt.words.is_glued(end + 1)
            || is_first && matches!(prompt.fold(end), "-" | "|")
            || starts && prompt.kind(end) == Kind::Word;
        return is_marked.then_some((index, end + usize::from(prompt.kind(end) == Kind::Sign)));
    }
    let index = value(prompt, number)?;
    let end = match prompt.fold(number + 1) {
        ")" if prompt.words.is_glued(number + 1) => number + 2,
        "." | ":" | "/" if is_first && !is_open && prompt.words.is_glued(number + 1) && !prompt.words.is_glued(number + 2) => {
            number + 2
        }
        "." | ":" if is_first && !is_open && prompt.kind(number) == Kind::Number && prompt.kind(number + 2) == Kind::Word => {
            number + 2
        }
        _ => return None,
    };
    let is_date = prompt.is(List::Month, end) || prompt.kind(end) == Kind::Number && prompt.fold(number + 1) == ".";
    (!is_date && prompt.kind(end) != Kind::End).then_some((index, end))
}

fn value(prompt: &Prompt<'_>, at: usize) -> Option<u8> {
    let word = prompt.fold(at);
    match prompt.kind(at) {
        Kind::Number => word.parse::<u8>().ok()?.checked_sub(1),
        Kind::Word if word.len() == 1 => word.bytes().next()?.checked_sub(b'a').filter(|index| *index < 26),
        _ => None,
    }
}

/// Returns the position that words such as "second" or "story B" name, and the end of these words.
fn position(prompt: &Prompt<'_>, at: usize) -> Option<(u8, usize)> {
    if let Some(mark) = prompt.at(List::Position, at).max_by_key(|mark| mark.to) {
        return Some((mark.value as u8, mark.to));
    }
    let end = prompt.end(List::LabelItem, at)?;
    value(prompt, end).map(|index| (index, end + 1))
}

/// Returns the index of the first word of a line after bullets and the `>` signs of quoted emails.
fn bullet_end(prompt: &Prompt<'_>, from: usize, to: usize) -> usize {
    let is_bullet = |at: usize| {
        let is_apart = !prompt.words.is_glued(at + 1) || matches!(prompt.fold(at), "=" | ">" | "•" | "*");
        matches!(prompt.fold(at), ">" | "-" | "*" | "•" | "·" | "=" | "→" | "|" | "#" | "+" | "~" | "◦" | "▪" | "✓" | "✔" | "☐")
            && is_apart
    };
    (from..to).find(|at| !is_bullet(*at)).unwrap_or(to)
}

fn split(prompt: &Prompt<'_>, part: Range, item: Option<u8>, is_line_start: &mut bool, sentences: &mut Vec<Sentence>) {
    let mut from = part.from;
    let mut at = part.from;
    while at < part.to {
        if let Some(end) = prompt.quote_end(at, part.to) {
            at = end;
            let is_asked = matches!(prompt.fold(end - 1), "." | "!" | "?");
            if is_asked && prompt.words.is_capital(end + 1) {
                push(prompt, Range::of(from, end + 1), item, is_line_start, sentences);
                from = end + 1;
            }
        }
        at += 1;
        if at < part.to && !is_end(prompt, at - 1, part) {
            continue;
        }
        while at < part.to
            && (matches!(prompt.fold(at), "." | "!" | "?" | ";")
                || prompt.words.is_glued(at) && matches!(prompt.fold(at), ")" | "]" | "\""))
        {
            at += 1;
        }
        push(prompt, Range::of(from, at), item, is_line_start, sentences);
        from = at;
    }
}

fn push(prompt: &Prompt<'_>, range: Range, item: Option<u8>, is_line_start: &mut bool, sentences: &mut Vec<Sentence>) {
    if !range.is_empty() {
        sentences.push(Sentence {
            range,
            fragments: fragments(prompt, range),
            item,
            is_line_start: *is_line_start,
            chat: Chat::None,
        });
        *is_line_start = false;
    }
}

fn is_end(prompt: &Prompt<'_>, at: usize, part: Range) -> bool {
    match prompt.fold(at) {
        "!" | "?" => !matches!(prompt.fold(at + 1), ")" | "]" | "\"") || !prompt.words.is_glued(at + 1),
        ";" => true,
        "]" => prompt.words.is_capital(at + 1),
        "." => is_period_end(prompt, at, part),
        _ => false,
    }
}

fn is_period_end(prompt: &Prompt<'_>, at: usize, part: Range) -> bool {
    let next = at + 1;
    if next >= part.to {
        return true;
    }
    if prompt.words.is_glued(next) && !matches!(prompt.fold(next), ")" | "]" | "\"" | "." | "!" | "?") {
        // A period without a space after it ends a sentence only before a capitalized word: "days.No".
        return prompt.kind(next) == Kind::Word
            && prompt.words.is_capital(next)
            && prompt.raw(next).len() > 1
            && at > 0
            && prompt.raw(at - 1).len() > 2;
    }
    if at <= part.from {
        return true;
    }
    let previous = prompt.fold(at - 1);
    // An abbreviation that is joined to a number is a unit, so the period after it can end the sentence: "13u." (hours).
    let is_unit = prompt.words.is_glued(at - 1) && at > 1 && prompt.kind(at - 2) == Kind::Number;
    if prompt.is(List::OpenAbbreviation, at - 1) && prompt.kind(next) != Kind::End && !is_unit {
        return false;
    }
    // A period before a closing bracket can belong to a date: "closed mon-wed (30.11.-2.12.) because of stocktaking".
    let follows = (next..part.to).find(|at| !matches!(prompt.fold(*at), ")" | "]")).unwrap_or(part.to);
    let is_lowercase = |at: usize| prompt.raw(at).chars().next().is_some_and(|c| c.is_lowercase());
    if follows > next && prompt.kind(at - 1) == Kind::Number && is_lowercase(follows) && !starts_request(prompt, follows) {
        return false;
    }
    let continues = is_lowercase(next) || matches!(prompt.fold(next), "-" | "+" | "," | "/" | "&");
    if prompt.kind(at - 1) == Kind::Number {
        if prompt.fold(next) == "(" || is_ordinal_noun(prompt, at, part) {
            return false;
        }
        let is_date = previous.len() <= 2 && prompt.lexicon().code == "de" || previous.contains('.') && previous.len() <= 5;
        let is_ordinal = is_date && !is_hour(prompt, at - 1) && !starts_request(prompt, next);
        return !(continues && is_ordinal
            || prompt.is(List::Month, next)
            || matches!(prompt.fold(next), "-" | "+" | ",")
            || previous.contains('.') && prompt.kind(next) == Kind::Number);
    }
    let is_title = prompt.is(List::Title, at - 1);
    // The period after "str" in a street name does not end a sentence: "Torstr. 8".
    if previous.len() > 3 && previous.ends_with("str") && prompt.kind(next) == Kind::Number {
        return false;
    }
    if previous == "no" && prompt.kind(next) != Kind::Number {
        return true;
    }
    !(ABBREVIATIONS.contains(&previous) && (continues || is_title || prompt.kind(next) == Kind::Number || previous == "st"))
}

/// Returns whether a number is a time rather than a day: "8.30", the second hour of "8-12", and numbers greater than 31.
fn is_hour(prompt: &Prompt<'_>, at: usize) -> bool {
    let minutes =
        prompt.raw(at).split_once('.').and_then(|(_, minutes)| minutes.parse::<u8>().ok().filter(|_| minutes.len() == 2));
    let is_late = minutes.is_some_and(|minutes| minutes > 12) || prompt.raw(at).parse::<u32>().is_ok_and(|number| number > 31);
    let is_dash = at > 1 && !prompt.raw(at).contains('.') && prompt.fold(at - 1) == "-" && prompt.kind(at - 2) == Kind::Number;
    let is_list = prompt.is(List::And, at + 2) || prompt.is(List::Month, at + 2);
    is_late || is_dash && prompt.words.is_glued(at) && prompt.words.is_glued(at - 1) && !is_list
}

/// Returns whether a German number with a period belongs to the noun after it: ", 2. OG", "im 2. Stock". The number must start the sentence
/// or follow a comma, an opening bracket, a preposition or an article.
fn is_ordinal_noun(prompt: &Prompt<'_>, at: usize, part: Range) -> bool {
    let (number, noun) = (at - 1, at + 1);
    let is_led = number == part.from
        || matches!(
            prompt.fold(number - 1),
            "," | "(" | "im" | "am" | "zum" | "vom" | "der" | "die" | "das" | "den" | "dem" | "ins" | "beim"
        );
    let is_noun = prompt.words.is_capital(noun) && prompt.kind(noun) == Kind::Word && !prompt.is(List::Common, noun);
    let is_other = prompt.is(List::Article, noun) || prompt.is(List::Month, noun) || starts_request(prompt, noun);
    prompt.lexicon().code == "de" && prompt.raw(number).len() == 1 && is_led && is_noun && !is_other
}

/// Returns whether a request to the writer starts at a word.
fn starts_request(prompt: &Prompt<'_>, at: usize) -> bool {
    [List::Please, List::NoteStart, List::Report, List::Write].into_iter().any(|list| prompt.is(list, at))
}

/// Splits a sentence at commas, colons, dashes, arrows and brackets, and before notes and labels.
fn fragments(prompt: &Prompt<'_>, sentence: Range) -> Vec<Range> {
    let mut fragments = Vec::new();
    let mut from = sentence.from;
    let mut at = sentence.from;
    while at < sentence.to {
        if let Some(end) = prompt.quote_end(at, sentence.to) {
            at = end + 1;
            continue;
        }
        let sign = prompt.fold(at);
        let is_spaced = !prompt.words.is_glued(at + 1) || at + 1 >= sentence.to;
        let is_bracket = matches!(sign, "(" | "[");
        // A comma between a date and its year does not end a clause: "May 13, 2027".
        let is_year = sign == "," && prompt.kind(at + 1) == Kind::Number && {
            let year = prompt.fold(at + 1);
            year.len() == 4 && year.starts_with("20") && (at.saturating_sub(2)..at).any(|at| prompt.is(List::Month, at))
        };
        let ends_after = matches!(sign, "," | ":" | "→") && is_spaced && !is_year
            || sign == ">" && prompt.fold(at.saturating_sub(1)) == "-" && prompt.words.is_glued(at)
            || sign == "-" && is_spaced && !prompt.words.is_glued(at)
            || sign == "-" && prompt.fold(at + 1) == "-"
            || matches!(sign, ")" | "]") && fragments_open(prompt, from, at);
        if is_bracket && at > from {
            fragments.push(Range::of(from, at));
            from = at;
        } else if ends_after {
            fragments.push(Range::of(from, at + 1));
            from = at + 1;
        } else if follows_link(prompt, from, at)
            || starts_note(prompt, from, at)
            || starts_label(prompt, from, at)
            || interrupts(prompt, sentence, from, at)
        {
            fragments.push(Range::of(from, at));
            from = at;
        }
        at += 1;
    }
    if from < sentence.to {
        fragments.push(Range::of(from, sentence.to));
    }
    fragments
}

fn fragments_open(prompt: &Prompt<'_>, from: usize, at: usize) -> bool {
    (from..at).any(|at| matches!(prompt.fold(at), "(" | "["))
}

/// Returns whether a note to the writer starts at a word directly after a web address. No punctuation is needed between the two.
fn follows_link(prompt: &Prompt<'_>, from: usize, at: usize) -> bool {
    let notes = [List::NoteStart, List::Please, List::Without, List::NoExclamation, List::NoImages, List::Formal, List::Informal];
    at > from && prompt.kind(at - 1) == Kind::Link && notes.into_iter().any(|list| prompt.is(list, at))
}

/// Returns whether a label starts at a word inside a fragment: "… a.example/b Button: Save me a seat".
fn starts_label(prompt: &Prompt<'_>, from: usize, at: usize) -> bool {
    let lists = [List::LabelSubject, List::LabelPreheader, List::LabelHeadline, List::LabelButton, List::LabelSign];
    let is_label = |list: List| prompt.at(list, at).any(|mark| prompt.fold(mark.to) == ":");
    // In lowercase, only phrases of several words are labels: "… a.example/b button text: Tell us".
    let is_phrase = |list: List| prompt.at(list, at).any(|mark| mark.to > at + 1 && prompt.fold(mark.to) == ":");
    // A label can follow a period that ends an abbreviation instead of a sentence: "it takes 10 min. sign: Giulia".
    if at > from && prompt.fold(at - 1) == "." && is_label(List::LabelSign) {
        return true;
    }
    at > from && (prompt.words.is_capital(at) && lists.into_iter().any(is_label) || lists.into_iter().any(is_phrase))
}

/// The minimum number of words in a sentence in which a note can start without punctuation.
const UNPUNCTUATED_WORDS: usize = 14;

/// Returns whether a note to the writer starts at a word in a long sentence without punctuation: "… for collection pls fix my spelling make
/// it cosy".
fn interrupts(prompt: &Prompt<'_>, sentence: Range, from: usize, at: usize) -> bool {
    if at < from + 4 || sentence.len() < UNPUNCTUATED_WORDS {
        return false;
    }
    let notes = [List::NoteStart, List::NoteAny, List::NoExclamation, List::NoImages, List::NoProducts, List::NoEmoji];
    let is_note = |at: usize| notes.iter().any(|list| prompt.at(*list, at).any(|mark| mark.to > at + 1));
    let asked = prompt.end(List::Please, at).filter(|end| prompt.kind(*end) == Kind::Word);
    if asked.is_some_and(|end| is_note(end) || prompt.is(List::NoteStart, end)) {
        return true;
    }
    // In a sentence with punctuation, phrases that start a note are often parts of statements.
    let signs =
        (at.saturating_sub(UNPUNCTUATED_WORDS).max(sentence.from)..at).filter(|at| prompt.kind(*at) == Kind::Sign).count();
    let is_joined = prompt.before(List::ToVerb, at).is_some() || prompt.is(List::Finite, at - 1) || prompt.is(List::That, at - 1);
    at > from + UNPUNCTUATED_WORDS && signs <= 1 && !is_joined && prompt.at(List::NoteStart, at).any(|mark| mark.to > at + 1)
}

/// Returns whether a note to the writer starts at a word: "… and keep it short", "… maybe mention that".
fn starts_note(prompt: &Prompt<'_>, from: usize, at: usize) -> bool {
    if at > from && prompt.end(List::Tail, at).is_some_and(|end| prompt.kind(end) != Kind::Word) {
        return true;
    }
    // After a word such as "before", "then" refers to a time: "bought before then keep the old price".
    let is_time = at > from
        && prompt.fold(at) == "then"
        && matches!(prompt.fold(at - 1), "before" | "until" | "by" | "since" | "till" | "after");
    let Some(end) = prompt.end(List::And, at).filter(|_| at > from && !is_time) else { return false };
    if prompt.at(List::NoteWhole, end).any(|mark| mark.to > end + 1 && prompt.kind(mark.to) != Kind::Word) {
        return true;
    }
    let first = prompt.end(List::And, from).unwrap_or(from);
    if prompt.is(List::NoteStart, first) && prompt.is(List::Report, end) {
        return true;
    }
    [List::NoteStart, List::NoExclamation, List::NoImages, List::NoProducts, List::NoEmoji, List::LabelSign]
        .into_iter()
        .any(|list| prompt.at(list, end).any(|mark| mark.to > end + 1))
}
