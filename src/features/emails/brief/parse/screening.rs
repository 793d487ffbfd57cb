//! Corrects the classes of pieces by their context: announcements of lists, words that the email must not contain, thanks, and hearsay.

use super::super::ConstraintKind;
use super::classify::{Class, Fields, Fragment};
use super::facts::has_value;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::tokens::{Kind, Words, fold};

/// Classifies words that merely announce a list, such as "three stories:", as a topic.
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

/// Marks a label as unclear if its text is unclear, because the label means nothing without the text: "Dress code: none haha".
pub fn labels(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        for at in 1..read.pieces.len() {
            let (label, text) = (read.pieces[at - 1], read.pieces[at]);
            let is_label = label.class == Class::Content && prompt.fold(label.range.to - 1) == ":";
            let is_last = read.pieces[at + 1..].iter().all(|piece| piece.class != Class::Content);
            if is_label && is_last && text.class == Class::Unclear && !has_value(prompt, label.range) {
                read.pieces[at - 1].class = Class::Unclear;
            }
        }
    }
}

/// Marks content as unclear if it contains a word that the email must not contain. A warning reports unclear content.
pub fn leave_out(prompt: &Prompt<'_>, fields: &Fields, pieces: &mut Vec<Fragment>) {
    let words = fields.constraints.iter().filter(|constraint| constraint.kind == ConstraintKind::AvoidWord);
    let avoided: Vec<String> =
        words.filter_map(|constraint| constraint.value.as_deref().map(fold)).filter(|word| word.len() > 2).collect();
    let avoided: Vec<Words<'_>> = avoided.iter().map(|word| Words::read(word)).filter(|words| words.len() > 0).collect();
    let mut at = 0;
    while at < pieces.len() {
        let Fragment { range, class } = pieces[at];
        let has_word = |range: Range| (range.from..range.to).any(|at| avoided.iter().any(|words| is_at(prompt, at, words)));
        if class == Class::Content && has_word(range) {
            // If only the reason contains the avoided word, only the reason is left out: "New trainer is Bella because Marcus left".
            let reason = (range.from + 1..range.to)
                .find(|at| prompt.is(List::Because, *at))
                .filter(|at| !has_word(Range::of(range.from, *at)));
            let start = reason.unwrap_or(range.from);
            pieces[at].range.to = start;
            pieces.insert(at + 1, Fragment { range: Range::of(start, range.to), class: Class::Unclear });
            if start == range.from {
                pieces.remove(at);
            }
            at += 1;
        }
        at += 1;
    }
}

/// The maximum number of letters that an inflected form adds to a word, such as the "s" in "sales".
const ENDING_LETTERS_MAX: usize = 2;

/// Returns whether the words at an index are a phrase, or another form of it: "sales" is a form of "sale", but "wholesale" is not.
fn is_at(prompt: &Prompt<'_>, at: usize, phrase: &Words<'_>) -> bool {
    let last = phrase.len() - 1;
    let is_form = |own: &str, word: &str| own.strip_prefix(word).is_some_and(|rest| rest.chars().count() <= ENDING_LETTERS_MAX);
    (0..last).all(|word| prompt.fold(at + word) == phrase.fold(word)) && is_form(prompt.fold(at + last), phrase.fold(last))
}

/// The maximum number of words in a name after a closing: "cheers tom from the bakery".
const SIGNER_WORDS_MAX: usize = 4;

/// Separates thanks and closing words at the end of a line from the statement before them: "ask for Mel thx", "… bis Samstag danke gruß
/// jutta". A name after them is unclear: the person who types the prompt need not be the person who signs the email.
pub fn thanks(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let Some(piece) = read.pieces.last_mut().filter(|piece| piece.class == Class::Content) else { continue };
        let Range { from, to } = piece.range;
        let end = (from..to).rev().find(|at| prompt.kind(*at) != Kind::Sign).map_or(from, |last| last + 1);
        let is_last = prompt.kind(read.sentence.range.to) == Kind::End;
        let Some((start, names)) = (from..end).find_map(|at| Some((at, closing(prompt, at, end)?))).filter(|_| is_last) else {
            continue;
        };
        let class = if names == end { Class::Note } else { Class::Unclear };
        let is_whole = start == from;
        if is_whole && class == Class::Note {
            continue;
        }
        piece.range.to = start;
        read.pieces.push(Fragment { range: Range::of(start, to), class });
        read.pieces.retain(|piece| !piece.range.is_empty());
    }
}

/// If the words `at..end` are only thanks or closing words and a name, returns the start of the name. The name can be empty.
fn closing(prompt: &Prompt<'_>, at: usize, end: usize) -> Option<usize> {
    let mut names = at;
    while let Some(next) =
        prompt.end(List::Thanks, names).or_else(|| prompt.end(List::Closing, names)).filter(|next| *next <= end)
    {
        // "Love" and "from" are closing words only if nothing but a name follows them.
        names = next;
    }
    if names == at || prompt.end(List::Thanks, at).is_none() && names < end && !is_greeting(prompt, at) {
        return None;
    }
    let others = [List::Common, List::Finite, List::Not, List::Goal, List::Month, List::Weekday, List::Readers, List::Article];
    let is_name = |at: usize| {
        prompt.kind(at) == Kind::Word
            && (at > names && prompt.fold(at) == "from" || !others.iter().any(|list| prompt.is(*list, at)))
    };
    (end - names <= SIGNER_WORDS_MAX && (names..end).all(is_name)).then_some(names)
}

/// Returns whether a closing is unambiguous, unlike a word such as "from", which can also be part of a statement.
fn is_greeting(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.end(List::Closing, at).is_some() && !prompt.is(List::Common, at)
}

/// The maximum number of words that name a colleague before a verb: "Anja from accounts says".
const TELLER_WORDS_MAX: usize = 4;

/// Marks content as unclear if a colleague says or wants it ("lisa meinte 10 aber chef sagt 5", "oh and Dan says put the peonies first"),
/// or if the prompt asks about it ("(1 hr??)"). Content is kept as a quotation for the email if the person has a title, or if the words are
/// in quotation marks.
pub fn asides(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let sentence = read.sentence.range;
        let is_quoted = (sentence.from..sentence.to).any(|at| prompt.is_quote(at));
        let mut is_remark = false;
        for group in super::note_model::groups(prompt, &mut read.pieces) {
            let range = Range::of(group[0].range.from, group[group.len() - 1].range.to);
            let is_bracket = matches!(prompt.fold(range.from), "(" | "[");
            let asks = is_bracket && prompt.sign("?", range).is_some()
                || (range.from..range.to).any(|at| prompt.fold(at) == "?" && prompt.fold(at + 1) == "?");
            // A prohibition in capitals addresses the writer: "(NOT the Sunday, Colin got it wrong)".
            let word = prompt.raw(range.from + 1);
            let is_shouted = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
            let asks = asks || is_bracket && is_shouted && prompt.is(List::Not, range.from + 1) && !has_value(prompt, range);
            // Text after an arrow is a remark about the text before it: "<- a client pasted that".
            is_remark |= prompt.fold(range.from) == "<" && prompt.fold(range.from + 1) == "-";
            let mut start = range.from..(range.from + TELLER_WORDS_MAX + 1).min(range.to);
            let is_reported = quotes_colleague(prompt, range) && (!is_quoted || start.any(|at| WANTS.contains(&prompt.fold(at))));
            let is_task = is_for_colleague(prompt, range) || sends_to_colleague(prompt, sentence, range);
            if is_remark || asks || is_reported || is_task || asks_colleague(prompt, sentence, range) {
                group.iter_mut().filter(|piece| piece.class == Class::Content).for_each(|piece| piece.class = Class::Unclear);
            }
        }
    }
}

/// The verbs for a colleague's wish. After such a verb, quotation marks enclose the words that the colleague wants, not a quotation for the
/// email: "chair wants 'esteemed members'".
const WANTS: [&str; 9] = ["wants", "want", "will", "mochte", "veut", "quiere", "vuole", "wil", "quer"];

/// The words before the name of a person to ask: "ask Dave".
const ASKS: [&str; 7] = ["ask", "frag", "frage", "demande", "pregunta", "chiedi", "vraag"];

/// The maximum number of words in a request to ask a person.
const ASKED_WORDS_MAX: usize = 3;

/// Returns whether a sentence after a question only names a person who knows the answer: "winter check is £49 or £45?? ask Dave".
fn sends_to_colleague(prompt: &Prompt<'_>, sentence: Range, range: Range) -> bool {
    let mut own = prompt.trim(range);
    let is_asked = sentence.from > 0 && prompt.fold(sentence.from - 1) == "?";
    let is_whole = own == prompt.trim(sentence);
    own.to -= usize::from(prompt.fold(own.to.saturating_sub(1)) == ".");
    let last = own.to.saturating_sub(1);
    is_whole
        && is_asked
        && (2..=ASKED_WORDS_MAX).contains(&own.len())
        && ASKS.contains(&prompt.fold(own.from))
        && prompt.kind(last) == Kind::Word
        && !OTHERS.into_iter().any(|list| prompt.is(list, last))
}

/// Verbs for "can you" and "could you" that ask a colleague to do something: "Nuno podes pôr isto bonito?".
const CAN_YOU: [&str; 11] =
    ["podes", "podias", "consegues", "puedes", "podrias", "puoi", "potresti", "peux", "pourrais", "kannst", "konntest"];

/// The verbs that ask a colleague to do something if "you" follows them: "Tom can you add the photo?".
const CAN: [&str; 8] = ["can", "could", "would", "will", "kun", "kan", "wil", "machst"];

/// The words for "you" that follow the verbs in [`CAN`].
const YOU: [&str; 6] = ["you", "u", "ya", "je", "jij", "du"];

/// Returns whether a question starts with the name of a colleague and asks the colleague to do something.
fn asks_colleague(prompt: &Prompt<'_>, sentence: Range, range: Range) -> bool {
    let mut name = range.from;
    while let Some(next) = [List::And, List::Greeting, List::Filler, List::Sound]
        .into_iter()
        .find_map(|list| prompt.end(list, name))
        .or_else(|| matches!(prompt.fold(name), "@" | "(" | "[").then_some(name + 1))
        .filter(|next| *next < range.to)
    {
        name = next;
    }
    let is_called = name > range.from && prompt.fold(name - 1) == "@";
    let mut others = OTHERS.into_iter().chain([List::Goal, List::Month, List::Weekday, List::Venue, List::Email]);
    let is_name = prompt.kind(name) == Kind::Word
        && (is_called || prompt.words.is_capital(name))
        && !others.any(|list| prompt.is(list, name));
    let verb = name + 1 + usize::from(prompt.fold(name + 1) == ",");
    let asks = CAN_YOU.contains(&prompt.fold(verb))
        || CAN.contains(&prompt.fold(verb)) && YOU.contains(&prompt.fold(verb + 1))
        || prompt.fold(verb) == "tu" && prompt.fold(verb + 1) == "peux";
    is_name && asks && prompt.fold(sentence.to - 1) == "?"
}

/// Returns whether text in brackets asks a colleague to do something: "(Karim: check with the host!)".
fn is_for_colleague(prompt: &Prompt<'_>, range: Range) -> bool {
    let name = range.from + 1;
    let is_name = matches!(prompt.fold(range.from), "(" | "[")
        && prompt.kind(name) == Kind::Word
        && prompt.words.is_capital(name)
        && !OTHERS.into_iter().any(|list| prompt.is(list, name))
        && prompt.fold(name + 1) == ":";
    let rest = Range::of(name + 2, range.to);
    is_name && (prompt.has(List::Please, rest) || prompt.has(List::Not, rest) || prompt.sign("!", rest).is_some())
}

/// Returns whether a range starts with a colleague who says or wants something, or is in brackets and names a colleague after "says".
fn quotes_colleague(prompt: &Prompt<'_>, range: Range) -> bool {
    let mut from = range.from;
    while let Some(next) = [List::And, List::Please, List::Filler, List::Sound]
        .into_iter()
        .find_map(|list| prompt.end(list, from))
        .or_else(|| matches!(prompt.fold(from), "(" | "[" | "," | "-").then_some(from + 1))
        .filter(|next| *next < range.to)
    {
        from = next;
    }
    // The rules for corrections handle text that corrects a value.
    let is_corrected = prompt.all(List::Correction, range).any(|mark| has_value(prompt, Range::of(mark.to, range.to)));
    if is_corrected || prompt.is(List::Title, from) && !prompt.is(List::Colleague, from) {
        return false;
    }
    if prompt.is(List::Colleague, from) {
        return true;
    }
    let Some(says) = prompt.find(List::Says, Range::of(from, (from + TELLER_WORDS_MAX + 1).min(range.to))) else { return false };
    if matches!(prompt.fold(range.from), "(" | "[") && prompt.words.is_capital(says.to) {
        return true;
    }
    // A capitalized word does not count as a verb, because a name such as "Ted" can end in "-ed".
    let is_other = |list: List, at: usize| prompt.is(list, at) && !(list == List::Finite && prompt.words.is_capital(at));
    let is_name = |at: usize| prompt.kind(at) == Kind::Word && !OTHERS.into_iter().any(|list| is_other(list, at));
    says.from > from && prompt.fold(says.to) != ":" && (from..says.from).all(is_name)
}

/// The lists whose words cannot be a person's name.
const OTHERS: [List; 9] =
    [List::Common, List::Please, List::Readers, List::Finite, List::And, List::Not, List::Article, List::Question, List::Title];

/// Marks content as unclear if it is another person's claim that the prompt denies or doubts: "Anja says the 20th but that is wrong".
pub fn hearsay(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let Range { from, to } = read.sentence.range;
        let start = Range::of(from, (from + TELLER_WORDS_MAX + 1).min(to));
        let Some(says) = prompt.find(List::Says, start).filter(|says| says.from > from) else { continue };
        // The word before the verb must be a name, unlike in "please tell us" and "we said".
        let is_name = prompt.kind(says.from - 1) == Kind::Word && !OTHERS.into_iter().any(|list| prompt.is(list, says.from - 1));
        if !is_name {
            continue;
        }
        let rest = Range::of(says.to, to);
        // A question doubts the claim: "Actually Sam says 15%?".
        let asks = prompt.sign("?", rest).is_some();
        let denies = asks || prompt.has(List::Not, rest) || prompt.has(List::Correction, rest);
        let is_corrected = prompt.all(List::Correction, rest).any(|mark| has_value(prompt, Range::of(mark.to, to)));
        if denies && !is_corrected {
            read.pieces.iter_mut().filter(|piece| piece.class == Class::Content).for_each(|piece| piece.class = Class::Unclear);
        }
    }
}
