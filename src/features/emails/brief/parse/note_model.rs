//! Finds statements that read like notes to the writer, with a linear model (logistic regression) over hashed n-grams of words and
//! characters.
//!
//! The rules recognize notes by their phrases, but the lists of phrases are incomplete. The model was trained on the samples in
//! `tests/samples/notes`. A statement that the model classifies as a note is marked as unclear: the email leaves it out, and a warning
//! reports it.

#[cfg(test)]
mod train;

use super::super::Goal;
use super::classify::{Class, Fragment};
use super::facts::{self, has_value};
use super::lexicon::{List, Mark, goal_of};
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::roles;
use super::tokens::{Kind, fold};

/// The weights, one byte for each bucket of features, in steps of [`STEP`]. The first weight is the bias, which is added for every
/// statement.
static WEIGHTS: &[u8; BUCKETS] = include_bytes!("../../../../../assets/brief/notes.weights");

/// The number of buckets. With fewer buckets, more features collide; more buckets make the program larger.
const BUCKETS: usize = 1 << 16;

/// The quantization step of the weights.
const STEP: f32 = 1.0 / 40.0;

/// The maximum number of words in a statement that the model reads. Longer statements are usually from dictated prompts without
/// punctuation, and contain more than notes.
const WORDS_MAX: usize = 40;

/// The maximum number of words in a label, including its colon.
const LABEL_WORDS_MAX: usize = 5;

/// The maximum length of a short sentence, in words and punctuation marks. A short sentence such as "Elections." contains too little
/// evidence, so its threshold is higher.
const SHORT_WORDS: usize = 3;

/// The maximum number of words in the grammatical subject of a statement, such as "the first 50 customers".
const SUBJECT_WORDS_MAX: usize = 5;

/// Marks statements that read like notes as unclear.
pub fn screen(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for read in reads {
        let is_alone = read.pieces.len() == 1;
        let start = read.sentence.range.from;
        let inside = inside(prompt, &read.pieces);
        let announced = announced(prompt, &read.pieces);
        let mut unclear_until = None;
        for group in groups(prompt, &mut read.pieces) {
            let range = Range::of(group[0].range.from, group[group.len() - 1].range.to);
            // Brackets after a note belong to the note: "don't blame the host (Hexaline)".
            if prompt.fold(range.from) == "(" && unclear_until == Some(range.from) && !names(prompt, range) {
                group.iter_mut().filter(|piece| piece.class == Class::Content).for_each(|piece| piece.class = Class::Unclear);
                continue;
            }
            // The rules for corrections handle text that corrects a value.
            if prompt.has(List::Correction, range) && has_value(prompt, range) {
                continue;
            }
            // A sentence that invites the recipients is not a note ("Win a trip to Japan: everyone who orders takes part"), and neither is
            // a short phrase that is the heading of an item ("3. Shipping: orders before 19 December arrive in time").
            let is_heading = read.sentence.item.is_some()
                && range.from == start
                && range.len() <= LABEL_WORDS_MAX
                && prompt.fold(range.to - 1) == ":";
            // The title of an event at the start of a prompt is not a note: "An Inspector Calls, 18 to 20 March".
            let is_title = range.from == 0 && is_title(prompt, range) && has_value(prompt, read.sentence.range);
            if is_heading
                || is_title
                || inside.contains(&range)
                || announced.contains(&range.from)
                || prompt.is(List::Invite, prompt.trim(range).from)
            {
                continue;
            }
            if belongs(prompt, range) || is_statement(prompt, range) {
                continue;
            }
            // A short phrase that starts with a number is a value, such as "8 quid".
            let is_value = range.len() <= VALUE_WORDS_MAX && prompt.kind(range.from) == Kind::Number;
            if is_value || probability(prompt, range).is_none_or(|own| own < threshold(prompt, range, is_alone)) {
                continue;
            }
            // A label such as "Key facts:" has no content of its own, so losing it needs no warning.
            let is_first = range.from == start;
            let is_label =
                prompt.fold(range.to - 1) == ":" && range.len() <= LABEL_WORDS_MAX && is_first && is_known(prompt, range);
            let has_link = (range.from..range.to).any(|at| prompt.kind(at) == Kind::Link);
            let class = match (is_label, has_link) {
                (true, _) => Class::Note,
                // A note with a link becomes a topic, so that the link is still read as a fact.
                (_, true) => Class::Topic,
                _ => Class::Unclear,
            };
            unclear_until = (class == Class::Unclear).then_some(range.to);
            group.iter_mut().filter(|piece| piece.class == Class::Content).for_each(|piece| piece.class = class);
        }
    }
}

/// Returns the ranges of the pieces that a statement would be incomplete without: "get an alert at 80% of the budget" in "Set a cap per
/// project, get an alert at 80% of the budget, and see what is left", "head of product" in "with Dana Ruiz, head of product", "the tweed
/// from Saxony" in "New in the shop: the tweed from Saxony, 100 g for €14.90", and "We sent the wrong links" in "We sent the wrong links
/// (orders 10 to 20)".
fn inside(prompt: &Prompt<'_>, pieces: &[Fragment]) -> Vec<Range> {
    let is_content = |at: usize| pieces.get(at).is_some_and(|piece: &Fragment| piece.class == Class::Content);
    let ends = |range: Range, sign: &str| prompt.fold(range.to - 1) == sign;
    let is_inside = |at: &usize| {
        let range = pieces[*at].range;
        let before = at.checked_sub(1).filter(|before| is_content(*before)).map(|before| pieces[before].range);
        let after = Some(at + 1).filter(|after| is_content(*after)).map(|after| pieces[after].range);
        let is_lower = prompt.raw(range.from).starts_with(char::is_lowercase);
        let is_listed = ends(range, ",") && after.is_some_and(|after| prompt.is(List::And, after.from));
        let is_title = after.is_none()
            && range.len() <= LABEL_WORDS_MAX
            && before.is_some_and(|before| before.len() > 2 && is_name(prompt, before.to - 3) && is_name(prompt, before.to - 2));
        let is_labeled = ends(range, ",") && before.is_some_and(|before| ends(before, ":") && before.len() <= LABEL_WORDS_MAX);
        let has_aside = before.is_none() && after.is_some_and(|after| prompt.fold(after.from) == "(" && has_value(prompt, after));
        let is_sentence = prompt.words.is_capital(range.from) && prompt.kind(range.to - 1) == Kind::Word;
        before.is_some() && is_lower && (is_listed || is_title)
            || is_labeled && after.is_some() && range.len() > LABEL_WORDS_MAX - 1
            || has_aside && is_sentence
    };
    (0..pieces.len()).filter(|at| is_content(*at)).filter(is_inside).map(|at| pieces[at].range).collect()
}

/// The maximum number of words in a reason without a verb, including the punctuation mark after it.
const REASON_WORDS_MAX: usize = 5;

/// Returns the starts of the pieces that follow a request to tell the recipients something, as in "can you tell everyone the website was
/// down", and the starts of short reasons that follow statements.
fn announced(prompt: &Prompt<'_>, pieces: &[Fragment]) -> Vec<usize> {
    let tells = |range: Range| {
        prompt.is(List::That, range.to - 1)
            || prompt.has(List::Report, range) && prompt.find(List::Readers, range).is_some_and(|readers| readers.to == range.to)
    };
    // A short reason without a verb belongs to the statement before it: "closed until Wednesday because of stocktaking".
    let is_reason = |range: Range| {
        prompt.is(List::Because, range.from) && range.len() <= REASON_WORDS_MAX && !prompt.has(List::Finite, range)
    };
    let is_kept = |pair: &&[Fragment]| match pair[0].class {
        Class::Topic => !pair[0].range.is_empty() && tells(pair[0].range),
        Class::Content => is_reason(pair[1].range),
        _ => false,
    };
    pieces.windows(2).filter(is_kept).map(|pair| pair[1].range.from).collect()
}

/// Returns whether words in a range show that it is a statement: "no action needed", or "need a barista" in a prompt about a job.
fn is_statement(prompt: &Prompt<'_>, range: Range) -> bool {
    let text = prompt.text(range);
    let is_assurance = prompt.has(List::Assure, range);
    // In a prompt about an outage, a phrase with a verb and a value is a statement: "client portal was down 9.10-11.40 this morning".
    let is_news = roles::goal(prompt) == Some(Goal::Outage) && has_value(prompt, range) && prompt.has(List::Finite, range);
    // A changed price, or a discount with a code, is a statement: "Duero sofa 690 instead of 890", "camp stove 15% off with code
    // WILD15".
    let is_offer = has_value(prompt, range) && prompt.has(List::Old, range) && !prompt.has(List::Not, range)
        || prompt.has(List::Percent, range) && prompt.has(List::Code, range) && !prompt.has(List::Not, range);
    // A number of places is news even if a request follows: "only 8 places so they need to book".
    let places = [range.from, range.from + 1].into_iter().find_map(|at| facts::capacity(prompt, at));
    let is_count = places.is_some_and(|places| places.range.to == range.to || prompt.fold(places.range.to) == "so");
    is_assurance
        || is_news
        || is_count
        || is_offer
        || roles::goal(prompt) == Some(Goal::Hiring) && prompt.lexicon().with_subject(text) != text
}

/// The maximum number of numbers, days and addresses in a note.
const NOTE_VALUES_MAX: usize = 3;

/// The maximum number of words in brackets that belong to the word before them.
const BELONGING_WORDS_MAX: usize = 2;

/// Returns whether a range in brackets belongs to the word before it: the name of a person after a phone number or address, or the name
/// of a holiday or season.
fn belongs(prompt: &Prompt<'_>, range: Range) -> bool {
    let inner = Range::of(range.from + 1, range.to.saturating_sub(1));
    let words: Vec<usize> = (inner.from..inner.to).filter(|at| prompt.kind(*at) == Kind::Word).collect();
    let is_short = (1..=BELONGING_WORDS_MAX).contains(&words.len()) && words.len() == inner.len();
    let Some(before) = range.from.checked_sub(1).filter(|_| is_short && prompt.fold(range.from) == "(") else { return false };
    let is_contact = prompt.kind(before) == Kind::Mail
        || prompt.kind(before) == Kind::Number && (before.saturating_sub(3)..before).all(|at| prompt.kind(at) == Kind::Number);
    let is_person = is_contact && words.iter().all(|at| prompt.words.is_capital(*at));
    let is_season = |mark: Mark| goal_of(mark) == Goal::Seasonal && mark.to == inner.to;
    is_person
        || prompt.at(List::Goal, inner.from).any(is_season)
        || prompt.at(List::NamedDay, inner.from).any(|mark| mark.to == inner.to)
}

/// The maximum number of words in the title of an event.
const TITLE_WORDS_MAX: usize = 6;

/// Returns whether all long words in a range are capitalized, as in titles. Returns false in German prompts, because German nouns are
/// capitalized too.
fn is_title(prompt: &Prompt<'_>, range: Range) -> bool {
    let words: Vec<usize> = (range.from..range.to).filter(|at| prompt.kind(*at) == Kind::Word).collect();
    let others = [List::Craft, List::Email, List::Goal, List::Please, List::Readers, List::Greeting];
    let is_name = |at: &usize| prompt.words.is_capital(*at) || prompt.is(List::Common, *at) && prompt.raw(*at).len() <= 3;
    let names = words.iter().filter(|at| prompt.words.is_capital(**at)).count();
    (2..=TITLE_WORDS_MAX).contains(&words.len())
        && names >= 2
        && prompt.lexicon().code != "de"
        && words.iter().all(is_name)
        && !others.into_iter().any(|list| prompt.has(list, range))
}

/// Returns whether certain word lists contain all words of a label. Such a label names nothing new.
fn is_known(prompt: &Prompt<'_>, range: Range) -> bool {
    let lists = [
        List::LabelBody,
        List::LabelNote,
        List::LabelTone,
        List::LabelAudience,
        List::LabelSubject,
        List::LabelLink,
        List::LabelWhen,
        List::LabelWhere,
        List::Craft,
        List::Common,
        List::Article,
        List::Email,
        List::Please,
        List::Goal,
    ];
    let is_phrase = prompt.at(List::LabelBody, range.from).any(|mark| mark.to + 1 == range.to);
    is_phrase
        || (range.from..range.to).all(|at| prompt.kind(at) != Kind::Word || lists.into_iter().any(|list| prompt.is(list, at)))
}

/// Returns whether two names start at a word, with one short word between them: "Beatriz and Tom".
fn names_two(prompt: &Prompt<'_>, at: usize) -> bool {
    let is_joint = prompt.raw(at + 1) == "&" || prompt.kind(at + 1) == Kind::Word && prompt.raw(at + 1).chars().count() <= 3;
    is_name(prompt, at) && is_joint && !prompt.words.is_capital(at + 1) && is_name(prompt, at + 2)
}

/// Returns whether a word can be part of a person's name.
fn is_name(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.words.is_capital(at) && prompt.kind(at) == Kind::Word && !prompt.is(List::Common, at)
}

/// The maximum number of words in a price or a time, including the punctuation mark after it.
const VALUE_WORDS_MAX: usize = 4;

/// Text that the rules classify as a note is probably a statement if the probability that it is a note is below this value.
const STATEMENT_PROBABILITY_MAX: f32 = 0.4;
/// The minimum number of words in a note that can be reclassified as a statement.
const STATEMENT_WORDS_MIN: usize = 3;

/// Returns whether text that the rules classify as a note reads like a statement.
pub fn states(prompt: &Prompt<'_>, range: Range) -> bool {
    let words = (range.from..range.to).filter(|at| prompt.kind(*at) == Kind::Word).count();
    words >= STATEMENT_WORDS_MIN && probability(prompt, range).is_some_and(|own| own < STATEMENT_PROBABILITY_MAX)
}

/// Returns whether a range contains a value or a capitalized word.
fn names(prompt: &Prompt<'_>, range: Range) -> bool {
    has_value(prompt, range) || (range.from..range.to).any(|at| prompt.words.is_capital(at))
}

/// Groups the pieces of a sentence: the pieces in the same brackets form one group, and every other piece is a group. Groups without
/// content are left out.
pub(super) fn groups<'a>(prompt: &'a Prompt<'_>, pieces: &'a mut [Fragment]) -> impl Iterator<Item = &'a mut [Fragment]> {
    let mut is_open = false;
    let groups = pieces.chunk_by_mut(move |before, _| {
        is_open = (before.range.from..before.range.to).fold(is_open, |open, at| match prompt.fold(at) {
            "(" | "[" => true,
            ")" | "]" => false,
            _ => open,
        });
        is_open
    });
    groups.filter(|group| group.iter().any(|piece| piece.class == Class::Content))
}

/// Returns the minimum probability for classifying a statement as a note. The minimum is lower for statements with values. It is also lower
/// for text in brackets, text before a colon and whole sentences, because these are notes more often than parts of sentences are.
fn threshold(prompt: &Prompt<'_>, range: Range, is_alone: bool) -> f32 {
    let (first, last) = (prompt.fold(range.from), prompt.fold(range.to.saturating_sub(1)));
    // A number of recipients can start a statement: "The first 50 customers get a free cup".
    let is_counted = prompt.is(List::Article, range.from) || prompt.kind(range.from) == Kind::Number;
    let start = Range::of(range.from, (range.from + SUBJECT_WORDS_MAX).min(range.to));
    let readers = prompt.find(List::Readers, start).filter(|_| is_counted && has_value(prompt, range));
    if readers.is_some_and(|readers| prompt.has(List::Finite, Range::of(readers.to, range.to))) {
        return 0.95;
    }
    // Unlike dictated statements, notes rarely have more than `NOTE_VALUES_MAX` values.
    let values = (range.from..range.to).filter(|at| has_value(prompt, Range::of(*at, at + 1))).count();
    if values > NOTE_VALUES_MAX {
        return 0.98;
    }
    match (has_value(prompt, range), is_alone) {
        // Text before a colon is often the topic if it is long or starts the prompt: "New Year's menu: five courses".
        (false, _) if last == ":" && (range.len() > LABEL_WORDS_MAX || range.from == 0) => 0.85,
        (false, _) if matches!(first, "(" | "[") || last == ":" => 0.5,
        // A sentence that starts with two names is more often a statement, so it needs the higher minimum below: "Beatriz and Tom lead it".
        (false, true) if range.len() > SHORT_WORDS && !names_two(prompt, range.from) => 0.9,
        (false, _) => 0.97,
        (true, true) => 0.6,
        (true, false) => 0.8,
    }
}

/// Returns the probability that a range is a note, from 0 to 1; `None` if the range has no words, or more than [`WORDS_MAX`].
fn probability(prompt: &Prompt<'_>, range: Range) -> Option<f32> {
    let features = features(prompt, range);
    let sum: f32 = features.iter().map(|bucket| f32::from(WEIGHTS[*bucket].cast_signed()) * STEP).sum();
    (!features.is_empty()).then(|| logistic(sum))
}

fn logistic(sum: f32) -> f32 {
    1.0 / (1.0 + (-sum).exp())
}

/// Returns the buckets of a range's features, sorted and without duplicates. The features include the range's words, parts of these words,
/// and the word lists that contain one of the range's phrases. The lists are the same for all languages, although their words differ.
fn features(prompt: &Prompt<'_>, range: Range) -> Vec<usize> {
    let folded = fold(prompt.text(range));
    let text = folded.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '.' | '-' | '!'));
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '%')
        .map(|word| word.chars().map(|c| if c.is_numeric() { '0' } else { c }).collect::<String>())
        .filter(|word| !word.trim_matches('\'').is_empty())
        .collect();
    if !words.iter().any(|word| word.contains(char::is_alphabetic)) || words.len() > WORDS_MAX {
        return Vec::new();
    }
    let mut buckets = vec![0];
    let mut add = |kind: &str, parts: &[&str]| buckets.push(bucket(kind, parts));
    for sign in ["(", ":", "?", "!", "\"", "->", "@", "[", "€", "$", "£"].into_iter().filter(|sign| text.contains(sign)) {
        add("sign", &[sign]);
    }
    add("count", &[&words.len().min(12).to_string()]);
    add("first", &[&words[0]]);
    add("last", &[&words[words.len() - 1]]);
    if let [first, second, ..] = words.as_slice() {
        add("start", &[first, second]);
    }
    for word in &words {
        add("word", &[word]);
        let letters: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
        for length in 3..=5 {
            for part in letters.windows(length) {
                add("part", &[&part.iter().collect::<String>()]);
            }
        }
    }
    for pair in words.windows(2) {
        add("pair", &[&pair[0], &pair[1]]);
    }
    let lists = lists(prompt, range);
    let start = prompt.trim(range).from;
    for (at, list) in lists.iter().enumerate() {
        add("list", &[list.key()]);
        if prompt.is(*list, start) {
            add("starts", &[list.key()]);
        }
        for other in &lists[at + 1..] {
            add("lists", &[list.key(), other.key()]);
        }
    }
    if has_value(prompt, range) {
        add("value", &[]);
    }
    if (range.from + 1..range.to).any(|at| prompt.words.is_capital(at)) {
        add("name", &[]);
    }
    buckets.sort_unstable();
    buckets.dedup();
    buckets
}

/// Returns the word lists that contain one of a range's phrases, except lists whose words do not help to distinguish notes from statements.
fn lists(prompt: &Prompt<'_>, range: Range) -> Vec<List> {
    // The model was trained without the list of verbs in the past tense, so this list is left out.
    let known = prompt.marks(range).map(|mark| mark.list).filter(|list| *list != List::PastVerb);
    let mut lists: Vec<List> = known.collect();
    lists.retain(|list| !matches!(list, List::Common | List::Article | List::Spelling));
    lists.sort_unstable();
    lists.dedup();
    lists
}

/// Returns the bucket of a feature, derived from the FNV-1a hash of its parts. The first bucket is reserved for the bias.
fn bucket(kind: &str, parts: &[&str]) -> usize {
    let bytes = std::iter::once(kind).chain(parts.iter().copied()).flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    1 + (hash % (BUCKETS as u64 - 1)) as usize
}
